"""Single im2col copies beside the model: as they are put to a GPU, and what an H200 did with 200 of them."""

from __future__ import annotations

import doctest
import json
from typing import Any

import numpy as np
from places import ROOT

from descriptors.smem.tma.map_notation import arguments_text
from descriptors.smem.words.tensor_map import Im2colWindow
from probes import im2col
from probes.im2col import ROOM, controls, drawn, expected, memory_of

RECORD: dict[str, Any] = json.loads((ROOT / "tests/vectors/hopper/h200/im2col.json").read_text(encoding="utf-8"))
CASES = drawn(200, RECORD["seed"])


def test_the_examples_run() -> None:
    assert doctest.testmod(im2col).failed == 0


def test_the_drawn_copies_are_taken_by_the_driver_and_begin_everywhere() -> None:
    assert not any(one.refusals() for one, _ in CASES)
    assert all(one.row_pitch_bytes * one.box.pixels <= ROOM for one, _ in CASES if isinstance(one.box, Im2colWindow))
    assert {place[1] < 0 for _, place in CASES} == {place[2] < 0 for _, place in CASES} == {False, True}
    assert {one.swizzle for one, _ in CASES} == {0, 1, 2, 3}
    assert {one.element_strides[1] for one, _ in CASES} == set(range(1, 9))


def test_another_corner_or_stride_lands_elsewhere_in_most_cases() -> None:
    differing = 0
    for number, (one, place) in enumerate(CASES[:40]):
        memory = memory_of(one, number)
        wanted = expected(one, place, memory)
        differing += sum(bool((expected(other, place, memory) != wanted).any()) for other in controls(one))
        assert np.isin(wanted[wanted != 0xA5A5], [0, *memory]).all()
    assert differing >= 20


def test_every_copy_on_record_is_as_the_model_says() -> None:
    """Byte for byte, poison included; each control that differs from the model differed from the GPU too."""
    rows = RECORD["cases"]
    assert [(row["map"], row["place"]) for row in rows] == [(arguments_text(one), list(place)) for one, place in CASES]
    assert not any(row["differing"] or row["controls_that_passed"] for row in rows)
    assert sum(row["controls"] for row in rows) == 145
