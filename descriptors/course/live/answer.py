"""What a page of the course asks: to run a cell, draw a figure, judge an answer, make a line to hand in, read lines.

Law: whatever is asked, the answer is a record, and a refusal is the engine's own sentence in one line.

>>> ANSWERS["check"]({"exercise": "5.1", "answer": "6:1"})["told"]
'your answer reaches offset 2 twice: by (a 0, yours 2) and by (a 1, yours 0)'
>>> {name: ask({"answer": 3})["ok"] for name, ask in ANSWERS.items()}
{'run': False, 'draw': False, 'check': False, 'line': False, 'read': False}
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from descriptors.course.figures import figure
from descriptors.course.grading import attempted, grade
from descriptors.course.handed import Handed, read
from descriptors.course.live.cells import one_line, run
from descriptors.course.source import find
from descriptors.errors import DescriptorError
from descriptors.show.browser.reply import REFUSALS, Answers, refusal

Record = dict[str, Any]


def told(answer: Callable[[Mapping[str, Any]], Record]) -> Callable[[object], Record]:
    """A function that takes anything and refuses in a record."""

    @wraps(answer)
    def whatever(asked: object) -> Record:
        try:
            if not isinstance(asked, Mapping):
                raise DescriptorError(f"page: a question must be a record, found {type(asked).__name__}")
            return {"ok": True, **answer(asked)}
        except REFUSALS as error:
            return {"ok": False, "error": refusal(error)}

    return whatever


def _text(asked: Mapping[str, Any], name: str) -> str:
    value = asked.get(name)
    if not isinstance(value, str) or len(value) > 100_000:
        raise DescriptorError(f"page: {name} must be a text of at most 100000 signs, found {type(value).__name__}")
    return value


def _texts(asked: Mapping[str, Any], name: str) -> list[str]:
    value = asked.get(name)
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise DescriptorError(f"page: {name} must be a list of texts, found {type(value).__name__}")
    return value


@told
def ran(asked: Mapping[str, Any]) -> Record:
    """What the last of ``cells`` prints, after those before it.

    >>> ran({"cells": ["a = 1", "a"]})
    {'ok': True, 'printed': '1\\n', 'error': None}
    """
    found = run(_texts(asked, "cells"))
    return {"printed": found.printed, "error": found.error}


@told
def drawn(asked: Mapping[str, Any]) -> Record:
    """The figure of a ``text``, of a ``kind`` as in a lesson, as SVG.

    >>> drawn({"kind": "figure", "text": "4:"})["error"]["message"]
    "notation: expected a number, '(', 'S<' or '_', found the end of the text; text = '4:'"
    """
    text, kind = _text(asked, "text"), _text(asked, "kind")
    try:
        return {"svg": figure(kind, text).svg()}
    except REFUSALS:
        raise
    except Exception as error:
        raise DescriptorError(f"picture: {one_line(error)}") from error


@told
def checked(asked: Mapping[str, Any]) -> Record:
    """What an ``answer`` to an ``exercise`` is worth, and whether it was an attempt.

    >>> checked({"exercise": "5.2", "answer": "?:?"})
    {'ok': True, 'right': False, 'attempt': False, 'told': 'your answer is still to be filled in: ?:?'}
    """
    answer = _text(asked, "answer")
    wrong = grade(find(_text(asked, "exercise")), answer)
    said = f"your answer {wrong}" if wrong else "right"
    return {"right": wrong is None, "attempt": attempted(answer), "told": " ".join(said.split())}


@told
def line(asked: Mapping[str, Any]) -> Record:
    """The line that hands in what was ``solved`` under a ``name``.

    >>> line({"name": "Ada 4711", "solved": ["1.1"]})["line"]
    'layoutalg-1; Ada 4711; 1.1; 3FTK-4JJJ'
    """
    return {"line": str(Handed(_text(asked, "name"), tuple(_texts(asked, "solved"))))}


@told
def lines(asked: Mapping[str, Any]) -> Record:
    """What each line of a ``text`` says, or why it is none.

    >>> lines({"text": "layoutalg-1; Ada 4711; 1.1; 3FTK-4JJJ"})["lines"]
    [{'ok': True, 'name': 'Ada 4711', 'solved': ['1.1'], 'spans': '1.1'}]
    """
    return {"lines": [_read(one) for one in _text(asked, "text").splitlines() if one.strip()]}


def _read(text: str) -> Record:
    try:
        found = read(text)
    except DescriptorError as error:
        return {"ok": False, "error": refusal(error)}
    return {"ok": True, "name": found.name, "solved": list(found.solved), "spans": found.spans}


#: What a page may ask.
ANSWERS: Answers = {"run": ran, "draw": drawn, "check": checked, "line": line, "read": lines}
