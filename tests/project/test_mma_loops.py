"""What a Hopper GPU did with programs of ``mma.sync``, and that they are the programs which are emitted today."""

from __future__ import annotations

import doctest
import json
from typing import Any

import pytest
from each import each
from places import ROOT

from descriptors import mma_plan
from descriptors.gemm.programs.mma_kernel import kernel
from probes import mma_loops
from probes.main_loops import digest
from probes.mma_loops import SPOILT, TYPES, drawn, sizes

HOPPER = ROOT / "tests" / "vectors" / "hopper" / "h200"
THREADS, ENGINE = (
    json.loads((HOPPER / f"{name}.json").read_text(encoding="utf-8")) for name in ("mma_loops", "mma_loops_engine")
)
ROWS: list[dict[str, Any]] = [*THREADS["programs"], *ENGINE["programs"]]


def test_the_examples_run() -> None:
    assert doctest.testmod(mma_loops).failed == 0


def test_every_program_was_exact() -> None:
    assert [len(one["programs"]) for one in (THREADS, ENGINE)] == [60, 20]
    assert all(row["exact"] for row in ROWS)


def test_every_spoilt_twin_failed_but_some_that_do_not_wait_where_copies_come_early() -> None:
    spoilt = [row for row in ROWS if row["spoilt"] != "wait"]
    assert len(spoilt) == 60 and {row["spoilt"] for row in spoilt} == set(SPOILT) - {"wait"}
    assert all(row["twin_fails"] for row in spoilt)
    unawaited = [row for row in ROWS if row["spoilt"] == "wait"]
    # A copy that comes early hides the missing wait: how many fail differs from run to run.
    failed = [sum(row["twin_fails"] for row in unawaited if row in one["programs"]) for one in (THREADS, ENGINE)]
    assert failed == [7, 5]


@each("row", ROWS, ids=lambda row: row["program"])
def test_the_program_that_ran_is_the_one_that_is_emitted(row: dict[str, Any]) -> None:
    made = mma_plan(**row["plan"], verify=False)
    assert digest(kernel(made)) == row["program"]
    assert [tuple(size) for size in row["products"]] == sizes(made)


@pytest.mark.parametrize("engine", [pytest.param(False, marks=pytest.mark.exhaustive), True])
def test_the_record_is_a_draw_of_its_seed_and_covers_what_plans_differ_in(engine: bool) -> None:
    record = ENGINE if engine else THREADS
    plans = [row["plan"] for row in record["programs"]]
    assert plans == drawn(len(plans), record["seed"], engine=engine)
    assert {(one["dtype"], one["b_dtype"], one["d_dtype"]) for one in plans} == set(TYPES)
    assert {(one["a_major"], one["b_major"]) for one in plans} == {(a, b) for a in ("K", "MN") for b in ("K", "MN")}
    assert {one.get("arch") for one in plans} == ({"sm120"} if engine else {None})
