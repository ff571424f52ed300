"""Judges of words: what would be read, not how the word is written."""

from __future__ import annotations

import pytest

from descriptors.lessons.judges.words import JUDGES

TILE = ((64, 64), "bf16", "K", "128B", (64, 16))

CASES = [
    ("word", (*TILE,), "0x4000004000010000", None),
    ("word", (*TILE,), "0x4000002000010000", "stride_byte_offset 512 -> 1024"),
    ("word", (*TILE,), "ten", "must be a number"),
    (
        "field",
        (
            "stride_byte_offset",
            *TILE,
        ),
        "1024",
        None,
    ),
    (
        "field",
        (
            "stride_byte_offset",
            *TILE,
        ),
        "64",
        "in units of 16 bytes",
    ),
]


@pytest.mark.parametrize(("judge", "operands", "answer", "words"), CASES)
def test_an_answer_is_judged(judge: str, operands: tuple[object, ...], answer: str, words: str | None) -> None:
    told = JUDGES[judge](answer, *operands)
    assert told is None if words is None else words in (told or "")
