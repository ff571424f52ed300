"""The panel of one access: lines of 128 bytes over 32 banks, what is read framed, the words of each bank as bars.

>>> from descriptors import derive
>>> from descriptors.pictures.conflicts.accesses import views
>>> view, _ = views(derive((128, 128), "bf16", "K", "128B", (64, 16)))
>>> bank_panel(Figure(), view, LEFT, 8, ("No swizzle", "Eight words."), 50) > 300
True
"""

from __future__ import annotations

from descriptors.operands.operand import LINE_BYTES
from descriptors.pictures.conflicts.accesses import BANKS, WORD_BYTES, View
from descriptors.pictures.parts.panels import Frame, border, hairs
from descriptors.text import counted
from layoutalg import Figure

#: Width of a panel of 32 banks, what lies left of it, and between two.
WIDE, LEFT, GAP = 432, 62, 92
#: How strong the units are that nobody reads.
FAINT = 0.35


def bank_panel(figure: Figure, view: View, x: float, most: int, words: tuple[str, str], y: float) -> float:
    """Draw the panel; where it ends below.

    Args:
        figure: what it is drawn on.
        view: the access.
        x: the left edge of its lines.
        most: the most words that a bar stands for.
        words: its heading, and the sentence below it.
        y: the baseline of its heading.
    """
    role = "good" if view.wavefronts <= 1 else "bad"
    figure.text(x, y + 14, words[0], "ink", 15, bold=True)
    figure.text(x + WIDE, y + 14, counted(view.wavefronts, "wavefront"), role, 15, "end", bold=True)
    count = len(view.lines)
    frame = Frame(x, y + 56, WIDE, count * (26 if count <= 10 else 18), count, BANKS)
    figure.text(x - 10, y + 48, "bank", "muted", 10.5, "end", mono=True)
    banks = [(x + (4 * i + 0.5) * WIDE / BANKS, y + 48, str(4 * i)) for i in range(8)]
    figure.texts(banks, "muted", 10.5, "middle", mono=True)
    _lines(figure, view, frame)
    top, tall = frame.y + frame.height + 30, min(96, max(24, 12 * most))
    _bars(figure, view, (x, top, WIDE, tall), most, role)
    return figure.paragraph(x, top + tall + 24, words[1], WIDE)


def _lines(figure: Figure, view: View, frame: Frame) -> None:
    """The 16-byte units of the lines, those that are read strong and framed, the others faint."""
    units = Frame(*frame.box, frame.rows, 8)
    wide, high = units.step
    asked = {one // 16 for one in view.addresses}
    marked = [[8 * line + i in asked for i in range(8)] for line in view.lines]
    for strong, opacity in ((False, FAINT), (True, 1.0)):
        roles = [
            [
                Figure.kind(unit) if unit is not None and mark is strong else None
                for unit, mark in zip(*row, strict=True)
            ]
            for row in zip(view.units, marked, strict=True)
        ]
        figure.cells(frame.x, frame.y, wide, high, roles, opacity)
    hairs(figure, frame)
    border(figure, units, "chunk", 1, 8, outer=False)
    figure.border(*frame.box, "tile", line=1.6)
    middles = [frame.y + (i + 0.5) * high + 4 for i in range(frame.rows)]
    left = [(frame.x - 10, y, f"0x{line * LINE_BYTES:03x}") for y, line in zip(middles, view.lines, strict=True)]
    figure.texts(left, "muted", 10.5, "end", mono=True)
    quiet = [
        (frame.x + (j + 0.5) * wide, middles[i], str(unit))
        for i, row in enumerate(view.units)
        for j, unit in enumerate(row)
        if unit is not None and not marked[i][j]
    ]
    figure.texts(quiet, "muted", 11, "middle", mono=True)
    _frames(figure, view, frame)


def _frames(figure: Figure, view: View, frame: Frame) -> None:
    """A frame around what each lane reads, its name inside where there is room."""
    wide, high = frame.step
    called: dict[int, str] = {}
    for lane, name in zip(view.phase, view.names, strict=True):
        address = view.access.addresses[lane]
        if address is not None:
            called.setdefault(address, name)
    texts = []
    for address in sorted(called):
        line, within = divmod(address, LINE_BYTES)
        x, y = frame.x + within / WORD_BYTES * wide, frame.y + (line - view.lines[0]) * high
        across = view.access_bytes / WORD_BYTES * wide
        figure.border(x, y, across, high, "tile", line=2)
        if figure.width_of(called[address], 11, bold=True) + 6 <= across:
            texts.append((x + across / 2, y + high / 2 + 4, called[address]))
    figure.texts(texts, "ink", 11, "middle", bold=True)


def _bars(figure: Figure, view: View, box: tuple[float, float, float, float], most: int, role: str) -> None:
    """How many words each bank serves, on a scale up to ``most``."""
    x, top, wide, tall = box
    marks = [1, most] if 1 < most < 4 else sorted({1, most // 2, most}) if most > 1 else [1]
    for value in marks:
        y = top + tall - tall * value / most
        figure.lines([(x, y, x + wide, y)], "hair", 0.8)
        if value in (1, most) or tall / most * (value - 1) >= 12:
            figure.text(x + wide + 8, y + 4, str(value), "muted", 10.5, mono=True)
    figure.bars(x, top, wide, tall, view.words, most, role)
    figure.text(x - 10, top + tall / 2 + 4, "words", "muted", 11, "end")
