"""Judges of counterexamples on tensor memory, shifts and sequences."""

from __future__ import annotations

from typing import Any

from each import each

from descriptors.course.judges.tensor_memory import JUDGES

NINE = {"images": 2, "width": 9, "taps": 3, "padding": 1}
SMALL: dict[str, Any] = {"m": 128, "n": 8, "k": 64, "dtype": "e2m1", "scale_dtype": "ue4m3"}
LARGE: dict[str, Any] = {"m": 128, "n": 256, "k": 64}

CASES = [
    ("moves", (), "31, 31", None),
    ("moves", (), "0, 1", None),
    ("moves", (), "1, 0", "says that lane 1 gets what lane 0 had"),
    ("stale", (), "95", None),
    ("stale", (), "127", "is the lane that the sentence knows of"),
    ("stale", (), "94", "is filled by the shift"),
    ("lost", (NINE,), "17, 2", None),
    ("lost", (NINE,), "9, 0", "has nothing to lose"),
    ("lost", (NINE,), "9, 1", "is not masked"),
    ("lost", (NINE,), "18, 2", "has a lane without an output"),
    ("columns", (), "256, 256", None),
    ("columns", (), "256, 1024", "says 1024 columns for N = 256"),
    ("placed", (SMALL, 32), "0, 8, 12", None),
    ("placed", (SMALL, 32), "8, 0, 4", None),
    ("placed", (SMALL, 32), "24, 16, 20", None),
    ("placed", (SMALL, 32), "0, 4, 12", "has D and SFA in column 4 both"),
    ("placed", (SMALL, 32), "0, 8, 32", "must stay below 32"),
    ("crowded", (LARGE, 2), "2", None),
    ("crowded", (LARGE, 2), "1", "lets 2 blocks fit"),
    ("several", ("commit",), "fence, mma d, commit, commit, wait 0, read d", None),
    ("several", ("wait",), "fence, mma d, commit, wait 1, wait 0, read d", None),
    ("several", ("commit",), "fence, mma d, commit, wait 0, read d", "has commit 1 times"),
    ("several", ("commit",), "fence, commit, commit", "does not read all that it multiplies"),
    ("several", ("commit",), "mma d, commit, commit, wait 0, read d", "breaks a rule at event 1"),
]


@each(("judge", "operands", "answer", "words"), CASES)
def test_an_answer_is_judged(judge: str, operands: tuple[object, ...], answer: str, words: str | None) -> None:
    judgement = JUDGES[judge](answer, *operands)
    assert judgement is None if words is None else words in (judgement or "")


def test_every_lane_that_keeps_its_row_and_no_other_refutes_that_one_row_is_new() -> None:
    assert [lane for lane in range(128) if JUDGES["stale"](str(lane)) is None] == [31, 63, 95]
