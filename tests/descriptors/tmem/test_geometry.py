"""Addresses of tensor memory, and how facts on it are known."""

from __future__ import annotations

import pytest

from descriptors import DescriptorError
from descriptors.tmem.geometry import (
    ADDRESS_MASK,
    BELIEVED,
    DOCUMENTED,
    ISSUES,
    NVIDIA,
    address_of,
    cell_of,
    quarter_of,
    weakest,
)


def test_the_mask_is_that_of_lanes_and_columns() -> None:
    assert address_of(127, 511) == ADDRESS_MASK == 0x007F01FF


def test_the_top_bits_are_the_byte_of_the_cell() -> None:
    assert address_of(0, 4, byte=2) == 0x80000004
    assert cell_of(0x80000004) == (0, 4, 2)


@pytest.mark.parametrize("address", [-1, 1 << 32, 1 << 9, 1 << 23, 1 << 29])
def test_what_names_no_cell_is_refused(address: int) -> None:
    with pytest.raises(
        DescriptorError, match=r"tmem: (?:an address is .*, but the|address 0x[0-9a-f]+ sets bits outside)"
    ):
        cell_of(address)


@pytest.mark.parametrize(("lane", "column", "byte"), [(128, 0, 0), (0, 576, 0), (0, 0, 4), (-1, 0, 0)])
def test_what_is_out_of_bounds_is_refused(lane: int, column: int, byte: int) -> None:
    with pytest.raises(DescriptorError, match=r"but the (?:min|max)imum is"):
        address_of(lane, column, byte)


def test_a_warp_reaches_its_quarter() -> None:
    assert [quarter_of(warp)[0] for warp in range(6)] == [0, 32, 64, 96, 0, 32]
    assert len(ISSUES) == 3 and all(len(row) == 4 for row in ISSUES)


def test_the_weakest_grade_wins() -> None:
    assert weakest(NVIDIA) == NVIDIA and weakest(NVIDIA, DOCUMENTED, BELIEVED) == BELIEVED
