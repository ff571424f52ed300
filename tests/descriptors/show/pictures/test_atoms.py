"""Atoms: the order drawn is that of their places, and one atom is the corner of the tile."""

from __future__ import annotations

import pytest
from drawn import read
from drawn_operands import OPERANDS
from each import each

from descriptors import DescriptorError, derive
from descriptors.show.pictures.atom_picture import AtomsPicture
from descriptors.show.pictures.panels import spaced


@each("name", OPERANDS)
def test_the_order_is_that_of_the_places(name: str) -> None:
    record = AtomsPicture(OPERANDS[name]).record()
    pairs = [
        (rank, place)
        for row in zip(record["order"], record["places"], strict=True)
        for rank, place in zip(*row, strict=True)
    ]
    assert [place for _, place in sorted(pairs)] == sorted(place for _, place in pairs)
    assert sorted(rank for rank, _ in pairs) == list(range(len(pairs)))


def test_the_steps_drawn_are_differences_of_places() -> None:
    picture = AtomsPicture(OPERANDS["K 128B"])
    words = [word for _, _, word, _ in read(picture.svg()).texts]
    assert [word for word in words if word.startswith("+")] == [f"+{spaced(1024)}", f"+{spaced(16384)}"]
    assert {spaced(one) for row in picture.record()["places"] for one in row} <= set(words)
    assert "stacked along MN first" in picture.text()
    assert "stacked along K first" in AtomsPicture(OPERANDS["MN 64B"]).text()


def test_a_layout_without_whole_atoms_has_none_to_draw() -> None:
    odd = derive(layout="(64,16):(64,1)", dtype="bf16", mma=(64, 16), swizzle="128B", legality="off")
    with pytest.raises(DescriptorError, match=r"the 64x16 tile is not made of whole 8x64 atoms"):
        AtomsPicture(odd).scene()
