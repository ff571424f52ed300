"""Names of instructions: what a name states is used, and a contradiction is refused with both values."""

from __future__ import annotations

from typing import Any

import pytest

from descriptors import DescriptorError, derive, plan
from descriptors.gemm.mma_planner import mma_plan
from descriptors.smem.instructions.instruction_name import read_instruction

TILE = (128, 128, 64)


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("M64N128K16", {"mnemonic": "", "extents": (64, 128, 16)}),
        ("wgmma.mma_async.sp.sync.aligned.m64n8k32.f16.f16.f16", {"sparse": True, "d": "f16", "a": "f16", "b": "f16"}),
        ("tcgen05.mma.ws.cta_group::1.kind::i8.m32n64k32", {"ws": True, "cta_group": 1, "kind": "i8"}),
        ("tcgen05.mma.sp.kind::mxf4nvf4.block_scale.scale_vec::4X.m128n64k128", {"scale_vector": 16, "sparse": True}),
        ("tcgen05.mma.kind::mxf4.block_scale.block32.m128n64k96", {"scale_vector": 32}),
        ("mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0",
         {"mnemonic": "mma", "scale_dtype": "ue8m0", "scale_vector": 32, "a": "e2m1", "d": "f32"}),
    ],
)  # fmt: skip
def test_a_name_states_what_its_parts_say(text: str, stated: dict[str, Any]) -> None:
    name = read_instruction(text, "plan")
    assert {key: getattr(name, key) for key in stated} == stated


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("wgmma.cta_group::2.m64n128k16", "cta_group::2 is not supported in a wgmma name"),
        ("wgmma.kind::f16.m64n128k16", "kind::f16 is not supported in a wgmma name"),
        ("mma.ws.m16n8k16", "ws is not supported in a mma name"),
        ("foo.m64n128k16", "foo is not supported"),
        ("wgmma..m64n128k16", "an empty part is not supported"),
        ("m64n128k16.bf16.bf16", "the name has 2 types"),
        ("mma.m16n8k16.row.col.f32.f16.f16.f16", "C of type f16 with D of type f32"),
        ("mma.m16n8k16.col.row", "the majors in a name must be row.col"),
        ("tcgen05.cta_group::1.cta_group::2.m128n64k16", "the name states cta_group twice"),
        ("m64n128k16.m64n128k16", "must be named like m64n128k16"),
    ],
)
def test_a_part_is_used_or_refused(text: str, reason: str) -> None:
    with pytest.raises(DescriptorError, match=r"^plan: ") as error:
        read_instruction(text, "plan")
    assert reason in str(error.value)


@pytest.mark.parametrize(
    ("name", "dtype", "options", "reason"),
    [
        ("wgmma.m128n128k16", "bf16", {}, "M is 128, but must be 64"),
        ("wgmma.m64n128k16", "bf16", {"arch": "sm100"}, "sm100 has no wgmma"),
        ("tcgen05.mma.m64n128k16", "bf16", {"arch": "sm90"}, "sm90 has no tcgen05"),
        ("m64n128k16.f32.e4m3.e4m3", "bf16", {}, "dtype is bf16, but the instruction's name states e4m3"),
        ("m64n128k32.f32.e4m3.e5m2", "e4m3", {"b_dtype": "e4m3"}, "b_dtype is e4m3, but .* states e5m2"),
        ("m64n128k16.f16.f16.f16", "f16", {"d_dtype": "f32"}, "d_dtype is f32, but .* states f16"),
        ("tcgen05.cta_group::2.m128n128k16", "bf16", {"cta_group": 1}, "cta_group is 1, but .* states 2"),
        ("tcgen05.kind::f16.m128n128k16", "bf16", {"kind": "tf32"}, "kind is tf32, but .* states f16"),
        ("tcgen05.mma.ws.m128n128k16", "bf16", {}, "weight-stationary instructions are not supported"),
        ("mma.m16n8k16", "bf16", {}, "is an instruction of mma.sync, which mma_plan plans"),
        ("m16n8k16", "bf16", {}, "is an instruction of mma.sync, which mma_plan plans"),
    ],
)
def test_a_plan_refuses_an_argument_that_contradicts_the_name(
    name: str, dtype: str, options: dict[str, Any], reason: str
) -> None:
    with pytest.raises(DescriptorError, match=reason):
        plan(name, dtype, tile=TILE, verify=False, **options)


def test_a_plan_uses_what_the_name_states() -> None:
    pair = plan("tcgen05.mma.cta_group::2.kind::f16.m256n128k16", "bf16", tile=(256, 128, 64), verify=False)
    assert (pair.asked.arch, pair.asked.cta_group, pair.asked.kind) == ("sm100", 2, "f16")
    narrow = plan("wgmma.mma_async.sync.aligned.m64n128k32.f16.e4m3.e5m2", "e4m3", tile=TILE, verify=False)
    assert (narrow.asked.arch, narrow.asked.d, narrow.asked.b.name) == ("sm90", "f16", "e5m2")
    factors = "tcgen05.mma.kind::mxf8f6f4.block_scale.scale_vec::1X.m128n128k32"
    assert plan(factors, "e4m3", tile=(128, 128, 128), scale_vector=128, verify=False).asked.scale == ("ue8m0", 128)


@pytest.mark.parametrize(
    ("name", "options", "reason"),
    [
        ("mma.sp.m16n8k16", {}, "sparse mma.sync instructions are not supported"),
        ("mma.m16n8k16.row.col.f32.f16.f16.f32", {}, "dtype is bf16, but the instruction's name states f16"),
        ("mma.m16n8k16.f16", {"d_dtype": "f32"}, "d_dtype is f32, but the instruction's name states f16"),
        ("wgmma.m16n8k16", {"arch": "sm80"}, "sm80 has no wgmma"),
    ],
)
def test_a_plan_of_warps_refuses_an_argument_that_contradicts_the_name(
    name: str, options: dict[str, Any], reason: str
) -> None:
    with pytest.raises(DescriptorError, match=reason):
        mma_plan(name, "bf16", tile=(128, 128, 32), verify=False, **options)


def test_an_operand_is_derived_for_the_instruction_of_the_name() -> None:
    tile: dict[str, Any] = {"dtype": "bf16", "major": "K", "swizzle": "128B", "tile": (128, 64), "operand": "B"}
    assert derive(**tile, mma="wgmma.m64n128k16").descriptor.arch == "sm90"
    assert derive(**tile, mma="tcgen05.mma.cta_group::2.m256n128k16").mma == (64, 16)
    for name, options, reason in (
        ("wgmma.m64n128k16", {"arch": "sm100"}, "sm100 has no wgmma"),
        ("wgmma.m64n128k16.f32.f16.f16", {}, "dtype is bf16, but the instruction's name states f16"),
        ("tcgen05.cta_group::2.m256n128k16", {"cta_group": 1}, "cta_group is 1, but the instruction's name states 2"),
        ("mma.m16n8k16", {}, "mma.sync reads registers and has no descriptors"),
    ):
        with pytest.raises(DescriptorError, match=reason):
            derive(**tile, mma=name, **options)


@pytest.mark.parametrize("matrix", ["A", "B"])
@pytest.mark.parametrize(
    ("name", "options", "reason"),
    [
        ("wgmma.mma_async.sync.aligned.m64n128k16.s32.bf16.bf16", {}, "types are .*, but must be .* bf16 into f32"),
        ("m64n128k16.f16", {}, "types are bf16 by bf16 into f16, but must be .* bf16 by bf16 into f32"),
        ("m64n44k16", {}, "N is 44, but must be 8..256 step 8; .* the nearest shapes are m64n40k16, m64n48k16"),
        ("m64n128k32", {}, "K is 32, but must be 16; .* the nearest shape is m64n128k16"),
        ("m96n128k16", {"arch": "sm100"}, "M is 96, but must be 64 or 128; .* nearest shapes are m64n128k16, m128n"),
        ("m256n128k16", {"arch": "sm100"}, "M is 256, but must be 64 or 128; .* cta_group 2 has M 256"),
        ("tcgen05.mma.ws.m128n96k16", {}, "N is 96, but must be 64, 128 or 256"),
        ("tcgen05.mma.kind::f16.scale_vec::1X.m128n128k16", {}, "kind f16 has no scale factors"),
        ("m64n128k16.f32.f16.bf16", {}, "name states|types are .*, but must be"),
    ],
)  # fmt: skip
def test_the_whole_instruction_of_a_name_must_exist(
    matrix: str, name: str, options: dict[str, Any], reason: str
) -> None:
    tile: dict[str, Any] = {"dtype": "bf16", "major": "K", "swizzle": "128B", "tile": (256, 64), "operand": matrix}
    with pytest.raises(DescriptorError, match=reason):
        derive(**tile, mma=name, **options)


def test_a_name_without_a_cta_group_is_an_instruction_of_one_cta() -> None:
    tile: dict[str, Any] = {"dtype": "e2m1", "major": "K", "swizzle": "128B", "tile": (128, 768), "arch": "sm103"}
    for matrix in ("A", "B"):
        with pytest.raises(DescriptorError, match=r"K is 96, but must be 64; .*sources disagree.*legality='lenient'"):
            derive(**tile, mma="m128n128k96", operand=matrix)  # type: ignore[call-overload]
        assert derive(**tile, mma="m128n128k96", operand=matrix, legality="lenient").mma == (128, 96)  # type: ignore[call-overload]
        assert derive(**tile, mma="m256n256k96", operand=matrix, cta_group=2).mma == (128, 96)  # type: ignore[call-overload]


def test_a_name_may_state_any_types_that_one_kind_multiplies() -> None:
    tile: dict[str, Any] = {"major": "K", "swizzle": "128B", "tile": (128, 128)}
    mixed = "tcgen05.mma.kind::f8f6f4.m128n64k32.f16.e4m3.e5m2"
    assert derive(**tile, dtype="e4m3", operand="A", mma=mixed).mma == (128, 32)
    assert derive(**tile, dtype="e5m2", operand="B", mma=mixed).mma == (64, 32)
    scaled = "tcgen05.mma.kind::mxf4nvf4.block_scale.scale_vec::4X.m128n64k64.f32.e2m1.e2m1.ue4m3"
    assert derive(**tile | {"tile": (128, 256)}, dtype="e2m1", operand="A", mma=scaled).mma == (128, 64)
    assert derive(**tile, dtype="s8", operand="A", mma="wgmma.m64n128k32").mma == (64, 32)
