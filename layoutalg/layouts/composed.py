"""ComposedLayout: a layout after which something is applied, and its slices, exactly.

A :class:`ComposedLayout` is ``coordinate -> outer(offset + inner(coordinate))``, which is how CuTe writes a swizzled
tile: ``S<3,4,3> o 0 o (8,64):(64,1)``. It is frozen, hashable and equal by content, as a :class:`Layout` is.

A swizzle S is linear over xor, not over addition, so a slice ``c -> S(o + d + k(c))`` (o the inner offset, d what the
fixed modes add, k the kept modes) is not in general a layout plus a constant. Three exact forms, simplest first, with
Y and Z the masks of the bits that S reads and changes:

1. Where no offset of the slice differs from another in a bit of Y, S adds the same to all of them, if the bits it
   changes do not differ either: the slice is the kept modes as they are.
2. Where k moves no bit of Z whose bit of Y it also moves, S acts on the slice as a sum of bits with fixed weights: the
   slice is an ordinary layout. It may have negative strides (a bit that the fixed part flips counts downwards).
3. Otherwise the slice stays swizzled; the part of d outside Y and Z moves out, in front of the swizzle.

The second and third need that adding k to the fixed part never carries. Where it may, a small slice is compared offset
by offset; else all of d stays inside, which is always right.

Source: CUTLASS ``include/cute/swizzle_layout.hpp`` decays slices in the same way; the conditions are derived here.

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

    The CuTe DSL names the parts of a swizzled layout the other way round (its ``.inner`` is the swizzle, its ``.outer``
    the layout); here ``outer`` is the function applied last, as the word says. The order of the arguments is the same.

    Args:
        outer: the function applied last: a Swizzle, a Layout (extended beyond its shape as in ``composition``) or
            another ComposedLayout.
        offset: an integer added in between, in the unit of the inner offsets; a coordinate where ``inner`` gives them.
        inner: the Layout or ComposedLayout applied first; its shape is the shape of the whole.

    Raises:
        LayoutError: if a part is of another kind.

    >>> tile = ComposedLayout(Swizzle(3, 4, 3), 0, Layout((8, 64), (64, 1)))
    >>> print(tile, tile(2, 5))
    S<3,4,3> o 0 o (8,64):(64,1) 149
    """

    outer: Swizzle | Layout | ComposedLayout
    offset: Any  # an Index; typed so that it adds up without a question
    inner: Layout | ComposedLayout

    def __init__(self, outer: Swizzle | Layout | ComposedLayout, offset: Index, inner: Layout | ComposedLayout) -> None:
        if not isinstance(outer, (Swizzle, Layout, ComposedLayout)):
            raise LayoutError(f"ComposedLayout: outer must be a swizzle or a layout, found {safe_text(outer)}")
        if not isinstance(inner, (Layout, ComposedLayout)):
            raise LayoutError(f"ComposedLayout: inner must be a layout, found {safe_text(inner)}")
        check_depth(offset, "ComposedLayout: offset")
        if isinstance(outer, Swizzle) and outer.bits and (type(offset) is tuple or _gives_coordinates(inner)):
            raise LayoutError(
                f"ComposedLayout: a swizzle must be applied to offsets, found coordinates; outer = {outer}, "
                f"offset = {safe_text(offset)}, inner = {inner}"
            )
        if isinstance(outer, ComposedLayout) or isinstance(inner, ComposedLayout):
            _need_few_levels(outer, inner)
        fix(self, outer=outer, offset=_checked_offset(offset), inner=inner)

    @property
    def shape(self) -> Shape:
        """The shape of the domain: that of ``inner``."""
        return self.inner.shape

    @overload
    def __call__(self, *coord: Index) -> int: ...  # type: ignore[overload-overlap]  # a None makes it a Coord
    @overload
    def __call__(self, *coord: Coord) -> Layout | ComposedLayout: ...
    def __call__(self, *coord: Any) -> Any:
        """The offset of a coordinate, or the sub-layout of the modes where it has ``None``."""
        where = coord[0] if len(coord) == 1 else coord
        try:
            keeps = has_none(where)
        except RecursionError:
            keeps = True  # too deep for either reading, which the slice says in words
        if keeps:
            need_fit(where, self)
            return slice_composed(where, self)[0]
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
        from layoutalg.drawing.html_table import table

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
    if type(value) is tuple or has_basis(function):
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


def _gives_coordinates(function: object) -> bool:
    """Whether a function gives coordinates: it ends in a layout with basis strides."""
    if isinstance(function, Layout):
        return has_basis(function)
    if isinstance(function, ComposedLayout):
        return _gives_coordinates(function.inner if isinstance(function.outer, Swizzle) else function.outer)
    return False


#: Most composed layouts inside one another, which keeps recursion away from the interpreter's bound.
MOST_LEVELS = 16


def _need_few_levels(*parts: object) -> None:
    level: list[object] = list(parts)
    for _ in range(MOST_LEVELS):
        level = [part for one in level if isinstance(one, ComposedLayout) for part in (one.outer, one.inner)]
        if not level:
            return
    raise LayoutError(f"ComposedLayout: nesting must not exceed {MOST_LEVELS} levels, found more")


def is_swizzled(layout: object) -> bool:
    """Whether a value is a swizzle after a plain layout, the form of CuTe's shared-memory tiles."""
    return isinstance(layout, ComposedLayout) and isinstance(layout.outer, Swizzle) and isinstance(layout.inner, Layout)


def _checked_offset(offset: Index) -> Index:
    if type(offset) is tuple:
        return tuple(map(_checked_offset, offset))
    return as_leaf(offset, "ComposedLayout: offset")


#: How many offsets of a slice are compared where a carry might spoil the affine form.
_MOST_COMPARED = 1 << 12


def slice_composed(coord: Coord, src: ComposedLayout) -> tuple[Layout | ComposedLayout, int]:
    """:func:`~layoutalg.algebra.slicing.slice_and_offset` of a composed layout and a coordinate that fits it.

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
    return _simplest(swizzle, src.offset, fixed, plain)


def slice_any(coord: Coord, src: Layout | ComposedLayout) -> tuple[Layout | ComposedLayout, int]:
    """The slice of either kind of layout, of a coordinate that fits it."""
    return slice_composed(coord, src) if isinstance(src, ComposedLayout) else slice_plain(coord, src)


def _simplest(swizzle: Swizzle, offset: int, fixed: int, free: Layout) -> tuple[Layout | ComposedLayout, int]:
    """The simplest exact form of ``c -> swizzle(offset + fixed + free(c))``."""
    start = offset + fixed
    if has_symbols((start, *flatten_tuple(free.shape), *flatten_tuple(free.stride))):
        return ComposedLayout(swizzle, start, free), 0
    if not swizzle.bits or _is_shifted(swizzle, start, free):
        return free, swizzle(start)
    whole = ComposedLayout(swizzle, start, free), 0
    free_bits = offset_bits(free)
    if free_bits is None or start < 0:
        return whole
    if not _moves_a_pair(swizzle, free_bits):
        try:
            affine = compose_plain(_weights(swizzle, start, free_bits), free)
        except LayoutError:
            return whole
        exact = not start & free_bits or _agrees(affine, swizzle(start), whole[0])
        return (affine, swizzle(start)) if exact else whole
    active = swizzle.source_mask | swizzle.target_mask
    inside, outside = offset + (fixed & active), fixed & ~active
    if (inside | free_bits) & outside or inside & free_bits:
        return whole
    return ComposedLayout(swizzle, inside, free), outside


def _is_shifted(swizzle: Swizzle, start: int, free: Layout) -> bool:
    """Whether the swizzle adds one constant to all offsets ``start + free(c)``."""
    reaches = [(n - 1) * d for n, d in zip(flatten_tuple(free.shape), flatten_tuple(free.stride), strict=True)]
    low, high = start + sum(min(0, reach) for reach in reaches), start + sum(max(0, reach) for reach in reaches)
    differing = (1 << (low ^ high).bit_length()) - 1
    return low >= 0 and not (swizzle.source_mask | swizzle(low) ^ low) & differing


def _agrees(affine: Layout, offset: int, slice_: ComposedLayout) -> bool:
    """Whether a slice is ``affine + offset``, by enumeration; taken for no where there is much to enumerate."""
    total = product(slice_.shape)
    return total <= _MOST_COMPARED and all(affine(i) + offset == slice_(i) for i in range(total))


def offset_bits(free: Layout) -> int | None:
    """A mask of all bits that an offset of ``free`` can have; None where a stride is negative.

    Exact where each mode has its own bits; else the whole span from the lowest to the highest.
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
    """All bits from the lowest set bit of ``lowest`` to the top bit of ``highest``."""
    return (1 << highest.bit_length()) - (lowest & -lowest)


def _moves_a_pair(swizzle: Swizzle, free_bits: int) -> bool:
    """Whether some bit that is read and the bit that it changes are both among the free ones."""
    sources = free_bits & swizzle.source_mask
    aligned = sources >> swizzle.shift if swizzle.shift >= 0 else sources << -swizzle.shift
    return bool(aligned & free_bits)


def _weights(swizzle: Swizzle, start: int, free_bits: int) -> Layout:
    """The layout with one mode a bit that says what setting this bit adds to ``swizzle(start)``."""
    shift = swizzle.shift
    strides = []
    for bit in range(free_bits.bit_length()):
        weight = 1 << bit
        if weight & swizzle.target_mask:  # counts downwards where the bit that is read into it is set
            weight = -weight if start & (weight << shift if shift >= 0 else weight >> -shift) else weight
        elif weight & swizzle.source_mask:
            target = weight >> shift if shift >= 0 else weight << -shift
            weight += -target if start & target else target
        strides.append(weight)
    return from_flat(*merge((2,) * len(strides), tuple(strides)))
