"""A scene in a page: a whole HTML document, and the image that a notebook shows.

A notebook that is not trusted strips inline SVG and shows text in place of ``image/svg+xml``; an ``<img>`` with the
picture in its address is kept, leaks no style into the page, and follows its light or dark.

>>> from layoutalg.strokes.canvas import Canvas
>>> scene = Canvas().scene("Nothing", "An empty canvas.", 5)
>>> image(scene).partition("base64,")[0]
'<img alt="Nothing. An empty canvas." style="max-width:100%" src="data:image/svg+xml;'
"""

from __future__ import annotations

from base64 import b64encode
from html import escape

from layoutalg.faces.svg import svg
from layoutalg.strokes.scene import Scene
from layoutalg.strokes.theme import INKS, SANS


def image(scene: Scene) -> str:
    """An HTML ``<img>`` that holds the picture, with its words as the alternative text."""
    words = escape(f"{scene.title}. {scene.description}")
    packed = b64encode(svg(scene).encode()).decode("ascii")
    return f'<img alt="{words}" style="max-width:100%" src="data:image/svg+xml;base64,{packed}">'


def page(scene: Scene, text: str = "") -> str:
    """A document of its own with the picture, and below it the same as text for who wants to copy it."""
    paper, ink = INKS["paper"], INKS["ink"]
    style = (
        f":root{{color-scheme:light dark}}body{{margin:24px auto;padding:0 16px;max-width:{int(scene.width)}px;"
        f"font-family:{SANS};background:{paper.light};color:{ink.light}}}details{{margin:0 24px;font-size:14px}}"
        "pre{overflow-x:auto;font-size:12px}"
        "@supports (color:light-dark(#000,#fff)){"
        f"body{{background:light-dark({paper.light},{paper.dark});color:light-dark({ink.light},{ink.dark})}}}}"
    )
    told = f"<details><summary>As text</summary><pre>{escape(text)}</pre></details>" if text else ""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{escape(scene.title)}</title><style>{style}</style></head>\n"
        f"<body>{svg(scene)}\n{told}</body></html>\n"
    )
