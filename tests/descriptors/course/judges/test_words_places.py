"""Judges of counterexamples on words: each accepts every instance, and no instance of which the claim is true."""

from __future__ import annotations

from each import each

from descriptors.course.judges.words import JUDGES

BF = {"dtype": "bf16", "major": "K", "shape": [64, 16]}
LBO = ("sm90", BF, [16, 30], "128B")

CLAIMS = {"a": ["twins", *LBO], "b": ["row step", "bf16", 8]}

CASES = [
    ("twins", LBO, "0x4000004000010000, 0x4000004000020000", None),
    ("twins", LBO, "0x4000010000000000, 0x400001003fff0000", None),
    ("twins", LBO, "0x8000004000010000, 0x8000004000020000", "has the mode 64B"),
    ("twins", ("sm90", BF, [16, 30]), "0x0000000800400000, 0x0000000800500000", "reads element (0, 8) from bytes"),
    ("twins", LBO, "0x4000004000010000, 0x4000008000010000", "differs in more than the bits 16 to 29"),
    ("twins", LBO, "0x4000000000010000, 0x4000000000020000", "reads some addresses twice"),
    ("twins", ("sm90", BF, [49, 52]), "0x4000004000010000, 0x4002004000010000", "from bytes 0 and 112"),
    ("twins", ("sm90", BF, [46, 49]), "0x4000004000010000, 0x4001c04000010000", None),
    ("refuted", (CLAIMS,), "a) 0x4000004000010000, 0x4000004000020000", None),
    ("refuted", (CLAIMS,), "B S<1,3,3> o 0 o (64,16):(16,1)", None),
    ("refuted", (CLAIMS,), "b: S<3,3,3> o 0 o (64,16):(64,1)", "as the statement says"),
    ("refuted", (CLAIMS,), "c: 8:1", "must begin with one of a, b"),
]


@each(("judge", "operands", "answer", "words"), CASES)
def test_an_answer_is_judged(judge: str, operands: tuple[object, ...], answer: str, words: str | None) -> None:
    judgement = JUDGES[judge](answer, *operands)
    assert judgement is None if words is None else words in (judgement or "")
