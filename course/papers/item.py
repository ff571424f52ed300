"""An item of a paper: an exercise as the lessons have them, drawn by a kind and proved before it is handed out.

A kind drafts an item from a generator of random numbers. The draft is proved: its solution goes through the judge that
will grade the student, its starter fails, and of the wrong answers that a mistake leads to those are kept that fail. A
draft that is degenerate is drawn again: one whose first mistake gives the right answer, or that has too few mistakes.

Law: the same generator gives the same item, and every wrong answer of it is told what is wrong.

>>> from random import Random
>>> kind = Kind("double", 1, 1, lambda rng: DRAFT)
>>> item = make(kind, Random(1))
>>> item.exercise.solution, item.exercise.wrong[0]
('2:4', ('2:2', 'is 2 at index 1, must be 4', 'the extent is taken for the stride'))
>>> item == make(kind, Random(1))
True

Draws that are the same in every version of Python.

The documentation of `random` promises two things for all versions: a seed that is a text gives the same generator, and
``random()`` then gives the same numbers. Nothing is promised of `randrange`, `choice` and `shuffle`, whose methods have
changed before; so everything here is made of ``random()`` alone, by one multiplication.

Law: a draw depends on the seed and on nothing else.

>>> rng = seeded("lab1", "17")
>>> [below(rng, 100) for _ in range(6)], shuffled(rng, "abcde"), pick(rng, (2, 3, 4))
([82, 5, 24, 65, 10, 59], ['e', 'c', 'b', 'd', 'a'], 4)

Sentences and small calculations that several kinds of items share.

Law: a picture of a layout has its offsets, row by row.

>>> rows_of(Layout((2, 3), (3, 1)))
'row 0: `0 1 2`; row 1: `3 4 5`'
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import Any, TypeVar

from descriptors.course.grading import grade
from descriptors.course.source import Exercise
from descriptors.errors import DescriptorError
from layoutalg import Layout, size
from layoutalg.frozen import frozen

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


#: Draws after which a kind has no item to give, and the mistakes that an item must and may have.
DRAWS, FEWEST, MOST = 400, 3, 5


@frozen
class Draft:
    """What a kind drew: an exercise not yet proved, and what mistakes lead to.

    Args:
        ask, judge, operands, starter, hints, solution, why, size: as in ``Exercise``.
        slips: (answer, the mistake that leads to it), the likeliest first.
    """

    ask: str
    judge: str
    operands: tuple[Any, ...]
    starter: str
    hints: tuple[str, str, str]
    solution: str
    why: str
    slips: tuple[tuple[str, str], ...]
    size: int | None = None


#: The smallest draft.
DRAFT = Draft(
    ask="Two elements, 4 apart.",
    judge="function",
    operands=("2:4",),
    starter="2:?",
    hints=("How many?", "How far?", "Two of them."),
    solution="2:4",
    why="The second lies at 4.",
    slips=(("2:2", "the extent is taken for the stride"), ("4:2", "both are exchanged"), ("2:3", "one less")),
)


@frozen
class Kind:
    """A kind of item.

    Args:
        name: its name, by which results are counted.
        lesson: the lesson that it belongs to.
        level: 1 to read off, 2 for a few steps, 3 with a trap.
        draft: draws one, or None where the draw is of no use.
        none: whether the right answer is that there is no such layout.
    """

    name: str
    lesson: int
    level: int
    draft: Callable[[Random], Draft | None]
    none: bool = False


@frozen
class Item:
    """A question of a paper, proved.

    Args:
        kind: the name of its kind.
        lesson, level: as of its kind.
        exercise: the question, with the judge of its answers, and the mistakes that lead to wrong ones.
        marks: what a right answer is worth.
    """

    kind: str
    lesson: int
    level: int
    exercise: Exercise
    marks: int = 1


def make(kind: Kind, rng: Random, marks: int = 1) -> Item:
    """An item of a kind, proved.

    Args:
        kind: which.
        rng: where its numbers come from.
        marks: what a right answer is worth.

    Raises:
        DescriptorError: if no draw of many is of use, or a solution does not pass its own judge.

    >>> make(Kind("empty", 1, 1, lambda rng: None), Random(1))
    Traceback (most recent call last):
    descriptors.errors.DescriptorError: papers: an item must be found within 400 draws, found none; kind = empty
    """
    for _ in range(DRAWS):
        draft = kind.draft(rng)
        item = None if draft is None else proved_item(kind, draft, marks)
        if item is not None:
            return item
    raise DescriptorError(f"papers: an item must be found within {DRAWS} draws, found none; kind = {kind.name}")


def proved_item(kind: Kind, draft: Draft, marks: int) -> Item | None:
    """The item of a draft; None if it is degenerate.

    Raises:
        DescriptorError: if the solution does not pass, or the untouched starter does.
    """
    bare = _exercise(kind, draft, ())
    if (wrong := grade(bare, draft.solution)) is not None or grade(bare, draft.starter) is None:
        outcome = f"that it {wrong}" if wrong else f"that {draft.starter} passes too"
        raise DescriptorError(
            f"papers: the solution of an item alone must pass, found {outcome}; kind = {kind.name}, item = {draft.ask}"
        )
    kept: dict[str, tuple[str, str, str]] = {}
    for number, (answer, slip) in enumerate(draft.slips):
        judgement = grade(bare, answer)
        if judgement is None and number == 0:
            return None
        if judgement is not None and not judgement.startswith("cannot be read") and "?" not in answer:
            kept.setdefault("".join(answer.split()), (answer, judgement, slip))
        if len(kept) == MOST:
            break
    if len(kept) < FEWEST:
        return None
    exercise = _exercise(kind, draft, tuple(kept.values()))
    return Item(kind.name, kind.lesson, kind.level, exercise, marks)


def _exercise(kind: Kind, draft: Draft, wrong: tuple[tuple[str, str, str], ...]) -> Exercise:
    return Exercise(
        name=kind.name,
        ask=draft.ask,
        judge=draft.judge,
        operands=draft.operands,
        starter=draft.starter,
        size=draft.size,
        hints=draft.hints,
        solution=draft.solution,
        why=draft.why,
        wrong=wrong,
    )


#: What is added to a question that may have no answer, and how that is answered.
OR_NONE = "If there is none, answer `none`."


def rows_of(layout: Layout) -> str:
    """The offsets of a layout of two modes, row by row."""
    rows, columns = map(size, layout)
    row_texts = [" ".join(str(layout(r, c)) for c in range(columns)) for r in range(rows)]
    return "; ".join(f"row {r}: `{row}`" for r, row in enumerate(row_texts))


def listed(numbers: Iterable[Any]) -> str:
    """Numbers as an answer has them.

    >>> listed([1, 2])
    '1, 2'
    """
    return ", ".join(map(str, numbers))


def spoken(numbers: Iterable[Any]) -> str:
    """Numbers as a sentence has them.

    >>> spoken([2, 3, 5])
    '2, 3 and 5'
    """
    *first, last = map(str, numbers)
    return f"{', '.join(first)} and {last}" if first else last


def unknown(number: int) -> str:
    """As many numbers to fill in.

    >>> unknown(2)
    '?, ?'
    """
    return ", ".join("?" * number)


def two(first: Any, second: Any, d: Any, e: Any) -> str:
    """A layout of two modes, without a check.

    >>> two(4, 8, 8, 1)
    '(4,8):(8,1)'
    """
    return f"({first},{second}):({d},{e})"


def both(a: Any, b: Any) -> str:
    """A pair, as the notation writes it.

    >>> both(2, 3)
    '(2,3)'
    """
    return f"({a},{b})"
