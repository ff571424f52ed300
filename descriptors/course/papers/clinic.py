"""The clinic, lesson 13: a word with one field spoilt, to be mended.

Law: the word of the question reads elements from elsewhere, and the key differs from it in one field.

>>> from random import Random
>>> from descriptors.course.papers.item import make
>>> exercise = make(KINDS[0], Random(1)).exercise
>>> exercise.solution, exercise.wrong[0][1]
('0x4000004000010a80', 'reads 448 of 512 elements from elsewhere; wrong is swizzle none')
"""

from __future__ import annotations

from random import Random
from typing import Any

from descriptors.course.judges.tile import derived_tile
from descriptors.course.papers.item import Draft, Kind, below, pick
from descriptors.course.papers.paper_tiles import ALIGNED, drawn, told
from descriptors.course.papers.paper_words import values_of
from descriptors.smem.debug.diff import diff
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.words.descriptor import WORDS
from layoutalg import product


def mend(rng: Random) -> Draft | None:
    """A word that is wrong in one field: how many elements it misses is told."""
    tile, base = drawn(rng, pick(rng, ("K", "MN"))), ALIGNED * (1 + below(rng, 63))
    derived = derived_tile(*tile)
    right, fields = values_of(derived, base), WORDS["sm90"]
    ills = _ills(derived, base)
    name, broken, what = pick(rng, ills)
    word, key = fields.encode(**right | {name: broken}), derived.word(0, 0, base=base)
    missed = diff(
        word, derived.smem_tile, "sm90", dtype=derived.element, major=derived.major, shape=derived.mma,
        subtile=(0, 0), base=base,
    ).differing  # fmt: skip
    if not missed or word == key:
        return None
    others = [(values, says) for values, says in _treatments(right, broken, name, ills)]
    return Draft(
        ask=(
            f"The sm90 descriptor `0x{word:016x}` is meant for the first operand of {told(tile)}. The tile "
            f"lies at {hex(base)}. "
            f"One field is wrong: {missed} of {product(derived.mma)} elements are read from elsewhere. The "
            "word that is right."
        ),
        judge="word of",
        operands=(base, 0, 0, *tile),
        starter="0x????????????????",
        hints=(
            "Take the word apart: start address from bit 0, LBO from bit 16, SBO from bit 32, base offset from bit 49, "
            "swizzle from bit 62.",
            f"The fields are {_told_fields(right | {name: broken})}. Which of them is not what the tile says?",
            f"Look at the field {name.replace('_', ' ')}.",
        ),
        solution=f"0x{key:016x}",
        why=f"{what}: {name.replace('_', ' ')} must be {right.get(name, 0)}.",
        slips=((f"0x{word:016x}", "nothing is mended"),)
        + tuple((f"0x{fields.encode(**values):016x}", says) for values, says in others),
    )


def _ills(derived: Derivation, base: int) -> list[tuple[str, Any, str]]:
    """Fields as they are spoilt in practice: the field, its value in bytes, what happened."""
    one, modes = derived.descriptor, type(derived.swizzle)
    sbo, lbo, span = one.stride_byte_offset, one.leading_byte_offset, derived.swizzle.span_bytes
    other = {modes.B32: modes.B64, modes.B64: modes.B32, modes.B128: modes.B64}[derived.swizzle]
    ills: list[tuple[str, Any, str]] = [
        ("stride_byte_offset", span, "SBO was one line, not the eight of an atom"),
        ("stride_byte_offset", 2 * sbo, "SBO skipped every second atom"),
        ("stride_byte_offset", sbo // 2, "SBO was counted in elements of two bytes"),
        ("start_address", base + span, "the start was one line late"),
        ("swizzle", other, "the swizzle code was that of another coding"),
        ("swizzle", modes.NONE, "the swizzle was left out"),
        ("base_offset", 1, "the base offset was set though the tile is aligned"),
    ]
    if "leading_byte_offset" not in derived.dont_care and lbo:
        ills.append(("leading_byte_offset", 16, "LBO was 16, as where it is ignored"))
        ills.append(("leading_byte_offset", sbo, "LBO was the value of SBO"))
    return ills


def _treatments(
    right: dict[str, Any], broken: Any, name: str, ills: list[tuple[str, Any, str]]
) -> list[tuple[dict[str, Any], str]]:
    """The word with the spoilt field left as it is and another changed; and with the field mended wrongly."""
    wrong = [(right | {name: broken} | {field: value}, field) for field, value, _ in ills if field != name]
    again = [(right | {field: value}, field) for field, value, _ in ills if field == name and value != broken]
    return [(values, "another field is changed: " + field.replace("_", " ")) for values, field in wrong] + [
        (values, f"the right field, {field.replace('_', ' ')}, has another wrong value") for values, field in again
    ]


def _told_fields(values: dict[str, Any]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in values.items())


#: The kinds of this module.
KINDS = (Kind("clinic", 13, 3, mend),)
