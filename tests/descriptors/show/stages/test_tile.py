"""The picture of a tile and its map: every place stands for the element that is drawn there."""

from __future__ import annotations

from dataclasses import replace

import pytest
from derived import K_128, MN_64, derivations
from each import each
from hypothesis import given
from hypothesis import strategies as st

from descriptors import DescriptorError, derive
from descriptors.show.stages.stage import Grid
from descriptors.show.stages.tile_stage import tile
from descriptors.show.stages.view import COLOURS, View, element_address, kinds, misread, places, wrong
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.proof.addresses import address_bits


@given(d=derivations(), data=st.data())
def test_the_address_of_the_chosen_element_is_that_of_the_layout(d: Derivation, data: st.DataObject) -> None:
    cell = data.draw(st.integers(0, d.tile[0] - 1)), data.draw(st.integers(0, d.tile[1] - 1))
    unit = d.element.storage_bits // address_bits(d.element)
    assert element_address(View(d, cell))[1] == unit * d.smem_tile(*cell, *(0 for _ in d.tile[2:]))


@given(d=derivations(), data=st.data())
def test_the_chosen_cell_is_marked_where_the_grid_has_it(d: Derivation, data: st.DataObject) -> None:
    cell = data.draw(st.integers(0, d.tile[0] - 1)), data.draw(st.integers(0, d.tile[1] - 1))
    stage = tile(View(d, cell))
    grid, mark = stage.grids[0], stage.marks[-1]
    middle = mark.x + mark.width / 2, mark.y + mark.height / 2
    assert element_at(grid, *middle) == cell
    assert all(one.x >= 0 and one.x + one.width <= stage.width for one in stage.marks)


def element_at(grid: Grid, x: float, y: float) -> tuple[int, int]:
    """The element of a place, as the page computes it."""
    row, column = int((y - grid.y) / grid.height * grid.rows), int((x - grid.x) / grid.width * grid.columns)
    return grid.origin[0] + row * grid.step[0], grid.origin[1] + column * grid.step[1]


@each("colour", COLOURS)
@each("arguments", [K_128, MN_64], ids=["K", "MN"])
def test_every_colour_has_a_number_for_every_piece(arguments: dict[str, object], colour: str) -> None:
    view = View(derive(**arguments), colour=colour)  # type: ignore[arg-type]
    numbers = kinds(view)
    (mn, k), (u, v) = view.anatomy.extents, view.anatomy.unit
    assert (len(numbers), {len(row) for row in numbers}) == (mn // u, {k // v})
    assert tile(view).record()["svg"].startswith("<svg")


def test_without_the_swizzle_the_banks_of_a_column_are_one_and_with_it_eight() -> None:
    view = View(derive(**K_128), colour="bank")
    assert {row[0] for row in kinds(replace(view, swizzled=False))[:8]} == {0}
    assert {row[0] for row in kinds(view)[:8]} == set(range(8))


def test_other_banks_give_other_colours() -> None:
    view = View(derive(**K_128), colour="bank", banks=16, bank_bytes=4)
    assert {one for row in kinds(view) for one in row} == set(range(4))


def test_the_wrong_cells_are_those_whose_elements_are_read_elsewhere() -> None:
    d = derive(**K_128)
    view = View(d, cell=(64, 16), colour="wrong", word=d.word(1, 1) ^ (1024 ^ 512) // 16 << 32)
    marked = {(i, j) for i, row in enumerate(wrong(view)) for j, one in enumerate(row) if one}
    assert marked == {(i, j // 8) for i, j in misread(view)}
    assert {i for i, _ in marked} == set(range(72, 128)), "the first eight rows are read right"
    assert {j for _, j in marked} == {2, 3}
    assert not misread(replace(view, word=d.word(1, 1)))


def test_levels_are_drawn_that_are_asked_for() -> None:
    view = View(derive(**K_128))
    both, none = (tile(replace(view, levels=levels)).record()["svg"] for levels in (("atom", "subtile"), ()))
    assert "s-subtile" in both and "s-atom" in both
    assert "s-subtile" not in none and "s-atom" not in none


def test_small_tiles_have_numbers_and_places_are_the_addresses() -> None:
    view = View(derive((64, 64), "bf16", "K", "128B", (64, 16)))
    svg = tile(view).record()["svg"]
    assert all(f">{one}<" in svg for row in places(view)[:8] for one in row)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cell": (128, 0)}, "the cell must be an element of the tile of 128x128, found (128,0)"),
        ({"colour": "red"}, "colour must be one of order, bank"),
        ({"levels": ("tile", "roof")}, "a level must be one of tile, atom"),
        ({"banks": 0}, "the number of banks must be at least 1, found 0"),
        ({"banks": 3}, "a line of banks must be a multiple of 16 bytes up to 1024, found 3 banks of 4"),
        ({"slot": 8}, "the slot must be at most 7, found 8"),
        ({"stage": 1}, "the stage must be one of 1, found 1"),
        ({"access": "all"}, "access must be one of chunk, row, matrices"),
    ],
)
def test_what_cannot_be_looked_at_is_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(DescriptorError) as caught:
        View(derive(**K_128), **change)  # type: ignore[arg-type]
    assert message in str(caught.value)
