"""What a Hopper GPU did with emitted programs, and that they are the programs which are emitted today."""

from __future__ import annotations

import doctest
import json
from typing import Any

from each import each
from places import ROOT

from descriptors import plan
from descriptors.gemm.programs.sm90_kernel import kernel
from probes import main_loops
from probes.main_loops import digest, drawn, sizes

HOPPER = ROOT / "tests" / "vectors" / "hopper"
RECORDS = {gpu: json.loads((HOPPER / gpu / "main_loops.json").read_text(encoding="utf-8")) for gpu in ("h100", "h200")}
ROWS: list[dict[str, Any]] = [row for record in RECORDS.values() for row in record["programs"]]
PROMOTED = json.loads((HOPPER / "h100" / "main_loops_promoted.json").read_text(encoding="utf-8"))


def test_the_examples_run() -> None:
    assert doctest.testmod(main_loops).failed == 0


def test_every_program_was_exact_and_every_twin_failed() -> None:
    assert len(ROWS) == 240
    assert all(row["exact"] for row in ROWS)
    twins = [row for row in ROWS if "twin" in row]
    assert len(twins) == 60
    assert all(row["twin_fails"] for row in twins)
    told = [row["twin"] for row in twins]  # some read beyond shared memory, which the GPU refuses
    assert all("elements differ" in one or "illegal memory access" in one for one in told)
    assert sum("elements differ" in one for one in told) >= 50


@each("row", [*ROWS, *PROMOTED["programs"]], ids=lambda row: row["program"])
def test_the_program_that_ran_is_the_one_that_is_emitted(row: dict[str, Any]) -> None:
    made = plan(**row["plan"], verify=False)
    assert digest(kernel(made)) == row["program"]
    assert [tuple(size) for size in row["products"]] == sizes(made)


def test_programs_that_promote_were_exact_and_their_twins_failed() -> None:
    rows = PROMOTED["programs"]
    assert [row["plan"] for row in rows] == drawn(40, PROMOTED["seed"], promoted=True)
    assert all(row["exact"] and row.get("twin_fails", True) for row in rows)
    assert sum("twin" in row for row in rows) == 10
    assert {row["plan"].get("splits") for row in rows} == {None, 2}


def test_the_record_is_a_draw_of_its_seed_and_covers_what_plans_differ_in() -> None:
    for record in RECORDS.values():
        assert [row["plan"] for row in record["programs"]] == drawn(len(record["programs"]), record["seed"])
    plans = [row["plan"] for row in ROWS]
    assert {(one["dtype"], one["b_dtype"], one["d_dtype"]) for one in plans} == set(main_loops.TYPES)
    made = [plan(**one, verify=False) for one in plans]
    sides = {
        (side.matrix, str(side.derivation.major), str(side.derivation.swizzle)) for p in made for side in (p.a, p.b)
    }
    assert len(sides) == 16  # two operands, two majors, four swizzles
    assert {p.loads is None for p in made} == {True, False}
    stored = [p.epilogue for p in made]
    assert {one.c for one in stored} == {"f32", "f16", "s32", "bf16", "e4m3", "e5m2"}
    assert {one.splits for one in stored} == {1, 2} and {one.staged is None for one in stored} == {True, False}
    assert {one.terms for one in stored} == {(), ("bias",), ("row-scales", "alpha-beta", "bias")}
    assert {p.stages for p in made} >= {1, 2, 3, 5, 8}
    assert {p.accumulators.warpgroups for p in made} == {1, 2, 3}  # type: ignore[union-attr]
