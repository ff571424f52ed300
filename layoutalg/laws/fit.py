"""Plans: what each piece of an operation's result has to stand for, and whether a result does.

A plan is a tree of parts, one for each piece of the result's shape; a part says which points its coordinates stand for.
The result must have that tree (each piece refined as it likes) and, at every coordinate, the value that the sum of the
points has under the operand. These are notes of a law while it judges, and no values: a plan holds a function.

Law: nothing is wrong where both have the same points.

>>> first_difference([0, 2, 4], [0, 2, 4]), first_difference([0, 2, 5], [0, 2, 4])
(None, 'is 5 at index 2, must be 4')
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product as pairings
from math import prod
from typing import Any

from layoutalg.laws.points import TooLarge, count, plus, same, times, values

Value = Callable[[Any], Any]

MOST = 1 << 16


class NoAnswer(Exception):
    """No layout satisfies the definition, so far as the plan can tell."""


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A piece of the result: its coordinates stand for ``points``; ``shape`` is what the piece must refine.

    With ``whole`` the piece must have that very shape.
    """

    points: list[Any]
    shape: Any = None
    whole: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Merged:
    """Parts that share one mode of the result, whose inner structure is free."""

    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True, eq=False)
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
    expected = wanted(plan)
    found = [plus(value, offset) for value in values(result)]
    if free_offset:
        apart = plus(expected[0], times(-1, found[0]))
        found = [plus(value, apart) for value in found]
    return first_difference(found, expected)


def first_difference(found: list[Any], expected: list[Any]) -> str | None:
    """The first index at which two lists of points differ, as a sentence."""
    if len(found) != len(expected):
        return f"has {len(found)} elements, must have {len(expected)}"
    for index, (mine, right) in enumerate(zip(found, expected, strict=True)):
        if not same(mine, right):
            return f"is {mine} at index {index}, must be {right}"
    return None


def wanted(plan: Plan) -> list[Any]:
    """The value at every coordinate of a plan, in colexicographic order: the first part runs fastest."""
    parts = list(_parts(plan.tree))
    if prod(len(part.points) for part in parts) > MOST:
        raise TooLarge
    expected = []
    for points in pairings(*(part.points for part in reversed(parts))):
        total = plan.fixed
        for point in points:
            total = plus(total, point)
        expected.append(plan.value(total))
    return expected


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
