"""The lessons on paper: the handout tells no solution, the book all of them."""

from __future__ import annotations

import pytest

from descriptors.lessons.handout import handout, solution_book
from descriptors.lessons.markup import inline
from descriptors.lessons.source import lessons


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
