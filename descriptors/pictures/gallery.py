"""Several pictures as one: below one another, or as a page that holds them all.

>>> from descriptors import derive
>>> from descriptors.pictures.parts.levels import LevelsPicture
>>> one = LevelsPicture(derive((128, 128), "bf16", "K", "128B", (64, 16)))
>>> Gallery("two", (("a", one), ("b", one))).scene().height > 2 * one.scene().height
True
"""

from __future__ import annotations

from html import escape
from typing import Any

from descriptors.frozen import frozen
from layoutalg import Figure, Picture, Scene

_STYLE = (
    ":root{color-scheme:light dark}body{margin:24px auto;padding:0 20px;max-width:1320px;"
    "font-family:ui-sans-serif,system-ui,sans-serif}section{margin:0 0 40px}h1{font-size:20px}h2{font-size:15px}"
)


@frozen
class Gallery(Picture):
    """Pictures with their names.

    Args:
        title: of all.
        pictures: the name and the picture of each.
    """

    title: str
    pictures: tuple[tuple[str, Picture], ...]

    def scene(self) -> Scene:
        """One below the other."""
        figure, y = Figure(), 0.0
        for _, one in self.pictures:
            scene = one.scene()
            figure.place(scene, 0, y)
            y += scene.height + 12
        return figure.scene(self.title, " ".join(one.scene().description for _, one in self.pictures))

    def text(self, *, color: bool = False, width: int | None = None) -> str:
        """One after the other."""
        return "\n\n\n".join(one.text(color=color, width=width) for _, one in self.pictures)

    def record(self) -> dict[str, Any]:
        """The numbers of each, by its name."""
        return {name: one.record() for name, one in self.pictures}

    def html(self) -> str:
        """A document that holds every picture and needs no other file."""
        parts = "".join(
            f'<section id="{escape(name)}"><h2>{escape(name)}</h2>{one._repr_html_()}</section>\n'
            for name, one in self.pictures
        )
        return (
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width,initial-scale=1">'
            f"<title>{escape(self.title)}</title><style>{_STYLE}</style></head>\n"
            f"<body><h1>{escape(self.title)}</h1>\n{parts}</body></html>\n"
        )
