"""Items of lessons 11 to 13: tiles, their words and how far an operand lies, words to mend, a derivation by hand.

A tile is (extents, dtype, major, swizzle, mma), as the judges of words take it; the architecture is sm90. The steps
of a derivation ask about the same tile, and each is judged by the tile alone: a slip in one costs nothing in the next.

Law: every tile that is drawn has a derivation, the word of a key reads every element from where the tile has it, and
the word of the clinic, which differs from its key in one field, reads some from elsewhere.

>>> from random import Random
>>> from descriptors.course.papers.item import make
>>> named = {kind.name: kind for kind in KINDS}
>>> make(named["word of K"], Random(1)).exercise.solution
'0x4000004000012580'
>>> exercise = make(named["clinic"], Random(1)).exercise
>>> exercise.solution, exercise.wrong[0][1]
('0x4000004000010a80', 'reads 448 of 512 elements from elsewhere; wrong is swizzle none')
"""

from __future__ import annotations

from functools import partial
from random import Random
from typing import Any, TypeAlias

from descriptors.course.judges.tiles import derived_tile
from descriptors.course.papers.item import DRAWS, Draft, Item, Kind, below, pick, proved_item
from descriptors.errors import DescriptorError
from descriptors.smem.debug.diff import diff
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.operands.operand import MajorName, as_element_type, as_swizzle_mode
from descriptors.smem.operands.swizzled import plain
from descriptors.smem.words.descriptor import WORDS
from layoutalg import Layout, product, tile_to_shape

#: Extents (MN, K), element type, major, swizzle, and extents (MN, K) of one operand.
Tile: TypeAlias = tuple[tuple[int, int], str, MajorName, str, tuple[int, int]]

#: Types of which wgmma takes both majors, and those of which it takes K-major operands alone.
BOTH, K_ALONE = ("bf16", "f16"), ("e4m3", "s8", "tf32")

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
    >>> tile_text(tile)[:86], len(derived_tile(*tile).offsets_bytes())
    ('a 256 by 64 tile of e4m3 (MN by K), K-major with 64B swizzle, atoms stacked along MN f', 4)
    """
    (mn, k), dtype, major, swizzle, (reads, depth) = tile
    how = "without swizzle" if swizzle == "none" else f"with {swizzle} swizzle"
    return (
        f"a {mn} by {k} tile of {dtype} (MN by K), {major}-major {how}, atoms stacked along MN first, of "
        "which wgmma reads "
        f"{reads} by {depth} at a time"
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
    fields = WORDS["sm90"]
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
        ask=f"How many bytes after the first operand begins operand ({i}, {k}), counted from 0, of {tile_text(tile)}?",
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
    right, fields = values_of(derivation, base), WORDS["sm90"]
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
        ("base_offset", 1, "the base offset was set though the tile is aligned"),
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


#: Of each step: its question, three hints, and why its key is right.
STEPS = {
    "smem_tile": (
        "Step 1: the layout (MN, K) of the whole tile in elements",
        "The canonical atom has 8 lines of the swizzle's span; how many elements is that?",
        "Atoms follow one another in memory, along MN first.",
        "Each mode is nested: inside the atom, and from atom to atom.",
        "The atom, repeated by `tile_to_shape`.",
    ),
    "partitioned": (
        "Step 2: the tile cut into what one instruction reads, ((MN, K) of an operand, which operand), in elements",
        "It is the zipped divide of step 1 by the extents of an operand.",
        "Inside the operand the strides are those of the tile.",
        "The second mode says how far away the next operand is, along MN and along K.",
        "`zipped_divide` of step 1.",
    ),
    "recast": (
        "Step 3: the tile cut into operands, as ((MN, K) of an operand, which operand), in units of 16 bytes",
        "How many elements are 16 bytes? The contiguous mode becomes so many times shorter.",
        "All other strides are divided by that number.",
        "The contiguous stride stays 1.",
        "`recast_layout` of step 2 to 128 bits.",
    ),
    "canonical": (
        "Step 4: the first operand as ((inside, further), (inside, further)) along MN and K, in units of 16 bytes",
        "Split each mode of the operand where the atom ends, so that each of the four has one stride.",
        "K-major: 8 lines inside along MN. MN-major: 8 lines inside along K, one span along MN.",
        "Two of the four strides are LBO and SBO divided by 16; a part of extent 1 is written too.",
        "The operand's modes, split where the atom ends.",
    ),
    "advance": (
        "Step 5: the layout from the number (MN, K) of an operand to where it begins, in units of 16 bytes",
        "It is the second mode of step 3.",
        "One step along K is 32 bytes as long as the atom lasts, and more after that.",
        "One step along MN goes over as many atoms as an operand has.",
        "The second mode of step 3.",
    ),
}
NAMES = dict(
    zip(("1 tile", "2 operands", "3 units", "4 canonical form", "5 advance"), ("smem_tile", *[*STEPS][1:]), strict=True)
)
#: What the steps and the word are worth.
MARKS = (2, 2, 2, 3, 2, 4)


def stage_draft(tile: Tile, name: str) -> Draft:
    """The question for one step of a tile."""
    question, *hints, why = STEPS[name]
    derivation = derived_tile(*tile)
    right = _plain(getattr(derivation, name))
    return Draft(
        ask=f"{question}, without the swizzle, of {tile_text(tile)}.",
        judge="stage",
        operands=(name, *tile),
        starter="?",
        hints=(hints[0], hints[1], hints[2]),
        solution=str(right),
        why=why,
        slips=tuple(_slips(tile, name, right)),
    )


def _slips(tile: Tile, name: str, right: Layout) -> list[tuple[str, str]]:
    derivation, each = derived_tile(*tile), bytes_of(tile)
    steps = {one: _plain(getattr(derivation, one)) for one in STEPS}
    turned = plain(tile_to_shape(derivation.atom, tile[0], (1, 0)))
    mistakes = {
        "smem_tile": (turned, "the atoms are stacked along K first"),
        "partitioned": (steps["smem_tile"], "the tile is not cut"),
        "recast": (steps["partitioned"], "the unit is still the element"),
        "canonical": (_inside(steps["canonical"]), "the steps beyond the atom are left out"),
        "advance": (_scaled(right, 16), "bytes are taken for units of 16 bytes"),
    }[name]
    mn, k = tile[0]
    return [
        (str(mistakes[0]), mistakes[1]),
        (str(_scaled(right, each)), "bytes are taken for the unit"),
        (str(_scaled(right, 2)), "every step is doubled"),
        (f"({mn},{k}):({k},1)", "the tile is taken to be stored row after row"),
        (f"({mn},{k}):(1,{mn})", "the tile is taken to be stored column after column"),
        (str(_turned(right)), "the two modes are exchanged"),
        (str(steps["recast" if name != "recast" else "canonical"]), "it is the layout of another step"),
    ]


def _plain(layout: Any) -> Layout:
    plain_layout = plain(layout)
    assert isinstance(plain_layout, Layout)
    return plain_layout


def _scaled(layout: Layout, factor: int) -> Layout:
    """The same shape with every stride so many times as large."""
    return Layout(layout.shape, _times(layout.stride, factor))


def _times(stride: Any, factor: int) -> Any:
    return tuple(_times(one, factor) for one in stride) if isinstance(stride, tuple) else stride * factor


def _inside(canonical: Layout) -> Layout:
    """The four strides with those beyond the atom as inside it."""
    return Layout(canonical.shape, tuple((inside, inside) for inside, _ in canonical.stride))  # type: ignore


def _turned(layout: Layout) -> Layout:
    return Layout(tuple(reversed(layout.shape)), tuple(reversed(layout.stride)))  # type: ignore[arg-type]


def derivation(rng: Random) -> tuple[Item, ...]:
    """The six questions about one tile that has operands in both directions: its five layouts, and a word.

    >>> [item.kind for item in derivation(Random(1))]
    ['1 tile', '2 operands', '3 units', '4 canonical form', '5 advance', '6 word']
    """
    for _ in range(DRAWS):
        tile = draw_tile(rng, pick(rng, ("K", "MN")))
        offsets = derived_tile(*tile).offsets_bytes()
        rows, columns = len(offsets), len(offsets[0])
        place = below(rng, rows), below(rng, columns)
        if rows == 1 or columns == 1 or not sum(place):
            continue
        drafts = [stage_draft(tile, name) for name in STEPS]
        drafts.append(word_draft(tile, ALIGNED * (1 + below(rng, 95)), *place))
        whole: list[Item] = []
        for name, draft, marks in zip((*NAMES, "6 word"), drafts, MARKS, strict=True):
            item = proved_item(Kind(name, 11, 3, lambda rng: None), draft, marks)
            if item is None:  # seen at once where the tile has too few atoms to mistake their order
                break
            whole.append(item)
        else:
            return tuple(whole)
    raise DescriptorError(f"papers: a tile with operands both ways must be found within {DRAWS} draws, found none")


def _stage_of(rng: Random, name: str) -> Draft:
    return stage_draft(draw_tile(rng, pick(rng, ("K", "K", "MN"))), name)


#: The kinds of this module, in the order of the lessons.
KINDS = (
    Kind("SBO of K", 11, 1, partial(field, major="K", name="stride_byte_offset")),
    Kind("LBO of MN", 11, 2, partial(field, major="MN", name="leading_byte_offset")),
    Kind("SBO of MN", 11, 2, partial(field, major="MN", name="stride_byte_offset")),
    Kind("word of K", 11, 2, partial(word, major="K")),
    Kind("word of MN", 11, 3, partial(word, major="MN")),
    Kind("advance", 12, 2, advance),
    Kind("word inside", 12, 3, partial(word, major="K", inside=True)),
    Kind("clinic", 13, 3, mend),
    *(Kind(name, 11, 3, partial(_stage_of, name=step)) for name, step in NAMES.items()),
)
