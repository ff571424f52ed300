"""Block-scaled multiplications whole: M 128, N 8, K 64 of NVFP4 as NVIDIA's compiler has it, and the other shapes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from each import each
from places import VECTORS

from descriptors import DescriptorError, tell
from descriptors.answers import record
from descriptors.smem.instructions.idesc import decode_idesc
from descriptors.tmem.block_scaled import BlockScaled, block_scaled, factors_of
from descriptors.tmem.columns import tmem_plan
from descriptors.tmem.geometry import NVIDIA

CASE = json.loads((VECTORS / "nvfp4_case.json").read_text(encoding="utf-8"))
WORDS = {name: int(word, 16) for name, word in CASE["smem_desc_address_0"].items()}
IDESC = {name: int(word, 16) for name, word in CASE["idesc"].items()}


def nvfp4(**options: Any) -> BlockScaled:
    return block_scaled(128, 8, options.pop("k", 64), "e2m1", scale_dtype="ue4m3", **options)


def test_the_case_is_that_of_the_compiler_word_by_word() -> None:
    mma = nvfp4()
    (step,) = mma.steps
    assert (step.a, step.b) == (WORDS["A 32B"], WORDS["B 32B"])
    assert step.idesc == IDESC["ue4m3 128x8"]
    assert mma.sfa.steps[0].word == mma.sfb.steps[0].word == WORDS["scale factors, for tcgen05.cp.32x128b.warpx4"]
    assert (step.sfa, step.sfb) == (8, 12) and (mma.plan.used, mma.plan.allocate) == (16, 32)
    assert mma.evidence == NVIDIA
    assert mma.a.tile == (128, 64) and CASE["smem_bytes"] == {"A": 4096, "B": 256, "SFA": 512, "SFB": 512}
    assert (mma.sfa.bytes, mma.sfb.bytes) == (512, 512)
    sfa = CASE["tmem"]["SFA"]["layout"]
    assert sfa.startswith("((((32,4),4),(16,4)),1,1):((((262144,4),8388608),(0,1))")
    assert str(mma.sfa.cells.layout) == "((32,4),(16,4),4):((262144,4),(0,1),8388608)"  # the copies last


def test_the_other_swizzles_of_the_case() -> None:
    bare = nvfp4(a_swizzle="none", b_swizzle="none").steps[0]
    assert (bare.a, bare.b) == (WORDS["A none, atoms M first"], WORDS["B none"])
    wide = nvfp4(k=256)
    assert (wide.steps[0].a, wide.steps[0].b) == (WORDS["A 128B, K tile 256"], WORDS["B 128B, K tile 256"])
    assert nvfp4(k=128).steps[0].a == WORDS["A 64B, K tile 128"]


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"m": 128, "n": 8, "k": 64, "a_dtype": "e2m1", "scale_dtype": "ue8m0", "scale_vector": 16}, "ue8m0 128x8"),
        ({"m": 128, "n": 128, "k": 64, "a_dtype": "e2m1", "scale_dtype": "ue4m3"}, "ue4m3 128x128"),
        (
            {"m": 256, "n": 256, "k": 64, "a_dtype": "e2m1", "scale_dtype": "ue4m3", "cta_group": 2},
            "ue4m3 256x256 cta_group 2",
        ),
        ({"m": 128, "n": 8, "k": 32, "a_dtype": "e4m3"}, "mxf8f6f4 e4m3 ue8m0 128x8"),
    ],
)
def test_the_instruction_words_are_those_of_cutlass(arguments: dict[str, Any], name: str) -> None:
    assert block_scaled(**arguments).steps[0].idesc == IDESC[name]


@pytest.mark.parametrize(
    ("arguments", "kind", "qualifier", "ids"),
    [
        ({"a_dtype": "e4m3", "k": 128}, "mxf8f6f4", "1X", [0, 1, 2, 3]),
        ({"a_dtype": "e5m2", "b_dtype": "e2m1_unpacksmem", "k": 64}, "mxf8f6f4", "1X", [0, 1]),
        ({"a_dtype": "e2m1", "k": 256}, "mxf4", "2X", [0, 2, 0, 2]),
        ({"a_dtype": "e2m1", "scale_dtype": "ue8m0", "scale_vector": 16, "k": 256}, "mxf4nvf4", "4X", [0, 0, 0, 0]),
        ({"a_dtype": "e2m1", "kind": "mxf4nvf4", "k": 128}, "mxf4nvf4", "4X", [0, 0]),
    ],
)
def test_k_steps_take_the_factors_one_after_the_other(
    arguments: dict[str, Any], kind: str, qualifier: str, ids: list[int]
) -> None:
    mma = block_scaled(128, 64, **arguments)
    assert (mma.kind, mma.qualifier) == (kind, qualifier)
    for step, number in zip(mma.steps, ids, strict=True):
        word = decode_idesc(step.idesc, kind)
        assert word["sfa_id"] == word["sfb_id"] == step.sfa >> 30 == step.sfb >> 30 == number
        assert not word.warnings
    assert mma.sfa.verify().ok and mma.sfb.verify().ok


def test_a_pair_has_all_of_sfb_in_both_ctas_and_sfa_of_its_own_rows() -> None:
    mma = block_scaled(256, 256, 256, "e2m1", scale_dtype="ue4m3", cta_group=2)
    assert (mma.sfa.mn, mma.sfb.mn) == (128, 256)
    assert (mma.a.tile, mma.b.tile) == ((128, 256), (128, 256))
    apart = block_scaled(128, 256, 64, "e2m1", scale_dtype="ue4m3", cta_group=2)
    assert (apart.sfa.mn, apart.sfb.copy) == (64, "64x128b.warpx2::01_23")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"m": 128, "n": 8, "k": 96, "a_dtype": "e2m1"},
            r"K is 96, which is not a multiple of the instruction's K \(64\); kind mxf4",
        ),
        ({"m": 128, "n": 8, "k": 64, "a_dtype": "bf16"}, "has no kind of MMA instruction for bf16"),
        ({"m": 128, "n": 8, "k": 64, "a_dtype": "bf16", "kind": "f16"}, "kind f16 has no scale factors"),
        ({"m": 64, "n": 8, "k": 64, "a_dtype": "e2m1"}, "M is 64, but must be 128"),
        (
            {"m": 128, "n": 8, "k": 64, "a_dtype": "e2m1", "a_swizzle": "128B"},
            "tile K is 64, which is not a multiple of 256, the K of an atom",
        ),
        (
            {"m": 128, "n": 8, "k": 32, "a_dtype": "e4m3", "scale_dtype": "ue4m3"},
            "no scale factors ue4m3 by any; supported: ue8m0 by 32",
        ),
        (
            {"m": 128, "n": 96, "k": 64, "a_dtype": "e2m1", "cta_group": 2},
            "for which no copies .*; supported: N 64, 128, 192, 256",
        ),
    ],
)
def test_what_is_no_multiplication_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(DescriptorError, match=message):
        block_scaled(**arguments)


@each("kind, scale_dtype", [
    (kind, dtype) for kind, dtypes in (("mxf8f6f4", ("ue8m0",)), ("mxf4", ("ue8m0",)), ("mxf4nvf4", ("ue8m0", "ue4m3")))
    for dtype in (None, *dtypes)
])  # fmt: skip
def test_the_scale_vector_that_is_left_out_is_the_same_everywhere(kind: str, scale_dtype: str | None) -> None:
    dtype, vector, _ = factors_of(kind, scale_dtype, None)
    a, k = ("e4m3", 128) if kind == "mxf8f6f4" else ("e2m1", 256)
    left_out, given = (
        tmem_plan(128, 64, k, a, kind=kind, scale_dtype=scale_dtype, scale_vector=each_vector).parts
        for each_vector in (None, vector)
    )
    assert left_out == given
    made = block_scaled(128, 64, k, a, kind=kind, scale_dtype=scale_dtype)
    assert (made.plan.parts[1].fragment, dtype) == (left_out[1].fragment, made.scale_dtype)


@pytest.mark.parametrize("k", [64, 256])
def test_the_copies_of_scale_factors_go_to_their_columns(k: int) -> None:
    made = block_scaled(128, 8, k, "e2m1", scale_dtype="ue4m3")
    text, data = str(tell(made)), record(made)
    for name, factors in (("SFA", made.sfa), ("SFB", made.sfb)):
        first = made.plan.part(name).column
        columns = [one["column"] for one in data["scale_factors"][name]["copies"]]
        assert first > 0 and columns == [first + step.column for step in factors.steps]
        assert columns[0] == first and all(f" to column {column}" in text for column in columns)
    assert "to column 0" not in text
