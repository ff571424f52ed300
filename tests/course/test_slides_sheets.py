"""What stands on the slides: what the author wrote, short and whole sentences; one right choice in every vote."""

from __future__ import annotations

import pytest

from builder.slides import Sheet, sheets
from descriptors.course.catalog import lessons
from descriptors.course.grading import grade
from descriptors.course.source import Lesson

LESSONS = pytest.mark.parametrize("lesson", lessons(), ids=lambda lesson: str(lesson.number))


def of(lesson: Lesson, kind: str) -> list[Sheet]:
    return [sheet for sheet in sheets(lesson) if sheet.kind == kind]


@LESSONS
def test_every_slide_of_the_lesson_is_one_and_names_all_exercises(lesson: Lesson) -> None:
    assert [sheet.heading for sheet in of(lesson, "idea")] == [slide.heading for slide in lesson.slides]
    assert len(of(lesson, "exercises")[0].lines) == len(lesson.exercises)
    assert len({sheet.heading for sheet in of(lesson, "idea")}) == len(lesson.slides) >= 3


@LESSONS
def test_a_slide_is_short_and_neither_empty_nor_cut_off(lesson: Lesson) -> None:
    for sheet in of(lesson, "idea"):
        code = sheet.shown.text if sheet.shown and sheet.shown.kind == "python" else ""
        assert 4 <= len(" ".join(sheet.lines).split()) <= 40, sheet.heading
        assert code.count("\n") <= 14, sheet.heading
        assert sheet.heading[-1] not in ".,;:" and sheet.lines[-1][-1] not in ",;:", sheet.heading
        assert sheet.heading != lesson.title


@LESSONS
def test_a_vote_has_one_right_choice_and_each_other_its_hint(lesson: Lesson) -> None:
    assert lesson.votes
    for vote, sheet in zip(lesson.votes, of(lesson, "vote"), strict=True):
        right = [choice for choice in vote.choices if grade(vote, choice) is None]
        assert right == [sheet.choices[sheet.right]]
        assert len(set(vote.choices)) == len(vote.choices) == len(sheet.notes) + 1 >= 3


@LESSONS
def test_the_misconception_closes_the_lesson(lesson: Lesson) -> None:
    assert len(of(lesson, "cure")[0].lines) >= 2
