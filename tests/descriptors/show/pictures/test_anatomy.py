"""The parts of a tile lie where the layout of the tile puts their elements."""

from __future__ import annotations

from drawn_operands import OPERANDS
from each import each

from descriptors import plain
from descriptors.show.pictures.anatomy import Anatomy, ranks
from layoutalg import size


@each("name", OPERANDS)
def test_pieces_and_atoms_begin_where_the_layout_puts_their_first_elements(name: str) -> None:
    d = OPERANDS[name]
    last = size(plain(d.smem_tile)) // size(plain(d.smem_tile), mode=[0]) // size(plain(d.smem_tile), mode=[1]) - 1
    a, bits = Anatomy(d, last), d.element.storage_bits
    at, (u, v) = a.stage_coordinate, a.unit
    pieces = a.pieces()
    for i in range(0, len(pieces), 3):
        for j in range(0, len(pieces[0]), 3):
            assert pieces[i][j] == d.smem_tile((i * u, j * v, *at)) * bits // 8
    high, wide = a.atom_extents
    for i, row in enumerate(a.atom_places()):
        for j, place in enumerate(row):
            assert place == plain(d.smem_tile)((i * high, j * wide, *at)) * bits // 8
    flat = [one for row in a.pieces() for one in row]
    assert len(set(flat)) == len(flat)
    assert all(one % 16 == 0 for one in flat)


@each("name", OPERANDS)
def test_subtiles_start_and_chunks_lie_as_the_words_say(name: str) -> None:
    d = OPERANDS[name]
    a = Anatomy(d)
    staged = len(d.tile) > 2
    assert a.subtile_starts() == d.offsets_bytes(0 if staged else None)
    assert a.subtile_grid == (len(a.subtile_starts()), len(a.subtile_starts()[0]))
    places = a.chunk_places()
    (lead, stride) = (dict(d.match.form.steps)[field] for field in ("leading_byte_offset", "stride_byte_offset"))
    for path, value in ((lead, d.descriptor.leading_byte_offset), (stride, d.descriptor.stride_byte_offset)):
        along = [row[0] for row in places] if path[0] == 0 else list(places[0])
        assert along == [value * i for i in range(len(along))]


@each("name", OPERANDS)
def test_the_addresses_of_a_chunk_are_pieces_of_the_tile(name: str) -> None:
    d = OPERANDS[name]
    a = Anatomy(d)
    pieces, (u, v), (high, wide) = a.pieces(), a.unit, a.chunk_extents
    grid, chunks = a.subtile_grid, a.chunk_grid
    mn, k, r, c = grid[0] - 1, grid[1] - 1, chunks[0] - 1, chunks[1] - 1
    for i, row in enumerate(a.addresses((mn, k), (r, c))):
        for j, address in enumerate(row):
            at = (mn * d.mma[0] + r * high) // u + i, (k * d.mma[1] + c * wide) // v + j
            assert address == pieces[at[0]][at[1]]


def test_ranks_count_in_order_and_equal_numbers_have_one_rank() -> None:
    assert ranks([[5, 1], [1, 9]]) == [[1, 0], [0, 2]]
