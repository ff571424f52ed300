"""The choice of a tile for a product, held against times that were measured: what is chosen is among the fastest."""

from __future__ import annotations

import json
import lzma
import math
from statistics import geometric_mean, median
from typing import Any

import pytest
from each import each
from places import ROOT

from descriptors import DescriptorError, propose_tiles, record, tell
from descriptors.gemm.problem import Candidate

_RECORD = ROOT / "tests" / "vectors" / "hopper" / "h200" / "tile_times.jsonl.xz"
LINES = [json.loads(line) for line in lzma.decompress(_RECORD.read_bytes()).decode().splitlines()]
ROWS: list[dict[str, Any]] = LINES[1:]


def expected(row: dict[str, Any]) -> float:
    """What the model says of a program that was timed."""
    k = row["problem"][2]
    width = 2 if row["c"] == "bf16" else 4
    one = Candidate(
        tuple(row["tile"]), row["tile"][1], tuple(row["cluster"]), row["splits"], (2, 2, width), (2 * k, 2 * k),
        row["stages"], True,
    )  # fmt: skip
    return one.estimate(tuple(row["problem"])).microseconds


def by_product() -> dict[tuple[int, ...], list[tuple[float, float]]]:
    """Expected and measured times of each product with C of f32."""
    found: dict[tuple[int, ...], list[tuple[float, float]]] = {}
    for row in ROWS:
        if row["c"] == "f32":
            found.setdefault(tuple(row["problem"]), []).append((expected(row), row["us"]))
    return found


def test_half_of_the_times_are_as_expected_to_a_sixteenth() -> None:
    assert len(ROWS) == 1905 and len(by_product()) == 17
    assert median(abs(math.log(expected(row) / row["us"])) for row in ROWS) < 0.06


def test_what_is_expected_to_be_fastest_is_among_the_fastest() -> None:
    shares = [min(us for _, us in rows) / min(rows)[1] for rows in by_product().values()]
    assert min(shares) > 0.87 and geometric_mean(shares) > 0.96


def test_of_two_programs_that_differ_by_a_fifth_the_order_is_mostly_right() -> None:
    right = wrong = 0
    for rows in by_product().values():
        for i, (first, us) in enumerate(rows):
            for second, other in rows[:i]:
                if abs(math.log(us / other)) > math.log(1.2):
                    right, wrong = (
                        right + ((first < second) == (us < other)),
                        wrong + ((first < second) != (us < other)),
                    )
    assert right > 0.93 * (right + wrong)


@each("problem", [(64, 16, 64), (1, 1, 8), (100, 40, 1 << 17), (1 << 16, 8, 64), (333, 777, 4000)])
def test_any_product_that_copies_can_fill_has_a_program(problem: tuple[int, int, int]) -> None:
    made = propose_tiles("bf16", problem, top=2)
    assert len(made.plans) == 2 and made.estimates[0].microseconds <= made.estimates[1].microseconds
    assert all(math.prod(one.asked.cluster) * -(-problem[0] // one.asked.tile[0]) for one in made.plans)
    assert tell(made).splitlines()[0].endswith("TFLOP/s") and record(made)["tried"] == made.tried


@each("dtype", ["bf16", "f16", "tf32", "e4m3", "e5m2", "s8", "u8"])
def test_every_type_has_a_tile(dtype: str) -> None:
    for majors in ({}, {"a_major": "MN", "b_major": "MN"}):
        if majors and dtype not in ("bf16", "f16"):
            with pytest.raises(DescriptorError, match="transpose bits"):
                propose_tiles(dtype, (1024, 1024, 1024), top=1, **majors)
        else:
            assert propose_tiles(dtype, (1024, 1024, 1024), top=1, **majors).plans[0].verify().ok


def test_rows_that_no_copy_takes_are_refused_with_the_next_that_one_does() -> None:
    with pytest.raises(DescriptorError, match="K = 1001 of bf16: pad K to 1008"):
        propose_tiles("bf16", (1024, 1024, 1001))
    odd = propose_tiles("bf16", (1024, 1001, 1024), top=1).plans[0]
    assert odd.epilogue is not None and odd.epilogue.staged is None
    with pytest.raises(DescriptorError, match="N = 1001 of bf16: pad N to 1008"):
        propose_tiles("bf16", (1024, 1001, 1024), c_dtype="bf16")  # no program of it takes such an N
    with pytest.raises(DescriptorError, match="arch sm100"):
        propose_tiles("bf16", (1024, 1024, 1024), arch="sm100")
