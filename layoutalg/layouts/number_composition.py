"""Composition of layouts of numbers, the quick way: one walk over the leaves of b, for what is nearly always asked.

The theorem is that of :mod:`layoutalg.layouts.plain_composition`, where every step stands by itself; here the same walk
finds the modes of the result and how far they reach below each boundary. A leaf n:t that lands in mode i of a, after
whole turns of the modes below, is a multiple of their boundary P_i, the product of their extents: it adds nothing at
the boundaries up to P_i, and t * (n - 1) at all above. So the boundaries are clean if the sums, from the lowest mode
on, stay below the next one.

Where a leaf lands is found by a walk over the modes or, from seventeen on, by bisection of their boundaries, each of
which divides the next: r modes with p pieces take O(p log r + r). What this does not decide it leaves alone: symbols,
basis strides, negative strides, a leaf that no whole turns divide, sums that carry, results that might not fit 64 bits.

Law: where it has an answer, that is the answer of the theorem.

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

#: From more modes on than this the boundaries are bisected, not walked.
MANY = 16

#: Levels of nesting that are put together here.
_LEVELS = 60


def quick_composition(a: Layout, b: Layout) -> Layout | None:
    """The composition of two layouts of numbers, which fits 64 bits; None of what must be looked at more closely.

    >>> print(quick_composition(Layout((4, 8), (8, 1)), Layout((2, 4), (1, 4))))
    (2,4):(8,1)
    """
    shape, stride, profile = flatten_tuple(a.shape), flatten_tuple(a.stride), b.shape
    extents, steps = flatten_tuple(profile), flatten_tuple(b.stride)
    if {*map(type, shape), *map(type, stride), *map(type, extents), *map(type, steps)} != _NUMBERS:
        return None
    sizes, strides = coalesced(shape, stride)
    flat = _walked(sizes, strides, extents, steps)
    if flat is None:
        return None
    if type(profile) is not tuple:
        return trusted(flat[0][0], flat[1][0])
    if profile is extents:
        return trusted(tuple(flat[0]), tuple(flat[1]))
    nested = _nested(iter(flat[0]), iter(flat[1]), profile, _LEVELS)
    return trusted(*nested) if nested else None


def coalesced(shape: tuple[Any, ...], stride: tuple[Any, ...]) -> tuple[list[Any], list[Any]]:
    """Flat modes, coalesced as a function on all integers.

    A last mode of extent 1 stays unless it continues the one before it: beyond the shape, the index runs on in it.

    >>> coalesced((2, 3, 1), (4, 8, 5)), coalesced((2, 3, 1), (4, 8, 24))
    (([6, 1], [4, 5]), ([6], [4]))
    """
    if len(shape) == 1:
        return [*shape], [*stride]
    extents: list[Any] = []
    strides: list[Any] = []
    goes_on: Any = None
    for s, d in zip(shape, stride):  # noqa: B905  # congruent
        if goes_on is not None and goes_on == d:
            extents[-1] *= s
            goes_on = s * goes_on
        elif s != 1:
            extents.append(s)
            strides.append(d)
            goes_on = s * d
    if not shape:
        return [1], [0]
    if shape[-1] == 1 and stride[-1] != goes_on:
        extents.append(1)
        strides.append(stride[-1])
    return extents, strides


def _walked(
    sizes: list[int], strides: list[int], extents: tuple[int, ...], steps: tuple[int, ...]
) -> tuple[list[Any], list[Any]] | None:
    """The modes of the result for each leaf of b."""
    last = len(sizes) - 1
    bounds = boundaries(sizes) if last >= MANY else None
    reach = [0] * last  # how far what lands in a mode goes in it, by mode but the last
    shape: list[Any] = []
    stride: list[Any] = []
    bits = 0  # of all strides: negative if one is, and not less than the greatest
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
    """Whether the sums of all leaves reach a boundary that none reaches by itself."""
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
    """A leaf that begins in mode i and goes beyond it, with t steps of that mode each: a piece for each whole turn."""
    extents: list[int] = []
    steps: list[int] = []
    last = len(sizes) - 1
    while i < last and t * (n - 1) >= sizes[i]:
        turn, rest = divmod(sizes[i], t)  # so many steps go through the mode once
        if rest or n % turn:
            return None
        extents.append(turn)
        steps.append(t * strides[i])
        reach[i] += t * (turn - 1)
        n //= turn
        t = 1
        i += 1
    if n > 1:
        extents.append(n)
        steps.append(strides[i])
        if i < last:
            reach[i] += n - 1
    return tuple(extents), tuple(steps)


def _nested(
    extents: Iterator[Any], strides: Iterator[Any], profile: tuple[Any, ...], levels: int
) -> tuple[tuple[Any, ...], tuple[Any, ...]] | None:
    """What each leaf became, in the nesting of b; None of what is nested deeply."""
    shape: list[Any] = []
    stride: list[Any] = []
    for item in profile:
        if type(item) is not tuple:
            shape.append(next(extents))
            stride.append(next(strides))
            continue
        below = _nested(extents, strides, item, levels - 1) if levels else None
        if below is None:
            return None
        shape.append(below[0])
        stride.append(below[1])
    return tuple(shape), tuple(stride)


def boundaries(extents: Sequence[int]) -> list[int]:
    """The prefix products of all extents but the last, from 1 on.

    >>> boundaries([2, 3, 4])
    [1, 2, 6]
    """
    products = [1]
    for extent in extents[:-1]:
        products.append(products[-1] * extent)
    return products


def skipped(bounds: Sequence[int], step: int) -> tuple[int, int]:
    """How many modes a step makes whole turns of, by the greatest boundary that it reaches, and the step in the next.

    (0, step) where it is no multiple of that boundary, so that only a walk tells.

    >>> skipped([1, 2, 6], 18)
    (2, 3)
    """
    where = bisect_right(bounds, step) - 1
    turns, rest = divmod(step, bounds[where])
    return (0, step) if rest else (where, turns)


_NUMBERS = {int}
