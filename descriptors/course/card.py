"""The notation card: its content, and its text for a terminal.

Its source is `course/card.md`, with sections of lines ``- `expression` words``; the values of the expressions are
computed. The bits of a swizzle, the fields of a descriptor and the units are computed too; the terms come from the
lessons.

Invariant: the card states it if an example has no value.

>>> [row.value for row in rows("- `size(4:2)` how many\\n- `composition((6,2):(1,7), (3,2):(2,3))` refused")]
['4', 'no layout: at coordinate (2,1) of b, a(4 + 3) = 8, but a(4) + a(3) = 7']
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from descriptors.course.catalog import folder, lessons
from descriptors.smem.derivation.derive import derive
from descriptors.smem.words.descriptor import MNEMONICS, Arch, smem_word
from layoutalg import SWIZZLE_MODES, LayoutError, Swizzle, evaluate, upcast
from layoutalg.frozen import frozen

_ROW = re.compile(r"^- `([^`]+)` (.+)$", re.M)
#: The names of the bits of a swizzle: those that are read, those that change, and the others.
READ, CHANGED, STAYS = "Y", "Z", "."


@frozen
class Row:
    """A line of the card: an expression, its value, and a comment; each may be empty."""

    written: str
    value: str
    words: str


@frozen
class Section:
    """A heading with its lines; ``kind`` is ``operations``, ``bits``, ``fields``, ``units`` or ``words``."""

    kind: str
    title: str
    rows: tuple[Row, ...]


def sections() -> list[Section]:
    """Return the sections of the card.

    >>> [section.title for section in sections()][-5:]
    ['Swizzle<3,4,3>, in bytes', 'Descriptor word, sm90', 'Descriptor word, sm100', 'Units', 'Words, with their lesson']
    """
    _, *texts = (folder() / "card.md").read_text(encoding="utf-8").split("\n## ")
    parts = [Section("operations", text.partition("\n")[0], tuple(rows(text))) for text in texts]
    parts.append(Section("bits", "Swizzle<3,4,3>, in bytes", tuple(bits(Swizzle(3, 4, 3)))))
    parts += [Section("fields", f"Descriptor word, {arch}", tuple(fields(arch))) for arch in MNEMONICS]
    parts.append(Section("units", "Units", tuple(units())))
    words = (Row(word, str(lesson.number), meaning) for lesson in lessons() for word, meaning in lesson.words)
    return [
        *parts,
        Section("words", "Words, with their lesson", tuple(sorted(words, key=lambda row: row.written.lower()))),
    ]


def rows(text: str) -> Iterator[Row]:
    """Yield the lines of a section of the source with their values; a value equal to its expression is omitted."""
    for written, words in _ROW.findall(text):
        try:
            value = evaluate(written)
            value_text = ", at offset ".join(map(str, value)) if _has_offset(value) else str(value).replace(", ", ",")
        except LayoutError as error:
            value_text = f"no layout: {str(error).partition(';')[0].rpartition(': ')[2]}"
        yield Row(written, "" if value_text == written else value_text, words)


def _has_offset(value: Any) -> bool:
    """Return whether a value is a pair of a layout and an offset."""
    return isinstance(value, tuple) and not isinstance(value[0], int)


def bits(swizzle: Swizzle) -> Iterator[Row]:
    """Yield the bits that a swizzle reads and changes, the highest first, and one offset as an example.

    >>> [row.value for row in bits(Swizzle(1, 1, 2))][:2]
    ['3 2 1 0', 'Y . Z .']
    """
    width = swizzle.base + swizzle.bits + abs(swizzle.shift)
    changed = [swizzle(1 << k) ^ 1 << k for k in range(width)]
    targets = {bits.bit_length() - 1 for bits in changed if bits}
    named = [READ if changed[k] else CHANGED if k in targets else STAYS for k in range(width)]
    digits = max(len(str(width - 1)), 1)
    yield Row("bit", " ".join(str(k).rjust(digits) for k in reversed(range(width))), "")
    yield Row("part", " ".join(name.rjust(digits) for name in reversed(named)), "Z becomes Z xor Y; the others stay")
    example = sum(1 << k for k in range(width) if named[k] == READ and k % 2) + (1 << swizzle.base)
    for name, value in (("offset", example), (f"{swizzle}", swizzle(example))):
        yield Row(name, " ".join(digit.rjust(digits) for digit in f"{value:0{width}b}"), f"{value} = {value:#x}")


def fields(arch: Arch) -> Iterator[Row]:
    """Yield the fields of a descriptor with their bits and units."""
    for field in smem_word(arch).fields:
        codes = ", ".join(f"{getattr(meaning, 'value', meaning)} {code}" for meaning, code in field.codes)
        unit = (
            f"in units of {field.unit} bytes" if field.unit > 1 else codes or (field.default and f"is {field.default}")
        )
        last = field.low + field.bits - 1
        yield Row(f"{field.low}-{last}" if field.bits > 1 else str(last), field.name, unit or "")


def units() -> Iterator[Row]:
    """Yield the same sizes of a bf16 tile in different units."""
    tile = derive((128, 128), "bf16", "K", "128B", (64, 16))
    bytes_each = tile.element.storage_bits // 8
    word = tile.descriptor.stride_byte_offset
    yield Row("1 element of bf16", f"{bytes_each} bytes", "")
    yield Row("16 bytes", f"{tile.element.per_16_bytes} elements of bf16", "the unit of a word's fields")
    yield Row(f"{word} bytes", f"{word // 16} in the field", "stride byte offset of 128B, K-major")
    for name, swizzle in SWIZZLE_MODES.items():
        if swizzle.bits:
            in_elements = upcast(evaluate(f"{swizzle} o 0 o (8,128):(128,1)"), bytes_each)
            yield Row(
                f"swizzle {name}", str(swizzle), f"in bytes; in elements of bf16 {str(in_elements).partition(' ')[0]}"
            )


def tell_card() -> str:
    """Return the text of the card for a terminal.

    >>> print(tell_card().partition("\\n\\n")[0].splitlines()[2])
    ((4,8):(8,1))(2,3)              19   a layout at a coordinate: an offset
    """
    pieces = []
    for section in sections():
        wide = [max(len(getattr(row, name)) for row in section.rows) for name in ("written", "value")]
        lines = [section.title]
        for row in section.rows:
            value = row.value.ljust(wide[1]) if len(row.value) <= 40 else row.value
            lines.append(f"{row.written.ljust(min(wide[0], 44))}  {value}   {row.words.replace('`', '')}".rstrip())
        pieces.append("\n".join(lines))
    return "\n\n".join(pieces)
