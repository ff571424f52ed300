"""Items of lessons 9 and 10: tiles, their words and how far an operand lies, words to mend.

A tile is (extents, dtype, major, swizzle, mma), as the judges of words take it; the architecture is sm90.

Law: every tile that is drawn has a derivation, the word of a key reads every element from where the tile has it, and
the word of the clinic, which differs from its key in one field, reads some from elsewhere.

>>> from random import Random
>>> from papers.item import make
>>> named = {kind.name: kind for kind in KINDS}
>>> make(named["word of K"], Random(1)).exercise.solution
'0x4000004000012580'
>>> exercise = make(named["clinic"], Random(1)).exercise
>>> exercise.solution, exercise.wrong[0][1]
('0x4000004000010a80', 'reads 448 of 512 elements from elsewhere; wrong is swizzle 64B')
"""

from __future__ import annotations

from functools import partial
from random import Random
from typing import Any, TypeAlias

from descriptors.course.judges.tiles import derived_tile
from descriptors.errors import DescriptorError
from descriptors.smem.debug.diff import diff
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.operands.operand import MajorName, as_element_type, as_swizzle_mode
from descriptors.smem.words.descriptor import smem_word
from layoutalg import product
from papers.item import Draft, Kind, below, pick

#: Extents (MN, K), element type, major, swizzle, and extents (MN, K) of one operand.
Tile: TypeAlias = tuple[tuple[int, int], str, MajorName, str, tuple[int, int]]

#: Types of which wgmma takes both majors, and one of which it takes K-major operands alone.
BOTH, K_ALONE = ("bf16", "f16"), ("tf32",)

#: The address of a tile is a multiple of this, the largest period of a swizzle, in bytes.
ALIGNED = 1024


def draw_tile(rng: Random, major: MajorName, swizzles: tuple[str, ...] = ("32B", "64B", "128B")) -> Tile:
    """A tile of several operands that fits into a few pages of squared paper.

    Raises:
        DescriptorError: if no draw of many has a derivation.
    """
    for _ in range(200):
        dtype, swizzle = pick(rng, BOTH if major == "MN" else BOTH + K_ALONE), pick(rng, swizzles)
        bytes_each = as_element_type(dtype).storage_bits // 8
        span = max(as_swizzle_mode(swizzle).span_bytes, 32)
        mn, reads = 64 * pick(rng, (1, 2, 3, 4)), pick(rng, (64, 64, 128))
        k = pick(rng, (1, 2, 4)) * (span if major == "K" else 64) // bytes_each
        tile: Tile = ((mn, k), dtype, major, swizzle, (reads, 32 // bytes_each))
        if mn * k * bytes_each <= 1 << 15 and mn % reads == 0 and (mn, k) != tile[4] and _derives(tile):
            return tile
    raise DescriptorError(f"papers: a tile must be found within 200 draws, found none; major = {major}")


def _derives(tile: Tile) -> bool:
    try:
        derived_tile(*tile)
    except DescriptorError:
        return False
    return True


def tile_text(tile: Tile) -> str:
    """What a question says of a tile.

    >>> tile = draw_tile(Random(1), "K")
    >>> tile_text(tile)[:59], len(derived_tile(*tile).offsets_bytes())
    ('a 256 by 32 tile of f16 (MN by K, 2 bytes an element), K-ma', 4)
    """
    (mn, k), dtype, major, swizzle, (reads, depth) = tile
    how = "without swizzle" if swizzle == "none" else f"with {swizzle} swizzle"
    return (
        f"a {mn} by {k} tile of {dtype} (MN by K, {bytes_of(tile)} bytes an element), {major}-major {how}, "
        f"atoms stacked along MN first, of which wgmma reads {reads} by {depth} at a time"
    )


def bytes_of(tile: Tile) -> int:
    """Bytes of an element."""
    return as_element_type(tile[1]).storage_bits // 8


#: Fields by what they are called in questions.
CALLED = {"stride_byte_offset": "stride byte offset (SBO)", "leading_byte_offset": "leading byte offset (LBO)"}


def field(rng: Random, major: MajorName, name: str) -> Draft | None:
    """One of the two strides of the word, in bytes."""
    tile = draw_tile(rng, major, ("none", "32B", "64B", "128B"))
    derivation = derived_tile(*tile)
    values = {one: getattr(derivation.descriptor, one) for one in CALLED}
    right = values[name]
    if name in derivation.dont_care or right == 0:
        return None
    (other,) = (value for one, value in values.items() if one != name)
    span = derivation.swizzle.span_bytes
    first, second = ("a group of 8 rows", "16 bytes of K") if major == "K" else ("8 of K", "one span of MN")
    return Draft(
        ask=f"The {CALLED[name]} of {tile_text(tile)}: in bytes.",
        judge="field",
        operands=(name, *tile),
        starter="?",
        hints=(
            f"An atom is 8 lines of {span} bytes. Which atoms does one operand go through?",
            f"One of the two offsets leads from {first} to the next, the other from {second} to the next.",
            f"The {'rows' if major == 'K' else 'lines'} of an atom take 8*{span} = {8 * span} bytes.",
        ),
        solution=str(right),
        why=f"The canonical form of the operand is `{derivation.canonical}` in units of 16 bytes.",
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
    tile, base = draw_tile(rng, major), ALIGNED * below(rng, 160)
    derivation = derived_tile(*tile)
    rows, columns = len(derivation.offsets_bytes()), len(derivation.offsets_bytes()[0])
    i, k = (below(rng, rows), below(rng, columns)) if inside else (0, 0)
    if (inside and i + k == 0) or base + 16 * tile[0][0] * tile[0][1] >= 1 << 18:
        return None
    return word_draft(tile, base, i, k)


def word_draft(tile: Tile, base: int, i: int, k: int) -> Draft:
    """The question for the word of operand (i, k) of a tile at an address."""
    derivation = derived_tile(*tile)
    start = base + derivation.offset_of(i, k)
    fields = smem_word("sm90")
    return Draft(
        ask=(
            f"The 64-bit sm90 descriptor of operand ({i}, {k}), counted from 0 along MN and K, of "
            f"{tile_text(tile)}. The tile lies at "
            f"shared-memory address {hex(base)}. In hexadecimal."
        ),
        judge="word of",
        operands=(base, i, k, *tile),
        starter="0x????????????????",
        hints=(
            "Fields: start address from bit 0, LBO from bit 16, SBO from bit 32, swizzle from bit 62; "
            "addresses and offsets "
            "in units of 16 bytes.",
            f"The operand starts at {hex(start)}; SBO is {derivation.descriptor.stride_byte_offset} bytes.",
            "The swizzle codes of wgmma: 0 none, 1 128B, 2 64B, 3 32B.",
        ),
        solution=f"0x{derivation.word(i, k, base=base):016x}",
        why=_fields(derivation, start),
        slips=tuple((f"0x{fields.encode(**values):016x}", slip) for values, slip in _mistakes(derivation, base, start)),
    )


def values_of(derivation: Derivation, start: int) -> dict[str, Any]:
    """The fields of a word, in bytes."""
    one = derivation.descriptor
    return {
        "start_address": start,
        "leading_byte_offset": one.leading_byte_offset,
        "stride_byte_offset": one.stride_byte_offset,
        "swizzle": one.swizzle,
    }


def _mistakes(derivation: Derivation, base: int, start: int) -> list[tuple[dict[str, Any], str]]:
    """Fields as mistakes leave them."""
    right = values_of(derivation, start)
    sbo, lbo = right["stride_byte_offset"], right["leading_byte_offset"]
    modes = type(derivation.swizzle)
    turned = {"64B": modes.B32, "32B": modes.B64, "128B": modes.B64, "none": modes.B128}[str(derivation.swizzle)]
    return [
        (right | {"stride_byte_offset": sbo // 16}, "SBO is divided by 16 twice"),
        (right | {"stride_byte_offset": lbo, "leading_byte_offset": sbo}, "LBO and SBO are exchanged"),
        (right | {"swizzle": turned}, "the swizzle code is that of another coding"),
        (right | {"swizzle": modes.NONE}, "the swizzle is left out"),
        (right | {"start_address": start - base}, "the address of the tile is left out"),
        (right | {"start_address": base}, "the start is that of the tile, not of the operand"),
        (right | {"stride_byte_offset": sbo // 8}, "SBO is one line, not eight"),
    ]


def _fields(derivation: Derivation, start: int) -> str:
    named = {"start_address": "start", "leading_byte_offset": "LBO", "stride_byte_offset": "SBO"}
    values = values_of(derivation, start)
    parts = [f"{named[name]} {values[name]} = {values[name] // 16}*16" for name in named]
    ignored = " (LBO is ignored here)" if "leading_byte_offset" in derivation.dont_care else ""
    return f"{', '.join(parts)}, swizzle {derivation.swizzle}{ignored}."


def advance(rng: Random) -> Draft | None:
    """How far an operand begins after the first."""
    tile = draw_tile(rng, pick(rng, ("K", "K", "MN")))
    derivation = derived_tile(*tile)
    offsets = derivation.offsets_bytes()
    i, k = below(rng, len(offsets)), below(rng, len(offsets[0]))
    right, (reads, depth), each = derivation.offset_of(i, k), tile[4], bytes_of(tile)
    if k == 0 or right == 0:
        return None
    span = derivation.swizzle.span_bytes
    return Draft(
        ask=f"How many bytes after operand (0, 0) does operand ({i}, {k}) begin, of {tile_text(tile)}?",
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
            (str(derivation.offset_of(0, k)), "the direction MN is left out"),
            (str(k * 32), "each step of K is taken for 32 bytes, over the end of an atom too"),
        ),
    )


def mend(rng: Random) -> Draft | None:
    """A word that is wrong in one field: how many elements it misses is told."""
    tile, base = draw_tile(rng, pick(rng, ("K", "MN"))), ALIGNED * (1 + below(rng, 63))
    derivation = derived_tile(*tile)
    right, fields = values_of(derivation, base), smem_word("sm90")
    ills = _ills(derivation, base)
    name, broken, what = pick(rng, ills)
    word, key = fields.encode(**right | {name: broken}), derivation.word(0, 0, base=base)
    missed = diff(
        word, derivation.smem_tile, "sm90", dtype=derivation.element, major=derivation.major, shape=derivation.mma,
        subtile=(0, 0), base=base,
    ).differing  # fmt: skip
    if not missed or word == key:
        return None
    others = [(values, says) for values, says in _treatments(right, broken, name, ills)]
    return Draft(
        ask=(
            f"The sm90 descriptor `0x{word:016x}` is meant for the first operand of {tile_text(tile)}. The tile "
            f"lies at {hex(base)}. "
            f"One field is wrong: {missed} of {product(derivation.mma)} elements are read from elsewhere. The "
            "word that is right."
        ),
        judge="word of",
        operands=(base, 0, 0, *tile),
        starter="0x????????????????",
        hints=(
            "Take the word apart: start address from bit 0, LBO from bit 16, SBO from bit 32, base offset from bit 49, "
            "swizzle from bit 62.",
            f"The fields are {_field_texts(right | {name: broken})}. Which of them is not what the tile says?",
            f"Look at the field {name.replace('_', ' ')}.",
        ),
        solution=f"0x{key:016x}",
        why=f"{what}: {name.replace('_', ' ')} must be {right.get(name, 0)}.",
        slips=((f"0x{word:016x}", "nothing is mended"),)
        + tuple((f"0x{fields.encode(**values):016x}", says) for values, says in others),
    )


def _ills(derivation: Derivation, base: int) -> list[tuple[str, Any, str]]:
    """Fields as they are spoilt in practice: the field, its value in bytes, what happened."""
    one, modes = derivation.descriptor, type(derivation.swizzle)
    sbo, lbo, span = one.stride_byte_offset, one.leading_byte_offset, derivation.swizzle.span_bytes
    other = {modes.B32: modes.B64, modes.B64: modes.B32, modes.B128: modes.B64}[derivation.swizzle]
    ills: list[tuple[str, Any, str]] = [
        ("stride_byte_offset", span, "SBO was one line, not the eight of an atom"),
        ("stride_byte_offset", 2 * sbo, "SBO skipped every second atom"),
        ("stride_byte_offset", sbo // 2, "SBO was counted in elements of two bytes"),
        ("start_address", base + span, "the start was one line late"),
        ("swizzle", other, "the swizzle code was that of another coding"),
        ("swizzle", modes.NONE, "the swizzle was left out"),
    ]
    if "leading_byte_offset" not in derivation.dont_care and lbo:
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


def _field_texts(values: dict[str, Any]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in values.items())


#: The kinds of this module, in the order of the lessons.
KINDS = (
    Kind("SBO of K", 9, 1, partial(field, major="K", name="stride_byte_offset")),
    Kind("LBO of MN", 9, 2, partial(field, major="MN", name="leading_byte_offset")),
    Kind("SBO of MN", 9, 2, partial(field, major="MN", name="stride_byte_offset")),
    Kind("word of K", 9, 2, partial(word, major="K")),
    Kind("word of MN", 9, 3, partial(word, major="MN")),
    Kind("advance", 9, 2, advance),
    Kind("word inside", 9, 3, partial(word, major="K", inside=True)),
    Kind("clinic", 10, 3, mend),
)
