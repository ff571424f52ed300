"""Judges of lanes: held against the model of the shift and the definition of a convolution."""

from __future__ import annotations

import numpy as np
import pytest
from each import each

from descriptors.course.judges.tensor_memory import JUDGES, after
from descriptors.tmem.shift_model import shift

NINE = {"images": 2, "width": 9, "taps": 3, "padding": 1}

CASES = [
    ("masked", (NINE, 0), "9 0", None),
    ("masked", (NINE, 1), "none", None),
    ("masked", (NINE, 2), "8, 17", None),
    ("masked", (NINE, 2), "8", "leaves out lane 17, whose output reads w = 9 at tap 2"),
    ("masked", (NINE, 2), "8, 17, 9", "masks lane 9 without need: its output reads w = 1"),
    ("masked", (NINE, 2), "8, 17, 26", "it has no output at all"),
    ("masked", (NINE, 2), "8, 17, 128", "has a lane that there is not: 128"),
    ("held", ([0, 31, 32], 2), "2, 31, 34", None),
    ("held", ([0, 31, 32], 2), "2, 33, 34", "says 33 for lane 31"),
    ("refreshed", (1,), "127, 95, 63, 31", None),
    ("refreshed", (2,), "30, 31, 62, 63, 94, 95, 126, 127", None),
    ("refreshed", (1,), "127", "leaves lane 31 with what it had"),
    ("refreshed", (1,), "0, 31, 63, 95, 127", "loads lane 0, which the shift has filled"),
    ("refreshed", (1,), "31, 63, 95, 127, -1", "has a lane that there is not"),
]


@each(("judge", "operands", "answer", "words"), CASES)
def test_an_answer_is_judged(judge: str, operands: tuple[object, ...], answer: str, words: str | None) -> None:
    judgement = JUDGES[judge](answer, *operands)
    assert judgement is None if words is None else words in (judgement or "")


@pytest.mark.parametrize("shifts", range(6))
def test_what_lanes_hold_is_what_the_model_leaves_there(shifts: int) -> None:
    cells = np.arange(128, dtype=np.uint32)[:, None].repeat(512, 1)
    for _ in range(shifts):
        shift(cells, 0, 8, quarters="all")
    assert cells[:, 8].tolist() == after(shifts)


@pytest.mark.parametrize("width", [3, 7, 9])
@pytest.mark.parametrize("taps", [1, 3, 5])
def test_the_masked_lanes_are_those_that_read_the_padding(width: int, taps: int) -> None:
    problem = {"images": 4, "width": width, "taps": taps, "padding": (taps - 1) // 2}
    for tap in range(taps):
        reads = [(lane, lane % width + tap - (taps - 1) // 2) for lane in range(4 * width)]
        right = [str(lane) for lane, w in reads if not 0 <= w < width]
        assert JUDGES["masked"](", ".join(right) or "none", problem, tap) is None
