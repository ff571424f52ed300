"""The tile: every 16 bytes of it in the colour asked for, the borders of its levels, and what is chosen.

Law: a place of the picture stands for the element whose cell it lies in.

>>> from descriptors import derive
>>> made = tile(View(derive((128, 128), "bf16", "K", "128B", (64, 16)), cell=(70, 21)))
>>> grid, mark = made.grids[0], made.marks[-1]
>>> mark.role, int((mark.y - grid.y) / grid.height * 128), int((mark.x - grid.x) / grid.width * 128 + 0.5)
('cell', 70, 21)
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from descriptors.operands.operand import SwizzleMode
from descriptors.pictures.parts.anatomy import Anatomy
from descriptors.pictures.parts.panels import Frame, atom_name, border, fitted, ticks, times
from descriptors.pictures.parts.tables import table
from descriptors.stages.drawn import Drawn, Grid, Mark, drawn
from descriptors.stages.pieces import Numbers, kinds, places, roles
from descriptors.stages.view import PIECE, View
from descriptors.text import counted
from layoutalg import Figure

#: Pixels that a tile fills, and the most of its height.
ACROSS, DOWN = 760, 680
#: The most numbers that are written in cells.
MOST_NUMBERS = 1200

_TITLES = {
    "order": "in the order of memory",
    "bank": "by banks",
    "column": "by logical columns",
    "atom": "atom by atom",
    "subtile": "subtile by subtile",
    "chunk": "chunk by chunk",
    "wrong": "what a changed word reads from elsewhere",
}
_SAID = {
    "order": "shade: the order of memory; ",
    "bank": "colour and number: which {unit} of a line of {line} bytes it lies in; ",
    "column": "colour: the logical column of 16 bytes; ",
    "atom": "colour: the atom; ",
    "subtile": "shade: the order in which subtiles start; ",
    "chunk": "colour: the chunk of a subtile; ",
    "wrong": "filled red: some of its elements would be read from elsewhere; ",
}


def tile(view: View) -> Drawn:
    """The tile of a view. What does not depend on the chosen element is drawn once."""
    i, j = view.subtile if view.colour == "wrong" else (0, 0)
    plain = _tile(replace(view, cell=(i * view.derivation.mma[0], j * view.derivation.mma[1])))
    return replace(plain, marks=tuple(marks(view, plain.grids[0])))


@lru_cache(maxsize=16)
def _tile(view: View) -> Drawn:
    a, figure, numbers = view.anatomy, Figure(), kinds(view)
    frame = _frame(a, len(numbers), len(numbers[0]))
    figure.cells(frame.x, frame.y, *frame.step, roles(view, numbers))
    if "chunk" in view.levels:
        (rows, columns), (mn, k) = a.chunk_extents, a.extents
        border(figure, frame, "chunk", mn // rows, k // columns, outer=False)
    if "atom" in view.levels and a.atom_grid[0]:
        border(figure, frame, "atom", *a.atom_grid, outer=False)
    if "subtile" in view.levels:
        border(figure, frame, "subtile", *a.subtile_grid, outer=False)
    if "tile" in view.levels:
        border(figure, frame, "tile")
    _labels(figure, view, frame, numbers)  # above the lines
    u, v = a.unit
    left, top = [str(i * u) for i in range(len(numbers))], [str(j * v) for j in range(len(numbers[0]))]
    ticks(figure, frame, left, top)
    mn, k = a.extents
    grid = Grid(*frame.box, mn, k)
    title = f"{times(a.extents)} {view.derivation.element}, {_TITLES[view.colour]}"
    text = "\n".join(table(numbers, left=left, top=top))
    return drawn(figure, title, _sentence(view), [grid], [], text)


def marks(view: View, grid: Grid) -> list[Mark]:
    """What is chosen: the subtile, the atom and the cell of an element, as frames on a grid of elements."""
    (i, k), a = view.cell, view.anatomy
    found = []
    for role, (high, wide), shown in (
        ("subtile", view.derivation.mma, True),
        ("atom", a.atom_extents, bool(a.atom_grid[0])),
        ("piece", a.unit, True),
        ("cell", (1, 1), True),
    ):
        if shown:
            found.append(Mark(role, *grid.box(i // high * high, k // wide * wide, high, wide)))
    return found


def _frame(a: Anatomy, rows: int, columns: int) -> Frame:
    """The panel of a tile: in its proportions where these can be read."""
    mn, k = a.extents
    high = min(DOWN, max(140, ACROSS * mn / k))
    wide = min(ACROSS, max(260, high * k / mn))
    return Frame(0, 0, max(round(wide), 2 * columns), max(round(high), 2 * rows), rows, columns)


def _labels(figure: Figure, view: View, frame: Frame, numbers: Numbers) -> None:
    """The address of each piece, or the number of its bank group, where there is room."""
    if frame.rows * frame.columns > MOST_NUMBERS:
        return
    shown = numbers if view.colour in ("bank", "column") else places(view)
    labels = [[str(one) for one in row] for row in shown]
    wide, high = frame.step
    if size := fitted(labels, wide, high):
        figure.texts(
            (
                (frame.x + (j + 0.5) * wide, frame.y + (i + 0.5) * high + 0.36 * size, label)
                for i, row in enumerate(labels)
                for j, label in enumerate(row)
            ),
            "ink", size, "middle", mono=True,
        )  # fmt: skip


def _sentence(view: View) -> str:
    a, d = view.anatomy, view.derivation
    said = _SAID[view.colour].format(line=view.line_bytes, unit=f"piece of {PIECE} bytes")
    levels = (
        f"blue lines: {atom_name(d)}, {times(a.atom_extents)}; red lines: what one instruction reads, {times(d.mma)}"
    )
    pieces = f"A cell is {PIECE} bytes, {times(a.unit)} elements; "
    swizzle = "" if d.swizzle is SwizzleMode.NONE or view.swizzled else "; drawn without the swizzle"
    rows, columns = a.atom_grid
    count = f"; {counted(rows * columns, atom_name(d))}" if rows else ""
    return f"{pieces}{said}{levels}{count}{swizzle}."
