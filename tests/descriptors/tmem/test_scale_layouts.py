"""Layouts of scale factors against those of NVIDIA's DSL: of K 32, 64 and 128, in shared and in tensor memory."""

from __future__ import annotations

import json
from typing import Any

import pytest
from each import each
from places import VECTORS

from descriptors.errors import DescriptorError
from descriptors.tmem.block_scaled import block_scaled, factors_of
from descriptors.tmem.columns import tmem_plan
from descriptors.tmem.scale_factors import scale_factors
from descriptors.tmem.scale_model import factor_bytes
from layoutalg import parse_layout

ROWS = json.loads((VECTORS / "rubin_words.json").read_text(encoding="utf-8"))["scale_layouts"]


@each("row", ROWS)
@pytest.mark.parametrize("side", ["sfa", "sfb"])
def test_each_factor_lies_where_the_dsl_has_it_and_each_step_begins_there(row: dict[str, Any], side: str) -> None:
    vector, k, rows = row["vec"], row["k"], row["m"] // row["cg"] if side == "sfa" else row["n"]
    mine = scale_factors(rows, row["tile_k"], vector, step=k)
    cells: Any = parse_layout(row[f"tmem_{side}"])
    memory: Any = parse_layout(row[f"smem_{side}"])
    for step in range(row["tile_k"] // k):
        assert (mine.places[step].column, mine.places[step].byte) == divmod(cells[2](step), 4)
        for factor in range(k // vector):
            at = step * k + factor * vector
            for x in range(rows):
                assert mine.memory(x, at) == memory[0][0](x) + memory[0][1](factor * vector) + memory[2](step)
                for copy in range(4):
                    there = cells[0][0][0](x) + cells[0][0][1](copy) + cells[0][1](factor * vector) + cells[2](step)
                    assert mine.cells.layout(x, at, copy) == there


@pytest.mark.parametrize(("vector", "count", "ids"), [(16, 6, (0, 2)), (32, 3, (0, 3, 2, 1))])
def test_the_factors_of_k_96_are_those_of_nvidias_main_loop_for_sm_103(
    vector: int, count: int, ids: tuple[int, ...]
) -> None:
    """MMA j begins at factor 6 j or 3 j, of 12 factors of a row; what is beyond a group is in the next."""
    mine = scale_factors(128, 768, vector, step=96)
    for j, place in enumerate(mine.places):
        assert place.byte == ids[j % len(ids)]
        assert (place.column // 4 * 4 + place.byte) % 12 == count * j % 12
        reached = factor_bytes(place.pointer(0), 128, count, group=mine.group)
        assert [int(4 * (column // 4) + byte) for _, column, byte in reached[0]] == [
            count * j + q for q in range(count)
        ]


def test_one_or_two_factors_of_mxf8f6f4_with_k_64_as_the_reading_has_it() -> None:
    options: dict[str, Any] = {"k": 64, "arch": "sm107"}
    assert factors_of("mxf8f6f4", None, None, legality="strict", **options) == ("ue8m0", 64, "block32")
    assert factors_of("mxf8f6f4", None, None, legality="lenient", **options) == ("ue8m0", 32, "block32")
    for legality, ids in (("strict", [0, 1, 2, 3]), ("lenient", [0, 2, 0, 2])):
        made = block_scaled(128, 128, 256, "e4m3", step=64, arch="sm107", legality=legality)  # type: ignore[arg-type]
        assert [step.sfa >> 30 for step in made.steps] == ids
        assert all(report.ok for report in made.verify())


def test_more_than_512_columns_are_an_exclusive_allocation_of_sm107() -> None:
    arguments: dict[str, Any] = {"dtype": "e2m1", "scale_dtype": "ue4m3", "cta_group": 2, "accumulators": 2}
    made = tmem_plan(256, 256, 128, **arguments, arch="sm107")
    assert (made.used, made.allocate, made.exclusive, made.ctas) == (536, 544, True, 1)
    assert tmem_plan(256, 256, 256, **arguments, arch="sm107").allocate == 576
    with pytest.raises(DescriptorError, match="the parts need 608 columns, sm107 has 576"):
        tmem_plan(256, 256, 512, **arguments, arch="sm107")
    with pytest.raises(DescriptorError, match="the parts need 536 columns, sm100 has 512"):
        tmem_plan(256, 256, 128, **arguments)
    with pytest.raises(DescriptorError, match="2 CTAs need 1088 columns, an SM has 512"):
        tmem_plan(256, 256, 128, **arguments, arch="sm107", ctas=2)
    assert not tmem_plan(128, 256, arch="sm107", accumulators=2).exclusive
