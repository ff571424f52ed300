"""The table behind every picture: which offsets stand in which row and column, and how the axes are labelled.

A layout of rank 2 is one grid, mode 0 down and mode 1 across. Rank 1 is a single row. A higher rank is a series of
grids, one for each coordinate of the modes after the second, titled as CuTe writes the slice: ``(_,_,3)``. A nested
mode labels its axis with one line for each of its leaves, so that the hierarchy can be read off.
Law: the cell of row i and column j is ``layout(i, j)``. Grids are cut at a limit and then say so in ``note``.

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

#: The most cells of a picture: seconds to compute, and more than a reader looks at.
MOST_CELLS = 1 << 21


class Drawable(Protocol):
    """What can be drawn: a function on the coordinates of a shape, with a notation (``str``), as layouts are."""

    @property
    def shape(self) -> Shape:
        """The extents, nested to any depth."""
        ...

    def __call__(self, *coord: Any) -> Any:
        """What stands at a coordinate."""
        ...


@frozen
class Axis:
    """One side of a grid: a mode's leaves, first leaf fastest, and how many of its positions are drawn.

    Args:
        names: the leaves' names, the ``mode`` argument that selects each: ``"[1,0]"``.
        extents: the leaves' extents.
        shown: the number of positions drawn, at most the product of the extents.

    >>> axis = Axis.of((2, 3), 1, limit=4)
    >>> axis.names, axis.size, axis.shown, axis.coordinate(3)
    (('[1,0]', '[1,1]'), 6, 4, (1, 1))
    """

    names: tuple[str, ...]
    extents: tuple[int, ...]
    shown: int

    @classmethod
    def of(cls, shape: Any, mode: int, limit: int | None) -> Axis:
        """The axis of one mode of a layout, cut at ``limit`` positions."""
        leaves = list(_named_extents(shape, (mode,)))
        total = size(shape)
        cut_at = total if limit is None else min(limit, total)
        return cls(tuple(name for name, _ in leaves), tuple(extent for _, extent in leaves), cut_at)

    @property
    def size(self) -> int:
        """The number of positions of the whole mode."""
        return size(self.extents)

    @property
    def block(self) -> int:
        """How many positions stand together before a line divides them: the first extent that is not 1."""
        return next((extent for extent in self.extents if extent > 1), 1)

    def coordinate(self, position: int) -> tuple[int, ...]:
        """The leaves' coordinates at a position, first leaf first."""
        digits: Any = unrank(position, self.extents)  # flat, as the extents are
        return tuple(digits)

    def last_label(self, leaf: int) -> int:
        """The largest coordinate of a leaf among the positions drawn."""
        return min(self.extents[leaf] - 1, (self.shown - 1) // size(self.extents[:leaf]))

    def starts_run(self, leaf: int, position: int) -> bool:
        """Whether a leaf's label is new here: a slower leaf is labelled only where its run of positions begins."""
        return position % size(self.extents[:leaf]) == 0

    def divides_before(self, position: int) -> bool:
        """Whether a line belongs before this position."""
        return position > 0 and position % self.block == 0


@frozen
class Grid:
    """One table: its title (empty, or the slice it shows), its two axes, and the offsets as text, row by row."""

    title: str
    rows: Axis
    columns: Axis
    cells: tuple[tuple[Any, ...], ...]


@frozen
class Drawing:
    """Everything there is to draw of a layout: its notation, its grids, and a note on what was left out."""

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
        max_rows: the most rows of a grid, in positions of mode 0; ``None`` is all of them.
        max_columns: the most columns of a grid, in positions of mode 1.
        max_grids: the most grids of a layout of rank 3 or more.

    Raises:
        LayoutError: for more than two million cells, and as the layout does for one of them.

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
    """The axes of a layout's tables, the extents of the modes after the second, and how many tables are drawn.

    Raises:
        LayoutError: for more than ``most`` cells, two million if left out.

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
    limit, less = (MOST_CELLS, "fewer rows or columns") if most is None else (most, "a slice or a tile of it")
    if rows.shown * columns.shown * count > limit:
        raise LayoutError(
            f"draw: the picture has {rows.shown} rows of {columns.shown} columns in {count} table{'s' * (count != 1)}, "
            f"more than {limit} cells; draw {less}"
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
    """What of a layout's rows, columns and tables was left out; empty if nothing was."""
    shortened = [
        f"{shown} of {total} {what}"
        for shown, total, what in (
            (rows.shown, rows.size, "rows"),
            (columns.shown, columns.size, "columns"),
            (grids, all_grids, "tables"),
        )
        if shown < total
    ]
    return "shown: " + ", ".join(shortened) if shortened else ""
