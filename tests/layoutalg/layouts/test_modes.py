"""Laws of looking at and rearranging modes."""

from __future__ import annotations

import judge
import pytest
from each import each
from hypothesis import given
from strategies import any_layouts, layouts

from layoutalg import Layout, LayoutError, depth, get, leading_dim, rank, select, size


@given(any_layouts)
def test_get_is_the_mode_and_select_is_the_modes_in_the_order_asked(layout):
    for mode in range(rank(layout)):
        assert get(layout, mode) == get(layout, [mode]) == layout[mode]
        assert size(layout, mode) == size(layout, [mode]) == size(layout[mode])
    backwards = list(reversed(range(rank(layout))))
    assert list(select(layout, backwards)) == [layout[mode] for mode in backwards]


@given(layouts)
def test_the_leading_dimension_is_a_mode_of_stride_one(layout):
    path = leading_dim(layout.shape, layout.stride)
    if path is None:
        assert not any(d == 1 and s != 1 for s, d in judge.pairs(layout))
    else:
        assert get(layout, path if isinstance(path, int) else list(path)).stride == 1


@each("mode", [2, -1, [0, 1], [1, 2], [1, 0, 1], "x", 1.5])
@each("operation", [get, size, rank, depth])
def test_a_mode_that_does_not_exist_is_refused(operation, mode):
    with pytest.raises(LayoutError):
        operation(Layout((4, (2, 4))), mode)


def test_mode_0_of_an_integer_is_the_integer():
    assert get(Layout((4, (2, 4))), [1, 0, 0]) == get(Layout((4, (2, 4))), [1, 0])
