"""The operations that make layouts, from a shape and a stride, an order of modes, or other layouts.

Invariant: the result of ``make_ordered_layout`` is compact (its offsets are 0 to size - 1, each once), and its strides
grow with the order. Modes with the same number are ordered from left to right.
Source: CUTLASS ``include/cute/layout.hpp`` (make_ordered_layout, make_layout_like), ``include/cute/stride.hpp``.

>>> layout = make_ordered_layout((2, 3, 4), (2, 0, 1))
>>> print(layout, sorted(layout(i) for i in range(24)) == list(range(24)))
(2,3,4):(12,1,3) True
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, overload

from layoutalg.errors import LayoutError
from layoutalg.layouts.composed import ComposedLayout
from layoutalg.layouts.layout import Layout, need_integer_strides, need_readable, trusted, valid_shape
from layoutalg.layouts.modes import AnyLayout, need_layout, need_plain
from layoutalg.layouts.swizzle import Swizzle
from layoutalg.tuples.int_tuple import Index, Shape, Stride, check_depth, flatten_tuple, safe_text, unflatten
from layoutalg.tuples.leaf import as_int
from layoutalg.tuples.scaled_basis import ScaledBasis

#: The set of types in a flat shape and order of integers.
_NUMBERS = {int}


def make_ordered_layout(shape: Shape, order: Index) -> Layout:
    """Return the compact layout whose strides grow in the given order.

    Args:
        shape: extents.
        order: numbers weakly congruent to the shape; a smaller number means a smaller stride. One number for a nested
            mode keeps its sub-modes together, the first of them fastest. Equal numbers are ordered from left to right.

    Raises:
        LayoutError: if the order does not fit the shape.

    >>> print(make_ordered_layout((2, 3, 4), (2, 0, 1)), make_ordered_layout((2, (3, 4)), (1, 0)))
    (2,3,4):(12,1,3) (2,(3,4)):(12,(1,3))
    """
    return ordered_layout(valid_shape(shape), order)


def ordered_layout(shape: Shape, order: Index) -> Layout:
    """Make an ordered layout of a shape that is known to be valid; see :func:`make_ordered_layout`."""
    flat = type(shape) is tuple and type(order) is tuple and len(shape) == len(order)
    if flat and {*map(type, order), *map(type, shape)} == _NUMBERS:  # type: ignore[arg-type]
        return _compact(shape, order)  # type: ignore[arg-type]
    check_depth(order, "make_ordered_layout: the order")
    keys: list[Any] = []
    _append_keys(order, shape, keys, order)
    return _compact(shape, keys)


def _append_keys(order: Index, shape: Shape, keys: list[Any], whole: Index) -> None:
    """Append to ``keys``, for every leaf of the shape, the number in the order that applies to it.

    Raises:
        LayoutError: if the order does not fit the shape; ``whole`` is the whole order for the message.
    """
    if type(order) is tuple:
        if type(shape) is not tuple or len(shape) != len(order):
            raise LayoutError(f"make_ordered_layout: order {safe_text(whole)} is not weakly congruent to the shape")
        for part, mode in zip(order, shape, strict=True):
            _append_keys(part, mode, keys, whole)
    elif type(shape) is tuple:
        keys.extend([as_int(order, "make_ordered_layout: an order")] * len(flatten_tuple(shape)))
    else:
        keys.append(order if type(order) is int else as_int(order, "make_ordered_layout: an order"))


def _compact(shape: Shape, keys: Sequence[Any]) -> Layout:
    """Return the layout with compact strides in the order of the keys.

    A mode of extent 1 and a mode with the key None get stride 0.
    """
    extents = flatten_tuple(shape)
    strides = [0] * len(extents)
    current = 1
    modes = [i for i, n in enumerate(extents) if n != 1 and keys[i] is not None]
    for i in sorted(modes, key=keys.__getitem__):  # the sort is stable, so equal keys stay in order
        strides[i] = current
        current *= extents[i]
    return trusted(shape, tuple(strides) if extents is shape else unflatten(strides, shape))


def make_layout_like(layout: AnyLayout) -> Layout:
    """Return the compact layout of the same shape whose strides have the same order; strides of 0 stay 0.

    Args:
        layout: a layout; for a composed layout, its inner layout.

    Raises:
        LayoutError: for basis strides.

    >>> print(make_layout_like(Layout((2, 3, 4), (60, 0, 5))))
    (2,3,4):(4,0,1)
    """
    need_layout(layout, "make_layout_like")
    if isinstance(layout, ComposedLayout):
        return make_layout_like(layout.inner)
    need_integer_strides(layout, "make_layout_like")
    return _compact(layout.shape, [stride if stride != 0 else None for stride in flatten_tuple(layout.stride)])


def make_composed_layout(inner: Swizzle | AnyLayout, offset: Index, outer: AnyLayout) -> ComposedLayout:
    """Return the composed layout ``coordinate -> inner(offset + outer(coordinate))``, with the DSL's parameter names.

    The DSL calls the function that is applied *last* ``inner``; :class:`ComposedLayout` calls it ``outer``. The order
    of the arguments is the same: the swizzle, the offset, the layout.

    >>> print(make_composed_layout(Swizzle(3, 4, 3), 0, Layout((8, 64), (64, 1))))
    S<3,4,3> o 0 o (8,64):(64,1)
    """
    return ComposedLayout(inner, offset, outer)


def make_identity_layout(shape: Shape) -> Layout:
    """Return the layout that maps every coordinate of a shape to itself.

    >>> layout = make_identity_layout((4, (8, 2)))
    >>> print(layout, layout(3, (5, 1)))
    (4,(8,2)):(1@0,(1@0@1,1@1@1)) (3, (5, 1))
    """
    shape = valid_shape(shape)
    return trusted(shape, _unit_strides(shape, ()))


def _unit_strides(shape: Shape, path: tuple[int, ...]) -> Stride:
    if type(shape) is tuple:
        return tuple([_unit_strides(mode, (*path, i)) for i, mode in enumerate(shape)])
    return ScaledBasis(1, path) if path else 1


@overload
def make_layout(shape: Shape, /, stride: Stride | None = None) -> Layout: ...
@overload
def make_layout(*parts: Layout) -> Layout: ...
@overload
def make_layout(parts: tuple[Layout, ...], /) -> Layout: ...
@overload
def make_layout(first: ComposedLayout, /, *more: Layout) -> ComposedLayout: ...
@overload
def make_layout(first: AnyLayout, /, *more: Layout) -> AnyLayout: ...
@overload
def make_layout(parts: tuple[AnyLayout, ...], /) -> AnyLayout: ...
def make_layout(*parts: Any, stride: Stride | None = None) -> AnyLayout:
    """Make a layout from a shape and a stride, or from layouts, which become its modes.

    Args:
        parts: a shape, or a shape and a stride; or layouts, of which only the first may be composed.
        stride: the stride, if it is given by name as in the DSL.

    Raises:
        LayoutError: as :class:`Layout`; or if a layout after the first is composed.

    >>> print(make_layout((8, 4), stride=(4, 1)), make_layout(Layout(8, 4), Layout(4, 1)))
    (8,4):(4,1) (8,4):(4,1)
    """
    if len(parts) == 1 and type(parts[0]) is tuple and parts[0] and _all_layouts(parts[0]):
        parts = parts[0]
    if parts and _all_layouts(parts):
        if stride is not None:
            raise LayoutError("make_layout: a stride is given beside layouts, but only a shape can have one")
        return concatenate(parts)
    if not 1 <= len(parts) <= 2 or (len(parts) == 2 and stride is not None):
        raise LayoutError(f"make_layout: the arguments {safe_text(parts)} are neither a shape and a stride nor layouts")
    return Layout(parts[0], parts[1] if len(parts) == 2 else stride)


def _all_layouts(parts: Iterable[object]) -> bool:
    return all(isinstance(part, (Layout, ComposedLayout)) for part in parts)


def concatenate(parts: Iterable[AnyLayout]) -> AnyLayout:
    """Return a layout whose modes are the given layouts: ``(A, B)(a, b) == A(a) + B(b)``.

    Only the first layout may be composed; the others are then added to its inner offset, before its outer function.

    Raises:
        LayoutError: if a layout after the first is composed.
    """
    parts = tuple(parts)
    if parts and isinstance(parts[0], ComposedLayout):
        first = parts[0]
        return ComposedLayout(first.outer, first.offset, concatenate((first.inner, *parts[1:])))
    plain = [need_plain(part, "make_layout") for part in parts]
    joined = trusted(tuple(part.shape for part in plain), tuple(part.stride for part in plain))
    return need_readable(joined, "make_layout")
