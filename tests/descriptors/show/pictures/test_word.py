"""A word as a picture: each field over its own bits, with what it stores."""

from __future__ import annotations

import re

from drawn import read
from drawn_operands import OPERANDS
from each import each

from descriptors import decode, derive
from descriptors.show.pictures.word_picture import WIDE, WordPicture, word_of


@each("name", OPERANDS)
def test_a_field_stands_over_its_bits(name: str) -> None:
    d = OPERANDS[name]
    picture = word_of(d)
    left = float(re.findall(r'<rect class="f-faint" x="([^"]*)"', picture.svg())[0])
    texts = [(x, word) for x, _, word, node in read(picture.svg()).texts if node.get("text-anchor") == "middle"]
    for field in picture.record()["fields"]:
        middle = left + WIDE * (64 - field["low"] - field["bits"] / 2) / 64
        here = [word for x, word in texts if abs(x - middle) < 1]
        assert str(field["stored"]) in here, field
        assert field["name"] in here


def test_the_bits_in_the_text_are_the_word() -> None:
    word = 0x4000404000010204
    text = WordPicture(decode(word)).text().splitlines()[2]
    assert int(text.replace(" ", ""), 2) == word


def test_the_word_of_a_subtile_is_the_derivation_s() -> None:
    d = derive((128, 128), "bf16", "K", "128B", (64, 16))
    assert word_of(d, 1, 3, 0, 4096).record()["word"] == f"{d.word(1, 3, 0, 4096):#018x}"


def test_remarks_are_drawn_too() -> None:
    words = [word for _, _, word, _ in read(WordPicture(decode(0x0010000002001000, "sm90")).svg()).texts]
    assert any(word.startswith("warning: bit 52") for word in words)
