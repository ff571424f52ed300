"""A stage: a picture with its map: which element each place of it stands for, and which places are marked.

Coordinates are those of the picture's own canvas. Law: every mark lies within the picture.

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

#: Paper around a picture, in pixels; the smallest type: shrunk to a window of 1366 pixels it still has 9.
MARGIN, LEAST_TYPE = 10, 11

#: The first element (MN, K) of each cell; None where there is none.
Cells = tuple[tuple[tuple[int, int] | None, ...], ...]


@frozen
class Grid:
    """A table of cells that can be chosen.

    Args:
        x, y, width, height: where it is.
        rows, columns: how many cells.
        origin: the element of its first cell.
        step: elements from a cell to the next, down and across.
        cells: instead of both the element of every cell.
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
        """Corner and size of a block of cells."""
        wide, high = self.width / self.columns, self.height / self.rows
        return self.x + column * wide, self.y + row * high, columns * wide, rows * high


@frozen
class Mark:
    """A frame around what is chosen: the cell, its chunk, its atom, its subtile."""

    role: str
    x: float
    y: float
    width: float
    height: float


@frozen
class Stage:
    """A picture with its map.

    Args:
        scene: what is drawn.
        text: the same as a table.
        said: what it shows, in a sentence or two.
        grids: which cells can be chosen.
        marks: what is chosen.
        inset: what lies over the picture and depends on what is chosen, as large as the picture; None for nothing.
    """

    scene: Scene
    text: str
    said: str
    grids: tuple[Grid, ...]
    marks: tuple[Mark, ...]
    inset: Scene | None = None

    @property
    def width(self) -> float:
        """Pixels across."""
        return self.scene.width

    def record(self, known: str = "") -> dict[str, Any]:
        """What a page needs of it, as plain data.

        Args:
            known: the ``picture`` that the page shows: its drawing, which a click leaves as it was, is not sent again.
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
            # not asdict, which copies every place of memory
            "grids": [{field.name: getattr(grid, field.name) for field in fields(grid)} for grid in self.grids],
            "marks": [asdict(mark) for mark in self.marks],
        }


@lru_cache(maxsize=16)
def _svg(scene: Scene) -> str:
    return _ScenePicture(scene).svg()


class _ScenePicture(Faces):
    """A scene as one of the house's pictures."""

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
    """What was drawn, with its map moved as the figure is when it becomes a scene.

    Args:
        figure: what was drawn.
        title: in a few words.
        said: in sentences.
        grids, marks: in the coordinates in which it was drawn.
        text: the same as a table.
    """
    dx, dy = _shift(figure)
    return Stage(
        figure.scene(title, said, MARGIN),
        text,
        said,
        tuple(replace(one, x=one.x + dx, y=one.y + dy) for one in grids),
        tuple(replace(one, x=one.x + dx, y=one.y + dy) for one in marks),
    )


def with_inset(one: Stage, inset: Figure, grids: Sequence[Grid]) -> Stage:
    """A stage with what lies over its picture and depends on what is chosen.

    Args:
        one: the stage.
        inset: what was drawn, in the stage's own coordinates, right of all that is there and no higher.
        grids: which of its cells can be chosen, in the same coordinates.
    """
    left, top, right, bottom = inset.bounds()
    size = max(one.scene.width, ceil(right + MARGIN)), max(one.scene.height, ceil(bottom + MARGIN))
    own = inset.scene(f"{one.scene.title}, enlarged", one.said, MARGIN)
    x, y = ceil(MARGIN - left), ceil(MARGIN - top)  # as the figure was moved when it became a scene
    shapes = tuple(shape.moved(-x, -y) for shape in own.shapes)
    return replace(
        one,
        scene=replace(one.scene, width=size[0], height=size[1]),
        grids=(*one.grids, *grids),
        inset=replace(own, width=size[0], height=size[1], shapes=shapes),
    )


def _shift(figure: Figure) -> tuple[int, int]:
    """How far a figure is moved when it becomes a scene."""
    left, top, _, _ = figure.bounds()
    return ceil(MARGIN - left), ceil(MARGIN - top)
