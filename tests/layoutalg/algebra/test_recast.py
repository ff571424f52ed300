"""Laws of recast: the same bytes in another unit, by enumeration."""

from __future__ import annotations

import corpus
import judge
import pytest
from each import each
from hypothesis import example, given
from hypothesis import strategies as st
from strategies import drawn

from layoutalg import (
    ComposedLayout,
    Layout,
    LayoutError,
    NotDivisibleError,
    Swizzle,
    downcast,
    is_congruent,
    make_identity_layout,
    recast_layout,
    size,
    upcast,
)

FACTORS = (2, 4, 8, 1, 3)


def with_factor(source):
    if source.integer(0, 1):
        return corpus.any_layout(source), source.pick(FACTORS)
    # Strides made of the factor, so that many recasts exist.
    n = source.pick(FACTORS)
    layout = corpus.layout(source, 48)
    flat = [d * source.pick((1, n, n, 2 * n)) for d in judge.leaves(layout.stride)]
    layout = Layout(layout.shape, corpus.like(flat, layout.shape))
    if source.integer(0, 2) == 2 and min([*flat, 0]) >= 0:
        return ComposedLayout(corpus.swizzle(source), source.pick((0, n, 8 * n)), layout), n
    return layout, n


def units(layout, result, n):
    """Pairs of what the law equates: the unit of each element, and the recast layout at the element's group."""
    old, new = judge.leaves(layout.shape), judge.leaves(result.shape)
    strides = judge.leaves(getattr(layout, "inner", layout).stride)
    together = [  # steps in one unit; a stride that does not divide it keeps the whole mode in it
        1 if s == 1 or d % n == 0 else n // d if n % d == 0 else s for s, d in zip(old, strides, strict=True)
    ]
    assert [-(-s // step) for s, step in zip(old, together, strict=True) if s > 1] == [
        t for s, t in zip(old, new, strict=True) if s > 1
    ]
    for index in range(size(layout)):
        group = [digit // step for digit, step in zip(judge.digits(index, old), together, strict=True)]
        yield judge.at(layout, index) // n, judge.at(result, judge.rank_of(tuple(group), tuple(new)))


@given(drawn(with_factor))
@example((Layout((2,), (3,)), 4))  # a whole mode inside one unit
def test_upcast_keeps_every_element_in_the_unit_it_lies_in(case):
    layout, n = case
    try:
        result = upcast(layout, n)
    except NotDivisibleError:
        return
    assert is_congruent(layout, result)
    assert all(unit == place for unit, place in units(layout, result, n))


@given(drawn(with_factor))
def test_upcast_is_refused_exactly_where_a_mode_or_the_modes_together_straddle_units(case):
    layout, n = case
    inner = getattr(layout, "inner", layout)
    moving = [(s, d) for s, d in judge.pairs(inner) if s > 1 and d]
    fits = all(d % n == 0 or (d > 0 and (n % d == 0 or d * (s - 1) < n)) for s, d in moving)
    within = sum(d * (min(s, -(-n // d)) - 1) for s, d in moving if d % n)
    possible = fits and within < n
    if isinstance(layout, ComposedLayout):
        power = n & (n - 1) == 0
        swizzle = layout.outer
        possible = (
            possible
            and (power or not swizzle.bits)
            and layout.offset % n == 0
            and (not swizzle.bits or 1 << swizzle.base >= n)
        )
    try:
        upcast(layout, n)
    except NotDivisibleError:
        assert not possible
    else:
        assert possible


@given(drawn(with_factor))
def test_downcast_splits_every_element_into_its_parts_in_order(case):
    layout, n = case
    try:
        result = downcast(layout, n)
    except NotDivisibleError:
        return
    assert is_congruent(layout, result)
    old, new = judge.leaves(layout.shape), judge.leaves(result.shape)
    grown = [mode for mode, (s, t) in enumerate(zip(old, new, strict=True)) if s != t]
    assert len(grown) <= 1
    for index in range(size(result)):
        digits = judge.digits(index, new)
        part = 0
        for mode in grown:
            part = digits[mode] % n
            digits[mode] //= n
        element = judge.at(layout, judge.rank_of(tuple(digits), tuple(old)))
        assert judge.at(result, index) == n * element + part


@given(drawn(with_factor))
def test_upcast_undoes_downcast(case):
    layout, n = case
    try:
        result = upcast(downcast(layout, n), n)
    except NotDivisibleError:
        return
    assert judge.values(result) == judge.values(layout)


@given(drawn(with_factor), st.sampled_from([4, 8, 16, 32, 64, 128]))
def test_recast_by_bits_is_upcast_or_downcast_by_the_ratio(case, bits):
    layout, n = case
    for new, old, operation in ((n * bits, bits, upcast), (bits, n * bits, downcast)):
        try:
            expected = operation(layout, n)
        except LayoutError:
            with pytest.raises(LayoutError):
                recast_layout(new, old, layout)
            continue
        assert recast_layout(new, old, layout) == (layout if n == 1 else expected)


def test_a_ratio_that_is_no_integer_goes_through_the_common_unit():
    assert recast_layout(16, 12, Layout((8, 4), (4, 1))) == upcast(downcast(Layout((8, 4), (4, 1)), 3), 4)


def test_the_swizzle_moves_with_the_unit():
    tile = ComposedLayout(Swizzle(3, 4, 3), 0, Layout((8, 128), (128, 1)))
    assert str(recast_layout(16, 8, tile)) == "S<3,3,3> o 0 o (8,64):(64,1)"
    assert str(recast_layout(128, 8, tile)) == "S<3,0,3> o 0 o (8,8):(8,1)"
    assert str(recast_layout(4, 8, tile)) == "S<3,5,3> o 0 o (8,256):(256,1)"


@pytest.mark.parametrize(
    ("layout", "n"),
    [
        (Layout((4, 7), (7, 1)), 2),
        (Layout(8, 3), 2),
        (Layout(8, -1), 2),
        (Layout((2, 2), (1, 1)), 2),
        (Layout((3, 2), (1, 3)), 2),
        (ComposedLayout(Swizzle(3, 0, 3), 0, Layout((8, 8), (8, 1))), 2),
        (ComposedLayout(Swizzle(3, 4, 3), 1, Layout((8, 64), (64, 1))), 2),
        (ComposedLayout(Swizzle(3, 4, 3), 0, Layout((8, 64), (64, 1))), 3),
    ],
)
def test_what_straddles_units_is_refused_not_rounded(layout, n):
    with pytest.raises(NotDivisibleError):
        upcast(layout, n)


def test_two_contiguous_modes_cannot_both_grow():
    with pytest.raises(NotDivisibleError):
        downcast(Layout((2, 2), (1, 1)), 2)


@each("n", [0, -1, 1.5, None, "2", True])
@each("operation", [upcast, downcast])
def test_what_is_no_factor_is_refused(operation, n):
    with pytest.raises(LayoutError):
        operation(Layout(8), n)


@pytest.mark.parametrize(("new", "old"), [(0, 8), (8, 0), (-8, 8), (8, -8)])
def test_what_is_no_element_size_is_refused(new, old):
    with pytest.raises(LayoutError):
        recast_layout(new, old, Layout(8))


def test_coordinates_have_no_unit():
    with pytest.raises(LayoutError):
        upcast(make_identity_layout((4, 8)), 2)


@pytest.mark.parametrize(
    ("layout", "n", "units"),
    [
        (Layout(2, 3), 4, "1:0"),
        (Layout(2, 5), 8, "1:0"),
        (Layout((1, 4), (1, 3)), 16, "(1,1):(0,0)"),
        (Layout((2, (4, 2)), (48, (1, 12))), 16, "(2,(1,1)):(3,(0,0))"),
        (ComposedLayout(Swizzle(0, 1, 1), 0, Layout(6)), 3, "S<0,1,1> o 0 o 2:1"),
    ],
)
def test_a_mode_inside_one_unit_and_an_identity_swizzle_leave_no_reason_to_refuse(layout, n, units):
    result = upcast(layout, n)
    assert str(result) == units
    assert {x // n for x in judge.values(layout)} == set(judge.values(result))
