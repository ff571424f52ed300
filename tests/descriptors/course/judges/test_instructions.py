"""Judges of counterexamples on instructions: what the tables allow beyond a sentence, and nothing else."""

from __future__ import annotations

from itertools import product

from each import each

from descriptors.course.judges.instructions import JUDGES

FP8 = [[a, b, "f32"] for a in ("e4m3", "e5m2") for b in ("e4m3", "e5m2")]
SCALES = ("mxf4nvf4", 64, [["ue8m0", 32], ["ue4m3", 16]])
WORD = ("mxf4nvf4", {"a_dtype": "e2m1", "b_dtype": "e2m1"})

CASES = [
    ("types", ("sm90", "f8", FP8), "E5M2, e4m3, f16", None),
    ("types", ("sm90", "f8", FP8), "e5m2 e4m3 f32", "is what the sentence says itself"),
    ("types", ("sm90", "f8", FP8), "s8 s8 f16", "is nothing that such an instruction takes: s8 by s8 into f16"),
    ("scale", SCALES, "ue8m0 16", None),
    ("scale", SCALES, "ue4m3 32", "is nothing that such an instruction takes"),
    ("majors", (128, 64), "f16 MN K", None),
    ("majors", (128, 64), "bf16 mn mn", None),
    ("majors", (128, 64), "bf16 K K", "as the sentence says"),
    ("majors", (128, 64), "e2m1 K MN", "is nothing that such an instruction takes: MN"),
    ("instruction", WORD, "0x08020480", None),
    ("instruction", WORD, "0x08020680", "has a_dtype invalid code 5, must have e2m1"),
    ("instruction", WORD, "0x108020480", "must have 32 bits"),
    ("code", ("f8f6f4", "a_dtype", 0x08101690, 7, [0, 1, 2, 3, 4]), "2", None),
    ("code", ("f8f6f4", "a_dtype", 0x08101690, 7, [0, 1, 2, 3, 4]), "5", None),
    ("code", ("f8f6f4", "a_dtype", 0x08101690, 7, [0, 1, 2, 3, 4]), "1", "is e5m2, as the sentence says"),
    ("registers", (256,), "8, 4", None),
    ("registers", (256,), "256, 64", "says 64 registers for N = 256"),
    ("registers", (2,), "64, 32", None),
    ("registers", (128,), "64, 32", "is what the sentence says itself"),
]


@each(("judge", "operands", "answer", "words"), CASES)
def test_an_answer_is_judged(judge: str, operands: tuple[object, ...], answer: str, words: str | None) -> None:
    judgement = JUDGES[judge](answer, *operands)
    assert judgement is None if words is None else words in (judgement or "")


def test_the_n_that_wgmma_has_for_s8_are_told_from_those_that_it_has_not() -> None:
    takes = {*range(8, 33, 8), *range(48, 257, 16)}
    for n in range(8, 257, 8):
        refuted = JUDGES["extent n"](str(n), "sm90", "i8", False, 8, 8) is None
        assert refuted == (n not in takes)
        assert (JUDGES["extent n"](str(n), "sm90", "i8", True, 8, 8) is None) == (n in takes)


def test_three_pairs_of_scale_factors_are_taken_and_one_is_not() -> None:
    pairs = product(("ue8m0", "ue4m3"), (16, 32))
    passed = [
        (name, vector) for name, vector in pairs if JUDGES["scale"](f"{name} {vector}", "mxf4nvf4", 64, []) is None
    ]
    assert passed == [("ue8m0", 16), ("ue8m0", 32), ("ue4m3", 16)]
