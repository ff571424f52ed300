"""What an answer of a paper is worth, in parts of the item's marks.

A right answer has all marks. A list of numbers has those of the numbers that are right. A word that is wrong in one
field has half. Everything else is right or wrong; a derivation is marked step by step as its steps are items.

Law: a right answer has all marks, an empty one none, and none has more than all.

>>> from descriptors.course.papers.paper import paper
>>> item = paper("lab1", 1).items[0]
>>> [str(marked("lab1.1", item, answer).earned) for answer in (item.exercise.solution, "", item.exercise.wrong[-1][0])]
['1', '0', '0']
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from descriptors.course.grading import grade
from descriptors.course.judges.traces import counted
from descriptors.course.papers.item import Item
from layoutalg import LayoutError, evaluate, parse_int_tuple

#: How the judge of a word begins where fields are wrong, and what stands between two of them.
_FIELDS = re.compile(r"wrong is (.+)$")


@dataclass(frozen=True, slots=True)
class Mark:
    """One answer, marked.

    Args:
        where: the item, as ``lab1.3``.
        item: the question.
        answer: what was handed in; "" for nothing.
        told: what is wrong with it; None if it is right.
        slip: the mistake that leads to it, where that is known.
        earned: its marks.
        over: of a trace the turns beyond the par; None where there are none to count.
    """

    where: str
    item: Item
    answer: str
    told: str | None
    slip: str | None
    earned: Fraction
    over: int | None = None

    @property
    def right(self) -> bool:
        """Whether the answer is right."""
        return self.told is None


def marked(where: str, item: Item, answer: str) -> Mark:
    """An answer to an item, marked.

    Args:
        where: what the item is called.
        item: the question.
        answer: the text of the answer; "" where nothing was handed in.
    """
    if not answer.strip():
        return Mark(where, item, "", "is missing", None, Fraction(0))
    told = grade(item.exercise, answer)
    share = Fraction(1) if told is None else _part(item, answer, told)
    return Mark(where, item, answer, told, item.slip(answer) if told else None, share * item.marks, _over(item, answer))


def _part(item: Item, answer: str, told: str) -> Fraction:
    exercise = item.exercise
    if exercise.judge == "numbers" and len(exercise.operands) > 1:
        return _numbers(answer, exercise.operands)
    fields = _FIELDS.search(told) if exercise.judge == "word of" else None
    return Fraction(1, 2) if fields and "," not in fields[1] else Fraction(0)


def _numbers(answer: str, operands: tuple[Any, ...]) -> Fraction:
    """The share of the numbers that are right, each at its place."""
    try:
        mine = parse_int_tuple(f"({answer.strip('()[] ')},)")
    except LayoutError:
        return Fraction(0)
    if not isinstance(mine, tuple) or len(mine) != len(operands):
        return Fraction(0)
    return Fraction(sum(one == evaluate(right) for one, right in zip(mine, operands, strict=True)), len(operands))


def _over(item: Item, answer: str) -> int | None:
    if item.exercise.judge != "trace":
        return None
    tile, room, par, *steps = item.exercise.operands
    try:
        found = counted(answer, tile, room, steps)
    except LayoutError:  # which the errors of descriptors are too
        return None
    return None if isinstance(found, str) else found - par
