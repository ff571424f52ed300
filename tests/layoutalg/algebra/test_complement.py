"""Laws of complement: sorted, every sum once, reaching the cotarget in whole periods, filling wherever one can."""

from __future__ import annotations

import re
from functools import partial
from itertools import product

import corpus
import judge
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import CHAINED, chained_layouts, drawn, layouts

from layoutalg import (
    Layout,
    LayoutError,
    NotDivisibleError,
    NotInjectiveError,
    blocked_product,
    complement,
    left_inverse,
    logical_divide,
    logical_product,
    make_identity_layout,
    make_layout,
    parse_layout,
    size,
    tile_to_shape,
)

cotargets = st.integers(1, 200)


@given(layouts, cotargets)
def test_the_complement_is_the_sorted_layout_that_tiles_an_interval_and_is_refused_exactly_where_none_does(layout, m):
    expected = judge.complement(judge.pairs(layout), m)
    try:
        result = complement(layout, m)
    except LayoutError:
        assert expected is None
        return
    assert expected is not None
    assert judge.normal(result) == judge.plain_text(*judge.shape_and_stride(expected))


@given(chained_layouts, cotargets)
def test_layout_and_complement_together_reach_every_offset_of_an_interval_once(layout, m):
    rest = complement(layout, m)
    assert sorted(judge.values(make_layout(layout, rest))) == list(range(size(layout) * size(rest)))


@given(chained_layouts, cotargets)
def test_the_interval_is_the_least_whole_number_of_periods_that_reaches_the_cotarget(layout, m):
    total = size(layout) * size(complement(layout, m))
    period = size(layout) * size(complement(layout, 1))
    assert total >= m and total % period == 0
    assert total == period or total - period < m


@given(chained_layouts, cotargets)
def test_the_complement_is_increasing(layout, m):
    values = judge.values(complement(layout, m))
    assert values == sorted(set(values))


@given(chained_layouts)
def test_the_complement_of_the_complement_is_the_sorted_layout(layout):
    target = size(layout) * size(complement(layout))
    again = complement(complement(layout), target)
    assert sorted(judge.values(again)) == sorted(judge.values(layout))


@given(drawn(lambda source: (corpus.layout(source, kinds=CHAINED), corpus.shape(source))))
def test_a_shape_or_a_layout_as_cotarget_stands_for_its_size(case):
    layout, shape = case
    assert complement(layout, shape) == complement(layout, size(shape))
    gapped = Layout(shape, corpus.like([3 * d for d in judge.leaves(Layout(shape).stride)], shape))
    assert complement(layout, gapped) == complement(layout, size(shape))


@pytest.mark.parametrize(
    ("shape", "stride"),
    [((2, 2), (1, 1)), ((4, 2), (1, 2)), ((3, 2), (1, 2)), ((2, 4), (4, 2)), ((2, 2, 2), (1, 2, 2))],
)
def test_a_layout_that_repeats_an_offset_is_refused_as_not_injective(shape, stride):
    with pytest.raises(NotInjectiveError):
        complement(Layout(shape, stride), 24)


@pytest.mark.parametrize("operation", [lambda layout: complement(layout, 24), partial(left_inverse, strict=True)])
def test_two_modes_that_meet_are_told_from_two_that_interleave(operation):
    for m, n, d, e in product((2, 3, 4, 8), (2, 3, 4), range(1, 9), range(1, 9)):
        layout = Layout((m, n), (d, e))
        try:
            operation(layout)
        except LayoutError as refused:
            assert isinstance(refused, NotInjectiveError) == (not judge.injective(layout)), layout
        else:
            assert judge.injective(layout)


def test_a_negative_stride_is_named():
    with pytest.raises(LayoutError, match=r"complement: stride -3 is negative; layout = \(2,4\):"):
        complement(Layout((2, 4), (1, -3)), 24)


@pytest.mark.parametrize(
    ("shape", "stride"), [((2, 2), (2, 3)), ((3, 2), (2, 5)), ((8, 4), (3, 8)), (4, -1), ((2, 2), (4, -1))]
)
def test_a_layout_whose_modes_interleave_is_refused(shape, stride):
    with pytest.raises(LayoutError):
        complement(Layout(shape, stride), 24)


@pytest.mark.parametrize(
    ("layout", "cotarget", "right"),
    [
        ("(64,64):(1,72)", 16384, "4:4608"),  # columns of shared memory, 8 elements apart
        ("(64,64):(72,1)", 16384, "4:4608"),
        ("(4,6):(1,6)", 1, "1:0"),
        ("(4,10):(1,10)", 1, "2:4"),
        ("(4,10):(1,10)", 400, "(2,4):(4,100)"),
        ("(2,3):(2,5)", 24, "(2,2):(1,15)"),
        ("(4,8):(1,5)", 24, "1:0"),
        ("((2,2),3):((1,3),17)", 100, "(2,2):(6,51)"),
    ],
)
def test_a_padded_layout_has_the_complement_of_its_whole_periods(layout, cotarget, right):
    layout, rest = parse_layout(layout), complement(parse_layout(layout), cotarget)
    assert str(rest) == right
    sums = sorted(layout(i) + rest(j) for i in range(size(layout)) for j in range(size(rest)))
    assert len(set(sums)) == len(sums)
    period = max(d * s for s, d in judge.pairs(layout))
    assert period * -(-cotarget // period) >= cotarget > sums[-1] + 1 - period


def test_copies_of_a_padded_block_lie_in_its_whole_periods():
    padded = Layout((64, 64), (1, 72))
    assert str(logical_product(padded, 4)) == "((64,64),4):((1,72),4608)"
    assert str(tile_to_shape(Layout((8, 64), (72, 1)), (64, 64), (0, 1))) == "((8,8),(64,1)):((72,576),(1,0))"
    assert str(blocked_product(Layout((8, 8), (9, 1)), Layout((2, 2)))) == "((8,2),(8,2)):((9,72),(1,144))"


@pytest.mark.parametrize(("total", "tiler"), [(8, "(2,2):(1,3)"), (36, "(4,6):(1,6)"), (34, "(2,2):(1,3)")])
def test_a_padded_tiler_divides_no_layout_as_its_tiles_leave_elements_out(total, tiler):
    with pytest.raises(NotDivisibleError, match="the tiles leave elements out"):
        logical_divide(Layout(total), parse_layout(tiler))


def test_a_padded_layout_has_a_left_inverse():
    padded = Layout((4, 8), (1, 5))
    inverse = left_inverse(padded)
    assert all(inverse(padded(i)) == i for i in range(32))


@pytest.mark.parametrize("cotarget", [0, -1, (2, 0), "24", 1.5, None, (2, "x"), 10**400])
def test_what_is_no_cotarget_is_refused(cotarget):
    with pytest.raises(LayoutError):
        complement(Layout(4, 2), cotarget)


def test_the_complement_of_an_identity_layout_in_its_own_shape_is_one_element():
    assert size(complement(make_identity_layout((4, 8)), (4, 8))) == 1
    assert str(complement(make_identity_layout((4, 8)), (8, 8))) == "(2,1):(4@0,8@1)"


@pytest.mark.parametrize(
    ("layout", "cotarget", "reason"),
    [
        ("(2,2):(1@0,1@0)", (8, 8), "maps two coordinates to offset 1"),
        ("(2,2):(2@0,3@0)", (8, 8), "stride 3 is less than 4"),
        ("(2,2):(1@0,1)", (8, 8), "both integer and basis strides"),
        ("2:1@0@1", (8, 8), "mode (1,) of the cotarget is the number 8, but the basis strides name parts"),
        ("2:-1@0", (8, 8), "stride -1 is negative"),
    ],
)
def test_a_coordinate_layout_without_a_complement_is_refused_with_the_reason(layout, cotarget, reason):
    with pytest.raises(LayoutError, match=re.escape(reason)):
        complement(parse_layout(layout), cotarget)
