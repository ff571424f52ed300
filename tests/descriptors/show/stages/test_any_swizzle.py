"""Any swizzle over rows and columns, judged by the formula of its bits, written out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from descriptors import DescriptorError
from descriptors.show.stages.swizzle_stage import Swizzled, swizzled, tile_place
from layoutalg import Layout, Swizzle


def moved(offset: int, bits: int, base: int, shift: int) -> int:
    """An offset after a swizzle: bits from base + max(shift, 0) on, xored onto those from base + max(-shift, 0) on."""
    selected = offset >> base + max(shift, 0) & (1 << bits) - 1
    return offset ^ selected << base + max(-shift, 0)


@st.composite
def swizzles(draw: st.DrawFn) -> tuple[int, int, int]:
    bits = draw(st.integers(0, 3))
    return bits, draw(st.integers(0, 4)), draw(st.integers(max(bits, 1), 4)) * draw(st.sampled_from([1, -1]))


def drawn_places(view: Swizzled) -> dict[tuple[int, int], int]:
    """Where the picture of memory has each unit, counted from the first line drawn."""
    lines = swizzled(view).grids[1].cells or ()
    return {at: i * len(line) + j for i, line in enumerate(lines) for j, at in enumerate(line) if at}


def from_the_first_line(places: dict[tuple[int, int], int], wide: int) -> dict[tuple[int, int], int]:
    first = min(places.values()) // wide * wide
    return {at: place - first for at, place in places.items()}


@given(swizzle=swizzles(), grid=st.tuples(st.integers(1, 2), st.integers(0, 3)))
def test_rows_of_swizzle_tiles_lie_where_the_bits_say(swizzle: tuple[int, int, int], grid: tuple[int, int]) -> None:
    bits, base, shift = swizzle
    side, wide = 1 << bits, 1 << abs(shift)
    high, across = grid[0] * side, side * (grid[1] or max(2, wide // side))
    known = {}
    for row in range(high):
        for column in range(across):
            unit = (column // wide * high + row) * wide + column % wide
            known[row, column] = moved(unit << base, bits, base, shift) >> base
    assert drawn_places(Swizzled(Swizzle(*swizzle), grid=grid)) == from_the_first_line(known, wide)


@given(
    swizzle=swizzles(), block=st.tuples(st.integers(1, 9), st.integers(1, 9)), grid=st.sampled_from([(1, 1), (2, 3)])
)
def test_packed_blocks_lie_one_after_the_other(
    swizzle: tuple[int, int, int], block: tuple[int, int], grid: tuple[int, int]
) -> None:
    bits, base, shift = swizzle
    known, (high, wide) = {}, block
    for row in range(grid[0] * high):
        for column in range(grid[1] * wide):
            number = column // wide * grid[0] + row // high
            unit = number * high * wide + row % high * wide + column % wide
            known[row, column] = moved(unit << base, bits, base, shift) >> base
    view = Swizzled(Swizzle(*swizzle), block=block, grid=grid)
    assert drawn_places(view) == from_the_first_line(known, 1 << abs(shift))


@given(swizzle=swizzles(), offset=st.integers(0, 1 << 14))
def test_the_place_in_its_tile_is_read_off_the_bits(swizzle: tuple[int, int, int], offset: int) -> None:
    bits, base, shift = swizzle
    digits = f"{offset >> base:040b}"
    lines, units = digits[: -abs(shift)], digits[-abs(shift) :].rjust(8, "0")
    known = tuple(int(part or "0", 2) for half in (lines, units) for part in (half[: len(half) - bits],))
    inside = tuple(int(half[len(half) - bits :] or "0", 2) for half in (lines, units))
    assert tile_place(Swizzle(*swizzle), offset) == (*known, *inside)
    assert tile_place(Swizzle(*swizzle), moved(offset, *swizzle))[:2] == known


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
    view = Swizzled(Swizzle(3, 4, 4), grid=(2, 4), at=(13, 13))
    assert view.place == (1, 1, 5, 5)
    bits = [line.split() for line in view.bits()]
    before, after = (int("".join(line[1:]), 2) for line in bits[2:])
    assert (before, after) == (view.before(13, 13), view.after(13, 13)) and before != after
    assert "".join(bits[1][1:]).endswith("YYY.ZZZbbbb")


@pytest.mark.parametrize(
    "change",
    [{"grid": (99, 99)}, {"grid": (0, 1)}, {"at": (16, 0)}, {"block": (2000, 2000)}, {"block": (-1, 2)}],
    ids=str,
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
    with pytest.raises(DescriptorError, match=r"label is .*not supported.*supported: column, CMmRn"):
        Swizzled(Swizzle(3, 4, 3), label="row")
