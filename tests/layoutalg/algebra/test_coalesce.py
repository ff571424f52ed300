"""Laws of coalesce and filter, by enumeration."""

from __future__ import annotations

import corpus
import judge
import pytest
from each import each
from hypothesis import given
from strategies import any_layouts, drawn, layouts

from layoutalg import E, Layout, LayoutError, coalesce, depth, filter, filter_zeros, make_layout, size


def inner_of(layout):
    return getattr(layout, "inner", layout)


@given(any_layouts)
def test_coalesce_keeps_size_and_function_and_is_flat(layout):
    result = coalesce(layout)
    assert size(result) == size(layout) and depth(result) <= 1
    assert judge.values(result) == judge.values(layout)


@given(any_layouts)
def test_the_coalesced_form_is_the_unique_form_of_the_function(layout):
    unique = judge.form(judge.values(inner_of(layout)))
    assert judge.normal(inner_of(coalesce(layout))) == judge.plain_text(*judge.shape_and_stride(unique))


@given(layouts)
def test_coalesce_is_idempotent(layout):
    assert coalesce(coalesce(layout)) == coalesce(layout)


@given(drawn(lambda source: (corpus.layout(source), corpus.layout(source))))
def test_two_layouts_are_one_function_exactly_if_their_coalesced_forms_are_equal(case):
    a, b = case
    assert (judge.values(a) == judge.values(b)) == (coalesce(a) == coalesce(b))


@given(layouts)
def test_coalesce_by_mode_coalesces_each_mode_by_itself(layout):
    if not isinstance(layout.shape, tuple):
        return
    result = coalesce(layout, target_profile=(1,) * len(layout))
    assert result == make_layout(*(coalesce(mode) for mode in layout))
    assert judge.values(result) == judge.values(layout)


@given(layouts)
def test_the_modes_beyond_the_profile_stay_as_they_are(layout):
    if not isinstance(layout.shape, tuple):
        return
    assert coalesce(layout, target_profile=(1,)) == make_layout(coalesce(layout[0]), *list(layout)[1:])


@given(layouts)
def test_filter_zeros_keeps_the_image_and_drops_only_repetition(layout):
    result = filter_zeros(layout)
    assert judge.leaves(result.stride) == judge.leaves(layout.stride)
    assert set(judge.values(result)) == set(judge.values(layout))
    dropped = [s for s, d in judge.pairs(layout) if d == 0]
    assert size(result) * corpus.product_of(dropped) == size(layout)


@given(layouts)
def test_filter_is_the_coalesced_layout_of_the_modes_that_move(layout):
    moving = [(s, d) for s, d in judge.pairs(layout) if d != 0]
    expected = judge.form(judge.values(judge.Plain(tuple(s for s, _ in moving), tuple(d for _, d in moving))))
    assert judge.normal(filter(layout)) == judge.plain_text(*judge.shape_and_stride(expected))


@pytest.mark.parametrize(
    ("layout", "profile"), [(Layout((4, 8)), (1, 1, 1)), (Layout(4), (1, 1)), (Layout((4, 8)), ((1, 1, 1), 1))]
)
def test_a_profile_with_more_modes_than_the_layout_is_refused(layout, profile):
    with pytest.raises(LayoutError):
        coalesce(layout, target_profile=profile)


@each("operation", [coalesce, filter, filter_zeros])
@each("value", [8, (4, 8), None, "8:1"])
def test_what_is_no_layout_is_refused(operation, value):
    with pytest.raises(LayoutError):
        operation(value)


@pytest.mark.parametrize(
    ("operation", "layout", "result"),
    [
        (coalesce, Layout((4, 4), (0, E(0) * 0)), "16:0"),
        (coalesce, Layout((4, 4), (E(1) * 0, 0)), "16:0"),
        (coalesce, Layout(3, E(1) * 0), "3:0"),
        (coalesce, Layout((2, 2, 2), (E(0), E(0) * 0, E(1) * 0)), "(2,4):(1@0,0)"),
        (filter, Layout(3, E(1) * 0), "1:0"),
        (filter_zeros, Layout((3, 2), (E(1) * 0, E(0))), "(1,2):(0@1,1@0)"),
    ],
)
def test_no_step_of_a_unit_vector_is_stride_0(operation, layout, result):
    assert str(operation(layout)) == result
