"""A fast composition for layouts of integers, which covers most calls; the general one is in ``plain_composition``.

It implements the theorem of :mod:`layoutalg.layouts.plain_composition` in one pass over the leaves of b, which computes
the modes of the result and the distance that they reach below each boundary. The stride t of a leaf n:t that starts in
mode i of a is a multiple of P_i, the product of the extents of the modes before it. The leaf therefore adds nothing at
the boundaries up to P_i, and t * (n - 1) at all boundaries above. The boundaries are clean if the sums of these
distances, taken from the lowest mode on, stay below each boundary.

The mode in which a leaf starts is found by a search through the modes or, for seventeen modes or more, by bisection
of the boundaries, each of which divides the next one. The composition of r modes with p pieces takes O(p log r + r).
Other operands are left to the general composition: symbols, basis strides, negative strides, leaves that the extents do
not divide, sums that carry, and results that may not fit in 64 bits.

Invariant: a result is the same as that of ``compose_carefully``.

>>> from layoutalg.layouts.plain_composition import compose_carefully
>>> a, b = Layout((6, 2), (8, 2)), Layout((4, 3), (3, 1))
>>> print(quick_composition(a, b), quick_composition(a, b) == compose_carefully(a, b))
((2,2),3):((24,2),8) True
>>> quick_composition(Layout((6, 2), (1, 7)), Layout((3, 2), (2, 3))) is None  # 4 + 3 carries
True
>>> bounds = boundaries([4, 2, 6, 3])
>>> bounds, skipped(bounds, 16), skipped(bounds, 12)
([1, 4, 8, 48], (2, 2), (0, 12))
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Any

from layoutalg.layouts.layout import Layout, trusted
from layoutalg.tuples.int_tuple import flatten_tuple
from layoutalg.tuples.leaf import LIMIT

#: The boundaries are bisected if they are more than this; otherwise they are searched in order.
MANY = 16

#: The most levels of nesting of a result.
_LEVELS = 60


def quick_composition(a: Layout, b: Layout) -> Layout | None:
    """Return the composition of two layouts of integers; None if the operands need the general composition.

    >>> print(quick_composition(Layout((4, 8), (8, 1)), Layout((2, 4), (1, 4))))
    (2,4):(8,1)
    """
    shape, stride, profile = flatten_tuple(a.shape), flatten_tuple(a.stride), b.shape
    extents, steps = flatten_tuple(profile), flatten_tuple(b.stride)
    if {*map(type, shape), *map(type, stride), *map(type, extents), *map(type, steps)} != _NUMBERS:
        return None
    sizes, strides = coalesced(shape, stride)
    flat = _compose_leaves(sizes, strides, extents, steps)
    if flat is None:
        return None
    if type(profile) is not tuple:
        return trusted(flat[0][0], flat[1][0])
    if profile is extents:
        return trusted(tuple(flat[0]), tuple(flat[1]))
    nested = _nest(iter(flat[0]), iter(flat[1]), profile, _LEVELS)
    return trusted(*nested) if nested else None


def coalesced(shape: tuple[Any, ...], stride: tuple[Any, ...]) -> tuple[list[Any], list[Any]]:
    """Coalesce flat modes so that the function on all integers stays the same.

    A last mode of extent 1 is kept unless it continues the mode before it, because an index beyond the shape continues
    in the last mode.

    >>> coalesced((2, 3, 1), (4, 8, 5)), coalesced((2, 3, 1), (4, 8, 24))
    (([6, 1], [4, 5]), ([6], [4]))
    """
    if len(shape) == 1:
        return [*shape], [*stride]
    extents: list[Any] = []
    strides: list[Any] = []
    next_stride: Any = None  # the stride of a mode that continues the last one
    for s, d in zip(shape, stride):  # noqa: B905  # congruent
        if next_stride is not None and next_stride == d:
            extents[-1] *= s
            next_stride = s * next_stride
        elif s != 1:
            extents.append(s)
            strides.append(d)
            next_stride = s * d
    if not shape:
        return [1], [0]
    if shape[-1] == 1 and stride[-1] != next_stride:
        extents.append(1)
        strides.append(stride[-1])
    return extents, strides


def _compose_leaves(
    sizes: list[int], strides: list[int], extents: tuple[int, ...], steps: tuple[int, ...]
) -> tuple[list[Any], list[Any]] | None:
    """Return the extents and strides of the result for each leaf of b, or None for the general composition."""
    last = len(sizes) - 1
    bounds = boundaries(sizes) if last >= MANY else None
    reach = [0] * last  # for each mode of a but the last, the largest index in it that the pieces add up to
    shape: list[Any] = []
    stride: list[Any] = []
    bits = 0  # bitwise or of all strides: negative if a stride is, and otherwise at least as large as each of them
    for n, t in zip(extents, steps):  # noqa: B905  # congruent
        if n == 1 or t == 0:
            shape.append(n)
            stride.append(0)
            continue
        if t < 0:
            return None
        i = 0
        if bounds is not None:
            i, t = skipped(bounds, t)
        while i < last and t % sizes[i] == 0:
            t //= sizes[i]
            i += 1
        d = t * strides[i]
        if i < last:
            far = t * (n - 1)
            if far >= sizes[i]:
                pieces = _split(sizes, strides, n, t, i, reach)
                if pieces is None:
                    return None
                shape.append(pieces[0])
                stride.append(pieces[1])
                for d in pieces[1]:
                    bits |= d
                continue
            reach[i] += far
        bits |= d
        shape.append(n)
        stride.append(d)
    if not 0 <= bits <= LIMIT or (len(shape) > 1 and _carries(sizes, reach)):
        return None
    return shape, stride


def _carries(sizes: list[int], reach: list[int]) -> bool:
    """Check if the sums of all leaves reach a boundary."""
    total, boundary = 0, 1
    for size, far in zip(sizes, reach):  # noqa: B905  # all but the last
        total += far * boundary
        boundary *= size
        if total >= boundary:
            return True
    return False


def _split(
    sizes: list[int], strides: list[int], n: int, t: int, i: int, reach: list[int]
) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Split a leaf of n steps of size t that starts in mode i and goes beyond it, at the ends of the modes.

    Returns:
        The extents and strides of the pieces; None if a piece does not end at the end of a mode.
    """
    extents: list[int] = []
    steps: list[int] = []
    last = len(sizes) - 1
    while i < last and t * (n - 1) >= sizes[i]:
        count, rest = divmod(sizes[i], t)  # number of steps that go through the mode once
        if rest or n % count:
            return None
        extents.append(count)
        steps.append(t * strides[i])
        reach[i] += t * (count - 1)
        n //= count
        t = 1
        i += 1
    if n > 1:
        extents.append(n)
        steps.append(strides[i])
        if i < last:
            reach[i] += n - 1
    return tuple(extents), tuple(steps)


def _nest(
    extents: Iterator[Any], strides: Iterator[Any], profile: tuple[Any, ...], levels: int
) -> tuple[tuple[Any, ...], tuple[Any, ...]] | None:
    """Arrange the extents and strides of the leaves in the nesting of b; None if it has too many levels."""
    shape: list[Any] = []
    stride: list[Any] = []
    for item in profile:
        if type(item) is not tuple:
            shape.append(next(extents))
            stride.append(next(strides))
            continue
        below = _nest(extents, strides, item, levels - 1) if levels else None
        if below is None:
            return None
        shape.append(below[0])
        stride.append(below[1])
    return tuple(shape), tuple(stride)


def boundaries(extents: Sequence[int]) -> list[int]:
    """Return 1 and the prefix products of all extents except the last.

    >>> boundaries([2, 3, 4])
    [1, 2, 6]
    """
    products = [1]
    for extent in extents[:-1]:
        products.append(products[-1] * extent)
    return products


def skipped(bounds: Sequence[int], step: int) -> tuple[int, int]:
    """Return the number of modes whose total size divides a step, and the step divided by that size.

    Only the largest boundary that does not exceed the step is tried. If it does not divide the step, the result is
    ``(0, step)``, and the caller searches the modes in order.

    >>> skipped([1, 2, 6], 18)
    (2, 3)
    """
    modes = bisect_right(bounds, step) - 1
    quotient, rest = divmod(step, bounds[modes])
    return (0, step) if rest else (modes, quotient)


_NUMBERS = {int}
