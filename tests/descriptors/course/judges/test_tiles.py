"""Judges of starts: every operand of a tile."""

from __future__ import annotations

import pytest
from each import each

from descriptors import derive
from descriptors.course.judges.tiles import JUDGES

TILE = ([128, 128], "bf16", "K", "128B", [64, 16])
SMALL = ([64, 64], "bf16", "MN", "64B", [64, 16])

CASES = [
    ("starts", (*TILE, [[0, 0], [1, 7]]), "0, 0x606", None),
    ("starts", (*TILE, [[0, 0], [1, 7]]), "0, 24672", "says 24672 for the operand (1, 7): answer"),
    ("starts", (*TILE, [[0, 1]]), "1", "element (0, 0) of it is stored at byte 32 and would be read at byte 16"),
]


@each(("judge", "operands", "answer", "words"), CASES)
def test_an_answer_is_judged(judge: str, operands: tuple[object, ...], answer: str, words: str | None) -> None:
    if words and words.endswith(": answer"):
        with pytest.raises(ValueError, match="is not a multiple of 16 bytes within the window"):
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
