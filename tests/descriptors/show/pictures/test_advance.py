"""The steps of the start address: sums of the numbers drawn, and the fields of the words."""

from __future__ import annotations

from drawn import read
from drawn_operands import OPERANDS
from each import each

from descriptors.show.pictures.advance_picture import AdvancePicture, odd, steps
from descriptors.show.pictures.panels import spaced


@each("name", OPERANDS)
def test_starts_and_fields_are_those_of_the_words(name: str) -> None:
    d = OPERANDS[name]
    staged = len(d.tile) > 2
    record = AdvancePicture(d, 0, 4096).record()
    starts = d.offsets_bytes(0 if staged else None)
    assert record["starts"] == starts
    assert record["fields"] == tuple(tuple((4096 + one) // 16 for one in row) for row in starts)
    total = 0
    for step, start in zip(record["steps_along_k"], starts[0][1:], strict=True):
        total += step
        assert total == start
    assert (record["stage_step"] is None) == (not staged)


def test_the_numbers_drawn_are_the_numbers_recorded() -> None:
    picture = AdvancePicture(OPERANDS["K 128B"])
    words = [word for _, _, word, _ in read(picture.svg()).texts]
    record = picture.record()
    for row, fields in zip(record["starts"], record["fields"], strict=True):
        for start, field in zip(row, fields, strict=True):
            assert spaced(start) in words
            assert f"field {field}" in words
    assert [word for word in words if word.startswith("+")] == [
        *("+32", "+32", "+32", f"+{spaced(16288)}", "+32", "+32", "+32"), f"+{spaced(8192)}",
    ]  # fmt: skip
    assert f"The descriptor of subtile (0,0): {record['word']}" in words


def test_steps_and_the_unusual_ones_among_them() -> None:
    assert steps([0, 32, 16384]) == (32, 16352)
    assert odd([32, 32, 5]) == {5}
    assert odd([32]) == odd([]) == set()
