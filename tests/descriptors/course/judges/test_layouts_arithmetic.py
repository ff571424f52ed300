"""The judge of exclusive or: the definition decides, bit by bit."""

from __future__ import annotations

import pytest

from descriptors.course.judges.layouts import exclusive


def test_of_all_numbers_exactly_the_right_one_is_accepted() -> None:
    for a in range(20):
        for b in range(9):
            assert [said for said in range(-2, 40) if exclusive(str(said), (a, b)) is None] == [a ^ b]


@pytest.mark.parametrize(
    ("answer", "numbers", "words"),
    [
        ("22", (12, 10), "bit 4 is 1, but both have 0 there"),
        ("2", (12, 10), "bit 2 is 0, but one has 1 and the other 0 there"),
        ("-1", (0, 0), "is not negative"),
    ],
)
def test_what_is_wrong_is_said_of_the_bit(answer: str, numbers: tuple[int, int], words: str) -> None:
    assert words in (exclusive(answer, numbers) or "")
