"""Partition tiles in shared and global memory by the TMA copies that move them.

A TMA copy moves a box of a tensor to adjacent bytes of shared memory. The partition orders the elements of a tile as
they are stored in shared memory, and divides them by the elements of one copy. In a cluster, each CTA issues one part
of every copy and multicasts it.

Invariant: value i of the two results is the same element of the tile, in shared memory and in the tensor.

Source: CUTLASS ``include/cute/atom/copy_traits_sm90_tma.hpp`` (tma_partition).

>>> from layoutalg.algebra.make import make_identity_layout
>>> from layoutalg.algebra.rearrange import group_modes
>>> from layoutalg.algebra.tiling import local_tile
>>> tiles, _ = local_tile(make_identity_layout((128, 64)), (64, 32), (None, None))
>>> smem = group_modes(Layout((64, 32, 3), (32, 1, 2048)), 0, 2)
>>> for part, start in tma_partition(2048, 0, Layout(1), smem, group_modes(tiles, 0, 2)):
...     print(part, start)
((2048,1),3):((1,0),2048) 0
(((32,64),1),2,2):(((1@1,1@0),0),64@0,32@1) (0, 0)
"""

from __future__ import annotations

from typing import Any

from layoutalg.algebra.coalesce import coalesce
from layoutalg.algebra.composition import composition
from layoutalg.algebra.divide import logical_divide
from layoutalg.algebra.inverse import right_inverse
from layoutalg.algebra.make import make_layout
from layoutalg.algebra.products import tile_to_shape
from layoutalg.errors import LayoutError
from layoutalg.fragments.copy_atoms import CopyAtom
from layoutalg.layouts.composed import ComposedLayout
from layoutalg.layouts.cosize import cosize
from layoutalg.layouts.layout import Layout
from layoutalg.layouts.modes import AnyLayout, need_layout, need_plain, rank, size, through
from layoutalg.tuples.leaf import as_int, need_int


def tma_partition(
    atom: CopyAtom | int, cta_coord: Any, cta_layout: Layout, smem: AnyLayout, gmem: AnyLayout
) -> tuple[tuple[AnyLayout, int], tuple[AnyLayout, int]]:
    """Return what one CTA copies of tiles in shared and in global memory, each with its offset.

    Args:
        atom: the copy, or the number of elements that all CTAs of the multicast move with one copy each.
        cta_coord: the CTA, as a coordinate of ``cta_layout``.
        cta_layout: coordinate of a CTA to its number in the multicast; ``Layout(1)`` without multicast.
        smem: ``(tile, stage, ...)``: the tile in shared memory, as a single mode, and the stages.
        gmem: ``(tile, Rest, ...)``: the tile in the TMA tensor of coordinates, as a single mode, and the tiles.

    Returns:
        for shared memory and for global memory: ``((copy, number of the copy), Rest, ...)`` and its offset.

    Raises:
        LayoutError: if the tiles differ in size, shared memory is not contiguous, or the copies do not divide the tile.
    """
    need_layout(smem, "tma_partition"), need_layout(gmem, "tma_partition")
    count = int(size(atom.source[1])) if isinstance(atom, CopyAtom) else as_int(atom, "tma_partition: the atom")
    inner: Any = smem.inner if isinstance(smem, ComposedLayout) else smem
    tile = need_plain(inner, "tma_partition")[0]
    total = need_int(size(tile), "tma_partition: the size of the tile")
    if size(tile) != size(gmem, mode=[0]):
        raise LayoutError(
            f"tma_partition: the tile has {total} elements in shared memory and {size(gmem, mode=[0])} in global "
            "memory; give the tile as mode 0 of both: group_modes(layout, 0, 2)"
        )
    if count < 1 or total % count:
        raise LayoutError(f"tma_partition: copies of {count} elements do not divide the tile of {total} elements")
    order = logical_divide(tile_to_shape(make_layout(right_inverse(tile)), (total,))[0], count)
    ctas = need_plain(cta_layout, "tma_partition")
    start = need_int(ctas(cta_coord), "tma_partition: the number of the CTA") * (count // int(cosize(ctas)))

    def by_copy(layout: Layout) -> Layout:
        parts = composition(layout[0], order)
        return make_layout(coalesce(parts, (1, 1)), *list(layout)[1:])

    results = []
    for memory in (smem, gmem):
        parts: Any = through(by_copy, memory)
        coordinate: Any = ((start, 0), *(0,) * (rank(parts) - 1))
        if isinstance(parts, ComposedLayout):
            moved = ComposedLayout(parts.outer, parts.offset + parts.inner(coordinate), parts.inner)
            results.append((moved, 0))
        else:
            results.append((parts, parts(coordinate)))
    return results[0], results[1]
