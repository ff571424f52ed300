"""Judges of layouts and numbers: any form of the right function, and where a wrong one breaks."""

from __future__ import annotations

from each import each

from descriptors.course.judges.layouts import JUDGES

CLAIM = ("(3,2):(2,3)", "(6,2):(1,7)", "(3,2):(2,3)")

CASES = [
    ("counterexample", CLAIM, "5", None),
    ("counterexample", CLAIM, "4", "both are 5 at index 4"),
    ("counterexample", CLAIM, "6", "must be an index from 0 to 5"),
    ("counterexample", CLAIM, "(1,1)", "must be an index from 0 to 5"),
    ("function", ("8:1",), "(4,2):(1,4)", None),
    ("function", ("8:1",), "8", None),
    ("function", ("8:1",), "make_layout((4,2), stride=(1,4))", None),
    ("shaped", ("tile_to_shape((8,64):(64,1), (128,128), (0,1))",), "(128,(64,2)):(64,(1,8192))", None),
    ("shaped", ("(4,2):(1,4)",), "8:1", "has modes of [8] elements, must have [4, 2]"),
    (
        "numbers",
        (
            "size(8:1)",
            "cosize(8:2)",
        ),
        "(8, 15)",
        None,
    ),
    ("numbers", ("size(8:1)",), "8", None),
    ("numbers", ("size(8:1)",), "9", "says 9 for size(8:1)"),
    (
        "different",
        (
            "8:1",
            "(2,4):(1,2)",
        ),
        "(4,2):(1,4)",
        None,
    ),
    (
        "different",
        (
            "8:1",
            "(2,4):(1,2)",
        ),
        "(2,4):(1,2)",
        "has the same form as one of the given layouts",
    ),
    ("no composition", ("(4,6):(1,5)",), "3:3", None),
    ("no composition", ("(4,6):(1,5)",), "4:1", "has a composition: 4:1"),
]


@each(("judge", "operands", "answer", "words"), CASES)
def test_an_answer_is_judged(judge: str, operands: tuple[object, ...], answer: str, words: str | None) -> None:
    judgement = JUDGES[judge](answer, *operands)
    assert judgement is None if words is None else words in (judgement or "")
