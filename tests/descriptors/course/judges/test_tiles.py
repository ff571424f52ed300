"""Judges of starts: every operand of a tile, what a moved word reads, what one word and one box hold."""

from __future__ import annotations

import pytest
from each import each

from descriptors import derive, read_addresses, tma_plan
from descriptors.course.judges.tiles import JUDGES

TILE = ([128, 128], "bf16", "K", "128B", [64, 16])
SMALL = ([64, 64], "bf16", "MN", "64B", [64, 16])
WORD = ("0x4000004000010002", "sm90", "bf16", "K", [[2, 0], [3, 8]])
WIDE = "S<3,3,3> o 0 o (64,(64,2)):(64,(1,4096))"

CASES = [
    ("starts", (*TILE, [[0, 0], [1, 7]]), "0, 0x606", None),
    ("starts", (*TILE, [[0, 0], [1, 7]]), "0, 24672", "says 24672 for the operand (1, 7): answer"),
    ("starts", (*TILE, [[0, 1]]), "1", "element (0, 0) of it lies at byte 32 and would be read at byte 16"),
    ("firsts", (*TILE, [32, 128]), "0, 16, 1, 0", None),
    ("firsts", (*TILE, [32, 128]), "0, 16, 0, 64", "says (0, 64) for + 128 bytes"),
    ("firsts", (*TILE, [32]), "100, 0", "has no operand of 64 by 16 that begins at (100, 0)"),
    ("blocks", (*TILE, [16, 112]), "yes, no", None),
    ("blocks", (*TILE, [16, 112]), "yes, yes", "says yes for + 112 bytes"),
    ("read at", WORD, "256, 384", None),
    ("read at", WORD, "288, 384", "says 288 for element (2, 0), which is its address before the swizzle"),
    ("read at", WORD, "256, 380", "says 380 for element (3, 8)"),
    ("one word", ("bf16", "S<3,3,3> o 0 o (64,64):(64,1)", WIDE), "yes, no", None),
    ("one word", ("bf16", WIDE), "yes", "says yes for"),
    ("box rows", (*TILE, [[0, 1], [1, 0]]), "128, 8", None),
    ("box rows", (*TILE, [[0, 1], [1, 0]]), "128, 128", "row 8 does not lie behind row 7"),
    ("box rows", (*TILE, [[0, 1], [1, 0]]), "64, 8", "row 64 lies behind row 63 as well"),
]


@each(("judge", "operands", "answer", "words"), CASES)
def test_an_answer_is_judged(judge: str, operands: tuple[object, ...], answer: str, words: str | None) -> None:
    if words and words.endswith(": answer"):
        with pytest.raises(ValueError, match="a start must be a multiple of 16 bytes within the window"):
            JUDGES[judge](answer, *operands)
        return
    judgement = JUDGES[judge](answer, *operands)
    assert judgement is None if words is None else words in (judgement or "")


@pytest.mark.parametrize("tile", [TILE, SMALL], ids=str)
def test_the_starts_are_those_of_the_words_that_are_derived(tile: tuple[object, ...]) -> None:
    derivation = derive(*(tuple(one) if isinstance(one, list) else one for one in tile), arch="sm90")
    grid = [[i, j] for i in range(derivation.tile[0] // 64) for j in range(derivation.tile[1] // 16)]
    right = [derivation.word(i, j) - derivation.word(0, 0) for i, j in grid]
    assert JUDGES["starts"](str(right), *tile, grid) is None
    for at in range(1, len(grid)):
        wrong = [one + (k == at) for k, one in enumerate(right)]
        assert str(tuple(grid[at])) in (JUDGES["starts"](str(wrong), *tile, grid) or "")


def test_what_is_read_is_asked_of_the_read_model() -> None:
    right = read_addresses(0x4000004000010002, "sm90", dtype="bf16", major="K", shape=(8, 16))
    operands = ("0x4000004000010002", "sm90", "bf16", "K", [[i, k] for i in range(8) for k in range(16)])
    assert JUDGES["read at"](str(right.ravel().tolist()), *operands) is None


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_the_rows_of_a_box_are_those_of_the_planned_copies(order: tuple[int, int]) -> None:
    derivation = derive((128, 128), "bf16", "K", "128B", (64, 16), order=order)
    (rows,) = [one.box for one in tma_plan(derivation).dimensions if one.mode == 0 and one.step == 1]
    assert JUDGES["box rows"](str(rows), *TILE, [list(order)]) is None
