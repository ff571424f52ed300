"""One form tried on one operand: what fits is read as laid out, and the operand of a larger tile is that part of it."""

from __future__ import annotations

from typing import Any

import pytest
from derived import derivations
from hypothesis import given
from hypothesis import strategies as st

from descriptors import plain
from descriptors.smem.debug.candidates import fitted, operand_of
from descriptors.smem.debug.read import read
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.operands.operand import Major, SwizzleMode, as_element_type
from descriptors.smem.proof.addresses import stored_rows
from layoutalg import Layout


@given(derivations())
def test_the_first_operand_of_a_tile_fits_its_own_form_with_its_own_word(d: Derivation) -> None:
    operand = operand_of(plain(d.smem_tile), d.mma, (0,) * len(d.tile))
    fit = fitted(plain(operand), d.element, d.major, d.swizzle, d.arch)
    unread = d.dont_care_mask()
    assert fit.descriptor.encode() | unread == d.descriptor.encode() | unread
    addresses = read(fit.descriptor.encode(), d.arch, dtype=d.element, major=d.major, shape=d.mma).addresses
    assert [list(row) for row in addresses] == stored_rows(fit.layout, d.element)


@given(st.tuples(st.integers(0, 1), st.integers(0, 3)))
def test_an_operand_of_a_tile_is_that_part_of_the_tile(subtile: Any) -> None:
    tile, (i, k) = Layout((128, 64), (64, 1)), subtile
    operand = operand_of(tile, (64, 16), subtile)
    assert all(operand(a, b) == tile(64 * i + a, 16 * k + b) for a in range(64) for b in range(16))


@pytest.mark.parametrize("mode", [mode for mode in SwizzleMode if mode.swizzle is not None])
def test_a_plain_layout_gets_the_swizzle_of_the_mode_that_it_fits(mode: SwizzleMode) -> None:
    bf16 = as_element_type("bf16")
    width = mode.span_bytes // 2
    fit = fitted(Layout((width, 16), (1, width)), bf16, Major.MN, mode, "sm100")
    assert [fit.layout(i, 5) * 2 for i in range(width)] == [mode.swizzle(10 * width + 2 * i) for i in range(width)]
