"""A descriptor word as a bar of bits, bit 63 on the left: its fields, what each of them stores, and what is unused.

>>> from descriptors.words.sm100 import SMEM_DESCRIPTOR
>>> figure = Figure()
>>> word_panel(figure, 0, 0, 1240, SMEM_DESCRIPTOR, 0x4000404000010000, moves=("start_address",)) > 0
True
"""

from __future__ import annotations

from collections.abc import Sequence

from descriptors.words.bitfield import Field, Word
from layoutalg import Figure

#: Height of the bar, and of a line of names below it.
HIGH, LINE = 52, 17

#: What each field is called where there is room for few letters.
_BRIEF = {"leading_byte_offset": "LBO", "stride_byte_offset": "SBO"}


def field_role(name: str, moves: Sequence[str] = (), idle: Sequence[str] = ()) -> str:
    """What a field is filled with: one that moves, one that is read, one that nobody reads.

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
    """The bar of a word; where it ends below.

    Args:
        figure: what it is drawn on.
        x, y: upper left corner of the bar.
        width: of the bar.
        layout: its fields.
        word: the bits.
        moves: fields that change from subtile to subtile, or that are wrong.
        idle: fields that change nothing.
    """
    bit = width / layout.bits
    figure.box(x, y, width, HIGH, "faint")
    names: list[tuple[float, str, str]] = []
    for field in sorted(layout.fields, key=lambda one: -one.low):
        left, wide = x + (layout.bits - field.low - field.bits) * bit, field.bits * bit
        figure.box(left, y, wide, HIGH, field_role(field.name, moves, idle), "rule", 1)
        _bits(figure, field, left, wide, y)
        stored = f"0x{(word & field.mask) >> field.low:x}"
        role = "muted" if field.name in idle else "ink"
        if figure.width_of(field.name, 13, bold=True) + 12 <= wide:
            figure.text(left + wide / 2, y + 22, field.name, role, 13, "middle", bold=True)
            figure.text(left + wide / 2, y + 41, stored, role, 12, "middle", mono=True)
        else:
            short = stored if figure.width_of(stored, 11, mono=True) + 2 <= wide else stored.removeprefix("0x")
            figure.text(left + wide / 2, y + 30, short, role, 11, "middle", mono=True)
            names.append((left + wide / 2, _BRIEF.get(field.name, field.name), role))
    figure.box(x, y, width, HIGH, None, "rule", 1)
    return _below(figure, names, y + HIGH)


def _bits(figure: Figure, field: Field, left: float, wide: float, y: float) -> None:
    """The numbers of a field's highest and lowest bit, above it."""
    high, low = field.low + field.bits - 1, field.low
    if field.bits == 1:
        figure.text(left + wide / 2, y - 6, str(low), "muted", 9.5, "middle", mono=True)
        return
    figure.text(left + 2, y - 6, str(high), "muted", 9.5, mono=True)
    figure.text(left + wide - 2, y - 6, str(low), "muted", 9.5, "end", mono=True)


def _below(figure: Figure, names: list[tuple[float, str, str]], y: float) -> float:
    """Names of narrow fields below the bar, each on the first line where it touches no other; the last line."""
    ends: list[float] = []
    for middle, name, role in names:
        half = figure.width_of(name, 11.5) / 2 + 5
        line = next((i for i, end in enumerate(ends) if end <= middle - half), len(ends))
        ends[line : line + 1] = [middle + half]
        base = y + 18 + LINE * line
        figure.lines([(middle, y, middle, base - 11)], "rule", 0.8)
        figure.text(middle, base, name, role, 11.5, "middle")
    return y + 18 + LINE * max(len(ends) - 1, 0)
