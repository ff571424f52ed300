"""Layouts as functions, evaluated one index at a time, and plans: what each piece of a result has to stand for.

A layout is read through its ``shape`` and ``stride``, a composed layout through ``outer``, ``offset`` and ``inner``, a
swizzle through ``bits``, ``base`` and ``shift``, a basis stride through ``value`` and ``mode``: any value that has them
will do. A *point* is what a layout maps to: an integer, or, for basis strides, the sorted tuple of its non-zero
``(path, coefficient)`` pairs.

A *plan* is a tree of parts, one for each piece of the result's shape; a part says which points its coordinates stand
for. The result must have that tree (each piece refined as it likes) and, at every coordinate, the value that the sum of
the points has under the operand. These are notes of a law while it judges, and no values: a plan holds a function.

Laws: a layout's own call and this evaluation agree, though neither calls the other; nothing is wrong where a result and
its plan have the same points.

>>> from layoutalg import Layout
>>> layout = Layout((4, (2, 4)), (2, (1, 8)))
>>> values(layout) == [layout(index) for index in range(32)]
True
>>> first_difference([0, 2, 4], [0, 2, 4]), first_difference([0, 2, 5], [0, 2, 4])
(None, 'is 5 at index 2, must be 4')
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product as pairings
from math import prod
from typing import Any

from layoutalg.frozen import frozen

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


class Plain:
    """A bare shape and stride, as the judge makes one."""

    def __init__(self, shape: Any, stride: Any) -> None:
        self.shape = shape
        self.stride = stride


class Composite:
    """A composed layout, as the judge makes one."""

    def __init__(self, outer: Any, offset: Any, inner: Any) -> None:
        self.outer = outer
        self.offset = offset
        self.inner = inner

    @property
    def shape(self) -> Any:
        """The shape of the rightmost layout, whose coordinates these are."""
        return self.inner.shape


def inner(layout: Any) -> Any:
    """The layout that carries the domain."""
    return layout.inner if hasattr(layout, "inner") else layout


def under(layout: Any, plain: Any) -> Any:
    """Another rightmost layout under the swizzle (or other function) of ``layout``, where there is one."""
    return Composite(layout.outer, layout.offset, plain) if hasattr(layout, "inner") else plain


def items(value: Any) -> tuple[Any, ...]:
    """The top modes of a shape, stride or coordinate; a leaf is the only one of its own."""
    return value if isinstance(value, tuple) else (value,)


def modes(layout: Any) -> list[Plain]:
    """The top modes of a plain layout."""
    return [Plain(s, d) for s, d in zip(items(layout.shape), items(layout.stride), strict=True)]


def congruent(a: Any, b: Any) -> bool:
    """Whether two nested tuples have the same nesting."""
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(congruent, a, b))
    return not isinstance(a, tuple) and not isinstance(b, tuple)


def nested_like(flat: Iterator[Any], profile: Any) -> Any:
    """Leaves in the nesting of a profile."""
    return tuple(nested_like(flat, part) for part in profile) if isinstance(profile, tuple) else next(flat)


def join(parts: Sequence[Any]) -> Plain:
    """Plain layouts as the modes of one."""
    return Plain(tuple(part.shape for part in parts), tuple(part.stride for part in parts))


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
            shape, stride = items(shape)[part], items(stride)[part]
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


Value = Callable[[Any], Any]

MOST = 1 << 16


class NoAnswer(Exception):
    """No layout satisfies the definition, so far as the plan can tell."""


@frozen
class Part:
    """A piece of the result: its coordinates stand for ``points``; ``shape`` is what the piece must refine.

    With ``whole`` the piece must have that very shape.
    """

    points: list[Any]
    shape: Any = None
    whole: bool = False


@frozen
class Merged:
    """Parts that share one mode of the result, whose inner structure is free."""

    parts: tuple[Part, ...]


@frozen
class Plan:
    """The tree of parts, what a sum of points is worth, and where a fixed part of the coordinate stands."""

    tree: Any
    value: Value
    fixed: Any = ()


def misfit(result: Any, plan: Plan, offset: Any = 0, free_offset: bool = False) -> str | None:
    """Where a result breaks a plan first: its tree, or its value at an index; None if nowhere.

    With ``free_offset`` some constant may be missing everywhere, as in a slice without its offset.
    """
    if not _has_tree(result.shape, plan.tree):
        return f"has a shape that does not refine {_counts(plan.tree)}, found {_counts(result.shape)}"
    right = expected_values(plan)
    mine = [plus(value, offset) for value in values(result)]
    if free_offset:
        apart = plus(right[0], times(-1, mine[0]))
        mine = [plus(value, apart) for value in mine]
    return first_difference(mine, right)


def first_difference(points: list[Any], definition: list[Any]) -> str | None:
    """The first index at which two lists of points differ, as a sentence."""
    if len(points) != len(definition):
        return f"has {len(points)} elements, must have {len(definition)}"
    for index, (mine, right) in enumerate(zip(points, definition, strict=True)):
        if not same(mine, right):
            return f"is {mine} at index {index}, must be {right}"
    return None


def expected_values(plan: Plan) -> list[Any]:
    """The value at every coordinate of a plan, in colexicographic order: the first part runs fastest."""
    parts = list(_parts(plan.tree))
    if prod(len(part.points) for part in parts) > MOST:
        raise TooLarge
    totals = []
    for points in pairings(*(part.points for part in reversed(parts))):
        total = plan.fixed
        for point in points:
            total = plus(total, point)
        totals.append(plan.value(total))
    return totals


def _parts(tree: Any) -> Iterator[Part]:
    if isinstance(tree, Part):
        yield tree
    else:
        for item in tree.parts if isinstance(tree, Merged) else tree:
            yield from _parts(item)


def _counts(tree: Any) -> str:
    """How many elements each mode must have, or has: a shape if one is asked for, else what a part stands for."""
    if isinstance(tree, Part):
        return str(len(tree.points)) if tree.shape is None else _counts(tree.shape)
    if isinstance(tree, Merged):
        return str(prod(len(part.points) for part in _parts(tree)))
    return f"({','.join(map(_counts, tree))})" if isinstance(tree, tuple | list) else str(tree)


def _has_tree(shape: Any, tree: Any) -> bool:
    if isinstance(tree, Part) and tree.whole:
        return bool(shape == tree.shape)
    if isinstance(tree, Part | Merged):
        coarse = tree.shape if isinstance(tree, Part) else None
        return count(shape) == prod(len(part.points) for part in _parts(tree)) and refines(shape, coarse)
    return isinstance(shape, tuple) and len(shape) == len(tree) and all(map(_has_tree, shape, tree))


def refines(shape: Any, coarse: Any) -> bool:
    """Whether ``shape`` is ``coarse`` with each leaf left alone or split in two or more; ``None`` allows all."""
    if isinstance(coarse, tuple):
        return isinstance(shape, tuple) and len(shape) == len(coarse) and all(map(refines, shape, coarse))
    if coarse is None or shape == coarse:
        return True
    flat = isinstance(shape, tuple) and len(shape) > 1 and not any(isinstance(mode, tuple) for mode in shape)
    return flat and count(shape) == coarse
