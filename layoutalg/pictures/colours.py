"""Quantities as roles: what the cells of a picture are filled with, and what the legend says of it.

Offsets run through an order of eight steps, from the lowest to the highest of the whole picture. Everything else is
told apart by eight kinds: banks in groups of four, others by their number modulo 8.

>>> coloured("thread", [[[0, 1, 9, None]]])
([(('c0', 'c1', 'c1', None),)], (('c0', 'T0'), ('c1', 'T1, T9')))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from layoutalg.analysis.banks import BANKS
from layoutalg.drawing.order import Legend, filled, integers, order
from layoutalg.drawing.plate import Roles
from layoutalg.strokes.theme import KINDS, kind

#: What stands before a number in the legend.
_PREFIX = {"thread": "T", "value": "V", "block": "block ", "mode": "position ", "slice": "slice "}
#: Numbers of one kind that the legend names.
_NAMED = 3


def coloured(colour: str, tables: list[list[list[Any]]]) -> tuple[list[Roles], Legend]:
    """The roles of every cell of some tables, and their legend.

    Args:
        colour: the name of the quantity.
        tables: the quantity of every cell.
    """
    numbers = integers(tables)
    if colour == "offset":
        roles, legend = order(numbers)
    elif colour == "bank":
        roles, legend = _groups(numbers)
    else:
        roles, legend = _kinds(numbers, _PREFIX.get(colour, ""))
    return [filled(table, roles) for table in tables], legend


def _groups(numbers: set[int]) -> tuple[dict[Any, str], Legend]:
    each = BANKS // KINDS
    roles: dict[Any, str] = {number: kind(number // each) for number in numbers}
    groups = sorted({number // each for number in numbers})
    return roles, tuple((kind(group), f"banks {group * each}\u2013{group * each + each - 1}") for group in groups)


def _kinds(numbers: set[int], prefix: str) -> tuple[dict[Any, str], Legend]:
    roles: dict[Any, str] = {number: kind(number) for number in numbers}
    legend = []
    for place in range(KINDS):
        same = sorted(number for number in numbers if number % KINDS == place)
        if same:
            legend.append((kind(place), _listed(prefix, same)))
    return roles, tuple(legend)


def _listed(prefix: str, numbers: Sequence[int]) -> str:
    """The first of some numbers; a word stands before them once, a letter before each."""
    word, letter = (prefix, "") if prefix.endswith(" ") else ("", prefix)
    names = [f"{letter}{number}" for number in numbers[:_NAMED]]
    return word + ", ".join(names) + (", \u2026" if len(numbers) > _NAMED else "")
