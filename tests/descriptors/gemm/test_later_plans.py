"""Plans of the architectures after sm100: K 64, 96 and 128, what they disagree about, columns, memory, programs."""

from __future__ import annotations

from typing import Any

import pytest

from descriptors import plan
from descriptors.errors import DescriptorError
from descriptors.gemm.accumulators import TensorColumns
from descriptors.gemm.programs.emit_plan import emit_plan
from descriptors.gemm.schedule import order
from descriptors.smem.instructions.rules import IllegalError
from descriptors.smem.words.descriptor import SM107_DESCRIPTOR

#: Instruction, type, tile, options: a plan of each kind of K.
WIDE: dict[str, tuple[str, str, tuple[int, int, int], dict[str, Any]]] = {
    "f8f6f4": ("m128n64k64", "e4m3", (128, 64, 128), {}),
    "mn-major": ("m128n64k64", "e4m3", (128, 64, 128), {"a_major": "MN", "b_major": "MN"}),
    "mxf8f6f4": ("m128n64k64", "e4m3", (128, 64, 256), {"scale_dtype": "ue8m0"}),
    "lenient": ("m128n64k64", "e4m3", (128, 64, 256), {"scale_dtype": "ue8m0", "legality": "lenient"}),
    "ti16": ("m128n64k16", "s1z4m11", (128, 64, 64), {"a_major": "MN"}),
    "ue4m3": ("m256n128k128", "e2m1", (256, 128, 256), {"scale_dtype": "ue4m3", "cta_group": 2}),
    "ue5m3": ("m256n64k128", "e2m1", (256, 64, 256), {"scale_dtype": "ue5m3", "scale_vector": 32, "cta_group": 2}),
    "ue8m0": ("m256n64k128", "e2m1", (256, 64, 256), {"scale_dtype": "ue8m0", "cta_group": 2}),
}


@pytest.mark.parametrize("name", WIDE)
def test_a_plan_with_more_k_gives_the_product(name: str) -> None:
    instruction, dtype, tile, options = WIDE[name]
    one = plan(instruction, dtype, tile=tile, arch="sm107", stages=2, **options)
    assert one.verify().ok and one.verify().evidence.endswith("not measured on a Rubin GPU")
    assert one.asked.blocks[2] == tile[2] // one.asked.extents[2]


def test_the_words_say_the_k_as_the_tools_do() -> None:
    words = {
        name: plan(*WIDE[name][:2], tile=WIDE[name][2], arch="sm107", stages=1, verify=False, **WIDE[name][3]).line
        for name in WIDE
    }
    assert [f"{words[name].idescs[0]:#010x}" for name in ("f8f6f4", "mxf8f6f4", "ue4m3", "ue5m3")] == [
        "0x28100010", "0x88900000", "0x10200488", "0x11100488",
    ]  # fmt: skip
    assert len(set(words["mxf8f6f4"].idescs)) == 4 and len(set(words["lenient"].idescs)) == 2
    assert ".block_scale.block16 " in words["ue4m3"].ptx and ".block_scale.block32 " in words["ue5m3"].ptx


@pytest.mark.parametrize(
    ("arguments", "strict"),
    [
        ({"instruction": "m64n64k64", "dtype": "e4m3", "tile": (64, 64, 128)}, "has M = 128, of a pair 256"),
        (
            {"instruction": "m128n64k128", "dtype": "e2m1", "tile": (128, 64, 256), "scale_dtype": "ue4m3"},
            "has M = 256 of a pair only",
        ),
        (
            {"instruction": "m128n64k64", "dtype": "e2m1_unpacksmem", "tile": (128, 64, 128), "kind": "f8f6f4"},
            "has e4m3 and e5m2 alone",
        ),
    ],
)
def test_where_table_and_tool_disagree_strict_takes_the_table_and_names_both(
    arguments: dict[str, Any], strict: str
) -> None:
    with pytest.raises(IllegalError, match="sources disagree: ") as error:
        plan(**arguments, arch="sm107", stages=1)
    assert strict in str(error.value) and {"legality": "lenient"} in [one.changes for one in error.value.advice]
    assert plan(**arguments, arch="sm107", stages=1, legality="lenient").verify().ok


def test_the_number_of_factors_that_is_disputed_is_told_with_the_plan() -> None:
    instruction, dtype, tile, options = WIDE["mxf8f6f4"]
    assert "disputed: CuTe DSL 4.8.1, compiled for sm_107a: two factors a row" in str(
        plan(instruction, dtype, tile=tile, arch="sm107", stages=1, verify=False, **options)
    )


K96: dict[str, Any] = {"dtype": "e2m1", "tile": (256, 64, 768), "cta_group": 2, "stages": 2}


@pytest.mark.parametrize("arch", ["sm103", "sm107"])
def test_a_plan_of_k_96_begins_and_goes_on_where_nvidias_main_loop_does(arch: str) -> None:
    one = plan("m256n64k96", arch=arch, scale_dtype="ue4m3", **K96)
    assert one.verify().ok
    for side in (one.a, one.b):
        buffer = side.derivation.tile[0] * 128
        for stage in range(2):
            base = side.base + stage * 3 * buffer
            for j in range(8):
                read = SM107_DESCRIPTOR.decode(side.word_at(0, j, stage))
                first, last = 48 * j // 128, (48 * j + 47) // 128
                assert read["start_address"] == base + first * buffer + 48 * j % 128
                assert read["leading_byte_offset"] == base + last * buffer and read["lbo_mode"] == 1
    assert [word >> 31 for word in one.line.idescs] == [1] * 8
    assert one.scales is not None
    assert [(a >> 30, b >> 30) for a, b in one.scales.pointers] == [(0, 0), (2, 2)] * 4


def test_the_ids_of_k_96_by_vectors_of_32_are_disputed() -> None:
    with pytest.raises(IllegalError, match=r"scale factor ids are 3 and 3, but must be 0 or 2.*sources disagree: .*"):
        plan("m256n64k96", arch="sm103", scale_dtype="ue8m0", **K96)
    one = plan("m256n64k96", arch="sm103", scale_dtype="ue8m0", legality="lenient", **K96)
    assert one.scales is not None and one.verify().ok
    assert [a >> 30 for a, _ in one.scales.pointers] == [0, 3, 2, 1, 0, 3, 2, 1]


def test_what_k_96_asks_for_is_said() -> None:
    with pytest.raises(
        DescriptorError, match=r"sm100 has no instruction with K 96, only sm_103a and sm_107a have; .*use arch='sm103'"
    ):
        plan("m256n64k96", arch="sm100", scale_dtype="ue4m3", **K96)
    one = plan("m256n64k96", arch="sm103", scale_dtype="ue4m3", verify=False, **K96)
    for language in ("cuda", "ptx", "header"):
        with pytest.raises(DescriptorError, match="have two addresses, and programs move only one"):
            emit_plan(one, language)


def test_more_memory_and_more_columns_than_sm100_has() -> None:
    arguments: dict[str, Any] = {"dtype": "e2m1", "tile": (256, 512, 256), "cta_group": 2, "scale_dtype": "ue8m0"}
    one = plan("m256n256k128", arch="sm107", smem=334848, **arguments)
    assert isinstance(one.accumulators, TensorColumns) and one.accumulators.plan.allocate == 576
    assert one.barriers > 1 << 18 and one.b.word_at(0, 0, one.stages - 1) >> 14 & 1
    text = emit_plan(one, "ptx")
    assert ".version 9.4\n.target sm_107a" in text and "and.b64 %a, %a, 0x7fff;" in text
    assert "tcgen05.alloc.exclusive.cta_group::2.sync.aligned.shared::cta.b32 [%smem_tmem], 576;" in text
    assert "tcgen05.dealloc.exclusive.cta_group::2.sync.aligned.b32 %tmem, 576;" in text
    assert any(step.what == "tcgen05.alloc.exclusive 576 columns" for step in order(one))
    with pytest.raises(DescriptorError, match="shared memory is 334848, but the maximum is 232448"):
        plan("m256n256k64", arch="sm103", smem=334848, **{**arguments, "tile": (256, 256, 256)})


def test_ti16_is_multiplied_as_16_bits_of_sign_and_magnitude() -> None:
    one = plan("m128n64k16", "s1z4m11", tile=(128, 64, 64), arch="sm107", stages=2, verify=False)
    assert (one.asked.kind, one.asked.d, f"{one.line.idescs[0]:#010x}") == ("ti16", "s32", "0x08100da0")
    assert "constexpr uint32_t A_CODES[] = {0x8003, 0x8002, 0x8001, 0x0, 0x1, 0x2, 0x3};" in emit_plan(one, "cuda")
    with pytest.raises(IllegalError, match="has no kind of MMA instruction for"):
        plan("m128n64k16", "s1z4m11", tile=(128, 64, 64), arch="sm103")


def test_no_program_is_written_for_factors_whose_codes_nobody_published() -> None:
    instruction, dtype, tile, options = WIDE["ue5m3"]
    one = plan(instruction, dtype, tile=tile, arch="sm107", stages=2, verify=False, **options)
    with pytest.raises(
        DescriptorError,
        match="the codes of ue5m3 scale factors are not published; use language='header' or language='ptx'",
    ):
        emit_plan(one, "cuda")
    assert ".block_scale.block32 " in emit_plan(one, "ptx")


@pytest.mark.parametrize(
    ("arch", "version"),
    [("sm103", "8.8\n.target sm_103a"), ("sm107", "9.4\n.target sm_107a"), ("sm110", "9.0\n.target sm_110a")],
)
def test_a_program_names_its_own_target(arch: str, version: str) -> None:
    one = plan("m128n16k16", "bf16", tile=(128, 16, 64), stages=2, arch=arch, verify=False)
    assert f".version {version}\n" in emit_plan(one, "ptx")
    number = arch.removeprefix("sm")
    assert f"-gencode arch=compute_{number}a,code=sm_{number}a" in emit_plan(one, "cuda")
