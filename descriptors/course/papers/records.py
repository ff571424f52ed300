"""Papers, marks and statistics as plain data, for JSON and for tables of keys.

Law: a record is JSON, and the record of a paper has a key only where it is asked for.

>>> import json
>>> from descriptors.course.papers.paper import paper
>>> one = paper("lab1", 17)
>>> ["key" in json.loads(json.dumps(record_paper(one, keys=keys)))["items"][0] for keys in (False, True)]
[False, True]
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from descriptors.course.papers.handed import Handed
from descriptors.course.papers.item import Item
from descriptors.course.papers.paper import Paper
from descriptors.course.papers.statistics import board, gains, rows

#: The columns of a table of keys.
COLUMNS = ("student", "paper", "seed", "item", "kind", "lesson", "level", "marks", "key")


def record_item(where: str, item: Item, *, keys: bool) -> dict[str, Any]:
    """An item: its question, and with keys what the teacher knows of it."""
    exercise = item.exercise
    found = {
        "item": where,
        "kind": item.kind,
        "lesson": item.lesson,
        "level": item.level,
        "marks": item.marks,
        "ask": exercise.ask,
        "starter": exercise.starter,
    }
    if not keys:
        return found
    wrong = [
        {"answer": answer, "told": told, "slip": slip}
        for (answer, told), slip in zip(exercise.wrong, item.slips, strict=True)
    ]
    return found | {"key": exercise.solution, "why": exercise.why, "hints": list(exercise.hints), "wrong": wrong}


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


def record_handed(handed: Handed) -> dict[str, Any]:
    """What one student handed in, marked; marks are numbers."""
    return {
        "name": handed.name,
        "papers": [
            {
                "paper": paper.name,
                "seed": paper.seed,
                "earned": float(handed.earned(paper.name)),
                "marks": paper.marks,
                "passed": handed.passed(paper.name),
                "items": [
                    {
                        "item": mark.where,
                        "kind": mark.item.kind,
                        "answer": mark.answer,
                        "right": mark.right,
                        "earned": float(mark.earned),
                        "marks": mark.item.marks,
                        "told": mark.told,
                        "slip": mark.slip,
                    }
                    for mark in marks
                ],
            }
            for paper, marks in handed.marks
        ],
    }


def record_class(handed: Sequence[Handed]) -> dict[str, Any]:
    """What a class handed in: every student, the items, the gains, the leaderboard of lab 2."""
    return {
        "schema": 1,
        "students": [record_handed(one) for one in handed],
        "items": [
            {
                "paper": row.paper,
                "kind": row.kind,
                "lesson": row.lesson,
                "students": row.students,
                "right": row.right,
                "missing": row.missing,
                "earned": float(row.earned),
                "marks": row.marks,
                "slips": dict(row.slips),
            }
            for row in rows(handed)
        ],
        "gains": [
            {
                "misconception": one.misconception,
                "students": one.students,
                "before": one.before,
                "after": one.after,
                "gain": None if one.gain is None else float(one.gain),
            }
            for one in gains(handed)
        ],
        "lab2": [{"name": name, "traces": count, "over": over} for name, count, over in board(handed)],
    }


def key_rows(papers: Iterable[tuple[str, Paper]]) -> list[tuple[str, ...]]:
    """The rows of a table of keys, (student, paper) by (student, paper), under ``COLUMNS``."""
    found: list[tuple[str, ...]] = []
    for student, paper in papers:
        for k, item in enumerate(paper.items, 1):
            numbers = (str(k), item.kind, str(item.lesson), str(item.level), str(item.marks))
            found.append((student, paper.name, paper.seed, *numbers, item.exercise.solution))
    return found
