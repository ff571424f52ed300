"""Widths of texts: additive, generous, and lines broken where they fit."""

from __future__ import annotations

import json
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st
from places import ROOT

from layoutalg.drawing.metrics import width, wrapped

words = st.text(st.characters(codec="ascii", categories=("L", "N", "P")), min_size=1, max_size=30)


@given(words, words)
def test_a_text_is_as_wide_as_its_parts(one: str, other: str) -> None:
    assert width(one + other, 10) == pytest.approx(width(one, 10) + width(other, 10))


@given(words)
def test_bold_is_wider_and_twice_the_size_is_twice_as_wide(text: str) -> None:
    assert width(text, 10) <= width(text, 10, bold=True)
    assert width(text, 20, mono=True) == pytest.approx(2 * width(text, 10, mono=True))


def test_a_character_that_is_not_in_the_table_counts_as_the_widest() -> None:
    assert width("\u4e2d", 10) == width("\U0001f600", 10) == 10
    assert width("\u2013", 10) < 10


@pytest.mark.parametrize(
    ("text", "dejavu"), [("The same eight rows, read at once", 215.0), ("Illinois", 41.0), ("WAVEFRONTS", 86.0)]
)
def test_a_width_is_at_least_that_of_a_wide_face(text: str, dejavu: float) -> None:
    """The widths that Chromium gives for DejaVu Sans at 13 pixels, rounded down."""
    assert dejavu <= width(text, 13) <= 1.25 * dejavu


@pytest.mark.parametrize("bold", [False, True])
def test_each_character_is_as_wide_as_in_the_wider_of_two_faces_and_no_wider(bold: bool) -> None:
    """The fonts' own tables, which `scripts/make_widths.py` reads; a dollar and a bar have some room besides."""
    widths = json.loads((ROOT / "tests" / "vectors" / "advance_widths.json").read_text(encoding="utf-8"))
    for code, faces in enumerate(zip(*widths["bold" if bold else "plain"], strict=True), 32):
        wide = width(chr(code), 1000, bold=bold)
        roomy = {"$": 640, "|": 363}.get(chr(code)) if not bold else None
        assert wide >= max(faces) and wide == (roomy or ceil(max(faces))), chr(code)


def test_the_characters_that_pictures_have_besides_are_pinned() -> None:
    """No face of the two is wider: a multiplication sign has 838, a dash 500, a dot 380, an arrow 955, dots 1000."""
    widths = {"\u00d7": 838, "\u2013": 660, "\u00b7": 380, "\u2192": 1000, "\u202f": 200, "\u2026": 1000, "\u00b1": 838}
    assert {character: width(character, 1000) for character in widths} == widths


@given(st.lists(words, max_size=12).map(" ".join), st.integers(40, 300))
def test_lines_hold_every_character_in_order_and_fit(text: str, room: int) -> None:
    lines = wrapped(text, room, 10)
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert all(width(line, 10) <= room for line in lines)


def test_nothing_is_one_empty_line() -> None:
    assert wrapped("", 100, 10) == [""]
