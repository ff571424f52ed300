"""The four levels, read back from their SVG: the numbers are those of the engine, in their places."""

from __future__ import annotations

import pytest
from drawn import read
from drawn_operands import OPERANDS

from descriptors import derive
from descriptors.show.pictures.anatomy import Anatomy, ranks
from descriptors.show.pictures.level_picture import LevelsPicture


def words(picture: LevelsPicture) -> list[str]:
    return [word for _, _, word, _ in read(picture.svg()).texts]


@pytest.mark.parametrize("name", ["K 128B", "MN 64B", "K none", "32-byte pieces", "four bits, stages"])
def test_every_number_that_is_drawn_is_the_engine_s(name: str) -> None:
    d = OPERANDS[name]
    a, words_drawn = Anatomy(d), words(LevelsPicture(d))
    atoms = [str(number) for row in ranks(a.atom_places()) for number in row]
    assert {*atoms[:1], *(atoms if len(atoms) <= 32 else ())} <= set(words_drawn)  # of many, every second or fourth
    assert {str(number) for row in a.chunk_places() for number in row} <= set(words_drawn)
    addresses = [str(one) for row in a.addresses() for one in row]
    start = next(i for i in range(len(words_drawn)) if words_drawn[i : i + len(addresses)] == addresses)
    assert start > words_drawn.index(str(a.chunk_places()[-1][-1]))  # the last of the four
    assert f"LBO {d.descriptor.leading_byte_offset}" in words_drawn
    assert f"SBO {d.descriptor.stride_byte_offset}" in words_drawn

    idle = {"leading_byte_offset", "stride_byte_offset"} & set(d.dont_care)
    assert ("not read" in words_drawn or "never taken" in words_drawn) == bool(idle)


def test_atoms_stand_in_their_rows_and_columns() -> None:
    d = OPERANDS["K 128B"]
    order = ranks(Anatomy(d).atom_places())
    texts = [(x, y, word) for x, y, word, _ in read(LevelsPicture(d).svg()).texts]
    first = [(x, y, word) for x, y, word in texts if word.isdigit()][:32]
    ys, xs = sorted({y for _, y, _ in first}), sorted({x for x, _, _ in first})
    rows = [[next(w for a, b, w in first if (a, b) == (x, y)) for x in xs] for y in ys]
    assert rows == [list(map(str, row)) for row in order]


def test_another_subtile_has_other_addresses_and_the_same_chunks() -> None:
    d = OPERANDS["K 128B"]
    one, other = LevelsPicture(d).record(), LevelsPicture(d, 0, (1, 5)).record()
    assert one["chunks"] == other["chunks"]
    assert other["addresses"][0][0] == d.offset_of(1, 5) == 24608
    staged = LevelsPicture(OPERANDS["four bits, stages"], 2)
    assert staged.record()["addresses"][0][0] == OPERANDS["four bits, stages"].offset_of(0, 0, 2)


def test_a_layout_that_is_not_made_of_atoms_is_drawn_without_them() -> None:
    d = derive(layout="(8,(8,2)):(8,(1,64))", dtype="bf16", mma=(8, 16), swizzle="none", legality="off")
    assert LevelsPicture(d).record()["chunks"] == ((0, 128),)
    assert LevelsPicture(d).svg()
    odd = derive(layout="(64,16):(64,1)", dtype="bf16", mma=(64, 16), swizzle="128B", legality="off")
    assert LevelsPicture(odd).record()["atoms"] == [[0]]
    assert "no whole atoms" in LevelsPicture(odd).text()
