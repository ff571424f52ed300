"""Judges of descriptor words and of counterexamples to statements about them.

Every word that reads each element from where it is stored is right. For a wrong word the hint is the first element that
is read from another address, not the wrong field.

Invariant: the derived word is right. If a bit is changed, the hint names an element.

>>> tile = ((64, 64), "bf16", "K", "128B", (64, 16))
>>> word("0x4000004000010000", *tile)
>>> word("0x4000002000010000", *tile)
'reads 896 of 1024 elements from elsewhere: element (8, 0) is stored at byte 1024 and is read at byte 576'

A counterexample is right if the statement is false for it. Two words that differ in one field are a counterexample to
the statement that the field is read, if both words read the same addresses.

>>> keywords = {"dtype": "bf16", "major": "K", "shape": [64, 16]}
>>> twins("0x4000004000010000, 0x4000004000000000", "sm90", keywords, [16, 30], "128B")
>>> twins("0x0000004000010000, 0x0000004000000000", "sm90", keywords, [16, 30], "128B")
'has the mode none, but the statement is about 128B'

A layout that no word can read is not a counterexample to a statement about words.

>>> row_step("(64,16):(64,2)", "bf16", 8)[:59]
'has no word: derive: neither dimension is contiguous over 8'
>>> row_step("S<2,3,3> o 0 o (64,16):(32,1)", "bf16", 8)

The answer to several statements begins with the letter of the statement that it refutes.

>>> claims = {"b": ["row step", "bf16", 8]}
>>> refuted("b: S<3,3,3> o 0 o (64,16):(64,1)", claims)
'has rows 8 units of 16 bytes apart, as the statement says'
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

#: The fields of a descriptor by the names that students use.
FIELDS = {
    "start": "start_address",
    "lbo": "leading_byte_offset",
    "sbo": "stride_byte_offset",
    "base offset": "base_offset",
    "swizzle": "swizzle",
    "mode": "swizzle",
}


def word(answer: str, *tile: Any) -> str | None:
    """Judge a descriptor word that must read the first operand of a tile."""
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
    """Judge LBO and SBO, in bytes, that must read the first operand of a tile."""
    named = re.findall(r"(lbo|sbo)\W*(\w+)", answer.lower())  # LBO 1024, SBO 256, in either order
    derivation = derived_tile(*tile)
    leading, stride = integers_of(" ".join(value for _, value in sorted(named)) if len(named) == 2 else answer, 2)
    changed = replace(derivation.descriptor, leading_byte_offset=leading, stride_byte_offset=stride)
    return word(hex(changed.encode()), *tile)


def corrected(answer: str, wrong_word: str, layout: str, arch: Arch, keywords: Mapping[str, Any]) -> str | None:
    """Judge the name of the wrong field of a word, and a corrected word.

    The field is right if changing this field alone corrects the word.
    """
    text = WORD.search(answer) or re.search(r"\b(?:0x|\d{5})\w+", answer)
    name = answer.lower().replace(text[0].lower() if text else "", "").replace("_", " ")
    long_names = [
        long for short, long in FIELDS.items() if re.search(rf"\b(?:{short}|{long.replace('_', ' ')})\b", name)
    ]
    if text is None or len(set(long_names)) != 1:
        return f"must be a field ({', '.join(FIELDS)}) and the corrected word, such as start 0x0123456789abcdef"
    key = next(short for short, long in FIELDS.items() if long == long_names[0])
    answer_word, wrong_number, fields = words_of(text[0])[0], words_of(wrong_word)[0], smem_word(architecture(arch))
    if answer_word == wrong_number:
        return "is the wrong word itself"
    wrong = mismatch_of(compared(answer_word, layout, arch, keywords))
    if wrong:
        return wrong
    mask = fields[FIELDS[key]].mask
    if not (answer_word ^ wrong_number) & mask:
        return f"has a right word, but its {key} is that of the wrong word"
    if mismatch_of(compared(wrong_number & ~mask | answer_word & mask, layout, arch, keywords)):
        return f"has a right word, but the wrong word stays wrong if only its {key} is changed"
    return None


def codes(answer: str, *questions: tuple[str, str]) -> str | None:
    """Judge the codes of swizzle modes in descriptors of ``sm90`` and ``sm100``, in tensor maps (``tma``), or the bytes
    of their lines (``bytes``).
    """
    for number, (mode, numbering) in zip(integers_of(answer, len(questions)), questions, strict=True):
        other_mode = _CODES[numbering].get(number)
        if other_mode is not as_swizzle_mode(mode):
            meaning = f"the mode {other_mode}" if other_mode else "no mode"
            return f"says {number} for {_NUMBERINGS[numbering]}, where that is {meaning}"
    return None


def mismatch_of(difference: Diff) -> str | None:
    """Return a comparison as a hint: the first element that is read from another address; None if there is none."""
    if not difference.differing:
        return None
    if difference.unreadable:
        return f"cannot be compared: {difference.unreadable}"
    first = difference.mismatches[0]
    addresses = f"is stored at {first.unit} {first.expected} and is read at {first.unit} {first.found}"
    bytes_for_units = [
        f"; its {change.field.replace('_', ' ')} is in bytes, but the field counts units of 16 bytes"
        for change in difference.changes
        if type(change.right) is int and change.right and change.found == 16 * change.right
    ]
    wrong = f"reads {difference.differing} of {product(difference.shape)} elements from elsewhere: "
    wrong += f"element {first.coordinate} {addresses}"
    return wrong + "".join(bytes_for_units[:1])


def field(answer: str, name: str, *tile: Any) -> str | None:
    """Judge a field of the derived word of a tile, in bytes."""
    right, (number,) = getattr(derived_tile(*tile).descriptor, name), integers_of(answer, 1)
    if number == right:
        return None
    unit = " (that is the field in units of 16 bytes)" if number * 16 == right else ""
    return f"says {answer} bytes, which is not the {name.replace('_', ' ')}{unit}"


def compared(number: int, layout: str, arch: Arch, keywords: Mapping[str, Any]) -> Diff:
    """Compare a word with a layout; ``keywords`` are those of ``diff``, with tuples written as lists."""
    arguments: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in keywords.items()
    }
    return diff(number, layout, arch, **arguments)


#: The names that lessons use for the numberings of the swizzle modes.
_NUMBERINGS = {"sm90": "wgmma", "sm100": "tcgen05", "tma": "a tensor copy", "bytes": "a line in bytes"}
_CODES: dict[str, dict[int, Any]] = {
    arch: {code: mode for mode, code in smem_word(arch)["swizzle"].codes} for arch in MNEMONICS
}
_CODES |= {"tma": {code: mode for mode, (_, code) in SWIZZLES.items()}}
_CODES |= {"bytes": {mode.span_bytes: mode for mode in _CODES["sm90"].values()}}


#: The address of each element, by row and column.
Addresses = tuple[tuple[int, ...], ...]


def twins(
    answer: str, arch: Arch, keywords: Mapping[str, Any], bits: Sequence[int], mode: str | None = None
) -> str | None:
    """Judge two words that may differ only in some bits and must read the same addresses.

    Args:
        answer: the two words.
        arch, keywords: the architecture, and the type, major and shape of the operand.
        bits: the lowest bit that may differ, and the first bit above these.
        mode: the swizzle mode of the statement; default: any.
    """
    first, second = words_of(answer, 2)
    low, high = bits
    if first == second:
        return "is the same word twice"
    if (first ^ second) & ~((1 << high) - (1 << low)):
        return f"differs in more than the bits {low} to {high - 1}"
    modes = [str(smem_word(architecture(arch)).decode(word)["swizzle"]) for word in (first, second)]
    if mode is not None and modes[0] != mode:
        return f"has the mode {modes[0]}, but the statement is about {mode}"
    addresses = _addresses(first, arch, keywords), _addresses(second, arch, keywords)
    if len({address for row in addresses[0] for address in row}) < len(addresses[0]) * len(addresses[0][0]):
        return "reads some addresses twice, so that it does not describe an operand"
    coordinate = _first_difference(*addresses)
    if coordinate is None:
        return None
    return f"reads element {coordinate} from bytes {' and '.join(str(_at(rows, coordinate)) for rows in addresses)}"


def _addresses(word: int, arch: Arch, keywords: Mapping[str, Any]) -> Addresses:
    shape = (keywords["shape"][0], keywords["shape"][1])
    return read(word, arch, dtype=keywords["dtype"], major=keywords["major"], shape=shape).addresses


def _at(addresses: Addresses, coordinate: tuple[int, int]) -> int:
    return addresses[coordinate[0]][coordinate[1]]


def _first_difference(addresses: Addresses, other_addresses: Addresses) -> tuple[int, int] | None:
    cells = (
        (i, k) for i, row in enumerate(addresses) for k, address in enumerate(row) if address != other_addresses[i][k]
    )
    return next(cells, None)


#: The largest number of operands in a tile of ``split``.
MOST = 64


def row_step(answer: str, dtype: str, units: int) -> str | None:
    """Judge a K-major layout with a word, whose rows must not be ``units`` units of 16 bytes apart."""
    form_matched = _matched(answer, dtype)
    if isinstance(form_matched, str):
        return form_matched
    if form_matched.form.major is not Major.K:
        return "is MN-major, but the statement is about K-major"
    step = form_matched.form.mode.span_bytes // 16
    return None if step != units else f"has rows {units} units of 16 bytes apart, as the statement says"


def swapped(answer: str, dtype: str) -> str | None:
    """Judge an MN-major layout whose word must step along K by LBO.

    This is so if another LBO moves elements with k > 0 and no others.
    """
    form_matched = _matched(answer, dtype)
    if isinstance(form_matched, str):
        return form_matched
    if form_matched.form.major is not Major.MN:
        return "is K-major, but the statement is about MN-major"
    shape = _extents(answer)
    words = [
        SmemDescriptor(
            "sm90", form_matched.leading_byte_offset + more, form_matched.stride_byte_offset, form_matched.form.mode
        ).encode()
        for more in (0, 4096)
    ]
    first, second = (read(word, "sm90", dtype=dtype, major="MN", shape=shape).addresses for word in words)
    moved = {(i, k) for i, row in enumerate(first) for k, address in enumerate(row) if address != second[i][k]}
    if not moved:
        return "is too small: it has no step by LBO"
    along_mn = any(k == 0 for _, k in moved)
    return "has an LBO that steps along MN, as the statement says" if along_mn else None


def split(answer: str, dtype: str, rows: int, k: int) -> str | None:
    """Judge a tile that must have no word although each of its operands has one."""
    layout = str(written_layout(answer))
    try:
        match(layout, dtype)
    except DescriptorError:
        pass
    else:
        return "has a single word"
    extents = _extents(answer)
    if extents[0] % rows or extents[1] % k:
        return f"is not a tile of {rows} by {k} operands: it is {extents[0]} by {extents[1]}"
    if extents[0] // rows * (extents[1] // k) > MOST:
        return f"has more than {MOST} operands: choose a smaller tile"
    for coordinate in ((i, j) for i in range(extents[0] // rows) for j in range(extents[1] // k)):
        difference = diff(0, layout, "sm90", dtype=dtype, major="K", shape=(rows, k), subtile=coordinate, base=0)
        if difference.right_word is None:
            return f"has an operand without a word, {coordinate}: {difference.reason}"
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
    """Judge a letter and a counterexample to the statement with this letter.

    Args:
        answer: the answer, such as ``b: S<2,3,3> o 0 o (64,16):(32,1)``.
        claims: by letter, the judge of the counterexamples and its operands.
    """
    head = _LETTER.match(answer)
    letter, rest = (head[1].lower(), answer[head.end() :]) if head else ("", "")
    if letter not in claims or not rest:
        return f"must begin with one of {', '.join(claims)}, followed by a counterexample"
    name, *operands = claims[letter]
    return JUDGES[name](rest, *operands)


#: The judges, by the names that exercises use.
JUDGES: dict[str, Callable[..., str | None]] = {
    "word": word,
    "field": field,
    "offsets": offsets,
    "mended": corrected,
    "codes": codes,
    "twins": twins,
    "row step": row_step,
    "swapped": swapped,
    "split": split,
    "refuted": refuted,
}
