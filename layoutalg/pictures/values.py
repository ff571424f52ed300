"""All values of a table of a layout at once, without numpy: what a picture of 16,384 cells has to compute.

Law: ``rows(layout, m, n, point)[i][j] == layout((i, j, *point))``. The offsets of a plain layout are the sum of one
number for the row and one for the column, and a swizzle is applied to that sum; others are called cell by cell.

>>> from layoutalg import ComposedLayout, Layout, Swizzle
>>> tile = ComposedLayout(Swizzle(1, 0, 1), 0, Layout((2, 2), (2, 1)))
>>> table_of(tile, 2, 2, ()), tile(1, 0)
([[0, 1], [3, 2]], 3)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeGuard

from layoutalg.drawing.grid import Drawable
from layoutalg.layouts.composed import ComposedLayout
from layoutalg.layouts.layout import Layout, has_basis
from layoutalg.layouts.swizzle import Swizzle


def table_of(layout: Drawable, rows: int, columns: int, point: Sequence[int]) -> list[list[Any]]:
    """What a layout gives for the first rows and columns of one slice.

    Args:
        layout: of any rank; rank 1 is one row, and rank 0 one cell.
        rows, columns: how many positions of modes 0 and 1.
        point: the index of each further mode.

    >>> from layoutalg import Layout
    >>> table_of(Layout((2, 3, 2)), 2, 3, (1,))
    [[6, 8, 10], [7, 9, 11]]
    """
    if type(layout.shape) is not tuple:
        return [[layout(j) for j in range(columns)]]
    if len(layout.shape) == 0:
        return [[layout(())]]
    if len(layout.shape) == 1:
        return [[layout((j,)) for j in range(columns)]]
    if isinstance(layout, ComposedLayout) and isinstance(layout.outer, Swizzle) and _is_sum(layout.inner):
        swizzle = layout.outer
        inner = _sums(layout.inner, rows, columns, point, layout.offset)
        return [[swizzle(offset) for offset in row] for row in inner] if swizzle.bits else inner
    if _is_sum(layout):
        return _sums(layout, rows, columns, point, 0)
    return [[layout((i, j, *point)) for j in range(columns)] for i in range(rows)]


def _is_sum(layout: Drawable) -> TypeGuard[Layout]:
    return isinstance(layout, Layout) and not has_basis(layout)


def _sums(layout: Layout, rows: int, columns: int, point: Sequence[int], start: Any) -> list[list[Any]]:
    zeros = (0,) * len(point)
    downs = [start + layout((i, 0, *point)) for i in range(rows)]
    acrosses = [layout((0, j, *zeros)) for j in range(columns)]
    return [[down + across for across in acrosses] for down in downs]
