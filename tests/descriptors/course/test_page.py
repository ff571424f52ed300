"""Cells: what Python prints of statements, errors as one line, nothing kept from one run to the next."""

from __future__ import annotations

import builtins
import sys

from each import each

from builder.markup import Example, pieces
from descriptors.course.catalog import lessons
from descriptors.course.page import MOST, Ran, run
from descriptors.course.source import Lesson


@each("lesson", lessons(), ids=lambda lesson: str(lesson.number))
def test_the_examples_of_a_lesson_print_what_its_text_says(lesson: Lesson) -> None:
    cells: list[str] = []
    for part in lesson.parts:
        for one in pieces(part.text) if part.kind == "text" else ():
            if isinstance(one, Example):
                outcome = run([*cells, one.typed])
                cells.append(one.typed)
                assert (outcome.printed + (outcome.error or "")).split() == one.printed.split()


@each(
    ("cell", "outcome"),
    [
        ("1\n'two'\nNone\n", Ran("1\n'two'\n", None)),
        ("for i in range(2):\n    print(i)\n", Ran("0\n1\n", None)),
        ("import sys\nprint('out', file=sys.stderr)", Ran("out\n", None)),
        ("1\n1 / 0\n2", Ran("1\n", "ZeroDivisionError: division by zero")),
        ("raise ValueError('a\\nb')", Ran("", "ValueError: a b")),
        ("raise ModuleNotFoundError('none\\n\\nsee there')", Ran("", "ModuleNotFoundError: none")),
        ("exit(3)", Ran("", "SystemExit: 3")),
        ("x = (", Ran("", "SyntaxError: '(' was never closed (line 1)")),
        ("", Ran("", None)),
        ("a", Ran("", "NameError: name 'a' is not defined")),
    ],
)
def test_a_cell_is_what_python_prints(cell: str, outcome: Ran) -> None:
    assert run([cell]) == outcome


def test_an_error_above_ends_that_cell_alone_and_nothing_is_kept() -> None:
    assert run(["a = 1\n1 / 0\nb = 2", "a", "b"]).error == "NameError: name 'b' is not defined"
    assert run(["a = 1", "a"]) == Ran("1\n", None)
    assert run(["a"]).error == "NameError: name 'a' is not defined"


def test_python_is_left_as_it_was() -> None:
    before = sys.displayhook, vars(builtins).get("_")
    run(["3", "import sys\nsys.displayhook = print\n3"])
    assert (sys.displayhook, vars(builtins).get("_")) == before


def test_what_is_too_long_to_read_is_cut() -> None:
    assert run([f"print('a' * {MOST + 9})"]).printed == f"{'a' * MOST}\n... and 10 more characters\n"
