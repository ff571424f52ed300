"""The class ``ComposedLayout``, a layout followed by a swizzle or another layout, and its slices.

A :class:`ComposedLayout` is the function ``coordinate -> outer(offset + inner(coordinate))``. CuTe writes a swizzled
tile in this form: ``S<3,4,3> o 0 o (8,64):(64,1)``. It is frozen, hashable and equal by content, as a :class:`Layout`.

A slice of a swizzled layout is the function ``c -> S(o + d + k(c))``, where o is the inner offset, d is the offset of
the fixed modes, and k is the layout of the kept modes. Since a swizzle S is linear over xor but not over addition, a
slice is not a layout plus a constant in general. There are three exact forms, listed from simple to general. Y and Z
are the masks of the bits that S reads and changes.

1. If the offsets of the slice do not differ in a bit of Y, nor in a bit that S changes, S adds the same constant to all
   of them. The slice is then the layout of the kept modes.
2. If k does not change both a bit of Z and the bit of Y that is xored into it, S acts on the slice as a sum of bits
   with fixed weights, and the slice is a plain layout. It may have negative strides: the weight of a bit is negative
   if the fixed part flips it.
3. Otherwise the slice stays swizzled, and the part of d outside Y and Z is added after the swizzle.

The second and the third form require that adding k to the fixed part does not carry. If it may carry, a small slice is
decided by comparing all of its offsets. Otherwise all of d stays inside, which is always right.

Source: CUTLASS ``include/cute/swizzle_layout.hpp`` simplifies slices in the same way; the conditions are derived here.

>>> tile = ComposedLayout(Swizzle(3, 4, 3), 0, Layout((8, 128), (128, 1)))
>>> part, offset = slice_composed((5, None), tile)
>>> print(part, offset, all(part(c) + offset == tile(5, c) for c in range(128)))
((16,2,2,2)):((1,-16,32,-64)) 720 True
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, overload

from layoutalg.errors import LayoutError
from layoutalg.frozen import fix, frozen
from layoutalg.layouts.flat import from_flat, merge
from layoutalg.layouts.layout import Layout, has_basis, need_fit, slice_plain
from layoutalg.layouts.plain_composition import compose_plain
from layoutalg.layouts.swizzle import Swizzle
from layoutalg.tuples.int_tuple import (
    Coord,
    Index,
    Shape,
    check_depth,
    extended_offset,
    flatten_tuple,
    has_none,
    product,
    safe_text,
    text,
)
from layoutalg.tuples.leaf import as_leaf, has_symbols


@frozen
class ComposedLayout:
    """The function ``coordinate -> outer(offset + inner(coordinate))``.

    The CuTe DSL uses the names of the parts the other way round: its ``.inner`` is the swizzle, and its ``.outer`` is
    the layout. Here ``outer`` is the function that is applied last. The order of the arguments is the same.

    Args:
        outer: the function applied last: a Swizzle, a Layout (extended beyond its shape as in ``composition``) or
            another ComposedLayout.
        offset: an integer that is added to the inner offsets, in their unit; a coordinate if ``inner`` returns
            coordinates.
        inner: the Layout or ComposedLayout applied first; its shape is the shape of the composed layout.

    Raises:
        LayoutError: if a part has another type, if a swizzle would be applied to coordinates, or if more than 16
            composed layouts are nested.

    >>> tile = ComposedLayout(Swizzle(3, 4, 3), 0, Layout((8, 64), (64, 1)))
    >>> print(tile, tile(2, 5))
    S<3,4,3> o 0 o (8,64):(64,1) 149
    """

    outer: Swizzle | Layout | ComposedLayout
    offset: Any  # an Index; declared as Any so that it can be added without a cast
    inner: Layout | ComposedLayout

    def __init__(self, outer: Swizzle | Layout | ComposedLayout, offset: Index, inner: Layout | ComposedLayout) -> None:
        if not isinstance(outer, (Swizzle, Layout, ComposedLayout)):
            raise LayoutError(f"ComposedLayout: outer is {safe_text(outer)}, which is neither a swizzle nor a layout")
        if not isinstance(inner, (Layout, ComposedLayout)):
            raise LayoutError(f"ComposedLayout: inner is {safe_text(inner)}, which is not a layout")
        check_depth(offset, "ComposedLayout: the offset")
        if isinstance(outer, Swizzle) and outer.bits and (type(offset) is tuple or _returns_coordinates(inner)):
            raise LayoutError(
                f"ComposedLayout: the swizzle {outer} is applied to coordinates, but a swizzle acts on offsets; "
                f"offset = {safe_text(offset)}, inner = {inner}"
            )
        if isinstance(outer, ComposedLayout) or isinstance(inner, ComposedLayout):
            _need_few_levels(outer, inner)
        fix(self, outer=outer, offset=_checked_offset(offset), inner=inner)

    @property
    def shape(self) -> Shape:
        """The shape of the domain, which is that of ``inner``."""
        return self.inner.shape

    @overload
    def __call__(self, *coord: Index) -> int: ...  # type: ignore[overload-overlap]  # a None makes it a Coord
    @overload
    def __call__(self, *coord: Coord) -> Layout | ComposedLayout: ...
    def __call__(self, *coord: Any) -> Any:
        """Return the offset of a coordinate, or the sub-layout of the modes where it has ``None``."""
        coordinate = coord[0] if len(coord) == 1 else coord
        try:
            keeps_modes = has_none(coordinate)
        except RecursionError:
            keeps_modes = True  # nested too deeply, which need_fit reports
        if keeps_modes:
            need_fit(coordinate, self)
            return slice_composed(coordinate, self)[0]
        return apply(self.outer, add(self.offset, self.inner(coordinate)))

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
        from layoutalg.drawing.html_table import table

        return table(self)


def apply(function: Swizzle | Layout | ComposedLayout, value: Any) -> Any:
    """Evaluate a swizzle or a layout at an offset or coordinate. The last mode of a layout extends to infinity.

    >>> apply(Layout((4, 2), (1, 10)), 9)
    21
    """
    if isinstance(function, Swizzle):
        return function(value)
    if isinstance(function, ComposedLayout):
        return apply(function.outer, add(function.offset, apply(function.inner, value)))
    if type(value) is tuple or has_basis(function):
        return function(value)
    return extended_offset(value, flatten_tuple(function.shape), flatten_tuple(function.stride))


def add(a: Any, b: Any) -> Any:
    """Add two offsets or two coordinates; a shorter coordinate is padded with 0, and 0 may be added to a coordinate.

    Raises:
        LayoutError: for a coordinate and an integer other than 0.

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


def _returns_coordinates(function: object) -> bool:
    """Check if the layout that a function applies last, except for swizzles, has basis strides."""
    if isinstance(function, Layout):
        return has_basis(function)
    if isinstance(function, ComposedLayout):
        return _returns_coordinates(function.inner if isinstance(function.outer, Swizzle) else function.outer)
    return False


#: The most composed layouts inside one another. The bound is far below Python's recursion limit.
MOST_LEVELS = 16


def _need_few_levels(*parts: object) -> None:
    level = list(parts)
    for _ in range(MOST_LEVELS):
        composed = [part for part in level if isinstance(part, ComposedLayout)]
        if not composed:
            return
        level = [part for layout in composed for part in (layout.outer, layout.inner)]
    raise LayoutError(f"ComposedLayout: more than {MOST_LEVELS} levels of composed layouts are nested")


def is_swizzled(layout: object) -> bool:
    """Check if a value is a composed layout of a swizzle and a plain layout, as CuTe's shared-memory tiles are."""
    return isinstance(layout, ComposedLayout) and isinstance(layout.outer, Swizzle) and isinstance(layout.inner, Layout)


def _checked_offset(offset: Index) -> Index:
    if type(offset) is tuple:
        return tuple(map(_checked_offset, offset))
    return as_leaf(offset, "ComposedLayout: the offset")


#: The most offsets of a slice that are compared to decide if a carry makes the affine form wrong.
_MOST_COMPARED = 1 << 12


def slice_composed(coord: Coord, src: ComposedLayout) -> tuple[Layout | ComposedLayout, int]:
    """Slice a composed layout by a coordinate that fits it; see :func:`~layoutalg.algebra.slicing.slice_and_offset`.

    >>> from layoutalg import ComposedLayout, Layout, Swizzle
    >>> tile = ComposedLayout(Swizzle(3, 4, 3), 0, Layout((8, 64), (64, 1)))
    >>> layout, offset = slice_composed((3, None), tile)
    >>> print(layout, offset, layout(17) + offset == tile(3, 17))
    ((16,2,2)):((1,-16,32)) 208 True
    """
    if not is_swizzled(src):
        inner, offset = slice_any(coord, src.inner)
        return ComposedLayout(src.outer, add(src.offset, offset), inner), 0
    swizzle: Any = src.outer
    if all(part is None for part in flatten_tuple(coord)) and coord != ():
        return ComposedLayout(swizzle, src.offset, slice_plain(coord, src.inner)[0]), 0  # type: ignore[arg-type]
    plain, fixed = slice_plain(coord, src.inner)  # type: ignore[arg-type]
    return _simplify(swizzle, src.offset, fixed, plain)


def slice_any(coord: Coord, src: Layout | ComposedLayout) -> tuple[Layout | ComposedLayout, int]:
    """Slice a plain or composed layout by a coordinate that fits it."""
    return slice_composed(coord, src) if isinstance(src, ComposedLayout) else slice_plain(coord, src)


def _simplify(swizzle: Swizzle, offset: int, fixed: int, free: Layout) -> tuple[Layout | ComposedLayout, int]:
    """Return the simplest exact form of ``c -> swizzle(offset + fixed + free(c))``, as a layout and a constant."""
    start = offset + fixed
    if has_symbols((start, *flatten_tuple(free.shape), *flatten_tuple(free.stride))):
        return ComposedLayout(swizzle, start, free), 0
    if not swizzle.bits or _adds_constant(swizzle, start, free):
        return free, swizzle(start)
    swizzled_slice = ComposedLayout(swizzle, start, free)
    free_bits = offset_bits(free)
    if free_bits is None or start < 0:
        return swizzled_slice, 0
    if not _changes_pair(swizzle, free_bits):
        try:
            affine = compose_plain(_weights(swizzle, start, free_bits), free)
        except LayoutError:
            return swizzled_slice, 0
        exact = not start & free_bits or _agrees(affine, swizzle(start), swizzled_slice)
        return (affine, swizzle(start)) if exact else (swizzled_slice, 0)
    active = swizzle.source_mask | swizzle.target_mask
    inside, outside = offset + (fixed & active), fixed & ~active
    if (inside | free_bits) & outside or inside & free_bits:
        return swizzled_slice, 0
    return ComposedLayout(swizzle, inside, free), outside


def _adds_constant(swizzle: Swizzle, start: int, free: Layout) -> bool:
    """Check if the swizzle adds the same constant to all offsets ``start + free(c)``."""
    reaches = [(n - 1) * d for n, d in zip(flatten_tuple(free.shape), flatten_tuple(free.stride), strict=True)]
    low, high = start + sum(min(0, reach) for reach in reaches), start + sum(max(0, reach) for reach in reaches)
    differing = (1 << (low ^ high).bit_length()) - 1
    return low >= 0 and not (swizzle.source_mask | swizzle(low) ^ low) & differing


def _agrees(affine: Layout, offset: int, slice_: ComposedLayout) -> bool:
    """Check by enumeration if a slice is ``affine + offset``; return False if it is too large to enumerate."""
    total = product(slice_.shape)
    return total <= _MOST_COMPARED and all(affine(i) + offset == slice_(i) for i in range(total))


def offset_bits(free: Layout) -> int | None:
    """Return a mask of all bits that an offset of ``free`` can have; None if a stride is negative.

    The mask is exact if the modes have separate bits. Otherwise it contains all bits from the lowest to the highest.
    """
    modes = [(n, d) for n, d in zip(flatten_tuple(free.shape), flatten_tuple(free.stride), strict=True) if n > 1 and d]
    if any(d < 0 for _, d in modes):
        return None
    mask = 0
    for n, d in modes:
        bits = _span(d, (n - 1) * d)
        if d & (d - 1) or mask & bits:
            return _span(min((d & -d for _, d in modes)), sum((n - 1) * d for n, d in modes))
        mask |= bits
    return mask


def _span(lowest: int, highest: int) -> int:
    """Return a mask of the bits from the lowest set bit of ``lowest`` to the highest set bit of ``highest``."""
    return (1 << highest.bit_length()) - (lowest & -lowest)


def _changes_pair(swizzle: Swizzle, free_bits: int) -> bool:
    """Check if the free bits contain both a bit that the swizzle reads and the bit that it is xored into."""
    sources = free_bits & swizzle.source_mask
    aligned = sources >> swizzle.shift if swizzle.shift >= 0 else sources << -swizzle.shift
    return bool(aligned & free_bits)


def _weights(swizzle: Swizzle, start: int, free_bits: int) -> Layout:
    """Return a layout with one mode per bit, whose stride is what setting this bit adds to ``swizzle(start)``."""
    shift = swizzle.shift
    strides = []
    for bit in range(free_bits.bit_length()):
        weight = 1 << bit
        if weight & swizzle.target_mask:  # the weight is negative if the bit that is xored into this one is set
            weight = -weight if start & (weight << shift if shift >= 0 else weight >> -shift) else weight
        elif weight & swizzle.source_mask:
            target = weight >> shift if shift >= 0 else weight << -shift
            weight += -target if start & target else target
        strides.append(weight)
    return from_flat(*merge((2,) * len(strides), tuple(strides)))
