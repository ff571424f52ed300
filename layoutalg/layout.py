"""Layout and ComposedLayout: functions from coordinates to offsets, as values.

A :class:`Layout` is a shape and a congruent stride; it maps a coordinate to the inner product with the strides. A
:class:`ComposedLayout` is ``coordinate -> outer(offset + inner(coordinate))``, which is how CuTe writes a swizzled
tile: ``S<3,4,3> o 0 o (8,64):(64,1)``. Both are frozen, hashable and equal by content; ``eval(repr(x)) == x``, and
``str(x)`` is the notation that the CuTe DSL prints.
Source: CUTLASS ``include/cute/layout.hpp``, ``include/cute/layout_composed.hpp``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from layoutalg.basis import ScaledBasis, Vector
from layoutalg.errors import LayoutError
from layoutalg.int_tuple import (
    IntTuple,
    check_depth,
    compact_strides,
    congruent,
    extended_offset,
    flatten_tuple,
    has_none,
    inner_offset,
    product,
    safe_text,
    text,
    unflatten,
    unrank,
)
from layoutalg.leaf import LIMIT, as_leaf
from layoutalg.swizzle import Swizzle
from layoutalg.value import Value


class Layout(Value):
    """A shape and its strides: the function ``coordinate -> sum(coordinate_i * stride_i)``.

    Calling it with an index, a coordinate of the top modes, or a nested coordinate gives the offset; a coordinate
    with ``None`` keeps those modes and gives the sub-layout (without its offset: see ``slice_and_offset``).
    ``layout[i]`` is mode i, ``len(layout)`` the number of modes.

    Args:
        shape: extents, positive integers nested to any profile, in elements.
        stride: congruent strides, in elements: integers of any sign, or basis strides (:func:`E`). Default: the
            compact layout, first mode fastest.

    Raises:
        LayoutError: if an extent is not positive, the two are not congruent, or a number does not fit 64 bits.
        CoordinateError: on a call, if the coordinate lies outside the shape.

    >>> layout = Layout((4, (2, 4)), (2, (1, 8)))
    >>> print(layout, layout(13), layout(1, 3), layout(1, (1, 1)))
    (4,(2,4)):(2,(1,8)) 11 11 11
    >>> print(layout(None, 2), layout[1])
    (4):(2) (2,4):(1,8)
    """

    __slots__ = ("shape", "stride")
    shape: IntTuple
    stride: IntTuple

    def __init__(self, shape: IntTuple, stride: IntTuple = None) -> None:
        if not _is_valid(shape, stride):  # the common case needs one pass; whatever fails it is looked at closely
            shape, stride = _normalized(shape, stride)
        _set_shape(self, shape)
        _set_stride(self, stride)

    def __call__(self, *coord: Any) -> Any:
        """The offset of a coordinate, or the sub-layout of the modes where it has ``None``."""
        where = coord[0] if len(coord) == 1 else coord
        if type(where) is not int and has_none(where):
            from layoutalg.slicing import slice_

            return slice_(where, self)
        if _has_basis(self.stride):
            return _coordinate(self, where)
        return inner_offset(where, self.shape, self.stride)

    def __getitem__(self, mode: int) -> Layout:
        if type(self.shape) is not tuple:
            return (self,)[mode]
        return trusted(self.shape[mode], self.stride[mode])

    def __len__(self) -> int:
        return len(self.shape) if type(self.shape) is tuple else 1

    def __iter__(self) -> Iterator[Layout]:
        return map(self.__getitem__, range(len(self)))

    def __str__(self) -> str:
        return f"{text(self.shape)}:{text(self.stride)}"

    def _repr_html_(self) -> str:
        from layoutalg.draw.html import table

        return table(self)


# The slots themselves, as a frozen class has no setter: calling object.__setattr__ twice costs more than all the rest.
_set_shape = Layout.__dict__["shape"].__set__
_set_stride = Layout.__dict__["stride"].__set__


def trusted(shape: IntTuple, stride: IntTuple) -> Layout:
    """A layout of parts that are known to be valid, without checking them again (the results of the algebra)."""
    layout = object.__new__(Layout)
    _set_shape(layout, shape)
    _set_stride(layout, stride)
    return layout


class ComposedLayout(Value):
    """The function ``coordinate -> outer(offset + inner(coordinate))``.

    The CuTe DSL names the parts of a swizzled layout the other way round (its ``.inner`` is the swizzle, its ``.outer``
    the layout); here ``outer`` is the function applied last, as the word says. The order of the arguments is the same.

    Args:
        outer: the function applied last: a Swizzle, a Layout (extended beyond its shape as in ``composition``) or
            another ComposedLayout.
        offset: an integer added in between, in the unit of the inner offsets; a coordinate where ``inner`` yields
            coordinates.
        inner: the Layout or ComposedLayout applied first; its shape is the shape of the whole.

    Raises:
        LayoutError: if a part is of another kind.

    >>> tile = ComposedLayout(Swizzle(3, 4, 3), 0, Layout((8, 64), (64, 1)))
    >>> print(tile, tile(2, 5))
    S<3,4,3> o 0 o (8,64):(64,1) 149
    """

    __slots__ = ("outer", "offset", "inner")
    outer: Swizzle | Layout | ComposedLayout
    offset: Any
    inner: Layout | ComposedLayout

    def __init__(self, outer: Swizzle | Layout | ComposedLayout, offset: Any, inner: Layout | ComposedLayout) -> None:
        if not isinstance(outer, (Swizzle, Layout, ComposedLayout)):
            raise LayoutError(f"ComposedLayout: outer must be a swizzle or a layout, found {safe_text(outer)}")
        if not isinstance(inner, (Layout, ComposedLayout)):
            raise LayoutError(f"ComposedLayout: inner must be a layout, found {safe_text(inner)}")
        check_depth(offset, "ComposedLayout: offset")
        self.fix(outer=outer, offset=_checked_offset(offset), inner=inner)

    @property
    def shape(self) -> IntTuple:
        """The shape of the domain: that of ``inner``."""
        return self.inner.shape

    def __call__(self, *coord: Any) -> Any:
        """The offset of a coordinate, or the sub-layout of the modes where it has ``None``."""
        where = coord[0] if len(coord) == 1 else coord
        if has_none(where):
            from layoutalg.slicing import slice_

            return slice_(where, self)
        return apply(self.outer, add(self.offset, self.inner(where)))

    def __getitem__(self, mode: int) -> ComposedLayout:
        return ComposedLayout(self.outer, self.offset, self.inner[mode])

    def __len__(self) -> int:
        return len(self.inner)

    def __iter__(self) -> Iterator[ComposedLayout]:
        return map(self.__getitem__, range(len(self)))

    def __str__(self) -> str:
        outer = f"({self.outer})" if isinstance(self.outer, ComposedLayout) else str(self.outer)
        return f"{outer} o {text(self.offset)} o {self.inner}"

    def _repr_html_(self) -> str:
        from layoutalg.draw.html import table

        return table(self)


def apply(function: Swizzle | Layout | ComposedLayout, value: Any) -> Any:
    """Evaluate a swizzle or a layout at an offset or coordinate, a layout beyond its shape too (its last mode runs on).

    >>> apply(Layout((4, 2), (1, 10)), 9)
    21
    """
    if isinstance(function, Swizzle):
        return function(value)
    if isinstance(function, ComposedLayout):
        return apply(function.outer, add(function.offset, apply(function.inner, value)))
    if type(value) is tuple or _has_basis(function.stride):
        return function(value)
    return extended_offset(value, flatten_tuple(function.shape), flatten_tuple(function.stride))


def add(a: Any, b: Any) -> Any:
    """Add two offsets or two coordinates; the integer 0 is neutral beside a coordinate, a shorter one is padded.

    >>> add((1, 2), (3, (4, 5)))
    Traceback (most recent call last):
    layoutalg.errors.LayoutError: offset: cannot add 2 and (4,5)
    >>> add(0, (3, 4)), add((1,), (3, 4))
    ((3, 4), (4, 4))
    """
    if type(a) is tuple and type(b) is tuple:
        length = max(len(a), len(b))
        pad = (0,) * length
        return tuple(map(add, (a + pad)[:length], (b + pad)[:length]))
    if type(a) is tuple or type(b) is tuple:
        if a == 0 or b == 0:
            return b if a == 0 else a
        raise LayoutError(f"offset: cannot add {text(a)} and {text(b)}")
    return a + b


def is_swizzled(layout: object) -> bool:
    """Whether a value is a swizzle after a plain layout, the form of CuTe's shared-memory tiles."""
    return isinstance(layout, ComposedLayout) and isinstance(layout.outer, Swizzle) and isinstance(layout.inner, Layout)


def has_basis(layout: Layout) -> bool:
    """Whether a layout has basis strides, so that it maps to coordinates."""
    return _has_basis(layout.stride)


def need_integer_strides(layout: Layout, operation: str) -> Layout:
    """The layout itself, unless it has basis strides, which the operation has no meaning for: then a LayoutError."""
    if _has_basis(layout.stride):
        raise LayoutError(f"{operation}: strides must be integers; layout = {layout}")
    return layout


def _has_basis(stride: IntTuple) -> bool:
    if type(stride) is tuple:
        for item in stride:
            if type(item) is not int and _has_basis(item):
                return True
        return False
    return isinstance(stride, ScaledBasis)


def _coordinate(layout: Layout, where: Any) -> Any:
    """The coordinate that a layout with basis strides maps ``where`` to."""
    strides = flatten_tuple(layout.stride)
    vectors = unflatten(map(Vector.of, strides), layout.stride)
    if type(where) is int and type(layout.shape) is tuple and 0 <= where < product(layout.shape):
        where = unrank(where, layout.shape)
    result = inner_offset(where, layout.shape, vectors)
    paths = [stride.mode for stride in strides if isinstance(stride, ScaledBasis)]
    return (Vector({}) + result if isinstance(result, Vector) else Vector({})).as_coordinate(paths)


def _is_valid(shape: IntTuple, stride: IntTuple) -> bool:
    """Whether shape and stride are congruent, two levels deep at most, and hold plain integers in range."""
    if type(shape) is not tuple:
        return type(shape) is int and type(stride) is int and 0 < shape <= LIMIT and -LIMIT <= stride <= LIMIT
    if type(stride) is not tuple or len(shape) != len(stride):
        return False
    total = 1
    for s, d in zip(shape, stride, strict=True):
        if type(s) is int and type(d) is int:
            if s < 1 or not -LIMIT <= d <= LIMIT:
                return False
            total *= s
        elif type(s) is tuple and type(d) is tuple and len(s) == len(d):
            for part, step in zip(s, d, strict=True):
                if type(part) is not int or type(step) is not int or part < 1 or not -LIMIT <= step <= LIMIT:
                    return False
                total *= part
        else:
            return False
    return total <= LIMIT


def valid_shape(shape: IntTuple) -> IntTuple:
    """The shape with every extent checked and turned into a plain integer.

    Raises:
        LayoutError: if an extent is not positive, or the size does not fit 64 bits.

    >>> valid_shape((4, (2, 1)))
    (4, (2, 1))
    """
    if _is_valid(shape, shape):
        return shape
    check_depth(shape, "Layout: shape")
    shape = _checked_shape(shape)
    total = product(shape)
    if type(total) is int and total > LIMIT:
        raise LayoutError(f"Layout: the size must fit 64 bits, found shape {safe_text(shape)}")
    return shape


def _normalized(shape: IntTuple, stride: IntTuple) -> tuple[IntTuple, IntTuple]:
    """Shape and stride with every leaf checked and turned into a plain integer, the default stride filled in."""
    shape = valid_shape(shape)
    if stride is None:
        return shape, compact_strides(shape)
    check_depth(stride, "Layout: stride")
    if not congruent(shape, stride):
        raise LayoutError(
            f"Layout: shape and stride must be congruent, found {safe_text(shape)} and {safe_text(stride)}"
        )
    return shape, _checked_stride(stride)


def _checked_shape(shape: IntTuple) -> IntTuple:
    if type(shape) is tuple:
        return tuple(map(_checked_shape, shape))
    extent = as_leaf(shape, "Layout: an extent")
    if extent < 1:
        raise LayoutError(f"Layout: an extent must be positive, found {extent}")
    return extent


def _checked_stride(stride: IntTuple) -> IntTuple:
    if type(stride) is tuple:
        return tuple(map(_checked_stride, stride))
    return stride if isinstance(stride, ScaledBasis) else as_leaf(stride, "Layout: a stride")


def _checked_offset(offset: IntTuple) -> IntTuple:
    if type(offset) is tuple:
        return tuple(map(_checked_offset, offset))
    return as_leaf(offset, "ComposedLayout: offset")
