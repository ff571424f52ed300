r"""Conversion of a scene to TikZ for papers: light colors, the same shapes and positions, text in the paper's fonts.

One pixel is 0.75 pt. Cells of one role are one ``\fill``. The output is ASCII: characters with a LaTeX command are
written as this command, other characters as a question mark.

>>> from layoutalg.drawing.figure import Canvas
>>> canvas = Canvas()
>>> canvas.cells(0, 0, 10, 10, [["c0", "c0"]])
>>> print(tikz(canvas.scene("Cells", "Two of them.", 0)))
% Cells
\begin{tikzpicture}[x=0.75pt,y=-0.75pt,line cap=butt,inner sep=0pt]
\definecolor{la-c0}{HTML}{B7C3EE}
\path[use as bounding box] (0,0) rectangle (20,10);
\fill[la-c0] (0,0) rectangle (20,10);
\end{tikzpicture}
"""

from __future__ import annotations

from collections.abc import Iterator

from layoutalg.drawing.shapes import Area, Arrow, Box, Cells, Lines, Point, Scene, Shape, Text
from layoutalg.drawing.svg import head_of
from layoutalg.drawing.theme import ink

#: The LaTeX commands of characters that TeX does not read as text.
_SIGNS = {sign: f"\\{sign}" for sign in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    "\u00d7": r"$\times$",
    "\u2013": "--",
    "\u2014": "---",
    "\u00b7": r"$\cdot$",
    "\u2192": r"$\to$",
    "\u202f": r"\,",
    "\u00a0": "~",
    "\u2026": r"\ldots{}",
    "\u00b1": r"$\pm$",
    "\u2019": "'",
}
#: The size of a pixel in points.
_POINTS = 0.75


def tikz(scene: Scene) -> str:
    """Return a scene as a ``tikzpicture`` without a final newline; it needs only the package ``tikz``."""
    return "\n".join(_lines(scene))


def document(scene: Scene) -> str:
    r"""Return a scene as a LaTeX document, to be compiled alone or to be ``\input`` with the package ``standalone``."""
    return "\n".join((r"\documentclass[tikz]{standalone}", r"\begin{document}", *_lines(scene), r"\end{document}", ""))


def _lines(scene: Scene) -> Iterator[str]:
    yield f"% {_plain(scene.title)}"
    yield rf"\begin{{tikzpicture}}[x={_POINTS}pt,y=-{_POINTS}pt,line cap=butt,inner sep=0pt]"
    body = [line for shape in scene.shapes for line in _shape_lines(shape)]
    for role in sorted({role for shape in scene.shapes for role in _roles(shape)}):
        yield rf"\definecolor{{la-{role}}}{{HTML}}{{{ink(role).light[1:].upper()}}}"
    yield rf"\path[use as bounding box] (0,0) rectangle ({_number(scene.width)},{_number(scene.height)});"
    yield from body
    yield r"\end{tikzpicture}"


def _roles(shape: Shape) -> Iterator[str]:
    for name in ("role", "fill", "stroke"):
        if role := getattr(shape, name, None):
            yield role


def _shape_lines(shape: Shape) -> Iterator[str]:
    match shape:
        case Cells():
            boxes = [_rectangle(*box) for box in shape.boxes]
            yield rf"\fill[{_paint(shape.role, shape.opacity)}] {' '.join(boxes)};"
        case Lines():
            paths = " ".join(_path(((x, y), (u, v))) for x, y, u, v in shape.segments)
            yield rf"\draw[{_pen(shape.role, shape.width, shape.dash)}] {paths};"
        case Box():
            yield from _box(shape)
        case Area():
            yield rf"\fill[{_paint(shape.role, shape.opacity)}] {_path(shape.points)} -- cycle;"
        case Arrow():
            *path, tip = shape.points
            neck, barbs = head_of(shape) if shape.head else (tip, ())
            yield rf"\draw[{_pen(shape.role, shape.width, shape.dash)}] {_path((*path, neck))};"
            if barbs:
                yield rf"\fill[{_paint(shape.role)}] {_path((tip, *barbs))} -- cycle;"
        case Text():
            yield from _texts(shape)


def _rectangle(x: float, y: float, width: float, height: float) -> str:
    return f"({_number(x)},{_number(y)}) rectangle ({_number(x + width)},{_number(y + height)})"


def _box(box: Box) -> Iterator[str]:
    corners = f"{_rectangle(box.x, box.y, box.width, box.height)};"
    round_ = f",rounded corners={_number(box.radius * _POINTS)}pt" if box.radius else ""
    if box.fill:
        yield rf"\fill[{_paint(box.fill, box.opacity)}{round_}] {corners}"
    if box.stroke:
        yield rf"\draw[{_pen(box.stroke, box.line)}{round_}] {corners}"


def _texts(shape: Text) -> Iterator[str]:
    """Yield a node for each text, anchored on its baseline."""
    size = shape.size * _POINTS
    font = rf"\fontsize{{{_number(size)}}}{{{_number(1.2 * size)}}}\selectfont"
    font += (r"\ttfamily" if shape.mono else r"\sffamily") + r"\bfseries" * shape.bold
    anchor = {"start": "base west", "middle": "base", "end": "base east"}[shape.anchor]
    turn = f",rotate={-shape.turn}" if shape.turn else ""
    style = rf"anchor={anchor},text=la-{shape.role}{turn},font={{{font}}}"
    for x, y, text in shape.items:
        yield rf"\node[{style}] at ({_number(x)},{_number(y)}) {{{_words(text)}}};"


def _paint(role: str, opacity: float = 1) -> str:
    total = ink(role).opacity * opacity
    return f"la-{role}" + ("" if total == 1 else f",opacity={_number(total)}")


def _pen(role: str, width: float, dash: tuple[float, ...] = ()) -> str:
    marks = [f"{'off' if number % 2 else 'on'} {_number(length * _POINTS)}pt" for number, length in enumerate(dash)]
    dashes = f",dash pattern={' '.join(marks)}" if marks else ""
    return f"{_paint(role)},line width={_number(width * _POINTS)}pt{dashes}"


def _path(points: tuple[Point, ...]) -> str:
    return " -- ".join(f"({_number(x)},{_number(y)})" for x, y in points)


def _words(text: str) -> str:
    return "".join([_SIGNS.get(sign, sign if " " <= sign <= "~" else "?") for sign in text])


#: Replacements in a comment for the characters between extents and within a number.
_COMMENTED = {"\u00d7": "x", "\u2009": "", "\u202f": ""}


def _plain(text: str) -> str:
    """Return a text for a comment, in ASCII."""
    return "".join([_COMMENTED.get(sign, sign if " " <= sign <= "~" else "?") for sign in text])


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
