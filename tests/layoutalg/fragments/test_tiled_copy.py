"""Tiled copies: every element read and written as often as the atom does it, and what arrives is what was read."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from each import each

from layoutalg import (
    Layout,
    LayoutError,
    TiledCopy,
    copy_atom,
    make_tiled_copy,
    make_tiled_copy_A,
    make_tiled_copy_B,
    make_tiled_copy_C,
    make_tiled_copy_tv,
    make_tiled_mma,
    size,
)

MMA = make_tiled_mma("mma.m16n8k16.f16", (2, 2, 1))
TILE = Layout((64, 64), (64, 1))
THREADS, VALUES = Layout((16, 8), (8, 1)), Layout((1, 8), (0, 1))


def offsets_by_thread(copy: TiledCopy, side: str) -> list[list[int]]:
    """The offsets of each thread, in the order of its values."""
    threads = []
    for thread in range(int(size(copy.layout_tv[0]))):
        mine, offset = getattr(copy, f"partition_{side}")(TILE, thread)
        threads.append([offset + mine(i) for i in range(int(size(mine)))])
    return threads


@pytest.mark.parametrize("values", [1, 2, 4, 8])
def test_a_plain_copy_moves_every_element_once_whatever_its_width(values: int) -> None:
    copy = make_tiled_copy_tv(values, THREADS, VALUES)
    source, destination = offsets_by_thread(copy, "S"), offsets_by_thread(copy, "D")
    assert source == destination
    assert Counter(offset for mine in source for offset in mine) == Counter(range(64 * 64))


@pytest.mark.parametrize("name", ["ldmatrix.x1", "ldmatrix.x2", "ldmatrix.x4"])
def test_ldmatrix_reads_rows_and_brings_what_mma_wants(name: str) -> None:
    copy = make_tiled_copy_A(name, MMA)
    for thread, mine in enumerate(offsets_by_thread(copy, "D")):
        needed, offset = MMA.partition_A(TILE, thread)
        assert sorted(mine) == sorted(offset + needed(i) for i in range(int(size(needed))))
    for mine in offsets_by_thread(copy, "S"):
        for first in range(0, len(mine), 8):
            assert mine[first : first + 8] == list(range(mine[first], mine[first] + 8))


def test_every_lane_of_ldmatrix_gets_its_words_from_the_rows_that_eight_lanes_read() -> None:
    """Within a warp and an instruction, what is written is what is read, whoever reads it."""
    copy = make_tiled_copy_A("ldmatrix.x4", MMA)
    source, destination = offsets_by_thread(copy, "S"), offsets_by_thread(copy, "D")
    for warp in range(4):
        lanes = slice(32 * warp, 32 * warp + 32)
        for first in range(0, len(source[0]), 8):
            words = Counter(offset for mine in source[lanes] for offset in mine[first : first + 8])
            assert words == Counter(offset for mine in destination[lanes] for offset in mine[first : first + 8])


def test_b_and_c_have_their_copies_too() -> None:
    for thread, mine in enumerate(offsets_by_thread(make_tiled_copy_B("ldmatrix.x2", MMA), "D")):
        needed, offset = MMA.partition_B(TILE, thread)
        assert sorted(mine) == sorted(offset + needed(i) for i in range(int(size(needed))))
    for thread, mine in enumerate(offsets_by_thread(make_tiled_copy_C("stmatrix.x2", MMA), "S")):
        needed, offset = MMA.partition_C(TILE, thread)
        assert sorted(mine) == sorted(offset + needed(i) for i in range(int(size(needed))))


def test_atoms_of_other_elements_have_rows_of_16_bytes() -> None:
    assert str(copy_atom("ldmatrix.x4", 8).source) == "(32,16):(16,1)"
    assert str(copy_atom("ldmatrix.x4", 32).destination) == "(32,4):(1,32)"


@pytest.mark.parametrize(
    "make",
    [
        lambda: copy_atom("mma.m16n8k16.C"),
        lambda: copy_atom("ldmatrix.x4", 12),
        lambda: copy_atom("ldmatrix.x4.trans", 32),
        lambda: make_tiled_copy_tv(3, THREADS, VALUES),
        lambda: make_tiled_copy(8, Layout(128), (16,)),
        lambda: make_tiled_copy(8, Layout((128, 8)), 16),  # type: ignore[arg-type]
        lambda: make_tiled_copy_tv(8, THREADS, VALUES).partition_S(TILE, 128),
        lambda: make_tiled_copy_tv(8, THREADS, VALUES).partition_S(Layout((64, 60)), 0),
        lambda: make_tiled_copy_tv(8, THREADS, VALUES).thrfrg_D("x"),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_tiled_copy_is_refused(make: Any) -> None:
    with pytest.raises(LayoutError):
        make()


def test_a_tile_with_gaps_has_a_text_a_fragment_and_the_elements_of_its_partitions() -> None:
    copy = make_tiled_copy(2, Layout((8, 8), (8, 1)), (Layout(8, 2), Layout((4, 2), (1, 8))))
    assert str(copy).splitlines()[0].endswith("tile (8,8), spread over (15,12)")
    fragment, tensor = copy.fragment("S"), Layout((16, 16))
    assert fragment.shape == (15, 12)
    for thread in range(copy.size):
        mine, offset = copy.partition_S(tensor, thread)
        first_tile = {offset + mine(i, 0, 0) for i in range(int(size(mine[0])))}
        assert first_tile == {
            tensor(row, column) for row, column in (fragment.element(thread, v) for v in range(fragment.values))
        }


def test_owners_is_the_inverse_of_the_fragment() -> None:
    copy = make_tiled_copy_A("ldmatrix.x4", MMA)
    for side in "SD":
        fragment = copy.fragment(side)  # type: ignore[arg-type]
        for thread in range(0, copy.size, 5):
            for value in range(fragment.values):
                assert (thread, value) in copy.owners(fragment.element(thread, value), side)
    with pytest.raises(LayoutError, match=r"this element has the place of element \(1,3\)"):
        copy.owners((33, 3))


def test_the_names_of_cute_are_names_here() -> None:
    copy = make_tiled_copy_tv(8, THREADS, VALUES)
    assert copy.get_slice(5).partition_S(TILE) == copy.partition_S(TILE, 5)
    assert copy.get_slice(5).partition_D(TILE) == copy.partition_D(TILE, 5)
    assert (copy.tiler_mn, copy.layout_tv_tiled, copy.size) == (copy.tiler, copy.layout_tv, 128)
    assert MMA.get_slice(7).partition_A(TILE) == MMA.partition_A(TILE, 7)
    assert [MMA.get_tile_size(mode) for mode in range(3)] == list(MMA.tile_mnk)
    assert MMA.tv_layout_B_tiled == MMA.tv_layout("B") and MMA.shape_mnk == (16, 8, 16)
    for thread in (128, -1):
        with pytest.raises(LayoutError):
            copy.get_slice(thread)
        with pytest.raises(LayoutError):
            MMA.get_slice(thread)


@each(
    ("name", "atoms", "permutation", "operand", "atom"),
    [
        ("wgmma.m64n64k16", (2, 1, 1), None, "C", "stmatrix.x4"),
        ("mma.m16n8k16.f16", (2, 2, 1), (64, 32, 16), "C", "stmatrix.x4"),
        ("mma.m16n8k16.f16", (1, 4, 1), (None, Layout((8, 4, 2), (1, 16, 8)), None), "C", "stmatrix.x4"),
        ("mma.m16n8k16.f16", (2, 2, 1), (64, 32, 16), "A", "ldmatrix.x4"),
        ("mma.m16n8k16.f16", (2, 2, 1), (64, 32, 16), "B", "ldmatrix.x2"),
        ("mma.m16n8k8.tf32", (2, 1, 1), (None, 16, 16), "C", 2),
    ],
)
def test_retile_gives_the_registers_of_each_atom(
    name: str, atoms: Any, permutation: Any, operand: str, atom: int | str
) -> None:
    """Register i of the copy's atom is the register of the MMA that the atom moves: by elements, for some threads."""
    mma = make_tiled_mma(name, atoms, permutation)
    copy = {"A": make_tiled_copy_A, "B": make_tiled_copy_B, "C": make_tiled_copy_C}[operand](atom, mma)
    rows, columns = mma.fragment(operand).shape  # type: ignore[arg-type]
    tensor = Layout((2 * rows, 2 * columns))
    for thread in (0, 37, mma.size - 1):
        fragment, offset = getattr(mma, f"partition_{operand}")(tensor, thread)
        moved, start = (copy.partition_S if operand == "C" else copy.partition_D)(tensor, thread)
        retiled = copy.retile(Layout(fragment.shape))
        assert [size(mode) for mode in retiled] == [size(mode) for mode in moved]
        for i in range(int(size(moved))):
            assert start + moved(i) == offset + fragment(retiled(i))
