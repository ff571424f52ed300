"""The operations ``local_tile`` and ``local_partition``, which return the part of a layout for one tile or one thread.

Both divide a layout, fix one part of the coordinate, and return the remaining layout and its offset. ``local_tile``
fixes the tile and keeps the elements in it. ``local_partition`` fixes the element in the tile, which is the thread, and
keeps the tiles.

Invariant: over all tiles, or all threads, every element of the layout occurs exactly once.
Source: CUTLASS ``include/cute/tensor_impl.hpp`` (inner_partition, outer_partition, local_tile, local_partition).

>>> from layoutalg import Layout
>>> a = Layout((8, 6), (6, 1))
>>> tiles = [local_tile(a, (4, 3), (p, q)) for p in range(2) for q in range(2)]
>>> sorted(tile(i) + offset for tile, offset in tiles for i in range(12)) == list(range(48))
True
"""

from __future__ import annotations

from typing import Any, overload

from layoutalg.algebra.divide import zipped_divide
from layoutalg.algebra.slicing import dice, slice_and_offset
from layoutalg.errors import LayoutError
from layoutalg.layouts.layout import Layout
from layoutalg.layouts.modes import AnyLayout, Tiler, idx2crd, modes_of, need_layout, rank
from layoutalg.tuples.int_tuple import Coord, Index, Shape, check_depth, flatten_tuple, product, safe_text
from layoutalg.tuples.leaf import as_int, need_int


@overload
def local_tile(
    layout: Layout, tiler: Tiler, coord: Coord, proj: Coord = None, *, round_up: bool = False
) -> tuple[Layout, int]: ...
@overload
def local_tile(
    layout: AnyLayout, tiler: Tiler, coord: Coord, proj: Coord = None, *, round_up: bool = False
) -> tuple[AnyLayout, int]: ...
def local_tile(
    layout: AnyLayout, tiler: Tiler, coord: Any, proj: Coord = None, *, round_up: bool = False
) -> tuple[AnyLayout, int]:
    """Return the tile at a coordinate of the grid of tiles, and its offset.

    Args:
        layout: a layout, plain or composed.
        tiler: the shape of a tile, as in :func:`zipped_divide`.
        coord: the tile: an index, or a coordinate with ``None`` for the modes of the grid to keep. Modes that are
            omitted at the end are kept.
        proj: a tuple with ``None`` for the modes of ``tiler`` and ``coord`` to omit.
        round_up: whether the last tile of a mode may reach beyond the layout, as in :func:`zipped_divide`.

    Raises:
        CoordinateError: if the tile is outside the grid.
        LayoutError: as :func:`zipped_divide`.

    >>> tile, offset = local_tile(Layout((8, 8), (8, 1)), (4, 2), (1, 2))
    >>> print(tile, offset)
    (4,2):(8,1) 36
    """
    need_layout(layout, "local_tile")
    if proj is not None:
        tiler, coord = dice(tiler, proj), dice(coord, proj)
    tiled = zipped_divide(layout, tiler, round_up=round_up)
    if type(coord) is tuple:
        coord = coord + (None,) * (rank(tiled[1]) - len(coord))
    tile_coord = (None,) * rank(tiled[0]) if type(modes_of(tiled.shape)[0]) is tuple else None
    return slice_and_offset((tile_coord, coord), tiled)


@overload
def local_partition(
    layout: Layout, tiler: Layout | Shape, index: int, proj: Coord = 1, *, round_up: bool = False
) -> tuple[Layout, int]: ...
@overload
def local_partition(
    layout: AnyLayout, tiler: Layout | Shape, index: int, proj: Coord = 1, *, round_up: bool = False
) -> tuple[AnyLayout, int]: ...
def local_partition(
    layout: AnyLayout, tiler: Layout | Shape, index: int, proj: Coord = 1, *, round_up: bool = False
) -> tuple[AnyLayout, int]:
    """Return the layout of the elements of one thread, and their offset, if the threads tile a layout.

    Args:
        layout: a layout, plain or composed.
        tiler: a layout from thread coordinates to the thread index; an integer or a shape is the compact layout of it.
        index: the index of the thread.
        proj: a tuple with ``None`` for the modes of the tiler to omit.
        round_up: whether the last elements of a thread may be beyond the layout, as in :func:`zipped_divide`.

    Raises:
        LayoutError: as :func:`zipped_divide`; or if the tiler does not have exactly one thread with this index.

    >>> mine, offset = local_partition(Layout((8, 8), (8, 1)), Layout((4, 2), (2, 1)), 3)
    >>> print(mine, offset)
    (2,4):(32,2) 9
    """
    need_layout(layout, "local_partition")
    threads = tiler if isinstance(tiler, Layout) else Layout(tiler)
    check_depth(proj, "local_partition: proj")
    if type(proj) is tuple:
        threads = dice(threads, proj)
    coord = _coordinate_of(threads, as_int(index, "local_partition: the index"))
    shape = tuple(product(mode) for mode in threads.shape) if type(threads.shape) is tuple else threads.shape
    tiled = zipped_divide(layout, shape, round_up=round_up)
    grid_coord = (None,) * rank(tiled[1]) if type(modes_of(tiled.shape)[1]) is tuple else None
    return slice_and_offset((coord, grid_coord), tiled)


#: The most threads that are searched one by one.
_MOST_THREADS = 1 << 16


def _find_indices(threads: Layout, index: int, total: int) -> list[int]:
    """Return every i with ``threads(i) == index``. For many threads, i is computed from the strides, largest first.

    Raises:
        LayoutError: if there are many threads and a stride is less than the period of the modes below it.
    """
    if total <= _MOST_THREADS:
        return [i for i in range(total) if threads(i) == index]
    modes = []
    weight = 1
    for s, d in zip(flatten_tuple(threads.shape), flatten_tuple(threads.stride), strict=True):
        if s != 1:
            modes.append((as_int(d, "local_partition: a stride of the tiler"), s, weight))
        weight *= s
    modes.sort()
    period, rest, total_index = 1, as_int(index, "local_partition: the index"), 0
    for d, s, _ in modes:
        if d < period:
            raise LayoutError(
                f"local_partition: stride {d} of the tiler is less than {period}, the period of the modes below it, "
                f"which is only supported up to {_MOST_THREADS} threads; tiler = {threads}"
            )
        period = d * s
    for d, s, weight in reversed(modes):
        digit, rest = divmod(rest, d)
        if not 0 <= digit < s:
            return []
        total_index += digit * weight
    return [total_index] if rest == 0 else []


def _coordinate_of(threads: Layout, index: int) -> Index:
    """Return the coordinate of the thread with this index in the tiler.

    Raises:
        LayoutError: if there is not exactly one such thread.
    """
    total = need_int(product(threads.shape), "local_partition: the number of threads")
    indices = _find_indices(threads, index, total)
    if len(indices) != 1:
        raise LayoutError(
            f"local_partition: {len(indices)} threads of the tiler have index {safe_text(index)}, instead of one; "
            f"tiler = {threads}"
        )
    shape = threads.shape
    return idx2crd(indices[0], tuple(product(mode) for mode in shape) if type(shape) is tuple else shape)
