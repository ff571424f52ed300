"""All values at once are those that the layout gives one by one."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from strategies import any_layouts

from layoutalg import ComposedLayout, E, Layout, LayoutError, Swizzle, rank, size, symbol
from layoutalg.pictures.quantities import table_of


def check(layout: Any, points: list[tuple[int, ...]]) -> None:
    rows, columns = size(layout, mode=[0]), size(layout, mode=[1])
    for point in points:
        table = table_of(layout, rows, columns, point)
        assert table == [[layout((i, j, *point)) for j in range(columns)] for i in range(rows)]


@given(any_layouts)
def test_a_table_holds_what_the_layout_gives(layout: Any) -> None:
    try:
        drawable = rank(layout) == 2 and isinstance(size(layout), int) and size(layout) <= 512
    except LayoutError:
        return
    if drawable:
        check(layout, [()])


@pytest.mark.parametrize(
    "layout",
    [
        Layout(((2, 3), (2, 2), (3, 2)), ((1, 40), (6, -7), (100, 0))),
        ComposedLayout(Swizzle(2, 1, 3), 5, Layout((4, 8, 2, 3), (8, 1, 32, 64))),
        ComposedLayout(Swizzle(0, 0, 0), 3, Layout((4, 2, 2))),
        ComposedLayout(Layout((4, 8), (8, 1)), 2, Layout((2, 3, 2))),
        ComposedLayout(Swizzle(1, 0, 2), 0, ComposedLayout(Swizzle(1, 1, 2), 1, Layout((4, 4, 2)))),
        Layout((2, 3, 2), (E(0), E(1), E(2))),
        Layout((2, 3, 2), (symbol("m"), 1, 7)),
    ],
    ids=str,
)
def test_every_slice_of_every_kind_of_layout(layout: Any) -> None:
    shape = layout.shape
    further = [size(mode) for mode in shape[2:]]
    points = [(k,) for k in range(further[0])] if len(further) == 1 else [(k, m) for k in range(2) for m in range(3)]
    check(layout, points)


def test_lower_ranks_are_one_row_and_one_cell() -> None:
    assert table_of(Layout(4, 3), 1, 4, ()) == [[0, 3, 6, 9]]
    assert table_of(Layout((4,), (3,)), 1, 2, ()) == [[0, 3]]
    assert table_of(Layout((), ()), 1, 1, ()) == [[0]]
