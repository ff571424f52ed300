"""Laws of whole-layout evaluation: the same numbers as one call after another."""

from __future__ import annotations

import corpus
import judge
import pytest
from hypothesis import given
from strategies import any_layouts, drawn

from layoutalg import ComposedLayout, Layout, LayoutError, make_identity_layout, offsets, rank, size


@given(any_layouts)
def test_offsets_in_colexicographic_order_are_the_values_of_the_layout(layout):
    table = offsets(layout)
    assert table.reshape(-1, order="F").tolist() == judge.values(layout)


@given(any_layouts)
def test_the_table_has_one_axis_for_each_top_level_mode(layout):
    table = offsets(layout)
    assert table.ndim == rank(layout)
    assert table.shape == tuple(size(mode) for mode in layout)


@given(drawn(lambda source: ComposedLayout(corpus.layout(source), source.integer(-9, 9), corpus.layout(source))))
def test_a_layout_after_a_layout_is_evaluated_beyond_its_shape(layout):
    assert offsets(layout).reshape(-1, order="F").tolist() == judge.values(layout)


def test_the_table_of_the_documented_layout():
    assert offsets(Layout((2, (2, 2)), (4, (2, 1)))).tolist() == [[0, 2, 1, 3], [4, 6, 5, 7]]


def test_numbers_beyond_32_bits_are_exact():
    assert offsets(Layout(4, 2**40)).tolist() == [0, 2**40, 2**41, 3 * 2**40]


def test_coordinates_are_no_table_of_offsets():
    with pytest.raises(LayoutError):
        offsets(make_identity_layout((4, 8)))
