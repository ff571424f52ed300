"""A story and its tables as HTML for a notebook: the text as it is printed, tables with inline styles, no scripts.

>>> from html import unescape
>>> "a < b" in unescape(page("a < b", []))
True
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

_CELL = "padding:2px 8px;border:1px solid #8886;text-align:left;font-family:monospace"


def page(story: str, tables: Iterable[tuple[str, Sequence[Sequence[object]]]], image: str = "") -> str:
    """A picture, tables, then the whole story below a line to open it.

    Args:
        story: what ``print`` shows.
        tables: the title and the rows of each, its heading first; one without rows is left out.
        image: the picture as HTML, where there is one.

    >>> page("a < b", [("fields", [("name", "value"), ("sbo", 1024)])]).count("<tr>")
    2
    """
    shown = "".join(_table(title, rows) for title, rows in tables if len(rows) > 1)
    title, _, _ = story.partition("\n")
    told = f"<details><summary>the whole story</summary><pre>{_safe(story)}</pre></details>"
    return f"<div><code>{_safe(title)}</code>{image}{shown}{told}</div>"


def _table(title: str, rows: Sequence[Sequence[object]]) -> str:
    body = "".join(_row(row, "td" if i else "th") for i, row in enumerate(rows))
    caption = f'<caption style="text-align:left">{_safe(title)}</caption>'
    return f'<table style="border-collapse:collapse">{caption}{body}</table>'


def _row(cells: Sequence[object], tag: str) -> str:
    return "<tr>" + "".join(f'<{tag} style="{_CELL}">{_safe(str(cell))}</{tag}>' for cell in cells) + "</tr>"


def _safe(text: str) -> str:
    from html import escape  # its table of names takes long to load, and only a notebook asks for a page

    return escape(text)
