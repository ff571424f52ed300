"""The worked examples of the published CuTe documentation on layouts, one test each.

Source, in NVIDIA/cutlass: ``media/docs/cpp/cute/01_layout.md`` ("CuTe Layouts"). Test names begin with the document and
its section. Static and dynamic integers are one kind here: ``_8:_1`` and ``8:1`` are equal.
"""

from __future__ import annotations

import pytest
from documented import L, right_major, tiles
from each import each

from layoutalg import (
    Layout,
    append,
    crd2idx,
    depth,
    flatten,
    get,
    group_modes,
    idx2crd,
    make_layout,
    offsets,
    prepend,
    rank,
    select,
    size,
)


def test_layouts_inttuple_operations():
    assert rank((2, 3)) == 2 and rank(2) == 1
    assert get((42, (1, 3), 17), 1) == (1, 3) and get((42, (1, 3), 17), [1, 1]) == 3
    assert [depth(value) for value in (6, (2,), (4, 3), (3, (6, 2), 8))] == [0, 1, 1, 2]
    assert size((3, (6, 2), 8)) == 288


def test_layouts_constructing_a_layout():
    assert str(make_layout(8)) == "8:1"
    assert str(make_layout((2, 4))) == "(2,4):(1,2)"
    assert str(make_layout((2, 4), stride=(12, 1))) == "(2,4):(12,1)"
    assert str(right_major((2, 4))) == "(2,4):(4,1)"
    assert str(make_layout((2, (2, 2)), stride=(4, (2, 1)))) == "(2,(2,2)):(4,(2,1))"
    assert right_major((2, (2, 2))) == L("(2,(2,2)):(4,(2,1))")
    assert str(make_layout((2, (2, 2)))) == "(2,(2,2)):(1,(2,4))"


@pytest.mark.parametrize(
    ("layout", "rows"),
    [
        ("(2,4):(1,2)", [[0, 2, 4, 6], [1, 3, 5, 7]]),
        ("(2,4):(12,1)", [[0, 1, 2, 3], [12, 13, 14, 15]]),
        ("(2,(2,2)):(1,(2,4))", [[0, 2, 4, 6], [1, 3, 5, 7]]),
        ("(2,(2,2)):(4,(2,1))", [[0, 2, 1, 3], [4, 6, 5, 7]]),
    ],
)
def test_layouts_using_a_layout_in_two_dimensions(layout, rows):
    assert [[L(layout)(m, n) for n in range(4)] for m in range(2)] == rows
    assert offsets(L(layout)).tolist() == rows


@pytest.mark.parametrize(
    ("layout", "row"),
    [
        ("(2,4):(1,2)", [0, 1, 2, 3, 4, 5, 6, 7]),
        ("(2,4):(12,1)", [0, 12, 1, 13, 2, 14, 3, 15]),
        ("(2,(2,2)):(1,(2,4))", [0, 1, 2, 3, 4, 5, 6, 7]),
        ("(2,(2,2)):(4,(2,1))", [0, 4, 2, 6, 1, 5, 3, 7]),
    ],
)
def test_layouts_using_a_layout_in_one_dimension(layout, row):
    assert [L(layout)(i) for i in range(8)] == row


@pytest.mark.parametrize(
    ("layout", "row"),
    [
        ("8:1", [0, 1, 2, 3, 4, 5, 6, 7]),
        ("8:2", [0, 2, 4, 6, 8, 10, 12, 14]),
        ("((4,2)):((2,1))", [0, 2, 4, 6, 1, 3, 5, 7]),
        ("((4,2)):((1,4))", [0, 1, 2, 3, 4, 5, 6, 7]),
    ],
)
def test_layouts_vector_layouts(layout, row):
    assert rank(L(layout)) == 1
    assert [L(layout)(i) for i in range(8)] == row


@pytest.mark.parametrize(
    ("layout", "rows"),
    [
        ("(4,2):(1,4)", [[0, 4], [1, 5], [2, 6], [3, 7]]),
        ("(4,2):(2,1)", [[0, 1], [2, 3], [4, 5], [6, 7]]),
        ("((2,2),2):((4,1),2)", [[0, 2], [4, 6], [1, 3], [5, 7]]),
    ],
)
def test_layouts_matrix_examples(layout, rows):
    assert offsets(L(layout)).tolist() == rows


@each(
    ("a", "b", "compatible"),
    [
        (24, 32, False),
        (24, (4, 6), True),
        ((4, 6), ((2, 2), 6), True),
        (((2, 2), 6), ((2, 2), (3, 2)), True),
        (24, ((2, 2), (3, 2)), True),
        (24, ((2, 3), 4), True),
        (((2, 3), 4), ((2, 2), (3, 2)), False),
        (((2, 2), (3, 2)), ((2, 3), 4), False),
        (24, (24,), True),
        ((24,), 24, False),
        ((24,), (4, 6), False),
    ],
)
def test_layouts_layout_compatibility(a, b, compatible):
    assert tiles(a, b) == compatible
    if compatible:  # every coordinate of a indexes b
        assert sorted(crd2idx(idx2crd(i, a), b) for i in range(size(a))) == list(range(size(b)))


def test_layouts_coordinate_mapping_table():
    shape = (3, (2, 3))
    for i in range(18):
        m, n = i % 3, i // 3
        natural = (m, (n % 2, n // 2))
        assert idx2crd(i, shape) == idx2crd((m, n), shape) == idx2crd(natural, shape) == natural


@pytest.mark.parametrize("coordinate", [16, (1, 5), (1, (1, 2))])
def test_layouts_coordinate_mapping_idx2crd(coordinate):
    assert idx2crd(coordinate, (3, (2, 3))) == (1, (1, 2))


def test_layouts_index_mapping_table():
    table = [[0, 12, 1, 13, 2, 14], [3, 15, 4, 16, 5, 17], [6, 18, 7, 19, 8, 20]]
    assert offsets(L("(3,(2,3)):(3,(12,1))")).tolist() == table


@pytest.mark.parametrize("coordinate", [16, (1, 5), (1, (1, 2))])
def test_layouts_index_mapping_crd2idx(coordinate):
    assert crd2idx(coordinate, L("(3,(2,3)):(3,(12,1))")) == 17


def test_layouts_sublayouts_by_path():
    a = Layout((4, (3, 6)))
    assert str(a) == "(4,(3,6)):(1,(4,12))"
    assert [str(get(a, mode)) for mode in (0, 1, [1, 0], [1, 1])] == ["4:1", "(3,6):(4,12)", "3:4", "6:12"]


def test_layouts_sublayouts_by_select_and_take():
    a = Layout((2, 3, 5, 7))
    assert str(a) == "(2,3,5,7):(1,2,6,30)"
    assert str(select(a, [1, 3])) == "(3,7):(2,30)"
    assert str(select(a, [0, 1, 3])) == "(2,3,7):(1,2,30)"
    assert str(select(a, [2])) == "(5):(6)"
    assert str(select(a, range(1, 3))) == "(3,5):(2,6)"
    assert str(select(a, range(1, 4))) == "(3,5,7):(2,6,30)"


def test_layouts_concatenation_by_make_layout():
    a, b = L("3:1"), L("4:3")
    row, col = make_layout(a, b), make_layout(b, a)
    assert (str(row), str(col)) == ("(3,4):(1,3)", "(4,3):(3,1)")
    assert str(make_layout(row, col)) == "((3,4),(4,3)):((1,3),(3,1))"
    assert str(make_layout(a)) == "(3):(1)"
    assert str(make_layout(make_layout(a))) == "((3)):((1))"
    assert str(make_layout(a, make_layout(a), a)) == "(3,(3),3):(1,(1),1)"


def test_layouts_concatenation_by_append_and_prepend():
    a, b = L("3:1"), L("4:3")
    ab, ba = append(a, b), prepend(a, b)
    assert (str(ab), str(ba)) == ("(3,4):(1,3)", "(4,3):(3,1)")
    c = append(ab, ab)
    assert str(c) == "(3,4,(3,4)):(1,3,(1,3))"
    assert str(append(select(c, [0, 1]), b)) == "(3,4,4):(1,3,3)"  # replace<2>(c, b)


def test_layouts_grouping_and_flattening():
    a = Layout((2, 3, 5, 7))
    b = group_modes(a, 0, 2)
    c = group_modes(b, 1, 3)
    assert str(b) == "((2,3),5,7):((1,2),6,30)"
    assert str(c) == "((2,3),(5,7)):((1,2),(6,30))"
    assert flatten(b) == flatten(c) == a
