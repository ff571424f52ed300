"""The teacher's text of every lesson: steps with minutes, slips, a way on paper; wrong answers with their hints."""

from __future__ import annotations

import re

import pytest

from builder.teacher import exercise_minutes, script, slips
from descriptors.course.catalog import lessons
from descriptors.course.grading import grade
from descriptors.course.source import Lesson

LESSONS = pytest.mark.parametrize("lesson", lessons(), ids=lambda lesson: str(lesson.number))


@LESSONS
def test_a_lesson_has_a_script_three_slips_and_a_way_on_paper(lesson: Lesson) -> None:
    steps, expected, paper = script(lesson)
    assert len(steps) >= 3
    assert all(re.search(r"\d+ min: \S", step) for step in steps)
    assert expected and paper
    minutes = [int(count) for step in steps for count in re.findall(r"(\d+) min: ", step)]
    assert sum(minutes) <= lesson.minutes
    assert 5 <= exercise_minutes(lesson) < sum(minutes)


@LESSONS
def test_what_is_said_of_a_wrong_answer_is_the_slip_that_leads_to_it(lesson: Lesson) -> None:
    rows = slips(lesson)
    assert len(rows) == 3
    for where, answer, says, hint in rows:
        exercise = lesson.exercises[int(where.partition(".")[2]) - 1]
        assert says == exercise.mistake(answer) and grade(exercise, answer)
        assert hint in exercise.hints
