"""A composed layout applies its inner layout, then the offset, then its outer function."""

from __future__ import annotations

import judge
from hypothesis import given
from strategies import composed_layouts

from layoutalg import ComposedLayout, Layout, Swizzle, make_composed_layout, size


@given(composed_layouts)
def test_a_composed_layout_applies_inner_then_offset_then_outer(layout):
    for index in range(size(layout)):
        assert layout(index) == judge.swizzled(layout.outer, layout.offset + layout.inner(index))


def test_make_composed_layout_takes_the_function_applied_last_first():
    tile = make_composed_layout(Swizzle(3, 4, 3), 0, Layout((8, 64), (64, 1)))
    assert tile == ComposedLayout(Swizzle(3, 4, 3), 0, Layout((8, 64), (64, 1)))
    assert tile.outer == Swizzle(3, 4, 3) and tile.inner == Layout((8, 64), (64, 1)) and tile.offset == 0
    assert str(tile) == "S<3,4,3> o 0 o (8,64):(64,1)"
