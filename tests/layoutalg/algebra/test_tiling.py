"""Laws of local_tile and local_partition: over all tiles, or all threads, every element occurs exactly once."""

from __future__ import annotations

import corpus
import judge
import pytest
from hypothesis import given
from strategies import drawn

from layoutalg import (
    CoordinateError,
    Layout,
    LayoutError,
    idx2crd,
    local_partition,
    local_tile,
    make_identity_layout,
    make_ordered_layout,
    size,
    zipped_divide,
)


def with_tiler(source):
    layout = corpus.any_layout(source, 64)
    extents = [size(mode) for mode in layout]
    return layout, tuple(source.pick(corpus.divisors(extent)) for extent in extents)


def counts(layout, tiler):
    return tuple(size(mode) // tile for mode, tile in zip(layout, tiler, strict=True))


@given(drawn(with_tiler))
def test_a_local_tile_is_the_block_at_its_place(case):
    layout, tiler = case
    try:
        zipped_divide(layout, tiler)
    except LayoutError:
        return
    grid = counts(layout, tiler)
    for index in range(judge.count(grid)):
        place = idx2crd(index, grid)
        tile, offset = local_tile(layout, tiler, place)
        assert size(tile) == judge.count(tiler)
        for element in range(size(tile)):
            where = tuple(p * t + i for p, t, i in zip(place, tiler, judge.digits(element, tiler), strict=True))
            where = where if isinstance(layout.shape, tuple) else where[0]
            assert judge.at(tile, element) + offset == judge.at_coordinate(layout, where)


@given(drawn(lambda source: (*with_tiler(source), source)))
def test_a_local_partition_gives_a_thread_its_element_of_every_tile(case):
    layout, tiler, source = case
    try:
        zipped_divide(layout, tiler)
    except LayoutError:
        return
    threads = make_ordered_layout(tiler, tuple(corpus.shuffled(source, len(tiler))))
    grid = counts(layout, tiler)
    for index in range(size(threads)):
        mine, offset = local_partition(layout, threads, index)
        inside = next(judge.digits(i, tiler) for i in range(size(threads)) if judge.at(threads, i) == index)
        assert size(mine) == judge.count(grid)
        for tile in range(size(mine)):
            where = tuple(p * t + i for p, t, i in zip(judge.digits(tile, grid), tiler, inside, strict=True))
            where = where if isinstance(layout.shape, tuple) else where[0]
            assert judge.at(mine, tile) + offset == judge.at_coordinate(layout, where)


def test_none_keeps_a_mode_of_the_grid():
    tiles, offset = local_tile(Layout((8, 8), (8, 1)), (4, 2), (1, None))
    assert (str(tiles), offset) == ("(4,2,4):(8,1,2)", 32)


def test_a_projection_drops_modes_of_the_tiler_and_the_coordinate():
    # A of an (M,K) operand under an (M,N,K) tiler and CTA coordinate (m,n,k).
    tiles, offset = local_tile(make_identity_layout((128, 64)), (32, 16, 8), (2, 1, None), proj=(1, None, 1))
    assert (str(tiles), offset) == ("(32,8,8):(1@0,1@1,8@1)", (64, 0))


@pytest.mark.parametrize("coordinate", [(2, 0), (0, 4), (-1, 0), 8])
def test_a_tile_outside_the_grid_is_refused(coordinate):
    with pytest.raises(CoordinateError):
        local_tile(Layout((8, 8)), (4, 2), coordinate)


@pytest.mark.parametrize("index", [-1, 8])
def test_a_thread_outside_the_tiler_is_refused(index):
    with pytest.raises(LayoutError):
        local_partition(Layout((8, 8)), Layout((4, 2)), index)


def test_a_tile_that_does_not_divide_is_refused():
    with pytest.raises(LayoutError):
        local_tile(Layout((8, 8)), (3, 2), (0, 0))
