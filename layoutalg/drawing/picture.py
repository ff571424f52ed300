r"""Output formats of pictures: SVG, TikZ, text, an HTML page, a file, and the display in a notebook.

A kind of picture provides three methods: its scene, its text and its data. This module provides everything else. A page
is a complete HTML document. A notebook shows an ``<img>`` element whose address contains the picture, because an
untrusted notebook removes inline SVG; the image adds no styles to the page and follows its light or dark mode. A
terminal shows 256 colors, black on light. A file is written whole or not at all.

Invariant: each output is a function of the value alone, byte for byte.

>>> from layoutalg import Layout, draw
>>> picture = draw(Layout((2, 2), (2, 1)))
>>> picture.svg() == draw(Layout((2, 2), (2, 1))).svg()
True
>>> painted("12", "c0"), painted("12", None)
('\x1b[30;48;5;153m12\x1b[0m', '12')
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any

from layoutalg.drawing.shapes import Scene
from layoutalg.drawing.svg import svg
from layoutalg.drawing.theme import INKS, SANS, ink
from layoutalg.drawing.tikz import document, tikz
from layoutalg.errors import LayoutError
from layoutalg.files import PAGE_MARK, is_foreign, write_whole


def painted(text: str, role: str | None) -> str:
    """Return a text with the terminal color of a role as its background; unchanged if the role has none."""
    colour = None if role is None else ink(role).terminal
    return text if colour is None else f"\x1b[30;48;5;{colour}m{text}\x1b[0m"


#: The suffixes of supported file formats.
SUFFIXES = (".svg", ".tex", ".txt", ".html")


class Picture:
    """A picture. Subclasses define :meth:`scene`, :meth:`text` and :meth:`record` and inherit all output formats.

    A notebook shows it as an image; ``print`` shows it as text.

    >>> from layoutalg import Layout, draw
    >>> isinstance(draw(Layout(4)), Picture)
    True
    """

    __slots__ = ()

    painted = staticmethod(painted)

    def scene(self) -> Scene:
        """Return the shapes of the picture with their positions, with roles instead of colors."""
        raise NotImplementedError

    def text(self, *, color: bool = False, width: int | None = None) -> str:
        """Return the picture as lines of text without a final newline.

        Args:
            color: whether to use the 256 colors of a terminal.
            width: the most characters of a line; ``None`` for no limit.
        """
        raise NotImplementedError

    def record(self) -> dict[str, Any]:
        """Return the contents of the picture as plain data for JSON, without pixels."""
        raise NotImplementedError

    def svg(self) -> str:
        """Return an SVG element without a final newline; it follows the reader's light or dark mode."""
        return svg(self.scene())

    def tikz(self) -> str:
        """Return a ``tikzpicture`` for a LaTeX document, without a final newline."""
        return tikz(self.scene())

    def html(self) -> str:
        """Return an HTML document with the picture and its text."""
        return page(self.scene(), self.text())

    def save(self, path: str | PathLike[str], *, replace: bool = True) -> None:
        """Write the picture to a file: ``.svg``, ``.tex`` (a document that can be compiled), ``.txt`` or ``.html``.

        The file is written whole or not at all.

        Args:
            path: the path of the file.
            replace: whether to replace a file that this project did not write. Commands do not replace it.

        Raises:
            LayoutError: for another suffix, if the file cannot be written, or if it must not be replaced.

        >>> from layoutalg import Layout, draw
        >>> try:
        ...     draw(Layout(4)).save("picture.png")
        ... except LayoutError as error:
        ...     print(str(error).partition(";")[0])
        save: the name picture.png does not end in .svg, .tex, .txt or .html
        """
        target = Path(path)
        write = self._writers().get(target.suffix.lower())
        if write is None:
            raise LayoutError(
                f"save: the name {target.name} does not end in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}; a browser "
                "or rsvg-convert converts SVG to PNG"
            )
        _write(target, write(), replace)

    def _writers(self) -> dict[str, Callable[[], str]]:
        writers = (lambda: self.svg() + "\n", lambda: document(self.scene()), lambda: self.text() + "\n", self.html)
        return dict(zip(SUFFIXES, writers, strict=True))

    def _repr_html_(self) -> str:
        return image(self.scene())

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/html": self._repr_html_(), "text/plain": self.text()}

    def __str__(self) -> str:
        return self.text()


def image(scene: Scene) -> str:
    """Return an HTML ``<img>`` that contains the picture; its title and description are the alternative text."""
    alternative = escape(f"{scene.title}. {scene.description}")
    encoded = b64encode(svg(scene).encode()).decode("ascii")
    return f'<img alt="{alternative}" style="max-width:100%" src="data:image/svg+xml;base64,{encoded}">'


def page(scene: Scene, text: str = "") -> str:
    """Return an HTML document with the picture, and below it the text of the picture for copying."""
    paper, ink = INKS["paper"], INKS["ink"]
    style = (
        f":root{{color-scheme:light dark}}body{{margin:24px auto;padding:0 16px;max-width:{int(scene.width)}px;"
        f"font-family:{SANS};background:{paper.light};color:{ink.light}}}details{{margin:0 24px;font-size:14px}}"
        "pre{overflow-x:auto;font-size:12px}"
        "@supports (color:light-dark(#000,#fff)){"
        f"body{{background:light-dark({paper.light},{paper.dark});color:light-dark({ink.light},{ink.dark})}}}}"
    )
    details = f"<details><summary>As text</summary><pre>{escape(text)}</pre></details>" if text else ""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width,initial-scale=1">{PAGE_MARK.decode()}'
        f"<title>{escape(scene.title)}</title><style>{style}</style></head>\n"
        f"<body>{svg(scene)}\n{details}</body></html>\n"
    )


def _write(path: Path, text: str, replace: bool) -> None:
    """Write a text as UTF-8, whole or not at all.

    Raises:
        LayoutError: if the file cannot be written or must not be replaced; the message contains the reason.
    """
    data = text.encode()
    try:
        if not replace and is_foreign(path, data):
            reason = "was not written by this program"
            if path.suffix == ".txt":
                reason = "has other content, and a text does not show whether this program wrote it"
            raise LayoutError(f"save: {path} exists and {reason}; give another path, or remove it")
        write_whole({path: data})
    except LayoutError:
        raise
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise LayoutError(f"save: {path} cannot be written: {reason}; give another path") from error
