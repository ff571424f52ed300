"""The teacher's page: every lesson with what to expect, sums that add up, and what it says of the licence is so."""

from __future__ import annotations

import re

import pytest
from places import ROOT

from builder.teacher import SESSION, by_session, exercise_minutes, sessions, teacher_page
from descriptors.course.catalog import lessons
from descriptors.course.source import Lesson

pytest.importorskip("markdown_it")

LESSONS = pytest.mark.parametrize("lesson", lessons(), ids=lambda lesson: str(lesson.number))
PAGE = teacher_page(lessons(), {"index.html": 100_000, "engine.zip": 5_300_001})


@LESSONS
def test_every_lesson_has_its_card(lesson: Lesson) -> None:
    assert f'<article id="lesson-{lesson.number}">' in PAGE


def test_the_sessions_hold_every_lesson_once_and_their_minutes_add_up() -> None:
    lessons_of_sessions = [one for _, found in by_session(lessons()) for one in found]
    assert lessons_of_sessions == list(lessons())
    minutes = [int(one) for one in re.findall(r'colspan="4">(\d+) ', sessions(lessons()))]
    assert minutes == [sum(one.minutes for one in found) for _, found in by_session(lessons())]


def test_a_session_fits_its_ninety_minutes_and_most_of_it_is_for_exercises() -> None:
    for session, course in by_session(lessons()):
        minutes, exercises = sum(one.minutes for one in course), sum(map(exercise_minutes, course))
        assert minutes <= SESSION and exercises >= 0.4 * minutes, session.name


def test_the_sizes_are_those_of_the_files() -> None:
    assert "It holds 2 files, 5.5 MB" in PAGE
    assert "load\n324.1 MB" in PAGE


def test_no_place_is_open_and_nothing_is_loaded() -> None:
    assert "{{" not in PAGE
    slides = {f"{one.number:02}-slides.html" for one in lessons()}
    assert set(re.findall(r'(?:src|href)="(?!#|data:)([^"]+)"', PAGE)) == slides | {"solutions.html"}
    assert set(re.findall(r'href="#([^"]+)"', PAGE)) <= set(re.findall(r'id="([^"]+)"', PAGE))


def test_the_licence_is_the_one_that_the_page_names() -> None:
    licence = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert "Apache License" in licence
    assert "Version 2.0" in licence
    assert "Copyright 2026 The layoutalg authors" in licence
    assert "the Apache License, Version 2.0" in PAGE


def test_every_path_and_script_that_the_page_names_is_there() -> None:
    for name in re.findall(r"<code>((?:docs|scripts)/[\w./]+)", PAGE):
        assert (ROOT / name).exists(), name
