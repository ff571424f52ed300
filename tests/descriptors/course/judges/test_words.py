"""Judges of words: what would be read, not how the word is written, and a hint that tells no field."""

from __future__ import annotations

from each import each

from descriptors import derive, diff
from descriptors.course.judges.words import JUDGES, mismatch_of

TILE = ((64, 64), "bf16", "K", "128B", (64, 16))
MN = ((64, 32), "bf16", "MN", "32B", (64, 16))
ROWS = "S<3,3,3> o 0 o (32,16):(64,1)"
ASKED = {"dtype": "bf16", "major": "K", "base": 0}
UNITS = ("0x4000040000010000", ROWS, "sm90", ASKED)
LATE = ("0x4000004000010008", ROWS, "sm90", {**ASKED, "base": 128, "pattern_start": 128})

CASES = [
    ("word", TILE, "0x4000004000010000", None),
    ("word", TILE, "0x400000403fff0000", None),
    ("word", TILE, "0x4000002000010000", "element (8, 0) is stored at byte 1024 and is read at byte 576"),
    ("field", ("stride_byte_offset", *TILE), "1024", None),
    ("field", ("stride_byte_offset", *TILE), "64", "in units of 16 bytes"),
    ("word", TILE, "0x4000040000010000", "is in bytes, but the field counts units of 16 bytes"),
    ("offsets", MN, "1024, 256", None),
    ("offsets", MN, "SBO 256, LBO 1024", None),
    ("offsets", TILE, "16, 1024", None),
    ("offsets", TILE, "4096, 1024", None),
    ("offsets", MN, "256, 1024", "element (0, 8) is stored at byte 256"),
    ("mended", UNITS, "sbo 0x4000004000010000", None),
    ("mended", UNITS, "SBO: 0x4000004012340000", None),
    ("mended", UNITS, "stride_byte_offset 0x4000004000010000", None),
    ("mended", UNITS, "stride byte offset 0x4000004000010000", None),
    ("mended", UNITS, "sbo 0x4000040000010000", "is the wrong word itself"),
    ("mended", UNITS, "0x4000004000010000", "must be a field (start, lbo, sbo, base offset, swizzle, mode)"),
    ("mended", UNITS, "stride 0x4000004000010000", "must be a field"),
    ("mended", UNITS, "lbo 0x4000004000000000", "stays wrong if only its lbo is changed"),
    ("mended", UNITS, "start 0x4000004000010000", "its start is that of the wrong word"),
    ("mended", LATE, "base offset 0x4002004000010008", None),
    ("mended", LATE, "base_offset 0x4002004000010008", None),
    ("codes", (("32B", "sm90"), ("32B", "sm100"), ("64B", "bytes")), "3, 6, 64", None),
    (
        "codes",
        (("32B", "sm90"), ("32B", "sm100"), ("32B", "tma")),
        "3, 3, 1",
        "says 3 for tcgen05, where that is no mode",
    ),
    ("codes", (("128B", "tma"),), "1", "says 1 for a tensor copy, where that is the mode 32B"),
]


@each(("judge", "operands", "answer", "words"), CASES)
def test_an_answer_is_judged(judge: str, operands: tuple[object, ...], answer: str, words: str | None) -> None:
    judgement = JUDGES[judge](answer, *operands)
    assert judgement is None if words is None else words in (judgement or "")


@each("bit", range(64))
def test_of_all_words_one_bit_away_those_pass_with_which_every_element_is_read(bit: int) -> None:
    derivation = derive(*TILE, arch="sm90")
    one = derivation.word(0, 0) ^ 1 << bit
    difference = diff(one, derivation.smem_tile, "sm90", dtype="bf16", major="K", shape=(64, 16), base=0)
    assert (JUDGES["word"](hex(one), *TILE) is None) == difference.ok
    assert "offset" not in (mismatch_of(difference) or "") and "swizzle" not in (mismatch_of(difference) or "")
