"""Operands of 48 bytes of K for every size: beside tiles with numbers, and formulas spoilt in one place."""

from __future__ import annotations

import dataclasses
from itertools import product
from typing import Any

import pytest
from derived import unproved

from descriptors import verify
from descriptors.smem.derivation.crossing import Columns, Crossing, columns_for_all, hold_for_all
from descriptors.smem.derivation.proved import family_of
from descriptors.smem.operands.operand import as_element_type
from layoutalg import ComposedLayout, Layout, UndecidedError, make_layout, substitute, symbol

E2M1, READS = as_element_type("e2m1"), (16, 96)
M, K, S = symbol("m"), symbol("k"), symbol("s")


def family(order: tuple[int, ...]) -> tuple[Any, Columns]:
    tile, columns = columns_for_all((16 * M, 768 * K, S)[: len(order)], E2M1, READS, order)
    assert columns is not None
    return tile, columns


@pytest.mark.parametrize("order", [(0, 1), (1, 0), (0, 1, 2), (1, 0, 2)])
def test_what_holds_for_all_sizes_holds_for_those_that_one_tries(order: tuple[int, ...]) -> None:
    tile, columns = family(order)
    assert hold_for_all(tile, columns, E2M1, READS)
    for m, k, s in product((1, 2, 3), (1, 2, 3), (1, 2)):
        values = {"m": m, "k": k, "s": s}
        d = unproved(
            tile=(16 * m, 768 * k, s)[: len(order)], dtype=E2M1, major="K", swizzle="128B", mma=READS, order=order
        )
        assert d.crossing is not None and verify(d).ok and len(family_of(d)) == len(order)
        assert d.descriptor.stride_byte_offset == substitute(columns.match.stride_byte_offset, values)
        lines = substitute(columns.crossing.lines, values)
        assert list(map(lines, range(3 * k))) == list(map(d.crossing.lines, range(3 * k)))


@pytest.mark.parametrize("order", [(0, 1), (1, 0, 2)])
def test_a_formula_that_is_wrong_for_some_sizes_does_not_hold_for_all(order: tuple[int, ...]) -> None:
    tile, columns = family(order)
    assert isinstance(columns.advance.outer, Layout) and isinstance(columns.advance.inner, Layout)
    rows, lines, *stages = columns.advance.outer
    late = Layout(columns.crossing.lines.shape, columns.crossing.lines.stride * 2)
    slow = make_layout(Layout(rows.shape, rows.stride * 2), lines, *stages)
    every = make_layout(columns.advance.inner[0], Layout(8 * K, M), *list(columns.advance.inner)[2:])
    for wrong in (
        dataclasses.replace(columns, match=dataclasses.replace(columns.match, stride_byte_offset=2048)),
        dataclasses.replace(columns, crossing=Crossing(late)),
        dataclasses.replace(columns, advance=ComposedLayout(slow, 0, columns.advance.inner)),
        dataclasses.replace(columns, advance=ComposedLayout(columns.advance.outer, 8, columns.advance.inner)),
        dataclasses.replace(columns, advance=ComposedLayout(columns.advance.outer, 0, every)),
    ):
        assert not hold_for_all(tile, wrong, E2M1, READS)
    other, _ = family(tuple(reversed(order[:2])) + order[2:])
    assert not hold_for_all(other, columns, E2M1, READS)


def test_columns_that_depend_on_the_values_are_not_decided() -> None:
    with pytest.raises(UndecidedError):
        columns_for_all((16 * M, 256 * K), E2M1, READS, (0, 1))
