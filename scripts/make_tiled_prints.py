#!/usr/bin/env python3
"""Write tests/vectors/tiled_prints.json: tiled copies and MMAs as CuTe prints them, in C++ and in the DSL.

Usage: python scripts/make_tiled_prints.py CUTLASS/include CUDA/include      needs g++ and nvidia-cutlass-dsl, no GPU

C++ prints on the host, so that the headers of CUTLASS and CUDA are enough.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "scripts" / "lib")]

from ended import end  # noqa: E402

TARGET = ROOT / "tests" / "vectors" / "tiled_prints.json"

PROGRAM = r"""
#include <cute/tensor.hpp>
#include <cute/atom/copy_atom.hpp>
#include <cute/atom/mma_atom.hpp>
using namespace cute;

template <class T>
void show(char const* name, T const& value) { printf("== %s\n", name); print(value); }

int main() {
  using Half = MMA_Atom<SM80_16x8x16_F32F16F16F32_TN>;
  using Warps = Layout<Shape<_2, _2, _1>>;
  auto mma = TiledMMA<Half, Warps>{};
  auto wide = TiledMMA<Half, Warps, Tile<_32, _32, _16>>{};
  auto threads = Layout<Shape<_16, _8>, Stride<_8, _1>>{};
  show("copy", make_tiled_copy(Copy_Atom<UniversalCopy<uint128_t>, half_t>{}, threads, Layout<Shape<_1, _8>>{}));
  show("mma", mma);
  show("mma 32x32x16", wide);
  show("ldmatrix.x4 A", make_tiled_copy_A(Copy_Atom<SM75_U32x4_LDSM_N, half_t>{}, wide));
  show("ldmatrix.x2 B", make_tiled_copy_B(Copy_Atom<SM75_U32x2_LDSM_N, half_t>{}, mma));
  show("stmatrix.x4 C", make_tiled_copy_C(Copy_Atom<SM90_U32x4_STSM_N, half_t>{}, wide));
  using Wgmma = SM90_64x128x16_F32F16F16_SS<GMMA::Major::K, GMMA::Major::K>;
  show("wgmma", TiledMMA<MMA_Atom<Wgmma>, Layout<Shape<_2, _1, _1>>>{});
}
"""


def printed_by_cpp(cutlass: str, cuda: str) -> dict[str, str]:
    """What C++ prints, by the names in the program."""
    with tempfile.TemporaryDirectory() as folder:
        source, binary = Path(folder, "prints.cpp"), Path(folder, "prints")
        source.write_text(PROGRAM, encoding="utf-8")
        includes = [f"-I{path}" for path in (cutlass, cuda, f"{cuda}/cccl")]
        subprocess.run(["g++", "-std=c++17", "-w", *includes, str(source), "-o", str(binary)], check=True)
        text = subprocess.run([str(binary)], check=True, capture_output=True, text=True).stdout
    parts = re.split(r"^== (.*)\n", text, flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def printed_by_dsl(arch: str) -> dict[str, str]:
    """What the DSL prints, for one architecture."""
    import cutlass
    from cutlass import cute
    from cutlass.cute.nvgpu import OperandMajorMode, tcgen05, warp
    from cutlass.utils import blackwell_helpers, hopper_helpers

    prints: dict[str, str] = {}
    half, single, k = cutlass.Float16, cutlass.Float32, OperandMajorMode.K

    def trace() -> None:
        if arch == "sm_100a":
            group = tcgen05.CtaGroup.ONE
            mma = blackwell_helpers.make_trivial_tiled_mma(half, k, k, single, group, (128, 64))
            prints["tcgen05"] = str(mma)
            return
        atom = cute.make_copy_atom(cute.nvgpu.CopyUniversalOp(), half, num_bits_per_copy=128)
        threads = cute.make_layout((16, 8), stride=(8, 1))
        prints["copy"] = str(cute.make_tiled_copy_tv(atom, threads, cute.make_layout((1, 8))))
        instruction = warp.MmaF16BF16Op(half, single, (16, 8, 16))
        mma = cute.make_tiled_mma(instruction, (2, 2, 1))
        wide = cute.make_tiled_mma(instruction, (2, 2, 1), permutation_mnk=(32, 32, 16))
        prints["mma"], prints["mma 32x32x16"] = str(mma), str(wide)
        load = [cute.make_copy_atom(warp.LdMatrix8x8x16bOp(False, count), half) for count in (4, 2)]
        store = cute.make_copy_atom(warp.StMatrix8x8x16bOp(False, 4), half)
        prints["ldmatrix.x4 A"] = str(cute.make_tiled_copy_A(load[0], wide))
        prints["ldmatrix.x2 B"] = str(cute.make_tiled_copy_B(load[1], mma))
        prints["stmatrix.x4 C"] = str(cute.make_tiled_copy_C(store, wide))
        of_hopper = hopper_helpers.make_trivial_tiled_mma(half, half, k, k, single, (2, 1, 1), (64, 128))
        prints["wgmma"] = str(of_hopper)

    cute.jit(trace)()
    return prints


def asked(arch: str) -> dict[str, str]:
    """The same in a process of its own, as the architecture is read when the DSL is imported."""
    environment = {**os.environ, "CUTE_DSL_ARCH": arch}
    run = subprocess.run([sys.executable, __file__, arch], check=True, capture_output=True, text=True, env=environment)
    answer: dict[str, str] = json.loads(run.stdout.splitlines()[-1])
    return answer


def cutlass_version(include: str) -> str:
    text = Path(include, "cutlass", "version.h").read_text(encoding="utf-8")
    return ".".join(re.findall(r"#define CUTLASS_(?:MAJOR|MINOR|PATCH) (\d+)", text))


def main() -> None:
    if len(sys.argv) == 2:
        print(json.dumps(printed_by_dsl(sys.argv[1])))
        return
    cutlass, cuda = sys.argv[1:]
    record: dict[str, Any] = {
        "tool": "CUTLASS and the CuTe DSL",
        "version": f"{cutlass_version(cutlass)}, {version('nvidia-cutlass-dsl')}",
        "command": "python scripts/make_tiled_prints.py CUTLASS/include CUDA/include",
        "cpp": printed_by_cpp(cutlass, cuda),
        "dsl": asked("sm_90a") | asked("sm_100a"),
    }
    TARGET.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    end(main)
