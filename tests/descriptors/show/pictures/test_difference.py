"""A wrong word: both tables are those of the proof's two sides, and what is marked is what differs."""

from __future__ import annotations

from dataclasses import replace

import pytest
from drawn import read
from drawn_operands import OPERANDS
from each import each

from descriptors import diff, read_addresses
from descriptors.show.pictures.difference_picture import DifferencePicture


@each("change", [0, 16 << 32, 1 << 16, 4])
@each("name", ["K 128B", "MN 64B", "K none", "sm90, stages", "32-byte pieces"])
def test_the_tables_are_what_is_stored_and_what_is_read(name: str, change: int) -> None:
    d = OPERANDS[name]
    word = d.word(0, 0) ^ change
    difference = diff(word, d.smem_tile, d.arch, dtype=d.element, major=d.major, shape=d.mma, base=0)
    table = DifferencePicture(difference).record()
    read_ = read_addresses(word, d.arch, dtype=d.element, major=d.major, shape=d.mma)
    unit = d.element.per_16_bytes
    u, v = (1, unit) if d.major.contiguous_mode else (unit, 1)
    assert table["read"] == read_[::u, ::v].tolist()
    size = d.element.storage_bits // 8
    mn, k = d.mma
    zeros = (0,) * (len(d.tile) - 2)
    assert table["stored"] == [[d.smem_tile((i, j, *zeros)) * size for j in range(0, k, v)] for i in range(0, mn, u)]
    wrong = sum(map(sum, table["wrong"]))
    assert (wrong == 0) == difference.ok
    assert wrong * unit >= difference.differing


def test_the_words_and_the_fields_to_change_are_drawn() -> None:
    d = OPERANDS["K 128B"]
    difference = diff(d.word(0, 0) ^ 16 << 32, d.smem_tile, dtype="bf16", major="K", shape=(64, 16))
    picture = DifferencePicture(difference)
    words = [word for _, _, word, _ in read(picture.svg()).texts]
    assert f"The descriptor: {difference.word:#018x}" in words
    assert f"The right descriptor: {difference.right_word:#018x}" in words
    assert "Change stride_byte_offset from 1280 to 1024." in " ".join(words)


def test_a_pattern_that_starts_elsewhere_is_drawn_so() -> None:
    d = OPERANDS["K 128B"]
    word = d.word(0, 0, 0, 0x80)
    difference = diff(word, d.smem_tile, dtype="bf16", major="K", shape=(64, 16), base=0x80, pattern_start=0x80)
    assert difference.ok
    assert not any(map(any, DifferencePicture(difference).record()["wrong"]))


@pytest.mark.parametrize("name", ["K 128B", "MN 64B"])
def test_rows_and_columns_of_the_text_are_named_by_their_elements(name: str) -> None:
    d = OPERANDS[name]
    difference = diff(d.word(0, 0), d.smem_tile, d.arch, dtype=d.element, major=d.major, shape=d.mma)
    lines = [line.split() for line in DifferencePicture(difference).text().splitlines()]
    mn, k = d.mma
    u, v = (1, 8) if d.major.contiguous_mode else (8, 1)
    assert [str(j) for j in range(0, k, v)] in lines
    rows = [line[0] for line in lines if len(line) == k // v + 1 and line[1].isdecimal()]
    assert len(rows) >= min(mn // u, 32)
    assert rows == [str(i * u) for i in range(len(rows))]


def test_without_what_would_be_right_the_picture_tells_only_what_is_wrong() -> None:
    d = OPERANDS["K 128B"]
    wrong = diff(d.word(0, 0) ^ 16 << 32, d.smem_tile, dtype="bf16", major="K", shape=(64, 16))
    picture = DifferencePicture(replace(wrong, right_word=None, right_major=None, changes=()))
    words = " ".join(word for _, _, word, _ in read(picture.svg()).texts)
    assert "read from elsewhere" in words and f"The descriptor: {wrong.word:#018x}" in words
    assert not [one for one in ("right descriptor", "Change ", "a field to change") if one in words]
    assert picture.record()["wrong"] == DifferencePicture(wrong).record()["wrong"]
