"""Tables of a picture's cells as text, in a terminal's colours where there are any.

>>> table([[0, 16], [1, 17]])
['   0 16', '   1 17']
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import wrap

from descriptors.errors import DescriptorError, LayoutError
from layoutalg import Picture

#: The most rows and columns of a table that are written.
MOST_ROWS, MOST_COLUMNS = 40, 64

#: Signs of pictures, as a terminal of any kind shows them.
_ASCII = str.maketrans({"\u00d7": "x", "\u2013": "-", "\u202f": None, "\u2019": "'"})


def table(
    cells: Sequence[Sequence[object]],
    roles: Sequence[Sequence[str | None]] = (),
    *,
    left: Sequence[str] = (),
    top: Sequence[str] = (),
    color: bool = False,
) -> list[str]:
    """Lines of a table, its cells right-aligned; what is too large for a terminal is left out and said.

    Args:
        cells: what is written, row by row.
        roles: what each cell is filled with.
        left, top: what stands beside the rows and above the columns.
        color: with a terminal's colours.

    >>> table([[7, 128]], left=["mn 0"], top=["k 0", "k 1"])
    ['        k 0 k 1', '   mn 0   7 128']
    """
    rows = [[str(cell) for cell in row[:MOST_COLUMNS]] for row in cells[:MOST_ROWS]]
    width = max((len(cell) for row in [*rows, top[:MOST_COLUMNS]] for cell in row), default=0)
    beside = max(map(len, left), default=-1) + 1
    lines = []
    if top:
        lines.append(" " * (3 + beside) + " ".join(name.rjust(width) for name in top[:MOST_COLUMNS]))
    for i, row in enumerate(rows):
        start = f"{left[i]:>{beside - 1}} " if left else ""
        if color and roles:  # colours touch, so that a block is one
            body = "".join(
                Picture.painted(f"{cell:>{width}} ", role) for cell, role in zip(row, roles[i], strict=False)
            )
        else:
            body = " ".join(cell.rjust(width) for cell in row)
        lines.append(f"   {start}{body}")
    more = [f"{len(cells) - MOST_ROWS} more rows"] if len(cells) > MOST_ROWS else []
    columns = max(map(len, cells), default=0)
    more += [f"{columns - MOST_COLUMNS} more columns"] if columns > MOST_COLUMNS else []
    return [*lines, f"   ... and {', '.join(more)}"] if more else lines


def story(lines: Iterable[str], width: int | None) -> str:
    """Lines of a text in ASCII: sentences wrapped to a width, tables and coloured lines cut or left as they are.

    >>> print(story(["64 \u00d7 16 of it", "   a table that is long"], 12))
    64 x 16 of
    it
       a tabl...
    """
    made: list[str] = []
    for line in lines:
        text = line.translate(_ASCII)
        if width is None or len(text) <= width or "\x1b" in text:
            made.append(text)
        elif text.startswith(" "):
            made.append(text[: max(width - 3, 0)] + "...")
        else:
            made += wrap(text, max(width, 8))
    return "\n".join(made)


def shown(picture: Picture) -> str:
    """A picture as a notebook shows it; nothing where an answer has too many parts to be drawn."""
    try:
        return picture._repr_html_()
    except (DescriptorError, LayoutError):
        return ""
