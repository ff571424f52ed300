"""Answer the requests of a course page: run a cell, draw a figure, judge an answer, write or read a line to hand in.

Invariant: the reply to any request is a record, and a refusal contains the message of the error in one line.

>>> ANSWERS["check"]({"exercise": "5.1", "answer": "6:1"})["told"][:75]
'your answer reaches offset 2 twice: by (a 0, yours 2) and by (a 1, yours 0)'
>>> {name: ask({"answer": 3})["ok"] for name, ask in ANSWERS.items()}
{'run': False, 'draw': False, 'check': False, 'line': False, 'read': False}

Examples are cells: the output is what Python prints for each statement in interactive mode; an error is one line. Runs
do not share state: each run executes all cells above a cell again, so the page always shows the code that was run.

>>> run(["a = 3", "a + 1\\nprint('five')\\na"])
Ran(printed='4\\nfive\\n3\\n', error=None)
>>> run(["from layoutalg import *", "composition(Layout((6, 2), (1, 7)), Layout((3, 2), (2, 3)))"]).error[:54]
'layoutalg.errors.NotDivisibleError: composition: the r'
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from functools import wraps
from io import StringIO
from traceback import format_exception_only
from typing import Any

from descriptors.course.figures import figure
from descriptors.course.grading import attempt, check
from descriptors.course.progress import Receipt, read_receipt
from descriptors.errors import DescriptorError
from descriptors.show.browser.reply import REFUSALS, Answers, refusal
from layoutalg.frozen import frozen

#: The largest number of characters shown of a cell's output.
MOST = 20_000


@frozen
class Ran:
    """The output of a cell, and the error that ended it."""

    printed: str
    error: str | None


def run(cells: Sequence[str]) -> Ran:
    """Run all cells in order and return the output of the last one; an error ends only its own cell.

    Args:
        cells: the text of each cell, lines of Python.

    >>> run(["1 / 0", "2"]), run(["x ="]).error
    (Ran(printed='2\\n', error=None), 'SyntaxError: invalid syntax (line 1)')
    """
    variables: dict[str, object] = {"__name__": "__main__"}
    run_cells = Ran("", None)
    for cell in cells:
        run_cells = _run_cell(cell, variables)
    return run_cells


def one_line(error: BaseException) -> str:
    """Return the message of an error as Python prints it, in one line.

    >>> one_line(ValueError("one\\ntwo"))
    'ValueError: one two'
    """
    if isinstance(error, SyntaxError):
        return f"{type(error).__name__}: {error.msg} (line {error.lineno})"
    message = "".join(format_exception_only(error)).strip()
    if isinstance(error, ImportError):  # the other lines explain how another kind of page could load the module
        message = message.partition("\n")[0]
    return " ".join(message.split())


def _show(value: object) -> None:
    """Print a value as the interactive Python does, without storing it in ``_``."""
    if value is not None:
        print(repr(value))


def _run_cell(cell: str, variables: dict[str, object]) -> Ran:
    output, displayhook, error = StringIO(), sys.displayhook, None
    try:
        sys.displayhook = _show
        with redirect_stdout(output), redirect_stderr(output):
            for statement in ast.parse(cell).body:
                exec(compile(ast.Interactive([statement]), "<cell>", "single"), variables)  # noqa: S102
    except (Exception, SystemExit) as exception:  # noqa: BLE001  a cell may raise any error, which is shown
        error = one_line(exception)
    finally:
        sys.displayhook = displayhook
    printed = output.getvalue()
    if len(printed) > MOST:
        printed = f"{printed[:MOST]}\n... and {len(printed) - MOST} more characters\n"
    return Ran(printed, error)


Record = dict[str, Any]


def refusing(answer: Callable[[Mapping[str, Any]], Record]) -> Callable[[object], Record]:
    """Return a function that accepts any value and returns refusals as records."""

    @wraps(answer)
    def reply(question: object) -> Record:
        try:
            if not isinstance(question, Mapping):
                raise DescriptorError(f"page: a question of type {type(question).__name__} is not a record")
            return {"ok": True, **answer(question)}
        except REFUSALS as error:
            return {"ok": False, "error": refusal(error)}

    return reply


def _text(question: Mapping[str, Any], name: str) -> str:
    value = question.get(name)
    if not isinstance(value, str) or len(value) > 100_000:
        fact = f"has {len(value)} characters" if isinstance(value, str) else f"is of type {type(value).__name__}"
        raise DescriptorError(f"page: {name} {fact}, and is not a text of at most 100000 characters")
    return value


def _texts(question: Mapping[str, Any], name: str) -> list[str]:
    value = question.get(name)
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise DescriptorError(f"page: {name} of type {type(value).__name__} is not a list of texts")
    return value


@refusing
def run_cells(question: Mapping[str, Any]) -> Record:
    """Return the output of the last of ``cells``, run after the others.

    >>> run_cells({"cells": ["a = 1", "a"]})
    {'ok': True, 'printed': '1\\n', 'error': None}
    """
    outcome = run(_texts(question, "cells"))
    return {"printed": outcome.printed, "error": outcome.error}


@refusing
def drawing(question: Mapping[str, Any]) -> Record:
    """Return the figure of a ``text`` as SVG; ``kind`` is that of a block in a lesson.

    >>> drawing({"kind": "figure", "text": "4:"})["error"]["message"]
    "notation: expected a number, '(', 'S<' or '_', found the end of the text; text = '4:'"
    """
    text, kind = _text(question, "text"), _text(question, "kind")
    try:
        return {"svg": figure(kind, text).svg()}
    except REFUSALS:
        raise
    except Exception as error:
        raise DescriptorError(f"picture: {one_line(error)}") from error


@refusing
def checked(question: Mapping[str, Any]) -> Record:
    """Return the verdict on an ``answer`` to an ``exercise``, and whether it counts as an attempt.

    >>> checked({"exercise": "5.2", "answer": "?:?"})
    {'ok': True, 'right': False, 'attempt': False, 'told': 'your answer is still to be filled in: ?:?'}
    """
    answer = _text(question, "answer")
    judgement = check(_text(question, "exercise"), answer)
    return {"right": judgement == "right", "attempt": attempt(answer, judgement), "told": " ".join(judgement.split())}


@refusing
def line(question: Mapping[str, Any]) -> Record:
    """Return the line with which a student hands in the ``solved`` exercises under a ``name``.

    >>> line({"name": "Ada 4711", "solved": ["1.1"]})["line"]
    'layoutalg-1; Ada 4711; 1.1; 3FTK-4JJJ'
    """
    return {"line": str(Receipt(_text(question, "name"), tuple(_texts(question, "solved"))))}


@refusing
def lines(question: Mapping[str, Any]) -> Record:
    """Return the content of each line of a ``text``, or the error if it is not a line that was handed in.

    >>> lines({"text": "layoutalg-1; Ada 4711; 1.1; 3FTK-4JJJ"})["lines"]
    [{'ok': True, 'name': 'Ada 4711', 'solved': ['1.1'], 'spans': '1.1'}]
    """
    return {"lines": [_read(row) for row in _text(question, "text").splitlines() if row.strip()]}


def _read(text: str) -> Record:
    try:
        receipt = read_receipt(text)
    except DescriptorError as error:
        return {"ok": False, "error": refusal(error)}
    return {"ok": True, "name": receipt.name, "solved": list(receipt.solved), "spans": receipt.spans}


#: The requests of a page, and the functions that answer them.
ANSWERS: Answers = {"run": run_cells, "draw": drawing, "check": checked, "line": line, "read": lines}
