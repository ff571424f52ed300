"""From a matrix back to a layout: exactly if it is one after some swizzle, and then with the smallest."""

from __future__ import annotations

import pytest
from f2 import few, linear_layouts, matrices, values_of
from hypothesis import given
from strategies import swizzles

from layoutalg import ComposedLayout, Layout, LayoutError, Swizzle
from layoutalg.analysis.f2_layouts import every_swizzle, from_f2, to_f2
from layoutalg.analysis.f2_matrix import F2Matrix
from layoutalg.tuples.int_tuple import weakly_congruent


def table(matrix: F2Matrix) -> list[int]:
    return [matrix(x) for x in range(1 << len(matrix.columns))]


@few
@given(linear_layouts())
def test_a_plain_layout_comes_back_from_its_matrix(layout):
    back = from_f2(to_f2(layout), layout.shape)
    assert isinstance(back, Layout)
    assert values_of(back) == values_of(layout)
    assert weakly_congruent(layout.shape, back.shape)
    assert values_of(from_f2(to_f2(layout))) == values_of(layout)


@given(swizzles, linear_layouts())
def test_a_swizzled_layout_comes_back_with_the_smallest_swizzle_that_does(swizzle, layout):
    tile = ComposedLayout(swizzle, 0, layout)
    back = from_f2(to_f2(tile), layout.shape)
    assert values_of(back) == values_of(tile)
    if isinstance(back, ComposedLayout):
        assert back.outer.bits <= swizzle.bits


def is_layout(values: list[int]) -> bool:
    """Whether values are those of a layout of modes of extent 2: each is the sum of those at its bits."""
    return all(values[x & (x - 1)] + values[x & -x] == values[x] for x in range(len(values)))


def all_swizzles(bits: int) -> list[Swizzle]:
    """Every swizzle within so many bits but the identity, in the documented order."""
    every = [
        Swizzle(width, base, shift)
        for width in range(1, bits + 1)
        for base in range(bits)
        for shift in range(-bits, bits + 1)
        if abs(shift) >= width and width + base + abs(shift) <= bits
    ]
    return sorted(every, key=lambda s: (s.bits, s.bits + s.base + abs(s.shift), -s.base, s.shift < 0))


@given(matrices(5))
def test_a_matrix_is_a_layout_exactly_if_it_is_one_after_some_swizzle(matrix):
    values = table(matrix)
    expected = next(
        (s for s in [None, *all_swizzles(matrix.rows)] if is_layout([s(v) if s else v for v in values])), "none"
    )
    if expected == "none":
        with pytest.raises(LayoutError, match="from_f2: the matrix is not a layout followed by at most one swizzle"):
            from_f2(matrix)
        return
    layout = from_f2(matrix)
    assert values_of(layout) == values
    assert (layout.outer if isinstance(layout, ComposedLayout) else None) == expected


@pytest.mark.parametrize("bits", range(8))
def test_every_swizzle_of_some_bits_is_listed_once_in_order(bits):
    assert list(every_swizzle(bits)) == all_swizzles(bits)
    for base in range(bits):
        assert list(every_swizzle(bits, base)) == [s for s in all_swizzles(bits) if s.base >= base]


def test_the_swizzled_tiles_of_the_hardware_come_back_as_written():
    for bits, width in ((3, 64), (2, 32), (1, 16)):
        tile = ComposedLayout(Swizzle(bits, 3, 3), 0, Layout((8, width), (width, 1)))
        assert from_f2(to_f2(tile), tile.shape) == tile


@pytest.mark.parametrize(
    ("columns", "shape", "message"),
    [
        ((1, 1), None, r"xor of its columns \[1, 1\] is 0"),
        ((1, 2, 0, 3), None, r"xor of its columns \[1, 2, 3\] is 0"),
        ((3, 5, 14), None, "columns 0 and 1 share a bit, and no swizzle of 4 bits separates"),
        ((1, 2), 8, r"shape has 8 elements, but the matrix has 2\*\*2 indices; shape = 8"),
        ((1, 2), (3, 2), r"shape has 6 elements, .* shape = \(3,2\)"),
    ],
)
def test_a_matrix_that_is_no_layout_is_refused_with_the_reason(columns, shape, message):
    with pytest.raises(LayoutError, match=message):
        from_f2(F2Matrix(columns), shape)
