"""Examples as cells: what Python prints when it is typed in, statement by statement; an error is its one line.

Nothing is kept between two runs: a cell runs after all the cells above it, each time anew, so that what stands on the
page is what was run. Law: what an example prints is what the text says.

>>> run(["a = 3", "a + 1\\nprint('five')\\na"])
Ran(printed='4\\nfive\\n3\\n', error=None)
>>> run(["from layoutalg import *", "composition(Layout((6, 2), (1, 7)), Layout((3, 2), (2, 3)))"]).error[:54]
'layoutalg.errors.NotDivisibleError: composition: a(b(i'
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from traceback import format_exception_only

#: The most that is shown of what a cell prints, in signs.
MOST = 20_000


@dataclass(frozen=True, slots=True)
class Ran:
    """What a cell printed, and the error that it ended in."""

    printed: str
    error: str | None


def run(cells: Sequence[str]) -> Ran:
    """What the last of some cells prints, after the ones before it; an error in one of those ends that one alone.

    Args:
        cells: lines of Python, a text each.

    >>> run(["1 / 0", "2"]), run(["x ="]).error
    (Ran(printed='2\\n', error=None), 'SyntaxError: invalid syntax (line 1)')
    """
    known: dict[str, object] = {"__name__": "__main__"}
    ran = Ran("", None)
    for cell in cells:
        ran = _one(cell, known)
    return ran


def one_line(error: BaseException) -> str:
    """An error as Python tells it in the end, in one line.

    >>> one_line(ValueError("one\\ntwo"))
    'ValueError: one two'
    """
    if isinstance(error, SyntaxError):
        return f"{type(error).__name__}: {error.msg} (line {error.lineno})"
    told = "".join(format_exception_only(error)).strip()
    if isinstance(error, ImportError):  # what follows the first line says how another page could load it
        told = told.partition("\n")[0]
    return " ".join(told.split())


def _show(value: object) -> None:
    """What Python prints of a value that was typed in; nothing is remembered of it."""
    if value is not None:
        print(repr(value))


def _one(cell: str, known: dict[str, object]) -> Ran:
    written, before, error = StringIO(), sys.displayhook, None
    try:
        sys.displayhook = _show
        with redirect_stdout(written), redirect_stderr(written):
            for statement in ast.parse(cell).body:
                exec(compile(ast.Interactive([statement]), "<cell>", "single"), known)  # noqa: S102
    except (Exception, SystemExit) as raised:  # noqa: BLE001  whatever a cell raises is what it shows
        error = one_line(raised)
    finally:
        sys.displayhook = before
    printed = written.getvalue()
    if len(printed) > MOST:
        printed = f"{printed[:MOST]}\n... and {len(printed) - MOST} more signs\n"
    return Ran(printed, error)
