"""The simulated multiplication: what the lessons call wrong does not multiply, what is right in another form does."""

from __future__ import annotations

import pytest

from descriptors.course.catalog import exercises
from descriptors.course.judges.multiplication import multiplies

LINES = {one.line: one for one in exercises().values() if one.line}
WRONG = [(name, answer) for name, one in LINES.items() for answer, _, _ in one.wrong]


def text(**changed: str) -> str:
    return "\n".join(f"{name} = {changed.get(name, one.solution)}" for name, one in LINES.items())


@pytest.mark.parametrize(
    ("name", "answer"),
    [pytest.param(*one, marks=pytest.mark.exhaustive if place % 3 else ()) for place, one in enumerate(WRONG)],
)
def test_a_line_that_a_lesson_calls_wrong_is_told_by_the_machine_too(name: str, answer: str) -> None:
    judgement = multiplies(text(**{name: answer}))
    assert judgement and "\n" not in judgement


@pytest.mark.parametrize(
    "changed",
    [
        {"copy_a": "((8,16),(8,8)):((1,512),(64,8))"},
        {"a_shared": "(64,(64,2)):(64,(1,4096))"},
        {"word_a": "0x400000403fff0040"},
        {"swizzle": "Swizzle<3,3,3>"},
        {"steps_a": "0; 2; 4; 6; 0x200; 514 516 518"},
        {"order": "fence, mma, commit, wait 0, read, read"},
    ],
    ids=str,
)
def test_what_is_right_in_another_form_multiplies(changed: dict[str, str]) -> None:
    assert multiplies(text(**changed)) is None


@pytest.mark.parametrize("value", ["", "9" * 400, "(m,8):(1,m)", "S<3,4,3>"])
@pytest.mark.parametrize("name", LINES)
def test_nothing_that_stands_in_a_line_brings_the_machine_down(name: str, value: str) -> None:
    judgement = multiplies(text(**{name: value}))
    line = "word_a" if value == "S<3,4,3>" and name == "swizzle" else name  # a swizzle of bytes: seen where it is read
    assert judgement and judgement.startswith(line) and "\n" not in judgement
