"""Picture: every face of something that can be drawn: SVG, TikZ, text, a page, a file, what a notebook shows.

A kind of picture is a value that says three things of what it shows, computed when they are asked for: its scene, its
text and its data. The rest is here. Law: each face is a function of the value alone, byte for byte.

>>> from layoutalg import Layout, draw
>>> picture = draw(Layout((2, 2), (2, 1)))
>>> picture.svg() == draw(Layout((2, 2), (2, 1))).svg()
True
"""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

from layoutalg.errors import LayoutError
from layoutalg.faces.files import write_whole
from layoutalg.faces.page import image, page
from layoutalg.faces.svg import svg
from layoutalg.faces.terminal import painted
from layoutalg.faces.tikz import document, tikz
from layoutalg.strokes.scene import Scene

#: What a file is written as, by its suffix.
SUFFIXES = (".svg", ".tex", ".txt", ".html")


class Picture:
    """Something drawn. A kind of picture gives :meth:`scene`, :meth:`text` and :meth:`record`, and has all faces.

    A notebook shows it as an image, a terminal and ``str`` as text.

    >>> from layoutalg import Layout, draw
    >>> isinstance(draw(Layout(4)), Picture)
    True
    """

    __slots__ = ()

    painted = staticmethod(painted)

    def scene(self) -> Scene:
        """Its shapes, positioned, with roles instead of colours."""
        raise NotImplementedError

    def text(self, *, color: bool = False, width: int | None = None) -> str:
        """Lines of text, without a final newline.

        Args:
            color: with a terminal's 256 colours.
            width: the most characters on a line; ``None`` is no limit.
        """
        raise NotImplementedError

    def record(self) -> dict[str, Any]:
        """What it shows as plain data, without pixels: what JSON can hold."""
        raise NotImplementedError

    def svg(self) -> str:
        """An SVG element, without a final newline; it follows the reader's light or dark."""
        return svg(self.scene())

    def tikz(self) -> str:
        """A ``tikzpicture`` for a LaTeX document, without a final newline."""
        return tikz(self.scene())

    def html(self) -> str:
        """An HTML document with the picture, and the same as text."""
        return page(self.scene(), self.text())

    def save(self, path: str | PathLike[str]) -> None:
        """Write it to a file: ``.svg``, ``.tex`` (a document that can be compiled), ``.txt`` or ``.html``.

        The file is written whole or not at all.

        Raises:
            LayoutError: for another suffix, or if the file cannot be written.

        >>> from layoutalg import Layout, draw
        >>> try:
        ...     draw(Layout(4)).save("picture.png")
        ... except LayoutError as error:
        ...     print(str(error).partition(";")[0])
        save: a file's name must end in .svg, .tex, .txt, .html, found picture.png
        """
        target = Path(path)
        write = self._writers().get(target.suffix.lower())
        if write is None:
            raise LayoutError(
                f"save: a file's name must end in {', '.join(SUFFIXES)}, found {target.name}; for a PNG convert "
                "an SVG, with a browser or rsvg-convert"
            )
        write_whole(target, write())

    def _writers(self) -> dict[str, Callable[[], str]]:
        writers = (lambda: self.svg() + "\n", lambda: document(self.scene()), lambda: self.text() + "\n", self.html)
        return dict(zip(SUFFIXES, writers, strict=True))

    def _repr_html_(self) -> str:
        return image(self.scene())

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/html": self._repr_html_(), "text/plain": self.text()}

    def __str__(self) -> str:
        return self.text()
