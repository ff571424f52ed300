"""Canvas: where a figure is put together, shape by shape; it gives a scene that holds them all.

Law: whatever is drawn, the scene's size is that of its shapes and the margin around them, so that nothing runs off.

>>> canvas = Canvas()
>>> canvas.cells(0, 0, 10, 10, [["c0", "c0"], ["c1", "c0"]])
>>> canvas.text(0, 40, "two kinds")
>>> scene = canvas.scene("Cells", "Four cells of two kinds.", margin=5)
>>> scene.width, scene.height, len(scene.shapes)
(73, 54, 3)

Cells of one role merged into few rectangles: runs of a row, extended over the rows below that repeat them.

Law: the rectangles of all roles cover each cell that has a role exactly once, and a cell without one never.

>>> merged([["c0", "c0", "c1"], ["c0", "c0", None]])
{'c0': [(0, 0, 2, 2)], 'c1': [(2, 0, 1, 1)]}
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil

from layoutalg.drawing.metrics import width as text_width
from layoutalg.drawing.metrics import wrapped
from layoutalg.drawing.shapes import Area, Arrow, Bounds, Box, Cells, Lines, Point, Scene, Shape, Text
from layoutalg.drawing.theme import BORDERS, CASING, ink

#: First column, first row, columns, rows.
Block = tuple[int, int, int, int]


def merged(rows: Sequence[Sequence[str | None]]) -> dict[str, list[Block]]:
    """The rectangles of each role, in the order in which they begin.

    Args:
        rows: the role of each cell, row by row; ``None`` for a cell without one. Rows may differ in length.

    >>> merged([["c0"], ["c0"], ["c1"]])
    {'c0': [(0, 0, 1, 2)], 'c1': [(0, 2, 1, 1)]}
    """
    found: dict[str, list[Block]] = {}
    above: dict[tuple[int, int, str], int] = {}
    for i, row in enumerate(rows):
        if i and row == rows[i - 1]:
            continue
        runs = _runs(row)
        _close(above, runs, i, found)
        above = {run: above.get(run, i) for run in runs}
    _close(above, {}, len(rows), found)
    return {role: sorted(blocks, key=lambda block: (block[1], block[0])) for role, blocks in sorted(found.items())}


def _runs(row: Sequence[str | None]) -> dict[tuple[int, int, str], None]:
    """The runs of equal cells of a row: their first column, the one after their last, and their role; in order."""
    runs: dict[tuple[int, int, str], None] = {}
    start, count = 0, len(row)
    while start < count:
        role, end = row[start], start + 1
        while end < count and row[end] == role:
            end += 1
        if role is not None:
            runs[start, end, role] = None
        start = end
    return runs


def _close(
    above: dict[tuple[int, int, str], int],
    runs: dict[tuple[int, int, str], None],
    row: int,
    found: dict[str, list[Block]],
) -> None:
    """Keep as rectangles the runs that end above a row, those that its own runs do not repeat."""
    for run, first in above.items():
        if run not in runs:
            start, end, role = run
            found.setdefault(role, []).append((start, first, end - start, row - first))


class Canvas:
    """Shapes being put together. Later ones cover earlier ones. Roles are those of :mod:`layoutalg.drawing.theme`.

    Raises:
        LayoutError: from every method, for a role that does not exist.

    >>> Canvas.width_of("1024", 10, mono=True)
    24.4
    """

    def __init__(self) -> None:
        self._shapes: list[Shape] = []

    def cells(
        self, x: float, y: float, width: float, height: float, rows: Sequence[Sequence[str | None]], opacity: float = 1
    ) -> None:
        """A table of filled cells, those of one role merged.

        Args:
            x, y: its upper left corner.
            width, height: of one cell.
            rows: the role of each cell, row by row; ``None`` leaves one empty.
            opacity: from 0 to 1.
        """
        for role, blocks in merged(rows).items():
            boxes = tuple((x + c * width, y + r * height, w * width, h * height) for c, r, w, h in blocks)
            self._add(Cells(role, boxes, opacity), role)

    def lines(
        self,
        segments: Iterable[tuple[float, float, float, float]],
        role: str = "rule",
        width: float = 1,
        dash: tuple[float, ...] = (),
        *,
        casing: bool = False,
    ) -> None:
        """Straight lines, each from (x, y) to (u, v); with ``casing`` on paper a little wider, to show on any fill."""
        found = tuple(segments)
        if found and casing:
            self._add(Lines("paper", width + CASING, found), "paper")
        if found:
            self._add(Lines(role, width, found, dash), role)

    def border(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        role: str,
        *,
        columns: Sequence[float] = (),
        rows: Sequence[float] = (),
        line: float | None = None,
        outer: bool = True,
    ) -> None:
        """The lines of a level on a table: around it, and inside it at the given distances from its left and top.

        Args:
            x, y, width, height: the table.
            role: of the lines; their width is that of the level.
            columns, rows: where lines run down and across.
            line: another width.
            outer: draw the frame too.
        """
        wide = BORDERS.get(role, 1.0) if line is None else line
        edge = wide / 2 if outer else 0  # so that corners are closed
        downs = [*((0.0, width) if outer else ()), *columns]
        acrosses = [*((0.0, height) if outer else ()), *rows]
        segments = [(x - edge, y + b, x + width + edge, y + b) for b in acrosses]
        segments += [(x + a, y - edge, x + a, y + height + edge) for a in downs]
        self.lines(segments, role, wide, casing=wide > 1)

    def box(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        fill: str | None = None,
        stroke: str | None = None,
        line: float = 1,
        radius: float = 0,
        opacity: float = 1,
    ) -> None:
        """A rectangle, filled, framed or both."""
        self._add(Box(x, y, width, height, fill, stroke, line, radius, opacity), *filter(None, (fill, stroke)))

    def dot(self, x: float, y: float, radius: float, fill: str, stroke: str = "paper", line: float = 1.4) -> None:
        """A filled circle about a point."""
        self.box(x - radius, y - radius, 2 * radius, 2 * radius, fill, stroke, line, radius)

    def area(self, points: Iterable[Point], role: str, opacity: float = 1) -> None:
        """A filled polygon."""
        self._add(Area(role, tuple(points), opacity), role)

    def arrow(
        self,
        points: Iterable[Point],
        role: str = "accent",
        width: float = 1.6,
        head: float = 8,
        dash: tuple[float, ...] = (),
    ) -> None:
        """A line through two or more points with a head at its end; ``head=0`` leaves it out."""
        self._add(Arrow(role, tuple(points), width, head, dash), role)

    def text(
        self,
        x: float,
        y: float,
        text: str,
        role: str = "ink",
        size: float = 13,
        anchor: str = "start",
        *,
        mono: bool = False,
        bold: bool = False,
        turn: int = 0,
    ) -> None:
        """A line of text with its anchor (``start``, ``middle``, ``end``) at x on the baseline y, turned clockwise."""
        self.texts([(x, y, text)], role, size, anchor, mono=mono, bold=bold, turn=turn)

    def texts(
        self,
        items: Iterable[tuple[float, float, str]],
        role: str = "ink",
        size: float = 13,
        anchor: str = "start",
        *,
        mono: bool = False,
        bold: bool = False,
        turn: int = 0,
    ) -> None:
        """Many texts of one style: x, y and the text of each. Empty ones are left out."""
        found = tuple((x, y, text) for x, y, text in items if text)
        if found:
            self._add(Text(role, size, found, anchor, mono, bold, turn), role)

    def paragraph(
        self, x: float, y: float, text: str, room: float, role: str = "muted", size: float = 13, *, mono: bool = False
    ) -> float:
        """Sentences in lines of at most ``room`` pixels, the first on the baseline y; the baseline of the next line."""
        lead = round(1.5 * size)
        lines = wrapped(text, room, size, mono=mono)
        self.texts(((x, y + lead * number, line) for number, line in enumerate(lines)), role, size, mono=mono)
        return y + lead * len(lines)

    def place(self, scene: Scene | Canvas, x: float, y: float) -> None:
        """Put what another canvas or scene holds here, its origin at (x, y)."""
        shapes = scene.shapes if isinstance(scene, Scene) else scene._shapes
        self._shapes.extend(shape.moved(x, y) for shape in shapes)

    def bounds(self) -> Bounds:
        """The box of all shapes so far: left, top, right, bottom."""
        boxes = [shape.bounds() for shape in self._shapes] or [(0.0, 0.0, 0.0, 0.0)]
        lefts, tops, rights, bottoms = zip(*boxes, strict=True)
        return min(lefts), min(tops), max(rights), max(bottoms)

    def scene(self, title: str, description: str, margin: float = 24) -> Scene:
        """What was drawn as a value, moved so that the margin is the same on every side; sizes are whole pixels."""
        left, top, right, bottom = self.bounds()
        dx, dy = ceil(margin - left), ceil(margin - top)
        shapes = tuple(shape.moved(dx, dy) for shape in self._shapes)
        return Scene(title, description, ceil(right + dx + margin), ceil(bottom + dy + margin), shapes)

    @staticmethod
    def width_of(text: str, size: float = 13, *, mono: bool = False, bold: bool = False) -> float:
        """The width of a line of text in pixels, at most."""
        return text_width(text, size, mono=mono, bold=bold)

    def _add(self, shape: Shape, *roles: str) -> None:
        for role in roles:
            ink(role)
        self._shapes.append(shape)
