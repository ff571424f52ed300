"""Judges of counterexamples on canonical forms: layouts of other tiles than the lessons' are accepted too."""

from __future__ import annotations

from each import each

from descriptors.course.judges.words import JUDGES

CASES = [
    ("row step", ("bf16", 8), "S<1,3,3> o 0 o (64,16):(16,1)", None),
    ("row step", ("bf16", 8), "(64,(8,2)):(8,(1,512))", None),
    ("row step", ("bf16", 8), "S<3,3,3> o 0 o (128,16):(64,1)", "as the statement says"),
    ("swapped", ("bf16",), "((8,8),(8,2)):((1,128),(8,64))", None),
    ("swapped", ("bf16",), "((8,8),(8,2)):((1,64),(8,512))", None),
    ("swapped", ("bf16",), "S<2,3,3> o 0 o ((32,2),16):((1,512),32)", "steps along MN, as the statement says"),
    ("swapped", ("bf16",), "S<3,3,3> o 0 o (64,16):(1,64)", "is too small"),
    ("split", ("bf16", 64, 16), "S<3,3,3> o 0 o ((8,16),(64,2)):((64,512),(1,8192))", None),
    ("split", ("bf16", 64, 16), "S<1,3,3> o 0 o (64,(16,3)):(16,(1,1024))", None),
    ("split", ("bf16", 64, 16), "S<3,3,3> o 0 o (64,64):(64,1)", "has a single word"),
    ("split", ("bf16", 64, 16), "(128,128):(128,1)", "has an operand without a word"),
    ("split", ("bf16", 64, 16), "S<3,3,3> o 0 o (512,(64,4)):(64,(1,32768))", "has more than 64 operands"),
]


@each(("judge", "operands", "answer", "words"), CASES)
def test_an_answer_is_judged(judge: str, operands: tuple[object, ...], answer: str, words: str | None) -> None:
    judgement = JUDGES[judge](answer, *operands)
    assert judgement is None if words is None else words in (judgement or "")
