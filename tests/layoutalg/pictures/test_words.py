"""Every quantity has its words, and they say what is drawn."""

from __future__ import annotations

from each import each

from layoutalg.pictures.plates import sentences, tables
from layoutalg.pictures.quantities import COLOURS, LABELS


@each("label", [*LABELS, "image"])
@each("colour", [*COLOURS, "slice"])
@each("few", [True, False])
def test_every_pair_of_quantities_makes_one_sentence(label: str, colour: str, few: bool) -> None:
    text = sentences(label, colour, 2, few=few)
    assert text.startswith("A cell ")
    assert text.endswith(".")
    assert ("bytes an element" in text) == ("bank" in (label, colour))
    assert ("colour" in text) == (colour != "none")


def test_what_is_not_drawn_is_not_said() -> None:
    assert sentences("none", "none", None, few=True) == "A cell is an element."
    assert sentences("offset", "offset", None, few=False).startswith("A cell is an element; a number is the offset of")
    assert sentences("bank", "none", 1, few=True).endswith("at 1 byte an element.")


def test_a_reader_who_does_not_see_is_told_the_size_and_what_was_before() -> None:
    assert tables(4, 8, 2, "new", "old").startswith("2 tables of 4 rows and 8 columns for new after old:")
