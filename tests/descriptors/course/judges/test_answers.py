"""What a student types is read in any of its usual forms, and refused in one line otherwise."""

from __future__ import annotations

import time

import pytest

from descriptors.course.catalog import exercises
from descriptors.course.grading import check, grade
from descriptors.course.judges.answers import integers_of, parts_of, words_of, written
from descriptors.errors import DescriptorError
from layoutalg import law_names


@pytest.mark.parametrize("text", ["1, 0x10, -3", "(1,16,-3)", "1 16 -3", "[1; 0x10; -3].", "\t1,\n16 , -3"])
def test_numbers_are_read_whatever_stands_between(text: str) -> None:
    assert integers_of(text, 3) == (1, 16, -3)


@pytest.mark.parametrize("text", ["", "one", "1, two", "1.5", "9" * 5000, "0x", "--1", "1e3"])
def test_what_is_no_number_is_named(text: str) -> None:
    with pytest.raises(DescriptorError, match="is not a number; write numbers with commas") as caught:
        integers_of(text)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 120


@pytest.mark.parametrize(
    "text",
    [
        "x" * 50_000,
        "0x" * 25_000,
        "Layout(" * 7_000,
        "(" * 25_000 + "5" + ")" * 25_000,
        "( " * 12_000 + "5" + " )" * 12_000,
    ],
    ids=["letters", "digits", "calls", "parentheses", "spaces"],
)
def test_a_long_answer_is_judged_in_linear_time(text: str) -> None:
    start = time.process_time()
    assert check("5.1", text).startswith("your answer cannot be read")
    assert time.process_time() - start < 3  # it was over 15 seconds


@pytest.mark.parametrize(
    "text", ["Layout(4)", "(Layout(4, 2), Layout((4, 8)))", "make_layout((2, 3)", "Layout([4, 8])"]
)
def test_a_shape_without_strides_is_no_layout(text: str) -> None:
    with pytest.raises(DescriptorError, match="has no strides; write a layout with strides"):
        written(text)
    assert written("make_layout(((2)), Layout(4, 2))") == "make_layout(2, Layout(4, 2))"


def test_their_count_is_checked() -> None:
    with pytest.raises(DescriptorError, match="it has 2 numbers, must have 1"):
        integers_of("1, 2", 1)
    with pytest.raises(DescriptorError, match="it has 3 numbers, must have 2"):
        words_of("1, 2, 3", 2)


@pytest.mark.parametrize("text", ["-1", "0x1ffffffffffffffff"[:19] + "0", "99999999999999999999"])
def test_a_word_has_64_bits(text: str) -> None:
    with pytest.raises(DescriptorError):
        words_of(text)
    assert words_of("0XFFFFFFFFFFFFFFFF") == (2**64 - 1,)


def test_short_answers_are_read_in_small_letters() -> None:
    assert parts_of("Yes, NO; yes") == ("yes", "no", "yes")


OPERATIONS = (
    *("complement(4:2, 24)", "composition((6,2):(8,2), (4,3):(3,1))", "make_layout((4,8))", "Layout((4, 8))"),
    *("((4,8):(8,1))(2,_)", "coalesce((2,4):(1,2))", "tile_to_shape((8,64):(64,1), (64,64), (0,1))"),
)


@pytest.mark.parametrize("text", OPERATIONS)
def test_the_question_typed_back_is_no_answer(text: str) -> None:
    with pytest.raises(DescriptorError, match=r"answer: .* (is not computed|has no strides)"):
        written(text)


def test_no_exercise_takes_an_operation_for_an_answer() -> None:
    named = [one for one in exercises().values() if one.judge in law_names() or one.judge in ("function", "shaped")]
    asked = [one for one in named if isinstance(one.operands[0], str) and "(" in one.operands[0][1:]]
    for one in asked:
        question = f"{one.judge}({', '.join(map(str, one.operands))})" if one.judge in law_names() else one.operands[0]
        if "(" in question and question[0].isalpha():
            assert "is not computed" in (grade(one, question) or ""), one.name
    assert len(asked) >= 10
