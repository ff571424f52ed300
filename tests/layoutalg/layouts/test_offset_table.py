"""Nested lists of offsets are the array of offsets, whatever the layout."""

from __future__ import annotations

import corpus
import pytest
from hypothesis import given
from strategies import any_layouts, drawn

from layoutalg import ComposedLayout, Layout, LayoutError, make_identity_layout, offset_table, offsets


@given(any_layouts)
def test_the_table_is_the_array_as_lists(layout):
    assert offset_table(layout) == offsets(layout).tolist()


@given(drawn(lambda source: ComposedLayout(corpus.layout(source), source.integer(-9, 9), corpus.layout(source))))
def test_a_layout_after_a_layout_is_evaluated_beyond_its_shape(layout):
    assert offset_table(layout) == offsets(layout).tolist()


@pytest.mark.parametrize(
    "layout", [make_identity_layout((4, 8)), Layout(1 << 25), Layout((9, 9), (1, 1 << 62))], ids=str
)
def test_what_is_no_table_of_numbers_is_refused(layout):
    with pytest.raises(LayoutError):
        offset_table(layout)
