"""Papers in the terminal: what the command `course` does with the name of a paper, and with what was handed in.

A paper is named, ``quiz1``, and an item of it by its number, ``quiz1.2``.

>>> is_paper("papers"), is_paper("quiz1.2"), is_paper("11.2")
(True, True, False)
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from descriptors.course.papers.item import Item
from descriptors.course.papers.paper import FIXED, FORMS, Paper, paper
from descriptors.course.papers.report import (
    record_class,
    record_item,
    record_paper,
    tell_class,
    tell_forms,
    tell_item,
    tell_paper,
    tell_submission,
)
from descriptors.course.papers.submission import Submission, by_student, read_file
from descriptors.course.source import Exercise
from descriptors.errors import DescriptorError
from layoutalg.cli.console import Status, say


def is_paper(where: str) -> bool:
    """Whether a text names a paper, or an item of one."""
    return where == "papers" or where.partition(".")[0] in FORMS


def print_paper(where: str, seed: str | None, as_json: bool) -> Status:
    """A paper, one of its items, or the list of papers."""
    name, dot, _ = where.partition(".")
    if name == "papers":
        say(json.dumps({"papers": list(FORMS)}) if as_json else tell_forms())
    elif dot:
        _, item = _item(where, seed)
        say(_json(record_item(where, item, keys=False)) if as_json else tell_item(where, item))
    else:
        whole = paper(name, seed or "")
        # A card is for the examiner, who has the answer on it.
        say(_json(record_paper(whole, keys=name == "cards")) if as_json else tell_paper(whole))
    return Status.ANSWER


def exercise_of(where: str, seed: str | None) -> tuple[Exercise, str]:
    """The exercise of an item, and the name under which progress with it is kept."""
    whole, item = _item(where, seed)
    return item.exercise, where if whole.name in FIXED else f"{where}:{whole.seed}"


def print_marks(path: Path, seed: str | None, as_json: bool) -> Status:
    """A file that was handed in, or a folder of them, with marks; exit status 1 where not all is right."""
    submissions = _folder(path, seed or "") if path.is_dir() else [read_file(path, seed or "")]
    if as_json:
        say(_json(record_class(submissions)))
    else:
        say(tell_class(submissions) if path.is_dir() else tell_submission(submissions[0]))
    right = all(mark.right for submission in submissions for _, marks in submission.marks for mark in marks)
    return Status.ANSWER if right else Status.DIFFERENCE


def _json(data: Any) -> str:
    return json.dumps(data, indent=1)


def _item(where: str, seed: str | None) -> tuple[Paper, Item]:
    """The paper and the item that a name such as ``quiz1.2`` means."""
    name, _, number = where.partition(".")
    whole = paper(name, seed or "")
    if number not in {str(k + 1) for k in range(len(whole.items))}:
        raise DescriptorError(f"course: {whole.name} has items 1 to {len(whole.items)}, found {number[:20] or 'none'}")
    return whole, whole.items[int(number) - 1]


def _folder(path: Path, seed: str) -> list[Submission]:
    """Every text file of a folder, by name."""
    files = sorted(file for file in path.iterdir() if file.suffix == ".txt")
    if not files:
        raise DescriptorError(f"answers: the folder must have files *.txt, found none; folder = {path}")
    return by_student(read_file(file, seed) for file in files)
