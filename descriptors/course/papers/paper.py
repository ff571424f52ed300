"""A paper: the items that one seed gives, the same at any time and in any version of Python.

Law: the same seed gives the same paper, and another seed another one.

>>> paper("lab1", "17") == paper("lab1", 17) != paper("lab1", 18)
True
>>> print(paper("lab1", 17).items[5].exercise.ask)
The size and the cosize of `(6,4):(2,14)`, as two numbers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from random import Random

from descriptors.course.papers import pretest
from descriptors.course.papers.forms import FIXED, FORMS, KINDS, Sort
from descriptors.course.papers.item import Item, make, pick, seeded, shuffled
from descriptors.course.papers.paper_derivations import derivation
from descriptors.errors import DescriptorError, brief

#: What a seed may be: a student's number, or a word that the teacher made.
_SEED = re.compile(r"[A-Za-z0-9_.-]{1,40}")

#: The cards of a deck.
CARDS = 20


@dataclass(frozen=True, slots=True)
class Paper:
    """The items of one student.

    Args:
        name: ``lab1``, ``quiz1`` and so on, as in ``FORMS``.
        seed: what it was drawn from; "" where all have the same.
        items: the questions, in their order.
    """

    name: str
    seed: str
    items: tuple[Item, ...]

    @property
    def form(self) -> Sort:
        """What the paper is: its title, its minutes."""
        return FORMS[self.name]

    @property
    def marks(self) -> int:
        """The marks of all items together."""
        return sum(item.marks for item in self.items)


def paper(name: str, seed: str | int = "") -> Paper:
    """The paper of a seed.

    Args:
        name: one of ``FORMS``.
        seed: a number or a word of up to 40 letters, digits and ``_ . -``; the pretest and the posttest take none.

    Raises:
        DescriptorError: if there is no such paper, or the seed is none.

    >>> paper("exam", 1)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    descriptors.errors.DescriptorError: papers: the paper must be one of pretest, ..., final, cards, found 'exam'
    """
    if name not in FORMS:
        raise DescriptorError(f"papers: the paper must be one of {', '.join(FORMS)}, found {brief(name)}")
    if name in FIXED:
        return Paper(name, "", pretest.items())
    text = str(seed)
    if not _SEED.fullmatch(text):
        found = brief(text) if text else "none"
        raise DescriptorError(f"papers: {name} must have a seed of letters and digits, as --seed 17, found {found}")
    return Paper(name, text, _items(name, seeded(name, text)))


def _items(name: str, rng: Random) -> tuple[Item, ...]:
    if name == "homework":
        return derivation(rng)
    if name == "cards":
        chosen = shuffled(rng, [kind for kind in KINDS.values() if not kind.name.startswith("trace")])[:CARDS]
        return tuple(make(kind, rng) for kind in sorted(chosen, key=lambda kind: (kind.lesson, kind.level)))
    slots = shuffled(rng, FORMS[name].slots) if FORMS[name].mixed else FORMS[name].slots
    made: list[Item] = []
    for slot in slots:
        item = make(KINDS[pick(rng, slot.kinds)], rng, slot.marks)
        while any(item.exercise.ask == other.exercise.ask for other in made):  # the same kind may come twice
            item = make(KINDS[item.kind], rng, slot.marks)
        made.append(item)
    return tuple(made)
