"""Figure: a canvas with what figures share besides their subject: headings, legends, brackets, zoom guides, bars.

>>> figure = Figure()
>>> figure.heading(0, 20, "Cells", "Four of them.") > 20
True
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from layoutalg.drawing.canvas import Canvas
from layoutalg.drawing.metrics import wrapped
from layoutalg.drawing.theme import BORDERS, kind, step

Box = tuple[float, float, float, float]


class Figure(Canvas):
    """A canvas that knows the house's type sizes and furniture.

    ``Figure.kind(n)`` is the role of one of eight kinds, ``Figure.step(i, count)`` that of a place in an order.

    >>> Figure.kind(9), Figure.step(3, 4)
    ('c1', 'r6')
    """

    #: Sizes of type, in pixels: title, heading of a panel, sentences, labels of axes, numbers in cells.
    TITLE, HEADING, BODY, LABEL, NUMBER = 19, 15, 13, 11, 11

    kind = staticmethod(kind)
    step = staticmethod(step)

    def heading(
        self, x: float, y: float, title: str, sentences: str = "", room: float = 1100, *, mono: bool = False
    ) -> float:
        """A title on the baseline y and sentences below it; the baseline of what follows. Notation is in mono."""
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
        """Filled cells, thin lines between them, and what is written in each.

        Args:
            x, y: upper left corner.
            width, height: of one cell.
            roles: what each cell is filled with, row by row.
            labels: what is written in each; none if left out. An empty text writes nothing.
            size: of the labels.
            bold: of the labels.
            hair: draw the thin lines.
            opacity: of the fills.
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
        """The heading of a panel on the baseline y, lines in small type below it; the baseline of what follows.

        Args:
            x, y: where.
            title: the heading.
            lines: what stands below it, line by line.
            role: of the heading.
            right: nothing, or what is added to the title in the muted role.
        """
        self.text(x, y, title, role, self.HEADING, bold=True)
        if right:
            self.text(x + self.width_of(title, self.HEADING, bold=True) + 10, y, right, "muted", self.BODY)
        for number, line in enumerate(lines):
            self.text(x, y + 19 + 17 * number, line, "muted", self.BODY)
        return y + 17 * len(lines) + 18

    def legend(self, x: float, y: float, entries: Sequence[tuple[str, str]], room: float = 1100) -> float:
        """Samples of roles with words, in lines of at most ``room`` pixels; the bottom.

        The role of a border (``tile atom subtile chunk``) is shown as a frame, ``dot:ROLE`` as a dot, another as a
        fill.

        Args:
            x, y: upper left corner.
            entries: role and words of each.
            room: the width there is.
        """
        widths = [ceil(30 + self.width_of(words, self.BODY)) + 18 for _, words in entries]
        a_line = len(entries)
        if sum(widths) - 18 > room:  # several lines, about as long as one another, stand in columns
            widths = [max(widths)] * len(entries)
            lines = ceil(len(entries) / max(int((room + 18) // widths[0]), 1))
            a_line = ceil(len(entries) / lines)
        for number, (role, words) in enumerate(entries):
            line, place = divmod(number, max(a_line, 1))
            left, top = x + sum(widths[:place]), y + 24 * line
            self._sample(left, top, role)
            self.text(left + 30, top + 12.5, words, "muted", self.BODY)
        return y + 24 * ((len(entries) - 1) // max(a_line, 1)) + 16

    def _sample(self, x: float, y: float, role: str) -> None:
        if role.startswith("dot:"):
            self.dot(x + 11, y + 8, 4.5, role.removeprefix("dot:"))
        elif role in BORDERS:
            self.box(x + 1, y + 1.5, 20, 13, None, role, max(BORDERS[role], 1.6), 2)
        else:
            self.box(x + 1, y + 1.5, 20, 13, role, "rule", 0.8, 2)

    def bracket(
        self, x: float, y: float, width: float, words: str, role: str = "accent", *, above: bool = False
    ) -> None:
        """A bracket under what it holds together, words below its middle; with ``above`` over it, words on top."""
        up = -6 if above else 6
        self.arrow([(x, y - up), (x, y), (x + width, y), (x + width, y - up)], role, 1.4, 0)
        self.text(x + width / 2, y - 7 if above else y + 17, words, role, self.BODY, "middle")

    def zoom(self, part: Box, whole: Box, role: str = "subtile", fill: str = "beam", gap: float | None = None) -> None:
        """What joins a part of a panel with the panel to its right that enlarges it: a beam in the gap, a dashed guide.

        Args:
            part, whole: x, y, width and height of the part, and of the panel that enlarges it.
            role: of the guide.
            fill: of the beam.
            gap: where the gap begins, which is the right edge of the part's panel; the part's own if left out.
        """
        right, foot = part[0] + part[2], part[1] + part[3]
        start = right if gap is None else gap
        share = (start - right) / (whole[0] - right)
        top = part[1] + share * (whole[1] - part[1])
        bottom = foot + share * (whole[1] + whole[3] - foot)
        corner = whole[0], whole[1] + whole[3]
        self.area([(start, top), (whole[0], whole[1]), corner, (start, bottom)], fill)
        self.lines([(right, foot, *corner)], role, 1, (4, 4))

    def bars(
        self, x: float, y: float, width: float, height: float, values: Sequence[float], most: float, role: str
    ) -> None:
        """Bars side by side on a base line, each as high as its share of ``most``; (x, y) is the upper left corner."""
        each = width / max(len(values), 1)
        for number, value in enumerate(values):
            tall = height * value / most
            if value:
                self.box(x + (number + 0.1) * each, y + height - tall, 0.8 * each, tall, role, radius=1)
        self.lines([(x, y + height, x + width, y + height)], "ink", 1.2)
