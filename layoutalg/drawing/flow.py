"""Tables side by side: in lines of about one length, or as the last two modes of a layout of rank 4 stand; groups with
an arrow from one to the next.

>>> [len(line) for line in lines(list(range(6)), 5)], lines(list(range(6)), 5, stacked=3)
([3, 3], [[0, 3], [1, 4], [2, 5]])
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import TypeVar

from layoutalg.strokes.figure import Figure

#: Where tables side by side begin a new line, where groups do, and what lies between two, in pixels.
ACROSS, GROUPS_ACROSS, GAP = 1240, 1500, 44

Item = TypeVar("Item")


def lines(items: Sequence[Item], most: int, stacked: int = 0) -> list[list[Item]]:
    """Items in lines of at most ``most``, all of about the same length.

    Args:
        items: in their order.
        most: of one line.
        stacked: if not 0, so many stand below one another before the next column begins, as long as a line holds that.
    """
    if stacked and ceil(len(items) / stacked) <= most:
        return [list(items[first::stacked]) for first in range(min(stacked, len(items)))]
    each = ceil(len(items) / ceil(len(items) / most))
    return [list(items[first : first + each]) for first in range(0, len(items), each)]


def group(tables: Sequence[Figure], stacked: int = 0, name: str = "") -> Figure:
    """Tables in lines, in one figure whose origin is the first one's; a name above them.

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


def joined(figure: Figure, groups: Sequence[Figure], y: float) -> float:
    """Put groups one after the other with arrows between: side by side, or below where that is too wide; the foot."""
    boxes = [each.bounds() for each in groups]
    beside = sum(right - left for left, _, right, _ in boxes) <= GROUPS_ACROSS
    above = ceil(max(-top for _, top, _, _ in boxes))
    x, top, foot = 0, ceil(y) + above, ceil(y)
    for number, (each, (left, _, right, below)) in enumerate(zip(groups, boxes, strict=True)):
        if number and beside:
            middle = top + min(boxes[number - 1][3], below) / 2
            figure.arrow([(x - GAP + 6, middle), (x + 6, middle)], "accent", 2, 9)
            x += 24
        elif number:
            figure.arrow([(GAP, foot + 8), (GAP, foot + 46)], "accent", 2, 9)
            x, top = 0, foot + 60 + above
        figure.place(each, x + ceil(-left), top)
        x, foot = x + ceil(right - left) + GAP, max(foot, ceil(top + below))
    return foot
