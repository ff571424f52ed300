"""The line of PTX, as NVIDIA's assembler takes it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from descriptors import decode_idesc, plan

FRAME = """.version {version}
.target {target}
.address_size 64
.visible .entry probe() {{
.reg .{type} %d<128>;
.reg .b64 %a_desc, %b_desc;
.reg .b32 %idesc, %d_tmem, %sfa_tmem, %sfb_tmem;
.reg .pred %p;
{line}
ret;
}}
"""
CASES: list[dict[str, Any]] = [
    {"instruction": "m64n128k16", "dtype": "bf16", "tile": (128, 128, 64), "b_major": "MN"},
    {"instruction": "m64n256k16", "dtype": "f16", "d_dtype": "f16", "tile": (64, 256, 64)},
    {"instruction": "m64n32k8", "dtype": "tf32", "tile": (64, 32, 32)},
    {"instruction": "m64n32k32", "dtype": "e4m3", "b_dtype": "e5m2", "tile": (64, 32, 32)},
    {"instruction": "m64n32k32", "dtype": "s8", "b_dtype": "u8", "tile": (64, 32, 32)},
    {"instruction": "m256n256k32", "dtype": "e4m3", "tile": (256, 256, 128), "cta_group": 2},
    {"instruction": "m128n128k64", "dtype": "e2m1", "tile": (128, 128, 64), "kind": "mxf4nvf4"},
    {"instruction": "m128n128k64", "dtype": "e2m1", "tile": (128, 128, 128), "kind": "mxf4"},
    {"instruction": "m128n128k32", "dtype": "e4m3", "tile": (128, 128, 128), "kind": "mxf8f6f4"},
]
PTXAS = shutil.which("ptxas")


@pytest.mark.skipif(PTXAS is None, reason="the judge is ptxas")
@pytest.mark.parametrize("arguments", CASES, ids=lambda one: f"{one['instruction']} {one['dtype']}")
def test_the_assembler_takes_the_line(arguments: dict[str, Any], tmp_path: Path) -> None:
    loop_plan = plan(**arguments, stages=1, verify=False)
    target = "sm_90a" if loop_plan.asked.arch == "sm90" else "sm_100a"
    kind = {"f32": "f32", "s32": "b32", "f16": "b32"}[loop_plan.asked.d]

    def takes(line: str) -> bool:
        file = tmp_path / "line.ptx"
        file.write_text(FRAME.format(version="8.7", target=target, type=kind, line=line), encoding="utf-8")
        done = [str(PTXAS), "-arch", target, "-o", str(tmp_path / "line.cubin"), str(file)]
        return subprocess.run(done, capture_output=True, check=False).returncode == 0

    assert takes(loop_plan.ptx), loop_plan.ptx
    assert not takes(loop_plan.ptx.replace(", %p", ", 0, %p")), "a judge that takes anything judges nothing"


def test_an_instruction_descriptor_says_what_was_asked() -> None:
    loop_plan = plan("m128n96k64", "e2m1", tile=(128, 96, 256), kind="mxf4", verify=False)
    read = [decode_idesc(word, "mxf4") for word in loop_plan.line.idescs]
    assert [(one["m"], one["n"], one["sfa_id"]) for one in read] == [(128, 96, i) for i in (0, 2, 0, 2)]


def test_a_line_names_as_many_registers_as_a_thread_has() -> None:
    for arguments in CASES[:5]:
        loop_plan = plan(**arguments, stages=1, warpgroups=1, verify=False)
        m, n, _ = loop_plan.asked.blocks
        assert loop_plan.ptx.count("%d") == loop_plan.line.registers == loop_plan.accumulators.registers // (m * n)  # type: ignore[union-attr]
