"""Laws of nested integer tuples, by enumeration."""

from __future__ import annotations

import corpus
import judge
import pytest
from hypothesis import given
from strategies import drawn, shapes

from layoutalg import LayoutError, depth, is_congruent, is_weakly_congruent, product, rank, size
from layoutalg.notation.parser import parse_int_tuple
from layoutalg.tuples.int_tuple import flatten_tuple, has_none, text, tuple_depth, unflatten


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


@pytest.mark.parametrize(
    ("coord", "keeps"), [(None, True), (0, False), ((), False), ((1, (2, 3)), False), ((1, (2, (None,))), True)]
)
def test_whether_a_coordinate_keeps_a_mode_is_yes_or_no(coord, keeps):
    assert has_none(coord) is keeps


@pytest.mark.parametrize("factors", [(2147483648, "mma.m16n8k16.A"), ((2147483648, 2), b"abc"), (1 << 40, [1, 2])])
def test_a_factor_that_is_no_integer_is_refused_before_it_is_multiplied(factors):
    with pytest.raises(LayoutError, match=r"product: a factor is .*, which is not an integer"):
        product(factors)
