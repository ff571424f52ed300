"""Recast: the same bytes counted in another unit.

Law of ``upcast(L, n)``, n elements of L to a new one: the result R has a coordinate c' for each group of coordinates c
of L that share a unit, and ``L(c) == n * R(c') + position of c in its unit``. Law of ``downcast(L, n)``: R has n
coordinates c' for each c of L's contiguous mode, and ``R(c') == n * L(c) + position``; where no mode is contiguous, it
points to the first part of each element. A stride that no such R has is an error, never a rounded one; an extent is
rounded up, so that the last unit of ``upcast(7:1, 2)``, which is ``4:1``, is partly used.
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
    """A layout over elements of ``old_bits`` as one over elements of ``new_bits``.

    Args:
        new_bits: size of the new element, in bits.
        old_bits: size of the element that the layout counts now, in bits.
        layout: a layout, or a swizzle after one: its fields move along.

    Raises:
        NotDivisibleError: if strides, offset or swizzle do not fall on whole new elements.
        LayoutError: if a size is not positive, or for basis strides and other composed layouts.

    >>> print(recast_layout(128, 16, Layout(((64, 16), 2), ((64, 1), 4096))))
    ((64,2),2):((8,1),512)
    """
    need_layout(layout, "recast_layout")
    new, old = (
        as_int(bits, f"recast_layout: {name}") for bits, name in ((new_bits, "new_bits"), (old_bits, "old_bits"))
    )
    if new < 1 or old < 1:
        raise LayoutError(f"recast_layout: element sizes must be positive, found {new} and {old} bits")
    common = gcd(new, old)
    if old != common:
        layout = downcast(layout, old // common)
    return upcast(layout, new // common) if new != common else layout


def upcast(layout: LayoutKind, n: int) -> LayoutKind:
    """A layout over elements n times as large: groups of n consecutive offsets become one.

    Args:
        layout: a layout, or a swizzle after one.
        n: how many old elements make a new one.

    Raises:
        NotDivisibleError: if a stride neither divides n nor is a multiple of it and its mode leaves the unit, if two
            modes share part of a unit, or if the offset or the swizzle's base does not fall on whole units.
        LayoutError: if n is not positive, or for basis strides and other composed layouts.

    >>> print(upcast(Layout((64, 16), (64, 1)), 8), upcast(Layout((2, 8), (1, 2)), 4))
    (64,2):(8,1) (1,4):(0,1)
    """
    n = _count(n, "upcast")
    need_layout(layout, "upcast")
    if isinstance(layout, ComposedLayout):
        swizzle, bits = _swizzle_of(layout, n, "upcast")
        if not divides(n, layout.offset):
            raise NotDivisibleError(f"upcast: the offset must be a multiple of {n}; layout = {layout}")
        if swizzle.bits and swizzle.base < bits:
            raise NotDivisibleError(
                f"upcast: the swizzle's base must be at least {bits}, since it would split units of {n}; "
                f"layout = {layout}"
            )
        coarser = Swizzle(swizzle.bits, max(0, swizzle.base - bits), swizzle.shift)
        return ComposedLayout(coarser, layout.offset // n, _upcast(layout.inner, n))  # type: ignore[return-value, arg-type]
    return _upcast(layout, n)  # type: ignore[return-value]  # mypy cannot narrow a bound type variable


def _upcast(layout: Layout, n: int) -> Layout:
    need_integer_strides(layout, "upcast")
    extents: list[Any] = []
    strides: list[Any] = []
    inside = 0  # the largest position in a unit that the modes reach together
    for s, d in zip(flatten_tuple(layout.shape), flatten_tuple(layout.stride), strict=True):
        if is_one(s) or d == 0:
            extents.append(s)
            strides.append(0)
        elif divides(n, d):
            extents.append(s)
            strides.append(d // n)
        elif d > 0 and divides(d, n):
            group = n // d  # so many steps of this mode stay in one unit
            inside += d * ((s if surely_less(s, group) else group) - 1)
            count = ceil_div(s, group)
            extents.append(count)
            strides.append(0 if is_one(count) else 1)
        elif surely_less(0, d) and surely_less(d * (s - 1), n):  # the whole mode stays in one unit
            inside += d * (s - 1)
            extents.append(1)
            strides.append(0)
        else:
            rule = f"divide {n} or be a multiple of it" if d > 0 else f"be a multiple of {n} where it is negative"
            raise NotDivisibleError(f"upcast: a stride must {rule}, found {d}; layout = {layout}")
    if inside >= n:
        raise NotDivisibleError(
            f"upcast: modes must not share positions in a unit of {n}, found that they add up to {inside}; "
            f"layout = {layout}"
        )
    return trusted(unflatten(extents, layout.shape), unflatten(strides, layout.shape))


def downcast(layout: LayoutKind, n: int) -> LayoutKind:
    """A layout over elements one n-th as large: the contiguous mode grows n-fold, the other strides do.

    Args:
        layout: a layout, or a swizzle after one.
        n: how many new elements an old one makes.

    Raises:
        NotDivisibleError: if two modes are contiguous, or n is no power of two under a swizzle.
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
    if {*map(type, extents), *map(type, strides)} == {int} and strides.count(1) < 2:  # nearly always
        grows = strides.index(1) if 1 in strides else -1
    else:
        grows = _contiguous(need_integer_strides(layout, "downcast"), extents, strides)
    wider = [d * n for d in strides]
    if grows < 0:
        return trusted(layout.shape, unflatten(wider, layout.shape))
    wider[grows] = strides[grows]
    longer = list(extents)
    longer[grows] *= n
    return trusted(unflatten(longer, layout.shape), unflatten(wider, layout.shape))


def _contiguous(layout: Layout, extents: tuple[Any, ...], strides: tuple[Any, ...]) -> int:
    """Which flat mode is contiguous; -1 where none is.

    Raises:
        NotDivisibleError: if two are.
    """
    unit = [i for i, d in enumerate(strides) if equal(d, 1)]
    real = [i for i in unit if not is_one(extents[i])]
    if len(real) > 1 or (real and real[0] != unit[0]):
        for i in real:  # one that turns out to have extent 1 does not count
            need_steps(extents[i])
    if len(real) > 1:
        raise NotDivisibleError(f"downcast: at most one mode may have stride 1, found {len(real)}; layout = {layout}")
    # A mode of extent 1 is contiguous only if none else is: its stride is never used to step.
    return (real or unit or [-1])[0]


def _count(n: int, operation: str) -> int:
    count = as_int(n, f"{operation}: n")
    if count < 1:
        raise LayoutError(f"{operation}: n must be positive, found {count}")
    return count


def _swizzle_of(layout: ComposedLayout, n: int, operation: str) -> tuple[Swizzle, int]:
    """The swizzle of a swizzled layout, and by how many bits a factor of n moves it."""
    if not is_swizzled(layout):
        raise LayoutError(f"{operation}: a composed layout must be a swizzle after a plain layout; layout = {layout}")
    if not layout.outer.bits:  # type: ignore[union-attr]  # the identity moves with any factor; its base says nothing
        return layout.outer, n.bit_length() - 1 if n & (n - 1) == 0 else 0  # type: ignore[return-value]
    if n & (n - 1):
        raise NotDivisibleError(f"{operation}: under a swizzle, n must be a power of two, found {n}; layout = {layout}")
    return layout.outer, n.bit_length() - 1  # type: ignore[return-value]
