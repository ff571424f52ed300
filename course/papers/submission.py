r"""Files of answers as students hand them in, and what they are worth: a file that cannot be read stops nobody else.

A file is plain text, a line an answer:

    # a remark
    name Ada Lovelace
    seed 17
    lab1.1 16, 24, 1, 9
    quiz1.3 none

An item that a line begins with is its paper and its number; what follows is the answer. A colon after the first word
and capital letters do not matter. The last answer to an item counts; items that are not there are missing. A line that
is none of these is a remark for the teacher.

A right answer has all marks. A list of numbers has those of the numbers that are right. A word that is wrong in one
field has half. Everything else is right or wrong.

Law: a paper of which every key is handed in has all marks.

>>> from papers.paper import paper
>>> lines = [f"lab1.{k} {item.exercise.solution}" for k, item in enumerate(paper("lab1", 17).items, 1)]
>>> one = read("\n".join(["name Ada", "seed 17", *lines]))
>>> one.name, str(one.earned("lab1")), one.passed("lab1")
('Ada', '10', True)

An empty answer has no marks, and a list of four numbers with one that is right a quarter.

>>> item = paper("lab1", 1).items[0]
>>> [str(marked("lab1.1", item, answer).earned) for answer in (item.exercise.solution, "", item.exercise.wrong[-1][0])]
['1', '0', '1/4']
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from descriptors.course.grading import grade
from descriptors.course.judges.answers import integers_of
from descriptors.errors import DescriptorError, brief
from layoutalg import evaluate
from layoutalg.frozen import frozen
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
    """

    where: str
    item: Item
    answer: str
    judgement: str | None
    slip: str | None
    earned: Fraction

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
        item.exercise.mistake(answer) if judgement else None,
        share * item.marks,
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
        mine = integers_of(answer, len(operands))
    except DescriptorError:
        return Fraction(0)
    return Fraction(sum(one == evaluate(right) for one, right in zip(mine, operands, strict=True)), len(operands))


#: The most bytes of a file: answers are short.
MOST_BYTES = 1 << 16


@frozen
class Submission:
    """What one student handed in.

    Args:
        name: the student; that of the file where it says none.
        marks: the marks of every item of every paper that the file has an answer to.
        remarks: lines that are no answers, and what else a teacher should see.
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

    def passed(self, name: str) -> bool | None:
        """Whether a paper is passed; None where there is nothing to pass."""
        need = FORMS[name].to_pass
        return self.earned(name) >= need if need else None


#: The seeds of a class, by the names of its students in small letters.
Seeds = Mapping[str, str]


def read(text: str, name: str = "", seed: str = "", seeds: Seeds | None = None) -> Submission:
    """The answers of a text, marked.

    Args:
        text: the lines.
        name: the student, unless a line says so.
        seed: the seed, unless a line says so.
        seeds: those of the class, which count more than what the text says.

    Raises:
        DescriptorError: if there is no answer in it, or no paper can be drawn from its seed.

    >>> read("Name: Ivy\\nDear Prof,\\nLab1.1: 4\\nlab1.11 4", seed="17").remarks
    ("line 2 is no answer: 'Dear Prof,'", "line 4 is no answer: 'lab1.11 4'")
    """
    lines, own = list(_lines(text)), seed
    name = next((rest for _, first, rest in lines if first == "name" and rest), name)
    own = next((rest for _, first, rest in lines if first == "seed" and rest), seed)
    seed = (seeds or {}).get(name.casefold(), own)
    remarks = [f"says seed {own}, but has {seed} in the class"] if own not in ("", seed) else []
    if seeds is not None and name.casefold() not in seeds:
        remarks.append(f"is not in the class: {name}")
    answers: dict[str, str] = {}
    for number, first, rest in lines:
        paper_name, _, item = first.partition(".")
        if paper_name in FORMS and item.isdecimal() and 1 <= int(item) <= len(FORMS[paper_name].slots):
            answers[f"{paper_name}.{int(item)}"] = rest
        elif first not in ("name", "seed"):
            remarks.append(f"line {number} is no answer: {brief(f'{first} {rest}'.strip(), 40)}")
    if not answers:
        raise DescriptorError("answers: there must be an answer, as lab1.1 16, found none")
    papers = [paper(one, seed) for one in dict.fromkeys(where.partition(".")[0] for where in answers)]
    return Submission(name, tuple((one, tuple(_marks(one, answers))) for one in papers), tuple(remarks))


def text_of(path: Path) -> str:
    """The text of a file in UTF-8, or in UTF-16 as Windows calls Unicode.

    Raises:
        DescriptorError: if the file is no text of at most 64 KiB.
    """
    try:
        with path.open("rb") as file:
            raw = file.read(MOST_BYTES + 1)
        if len(raw) > MOST_BYTES:
            raise DescriptorError(f"answers: the file must have at most {MOST_BYTES} bytes, found more")
        return raw.decode("utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except OSError as error:
        raise DescriptorError(f"answers: the file must be there, found {error.strerror or 'none'}; {path}") from error
    except UnicodeDecodeError as error:
        raise DescriptorError("answers: the file must be text, in UTF-8 or UTF-16, found other bytes") from error


@frozen
class Handed:
    """What a class handed in: a value for each student, and what a teacher should look at, with the file's name."""

    submissions: tuple[Submission, ...]
    remarks: tuple[str, ...]


def read_files(files: Iterable[Path], seed: str = "", seeds: Seeds | None = None) -> Handed:
    """The answers of files, marked, one value for each student; what cannot be read is a remark.

    Args:
        files: the files, in the order in which they count.
        seed: for files that say none.
        seeds: those of the class by name, if there is a list.
    """
    handed, remarks, texts, seen = dict[str, Submission](), list[str](), dict[str, str](), dict[tuple[str, str], str]()
    for path in files:
        try:
            text = text_of(path)
            one = read(text, path.stem, seed, seeds)
        except DescriptorError as error:
            remarks.append(f"{path.name} was not marked: {error}")
            continue
        remarks += [f"{path.name} {remark}" for remark in one.remarks]
        answers = "\n".join(f"{first} {rest}" for _, first, rest in _lines(text) if first not in ("name", "seed"))
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
    silent = [name for name in seeds or () if name not in handed]
    remarks += [f"nothing from {len(silent)}: {', '.join(silent)}"] if silent else []
    return Handed(tuple(handed.values()), tuple(remarks))


def _lines(text: str) -> Iterator[tuple[int, str, str]]:
    """Number, first word and rest of every line that is no remark."""
    for number, line in enumerate(text.splitlines(), 1):
        first, _, rest = line.strip().partition(" ") if ":" not in line.split(" ")[0] else line.strip().partition(":")
        if first and not first.startswith("#"):
            known = first.casefold().rstrip(":")
            yield (
                number,
                known if known in ("name", "seed") or known.partition(".")[0] in FORMS else first,
                rest.strip(),
            )


def _marks(paper_: Paper, answers: dict[str, str]) -> Iterator[Mark]:
    for number, item in enumerate(paper_.items, 1):
        where = f"{paper_.name}.{number}"
        yield marked(where, item, answers.get(where, ""))
