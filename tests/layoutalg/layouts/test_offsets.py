"""Laws of whole-layout evaluation: the same numbers as one call after another."""

from __future__ import annotations

import corpus
import judge
import pytest
from hypothesis import given
from strategies import any_layouts, drawn

from layoutalg import ComposedLayout, Layout, LayoutError, Swizzle, make_identity_layout, offsets, rank, size
from layoutalg.layouts.offsets import bounds


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


def turning(source):
    """A layout whose numbers leave 32 bits at one step or another: what a mode gives, what is added, what follows."""
    far = 2**31 - 1
    inner = Layout((2, 2), (source.integer(-far, far), source.integer(-9, 9)))
    shift = source.pick([-far - 1, -far, 0, far, far + 1]) + source.integer(-2, 2)
    outer = source.pick([Swizzle(0, 0, 0), Swizzle(1, 0, 3), Layout(4, 1), Layout((2, 2), (4, 1))])
    return ComposedLayout(outer, shift, inner)


@given(drawn(turning))
def test_the_type_holds_every_number_on_the_way_to_an_offset(layout):
    inner, shift = judge.values(layout.inner), layout.offset
    low, high = bounds(layout)
    on_the_way = [0, *inner, *(shift + one for one in inner), *judge.values(layout)]
    assert low <= min(on_the_way) and max(on_the_way) <= high
    assert offsets(layout).reshape(-1, order="F").tolist() == judge.values(layout)


@pytest.mark.parametrize(
    ("shift", "stride"), [(-(2**31), 2**31), (2**31 + 7, -(2**31) - 7), (2**31, -(2**31)), (2**31 - 1, 1)]
)
def test_a_number_on_the_way_widens_the_type_though_no_offset_does(shift, stride):
    layout = ComposedLayout(Swizzle(0, 0, 0), shift, Layout(2, stride))
    assert offsets(layout).dtype == "int64"
    assert offsets(layout).tolist() == [shift, shift + stride]
    with pytest.raises(LayoutError, match="int32 must hold offsets from"):
        offsets(layout, "int32")


def test_coordinates_are_no_table_of_offsets():
    with pytest.raises(LayoutError):
        offsets(make_identity_layout((4, 8)))
