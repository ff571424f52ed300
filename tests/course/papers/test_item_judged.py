"""Judges of papers: any right answer passes, a wrong one is told where, and nothing that is typed brings one down."""

from __future__ import annotations

import pytest
from each import each

from descriptors.course.grading import grade
from descriptors.course.judges.layouts import answerable
from descriptors.course.source import Exercise
from descriptors.errors import DescriptorError
from papers.item import make, seeded
from papers.paper import KINDS

TILE = ((128, 64), "bf16", "K", "128B", (64, 16))

CASES = [
    ("lawful", ("complement", "4:2", 24), "(3,2):(8,1)", None),
    ("lawful", ("complement", "4:2", 24), "none", "says that there is none, but there is one"),
    ("lawful", ("complement", "(2,2):(2,3)", 12), "No such layout.", None),
    ("lawful", ("complement", "(2,2):(2,3)", 12), "3:1", "is a layout, but there is none"),
    ("pitch", (32, 128, 4), "132", None),
    ("pitch", (32, 128, 4), "124", "is less than a row of 128 bytes"),
    ("advance", (1, 1, *TILE), "8224", None),
    ("advance", (1, 1, *TILE), "514", "in units of 16 bytes"),
    ("word of", (1024, 0, 1, *TILE), "0x4000004000010042", None),
    ("word of", (1024, 0, 1, *TILE), "0x4000004000030042", None),
    ("word of", (1024, 0, 1, *TILE), "0x4000004000010002", "wrong is start_address 32"),
    ("word of", (1024, 0, 1, *TILE), str(1 << 64), "is not a 64-bit word"),
]

HOSTILE = (
    *("", "()", "(", "((((((((((", "1", "-1", "1, 2", "1, x", "None", "0x", "0x12", "9" * 400, "S<3,4,3>", "S<9,9,9>"),
    *("4:1", "(4,4):(1,4)", "8:E<0>", "(1000000,1000000):(1,1)", "1000000000:1", "S<3,4,3> o 0 o 8:1", "o o o", "none"),
    *("mma.m16n8k16.C", "evaluate(1)", "((1,2),3)", "_", "a:b", "\x00", "é", "4:1 and more", "right_inverse(4:1)"),
)


def exercise(judge: str, operands: tuple[object, ...]) -> Exercise:
    return Exercise("one", "?", judge, operands, "?", None, ("a", "b", "c"), "", "", ())


@each(("judge", "operands", "answer", "words"), CASES)
def test_an_answer_is_judged(judge: str, operands: tuple[object, ...], answer: str, words: str | None) -> None:
    judgement = grade(exercise(judge, operands), answer)
    assert judgement is None if words is None else words in (judgement or "")


def test_every_judge_of_papers_has_a_right_and_a_wrong_case() -> None:
    for right in (True, False):
        judges = {judge for judge, _, _, words in CASES if (words is None) is right}
        assert judges == {"lawful", "pitch", "advance", "word of"}


@each("name", KINDS)
def test_nothing_that_is_typed_brings_a_judge_down(name: str) -> None:
    item = make(KINDS[name], seeded("hostile", "1"))
    for answer in HOSTILE:
        judgement = grade(item.exercise, answer)
        assert judgement is None or "\n" not in judgement


def test_only_an_operation_with_a_law_can_be_asked_for() -> None:
    with pytest.raises(DescriptorError, match="is not an operation with a law"):
        answerable("draw")
