"""Layouts as matrices over GF(2): exactly the linear ones, with the laws of both, by enumeration."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
import pytest
from corpus import like
from f2 import few, leaves, linear_layouts, shape_of_bits, values_of
from hypothesis import assume, given
from strategies import DrawnSource, swizzles

from layoutalg import (
    ComposedLayout,
    Layout,
    LayoutError,
    Swizzle,
    UndecidedError,
    composition,
    cosize,
    flatten,
    left_inverse,
    make_identity_layout,
    right_inverse,
    size,
    slice_and_offset,
)
from layoutalg.analysis.f2_layouts import NotLinearError, fit_f2, from_f2, to_f2, to_f2_affine
from layoutalg.analysis.f2_matrix import F2Matrix


def table(matrix: F2Matrix) -> list[int]:
    return [matrix(x) for x in range(1 << len(matrix.columns))]


# Layouts to matrices --------------------------------------------------------------------------------------------------


@st.composite
def any_power_of_two_layouts(draw: Any, most: int = 5) -> Any:
    """Layouts with extents that are powers of two and any strides, plain and composed in every way."""
    source = DrawnSource(draw)
    shape = shape_of_bits(source, source.integer(0, most))
    strides = [source.pick((0, 1, 2, 4, 8, 16, 3, 5, -1, -4)) for _ in leaves(shape)]
    inner: Any = draw(linear_layouts(most)) if source.integer(0, 1) else Layout(shape, like(strides, shape))
    for _ in range(source.integer(0, 2)):
        offset = source.pick((0, 0, 0, 4, 16, 21, 64))
        outer: Any = draw(swizzles)
        if source.integer(0, 3) == 0:
            outer = draw(linear_layouts(4))
        inner = ComposedLayout(outer, offset, inner)
    return inner


def affine_by_enumeration(values: list[int]) -> bool:
    """Whether a list of values is linear up to a constant: the definition."""
    if min(values) < 0:
        return False
    shifted = [value ^ values[0] for value in values]
    return all(shifted[x & (x - 1)] ^ shifted[x & -x] == shifted[x] for x in range(len(values)))


def enumerable(layout: Any) -> bool:
    """Whether every offset exists: a swizzle and a layout that runs on take no negative numbers for granted."""
    try:
        return bool(values_of(layout))
    except LayoutError:
        return False


@given(any_power_of_two_layouts())
def test_a_layout_has_a_matrix_exactly_if_it_is_linear(layout):
    assume(enumerable(layout))
    values = values_of(layout)
    if affine_by_enumeration(values):
        matrix, constant = to_f2_affine(layout)
        assert [value ^ constant for value in table(matrix)] == values
        assert matrix.rows == max(values).bit_length()
        if constant == 0:
            assert to_f2(layout) == matrix
        else:
            with pytest.raises(NotLinearError, match="index 0 has offset"):
                to_f2(layout)
    else:
        with pytest.raises(NotLinearError):
            to_f2_affine(layout)


@few
@given(linear_layouts())
def test_the_rank_of_a_layout_decides_whether_it_is_injective(layout):
    assert to_f2(layout).is_injective() == (len(set(values_of(layout))) == size(layout))


@few
@given(swizzles, st.integers(0, 4))
def test_a_swizzle_is_a_matrix_that_is_its_own_inverse(swizzle, extra):
    bits = swizzle.bits + swizzle.base + abs(swizzle.shift)
    matrix = to_f2(swizzle, bits + extra)
    assert all(matrix(x) == swizzle(x) for x in (*range(min(64, 1 << bits)), (1 << bits) - 1))
    assert matrix @ matrix == F2Matrix.identity(bits + extra)
    assert to_f2(swizzle).rows == bits


@few
@given(swizzles, linear_layouts())
def test_a_swizzled_layout_is_the_product_of_the_swizzle_and_the_layout(swizzle, layout):
    rows = max(swizzle.bits + swizzle.base + abs(swizzle.shift), cosize(layout).bit_length())
    product = to_f2(swizzle, rows) @ to_f2(layout)
    assert product == to_f2(ComposedLayout(swizzle, 0, layout), rows)


@given(linear_layouts(), linear_layouts())
def test_composition_is_the_product_of_the_matrices(a, b):
    assume(cosize(b) <= size(a))
    product = to_f2(a) @ to_f2(b)
    try:
        plain = from_f2(product, b.shape)
    except LayoutError:
        plain = None
    if isinstance(plain, Layout):  # so the composition must exist
        assert values_of(composition(a, b)) == values_of(plain)
    try:
        composed = composition(a, b)
    except LayoutError:
        return
    assert to_f2(composed, product.rows) == product


@few
@given(linear_layouts(injective=True))
def test_the_left_inverse_of_a_layout_is_that_of_its_matrix_on_its_offsets(layout):
    inverse = to_f2(layout).left_inverse()
    assert [inverse(offset) for offset in values_of(layout)] == list(range(size(layout)))
    try:
        theirs = left_inverse(layout)
    except LayoutError:
        return  # strides that form no chain
    assert all(theirs(offset) == inverse(offset) for offset in values_of(layout))


@few
@given(st.permutations(range(6)))
def test_the_right_inverse_of_a_bijection_is_the_inverse_of_its_matrix(order):
    layout = Layout((2,) * 6, tuple(1 << bit for bit in order))
    assert to_f2(right_inverse(layout)) == to_f2(layout).inverse()


@given(swizzles, linear_layouts(5), st.data())
def test_a_slice_of_a_swizzled_layout_is_affine(swizzle, layout, data):
    tile = ComposedLayout(swizzle, 0, flatten(layout))
    shape = tile.shape if isinstance(tile.shape, tuple) else (tile.shape,)
    coord = tuple(data.draw(st.one_of(st.none(), st.integers(0, extent - 1))) for extent in shape)
    part, offset = slice_and_offset(coord if isinstance(tile.shape, tuple) else coord[0], tile)
    assert affine_by_enumeration([offset + value for value in values_of(part)])


@pytest.mark.parametrize(
    ("layout", "message"),
    [
        (Layout((4, 2), (3, 16)), "mode 0 = 4:3 overlaps with itself in bits 0b10"),
        (Layout((2, (2, 4)), (4, (1, 2))), r"mode 0 = 2:4 and mode \(1,1\) = 4:2 overlap in bits 0b100"),
        (Layout((2, 2), (1, 1)), "mode 0 = 2:1 and mode 1 = 2:1 overlap in bits 0b1"),
        (Layout((3, 4)), "extent 3 of mode 0 = 3:1 is not a power of two"),
        (Layout((2, 2), (4, -1)), "offset -1 of mode 1 = 2:-1 is negative"),
        (ComposedLayout(Swizzle(1, 0, 1), 2, Layout((2, 2), (1, 4))), "index 0 has offset 3, not 0"),
        (ComposedLayout(Swizzle(1, 0, 1), 1, Layout(4)), "mode 0 = 4:1 overlaps with itself"),
        (ComposedLayout(Layout(3, 1), 0, Layout(3)), "extent 3 of the shape is not a power of two"),
    ],
)
def test_a_refusal_names_the_modes(layout, message):
    with pytest.raises(NotLinearError, match=message):
        to_f2(layout)


def test_layouts_to_coordinates_and_symbols_are_refused():
    sympy = pytest.importorskip("sympy")
    with pytest.raises(LayoutError, match="basis strides, not integer strides"):
        to_f2(make_identity_layout((2, 4)))
    with pytest.raises(UndecidedError):
        to_f2(Layout((2, 4 * sympy.symbols("m", positive=True, integer=True))))
    with pytest.raises(LayoutError, match=r"to_f2: \(2,4\) is not a layout"):
        to_f2((2, 4))  # type: ignore[arg-type]
    with pytest.raises(LayoutError, match="rows is 2, but the offsets have 3 bits"):
        to_f2(Layout(8), 2)
    with pytest.raises(LayoutError, match="rows is 3, but the swizzle changes bit 3"):
        to_f2(Swizzle(2, 0, -2), 3)


def test_a_layout_of_a_coordinate_layout_is_a_matrix_too():
    layout = ComposedLayout(Layout((2, 4), (4, 1)), 0, make_identity_layout((2, 4)))
    assert to_f2(layout) == to_f2(Layout((2, 4), (4, 1)))


def test_a_composed_layout_is_enumerated_only_up_to_a_bound():
    inner = ComposedLayout(Swizzle(1, 0, 3), 1, Layout(1 << 17))
    with pytest.raises(UndecidedError, match="without comparing 131072 offsets"):
        to_f2(ComposedLayout(Layout(1 << 18), 0, inner))


def test_the_bound_of_the_enumeration_itself_is_enumerated(monkeypatch: pytest.MonkeyPatch) -> None:
    layout = ComposedLayout(Layout((16, 3)), 0, Layout(16))  # only enumeration finds that this is linear
    whole = to_f2(layout)
    monkeypatch.setattr("layoutalg.analysis.f2_layouts._MOST_COMPARED", 1 << 4)
    assert to_f2(layout) == whole
    monkeypatch.setattr("layoutalg.analysis.f2_layouts._MOST_COMPARED", (1 << 4) - 1)
    with pytest.raises(UndecidedError, match="without comparing 16 offsets, more than 15"):
        to_f2(layout)


def test_fitting_needs_a_power_of_two_of_non_negative_values():
    assert fit_f2([5]) == (F2Matrix((), 3), 5)
    for bad in ([], [1, 2, 3], [0, -1]):
        with pytest.raises(NotLinearError):
            fit_f2(bad)
    with pytest.raises(NotLinearError, match="value 3 is 4, but the values at powers of two determine that it is 3"):
        fit_f2([0, 1, 2, 4])


@pytest.mark.parametrize("offset", [0, 2**41])
def test_the_matrix_of_a_large_composition_comes_from_those_of_its_parts(offset: int) -> None:
    swizzled = ComposedLayout(Swizzle(1, 0, 1), 0, Layout(2**40))
    matrix, constant = to_f2_affine(ComposedLayout(Layout(2**42, 2), offset, swizzled))
    assert constant == 2 * offset
    assert matrix.columns == tuple(2 * swizzled(1 << bit) for bit in range(40))
