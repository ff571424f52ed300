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
    (asked("function", "8:1"), "(4,2):(1,4)", None),
    (asked("function", "8:1"), "(2,2)", "cannot be read as an answer: answer: it must be a layout"),
    (asked("function", "8:1"), "8:1 and more", "cannot be read as an answer"),
    (asked("shaped", "(4,2):(1,4)"), "8:1", "has modes of [8] elements, must have [4, 2]"),
    (asked("numbers", "size(8:1)", "cosize(8:2)"), "(8, 15)", None),
    (asked("numbers", "size(8:1)"), "8", None),
    (asked("numbers", "size(8:1)"), "9", "says 9 where size(8:1) is something else"),
    (asked("different", "8:1", "(2,4):(1,2)"), "(4,2):(1,4)", None),
    (asked("different", "8:1", "(2,4):(1,2)"), "(2,4):(1,2)", "is written as one of those"),
    (asked("no composition", "(4,6):(1,5)"), "3:3", None),
    (asked("no composition", "(4,6):(1,5)"), "4:1", "has a composition: 4:1"),
    (asked("conflict free", "(8,128):(128,1)", "8:1", 16), "S<3,4,3>", None),
    (asked("conflict free", "(8,128):(128,1)", "8:1", 16), "S<2,4,3>", "takes 2 turns, must take 1"),
    (asked("conflict free", "(8,128):(128,1)", "8:1", 16), "S<3,3,4>", "tears the 16 bytes"),
    (asked("conflict free", "(8,128):(128,1)", "8:1", 16), "8:1", "must be a swizzle"),
    (asked("word", *TILE), "0x4000004000010000", None),
    (asked("word", *TILE), "0x4000002000010000", "stride_byte_offset 512 -> 1024"),
    (asked("word", *TILE), "ten", "must be a number"),
    (asked("field", "stride_byte_offset", *TILE), "1024", None),
    (asked("field", "stride_byte_offset", *TILE), "64", "in units of 16 bytes"),
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
