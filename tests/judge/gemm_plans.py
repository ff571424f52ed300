"""Plans that are written as code: every kind, arrangement and major once; and what the tools are called with."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from descriptors import Plan, plan

HOPPER: dict[str, dict[str, Any]] = {
    "mn": {"instruction": "m64n128k16", "dtype": "bf16", "tile": (128, 128, 64), "stages": 4, "b_major": "MN"},
    "blocks": {"instruction": "m64n64k16", "dtype": "f16", "tile": (256, 128, 64), "stages": 3, "d_dtype": "f16"},
    "registers": {"instruction": "m64n64k16", "dtype": "bf16", "tile": (128, 128, 64), "a_source": "registers"},
    "turned": {
        "instruction": "m64n32k16", "dtype": "f16", "tile": (192, 32, 32), "a_source": "registers", "a_major": "MN",
        "stages": 2,
    },
    "bytes": {
        "instruction": "m64n32k32", "dtype": "s8", "tile": (128, 64, 64), "a_source": "registers", "a_major": "MN",
    },
    "tf32": {"instruction": "m64n8k8", "dtype": "tf32", "tile": (64, 16, 32), "stages": 2},
    "sparse": {"instruction": "wgmma.sp.m64n32k32", "dtype": "f16", "tile": (256, 32, 128), "stages": 2},
    "sparse u8": {"instruction": "wgmma.sp.m64n16k64", "dtype": "u8", "b_dtype": "s8", "tile": (64, 32, 64)},
    "sparse registers": {
        "instruction": "wgmma.sp.m64n16k16", "dtype": "tf32", "tile": (128, 16, 64), "stages": 2, "a_major": "MN",
        "a_source": "registers",
    },
}  # fmt: skip
BLACKWELL: dict[str, dict[str, Any]] = {
    "f16": {"instruction": "m128n256k16", "dtype": "bf16", "tile": (128, 256, 64)},
    "blocks": {
        "instruction": "m64n64k16", "dtype": "bf16", "tile": (128, 128, 64), "arch": "sm100", "a_major": "MN",
        "b_major": "MN", "stages": 2,
    },
    "pair": {"instruction": "m256n256k32", "dtype": "e4m3", "tile": (256, 256, 128), "cta_group": 2},
    "pair of blocks": {
        "instruction": "m256n64k16", "dtype": "bf16", "tile": (512, 64, 64), "cta_group": 2, "stages": 2,
    },
    "pair of 128": {"instruction": "m128n128k32", "dtype": "e4m3", "tile": (128, 128, 128), "cta_group": 2},
    "pair of N blocks": {
        "instruction": "m256n64k16", "dtype": "bf16", "tile": (256, 192, 64), "cta_group": 2, "stages": 2,
    },
    "pair of 128, N blocks": {
        "instruction": "m128n64k16", "dtype": "bf16", "tile": (256, 128, 64), "cta_group": 2, "stages": 2,
        "b_major": "MN",
    },
    "nvf4": {
        "instruction": "m128n128k64", "dtype": "e2m1", "tile": (128, 128, 256), "kind": "mxf4nvf4", "scale_vector": 16,
    },
    "mx pair": {
        "instruction": "m256n256k32", "dtype": "e4m3", "tile": (256, 256, 128), "cta_group": 2, "kind": "mxf8f6f4",
    },
    "nvf4 blocks": {
        "instruction": "m128n64k64", "dtype": "e2m1", "tile": (256, 128, 128), "kind": "mxf4nvf4", "scale_vector": 16,
    },
    "mx pair of blocks": {
        "instruction": "m256n64k32", "dtype": "e4m3", "tile": (512, 128, 128), "cta_group": 2, "kind": "mxf8f6f4",
        "stages": 2,
    },
    "mx halves": {
        "instruction": "m128n256k64", "dtype": "e2m1", "tile": (128, 256, 256), "cta_group": 2, "kind": "mxf4",
    },
    "tf32": {"instruction": "m128n64k8", "dtype": "tf32", "tile": (128, 64, 32)},
    "mx halves of 64": {
        "instruction": "m128n128k64", "dtype": "e2m1", "tile": (128, 128, 256), "cta_group": 2, "kind": "mxf4",
    },
    "a factor for 128": {
        "instruction": "m128n64k32", "dtype": "e4m3", "tile": (128, 64, 256), "scale_vector": 128, "stages": 2,
        "arch": "sm100",
    },
    "half": {"instruction": "m64n64k16", "dtype": "f16", "d_dtype": "f16", "tile": (64, 64, 64), "arch": "sm100"},
    "s8": {"instruction": "m128n64k32", "dtype": "s8", "tile": (128, 64, 64)},
    "sparse": {"instruction": "tcgen05.mma.sp.m128n32k32", "dtype": "bf16", "tile": (128, 64, 256), "stages": 2},
    "sparse pair": {
        "instruction": "m256n64k64", "dtype": "e4m3", "tile": (256, 64, 256), "cta_group": 2, "sparse": True,
        "a_major": "MN", "stages": 2,
    },
    "sparse tf32": {"instruction": "m128n16k16", "dtype": "tf32", "tile": (128, 16, 128), "stages": 2, "sparse": True},
    "sparse blocks": {
        "instruction": "m128n32k32", "dtype": "f16", "tile": (256, 64, 256), "stages": 2, "sparse": True,
    },
    "sparse pair of blocks": {
        "instruction": "m256n64k64", "dtype": "e4m3", "tile": (512, 64, 256), "cta_group": 2, "sparse": True,
        "kind": "mxf8f6f4", "stages": 2,
    },
    "sparse nvf4": {
        "instruction": "m128n64k128", "dtype": "e2m1", "tile": (128, 64, 512), "kind": "mxf4nvf4", "scale_vector": 16,
        "sparse": True, "stages": 2,
    },
    "sparse mx": {
        "instruction": "m256n64k64", "dtype": "e2m1_unpacksmem", "b_dtype": "e5m2", "tile": (256, 128, 256),
        "kind": "mxf8f6f4", "cta_group": 2, "sparse": True, "stages": 2,
    },
    "narrow": {"instruction": "m128n64k32", "dtype": "e2m3", "b_dtype": "e2m1_unpacksmem", "tile": (128, 64, 128)},
}  # fmt: skip

need_ptxas = pytest.mark.skipif(shutil.which("ptxas") is None, reason="no ptxas; nvidia-cuda-nvcc has it")
need_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc")
TARGETS = {"sm90": "sm_90a", "sm100": "sm_100a"}


def made(asked: dict[str, Any]) -> Plan:
    return plan(**asked, verify=False)


def pointers(one: Plan, i: int, j: int, k: int) -> tuple[int, ...]:
    """What an instruction is given for its factors: the K block's pointers, a column on for every 32 rows before."""
    if one.scales is None:
        return ()
    a, b = one.scales.pointers[k]
    return a + i * one.asked.extents[0] // one.asked.cta_group // 32, b + j * one.asked.extents[1] // 32


def assembled(text: str, arch: str, folder: Path) -> str:
    """What ptxas says of a module: nothing, where it takes it without a remark."""
    (folder / "a.ptx").write_text(text)
    command = ["ptxas", f"-arch={TARGETS[arch]}", "-o", "a.cubin", "a.ptx"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    return done.stdout + done.stderr if done.returncode else done.stderr


def compiled(text: str, arch: str, folder: Path, *forms: str) -> str:
    """Compile a kernel with nvcc, and return what nvcc prints: "" if there is no warning.

    Args:
        text: the program.
        arch: its architecture.
        folder: a folder for ``a.cu`` and the result, ``a.out``.
        forms: what nvcc writes; a cubin if left out. ``-keep`` writes the PTX too, as ``a.ptx``.
    """
    (folder / "a.cu").write_text(text)
    target = TARGETS[arch]
    code = f"arch={target.replace('sm', 'compute')},code={target}"
    options = ["-std=c++17", "-gencode", code, "-Werror", "all-warnings", "-o", "a.out"]
    command = ["nvcc", *(forms or ("-cubin",)), *options, "a.cu"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    return done.stdout + done.stderr


def together(texts: dict[str, str]) -> str:
    """Programs as one, each in a namespace under its name: the compiler reads the headers once."""
    lines = {name: text.splitlines() for name, text in texts.items()}
    heads = dict.fromkeys(line for one in lines.values() for line in one if line.startswith("#include"))
    bodies = [
        "\n".join([f"namespace {name} {{", *(line for line in one if not line.startswith("#include")), "}"])
        for name, one in lines.items()
    ]
    return "\n".join([*heads, *bodies, ""])
