"""Compile the kernels of ``triton_kernels`` for sm_90a and sm_100a, without a GPU: ``NAME.ptx`` into a folder.

Usage: python compile_triton.py FOLDER [PART_OF_A_NAME]      needs triton, which is imported here alone
"""

# mypy: ignore-errors
import sys
from pathlib import Path

import triton
import triton_kernels as kernels
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

POINTERS = {"f16": "*fp16", "bf16": "*bf16", "f32": "*fp32", "f8": "*fp8e4nv", "f8e5": "*fp8e5", "i8": "*i8"}
TILES = {"BM": 128, "BN": 128, "BK": 64}


def cases():
    """Name, kernel, types of the pointers, other arguments, constants, warps."""
    for capability in (90, 100):
        for dtype, m, n, k, turned, warps in (
            ("f16", 128, 128, 64, True, 4), ("f16", 128, 256, 64, False, 8), ("bf16", 64, 64, 64, True, 4),
            ("bf16", 128, 64, 32, False, 4), ("f16", 256, 128, 64, True, 8), ("f8", 128, 128, 128, True, 4),
            ("f8e5", 128, 64, 64, True, 4), ("f16", 128, 32, 128, False, 4), ("f32", 128, 128, 32, True, 4),
        ):  # fmt: skip
            name = f"product_{dtype}_{m}x{n}x{k}{'_nt' if turned else '_nn'}"
            types = [POINTERS[dtype], POINTERS[dtype], "*fp16"]
            yield name, kernels.product, types, 3, {"BM": m, "BN": n, "BK": k, "TURNED": turned}, warps, capability
        for dtype, m, n, k in (("f16", 64, 64, 64), ("f16", 128, 128, 32), ("bf16", 64, 128, 64), ("f8", 64, 64, 64)):
            types = [POINTERS[dtype], POINTERS[dtype], "*fp32"]
            yield (
                f"gathered_{dtype}_{m}x{n}x{k}",
                kernels.gathered,
                types,
                2,
                {"BM": m, "BN": n, "BK": k},
                4,
                capability,
            )
        for m, n, d, warps in ((128, 64, 64, 4), (128, 128, 128, 8), (64, 64, 64, 4)):
            types = ["*fp16"] * 4
            yield f"attention_{m}x{n}x{d}", kernels.attention, types, 1, {"BM": m, "BN": n, "D": d}, warps, capability
    for kind in ("e2m1", "e4m3"):
        for n in (64, 128):
            types = ["*u8"] * 4 + ["*fp32"] if kind == "e2m1" else ["*fp8e4nv", "*u8", "*fp8e4nv", "*u8", "*fp32"]
            yield f"scaled_{kind}_{n}", kernels.scaled, types, 1, {**TILES, "BN": n, "BK": 128, "KIND": kind}, 4, 100


def main(folder: str, part: str = "") -> int:
    for name, kernel, types, numbers, constants, warps, capability in cases():
        full = f"{name}_sm{capability}"
        if part not in full or (Path(folder) / f"{full}.ptx").exists():
            continue
        names = kernel.arg_names
        signature = dict.fromkeys(names, "constexpr")
        signature.update(zip(names, [*types, *["i32"] * numbers], strict=False))
        source = ASTSource(fn=kernel, signature=signature, constexprs=constants)
        try:
            compiled = triton.compile(source, target=GPUTarget("cuda", capability, 32), options={"num_warps": warps})
        except Exception as error:  # noqa: BLE001 - a kernel that this version cannot compile is left out
            print(f"{full}: left out, {type(error).__name__}: {str(error)[:200]}")
            continue
        (Path(folder) / f"{full}.ptx").write_text(compiled.asm["ptx"], encoding="utf-8")
        print(f"{full}: triton {triton.__version__}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
