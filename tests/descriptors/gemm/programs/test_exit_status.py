"""The exit status of emitted programs: 0 a right product, 1 a wrong one, 2 CUDA or an argument, 3 no such GPU.

Programs run here with a runtime that has no GPU: what it lacks is in the environment, and its kernels do nothing.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from gemm_plans import need_nvcc

from descriptors import emit_plan, mma_plan, plan

PLANS: dict[str, dict[str, Any]] = {
    "sm90": {"instruction": "m64n64k16", "dtype": "bf16", "tile": (64, 64, 64), "arch": "sm90"},
    "sm100": {"instruction": "m128n64k16", "dtype": "bf16", "tile": (128, 64, 64), "stages": 2},
    "sm100 convolution": {
        "instruction": "m128n64k16", "dtype": "bf16", "tile": (128, 64, 64), "stages": 2,
        "convolution": {"activations": (1, 9, 9, 72), "filters": (40, 3, 3), "padding": 1},
    },
    "sm120": {"instruction": "mma.m16n8k16", "dtype": "f16", "d_dtype": "f16", "tile": (64, 64, 64), "arch": "sm120"},
}  # fmt: skip
#: The compute capability that each is for, and whether the host compares the product itself.
TARGETS = {"sm90": (90, False), "sm100": (100, True), "sm100 convolution": (100, True), "sm120": (120, False)}
RUNTIME = Path(__file__).with_name("runtime_without_gpu.cpp")


@need_nvcc
@pytest.mark.parametrize("name", PLANS)
def test_each_kind_of_failure_has_its_own_exit_status(name: str, tmp_path: Path) -> None:
    asked, (capability, by_host) = PLANS[name], TARGETS[name]
    made = (mma_plan if name == "sm120" else plan)(**asked, verify=False)
    (tmp_path / "gemm.cu").write_text(emit_plan(made, "cuda"), encoding="utf-8")
    code = f"arch=compute_{capability}a,code=sm_{capability}a"
    command = ["nvcc", "-std=c++17", "-gencode", code, "-cudart", "none", "-o", "gemm", "gemm.cu", str(RUNTIME)]
    subprocess.run(command, check=True, cwd=tmp_path)

    def run(*arguments: str, **environment: str) -> tuple[int, str]:
        known = {**os.environ, "CAPABILITY": str(capability)} | environment
        done = subprocess.run([tmp_path / "gemm", *arguments], env=known, capture_output=True, text=True, check=False)
        return done.returncode, done.stderr

    assert run()[0] == (1 if by_host else 0)  # C stays as it was before the launch
    status, message = run(NO_ENTRY_POINT="1")
    assert (status, "must have cuTensorMapEncode" in message) == (2, True), (status, message)
    assert run(NO_MEMORY="1")[0] == 2
    assert run("-x")[0] == 2
    for missing in ({"NO_DEVICE": "1"}, {"CAPABILITY": "70"}):
        status, message = run(**missing)
        assert (status, "is needed" in message) == (3, True), (status, message)
