"""Flat modes: merged where they continue one another, they are the same function with no mode to spare."""

from itertools import pairwise

import judge
from hypothesis import given
from strategies import layouts

from layoutalg.layouts.flat import filtered, from_flat, merge
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
