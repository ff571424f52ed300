"""Judges of exercises: right answers of any form are accepted, wrong ones are told where they break."""

from __future__ import annotations

from typing import Any

import pytest

from descriptors.lessons.grading import JUDGES, grade
from descriptors.lessons.source import Exercise, lessons
from layoutalg import law_names


def asked(judge: str, *operands: Any, size: int | None = None) -> Exercise:
    return Exercise("one", "", judge, operands, "?", size, ("", "", ""), "", "", ())


TILE = ((64, 64), "bf16", "K", "128B", (64, 16))
CASES = [
    (asked("complement", "4:2", 24), "(3,2):(8,1)", None),
    (asked("complement", "4:2", 24), "6:1", "reaches offset 2 twice"),
    (asked("right_inverse", "(4,8):(8,1)", size=32), "8:4", "has 8 elements, must have 32"),
    (asked("function", "8:1"), "(2,2)", "cannot be read as an answer: answer: it must be a layout"),
    (asked("function", "8:1"), "8:1 and more", "cannot be read as an answer"),
]


@pytest.mark.parametrize(("exercise", "answer", "words"), CASES)
def test_an_answer_is_judged(exercise: Exercise, answer: str, words: str | None) -> None:
    told = grade(exercise, answer)
    assert told is None if words is None else words in (told or "")


@pytest.mark.parametrize("answer", ["", "(", "9" * 5000, "((((", "1:" + "9" * 30, "none", "S<3,4,3>", "\x00"])
def test_whatever_a_student_types_is_answered_in_one_line(answer: str) -> None:
    for exercise in (asked("complement", "4:2", 24), asked("word", *TILE), asked("numbers", "size(8:1)")):
        told = grade(exercise, answer)
        assert told and "\n" not in told


def test_every_judge_that_the_lessons_name_is_known() -> None:
    assert {e.judge for lesson in lessons() for e in lesson.exercises} <= {*JUDGES, *law_names()}
