"""The columns of one shape of instruction, held against what NVIDIA's compiler allocates for the same."""

from __future__ import annotations

import json
from typing import Any

import pytest
from each import each
from places import VECTORS

from descriptors import DescriptorError
from descriptors.tmem.columns import tmem_plan
from descriptors.tmem.geometry import BELIEVED, DOCUMENTED, NVIDIA

CASE = json.loads((VECTORS / "nvfp4_case.json").read_text(encoding="utf-8"))["tmem"]


@pytest.mark.parametrize("n", [64, 128, 192])
def test_halves_of_n_below_256_have_blocks_of_their_own_and_it_is_said_whose_word_it_is(n: int) -> None:
    """The tables of mxf8f6f4 and CUTLASS differ over M 128 of a pair: strict asks both, lenient the one that has it."""
    with pytest.raises(
        DescriptorError, match=r"M is 128, but must be 256.*sources disagree: .*CUTLASS.*; use legality='lenient'$"
    ):
        tmem_plan(128, n, 128, "e4m3", kind="mxf8f6f4", cta_group=2)
    for kind, legality in (("mxf8f6f4", "lenient"), ("mxf4", "strict")):
        dtype, k = ("e4m3", 128) if kind == "mxf8f6f4" else ("e2m1", 256)
        made = tmem_plan(128, n, 2 * k, dtype, kind=kind, cta_group=2, legality=legality)  # type: ignore[arg-type]
        assert (
            made.part("SFB").columns
            == tmem_plan(
                128,
                256,
                2 * k,
                dtype,
                kind=kind,
                cta_group=2,
                legality=legality,  # type: ignore[arg-type]
            )
            .part("SFB")
            .columns
        )
        assert any("facebookexperimental/triton #3653, not measured here" in note for note in made.notes)
    assert not any("3653" in note for note in tmem_plan(128, 256, 256, "e2m1", kind="mxf4", cta_group=2).notes)


def test_the_case_of_nvfp4_is_that_of_the_compiler() -> None:
    plan = tmem_plan(128, 8, 64, "e2m1", scale_dtype="ue4m3")
    assert [part.columns for part in plan.parts] == [CASE[name]["columns"] for name in ("accumulator", "SFA", "SFB")]
    assert (plan.used, plan.allocate) == (CASE["sum"], CASE["allocate"])
    assert plan.evidence == NVIDIA


@pytest.mark.parametrize(
    ("arguments", "columns"),
    [
        ({"m": 128, "n": 256, "k": 64, "accumulators": 2}, {"D0": (0, 256), "D1": (256, 256)}),
        (
            {"m": 64, "n": 64, "k": 64, "accumulators": 3, "interleaved": True},
            {"D0": (0, 64), "D1": (0, 64), "D2": (64, 64)},
        ),
        ({"m": 128, "n": 64, "k": 64, "a_source": "tmem", "stages": 2}, {"D": (0, 64), "A0": (64, 32), "A1": (96, 32)}),
        ({"m": 128, "n": 8, "k": 32, "sparse": True, "legality": "lenient"}, {"D": (0, 8), "E": (8, 1)}),
        ({"m": 128, "n": 128, "k": 64, "cta_group": 2}, {"D": (0, 64)}),
        ({"m": 32, "n": 64, "k": 16, "ws": True}, {"D": (0, 16)}),
        (
            {"m": 128, "n": 192, "k": 256, "dtype": "e2m1", "scale_dtype": "ue4m3"},
            {"D": (0, 192), "SFA": (192, 16), "SFB": (208, 32)},
        ),
        (
            {"m": 256, "n": 256, "k": 256, "dtype": "e4m3", "scale_dtype": "ue8m0", "cta_group": 2, "stages": 2},
            {"D": (0, 256), "SFA0": (256, 8), "SFB0": (264, 16), "SFA1": (280, 8), "SFB1": (288, 16)},
        ),
        (
            {"m": 128, "n": 256, "k": 128, "dtype": "e2m1", "cta_group": 2},
            {"D": (0, 128), "SFA": (128, 4), "SFB": (132, 4)},
        ),
    ],
)
def test_what_goes_where(arguments: dict[str, Any], columns: dict[str, tuple[int, int]]) -> None:
    plan = tmem_plan(**{"dtype": "bf16", **arguments})
    assert {part.name: (part.column, part.columns) for part in plan.parts} == columns


def test_without_what_depends_on_it_k_may_be_left_out() -> None:
    assert tmem_plan(128, 256, accumulators=2).parts == tmem_plan(128, 256, 64, accumulators=2).parts
    for needs in ({"a_source": "tmem"}, {"sparse": True}, {"dtype": "e2m1", "scale_dtype": "ue4m3"}):
        with pytest.raises(DescriptorError, match="K of the tile is missing"):
            tmem_plan(128, 64, **needs)  # type: ignore[arg-type]


def test_metadata_begin_at_a_multiple_of_4_columns() -> None:
    plan = tmem_plan(64, 72, 64, "bf16", sparse=False, a_source="smem", legality="lenient")
    assert plan.used == 72
    sparse = tmem_plan(128, 48, 64, "bf16", sparse=True, accumulators=1, stages=3)
    assert [part.column for part in sparse.parts] == [0, 48, 52, 56]


def test_what_shares_columns_begins_16_lanes_on_and_it_is_said() -> None:
    plan = tmem_plan(64, 64, 64, "bf16", accumulators=2, interleaved=True)
    assert [part.lane for part in plan.parts] == [0, 16] and plan.notes and plan.allocate == 64


def test_a_pair_with_64_rows_each_is_told_what_its_copies_write() -> None:
    plan = tmem_plan(128, 256, 64, "e2m1", cta_group=2, scale_dtype="ue4m3")
    assert (
        plan.evidence == BELIEVED
        and len(plan.notes) == 1
        and plan.part("SFA").columns == plan.part("SFA").fragment.columns + 2
    )  # type: ignore[union-attr]


def test_blocks_have_an_accumulator_each_and_the_factors_of_all_rows() -> None:
    plan = tmem_plan(128, 64, 256, "e2m1", scale_dtype="ue4m3", blocks=(2, 3))
    alone = tmem_plan(128, 64, 256, "e2m1", scale_dtype="ue4m3")
    assert [part.column for part in plan.parts] == [0, 64, 128, 192, 256, 320, 384, 416]
    assert plan.part("SFA").columns == 2 * alone.part("SFA").columns
    assert plan.part("SFB").columns == 32  # 192 rows are copied as 256
    pair = tmem_plan(128, 256, 64, "e2m1", scale_dtype="ue4m3", cta_group=2, blocks=[2, 1])
    assert (pair.part("SFA").columns, pair.notes, pair.evidence) == (4, (), BELIEVED)


def test_4_bit_elements_of_a_kind_with_8_bit_types_take_a_byte() -> None:
    plan = tmem_plan(128, 64, 64, "e2m1", b_dtype="e4m3", a_source="tmem", sparse=False)
    assert plan.part("A").columns == 16
    packed = tmem_plan(128, 64, 64, "e2m1", scale_dtype="ue8m0", a_source="tmem")
    assert packed.part("A").columns == 8


def test_what_is_only_documented_makes_the_plan_so() -> None:
    assert tmem_plan(128, 64, 32, "e2m3", a_source="tmem").evidence == DOCUMENTED


@each(
    ("arguments", "message"),
    [
        (
            {"m": 128, "n": 256, "k": 64, "accumulators": 3},
            "need 768 columns, sm100 has 512; D0 256, D1 256, D2 256 columns",
        ),
        ({"m": 128, "n": 256, "k": 64, "ctas": 3}, "3 CTAs need 768 columns, an SM has 512"),
        ({"m": 128, "n": 64, "k": 64, "interleaved": True}, "M is 128, with which accumulators cannot be interleaved"),
        (
            {"m": 64, "n": 64, "k": 64, "accumulators": 2, "interleaved": True, "a_source": "tmem"},
            "accumulators cannot be interleaved if A is in tmem",
        ),
        ({"m": 64, "n": 64, "k": 64, "sparse": True}, "A has 64 rows per CTA, for which .*; supported: 128"),
        ({"m": 128, "n": 64, "k": 64, "a_source": "rmem"}, "supported: smem, tmem"),
        ({"m": 128, "n": 64, "k": 0}, "K is "),
        ({"m": 128, "n": 64, "k": 64, "sparse": "no"}, "sparse is .no., which is neither True nor False"),
        ({"m": 128, "n": 100, "k": 64}, "N is 100, but must be 8..256 step 8"),
        ({"m": 128, "n": 64, "k": 64, "blocks": 2}, "blocks is 2, which is not two numbers"),
        ({"m": 128, "n": 64, "k": 64, "blocks": (1, 0)}, "blocks is "),
        (
            {"m": 128, "n": 256, "k": 64, "cta_group": 2, "dtype": "e2m1", "scale_vector": 16, "blocks": (1, 2)},
            "the tile has 2 instructions along N; .*, only one along N is supported",
        ),
    ],
)
def test_what_is_no_plan_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(DescriptorError, match=message):
        tmem_plan(**{"dtype": "bf16", **arguments})
