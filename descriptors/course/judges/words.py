"""Judges of descriptor words: what a tensor core would read with them, and counterexamples to sentences on them.

A right word is any word with which every element is read from where it is stored; where one is not, the first such
element is the hint, and not the field.

Invariant: the word that is derived is right, and with one bit more it is told an element that comes from elsewhere.

>>> tile = ((64, 64), "bf16", "K", "128B", (64, 16))
>>> word("0x4000004000010000", *tile)
>>> word("0x4000002000010000", *tile)
'reads 896 of 1024 elements from elsewhere: element (8, 0) lies at byte 1024 and is read at byte 576'

A judge of a counterexample says what the sentence is taken to claim; an answer is right if it is an instance of which
the claim is false. A pair of words that differ in one field counts only where the field moves nothing, or only where it
does.

>>> keywords = {"dtype": "bf16", "major": "K", "shape": [64, 16]}
>>> twins("0x4000004000010000, 0x4000004000000000", "sm90", keywords, [16, 30], "128B")
>>> twins("0x0000004000010000, 0x0000004000000000", "sm90", keywords, [16, 30], "128B")
'has the mode none, where the sentence is about 128B'

A layout that no word can read is no counterexample to what is said of words.

>>> row_step("(64,16):(64,2)", "bf16", 8)[:59]
'has no word: derive: neither dimension is contiguous over 8'
>>> row_step("S<2,3,3> o 0 o (64,16):(32,1)", "bf16", 8)

Of several sentences one is refuted, by its letter.

>>> claims = {"b": ["row step", "bf16", 8]}
>>> refuted("b: S<3,3,3> o 0 o (64,16):(64,1)", claims)
'has rows 8 units of 16 bytes apart, as the sentence says'
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from descriptors.course.judges.answers import WORD, integers_of, words_of, written_layout
from descriptors.course.judges.tiles import derived_tile
from descriptors.errors import DescriptorError
from descriptors.smem.debug.diff import Diff, diff
from descriptors.smem.debug.read import read
from descriptors.smem.operands.canonical import Match
from descriptors.smem.operands.match import match
from descriptors.smem.operands.operand import Major, as_swizzle_mode
from descriptors.smem.words.descriptor import MNEMONICS, Arch, SmemDescriptor, architecture, smem_word
from descriptors.smem.words.tensor_map import SWIZZLES
from layoutalg import product, size
from layoutalg.frozen import replace

#: What people call the fields.
FIELDS = {
    "start": "start_address",
    "lbo": "leading_byte_offset",
    "sbo": "stride_byte_offset",
    "base offset": "base_offset",
    "swizzle": "swizzle",
    "mode": "swizzle",
}


def word(answer: str, *tile: Any) -> str | None:
    """A descriptor word that makes the tensor core read the first operand of a tile, element for element."""
    derivation = derived_tile(*tile)
    return mismatch_of(
        diff(
            words_of(answer)[0],
            derivation.smem_tile,
            "sm90",
            dtype=derivation.element,
            major=derivation.major,
            shape=derivation.mma,
            base=0,
        )
    )


def offsets(answer: str, *tile: Any) -> str | None:
    """LBO and SBO, in bytes, with which the first operand of a tile is read from where it lies."""
    named = re.findall(r"(lbo|sbo)\W*(\w+)", answer.lower())  # LBO 1024, SBO 256, in either order
    derivation = derived_tile(*tile)
    leading, stride = integers_of(" ".join(value for _, value in sorted(named)) if len(named) == 2 else answer, 2)
    changed = replace(derivation.descriptor, leading_byte_offset=leading, stride_byte_offset=stride)
    return word(hex(changed.encode()), *tile)


def mended(answer: str, broken: str, layout: str, arch: Arch, keywords: Mapping[str, Any]) -> str | None:
    """The field of a broken word that is wrong, and a word that reads the layout.

    The field is right if the broken word reads the layout as soon as that field alone is as in the answer.
    """
    text = WORD.search(answer) or re.search(r"\b(?:0x|\d{5})\w+", answer)
    name = answer.lower().replace(text[0].lower() if text else "", "").replace("_", " ")
    named = [long for short, long in FIELDS.items() if re.search(rf"\b(?:{short}|{long.replace('_', ' ')})\b", name)]
    if text is None or len(set(named)) != 1:
        return f"must be a field ({', '.join(FIELDS)}) and the mended word, as: start 0x0123456789abcdef"
    key = next(short for short, long in FIELDS.items() if long == named[0])
    mine, before, fields = words_of(text[0])[0], words_of(broken)[0], smem_word(architecture(arch))
    if mine == before:
        return "is the broken word itself"
    wrong = mismatch_of(compared(mine, layout, arch, keywords))
    if wrong:
        return wrong
    mask = fields[FIELDS[key]].mask
    if not (mine ^ before) & mask:
        return f"has a right word, but its {key} is that of the broken word"
    if mismatch_of(compared(before & ~mask | mine & mask, layout, arch, keywords)):
        return f"has a right word, but the broken one stays broken with this {key} alone"
    return None


def codes(answer: str, mode: str, *where: str) -> str | None:
    """The numbers that a swizzle mode has: in a word of ``sm90``, of ``sm100``, or in a tensor map, ``tma``."""
    mine, right_mode = integers_of(answer, len(where)), as_swizzle_mode(mode)
    for number, place in zip(mine, where, strict=True):
        named = _CODES[place].get(number)
        if named is not right_mode:
            meaning = f"the mode {named}" if named else "no mode"
            return f"says {number} for {_CALLED[place]}, where that is {meaning}"
    return None


def mismatch_of(difference: Diff) -> str | None:
    """A comparison as a hint: the first element that is read from elsewhere."""
    if not difference.differing:
        return None
    if difference.unreadable:
        return f"says nothing: {difference.unreadable}"
    first = difference.mismatches[0]
    at = f"element {first.coordinate} lies at {first.unit} {first.expected} and is read at {first.unit} {first.found}"
    bytes_for_units = [
        f"; its {one.field.replace('_', ' ')} counts bytes, where the field counts 16 bytes"
        for one in difference.changes
        if type(one.right) is int and one.right and one.found == 16 * one.right
    ]
    wrong = f"reads {difference.differing} of {product(difference.shape)} elements from elsewhere: {at}"
    return wrong + "".join(bytes_for_units[:1])


def field(answer: str, name: str, *tile: Any) -> str | None:
    """A field of the word that is derived for a tile, in bytes."""
    right, (mine,) = getattr(derived_tile(*tile).descriptor, name), integers_of(answer, 1)
    if mine == right:
        return None
    unit = " (that is the field in units of 16 bytes)" if mine * 16 == right else ""
    return f"says {answer} bytes, which is not the {name.replace('_', ' ')}{unit}"


def compared(number: int, layout: str, arch: Arch, keywords: Mapping[str, Any]) -> Diff:
    """A word beside a layout, as ``diff`` compares them; ``keywords`` holds its keywords, tuples written as lists."""
    arguments: dict[str, Any] = {key: tuple(one) if isinstance(one, list) else one for key, one in keywords.items()}
    return diff(number, layout, arch, **arguments)


#: The three numberings of the swizzle modes, and what a lesson calls where they stand.
_CALLED = {"sm90": "wgmma", "sm100": "tcgen05", "tma": "a tensor copy"}
_CODES: dict[str, dict[int, Any]] = {
    arch: {code: mode for mode, code in smem_word(arch)["swizzle"].codes} for arch in MNEMONICS
}
_CODES |= {"tma": {code: mode for mode, (_, code) in SWIZZLES.items()}}


Places = tuple[tuple[int, ...], ...]


def twins(
    answer: str, arch: Arch, keywords: Mapping[str, Any], bits: Sequence[int], mode: str | None = None
) -> str | None:
    """Two words that differ in some bits alone, and read the same places all the same.

    Args:
        answer: the two words.
        arch, keywords: how they are read: type, major, shape.
        bits: the lowest bit that may differ, and the first above.
        mode: the swizzle mode that the sentence is about; any if left out.
    """
    one, other = words_of(answer, 2)
    low, high = bits
    if one == other:
        return "is one word twice"
    if (one ^ other) & ~((1 << high) - (1 << low)):
        return f"differs in more than the bits {low} to {high - 1}"
    modes = [str(smem_word(architecture(arch)).decode(word)["swizzle"]) for word in (one, other)]
    if mode is not None and modes[0] != mode:
        return f"has the mode {modes[0]}, where the sentence is about {mode}"
    places = _places(one, arch, keywords), _places(other, arch, keywords)
    if len({place for row in places[0] for place in row}) < len(places[0]) * len(places[0][0]):
        return "reads some places twice: such a word tells no operand"
    at = _differ(*places)
    return None if at is None else f"reads element {at} from two places: {_at(places[0], at)} and {_at(places[1], at)}"


def _places(word: int, arch: Arch, keywords: Mapping[str, Any]) -> Places:
    shape = (keywords["shape"][0], keywords["shape"][1])
    return read(word, arch, dtype=keywords["dtype"], major=keywords["major"], shape=shape).addresses


def _at(places: Places, at: tuple[int, int]) -> int:
    return places[at[0]][at[1]]


def _differ(one: Places, other: Places) -> tuple[int, int] | None:
    cells = ((i, k) for i, row in enumerate(one) for k, place in enumerate(row) if place != other[i][k])
    return next(cells, None)


#: The most operands of a tile that is looked at.
MOST = 64


def row_step(answer: str, dtype: str, units: int) -> str | None:
    """A K-major layout that one word reads, whose rows are not so many 16-byte units apart."""
    form_matched = _matched(answer, dtype)
    if isinstance(form_matched, str):
        return form_matched
    if form_matched.form.major is not Major.K:
        return "is MN-major, where the sentence is about K-major"
    step = form_matched.form.mode.span_bytes // 16
    return None if step != units else f"has rows {units} units of 16 bytes apart, as the sentence says"


def swapped(answer: str, dtype: str) -> str | None:
    """An MN-major layout whose word steps along K by LBO: with another LBO elements of other k move, and no others."""
    form_matched = _matched(answer, dtype)
    if isinstance(form_matched, str):
        return form_matched
    if form_matched.form.major is not Major.MN:
        return "is K-major, where the sentence is about MN-major"
    shape = _extents(answer)
    words = [
        SmemDescriptor(
            "sm90", form_matched.leading_byte_offset + more, form_matched.stride_byte_offset, form_matched.form.mode
        ).encode()
        for more in (0, 4096)
    ]
    one, other = (read(word, "sm90", dtype=dtype, major="MN", shape=shape).addresses for word in words)
    moved = {(i, k) for i, row in enumerate(one) for k, place in enumerate(row) if place != other[i][k]}
    if not moved:
        return "is too small: no step of LBO is taken in it"
    along_mn = any(k == 0 for _, k in moved)
    return "has an LBO that steps along MN, as the sentence says" if along_mn else None


def split(answer: str, dtype: str, rows: int, k: int) -> str | None:
    """A tile that one word cannot tell, though each of its operands has a word."""
    layout = str(written_layout(answer))
    try:
        match(layout, dtype)
    except DescriptorError:
        pass
    else:
        return "can be told by one word"
    extents = _extents(answer)
    if extents[0] % rows or extents[1] % k:
        return f"is no tile of operands of {rows} by {k}: it has {extents[0]} by {extents[1]}"
    if extents[0] // rows * (extents[1] // k) > MOST:
        return f"has more than {MOST} operands: a smaller tile will do"
    for at in ((i, j) for i in range(extents[0] // rows) for j in range(extents[1] // k)):
        difference = diff(0, layout, "sm90", dtype=dtype, major="K", shape=(rows, k), subtile=at, base=0)
        if difference.right_word is None:
            return f"has an operand without a word, {at}: {difference.reason}"
    return None


def _matched(answer: str, dtype: str) -> Match | str:
    try:
        return match(str(written_layout(answer)), dtype)
    except DescriptorError as error:
        return f"has no word: {error}"


def _extents(answer: str) -> tuple[int, int]:
    layout = written_layout(answer)
    return size(layout, mode=[0]), size(layout, mode=[1])


_LETTER = re.compile(r"\s*\(?([A-Za-z])\b\)?[\s:.]*")


def refuted(answer: str, claims: Mapping[str, Sequence[Any]]) -> str | None:
    """A letter, and a counterexample to the sentence of that letter.

    Args:
        answer: as ``b: S<2,3,3> o 0 o (64,16):(32,1)``.
        claims: of each letter the judge of its counterexamples, and its operands.
    """
    head = _LETTER.match(answer)
    letter, rest = (head[1].lower(), answer[head.end() :]) if head else ("", "")
    if letter not in claims or not rest:
        return f"must begin with one of {', '.join(claims)} and have a counterexample after it"
    name, *operands = claims[letter]
    return JUDGES[name](rest, *operands)


#: The judges, by the name that an exercise gives.
JUDGES: dict[str, Callable[..., str | None]] = {
    "word": word,
    "field": field,
    "offsets": offsets,
    "mended": mended,
    "codes": codes,
    "twins": twins,
    "row step": row_step,
    "swapped": swapped,
    "split": split,
    "refuted": refuted,
}
