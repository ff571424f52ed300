"""Papers, marks and statistics as text for a terminal.

Law: a paper that is told has no key in it.

>>> from descriptors.course.papers.paper import paper
>>> print(tell_paper(paper("lab1", 17)).splitlines()[0])
Lab 1: layouts, seed 17: 10 items, 10 marks, 60 minutes
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from descriptors.course.papers.forms import FORMS
from descriptors.course.papers.handed import Handed
from descriptors.course.papers.item import Item
from descriptors.course.papers.marks import Mark
from descriptors.course.papers.paper import Paper
from descriptors.course.papers.statistics import board, gains, rows


def tell_forms() -> str:
    """A line for each paper.

    >>> print(tell_forms().splitlines()[0])
    pretest   Pretest                     15 min
    """
    return "\n".join(
        f"{name:<9} {form.title:<27} {f'{form.minutes} min' if form.minutes else ''}".rstrip()
        for name, form in FORMS.items()
    )


def tell_head(paper: Paper) -> str:
    """The title, the seed, how much there is."""
    form = paper.form
    seed = f", seed {paper.seed}" if paper.seed else ""
    minutes = f", {form.minutes} minutes" if form.minutes else ""
    return f"{form.title}{seed}: {len(paper.items)} items, {paper.marks} marks{minutes}"


def tell_paper(paper: Paper) -> str:
    """All questions of a paper; of the cards both sides."""
    told = [tell_item(f"{paper.name}.{k}", item) for k, item in enumerate(paper.items, 1)]
    if paper.name == "cards":
        told = [f"{one}\n{tell_key(item)}" for one, item in zip(told, paper.items, strict=True)]
    return "\n\n".join([f"{tell_head(paper)}\n{paper.form.about}", *told])


def tell_item(where: str, item: Item) -> str:
    """A question, with its marks if it has more than one, and what to start from."""
    marks = f" ({item.marks} marks)" if item.marks > 1 else ""
    return f"{where}{marks}\n{item.exercise.ask}\nstart from: {item.exercise.starter}"


def tell_key(item: Item) -> str:
    """The key of an item, and why it is right."""
    return f"key: {item.exercise.solution}\n{item.exercise.why}"


def number(value: Fraction) -> str:
    """Marks as they are written: whole, or with up to two digits.

    >>> number(Fraction(7, 2)), number(Fraction(3)), number(Fraction(2, 3))
    ('3.5', '3', '0.67')
    """
    return f"{float(value):.2f}".rstrip("0").rstrip(".")


def tell_handed(handed: Handed) -> str:
    """Every answer of a student with its marks, and what is wrong with it."""
    lines = []
    for paper, marks in handed.marks:
        passed = {True: ", passed", False: ", not passed", None: ""}[handed.passed(paper.name)]
        lines.append(f"{handed.name}: {paper.name} {number(handed.earned(paper.name))} of {paper.marks}{passed}")
        lines += [_tell_mark(mark) for mark in marks]
    return "\n".join(lines)


def _tell_mark(mark: Mark) -> str:
    name = f"  {mark.where:<12} {number(mark.earned):>4} of {mark.item.marks}"
    if mark.right:
        return f"{name}  right"
    if not mark.answer:
        return f"{name}  missing"
    slip = f"\n{'':<24}perhaps: {mark.slip}" if mark.slip else ""
    return f"{name}  {mark.answer} {mark.told}{slip}\n{'':<24}hint: {mark.item.exercise.hints[0]}"


def tell_class(handed: Sequence[Handed]) -> str:
    """A class: the marks of each student, the items, the gain, the leaderboard; what there is of them."""
    parts = [_students(handed), _items(handed)]
    if found := gains(handed):
        lines = [
            f"  {one.misconception:<22} {one.before:>3} -> {one.after:>3} of {one.students}{_gain(one.gain)}"
            for one in found
        ]
        parts.append("\n".join(["right before and after, by misconception", *lines]))
    if traces := board(handed):
        lines = [
            f"  {k:>3}. {name:<22} {count} of 4, {over:+d} turns" for k, (name, count, over) in enumerate(traces, 1)
        ]
        parts.append("\n".join(["lab 2: traces laid out, turns beyond the pars", *lines]))
    return "\n\n".join(parts)


def _gain(gain: Fraction | None) -> str:
    return "" if gain is None else f"  gain {number(gain)}"


def _students(handed: Iterable[Handed]) -> str:
    lines = []
    for one in handed:
        papers = [f"{paper.name} {number(one.earned(paper.name))} of {paper.marks}" for paper, _ in one.marks]
        lines.append(f"  {one.name:<22} {', '.join(papers)}")
    return "\n".join(["students", *lines])


def _items(handed: Sequence[Handed]) -> str:
    lines = []
    for row in rows(handed):
        name = f"  {row.paper:<9} {row.kind:<20} lesson {row.lesson:>2}  {row.right:>3} of {row.students:>3} right"
        missing = f", {row.missing} missing" if row.missing else ""
        slip = f"; {row.slips[0][1]} x {row.slips[0][0]}" if row.slips else ""
        lines.append(f"{name}{missing}{slip}")
    return "\n".join(["items", *lines])
