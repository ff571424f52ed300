r"""A file of answers as a student hands it in, and what it is worth.

The file is plain text in UTF-8, a line an answer:

    # a remark
    name Ada Lovelace
    seed 17
    lab1.1 16, 24, 1, 9
    lab1.2 (4,8):(1,4)
    quiz1.3 none

An item that a line begins with is its paper and its number; what follows is the answer. A line `seed` holds for the
lines after it, so that the papers of one file may have several. The last answer to an item counts. Items of a paper
that are not in the file count as missing.

A right answer has all marks. A list of numbers has those of the numbers that are right. A word that is wrong in one
field has half. Everything else is right or wrong; a derivation is marked step by step as its steps are items.

Law: a paper of which every key is handed in has all marks.

>>> from descriptors.course.papers.paper import paper
>>> lines = [f"lab1.{k} {item.exercise.solution}" for k, item in enumerate(paper("lab1", 17).items, 1)]
>>> one = read("\n".join(["name Ada", "seed 17", *lines]))
>>> one.name, str(one.earned("lab1")), one.passed("lab1")
('Ada', '10', True)

An empty answer has no marks, and none has more than all.

>>> item = paper("lab1", 1).items[0]
>>> [str(marked("lab1.1", item, answer).earned) for answer in (item.exercise.solution, "", item.exercise.wrong[-1][0])]
['1', '0', '0']
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

from descriptors.course.grading import grade
from descriptors.course.judges.accesses import turns_of
from descriptors.course.papers.item import Item
from descriptors.course.papers.paper import FIXED, FORMS, Paper, paper
from descriptors.errors import DescriptorError, brief
from layoutalg import LayoutError, evaluate, parse_int_tuple
from layoutalg.frozen import frozen

#: How the judge of a word begins where fields are wrong, and what stands between two of them.
_FIELDS = re.compile(r"wrong is (.+)$")


@frozen
class Mark:
    """One answer, marked.

    Args:
        where: the item, as ``lab1.3``.
        item: the question.
        answer: what was handed in; "" for nothing.
        judgement: what is wrong with it; None if it is right.
        slip: the mistake that leads to it, where that is known.
        earned: its marks.
        over: of a trace the turns beyond the par; None where there are none to count.
    """

    where: str
    item: Item
    answer: str
    judgement: str | None
    slip: str | None
    earned: Fraction
    over: int | None = None

    @property
    def right(self) -> bool:
        """Whether the answer is right."""
        return self.judgement is None


def marked(where: str, item: Item, answer: str) -> Mark:
    """An answer to an item, marked.

    Args:
        where: what the item is called.
        item: the question.
        answer: the text of the answer; "" where nothing was handed in.
    """
    if not answer.strip():
        return Mark(where, item, "", "is missing", None, Fraction(0))
    judgement = grade(item.exercise, answer)
    share = Fraction(1) if judgement is None else _part(item, answer, judgement)
    return Mark(
        where,
        item,
        answer,
        judgement,
        item.slip(answer) if judgement else None,
        share * item.marks,
        _over(item, answer),
    )


def _part(item: Item, answer: str, judgement: str) -> Fraction:
    exercise = item.exercise
    if exercise.judge == "numbers" and len(exercise.operands) > 1:
        return _numbers(answer, exercise.operands)
    fields = _FIELDS.search(judgement) if exercise.judge == "word of" else None
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
        turns = turns_of(answer, tile, room, steps)
    except LayoutError:  # which the errors of descriptors are too
        return None
    return None if isinstance(turns, str) else turns - par


#: The most bytes of a file: answers are short.
MOST_BYTES = 1 << 16


@frozen
class Submission:
    """What one student handed in.

    Args:
        name: the student; that of the file where it says none.
        marks: the marks of every item of every paper that the file has an answer to.
    """

    name: str
    marks: tuple[tuple[Paper, tuple[Mark, ...]], ...]

    def of(self, name: str) -> tuple[Mark, ...]:
        """The marks of a paper; none if it was not handed in."""
        return next((marks for one, marks in self.marks if one.name == name), ())

    def earned(self, name: str) -> Fraction:
        """The marks of a paper, added up."""
        return sum((mark.earned for mark in self.of(name)), Fraction(0))

    def passed(self, name: str) -> bool | None:
        """Whether a paper is passed; None where there is nothing to pass."""
        need = FORMS[name].to_pass
        return self.earned(name) >= need if need else None


def read(text: str, name: str = "", seed: str = "") -> Submission:
    """The answers of a text, marked.

    Args:
        text: the lines.
        name: the student, unless a line says so.
        seed: the seed, unless a line says so.

    Raises:
        DescriptorError: for a line that is no answer, an item that there is not, a paper under two seeds, or no answer.

    >>> read("lab1.11 4", seed="17")
    Traceback (most recent call last):
    descriptors.errors.DescriptorError: answers: lab1 has items 1 to 10, found 11 in line 1
    """
    papers: dict[str, Paper] = {}
    answers: dict[str, str] = {}
    for number, first, rest in _lines(text):
        if first == "name" and rest:
            name = rest
        elif first == "seed" and rest:
            seed = rest
        else:
            where, _, item = first.partition(".")
            if where not in FORMS or where == "cards":
                known = ", ".join(one for one in FORMS if one != "cards")
                raise DescriptorError(
                    f"answers: a line must begin with name, seed or an item of {known}, found {brief(first)} "
                    f"in line {number}"
                )
            sheet = papers.setdefault(where, paper(where, seed))
            if sheet.seed != seed and where not in FIXED:
                raise DescriptorError(
                    f"answers: {where} must have one seed, found {sheet.seed} and {brief(seed)} in line {number}"
                )
            if item not in {str(k + 1) for k in range(len(sheet.items))}:
                raise DescriptorError(
                    f"answers: {where} has items 1 to {len(sheet.items)}, found {item[:20] or 'none'} in line {number}"
                )
            answers[first] = rest
    if not answers:
        raise DescriptorError("answers: there must be an answer, as lab1.1 16, found none")
    return Submission(name, tuple((one, tuple(_marks(one, answers))) for one in papers.values()))


def read_file(path: Path, seed: str = "") -> Submission:
    """The answers of a file, marked; a student without a name is called as the file.

    Raises:
        DescriptorError: as ``read``, or if the file is no text of at most 64 KiB.
    """
    try:
        with path.open("rb") as file:
            raw = file.read(MOST_BYTES + 1)
        text = raw.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise DescriptorError(f"answers: the file must be text in UTF-8, found {path}: {_why(error)}") from error
    if len(raw) > MOST_BYTES:
        raise DescriptorError(f"answers: the file must have at most {MOST_BYTES} bytes, found more; file = {path}")
    try:
        return read(text, path.stem, seed)
    except DescriptorError as error:
        raise DescriptorError(f"{error}; file = {path}") from error


def by_student(submissions: Iterable[Submission]) -> list[Submission]:
    """One value for each student, in the order of their first file: a pretest and a posttest come weeks apart.

    Raises:
        DescriptorError: if a student handed in a paper twice.

    >>> [len(one.marks) for one in by_student([read("name A\\npretest.1 2"), read("name A\\nposttest.1 16")])]
    [2]
    """
    handed: dict[str, Submission] = {}
    for one in submissions:
        before = handed.get(one.name, Submission(one.name, ()))
        for paper_, _ in one.marks:
            if before.of(paper_.name):
                raise DescriptorError(
                    f"answers: a student must hand in a paper once, found two of {one.name}; paper = {paper_.name}"
                )
        handed[one.name] = Submission(one.name, before.marks + one.marks)
    return list(handed.values())


def _why(error: Exception) -> str:
    return error.strerror or "no file" if isinstance(error, OSError) else "not UTF-8"


def _lines(text: str) -> Iterator[tuple[int, str, str]]:
    """Number, first word and rest of every line that is no remark."""
    for number, line in enumerate(text.splitlines(), 1):
        bare = line.strip()
        if bare and not bare.startswith("#"):
            first, *rest = bare.split(None, 1)
            yield number, first, rest[0].strip() if rest else ""


def _marks(paper_: Paper, answers: dict[str, str]) -> Iterator[Mark]:
    for number, item in enumerate(paper_.items, 1):
        where = f"{paper_.name}.{number}"
        yield marked(where, item, answers.get(where, ""))
