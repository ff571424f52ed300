"""Laws of slices: the same offsets as the whole layout has there, swizzled or not, by enumeration."""

from __future__ import annotations

import corpus
import judge
import pytest
from each import each
from hypothesis import given
from strategies import drawn, layouts, sliced

from layoutalg import (
    ComposedLayout,
    CoordinateError,
    Layout,
    LayoutError,
    Swizzle,
    dice,
    parse_layout,
    rank,
    size,
    slice_,
    slice_and_offset,
)


def kept_shapes(coordinate, shape):
    """The shapes of the modes where the coordinate has None, left to right."""
    if coordinate is None:
        return [shape]
    if isinstance(coordinate, tuple):
        return [kept for c, s in zip(coordinate, shape, strict=True) for kept in kept_shapes(c, s)]
    return []


def filled(coordinate, indices):
    """The coordinate with the next index in place of every None."""
    if coordinate is None:
        return next(indices)
    return tuple(filled(c, indices) for c in coordinate) if isinstance(coordinate, tuple) else coordinate


def check(layout, coordinate):
    result, offset = slice_and_offset(coordinate, layout)
    extents = [judge.count(shape) for shape in kept_shapes(coordinate, layout.shape)]
    assert size(result) == corpus.product_of(extents)
    for index in range(size(result)):
        where = filled(coordinate, iter(judge.digits(index, extents)))
        assert judge.at(result, index) + offset == judge.at_coordinate(layout, where)
    return result


@given(sliced)
def test_a_slice_plus_its_offset_is_the_layout_with_the_coordinate_filled_in(case):
    check(*case)


@given(sliced)
def test_a_slice_has_one_mode_for_each_none(case):
    layout, coordinate = case
    if coordinate is not None:
        assert rank(slice_(layout, coordinate)) == len(kept_shapes(coordinate, layout.shape))


@given(sliced)
def test_slice_and_call_with_none_are_the_first_part_of_slice_and_offset(case):
    layout, coordinate = case
    result = slice_and_offset(coordinate, layout)[0]
    assert slice_(layout, coordinate) == result
    if kept_shapes(coordinate, layout.shape):
        assert layout(coordinate) == result


def swizzled_matrix(source):
    rows, columns = source.pick((8, 4, 2, 6, 10)), source.pick((16, 8, 32, 12, 3))
    inner = Layout((rows, columns), (columns, 1)) if source.integer(0, 1) else Layout((rows, columns))
    if source.integer(0, 3) == 3:
        inner = Layout((rows, columns), (source.integer(0, 20), source.integer(0, 20)))
    layout = ComposedLayout(corpus.swizzle(source), source.pick((0, 0, 1, 8, 40)), inner)
    row, column = source.integer(0, rows - 1), source.integer(0, columns - 1)
    return layout, source.pick(((row, None), (None, column), (row, column), (None, None)))


@given(drawn(swizzled_matrix))
def test_rows_columns_and_elements_of_a_swizzled_matrix_are_exact(case):
    check(*case)


@given(drawn(lambda source: (corpus.layout(source), source)))
def test_keeping_everything_keeps_the_layout(case):
    layout = case[0]
    if isinstance(layout.shape, tuple):
        assert slice_and_offset((None,) * len(layout), layout) == (layout, 0)


@given(sliced)
def test_dice_keeps_what_the_slice_fixes(case):
    layout, coordinate = case
    inner = getattr(layout, "inner", layout)
    if not isinstance(coordinate, tuple):
        return
    diced = dice(inner, coordinate)
    fixed = fixed_modes(coordinate, inner.shape, inner.stride)
    assert judge.plain_text(diced.shape, diced.stride) == judge.plain_text(
        tuple(s for s, _ in fixed), tuple(d for _, d in fixed)
    )


def fixed_modes(coordinate, shape, stride):
    if isinstance(coordinate, tuple):
        return [m for parts in zip(coordinate, shape, stride, strict=True) for m in fixed_modes(*parts)]
    return [] if coordinate is None else [(shape, stride)]


@given(layouts)
def test_the_slice_of_a_shape_keeps_the_extents(layout):
    if isinstance(layout.shape, tuple):
        coordinate = (None,) * (len(layout) - 1) + (0,)
        assert slice_(layout.shape, coordinate) == layout.shape[:-1]


CRASHES = [
    # The CuTe DSL 4.8.1 dies on the first, and is wrong on the other two.
    ("S<3,4,3> o 0 o (10,2):(2,1)", (None, 0)),
    ("S<3,3,4> o 0 o (8,16,16):(256,1,16)", (None, 10, None)),
    ("S<2,0,3> o 0 o (1,6,3):(3,3,1)", (0, 2, None)),
]


@pytest.mark.parametrize(("text", "coordinate"), CRASHES)
def test_slices_that_peers_get_wrong_are_exact(text, coordinate):
    check(parse_layout(text), coordinate)


@each("coordinate", [(None, 8), (4, None), (-1, None), (None, None, None), (None,), ((None, 0), 0), (1.5, None)])
@each("swizzle", [None, Swizzle(2, 0, 3)])
def test_a_slice_outside_the_layout_is_refused(coordinate, swizzle):
    layout = Layout((4, 8))
    with pytest.raises(LayoutError):
        slice_and_offset(coordinate, layout if swizzle is None else ComposedLayout(swizzle, 0, layout))


def test_slices_out_of_range_say_so():
    with pytest.raises(CoordinateError, match=r"is not in \[0,"):
        Layout((4, 8))(None, 8)
