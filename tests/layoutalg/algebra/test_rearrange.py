"""Rearranging keeps the function: modes are chosen, added or grouped, of shapes as of layouts."""

from __future__ import annotations

import corpus
import judge
import pytest
from hypothesis import given
from strategies import any_layouts, drawn, layouts, shapes

from layoutalg import (
    Layout,
    LayoutError,
    append,
    depth,
    flatten,
    group_modes,
    is_congruent,
    make_layout,
    prepend,
    rank,
    select,
)


def inner_of(layout):
    return getattr(layout, "inner", layout)


@given(any_layouts)
def test_flatten_keeps_the_function_and_the_leaves(layout):
    flat = flatten(layout)
    assert judge.values(flat) == judge.values(layout)
    assert judge.leaves(flat.shape) == judge.leaves(layout.shape) and depth(flat) <= 1


@given(
    drawn(
        lambda source: (lambda a: (a, *sorted((source.integer(0, rank(a)), source.integer(0, rank(a))))))(
            corpus.any_layout(source)
        )
    )
)
def test_group_modes_puts_parentheses_around_the_modes_from_begin_to_end(case):
    layout, begin, end = case
    modes = list(inner_of(layout))
    if begin == end:
        return
    group = make_layout(*modes[begin:end])
    leaf = not isinstance(inner_of(layout).shape, tuple)  # counts as the tuple of itself
    expected = group if leaf else make_layout(*modes[:begin], group, *modes[end:])
    grouped = group_modes(layout, begin, end)
    assert inner_of(grouped) == expected
    assert judge.values(grouped) == judge.values(layout)


@given(layouts)
def test_group_modes_without_an_end_groups_to_the_last_and_a_negative_end_counts_from_there(layout):
    assert group_modes(layout, 0) == group_modes(layout, 0, rank(layout))
    if rank(layout) > 1:
        assert group_modes(layout, 0, -1) == group_modes(layout, 0, rank(layout) - 1)


@given(drawn(lambda source: (corpus.any_layout(source, 32), corpus.layout(source, 6), source.integer(0, 3))))
def test_append_and_prepend_add_the_mode_until_the_rank_is_reached(case):
    layout, extra, more = case
    modes = list(inner_of(layout))
    assert list(inner_of(append(layout, extra))) == [*modes, extra]
    assert list(inner_of(prepend(layout, extra))) == [extra, *modes]
    up_to = rank(layout) + more
    assert list(inner_of(append(layout, extra, up_to))) == [*modes, *[extra] * more]
    assert list(inner_of(prepend(layout, extra, up_to))) == [*[extra] * more, *modes]


@given(shapes)
def test_shapes_are_rearranged_as_layouts_are(shape):
    layout = Layout(shape)
    assert flatten(layout).shape == flatten(shape)
    assert append(layout, Layout(3)).shape == append(shape, 3)
    assert select(layout, [0]).shape == select(shape, [0])
    assert is_congruent(shape, layout)


@pytest.mark.parametrize(("begin", "end"), [(1, 0), (1, 1), (0, 4), (-1, 2), (3, 3.5)])
def test_a_range_of_modes_that_does_not_exist_is_refused(begin, end):
    with pytest.raises(LayoutError):
        group_modes(Layout((2, 3, 4)), begin, end)


def test_a_rank_that_is_already_reached_adds_nothing():
    assert append(Layout((2, 3, 4)), Layout(2), 2) == Layout((2, 3, 4)) == prepend(Layout((2, 3, 4)), Layout(2), 3)
