"""Layouts of Mosaic GPU's transforms of a reference in shared memory.

A tensor is stored row-major. ``TilingTransform((8, 64))`` divides its last dimensions into tiles; the tiles are
row-major, and so are the elements of a tile. ``TransposeTransform`` permutes the resulting dimensions.
``SwizzleTransform(128)`` permutes the 16-byte chunks of the rows by the 128-byte swizzle, on byte addresses, as tensor
maps and matrix descriptors do.

Invariant: before the swizzle, the offset of an element is its row-major index in the transformed array.

Source: JAX 0.10 ``jax/_src/pallas/mosaic_gpu/core.py`` (TilingTransform, SwizzleTransform),
``jax/experimental/mosaic/gpu/launch_context.py`` (TileTransform, TransposeTransform);
``jax/experimental/mosaic/gpu/mma_utils.py`` shows that the swizzle is that of descriptors.

>>> from layoutalg.compilers.syntax import Reader
>>> transforms = Reader("(TilingTransform(tiling=(8, 64)), SwizzleTransform(swizzle=128))").value()
>>> print(tiled(transforms, (16, 128), 16))
S<3,3,3> o 0 o ((8,2),(64,2)):((64,1024),(1,512))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from layoutalg.compilers.syntax import Fields, Node, extents_text, field_text, is_power
from layoutalg.layouts.composed import ComposedLayout
from layoutalg.layouts.flat import merge
from layoutalg.layouts.layout import Layout
from layoutalg.layouts.modes import AnyLayout
from layoutalg.layouts.swizzle import Swizzle

#: The supported classes and the field of each.
TRANSFORMS = {
    "TilingTransform": "tiling",
    "TileTransform": "tiling",
    "TransposeTransform": "permutation",
    "SwizzleTransform": "swizzle",
}

#: A dimension of the transformed array: the dimension of the tensor that it is a part of, its extent, and the number of
#: positions of that dimension that one step covers.
_Dimension = tuple[int, int, int]


def tiled(transforms: Sequence[Node], shape: Sequence[int], bits: int | None) -> AnyLayout:
    """Return the layout of a tensor after transforms: coordinates to offsets in elements.

    Args:
        transforms: the transforms in the order in which they are applied; a swizzle is the last.
        shape: extents of the tensor.
        bits: width of an element; needed for a swizzle.

    Raises:
        NotationError: if a transform does not fit the array that it is applied to.
    """
    dimensions = [(dim, extent, 1) for dim, extent in enumerate(shape)]
    swizzle = None
    for node in transforms:
        fields = _fields(node)
        if swizzle is not None:
            fields.refuse(f"{node.name} follows a swizzle, which is not the last transform then")
        if node.name == "SwizzleTransform":
            swizzle = _swizzle(fields, bits, dimensions[-1][1])
        elif node.name == "TransposeTransform":
            order = fields.order("permutation")
            if len(order) != len(dimensions):
                fields.refuse(f"permutation is {list(order)}, and the array has {len(dimensions)} dimensions")
            dimensions = [dimensions[dim] for dim in order]
        else:
            dimensions = _cut(fields, dimensions)
    plain = _row_major(dimensions, len(shape))
    return plain if swizzle is None else ComposedLayout(swizzle, 0, plain)


def _fields(node: Node) -> Fields:
    """Return the fields of a transform, with its argument as a field."""
    if node.name not in TRANSFORMS:
        Fields(Node(node.name, {}, (), node.position), "").refuse(
            f"this transform is not supported; supported: {', '.join(TRANSFORMS)}"
        )
    name = TRANSFORMS[node.name]
    if len(node.items) == 1 and name not in node.fields:
        node = Node(node.name, {**node.fields, name: node.items[0]}, (), node.position)
    fields = Fields(node, f"{name} rounding" if node.name == "TileTransform" else name)
    if node.items:
        fields.refuse(f"there are {len(node.items)} arguments without a name; the only argument is {name}")
    if fields.get("rounding", None) is not None:
        fields.refuse(f"rounding is {field_text(fields.get('rounding'))}; supported: None")
    return fields


def _cut(fields: Fields, dimensions: list[_Dimension]) -> list[_Dimension]:
    tiles = fields.numbers("tiling")
    if fields.node.name == "TileTransform" and len(tiles) <= len(dimensions):
        # TileTransform leaves a dimension that is shorter than its tile undivided.
        tiles = tuple(min(tile, extent) for tile, (_, extent, _) in zip(tiles, dimensions[-len(tiles) :], strict=False))
    whole, cut = dimensions[: len(dimensions) - len(tiles)], dimensions[len(dimensions) - len(tiles) :]
    if len(tiles) > len(dimensions) or any(
        tile < 1 or extent % tile for tile, (_, extent, _) in zip(tiles, cut, strict=True)
    ):
        extents = extents_text([extent for _, extent, _ in dimensions])
        fields.refuse(f"tiling is {list(tiles)}, which does not divide the last dimensions of {extents}")
    outer = [(dim, extent // tile, step * tile) for tile, (dim, extent, step) in zip(tiles, cut, strict=True)]
    inner = [(dim, tile, step) for tile, (dim, _, step) in zip(tiles, cut, strict=True)]
    return [*whole, *outer, *inner]


def _swizzle(fields: Fields, bits: int | None, row: int) -> Swizzle:
    """Return the swizzle on element offsets, whose width in bytes is that of a row of the array."""
    width = fields.number("swizzle", (16, 32, 64, 128))
    if bits is None or bits > 128 or not is_power(bits):
        unknown = "unknown" if bits is None else f"{bits} bits, which is not a power of two up to 128"
        fields.refuse(f"the width of an element is {unknown}; give its type after the extents, as 128x64xbf16")
    if row * bits != width * 8:
        fields.refuse(
            f"the last dimension has {row} elements of {bits} bits, and a row of {width} bytes has {width * 8 // bits}"
        )
    return Swizzle((width // 16).bit_length() - 1, 7 - (bits.bit_length() - 1), 3)


def _row_major(dimensions: Sequence[_Dimension], rank: int) -> Layout:
    parts: list[list[tuple[int, int, int]]] = [[] for _ in range(rank)]
    stride = 1
    for dim, extent, step in reversed(dimensions):
        parts[dim].append((step, extent, stride))
        stride *= extent
    modes: list[Any] = [merge(*zip(*((extent, d) for _, extent, d in sorted(part)), strict=True)) for part in parts]
    shape = tuple(tuple(s) if len(s) > 1 else (*s, 1)[0] for s, _ in modes)
    strides = tuple(tuple(d) if len(d) > 1 else (*d, 0)[0] for _, d in modes)
    return Layout(shape, strides) if rank > 1 else Layout(shape[0], strides[0])
