"""The lessons on paper: the handout tells no solution, the book all of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from browsers import browser

from builder.handout import handout, solution_book
from builder.markup import inline
from descriptors.course.source import lessons


def test_the_handout_tells_no_solution_and_the_book_all() -> None:
    pytest.importorskip("markdown_it")
    questions, answers = handout(lessons()), solution_book(lessons())
    count = sum(len(one.exercises) for one in lessons())
    assert questions.count('<section class="exercise"') == answers.count("<b>Right:</b>") == count
    assert "<details" not in questions and "<b>Right:</b>" not in questions
    whys = [inline(exercise.why) for one in lessons() for exercise in one.exercises]
    assert [why for why in whys if why not in answers or why in questions] == []
    assert "<form" not in questions + answers and "<script" not in questions + answers


def test_the_book_has_the_notes_of_every_lesson() -> None:
    answers = solution_book(lessons())
    assert answers.count("<b>Cures:</b>") == answers.count("<b>Aim:</b>") == len(lessons())


def test_a_handout_has_squared_paper_and_a_line_that_begins_as_the_starter() -> None:
    pytest.importorskip("markdown_it")
    questions = handout(lessons())
    exercises = [one for lesson in lessons() for one in lesson.exercises]
    assert questions.count('class="squares"') == questions.count('<p class="line">') == len(exercises)


def test_nothing_is_cut_off_on_paper(tmp_path: Path) -> None:
    pytest.importorskip("markdown_it")
    with browser() as started:
        page = started.new_page(viewport={"width": 673, "height": 960})  # 178 mm, what A4 leaves between the margins
        page.emulate_media(media="print")
        for name, text in (("handout", handout(lessons())), ("solutions", solution_book(lessons()))):
            path = tmp_path / f"{name}.html"
            path.write_text(text, encoding="utf-8")
            page.goto(path.as_uri())
            elements = "[...document.querySelectorAll('main :not(svg *)')].filter(e => e.clientWidth)"
            wide = f"{elements}.filter(e => e.scrollWidth > e.clientWidth + 1)"
            assert page.evaluate(f"{wide}.map(e => e.tagName + e.className + e.textContent.slice(0, 60))") == []
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
