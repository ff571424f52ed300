"""Generate the kernels' translation units and compile them to cubins, each once: ``python -m probes.build``.

A cubin's name holds a digest of everything it was made from, so a changed source is compiled again and nothing else is.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from probes.held import matrix_source, mma_source, sparse_warps_source, wgmma_source
from probes.instructions import STORED_AS, TYPES, Instruction, legal_n, struct_source

_KERNELS = Path(__file__).parent / "kernels"
_FLAGS = ["-cubin", "-gencode=arch=compute_90a,code=sm_90a", "-std=c++17", "-O3"]

#: N of the instructions that the product probe has.
GEMM_N = (8, 16, 24, 32, 48, 64, 96, 128, 192, 256)


def out_folder() -> Path:
    """Where cubins are kept: ``PROBES_BUILD``, or ``build/probes`` of the checkout."""
    return Path(os.environ.get("PROBES_BUILD", Path(__file__).parents[3] / "build" / "probes"))


def probed_instructions(dtype: str) -> list[tuple[str, Instruction]]:
    """The instructions of the descriptor probe for a type, each with the operand that it probes.

    A from shared memory in both majors; B, with A in registers, at every legal N in both majors; B with A in shared
    memory at three N.
    """
    majors = (False, True) if TYPES[dtype][1] else (False,)
    k = Instruction(dtype, 8).k
    a = [("A", Instruction(dtype, k, a_mn=mn)) for mn in majors]
    b = [("B", Instruction(dtype, n, a_in_registers=True, b_mn=mn)) for mn in majors for n in legal_n(dtype)]
    both = [("B", Instruction(dtype, n, b_mn=mn)) for mn in majors for n in (8, 64, 256)]
    return a + b + both


def gemm_instructions(dtype: str) -> list[Instruction]:
    """The instructions of the product probe for a type: both operands from shared memory."""
    majors = (False, True) if TYPES[STORED_AS.get(dtype, dtype)][1] else (False,)
    return [Instruction(dtype, n, a_mn=a, b_mn=b) for n in GEMM_N for a in majors for b in majors]


def kernel_name(operand: str, one: Instruction) -> str:
    """Name of the kernel that probes an operand of an instruction."""
    return f"probe_{operand}_{one.name}"


def _descriptor_source(dtype: str) -> str:
    parts = ['#include "descriptor.cuh"\n']
    structs = {one.name: one for _, one in probed_instructions(dtype)}
    parts += [struct_source(one) for one in structs.values()]
    for operand, one in probed_instructions(dtype):
        parts.append(
            f'extern "C" __global__ void __launch_bounds__(128) {kernel_name(operand, one)}'
            "(const uint64_t* words, int count, uint32_t* out, int shared_bytes) {\n"
            f"  probe<{one.name}, Probed::{operand}>(words, count, out, shared_bytes);\n}}\n"
        )
    return "\n".join(parts)


def _gemm_source(dtype: str) -> str:
    parts = ['#include "gemm.cuh"\n']
    for one in gemm_instructions(dtype):
        parts.append(struct_source(one))
        parts.append(
            f'extern "C" __global__ void __launch_bounds__(128) gemm_{one.name}(const Case* cases, '
            "const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b) {\n"
            f"  product<{one.name}>(cases, &map_a, &map_b);\n}}\n"
        )
    return "\n".join(parts)


def sparse_instructions(dtype: str) -> list[Instruction]:
    """The instructions of the sparse probe for a type: N is K, so that B can be an identity; A in both places."""
    n = Instruction(dtype, 8, selector=0).k
    selectors = (0, 1) if TYPES[dtype][0] > 1 else (0,)
    return [Instruction(dtype, n, a_in_registers=r, selector=s) for s in selectors for r in (False, True)]


def _sparse_source(dtype: str) -> str:
    parts = ['#include "sparse.cuh"\n']
    for one in sparse_instructions(dtype):
        parts.append(struct_source(one))
        parts.append(
            f'extern "C" __global__ void __launch_bounds__(128) sparse_{one.name}(const int2* cases, '
            "const uint8_t* images, const uint32_t* registers, const uint32_t* metadata, uint32_t* out, int count) {\n"
            f"  sparse<{one.name}>(cases, images, registers, metadata, out, count);\n}}\n"
        )
    return "\n".join(parts)


def units() -> dict[str, str]:
    """Name and source text of every translation unit."""
    made = {path.stem: path.read_text() for path in sorted(_KERNELS.glob("*.cu"))}
    made |= {f"descriptor_{dtype}": _descriptor_source(dtype) for dtype in TYPES}
    made |= {f"gemm_{dtype}": _gemm_source(dtype) for dtype in (*TYPES, *STORED_AS)}
    made |= {f"fragments_{dtype}": wgmma_source(dtype) for dtype in TYPES}
    made |= {f"sparse_{dtype}": _sparse_source(dtype) for dtype in TYPES}
    made |= {"fragments_mma": mma_source(), "fragments_matrix": matrix_source()}
    made |= {"sparse_warps": sparse_warps_source()}
    return made


def cubin_path(name: str, source: str) -> Path:
    """Where the cubin of a unit with this source belongs."""
    digest = hashlib.sha256(" ".join(_FLAGS).encode())
    for header in sorted(_KERNELS.glob("*.cuh")):
        digest.update(header.read_bytes())
    digest.update(source.encode())
    return out_folder() / f"{name}-{digest.hexdigest()[:16]}.cubin"


def build(*names: str, jobs: int | None = None) -> dict[str, Path]:
    """Compile the units whose names start with one of ``names`` (all, if none) and that are not there yet.

    Returns:
        the cubin of each unit.

    Raises:
        RuntimeError: if there is no ``nvcc`` or it reports an error.
    """
    wanted = {name: text for name, text in units().items() if not names or name.startswith(names)}
    paths = {name: cubin_path(name, text) for name, text in wanted.items()}
    missing = [name for name, path in paths.items() if not path.exists()]
    if missing and shutil.which("nvcc") is None:
        raise RuntimeError("build: nvcc must be on the PATH to compile the probes, found none")
    out_folder().mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(jobs or os.cpu_count()) as pool:
        list(pool.map(lambda name: _compile(paths[name], wanted[name]), missing))
    return paths


def compiler_says(name: str) -> str:
    """What the compiler and the assembler print of a unit, which :func:`build` compiled."""
    return cubin_path(name, units()[name]).with_suffix(".log").read_text()


def _compile(cubin: Path, source: str) -> None:
    for old in cubin.parent.glob(f"{cubin.stem[:-17]}-*"):
        old.unlink()
    unit = cubin.with_suffix(".cu")
    unit.write_text(source)
    made = cubin.with_suffix(".tmp")
    command = ["nvcc", *_FLAGS, f"-I{_KERNELS}", "-o", str(made), str(unit)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"build: {cubin.stem} must compile, found:\n{done.stderr[-4000:]}")
    cubin.with_suffix(".log").write_text(done.stdout + done.stderr)
    made.replace(cubin)


if __name__ == "__main__":
    for unit_name, unit_path in build(*sys.argv[1:], jobs=None).items():
        print(unit_name, unit_path)
