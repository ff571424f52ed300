"""A paper: what one of each name consists of, and the items that one seed gives, the same in any version of Python.

A slot of a form names kinds of items, of which the seed takes one. Law: every slot names kinds that there are.

>>> all(name in KINDS for form in FORMS.values() for slot in form.slots for name in slot.kinds)
True
>>> len(KINDS) > 35, sum(bool(kind.none) for kind in KINDS.values())
(True, 3)

The same seed gives the same paper, and another seed another one.

>>> paper("lab1", "17") == paper("lab1", 17) != paper("lab1", 18)
True
>>> print(paper("lab1", 17).items[5].exercise.ask)
The size and the cosize of `(6,4):(2,14)`, as two numbers.
"""

from __future__ import annotations

import re
from random import Random

from descriptors.course.papers import layout_items, memory_items, operation_items, pretest, word_items
from descriptors.course.papers.item import Item, Kind, make, pick, seeded, shuffled
from descriptors.course.papers.word_items import derivation
from descriptors.errors import DescriptorError, brief
from layoutalg.frozen import frozen

#: Every kind of item, by its name.
KINDS: dict[str, Kind] = {
    kind.name: kind for module in (layout_items, operation_items, memory_items, word_items) for kind in module.KINDS
}


@frozen
class Slot:
    """A place of a paper: kinds, of which the seed takes one, and the marks of a right answer."""

    kinds: tuple[str, ...]
    marks: int = 1


@frozen
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


#: What a seed may be: a student's number, or a word that the teacher made.
_SEED = re.compile(r"[A-Za-z0-9_.-]{1,40}")

#: The cards of a deck.
CARDS = 20


@frozen
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
        seed_text = brief(text) if text else "none"
        raise DescriptorError(f"papers: {name} must have a seed of letters and digits, as --seed 17, found {seed_text}")
    return Paper(name, text, _items(name, seeded(name, text)))


def _items(name: str, rng: Random) -> tuple[Item, ...]:
    if name == "homework":
        return derivation(rng)
    if name == "cards":
        cards = shuffled(rng, [kind for kind in KINDS.values() if not kind.name.startswith("trace")])[:CARDS]
        return tuple(make(kind, rng) for kind in sorted(cards, key=lambda kind: (kind.lesson, kind.level)))
    slots = shuffled(rng, FORMS[name].slots) if FORMS[name].mixed else FORMS[name].slots
    items: list[Item] = []
    for slot in slots:
        item = make(KINDS[pick(rng, slot.kinds)], rng, slot.marks)
        while any(item.exercise.ask == other.exercise.ask for other in items):  # the same kind may come twice
            item = make(KINDS[item.kind], rng, slot.marks)
        items.append(item)
    return tuple(items)
