"""Laws of nested integer tuples, by enumeration."""

from __future__ import annotations

import corpus
import judge
import pytest
from hypothesis import given
from strategies import drawn, shapes

from layoutalg import (
    CoordinateError,
    LayoutError,
    crd2idx,
    depth,
    idx2crd,
    is_congruent,
    is_weakly_congruent,
    product,
    rank,
    size,
)
from layoutalg.notation.notation import parse_int_tuple
from layoutalg.tuples.int_tuple import (
    congruent,
    flatten_tuple,
    has_none,
    text,
    tuple_depth,
    unflatten,
    weakly_congruent,
)


@given(shapes)
def test_unflatten_undoes_flatten(shape):
    assert unflatten(flatten_tuple(shape), shape) == shape


@given(shapes)
def test_size_is_the_product_of_the_leaves(shape):
    assert size(shape) == product(shape) == judge.count(shape)
    assert rank(shape) == (len(shape) if isinstance(shape, tuple) else 1)


@given(shapes)
def test_depth_counts_the_nested_parentheses_of_the_text(shape):
    deepest = level = 0
    for mark in text(shape):
        level += {"(": 1, ")": -1}.get(mark, 0)
        deepest = max(deepest, level)
    assert depth(shape) == tuple_depth(shape) == deepest


@given(shapes)
def test_idx2crd_counts_the_coordinates_colexicographically_and_crd2idx_undoes_it(shape):
    seen = [idx2crd(index, shape) for index in range(judge.count(shape))]
    assert all(congruent(coordinate, shape) for coordinate in seen)
    assert [judge.rank_of(coordinate, shape) for coordinate in seen] == list(range(len(seen)))
    assert [crd2idx(coordinate, shape) for coordinate in seen] == list(range(len(seen)))


@given(drawn(lambda source: (lambda shape: (shape, corpus.coordinate(source, shape)))(corpus.shape(source))))
def test_every_coordinate_of_a_coarser_profile_stands_for_one_natural_coordinate(case):
    shape, coordinate = case
    natural = idx2crd(coordinate, shape)
    assert congruent(natural, shape) and weakly_congruent(coordinate, natural)
    assert crd2idx(natural, shape) == crd2idx(coordinate, shape) == judge.rank_of(coordinate, shape)


@given(drawn(lambda source: (corpus.shape(source), corpus.shape(source))))
def test_congruence_is_equality_of_profiles_and_weak_congruence_in_both_directions(case):
    a, b = case
    profile = [text(judge_profile(value)) for value in (a, b)]
    assert is_congruent(a, b) == (profile[0] == profile[1])
    assert is_congruent(a, b) == (is_weakly_congruent(a, b) and is_weakly_congruent(b, a))


def judge_profile(value):
    return tuple(map(judge_profile, value)) if isinstance(value, tuple) else 0


@given(shapes)
def test_an_index_is_weakly_congruent_to_every_shape_and_a_shape_to_itself(shape):
    assert is_weakly_congruent(0, shape)
    assert is_weakly_congruent(shape, shape)


@given(shapes)
def test_the_text_of_a_tuple_reads_back(shape):
    assert parse_int_tuple(text(shape)) == shape


def test_a_tuple_of_one_is_not_its_element():
    assert not is_congruent((4,), 4)
    assert is_weakly_congruent(4, (4,))
    assert not is_weakly_congruent((4,), 4)
    assert text((4,)) == "(4)" != text(4)


@pytest.mark.parametrize("index", [-1, 32, 10**400])
def test_an_index_outside_the_shape_is_refused(index):
    with pytest.raises(LayoutError):
        idx2crd(index, (4, 8))
    with pytest.raises(LayoutError):
        crd2idx(index, (4, 8))


@pytest.mark.parametrize("coordinate", [(0, 8), (4, 0), (0, -1), (0, 0, 0), (0,), ((0, 0), 0), "x", (0, 1.5), True])
def test_a_coordinate_that_does_not_fit_the_shape_is_refused(coordinate):
    with pytest.raises(LayoutError):
        crd2idx(coordinate, (4, 8))


def test_a_coordinate_out_of_range_is_told_apart_from_other_errors():
    with pytest.raises(CoordinateError, match=r"must lie in \[0,8\), found 9"):
        crd2idx((1, 9), (4, 8))


@pytest.mark.parametrize(
    ("coord", "keeps"), [(None, True), (0, False), ((), False), ((1, (2, 3)), False), ((1, (2, (None,))), True)]
)
def test_whether_a_coordinate_keeps_a_mode_is_yes_or_no(coord, keeps):
    assert has_none(coord) is keeps
