"""Items of lessons 11 and 12: LBO and SBO of a tile, its word, and how far an operand lies from the first.

Law: the word of a key reads every element from where the tile has it.

>>> from random import Random
>>> from descriptors.course.papers.item import make
>>> make(KINDS[3], Random(1)).exercise.solution
'0x4000004000012580'
"""

from __future__ import annotations

from functools import partial
from random import Random
from typing import Any

from descriptors.course.judges.tile import derived_tile
from descriptors.course.papers.item import Draft, Kind, below, pick
from descriptors.course.papers.paper_tiles import ALIGNED, Tile, bytes_of, drawn, told
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.operands.operand import MajorName
from descriptors.smem.words.descriptor import WORDS

#: Fields by what they are called in questions.
CALLED = {"stride_byte_offset": "stride byte offset (SBO)", "leading_byte_offset": "leading byte offset (LBO)"}


def field(rng: Random, major: MajorName, name: str) -> Draft | None:
    """One of the two strides of the word, in bytes."""
    tile = drawn(rng, major, ("none", "32B", "64B", "128B"))
    derived = derived_tile(*tile)
    values = {one: getattr(derived.descriptor, one) for one in CALLED}
    right = values[name]
    if name in derived.dont_care or right == 0:
        return None
    (other,) = (value for one, value in values.items() if one != name)
    span = derived.swizzle.span_bytes
    first, second = ("a group of 8 rows", "16 bytes of K") if major == "K" else ("8 of K", "one span of MN")
    return Draft(
        ask=f"The {CALLED[name]} of {told(tile)}: in bytes.",
        judge="field",
        operands=(name, *tile),
        starter="?",
        hints=(
            f"An atom is 8 lines of {span} bytes. Which atoms does one operand go through?",
            f"One of the two offsets leads from {first} to the next, the other from {second} to the next.",
            f"The {'rows' if major == 'K' else 'lines'} of an atom take 8*{span} = {8 * span} bytes.",
        ),
        solution=str(right),
        why=f"The canonical form of the operand is `{derived.canonical}` in units of 16 bytes.",
        slips=(
            (str(right // 16), "units of 16 bytes are taken for bytes"),
            (str(other or 16), "LBO and SBO are exchanged"),
            (str(span), "one line of the atom is taken for the atom"),
            (str(right // bytes_of(tile)), "elements are taken for bytes"),
            (str(right * 2), "every second atom is taken"),
            (str(right // 8), "one line is taken for the group of eight"),
        ),
    )


def word(rng: Random, major: MajorName, *, inside: bool = False) -> Draft | None:
    """The word of the first operand of a tile, or of one inside it."""
    tile, base = drawn(rng, major), ALIGNED * below(rng, 160)
    derived = derived_tile(*tile)
    rows, columns = len(derived.offsets_bytes()), len(derived.offsets_bytes()[0])
    i, k = (below(rng, rows), below(rng, columns)) if inside else (0, 0)
    if (inside and i + k == 0) or base + 16 * tile[0][0] * tile[0][1] >= 1 << 18:
        return None
    return word_draft(tile, base, i, k)


def word_draft(tile: Tile, base: int, i: int, k: int) -> Draft:
    """The question for the word of operand (i, k) of a tile at an address."""
    derived = derived_tile(*tile)
    start = base + derived.offset_of(i, k)
    fields = WORDS["sm90"]
    return Draft(
        ask=(
            f"The 64-bit sm90 descriptor of operand ({i}, {k}), counted from 0 along MN and K, of "
            f"{told(tile)}. The tile lies at "
            f"shared-memory address {hex(base)}. In hexadecimal."
        ),
        judge="word of",
        operands=(base, i, k, *tile),
        starter="0x????????????????",
        hints=(
            "Fields: start address from bit 0, LBO from bit 16, SBO from bit 32, swizzle from bit 62; "
            "addresses and offsets "
            "in units of 16 bytes.",
            f"The operand starts at {hex(start)}; SBO is {derived.descriptor.stride_byte_offset} bytes.",
            "The swizzle codes of wgmma: 0 none, 1 128B, 2 64B, 3 32B.",
        ),
        solution=f"0x{derived.word(i, k, base=base):016x}",
        why=_fields(derived, start),
        slips=tuple((f"0x{fields.encode(**values):016x}", slip) for values, slip in _mistakes(derived, base, start)),
    )


def values_of(derived: Derivation, start: int) -> dict[str, Any]:
    """The fields of a word, in bytes."""
    one = derived.descriptor
    return {
        "start_address": start,
        "leading_byte_offset": one.leading_byte_offset,
        "stride_byte_offset": one.stride_byte_offset,
        "swizzle": one.swizzle,
    }


def _mistakes(derived: Derivation, base: int, start: int) -> list[tuple[dict[str, Any], str]]:
    """Fields as mistakes leave them."""
    right = values_of(derived, start)
    sbo, lbo = right["stride_byte_offset"], right["leading_byte_offset"]
    modes = type(derived.swizzle)
    turned = {"64B": modes.B32, "32B": modes.B64, "128B": modes.B64, "none": modes.B128}[str(derived.swizzle)]
    return [
        (right | {"stride_byte_offset": sbo // 16}, "SBO is divided by 16 twice"),
        (right | {"stride_byte_offset": lbo, "leading_byte_offset": sbo}, "LBO and SBO are exchanged"),
        (right | {"swizzle": turned}, "the swizzle code is that of another coding"),
        (right | {"swizzle": modes.NONE}, "the swizzle is left out"),
        (right | {"start_address": start - base}, "the address of the tile is left out"),
        (right | {"start_address": base}, "the start is that of the tile, not of the operand"),
        (right | {"stride_byte_offset": sbo // 8}, "SBO is one line, not eight"),
    ]


def _fields(derived: Derivation, start: int) -> str:
    named = {"start_address": "start", "leading_byte_offset": "LBO", "stride_byte_offset": "SBO"}
    values = values_of(derived, start)
    parts = [f"{named[name]} {values[name]} = {values[name] // 16}*16" for name in named]
    ignored = " (LBO is ignored here)" if "leading_byte_offset" in derived.dont_care else ""
    return f"{', '.join(parts)}, swizzle {derived.swizzle}{ignored}."


def advance(rng: Random) -> Draft | None:
    """How far an operand begins after the first."""
    tile = drawn(rng, pick(rng, ("K", "K", "MN")))
    derived = derived_tile(*tile)
    offsets = derived.offsets_bytes()
    i, k = below(rng, len(offsets)), below(rng, len(offsets[0]))
    right, (reads, depth), each = derived.offset_of(i, k), tile[4], bytes_of(tile)
    if k == 0 or right == 0:
        return None
    span = derived.swizzle.span_bytes
    return Draft(
        ask=f"How many bytes after the first operand begins operand ({i}, {k}), counted from 0, of {told(tile)}?",
        judge="advance",
        operands=(i, k, *tile),
        starter="?",
        hints=(
            f"Which element (MN, K) is the first of operand ({i}, {k})?",
            f"It is element ({i * reads}, {k * depth}). In which atom does it lie, and where in it?",
            f"An atom has 8 lines of {span} bytes; the next along MN follows, then those further along K.",
        ),
        solution=str(right),
        why=f"Element ({i * reads}, {k * depth}) of the tile lies {right} bytes from its start, before the swizzle.",
        slips=(
            (str(right // 16), "units of 16 bytes are taken for bytes"),
            (str(right // each), "elements are taken for bytes"),
            (str((i * reads * tile[0][1] + k * depth) * each), "the tile is taken to be stored row after row"),
            (str((i * reads + k * depth * tile[0][0]) * each), "the tile is taken to be stored column after column"),
            (str(derived.offset_of(0, k)), "the direction MN is left out"),
            (str(k * 32), "each step of K is taken for 32 bytes, over the end of an atom too"),
        ),
    )


#: The kinds of this module.
KINDS = (
    Kind("SBO of K", 11, 1, partial(field, major="K", name="stride_byte_offset")),
    Kind("LBO of MN", 11, 2, partial(field, major="MN", name="leading_byte_offset")),
    Kind("SBO of MN", 11, 2, partial(field, major="MN", name="stride_byte_offset")),
    Kind("word of K", 11, 2, partial(word, major="K")),
    Kind("word of MN", 11, 3, partial(word, major="MN")),
    Kind("advance", 12, 2, advance),
    Kind("word inside", 12, 3, partial(word, major="K", inside=True)),
)
