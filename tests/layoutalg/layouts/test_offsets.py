"""Laws of whole-layout evaluation: the same numbers as one call after another."""

from __future__ import annotations

import corpus
import judge
import pytest
from each import each
from hypothesis import given
from hypothesis import strategies as st
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
    with pytest.raises(LayoutError, match="int32 cannot represent the offsets from"):
        offsets(layout, "int32")


ALONE, NONE = Swizzle(0, 0, 0), Layout(1, 0)


@each(
    ("layout", "dtype"),
    [
        (ComposedLayout(Layout((2, 2), (4, 1)), -(2**31), NONE), None),  # int32 has no -(-2**31)
        (ComposedLayout(Swizzle(1, 0, 31), -(2**31), Layout(2, 1)), None),  # the sign is a bit as any other
        (ComposedLayout(Swizzle(1, 0, 40), -1, NONE), None),  # and so are all above it
        (ComposedLayout(Swizzle(1, 0, 7), 0, Layout(2, 128)), "uint8"),
        (ComposedLayout(Swizzle(1, 0, 7), -128, Layout(2, 1)), "int8"),
        (ComposedLayout(Swizzle(1, 0, 9), 0, Layout(2, 128)), "uint8"),
        (ComposedLayout(Swizzle(1, 6, -6), 0, Layout(8, 1)), "uint16"),
        (ComposedLayout(Layout((1, 4), (2**40, 1)), 0, Layout(2, 1)), None),  # strides and extents that nothing takes
        (ComposedLayout(Layout((4, 4), (1, 2**40)), 0, Layout(2, 1)), None),
        (ComposedLayout(Layout((2**40, 2), (0, 1)), 0, Layout(2, 1)), None),
        (ComposedLayout(ComposedLayout(ALONE, -(2**40), ComposedLayout(ALONE, 2**40, NONE)), 0, NONE), None),
    ],
    ids=str,
)
def test_numbers_at_the_ends_of_a_type_are_exact(layout, dtype):
    assert offsets(layout, dtype).reshape(-1, order="F").tolist() == judge.values(layout)


def small(source):
    """Layouts whose numbers are about those of one byte, after one function or two."""
    inner = Layout((2, 3), (source.integer(-90, 90), source.integer(-40, 40)))
    outer = source.pick(
        [corpus.layout(source), Swizzle(source.integer(0, 2), source.integer(0, 3), source.integer(2, 9))]
    )
    if source.integer(0, 1):
        outer = ComposedLayout(outer, source.integer(-130, 130), corpus.layout(source))
    return ComposedLayout(outer, source.integer(-130, 130), inner)


@given(drawn(small), st.sampled_from(["int8", "uint8", "int16", "int64"]))
def test_every_type_gives_exact_numbers_or_is_refused(layout, dtype):
    try:
        array = offsets(layout, dtype)
    except LayoutError as error:
        assert dtype != "int64" and "cannot represent the offsets from" in str(error)
    else:
        assert array.dtype == dtype
        assert array.reshape(-1, order="F").tolist() == judge.values(layout)


def test_coordinates_are_no_table_of_offsets():
    with pytest.raises(LayoutError):
        offsets(make_identity_layout((4, 8)))
