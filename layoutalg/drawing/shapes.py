"""Shapes: merged cells, lines, boxes, areas, arrows and texts, with roles instead of colours; a scene is all of them.

Units are pixels of 1/96 inch, x to the right and y down. A scene has a known size and the words that say what it shows;
every face is written from it, its shapes covering one another in their order.
Laws: a shape moved has the bounds of the shape, moved; a scene that a figure gives holds every one of its shapes, texts
included, inside its width and height.

>>> cells = Cells("c0", ((0, 0, 10, 10),))
>>> cells.moved(5, 0).boxes, cells.moved(5, 0).bounds()
(((5, 0, 10, 10),), (5, 0, 15, 10))
>>> scene = Scene("Two cells", "A cell of each of two kinds.", 20, 10, (Cells("c0", ((0, 0, 10, 10),)),))
>>> scene.moved(5, 0)[0].boxes
((5, 0, 10, 10),)
"""

from __future__ import annotations

from math import hypot
from typing import Protocol

from layoutalg.drawing.metrics import width as text_width
from layoutalg.frozen import arguments, fix, frozen

Point = tuple[float, float]
#: Left, top, right, bottom.
Bounds = tuple[float, float, float, float]


class Shape(Protocol):
    """What stands in a scene."""

    def moved(self, dx: float, dy: float) -> Shape:
        """The same shape elsewhere."""
        ...

    def bounds(self) -> Bounds:
        """The smallest box that holds it, its lines' widths included."""
        ...


@frozen
class Cells:
    """Filled rectangles of one role: x, y, width and height of each; they do not overlap.

    Args:
        role: of the fill.
        boxes: the rectangles.
        opacity: from 0 to 1, times that of the role.
    """

    role: str
    boxes: tuple[tuple[float, float, float, float], ...]
    opacity: float = 1

    def moved(self, dx: float, dy: float) -> Cells:
        """The same cells elsewhere."""
        return Cells(self.role, tuple((x + dx, y + dy, w, h) for x, y, w, h in self.boxes), self.opacity)

    def bounds(self) -> Bounds:
        """The box that holds them."""
        return (
            *(min(x for x, *_ in self.boxes), min(y for _, y, *_ in self.boxes)),
            *(max(x + w for x, _, w, _ in self.boxes), max(y + h for _, y, _, h in self.boxes)),
        )


@frozen
class Lines:
    """Straight lines of one role: x and y of both ends of each.

    Args:
        role: of the line.
        width: of the line, in pixels.
        segments: the lines.
        dash: lengths of dashes and gaps in turn; empty for a solid line.
    """

    role: str
    width: float
    segments: tuple[tuple[float, float, float, float], ...]
    dash: tuple[float, ...] = ()

    def moved(self, dx: float, dy: float) -> Lines:
        """The same lines elsewhere."""
        segments = tuple((x + dx, y + dy, u + dx, v + dy) for x, y, u, v in self.segments)
        return Lines(self.role, self.width, segments, self.dash)

    def bounds(self) -> Bounds:
        """The box that holds them; a line is wide across, and ends where it ends."""
        corners: list[Point] = []
        for x, y, u, v in self.segments:
            half = self.width / 2 / (hypot(u - x, v - y) or 1)
            a, b = abs(v - y) * half, abs(u - x) * half
            corners += [(x - a, y - b), (x + a, y + b), (u - a, v - b), (u + a, v + b)]
        return _around(corners, 0)


@frozen
class Box:
    """A rectangle, filled, framed or both; with ``radius`` half its size it is a dot.

    Args:
        x, y, width, height: where.
        fill, stroke: roles, or ``None``.
        line: width of the frame.
        radius: of its corners.
        opacity: of the fill, from 0 to 1.
    """

    x: float
    y: float
    width: float
    height: float
    fill: str | None
    stroke: str | None
    line: float
    radius: float
    opacity: float

    def __init__(
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
        fix(self, x=x, y=y, width=width, height=height, fill=fill, stroke=stroke)
        fix(self, line=line, radius=radius, opacity=opacity)

    def moved(self, dx: float, dy: float) -> Box:
        """The same box elsewhere."""
        return Box(self.x + dx, self.y + dy, *arguments(self)[2:])

    def bounds(self) -> Bounds:
        """The box that holds it."""
        corners = [(self.x, self.y), (self.x + self.width, self.y + self.height)]
        return _around(corners, self.line / 2 if self.stroke else 0)


@frozen
class Area:
    """A filled polygon: what two panels have between them where one enlarges a part of the other.

    Args:
        role: of the fill.
        points: its corners.
        opacity: from 0 to 1, times that of the role.
    """

    role: str
    points: tuple[Point, ...]
    opacity: float = 1

    def moved(self, dx: float, dy: float) -> Area:
        """The same area elsewhere."""
        return Area(self.role, tuple((x + dx, y + dy) for x, y in self.points), self.opacity)

    def bounds(self) -> Bounds:
        """The box that holds it."""
        return _around(self.points, 0)


@frozen
class Arrow:
    """A line through points, with a head at its end.

    Args:
        role: of the line and the head.
        points: two or more.
        width: of the line.
        head: length of the head; 0 for none.
        dash: as for :class:`Lines`.
    """

    role: str
    points: tuple[Point, ...]
    width: float = 1.6
    head: float = 8
    dash: tuple[float, ...] = ()

    def moved(self, dx: float, dy: float) -> Arrow:
        """The same arrow elsewhere."""
        return Arrow(self.role, tuple((x + dx, y + dy) for x, y in self.points), self.width, self.head, self.dash)

    def bounds(self) -> Bounds:
        """The box that holds it."""
        return _around(self.points, max(self.width / 2, self.head / 2))


@frozen
class Text:
    """Texts of one style: x and y of each one's anchor on its baseline, and the text.

    Args:
        role: of the letters.
        size: of the font.
        items: the texts.
        anchor: ``start``, ``middle`` or ``end``: which part of a text is at its x.
        mono, bold: the face.
        turn: degrees clockwise about the anchor.
    """

    role: str
    size: float
    items: tuple[tuple[float, float, str], ...]
    anchor: str = "start"
    mono: bool = False
    bold: bool = False
    turn: int = 0

    def moved(self, dx: float, dy: float) -> Text:
        """The same texts elsewhere."""
        return Text(self.role, self.size, tuple((x + dx, y + dy, t) for x, y, t in self.items), *arguments(self)[3:])

    def bounds(self) -> Bounds:
        """The box that holds them, by the table of widths."""
        before = {"start": 0.0, "middle": 0.5, "end": 1.0}[self.anchor]
        ends: list[Point] = []
        for x, y, text in self.items:
            long = text_width(text, self.size, mono=self.mono, bold=self.bold)
            left, right, up, down = -before * long, (1 - before) * long, -0.95 * self.size, 0.28 * self.size
            corners = [(a, b) for a in (left, right) for b in (up, down)]
            ends += [(x + u, y + v) for u, v in (_turned(corner, self.turn) for corner in corners)]
        return _around(ends, 0)


def _turned(point: Point, degrees: int) -> Point:
    """A point about the origin by a multiple of 90 degrees."""
    x, y = point
    for _ in range(degrees // 90 % 4):
        x, y = -y, x
    return x, y


def _around(points: tuple[Point, ...] | list[Point], margin: float) -> Bounds:
    across, down = [x for x, _ in points], [y for _, y in points]
    return min(across) - margin, min(down) - margin, max(across) + margin, max(down) + margin


@frozen
class Scene:
    """Shapes on a canvas of known size, with the words that say what they show.

    Args:
        title: a few words.
        description: sentences for a reader who does not see it.
        width, height: in pixels.
        shapes: from the lowest to the topmost.
    """

    title: str
    description: str
    width: float
    height: float
    shapes: tuple[Shape, ...]

    def moved(self, dx: float, dy: float) -> tuple[Shape, ...]:
        """Its shapes elsewhere, to stand in another scene."""
        return tuple(shape.moved(dx, dy) for shape in self.shapes)
