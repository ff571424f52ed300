"""The advance: where subtiles start and end, and whether the hardware can go there."""

from __future__ import annotations

import dataclasses
from itertools import product
from typing import Any

import numpy as np
import pytest
from derived import derive_or_none, tiles
from hypothesis import given
from hypothesis import strategies as st

from descriptors import DescriptorError, FieldError, derive
from descriptors.smem.derivation.advance import named_subtiles
from descriptors.smem.derivation.verify import verify
from descriptors.smem.proof.addresses import fetched_rows
from layoutalg import Layout, size

GOOD: dict[str, Any] = {"tile": (128, 128), "dtype": "bf16", "major": "K", "swizzle": "128B", "mma": (64, 16)}


def leaves(table: Any) -> list[int]:
    return [leaf for row in table for leaf in leaves(row)] if isinstance(table, tuple) else [table]


@given(arguments=tiles(), data=st.data())
def test_the_report_is_what_enumeration_finds(arguments: dict[str, Any], data: st.DataObject) -> None:
    d = derive_or_none(arguments)
    if d is None:
        return
    base = data.draw(st.integers(0, 8)) * 1024
    report = d.advance_report(base)
    starts = [base + offset for offset in leaves(d.offsets_bytes())]
    assert (report.lowest_start, report.highest_start, report.subtiles) == (min(starts), max(starts), len(starts))
    table: Any = d.offsets_bytes()
    for index in report.last:
        table = table[index]
    assert base + table == report.highest_start
    if report.end <= 1 << 18:
        words = leaves(d.words(base))
        addresses = fetched_rows(words, arch=d.arch, element=d.element, major=d.major, shape=d.mma)
        highest = int(np.max(addresses)) // (8 if d.element.storage_bits < 8 else 1)
        assert report.end - d.swizzle.span_bytes <= highest < report.end
        # Whole atoms are read to their last byte, except where an operand ends inside the swizzled row.
        assert report.fits_memory == (report.end <= 232448)


def test_a_tile_moves_with_its_base_and_carries_its_base_offset() -> None:
    d = derive(**GOOD)
    assert [d.descriptor_at(base).base_offset for base in (0, 128, 0x1080, 0x1380, 0x400)] == [0, 1, 1, 7, 0]
    assert d.words(0x400)[0][1] == d.words()[0][1] + (0x400 >> 4)
    assert verify(d, bases=(0, 128, 0x1380)).ok


@pytest.mark.parametrize(("swizzle", "base"), [("128B", 64), ("none", 8), ("32B", 16), ("none", -16), ("none", "x")])
def test_a_base_that_no_tile_can_have_is_refused(swizzle: str, base: Any) -> None:
    with pytest.raises(DescriptorError, match="derive: the base address "):
        derive(**{**GOOD, "swizzle": swizzle}).descriptor_at(base)


def test_what_leaves_shared_memory_or_the_field_is_said() -> None:
    inside = derive(**GOOD).advance_report()
    assert (inside.fits_field, inside.fits_memory, inside.highest_base) == (True, True, 199680)
    assert derive(**GOOD).advance_report(199680).fits_memory
    beyond = derive(**GOOD).advance_report(199680 + 1024)
    assert (beyond.fits_field, beyond.fits_memory) == (True, False)
    assert "OUT of the 232448 bytes" in str(beyond)
    for base in (200704, 300000):
        with pytest.raises(DescriptorError, match=r"beyond the 232448 bytes .*; the highest aligned base is 199680"):
            derive(**GOOD).words(base)


def test_a_tile_larger_than_shared_memory_is_derived_when_asked_for() -> None:
    large = derive(**{**GOOD, "tile": (128, 128, 9)}, capacity=None, verify=False)
    report = large.advance_report()
    assert (report.fits_field, report.fits_memory, report.highest_base) == (False, False, None)
    assert report.last == (1, 7, 8)
    assert "OUT of the 14-bit field" in str(report)
    with pytest.raises(FieldError, match="OUT of the 14-bit field"):
        large.words()
    with pytest.raises(FieldError, match="OUT of the 14-bit field"):
        derive(**{**GOOD, "tile": (128, 128, 9)}, capacity=2**20)


@pytest.mark.parametrize(
    ("changes", "nameable"),
    [
        ({"tile": (128, 128, 9)}, 128),
        ({"tile": (256, 256, 4), "dtype": "f16", "swizzle": "32B", "mma": (16, 16), "legality": "off"}, 512),
        ({"tile": (2**40, 2**20)}, 128),
        ({"tile": (128, 2**30), "major": "MN"}, 128),
    ],
)
def test_of_a_tile_of_any_size_what_words_can_name_is_proved(changes: Any, nameable: int) -> None:
    d = derive(**{**GOOD, **changes}, capacity=None)
    proof = verify(d)
    assert proof.ok and (proof.subtiles, proof.elements) == (nameable, nameable * d.mma[0] * d.mma[1])
    assert proof.beyond == size(d.advance) - nameable and f"; {proof.beyond} subtiles lie beyond" in str(proof)
    assert d.advance_report().named == nameable
    assert f"after {nameable} subtiles" in str(d.advance_report())
    # A tile whose operands step otherwise is caught there too.
    stretched = dataclasses.replace(d, advance=Layout(d.advance.shape, scaled(d.advance.stride)))
    assert not verify(stretched).ok


def scaled(stride: Any) -> Any:
    return tuple(map(scaled, stride)) if isinstance(stride, tuple) else 2 * stride


def test_a_tile_of_any_size_that_leaves_the_window_at_one_base_is_proved_at_the_other() -> None:
    d = derive(**GOOD, capacity=None)
    proof = verify(d, bases=(0, 2**18 - 2**14))
    assert proof.ok and 0 < proof.beyond < 16
    with pytest.raises(DescriptorError, match="no subtile is within the 262144 bytes"):
        verify(d, bases=(2**18 - 1024,))


@given(
    st.lists(st.tuples(st.integers(1, 6), st.sampled_from([0, 1, 7, 1000, 9000, -1, -5000])), min_size=1, max_size=3),
    st.integers(0, 2**14).map(lambda units: 16 * units),
    st.sampled_from([16, 1024, 70000]),
)
def test_the_named_subtiles_are_those_that_enumeration_finds(
    modes: list[tuple[int, int]], first: int, reach: int
) -> None:
    advance = Layout(tuple(n for n, _ in modes), tuple(d for _, d in modes))
    all_ = ((at, first + 16 * advance(*at)) for at in product(*(range(n) for n, _ in modes)))
    expected = sorted((at, start) for at, start in all_ if 0 <= start <= 2**18 - reach)
    assert sorted(named_subtiles(advance, first=first, reach=reach)) == expected


def test_a_tile_of_any_size_has_a_report_but_no_table() -> None:
    huge = derive(**{**GOOD, "tile": (2**40, 2**20)}, capacity=None, verify=False)
    assert huge.advance_report().subtiles == 2**50
    with pytest.raises(DescriptorError, match="subtiles, more than the 262144 that a table lists"):
        huge.offsets_bytes()


def test_a_stage_that_runs_backwards_is_reported_from_its_lowest_start() -> None:
    d = derive(layout="S<3,3,3> o 12288 o (64,64,4):(64,1,-4096)", dtype="bf16", mma=(64, 16))
    report = d.advance_report()
    assert (report.lowest_start, report.highest_start, report.last) == (0, 24672, (0, 3, 0))
    below = derive(layout="S<3,3,3> o 4096 o (64,64,4):(64,1,-4096)", dtype="bf16", mma=(64, 16), verify=False)
    assert not below.advance_report().fits_field
    with pytest.raises(FieldError):
        below.words()
