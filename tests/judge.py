"""An independent judge of layouts: functions evaluated one index at a time, laws decided by enumeration.

Nothing here uses the algorithms of the package under test. A layout is read through its ``shape`` and ``stride``, a
composed layout through ``outer``, ``offset`` and ``inner``, a swizzle through ``bits``, ``base`` and ``shift``; the
rest is arithmetic on the definition. The key fact is :func:`form`: a function on [0, n) is a layout in at most one
coalesced way, found by following it from 0, so "no right answer exists" can be *decided*, not only assumed.

A *point* is what a layout maps to: an integer, or, for basis strides, the sorted tuple of its non-zero
``(path, coefficient)`` pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Point = Any
Leaf = tuple[int, Any]


class TooLarge(Exception):
    """The enumeration would be too long to be worth it; the case proves nothing."""


def leaves(value: Any) -> list[Any]:
    """The leaves of a nested tuple, left to right."""
    if isinstance(value, tuple):
        return [leaf for item in value for leaf in leaves(item)]
    return [value]


def count(shape: Any) -> int:
    """How many coordinates a shape has."""
    total = 1
    for extent in leaves(shape):
        total *= extent
    return total


def pairs(layout: Any) -> list[Leaf]:
    """The (extent, stride) pairs of a plain layout, left to right."""
    return list(zip(leaves(layout.shape), leaves(layout.stride), strict=True))


# Points ---------------------------------------------------------------------------------------------------------


def point(value: Any) -> Point:
    """A call's result, a stride or a coordinate as a point."""
    if isinstance(value, tuple):
        terms: dict[tuple[int, ...], int] = {}
        _walk(value, (), terms)
        return tuple(sorted(terms.items()))
    if hasattr(value, "mode"):
        return ((value.mode, value.value),) if value.value else ()
    return value


def _walk(value: Any, path: tuple[int, ...], terms: dict[tuple[int, ...], int]) -> None:
    if isinstance(value, tuple):
        for position, item in enumerate(value):
            _walk(item, (*path, position), terms)
    elif value:
        terms[path] = value


def plus(a: Point, b: Point) -> Point:
    """The sum of two points; the integer 0 is the origin of both kinds."""
    if isinstance(a, tuple) or isinstance(b, tuple):
        terms = dict(a or ())
        for path, coefficient in b or ():
            terms[path] = terms.get(path, 0) + coefficient
        return tuple(sorted((path, c) for path, c in terms.items() if c))
    return a + b


def times(factor: int, a: Point) -> Point:
    """A point scaled by an integer."""
    if isinstance(a, tuple):
        return tuple((path, factor * c) for path, c in a) if factor else ()
    return factor * a


def same(a: Point, b: Point) -> bool:
    """Whether two points are equal; the origin may be written 0 or ()."""
    return (a or 0) == (b or 0)


# Evaluation -----------------------------------------------------------------------------------------------------


def digits(index: int, extents: Sequence[int]) -> list[int]:
    """The colexicographic digits of an index; the last mode takes all that is left."""
    result = []
    for extent in extents[:-1]:
        result.append(index % extent)
        index //= extent
    return [*result, index] if extents else []


def line(parts: Sequence[Leaf], index: int) -> Point:
    """The function of a list of modes at any integer: odd, and the last mode runs on to infinity."""
    total: Point = 0
    for digit, (_, stride) in zip(digits(abs(index), [s for s, _ in parts]), parts, strict=True):
        total = plus(total, times(digit, point(stride)))
    return times(-1, total) if index < 0 else total


def swizzled(swizzle: Any, offset: int) -> int:
    """A swizzle at an offset, bit by bit."""
    source = swizzle.base + max(swizzle.shift, 0)
    target = swizzle.base + max(-swizzle.shift, 0)
    result = offset
    for bit in range(swizzle.bits):
        result ^= ((offset >> (source + bit)) & 1) << (target + bit)
    return result


def after(function: Any, value: Point) -> Point:
    """A swizzle, layout or composed layout at a point: the extended function, or the modes that a vector addresses."""
    if hasattr(function, "bits"):
        return swizzled(function, value)
    if hasattr(function, "inner"):
        return after(function.outer, plus(point(function.offset), after(function.inner, value)))
    if not isinstance(value, tuple):
        return line(pairs(function), value)
    total: Point = 0
    for path, coefficient in value:
        shape, stride = function.shape, function.stride
        for part in path:
            shape, stride = shape[part], stride[part]
        total = plus(total, line(list(zip(leaves(shape), leaves(stride), strict=True)), coefficient))
    return total


def at(layout: Any, index: int) -> Point:
    """A layout or composed layout at an index of its domain (or beyond: the extended function)."""
    return after(layout, index)


def values(layout: Any) -> list[Point]:
    """Every point of a layout, in the colexicographic order of its domain."""
    total = count(layout.shape)
    if total > 1 << 16:
        raise TooLarge
    return [at(layout, index) for index in range(total)]


def at_coordinate(layout: Any, coordinate: Any) -> Point:
    """A layout at a (nested) coordinate, by ranking the coordinate first."""
    return at(layout, rank_of(coordinate, layout.shape))


def rank_of(coordinate: Any, shape: Any) -> int:
    """The colexicographic index of a coordinate."""
    if not isinstance(coordinate, tuple):
        return int(coordinate)
    index, weight = 0, 1
    for item, extent in zip(coordinate, shape, strict=True):
        index += weight * rank_of(item, extent)
        weight *= count(extent)
    return index


# Deciders -------------------------------------------------------------------------------------------------------


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


def written(parts: Sequence[Leaf]) -> tuple[Any, Any]:
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
        expected: Point = 0
        for digit, (_, stride), column in zip(digits(index, extents), b_leaves, columns, strict=True):
            where = plus(where, times(digit, point(stride)))
            expected = plus(expected, column[digit])
        if not same(after(a, where), expected):
            return None
    iterator = iter(results)
    return _refined(b_shape, iterator)


def _refined(shape: Any, results: Any) -> tuple[Any, Any]:
    if not isinstance(shape, tuple):
        return written(next(results))
    modes = [_refined(item, results) for item in shape]
    return tuple(s for s, _ in modes), tuple(d for _, d in modes)


def complement(parts: Sequence[Leaf], cotarget: int, limit: int = 20000) -> list[Leaf] | None:
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
    rest = complement(list(zip(leaves(b_shape), leaves(b_stride), strict=True)), size)
    if rest is None or count(b_shape) * count(tuple(s for s, _ in rest)) != size:
        return None
    rest_shape, rest_stride = written(rest)
    return composition(a, (b_shape, rest_shape), (b_stride, rest_stride))


def product(a: Any, b_shape: Any, b_stride: Any) -> tuple[Any, Any] | None:
    """Shape and stride of (A, complement(A, size(A)*cosize(B)) o B), or None."""
    b_parts = list(zip(leaves(b_shape), leaves(b_stride), strict=True))
    reach = 1 + sum((s - 1) * abs(d) for s, d in b_parts)
    rest = complement(pairs(a), count(a.shape) * reach)
    if rest is None:
        return None
    rest_shape, rest_stride = written(rest)
    tiles = composition(Plain(rest_shape, rest_stride), b_shape, b_stride)
    return None if tiles is None else ((a.shape, tiles[0]), (a.stride, tiles[1]))


class Plain:
    """A bare shape and stride, for the judge's own use."""

    def __init__(self, shape: Any, stride: Any) -> None:
        self.shape = shape
        self.stride = stride


def injective(layout: Any) -> bool:
    """Whether no two coordinates share a point."""
    image = values(layout)
    return len(set(image)) == len(image)


# Comparison of texts --------------------------------------------------------------------------------------------


def plain_text(shape: Any, stride: Any) -> str:
    """Notation of a layout with the strides of its extent-1 modes written 0: they are never used."""
    return f"{_shape_text(shape)}:{_stride_text(shape, stride)}"


def _shape_text(shape: Any) -> str:
    return "(" + ",".join(map(_shape_text, shape)) + ")" if isinstance(shape, tuple) else str(shape)


def _stride_text(shape: Any, stride: Any) -> str:
    if isinstance(shape, tuple):
        return "(" + ",".join(_stride_text(s, d) for s, d in zip(shape, stride, strict=True)) + ")"
    step = 0 if shape == 1 else stride if isinstance(stride, tuple) else point(stride)
    if isinstance(step, tuple):
        return "@".join([str(step[0][1]), *map(str, reversed(step[0][0]))]) if step else "0"
    return str(step)


def normal(value: Any) -> str:
    """Notation of a layout or composed layout, strides of extent-1 modes aside."""
    if hasattr(value, "bits"):
        return f"S<{value.bits},{value.base},{value.shift}>"
    if hasattr(value, "inner"):
        outer = normal(value.outer)
        return f"{f'({outer})' if hasattr(value.outer, 'inner') else outer} o {value.offset} o {normal(value.inner)}"
    return plain_text(value.shape, value.stride)


def offsets_match(layout: Any, expected: Callable[[int], Point]) -> bool:
    """Whether a layout takes the expected point at every index of its domain."""
    return all(same(point_at, expected(index)) for index, point_at in enumerate(values(layout)))
