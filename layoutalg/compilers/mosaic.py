"""Mosaic GPU's transforms of a reference in shared memory, as a layout.

A tensor lies row-major. ``TilingTransform((8, 64))`` cuts its last dimensions: the tiles row-major, and row-major
within each; ``TransposeTransform`` permutes the dimensions as they are by then; ``SwizzleTransform(128)`` moves the 16
bytes of a row by the swizzle of that many bytes, on byte addresses, as tensor maps and matrix descriptors do. Law: the
element at a coordinate of the tiled array, row-major, lies at that index before the swizzle.
Source: JAX 0.10 ``jax/_src/pallas/mosaic_gpu/core.py`` (TilingTransform, SwizzleTransform),
``jax/experimental/mosaic/gpu/launch_context.py`` (TileTransform, TransposeTransform); that the swizzle is the
descriptors' one: ``jax/experimental/mosaic/gpu/mma_utils.py``.

>>> from layoutalg.compilers.syntax import Reader
>>> transforms = Reader("(TilingTransform(tiling=(8, 64)), SwizzleTransform(swizzle=128))").value()
>>> print(tiled(transforms, (16, 128), 16))
S<3,3,3> o 0 o ((8,2),(64,2)):((64,1024),(1,512))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from layoutalg.compilers.syntax import Fields, Node
from layoutalg.layouts.composed import ComposedLayout
from layoutalg.layouts.flat import merge
from layoutalg.layouts.layout import Layout
from layoutalg.layouts.modes import AnyLayout
from layoutalg.layouts.swizzle import Swizzle

#: The classes, and the field of each.
TRANSFORMS = {
    "TilingTransform": "tiling",
    "TileTransform": "tiling",
    "TransposeTransform": "permutation",
    "SwizzleTransform": "swizzle",
}

#: A dimension of the transformed array: which one of the tensor it is of, its extent, and what one step of it is there.
_Dimension = tuple[int, int, int]


def tiled(transforms: Sequence[Node], shape: Sequence[int], bits: int | None) -> AnyLayout:
    """The layout of a tensor after transforms: coordinates to offsets in elements.

    Args:
        transforms: in the order in which they are applied; the swizzle is the last.
        shape: extents of the tensor.
        bits: width of an element, which a swizzle needs.

    Raises:
        NotationError: if one does not fit what it is applied to.
    """
    dimensions = [(dim, extent, 1) for dim, extent in enumerate(shape)]
    swizzle = None
    for node in transforms:
        fields = _fields(node)
        if swizzle is not None:
            fields.refuse("a swizzle must be the last of the transforms", node.name)
        if node.name == "SwizzleTransform":
            swizzle = _swizzle(fields, bits, dimensions[-1][1])
        elif node.name == "TransposeTransform":
            order = fields.order("permutation")
            if len(order) != len(dimensions):
                fields.refuse(f"permutation must have {len(dimensions)} dimensions", list(order))
            dimensions = [dimensions[dim] for dim in order]
        else:
            dimensions = _cut(fields, dimensions)
    plain = _row_major(dimensions, len(shape))
    return plain if swizzle is None else ComposedLayout(swizzle, 0, plain)


def _fields(node: Node) -> Fields:
    """The fields of a transform, its argument by name."""
    if node.name not in TRANSFORMS:
        Fields(Node(node.name, {}, (), node.position), "").refuse(
            f"a transform must be one of {', '.join(TRANSFORMS)}", node.name
        )
    name = TRANSFORMS[node.name]
    if len(node.items) == 1 and name not in node.fields:
        node = Node(node.name, {**node.fields, name: node.items[0]}, (), node.position)
    fields = Fields(node, f"{name} rounding" if node.name == "TileTransform" else name)
    if node.items:
        fields.refuse(f"there must be one argument, {name}", len(node.items))
    if fields.get("rounding", None) is not None:
        fields.refuse("rounding must be None", fields.get("rounding"))
    return fields


def _cut(fields: Fields, dimensions: list[_Dimension]) -> list[_Dimension]:
    tiles = fields.numbers("tiling")
    if fields.node.name == "TileTransform" and len(tiles) <= len(
        dimensions
    ):  # which cuts a shorter dimension not at all
        tiles = tuple(min(tile, extent) for tile, (_, extent, _) in zip(tiles, dimensions[-len(tiles) :], strict=False))
    whole, cut = dimensions[: len(dimensions) - len(tiles)], dimensions[len(dimensions) - len(tiles) :]
    if len(tiles) > len(dimensions) or any(
        tile < 1 or extent % tile for tile, (_, extent, _) in zip(tiles, cut, strict=True)
    ):
        extents = "x".join(str(extent) for _, extent, _ in dimensions)
        fields.refuse(f"tiling must divide the last dimensions of {extents}", list(tiles))
    outer = [(dim, extent // tile, step * tile) for tile, (dim, extent, step) in zip(tiles, cut, strict=True)]
    inner = [(dim, tile, step) for tile, (dim, _, step) in zip(tiles, cut, strict=True)]
    return [*whole, *outer, *inner]


def _swizzle(fields: Fields, bits: int | None, row: int) -> Swizzle:
    """The swizzle on elements, of rows of as many bytes as it has."""
    width = fields.number("swizzle", (16, 32, 64, 128))
    if bits is None or bits < 1 or bits & (bits - 1) or bits > 128:
        fields.refuse("the width of an element must be known: give its type behind the extents, 128x64xbf16", "none")
    if row * bits != width * 8:
        fields.refuse(f"the last dimension must have {width * 8 // bits} elements of {bits} bits, one row", row)
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
