"""Tiles that items on descriptors are about, and what a sentence says of them.

A tile is (extents, dtype, major, swizzle, mma), as the judges of words take it; the architecture is sm90.

Law: every tile that is drawn has a derivation, and more than one operand.

>>> from random import Random
>>> tile = drawn(Random(1), "K")
>>> told(tile)[:86]
'a 256 by 64 tile of e4m3 (MN by K), K-major with 64B swizzle, atoms stacked along MN f'
>>> len(derived_tile(*tile).offsets_bytes())
4
"""

from __future__ import annotations

from random import Random
from typing import TypeAlias

from descriptors.course.judges.tile import derived_tile
from descriptors.course.papers.item import pick
from descriptors.errors import DescriptorError
from descriptors.smem.operands.operand import MajorName, as_element_type, as_swizzle_mode

#: Extents (MN, K), element type, major, swizzle, and extents (MN, K) of one operand.
Tile: TypeAlias = tuple[tuple[int, int], str, MajorName, str, tuple[int, int]]

#: Types of which wgmma takes both majors, and those of which it takes K-major operands alone.
BOTH, K_ALONE = ("bf16", "f16"), ("e4m3", "s8", "tf32")

#: The address of a tile is a multiple of this, the largest period of a swizzle, in bytes.
ALIGNED = 1024


def drawn(rng: Random, major: MajorName, swizzles: tuple[str, ...] = ("32B", "64B", "128B")) -> Tile:
    """A tile of several operands that fits into a few pages of squared paper.

    Raises:
        DescriptorError: if no draw of many has a derivation.
    """
    for _ in range(200):
        dtype, swizzle = pick(rng, BOTH if major == "MN" else BOTH + K_ALONE), pick(rng, swizzles)
        bytes_each = as_element_type(dtype).storage_bits // 8
        span = max(as_swizzle_mode(swizzle).span_bytes, 32)
        mn, reads = 64 * pick(rng, (1, 2, 3, 4)), pick(rng, (64, 64, 128))
        k = pick(rng, (1, 2, 4)) * (span if major == "K" else 64) // bytes_each
        tile: Tile = ((mn, k), dtype, major, swizzle, (reads, 32 // bytes_each))
        if mn * k * bytes_each <= 1 << 15 and mn % reads == 0 and (mn, k) != tile[4] and _derives(tile):
            return tile
    raise DescriptorError(f"papers: a tile must be found within 200 draws, found none; major = {major}")


def _derives(tile: Tile) -> bool:
    try:
        derived_tile(*tile)
    except DescriptorError:
        return False
    return True


def told(tile: Tile) -> str:
    """What a question says of a tile."""
    (mn, k), dtype, major, swizzle, (reads, depth) = tile
    how = "without swizzle" if swizzle == "none" else f"with {swizzle} swizzle"
    return (
        f"a {mn} by {k} tile of {dtype} (MN by K), {major}-major {how}, atoms stacked along MN first, of "
        "which wgmma reads "
        f"{reads} by {depth} at a time"
    )


def bytes_of(tile: Tile) -> int:
    """Bytes of an element."""
    return as_element_type(tile[1]).storage_bits // 8
