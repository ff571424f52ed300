"""Shapes with roles instead of colors: merged cells, lines, boxes, areas, arrows and texts; and scenes of shapes.

Units are pixels of 1/96 inch; x runs to the right and y down. A scene has a size and a title and description. All
output formats are written from it; later shapes cover earlier ones.

Invariants: the bounds of a moved shape are the moved bounds of the shape; the scene of a figure contains all of its
shapes, including texts, inside its width and height.

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
    """A part of a scene."""

    def moved(self, dx: float, dy: float) -> Shape:
        """Return the shape moved by (dx, dy)."""
        ...

    def bounds(self) -> Bounds:
        """Return the bounding box, including the widths of lines."""
        ...


@frozen
class Cells:
    """Filled rectangles of one role that do not overlap.

    Args:
        role: role of the fill.
        boxes: x, y, width and height of each rectangle.
        opacity: from 0 to 1, multiplied by the opacity of the role.
    """

    role: str
    boxes: tuple[tuple[float, float, float, float], ...]
    opacity: float = 1

    def moved(self, dx: float, dy: float) -> Cells:
        """Return the cells moved by (dx, dy)."""
        return Cells(self.role, tuple((x + dx, y + dy, w, h) for x, y, w, h in self.boxes), self.opacity)

    def bounds(self) -> Bounds:
        """Return the bounding box."""
        return (
            *(min(x for x, *_ in self.boxes), min(y for _, y, *_ in self.boxes)),
            *(max(x + w for x, _, w, _ in self.boxes), max(y + h for _, y, _, h in self.boxes)),
        )


@frozen
class Lines:
    """Straight lines of one role.

    Args:
        role: role of the lines.
        width: width of the lines, in pixels.
        segments: x and y of both ends of each line.
        dash: alternating lengths of dashes and gaps; empty for solid lines.
    """

    role: str
    width: float
    segments: tuple[tuple[float, float, float, float], ...]
    dash: tuple[float, ...] = ()

    def moved(self, dx: float, dy: float) -> Lines:
        """Return the lines moved by (dx, dy)."""
        segments = tuple((x + dx, y + dy, u + dx, v + dy) for x, y, u, v in self.segments)
        return Lines(self.role, self.width, segments, self.dash)

    def bounds(self) -> Bounds:
        """Return the bounding box. The width of a line extends it to the sides, but not at its ends."""
        corners: list[Point] = []
        for x, y, u, v in self.segments:
            half = self.width / 2 / (hypot(u - x, v - y) or 1)
            a, b = abs(v - y) * half, abs(u - x) * half
            corners += [(x - a, y - b), (x + a, y + b), (u - a, v - b), (u + a, v + b)]
        return _around(corners, 0)


@frozen
class Box:
    """A rectangle that is filled, framed or both; a circle if ``radius`` is half of its size.

    Args:
        x: the left edge.
        y: the top edge.
        width: the width.
        height: the height.
        fill: role of the fill, or ``None``.
        stroke: role of the frame, or ``None``.
        line: width of the frame.
        radius: radius of the corners.
        opacity: opacity of the fill, from 0 to 1.
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
        """Return the box moved by (dx, dy)."""
        return Box(self.x + dx, self.y + dy, *arguments(self)[2:])

    def bounds(self) -> Bounds:
        """Return the bounding box."""
        corners = [(self.x, self.y), (self.x + self.width, self.y + self.height)]
        return _around(corners, self.line / 2 if self.stroke else 0)


@frozen
class Area:
    """A filled polygon, such as the beam between a part of a panel and the panel that enlarges it.

    Args:
        role: role of the fill.
        points: the corners.
        opacity: from 0 to 1, multiplied by the opacity of the role.
    """

    role: str
    points: tuple[Point, ...]
    opacity: float = 1

    def moved(self, dx: float, dy: float) -> Area:
        """Return the area moved by (dx, dy)."""
        return Area(self.role, tuple((x + dx, y + dy) for x, y in self.points), self.opacity)

    def bounds(self) -> Bounds:
        """Return the bounding box."""
        return _around(self.points, 0)


@frozen
class Arrow:
    """A line through points with an arrowhead at its end.

    Args:
        role: role of the line and the head.
        points: two or more points.
        width: width of the line.
        head: length of the head; 0 for none.
        dash: see :class:`Lines`.
    """

    role: str
    points: tuple[Point, ...]
    width: float = 1.6
    head: float = 8
    dash: tuple[float, ...] = ()

    def moved(self, dx: float, dy: float) -> Arrow:
        """Return the arrow moved by (dx, dy)."""
        return Arrow(self.role, tuple((x + dx, y + dy) for x, y in self.points), self.width, self.head, self.dash)

    def bounds(self) -> Bounds:
        """Return the bounding box."""
        return _around(self.points, max(self.width / 2, self.head / 2))


@frozen
class Text:
    """Texts of one style.

    Args:
        role: role of the letters.
        size: size of the font.
        items: x and baseline y of the anchor of each text, and the text.
        anchor: ``start``, ``middle`` or ``end``: the part of a text that is at its x.
        mono: whether the font is monospaced.
        bold: whether the font is bold.
        turn: clockwise rotation about the anchor, in degrees.
    """

    role: str
    size: float
    items: tuple[tuple[float, float, str], ...]
    anchor: str = "start"
    mono: bool = False
    bold: bool = False
    turn: int = 0

    def moved(self, dx: float, dy: float) -> Text:
        """Return the texts moved by (dx, dy)."""
        return Text(self.role, self.size, tuple((x + dx, y + dy, t) for x, y, t in self.items), *arguments(self)[3:])

    def bounds(self) -> Bounds:
        """Return a bounding box, computed with the table of advance widths."""
        before = {"start": 0.0, "middle": 0.5, "end": 1.0}[self.anchor]
        ends: list[Point] = []
        for x, y, text in self.items:
            long = text_width(text, self.size, mono=self.mono, bold=self.bold)
            left, right, up, down = -before * long, (1 - before) * long, -0.95 * self.size, 0.28 * self.size
            corners = [(a, b) for a in (left, right) for b in (up, down)]
            ends += [(x + u, y + v) for u, v in (_turned(corner, self.turn) for corner in corners)]
        return _around(ends, 0)


def _turned(point: Point, degrees: int) -> Point:
    """Rotate a point about the origin by a multiple of 90 degrees."""
    x, y = point
    for _ in range(degrees // 90 % 4):
        x, y = -y, x
    return x, y


def _around(points: tuple[Point, ...] | list[Point], margin: float) -> Bounds:
    across, down = [x for x, _ in points], [y for _, y in points]
    return min(across) - margin, min(down) - margin, max(across) + margin, max(down) + margin


@frozen
class Scene:
    """Shapes on a canvas of known size, with a title and a description.

    Args:
        title: a few words.
        description: sentences for readers who do not see the picture.
        width: width in pixels.
        height: height in pixels.
        shapes: the shapes, lowest first.
    """

    title: str
    description: str
    width: float
    height: float
    shapes: tuple[Shape, ...]

    def moved(self, dx: float, dy: float) -> tuple[Shape, ...]:
        """Return the shapes moved by (dx, dy), to be used in another scene."""
        return tuple(shape.moved(dx, dy) for shape in self.shapes)
