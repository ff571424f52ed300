"""The programs that ``plan`` writes, compiled and run by the checker: clean in every property that they have."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from descriptors import check_ptx, plan
from descriptors.gemm.programs import sm90_kernel, sm100_kernel

PLANS: dict[str, dict[str, Any]] = {
    "ring": {"instruction": "m64n64k16", "tile": (64, 64, 64), "stages": 2},
    "cluster": {"instruction": "m64n64k16", "tile": (64, 64, 64), "stages": 3, "cluster": (2, 1)},
    "A in registers": {"instruction": "m64n64k16", "tile": (64, 64, 64), "stages": 2, "a_source": "registers"},
    "C by the copy engine": {"instruction": "m64n64k16", "tile": (128, 64, 64), "stages": 2, "c_dtype": "bf16"},
    "parts along K": {"instruction": "m64n64k16", "tile": (64, 64, 64), "stages": 2, "cluster": (1, 2), "splits": 2},
    "tensor memory": {"instruction": "m128n64k16", "tile": (128, 64, 64), "stages": 2},
    "a pair of CTAs": {"instruction": "m256n64k16", "tile": (256, 64, 64), "stages": 2, "cta_group": 2},
    "two sets": {"instruction": "m256n64k16", "tile": (256, 64, 64), "stages": 2, "cta_group": 2, "accumulators": 2},
    "sets that share columns": {"instruction": "m128n128k16", "tile": (384, 128, 64), "stages": 2, "accumulators": 2},
}
#: Plans whose parts are those of others here: their programs are checked in exhaustive runs alone.
SIMILAR = ("parts along K", "a pair of CTAs", "sets that share columns")


def compiled(one: dict[str, Any], folder: Path, change: tuple[str, str] = ("", "")) -> tuple[str, dict[str, str]]:
    """The PTX of a plan's program, maybe changed, and the boxes of its tensor maps as its host makes them."""
    arch = "sm90" if one["instruction"].startswith("m64") else "sm100"
    held = plan(dtype="bf16", arch=arch, verify=False, **one)
    text = sm90_kernel.kernel(held) if arch == "sm90" else sm100_kernel.kernel(held, "gemm")
    unit, target = folder / "gemm.cu", folder / "gemm.ptx"
    assert change[0] in text
    unit.write_text(text.replace(*change) if change[0] else text, encoding="utf-8")
    architecture = f"-arch=compute_{arch[2:]}a"
    command = ["nvcc", "-std=c++17", architecture, "-ptx", "-DLAYOUTALG_NO_MAIN", "-o", str(target), str(unit)]
    subprocess.run(command, check=True, capture_output=True)
    boxes = [f"{operand.tma.box[0]}x{operand.tma.box[1]}xbf16" for operand in (held.a, held.b)]
    return target.read_text(encoding="utf-8"), dict(zip("01", boxes, strict=True))


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="needs nvcc")
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.exhaustive if name in SIMILAR else ()) for name in PLANS]
)
def test_a_program_of_a_plan_is_clean_and_half_a_box_is_not(name: str, tmp_path: Path) -> None:
    text, boxes = compiled(PLANS[name], tmp_path)
    report = check_ptx(text, tensor_maps=boxes)
    undecided = {"fragments"} if name == "A in registers" else set()
    assert {one.property for one in report.properties if one.verdict not in ("clean", "absent")} == undecided, report
    assert {"barriers", "bytes", "reuse"} <= {one.property for one in report.properties if one.verdict == "clean"}
    half = re.sub(r"x(\d+)x", lambda match: f"x{int(match[1]) // 2}x", boxes["1"])
    rules = {one.rule.name for one in check_ptx(text, tensor_maps={**boxes, "1": half}).errors}
    assert "barrier-hang" in rules, rules


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="needs nvcc")
@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("two sets", ("      free_wait(smem", "      if (0) free_wait(smem")),
        pytest.param("sets that share columns", ("FREES = 1", "FREES = 2"), marks=pytest.mark.exhaustive),
    ],
)
def test_a_program_that_does_not_wait_for_a_set_is_told(name: str, change: tuple[str, str], tmp_path: Path) -> None:
    text, boxes = compiled(PLANS[name], tmp_path, change)
    assert "tcgen05-order" in {one.rule.name for one in check_ptx(text, tensor_maps=boxes).errors}
