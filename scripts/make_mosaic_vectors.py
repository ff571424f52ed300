#!/usr/bin/env python3
"""Write tests/vectors/mosaic.json: JAX's transforms as printed, and what Mosaic GPU encodes of the tile.

Usage: python scripts/make_mosaic_vectors.py      needs `pip install jax` (Linux), but no GPU

The offsets of a descriptor are taken where Mosaic GPU encodes them. The script was written for JAX 0.10.2.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "scripts" / "lib")]

import jax  # noqa: E402
from ended import end  # noqa: E402
from jax._src.interpreters import mlir  # noqa: E402
from jax._src.lib.mlir import ir  # noqa: E402
from jax._src.lib.mlir.dialects import func  # noqa: E402
from jax.experimental.mosaic.gpu import mma_utils  # noqa: E402
from jax.experimental.pallas import mosaic_gpu  # noqa: E402

TARGET = ROOT / "tests" / "vectors" / "mosaic.json"
TYPES = {"bf16": ("bfloat16", 16), "f32": ("float32", 32), "f8E4M3FN": ("float8_e4m3fn", 8)}


def cases() -> list[tuple[tuple[int, int], str, int, int]]:
    """Shape, type, swizzle, and instructions' K in elements."""
    shapes = ((64, 64), (128, 128), (64, 256))
    return [
        (shape, dtype, swizzle, 32 * 8 // bits)
        for shape in shapes
        for dtype, (_, bits) in TYPES.items()
        for swizzle in (32, 64, 128)
        if shape[1] * bits // 8 >= swizzle
    ]


def transformed(shape: tuple[int, int], dtype: str, transforms: list[Any]) -> list[int]:
    """The shape after the transforms, as JAX has it."""
    array = jax.core.ShapedArray(shape, jax.numpy.dtype(dtype))
    for one in transforms:
        array = one.transform_type(array)
    return [int(extent) for extent in array.shape]


def descriptor(shape: list[int], dtype: str, swizzle: int, group: tuple[int, int], turned: bool) -> dict[str, Any]:
    """What Mosaic GPU encodes for an operand (rows, K), or turned (K, columns), that is tiled so."""
    seen: dict[str, Any] = {}

    def noted(_: Any, leading_byte_offset: int, stride_byte_offset: int, swizzle: int, **__: Any) -> int:
        seen.update(leading=leading_byte_offset, stride=stride_byte_offset)
        return 0

    original, mma_utils.encode_descriptor = mma_utils.encode_descriptor, noted
    try:
        with mlir.make_ir_context(), ir.Location.unknown():
            module = ir.Module.create()
            element = mlir.dtype_to_ir_type(jax.numpy.dtype(dtype))
            kind = ir.MemRefType.get(shape, element)
            with ir.InsertionPoint(module.body):
                function = func.FuncOp("tile", ir.FunctionType.get([kind], []))
            block = function.add_entry_block()
            with ir.InsertionPoint(block):
                (_, (_, steps)), _, fastest = mma_utils.create_descriptor(
                    block.arguments[0], swizzle, group_size=group, logical_k_major=turned
                )
    finally:
        mma_utils.encode_descriptor = original
    return {**seen, "next_k": int(steps[-1]), "major": fastest.name}


def case(shape: tuple[int, int], dtype: str, swizzle: int, k: int) -> dict[str, Any]:
    name, bits = TYPES[dtype]
    row = swizzle * 8 // bits
    transforms = [mosaic_gpu.TilingTransform((8, row)), mosaic_gpu.SwizzleTransform(swizzle)]
    tiled = transformed(shape, name, transforms)
    assert math.prod(tiled) == math.prod(shape)
    record = {"text": repr(tuple(transforms)), "shape": shape, "type": dtype, "bits": bits, "tiled": tiled}
    record |= {"swizzle": swizzle, "k": k, "operand": descriptor(tiled, name, swizzle, (64, max(k, row)), False)}
    if bits == 16:  # the tensor cores read only types of 16 bits along M or N
        record["turned"] = descriptor(tiled, name, swizzle, (max(k, 16), row), True)
    return record


def lines(cases: list[dict[str, Any]]) -> str:
    return "[\n" + ",\n".join(f"    {json.dumps(case)}" for case in cases) + "\n  ]"


def main() -> None:
    parts = {
        "tool": json.dumps("jax"),
        "version": json.dumps(jax.__version__),
        "command": json.dumps("python scripts/make_mosaic_vectors.py"),
        "cases": lines([case(*one) for one in cases()]),
    }
    body = ",\n".join(f"  {json.dumps(key)}: {value}" for key, value in parts.items())
    TARGET.write_text("{\n" + body + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    end(main)
