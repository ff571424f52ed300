"""Plans of a sparse A: proved as products, refuted where something of them is wrong, written as programs."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from each import each

from descriptors import DescriptorError, plan
from descriptors.check.event_report import check_events
from descriptors.cli.command import command
from descriptors.gemm.plan import Plan
from descriptors.gemm.plan_metadata import Metadata
from descriptors.gemm.programs.emit_plan import emit_plan
from descriptors.gemm.schedule import events, order
from layoutalg import fragment
from layoutalg.frozen import replace

PLANS: dict[str, dict[str, Any]] = {
    "f16": {"instruction": "wgmma.sp.m64n16k32", "dtype": "f16", "tile": (128, 32, 128), "stages": 2},
    "bf16 MN": {
        "instruction": "m64n16k32", "dtype": "bf16", "tile": (64, 16, 64), "stages": 2, "a_major": "MN",
        "b_major": "MN", "sparse": True, "arch": "sm90",
    },
    "tf32": {"instruction": "wgmma.mma_async.sp.m64n8k16", "dtype": "tf32", "tile": (128, 8, 64), "stages": 2},
    "e4m3": {
        "instruction": "wgmma.sp.m64n8k64", "dtype": "e4m3", "tile": (128, 8, 128), "stages": 2, "cluster": (2, 1),
    },
    "u8": {"instruction": "wgmma.sp.m64n16k64", "dtype": "u8", "b_dtype": "s8", "tile": (64, 16, 64), "stages": 3},
    "f16 registers": {
        "instruction": "wgmma.sp.m64n16k32", "dtype": "f16", "tile": (128, 32, 128), "stages": 2,
        "a_source": "registers", "a_major": "MN",
    },
    "tf32 registers": {
        "instruction": "wgmma.sp.m64n8k16", "dtype": "tf32", "tile": (128, 8, 64), "stages": 2, "a_source": "registers",
    },
    "s8 registers": {
        "instruction": "wgmma.sp.m64n8k64", "dtype": "s8", "tile": (64, 16, 128), "stages": 2, "a_source": "registers",
        "a_major": "MN",
    },
    "sm100 bf16": {"instruction": "tcgen05.mma.sp.m128n32k32", "dtype": "bf16", "tile": (128, 32, 256), "stages": 2},
    "sm100 tf32": {"instruction": "m128n16k16", "dtype": "tf32", "tile": (128, 16, 64), "stages": 2, "sparse": True},
    "sm100 e5m2": {"instruction": "m128n32k64", "dtype": "e5m2", "tile": (128, 64, 256), "stages": 2, "sparse": True},
    "sm100 mxf8f6f4": {
        "instruction": "tcgen05.mma.sp.m128n64k64", "dtype": "e4m3", "b_dtype": "e5m2", "tile": (128, 128, 256),
        "stages": 2, "kind": "mxf8f6f4",
    },
    "sm100 mxf4": {
        "instruction": "m128n32k128", "dtype": "e2m1", "tile": (128, 32, 512), "stages": 2, "kind": "mxf4",
        "sparse": True,
    },
    "sm100 nvf4 pair": {
        "instruction": "m256n64k128", "dtype": "e2m1", "tile": (256, 64, 512), "stages": 2, "kind": "mxf4nvf4",
        "scale_vector": 16, "sparse": True, "cta_group": 2,
    },
    "sm100 pair": {
        "instruction": "m256n32k64", "dtype": "s8", "tile": (256, 32, 128), "stages": 2, "sparse": True, "cta_group": 2,
    },
}  # fmt: skip


@each("name", PLANS)
def test_the_product_is_that_of_the_matrix_before_it_was_compressed(name: str) -> None:
    made = plan(**PLANS[name])
    proof = made.verify(seed=7)
    assert proof.ok
    assert made.a.derivation.tile[1] * 2 == made.b.derivation.tile[1] == made.asked.tile[2]
    assert ("not measured" in proof.evidence) == (made.asked.arch == "sm100")
    assert ".sp." in made.ptx


class Elsewhere(Metadata):
    """Metadata whose K blocks take what another one's are."""

    def place(self, k: int) -> tuple[int, int]:
        at, selector = Metadata.place(self, k)
        return (at, 1 - selector) if self.packed.arch == "sm90" else (at + 2, selector)


def test_registers_that_hold_other_elements_of_a_are_no_product() -> None:
    straight, singly = (plan(**PLANS[name], verify=False) for name in ("f16 registers", "s8 registers"))
    assert straight.loads is not None and singly.loads is not None
    untwisted = replace(straight.loads, move="ldmatrix.sync.aligned.m8n8.x4.shared.b16")
    accumulator = replace(singly.loads, fragment=fragment("wgmma.m64n32k16.D"))
    assert accumulator.fragment.values == singly.loads.fragment.values
    for one, loads in ((straight, untwisted), (singly, accumulator)):
        assert one.verify().ok
        proof = replace(one, loads=loads).verify()
        assert not proof.ok and "its register holds" in str(proof.operands[0])


class Turned(Metadata):
    """Metadata whose copies go to one another's columns."""

    def copies(self, stage: int = 0) -> tuple[tuple[int, int], ...]:
        found = Metadata.copies(self, stage)
        return tuple((word, column) for (word, _), (_, column) in zip(found, reversed(found), strict=True))


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("f16", Elsewhere),
        ("tf32", Elsewhere),
        ("tf32 registers", Elsewhere),
        ("sm100 bf16", Elsewhere),
        ("sm100 mxf4", Elsewhere),
        ("sm100 bf16", Turned),
        ("sm100 e5m2", Turned),
    ],
)
def test_metadata_of_another_k_block_are_no_product(name: str, wrong: type[Metadata]) -> None:
    made = plan(**PLANS[name])
    assert made.metadata is not None
    names = ("packed", "layout", "packs", "column", "base", "blocks")
    fields = {part: getattr(made.metadata, part) for part in names}
    proof = replace(made, metadata=wrong(**fields)).verify()
    assert not proof.ok
    assert "the metadata of stage 0 put stored element" in proof.first


def test_the_selector_of_the_instruction_descriptor_is_proved() -> None:
    """Of two K blocks that are given one column the selector alone says which is which."""
    made = plan(**PLANS["sm100 bf16"])
    assert [word & 3 for word in made.line.idescs] == [0, 1] * 4
    assert made.metadata is not None
    assert [made.metadata.place(k)[0] % 2 for k in range(8)] == [0] * 8
    words = (made.line.idescs[0], *made.line.idescs[:-1])
    proof = replace(made, line=replace(made.line, idescs=words)).verify()
    assert not proof.ok and "the metadata of stage 0 put stored element" in proof.first


def test_a_factor_of_a_sparse_a_is_for_twice_as_many_elements() -> None:
    """CUTLASS's sparse traits have 64 for 32, and 32 for 16: what is stored of A has as many factors as a dense A."""
    for name, vector, factors in (("sm100 mxf8f6f4", 64, 1), ("sm100 mxf4", 64, 2), ("sm100 nvf4 pair", 32, 4)):
        made = plan(**PLANS[name], verify=False)
        assert made.scales is not None
        assert (made.scales.vector, made.asked.extents[2] // vector) == (vector, factors)
        assert made.scales.a.k == made.asked.tile[2] // 2 and 2 * made.scales.b.vector == vector
        spoilt = replace(made.scales, pointers=made.scales.pointers[::-1])
        assert not replace(made, scales=spoilt).verify().ok


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"tile": (128, 32, 96)},
            "tile K is 96, which is not a multiple of the 64.*use tile=\\(128, 32, 64\\) or tile=\\(128, 32, 128\\)",
        ),
        (
            {"a_source": "registers", "arch": "sm100", "sparse": True, "instruction": "m128n16k32"},
            "A in registers is not supported on sm100, only on sm90",
        ),
        ({"instruction": "wgmma.sp.m64n16k16"}, "dense instructions have K 16; the nearest shape is m64n16k32"),
        (
            {"instruction": "m64n16k32"},
            "sparse instructions have K 32; the nearest shape is m64n16k16.*sparse=True or instr.*=\\(64, 16, 16\\)",
        ),
        (
            {"dtype": "e2m1", "instruction": "m128n32k128", "sparse": True, "arch": "sm100"},
            "tile K is 128, which is not a multiple of the 256",
        ),
        (
            {"dtype": "e4m3", "instruction": "m128n32k64", "sparse": True, "scale_vector": 64, "kind": "mxf8f6f4"},
            "supported: ue8m0 by 32; scale_vector counts stored elements",
        ),
        (
            {"dtype": "e4m3", "instruction": "wgmma.sp.m64n32k64", "scale_vector": 128},
            "A is sparse, and scale factors on sm90 are supported for dense A only; use scale_vector=None",
        ),
        (
            {"arch": "sm100", "sparse": True, "instruction": "m64n16k32", "tile": (64, 16, 128)},
            "M of the sparse instruction is 64, and on sm100 only 128 rows per CTA.*use instruction=\\(128",
        ),
    ],
)
def test_what_has_no_plan_is_refused_with_the_way_out(change: dict[str, Any], message: str) -> None:
    with pytest.raises(DescriptorError, match=message):
        plan(**{**PLANS["f16"], **change})


def test_what_a_plan_of_sm100_does_with_tensor_memory_keeps_the_protocol() -> None:
    for name in ("sm100 bf16", "sm100 e5m2", "sm100 mxf4", "sm100 nvf4 pair"):
        told = events(plan(**PLANS[name], verify=False))
        assert any("128x128b" in line for line in told)
        assert check_events(told).ok
    assert any("metadata" in step.why for step in order(plan(**PLANS["f16"], verify=False)))


def test_a_stage_of_metadata_that_no_box_holds_is_several_boxes() -> None:
    """A box has at most 256 rows: of 17 x 2048 bytes in rows of 128 two boxes, which are a stage together."""
    made = plan("m128n16k64", "e4m3", tile=(128, 16, 17 * 128), stages=1, sparse=True, verify=False)
    assert made.metadata is not None and made.metadata.boxes == (136, 2)
    text = emit_plan(made, "cuda")
    first = made.metadata.base
    assert [f"smem + {first + i * 136 * 128} + s" in text for i in range(3)] == [True, True, False]


def test_a_header_has_the_numbers_of_the_metadata() -> None:
    text = emit_plan(plan(**PLANS["sm100 bf16"], verify=False), "header")
    assert "GEMM_METADATA_COPY_WORD_1" in text
    assert "GEMM_METADATA_COLUMN_3 34u  // its selector is in the instruction descriptor" in text


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not there")
@pytest.mark.parametrize("name", ["f16", "tf32", "u8", "f16 registers", "s8 registers"])
def test_the_kernel_assembles_and_is_not_serialized(name: str, tmp_path: Path) -> None:
    source = tmp_path / "gemm.cu"
    source.write_text(emit_plan(plan(**PLANS[name], verify=False), "cuda"), encoding="utf-8")
    command_line = ["nvcc", "-std=c++17", "-O3", "-gencode", "arch=compute_90a,code=sm_90a", "-DLAYOUTALG_NO_MAIN"]
    done = subprocess.run(
        [*command_line, "-cubin", "-o", str(tmp_path / "x"), str(source)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "C75" not in done.stderr


def answer(*arguments: str) -> str:
    done = CliRunner().invoke(command, list(arguments))
    assert done.exit_code == 0, done.output
    return done.output


def test_the_commands_take_the_name_of_a_sparse_instruction() -> None:
    words = ("wgmma.sp.m64n128k32", "bf16", "--tile", "128x128x128", "--json")
    told = json.loads(answer("plan", *words).partition("\nnote")[0])
    assert told["metadata"]["k_blocks"] == [{"register": k // 2, "selector": k % 2} for k in range(4)]
    assert "sparse" in answer("plan", *words[:-1], "--steps")
    operand = ("--operand", "A", "--dtype", "bf16", "--tile", "128x64", "--major", "K", "--swizzle", "128B")
    by_name = answer("derive", "--mma", "wgmma.sp.m64n128k32", *operand, "--arch", "sm90")
    assert by_name == answer("derive", "--mma", "m64n128k32", "--sparse", *operand, "--arch", "sm90")
    assert "arch       sm90" in answer("derive", "--mma", "wgmma.sp.m64n128k32", *operand)
    assert "arch       sm100" in answer("derive", "--mma", "tcgen05.mma.sp.m64n128k32", *operand)
    assert "sparse  K 64" in answer("shapes", "wgmma.sp.m64n128k64")
    assert "--sparse" in answer("plan", "bf16", "--sparse", "--arch", "sm90", "--tile", "64x16x64", "--top", "1")


def test_the_name_of_an_instruction_says_its_architecture() -> None:
    assert plan("tcgen05.mma.m64n16k16", "bf16", tile=(64, 16, 64), verify=False).asked.arch == "sm100"
    assert plan("wgmma.m64n16k16", "bf16", tile=(64, 16, 64), verify=False).asked.arch == "sm90"


def test_a_plan_counts_the_operations_that_are_done() -> None:
    from descriptors.gemm.schedule import traffic

    def operations(made: Plan) -> int:
        return traffic(made).operations

    dense = plan("m64n16k16", "f16", tile=(128, 32, 128), arch="sm90", verify=False)
    assert 2 * operations(plan(**PLANS["f16"], verify=False)) == operations(dense)
