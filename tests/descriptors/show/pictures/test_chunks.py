"""Chunks: the arrows say the two offsets, in the direction that their steps have."""

from __future__ import annotations

from drawn import read
from drawn_operands import OPERANDS
from each import each

from descriptors import explain
from descriptors.show.pictures.chunk_picture import ChunksPicture


@each("name", OPERANDS)
def test_a_picture_of_chunks_says_what_the_explanation_says(name: str) -> None:
    d = OPERANDS[name]
    picture = ChunksPicture(d)
    words = [word for _, _, word, _ in read(picture.svg()).texts]
    for short, value in (("LBO", d.descriptor.leading_byte_offset), ("SBO", d.descriptor.stride_byte_offset)):
        assert f"{short} {value}" in words
        assert f", is {value} bytes: " in next(line for line in explain(d).splitlines() if line.startswith(short))
    assert all(str(one) in words for row in picture.record()["chunks"] for one in row)


def test_the_text_has_both_tables() -> None:
    text = ChunksPicture(OPERANDS["MN 64B"]).text()
    assert "8192 8704" in text
    assert " 16  80 128 192" in text
    assert "LBO 8192: step to the next atom along MN." in text
