"""Draws that are the same in every version of Python.

The documentation of `random` promises two things for all versions: a seed that is a text gives the same generator, and
``random()`` then gives the same numbers. Nothing is promised of `randrange`, `choice` and `shuffle`, whose methods have
changed before; so everything here is made of ``random()`` alone, by one multiplication.

Law: a draw depends on the seed and on nothing else.

>>> rng = seeded("lab1", "17")
>>> [below(rng, 100) for _ in range(6)], shuffled(rng, "abcde"), pick(rng, (2, 3, 4))
([82, 5, 24, 65, 10, 59], ['e', 'c', 'b', 'd', 'a'], 4)
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")


def seeded(paper: str, seed: str) -> Random:
    """The generator of one student's paper."""
    return Random(f"{paper}:{seed}")


def below(rng: Random, number: int) -> int:
    """An integer from 0 to ``number - 1``."""
    return int(rng.random() * number)


def pick(rng: Random, choices: Sequence[T]) -> T:
    """One of some choices."""
    return choices[below(rng, len(choices))]


def shuffled(rng: Random, choices: Sequence[T]) -> list[T]:
    """All of them in another order: from the last place down, each is exchanged with one not after it."""
    items = list(choices)
    for last in range(len(items) - 1, 0, -1):
        other = below(rng, last + 1)
        items[last], items[other] = items[other], items[last]
    return items


def some(rng: Random, choices: Sequence[T], number: int) -> list[T]:
    """As many of them as asked for, each at most once, in no order."""
    return shuffled(rng, choices)[:number]
