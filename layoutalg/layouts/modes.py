"""Queries about the modes of shapes and layouts: size, rank, depth, get and similar functions.

Each function accepts an int tuple, a :class:`Layout` or a :class:`ComposedLayout` (whose inner layout it uses). A
``mode`` is an index or a path of indices: ``[1, 0]`` is mode 0 of mode 1.
Source: CUTLASS ``include/cute/layout.hpp``; names and argument order of the CuTe DSL 4.8.1.

>>> layout = Layout((2, (3, 4)))
>>> size(layout), rank(layout), depth(layout), size(layout, mode=[1, 0])
(24, 2, 2, 3)
>>> all(crd2idx(idx2crd(n, (2, (3, 4))), (2, (3, 4))) == n for n in range(24))
True
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, TypeVar, overload

from layoutalg.errors import CoordinateError, LayoutError
from layoutalg.layouts.composed import ComposedLayout
from layoutalg.layouts.layout import Layout, need_integer_strides, valid_shape
from layoutalg.tuples.int_tuple import (
    Index,
    IntTuple,
    Shape,
    Stride,
    check_depth,
    congruent,
    flatten_tuple,
    inner_offset,
    product,
    safe_text,
    text,
    tuple_depth,
    unrank,
    weakly_congruent,
)
from layoutalg.tuples.leaf import LIMIT, as_int, as_leaf
from layoutalg.tuples.polynomial import Polynomial

#: A layout, plain or composed, which most operations accept.
AnyLayout: TypeAlias = Layout | ComposedLayout
#: One mode: an index or a path of indices. ``None`` is the whole layout.
Mode: TypeAlias = int | Sequence[int] | None
#: The operand by which a layout is divided or multiplied: a layout, an integer n for ``n:1``, or a tuple with a tiler
#: for each mode.
Tiler: TypeAlias = int | Polynomial | Layout | tuple["Tiler", ...] | None
#: The kind of layout, plain or composed, that an operation accepts and returns.
LayoutKind = TypeVar("LayoutKind", bound=Layout | ComposedLayout)


def through(operation: Callable[[Layout], Layout], layout: LayoutKind) -> LayoutKind:
    """Apply an operation to a plain layout, or to the inner layout of a composed one.

    The operation only re-indexes coordinates, so the function that is applied after the inner layout does not change.
    """
    if isinstance(layout, ComposedLayout):
        return ComposedLayout(layout.outer, layout.offset, through(operation, layout.inner))  # type: ignore[return-value]
    return operation(layout)  # type: ignore[return-value]  # mypy cannot narrow a bound type variable


def need_layout(value: object, operation: str) -> AnyLayout:
    """Return the value itself if it is a layout or a composed layout.

    Raises:
        LayoutError: otherwise; the message names the operation.
    """
    if isinstance(value, (Layout, ComposedLayout)):
        return value
    raise LayoutError(f"{operation}: {safe_text(value)} is not a layout")


def need_plain(value: object, operation: str) -> Layout:
    """Return the value itself if it is a plain layout.

    Raises:
        LayoutError: otherwise; the message names the operation.
    """
    if isinstance(value, Layout):
        return value
    raise LayoutError(f"{operation}: {safe_text(value)} is not a plain layout")


def at_path(value: Any, mode: Mode, operation: str) -> Any:
    """Return the mode of a shape or layout at a path.

    Raises:
        LayoutError: if there is no such mode.
    """
    if mode is None:
        return value
    path = list(mode) if isinstance(mode, (list, tuple)) else [mode]
    for index in path:
        index = as_int(index, f"{operation}: a mode")
        if type(value) is not tuple and not isinstance(value, (Layout, ComposedLayout)):
            value = (value,)
        if not 0 <= index < len(value):
            raise LayoutError(f"{operation}: mode {index} is not in [0,{len(value)}); operand = {text(value)}")
        value = value[index]
    return value


def shape_of(value: AnyLayout | Shape) -> Shape:
    """Return the shape of a layout, or a shape itself.

    Raises:
        LayoutError: if the value is neither.
    """
    if isinstance(value, Layout):
        return value.shape
    if isinstance(value, ComposedLayout):
        return value.shape
    check_depth(value, "shape: the tuple")
    for leaf in flatten_tuple(value):
        as_leaf(leaf, "shape: an extent")
    return value


def size(value: AnyLayout | Shape, mode: Mode = None) -> int:
    """Return the number of coordinates of a shape or layout, or of one of its modes.

    >>> size(Layout((2, (3, 4)))), size((2, (3, 4)), mode=[1, 0])
    (24, 3)
    """
    return product(shape_of(at_path(value, mode, "size")))


def rank(value: AnyLayout | IntTuple, mode: Mode = None) -> int:
    """Return the number of top-level modes; 1 for an integer shape.

    >>> rank(Layout((2, (3, 4)))), rank(7)
    (2, 1)
    """
    shape = shape_of(at_path(value, mode, "rank"))
    return len(shape) if type(shape) is tuple else 1


def depth(value: AnyLayout | IntTuple, mode: Mode = None) -> int:
    """Return the number of levels of nesting: 0 for an integer, 1 for a flat tuple.

    >>> depth(Layout((2, (3, 4)))), depth(7)
    (2, 0)
    """
    return tuple_depth(shape_of(at_path(value, mode, "depth")))


@overload
def get(value: LayoutKind, mode: Mode) -> LayoutKind: ...
@overload
def get(value: IntTuple, mode: Mode) -> IntTuple: ...
def get(value: Any, mode: Mode) -> Any:
    """Return one mode of a shape or layout, by index or path.

    Raises:
        LayoutError: if there is no such mode.

    >>> print(get(Layout((2, (3, 4))), [1, 1]))
    4:6
    """
    return at_path(value, mode, "get")


def modes_of(value: object) -> tuple[Any, ...]:
    """Return the top-level modes of an int tuple; for an integer, the tuple that contains it."""
    return value if type(value) is tuple else (value,)


def is_congruent(a: AnyLayout | Shape, b: AnyLayout | Shape) -> bool:
    """Check if two shapes or layouts have the same profile.

    >>> is_congruent((2, (3, 4)), Layout((5, (6, 7))))
    True
    """
    return congruent(shape_of(a), shape_of(b))


def is_weakly_congruent(a: AnyLayout | Shape, b: AnyLayout | Shape) -> bool:
    """Check if the profile of ``b`` refines that of ``a``.

    >>> is_weakly_congruent((2, 3), (1, (2, 2)))
    True
    """
    return weakly_congruent(shape_of(a), shape_of(b))


def leading_dim(shape: Shape, stride: Stride) -> int | tuple[int, ...] | None:
    """Return the first mode of stride 1 whose extent is not 1: an index, a path inside a nested shape, or None.

    Raises:
        LayoutError: if shape and stride are not congruent.

    >>> leading_dim((4, 8), (8, 1)), leading_dim((4, (8, 2)), (8, (1, 3))), leading_dim((4, 8), (8, 2))
    (1, (1, 0), None)
    """
    layout = Layout(shape, stride)
    need_integer_strides(layout, "leading_dim")
    path = _unit_path(modes_of(layout.shape), modes_of(layout.stride))
    if path is None:
        return None
    return path[0] if len(path) == 1 else path


def _unit_path(shape: Any, stride: Any) -> tuple[int, ...] | None:
    if type(shape) is not tuple:
        return () if stride == 1 and shape != 1 else None
    for index, (s, d) in enumerate(zip(shape, stride, strict=True)):
        below = _unit_path(s, d)
        if below is not None:
            return (index, *below)
    return None


def crd2idx(coord: Index, layout: AnyLayout | Shape) -> int:
    """Return the offset of a coordinate in a layout; for a shape, the index of the coordinate.

    Raises:
        CoordinateError: if the coordinate is outside the shape or does not fit it.

    >>> crd2idx((1, 3), Layout((4, (2, 4)), (2, (1, 8)))), crd2idx((1, 3), (4, 8))
    (11, 13)
    """
    target = layout if isinstance(layout, (Layout, ComposedLayout)) else Layout(layout)
    check_depth(coord, "crd2idx: the coordinate")
    coord = coord if type(coord) is tuple else as_leaf(coord, "crd2idx: the coordinate")
    if None in flatten_tuple(coord):
        raise CoordinateError(f"crd2idx: coordinate {text(coord)} contains None (_); layout = {target}")
    return target(coord)


def idx2crd(index: Index, shape: AnyLayout | Shape) -> Index:
    """Return the coordinate of an index in a shape, first mode fastest.

    Args:
        index: an index, or a tuple with an index for each mode, each of which is converted in its mode.
        shape: a shape, or a layout for its shape.

    Raises:
        CoordinateError: if the index is outside the shape or does not fit it.

    >>> idx2crd(13, (4, (2, 4))), idx2crd((1, 3), (4, (2, 4)))
    ((1, (1, 1)), (1, (1, 1)))
    """
    if type(index) is int and type(shape) is tuple and index >= 0:
        coordinate = _unranked_once(index, shape)
        if coordinate is not None:
            return coordinate
    shape = shape.shape if isinstance(shape, (Layout, ComposedLayout)) else valid_shape(shape)
    check_depth(index, "idx2crd: the index")
    return _unranked(index, shape)


def _unranked_once(index: int, shape: tuple[Any, ...]) -> Index | None:
    """Return the coordinate of an index in a shape of integers with at most two levels; None for other operands."""
    coordinate: list[Index] = []
    total = 1
    for item in shape:
        if type(item) is int:
            if item < 1:
                return None
            coordinate.append(index % item)
            index //= item
            total *= item
            continue
        if type(item) is not tuple:
            return None
        inner = []
        for extent in item:
            if type(extent) is not int or extent < 1:
                return None
            inner.append(index % extent)
            index //= extent
            total *= extent
        coordinate.append(tuple(inner))
    return tuple(coordinate) if not index and total <= LIMIT else None


def _unranked(index: Index, shape: Shape) -> Index:
    if type(index) is int and 0 <= index < product(shape):
        return unrank(index, shape)
    if type(index) is tuple:
        if type(shape) is not tuple or len(shape) != len(index):
            raise CoordinateError(
                f"idx2crd: index {text(index)} is not weakly congruent to the shape; shape = {text(shape)}"
            )
        return tuple(map(_unranked, index, shape))
    leaf = as_leaf(index, "idx2crd: an index")
    inner_offset(leaf, shape, Layout(shape).stride)  # checks the range
    return unrank(leaf, shape)  # type: ignore[arg-type]  # a polynomial divides like an int
