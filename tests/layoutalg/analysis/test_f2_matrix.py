"""Matrices over two elements: against vectors multiplied one by one, and the definitions of rank and inverses."""

from __future__ import annotations

import copy
import pickle

import hypothesis.strategies as st
import pytest
from each import each
from f2 import few, matrices
from hypothesis import given

from layoutalg import LayoutError, NotInjectiveError
from layoutalg.analysis.f2_matrix import F2Matrix


def table(matrix: F2Matrix) -> list[int]:
    return [matrix(x) for x in range(1 << len(matrix.columns))]


def span(columns: tuple[int, ...]) -> set[int]:
    result = {0}
    for column in columns:
        result |= {value ^ column for value in result}
    return result


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
        with pytest.raises(LayoutError, match="no vector has the value"):
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


@each(
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
