"""Canvas and figure, which collect the shapes of a picture and return a scene.

A :class:`Canvas` collects shapes. Cells of one role are merged into few rectangles: the runs of a row are extended over
the rows below that repeat them. A :class:`Figure` is a canvas with the common elements of pictures: headings, legends,
brackets, zoom guides and bars.

Invariants: the size of a scene is that of its shapes and the margin around them; the merged rectangles cover each cell
with a role exactly once, and no cell without one.

>>> canvas = Canvas()
>>> canvas.cells(0, 0, 10, 10, [["c0", "c0"], ["c1", "c0"]])
>>> canvas.text(0, 40, "two kinds")
>>> scene = canvas.scene("Cells", "Four cells of two kinds.", margin=5)
>>> scene.width, scene.height, len(scene.shapes)
(73, 54, 3)
>>> merged([["c0", "c0", "c1"], ["c0", "c0", None]])
{'c0': [(0, 0, 2, 2)], 'c1': [(2, 0, 1, 1)]}
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil

from layoutalg.drawing.metrics import width as text_width
from layoutalg.drawing.metrics import wrapped
from layoutalg.drawing.shapes import Area, Arrow, Bounds, Box, Cells, Lines, Point, Scene, Shape, Text
from layoutalg.drawing.theme import BORDERS, CASING, ink, kind, step

#: First column, first row, columns, rows.
Block = tuple[int, int, int, int]


def merged(rows: Sequence[Sequence[str | None]]) -> dict[str, list[Block]]:
    """Return the rectangles of each role, ordered by their first row and column.

    Args:
        rows: the role of each cell, row by row; ``None`` for a cell without one. Rows may differ in length.

    >>> merged([["c0"], ["c0"], ["c1"]])
    {'c0': [(0, 0, 1, 2)], 'c1': [(0, 2, 1, 1)]}
    """
    blocks_of: dict[str, list[Block]] = {}
    above: dict[tuple[int, int, str], int] = {}
    for i, row in enumerate(rows):
        if i and row == rows[i - 1]:
            continue
        runs = _runs(row)
        _close(above, runs, i, blocks_of)
        above = {run: above.get(run, i) for run in runs}
    _close(above, {}, len(rows), blocks_of)
    return {role: sorted(blocks, key=lambda block: (block[1], block[0])) for role, blocks in sorted(blocks_of.items())}


def _runs(row: Sequence[str | None]) -> dict[tuple[int, int, str], None]:
    """Return the runs of equal cells of a row in order: first column, column after the last, role."""
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
    blocks_of: dict[str, list[Block]],
) -> None:
    """Add the rectangles that end above a row: the runs above that the row does not repeat."""
    for run, first in above.items():
        if run not in runs:
            start, end, role = run
            blocks_of.setdefault(role, []).append((start, first, end - start, row - first))


class Canvas:
    """A collection of shapes. Later shapes cover earlier ones. Roles are defined in :mod:`layoutalg.drawing.theme`.

    Raises:
        LayoutError: from every method, if a role does not exist.

    >>> Canvas.width_of("1024", 10, mono=True)
    24.4
    """

    def __init__(self) -> None:
        self._shapes: list[Shape] = []

    def cells(
        self, x: float, y: float, width: float, height: float, rows: Sequence[Sequence[str | None]], opacity: float = 1
    ) -> None:
        """Add a table of filled cells; cells of one role are merged.

        Args:
            x: the left edge.
            y: the top edge.
            width: width of a cell.
            height: height of a cell.
            rows: the role of each cell, row by row; ``None`` leaves a cell empty.
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
        """Add straight lines, each from (x, y) to (u, v).

        With ``casing``, a wider line in the color of the paper is below each line, so that it is visible on any fill.
        """
        ends = tuple(segments)
        if ends and casing:
            self._add(Lines("paper", width + CASING, ends), "paper")
        if ends:
            self._add(Lines(role, width, ends, dash), role)

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
        """Add the lines of a level to a table: its frame, and lines inside it.

        Args:
            x: the left edge of the table.
            y: the top edge.
            width: the width of the table.
            height: the height of the table.
            role: the role of the lines, which determines their width.
            columns: distances of vertical lines from the left edge.
            rows: distances of horizontal lines from the top edge.
            line: another width of the lines.
            outer: whether to draw the frame.
        """
        wide = BORDERS.get(role, 1.0) if line is None else line
        edge = wide / 2 if outer else 0  # closes the corners of the frame
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
        """Add a rectangle that is filled, framed or both."""
        self._add(Box(x, y, width, height, fill, stroke, line, radius, opacity), *filter(None, (fill, stroke)))

    def dot(self, x: float, y: float, radius: float, fill: str, stroke: str = "paper", line: float = 1.4) -> None:
        """Add a filled circle around a point."""
        self.box(x - radius, y - radius, 2 * radius, 2 * radius, fill, stroke, line, radius)

    def area(self, points: Iterable[Point], role: str, opacity: float = 1) -> None:
        """Add a filled polygon."""
        self._add(Area(role, tuple(points), opacity), role)

    def arrow(
        self,
        points: Iterable[Point],
        role: str = "accent",
        width: float = 1.6,
        head: float = 8,
        dash: tuple[float, ...] = (),
    ) -> None:
        """Add a line through two or more points with an arrowhead at its end; ``head=0`` omits the head."""
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
        """Add a line of text with its anchor (``start``, ``middle``, ``end``) at x, baseline y, turned clockwise."""
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
        """Add texts of one style: x, y and text of each. Empty texts are omitted."""
        placed = tuple((x, y, text) for x, y, text in items if text)
        if placed:
            self._add(Text(role, size, placed, anchor, mono, bold, turn), role)

    def paragraph(
        self, x: float, y: float, text: str, room: float, role: str = "muted", size: float = 13, *, mono: bool = False
    ) -> float:
        """Add sentences in lines of at most ``room`` pixels from baseline y on, and return the next baseline."""
        lead = round(1.5 * size)
        lines = wrapped(text, room, size, mono=mono)
        self.texts(((x, y + lead * number, line) for number, line in enumerate(lines)), role, size, mono=mono)
        return y + lead * len(lines)

    def place(self, scene: Scene | Canvas, x: float, y: float) -> None:
        """Add the shapes of another canvas or scene, with its origin at (x, y)."""
        shapes = scene.shapes if isinstance(scene, Scene) else scene._shapes
        self._shapes.extend(shape.moved(x, y) for shape in shapes)

    def bounds(self) -> Bounds:
        """Return the bounding box of all shapes: left, top, right, bottom."""
        boxes = [shape.bounds() for shape in self._shapes] or [(0.0, 0.0, 0.0, 0.0)]
        lefts, tops, rights, bottoms = zip(*boxes, strict=True)
        return min(lefts), min(tops), max(rights), max(bottoms)

    def scene(self, title: str, description: str, margin: float = 24) -> Scene:
        """Return the shapes as a scene with the same margin on every side and a size in whole pixels."""
        left, top, right, bottom = self.bounds()
        dx, dy = ceil(margin - left), ceil(margin - top)
        shapes = tuple(shape.moved(dx, dy) for shape in self._shapes)
        return Scene(title, description, ceil(right + dx + margin), ceil(bottom + dy + margin), shapes)

    @staticmethod
    def width_of(text: str, size: float = 13, *, mono: bool = False, bold: bool = False) -> float:
        """Return an upper bound of the width of a line of text, in pixels."""
        return text_width(text, size, mono=mono, bold=bold)

    def _add(self, shape: Shape, *roles: str) -> None:
        for role in roles:
            ink(role)
        self._shapes.append(shape)


Corners = tuple[float, float, float, float]


class Figure(Canvas):
    """A canvas with the type sizes and common elements of all pictures.

    ``Figure.kind(n)`` is the role of one of eight kinds, ``Figure.step(i, count)`` the role of a position in an order.

    >>> Figure.kind(9), Figure.step(3, 4)
    ('c1', 'r6')
    """

    #: Type sizes in pixels: title, heading of a panel, sentences, labels of axes, numbers in cells.
    TITLE, HEADING, BODY, LABEL, NUMBER = 19, 15, 13, 11, 11
    #: The largest width of a picture and the smallest type size, which is 9 if the picture is shrunk to 888 pixels.
    ROOM, LEAST = 932, 10
    #: The opacity of fills in the background.
    FAINT = 0.35

    kind = staticmethod(kind)
    step = staticmethod(step)

    def heading(
        self, x: float, y: float, title: str, sentences: str = "", room: float = ROOM, *, mono: bool = False
    ) -> float:
        """Add a title on baseline y and sentences below it, and return the next baseline. Use ``mono`` for notation."""
        size = self.HEADING if mono else self.TITLE
        lines = wrapped(title, room, size, mono=mono, bold=True)
        for number, line in enumerate(lines):
            self.text(x, y + 25 * number, line, "ink", size, mono=mono, bold=True)
        foot = y + 25 * (len(lines) - 1)
        return self.paragraph(x, foot + 23, sentences, room, "muted", self.BODY) + 6 if sentences else foot + 26

    def table(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        roles: Sequence[Sequence[str | None]],
        labels: Sequence[Sequence[str]] = (),
        *,
        size: float = 11,
        bold: bool = False,
        hair: bool = True,
        opacity: float = 1,
    ) -> None:
        """Add filled cells, thin lines between them, and the text of each cell.

        Args:
            x: the left edge.
            y: the top edge.
            width: width of a cell.
            height: height of a cell.
            roles: the fill of each cell, row by row.
            labels: the text of each cell, row by row.
            size: type size of the labels.
            bold: whether the labels are bold.
            hair: whether to draw the thin lines.
            opacity: opacity of the fills.
        """
        count, across = len(roles), max(map(len, roles), default=0)
        self.cells(x, y, width, height, roles, opacity)
        if hair:
            wide, high = across * width, count * height
            segments = [(x, y + i * height, x + wide, y + i * height) for i in range(1, count)]
            segments += [(x + j * width, y, x + j * width, y + high) for j in range(1, across)]
            self.lines(segments, "hair", 0.6)
        base = height / 2 + 0.36 * size
        self.texts(
            (
                (x + (j + 0.5) * width, y + i * height + base, label)
                for i, row in enumerate(labels)
                for j, label in enumerate(row)
            ),
            "ink",
            size,
            "middle",
            mono=True,
            bold=bold,
        )

    def panel_heading(
        self, x: float, y: float, title: str, lines: Sequence[str] = (), role: str = "ink", right: str = ""
    ) -> float:
        """Add the heading of a panel with lines in small type below it, and return the next baseline.

        Args:
            x: the left edge.
            y: the baseline of the heading.
            title: the heading.
            lines: the lines below it.
            role: the role of the heading.
            right: a text to the right of the heading in the role ``muted``; may be empty.
        """
        self.text(x, y, title, role, self.HEADING, bold=True)
        if right:
            self.text(x + self.width_of(title, self.HEADING, bold=True) + 10, y, right, "muted", self.BODY)
        for number, line in enumerate(lines):
            self.text(x, y + 19 + 17 * number, line, "muted", self.BODY)
        return y + 17 * len(lines) + 18

    def legend(self, x: float, y: float, entries: Sequence[tuple[str, str]], room: float = ROOM) -> float:
        """Add samples of roles with their meaning, in lines of at most ``room`` pixels, and return the bottom edge.

        The role of a border (``tile atom subtile chunk``) is shown as a frame, ``dot:ROLE`` as a dot, ``faint:ROLE`` as
        a fill with the opacity ``FAINT``, and any other role as a fill.

        Args:
            x: the left edge.
            y: the top edge.
            entries: the role and the meaning of each sample.
            room: the available width.
        """
        widths = [ceil(30 + self.width_of(words, self.BODY)) + 18 for _, words in entries]
        per_line = len(entries)
        if sum(widths) - 18 > room:  # several lines of about the same length, arranged in columns
            widths = [max(widths)] * len(entries)
            lines = ceil(len(entries) / max(int((room + 18) // widths[0]), 1))
            per_line = ceil(len(entries) / lines)
        for number, (role, words) in enumerate(entries):
            line, column = divmod(number, max(per_line, 1))
            left, top = x + sum(widths[:column]), y + 24 * line
            self._sample(left, top, role)
            self.text(left + 30, top + 12.5, words, "muted", self.BODY)
        return y + 24 * ((len(entries) - 1) // max(per_line, 1)) + 16

    def _sample(self, x: float, y: float, role: str) -> None:
        if role.startswith("dot:"):
            self.dot(x + 11, y + 8, 4.5, role.removeprefix("dot:"))
        elif role in BORDERS:
            self.box(x + 1, y + 1.5, 20, 13, None, role, max(BORDERS[role], 1.6), 2)
        else:
            opacity = self.FAINT if role.startswith("faint:") else 1
            self.box(x + 1, y + 1.5, 20, 13, role.removeprefix("faint:"), "rule", 0.8, 2, opacity)

    def bracket(
        self, x: float, y: float, width: float, words: str, role: str = "accent", *, above: bool = False
    ) -> None:
        """Add a bracket below a group with words below its middle; with ``above``, both are above the group."""
        up = -6 if above else 6
        self.arrow([(x, y - up), (x, y), (x + width, y), (x + width, y - up)], role, 1.4, 0)
        self.text(x + width / 2, y - 7 if above else y + 17, words, role, self.BODY, "middle")

    def zoom(
        self, part: Corners, whole: Corners, role: str = "subtile", fill: str = "beam", gap: float | None = None
    ) -> None:
        """Connect a part of a panel with the panel to its right that enlarges it: a beam and a dashed line in the gap.

        Args:
            part: x, y, width and height of the part.
            whole: x, y, width and height of the panel that enlarges it.
            role: the role of the dashed line.
            fill: the role of the beam.
            gap: the right edge of the panel that contains the part, where the gap begins; default: that of the part.
        """
        right, foot = part[0] + part[2], part[1] + part[3]
        start = right if gap is None else gap
        share = (start - right) / (whole[0] - right)
        top = part[1] + share * (whole[1] - part[1])
        bottom = foot + share * (whole[1] + whole[3] - foot)
        corner = whole[0], whole[1] + whole[3]
        self.area([(start, top), (whole[0], whole[1]), corner, (start, bottom)], fill)
        self.lines([(start, bottom, *corner)], role, 1, (4, 4))

    def bars(
        self, x: float, y: float, width: float, height: float, values: Sequence[float], most: float, role: str
    ) -> None:
        """Add bars on a base line; ``most`` is the value of a full-height bar, and (x, y) the upper left corner."""
        each = width / max(len(values), 1)
        for number, value in enumerate(values):
            tall = height * value / most
            if value:
                self.box(x + (number + 0.1) * each, y + height - tall, 0.8 * each, tall, role, radius=1)
        self.lines([(x, y + height, x + width, y + height)], "ink", 1.2)
