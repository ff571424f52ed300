"""A tile piece by piece: the fill of each cell, read back, is that of its number."""

from __future__ import annotations

import pytest
from drawn import read
from drawn_operands import OPERANDS
from each import each

from descriptors import ChoiceError
from descriptors.show.pictures.tile_picture import COLOURS, TilePicture
from layoutalg import Figure


@each("colour", COLOURS)
@each("name", ["K 128B", "MN 64B", "four bits, stages"])
def test_every_cell_is_filled_once_by_its_number(name: str, colour: str) -> None:
    picture = TilePicture(OPERANDS[name], colour)
    record, drawing = picture.record(), read(picture.svg())
    kinds = record["kinds"]
    cells = [(role, box) for role, box in drawing.filled if role[0] in "cr" and role[1:].isdigit()]
    x, y = min(box[0] for _, box in cells), min(box[1] for _, box in cells)
    right, foot = max(box[0] + box[2] for _, box in cells), max(box[1] + box[3] for _, box in cells)
    wide, high = (right - x) / len(kinds[0]), (foot - y) / len(kinds)
    filled: dict[tuple[int, int], str] = {}
    for role, (left, top, across, down) in cells:
        for i in range(round((top - y) / high), round((top + down - y) / high)):
            for j in range(round((left - x) / wide), round((left + across - x) / wide)):
                assert (i, j) not in filled
                filled[i, j] = role
    count = max(map(max, kinds)) + 1
    for i, row in enumerate(kinds):
        for j, number in enumerate(row):
            assert filled[i, j] == (
                Figure.step(number, count) if colour in ("order", "subtile") else Figure.kind(number)
            )


def test_numbers_of_banks_are_addresses_in_groups_of_four_banks() -> None:
    record = TilePicture(OPERANDS["MN 64B"], "bank").record()
    assert record["kinds"] == [[one // 16 % 8 for one in row] for row in record["addresses"]]


def test_another_colour_is_refused() -> None:
    with pytest.raises(
        ChoiceError, match="colour is 'red', which is not supported; supported: order, bank, atom, subtile, chunk"
    ):
        TilePicture(OPERANDS["MN 64B"], "red")
