"""Plain layouts that a swizzle left behind: the slices of swizzled tiles whose swizzle folded into their strides.

Where the bits that a swizzle reads do not move within a slice, or move by themselves, the slice of a swizzled tile is
an ordinary layout: eight columns of the 128B atom are ``(8,8):(1,72)``. A tensor core still reads them, with the word
of the tile's mode. A swizzle is its own inverse, so the layout before it is the swizzle of the layout after it; that
this is a layout again is found mode by mode, and compared offset by offset.

Source: CUTLASS ``include/cute/swizzle_layout.hpp`` (slices decay); the way back is derived here.

>>> from descriptors.operands.operand import as_element_type
>>> slice_ = Layout((8, 8), (1, 72))
>>> all(reading(i) == slice_(i) for reading, _ in swizzled_readings(slice_, as_element_type("bf16")) for i in range(64))
True
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from descriptors.operands.operand import ElementType, SwizzleMode
from descriptors.operands.swizzled import plain, start_of, swizzle_on_elements
from layoutalg import ComposedLayout, Layout, Swizzle, make_layout, size

#: A thread block's shared memory has fewer elements; of what has more, a slice is no part.
_MOST_COMPARED = 1 << 19


def swizzled_readings(
    tile: Layout | ComposedLayout, element: ElementType
) -> Iterator[tuple[ComposedLayout, SwizzleMode]]:
    """The tile as each swizzle mode after a plain layout, where it is one.

    Law: each reading maps every coordinate to the place that the tile does.

    Args:
        tile: a layout with modes, in elements, with no swizzle that does anything; of one that no shared memory holds
            there are no readings.
        element: the element type.

    >>> from descriptors.operands.operand import as_element_type
    >>> columns = Layout((8, 8), (1, 72))
    >>> found = {str(mode): reading for reading, mode in swizzled_readings(columns, as_element_type("bf16"))}
    >>> print(found["128B"])
    S<3,3,3> o 0 o (8,8):(1,64)
    """
    for mode in SwizzleMode:
        if mode is not SwizzleMode.NONE and size(plain(tile)) <= _MOST_COMPARED:
            reading = _before(swizzle_on_elements(mode, element), plain(tile), start_of(tile))
            if reading is not None:
                yield reading, mode


def _before(swizzle: Swizzle, rows: Layout, start: int) -> ComposedLayout | None:
    """``start + rows`` as the swizzle after a plain layout, None where it is not."""
    first = swizzle(start)
    modes = [layout_of([swizzle(start + part(i)) - first for i in range(size(part))]) for part in rows]
    if first < 0 or any(part is None for part in modes):
        return None
    reading = ComposedLayout(swizzle, first, make_layout(*(part for part in modes if part is not None)))
    # Each mode by itself is one thing; that the modes add up without a carry is another.
    return reading if all(reading(i) == start + rows(i) for i in range(size(rows))) else None


def layout_of(offsets: Sequence[int]) -> Layout | None:
    """The layout with these offsets in order, the first of them 0; None if there is none.

    Law: ``layout_of(map(layout, range(size(layout))))`` is the coalesced layout.

    >>> print(layout_of([0, 1, 8, 9, 4, 5, 12, 13]), layout_of([0, 1, 3]))
    (2,2,2):(1,8,4) None
    """
    shape, stride, left = list[int](), list[int](), list(offsets)
    while len(left) > 1:
        step, run = left[1], 2
        while run < len(left) and left[run] == run * step:
            run += 1
        heads = left[::run]
        if len(left) % run or left != [head + i * step for head in heads for i in range(run)]:
            return None
        shape.append(run)
        stride.append(step)
        left = heads
    return Layout(tuple(shape), tuple(stride)) if len(shape) > 1 else Layout(*shape or (1,), *stride or (0,))
