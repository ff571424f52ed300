"""What is a layout, and what is not, decided by enumeration: forms, complements, divides and products.

Nothing here uses the algorithms of the algebra. A function on [0, n) is a layout in at most one coalesced way, found by
following it from 0, so that "no right answer exists" can be *decided*, not only assumed.

Law: the form of the values of a layout is its coalesced form.

>>> from layoutalg import Layout, coalesce
>>> form(values(Layout((2, (1, 6)), (1, (6, 2))))), print(coalesce(Layout((2, (1, 6)), (1, (6, 2)))))
12:1
([(12, 1)], None)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, TypeAlias

from layoutalg.laws.points import (
    Leaf,
    Plain,
    Point,
    TooLarge,
    after,
    count,
    digits,
    join,
    leaves,
    modes,
    pairs,
    plus,
    point,
    same,
    times,
    values,
)


def form(points: Sequence[Point]) -> list[Leaf] | None:
    """The unique coalesced layout of a function on [0, n) that maps 0 to 0, or None if it is no layout.

    The first stride is f(1); the first extent is the first index m with f(m) != m*f(1), and must divide n; then
    f(m*y + x) must be f(m*y) + x*f(1), and y -> f(m*y) is decided the same way.
    """
    parts: list[Leaf] = []
    rest = list(points)
    if not same(rest[0], 0):
        return None
    while len(rest) > 1:
        step = rest[1]
        extent = next((m for m in range(1, len(rest)) if not same(rest[m], times(m, step))), len(rest))
        if len(rest) % extent or not _is_stride(step):
            return None
        for start in range(0, len(rest), extent):
            if any(not same(rest[start + x], plus(rest[start], times(x, step))) for x in range(extent)):
                return None
        parts.append((extent, step))
        rest = rest[::extent]
    return parts


def _is_stride(step: Point) -> bool:
    return not isinstance(step, tuple) or len(step) <= 1


def shape_and_stride(parts: Sequence[Leaf]) -> tuple[Any, Any]:
    """Shape and stride of coalesced parts: 1:0 for none, an integer for one, a flat tuple for more."""
    if not parts:
        return 1, 0
    if len(parts) == 1:
        return parts[0]
    return tuple(s for s, _ in parts), tuple(d for _, d in parts)


def composition(a: Any, b_shape: Any, b_stride: Any) -> tuple[Any, Any] | None:
    """Shape and stride of the one R that refines B leaf by leaf with R(i) == A(B(i)) for every i, or None."""
    b_leaves = list(zip(leaves(b_shape), leaves(b_stride), strict=True))
    total = count(b_shape)
    if total > 4096:
        raise TooLarge
    results: list[list[Leaf]] = []
    columns: list[list[Point]] = []
    for extent, stride in b_leaves:
        step = point(stride)
        column = [after(a, times(x, step)) for x in range(extent)]
        parts = form(column)
        if parts is None:
            return None
        results.append(parts)
        columns.append(column)
    extents = [s for s, _ in b_leaves]
    for index in range(total):
        where: Point = 0
        image: Point = 0
        for digit, (_, stride), column in zip(digits(index, extents), b_leaves, columns, strict=True):
            where = plus(where, times(digit, point(stride)))
            image = plus(image, column[digit])
        if not same(after(a, where), image):
            return None
    iterator = iter(results)
    return _refined(b_shape, iterator)


def _refined(shape: Any, results: Any) -> tuple[Any, Any]:
    if not isinstance(shape, tuple):
        return shape_and_stride(next(results))
    modes = [_refined(item, results) for item in shape]
    return tuple(s for s, _ in modes), tuple(d for _, d in modes)


def complement(parts: Sequence[Leaf], cotarget: int) -> list[Leaf] | None:
    """The sorted R whose sums with A are unique and reach the cotarget in whole periods, or None if there is none.

    Where (A, R) can fill an interval [0, N) it must; where it cannot, A is padded.
    """
    filling = tiling(parts, cotarget)
    return slots(parts, cotarget) if filling is None else filling


def slots(parts: Sequence[Leaf], cotarget: int, limit: int = 20000) -> list[Leaf] | None:
    """R by looking for room, mode by mode: whole copies of all that lies below a stride, as many as end below it."""
    moving = sorted((stride, extent) for extent, stride in parts if extent > 1 and stride)
    starts, period, image = [0], 1, [0]
    for stride, extent in [*moving, (0, 1)]:
        bound = stride or cotarget + period - 1  # after the last mode: until whole periods reach the cotarget
        room = [copy * period for copy in range(bound // period) if copy * period + period <= bound]
        if not room or stride < 0:
            return None
        starts = [start + more for more in room for start in starts]
        image = [p + x * stride for x in range(extent) for p in image]
        period = stride * extent
        if len(starts) * len(image) > limit:
            raise TooLarge
    sums = [start + p for start in starts for p in image]
    return form(starts) if len(set(sums)) == len(sums) else None


def tiling(parts: Sequence[Leaf], cotarget: int, limit: int = 20000) -> list[Leaf] | None:
    """The sorted R that makes (A, R) a bijection onto [0, N), N >= cotarget least, or None if there is none.

    By greedy tiling: the smallest offset not yet covered must be the next value of R, because A's smallest is 0.
    """
    image = [0]
    for extent, stride in parts:
        if extent > 1 and stride:
            if stride < 0:
                return None
            image = [p + x * stride for x in range(extent) for p in image]
    if len(set(image)) != len(image):
        return None
    covered: set[int] = set()
    starts = []
    lowest = 0
    top = -1
    while not (lowest == top + 1 and lowest >= cotarget):
        tile = {lowest + p for p in image}
        if covered & tile:
            return None
        covered |= tile
        starts.append(lowest)
        top = max(top, lowest + max(image))
        while lowest in covered:
            lowest += 1
        if len(covered) > limit:
            raise TooLarge
    return form(starts)


def divide(a: Any, b_shape: Any, b_stride: Any) -> tuple[Any, Any] | None:
    """Shape and stride of A o (B, complement(B, size(A))) where that keeps A's size, or None."""
    size = count(a.shape)
    rest = tiling(list(zip(leaves(b_shape), leaves(b_stride), strict=True)), size)
    if rest is None or count(b_shape) * count(tuple(s for s, _ in rest)) != size:
        return None
    rest_shape, rest_stride = shape_and_stride(rest)
    return composition(a, (b_shape, rest_shape), (b_stride, rest_stride))


def beyond(block: Any, tiler: Any) -> list[Leaf] | None:
    """The complement of a block that the tiler's indices run through, or None if there is none."""
    reach = 1 + sum((extent - 1) * abs(stride) for extent, stride in pairs(tiler))
    target = count(block.shape) * reach
    rest = complement(pairs(block), target)
    while rest is not None and prod(extent for extent, _ in rest) < reach:  # padded: a period holds fewer copies
        target *= 2
        rest = complement(pairs(block), target)
    return rest


def product(a: Any, b_shape: Any, b_stride: Any) -> tuple[Any, Any] | None:
    """Shape and stride of (A, the complement of A as far as B reaches, o B), or None, also where two copies overlap."""
    rest = beyond(a, Plain(b_shape, b_stride))
    if rest is None:
        return None
    rest_shape, rest_stride = shape_and_stride(rest)
    tiles = composition(Plain(rest_shape, rest_stride), b_shape, b_stride)
    if tiles is None or _overlap(values(a), values(Plain(*tiles)), values(Plain(b_shape, b_stride))):
        return None
    return (a.shape, tiles[0]), (a.stride, tiles[1])


def _overlap(block: list[Any], copies: list[Any], places: list[Any]) -> bool:
    """Whether an offset belongs to two copies; copies at one place are one."""
    owner: dict[Any, Any] = {}
    whole = [(start + x, (x, place)) for start, place in zip(copies, places, strict=True) for x in block]
    return any(owner.setdefault(offset, of) != of for offset, of in whole)


def injective(layout: Any) -> bool:
    """Whether no two coordinates share a point."""
    image = values(layout)
    return len(set(image)) == len(image)


#: A divide or product of one mode: the operand, and shape and stride of the tiler.
Split: TypeAlias = Callable[[Any, Any, Any], "tuple[Any, Any] | None"]


def split(target: Any, tiler: Any, by: Split) -> Any:
    """A logical divide or product of a plain layout: a Plain, or None."""
    if tiler is None:
        return target
    if isinstance(tiler, tuple):
        if len(tiler) > len(modes(target)):
            return None
        parts = [split(mode, tile, by) for mode, tile in zip(modes(target), tiler, strict=False)]
        return None if None in parts else join([*parts, *modes(target)[len(tiler) :]])
    tile = tiler if hasattr(tiler, "shape") else Plain(tiler, 1)
    result = by(target, tile.shape, tile.stride)
    return None if result is None else Plain(*result)
