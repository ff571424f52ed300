"""A stage of the explorer: a picture, the element that each of its cells stands for, and the marked cells.

Coordinates are those of the picture's canvas.

Invariant: every mark is within the picture.

>>> from layoutalg import Figure
>>> figure = Figure()
>>> figure.cells(0, 0, 10, 10, [["c0", "c1"]])
>>> two = stage(figure, "Two cells", "", [Grid(0, 0, 20, 10, 1, 2)], [Mark("cell", 10, 0, 10, 10)], "")
>>> two.marks[0].x + two.marks[0].width <= two.width
True
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields, replace
from functools import lru_cache
from math import ceil
from typing import Any
from zlib import crc32

from layoutalg import Figure, Scene
from layoutalg import Picture as Faces
from layoutalg.frozen import frozen

#: The margin of a picture in pixels, and the smallest type size, which has 9 pixels in a window of 1366 pixels.
MARGIN, LEAST_TYPE = 10, 11

#: The first element (MN, K) of each cell, or None.
Cells = tuple[tuple[tuple[int, int] | None, ...], ...]


@frozen
class Grid:
    """A table of cells that can be chosen.

    Args:
        x, y, width, height: position and size.
        rows, columns: number of cells.
        origin: the element of the first cell.
        step: elements from one cell to the next, down and across.
        cells: the element of every cell, instead of ``origin`` and ``step``.
    """

    x: float
    y: float
    width: float
    height: float
    rows: int
    columns: int
    origin: tuple[int, int] = (0, 0)
    step: tuple[int, int] = (1, 1)
    cells: Cells | None = None

    def box(self, row: float, column: float, rows: float = 1, columns: float = 1) -> tuple[float, float, float, float]:
        """Return the corner and the size of a block of cells."""
        wide, high = self.width / self.columns, self.height / self.rows
        return self.x + column * wide, self.y + row * high, columns * wide, rows * high


@frozen
class Mark:
    """A frame around the chosen cell, or around its piece, atom or subtile, which ``role`` names."""

    role: str
    x: float
    y: float
    width: float
    height: float


@frozen
class Stage:
    """A picture whose cells stand for elements.

    Args:
        scene: the drawing.
        text: the picture as a table.
        said: a description in one or two sentences.
        grids: the cells that can be chosen.
        marks: the frames around the choice.
        inset: a drawing over the picture, of the same size, that depends on the choice; None for none.
    """

    scene: Scene
    text: str
    said: str
    grids: tuple[Grid, ...]
    marks: tuple[Mark, ...]
    inset: Scene | None = None

    @property
    def width(self) -> float:
        """The width in pixels."""
        return self.scene.width

    def record(self, known: str = "") -> dict[str, Any]:
        """Return the plain data that a page needs.

        Args:
            known: the ``picture`` checksum of the drawing that the page shows, which is not sent again.
        """
        svg = _svg(self.scene)
        number = f"{crc32(svg.encode()):08x}"
        return {
            "title": self.scene.title,
            "said": self.said,
            "picture": number,
            **({} if known == number else {"svg": svg}),
            "inset": _svg(self.inset) if self.inset else "",
            "width": self.scene.width,
            "height": self.scene.height,
            "text": self.text,
            # not asdict, which would copy every cell
            "grids": [{field.name: getattr(grid, field.name) for field in fields(grid)} for grid in self.grids],
            "marks": [asdict(mark) for mark in self.marks],
        }


@lru_cache(maxsize=16)
def _svg(scene: Scene) -> str:
    return _ScenePicture(scene).svg()


class _ScenePicture(Faces):
    """A scene as a ``Picture``, which can be written as SVG."""

    __slots__ = ("_scene",)

    def __init__(self, scene: Scene) -> None:
        self._scene = scene

    def scene(self) -> Scene:
        return self._scene


def stage(
    figure: Figure,
    title: str,
    said: str,
    grids: Sequence[Grid],
    marks: Sequence[Mark],
    text: str,
) -> Stage:
    """Return a figure as a stage. Its grids and marks move as the figure does when it becomes a scene.

    Args:
        figure: the drawing.
        title: a title of a few words.
        said: a description in sentences.
        grids: the cells that can be chosen, in the coordinates of the figure.
        marks: the frames, in the coordinates of the figure.
        text: the picture as a table.
    """
    dx, dy = _shift(figure)
    return Stage(
        figure.scene(title, said, MARGIN),
        text,
        said,
        tuple(replace(grid, x=grid.x + dx, y=grid.y + dy) for grid in grids),
        tuple(replace(mark, x=mark.x + dx, y=mark.y + dy) for mark in marks),
    )


def with_inset(base: Stage, inset: Figure, grids: Sequence[Grid]) -> Stage:
    """Return a stage with a drawing over its picture that depends on the chosen element.

    Args:
        base: the stage.
        inset: the drawing, in the coordinates of the stage, to the right of its picture and not higher.
        grids: the cells of the drawing that can be chosen, in the same coordinates.
    """
    left, top, right, bottom = inset.bounds()
    size = max(base.scene.width, ceil(right + MARGIN)), max(base.scene.height, ceil(bottom + MARGIN))
    own = inset.scene(f"{base.scene.title}, enlarged", base.said, MARGIN)
    x, y = ceil(MARGIN - left), ceil(MARGIN - top)  # the figure was moved by this when it became a scene
    shapes = tuple(shape.moved(-x, -y) for shape in own.shapes)
    return replace(
        base,
        scene=replace(base.scene, width=size[0], height=size[1]),
        grids=(*base.grids, *grids),
        inset=replace(own, width=size[0], height=size[1], shapes=shapes),
    )


def _shift(figure: Figure) -> tuple[int, int]:
    """Return the distance by which a figure moves when it becomes a scene."""
    left, top, _, _ = figure.bounds()
    return ceil(MARGIN - left), ceil(MARGIN - top)
