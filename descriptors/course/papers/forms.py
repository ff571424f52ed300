"""What a paper of each name consists of: its kinds of items, marks, minutes, and what it takes to pass.

A slot names kinds of items, of which the seed takes one. Law: every slot names kinds that there are.

>>> all(name in KINDS for form in FORMS.values() for slot in form.slots for name in slot.kinds)
True
>>> len(KINDS) > 35, sum(bool(kind.none) for kind in KINDS.values())
(True, 3)
"""

from __future__ import annotations

from dataclasses import dataclass

from descriptors.course.papers import (
    addresses,
    clinic,
    complements,
    compositions,
    divides,
    nested,
    owners,
    sizes,
    turns,
)
from descriptors.course.papers import (
    algebra_steps as steps,
)
from descriptors.course.papers import (
    paper_accesses as accesses,
)
from descriptors.course.papers import (
    paper_derivations as derivations,
)
from descriptors.course.papers import (
    paper_words as words,
)
from descriptors.course.papers.item import Kind

_MODULES = (
    *(steps, nested, sizes, compositions, complements, divides, owners),
    *(turns, addresses, words, clinic, derivations, accesses),
)

#: Every kind of item, by its name.
KINDS: dict[str, Kind] = {kind.name: kind for module in _MODULES for kind in module.KINDS}


@dataclass(frozen=True, slots=True)
class Slot:
    """A place of a paper: kinds, of which the seed takes one, and the marks of a right answer."""

    kinds: tuple[str, ...]
    marks: int = 1


@dataclass(frozen=True, slots=True)
class Sort:
    """What a paper is made of.

    Args:
        title: its title.
        minutes: how long it takes.
        to_pass: the marks that it takes to pass; 0 where there is no such thing.
        slots: its places; none of a paper that is made as a whole (the pretest, the homework, the cards).
        mixed: whether the seed orders the items too.
        about: one sentence for the head of the sheet.
    """

    title: str
    minutes: int
    to_pass: int
    slots: tuple[Slot, ...]
    mixed: bool
    about: str


def _slots(*names: str, marks: int = 1) -> tuple[Slot, ...]:
    return tuple(Slot(tuple(name.split("|")), marks) for name in names)


_LAB_1 = (
    *("offsets", "picture", "gaps", "splits", "blocks", "memory", "shortest", "another form"),
    *("offsets|splits", "shortest|memory"),
)
_LAB_2 = ("trace of a column", "trace of words", "trace with padding", "trace of three")
_QUIZ_1 = (
    *("no composition", "no complement", "does not divide", "composition", "complement|no complement"),
    *("divides|does not divide", "inverse|lost index", "stack down|stack across", "cut", "holder|shares"),
)
_QUIZ_2 = (
    *("turns", "padding", "address", "bits", "elements", "smallest swizzle"),
    *("SBO of K|SBO of MN|LBO of MN", "word of K|word of MN", "advance", "clinic"),
)
_FINAL = (
    *("blocks|memory|shortest", "composition|no composition|break a composition"),
    *("complement|no complement|divides|does not divide", "stack down|stack across|holder|shares"),
    *("padding|address|elements|smallest swizzle", "word of K|word of MN|word inside"),
)
_NONE = "At least three answers of this paper are `none`."

#: Every paper, by its name.
FORMS: dict[str, Sort] = {
    "pretest": Sort("Pretest", 15, 0, (), False, "The same for all; it is not marked. Guess where you do not know."),
    "posttest": Sort("Posttest", 15, 0, (), False, "The items of the pretest once more."),
    "lab1": Sort("Lab 1: layouts", 60, 7, _slots(*_LAB_1), False, "Seven of ten to pass."),
    "lab2": Sort("Lab 2: traces", 60, 0, _slots(*_LAB_2), False, "Fewest turns win; the key is a par, not a limit."),
    "quiz1": Sort("Quiz 1: the algebra", 20, 6, _slots(*_QUIZ_1), True, _NONE),
    "quiz2": Sort("Quiz 2: memory and words", 30, 6, _slots(*_QUIZ_2), True, "All words are those of sm90."),
    "homework": Sort("Homework A: a tile by hand", 120, 8, (), False, "One tile, five layouts and a word."),
    "final": Sort(
        "Final", 45, 5, (*_slots(*_FINAL), *_slots("clinic", marks=2)), False, "Six items and a word to mend."
    ),
    "cards": Sort("Oral cards", 0, 0, (), False, "Twenty cards: ask, let reason, turn over."),
}

#: The papers in which every student has the same items.
FIXED = ("pretest", "posttest")
