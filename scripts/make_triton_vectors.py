#!/usr/bin/env python3
"""Write tests/vectors/triton.json: what Triton says of linear layouts, for the tests to compare with.

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
    }
    body = ",\n".join(f"  {json.dumps(key)}: {value}" for key, value in parts.items())
    TARGET.write_text("{\n" + body + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    end(main)
