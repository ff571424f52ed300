"""Judges of who holds what: every sharing out that covers the tile is right, whatever its order."""

from __future__ import annotations

from itertools import permutations

import pytest
from each import each

from descriptors.course.judges.threads import JUDGES
from descriptors.errors import DescriptorError
from layoutalg import Layout

ROWS, COLUMNS, C = "(16,16):(16,1)", "(16,16):(1,16)", "((4,8),(2,2)):((32,1),(16,8))"

CASES = [
    ("shared out", (ROWS, 32, 8, 8), "((2,16),8):((128,1),16)", None),
    ("shared out", (ROWS, 32, 8, 8), "((16,2),8):((1,128),16)", None),
    ("shared out", (ROWS, 32, 8, 8), "((4,2,4),8):((4,128,1),16)", None),
    ("shared out", (ROWS, 32, 8, 8), "(32,8):(8,1)", "the places 0 and 16 as values 0 and 1, which must be neighbors"),
    ("shared out", (COLUMNS, 32, 8, 8), "(32,8):(8,1)", None),
    ("shared out", (COLUMNS, 32, 8, 8), "(32,8):(8,2)", "has element 8 twice: thread 0 value 4, thread 1 value 0"),
    ("shared out", (COLUMNS, 32, 8, 8), "(32,8):(16,1)", "gives thread 16 as value 0 element 256, beyond the last"),
    ("shared out", (COLUMNS, 32, 8, 8), "256:1", "has 256 threads and values, must have 32 x 8"),
    ("shared out", ("12:1", 2, 6, 2), "(2,6):(6,1)", None),
    ("shared out", ("12:1", 4, 3, 3), "(4,3):(3,1)", None),
    ("shared out", ("(4,4):(5,1)", 4, 4, 4), "(4,4):(1,4)", "begin an access at place 5, not a multiple of 4"),
    ("shared out", (ROWS, 32, 8, 1, True), "((16,2),8):((16,1),2)", None),
    ("shared out", (ROWS, 32, 8, 1, True), "(32,8):(1,32)", "moves the places 0 and 241 as value 0, but not 2 between"),
    ("owner", (C, (16, 8), 11, 2), "13, 2", None),
    ("owner", (C, (16, 8), 11, 2), "13, 0", "which is element (3, 2), must be (11, 2)"),
    ("owner", (C, (16, 8), 11, 2), "2, 13", "says value 13, must be 0 to 3"),
]


@each(("judge", "operands", "answer", "words"), CASES)
def test_an_answer_is_judged(judge: str, operands: tuple[object, ...], answer: str, words: str | None) -> None:
    judgement = JUDGES[judge](answer, *operands)
    assert judgement is None if words is None else words in (judgement or "")


@pytest.mark.parametrize(
    ("judge", "operands", "answer", "words"),
    [
        ("owner", (C, (16, 8), 11, 2), "11", "it has 1 number, must have 2"),
        ("shared out", ("12:1", 2, 6), "(m,6):(6,1)", "contains m, which is not a number"),
        ("shared out", ("12:1", 2, 6), "(2,6):(1@0,1@1)", "which is not a number"),
    ],
)
def test_what_is_no_answer_is_refused(judge: str, operands: tuple[object, ...], answer: str, words: str) -> None:
    with pytest.raises(DescriptorError, match=words):
        JUDGES[judge](answer, *operands)


def test_of_all_strides_exactly_those_are_accepted_that_cover_the_tile_in_neighbours() -> None:
    for strides in permutations((1, 2, 4, 8), 4):
        tv = Layout(((2, 4), 4), ((strides[0], strides[1]), strides[2]))
        places = [[tv(t, v) for v in range(4)] for t in range(8)]
        covers = sorted(place for mine in places for place in mine) == list(range(32))
        runs = all(mine == list(range(mine[0], mine[0] + 4)) and mine[0] % 4 == 0 for mine in places)
        assert (JUDGES["shared out"](str(tv), "32:1", 8, 4, 4) is None) == (covers and runs)
