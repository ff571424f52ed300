"""Plans: what each piece of an operation's result has to stand for, found by enumeration.

A plan is a tree of parts, one for each piece of the result's shape; a part says which points its coordinates stand for.
The result must have that tree (each piece refined as it likes) and, at every coordinate, the value that the sum of the
points has under the operand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product as pairings
from math import prod
from typing import Any

import judge as J

Value = Callable[[Any], Any]


class NoAnswer(Exception):
    """No layout satisfies the definition, so far as the plan can tell."""


@dataclass(frozen=True)
class Part:
    """A piece of the result: its coordinates stand for ``points``; ``shape`` is what the piece must refine."""

    points: list[Any]
    shape: Any = None


@dataclass(frozen=True)
class Merged:
    """Parts that share one mode of the result, whose inner structure is free."""

    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Plan:
    """The tree of parts, what a sum of points is worth, and where a fixed part of the coordinate stands."""

    tree: Any
    value: Value
    fixed: Any = ()


def fits(result: Any, plan: Plan, offset: Any = 0, free_offset: bool = False) -> bool:
    """Whether a result has a plan's tree and its values."""
    parts = list(_parts(plan.tree))
    if not _has_tree(result.shape, plan.tree):
        return False
    expected = []
    for points in pairings(*(part.points for part in reversed(parts))):  # the first part runs fastest
        total = plan.fixed
        for point in points:
            total = J.plus(total, point)
        expected.append(plan.value(total))
    values = [J.plus(value, offset) for value in J.values(result)]
    if len(values) != len(expected):
        return False
    if free_offset:  # the law of `slice_`: some constant apart from the layout
        apart = J.plus(expected[0], J.times(-1, values[0]))
        values = [J.plus(value, apart) for value in values]
    return all(map(J.same, values, expected))


def has_answer(plan: Plan) -> bool:
    """Whether any layout satisfies a plan: each piece must be a layout by itself, and the pieces must add up."""
    parts = list(_parts(plan.tree))
    base = plan.value(plan.fixed)
    columns = []
    for part in parts:
        columns.append([J.plus(plan.value(J.plus(plan.fixed, p)), J.times(-1, base)) for p in part.points])
        if not _is_layout(columns[-1], part.shape):
            return False
    options = [list(zip(part.points, column, strict=True)) for part, column in zip(parts, columns, strict=True)]
    for pieces in pairings(*options):
        point, value = plan.fixed, base
        for where, worth in pieces:
            point, value = J.plus(point, where), J.plus(value, worth)
        if not J.same(plan.value(point), value):
            return False
    return True


def _is_layout(column: list[Any], shape: Any) -> bool:
    """Whether a piece's values are a layout that refines its shape leaf by leaf."""
    if not isinstance(shape, tuple):
        return J.form(column) is not None
    extents = J.leaves(shape)
    weights = [prod(extents[:k]) for k in range(len(extents))]
    leaves = [column[: weight * extent : weight] for weight, extent in zip(weights, extents, strict=True)]
    if any(J.form(leaf) is None for leaf in leaves):
        return False
    return all(J.same(value, _summed(leaves, J.digits(index, extents))) for index, value in enumerate(column))


def _summed(leaves: list[list[Any]], digits: list[int]) -> Any:
    total: Any = 0
    for leaf, digit in zip(leaves, digits, strict=True):
        total = J.plus(total, leaf[digit])
    return total


def _parts(tree: Any) -> Iterator[Part]:
    if isinstance(tree, Part):
        yield tree
    else:
        for item in tree.parts if isinstance(tree, Merged) else tree:
            yield from _parts(item)


def _has_tree(shape: Any, tree: Any) -> bool:
    if isinstance(tree, Part | Merged):
        wanted = tree.shape if isinstance(tree, Part) else None
        return J.count(shape) == prod(len(part.points) for part in _parts(tree)) and refines(shape, wanted)
    return isinstance(shape, tuple) and len(shape) == len(tree) and all(map(_has_tree, shape, tree))


def refines(shape: Any, coarse: Any) -> bool:
    """Whether ``shape`` is ``coarse`` with each leaf left alone or split in two or more; ``None`` allows all."""
    if isinstance(coarse, tuple):
        return isinstance(shape, tuple) and len(shape) == len(coarse) and all(map(refines, shape, coarse))
    if coarse is None or shape == coarse:
        return True
    flat = isinstance(shape, tuple) and len(shape) > 1 and not any(isinstance(mode, tuple) for mode in shape)
    return flat and J.count(shape) == coarse
