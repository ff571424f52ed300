"""What an H200 did with the stores of kernels of sm100, and that they are those which are written today."""

from __future__ import annotations

import doctest
import json
from typing import Any

from each import each
from places import ROOT

from descriptors import plan
from probes import stores
from probes.main_loops import digest
from probes.stores import drawn, storing

RECORD: dict[str, Any] = json.loads((ROOT / "tests/vectors/hopper/h200/stores.json").read_text(encoding="utf-8"))
ROWS: list[dict[str, Any]] = RECORD["programs"]


def test_the_examples_run() -> None:
    assert doctest.testmod(stores).failed == 0


@each("row", ROWS, ids=lambda row: row["program"])
def test_what_ran_is_what_is_written(row: dict[str, Any]) -> None:
    assert digest(storing(plan(**row["plan"], verify=False))) == row["program"]


def test_every_program_was_exact_and_every_twin_failed() -> None:
    assert [row["plan"] for row in ROWS] == drawn(60, RECORD["seed"])
    assert all(row["exact"] and row["found"].startswith("0 of ") for row in ROWS)
    twins = [row for row in ROWS if "twin" in row]
    assert len(twins) >= 10 and all(row["twin_fails"] and "elements differ" in row["twin"] for row in twins)


def test_the_draw_has_what_epilogues_differ_in() -> None:
    made = [plan(**row["plan"], verify=False) for row in ROWS]
    assert {one.epilogue.c for one in made} == {"f32", "f16", "s32", "bf16", "e4m3", "e5m2"}
    assert {one.epilogue.splits for one in made} == {1, 2, 3}
    assert {one.epilogue.staged is None for one in made} == {True, False}
    assert {(one.asked.extents[0], one.asked.cta_group) for one in made} == {(64, 1), (128, 1), (128, 2), (256, 2)}
    assert {one.accumulators.sets for one in made} == {1, 2}  # type: ignore[union-attr]
    assert {name for one in made for name in one.epilogue.terms} == {"row-scales", "alpha-beta", "bias"}
