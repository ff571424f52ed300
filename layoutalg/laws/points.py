"""Evaluate layouts one index at a time, and compare a result with a plan of the expected points.

Only attributes are used: ``shape`` and ``stride`` of a layout, ``outer``, ``offset`` and ``inner`` of a composed
layout, ``bits``, ``base`` and ``shift`` of a swizzle, ``value`` and ``mode`` of a basis stride. Any object with these
attributes is accepted. A *point* is a value of a layout: an integer, or, for basis strides, the sorted tuple of its
non-zero ``(path, coefficient)`` pairs.

A *plan* is a tree of parts that correspond to the modes of the result. A part has the points of its coordinates. The
result must have this tree, where each part may be refined, and its value at every coordinate must be the value of the
operand at the sum of the points.

Invariant: this evaluation and a call of the layout agree, although neither uses the other.

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


class TooLargeError(Exception):
    """The enumeration would be too long, so that the case is not decided."""


def leaves(value: Any) -> list[Any]:
    """Return the leaves of a nested tuple from left to right."""
    if isinstance(value, tuple):
        return [leaf for item in value for leaf in leaves(item)]
    return [value]


def count(shape: Any) -> int:
    """Return the number of coordinates of a shape."""
    total = 1
    for extent in leaves(shape):
        total *= extent
    return total


def pairs(layout: Any) -> list[Leaf]:
    """Return the (extent, stride) pairs of a plain layout from left to right."""
    return list(zip(leaves(layout.shape), leaves(layout.stride), strict=True))


class Plain:
    """A shape and a stride, without the checks of ``Layout``."""

    def __init__(self, shape: Any, stride: Any) -> None:
        self.shape = shape
        self.stride = stride


class Composite:
    """A composed layout, without the checks of ``ComposedLayout``."""

    def __init__(self, outer: Any, offset: Any, inner: Any) -> None:
        self.outer = outer
        self.offset = offset
        self.inner = inner

    @property
    def shape(self) -> Any:
        """The shape of the inner layout, which is the domain."""
        return self.inner.shape


def inner(layout: Any) -> Any:
    """Return the inner layout of a composed layout, or a plain layout itself."""
    return layout.inner if hasattr(layout, "inner") else layout


def under(layout: Any, plain: Any) -> Any:
    """Return ``layout`` with another inner layout; for a plain layout, the other layout itself."""
    return Composite(layout.outer, layout.offset, plain) if hasattr(layout, "inner") else plain


def items(value: Any) -> tuple[Any, ...]:
    """Return the top modes of a shape, stride or coordinate; for a leaf, the tuple that contains it."""
    return value if isinstance(value, tuple) else (value,)


def modes(layout: Any) -> list[Plain]:
    """Return the top modes of a plain layout."""
    return [Plain(s, d) for s, d in zip(items(layout.shape), items(layout.stride), strict=True)]


def congruent(a: Any, b: Any) -> bool:
    """Check if two nested tuples have the same nesting."""
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(congruent, a, b))
    return not isinstance(a, tuple) and not isinstance(b, tuple)


def nested_like(flat: Iterator[Any], profile: Any) -> Any:
    """Return leaves in the nesting of a profile."""
    return tuple(nested_like(flat, part) for part in profile) if isinstance(profile, tuple) else next(flat)


def join(parts: Sequence[Any]) -> Plain:
    """Return a plain layout whose modes are the given plain layouts."""
    return Plain(tuple(part.shape for part in parts), tuple(part.stride for part in parts))


# Points


def point(value: Any) -> Point:
    """Return the result of a call, a stride or a coordinate as a point."""
    if isinstance(value, tuple):
        terms: dict[tuple[int, ...], int] = {}
        _add_terms(value, (), terms)
        return tuple(sorted(terms.items()))
    if hasattr(value, "mode"):
        return ((value.mode, value.value),) if value.value else ()
    return value


def _add_terms(value: Any, path: tuple[int, ...], terms: dict[tuple[int, ...], int]) -> None:
    if isinstance(value, tuple):
        for position, item in enumerate(value):
            _add_terms(item, (*path, position), terms)
    elif value:
        terms[path] = value


def plus(a: Point, b: Point) -> Point:
    """Return the sum of two points; the integer 0 may be added to both kinds."""
    if isinstance(a, tuple) or isinstance(b, tuple):
        terms = dict(a or ())
        for path, coefficient in b or ():
            terms[path] = terms.get(path, 0) + coefficient
        return tuple(sorted((path, c) for path, c in terms.items() if c))
    return a + b


def times(factor: int, a: Point) -> Point:
    """Return a point times an integer."""
    if isinstance(a, tuple):
        return tuple((path, factor * c) for path, c in a) if factor else ()
    return factor * a


def same(a: Point, b: Point) -> bool:
    """Check if two points are equal; the origin may be 0 or ()."""
    return (a or 0) == (b or 0)


# Evaluation


def digits(index: int, extents: Sequence[int]) -> list[int]:
    """Return the colexicographic digits of an index; the last digit is not bounded by its extent."""
    result = []
    for extent in extents[:-1]:
        result.append(index % extent)
        index //= extent
    return [*result, index] if extents else []


def line(parts: Sequence[Leaf], index: int) -> Point:
    """Return the value of a list of modes at any integer, an odd function whose last mode extends to infinity."""
    total: Point = 0
    for digit, (_, stride) in zip(digits(abs(index), [s for s, _ in parts]), parts, strict=True):
        total = plus(total, times(digit, point(stride)))
    return times(-1, total) if index < 0 else total


def swizzled(swizzle: Any, offset: int) -> int:
    """Return the value of a swizzle at an offset, computed bit by bit."""
    source = swizzle.base + max(swizzle.shift, 0)
    target = swizzle.base + max(-swizzle.shift, 0)
    result = offset
    for bit in range(swizzle.bits):
        result ^= ((offset >> (source + bit)) & 1) << (target + bit)
    return result


def after(function: Any, value: Point) -> Point:
    """Return the value of a swizzle, layout or composed layout at a point.

    The value at an integer is that of the extended function. A tuple addresses the modes of the layout.
    """
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
    """Return the value of a layout or composed layout at an index; beyond the domain, that of the extended function."""
    return after(layout, index)


def values(layout: Any) -> list[Point]:
    """Return every point of a layout, in the colexicographic order of its domain.

    Raises:
        TooLargeError: if there are more than 2**16.
    """
    total = count(layout.shape)
    if total > 1 << 16:
        raise TooLargeError
    return [at(layout, index) for index in range(total)]


def at_coordinate(layout: Any, coordinate: Any) -> Point:
    """Return the value of a layout at a (nested) coordinate."""
    return at(layout, rank_of(coordinate, layout.shape))


def rank_of(coordinate: Any, shape: Any) -> int:
    """Return the colexicographic index of a coordinate."""
    if not isinstance(coordinate, tuple):
        return int(coordinate)
    index, weight = 0, 1
    for item, extent in zip(coordinate, shape, strict=True):
        index += weight * rank_of(item, extent)
        weight *= count(extent)
    return index


#: The function of a plan from a sum of points to the expected value.
Value = Callable[[Any], Any]

#: The most elements that are enumerated.
MOST = 1 << 16


class NoAnswerError(Exception):
    """The plan has no layout that satisfies the definition."""


@frozen
class Part:
    """A part of a plan: ``points`` are the points of its coordinates, and ``shape`` is a shape that it must refine.

    If ``whole`` is true, the part must have exactly this shape.
    """

    points: list[Any]
    shape: Any = None
    whole: bool = False


@frozen
class Merged:
    """Parts that share one mode of the result, which may have any inner structure."""

    parts: tuple[Part, ...]


@frozen
class Plan:
    """The expected result: the tree of parts, the value of a sum of points, and the point of fixed modes."""

    tree: Any
    value: Value
    fixed: Any = ()


def misfit(result: Any, plan: Plan, offset: Any = 0, free_offset: bool = False) -> str | None:
    """Return the first difference of a result from a plan, in its shape or in its value at an index, or None.

    With ``free_offset``, the values may differ by a constant, as those of a slice without its offset.
    """
    if not _has_tree(result.shape, plan.tree):
        return f"has a shape that does not refine {_counts(plan.tree)}, found {_counts(result.shape)}"
    right = expected_values(plan)
    mine = [plus(value, offset) for value in values(result)]
    if free_offset:
        constant = plus(right[0], times(-1, mine[0]))
        mine = [plus(value, constant) for value in mine]
    return first_difference(mine, right)


def first_difference(points: list[Any], definition: list[Any]) -> str | None:
    """Return the first index at which two lists of points differ, as the end of a sentence, or None."""
    if len(points) != len(definition):
        return f"has {len(points)} elements, must have {len(definition)}"
    for index, (mine, right) in enumerate(zip(points, definition, strict=True)):
        if not same(mine, right):
            return f"is {mine} at index {index}, must be {right}"
    return None


def expected_values(plan: Plan) -> list[Any]:
    """Return the value at every coordinate of a plan in colexicographic order, in which the first part is the fastest.

    Raises:
        TooLargeError: if there are more than 2**16.
    """
    parts = list(_parts(plan.tree))
    if prod(len(part.points) for part in parts) > MOST:
        raise TooLargeError
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
    """Return the extents of a tree or a shape as text; for a part without a shape, the number of its points."""
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
    """Check if ``shape`` is ``coarse`` with some leaves split into two or more; ``None`` allows every shape."""
    if isinstance(coarse, tuple):
        return isinstance(shape, tuple) and len(shape) == len(coarse) and all(map(refines, shape, coarse))
    if coarse is None or shape == coarse:
        return True
    flat = isinstance(shape, tuple) and len(shape) > 1 and not any(isinstance(mode, tuple) for mode in shape)
    return flat and count(shape) == coarse
