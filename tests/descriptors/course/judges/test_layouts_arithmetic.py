"""Judges of arithmetic: the definition of remainder, quotient and exclusive or decides."""

from __future__ import annotations

import pytest

from descriptors.course.judges.layouts import JUDGES

SUMS, BITS = JUDGES["sums"], JUDGES["bits"]


@pytest.mark.parametrize("operation", ["mod", "div", "xor"])
def test_of_all_numbers_exactly_the_right_one_is_accepted(operation: str) -> None:
    right = {"mod": lambda a, b: a % b, "div": lambda a, b: a // b, "xor": lambda a, b: a ^ b}[operation]
    for a in range(20):
        for b in range(1, 9):
            accepted = [said for said in range(-2, 40) if SUMS(str(said), (a, operation, b)) is None]
            assert accepted == [right(a, b)]


@pytest.mark.parametrize(
    ("answer", "numbers", "words"),
    [
        ("4", (17, "mod", 5), "17 - 4 is no multiple of 5"),
        ("7", (17, "mod", 5), "a remainder of 5 is one of 0 to 4"),
        ("2", (17, "div", 5), "leaves 7, and 5 goes into that again"),
        ("4", (17, "div", 5), "4 times 5 is 20, more than 17"),
        ("22", (12, "xor", 10), "bit 4 is 1, but both have 0 there"),
        ("2", (12, "xor", 10), "bit 2 is 0, but one has 1 and the other 0 there"),
        ("-1", (0, "xor", 0), "no negative number"),
    ],
)
def test_what_is_wrong_is_said_of_the_number_itself(answer: str, numbers: tuple[int, str, int], words: str) -> None:
    assert words in (SUMS(answer, numbers) or "")


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("1101, 110", None),
        ("0b1101, 0110", None),
        ("1011, 110", "says 1011 for 13, but that is 8 + 2 + 1"),
        ("1101, 0", "says 0 for 6, but that is 0"),
        ("13, 6", "must be written with 0 and 1 alone, found 13"),
        ("1101", "has 1 numbers, must have 2"),
        (",", "must be written with 0 and 1 alone"),
        (f"{'1' * 5000}, 1", "must be written with 0 and 1 alone"),
    ],
)
def test_binary_numbers_are_read_as_sums_of_powers(answer: str, words: str | None) -> None:
    judgement = BITS(answer, 13, 6)
    assert judgement is None if words is None else words in (judgement or "")
