"""Tables of the offsets of a layout, with labeled axes, from which text and HTML tables are made.

A layout of rank 2 is one grid: mode 0 runs down, mode 1 across. Rank 1 is a single row. A higher rank is a series of
grids, one for each coordinate of the modes after the second; its title is the slice in CuTe's notation, ``(_,_,3)``.
The axis of a nested mode has one line of labels for each leaf, so that the labels show the hierarchy. If a grid exceeds
a limit, ``note`` reports how much of it is shown.

Invariant: the cell in row i and column j is ``layout(i, j)``.

>>> from layoutalg import Layout
>>> layout = Layout((4, (2, 4)), (2, (1, 8)))
>>> grid = drawing(layout).grids[0]
>>> all(grid.cells[i][j] == layout(i, j) for i in range(4) for j in range(8))
True
"""

from __future__ import annotations

from typing import Any, Protocol

from layoutalg.errors import LayoutError
from layoutalg.frozen import frozen
from layoutalg.tuples.int_tuple import Shape, text, unrank
from layoutalg.tuples.int_tuple import product as size

#: The most cells of a picture. They take seconds to compute; more cells would not be readable.
MOST_CELLS = 1 << 21


class Drawable(Protocol):
    """A function on the coordinates of a shape whose ``str`` is its notation, such as a layout."""

    @property
    def shape(self) -> Shape:
        """Extents, nested to any depth."""
        ...

    def __call__(self, *coord: Any) -> Any:
        """Return the value at a coordinate."""
        ...


@frozen
class Axis:
    """An axis of a grid: the leaves of a mode, first leaf fastest, and the number of positions that are drawn.

    Args:
        names: the names of the leaves, which are the paths that select them, such as ``"[1,0]"``.
        extents: the extents of the leaves.
        shown: number of positions that are drawn, at most the product of the extents.

    >>> axis = Axis.of((2, 3), 1, limit=4)
    >>> axis.names, axis.size, axis.shown, axis.coordinate(3)
    (('[1,0]', '[1,1]'), 6, 4, (1, 1))
    """

    names: tuple[str, ...]
    extents: tuple[int, ...]
    shown: int

    @classmethod
    def of(cls, shape: Any, mode: int, limit: int | None) -> Axis:
        """Return the axis of one mode of a layout, with at most ``limit`` positions."""
        leaves = list(_named_extents(shape, (mode,)))
        total = size(shape)
        cut_at = total if limit is None else min(limit, total)
        return cls(tuple(name for name, _ in leaves), tuple(extent for _, extent in leaves), cut_at)

    @property
    def size(self) -> int:
        """Number of positions of the whole mode."""
        return size(self.extents)

    @property
    def block(self) -> int:
        """Number of positions between two dividing lines: the first extent that is not 1."""
        return next((extent for extent in self.extents if extent > 1), 1)

    def coordinate(self, position: int) -> tuple[int, ...]:
        """Return the coordinates of the leaves at a position, first leaf first."""
        digits: Any = unrank(position, self.extents)  # flat, because the extents are flat
        return tuple(digits)

    def last_label(self, leaf: int) -> int:
        """Return the largest coordinate of a leaf among the positions that are drawn."""
        return min(self.extents[leaf] - 1, (self.shown - 1) // size(self.extents[:leaf]))

    def starts_run(self, leaf: int, position: int) -> bool:
        """Return whether a run of equal coordinates of a leaf begins at a position; only there the leaf has a label."""
        return position % size(self.extents[:leaf]) == 0

    def divides_before(self, position: int) -> bool:
        """Return whether a dividing line is before a position."""
        return position > 0 and position % self.block == 0


@frozen
class Grid:
    """A table: its title (empty, or the slice that it shows), its two axes, and its cells, row by row."""

    title: str
    rows: Axis
    columns: Axis
    cells: tuple[tuple[Any, ...], ...]


@frozen
class Drawing:
    """The content of the drawing of a layout: its notation, its grids, and a note on what was left out."""

    notation: str
    grids: tuple[Grid, ...]
    note: str


def drawing(
    layout: Drawable,
    max_rows: int | None = None,
    max_columns: int | None = None,
    max_grids: int | None = None,
) -> Drawing:
    """Tabulate a layout.

    Args:
        layout: a layout or composed layout of any rank.
        max_rows: the most rows of a grid, in positions of mode 0; ``None`` for no limit.
        max_columns: the most columns of a grid, in positions of mode 1.
        max_grids: the most grids of a layout of rank 3 or more.

    Raises:
        LayoutError: if there are more than two million cells, or the layout raises it for a cell.

    >>> from layoutalg import Layout
    >>> picture = drawing(Layout((2, 3), (3, 1)))
    >>> picture.grids[0].cells
    ((0, 1, 2), (3, 4, 5))
    """
    rows, columns, rest, count = frame(layout, max_rows, max_columns, max_grids)
    grids = tuple(_grid(layout, rows, columns, unrank(index, rest)) for index in range(count))
    return Drawing(str(layout), grids, note_of(rows, columns, count, size(rest)))


def frame(
    layout: Drawable, max_rows: int | None, max_columns: int | None, max_grids: int | None, most: int | None = None
) -> tuple[Axis, Axis, tuple[int, ...], int]:
    """Return the axes of a layout's tables, the extents of the modes after the second, and the number of tables.

    Raises:
        LayoutError: if there are more than ``most`` cells; default: two million.

    >>> from layoutalg import Layout
    >>> rows, columns, rest, count = frame(Layout((4, 2, 3, 5)), None, None, 8)
    >>> rows.shown, columns.shown, rest, count
    (4, 2, (3, 5), 8)
    """
    modes = layout.shape if type(layout.shape) is tuple else (layout.shape,)
    rows = Axis.of(modes[0], 0, max_rows) if len(modes) > 1 else Axis((), (), 1)
    columns = Axis.of(modes[-1] if len(modes) < 2 else modes[1], min(len(modes) - 1, 1), max_columns) if modes else rows
    rest = tuple(size(mode) for mode in modes[2:])
    count = size(rest) if max_grids is None else min(max_grids, size(rest))
    limit, smaller = (MOST_CELLS, "fewer rows or columns") if most is None else (most, "a slice or a tile of it")
    if rows.shown * columns.shown * count > limit:
        raise LayoutError(
            f"draw: the picture has {rows.shown} rows of {columns.shown} columns in {count} table{'s' * (count != 1)}, "
            f"more than {limit} cells; draw {smaller}"
        )
    return rows, columns, rest, count


def _grid(layout: Drawable, rows: Axis, columns: Axis, point: Any) -> Grid:
    title = text((None, None, *point)) if point else ""
    across = range(columns.shown)
    if rows.names:
        cells = tuple(tuple(layout((i, j, *point)) for j in across) for i in range(rows.shown))
    elif columns.names:
        flat = type(layout.shape) is not tuple
        cells = (tuple(layout(j if flat else (j,)) for j in across),)
    else:
        cells = ((layout(()),),)
    return Grid(title, rows, columns, cells)


def _named_extents(shape: Any, path: tuple[int, ...]) -> list[tuple[str, int]]:
    if type(shape) is not tuple:
        return [("[" + ",".join(map(str, path)) + "]", shape)]
    return [leaf for index, mode in enumerate(shape) for leaf in _named_extents(mode, (*path, index))]


def note_of(rows: Axis, columns: Axis, grids: int, all_grids: int) -> str:
    """Return how many of the rows, columns and tables of a layout are shown; empty if all are."""
    shortened = [
        f"{shown} of {total} {unit}"
        for shown, total, unit in (
            (rows.shown, rows.size, "rows"),
            (columns.shown, columns.size, "columns"),
            (grids, all_grids, "tables"),
        )
        if shown < total
    ]
    return "shown: " + ", ".join(shortened) if shortened else ""
