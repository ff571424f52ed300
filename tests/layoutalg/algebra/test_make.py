"""Laws of the layouts made from an order."""

from __future__ import annotations

import corpus
import judge
import pytest
from hypothesis import given
from strategies import drawn, layouts

from layoutalg import Layout, LayoutError, is_congruent, make_layout_like, make_ordered_layout, size


def shape_and_order(source):
    shape = corpus.shape(source)
    return shape, corpus.like([source.integer(-2, 3) for _ in judge.leaves(shape)], shape)


@given(drawn(shape_and_order))
def test_an_ordered_layout_is_compact_and_its_strides_grow_with_the_order_ties_from_left_to_right(case):
    shape, order = case
    layout = make_ordered_layout(shape, order)
    assert layout.shape == shape and is_congruent(layout.shape, layout.stride)
    assert sorted(judge.values(layout)) == list(range(size(shape)))
    keys = judge.leaves(order)
    moving = [mode for mode, (s, _) in enumerate(judge.pairs(layout)) if s > 1]
    by_stride = sorted(moving, key=lambda mode: judge.leaves(layout.stride)[mode])
    assert by_stride == sorted(moving, key=lambda mode: (keys[mode], mode))


@given(drawn(corpus.shape))
def test_one_number_for_a_nested_mode_keeps_it_together(shape):
    order = tuple(range(len(shape)))[::-1] if isinstance(shape, tuple) else 0
    layout = make_ordered_layout(shape, order)
    assert sorted(judge.values(layout)) == list(range(size(shape)))
    if isinstance(shape, tuple):
        assert judge.values(layout[len(shape) - 1]) == list(range(size(layout[len(shape) - 1])))


@given(layouts)
def test_a_layout_like_another_is_compact_but_for_zeros_and_has_its_order_of_strides(layout):
    like = make_layout_like(layout)
    assert like.shape == layout.shape
    pairs = [
        (s, mine, theirs) for (s, mine), theirs in zip(judge.pairs(like), judge.leaves(layout.stride), strict=True)
    ]
    moving = [(mine, theirs) for s, mine, theirs in pairs if s > 1 and theirs != 0]
    assert all(mine == 0 for s, mine, theirs in pairs if theirs == 0)
    assert all(a[0] < b[0] for a in moving for b in moving if a[1] < b[1])
    plain = judge.Plain(
        tuple(s for s, _, theirs in pairs if theirs), tuple(mine for _, mine, theirs in pairs if theirs)
    )
    assert sorted(judge.values(plain)) == list(range(judge.count(plain.shape)))


@given(drawn(lambda source: corpus.layout(source, kinds=("compact", "permuted"))))
def test_a_compact_layout_is_like_itself(layout):
    assert judge.values(make_layout_like(layout)) == judge.values(layout)


@pytest.mark.parametrize("order", [(0,), (0, 1, 2), ((0, 1), 2), "01", (0, None), (0, 1.5)])
def test_an_order_that_does_not_fit_the_shape_is_refused(order):
    with pytest.raises(LayoutError):
        make_ordered_layout((4, 8), order)


def test_the_default_layout_has_the_order_of_its_modes():
    assert make_ordered_layout((4, 8), (0, 1)) == Layout((4, 8))
    assert make_ordered_layout((4, 8), (1, 0)) == Layout((4, 8), (8, 1))
