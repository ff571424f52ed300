"""Mosaic GPU's transforms: the array that JAX makes of a tensor, row-major, with the swizzle of its bytes."""

from __future__ import annotations

import json
from itertools import product
from math import prod

import numpy as np
import pytest
from each import each
from places import VECTORS

from layoutalg import LayoutError, evaluate

CASES = json.loads((VECTORS / "mosaic.json").read_text(encoding="utf-8"))["cases"]


def swizzled(byte: int, width: int) -> int:
    """The 16 bytes of a row change places with its row's number, as far as the swizzle is wide."""
    return byte ^ (byte >> 7) % (width // 16) * 16


@each("case", CASES, ids=lambda one: f"{one['type']} {one['shape']} {one['swizzle']}")
def test_elements_lie_in_the_transformed_array(case):
    (rows, columns), bits = case["shape"], case["bits"]
    tiled = case["tiled"]
    array = np.arange(rows * columns).reshape(tiled[0], tiled[2], tiled[1], tiled[3])
    order = np.empty(rows * columns, dtype=int)
    order[array.transpose(0, 2, 1, 3).ravel()] = np.arange(prod(tiled))
    layout = evaluate(f"{case['text']} {rows}x{columns}x{case['type']}")
    for row, column in product((0, 1, 3, 8, rows - 1), (0, 1, 8, 17, columns // 2, columns - 1)):
        byte = int(order[row * columns + column]) * bits // 8
        assert layout(row, column) * bits // 8 == swizzled(byte, case["swizzle"])


@each(
    ("text", "layout"),
    [
        ("TransposeTransform((1, 0)) 4x8xf32", "(4,8):(1,4)"),
        ("[TilingTransform((8, 8)), TransposeTransform(permutation=(1, 0, 2, 3))] 16x16xbf16",
         "(16,(8,2)):(8,(1,128))"),
        ("TileTransform((8, 64), rounding=None) 4x128xbf16", "(4,(64,2)):(64,(1,256))"),
        ("plgpu.SMEM((2, 64, 64), jnp.bfloat16, transforms=(plgpu.TilingTransform((8, 64)),))",
         "(2,64,64):(4096,64,1)"),
    ],
)  # fmt: skip
def test_other_transforms_permute_the_dimensions(text: str, layout: str) -> None:
    assert str(evaluate(text)) == layout


@each(
    ("text", "said"),
    [
        (
            "TilingTransform((8, 48)) 64x64xbf16",
            "tiling is [8, 48], which does not divide the last dimensions of 64x64",
        ),
        ("SwizzleTransform(128) 64x64xf32", "has 64 elements of 32 bits, and a row of 128 bytes has 32"),
        ("SwizzleTransform(128) 64x64", "the width of an element is unknown"),
        ("(SwizzleTransform(128), TilingTransform((8, 64))) 64x64xbf16", "follows a swizzle"),
        (
            "(TilingTransform((8, 64)), UnrollTransform(2)) 64x64xbf16",
            "UnrollTransform: this transform is not supported; supported: TilingTransform",
        ),
        ("(TilingTransfrm((8, 64)), SwizzleTransform(128)) 64x64xbf16", "is not a transform"),
        (
            "(TilingTransform((8, 64)), SwizzleTransfrm(128)) 64x64xbf16",
            "is not a transform; supported: TilingTransform",
        ),
        (
            "(TilingTransform((8, 8)), 8TransposeTransform(1), SwizzleTransform(16)) 64x64xbf16",
            "is not a transform",
        ),
        ("TilingTransform((8, 64))", "the extents of the tensor are unknown"),
        ("SwizzleTransform(96) 64x64xbf16", "swizzle is 96; supported: 16, 32, 64, 128"),
        ("TileTransform((8, 64), rounding=1) 64x64xbf16", "rounding is 1; supported: None"),
    ],
)
def test_what_cannot_be_honoured_is_refused_by_its_name(text: str, said: str) -> None:
    with pytest.raises(LayoutError) as error:
        evaluate(text)
    assert said in str(error.value)
