"""Judges of exercises: right answers of any form are accepted, wrong ones are told where they break."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any

import pytest
from each import each
from places import ROOT

from descriptors.course.grading import JUDGES, grade
from descriptors.course.source import Exercise, Lesson, lessons
from layoutalg import law_names


def question_of(judge: str, *operands: Any, size: int | None = None) -> Exercise:
    return Exercise("one", "", judge, operands, "?", size, ("", "", ""), "", "", ())


TILE = ((64, 64), "bf16", "K", "128B", (64, 16))
CASES = [
    (question_of("complement", "4:2", 24), "(3,2):(8,1)", None),
    (question_of("complement", "4:2", 24), "6:1", "reaches offset 2 twice"),
    (question_of("right_inverse", "(4,8):(8,1)", size=32), "8:4", "has 8 elements, must have 32"),
    (question_of("function", "8:1"), "(2,2)", "cannot be read as an answer: answer: it must be a layout"),
    (question_of("function", "8:1"), "8:1 and more", "cannot be read as an answer"),
]


@pytest.mark.parametrize(("exercise", "answer", "words"), CASES)
def test_an_answer_is_judged(exercise: Exercise, answer: str, words: str | None) -> None:
    judgement = grade(exercise, answer)
    assert judgement is None if words is None else words in (judgement or "")


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


@each("answer", ODD)
def test_whatever_a_student_types_is_answered_in_one_line(answer: str) -> None:
    for exercise in (
        question_of("complement", "4:2", 24),
        question_of("word", *TILE),
        question_of("numbers", "size(8:1)"),
    ):
        judgement = grade(exercise, answer)
        assert judgement and "\n" not in judgement
    for exercise in (exercise for lesson in lessons() for exercise in lesson.exercises):
        assert "\n" not in (grade(exercise, answer) or "")


BARE = """
import sys
sys.modules.update(dict.fromkeys(("numpy", "sympy", "click"), None))
sys.path.insert(0, "course")
from builder.markup import Example, pieces
from descriptors.course.figures import figure
from descriptors.course.grading import grade
from descriptors.course.page import run
from descriptors.course.source import FIGURES, lessons
for lesson in lessons():
    cells = []
    for part in lesson.parts:
        if part.kind in FIGURES:
            assert figure(part.kind, part.text).svg()
        for one in pieces(part.text) if part.kind == "text" else ():
            if isinstance(one, Example):
                cells.append(one.typed)
                ran = run(cells)
                assert (ran.printed + (ran.error or "")).split() == one.printed.split(), one.typed
    for exercise in lesson.exercises:
        assert grade(exercise, exercise.solution) is None, exercise.name
        assert all(words in grade(exercise, answer) for answer, words, _ in exercise.wrong), exercise.name
"""


def test_a_page_in_a_browser_can_run_and_draw_and_judge_without_numpy() -> None:
    run = subprocess.run([sys.executable, "-c", BARE], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")


def test_every_judge_that_the_lessons_name_is_known() -> None:
    assert {e.judge for lesson in lessons() for e in lesson.exercises} <= {*JUDGES, *law_names()}


BIG = "S<3,3,3> o 0 o ((8,8192),(64,1024)):((64,512),(1,4194304))"


@pytest.mark.parametrize("lesson", [one for one in lessons() if one.number > 8], ids=lambda lesson: str(lesson.number))
def test_the_rows_of_the_errata_that_a_lesson_names_are_there(lesson: Lesson) -> None:
    errata = (ROOT / "docs" / "errata.md").read_text(encoding="utf-8")
    rows = set(re.findall(r"^\| (\d+) \|", errata, flags=re.M))
    text = "\n".join([*(part.text for part in lesson.parts), *(exercise.why for exercise in lesson.exercises)])
    lines = re.findall(r"[Rr]ows? ([\d and]+) of (?:the|this)[\w' ]* errata", text)
    named = {row for line in lines for row in line.split(" and ")}
    assert named <= rows and (lesson.number != 10 or named)


HOSTILE = (
    "", "(", "9" * 5000, "1:" + "9" * 30, "\x00", "yes", "-1, -1, -1, -1", "0xffffffffffffffff, 1", BIG,
    "99999999999999999999, 2", "sbo 0xffffffffffffffff", "fence, " * 200, "wait 9", "e2m1 99999999999999999999",
    "(1048576,1048576):(1,1048576)", "4:1@0", "(0,0):(1,1)", "(a,b):(b,1)",
)  # fmt: skip


@each("lesson", lessons(), ids=lambda lesson: str(lesson.number))
def test_no_exercise_raises_or_tells_more_than_a_line_whatever_is_typed(lesson: Lesson) -> None:
    for exercise in lesson.exercises:
        for answer in HOSTILE:
            judgement = grade(exercise, answer)
            assert judgement and "\n" not in judgement, (exercise.name, answer)


@pytest.mark.parametrize("lesson", [one for one in lessons() if one.number > 8], ids=lambda lesson: str(lesson.number))
def test_what_a_wrong_answer_is_told_is_not_the_solution(lesson: Lesson) -> None:
    for exercise in lesson.exercises:
        for answer, _, _ in exercise.wrong:
            assert len(exercise.solution) < 4 or exercise.solution not in (grade(exercise, answer) or "")
