"""Arrangement of a plate: its tables as shapes side by side, with axes, borders, a legend, and legible numbers.

Every cell has a number if there are at most 1024 cells and a number fits into each cell on a page. Otherwise there is
one number for each block of the nested axes, or none if they do not fit either. A cell without a number can be as small
as 2 pixels.

The axes of a table have a line of labels for each leaf of a nested mode, with the path that selects it. The fastest
leaf is next to the cells. The label of a slower leaf is centered over the positions that it applies to, with a thin
bracket. If labels would overlap, only every second, fourth, eighth, ... label is drawn. Tables are arranged in lines of
about the same length; those of a rank-4 layout are arranged like its last two modes. An arrow leads from one group of
tables to the next.

Invariant: every item is in one line, and the lengths of lines differ by at most one item if the last line is full.

>>> from layoutalg import Layout, draw
>>> len([shape for shape in draw(Layout((4, 8))).scene().shapes if type(shape).__name__ == "Text"]) > 0
True
>>> [len(line) for line in lines(list(range(6)), 5)], lines(list(range(6)), 5, stacked=3)
([3, 3], [[0, 3], [1, 4], [2, 5]])
>>> label_interval(64, 5, 20), label_interval(8, 20, 14)
(4, 1)
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import TypeVar

from layoutalg.drawing.figure import Figure
from layoutalg.drawing.grid import Axis
from layoutalg.drawing.plate import Level, Panel, Plate, label
from layoutalg.drawing.shapes import Scene
from layoutalg.frozen import frozen
from layoutalg.tuples.int_tuple import product as size

#: The most cells of a picture in which every cell has a number.
MOST_NUMBERS = 1024
#: The smallest width of a cell with a number.
LEAST_WIDTH = 14
#: Sizes of cells with numbers, in pixels: type size, space beside a number, height of a cell, and the largest width and
#: height of a table with this size. The first size that fits is used. No table is wider than a page.
SIZES = ((13, 16, 30, 560, 300), (11.5, 12, 24, 900, 800), (10.5, 8, 21, 900, 1400), (10, 2, 18, 900, 20000))
#: The intended height of a table without numbers, and the largest cell of such a table, in pixels.
ROOM_DOWN, LARGEST = 640, 22


@frozen
class Style:
    """The style of the cells of a plate: width and height in pixels, and the type size of numbers; 0 for no numbers."""

    width: float
    height: float
    size: float


def arrange(plate: Plate) -> Scene:
    """Return the scene of a plate."""
    style = style_of(plate.panels)
    figure = Figure()
    tables = [_panel(panel, style) for panel in plate.panels]
    room = max(640.0, min(ACROSS, max(right - left for left, _, right, _ in (t.bounds() for t in tables))))
    y = _heading(figure, plate, room) + 8
    y = place_groups(figure, _groups(plate, tables), y) + 26
    room = max(room, min(ACROSS, figure.bounds()[2]))
    for entries in _legends(plate, room):
        y = figure.legend(0, y, entries, room) + 8
    if plate.note:
        figure.paragraph(0, y + 16, plate.note, room)
    return figure.scene(plate.title or plate.notation, plate.description)


def _heading(figure: Figure, plate: Plate, room: float) -> float:
    """Add the title and the notation, or the notation as the title, then the caption; return the next baseline."""
    if not plate.title:
        return figure.heading(0, 0, plate.notation, plate.caption, room, mono=True)
    y = figure.heading(0, 0, plate.title) - 3
    if not plate.before:  # otherwise each group of tables has its own notation
        y = figure.paragraph(0, y, plate.notation, room, "ink", figure.BODY, mono=True) + 2
    return figure.paragraph(0, y, plate.caption, room) + 6


def numbered_unit(panels: Sequence[Panel]) -> str:
    """Return what has a number in a drawing of panels: each ``cell``, each ``block``, or nothing (an empty text)."""
    style = style_of(panels)
    if style.size:
        return "cell"
    return "block" if any(_block_labels(panel, style)[0] for panel in panels) else ""


def style_of(panels: Sequence[Panel]) -> Style:
    """Return the style of cells, which is the same for all panels."""
    grids = [panel.grid for panel in panels]
    room = Figure.ROOM - max(width_beside(grid.rows) + _width_after(grid.columns) for grid in grids)
    rows, columns = max(grid.rows.shown for grid in grids), max(grid.columns.shown for grid in grids)
    few = sum(panel.cells for panel in panels) <= MOST_NUMBERS
    longest = max((len(label(cell)) for grid in grids for row in grid.cells for cell in row), default=0) if few else 0
    if longest:
        for size, pad, height, widest, highest in SIZES:
            width = max(LEAST_WIDTH, Figure.width_of("0" * longest, size, mono=True) + pad, min(height, 26))
            if columns * ceil(width) <= min(widest, room) and rows * height <= highest:
                return Style(ceil(width), height, size)
    across, down = int(room) // max(columns, 1), ROOM_DOWN // max(rows, 1)
    width, height = max(2, min(across, LARGEST)), max(2, min(down, LARGEST))
    return Style(min(width, 2 * height) if rows > 1 else width, min(height, 4 * width), 0)


def _panel(panel: Panel, style: Style) -> Figure:
    """Draw a table with the upper left corner of its cells at the origin."""
    figure, grid = Figure(), panel.grid
    wide, high = grid.columns.shown * style.width, grid.rows.shown * style.height
    labels = [[label(cell) for cell in row] for row in grid.cells] if style.size else []
    figure.table(0, 0, style.width, style.height, panel.roles, (), hair=bool(style.size))
    for level in panel.levels:
        _border(figure, panel, level, style)
    figure.border(0, 0, wide, high, "tile", line=2 if style.size else 1.6)
    for mark in panel.marks:
        x, y = mark.column * style.width, mark.row * style.height
        figure.border(x, y, mark.columns * style.width, mark.rows * style.height, mark.role)
    if labels:
        figure.table(0, 0, style.width, style.height, (), labels, size=style.size, hair=False)
    else:
        items, size = _block_labels(panel, style)
        _grounds(figure, items, size)
        figure.texts(items, "ink", round(size, 1), "middle", mono=True)
    column_labels(figure, grid.columns, style.width)
    row_labels(figure, grid.rows, style.height)
    if grid.title:
        figure.text(0, -height_above(grid.columns) - MARGIN - 4, grid.title, "muted", 12, mono=True)
    return figure


def _border(figure: Figure, panel: Panel, level: Level, style: Style) -> None:
    rows, columns = panel.grid.rows.shown, panel.grid.columns.shown
    downs = [i * style.height for i in range(level.rows, rows, level.rows)] if level.rows else []
    acrosses = [j * style.width for j in range(level.columns, columns, level.columns)] if level.columns else []
    crowded = min(style.width * (level.columns or columns), style.height * (level.rows or rows)) < 14
    line = 0.8 if crowded else None
    figure.border(
        0,
        0,
        columns * style.width,
        rows * style.height,
        level.role,
        columns=acrosses,
        rows=downs,
        line=line,
        outer=False,
    )


def _block_labels(panel: Panel, style: Style) -> tuple[list[tuple[float, float, str]], float]:
    """Return a label for each block, with its position, and the type size, for the smallest blocks with enough space.

    The label is that of the first cell of the block.
    """
    grid = panel.grid
    for level in panel.levels:
        rows, columns = level.rows or grid.rows.shown, level.columns or grid.columns.shown
        starts = [(i, j) for i in range(0, grid.rows.shown, rows) for j in range(0, grid.columns.shown, columns)]
        if len(starts) > MOST_NUMBERS:
            continue
        words = [label(grid.cells[i][j]) for i, j in starts]
        wide, high = columns * style.width, rows * style.height
        size = min(11.0, high - 5, (wide - 6) / max(0.61 * max(map(len, words)), 0.61))
        if size >= Figure.LEAST:
            middle = style.height if style.height >= size + 4 else high  # centered in the first cell if it fits there
            base = middle / 2 + 0.36 * size
            places = [(j * style.width + wide / 2, i * style.height + base) for i, j in starts]
            return [(x, y, word) for (x, y), word in zip(places, words, strict=True) if word], size
    return [], 0


def _grounds(figure: Figure, items: list[tuple[float, float, str]], size: float) -> None:
    """Draw paper behind numbers that cover several cells, whose fills may differ."""
    for x, y, word in items:
        wide, high = ceil(Figure.width_of(word, size, mono=True)) + 6, round(size) + 3
        figure.box(round(x - wide / 2), round(y - 0.36 * size - high / 2), wide, high, "paper", radius=2, opacity=0.8)


def _groups(plate: Plate, tables: list[Figure]) -> list[Figure]:
    """Return the group of the tables before an operation, if there are any, and the group of all other tables."""
    if not plate.before:
        return [group(tables, plate.stacked)]
    before, after = tables[: plate.before], tables[plate.before :]
    return [group(before, 0, plate.was), group(after, plate.stacked, plate.notation)]


def _legends(plate: Plate, room: float) -> list[list[tuple[str, str]]]:
    """Return the legend entries of fills and of borders, each level once: on one line, or on a line for each."""
    fills = list(plate.legend)
    levels = dict.fromkeys((level.role, f"blocks of {level.name}") for panel in plate.panels for level in panel.levels)
    wide = sum(48 + Figure.width_of(words, Figure.BODY) for _, words in (*fills, *levels))
    if wide <= room:
        return [[*fills, *levels]] if fills or levels else []
    return [entries for entries in (fills, list(levels)) if entries]


#: The height of a line of labels, the gap between labels and cells, and the type size, in pixels.
LINE, MARGIN, TYPE = 17, 7, 10.5
#: The gap between the columns of row labels.
_BESIDE = 10


def label_interval(count: int, step: float, need: float, *, again: bool = False) -> int:
    """Return the interval of the labels to draw, a power of two, so that labels do not overlap.

    Args:
        count: number of positions.
        step: distance between two positions, in pixels.
        need: width of a label, in pixels.
        again: whether the positions repeat after the last one, so that the last label must not overlap the next first.

    >>> label_interval(6, 10, 20), label_interval(6, 10, 25), label_interval(6, 10, 25, again=True)
    (2, 4, 8)
    """
    skip = 1
    while skip < count:
        last = count - (count - 1) // skip * skip
        if skip * step >= need and (last * step >= need or not again):
            break
        skip *= 2
    return skip


def height_above(columns: Axis) -> float:
    """Return the height of the column labels above the cells, in pixels."""
    return LINE * len(columns.names) + MARGIN if columns.names else 0


def width_beside(rows: Axis) -> float:
    """Return the width of the row labels to the left of the cells, in pixels."""
    return sum(_widths(rows)) + MARGIN if rows.names else 0


def _width_after(columns: Axis) -> float:
    """Return the width of the names of column labels to the right of the cells, in pixels."""
    return MARGIN + max((Figure.width_of(name, TYPE, mono=True) for name in columns.names), default=0)


def column_labels(figure: Figure, axis: Axis, step: float) -> None:
    """Add the labels above the cells, whose upper left corner is the origin, with the names of leaves at the end."""
    for leaf, name in enumerate(axis.names):
        y = -MARGIN - 1 - LINE * leaf
        figure.text(axis.shown * step + MARGIN, y, name, "muted", TYPE, mono=True)
        figure.texts(
            ((middle, y, text) for middle, text in _labels(axis, leaf, step, across=True)),
            "muted",
            TYPE,
            "middle",
            mono=True,
        )
        if leaf:
            figure.lines([(start, y + 4, end, y + 4) for start, end in _spans(axis, leaf, step)], "rule", 0.8)


def row_labels(figure: Figure, axis: Axis, step: float) -> None:
    """Add the labels to the left of the cells, whose upper left corner is the origin, and the names of leaves below."""
    right = -MARGIN - 3.0
    for leaf in range(len(axis.names)):
        figure.texts(
            ((right, middle + 0.36 * TYPE, text) for middle, text in _labels(axis, leaf, step, across=False)),
            "muted",
            TYPE,
            "end",
            mono=True,
        )
        if leaf:
            x = right + 5
            figure.lines([(x, start, x, end) for start, end in _spans(axis, leaf, step)], "rule", 0.8)
        right -= _widths(axis)[leaf]
    foot = axis.shown * step + 16
    x = -MARGIN - 3.0
    for leaf, name in enumerate(axis.names):
        figure.text(x, foot, name, "muted", TYPE, "end", mono=True)
        x -= _widths(axis)[leaf]


def _labels(axis: Axis, leaf: int, step: float, *, across: bool) -> list[tuple[float, str]]:
    """Return the middle and the coordinate of each run of equal coordinates of a leaf, as far as labels fit."""
    run = size(axis.extents[:leaf])
    need = len(str(axis.last_label(leaf))) * 0.61 * TYPE + 6 if across else 1.15 * TYPE
    period = axis.extents[leaf] * run
    skip = label_interval(axis.extents[leaf], run * step, need, again=period < axis.shown)
    period_skip = label_interval(-(-axis.shown // period), period * step, need)
    labels = []
    for position in range(0, axis.shown, run):
        coordinate = axis.coordinate(position)[leaf]
        if coordinate % skip == 0 and position // period % period_skip == 0:
            end = min(position + run, axis.shown)
            labels.append(((position + end) / 2 * step, str(coordinate)))
    return labels


def _spans(axis: Axis, leaf: int, step: float) -> list[tuple[float, float]]:
    """Return the start and end of the brackets of a slower leaf, in pixels."""
    run = size(axis.extents[:leaf])
    return [(p * step + 2, min(p + run, axis.shown) * step - 2) for p in range(0, axis.shown, run)]


def _widths(axis: Axis) -> list[float]:
    """Return the widths of the columns of row labels, fastest leaf first."""
    return [
        Figure.width_of("0" * max(len(name), len(str(axis.last_label(leaf)))), TYPE, mono=True) + _BESIDE
        for leaf, name in enumerate(axis.names)
    ]


#: The largest width of tables or groups side by side, and the gap between two, in pixels.
ACROSS, GAP = Figure.ROOM, 44

Item = TypeVar("Item")


def lines(items: Sequence[Item], most: int, stacked: int = 0) -> list[list[Item]]:
    """Arrange items in lines of at most ``most`` items that have about the same length.

    Args:
        items: the items in order.
        most: the most items of a line.
        stacked: if not 0, the number of items in each column, as long as the columns fit on a line.
    """
    if stacked and ceil(len(items) / stacked) <= most:
        return [list(items[first::stacked]) for first in range(min(stacked, len(items)))]
    each = ceil(len(items) / ceil(len(items) / most))
    return [list(items[first : first + each]) for first in range(0, len(items), each)]


def group(tables: Sequence[Figure], stacked: int = 0, name: str = "") -> Figure:
    """Arrange tables in lines and return a figure whose origin is that of the first table, with a name above them.

    >>> one = Figure()
    >>> one.box(0, 0, 100, 50, "c0")
    >>> group([one, one]).bounds()
    (0, 0, 244, 50)
    """
    figure = Figure()
    left = min(table.bounds()[0] for table in tables)
    above = ceil(max(-table.bounds()[1] for table in tables))
    wide = ceil(max(table.bounds()[2] for table in tables) - left)
    high = ceil(max(table.bounds()[3] for table in tables)) + above
    most = max(int((ACROSS + GAP) // (wide + GAP)), 1)
    for row, line in enumerate(lines(tables, most, stacked)):
        for column, table in enumerate(line):
            figure.place(table, column * (wide + GAP), row * (high + GAP - 12))
    if name:
        figure.text(0, -above - 16, name, "ink", figure.BODY, mono=True, bold=True)
    return figure


def place_groups(figure: Figure, groups: Sequence[Figure], y: float) -> float:
    """Place groups with arrows between them, side by side or, if that is too wide, stacked; return the bottom edge."""
    boxes = [part.bounds() for part in groups]
    beside = sum(right - left for left, _, right, _ in boxes) <= ACROSS
    above = ceil(max(-top for _, top, _, _ in boxes))
    x, top, foot = 0, ceil(y) + above, ceil(y)
    for number, (part, (left, _, right, below)) in enumerate(zip(groups, boxes, strict=True)):
        if number and beside:
            middle = top + min(boxes[number - 1][3], below) / 2
            figure.arrow([(x - GAP + 6, middle), (x + 6, middle)], "accent", 2, 9)
            x += 24
        elif number:
            figure.arrow([(GAP, foot + 8), (GAP, foot + 46)], "accent", 2, 9)
            x, top = 0, foot + 60 + above
        figure.place(part, x + ceil(-left), top)
        x, foot = x + ceil(right - left) + GAP, max(foot, ceil(top + below))
    return foot
