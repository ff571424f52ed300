"""Laws of composition: the right layout where one exists, a refusal where none does, both decided by enumeration."""

from __future__ import annotations

import corpus
import judge
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import composed_pairs, composition_pairs, drawn, layouts, swizzles, tiled

from layoutalg import (
    ComposedLayout,
    E,
    Layout,
    LayoutError,
    NotDivisibleError,
    Swizzle,
    composition,
    make_layout,
    parse_layout,
    size,
)


def check(a, b):
    expected = judge.composition(a, b.shape, b.stride)
    try:
        result = composition(a, b)
    except NotDivisibleError:
        assert expected is None, f"refused, but {judge.plain_text(*expected)} is right"
        return
    assert expected is not None, f"{result} is wrong: no layout is this function"
    assert judge.normal(result) == judge.plain_text(*expected)
    assert [result(i) for i in range(size(b))] == [judge.after(a, b(i)) for i in range(size(b))]


@given(composition_pairs)
def test_a_of_b_is_the_layout_that_refines_b_and_is_refused_exactly_where_none_is_that_function(pair):
    check(*pair)


@given(drawn(lambda source: (corpus.layout(source, kinds=("arbitrary",)), corpus.layout(source, 48))))
def test_the_same_for_unrelated_layouts(pair):
    check(*pair)


@given(drawn(lambda source: (corpus.layout(source), Layout(source.integer(1, 60), source.integer(-9, 60)))))
def test_the_same_for_one_mode_beyond_the_domain_and_below_zero(pair):
    check(*pair)


def crowded(source):
    """Small extents, strides that nearly continue: jumps that may cancel."""
    shape = [source.pick((2, 3, 4)) for _ in range(source.integer(2, 4))]
    stride = [source.integer(1, 3)]
    for extent in shape[:-1]:
        stride.append(max(0, stride[-1] * extent + source.pick((-1, 1, 0, -2, 2))))
    a = Layout(tuple(shape), tuple(stride))
    return a, Layout(
        tuple(source.pick((2, 3, 4)) for _ in range(2)), tuple(source.integer(0, 2 * size(a)) for _ in range(2))
    )


@given(drawn(crowded))
def test_the_same_where_the_jumps_of_several_boundaries_nearly_cancel(pair):
    check(*pair)


@given(composed_pairs)
def test_a_composed_layout_is_composed_through_its_inner_layout(pair):
    a, b = pair
    inner = getattr(a, "inner", a)
    expected = judge.composition(inner, b.shape, b.stride)
    try:
        result = composition(a, b)
    except NotDivisibleError:
        assert expected is None
        return
    assert judge.normal(getattr(result, "inner", result)) == judge.plain_text(*expected)
    if isinstance(a, ComposedLayout):
        assert (result.outer, result.offset) == (a.outer, a.offset)


@given(tiled)
def test_a_tiler_composes_each_of_the_first_modes_and_drops_the_others(case):
    layout, tiler = case
    inner = getattr(layout, "inner", layout)
    modes = list(inner)[: len(tiler)]
    try:
        expected = [mode if tile is None else composition(mode, tile) for mode, tile in zip(modes, tiler, strict=True)]
    except LayoutError:
        with pytest.raises(LayoutError):
            composition(layout, tiler)
        return
    assert getattr(composition(layout, tiler), "inner", composition(layout, tiler)) == make_layout(*expected)


@given(layouts, st.integers(1, 12))
def test_an_integer_tiler_is_the_layout_of_its_first_elements(layout, count):
    try:
        expected = composition(layout, Layout(count, 1))
    except LayoutError:
        with pytest.raises(LayoutError):
            composition(layout, count)
        return
    assert composition(layout, count) == expected


@given(layouts)
def test_the_identity_is_neutral_on_both_sides(layout):
    assert judge.values(composition(layout, Layout(layout.shape))) == judge.values(layout)
    flat = composition(layout, Layout(size(layout)))
    assert judge.values(flat) == judge.values(layout)
    if all(d >= 0 for d in judge.leaves(layout.stride)):
        assert judge.values(composition(Layout(max(judge.values(layout)) + 1), layout)) == judge.values(layout)


@given(drawn(lambda source: (corpus.layout(source), corpus.indexer(source, 32), corpus.indexer(source, 16))))
def test_composition_is_associative_where_both_sides_exist(case):
    a, b, c = case
    if not all(0 <= x < size(b) for x in judge.values(c)):
        return
    try:
        left = composition(composition(a, b), c)
        right = composition(a, composition(b, c))
    except LayoutError:
        return
    assert judge.values(left) == judge.values(right)


@given(swizzles, drawn(corpus.layout, kinds=corpus.KINDS[:5]))
def test_a_swizzle_after_a_layout_is_a_composed_layout(swizzle, layout):
    result = composition(swizzle, layout)
    assert result == ComposedLayout(swizzle, 0, layout)
    assert judge.values(result) == [judge.swizzled(swizzle, x) for x in judge.values(layout)]


def binary(source):
    """A layout of powers of two, and a swizzle whose fields may or may not fit it."""
    shape = tuple(2 ** source.integer(0, 3) for _ in range(source.integer(1, 3)))
    stride = corpus.strides(source, shape, source.pick(("compact", "permuted", "zeros")))
    bits = source.integer(0, 2)
    return Layout(shape, tuple(stride)), Swizzle(bits, source.integer(0, 2), source.integer(max(bits, 1), 3))


@given(drawn(binary))
def test_a_layout_after_a_swizzle_is_that_function_of_every_index(case):
    layout, swizzle = case
    if any(swizzle(x) >= size(layout) for x in range(size(layout))):
        return
    result = composition(layout, swizzle)
    assert size(result) == size(layout)
    assert judge.values(result) == [judge.at(layout, swizzle(x)) for x in range(size(layout))]


@given(
    drawn(lambda source: (corpus.layout(source, kinds=corpus.KINDS[:5]), corpus.composed(source, 32, corpus.KINDS[:4])))
)
def test_a_layout_after_a_swizzled_one_is_that_function_of_every_index(case):
    a, b = case
    result = composition(a, b)
    assert judge.values(result) == [judge.after(a, x) for x in judge.values(b)]


CARRIES = [
    ("(6,2):(1,7)", "(3,2):(2,3)"),
    ("(4,6,8):(2,3,5)", "6:3"),
    ("(3,4):(1,5)", "6:2"),
    ("(4,3):(1,100)", "4:3"),
    ("(8,4):(1,100)", "4:6"),
    ("(5,3):(7,1)", "7:1"),
    ("(4,3):(1,100)", "5:1"),
]


@pytest.mark.parametrize(("a", "b"), CARRIES)
def test_a_carry_into_another_mode_is_refused(a, b):
    with pytest.raises(NotDivisibleError):
        composition(parse_layout(a), parse_layout(b))


ACCIDENTS = [
    # No divisibility rule allows these, and yet the layout exists.
    ("(5,3):(7,1)", "2:3", "2:21"),
    ("(23,5):(2,120)", "7:3", "7:6"),
    ("(4,2,8):(3,12,97)", "3:3", "3:9"),
    ("(8,8):(8,1)", "1:5", "1:0"),
]


@pytest.mark.parametrize(("a", "b", "expected"), ACCIDENTS)
def test_a_layout_that_exists_by_accident_is_found(a, b, expected):
    assert judge.normal(composition(parse_layout(a), parse_layout(b))) == expected


def test_a_refusal_names_the_operation_and_shows_the_operands():
    with pytest.raises(NotDivisibleError, match=r"^composition: .*; a = \(6,2\):\(1,7\), b = \(3,2\):\(2,3\)$"):
        composition(Layout((6, 2), (1, 7)), Layout((3, 2), (2, 3)))


@pytest.mark.parametrize("b", [(1, 1, 1), "4:1", 1.5, 0, -4, (None, None, None), (0, 1), True])
def test_what_is_no_tiler_of_the_layout_is_refused(b):
    with pytest.raises(LayoutError):
        composition(Layout((4, 8)), b)


@pytest.mark.parametrize("a", [8, (4, 8), None, "8:1"])
def test_what_is_no_layout_is_refused(a):
    with pytest.raises(LayoutError):
        composition(a, Layout(4))


def test_a_mode_that_never_steps_may_name_any_mode():
    assert str(composition(Layout((4, 8), (1, 4)), Layout((4, 1, 2), (E(0), E(7), E(9) * 0)))) == "(4,1,2):(1,0,0)"
