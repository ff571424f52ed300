"""The modes of the steps' layouts as walks over the tile: what a page lights when a mode is pointed at.

A coordinate of a mode is a digit of the element's place along MN or K; what else a digit could be does not change, so
a mode walks from an element to those that differ in its digit alone. Law: digits times strides, added up, are the
offset that the layout gives.

>>> from descriptors import derive
>>> d = derive((128, 128), "bf16", "K", "128B", (64, 16))
>>> [(one["text"], one["axis"], one["period"]) for one in walks(d)[0]]
[('8:64', 0, 1), ('16:512', 0, 8), ('64:1', 1, 1), ('2:8192', 1, 64)]
>>> at = 11, 85
>>> sum(one["stride"] * (at[one["axis"]] // one["period"] % one["extent"]) for one in walks(d)[0])
8917
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from descriptors.derivation.parts.derivation import Derivation
from descriptors.operands.swizzled import plain
from descriptors.output.tiles.explanation import names
from descriptors.text import bits_text
from layoutalg import Layout, flatten, size

#: Extents (MN, K).
Pair = tuple[int, int]


def walks(d: Derivation) -> list[list[dict[str, Any]]]:
    """The modes of each of the five steps, but those of extent 1 and of stages.

    Returns:
        For each mode its ``text``, ``name`` and what it is ``said`` to be; ``axis`` 0 for MN or 1 for K; ``period``,
        how many elements one step is along that axis; ``extent``, how many steps; ``stride`` in the units of its
        layout; ``block``, the extents of what one place of that layout stands for, in elements.
    """
    return [[dict(mode) for mode in step] for step in _walks(d)]


@lru_cache(maxsize=32)
def _walks(d: Derivation) -> tuple[tuple[dict[str, Any], ...], ...]:
    bits, many = d.element.storage_bits, d.element.per_16_bytes
    unit: Pair = (1, many) if d.major.contiguous_mode else (many, 1)
    mn, k, *_ = plain(d.smem_tile)
    tile = tuple(_step(d, ((mn,), (k,)), ("",), (1, 1), bits))
    if d.crossing is not None:  # whose columns of 16 bytes are no parts of one operand
        return (tile, (), (), (), ())
    halves, canonical, (rows, columns, *_) = ("operand ", "subtiles "), d.canonical, plain(d.advance)
    return (
        tile,
        tuple(_step(d, _halves(plain(d.partitioned)), halves, (1, 1), bits)),
        tuple(_step(d, _halves(plain(d.recast)), halves, unit, 128)),
        tuple(_step(d, [tuple(canonical[i]) for i in (0, 1)], ("chunk ", "rest "), unit, 128)),
        tuple(_step(d, [(rows,), (columns,)], ("subtiles ",), d.mma, 128)),
    )


def _halves(layout: Layout) -> list[tuple[Layout, ...]]:
    """What one instruction reads along each axis, and which of them it is."""
    operand, rest = layout
    return [(inside, part) for inside, part in zip(operand, rest, strict=False)]


def _step(
    d: Derivation, axes: Sequence[Iterable[Layout]], parts: Sequence[str], block: Pair, unit_bits: int
) -> Iterable[dict[str, Any]]:
    """The modes of a layout: for each axis its parts, the fastest first."""
    for axis, layouts in enumerate(axes):
        period = block[axis]
        named = [(part, mode) for part, layout in zip(parts, layouts, strict=True) for mode in flatten(layout)]
        for part, mode in named:
            extent, stride = size(mode), mode(1) if size(mode) > 1 else 0
            name = f"{part}{names(d)[axis]}"
            if extent > 1:
                yield {
                    "name": name, "text": str(mode), "axis": axis, "period": period, "extent": extent,
                    "stride": stride, "block": list(block),
                    "said": f"{name} {mode}: {extent} places, {bits_text(stride * unit_bits)} apart",
                }  # fmt: skip
            period *= extent
