"""The lessons on paper: the handout tells no solution, the book all of them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from browsers import browser
from paper_pages import pages

from builder.handout import handout, solution_book
from builder.markup import inline
from descriptors.course.catalog import lessons


@cache
def papers() -> tuple[str, str]:
    """The handout, and the book of solutions."""
    pytest.importorskip("markdown_it")
    return handout(lessons()), solution_book(lessons())


def test_the_handout_tells_no_solution_and_the_book_all() -> None:
    questions, answers = papers()
    count = sum(len(one.exercises) for one in lessons())
    assert questions.count('<section class="exercise"') == answers.count("<b>Right:</b>") == count
    assert "<details" not in questions and "<b>Right:</b>" not in questions
    whys = [inline(exercise.why) for one in lessons() for exercise in one.exercises]
    assert [why for why in whys if why not in answers or why in questions] == []
    assert "<form" not in questions + answers and "<script" not in questions + answers


def test_the_book_has_the_notes_of_every_lesson() -> None:
    _, answers = papers()
    assert answers.count("<b>Cures:</b>") == answers.count("<b>Aim:</b>") == len(lessons())


def test_a_handout_is_twenty_pages_with_a_line_for_each_answer() -> None:
    questions, _ = papers()
    assert questions.count('<p class="line">') == sum(len(lesson.exercises) for lesson in lessons())
    with browser() as started:
        page = started.new_page()
        page.set_content(questions)
        assert len(pages(page.pdf(prefer_css_page_size=True))) <= 20


def test_nothing_is_cut_off_on_paper(tmp_path: Path) -> None:
    texts = dict(zip(("handout", "solutions"), papers(), strict=True))
    with browser() as started:
        page = started.new_page(viewport={"width": 673, "height": 960})  # 178 mm, what A4 leaves between the margins
        page.emulate_media(media="print")
        for name, text in texts.items():
            path = tmp_path / f"{name}.html"
            path.write_text(text, encoding="utf-8")
            page.goto(path.as_uri())
            elements = "[...document.querySelectorAll('main :not(svg *)')].filter(e => e.clientWidth)"
            wide = f"{elements}.filter(e => e.scrollWidth > e.clientWidth + 1)"
            assert page.evaluate(f"{wide}.map(e => e.tagName + e.className + e.textContent.slice(0, 60))") == []
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
