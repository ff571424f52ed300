"""Plain text tables of the offsets of a layout, for terminals, logs and doctests.

The first line is the notation. The coordinates are above the columns and to the left of the rows, with one line for
each leaf of a nested mode. A line begins with the path of its leaf. Lines divide the blocks of the innermost leaf. The
text is ASCII.

>>> from layoutalg import Layout
>>> print(table(Layout((2, 4), (4, 1))))
(2,4):(4,1)
<BLANKLINE>
[1]    0 1 2 3
[0]  +--------
  0  | 0 1 2 3
  1  | 4 5 6 7
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from layoutalg.drawing.grid import Axis, Drawable, Drawing, Grid, drawing
from layoutalg.drawing.picture import painted
from layoutalg.drawing.plate import Plate, Roles, label
from layoutalg.drawing.theme import kind


def table(
    layout: Drawable,
    max_rows: int | None = 32,
    max_columns: int | None = 32,
    max_grids: int | None = 8,
    width: int | None = None,
    color: bool = False,
) -> str:
    """Return the table of the offsets of a layout as lines of text without a final newline.

    A last line reports what was left out.

    Args:
        layout: a layout or composed layout of any rank; rank 1 is one row, rank 3 and more has a table for each slice.
        max_rows: the most rows; ``None`` draws all.
        max_columns: the most columns; ``None`` draws all.
        max_grids: the most slices; ``None`` draws all.
        width: the most characters of a line; further columns are left out.
        color: whether to color each cell by its offset modulo 8, with terminal escape codes.

    >>> from layoutalg import Layout
    >>> print(table(Layout((2, (2, 3)), (1, (2, 4)))))
    (2,(2,3)):(1,(2,4))
    <BLANKLINE>
    [1,1]     0       1       2
    [1,0]     0  1    0  1    0  1
      [0]  +-------+-------+------
        0  |  0  2 |  4  6 |  8 10
        1  |  1  3 |  5  7 |  9 11
    """
    picture = drawing(layout, max_rows, max_columns, max_grids)
    if width is not None:
        fitting = min(_fitting_columns(grid, width) for grid in picture.grids)
        if fitting < picture.grids[0].columns.shown:
            picture = drawing(layout, max_rows, fitting, max_grids)
    return "\n".join(_lines(picture, [_by_offset(grid) for grid in picture.grids] if color else []))


def text_of(plate: Plate, color: bool = False) -> str:
    """Return a plate as lines of text without a final newline; with ``color``, fill the cells and add the legend.

    >>> from layoutalg import Layout, draw
    >>> text_of(draw(Layout(4)).plate()).splitlines()[-1]
    '     | 0 1 2 3'
    """
    grids = [_titled_grid(panel.grid, plate, number) for number, panel in enumerate(plate.panels)]
    roles = [panel.roles for panel in plate.panels] if color else []
    heads = [line for line in (plate.title, "" if plate.before else plate.notation) if line]
    lines = [*_lines(Drawing("\n".join(heads), tuple(grids), plate.note), roles)]
    if color and plate.legend:
        lines += ["", "  ".join(f"{painted('  ', role)} {_ascii(words)}" for role, words in plate.legend)]
    return "\n".join(lines)


def _ascii(words: str) -> str:
    """Return a text with its special characters replaced by ASCII, for any terminal."""
    return words.replace("\u2013", "-").replace("\u2026", "...").replace("\u00d7", "x")


def _titled_grid(grid: Grid, plate: Plate, number: int) -> Grid:
    """Return a table with the notation of its layout in the title, if the plate shows one layout before another."""
    if not plate.before:
        return grid
    name = plate.was if number < plate.before else plate.notation
    return Grid(f"{name} {grid.title}".strip(), grid.rows, grid.columns, grid.cells)


def columns_within(plate: Plate, width: int) -> int:
    """Return the number of columns of a plate's tables that fit on a line; at least one."""
    most = max(panel.grid.columns.shown for panel in plate.panels)
    fits = [(_fitting_columns(panel.grid, width), panel.grid.columns.shown) for panel in plate.panels]
    return min((columns for columns, all_of_them in fits if columns < all_of_them), default=most)


def _by_offset(grid: Grid) -> Roles:
    """Return the roles of cells by their offset modulo 8."""
    return tuple(tuple(kind(cell) if isinstance(cell, int) else None for cell in row) for row in grid.cells)


def _lines(picture: Drawing, roles: Sequence[Roles]) -> Iterator[str]:
    yield picture.notation
    for number, grid in enumerate(picture.grids):
        yield ""
        if grid.title:
            yield grid.title
        yield from (line.rstrip() for line in _grid_lines(grid, roles[number] if roles else ()))
    if picture.note:
        yield ""
        yield picture.note


def _grid_lines(grid: Grid, roles: Roles) -> Iterator[str]:
    pad = _margin(grid)
    cells = _cell_width(grid)
    columns, more = grid.columns, grid.columns.shown < grid.columns.size
    for leaf in reversed(range(len(columns.extents))):
        labels = [str(columns.coordinate(j)[leaf]) if columns.starts_run(leaf, j) else "" for j in range(columns.shown)]
        yield columns.names[leaf].rjust(pad) + "   " + _row_text(labels, columns, cells, "  ", " ")
    yield _row_names(grid.rows).rjust(pad) + "  +" + _row_text([""] * columns.shown, columns, cells, "-+", "-")
    for i, row in enumerate(grid.cells):
        if grid.rows.divides_before(i):
            yield " " * pad + "  +" + _row_text([""] * columns.shown, columns, cells, "-+", "-")
        yield (
            _row_labels(grid.rows, i).rjust(pad)
            + "  |"
            + _row(row, roles[i] if roles else (), columns, cells)
            + (" ..." if more else "")
        )
    if grid.rows.shown < grid.rows.size:
        yield "...".rjust(pad)


def _row_text(words: list[str], columns: Axis, width: int, divider: str, fill: str) -> str:
    parts = []
    for j, word in enumerate(words):
        parts.append((divider if columns.divides_before(j) else "") + fill + word.rjust(width, fill))
    return "".join(parts)


def _row(row: tuple[Any, ...], roles: Sequence[str | None], columns: Axis, width: int) -> str:
    parts = []
    for j, cell in enumerate(row):
        field = " " + label(cell).rjust(width)
        parts.append((" |" if columns.divides_before(j) else "") + (painted(field, roles[j]) if roles else field))
    return "".join(parts)


def _row_names(rows: Axis) -> str:
    """Return the names of the rows' leaves, slowest first, each as wide as its column of labels."""
    return " ".join(name.rjust(width) for name, width in reversed(_label_columns(rows)))


def _row_labels(rows: Axis, position: int) -> str:
    digits = rows.coordinate(position)
    labels = [str(digit) if rows.starts_run(leaf, position) else "" for leaf, digit in enumerate(digits)]
    widths = [width for _, width in _label_columns(rows)]
    return " ".join(label.rjust(width) for label, width in reversed(list(zip(labels, widths, strict=True))))


def _label_columns(rows: Axis) -> list[tuple[str, int]]:
    return [(name, max(len(name), len(str(rows.last_label(leaf))))) for leaf, name in enumerate(rows.names)]


def _margin(grid: Grid) -> int:
    """Return the width of the text to the left of the table's edge."""
    return max(len(_row_names(grid.rows)), *map(len, grid.columns.names), 3)


def _cell_width(grid: Grid) -> int:
    offsets = max((len(label(cell)) for row in grid.cells for cell in row), default=1)
    labels = (len(str(grid.columns.last_label(leaf))) for leaf in range(len(grid.columns.names)))
    return max(offsets, *labels, 1)


def _fitting_columns(grid: Grid, width: int) -> int:
    """Return the number of columns that fit on a line; at least one."""
    width_so_far = _margin(grid) + 3 + len(" ...")
    for j in range(grid.columns.shown):
        width_so_far += _cell_width(grid) + 1 + 2 * grid.columns.divides_before(j)
        if width_so_far > width:
            return max(j, 1)
    return grid.columns.shown
