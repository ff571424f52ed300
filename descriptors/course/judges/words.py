"""Judges of descriptor words: what a tensor core would read with them.

A right word is any word with which every element is read from where it is stored; where one is not, the first such
element is the hint, and not the field.

Law: the word that is derived is right, and with one bit more it is told an element that comes from elsewhere.

>>> tile = ((64, 64), "bf16", "K", "128B", (64, 16))
>>> word("0x4000004000010000", *tile)
>>> word("0x4000002000010000", *tile)
'reads 896 of 1024 elements from elsewhere: element (8, 0) lies at byte 1024 and is read at byte 576'
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from descriptors.course.judges.tile import derived_tile
from descriptors.course.judges.typed import integers_of, words_of
from descriptors.smem.debug.diff import Diff, diff
from descriptors.smem.operands.operand import as_swizzle_mode
from descriptors.smem.words.descriptor import WORDS, Arch, architecture
from descriptors.smem.words.tensor_map import SWIZZLES
from layoutalg import parse_int_tuple, product

#: What people call the fields.
FIELDS = {
    "start": "start_address",
    "lbo": "leading_byte_offset",
    "sbo": "stride_byte_offset",
    "base offset": "base_offset",
    "swizzle": "swizzle",
}


def word(answer: str, *tile: Any) -> str | None:
    """A descriptor word that makes the tensor core read the first operand of a tile, element for element."""
    derived = derived_tile(*tile)
    return told(
        diff(
            words_of(answer)[0],
            derived.smem_tile,
            "sm90",
            dtype=derived.element,
            major=derived.major,
            shape=derived.mma,
            base=0,
        )
    )


def offsets(answer: str, *tile: Any) -> str | None:
    """LBO and SBO, in bytes, with which the first operand of a tile is read from where it lies."""
    derived, (leading, stride) = derived_tile(*tile), integers_of(answer, 2)
    made = replace(derived.descriptor, leading_byte_offset=leading, stride_byte_offset=stride)
    return word(hex(made.encode()), *tile)


def reads(answer: str, layout: str, arch: Arch, asked: Mapping[str, Any]) -> str | None:
    """A word that reads a layout; ``asked`` holds the keywords of ``diff``."""
    return told(compared(words_of(answer)[0], layout, arch, asked))


def mended(answer: str, broken: str, layout: str, arch: Arch, asked: Mapping[str, Any]) -> str | None:
    """The field of a broken word that is wrong, and a word that reads the layout.

    The field is right if the broken word reads the layout as soon as that field alone is as in the answer.
    """
    name, _, text = answer.strip().rpartition(" ")
    key = name.lower().replace("_", " ").strip(" :,")
    key = next((short for short, long in FIELDS.items() if key in (short, long.replace("_", " "))), "")
    if not key:
        return f"must be a field ({', '.join(FIELDS)}) and the mended word, as: sbo 0x4000004000010000"
    mine, before, fields = words_of(text)[0], words_of(broken)[0], WORDS[architecture(arch)]
    if mine == before:
        return "is the broken word itself"
    wrong = told(compared(mine, layout, arch, asked))
    if wrong:
        return wrong
    mask = fields[FIELDS[key]].mask
    if not (mine ^ before) & mask:
        return f"has a right word, but its {key} is that of the broken word"
    if told(compared(before & ~mask | mine & mask, layout, arch, asked)):
        return f"has a right word, but the broken one stays broken with this {key} alone"
    return None


def codes(answer: str, mode: str, *where: str) -> str | None:
    """The numbers that a swizzle mode has: in a word of ``sm90``, of ``sm100``, or in a tensor map, ``tma``."""
    mine, wanted = integers_of(answer, len(where)), as_swizzle_mode(mode)
    for number, place in zip(mine, where, strict=True):
        named = _CODES[place].get(number)
        if named is not wanted:
            meaning = f"the mode {named}" if named else "no mode"
            return f"says {number} for {_CALLED[place]}, where that is {meaning}"
    return None


def told(found: Diff) -> str | None:
    """A comparison as a hint: the first element that is read from elsewhere."""
    if found.ok:
        return None
    first = found.mismatches[0]
    at = f"element {first.coordinate} lies at {first.unit} {first.expected} and is read at {first.unit} {first.found}"
    return f"reads {found.differing} of {product(found.shape)} elements from elsewhere: {at}"


def field(answer: str, name: str, *tile: Any) -> str | None:
    """A field of the word that is derived for a tile, in bytes."""
    right, mine = getattr(derived_tile(*tile).descriptor, name), parse_int_tuple(answer)
    if mine == right:
        return None
    unit = " (that is the field in units of 16 bytes)" if isinstance(mine, int) and mine * 16 == right else ""
    return f"says {answer} bytes, which is not the {name.replace('_', ' ')}{unit}"


def compared(number: int, layout: str, arch: Arch, asked: Mapping[str, Any]) -> Diff:
    """A word beside a layout, as ``diff`` compares them; ``asked`` holds its keywords, tuples written as lists."""
    given: dict[str, Any] = {key: tuple(one) if isinstance(one, list) else one for key, one in asked.items()}
    return diff(number, layout, arch, **given)


#: The three numberings of the swizzle modes, and what a lesson calls where they stand.
_CALLED = {"sm90": "wgmma", "sm100": "tcgen05", "tma": "a tensor copy"}
_CODES: dict[str, dict[int, Any]] = {
    arch: {code: mode for mode, code in word["swizzle"].codes} for arch, word in WORDS.items()
}
_CODES |= {"tma": {code: mode for mode, (_, code) in SWIZZLES.items()}}


#: The judges, by the name that an exercise gives.
JUDGES: dict[str, Callable[..., str | None]] = {
    "word": word,
    "field": field,
    "offsets": offsets,
    "reads": reads,
    "mended": mended,
    "codes": codes,
}
