"""Judges of counterexamples on words: each accepts every instance, and no instance of which the claim is true."""

from __future__ import annotations

from each import each

from descriptors.course.judges.words import JUDGES

BF = {"dtype": "bf16", "major": "K", "shape": [64, 16]}
LBO = ("sm90", BF, [16, 30], "128B")
ROWS = ("S<3,3,3> o 0 o (64,16):(64,1)", "sm90", {"dtype": "bf16", "major": "K", "base": 256, "pattern_start": 256})
FLAT = ("0x4000000000801000", "sm90", BF)
UNITS = ("0x4000040000010000", "0x4000004000010000", "sm90", BF)

CASES = [
    ("twins", LBO, "0x4000004000010000, 0x4000004000020000", None),
    ("twins", LBO, "0x4000010000000000, 0x400001003fff0000", None),
    ("twins", LBO, "0x8000004000010000, 0x8000004000020000", "has the mode 64B"),
    ("twins", ("sm90", BF, [16, 30]), "0x0000000800400000, 0x0000000800500000", "reads element (0, 8) from two places"),
    ("twins", LBO, "0x4000004000010000, 0x4000008000010000", "differs in more than the bits 16 to 29"),
    ("twins", LBO, "0x4000000000010000, 0x4000000000020000", "reads some places twice"),
    ("twins", ("sm90", BF, [49, 52]), "0x4000004000010000, 0x4002004000010000", "from two places: 0 and 112"),
    ("twins", ("sm90", BF, [46, 49]), "0x4000004000010000, 0x4001c04000010000", None),
    ("collision", FLAT, "8, 3, 16, 3", None),
    ("collision", FLAT, "8, 3, 9, 3", "names elements that are read from two places"),
    ("collision", FLAT, "8, 3, 8, 3", "is one element twice"),
    ("collision", FLAT, "8, 3, 8, 16", "an element that there is not: (8, 16)"),
    ("elsewhere", UNITS, "63, 15", None),
    ("elsewhere", UNITS, "7, 15", "either way"),
    ("elsewhere", UNITS, "-1, 0", "is an element that there is not"),
    ("uses", (*ROWS, [49, 52]), "0x4004004000010010", None),
    ("uses", (*ROWS, [49, 52]), "0x4004004012340010", None),
    ("uses", (*ROWS, [49, 52]), "0x4000004000010010", "has nothing in the bits 49 to 51"),
    ("uses", (*ROWS, [49, 52]), "0x4006004000010010", "reads 1024 of 1024"),
    ("carried", ("sm90",), "0x4000004000013fff, 1", None),
    ("carried", ("sm90",), "0x0000004000012000, 8192", None),
    ("carried", ("sm90",), "0x4000004000012000, 8191", "the start field has room for it"),
    ("carried", ("sm90",), "0x400000400001ffff, 1", "was broken before"),
    ("apart", ("8:8", 4), "2, 3", None),
    ("apart", ("8:8", 4), "2, 6", "names two rows of one bank, 16"),
    ("apart", ("8:32", 4), "2, 3", "names two rows of one bank, 0"),
]


@each(("judge", "operands", "answer", "words"), CASES)
def test_an_answer_is_judged(judge: str, operands: tuple[object, ...], answer: str, words: str | None) -> None:
    judgement = JUDGES[judge](answer, *operands)
    assert judgement is None if words is None else words in (judgement or "")
