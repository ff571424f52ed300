"""The operation ``cosize``: the length of the smallest interval that contains 0 and every offset of a layout.

Source: CUTLASS ``include/cute/layout.hpp`` (cosize).

>>> layout = Layout((4, 2), (-1, 6))
>>> reached = [0, *(layout(i) for i in range(8))]
>>> cosize(layout) == max(reached) - min(reached) + 1 == 10
True
"""

from __future__ import annotations

from math import prod

from layoutalg.errors import LayoutError
from layoutalg.layouts.composed import ComposedLayout
from layoutalg.layouts.layout import Layout
from layoutalg.layouts.modes import AnyLayout, Mode, at_path, need_layout, size
from layoutalg.layouts.swizzle import Swizzle
from layoutalg.tuples.int_tuple import flatten_tuple
from layoutalg.tuples.leaf import divides, need_int
from layoutalg.tuples.scaled_basis import ScaledBasis


def cosize(layout: AnyLayout, mode: Mode = None) -> int:
    """Return the length of the smallest interval that contains 0 and every offset, which is the size to allocate.

    For non-negative strides that is the largest offset plus one. For basis strides it is the product of these lengths
    over the modes of the coordinate.

    Args:
        layout: a layout, plain or composed.
        mode: the index or path of a mode, for the cosize of that mode alone.

    Returns:
        The length, in the unit of the offsets.

    Raises:
        LayoutError: if the operand is not a layout, or if it is a composed layout with too many elements to enumerate.
        UndecidedError: if the size of a composed layout contains symbols.

    >>> cosize(Layout((4, 2), (1, 10))), cosize(Layout((4, 2), (-1, 4)))
    (14, 8)
    """
    if type(layout) is not Layout or mode is not None:
        layout = need_layout(layout, "cosize")
        if mode is not None:
            layout = at_path(layout, mode, "cosize")
        if isinstance(layout, ComposedLayout):
            return _cosize_composed(layout)
    span = 0
    for extent, stride in zip(flatten_tuple(layout.shape), flatten_tuple(layout.stride)):  # noqa: B905  # congruent
        if isinstance(stride, ScaledBasis):
            return _cosize_of_coordinates(layout)
        span += abs(stride) * (extent - 1)
    return span + 1


def _cosize_of_coordinates(layout: Layout) -> int:
    """Return the product of the lengths over the modes of the coordinate that basis strides address."""
    spans: dict[tuple[int, ...], int] = {}
    for extent, stride in zip(flatten_tuple(layout.shape), flatten_tuple(layout.stride), strict=True):
        path, step = (stride.mode, stride.value) if isinstance(stride, ScaledBasis) else ((), stride)
        spans[path] = spans.get(path, 0) + abs(step) * (extent - 1)
    return prod(span + 1 for span in spans.values())


#: The most offsets of a composed layout that are enumerated to find the largest.
_MOST_OFFSETS = 1 << 24


def _cosize_composed(layout: ComposedLayout) -> int:
    """Return the cosize of a composed layout, whose largest offset has no closed form in general."""
    swizzle, inner = layout.outer, layout.inner
    if isinstance(swizzle, Swizzle) and isinstance(inner, Layout) and layout.offset == 0 and _is_compact(inner):
        block = 1 << (swizzle.bits + swizzle.base + abs(swizzle.shift))
        if divides(block, size(inner)):
            return size(inner)  # the swizzle permutes each block within itself
    if need_int(size(inner), "cosize: the size of a composed layout") > _MOST_OFFSETS:
        raise LayoutError(
            f"cosize: the composed layout has {size(inner)} elements, and at most {_MOST_OFFSETS} are enumerated; "
            f"layout = {layout}"
        )
    low, high = _offset_range(layout)
    return max(high, 0) - min(low, 0) + 1


def _offset_range(layout: ComposedLayout) -> tuple[int, int]:
    """Return the lowest and the highest offset."""
    from layoutalg.layouts.offsets import offset_table  # imported here, since a plain layout does not need it

    table = offset_table(layout)
    if not isinstance(table, list):
        return table, table
    while table and isinstance(table[0], list):
        table = [entry for row in table for entry in row]
    return min(table, default=0), max(table, default=0)


def _is_compact(layout: Layout) -> bool:
    """Check if the offsets are exactly 0 to size - 1, each once."""
    filled = 1
    strides = flatten_tuple(layout.stride)
    if any(isinstance(stride, ScaledBasis) for stride in strides):
        return False
    for d, s in sorted(zip(strides, flatten_tuple(layout.shape), strict=True)):
        if s != 1:
            if d != filled:
                return False
            filled *= s
    return True
