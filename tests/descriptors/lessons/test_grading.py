"""Judges of exercises: right answers of any form are accepted, wrong ones are told where they break."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from places import ROOT

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


ODD = [
    "",
    "(",
    "9" * 5000,
    "((((",
    "1:" + "9" * 30,
    "none",
    "S<3,4,3>",
    "\x00",
    "?",
    "-1",
    "1, 2, 3",
    "[1, (2, 3)]",
    "True",
]
ODD += ["(m,8):(1,m)", "(8,8):(m,1)", "S<30,0,30>", "S<3,3,-3> o -5 o (8,64):(64,1)", "(4,8):(0,0), 1", "0b1101"]
ODD += [f"{shape}:{steps}" for shape in ("(8,8)", "(8,64)", "(32,8)", "(32,32)") for steps in ("(1@0,1@1)", "(-1,-9)")]


@pytest.mark.parametrize("answer", ODD)
def test_whatever_a_student_types_is_answered_in_one_line(answer: str) -> None:
    for exercise in (asked("complement", "4:2", 24), asked("word", *TILE), asked("numbers", "size(8:1)")):
        told = grade(exercise, answer)
        assert told and "\n" not in told
    for exercise in (exercise for lesson in lessons() for exercise in lesson.exercises):
        assert "\n" not in (grade(exercise, answer) or "")


BARE = """
import sys
sys.modules.update(dict.fromkeys(("numpy", "sympy", "click"), None))
from descriptors.lessons.figures import figure
from descriptors.lessons.grading import grade
from descriptors.lessons.source import FIGURES, lessons
for lesson in lessons():
    for part in lesson.parts:
        if part.kind in FIGURES:
            assert figure(part.kind, part.text).svg()
    for exercise in lesson.exercises:
        assert grade(exercise, exercise.solution) is None, exercise.name
        assert all(words in grade(exercise, answer) for answer, words in exercise.wrong), exercise.name
"""


def test_a_page_in_a_browser_can_draw_and_judge_without_numpy() -> None:
    run = subprocess.run([sys.executable, "-c", BARE], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")


def test_every_judge_that_the_lessons_name_is_known() -> None:
    assert {e.judge for lesson in lessons() for e in lesson.exercises} <= {*JUDGES, *law_names()}
