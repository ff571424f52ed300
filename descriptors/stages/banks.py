"""Shared memory as lines over banks, without the swizzle and with it: what lies where, and what one access costs.

Law: a number in a line is the logical column of what lies there, and the element that the place stands for has it.

>>> from descriptors import derive
>>> made = banks(View(derive((128, 128), "bf16", "K", "128B", (64, 16)), cell=(3, 0)))
>>> [grid.cells[3][:4] for grid in made.grids]
[((3, 0), (3, 8), (3, 16), (3, 24)), ((3, 24), (3, 16), (3, 8), (3, 0))]
"""

from __future__ import annotations

from dataclasses import replace

from descriptors.pictures.parts.panels import Frame, every, hairs
from descriptors.pictures.parts.tables import table
from descriptors.stages.drawn import Cells, Drawn, Grid, Mark, drawn
from descriptors.stages.lines import cells, column, held, row
from descriptors.stages.reads import Read, reads
from descriptors.stages.view import PIECE, View
from descriptors.text import counted
from layoutalg import Figure

#: Width of a panel, height of a line, of the bars, and what lies between two panels.
WIDE, HIGH, BARS, GAP = 640, 22, 44, 58
#: The most lines of a panel.
MOST_LINES = 24


def banks(view: View) -> Drawn:
    """The lines that an access touches, in both forms, with the words that each bank must serve."""
    found, figure = reads(view), Figure()
    grids, marks, texts, y = [], list[Mark](), list[str](), 0.0
    most = max(max(one.words, default=1) for one in found)
    for one in found:
        looked = replace(view, swizzled=one.swizzled)
        lines = _lines(view, one)
        there = cells(looked, lines, held(looked, lines))
        frame = Frame(0, y + 42, WIDE, HIGH * len(lines), len(lines), view.line_bytes // PIECE)
        _panel(figure, looked, one, frame, there, lines, most)
        grids.append(Grid(*frame.box, frame.rows, frame.columns, cells=there))
        marks += _marks(looked, grids[-1], there)
        texts += [_name(one), *_table(looked, there, lines), f"   words per bank: {' '.join(map(str, one.words))}"]
        y = frame.y + frame.height + BARS + GAP
    return drawn(figure, "Lines of shared memory over banks", _said(view, found), grids, marks, "\n".join(texts))


def _name(one: Read) -> str:
    return "With the swizzle" if one.swizzled else "Without the swizzle"


def _lines(view: View, one: Read) -> range:
    first, last = min(one.addresses) // view.line_bytes, (max(one.addresses) + one.access_bytes - 1) // view.line_bytes
    return range(first, min(last, first + MOST_LINES - 1) + 1)


def _panel(figure: Figure, view: View, one: Read, frame: Frame, there: Cells, lines: range, most: int) -> None:
    role = "good" if max(one.words, default=0) <= 1 else "bad"
    figure.text(0, frame.y - 26, _name(one), "ink", 14, bold=True)
    figure.text(WIDE, frame.y - 26, counted(one.wavefronts, "wavefront"), role, 14, "end", bold=True)
    wide, high = frame.step
    step = every(view.banks, WIDE / view.banks, 24)
    across = [((n + 0.5) * WIDE / view.banks, frame.y - 7, str(n)) for n in range(0, view.banks, step)]
    figure.texts(across, "muted", 10, "middle", mono=True)
    figure.text(-8, frame.y - 7, "bank", "muted", 10, "end", mono=True)
    columns = [[None if at is None else column(view, at) for at in row] for row in there]
    figure.cells(0, frame.y, wide, high, [[None if c is None else Figure.kind(c) for c in row] for row in columns])
    hairs(figure, frame)
    figure.texts(
        (
            ((j + 0.5) * wide, frame.y + (i + 0.5) * high + 4, str(c))
            for i, row in enumerate(columns)
            for j, c in enumerate(row)
            if c is not None
        ),
        "ink", 11, "middle", mono=True,
    )  # fmt: skip
    labels = [(-8, frame.y + (i + 0.5) * high + 4, f"0x{view.line_bytes * line:03x}") for i, line in enumerate(lines)]
    figure.texts(labels, "muted", 10, "end", mono=True)
    for at in sorted(set(one.addresses)):
        line, within = divmod(at, view.line_bytes)
        if line in lines:
            width = min(one.access_bytes, view.line_bytes - within) / view.line_bytes * WIDE
            figure.border(
                within / view.line_bytes * WIDE, frame.y + (line - lines[0]) * high, width, high, "tile", line=2
            )
    figure.border(*frame.box, "tile", line=1.4)
    top = frame.y + frame.height + 14
    figure.bars(0, top, WIDE, BARS, one.words, most, role)
    figure.text(-8, top + BARS / 2 + 4, "words", "muted", 10, "end")
    figure.text(WIDE + 6, top + 8, str(most), "muted", 10, mono=True)


def _marks(view: View, grid: Grid, there: Cells) -> list[Mark]:
    u, v = view.anatomy.unit
    chosen = view.cell[0] // u * u, view.cell[1] // v * v
    return [Mark("cell", *grid.box(i, j)) for i, row in enumerate(there) for j, at in enumerate(row) if at == chosen]


def _table(view: View, there: Cells, lines: range) -> list[str]:
    shown = [["." if at is None else str(column(view, at)) for at in row] for row in there]
    return table(shown, left=[f"0x{view.line_bytes * line:03x}" for line in lines])


def _said(view: View, found: tuple[Read, ...]) -> str:
    line = f"A line is {view.banks} banks of {view.bank_bytes} bytes; a number and its colour: the logical column"
    said = f"{line} of 16 bytes that lies there; framed: what is read. "
    if view.slot is not None:
        return said + " ".join(f"{_name(one)} slot {view.slot} holds {_columns(view, one)}." for one in found)
    return said + " ".join(f"{_name(one)}: {one.said}" for one in found)


def _columns(view: View, one: Read) -> str:
    """Which logical columns a slot meets down the lines."""
    looked = replace(view, swizzled=one.swizzled)
    lines = _lines(view, one)
    there = held(looked, lines)
    met = [there.get(at // PIECE) for at in one.addresses]
    columns = [str(column(view, at)) for at in met if at is not None]
    rows = [str(row(view, at)) for at in met if at is not None]
    return f"the columns {', '.join(columns)} of the rows {', '.join(rows)}" if columns else "nothing of the tile"
