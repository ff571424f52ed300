"""Plans as they are asked for: the shapes of the documents, every kind and arrangement, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from each import each

from descriptors import DescriptorError, IllegalError, derive, plan
from descriptors.gemm.accumulators import Registers, TensorColumns

#: What is asked, and: stages, bytes for the full barrier, steps of K of A and of B.
DOCUMENTS: list[tuple[dict[str, Any], tuple[Any, ...]]] = [
    (
        {"instruction": "m64n128k16", "dtype": "bf16", "tile": (128, 128, 64), "stages": 4, "b_major": "MN"},
        (4, 32768, (0, 2, 4, 6), (0, 128, 256, 384)),
    ),
    ({"instruction": "m64n256k16", "dtype": "bf16", "tile": (128, 256, 64)}, (4, 49152, (0, 2, 4, 6), (0, 2, 4, 6))),
    (
        {"instruction": "m256n256k32", "dtype": "e4m3", "tile": (256, 256, 128), "cta_group": 2},
        (7, 32768, (0, 2, 4, 6), (0, 2, 4, 6)),
    ),
    (
        {
            "instruction": "m128n128k64",
            "dtype": "e2m1",
            "tile": (128, 128, 256),
            "kind": "mxf4nvf4",
            "scale_vector": 16,
        },
        (6, 36864, (0, 2, 4, 6), (0, 2, 4, 6)),
    ),
]


@pytest.mark.parametrize(("arguments", "known"), DOCUMENTS)
def test_the_shapes_of_the_documents(arguments: dict[str, Any], known: tuple[Any, ...]) -> None:
    loop_plan = plan(**arguments)
    assert (loop_plan.stages, loop_plan.transaction_bytes, loop_plan.a.k_steps, loop_plan.b.k_steps) == known
    assert loop_plan.verify().ok


def test_a_word_is_that_of_derive() -> None:
    loop_plan = plan("m64n128k16", "bf16", tile=(128, 128, 64), stages=4, b_major="MN")
    alone = derive((128, 64, 4), "bf16", "MN", "128B", (128, 16), arch="sm90", operand="B")
    assert loop_plan.b.word_at(0, 2, 3) == alone.word(0, 2, 3, loop_plan.b.base)
    assert (loop_plan.a.transposed, loop_plan.b.transposed) == (0, 1)


@each(
    "arguments",
    [
        {"instruction": "m64n96k32", "dtype": "s8", "b_dtype": "u8", "tile": (192, 96, 32)},
        {"instruction": "m64n64k32", "dtype": "e4m3", "b_dtype": "e5m2", "d_dtype": "f16", "tile": (64, 64, 64)},
        {"instruction": "m64n32k8", "dtype": "tf32", "tile": (64, 32, 32)},
        {"instruction": "m64n64k16", "dtype": "f16", "arch": "sm100", "tile": (128, 128, 32), "d_dtype": "f16"},
        {"instruction": "m128n64k16", "dtype": "bf16", "cta_group": 2, "tile": (128, 64, 32), "a_major": "MN"},
        {"instruction": "m128n32k8", "dtype": "tf32", "tile": (128, 32, 32), "b_major": "MN"},
        {"instruction": "m128n24k32", "dtype": "e2m3", "tile": (128, 24, 128)},
        {"instruction": "m128n32k32", "dtype": "e4m3", "b_dtype": "e2m1_unpacksmem", "tile": (128, 32, 128)},
        {"instruction": "m128n192k32", "dtype": "e4m3", "kind": "mxf8f6f4", "tile": (128, 192, 128), "b_major": "MN"},
        {"instruction": "m256n64k64", "dtype": "e2m1", "kind": "mxf4", "cta_group": 2, "tile": (256, 64, 128)},
        {"instruction": "m128n256k64", "dtype": "e2m1", "kind": "mxf4nvf4", "cta_group": 2, "tile": (128, 256, 64)},
    ],
)
def test_every_kind_and_arrangement_gives_the_product(arguments: dict[str, Any]) -> None:
    assert plan(**arguments, stages=2, verify=False).verify().ok


def test_accumulators_are_registers_or_columns() -> None:
    hopper = plan("m64n256k16", "f16", d_dtype="f16", tile=(192, 256, 16), stages=1, verify=False).accumulators
    assert isinstance(hopper, Registers)
    assert (hopper.warpgroups, hopper.each, hopper.registers) == (3, 1, 64)
    pair = plan("m128n64k16", "bf16", tile=(256, 128, 16), stages=1, verify=False).accumulators
    assert isinstance(pair, TensorColumns)
    assert pair.firsts == (0, 64, 128, 192)
    assert pair.plan.allocate == 256


def refused(**arguments: Any) -> str:
    with pytest.raises(DescriptorError) as error:
        plan(**{"instruction": "m64n128k16", "dtype": "bf16", "tile": (128, 128, 64), **arguments})
    assert "\n" not in str(error.value)
    return str(error.value)


def test_what_is_refused_and_the_way_out() -> None:
    assert "nearest shapes are m64n96k16, m64n104k16" in refused(instruction="m64n100k16")
    assert "nearest shape is m64n128k32" in refused(instruction="m64n128k16", dtype="e4m3")
    assert "tile M is 100, which is not a multiple of the instruction's M (64)" in refused(tile=(100, 128, 64))
    assert "if you wrote M x K x N, use tile=(128, 128, 64)" in refused(tile=(128, 64, 128))
    assert "the tile is (128, 64), not M x N x K; a tile of one operand" in refused(tile=(128, 64))
    assert "8 stages need 262272 bytes of shared memory, 232448 are available" in refused(stages=8)
    assert "use stages=7" in refused(stages=8)
    assert "use tile=(128, 256, 160)" in refused(tile=(128, 256, 640), instruction="m64n256k16")
    assert "need 512 registers per thread, but a thread has at most 255" in refused(
        instruction="m64n256k16", tile=(256, 256, 64), warpgroups=1
    )
    assert "need 65536 registers, but an SM has 65536 for everything" in refused(
        instruction="m64n256k16", tile=(256, 256, 64), warpgroups=4
    )
    assert "2 M blocks, which 3 warpgroups cannot share evenly; use warpgroups=2 or warpgroups=1" in refused(
        warpgroups=3
    )
    assert "wgmma has transpose bits for 16-bit types only" in refused(
        instruction="m64n128k32", dtype="e4m3", b_major="MN"
    )
    assert "accumulators need 1024 columns of tensor memory, there are 512; 4 accumulators of 256 columns" in refused(
        instruction="m128n256k16", tile=(256, 512, 16)
    )
    # Only M 64 leaves lanes unused, so that an instruction of M 128 needs fewer columns, if the tile has the rows.
    for arguments in (
        {"instruction": "m128n256k16", "tile": (512, 256, 64)},
        {"instruction": "m256n256k16", "tile": (1024, 256, 64), "cta_group": 2},
        {"instruction": "m64n256k16", "tile": (64, 1024, 64), "kind": "f16"},
    ):
        assert "instruction=" not in refused(**arguments).partition("; use ")[2]
    wide = {"instruction": "m64n256k16", "tile": (256, 256, 64), "kind": "f16"}
    assert "; use instruction=(128, 256, 16)" in refused(**wide)
    nvf4 = {"dtype": "e2m1", "kind": "mxf4nvf4"}
    assert "N of the instruction is 32, which is not a multiple of 64; with scale factors, several N blocks" in refused(
        instruction="m128n32k64", tile=(128, 64, 64), **nvf4
    )
    assert (
        "the tile has 2 instructions along N; with scale factors, cta_group 2 and M 128, only one along N is supported"
        in refused(instruction="m128n256k64", tile=(128, 512, 64), cta_group=2, **nvf4)
    )
    k96 = refused(instruction="m128n128k96", dtype="e2m1", tile=(128, 128, 96), legality="lenient")
    assert "sm100 has no instruction with K 96, only sm_103a and sm_107a have" in k96 and "use arch='sm103'" in k96
    assert "warpgroups is not supported on sm100, only on sm90" in refused(instruction="m128n128k16", warpgroups=2)
    assert "kind 'mxf4' is not supported for bf16 by bf16 on sm90" in refused(arch="sm90", kind="mxf4")
    assert "must be named like m64n128k16, found 'bf16'" in refused(instruction="bf16")
    assert "instructions of kind f16 have no scale factors" in refused(
        instruction="m128n128k16", kind="f16", scale_vector=16
    )
    e4m3 = {"instruction": "m128n128k32", "dtype": "e4m3", "tile": (128, 128, 128)}
    assert "kind f8f6f4 have no scale factors; use scale_vector=32" in refused(**e4m3, scale_vector=64)
    e2m1 = {"instruction": "m128n128k64", "dtype": "e2m1", "tile": (128, 128, 256)}
    assert "supported: ue8m0 by 32; use scale_vector=16 or scale_vector=32" in refused(**e2m1, scale_vector=64)


def test_an_illegal_shape_keeps_what_is_known_of_it() -> None:
    with pytest.raises(IllegalError) as error:
        plan("m64n100k16", "bf16", tile=(64, 100, 64))
    assert error.value.found == 100 and error.value.row.arch == "sm90"


def test_a_pair_of_ctas_may_have_several_m_blocks() -> None:
    for arguments in (
        {"instruction": "m256n64k16", "tile": (512, 64, 64)},
        {"instruction": "m128n64k16", "tile": (256, 64, 64), "a_major": "MN"},
    ):
        loop_plan = plan(dtype="bf16", cta_group=2, stages=2, **arguments)  # type: ignore[arg-type]
        assert len(loop_plan.a.mn_steps) == 2 and loop_plan.verify().ok


@each(
    "arguments",
    [
        {"instruction": "m256n128k16", "tile": (256, 256, 64)},
        {"instruction": "m256n64k16", "tile": (512, 128, 32), "b_major": "MN"},
        {"instruction": "m128n64k16", "tile": (256, 192, 32)},
        {"instruction": "m128n48k16", "tile": (128, 144, 32), "b_swizzle": "none"},
        {"instruction": "m128n48k16", "tile": (128, 144, 32), "b_swizzle": "none", "b_major": "MN"},
        {"instruction": "m256n96k32", "dtype": "e4m3", "tile": (256, 192, 64)},
        {"instruction": "m256n48k8", "dtype": "tf32", "tile": (256, 96, 16)},
        {"instruction": "m256n128k32", "dtype": "e4m3", "tile": (256, 256, 64), "kind": "mxf8f6f4"},
        {"instruction": "m256n64k64", "dtype": "e2m1", "tile": (512, 128, 128), "kind": "mxf4nvf4"},
        {"instruction": "m128n256k64", "dtype": "e2m1", "tile": (384, 256, 128), "kind": "mxf4"},
    ],
)
def test_a_pair_of_ctas_may_have_several_n_blocks_and_factors_for_them(arguments: dict[str, Any]) -> None:
    loop_plan = plan(**{"dtype": "bf16", "cta_group": 2, "stages": 2, "verify": False, **arguments})
    assert loop_plan.verify().ok and len(loop_plan.a.mn_steps) * len(loop_plan.b.mn_steps) > 1


@pytest.mark.parametrize(
    ("arguments", "steps"),
    [
        (
            {"instruction": "m128n128k64", "tile": (128, 256, 256), "kind": "mxf4nvf4", "scale_vector": 16},
            ((0,), (0, 4)),
        ),
        ({"instruction": "m128n128k64", "tile": (256, 128, 128), "kind": "mxf4nvf4"}, ((0, 4), (0,))),
        ({"instruction": "m128n64k64", "tile": (256, 192, 128), "kind": "mxf4"}, ((0, 4), (0, 2, 4))),
        ({"instruction": "m128n192k32", "dtype": "e4m3", "tile": (128, 384, 64), "kind": "mxf8f6f4"}, ((0,), (0, 6))),
    ],
)
def test_several_blocks_have_scale_factors_of_their_own_columns(
    arguments: dict[str, Any], steps: tuple[tuple[int, ...], ...]
) -> None:
    loop_plan = plan(**{"dtype": "e2m1", "stages": 2, "verify": False, **arguments})
    assert loop_plan.verify().ok and loop_plan.scales is not None and loop_plan.scales.steps == steps


def test_the_boxes_of_a_pair_begin_at_the_half_of_every_n_block() -> None:
    loop_plan = plan("m256n64k16", "bf16", tile=(256, 192, 64), cta_group=2, stages=1, verify=False)
    assert [loop_plan.b.first_row(box, cta) for cta in (0, 1) for box in loop_plan.b.boxes] == [0, 64, 128, 32, 96, 160]
    assert [loop_plan.b.coordinates(box) for box in loop_plan.b.boxes] == [(0, 0), (0, 64), (0, 128)]
    assert [loop_plan.a.first_row(box, cta) for cta in (0, 1) for box in loop_plan.a.boxes] == [0, 128]
