"""The labels beside a table: a line for each leaf of a nested mode, named by the path that selects it.

The fastest leaf stands next to the cells. A slower one is written over the middle of the positions that it holds for,
with a thin bracket; the names stand at the axis's end. Where the labels of a leaf would touch, every second, fourth,
eighth of them is written.

>>> every(64, 5, 20), every(8, 20, 14)
(4, 1)
"""

from __future__ import annotations

from layoutalg.drawing.grid import Axis
from layoutalg.strokes.figure import Figure
from layoutalg.tuples.int_tuple import product as size

#: Height of a line of labels, the gap between labels and cells, size of the type.
LINE, MARGIN, TYPE = 17, 7, 10.5
#: Between the columns of the rows' labels.
_BESIDE = 10


def every(count: int, step: float, need: float, *, again: bool = False) -> int:
    """Which labels of ``count`` positions are written: every so many, a power of two, so that each has its room.

    Args:
        count: of positions.
        step: pixels from one to the next.
        need: pixels that a label takes.
        again: whether the positions begin again after the last, so that the first must not touch it either.

    >>> every(6, 10, 20), every(6, 10, 25), every(6, 10, 25, again=True)
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
    """The pixels that the columns' labels take above the cells."""
    return LINE * len(columns.names) + MARGIN if columns.names else 0


def width_beside(rows: Axis) -> float:
    """The pixels that the rows' labels take to the left of the cells."""
    return sum(_widths(rows)) + MARGIN if rows.names else 0


def column_labels(figure: Figure, axis: Axis, step: float) -> None:
    """The labels above the cells, whose upper left corner is the origin; the leaves' names at their end."""
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
    """The labels to the left of the cells, whose upper left corner is the origin; the leaves' names below them."""
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
    """The middle of each run of equal coordinates of a leaf, and the coordinate; as many as there is room for."""
    run = size(axis.extents[:leaf])
    need = len(str(axis.last_label(leaf))) * 0.61 * TYPE + 6 if across else 1.15 * TYPE
    turn = axis.extents[leaf] * run
    skip = every(axis.extents[leaf], run * step, need, again=turn < axis.shown)
    turns = every(-(-axis.shown // turn), turn * step, need)
    found = []
    for position in range(0, axis.shown, run):
        coordinate = axis.coordinate(position)[leaf]
        if coordinate % skip == 0 and position // turn % turns == 0:
            end = min(position + run, axis.shown)
            found.append(((position + end) / 2 * step, str(coordinate)))
    return found


def _spans(axis: Axis, leaf: int, step: float) -> list[tuple[float, float]]:
    """Where the brackets of a slower leaf begin and end, in pixels."""
    run = size(axis.extents[:leaf])
    return [(p * step + 2, min(p + run, axis.shown) * step - 2) for p in range(0, axis.shown, run)]


def _widths(axis: Axis) -> list[float]:
    """The widths of the rows' columns of labels, fastest leaf first."""
    return [
        Figure.width_of("0" * max(len(name), len(str(axis.last_label(leaf)))), TYPE, mono=True) + _BESIDE
        for leaf, name in enumerate(axis.names)
    ]
