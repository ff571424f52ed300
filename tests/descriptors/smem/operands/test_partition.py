"""The tile of a partition, or of a layout after a layout: the same offsets in the modes of a tile."""

from __future__ import annotations

from typing import Any

import pytest

from descriptors import DescriptorError, derive
from descriptors.smem.operands.explicit import tile_of_partition
from layoutalg import ComposedLayout, Layout, Swizzle, size


@pytest.mark.parametrize("rest", [(), (2,), (2, 4), (2, 4, 3)])
@pytest.mark.parametrize("swizzled", [False, True])
def test_the_tile_of_a_partition_keeps_both_modes(rest: tuple[int, ...], swizzled: bool) -> None:
    steps = (4096, 16, 8192)[: len(rest)]
    parts: Any = Layout(((64, 16), *rest), ((64, 1), *steps))
    partitioned = ComposedLayout(Swizzle(3, 3, 3), 0, parts) if swizzled else parts
    tile, operand = tile_of_partition(partitioned)
    assert operand == (64, 16)
    assert size(tile) == size(parts)
    counts = (*rest, 1, 1, 1)[:3]
    for i, j, subtile in [(0, 0, (0, 0, 0)), (5, 3, (0, 0, 0)), (63, 15, tuple(n - 1 for n in counts))]:
        whole = (i + 64 * subtile[0], j + 16 * subtile[1], *subtile[2 : len(rest)])
        assert tile(*whole) == partitioned(((i, j), *subtile[: len(rest)]))


def test_a_layout_after_a_layout_is_a_tile_where_the_algebra_makes_one_of_them() -> None:
    after = ComposedLayout(Layout((8, 8, 8, 2), (8, 64, 1, 512)), 0, Layout(((8, 8), (8, 2))))
    d = derive(layout=after, dtype="bf16", mma=(64, 16), legality="off")
    assert d.smem_tile == Layout(((8, 8), (8, 2)), ((8, 64), (1, 512)))
    with pytest.raises(
        DescriptorError, match="derive: the layout is not a plain layout, nor a swizzle after a plain layout; compo"
    ):
        derive(layout=ComposedLayout(Layout((6, 2), (1, 7)), 0, Layout((3, 2), (2, 3))), dtype="bf16", mma=(3, 2))
