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
    grid, mark = stage.grids[0], next(one for one in stage.marks if one.role == "cell")
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
    view = View(d, cell=(64, 16), word=d.word(1, 1) ^ (1024 ^ 512) // 16 << 32)
    marked = {(i, j) for i, row in enumerate(wrong(view)) for j, one in enumerate(row) if one}
    assert marked == {(i, j // 8) for i, j in misread(view)}
    assert {i for i, _ in marked} == set(range(72, 128)), "the first eight rows are read right"
    assert {j for _, j in marked} == {2, 3}
    assert not misread(replace(view, word=d.word(1, 1)))


@given(d=derivations(), data=st.data())
def test_memory_has_every_piece_of_the_tile_once_where_the_layout_has_it(d: Derivation, data: st.DataObject) -> None:
    view = View(d, swizzled=data.draw(st.booleans()))
    panels = [grid.cells for grid in tile(view).grids if grid.cells]
    whole = panels[: len(panels) - (1 if len(tile(view).grids) > 2 and len(panels) > 1 else 0)]
    units, (u, v) = view.line_bytes // 16, view.anatomy.unit
    there = {at: units * line + place for line, row in enumerate(sum(whole, ())) for place, at in enumerate(row) if at}
    (mn, k), numbers = view.anatomy.extents, places(view)
    first = min(map(min, numbers)) // view.line_bytes * units
    assert len(there) == (mn // u) * (k // v)
    assert all(there[i, j] + first == numbers[i // u][j // v] // 16 for i in range(0, mn, u) for j in range(0, k, v))


def test_a_word_that_is_wrong_is_shown_whatever_the_colour() -> None:
    view = View(derive(**K_128), colour="bank")
    wrong_word = view.derivation.word(0, 0) ^ (1024 ^ 512) // 16 << 32
    assert "f-c7" in tile(replace(view, word=wrong_word)).record()["svg"]
    assert "reads from a wrong address" in tile(replace(view, word=wrong_word)).scene.title
    assert "colored by bank" in tile(replace(view, word=view.derivation.word(0, 0))).scene.title
    unknown = view.derivation.word(0, 0) ^ 3 << 46  # version 2
    assert "colored by bank" in tile(replace(view, word=unknown)).scene.title, (
        "a word that nobody can read has no wrong cells"
    )


def test_levels_are_drawn_that_are_asked_for() -> None:
    view = View(derive(**K_128))
    both, none = (tile(replace(view, levels=levels)).record()["svg"] for levels in (("atom", "subtile"), ()))
    assert "s-subtile" in both and "s-atom" in both
    assert "s-subtile" not in none and "s-atom" not in none


def test_small_tiles_have_numbers_and_places_are_the_addresses() -> None:
    small = View(derive((16, 64), "bf16", "K", "128B", (8, 16), legality="off"), colour="order")
    svg = tile(small).record()["svg"]
    assert all(f">{one}<" in svg for row in places(small) for one in row)
    assert len(tile(small).grids) == 2, "nothing is enlarged where all is numbered"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cell": (128, 0)}, "the cell is (128,0), which is not an element of the 128x128 tile"),
        ({"colour": "red"}, "supported: column, order, bank"),
        ({"levels": ("tile", "roof")}, "supported: tile, atom"),
        ({"banks": 0}, "the number of banks is 0, but the minimum is 1"),
        ({"banks": 3}, "3 banks of 4 bytes are 12 bytes, which is not a multiple of 16 up to 1024"),
        ({"slot": 8}, "the slot is 8, but the maximum is 7"),
        ({"stage": 1}, "the tile has no stage 1; supported: 0"),
        ({"access": "all"}, "supported: chunk, row, matrices"),
    ],
)
def test_what_cannot_be_looked_at_is_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(DescriptorError) as caught:
        View(derive(**K_128), **change)  # type: ignore[arg-type]
    assert message in str(caught.value)
