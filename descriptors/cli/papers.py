"""Papers in the terminal: what the command `course` does with the name of a paper, and with what was handed in."""

from __future__ import annotations

import json
from pathlib import Path

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
from descriptors.course.papers.submission import Submission, gathered, read_file
from descriptors.course.source import Exercise
from descriptors.errors import DescriptorError
from layoutalg.cli.console import Status, say


def is_paper(where: str) -> bool:
    """Whether a text names a paper, or an item of one."""
    return where == "papers" or where.partition(".")[0] in FORMS


def shown(where: str, seed: str | None, as_json: bool) -> Status:
    """A paper, one of its items, or the list of papers."""
    name, dot, number = where.partition(".")
    if name == "papers":
        say(json.dumps({"papers": list(FORMS)}) if as_json else tell_forms())
        return Status.ANSWER
    one = paper(name, seed or "")
    if not dot:
        say(json.dumps(record_paper(one, keys=name == "cards"), indent=1) if as_json else tell_paper(one))
        return Status.ANSWER
    item = one.items[_number(one, number) - 1]
    say(json.dumps(record_item(where, item, keys=False), indent=1) if as_json else tell_item(where, item))
    return Status.ANSWER


def exercise_of(where: str, seed: str | None) -> tuple[Exercise, str]:
    """The exercise of an item, and the name under which progress with it is kept."""
    name, _, number = where.partition(".")
    one = paper(name, seed or "")
    item = one.items[_number(one, number) - 1]
    return item.exercise, f"{where}:{one.seed}" if name not in FIXED else where


def _number(one: Paper, number: str) -> int:
    if number not in {str(k + 1) for k in range(len(one.items))}:
        raise DescriptorError(f"course: {one.name} has items 1 to {len(one.items)}, found {number[:20] or 'none'}")
    return int(number)


def marked(given: Path, seed: str | None, as_json: bool) -> Status:
    """A file that was handed in, or a folder of them, with marks; exit status 1 where not all is right."""
    if not given.is_dir():
        submissions = [read_file(given, seed or "")]
        say(json.dumps(record_class(submissions), indent=1) if as_json else tell_submission(submissions[0]))
    else:
        submissions = _folder(given, seed or "")
        say(json.dumps(record_class(submissions), indent=1) if as_json else tell_class(submissions))
    right = all(mark.right for one in submissions for _, marks in one.marks for mark in marks)
    return Status.ANSWER if right else Status.DIFFERENCE


def _folder(given: Path, seed: str) -> list[Submission]:
    """Every text file of a folder, by name."""
    files = sorted(path for path in given.iterdir() if path.suffix == ".txt")
    if not files:
        raise DescriptorError(f"answers: the folder must have files *.txt, found none; folder = {given}")
    return gathered(read_file(path, seed) for path in files)
