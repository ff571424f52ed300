"""The operations ``recast_layout``, ``upcast`` and ``downcast``, which change the size of the elements of a layout.

Invariant: ``upcast(L, n)``, which combines n elements of L into one unit, is a layout R with a coordinate c' for each
group of coordinates c of L that share a unit, and ``L(c) == n * R(c') + position of c in its unit``. ``downcast(L, n)``
is a layout R with n coordinates c' for each c of the contiguous mode of L, and ``R(c') == n * L(c) + position``. If no
mode is contiguous, R maps to the first part of each element. If such a layout does not exist, the operation raises an
error; strides are never rounded. An extent is rounded up: ``upcast(7:1, 2)`` is ``4:1``, whose last unit is incomplete.
Source: CUTLASS ``include/cute/layout.hpp`` (upcast, downcast, recast_layout); ``include/cute/swizzle_layout.hpp``.

>>> from layoutalg import Layout
>>> elements, units = Layout((8, 64), (64, 1)), upcast(Layout((8, 64), (64, 1)), 8)
>>> print(units, all(elements(r, c) == 8 * units(r, c // 8) + c % 8 for r in range(8) for c in range(64)))
(8,8):(8,1) True
"""

from __future__ import annotations

from math import gcd
from typing import Any

from layoutalg.errors import LayoutError, NotDivisibleError
from layoutalg.layouts.composed import ComposedLayout, is_swizzled
from layoutalg.layouts.layout import Layout, need_integer_strides, need_readable, trusted
from layoutalg.layouts.modes import LayoutKind, need_layout
from layoutalg.layouts.swizzle import Swizzle
from layoutalg.tuples.int_tuple import flatten_tuple, unflatten
from layoutalg.tuples.leaf import as_int, ceil_div, divides, equal, is_one, need_steps, surely_less


def recast_layout(new_bits: int, old_bits: int, layout: LayoutKind) -> LayoutKind:
    """Convert a layout of elements of ``old_bits`` to a layout of elements of ``new_bits``.

    Args:
        new_bits: size of the new element, in bits.
        old_bits: size of the present element, in bits.
        layout: a layout, or a swizzle after a layout, whose bit fields are moved.

    Raises:
        NotDivisibleError: if strides, offset or swizzle do not correspond to whole new elements.
        LayoutError: if a size is not positive, or for basis strides and other composed layouts.

    >>> print(recast_layout(128, 16, Layout(((64, 16), 2), ((64, 1), 4096))))
    ((64,2),2):((8,1),512)
    """
    need_layout(layout, "recast_layout")
    new, old = (
        as_int(bits, f"recast_layout: {name}") for bits, name in ((new_bits, "new_bits"), (old_bits, "old_bits"))
    )
    if new < 1 or old < 1:
        raise LayoutError(f"recast_layout: the element sizes {new} and {old} bits are not both positive")
    common = gcd(new, old)
    if old != common:
        layout = downcast(layout, old // common)
    return upcast(layout, new // common) if new != common else layout


def upcast(layout: LayoutKind, n: int) -> LayoutKind:
    """Convert a layout to elements that are n times as large: n consecutive offsets become one.

    Args:
        layout: a layout, or a swizzle after a layout.
        n: number of old elements per new element.

    Raises:
        NotDivisibleError: if a stride neither divides n nor is a multiple of it and its mode leaves the unit, if the
            modes together leave the unit, or if the offset or the base of the swizzle splits a unit.
        LayoutError: if n is not positive, or for basis strides and other composed layouts.

    >>> print(upcast(Layout((64, 16), (64, 1)), 8), upcast(Layout((2, 8), (1, 2)), 4))
    (64,2):(8,1) (1,4):(0,1)
    """
    n = _count(n, "upcast")
    need_layout(layout, "upcast")
    if isinstance(layout, ComposedLayout):
        swizzle, bits = _swizzle_of(layout, n, "upcast")
        if not divides(n, layout.offset):
            raise NotDivisibleError(f"upcast: the offset {layout.offset} is not a multiple of {n}; layout = {layout}")
        if swizzle.bits and swizzle.base < bits:
            raise NotDivisibleError(
                f"upcast: {swizzle} splits units of {n} elements, because its base is less than {bits}; "
                f"layout = {layout}"
            )
        coarser = Swizzle(swizzle.bits, max(0, swizzle.base - bits), swizzle.shift)
        return ComposedLayout(coarser, layout.offset // n, _upcast(layout.inner, n))  # type: ignore[return-value, arg-type]
    return _upcast(layout, n)  # type: ignore[return-value]  # mypy cannot narrow a bound type variable


def _upcast(layout: Layout, n: int) -> Layout:
    need_integer_strides(layout, "upcast")
    extents: list[Any] = []
    strides: list[Any] = []
    inside = 0  # the largest position in a unit, summed over the modes
    for s, d in zip(flatten_tuple(layout.shape), flatten_tuple(layout.stride), strict=True):
        if is_one(s) or d == 0:
            extents.append(s)
            strides.append(0)
        elif divides(n, d):
            extents.append(s)
            strides.append(d // n)
        elif d > 0 and divides(d, n):
            group = n // d  # number of steps of this mode in one unit
            inside += d * ((s if surely_less(s, group) else group) - 1)
            count = ceil_div(s, group)
            extents.append(count)
            strides.append(0 if is_one(count) else 1)
        elif surely_less(0, d) and surely_less(d * (s - 1), n):  # the whole mode stays in one unit
            inside += d * (s - 1)
            extents.append(1)
            strides.append(0)
        else:
            fact = f"neither divides {n} nor is a multiple of it" if d > 0 else f"is negative and not a multiple of {n}"
            raise NotDivisibleError(f"upcast: stride {d} {fact}; layout = {layout}")
    if inside >= n:
        raise NotDivisibleError(
            f"upcast: the modes together reach position {inside}, which is outside a unit of {n} elements; "
            f"layout = {layout}"
        )
    return trusted(unflatten(extents, layout.shape), unflatten(strides, layout.shape))


def downcast(layout: LayoutKind, n: int) -> LayoutKind:
    """Convert a layout to elements that are smaller by a factor of n.

    The extent of the contiguous mode and the strides of the other modes are multiplied by n.

    Args:
        layout: a layout, or a swizzle after a layout.
        n: number of new elements per old element.

    Raises:
        NotDivisibleError: if two modes are contiguous, or if the layout is swizzled and n is not a power of two.
        LayoutError: if n is not positive, or for basis strides and other composed layouts.

    >>> print(downcast(Layout((64, 2), (8, 1)), 8), downcast(Layout(8, 2), 2))
    (64,16):(64,1) 8:4
    """
    n = _count(n, "downcast")
    need_layout(layout, "downcast")
    if isinstance(layout, ComposedLayout):
        swizzle, bits = _swizzle_of(layout, n, "downcast")
        finer = Swizzle(swizzle.bits, swizzle.base + bits, swizzle.shift)
        inner = need_readable(_downcast(layout.inner, n), "downcast")  # type: ignore[arg-type]
        return ComposedLayout(finer, layout.offset * n, inner)  # type: ignore[return-value]
    return need_readable(_downcast(layout, n), "downcast")  # type: ignore[return-value]


def _downcast(layout: Layout, n: int) -> Layout:
    extents, strides = flatten_tuple(layout.shape), flatten_tuple(layout.stride)
    if {*map(type, extents), *map(type, strides)} == {int} and strides.count(1) < 2:  # the most frequent case
        contiguous = strides.index(1) if 1 in strides else -1
    else:
        contiguous = _find_contiguous(need_integer_strides(layout, "downcast"), extents, strides)
    new_strides = [d * n for d in strides]
    if contiguous < 0:
        return trusted(layout.shape, unflatten(new_strides, layout.shape))
    new_strides[contiguous] = strides[contiguous]
    new_extents = list(extents)
    new_extents[contiguous] *= n
    return trusted(unflatten(new_extents, layout.shape), unflatten(new_strides, layout.shape))


def _find_contiguous(layout: Layout, extents: tuple[Any, ...], strides: tuple[Any, ...]) -> int:
    """Return the number of the contiguous flat mode, or -1 if there is none.

    Raises:
        NotDivisibleError: if there are two.
    """
    unit = [i for i, d in enumerate(strides) if equal(d, 1)]
    real = [i for i in unit if not is_one(extents[i])]
    if len(real) > 1 or (real and real[0] != unit[0]):
        for i in real:  # a mode whose extent is 1 for some values would not count for these
            need_steps(extents[i])
    if len(real) > 1:
        raise NotDivisibleError(
            f"downcast: {len(real)} modes have stride 1, but only one can be contiguous; layout = {layout}"
        )
    # A mode of extent 1, whose stride is never used, is contiguous only if no other mode is.
    return (real or unit or [-1])[0]


def _count(n: int, operation: str) -> int:
    count = as_int(n, f"{operation}: n")
    if count < 1:
        raise LayoutError(f"{operation}: n is {count}, which is not positive")
    return count


def _swizzle_of(layout: ComposedLayout, n: int, operation: str) -> tuple[Swizzle, int]:
    """Return the swizzle of a swizzled layout, and the number of bits by which a factor of n moves its base.

    Raises:
        LayoutError: if the layout is not a swizzle after a plain layout.
        NotDivisibleError: if n is not a power of two.
    """
    if not is_swizzled(layout):
        raise LayoutError(f"{operation}: the composed layout is not a swizzle after a plain layout; layout = {layout}")
    if not layout.outer.bits:  # type: ignore[union-attr]  # the identity, for which any factor is possible
        return layout.outer, n.bit_length() - 1 if n & (n - 1) == 0 else 0  # type: ignore[return-value]
    if n & (n - 1):
        raise NotDivisibleError(
            f"{operation}: n is {n}, which is not a power of two, as a swizzled layout needs it; layout = {layout}"
        )
    return layout.outer, n.bit_length() - 1  # type: ignore[return-value]
