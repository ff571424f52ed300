"""Flat modes: merged where they continue one another, they are the same function with no mode to spare."""

from itertools import pairwise

import judge
from hypothesis import given
from hypothesis import strategies as st
from strategies import layouts

from layoutalg import E, Layout, symbol
from layoutalg.layouts.flat import cut, filtered, from_flat, merge
from layoutalg.layouts.layout import trusted
from layoutalg.layouts.plain_composition import compose_plain
from layoutalg.tuples.int_tuple import flatten_tuple


@given(layouts)
def test_merged_modes_are_the_same_function_and_none_continues_the_one_before(layout):
    extents, strides = merge(flatten_tuple(layout.shape), flatten_tuple(layout.stride))
    assert judge.values(from_flat(extents, strides)) == judge.values(layout)
    steps = list(zip(extents, strides, strict=True))
    assert all(n > 1 for n in extents)
    assert all(n * d != after for (n, d), (_, after) in pairwise(steps))


@given(layouts)
def test_filtered_modes_reach_the_same_offsets_and_move_at_every_step(layout):
    extents, strides = filtered(layout)
    assert 0 not in strides
    assert set(judge.values(from_flat(extents, strides))) == set(judge.values(layout))


@given(layouts, st.integers(1, 64))
def test_a_cut_is_composition_with_its_first_indices_and_with_the_others(layout, count):
    halves = cut(layout, count)
    if halves is None:
        return
    total = len(judge.values(layout))
    assert total % count == 0
    parts = [trusted(*part) for part in halves]
    assert parts == [compose_plain(layout, Layout(count)), compose_plain(layout, Layout(total // count, count))] or (
        parts[1] == Layout(1, 0) and count == total
    )
    first, rest = (judge.values(part) for part in parts)
    assert [a + b for b in rest for a in first] == judge.values(layout)


def test_a_cut_divides_the_mode_that_it_falls_into_or_is_none():
    layout = Layout((4, (6, 2)), (1, (8, 100)))
    assert [count for count in range(1, 49) if cut(layout, count)] == [1, 2, 4, 8, 12, 24, 48]
    assert cut(layout, 96) is None  # beyond the end


def test_what_must_be_looked_at_more_closely_is_not_cut():
    for layout in (Layout((4, 1), (1, 7)), Layout(8, E(0)), Layout((2, symbol("m")), (1, 2)), Layout((), ())):
        assert cut(layout, 2) is None
