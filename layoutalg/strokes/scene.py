"""Scene: shapes on a canvas of known size, and the words that say what they show; what every face is written from.

Shapes cover one another in their order. Law: a scene that a :mod:`~layoutalg.strokes.canvas` gives holds every one of
its shapes, texts included, inside its width and height.

>>> from layoutalg.strokes.shapes import Cells
>>> scene = Scene("Two cells", "A cell of each of two kinds.", 20, 10, (Cells("c0", ((0, 0, 10, 10),)),))
>>> [shape.bounds() for shape in scene.moved(5, 0)]
[(5, 0, 15, 10)]
"""

from __future__ import annotations

from layoutalg.strokes.shapes import Shape
from layoutalg.tuples.frozen import Value


class Scene(Value):
    """Shapes on a canvas of known size, with the words that say what they show.

    Args:
        title: a few words.
        description: sentences for a reader who does not see it.
        width, height: in pixels.
        shapes: from the lowest to the topmost.
    """

    __slots__ = ("title", "description", "width", "height", "shapes")
    title: str
    description: str
    width: float
    height: float
    shapes: tuple[Shape, ...]

    def __init__(self, title: str, description: str, width: float, height: float, shapes: tuple[Shape, ...]) -> None:
        self.fix(title=title, description=description, width=width, height=height, shapes=shapes)

    def moved(self, dx: float, dy: float) -> tuple[Shape, ...]:
        """Its shapes elsewhere, to stand in another scene."""
        return tuple(shape.moved(dx, dy) for shape in self.shapes)
