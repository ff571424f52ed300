r"""Mark the files that students hand in: a file that cannot be read does not stop the others.

A right answer has all marks. A list of numbers has those of the numbers that are right. A word that is wrong in one
field has half. Everything else is right or wrong. An answer that could not be read has no marks, and is listed for the
teacher with its text.

Law: a paper of which every key is handed in has all marks.

>>> from papers.paper import paper
>>> lines = [f"lab1.{k} {item.exercise.solution}" for k, item in enumerate(paper("lab1", 17).items, 1)]
>>> submission = read("\n".join(["name Ada", "seed 17", *lines]))
>>> submission.name, str(submission.earned("lab1")), submission.passed("lab1")
('Ada', '10', True)

An empty answer has no marks, and a list of four numbers with one that is right a quarter.

>>> item = paper("lab1", 1).items[0]
>>> [str(marked("lab1.1", item, answer).earned) for answer in (item.exercise.solution, "", item.exercise.wrong[-1][0])]
['1', '0', '1/4']
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from descriptors.course.grading import GradedAnswer, judge, mistake_of
from descriptors.course.judges.answers import integers_of
from descriptors.errors import DescriptorError
from layoutalg import evaluate
from layoutalg.frozen import frozen
from papers.class_list import Seeds, has_name, student_named, student_of_file
from papers.hand_in import FileLine, HandIn, paper_in_name, read_hand_in, read_lines, remark_of
from papers.item import Item
from papers.paper import FIXED, FORMS, Paper, paper

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
        is_read: whether the answer could be read; an answer that is missing counts as read.
    """

    where: str
    item: Item
    answer: str
    judgement: str | None
    slip: str | None
    earned: Fraction
    is_read: bool = True

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
    judgement = judge(item.exercise, answer)
    is_starter = "".join(answer.split()) == "".join(item.exercise.starter.split())
    share = Fraction(1) if judgement.hint is None else _part(item, judgement)
    slip = mistake_of(item.exercise, judgement) if judgement.is_read else None
    return Mark(where, item, answer, judgement.hint, slip, share * item.marks, judgement.is_read or is_starter)


def _part(item: Item, judgement: GradedAnswer) -> Fraction:
    exercise = item.exercise
    if exercise.judge == "numbers" and len(exercise.operands) > 1:
        return _numbers(judgement.reading, exercise.operands)
    fields = _FIELDS.search(judgement.hint or "") if exercise.judge == "word of" else None
    return Fraction(1, 2) if fields and "," not in fields[1] else Fraction(0)


def _numbers(answer: str, operands: tuple[Any, ...]) -> Fraction:
    """The share of the numbers that are right, each at its place."""
    try:
        mine = integers_of(answer, len(operands))
    except DescriptorError:
        return Fraction(0)
    return Fraction(sum(one == evaluate(right) for one, right in zip(mine, operands, strict=True)), len(operands))


@frozen
class Submission:
    """What one student handed in.

    Args:
        name: the student as the class list writes it; without a list, as the file does, or the name of the file.
        marks: the marks of every item of every paper that the file has an answer to.
        remarks: lines that are not answers, and other remarks for the teacher.
    """

    name: str
    marks: tuple[tuple[Paper, tuple[Mark, ...]], ...]
    remarks: tuple[str, ...] = ()

    def of(self, name: str) -> tuple[Mark, ...]:
        """The marks of a paper; none if it was not handed in."""
        return next((marks for one, marks in self.marks if one.name == name), ())

    def earned(self, name: str) -> Fraction:
        """The marks of a paper, added up."""
        return sum((mark.earned for mark in self.of(name)), Fraction(0))

    @property
    def unread(self) -> tuple[Mark, ...]:
        """The answers that could not be read."""
        return tuple(mark for _, marks in self.marks for mark in marks if not mark.is_read)

    def passed(self, name: str) -> bool | None:
        """Whether a paper is passed; None where there is nothing to pass."""
        need = FORMS[name].to_pass
        return self.earned(name) >= need if need else None


def read(text: str, name: str = "", seed: str = "", seeds: Seeds | None = None) -> Submission:
    """Return the answers of a text, marked; the arguments are those of :func:`mark_lines`.

    >>> read("Name: Ivy\\nDear Prof,\\nLab1.1: 4\\nlab1.11 4", seed="17").remarks
    ("2 lines are not answers, such as line 4: 'lab1.11 4'",)
    """
    return mark_lines([FileLine(f"line {k}", line) for k, line in enumerate(text.splitlines(), 1)], name, seed, seeds)


def mark_lines(
    lines: Sequence[FileLine], name: str = "", seed: str = "", seeds: Seeds | None = None, paper_name: str = ""
) -> Submission:
    """Return the answers of a file, marked.

    Args:
        lines: its lines.
        name: the name of the file, which is that of the student if no line has it.
        seed: the seed, if no line has it.
        seeds: those of the class, which count more than the file.
        paper_name: the paper of items without one, if neither the lines nor the name of the file has it.

    Raises:
        DescriptorError: if no line is an answer, or the paper cannot be drawn.
    """
    hand_in = read_hand_in(lines, paper_in_name(name) or paper_name)
    own = hand_in.seed or seed
    student, remarks = _student(hand_in, name, seeds)
    if not hand_in.answers:
        raise DescriptorError(f"answers: {_no_answer(hand_in, lines)}")
    class_seed = (seeds or {}).get(student, own)
    if own not in ("", class_seed):
        remarks.append(f"has the seed {own}, but the class list has {class_seed}")
    if not class_seed and seeds is not None:
        raise DescriptorError(f"answers: {student} is not in the class list; correct the name in the file")
    if remark := remark_of(hand_in):
        remarks.append(remark)
    names = dict.fromkeys(item_name.partition(".")[0] for item_name in hand_in.answers)
    papers = [paper(paper_name, class_seed) for paper_name in names]
    marks = tuple((drawn, tuple(_marks(drawn, hand_in.answers))) for drawn in papers)
    return Submission(student, marks, tuple(remarks))


def _student(hand_in: HandIn, file_name: str, seeds: Seeds | None) -> tuple[str, list[str]]:
    """Return the student of a hand-in, and remarks on the name."""
    if seeds is None:
        return hand_in.name or file_name, []
    student = student_named(hand_in.name, seeds) if hand_in.name else student_of_file(file_name, seeds)
    if not student:
        name = hand_in.name or file_name
        return name, [f"is not in the class: {name}"]
    is_likely = not hand_in.name and not has_name(file_name, student)
    return student, [f"has no line with a name; by the name of the file it is of {student}"] if is_likely else []


def _no_answer(hand_in: HandIn, lines: Iterable[FileLine]) -> str:
    """Return why a file has no answers, with the first line that could be one."""
    if not any(line.text.strip() for line in lines):
        return "the file is empty"
    if hand_in.unnamed:
        return remark_of(hand_in)
    reason = remark_of(hand_in) or "it has only a name or a seed"
    return f"no line begins with an item; {reason}; write each answer after its item, such as lab1.1 16, 24"


@frozen
class Handed:
    """What a class handed in: a value for each student, and what a teacher should look at, with the file's name."""

    submissions: tuple[Submission, ...]
    remarks: tuple[str, ...]


def read_files(files: Iterable[Path], seed: str = "", seeds: Seeds | None = None, paper_name: str = "") -> Handed:
    """Return the answers of files, marked, one value for each student; what cannot be read is a remark.

    Args:
        files: the files, in the order in which they count.
        seed: for files that have none.
        seeds: those of the class, if there is a list.
        paper_name: the paper of items without one.
    """
    files = list(files)
    handed, remarks, texts, seen = dict[str, Submission](), list[str](), dict[str, str](), dict[tuple[str, str], str]()
    for path in files:
        try:
            one = mark_lines(read_lines(path), path.stem, seed, seeds, paper_name)
        except DescriptorError as error:
            remarks.append(f"{path.name} was not marked: {str(error).removeprefix('answers: ')}")
            continue
        remarks += [f"{path.name} {remark}" for remark in one.remarks]
        answers = "\n".join(f"{mark.where} {mark.answer}" for _, marks in one.marks for mark in marks)
        if (other := texts.setdefault(answers, path.name)) != path.name:
            remarks.append(f"{path.name} has the answers of {other}, letter by letter")
        for sheet, _ in one.marks:
            who = seen.setdefault((sheet.name, sheet.seed), path.name)
            if who != path.name and sheet.name not in FIXED:
                remarks.append(f"{path.name} has the seed of {who}: {sheet.name}, seed {sheet.seed}")
        before = handed.get(one.name.casefold(), Submission(one.name, ()))
        twice = [sheet.name for sheet, _ in one.marks if before.of(sheet.name)]
        if twice:
            remarks.append(f"{path.name} was not marked: {one.name} handed in {twice[0]} before")
            continue
        handed[one.name.casefold()] = Submission(before.name, before.marks + one.marks)
    silent = [name for name in seeds or () if name.casefold() not in handed and len(files) > 1]
    remarks += [f"nothing from {len(silent)}: {', '.join(silent)}"] if silent else []
    return Handed(tuple(handed.values()), tuple(remarks))


def _marks(paper_: Paper, answers: dict[str, str]) -> Iterator[Mark]:
    for number, item in enumerate(paper_.items, 1):
        where = f"{paper_.name}.{number}"
        yield marked(where, item, answers.get(where, ""))
