"""Who reads each element of a tiled copy, and who has it afterwards, against the partitions of the algebra."""

from __future__ import annotations

import pytest

from descriptors import DescriptorError
from descriptors.show.stages.copy_stage import TracedCopy, traced_copy
from layoutalg import Layout, TiledCopy, make_tiled_copy, make_tiled_copy_tv, size

ROW = make_tiled_copy_tv(8, Layout((16, 8), (8, 1)), Layout((1, 8), (8, 1)))
LDMATRIX = make_tiled_copy("ldmatrix.x4", Layout(((4, 8), (2, 2, 2)), ((32, 1), (16, 8, 128))), (16, 16))
STMATRIX = make_tiled_copy("stmatrix.x2", Layout(((4, 8), (2, 2)), ((32, 1), (16, 8))), (16, 8))
ONE = make_tiled_copy("ldmatrix.x1", Layout(((4, 8), 2), ((16, 1), 8)), (8, 8))


@pytest.mark.parametrize("copy", [ROW, LDMATRIX, STMATRIX, ONE], ids=["row", "ldmatrix", "stmatrix", "one matrix"])
def test_every_cell_is_the_first_thread_whose_partition_has_it(copy: TiledCopy) -> None:
    view = TracedCopy(copy)
    rows, columns = view.extents
    tile = Layout((rows, columns), (columns, 1))
    for side, partition in (("S", copy.partition_S), ("D", copy.partition_D)):
        first: dict[int, tuple[int, int]] = {}
        for thread in range(size(copy.layout_tv[0])):
            mine, offset = partition(tile, thread)
            for value in range(size(mine)):
                place = mine(value)
                assert isinstance(place, int)
                first.setdefault(offset + place, (thread, value))
        assert [at for line in view.holders(side) for at in line] == [first.get(i) for i in range(rows * columns)]


def test_what_a_thread_reads_lands_where_the_matrices_of_ldmatrix_have_it() -> None:
    view = TracedCopy(LDMATRIX, at=(5, 3))
    assert view.facts()[:3] == [
        "thread 5 reads (5,0) to (5,7)",
        "thread 5 holds afterwards (1,2) to (1,3), (1,10) to (1,11), (9,2) to (9,3), (9,10) to (9,11)",
        "its value 3 is element (5,3), afterwards value 1 of thread 21",  # lane 4 r + c / 2, half c % 2
    ]
    drawn = traced_copy(view)
    assert [grid.cells[1][2] for grid in drawn.grids if grid.cells] == [(1, 2), (5, 0)]
    assert [mark.role for mark in drawn.marks] == ["subtile", "cell", *["subtile"] * 4, "cell"]


def test_both_sides_of_a_copy_that_moves_nothing_between_threads_are_one_picture() -> None:
    assert len(traced_copy(TracedCopy(ROW)).grids) == 1


@pytest.mark.parametrize(
    ("copy", "bits", "said"),
    [
        (LDMATRIX, 16, "reading (16,16):(16,1): 1 access"),
        (STMATRIX, 16, "writing (16,8):(8,1): 1 access"),
        (ROW, 4, "accesses are listed only for elements of whole bytes"),
    ],
)
def test_only_the_side_in_memory_is_accessed(copy: TiledCopy, bits: int, said: str) -> None:
    lines = TracedCopy(copy, bits).facts()[3:]
    assert [line for line in lines if line.startswith(("reading", "writing", "accesses"))] == [
        said + ("" if bits == 4 else " of a warp; the first")
    ]


@pytest.mark.parametrize("at", [(32, 0), (0, 8), (-1, 0)])
def test_no_such_thread(at: tuple[int, int]) -> None:
    with pytest.raises(DescriptorError, match="but the copy has 32 threads of 8 values"):
        TracedCopy(LDMATRIX, at=at)


def test_a_tile_that_is_too_large() -> None:
    with pytest.raises(
        DescriptorError, match="a tiled copy of 1024x64 elements cannot be drawn; supported: 1 to 16384"
    ):
        TracedCopy(make_tiled_copy_tv(8, Layout((1024, 8), (8, 1)), Layout((1, 8), (8, 1))))
