"""Whole layouts at once in plain Python: all offsets of a layout as nested lists.

Law: ``offset_table(L)`` is ``offsets(L).tolist()``, the same numbers without numpy: sooner for a layout of some
thousand elements than numpy is imported, and later for one of a million.

>>> from layoutalg import ComposedLayout, Layout, Swizzle
>>> tile = ComposedLayout(Swizzle(2, 1, 3), 0, Layout((8, 8), (8, 1)))
>>> offset_table(tile) == [[tile(i, j) for j in range(8)] for i in range(8)]
True
"""

from __future__ import annotations

from typing import Any

from layoutalg.errors import LayoutError
from layoutalg.layouts.composed import ComposedLayout, apply
from layoutalg.layouts.layout import Layout
from layoutalg.layouts.modes import AnyLayout, need_layout
from layoutalg.layouts.swizzle import Swizzle
from layoutalg.placed.offsets import bounds, integer_leaves
from layoutalg.tuples.int_tuple import product
from layoutalg.tuples.leaf import need_int

#: The most elements of a table.
_MOST = 1 << 24


def offset_table(layout: AnyLayout) -> Any:
    """The offset of every coordinate of a layout, one level of lists for each top-level mode.

    Args:
        layout: a layout, plain or composed, with integer strides.

    Returns:
        ``table[c0][c1]...``: integers, in the unit of the layout's offsets; for a layout of one leaf a list, for one
        without modes an integer.

    Raises:
        LayoutError: for basis strides and symbols, for offsets beyond 64 bits, or for more than 2**24 elements.

    >>> from layoutalg import Layout
    >>> offset_table(Layout((2, (2, 2)), (4, (1, 8))))
    [[0, 1, 8, 9], [4, 5, 12, 13]]
    """
    need_layout(layout, "offset_table")
    total = need_int(product(layout.shape), "offset_table: the size")
    if total > _MOST:
        raise LayoutError(
            f"offset_table: the layout must have at most 2**24 elements, found {total}; layout = {layout}"
        )
    bounds(layout)  # refuses what has no integer offsets, as offsets() does
    return _evaluated(layout)


def _evaluated(layout: AnyLayout) -> Any:
    if isinstance(layout, ComposedLayout):
        shift = need_int(layout.offset, "offset_table: an offset")
        return _applied(layout.outer, shift, _evaluated(layout.inner))
    modes = list(layout) if type(layout.shape) is tuple else [layout]
    return _sums([_axis(mode) for mode in modes], 0)


def _axis(mode: Layout) -> list[int]:
    """The offsets of one mode by its index: the first leaf runs fastest."""
    axis = [0]
    for s, d in integer_leaves(mode):
        axis = [step * d + one for step in range(s) for one in axis]
    return axis


def _sums(axes: list[list[int]], start: int) -> Any:
    if not axes:
        return start
    if len(axes) == 1:
        return [start + one for one in axes[0]]
    return [_sums(axes[1:], start + one) for one in axes[0]]


def _applied(function: Swizzle | AnyLayout, shift: int, table: Any) -> Any:
    """A swizzle or an extended layout of every number of a table, each moved first."""
    if not isinstance(table, list):
        return apply(function, table + shift)
    if table and isinstance(table[0], list):
        return [_applied(function, shift, row) for row in table]
    if not isinstance(function, Swizzle):
        return [apply(function, one + shift) for one in table]
    if not function.bits:
        return [one + shift for one in table]
    mask, by = function.source_mask, function.shift
    moved = [one + shift for one in table]
    if by >= 0:
        return [one ^ ((one & mask) >> by) for one in moved]
    return [one ^ ((one & mask) << -by) for one in moved]
