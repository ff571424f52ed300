"""Papers, marks and statistics: as text for a terminal, and as plain data for JSON and for tables of keys.

Law: a record is JSON, and the record of a paper has a key only where it is asked for; its text has none.

>>> import json
>>> from papers.paper import paper
>>> one = paper("lab1", 17)
>>> ["key" in json.loads(json.dumps(record_paper(one, keys=keys)))["items"][0] for keys in (False, True)]
[False, True]
>>> print(tell_paper(one).splitlines()[0])
Lab: layouts, seed 17: 10 items, 10 marks, 60 minutes
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from descriptors.errors import brief
from papers.item import Item
from papers.paper import FORMS, Paper
from papers.statistics import gains, rows
from papers.submission import Handed, Mark, Submission


def tell_forms() -> str:
    """A line for each paper.

    >>> print(tell_forms().splitlines()[0])
    pretest   Pretest                     20 min
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
    """All questions of a paper."""
    texts = [tell_item(f"{paper.name}.{k}", item) for k, item in enumerate(paper.items, 1)]
    return "\n\n".join([f"{tell_head(paper)}\n{paper.form.about}", *texts])


def tell_item(where: str, item: Item) -> str:
    """A question, with its marks if it has more than one, and what to start from."""
    marks = f" ({item.marks} marks)" if item.marks > 1 else ""
    return f"{where}{marks}\n{item.exercise.ask}\nstart from: {item.exercise.starter}"


def number(value: Fraction) -> str:
    """Marks as they are written: whole, or with up to two digits.

    >>> number(Fraction(7, 2)), number(Fraction(3)), number(Fraction(2, 3))
    ('3.5', '3', '0.67')
    """
    return f"{float(value):.2f}".rstrip("0").rstrip(".")


def tell_submission(submission: Submission) -> str:
    """Every answer of a student with its marks, and what is wrong with it."""
    lines = []
    for paper, marks in submission.marks:
        passed = {True: ", passed", False: ", not passed", None: ""}[submission.passed(paper.name)]
        lines.append(
            f"{submission.name}: {paper.name} {number(submission.earned(paper.name))} of {paper.marks}{passed}"
        )
        lines += [_tell_mark(mark) for mark in marks]
    return "\n".join(lines)


def _tell_mark(mark: Mark) -> str:
    name = f"  {mark.where:<12} {number(mark.earned):>4} of {mark.item.marks}"
    if mark.right:
        return f"{name}  right"
    if not mark.answer:
        return f"{name}  missing"
    slip = f"\n{'':<24}perhaps: {mark.slip}" if mark.slip else ""
    return f"{name}  {mark.answer} {mark.judgement}{slip}\n{'':<24}hint: {mark.item.exercise.hints[0]}"


def tell_class(handed: Handed) -> str:
    """A class: the marks of each student, the items, the gain, and what could not be read or looks copied."""
    submissions = handed.submissions
    parts = [_students(submissions), _items(submissions)]
    if rows := gains(submissions):
        lines = [
            f"  {one.misconception:<22} {one.before:>3} -> {one.after:>3} of {one.students}{_gain(one.gain)}"
            for one in rows
        ]
        parts.append("\n".join(["right before and after, by misconception", *lines]))
    if to_look_at := [*unread_lines(submissions), *handed.remarks]:
        parts.append("\n".join(["to look at", *(f"  {line}" for line in to_look_at)]))
    return "\n\n".join(parts)


def unread_lines(submissions: Iterable[Submission]) -> list[str]:
    """Return the answers that could not be read, with the reasons, below the name of each student.

    >>> from papers.submission import read
    >>> lines = unread_lines([read("name Ada\\nseed 17\\nlab1.1 4 or 5\\nlab1.2 (4,8)")])
    >>> lines[0], lines[1][:24], len(lines)
    ('Ada: 2 answers could not be read; correct them in the file and mark again', "  lab1.1: '4 or 5': 'or'", 3)
    """
    lines = []
    for submission in submissions:
        if count := len(submission.unread):
            answers = f"{count} answers" if count > 1 else "1 answer"
            lines.append(f"{submission.name}: {answers} could not be read; correct them in the file and mark again")
        for mark in submission.unread:
            reason = (mark.judgement or "").removeprefix("cannot be read: ")
            lines.append(f"  {mark.where}: {brief(mark.answer, 80)}: {reason[:100]}")
    return lines


def _gain(gain: Fraction | None) -> str:
    return "" if gain is None else f"  gain {number(gain)}"


def _students(submissions: Iterable[Submission]) -> str:
    lines = []
    for one in submissions:
        papers = [f"{paper.name} {number(one.earned(paper.name))} of {paper.marks}" for paper, _ in one.marks]
        unread = f"; {len(one.unread)} not read" if one.unread else ""
        lines.append(f"  {one.name:<22} {', '.join(papers)}{unread}")
    return "\n".join(["students", *lines])


def _items(submissions: Sequence[Submission]) -> str:
    lines = []
    for row in rows(submissions):
        name = f"  {row.paper:<9} {row.kind:<20} lesson {row.lesson:>2}  {row.right:>3} of {row.students:>3} right"
        missing = f", {row.missing} missing" if row.missing else ""
        missing += f", {row.unread} not read" if row.unread else ""
        slip = f"; {row.slips[0][1]} x {row.slips[0][0]}" if row.slips else ""
        lines.append(f"{name}{missing}{slip}")
    return "\n".join(["items", *lines])


#: The columns of a table of keys.
COLUMNS = ("student", "paper", "seed", "item", "kind", "lesson", "level", "marks", "key")


def record_item(where: str, item: Item, *, keys: bool) -> dict[str, Any]:
    """An item: its question, and with keys what the teacher knows of it."""
    exercise = item.exercise
    record = {
        "item": where,
        "kind": item.kind,
        "lesson": item.lesson,
        "level": item.level,
        "marks": item.marks,
        "ask": exercise.ask,
        "starter": exercise.starter,
    }
    if not keys:
        return record
    wrong = [{"answer": answer, "told": told, "slip": slip} for answer, told, slip in exercise.wrong]
    return record | {"key": exercise.solution, "why": exercise.why, "hints": list(exercise.hints), "wrong": wrong}


def record_paper(paper: Paper, *, keys: bool = False) -> dict[str, Any]:
    """A paper, without keys unless they are asked for."""
    items = [record_item(f"{paper.name}.{k}", item, keys=keys) for k, item in enumerate(paper.items, 1)]
    form = paper.form
    return {
        "schema": 1,
        "paper": paper.name,
        "seed": paper.seed,
        "title": form.title,
        "minutes": form.minutes,
        "marks": paper.marks,
        "to_pass": form.to_pass,
        "items": items,
    }


def record_submission(submission: Submission) -> dict[str, Any]:
    """What one student handed in, marked; marks are numbers."""
    return {
        "name": submission.name,
        "papers": [
            {
                "paper": paper.name,
                "seed": paper.seed,
                "earned": float(submission.earned(paper.name)),
                "marks": paper.marks,
                "passed": submission.passed(paper.name),
                "items": [
                    {
                        "item": mark.where,
                        "kind": mark.item.kind,
                        "answer": mark.answer,
                        "right": mark.right,
                        "read": mark.is_read,
                        "earned": float(mark.earned),
                        "marks": mark.item.marks,
                        "told": mark.judgement,
                        "slip": mark.slip,
                    }
                    for mark in marks
                ],
            }
            for paper, marks in submission.marks
        ],
    }


def record_class(handed: Handed) -> dict[str, Any]:
    """What a class handed in: every student, the items, the gains, what is to be looked at."""
    submissions = handed.submissions
    return {
        "schema": 1,
        "students": [record_submission(one) for one in submissions],
        "items": [
            {
                "paper": row.paper,
                "kind": row.kind,
                "lesson": row.lesson,
                "students": row.students,
                "right": row.right,
                "missing": row.missing,
                "unread": row.unread,
                "earned": float(row.earned),
                "marks": row.marks,
                "slips": dict(row.slips),
            }
            for row in rows(submissions)
        ],
        "gains": [
            {
                "misconception": one.misconception,
                "students": one.students,
                "before": one.before,
                "after": one.after,
                "gain": None if one.gain is None else float(one.gain),
            }
            for one in gains(submissions)
        ],
        "unread": [
            {"name": student.name, "item": mark.where, "answer": mark.answer, "told": mark.judgement}
            for student in submissions
            for mark in student.unread
        ],
        "remarks": list(handed.remarks),
    }


def key_rows(papers: Iterable[tuple[str, Paper]]) -> list[tuple[str, ...]]:
    """The rows of a table of keys, (student, paper) by (student, paper), under ``COLUMNS``."""
    rows: list[tuple[str, ...]] = []
    for student, paper in papers:
        for k, item in enumerate(paper.items, 1):
            numbers = (str(k), item.kind, str(item.lesson), str(item.level), str(item.marks))
            rows.append((student, paper.name, paper.seed, *numbers, item.exercise.solution))
    return rows
