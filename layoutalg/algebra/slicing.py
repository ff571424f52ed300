"""The operations ``slice_``, ``slice_and_offset`` and ``dice``, which fix some modes of a layout and keep the others.

Invariant: if ``slice_and_offset(coord, L)`` is ``(R, offset)``, then ``R(c) + offset == L(coord with c in place of its
Nones)`` for every coordinate c of R; ``slice_`` returns R. This is also true for swizzled layouts, although a swizzle
is not additive: see :mod:`layoutalg.layouts.composed`.
Source: CUTLASS ``include/cute/underscore.hpp``, ``include/cute/layout.hpp``; argument order of the CuTe DSL 4.8.1.

>>> from layoutalg import ComposedLayout, Layout, Swizzle
>>> tile = ComposedLayout(Swizzle(3, 4, 3), 0, Layout((8, 64), (64, 1)))
>>> rest, offset = slice_and_offset((5, None), tile)
>>> all(rest(c) + offset == tile(5, c) for c in range(64))
True
"""

from __future__ import annotations

from typing import Any, overload

from layoutalg.errors import CoordinateError
from layoutalg.layouts.composed import ComposedLayout, slice_any
from layoutalg.layouts.layout import Layout, kept_modes, need_fit, slice_plain, sliced_flat
from layoutalg.layouts.modes import AnyLayout, LayoutKind, Tiler, need_layout
from layoutalg.tuples.int_tuple import Coord, Shape, check_depth, safe_text, weakly_congruent


@overload
def slice_(src: Layout, coord: Coord) -> Layout: ...
@overload
def slice_(src: AnyLayout, coord: Coord) -> AnyLayout: ...
@overload
def slice_(src: Shape, coord: Coord) -> Shape: ...
@overload
def slice_(src: Coord, coord: Layout) -> Layout: ...
@overload
def slice_(src: Coord, coord: AnyLayout) -> AnyLayout: ...
def slice_(src: Any, coord: Any) -> Any:
    """Return the modes of a layout or shape where ``coord`` has ``None``; see :func:`slice_and_offset`.

    Args:
        src: a layout or a shape. The two arguments may be given in either order, since the CuTe DSL and CuTe's C++ have
            different orders.
        coord: a coordinate with ``None`` for each mode to keep.

    Raises:
        CoordinateError: if the coordinate does not fit the layout.

    >>> print(slice_(Layout((4, (2, 8)), (1, (4, 16))), (None, (None, 3))))
    (4,2):(1,4)
    """
    if isinstance(coord, (Layout, ComposedLayout)):
        src, coord = coord, src
    if isinstance(src, (Layout, ComposedLayout)):
        return slice_and_offset(coord, src)[0]
    return kept_modes(coord, Layout(src).shape, src)


@overload
def slice_and_offset(coord: Coord, src: Layout) -> tuple[Layout, int]: ...
@overload
def slice_and_offset(coord: Coord, src: AnyLayout) -> tuple[AnyLayout, int]: ...
def slice_and_offset(coord: Coord, src: AnyLayout) -> tuple[AnyLayout, int]:
    """Return the layout of the kept modes, and the offset that the fixed modes add.

    Args:
        coord: a coordinate that is weakly congruent to the shape, with ``None`` for each mode to keep.
        src: a layout, plain or composed.

    Raises:
        CoordinateError: if the coordinate is outside the shape or does not fit it.

    >>> layout, offset = slice_and_offset((None, 5), Layout((4, (2, 8)), (1, (4, 16))))
    >>> print(layout, offset)
    (4):(1) 36
    """
    if type(src) is Layout and type(coord) is tuple:
        modes_and_offset = sliced_flat(coord, src)
        if modes_and_offset is not None:
            return modes_and_offset
    need_layout(src, "slice_and_offset")
    need_fit(coord, src)
    return slice_any(coord, src)


@overload
def dice(src: LayoutKind, dicer: Coord) -> LayoutKind: ...
@overload
def dice(src: Tiler, dicer: Coord) -> Any: ...
@overload
def dice(src: Coord, dicer: LayoutKind) -> LayoutKind: ...
def dice(src: Any, dicer: Any) -> Any:
    """Return the modes where ``dicer`` is *not* ``None``, which is the opposite of a slice.

    Raises:
        CoordinateError: if the dicer does not fit the shape.

    >>> print(dice(Layout((4, (2, 8)), (1, (4, 16))), (None, (1, None))))
    (2):(4)
    """
    if isinstance(dicer, (Layout, ComposedLayout)):
        src, dicer = dicer, src
    check_depth(dicer, "dice: the dicer")
    if isinstance(src, ComposedLayout):
        return ComposedLayout(src.outer, src.offset, dice(src.inner, dicer))
    slicer = _invert_dicer(dicer)
    if not isinstance(src, Layout):
        return kept_modes(slicer, src, src)
    if not weakly_congruent(dicer, src.shape):
        raise CoordinateError(f"dice: dicer {safe_text(dicer)} is not weakly congruent to the shape; layout = {src}")
    return slice_plain(slicer, src)[0]


def _invert_dicer(dicer: Coord) -> Coord:
    """Return the coordinate that keeps the modes that the dicer fixes, and fixes the others at 0."""
    if type(dicer) is tuple:
        return tuple(map(_invert_dicer, dicer))
    return 0 if dicer is None else None
