"""Conversion of a scene to SVG: deterministic text with few nodes, colors by class, and a light and a dark mode.

Cells of one role are one path; texts of one style are one ``<text>`` with a ``<tspan>`` for each. The style rule of a
color class has a light value for all viewers, and ``light-dark()`` for viewers that support it. A picture alone follows
the reader's preference; inside a page it follows the page. The picture has a width and a height, so that a page does
not enlarge it, and it shrinks to the width of a narrower column.

>>> from layoutalg.drawing.figure import Canvas
>>> canvas = Canvas()
>>> canvas.cells(0, 0, 10, 10, [["c0", "c0"]])
>>> written = svg(canvas.scene("Cells", "Two of them.", 0))
>>> '<path class="f-c0" shape-rendering="crispEdges" d="M0 0h20v10h-20z"/>' in written
True
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from math import hypot
from zlib import crc32

from layoutalg.drawing.shapes import Area, Arrow, Box, Cells, Lines, Point, Scene, Shape, Text
from layoutalg.drawing.theme import INKS, MONO, SANS

#: Characters that XML does not allow, not even escaped.
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def svg(scene: Scene) -> str:
    """Return a scene as an SVG element without a final newline.

    ``<title>`` and ``<desc>`` are the title and description of the scene. Their identifiers depend only on the content
    of the element.
    """
    body = "".join(map(_shape_svg, scene.shapes))
    name = f"la{crc32((scene.title + scene.description + body).encode()):08x}"
    wide, high = _number(scene.width), _number(scene.height)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="la" viewBox="0 0 {wide} {high}" width="{wide}" '
        f'height="{high}" style="max-width:100%;height:auto" role="img" aria-labelledby="{name}t {name}d">'
        f'<title id="{name}t">{_words(scene.title)}</title><desc id="{name}d">{_words(scene.description)}</desc>'
        f"<style>{_style(body)}</style>{body}</svg>"
    )


def _style(body: str) -> str:
    """Return the rules of the classes in the body: light values, then light and dark ones if they are supported."""
    plain = [f".la{{font-family:{SANS}}}", f".la .m{{font-family:{MONO}}}", ".la .b{font-weight:600}"]
    both = ["svg:root{color-scheme:light dark}"]
    classes = sorted(set(re.findall(r"\b[fs]-[a-z0-9]+", " ".join(re.findall(r'class="([^"]*)"', body)))))
    for name in classes:
        colours = INKS[name[2:]]
        attribute = "fill" if name[0] == "f" else "stroke"
        opacity = f";{attribute}-opacity:{_number(colours.opacity)}" if colours.opacity < 1 else ""
        plain.append(f".la .{name}{{{attribute}:{colours.light}{opacity}}}")
        both.append(f".la .{name}{{{attribute}:light-dark({colours.light},{colours.dark})}}")
    return "".join(plain) + "@supports (color:light-dark(#000,#fff)){" + "".join(both) + "}"


def _shape_svg(shape: Shape) -> str:
    match shape:
        case Cells():
            cells = "".join([f"M{_number(x)} {_number(y)}{_rectangle(w, h)}" for x, y, w, h in shape.boxes])
            return f'<path class="f-{shape.role}"{_opacity(shape.opacity)} shape-rendering="crispEdges" d="{cells}"/>'
        case Lines():
            path = "".join([_segment(*segment) for segment in shape.segments])
            return _stroke(shape.role, shape.width, shape.dash, path)
        case Box():
            return _box(shape)
        case Area():
            return f'<path class="f-{shape.role}"{_opacity(shape.opacity)} d="{_through(shape.points)}z"/>'
        case Arrow():
            return _arrow(shape)
        case Text():
            return "".join(_texts(shape))
    raise TypeError(type(shape).__name__)


def _rectangle(width: float, height: float) -> str:
    wide = _number(width)
    return f"h{wide}v{_number(height)}h-{wide}z"


def _segment(x: float, y: float, u: float, v: float) -> str:
    start = f"M{_number(x)} {_number(y)}"
    if y == v:
        return f"{start}h{_number(u - x)}"
    return f"{start}v{_number(v - y)}" if x == u else f"{start}L{_number(u)} {_number(v)}"


def _stroke(role: str, width: float, dash: tuple[float, ...], path: str) -> str:
    dashes = f' stroke-dasharray="{" ".join(map(_number, dash))}"' if dash else ""
    return f'<path class="s-{role}" fill="none" stroke-width="{_number(width)}"{dashes} d="{path}"/>'


def _box(box: Box) -> str:
    classes = " ".join(f"{what}-{role}" for what, role in (("f", box.fill), ("s", box.stroke)) if role)
    size = f'x="{_number(box.x)}" y="{_number(box.y)}" width="{_number(box.width)}" height="{_number(box.height)}"'
    line = f' stroke-width="{_number(box.line)}"' if box.stroke else ""
    radius = f' rx="{_number(box.radius)}"' if box.radius else ""
    fill = "" if box.fill else ' fill="none"'
    return f'<rect class="{classes}" {size}{radius}{fill}{_opacity(box.opacity, "fill-opacity")}{line}/>'


def _arrow(arrow: Arrow) -> str:
    *path, tip = arrow.points
    if not arrow.head:
        return _stroke(arrow.role, arrow.width, arrow.dash, _through(arrow.points))
    neck, barbs = head_of(arrow)
    line = _stroke(arrow.role, arrow.width, arrow.dash, _through((*path, neck)))
    return f'{line}<path class="f-{arrow.role}" d="{_through((tip, *barbs))}z"/>'


def head_of(arrow: Arrow) -> tuple[Point, tuple[Point, Point]]:
    """Return the point at which the line of an arrow ends in its head, and the two corners beside the tip."""
    (x, y), (u, v) = arrow.points[-2:]
    long = hypot(u - x, v - y) or 1
    a, b = (u - x) / long, (v - y) / long
    back, side = arrow.head, arrow.head * 0.42
    foot = u - a * back, v - b * back
    return (u - a * back * 0.8, v - b * back * 0.8), (
        (foot[0] - b * side, foot[1] + a * side),
        (foot[0] + b * side, foot[1] - a * side),
    )


def _through(points: tuple[Point, ...]) -> str:
    return "M" + "L".join(f"{_number(x)} {_number(y)}" for x, y in points)


def _texts(shape: Text) -> Iterator[str]:
    """Yield one text element with a span for each text, or an element for each if there is one text or a rotation."""
    anchor = "" if shape.anchor == "start" else f' text-anchor="{shape.anchor}"'
    classes = f"f-{shape.role}" + " m" * shape.mono + " b" * shape.bold
    style = f'font-size="{_number(shape.size)}" class="{classes}"{anchor}'
    if len(shape.items) > 1 and not shape.turn:
        yield f"<text {style}>{''.join(_spans(shape.items))}</text>"
        return
    for x, y, text in shape.items:
        turn = f' transform="rotate({shape.turn} {_number(x)} {_number(y)})"' if shape.turn else ""
        yield f'<text x="{_number(x)}" y="{_number(y)}" {style}{turn}>{_words(text)}</text>'


def _spans(items: tuple[tuple[float, float, str], ...]) -> Iterator[str]:
    """Yield a span for each text; a span on the same baseline as the previous one has no ``y``."""
    line = None
    for x, y, text in items:
        down = "" if y == line else f' y="{_number(y)}"'
        line = y
        yield f'<tspan x="{_number(x)}"{down}>{_words(text)}</tspan>'


def _opacity(value: float, name: str = "opacity") -> str:
    return "" if value == 1 else f' {name}="{_number(value)}"'


def _words(text: str) -> str:
    return escape(_NOT_XML.sub("\ufffd", text), quote=False)


def _number(value: float) -> str:
    """Format a number with at most two digits after the decimal point."""
    if value == int(value):
        return str(int(value))
    return f"{value:.2f}".rstrip("0").rstrip(".").replace("-0.", "-.").removeprefix("0") or "0"
