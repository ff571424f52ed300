"""Simulated steps: what is wrong in them is found, and the definition is that of plain Python."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from descriptors import shift_convolution
from descriptors.tmem import shift_model
from descriptors.tmem.shift_convolution import Machine, Outcome, direct, numbers, outcome, simulate
from descriptors.tmem.shift_steps import ShiftProblem, ShiftStep

MADE = shift_convolution(8, 3, 16, 16, 16, (3, 3), (1, 1))


def places(change: Callable[[ShiftStep], ShiftStep | None]) -> set[int]:
    """The places of outputs that are wrong where steps are changed, or left out."""

    def steps(p: int, tile: int) -> list[ShiftStep]:
        return [one for step in MADE.steps(p, tile) if (one := change(step)) is not None]

    data = numbers(MADE.problem)
    outputs = simulate(MADE.problem, steps, Machine(16, 1, "all"), *data)
    return {int(n) * 16 + int(q) for n, _, q, _ in np.argwhere(outputs != direct(MADE.problem, *data))}


@pytest.mark.parametrize(
    "one",
    [
        ShiftProblem(2, 5, 4, 8, 3, (3, 3), (1, 1), 1, 1),
        ShiftProblem(1, 7, 6, 8, 2, (2, 4), (0, 1), 2, 3),
        ShiftProblem(2, 3, 5, 8, 2, (2, 3), (1, 0), 1, 1),
    ],
)
def test_the_definition_is_six_loops(one: ShiftProblem) -> None:
    x, y = numbers(one)
    outputs = direct(one, x, y)
    for n, p, q, k in np.ndindex(*outputs.shape):
        total = 0
        for r, s, c in np.ndindex(*one.taps, one.channels):
            h, w = p * one.stride_h - one.padding[0] + r * one.dilation_h, q - one.padding[1] + s
            if 0 <= h < one.height and 0 <= w < one.width:
                total += int(x[n, h, w, c]) * int(y[k, r, s, c])
        assert outputs[n, p, q, k] == total


def test_the_steps_as_they_are_come_out_right() -> None:
    assert places(lambda step: step) == set()
    assert outcome(*2 * [direct(MADE.problem, *numbers(MADE.problem))]) == Outcome(0)


def test_without_masks_outputs_beside_the_padding_are_wrong() -> None:
    wrong = places(lambda step: replace(step, masks=tuple(0 for _ in step.masks)))
    # Those at the ends of the flat row read zeros: places beyond it.
    assert wrong == {place for place in range(128) if place % 16 in (0, 15)} - {0, 127}


def test_four_rows_are_new_at_every_tap() -> None:
    wrong = places(lambda step: None if step.kind == "refresh" else step)
    # Two taps are shifted to; the last lane's second one is padding, as are those of lanes 31, 63 and 95.
    assert wrong == {lane for lane in range(128) if lane % 32 >= 30}


def test_a_shift_the_other_way_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    def up(cells: Any, lane: int, column: int, *, quarters: str) -> None:
        for first in range(0, 128, 32):
            part = cells[first : first + 32, column : column + 8]
            part[1:] = part[:-1].copy()

    assert MADE.verify().ok
    monkeypatch.setattr(shift_model, "shift", up)
    report = MADE.verify()
    assert not report.ok and report.outcome.wrong > report.outputs // 2
    assert "wrong: " in str(report).splitlines()[-1] and report.headline.startswith("wrong: ")


def test_a_masked_lane_keeps_what_was_there_before_the_first_product() -> None:
    """Without zeros in D, and the first product not added to it, masked lanes have the tile before."""

    def stale(step: ShiftStep) -> ShiftStep:
        first = step.kind == "multiply" and (step.tap.r, step.tap.s, step.tap.k) == (1, 0, 0)
        return replace(step, enable_input_d=not first)

    one = shift_convolution(2, 1, 9, 16, 16, (3, 3), (1, 1))
    data = numbers(one.problem)
    steps = [stale(step) for step in one.steps() if step.kind != "clear"]
    outputs = simulate(one.problem, lambda p, t: steps, Machine(16, 1, "all"), *data)
    wrong = {(int(n), int(q)) for n, _, q, _ in np.argwhere(outputs != direct(one.problem, *data))}
    assert wrong == {(0, 0), (1, 0)}
