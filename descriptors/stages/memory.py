"""Memory as a strip of lines: whose elements lie where, from the lowest address on; the inverse of the tile.

Law: the element that a place stands for lies at that place.

>>> from descriptors import derive
>>> d = derive((128, 128), "bf16", "K", "128B", (64, 16))
>>> cells = memory(View(d, cell=(70, 21))).grids[0].cells
>>> all(2 * d.smem_tile(*at) // 16 % 8 == place for line in cells for place, at in enumerate(line) if at)
True
"""

from __future__ import annotations

from descriptors.pictures.parts.panels import Frame, fitted, hairs
from descriptors.pictures.parts.tables import table
from descriptors.stages.drawn import Drawn, Grid, Mark, drawn
from descriptors.stages.lines import cells, column, held, row, window
from descriptors.stages.view import PIECE, View
from layoutalg import Figure

#: Lines that are drawn, width and height of a line.
LINES, WIDE, HIGH = 32, 640, 20


def memory(view: View) -> Drawn:
    """The lines around the chosen element."""
    lines = window(view, LINES)
    there = cells(view, lines, held(view, lines))
    figure, frame = Figure(), Frame(0, 0, WIDE, HIGH * len(lines), len(lines), view.line_bytes // PIECE)
    wide, high = frame.step
    roles = [[None if at is None else Figure.kind(column(view, at)) for at in line] for line in there]
    figure.cells(0, 0, wide, high, roles)
    hairs(figure, frame)
    labels = [["" if at is None else f"{row(view, at)}:{column(view, at)}" for at in line] for line in there]
    if size := fitted(labels, wide, high):
        figure.table(0, 0, wide, high, [[None] * frame.columns] * frame.rows, labels, size=size, hair=False)
    figure.border(*frame.box, "tile", line=1.4)
    at = [view.line_bytes * line for line in lines]
    figure.texts(
        [(-8, (i + 0.5) * high + 4, f"0x{one:04x}") for i, one in enumerate(at)], "muted", 10, "end", mono=True
    )
    u, v = view.anatomy.unit
    chosen = view.cell[0] // u * u, view.cell[1] // v * v
    grid = Grid(*frame.box, frame.rows, frame.columns, cells=there)
    marks = [
        Mark("cell", *grid.box(i, j)) for i, line in enumerate(there) for j, one in enumerate(line) if one == chosen
    ]
    words = ("row", "K") if v > u else ("k", "MN")
    when = "after" if view.swizzled else "before"
    said = (
        f"Lines of {view.line_bytes} bytes from byte {at[0]:#x} of the tile on, {when} the swizzle; in each 16 bytes "
        f"r:c, the {words[0]} r and the number c of the 16 bytes along {words[1]} that lie there."
    )
    text = "\n".join(table([[one or "." for one in line] for line in labels], left=[f"0x{one:04x}" for one in at]))
    return drawn(figure, "Who lives where", said, [grid], marks, text)
