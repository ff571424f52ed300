#!/usr/bin/env python3
"""Write tests/vectors/tilelang.json: layouts that TileLang prints, and where it maps elements.

Usage: python scripts/make_tilelang_vectors.py      needs `pip install tilelang` (Linux), but no GPU

The script was written for version 0.1.15.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "scripts" / "lib")]

import tilelang  # noqa: E402
from ended import end  # noqa: E402
from tilelang import layout as layouts  # noqa: E402
from tvm.tirx import const, decl_buffer  # noqa: E402

TARGET = ROOT / "tests" / "vectors" / "tilelang.json"
SEED = 20250301
POINTS = 12


def buffers() -> list[tuple[str, Any]]:
    """Layouts of shared memory, by the function that makes them."""
    sizes = [((64, 64), "float16"), ((128, 32), "float16"), ((96, 64), "float16"), ((64, 128), "float16")]
    sizes += [((32, 128), "int8"), ((64, 32), "float32")]
    made = []
    for shape, dtype in sizes:
        buffer = decl_buffer(shape, dtype)
        for name in ("full_bank_swizzled", "half_bank_swizzled", "quarter_bank_swizzled"):
            row = shape[1] * {"int8": 1, "float16": 2, "float32": 4}[dtype]
            if row >= {"full": 128, "half": 64, "quarter": 32}[name.split("_")[0]]:
                made.append((dtype, getattr(layouts, f"make_{name}_layout")(buffer)))
        made.append((dtype, layouts.make_linear_layout(buffer)))
    for k_major in (True, False):
        for shape in ((64, 32), (128, 64)):
            made.append(("float16", layouts.make_wgmma_swizzled_layout(decl_buffer(shape, "float16"), k_major=k_major)))
    made.append(("float16", layouts.Layout((16, 8), lambda i, j: (j, i))))
    made.append(("float16", layouts.Layout((24, 8), lambda i, j: i * 10 + j)))
    made.append(("float16", layouts.Layout((32, 64), lambda i, j: i * 64 + (j ^ ((i & 7) << 3)))))
    return made


def fragments() -> list[Any]:
    """Layouts of registers: those of matrix multiplications, repeated."""
    base = layouts.make_gemm_fragment_8x8()
    warp = base.repeat([2, 1])
    turned = layouts.make_gemm_fragment_8x8_transposed()
    block = warp.repeat([4, 1], repeat_on_thread=True).repeat([1, 8])
    return [base, turned, warp, block, warp.repeat([2, 2], repeat_on_thread=True), base.replicate(2)]


def mapped(indices: Any, at: list[int]) -> list[int]:
    """The numbers that expressions have at a point."""
    return [int(one) for one in indices([const(number, "int32") for number in at])]


def point(source: random.Random, shape: list[int]) -> list[int]:
    return [source.randrange(extent) for extent in shape]


def layout_case(source: random.Random, dtype: str, layout: Any) -> dict[str, Any]:
    shape, outside = [int(one) for one in layout.get_input_shape()], [int(one) for one in layout.get_output_shape()]
    places = []
    for at in [point(source, shape) for _ in range(POINTS)]:
        offset = 0
        for number, extent in zip(mapped(layout.map_forward_index, at), outside, strict=True):
            offset = offset * extent + number
        places.append([at, offset])
    return {"text": str(layout), "dtype": dtype, "shape": shape, "places": places}


def fragment_case(source: random.Random, layout: Any) -> dict[str, Any]:
    shape = [int(one) for one in layout.get_input_shape()]
    holders = []
    for at in [point(source, shape) for _ in range(POINTS if int(layout.replicate_size) == 1 else 0)]:
        thread = layout.map_forward_thread([const(number, "int32") for number in at])
        holders.append(
            [at, int(thread[0] if hasattr(thread, "__len__") else thread), mapped(layout.map_forward_index, at)]
        )
    return {"text": str(layout), "shape": shape, "holders": holders}


def lines(cases: list[dict[str, Any]]) -> str:
    return "[\n" + ",\n".join(f"    {json.dumps(case)}" for case in cases) + "\n  ]"


def main() -> None:
    source = random.Random(SEED)
    parts = {
        "tool": json.dumps("tilelang"),
        "version": json.dumps(tilelang.__version__),
        "command": json.dumps("python scripts/make_tilelang_vectors.py"),
        "seed": json.dumps(SEED),
        "layouts": lines([layout_case(source, *one) for one in buffers()]),
        "fragments": lines([fragment_case(source, one) for one in fragments()]),
    }
    body = ",\n".join(f"  {json.dumps(key)}: {value}" for key, value in parts.items())
    TARGET.write_text("{\n" + body + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    end(main)
