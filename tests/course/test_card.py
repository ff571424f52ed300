"""The card: every example is judged by its law, every bit by the swizzle, every field by a word; two pages of A4."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from browsers import browser
from each import each

from builder.handout import card
from descriptors import derive
from descriptors.course.card import bits, fields, rows, sections
from descriptors.course.catalog import lessons
from layoutalg import Swizzle, broken_law, evaluate, law_names

EXAMPLES = [row for section in sections() if section.kind == "operations" for row in section.rows]


def operands(text: str) -> list[str]:
    """The operands of a call, as texts."""
    pieces, depth = [""], 0
    for letter in text:
        depth += (letter in "([<") - (letter in ")]>")
        if letter == "," and depth == 0:
            pieces.append("")
        else:
            pieces[-1] += letter
    return pieces


JUDGED = [row for row in EXAMPLES if row.written.partition("(")[0] in law_names()]


def test_most_examples_are_operations_that_have_a_law() -> None:
    assert len(JUDGED) >= 12


@each("row", JUDGED, ids=lambda row: row.written)
def test_what_an_example_gives_satisfies_its_law(row: object) -> None:
    name, _, rest = row.written.partition("(")  # type: ignore[attr-defined]
    value: str = row.value  # type: ignore[attr-defined]
    if value.startswith("no layout"):
        assert "a(1 + 3) = 5" in value
        return
    answer, _, offset = value.partition(", at offset ")
    answered = (evaluate(answer), int(offset)) if offset else evaluate(answer)
    arguments = [evaluate(one.strip()) for one in operands(rest.removesuffix(")"))]
    assert broken_law(name, answered, *arguments) is None


def test_every_example_says_what_it_is_and_gives_something_or_is_notation() -> None:
    assert all(row.words for row in EXAMPLES)
    assert [row.written for row in EXAMPLES if not row.value] == [
        row.written for row in rows((Path("course") / "card.md").read_text(encoding="utf-8")) if not row.value
    ]
    assert len([row for row in EXAMPLES if not row.value]) == 3


@pytest.mark.parametrize("swizzle", [Swizzle(3, 4, 3), Swizzle(1, 4, 3), Swizzle(2, 5, 2), Swizzle(2, 0, 3)], ids=str)
def test_the_bits_are_what_the_swizzle_does_to_every_number(swizzle: Swizzle) -> None:
    positions, letters, *examples = (row.value.split() for row in bits(swizzle))
    read = [int(place) for place, one in zip(positions, letters, strict=True) if one == "Y"]
    changed = [int(place) for place, one in zip(positions, letters, strict=True) if one == "Z"]
    for number in range(1 << len(letters)):
        turned = number
        for source, target in zip(read, changed, strict=True):
            turned ^= (number >> source & 1) << target
        assert turned == swizzle(number)
    before, after = (int("".join(one), 2) for one in examples)
    assert before != after == swizzle(before)


def test_the_fields_are_where_a_derived_word_has_them() -> None:
    tile = derive((128, 128), "bf16", "K", "128B", (64, 16), arch="sm90")
    word = tile.descriptor.encode()
    values = {}
    for row in fields("sm90"):
        low, _, high = row.written.partition("-")
        values[row.value] = word >> int(low) & (1 << int(high or low) - int(low) + 1) - 1
    assert values["stride_byte_offset"] * 16 == tile.descriptor.stride_byte_offset == 1024
    codes = next(row.words for row in fields("sm90") if row.value == "swizzle")
    assert f"128B {values['swizzle']}" in codes.split(", ")


def test_every_word_of_the_lessons_stands_on_the_card() -> None:
    words = {(row.written, row.value) for row in sections()[-1].rows}
    assert words == {(word, str(lesson.number)) for lesson in lessons() for word, _ in lesson.words}


def test_it_is_two_pages_of_paper_and_loads_nothing(tmp_path: Path) -> None:
    path = tmp_path / "card.html"
    path.write_text(card(), encoding="utf-8")
    assert not re.search(r'(?:src|href)="(?!data:)|url\(', card())
    with browser() as started:
        page = started.new_page(viewport={"width": 900, "height": 700})
        page.goto(path.as_uri())
        assert len(re.findall(rb"/Type\s*/Page[^s]", page.pdf(prefer_css_page_size=True))) == 2
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
