"""Judges of accesses: the turns that shared memory takes."""

from __future__ import annotations

import pytest

from descriptors.lessons.judges.accesses import JUDGES

CASES = [
    (
        "conflict free",
        (
            "(8,128):(128,1)",
            "8:1",
            16,
        ),
        "S<3,4,3>",
        None,
    ),
    (
        "conflict free",
        (
            "(8,128):(128,1)",
            "8:1",
            16,
        ),
        "S<2,4,3>",
        "takes 2 turns, must take 1",
    ),
    (
        "conflict free",
        (
            "(8,128):(128,1)",
            "8:1",
            16,
        ),
        "S<3,3,4>",
        "tears the 16 bytes",
    ),
    (
        "conflict free",
        (
            "(8,128):(128,1)",
            "8:1",
            16,
        ),
        "8:1",
        "must be a swizzle",
    ),
]


@pytest.mark.parametrize(("judge", "operands", "answer", "words"), CASES)
def test_an_answer_is_judged(judge: str, operands: tuple[object, ...], answer: str, words: str | None) -> None:
    told = JUDGES[judge](answer, *operands)
    assert told is None if words is None else words in (told or "")
