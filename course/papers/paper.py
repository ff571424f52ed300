"""A paper: what one of each name consists of, and the items that one seed gives, the same in any version of Python.

A slot of a form names kinds of items, of which the seed takes one. Law: every slot names kinds that there are.

>>> all(name in KINDS for form in FORMS.values() for slot in form.slots for name in slot.kinds)
True
>>> len(KINDS) > 30, sum(bool(kind.none) for kind in KINDS.values())
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

from descriptors.errors import DescriptorError, brief
from layoutalg.frozen import frozen
from papers import layout_items, memory_items, operation_items, word_items
from papers.item import Item, Kind, make, pick, seeded, shuffled

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
        slots: its places.
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
_QUIZ_1 = (
    *("no composition", "no complement|does not divide", "composition", "complement", "divides"),
    *("inverse|lost index", "stack down|stack across", "cut", "holder", "shares"),
)
_QUIZ_2 = (
    *("turns", "padding", "address", "bits", "elements"),
    *("SBO of K|SBO of MN|LBO of MN", "word of K|word of MN", "advance", "word inside", "clinic"),
)
_FINAL = (
    *("blocks|memory|shortest", "composition|no composition|break a composition"),
    *("complement|no complement|divides|does not divide", "stack down|stack across|holder|shares"),
    *("turns|padding|address|elements", "word of K|word of MN|word inside"),
)
#: A misconception each: the rightmost first, size for cosize, a composition always, gaps for copies, the order
#: of tiles, the unit of a swizzle, the place for the address, one word for any tile.
_TEST = ("offsets", "memory", "no composition", "complement", "stack down", "elements", "address", "SBO of K")

#: Every paper, by its name.
FORMS: dict[str, Sort] = {
    "pretest": Sort("Pretest", 20, 0, _slots(*_TEST), False, "The same for all; not marked. Guess where you must."),
    "posttest": Sort("Posttest", 20, 0, _slots(*_TEST), False, "The kinds of the pretest, with other numbers."),
    "lab1": Sort("Lab: layouts", 60, 7, _slots(*_LAB_1), False, "Lessons 1 to 3; seven of ten to pass."),
    "quiz1": Sort("Quiz 1: the algebra", 30, 6, _slots(*_QUIZ_1), True, "Lessons 4 to 6. Two answers are `none`."),
    "quiz2": Sort("Quiz 2: memory and words", 40, 6, _slots(*_QUIZ_2), True, "Lessons 7 to 10; words of wgmma, sm90."),
    "final": Sort("Final", 60, 5, (*_slots(*_FINAL), *_slots("clinic", marks=2)), False, "Six items, a word to mend."),
}

#: The papers in which every student has the same items.
FIXED = ("pretest", "posttest")


#: What a seed may be: a student's number, or a word that the teacher made.
_SEED = re.compile(r"[A-Za-z0-9_.-]{1,40}")


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
    descriptors.errors.DescriptorError: papers: the paper must be one of pretest, ..., final, found 'exam'
    """
    if name not in FORMS:
        raise DescriptorError(f"papers: the paper must be one of {', '.join(FORMS)}, found {brief(name)}")
    if name in FIXED:
        return Paper(name, "", _items(name, seeded(name, "")))
    text = str(seed)
    if not _SEED.fullmatch(text):
        seed_text = brief(text) if text else "none"
        raise DescriptorError(f"papers: {name} must have a seed of letters and digits, as --seed 17, found {seed_text}")
    return Paper(name, text, _items(name, seeded(name, text)))


def _items(name: str, rng: Random) -> tuple[Item, ...]:
    slots = shuffled(rng, FORMS[name].slots) if FORMS[name].mixed else FORMS[name].slots
    items: list[Item] = []
    for slot in slots:
        item = make(KINDS[pick(rng, slot.kinds)], rng, slot.marks)
        while any(item.exercise.ask == other.exercise.ask for other in items):  # the same kind may come twice
            item = make(KINDS[item.kind], rng, slot.marks)
        items.append(item)
    return tuple(items)
