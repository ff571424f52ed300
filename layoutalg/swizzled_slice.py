"""Slices of a swizzled layout, exactly.

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
"""

from __future__ import annotations

from typing import Any

from layoutalg.coalesce import from_flat, merge
from layoutalg.composition import compose_plain
from layoutalg.errors import LayoutError
from layoutalg.int_tuple import flatten_tuple
from layoutalg.layout import ComposedLayout, Layout, add, is_swizzled
from layoutalg.leaf import has_symbols
from layoutalg.modes import AnyLayout, size
from layoutalg.slicing import slice_and_offset, slice_plain
from layoutalg.swizzle import Swizzle

#: How many offsets of a slice are compared where a carry might spoil the affine form.
_MOST_COMPARED = 1 << 12


def slice_composed(coord: Any, src: ComposedLayout) -> tuple[AnyLayout, Any]:
    """:func:`~layoutalg.slicing.slice_and_offset` of a composed layout and a coordinate that fits it.

    >>> from layoutalg import ComposedLayout, Layout, Swizzle
    >>> tile = ComposedLayout(Swizzle(3, 4, 3), 0, Layout((8, 64), (64, 1)))
    >>> layout, offset = slice_composed((3, None), tile)
    >>> print(layout, offset, layout(17) + offset == tile(3, 17))
    ((16,2,2)):((1,-16,32)) 208 True
    """
    if not is_swizzled(src):
        kept, offset = slice_and_offset(coord, src.inner)
        return ComposedLayout(src.outer, add(src.offset, offset), kept), 0
    swizzle: Any = src.outer
    if all(part is None for part in flatten_tuple(coord)) and coord != ():
        return ComposedLayout(swizzle, src.offset, slice_plain(coord, src.inner)[0]), 0  # type: ignore[arg-type]
    plain, fixed = slice_plain(coord, src.inner)  # type: ignore[arg-type]
    return _simplest(swizzle, src.offset, fixed, plain)


def _simplest(swizzle: Swizzle, offset: int, fixed: int, kept: Layout) -> tuple[AnyLayout, int]:
    """The simplest exact form of ``c -> swizzle(offset + fixed + kept(c))``."""
    start = offset + fixed
    if has_symbols((start, *flatten_tuple(kept.shape), *flatten_tuple(kept.stride))):
        return ComposedLayout(swizzle, start, kept), 0
    if not swizzle.bits or _is_shifted(swizzle, start, kept):
        return kept, swizzle(start)
    whole = ComposedLayout(swizzle, start, kept), 0
    moved = _moved_bits(kept)
    if moved is None or start < 0:
        return whole
    if not _moves_a_pair(swizzle, moved):
        try:
            affine = compose_plain(_weights(swizzle, start, moved), kept)
        except LayoutError:
            return whole
        exact = not start & moved or _agrees(affine, swizzle(start), whole[0])
        return (affine, swizzle(start)) if exact else whole
    active = swizzle.source_mask | swizzle.target_mask
    inside, outside = offset + (fixed & active), fixed & ~active
    if (inside | moved) & outside or inside & moved:
        return whole
    return ComposedLayout(swizzle, inside, kept), outside


def _is_shifted(swizzle: Swizzle, start: int, kept: Layout) -> bool:
    """Whether the swizzle adds one constant to all offsets ``start + kept(c)``."""
    reaches = [(n - 1) * d for n, d in zip(flatten_tuple(kept.shape), flatten_tuple(kept.stride), strict=True)]
    low, high = start + sum(min(0, reach) for reach in reaches), start + sum(max(0, reach) for reach in reaches)
    differing = (1 << (low ^ high).bit_length()) - 1
    return low >= 0 and not (swizzle.source_mask | swizzle(low) ^ low) & differing


def _agrees(affine: Layout, offset: int, slice_: ComposedLayout) -> bool:
    """Whether a slice is ``affine + offset``, by enumeration; taken for no where there is much to enumerate."""
    total = size(slice_)
    return total <= _MOST_COMPARED and all(affine(i) + offset == slice_(i) for i in range(total))


def _moved_bits(kept: Layout) -> int | None:
    """A mask of all bits that an offset of ``kept`` can have; None where a stride is negative.

    Exact where each mode has its own bits; else the whole span from the lowest to the highest.
    """
    modes = [(n, d) for n, d in zip(flatten_tuple(kept.shape), flatten_tuple(kept.stride), strict=True) if n > 1 and d]
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


def _moves_a_pair(swizzle: Swizzle, moved: int) -> bool:
    """Whether some bit that is read and the bit that it changes are both among the moved ones."""
    read = moved & swizzle.source_mask
    aligned = read >> swizzle.shift if swizzle.shift >= 0 else read << -swizzle.shift
    return bool(aligned & moved)


def _weights(swizzle: Swizzle, start: int, moved: int) -> Layout:
    """The layout with one mode a bit that says what setting this bit adds to ``swizzle(start)``."""
    shift = swizzle.shift
    strides = []
    for bit in range(moved.bit_length()):
        weight = 1 << bit
        if weight & swizzle.target_mask:  # counts downwards where the bit that is read into it is set
            weight = -weight if start & (weight << shift if shift >= 0 else weight >> -shift) else weight
        elif weight & swizzle.source_mask:
            target = weight >> shift if shift >= 0 else weight << -shift
            weight += -target if start & target else target
        strides.append(weight)
    return from_flat(*merge((2,) * len(strides), tuple(strides)))
