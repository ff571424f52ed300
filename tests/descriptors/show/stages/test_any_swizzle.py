"""Any swizzle over rows and columns, judged by the formula of its bits, written out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from descriptors import DescriptorError
from descriptors.show.stages.swizzle_stage import Swizzled, swizzled
from layoutalg import Layout, Swizzle


def moved(offset: int, bits: int, base: int, shift: int) -> int:
    """An offset after a swizzle: bits from base + max(shift, 0) on, xored onto those from base + max(-shift, 0) on."""
    selected = offset >> base + max(shift, 0) & (1 << bits) - 1
    return offset ^ selected << base + max(-shift, 0)


@st.composite
def swizzles(draw: st.DrawFn) -> tuple[int, int, int]:
    bits = draw(st.integers(0, 3))
    return bits, draw(st.integers(0, 4)), draw(st.integers(max(bits, 1), 4)) * draw(st.sampled_from([1, -1]))


@given(swizzle=swizzles(), grid=st.tuples(st.integers(1, 2), st.integers(1, 3)))
def test_a_grid_of_tiles_lies_where_the_bits_say(swizzle: tuple[int, int, int], grid: tuple[int, int]) -> None:
    bits, base, shift = swizzle
    view = Swizzled(Swizzle(bits, base, shift), grid=grid)
    high, wide = 1 << bits, 1 << abs(shift)
    there = {}
    for line_number, line in enumerate(swizzled(view).grids[1].cells or ()):
        there |= {at: line_number * wide + place for place, at in enumerate(line) if at}
    known = {}
    for row in range(grid[0] * high):
        for column in range(grid[1] * wide):
            tile = column // wide * grid[0] + row // high
            unit = tile * high * wide + row % high * wide + column % wide
            known[row, column] = moved(unit << base, bits, base, shift) >> base
    first = min(known.values()) // wide * wide
    assert there == {at: place - first for at, place in known.items()}


@pytest.mark.parametrize(
    ("layout", "swizzle", "unit"),
    [
        (Layout((8, 32), (32, 1)), (2, 3, 2), (1, 8)),
        (Layout((32, 8), (1, 32)), (2, 3, 2), (8, 1)),
        (Layout((8, 33), (33, 1)), (2, 3, 2), (1, 1)),
        (Layout((8, 32), (36, 1)), (2, 3, 2), (1, 1)),
    ],
    ids=str,
)
def test_units_are_kept_together_or_elements_are_drawn(
    layout: Layout, swizzle: tuple[int, int, int], unit: tuple[int, int]
) -> None:
    view = Swizzled(Swizzle(*swizzle), layout)
    assert view.unit == unit
    rows, columns = view.extents
    for row in range(rows):
        for column in range(columns):
            place = layout(row * unit[0], column * unit[1])
            assert view.after(row, column) == moved(place, *swizzle)


def test_the_place_of_a_unit_and_its_bits() -> None:
    view = Swizzled(Swizzle(3, 4, 4), grid=(2, 2), at=(13, 21))
    assert view.place == (1, 1, 5, 5)
    bits = [line.split() for line in view.bits()]
    before, after = (int("".join(line[1:]), 2) for line in bits[2:])
    assert (before, after) == (view.before(13, 21), view.after(13, 21)) and before != after
    assert "".join(bits[1][1:]).endswith("YYY.ZZZbbbb")


@pytest.mark.parametrize(
    "change", [{"grid": (99, 99)}, {"grid": (0, 1)}, {"at": (16, 0)}, {"tile": (2000, 2000)}], ids=str
)
def test_what_cannot_be_drawn_is_refused(change: dict[str, tuple[int, int]]) -> None:
    with pytest.raises(DescriptorError, match="explore: "):
        Swizzled(Swizzle(3, 4, 3), **change)  # type: ignore[arg-type]


def test_core_matrices_with_the_swizzle_and_without() -> None:
    with_it = Swizzled(Swizzle(3, 4, 3), grid=(1, 1), label="CMmRn")
    without = Swizzled(Swizzle(3, 4, 3), grid=(1, 1), label="CMmRn", is_moved=False)
    for row in range(8):
        for place in range(8):
            for view, column in ((with_it, place ^ row), (without, place)):
                at = (swizzled(view).grids[1].cells or ())[row][place]
                assert view.name(at) == f"CM{column}R{row}"
    with pytest.raises(DescriptorError, match="label must be one of column, CMmRn"):
        Swizzled(Swizzle(3, 4, 3), label="row")
