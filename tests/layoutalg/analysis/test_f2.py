"""Laws of matrices over GF(2) and of the layouts that they are, by enumeration."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import hypothesis.strategies as st
import pytest
from corpus import like
from f2 import few, leaves, linear_layouts, matrices, shape_of_bits, values_of
from hypothesis import assume, given
from strategies import DrawnSource, swizzles

from layoutalg import (
    ComposedLayout,
    Layout,
    LayoutError,
    NotInjectiveError,
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
from layoutalg.analysis.f2_matrix import F2Matrix
from layoutalg.analysis.from_f2 import every_swizzle, from_f2
from layoutalg.analysis.to_f2 import NotLinearError, fit_f2, to_f2, to_f2_affine
from layoutalg.tuples.int_tuple import weakly_congruent


def table(matrix: F2Matrix) -> list[int]:
    return [matrix(x) for x in range(1 << len(matrix.columns))]


def span(columns: tuple[int, ...]) -> set[int]:
    result = {0}
    for column in columns:
        result |= {value ^ column for value in result}
    return result


# Matrices -------------------------------------------------------------------------------------------------------------


@few
@given(matrices())
def test_a_matrix_is_linear_and_its_columns_are_its_values_at_powers_of_two(matrix):
    values = table(matrix)
    assert [values[1 << j] for j in range(len(matrix.columns))] == list(matrix.columns)
    assert all(values[x & (x - 1)] ^ values[x & -x] == values[x] for x in range(len(values)))


@few
@given(matrices(), st.data())
def test_a_product_is_one_matrix_after_the_other(a, data):
    columns = len(a.columns)
    b = F2Matrix(data.draw(st.lists(st.integers(0, (1 << columns) - 1), max_size=5)), columns)
    assert table(a @ b) == [a(b(x)) for x in range(1 << len(b.columns))]
    assert (a @ b).rows == a.rows
    assert a @ F2Matrix.identity(columns) == a == F2Matrix.identity(a.rows) @ a


@few
@given(matrices())
def test_transposing_exchanges_rows_and_columns(matrix):
    other = matrix.transposed()
    assert (other.rows, len(other.columns)) == (len(matrix.columns), matrix.rows)
    for row in range(matrix.rows):
        for j, column in enumerate(matrix.columns):
            assert column >> row & 1 == other.columns[row] >> j & 1
    assert other.transposed() == matrix
    assert other.rank() == matrix.rank()


@few
@given(matrices())
def test_the_rank_counts_the_values_and_decides_injectivity_and_surjectivity(matrix):
    image = set(table(matrix))
    assert len(image) == 1 << matrix.rank()
    assert matrix.is_injective() == (len(image) == 1 << len(matrix.columns))
    assert matrix.is_surjective() == (len(image) == 1 << matrix.rows)


@few
@given(matrices())
def test_the_null_space_is_a_basis_of_what_maps_to_zero(matrix):
    basis = matrix.null_space()
    assert span(basis.columns) == {x for x, value in enumerate(table(matrix)) if value == 0}
    assert basis.is_injective()
    assert len(basis.columns) + matrix.rank() == len(matrix.columns)


@few
@given(matrices(), st.integers(0, 63))
def test_solving_gives_a_vector_of_a_value_or_there_is_none(matrix, value):
    if value in table(matrix):
        assert matrix(matrix.solve(value)) == value
    else:
        with pytest.raises(LayoutError, match="must take the value"):
            matrix.solve(value)


@few
@given(matrices())
def test_a_left_inverse_exists_exactly_for_an_injective_matrix(matrix):
    if matrix.is_injective():
        assert matrix.left_inverse() @ matrix == F2Matrix.identity(len(matrix.columns))
    else:
        with pytest.raises(NotInjectiveError):
            matrix.left_inverse()


@few
@given(matrices())
def test_a_right_inverse_exists_exactly_for_a_surjective_matrix(matrix):
    if matrix.is_surjective():
        assert matrix @ matrix.right_inverse() == F2Matrix.identity(matrix.rows)
    else:
        with pytest.raises(LayoutError, match="rank"):
            matrix.right_inverse()


@few
@given(matrices(4))
def test_an_inverse_undoes_a_square_matrix_from_both_sides(matrix):
    if len(matrix.columns) == matrix.rows == matrix.rank():
        one = F2Matrix.identity(matrix.rows)
        assert matrix.inverse() @ matrix == one == matrix @ matrix.inverse()
    else:
        with pytest.raises(LayoutError):
            matrix.inverse()


@few
@given(matrices(), st.data())
def test_a_range_of_rows_is_those_bits_of_the_value(matrix, data):
    begin = data.draw(st.integers(0, matrix.rows))
    end = data.draw(st.integers(begin, matrix.rows))
    assert table(matrix.row_range(begin, end)) == [(value >> begin) % (1 << (end - begin)) for value in table(matrix)]


@few
@given(matrices())
def test_a_matrix_is_a_value(matrix):
    assert eval(repr(matrix), {"F2Matrix": F2Matrix}) == matrix  # noqa: S307  # its own repr
    assert pickle.loads(pickle.dumps(matrix)) == matrix == copy.deepcopy(matrix)
    assert len({matrix, F2Matrix(list(matrix.columns), matrix.rows)}) == 1


def test_a_matrix_prints_its_rows_lowest_bit_first():
    assert str(F2Matrix((1, 2, 5))) == "1 . 1\n. 1 .\n. . 1"
    assert str(F2Matrix(())) == ""


@pytest.mark.parametrize(
    "make",
    [
        lambda: F2Matrix((-1,)),
        lambda: F2Matrix((4,), 2),
        lambda: F2Matrix(3),
        lambda: F2Matrix(("x",)),
        lambda: F2Matrix([0] * 64),
        lambda: F2Matrix((), 64),
        lambda: F2Matrix.identity(-1),
        lambda: F2Matrix((1, 2))(4),
        lambda: F2Matrix((1, 2))(-1),
        lambda: F2Matrix((1, 2)).row_range(1, 3),
        lambda: F2Matrix((1, 2)) @ F2Matrix((4,)),
    ],
)
def test_what_is_no_matrix_or_does_not_fit_is_a_typed_error(make):
    with pytest.raises(LayoutError):
        make()


def test_a_matrix_multiplies_matrices_only():
    with pytest.raises(TypeError):
        F2Matrix((1,)) @ 3  # type: ignore[operator]


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
            with pytest.raises(NotLinearError, match="index 0 must have offset 0"):
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
        (Layout((4, 2), (3, 16)), "mode 0 = 4:3 with itself in bits 0b10"),
        (Layout((2, (2, 4)), (4, (1, 2))), r"mode 0 = 2:4 and mode \(1,1\) = 4:2 in bits 0b100"),
        (Layout((2, 2), (1, 1)), "mode 0 = 2:1 and mode 1 = 2:1 in bits 0b1"),
        (Layout((3, 4)), "power of two, found 3 in mode 0 = 3:1"),
        (Layout((2, 2), (4, -1)), "negative, found -1 in mode 1 = 2:-1"),
        (ComposedLayout(Swizzle(1, 0, 1), 2, Layout((2, 2), (1, 4))), "index 0 must have offset 0, found 3"),
        (ComposedLayout(Swizzle(1, 0, 1), 1, Layout(4)), "overlap in bits, found mode 0 = 4:1 with itself"),
        (ComposedLayout(Layout(3, 1), 0, Layout(3)), "power of two, found 3 in the shape"),
    ],
)
def test_a_refusal_names_the_modes(layout, message):
    with pytest.raises(NotLinearError, match=message):
        to_f2(layout)


def test_layouts_to_coordinates_and_symbols_are_refused():
    sympy = pytest.importorskip("sympy")
    with pytest.raises(LayoutError, match="strides must be integers"):
        to_f2(make_identity_layout((2, 4)))
    with pytest.raises(UndecidedError):
        to_f2(Layout((2, 4 * sympy.symbols("m", positive=True, integer=True))))
    with pytest.raises(LayoutError, match="must be a layout"):
        to_f2((2, 4))  # type: ignore[arg-type]
    with pytest.raises(LayoutError, match="rows must be at least 3"):
        to_f2(Layout(8), 2)
    with pytest.raises(LayoutError, match="rows must hold"):
        to_f2(Swizzle(2, 0, -2), 3)


def test_a_layout_of_a_coordinate_layout_is_a_matrix_too():
    layout = ComposedLayout(Layout((2, 4), (4, 1)), 0, make_identity_layout((2, 4)))
    assert to_f2(layout) == to_f2(Layout((2, 4), (4, 1)))


def test_a_composed_layout_is_enumerated_only_up_to_a_bound():
    inner = ComposedLayout(Swizzle(1, 0, 3), 1, Layout(1 << 17))
    with pytest.raises(UndecidedError, match="must compare 131072"):
        to_f2(ComposedLayout(Layout(1 << 18), 0, inner))


def test_fitting_needs_a_power_of_two_of_non_negative_values():
    assert fit_f2([5]) == (F2Matrix((), 3), 5)
    for bad in ([], [1, 2, 3], [0, -1]):
        with pytest.raises(NotLinearError):
            fit_f2(bad)
    with pytest.raises(NotLinearError, match="value 3 must be 3, which the values at powers of two decide, found 4"):
        fit_f2([0, 1, 2, 4])


# Matrices to layouts --------------------------------------------------------------------------------------------------


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
    found = [
        Swizzle(width, base, shift)
        for width in range(1, bits + 1)
        for base in range(bits)
        for shift in range(-bits, bits + 1)
        if abs(shift) >= width and width + base + abs(shift) <= bits
    ]
    return sorted(found, key=lambda s: (s.bits, s.bits + s.base + abs(s.shift), -s.base, s.shift < 0))


@given(matrices(5))
def test_a_matrix_is_a_layout_exactly_if_it_is_one_after_some_swizzle(matrix):
    values = table(matrix)
    expected = next(
        (s for s in [None, *all_swizzles(matrix.rows)] if is_layout([s(v) if s else v for v in values])), "none"
    )
    if expected == "none":
        with pytest.raises(LayoutError, match=r"from_f2: .* must"):
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
        ((1, 1), None, r"\[1, 1\] xor to 0"),
        ((1, 2, 0, 3), None, r"\[1, 2, 3\] xor to 0"),
        ((3, 5, 14), None, "none of 4 bits for columns 0 and 1"),
        ((1, 2), 8, r"must have 2\*\*2 elements.*found 8; shape = 8"),
        ((1, 2), (3, 2), r"found 6; shape = \(3,2\)"),
    ],
)
def test_a_matrix_that_is_no_layout_is_refused_with_the_reason(columns, shape, message):
    with pytest.raises(LayoutError, match=message):
        from_f2(F2Matrix(columns), shape)
