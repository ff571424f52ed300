"""Draw a descriptor as a bar of bits with bit 63 on the left, and a table of its fields with their meanings.

>>> from descriptors import decode
>>> word = WordPicture(decode(0x4000404000010000, "sm100", dtype="bf16", major="K")).record()
>>> word["fields"][2]["name"], word["fields"][2]["stored"], word["fields"][2]["value"]
('stride_byte_offset', 64, 1024)
>>> from descriptors.smem.words.descriptor import SM100_DESCRIPTOR
>>> word_panel(Figure(), 0, 0, 1240, SM100_DESCRIPTOR, 0x4000404000010000, moves=("start_address",)) > 0
True
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from descriptors.answers import plain_data
from descriptors.show.pictures.panels import story
from descriptors.smem.debug.decode import Decoded
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.words.bitfield import Field, Word, span
from descriptors.smem.words.descriptor import smem_word
from descriptors.text import aligned, word_text
from layoutalg import Figure, Picture, Scene
from layoutalg.frozen import frozen

#: The width of the bar, the left edges of the columns of the table below it, the height of a line.
WIDE, COLUMNS, LINE = Figure.ROOM - 16, (0, 32, 112, 280, 372, 470), 25


@frozen
class WordPicture(Picture):
    """The picture of a decoded descriptor.

    Args:
        decoded: the descriptor.
        wrong: names of fields to mark.
    """

    decoded: Decoded
    wrong: tuple[str, ...] = ()

    def record(self) -> dict[str, Any]:
        """Return the numbers that are drawn."""
        word = self.decoded
        return {
            "kind": "word",
            "word": word_text(word.word),
            "arch": word.arch,
            "fields": [
                {"name": row.name, "low": row.field.low, "bits": row.field.bits, "stored": row.stored,
                 "value": plain_data(row.value), "meaning": row.meaning, "dont_care": row.dont_care}
                for row in word.fields
            ],
            "unknown_bits": word_text(word.unknown_bits),
        }  # fmt: skip

    def scene(self) -> Scene:
        """Draw the bar of bits, and a line for each field."""
        word, figure = self.decoded, Figure()
        title = word_text(word.word)
        y = figure.heading(0, 0, title, f"{self._what()}; bit 63 is on the left.", WIDE, mono=True) + 24
        idle = word.dont_care
        y = word_panel(figure, 0, y, WIDE, smem_word(word.arch), word.word, moves=self.wrong, idle=idle) + 40
        heads = ("bits", "field", "value", "stored", "meaning")
        figure.texts(((x, y, head) for x, head in zip(COLUMNS[1:], heads, strict=True)), "muted", 11.5)
        figure.lines([(0, y + 8, WIDE, y + 8)], "rule", 0.8)
        y += LINE
        for row in word.fields:
            role = "muted" if row.dont_care else "ink"
            figure.box(
                2, y - 11, 18, 13, field_role(row.name, self.wrong, idle if row.dont_care else ()), "rule", 0.8, 2
            )
            figure.text(COLUMNS[1], y, span(row.field), role, 12, mono=True)
            figure.text(COLUMNS[2], y, row.name, role, 13, bold=not row.dont_care)
            figure.text(COLUMNS[3], y, str(plain_data(row.value)), role, 12, mono=True)
            figure.text(COLUMNS[4], y, str(row.stored), role, 12, mono=True)
            foot = (
                figure.paragraph(COLUMNS[5], y, row.meaning, WIDE - COLUMNS[5], role, 13) if row.meaning else y + LINE
            )
            y = max(y + LINE, foot + 5)
        for remark in (*word.warnings, *word.notes):
            bad = remark in word.warnings
            y = figure.paragraph(0, y + 6, f"{'warning' if bad else 'note'}: {remark}", WIDE, "bad" if bad else "muted")
        return figure.scene(title, f"{word.headline}. " + " ".join(f"{row.name} {row.value};" for row in word.fields))

    def text(self, *, color: bool = False, width: int | None = None) -> str:
        """Return the bits from 63 down, field by field, and a table of the fields."""
        word = self.decoded
        bits = f"{word.word:064b}"
        pieces: list[tuple[str, str | None]] = []
        above = 64
        for row in sorted(word.fields, key=lambda row: -row.field.low):
            high = row.field.low + row.field.bits
            pieces += [(bits[64 - above : 64 - high], None)] if above > high else []
            # Unread fields keep the background of the terminal. On a dark one, any color would be the brightest.
            role = None if row.dont_care else field_role(row.name, self.wrong, ())
            pieces.append((bits[64 - high : 64 - row.field.low], role))
            above = row.field.low
        pieces += [(bits[64 - above :], None)] if above else []
        line = " ".join(Picture.painted(text, role) if color else text for text, role in pieces)
        rows = [
            (span(row.field), row.name, plain_data(row.value), row.stored, row.meaning)
            for row in sorted(word.fields, key=lambda row: -row.field.low)
        ]
        return story([word.headline, "", f"   {line}", "", *aligned(rows, "<<>><", indent=3)], width)

    def _what(self) -> str:
        return f"{self.decoded.arch} shared-memory descriptor" + (
            f" of {self.decoded.operand}" if self.decoded.operand else ""
        )


def word_of(d: Derivation, mn: int = 0, k: int = 0, stage: int = 0, base: int = 0) -> WordPicture:
    """Return the picture of the descriptor of one subtile.

    >>> from descriptors import derive
    >>> word_of(derive((128, 128), "bf16", "K", "128B", (64, 16)), 1, 2).record()["word"]
    '0x4000404000010204'
    """
    from descriptors.smem.debug.decode import decode

    word = d.word(mn, k, stage, base)
    return WordPicture(decode(word, d.arch, dtype=d.element, major=d.major, shape=d.mma))


#: Height of the bar, and of a line of names below it.
HIGH, NAME_LINE = 52, 17

#: Short names of fields.
_BRIEF = {"leading_byte_offset": "LBO", "stride_byte_offset": "SBO"}


def field_role(name: str, moves: Sequence[str] = (), idle: Sequence[str] = ()) -> str:
    """Return the fill role of a field: one that changes, one that is read, or one that is not read.

    >>> field_role("start_address", ["start_address"]), field_role("version"), field_role("version", (), ["version"])
    ('c3', 'r4', 'r1')
    """
    return "c3" if name in moves else "r1" if name in idle else "r4"


def word_panel(
    figure: Figure,
    x: float,
    y: float,
    width: float,
    layout: Word,
    word: int,
    *,
    moves: Sequence[str] = (),
    idle: Sequence[str] = (),
) -> float:
    """Draw the bar of a descriptor, and return its lower edge.

    Args:
        figure: the figure to draw on.
        x: left edge of the bar.
        y: upper edge of the bar.
        width: width of the bar.
        layout: the fields.
        word: the bits.
        moves: names of fields that change from subtile to subtile, or that are wrong.
        idle: names of fields that are not read.
    """
    bit = width / layout.bits
    figure.box(x, y, width, HIGH, "faint")
    names: list[tuple[float, str, str]] = []
    for field in sorted(layout.fields, key=lambda field: -field.low):
        left, wide = x + (layout.bits - field.low - field.bits) * bit, field.bits * bit
        figure.box(left, y, wide, HIGH, field_role(field.name, moves, idle), "rule", 1)
        _bits(figure, field, left, wide, y)
        stored = str((word & field.mask) >> field.low)
        role = "muted" if field.name in idle else "ink"
        if figure.width_of(field.name, 13, bold=True) + 12 <= wide:
            figure.text(left + wide / 2, y + 22, field.name, role, 13, "middle", bold=True)
            figure.text(left + wide / 2, y + 41, stored, role, 12, "middle", mono=True)
        else:
            figure.text(left + wide / 2, y + 30, stored, role, 11, "middle", mono=True)
            names.append((left + wide / 2, _BRIEF.get(field.name, field.name), role))
    figure.box(x, y, width, HIGH, None, "rule", 1)
    return _below(figure, names, y + HIGH)


def _bits(figure: Figure, field: Field, left: float, wide: float, y: float) -> None:
    """Write the numbers of the highest and the lowest bit above a field."""
    high, low = field.low + field.bits - 1, field.low
    if field.bits == 1:
        figure.text(left + wide / 2, y - 6, str(low), "muted", 10, "middle", mono=True)
        return
    figure.text(left + 2, y - 6, str(high), "muted", 10, mono=True)
    figure.text(left + wide - 2, y - 6, str(low), "muted", 10, "end", mono=True)


def _below(figure: Figure, names: list[tuple[float, str, str]], y: float) -> float:
    """Write the names of narrow fields below the bar, on as many lines as they need, and return the lower edge."""
    ends: list[float] = []
    for middle, name, role in names:
        half = figure.width_of(name, 11.5) / 2 + 5
        line = next((i for i, end in enumerate(ends) if end <= middle - half), len(ends))
        ends[line : line + 1] = [middle + half]
        base = y + 18 + NAME_LINE * line
        figure.lines([(middle, y, middle, base - 11)], "rule", 0.8)
        figure.text(middle, base, name, role, 11.5, "middle")
    return y + 18 + NAME_LINE * max(len(ends) - 1, 0)
