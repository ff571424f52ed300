"""Quantities that the tables of a picture show: the axes of each slice, and the values of its cells.

A quantity is the offset, the index, the coordinate, the bank of shared memory, the thread and value, the block of
nested modes, or the position in the last mode. A quantity is computed for all cells on first use, without numpy, and
cached. The offsets of a plain layout are the sum of a number for the row and a number for the column; a swizzle is
applied to this sum; other layouts are called for each cell.

Invariants: ``table_of(layout, m, n, point)[i][j] == layout((i, j, *point))``; ``(t, v)`` is a holder of index k if and
only if ``thread_values(t, v) == k``.

Source: CuTe's thread-value layouts, CUTLASS ``include/cute/atom/mma_atom.hpp``.

>>> from layoutalg import Layout, Swizzle
>>> table = slices(Layout((2, (2, 2)), (4, (1, 2))), Subject())[0]
>>> table.quantity("offset"), table.quantity("block")
([[0, 1, 2, 3], [4, 5, 6, 7]], [[0, 0, 1, 1], [0, 0, 1, 1]])
>>> tile = ComposedLayout(Swizzle(1, 0, 1), 0, Layout((2, 2), (2, 1)))
>>> table_of(tile, 2, 2, ()), tile(1, 0)
([[0, 1], [3, 2]], 3)
>>> holders(Layout((4, 2), (2, 1)), 8)[5]
((2, 1),)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeGuard

from layoutalg.analysis.banks import BANK_BYTES, BANKS, Access, need_few, need_offset
from layoutalg.drawing.grid import Axis, Drawable, frame
from layoutalg.errors import LayoutError
from layoutalg.frozen import frozen
from layoutalg.layouts.composed import ComposedLayout
from layoutalg.layouts.layout import Layout, has_basis
from layoutalg.layouts.swizzle import Swizzle
from layoutalg.tuples.int_tuple import product, safe_text, text, unrank
from layoutalg.tuples.leaf import need_int

#: The quantities that can determine the color of cells, and those that can be their text.
COLOURS = ("offset", "bank", "block", "mode", "thread", "value", "none")
LABELS = ("offset", "index", "coord", "bank", "block", "mode", "thread", "value", "none")

#: The message for a picture with banks of elements whose size is unknown.
MISSING_BYTES = (
    "draw: banks depend on the bytes per element, which are unknown; give element_bytes=2, or --element-bytes 2"
)

Cells = list[list[Any]]


@frozen
class Limits:
    """The most rows, columns and slices of a picture; ``None`` for no limit."""

    rows: int | None = None
    columns: int | None = None
    grids: int | None = None


@frozen
class Subject:
    """Properties of the elements of a layout.

    Args:
        element_bytes: bytes of an element, for banks.
        holders: the threads and values that hold each element, by the index of the element.
    """

    element_bytes: int | None = None
    holders: tuple[tuple[Holder, ...], ...] | None = None


class Slice:
    """A table: the cells of modes 0 and 1 at a fixed position of all other modes."""

    def __init__(
        self, layout: Drawable, subject: Subject, rows: Axis, columns: Axis, point: tuple[int, ...], title: str
    ) -> None:
        self.layout, self.subject, self.point, self.title = layout, subject, point, title
        self.rows, self.columns = rows, columns
        self._quantities: dict[str, Cells] = {}

    def quantity(self, name: str) -> Cells:
        """Return a quantity of every cell, row by row; ``None`` for a cell that has none.

        Raises:
            LayoutError: for banks, if the size of an element is unknown or the layout's values are not numbers.
        """
        if name not in self._quantities:
            self._quantities[name] = getattr(self, f"_{name}")()
        return self._quantities[name]

    def _offset(self) -> Cells:
        return table_of(self.layout, self.rows.shown, self.columns.shown, self.point)

    def _none(self) -> Cells:
        return [[None] * self.columns.shown] * self.rows.shown

    def _index_of_slice(self) -> int:
        start, step = 0, 1
        for position, extent in zip(self.point, self.further(), strict=True):
            start, step = start + position * step, step * extent
        return start

    def _index(self) -> Cells:
        start = self._index_of_slice() * self.rows.size * self.columns.size
        return [[start + i + self.rows.size * j for j in self._across()] for i in self._down()]

    def _coord(self) -> Cells:
        if not self.rows.names:
            return [[text((j,)) for j in self._across()]]
        return [[text((i, j, *self.point)) for j in self._across()] for i in self._down()]

    def _block(self) -> Cells:
        """Return the number of the block of the axes' innermost extents; blocks are numbered down, then across."""
        height, width = self.rows.block, self.columns.block
        blocks_down = -(-self.rows.size // height)
        return [[i // height + blocks_down * (j // width) for j in self._across()] for i in self._down()]

    def _mode(self) -> Cells:
        """Return the position in mode 1, or for rank 3 and more the position in the later modes, which is the slice."""
        if self.point:
            start = self._index_of_slice()
            return [[start] * self.columns.shown for _ in self._down()]
        return [list(self._across()) for _ in self._down()]

    def _bank(self) -> Cells:
        element_bytes = self.subject.element_bytes
        if element_bytes is None:
            raise LayoutError(MISSING_BYTES)
        for row in self.quantity("offset"):
            for offset in row:
                if type(offset) is not int:
                    raise LayoutError(
                        f"draw: {text(offset)} is not an offset, so that it has no bank; layout = {self.layout}"
                    )
        return [[offset * element_bytes // BANK_BYTES % BANKS for offset in row] for row in self.quantity("offset")]

    def _thread(self) -> Cells:
        return [[None if cell is None else cell[0][0] for cell in row] for row in self._holders()]

    def _value(self) -> Cells:
        return [[None if cell is None else cell[0][1] for cell in row] for row in self._holders()]

    def _holders_text(self) -> Cells:
        """Return the holders as text, for the label ``thread``."""
        return [[None if cell is None else holders_text(cell) for cell in row] for row in self._holders()]

    def _holders(self) -> Cells:
        """Return the holders of each cell; without a thread-value layout, rows are threads and columns are values."""
        all_holders = self.subject.holders
        if all_holders is None:
            return [[((i, j),) for j in self._across()] for i in self._down()]
        return [[all_holders[index] or None for index in row] for row in self.quantity("index")]

    def _down(self) -> range:
        return range(self.rows.shown)

    def _across(self) -> range:
        return range(self.columns.shown)

    def further(self) -> tuple[int, ...]:
        """Return the extents of the modes after the second."""
        shape = self.layout.shape
        return tuple(product(mode) for mode in shape[2:]) if type(shape) is tuple else ()


def slices(layout: Drawable, subject: Subject, limits: Limits = Limits(), most: int | None = None) -> list[Slice]:
    """Return the tables of a layout, one for each slice of the modes after the second.

    Args:
        layout: any function on a shape.
        subject: properties of its elements.
        limits: the limits of rows, columns and tables.
        most: the most cells of all tables; None for the limit of :func:`frame`.

    Raises:
        LayoutError: if there are more cells.
    """
    rows, columns, rest, count = frame(layout, limits.rows, limits.columns, limits.grids, most)
    tables = []
    for index in range(count):
        point: Any = unrank(index, rest)
        title = text((None, None, *point)) if point else ""
        tables.append(Slice(layout, subject, rows, columns, tuple(point), title))
    return tables


def table_of(layout: Drawable, rows: int, columns: int, point: Sequence[int]) -> list[list[Any]]:
    """Return the values of a layout in the first rows and columns of one slice.

    Args:
        layout: a layout of any rank; rank 1 is one row, and rank 0 one cell.
        rows: number of positions of mode 0.
        columns: number of positions of mode 1.
        point: the index of each further mode.

    >>> from layoutalg import Layout
    >>> table_of(Layout((2, 3, 2)), 2, 3, (1,))
    [[6, 8, 10], [7, 9, 11]]
    """
    if type(layout.shape) is not tuple:
        return [[layout(j) for j in range(columns)]]
    if len(layout.shape) == 0:
        return [[layout(())]]
    if len(layout.shape) == 1:
        return [[layout((j,)) for j in range(columns)]]
    if isinstance(layout, ComposedLayout) and isinstance(layout.outer, Swizzle) and _is_sum(layout.inner):
        swizzle = layout.outer
        inner = _sums(layout.inner, rows, columns, point, layout.offset)
        return [[swizzle(offset) for offset in row] for row in inner] if swizzle.bits else inner
    if _is_sum(layout):
        return _sums(layout, rows, columns, point, 0)
    return [[layout((i, j, *point)) for j in range(columns)] for i in range(rows)]


def _is_sum(layout: Drawable) -> TypeGuard[Layout]:
    return isinstance(layout, Layout) and not has_basis(layout)


def _sums(layout: Layout, rows: int, columns: int, point: Sequence[int], start: Any) -> list[list[Any]]:
    zeros = (0,) * len(point)
    downs = [start + layout((i, 0, *point)) for i in range(rows)]
    acrosses = [layout((0, j, *zeros)) for j in range(columns)]
    return [[down + across for across in acrosses] for down in downs]


#: Thread and value.
Holder = tuple[int, int]


@frozen
class Words:
    """The map from (lane, word) of an access to an index into the words of the 128-byte lines that it touches.

    It can be drawn like a layout: each line is a row, lowest address first, and each bank is a column.

    >>> from layoutalg import access
    >>> words = Words(access([0, 144, None, 400], 8))
    >>> words.lines, words.shape, words(1, 0), words(2, 0)
    ((0, 1, 3), (4, 2), 13, None)
    """

    access: Access

    @property
    def lines(self) -> tuple[int, ...]:
        """Numbers of the lines: the address of their first byte divided by 128."""
        line = BANKS * BANK_BYTES
        return tuple(sorted({address // line for address in self.access.addresses if address is not None}))

    @property
    def shape(self) -> tuple[int, int]:
        """Number of lanes, and of words that each accesses."""
        return len(self.access.addresses), max(1, self.access.access_bytes // BANK_BYTES)

    def __call__(self, *coord: int) -> int | None:
        """Return the index of a lane's word, row + rows * bank, or None for a lane that does not take part."""
        lane, word = coord
        address = self.access.addresses[lane]
        if address is None:
            return None
        line, bank = divmod(address // BANK_BYTES + word, BANKS)
        return self.lines.index(line) + len(self.lines) * bank

    def __str__(self) -> str:
        return f"the {self.shape[0]} lanes of an access, at bytes {', '.join(str(128 * line) for line in self.lines)}"


def holders(thread_values: Any, count: int) -> list[tuple[Holder, ...]]:
    """Return the (thread, value) pairs that hold each element of a tile, by the element's index.

    The pairs of an element are ordered by thread, then by value.

    Args:
        thread_values: a layout, or a function on the coordinates of a shape such as :class:`Words`.
        count: number of elements of the tile.

    Raises:
        LayoutError: if the map does not have two modes, or leaves the tile.

    >>> from layoutalg import Layout
    >>> holders(Layout((2, 2), (1, 0)), 2)
    [((0, 0), (0, 1)), ((1, 0), (1, 1))]
    """
    shape = getattr(thread_values, "shape", None)
    if not callable(thread_values) or type(shape) is not tuple or len(shape) != 2:
        raise LayoutError(f"draw: thread_values {safe_text(thread_values)} do not have two modes (threads, values)")
    threads, values = (need_int(product(mode), "draw: a number of threads or values") for mode in shape)
    need_few(threads * values, thread_values)
    holders_of: list[list[Holder]] = [[] for _ in range(count)]
    for thread in range(threads):
        for value in range(values):
            image = thread_values(thread, value)
            if image is None:  # a lane that does not take part in the access
                continue
            index = need_offset(image, thread_values)
            if not 0 <= index < count:
                raise LayoutError(
                    f"draw: value {value} of thread {thread} is element {index}, and the tile has {count} elements; "
                    f"thread_values = {thread_values}"
                )
            holders_of[index].append((thread, value))
    return [tuple(pairs) for pairs in holders_of]


def holders_text(pairs: tuple[Holder, ...]) -> str | None:
    """Return the holders of an element as a cell shows them; ``None`` if there is no holder.

    >>> holders_text(((3, 1),)), holders_text(((0, 0), (4, 0), (8, 0))), holders_text(())
    ('T3 V1', 'T0 V0 +2', None)
    """
    if not pairs:
        return None
    thread, value = pairs[0]
    return f"T{thread} V{value}" + (f" +{len(pairs) - 1}" if len(pairs) > 1 else "")
