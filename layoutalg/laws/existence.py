"""Decide by enumeration if a function is a layout, and if a composition, complement, divide or product exists.

This module does not use the algorithms of the algebra. A function on [0, n) has at most one coalesced layout, which is
found by following its values from 0. The non-existence of an answer can therefore be decided.

Invariant: the form of the values of a layout is its coalesced form.

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
    NoAnswerError,
    Plain,
    Point,
    TooLargeError,
    after,
    count,
    digits,
    items,
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
    """Return the unique coalesced layout of a function on [0, n), or None if it is not a layout.

    f(0) must be 0. The first stride is f(1). The first extent is the first index m with f(m) != m*f(1); it must divide
    n. Then f(m*y + x) must be f(m*y) + x*f(1), and the function y -> f(m*y) is decided in the same way.
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


class Unit:
    """A basis stride: a number of steps along the mode of the coordinate at a path."""

    def __init__(self, value: int, mode: tuple[int, ...]) -> None:
        self.value = value
        self.mode = mode


def as_stride(step: Point) -> Any:
    """Return the stride of a step that :func:`form` accepts: an integer, or a basis stride."""
    if not isinstance(step, tuple):
        return step
    return Unit(step[0][1], step[0][0]) if step else 0


def _is_stride(step: Point) -> bool:
    return not isinstance(step, tuple) or len(step) <= 1


def shape_and_stride(parts: Sequence[Leaf]) -> tuple[Any, Any]:
    """Return shape and stride of coalesced parts: 1:0 for none, integers for one, flat tuples for more."""
    if not parts:
        return 1, 0
    if len(parts) == 1:
        return parts[0]
    return tuple(s for s, _ in parts), tuple(d for _, d in parts)


def composition(a: Any, b_shape: Any, b_stride: Any) -> tuple[Any, Any] | None:
    """Return shape and stride of the unique R that refines B leaf by leaf with R(i) == A(B(i)) for every i, or None."""
    b_leaves = list(zip(leaves(b_shape), leaves(b_stride), strict=True))
    total = count(b_shape)
    if total > 4096:
        raise TooLargeError
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
        b_value: Point = 0
        image: Point = 0
        for digit, (_, stride), column in zip(digits(index, extents), b_leaves, columns, strict=True):
            b_value = plus(b_value, times(digit, point(stride)))
            image = plus(image, column[digit])
        if not same(after(a, b_value), image):
            return None
    return _refine(b_shape, iter(results))


def _refine(shape: Any, results: Any) -> tuple[Any, Any]:
    """Return shape and stride with the results of the leaves in the nesting of a shape."""
    if not isinstance(shape, tuple):
        return shape_and_stride([(s, as_stride(d)) for s, d in next(results)])
    modes = [_refine(item, results) for item in shape]
    return tuple(s for s, _ in modes), tuple(d for _, d in modes)


def complement(parts: Sequence[Leaf], cotarget: int) -> list[Leaf] | None:
    """Return the sorted R whose sums with A are unique and reach the cotarget in whole periods, or None.

    If (A, R) can fill an interval [0, N), it must. Otherwise A is padded.
    """
    filling = tiling(parts, cotarget)
    return slots(parts, cotarget) if filling is None else filling


def slots(parts: Sequence[Leaf], cotarget: int, limit: int = 20000) -> list[Leaf] | None:
    """Return R for a padded A, or None if there is none.

    For each mode, R has as many copies of all modes below its stride as end at or before the stride.
    """
    by_stride = sorted((stride, extent) for extent, stride in parts if extent > 1 and stride)
    starts, period, image = [0], 1, [0]
    for stride, extent in [*by_stride, (0, 1)]:
        bound = stride or cotarget + period - 1  # after the last mode, whole periods must reach the cotarget
        copies = [copy * period for copy in range(bound // period) if copy * period + period <= bound]
        if not copies or stride < 0:
            return None
        starts = [start + copy for copy in copies for start in starts]
        image = [p + x * stride for x in range(extent) for p in image]
        period = stride * extent
        if len(starts) * len(image) > limit:
            raise TooLargeError
    sums = [start + p for start in starts for p in image]
    return form(starts) if len(set(sums)) == len(sums) else None


def tiling(parts: Sequence[Leaf], cotarget: int, limit: int = 20000) -> list[Leaf] | None:
    """Return the sorted R that makes (A, R) a bijection onto [0, N), for the least N >= cotarget, or None.

    The tiling is greedy: the smallest offset that is not covered must be the next value of R, because the smallest
    offset of A is 0.
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
            raise TooLargeError
    return form(starts)


def divide(a: Any, b_shape: Any, b_stride: Any, round_up: bool = False) -> tuple[Any, Any] | None:
    """Return shape and stride of A o (B, complement(B, size(A))), or None if it does not have the size of A.

    With ``round_up``, it may have more elements, which are those of A extended beyond its last mode.
    """
    rest = tiles_of(Plain(b_shape, b_stride), a.shape)
    if rest is None or (not round_up and count(b_shape) * count(rest.shape) != count(a.shape)):
        return None
    return composition(a, (b_shape, rest.shape), (b_stride, rest.stride))


def tiles_of(tiler: Any, shape: Any) -> Plain | None:
    """Return the layout of the tiles that cover a shape without gaps, or None if there is none."""
    parts = by_axis(tiler)
    targets: dict[tuple[int, ...], int] = {(): count(shape)}
    if () not in parts:
        targets = targets_of(items(shape), tuple(parts))
    rests = {path: tiling(parts.get(path, []), targets.get(path, 1)) for path in {**targets, **parts}}
    return None if None in rests.values() else from_axes(rests)


def beyond(block: Any, tiler: Any) -> Plain | None:
    """Return the complement of a block that is large enough for the indices of the tiler, or None if there is none.

    The complement of a block with basis strides has a mode for each mode of the coordinate. The last of them is
    extended, or each as far as the tiler needs if it has basis strides too.
    """
    parts, reaches = by_axis(block), {path: _reach(leaf_pairs) for path, leaf_pairs in by_axis(tiler).items()}
    if () in parts:
        reaches = {(): prod(reaches.values())}
    last = max({*parts, *reaches})
    if () in reaches and last:
        inner = {path: complement(leaf_pairs, 1) for path, leaf_pairs in parts.items() if path != last}
        gaps = [prod(s for s, _ in rest) for rest in inner.values() if rest is not None]
        reaches = {last: -(-reaches[()] // prod(gaps))}
    rests = {path: _copies(parts.get(path, []), reaches.get(path, 1)) for path in {*parts, *reaches}}
    return None if None in rests.values() else from_axes(rests)


def _reach(leaf_pairs: Sequence[Leaf]) -> int:
    return 1 + sum((extent - 1) * abs(int(stride)) for extent, stride in leaf_pairs)


def _copies(parts: Sequence[Leaf], number: int) -> list[Leaf] | None:
    """Return the complement that has at least this number of copies."""
    target = prod(extent for extent, stride in parts if stride) * number if number > 1 else 1
    rest = complement(parts, target)
    while (
        rest is not None and prod(extent for extent, _ in rest) < number
    ):  # a padded block has fewer copies per period
        target *= 2
        rest = complement(parts, target)
    return rest


def by_axis(layout: Any) -> dict[tuple[int, ...], list[Leaf]]:
    """Return the modes of a layout by the path that their strides name, which is () for integer strides."""
    named = [stride.mode for _, stride in pairs(layout) if hasattr(stride, "mode")]
    axes: dict[tuple[int, ...], list[Leaf]] = {path: [] for path in named} or {(): []}
    for extent, stride in pairs(layout):
        if hasattr(stride, "mode"):
            axes[stride.mode].append((extent, stride.value))
        elif () in axes:
            axes[()].append((extent, stride))
        elif stride and extent > 1:
            raise NoAnswerError
    return axes


def from_axes(rests: dict[tuple[int, ...], Any]) -> Plain:
    """Return the layout whose mode at each path has the given modes along this path."""
    if () in rests:
        return Plain(*shape_and_stride(rests[()]))
    shapes, strides = {}, {}
    for path, parts in rests.items():
        shapes[path], strides[path] = shape_and_stride([(s, Unit(d, path)) for s, d in parts])
    return Plain(_nested(shapes, 1), _nested(strides, 0))


def _nested(values_by_path: dict[tuple[int, ...], Any], missing: Any) -> Any:
    if () in values_by_path:
        return values_by_path[()]
    first = max(path[0] for path in values_by_path)
    groups = [{path[1:]: v for path, v in values_by_path.items() if path[0] == k} for k in range(first + 1)]
    return tuple(_nested(group, missing) if group else missing for group in groups)


def targets_of(shape: Any, named: Sequence[tuple[int, ...]], path: tuple[int, ...] = ()) -> dict[tuple[int, ...], int]:
    """Return the extent of each mode of a shape at a path that strides name, and of each other leaf."""
    if path in named or not isinstance(shape, tuple):
        if path not in named and any(other[: len(path)] == path for other in named):
            raise NoAnswerError
        return {path: count(shape)}
    result: dict[tuple[int, ...], int] = {}
    for k, mode in enumerate(shape):
        result |= targets_of(mode, named, (*path, k))
    return result


def basis_complement(layout: Any, cotarget: Any) -> Plain | None:
    """Return the complement of a layout with basis strides up to the extents of a shape, or None if there is none."""
    parts = by_axis(layout)
    whole = cotarget if isinstance(cotarget, tuple) else (cotarget,)
    targets = targets_of(whole, tuple(parts)) if cotarget != 1 else {}
    rests = {path: complement(parts.get(path, []), targets.get(path, 1)) for path in {**targets, **parts}}
    return None if None in rests.values() else from_axes(rests)


def product(a: Any, b_shape: Any, b_stride: Any) -> tuple[Any, Any] | None:
    """Return shape and stride of (A, complement of A o B), or None if it does not exist or two copies overlap."""
    rest = beyond(a, Plain(b_shape, b_stride))
    if rest is None:
        return None
    tiles = composition(rest, b_shape, b_stride)
    if tiles is None or _overlap(values(a), values(Plain(*tiles)), values(Plain(b_shape, b_stride))):
        return None
    return (a.shape, tiles[0]), (a.stride, tiles[1])


def _overlap(block: list[Any], copies: list[Any], numbers: list[Any]) -> bool:
    """Check if an offset belongs to two copies; copies with the same number are one copy."""
    owners: dict[Any, Any] = {}
    elements = [(start + x, (x, number)) for start, number in zip(copies, numbers, strict=True) for x in block]
    return any(owners.setdefault(offset, owner) != owner for offset, owner in elements)


def injective(layout: Any) -> bool:
    """Check if no two coordinates have the same point."""
    image = values(layout)
    return len(set(image)) == len(image)


#: A divide or product of one mode, a function of the operand and of shape and stride of the tiler.
Split: TypeAlias = Callable[[Any, Any, Any], "tuple[Any, Any] | None"]


def split(target: Any, tiler: Any, by: Split) -> Any:
    """Return the logical divide or product of a plain layout by a tiler, or None if it does not exist."""
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
