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

Law: a paper of which every key is handed in has all marks.

>>> from descriptors.course.papers.paper import paper
>>> lines = [f"lab1.{k} {item.exercise.solution}" for k, item in enumerate(paper("lab1", 17).items, 1)]
>>> one = read("\n".join(["name Ada", "seed 17", *lines]))
>>> one.name, str(one.earned("lab1")), one.passed("lab1")
('Ada', '10', True)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from descriptors.course.papers.forms import FIXED, FORMS
from descriptors.course.papers.marks import Mark, marked
from descriptors.course.papers.paper import Paper, paper
from descriptors.errors import DescriptorError, brief

#: The most bytes of a file: answers are short.
MOST_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class Handed:
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


def read(text: str, name: str = "", seed: str = "") -> Handed:
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
            found = papers.setdefault(where, paper(where, seed))
            if found.seed != seed and where not in FIXED:
                raise DescriptorError(
                    f"answers: {where} must have one seed, found {found.seed} and {brief(seed)} in line {number}"
                )
            if item not in {str(k + 1) for k in range(len(found.items))}:
                raise DescriptorError(
                    f"answers: {where} has items 1 to {len(found.items)}, found {item[:20] or 'none'} in line {number}"
                )
            answers[first] = rest
    if not answers:
        raise DescriptorError("answers: there must be an answer, as lab1.1 16, found none")
    return Handed(name, tuple((one, tuple(_marks(one, answers))) for one in papers.values()))


def read_file(path: Path, seed: str = "") -> Handed:
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


def gathered(handed: Iterable[Handed]) -> list[Handed]:
    """One value for each student, in the order of their first file: a pretest and a posttest come weeks apart.

    Raises:
        DescriptorError: if a student handed in a paper twice.

    >>> [len(one.marks) for one in gathered([read("name A\\npretest.1 2"), read("name A\\nposttest.1 16")])]
    [2]
    """
    found: dict[str, Handed] = {}
    for one in handed:
        before = found.get(one.name, Handed(one.name, ()))
        for paper_, _ in one.marks:
            if before.of(paper_.name):
                raise DescriptorError(
                    f"answers: a student must hand in a paper once, found two of {one.name}; paper = {paper_.name}"
                )
        found[one.name] = Handed(one.name, before.marks + one.marks)
    return list(found.values())


def _why(error: Exception) -> str:
    return error.strerror or "no file" if isinstance(error, OSError) else "not UTF-8"


def _lines(text: str) -> Iterator[tuple[int, str, str]]:
    """Number, first word and rest of every line that is no remark."""
    for number, line in enumerate(text.splitlines(), 1):
        bare = line.strip()
        if bare and not bare.startswith("#"):
            first, *rest = bare.split(None, 1)
            yield number, first, rest[0].strip() if rest else ""


def _marks(found: Paper, answers: dict[str, str]) -> Iterator[Mark]:
    for number, item in enumerate(found.items, 1):
        where = f"{found.name}.{number}"
        yield marked(where, item, answers.get(where, ""))
