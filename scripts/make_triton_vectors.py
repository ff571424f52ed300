#!/usr/bin/env python3
"""Write tests/vectors/triton.json: what Triton says of linear layouts and of its encodings.

Usage: python scripts/make_triton_vectors.py      needs `pip install triton` (Linux), but no GPU

Triton keeps these classes private (`triton._C`); the script was written for version 3.9.0.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "scripts" / "lib")]

import triton  # noqa: E402
from ended import end  # noqa: E402
from triton._C.libtriton import gluon_ir, ir  # noqa: E402
from triton._C.libtriton.linear_layout import LinearLayout  # noqa: E402
from triton.experimental.gluon.language import _layouts as gluon  # noqa: E402
from triton.experimental.gluon.language.nvidia.blackwell import (  # noqa: E402
    TensorMemoryLayout,
    TensorMemoryScalesLayout,
)

TARGET = ROOT / "tests" / "vectors" / "triton.json"
SEED = 20240901


def random_layout(source: random.Random, inputs: list[str], outputs: list[str], kind: str) -> tuple[Any, Any]:
    """Bases and output sizes; "bijective" ones are a random invertible matrix, "loose" ones any matrix."""
    heights = [source.randint(0, 3) for _ in outputs]
    total = sum(heights)
    widths = [source.randint(0, 3) for _ in inputs]
    if kind == "bijective":
        cuts = sorted(source.randint(0, total) for _ in inputs[1:])
        widths = [end - begin for begin, end in zip([0, *cuts], [*cuts, total], strict=True)]
    columns = [1 << bit for bit in range(total)]
    source.shuffle(columns)
    for _ in range(20):
        i, j = source.randrange(total or 1), source.randrange(total or 1)
        if i != j:
            columns[i] ^= columns[j]
    if kind == "loose":
        columns = [source.choice([0, source.randrange(1 << total)]) for _ in range(sum(widths))]

    def split(value: int) -> list[int]:
        parts = []
        for height in heights:
            parts.append(value & (1 << height) - 1)
            value >>= height
        return parts

    left = iter(columns)
    bases = [(name, [split(next(left)) for _ in range(width)]) for name, width in zip(inputs, widths, strict=True)]
    return bases, list(zip(outputs, [1 << height for height in heights], strict=True))


def bases_of(layout: LinearLayout) -> dict[str, Any]:
    """Everything about a layout that the tests compare."""
    return {"bases": layout.bases, "out_dims": layout.out_dims}


def algebra(source: random.Random, kind: str) -> dict[str, Any]:
    """One random layout, and what Triton computes from it."""
    inputs = source.sample(["register", "lane", "warp", "block"], source.randint(1, 3))
    outputs = ["dim0", "dim1", "dim2"][: source.randint(1, 3)]
    bases, sizes = random_layout(source, inputs, outputs, kind)
    layout = LinearLayout.from_bases(bases, [n for n, _ in sizes], [s for _, s in sizes], False)
    case: dict[str, Any] = {
        **bases_of(layout),
        "text": str(layout),
        "surjective": layout.is_surjective(),
        "injective": layout.is_injective(),
        "matrix": layout.get_matrix_view() if all(s > 1 for _, s in sizes) else None,
    }
    points = [{name: source.randrange(1 << len(rows)) for name, rows in bases} for _ in range(4)]
    case["values"] = [[point, layout.apply(point)] for point in points]
    if layout.is_invertible():
        case["inverse"] = bases_of(layout.invert())
    if layout.is_surjective():
        case["pseudoinverse"] = bases_of(layout.pseudoinvert())
    outer_bases = [
        (n, [[source.randrange(8), source.randrange(4)] for _ in range(s.bit_length() - 1)]) for n, s in sizes
    ]
    outer = LinearLayout.from_bases(outer_bases, ["a", "b"], [8, 4], False)
    case["outer"], case["composed"] = bases_of(outer), bases_of(layout.compose(outer))
    return case


def shared(builder: Any) -> list[dict[str, Any]]:
    """Shared-memory layouts for tensor cores, as linear layouts."""
    cases = []
    for width in (0, 32, 64, 128):
        for bits in (8, 16, 32):
            for transposed in (False, True):
                layout = gluon.NVMMASharedLayout(width, bits, 2, transposed)
                for shape in ([64, 64], [128, 64], [128, 128]):
                    if shape[0 if transposed else 1] * bits // 8 < width:
                        continue  # no whole atom in a row
                    linear = builder.to_linear_layout(layout._to_ir(builder), shape)
                    cases.append(
                        {
                            "swizzle_bytes": width,
                            "element_bits": bits,
                            "transposed": transposed,
                            "shape": shape,
                            "offset_bases": linear.offset_bases,
                        }
                    )
    return cases


def blocked(builder: Any) -> list[dict[str, Any]]:
    """Register layouts of the usual loads, as linear layouts."""
    cases = []
    for order in ([1, 0], [0, 1]):
        for registers, lanes, warps in (([1, 8], [4, 8], [4, 1]), ([2, 2], [8, 4], [2, 2]), ([4, 1], [1, 32], [1, 4])):
            layout = gluon.BlockedLayout(registers, lanes, warps, order)
            linear = builder.to_linear_layout(layout._to_ir(builder), [64, 128])
            cases.append(
                {
                    "per_thread": registers,
                    "threads": lanes,
                    "warps": warps,
                    "order": order,
                    "shape": [64, 128],
                    "bases": {
                        "register": linear.reg_bases,
                        "lane": linear.lane_bases,
                        "warp": linear.warp_bases,
                    },
                }
            )
    return cases


def of_registers() -> list[tuple[Any, list[int]]]:
    """Encodings of registers, each with a tensor's shape."""
    block, mma, dot = gluon.BlockedLayout, gluon.NVMMADistributedLayout, gluon.DotOperandLayout
    rows = block([1, 8], [4, 8], [4, 1], [1, 0])
    v2, v3 = mma([2, 0], [2, 2], [16, 8]), mma([3, 0], [4, 1], [16, 64, 16])
    wide, batch = mma([3, 0], [4, 2], [16, 64, 16]), mma([2, 0], [1, 2, 2], [1, 16, 8])
    squares = block([2, 2], [8, 4], [2, 2], [0, 1])
    linear = gluon.DistributedLinearLayout
    quads = linear([[0, 1]], [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], [[8, 0], [16, 0]], [], [32, 8])
    turned = linear([[1, 0]], [[0, 1], [0, 2], [2, 0], [4, 0], [8, 0]], [[16, 0], [0, 4]], [], [32, 8])
    return [
        *((rows, shape) for shape in ([64, 128], [8, 32], [256, 256])),
        (block([1, 8], [4, 8], [4, 1], [0, 1]), [64, 128]),
        (block([4], [32], [4], [0]), [1024]),
        (block([1, 1, 4], [1, 4, 8], [2, 2, 1], [2, 1, 0]), [4, 16, 64]),
        (block([1, 4], [8, 4], [1, 4], [0, 1]), [16, 16]),
        (block([1, 8], [4, 8], [4, 1], [1, 0], [[0, 0]]), [64, 128]),
        *((gluon.SliceLayout(dim, rows), [64 << (dim == 0)]) for dim in (0, 1)),
        *((gluon.SliceLayout(1, one), [128]) for one in (v2, v3, dot(0, v2, 2))),
        (gluon.SliceLayout(0, gluon.SliceLayout(2, block([1, 2, 2], [2, 4, 4], [2, 2, 1], [2, 1, 0]))), [64]),
        *((v2, shape) for shape in ([64, 64], [16, 8], [128, 32])),
        *((mma([2, 0], warps, [16, 8]), [32, 64]) for warps in ([4, 1], [1, 4], [2, 1])),
        *((batch, [n, 64, 64]) for n in (1, 4)),
        (mma([2, 0], [2, 1, 2], [1, 16, 8]), [4, 32, 32]),
        *((v3, shape) for shape in ([64, 64], [128, 256], [64, 32])),
        *((wide, shape) for shape in ([64, 64], [128, 256])),
        *((mma([3, 0], [8, 1], [16, n, 16]), [128, 128]) for n in (8, 128, 256)),
        *((dot(operand, v2, width), [64, 64]) for operand in (0, 1) for width in (1, 2, 4, 8)),
        *((dot(operand, mma([2, 0], [4, 1], [16, 8]), 2), [16, 16]) for operand in (0, 1)),
        *((dot(operand, batch, 2), [2, 64, 32]) for operand in (0, 1)),
        *((dot(0, one, width), [128, 64]) for one in (v3, wide) for width in (2, 4)),
        *((dot(operand, one, 0), [16, 32]) for operand in (0, 1) for one in (rows, squares)),
        *((one, shape) for one in (quads, turned) for shape in ([32, 8], [64, 16], [16, 8])),
    ]


def of_shared_memory() -> list[tuple[Any, list[int], int]]:
    """Encodings of shared memory, each with a tensor's shape and the bits of an element."""
    nvmma, swizzled = gluon.NVMMASharedLayout, gluon.SwizzledSharedLayout
    shapes = ([64, 64], [128, 256], [512, 128], [16, 512], [512, 512])
    return [
        *(
            (nvmma(width, bits, 2, turned), shape, bits)
            for width in (0, 32, 64, 128)
            for bits in (8, 16, 32)
            for turned in (False, True)
            for shape in shapes
            if shape[not turned] * bits // 8 >= width
        ),
        *((nvmma(width, 16, 3), [4, 16, 128], 16) for width in (0, 32, 128)),
        (nvmma(0, 16, 1), [1024], 16),
        *((nvmma(128, 8, 2, turned, True), [128, 128], 8) for turned in (False, True)),
        (nvmma(64, 16, 2, False, False, [[0, 0]]), [64, 64], 16),
        *((swizzled(8, *phases, [1, 0]), [64, 32], 16) for phases in ((1, 8), (2, 4), (1, 1), (4, 2))),
        *((swizzled(8, 2, 4, [0, 1]), shape, 16) for shape in ([64, 32], [16, 64])),
        (swizzled(4, 1, 16, [1, 0]), [64, 32], 32),
        (swizzled(8, 1, 8, [2, 1, 0]), [2, 64, 64], 16),
        (swizzled(8, 1, 8, [0, 2, 1]), [32, 4, 64], 16),
        (swizzled(1, 1, 1, [0]), [64], 32),
        (gluon.SharedLinearLayout([[0, 1], [0, 2], [1, 1], [2, 2]]), [4, 4], 16),
    ]


def of_tensor_memory() -> list[tuple[Any, list[int], int]]:
    """Encodings of tensor memory, likewise."""
    tmem = TensorMemoryLayout
    return [
        *((tmem((128, n), 1), [m, 128], 32) for n in (32, 64, 128) for m in (128, 256)),
        *((tmem((64, n), 1), [m, 128], 32) for n in (32, 64, 128) for m in (64, 128, 256)),
        *((tmem((m, 64), stride), [m, 64], 16) for m in (64, 128) for stride in (1, 2)),
        *((TensorMemoryScalesLayout(), shape, 8) for shape in ([128, 4], [256, 8], [64, 4], [32, 4], [128, 16])),
    ]


def encodings() -> list[tuple[Any, list[int], int]]:
    """Encodings of every kind that the engine reads, each with a tensor's shape and the bits of an element."""
    return [*((layout, shape, 16) for layout, shape in of_registers()), *of_shared_memory(), *of_tensor_memory()]


def encoded(builder: Any, layout: Any, shape: list[int], bits: int) -> dict[str, Any]:
    """The type as MLIR prints it, the class as Python does, and the linear layout."""
    elements = {8: builder.get_int8_ty, 16: builder.get_half_ty, 32: builder.get_float_ty}
    attribute, element = layout._to_ir(builder), elements[bits]()
    name = type(layout).__name__
    if name.startswith("TensorMemory"):
        kind = builder.get_tensor_mem_desc_ty(element, shape, attribute, shape)
    elif "Shared" in name:
        kind = builder.get_shared_mem_desc_ty(element, shape, attribute, shape)
    else:
        kind = builder.get_distributed_ty(element, shape, attribute)
    linear = builder.to_linear_layout(attribute, shape)
    inputs = {"register": "reg_bases", "lane": "lane_bases", "warp": "warp_bases", "offset": "offset_bases"}
    inputs |= {"row": "rows", "col": "cols"}
    bases = {ours: getattr(linear, theirs) for ours, theirs in inputs.items() if hasattr(linear, theirs)}
    return {"text": str(kind), "gluon": repr(layout), "shape": shape, "bits": bits, "bases": bases}


def lines(cases: list[dict[str, Any]]) -> str:
    return "[\n" + ",\n".join(f"    {json.dumps(case)}" for case in cases) + "\n  ]"


def main() -> None:
    source = random.Random(SEED)
    context = ir.context()
    ir.load_dialects(context)
    builder = gluon_ir.GluonOpBuilder(context)
    parts = {
        "tool": json.dumps("triton"),
        "version": json.dumps(triton.__version__),
        "command": json.dumps("python scripts/make_triton_vectors.py"),
        "seed": json.dumps(SEED),
        "algebra": lines([algebra(source, kind) for kind in ("bijective", "loose") for _ in range(40)]),
        "shared": lines(shared(builder)),
        "blocked": lines(blocked(builder)),
        "encodings": lines([encoded(builder, *case) for case in encodings()]),
    }
    body = ",\n".join(f"  {json.dumps(key)}: {value}" for key, value in parts.items())
    TARGET.write_text("{\n" + body + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    end(main)
