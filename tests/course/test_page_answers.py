"""What a page of the course asks: lessons in a real browser, without a network; and refusals as records."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import pytest
from each import each
from hypothesis import given
from hypothesis import strategies as st
from lesson_pages import counted, exercise, printed, said
from records import JSON

from builder.markup import Example, pieces
from descriptors.course.catalog import lessons
from descriptors.course.figures import figure
from descriptors.course.page import ANSWERS
from descriptors.course.progress import Receipt
from descriptors.course.source import FIGURES, Lesson

# ---- in a browser ----


def test_every_example_prints_what_the_text_says(opened: Any, lesson: Lesson) -> None:
    examples = [
        one for part in lesson.parts if part.kind == "text" for one in pieces(part.text) if isinstance(one, Example)
    ]
    assert opened.locator(".example").count() == len(examples) >= 1
    for number, one in enumerate(examples):
        output = printed(opened, number)
        assert output.split() == (one.printed or "It prints nothing.").split(), one.typed


def test_every_figure_is_drawn_again_by_its_box(opened: Any, lesson: Lesson) -> None:
    figures = [part for part in lesson.parts if part.kind in FIGURES]
    assert opened.locator("figure svg").count() == len(figures) >= 1
    for number in range(1, len(figures) + 1):
        form = f".draw:has(#f{number})"
        counted(opened, form, "drawn", opened.locator(f"{form} button:not([type])").click)
        assert opened.text_content(f"{form} .verdict") == "Drawn."
    first = figures[0].text
    if figures[0].kind == "figure":
        opened.fill("#f1", "(3,5):(5,")
        counted(opened, ".draw:has(#f1)", "drawn", lambda: opened.press("#f1", "Enter"))
        assert "notation: expected" in opened.text_content(".draw:has(#f1) .verdict")
        opened.fill("#f1", "(3,5):(5,1)")
        counted(opened, ".draw:has(#f1)", "drawn", lambda: opened.press("#f1", "Enter"))
        assert "(3,5):(5,1)" in opened.inner_html("figure >> nth=0")
        opened.click("figure >> nth=0 >> .back")
    assert opened.input_value("#f1") == first


def test_an_untouched_starter_fails_and_is_no_attempt(opened: Any, lesson: Lesson) -> None:
    where = f"{lesson.number}.1"
    assert "still to be filled in" in said(opened, where, lesson.exercises[0].starter)
    assert not opened.locator(f"{exercise(where)} .solution").is_visible()


def test_a_wrong_answer_gets_its_hint_and_every_solution_is_accepted(opened: Any, lesson: Lesson) -> None:
    """Each exercise by its own judge, which runs here without numpy; every wrong answer is graded in test_source."""
    for number, one in enumerate(lesson.exercises, 1):
        where = f"{lesson.number}.{number}"
        answer, words, _ = one.wrong[0]
        judgement = said(opened, where, answer)
        assert words in judgement and judgement.startswith("Your answer "), (where, answer)
        assert not opened.locator(f"{exercise(where)} .solved").is_visible()
        assert opened.locator(f"{exercise(where)} .solution").is_visible(), "after an attempt"
        assert said(opened, where, one.solution) == "Right.", where
        assert opened.locator(f"{exercise(where)} .solved").is_visible()
    count = len(lesson.exercises)
    assert opened.text_content("#done") == f"{count} of {count} exercises of this lesson are solved."


# ---- the functions behind it ----


def test_a_cell_runs_after_those_above_it() -> None:
    assert ANSWERS["run"]({"cells": ["a = 1", "a + 1"]}) == {"ok": True, "printed": "2\n", "error": None}


@each("lesson_", lessons(), ids=lambda lesson: str(lesson.number))
def test_figures_are_those_of_the_lesson(lesson_: Lesson) -> None:
    for part in lesson_.parts:
        if part.kind in FIGURES:
            drawing = ANSWERS["draw"]({"kind": part.kind, "text": part.text})
            assert drawing == {"ok": True, "svg": figure(part.kind, part.text).svg()}
            ElementTree.fromstring(drawing["svg"])


@pytest.mark.parametrize(
    ("path", "question", "message"),
    [
        ("run", {"cells": "a"}, "cells of type str is not a list of texts"),
        ("run", {"cells": [1]}, "cells of type list is not a list of texts"),
        ("draw", {"kind": "picture", "text": "1 / 0"}, "picture: ZeroDivisionError: division by zero"),
        ("draw", {"kind": "picture", "text": "x ="}, "picture: SyntaxError: invalid syntax (line 1)"),
        ("draw", {"kind": "picture", "text": "3"}, "the last line is a value of type int, not a picture"),
        ("draw", {"kind": "figure", "text": "4:" + "9" * 200_000}, "text has 200002 characters, and is not"),
        (
            "check",
            {"exercise": "99.1", "answer": ""},
            "lesson 99 does not exist; lessons: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10",
        ),
        ("line", {"name": "", "solved": []}, "name '' is not 1 to 60 characters"),
        ("line", {"name": "Ada", "solved": ["all"]}, "'all' is not an exercise, such as 5.1"),
    ],
)
def test_what_cannot_be_answered_is_said_in_one_line(path: str, question: dict[str, Any], message: str) -> None:
    reply = ANSWERS[path](question)
    assert reply["ok"] is False and message in reply["error"]["message"] and "\n" not in reply["error"]["message"]


@given(st.sampled_from(sorted(ANSWERS)), JSON)
def test_whatever_is_asked_the_answer_is_a_record(path: str, body: object) -> None:
    reply = ANSWERS[path](body)
    assert reply["ok"] or reply["error"]["message"]


def test_lines_are_read_one_by_one() -> None:
    line = str(Receipt("Ada", ("1.1",)))
    read_lines = ANSWERS["read"]({"text": f"{line}\n\n{line.replace('Ada', 'Eve')}\n"})["lines"]
    assert [one["ok"] for one in read_lines] == [True, False]
