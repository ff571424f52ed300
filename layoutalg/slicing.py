"""Coordinates and slices: fixing some modes of a layout and keeping the others.

Law of ``slice_and_offset(coord, L) -> (R, offset)``: ``R(c) + offset == L(coord with c in place of its Nones)`` for
every coordinate c of R; ``slice_`` is R alone. It holds for swizzled layouts too, although a swizzle is not additive:
see :mod:`layoutalg.composed`.
Source: CUTLASS ``include/cute/underscore.hpp``, ``include/cute/layout.hpp``; argument order of the CuTe DSL 4.8.1.
"""

from __future__ import annotations

from typing import Any

from layoutalg.composed import ComposedLayout, slice_any
from layoutalg.errors import CoordinateError
from layoutalg.layout import Layout, kept_modes, need_fit, slice_plain, valid_shape
from layoutalg.modes import AnyLayout, need_layout
from layoutalg.tuples.int_tuple import (
    IntTuple,
    check_depth,
    flatten_tuple,
    inner_offset,
    product,
    safe_text,
    text,
    unrank,
    weakly_congruent,
)
from layoutalg.tuples.leaf import as_leaf


def crd2idx(coord: Any, layout: AnyLayout | IntTuple) -> Any:
    """The offset of a coordinate in a layout; for a shape, its index.

    Raises:
        CoordinateError: if the coordinate lies outside the shape or does not fit it.

    >>> crd2idx((1, 3), Layout((4, (2, 4)), (2, (1, 8)))), crd2idx((1, 3), (4, 8))
    (11, 13)
    """
    target = layout if isinstance(layout, (Layout, ComposedLayout)) else Layout(layout)
    check_depth(coord, "crd2idx: coordinate")
    where = coord if type(coord) is tuple else as_leaf(coord, "crd2idx: a coordinate")
    if None in flatten_tuple(where):
        raise CoordinateError(f"crd2idx: a coordinate must have no None, found {text(coord)}; layout = {target}")
    return target(where)


def idx2crd(index: Any, shape: IntTuple) -> IntTuple:
    """The coordinate of an index in a shape, first mode fastest; each entry of a tuple in the mode it stands for.

    Raises:
        CoordinateError: if the index lies outside the shape or does not fit it.

    >>> idx2crd(13, (4, (2, 4))), idx2crd((1, 3), (4, (2, 4)))
    ((1, (1, 1)), (1, (1, 1)))
    """
    shape = shape.shape if isinstance(shape, (Layout, ComposedLayout)) else valid_shape(shape)
    check_depth(index, "idx2crd: index")
    return _coordinate(index, shape)


def _coordinate(index: Any, shape: IntTuple) -> IntTuple:
    if type(index) is int and 0 <= index < product(shape):
        return unrank(index, shape)
    if type(index) is tuple:
        if type(shape) is not tuple or len(shape) != len(index):
            raise CoordinateError(
                f"idx2crd: the index must be weakly congruent to the shape, found {text(index)}; shape = {text(shape)}"
            )
        return tuple(map(_coordinate, index, shape))
    where = as_leaf(index, "idx2crd: an index")
    inner_offset(where, shape, Layout(shape).stride)  # checks the range
    return unrank(where, shape)


def slice_(src: Any, coord: Any) -> Any:
    """The modes of a layout (or shape) where ``coord`` has ``None``, the others fixed; see :func:`slice_and_offset`.

    Args:
        src: a layout or a shape. (The two arguments may be given in either order, as the CuTe DSL and CuTe's C++
            disagree about it.)
        coord: a coordinate with ``None`` at each mode to keep.

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


def slice_and_offset(coord: Any, src: AnyLayout) -> tuple[AnyLayout, Any]:
    """The kept modes as a layout, and the offset that the fixed ones contribute.

    Args:
        coord: weakly congruent to the shape, with ``None`` at each mode to keep.
        src: a layout, plain or composed.

    Raises:
        CoordinateError: if the coordinate lies outside the shape or does not fit it.

    >>> layout, offset = slice_and_offset((None, 5), Layout((4, (2, 8)), (1, (4, 16))))
    >>> print(layout, offset)
    (4):(1) 36
    """
    need_layout(src, "slice_and_offset")
    need_fit(coord, src)
    return slice_any(coord, src)


def dice(src: Any, dicer: Any) -> Any:
    """The opposite of a slice: the modes where ``dicer`` is *not* ``None``.

    Raises:
        CoordinateError: if the dicer does not fit.

    >>> print(dice(Layout((4, (2, 8)), (1, (4, 16))), (None, (1, None))))
    (2):(4)
    """
    if isinstance(dicer, (Layout, ComposedLayout)):
        src, dicer = dicer, src
    check_depth(dicer, "dice: dicer")
    if isinstance(src, ComposedLayout):
        return ComposedLayout(src.outer, src.offset, dice(src.inner, dicer))
    flipped = _flipped(dicer)
    if not isinstance(src, Layout):
        return kept_modes(flipped, src, src)
    if not weakly_congruent(dicer, src.shape):
        raise CoordinateError(
            f"dice: the dicer must be weakly congruent to the shape, found {safe_text(dicer)}; layout = {src}"
        )
    return slice_plain(flipped, src)[0]


def _flipped(dicer: Any) -> Any:
    if type(dicer) is tuple:
        return tuple(map(_flipped, dicer))
    return 0 if dicer is None else None
