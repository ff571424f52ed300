"""What a Hopper GPU did with emitted convolutions, and that they are the programs which are emitted today."""

from __future__ import annotations

import doctest
import json
from typing import Any

from each import each
from places import ROOT

from descriptors import plan
from descriptors.gemm.programs.sm90_kernel import kernel
from probes import convolutions
from probes.convolutions import digest, drawn, spoilt, twin

RECORD = json.loads((ROOT / "tests/vectors/hopper/h200/convolutions.json").read_text(encoding="utf-8"))
ROWS: list[dict[str, Any]] = RECORD["programs"]


def test_the_examples_run() -> None:
    assert doctest.testmod(convolutions).failed == 0


def test_every_convolution_was_exact_on_both_extents() -> None:
    assert len(ROWS) == 40
    assert all(row["exact"] and [one.split(":")[0] for one in row["found"]] == ["exact"] * 2 for row in ROWS)


def test_the_twins_that_the_proof_calls_wrong_failed_and_no_others() -> None:
    twins = [(row, row["twin"]) for row in ROWS if "twin" in row]
    assert len(twins) == 20 and {one["spoilt"] for _, one in twins} == set(convolutions.SPOILT)
    assert sum(one["fails"] for _, one in twins) == 18
    for row, one in twins:
        assert one["fails"] == one["predicted"] == spoilt(plan(**row["plan"], verify=False), one["spoilt"])
        assert ("elements differ" in one["found"]) == one["fails"]


@each("row", ROWS, ids=lambda row: row["program"])
def test_the_program_that_ran_is_the_one_that_is_emitted(row: dict[str, Any]) -> None:
    text = kernel(plan(**row["plan"], verify=False))
    assert digest(text) == row["program"]
    assert "twin" not in row or twin(text, row["twin"]["spoilt"]) != text


def test_the_record_is_a_draw_of_its_seed_and_covers_what_convolutions_differ_in() -> None:
    assert [{"plan": row["plan"], "other": row["other"]} for row in ROWS] == drawn(40, RECORD["seed"])
    made = [row["plan"]["convolution"] for row in ROWS]
    assert {one["stride"][i] for one in made for i in (0, 1)} == {1, 2, 3}
    assert {one["dilation"][i] for one in made for i in (0, 1)} == {1, 2, 3}
    assert {one["padding"][i] for one in made for i in (0, 1)} == {0, 1, 2, 4}
    assert {row["plan"]["dtype"] for row in ROWS} == {"bf16", "f16", "tf32", "e4m3", "e5m2", "s8", "u8"}
