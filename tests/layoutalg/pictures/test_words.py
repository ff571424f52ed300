"""Every quantity has its words, and they say what is drawn."""

from __future__ import annotations

from each import each

from layoutalg.pictures.plates import sentences, tables
from layoutalg.pictures.quantities import COLOURS, LABELS


@each("label", [*LABELS, "image"])
@each("colour", [*COLOURS, "slice"])
@each("has_number", ["cell", "block", ""])
def test_every_pair_of_quantities_makes_one_sentence(label: str, colour: str, has_number: str) -> None:
    text = sentences(label, colour, 2, has_number)
    assert text.startswith("A cell ")
    assert text.endswith(".")
    assert ("bytes an element" in text) == ("bank" in (label if has_number else "none", colour))
    assert ("colour" in text) == (colour != "none")
    assert has_number or "number" not in text


def test_what_is_not_drawn_is_not_said() -> None:
    assert sentences("none", "none", None, "cell") == "A cell is an element."
    assert sentences("offset", "offset", None, "block").startswith("A cell is an element; a number is the offset of")
    assert sentences("bank", "none", 1, "cell").endswith("at 1 byte an element.")


def test_a_reader_who_does_not_see_is_told_the_size_and_what_was_before() -> None:
    assert tables(4, 8, 2, "new", "old").startswith("2 tables of 4 rows and 8 columns for new after old:")
