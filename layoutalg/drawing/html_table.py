"""HTML tables of the offsets of a layout, which notebooks show.

The table is the grid of :mod:`layoutalg.drawing.text_table`. The color of a cell deepens with its offset, so that it
shows the order in memory. All styles are inline and all texts are escaped, so that the HTML can be part of any page.

>>> from layoutalg import Layout
>>> [offset for offset in range(8) if f">{offset}</td>" not in table(Layout((2, 4), (4, 1)))]
[]
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

from layoutalg.drawing.arrange import arrange
from layoutalg.drawing.grid import Axis, Drawable, Grid, drawing
from layoutalg.drawing.picture import image
from layoutalg.drawing.plate import by_offset, integers, order
from layoutalg.drawing.theme import ink
from layoutalg.errors import LayoutError
from layoutalg.tuples.int_tuple import product as size
from layoutalg.tuples.int_tuple import text
from layoutalg.tuples.leaf import has_symbols

#: The most cells of a table in a notebook, and of a picture. Of a larger layout, a notebook shows only the notation.
SMALL, MOST_DRAWN = 2048, 1 << 16

_TABLE = "border-collapse:collapse;font-family:monospace;font-size:90%;margin:0.5em 0"
_CELL = "padding:1px 6px;text-align:right;border:1px solid rgba(128,128,128,.35)"
_HEAD = "padding:1px 6px;text-align:right;vertical-align:top;font-weight:normal;opacity:.7;border:none"
_EDGE = "2px solid rgba(128,128,128,.9)"


def table(layout: Drawable) -> str:
    """Return HTML for a layout: a table of its offsets, for a large layout a picture, for a larger one its notation.

    A layout with symbols is shown as its notation. If the offsets cannot be computed, the HTML contains the reason
    instead of an exception, so that a notebook shows every value.

    Args:
        layout: a layout or composed layout of any rank; rank 3 and more has a table for each slice.

    >>> from layoutalg import Layout
    >>> table(Layout((2, 3))).count("<td")
    6
    >>> table(Layout((1024, 1024)))
    '<code>(1024,1024):(1,1024)</code> (1048576 elements)'
    """
    total = size(layout.shape)
    if has_symbols((total,)) or total > MOST_DRAWN:
        return f"<code>{escape(str(layout))}</code> ({total} elements)"
    try:
        picture = drawing(layout, max_grids=16 if total <= SMALL else None)
        if total > SMALL:
            return image(arrange(by_offset(picture)))
    except LayoutError as error:
        return f"<code>{escape(str(layout))}</code> ({escape(str(error))})"
    roles, _ = order(integers(grid.cells for grid in picture.grids))
    parts = [f"<div><code>{escape(picture.notation)}</code>"]
    for grid in picture.grids:
        parts.append(f'<table style="{_TABLE}">')
        if grid.title:
            parts.append(f'<caption style="text-align:left"><code>{escape(grid.title)}</code></caption>')
        parts.extend(_head(grid))
        parts.extend(_body(grid, roles))
        parts.append("</table>")
    return "".join([*parts, escape(picture.note), "</div>"])


def _head(grid: Grid) -> Iterator[str]:
    """Yield a header row for each leaf of the columns' mode, slowest first; a label spans the columns it applies to."""
    yield "<thead>"
    row_label_columns = max(len(grid.rows.names), 1)
    for leaf in reversed(range(len(grid.columns.names))):
        # The last header row contains the names of the rows' leaves, above their labels.
        last = leaf == 0 and bool(grid.rows.names)
        names = list(reversed(grid.rows.names)) if last else []
        corner = "".join(f'<th style="{_HEAD}">{name} \\ {grid.columns.names[0]}</th>' for name in names[-1:])
        names_before = "".join(f'<th style="{_HEAD}">{name}</th>' for name in names[:-1])
        if not names:
            corner = f'<th style="{_HEAD}" colspan="{row_label_columns}">{grid.columns.names[leaf]}</th>'
        yield f"<tr>{names_before}{corner}{''.join(_spans(grid.columns, leaf, 'colspan', 'col'))}</tr>"
    yield "</thead>"


def _body(grid: Grid, roles: dict[Any, str]) -> Iterator[str]:
    yield "<tbody>"
    for i, row in enumerate(grid.cells):
        labels = "".join(
            next(_spans(grid.rows, leaf, "rowspan", "row", start=i))
            for leaf in reversed(range(len(grid.rows.names)))
            if grid.rows.starts_run(leaf, i)
        )
        if not grid.rows.names:
            labels = f'<th style="{_HEAD}"></th>'
        top = f";border-top:{_EDGE}" if grid.rows.divides_before(i) else ""
        yield f"<tr>{labels}"
        for j, offset in enumerate(row):
            edges = top + (f";border-left:{_EDGE}" if grid.columns.divides_before(j) else "")
            yield f'<td style="{_CELL}{edges}{_color(offset, roles)}">{escape(text(offset))}</td>'
        yield "</tr>"
    yield "</tbody>"


def _spans(axis: Axis, leaf: int, attribute: str, scope: str, start: int = 0) -> Iterator[str]:
    """Yield the header cells of a leaf from position ``start`` on, one for each run of equal labels."""
    run = size(axis.extents[:leaf])
    for position in range(start, axis.shown, run):
        span = f' {attribute}="{run}"' if run > 1 else ""
        style = f"{_HEAD};text-align:left" if span else _HEAD
        yield f'<th scope="{scope}" style="{style}"{span}>{axis.coordinate(position)[leaf]}</th>'


def _color(offset: Any, roles: dict[Any, str]) -> str:
    """Return the background of a cell: the color of its position between the lowest and the highest offset, if any."""
    if type(offset) is not int:
        return ""
    return f";background:{ink(roles[offset]).light};color:{ink('ink').light}"
