"""The tables of a picture: for each slice its axes, and every quantity that its cells can show.

A quantity is the offset, the index, the coordinate, the bank of shared memory, the thread and value, the block of the
nesting, or the position in the last mode. Each is computed when it is asked for, all cells at once, and kept.

>>> from layoutalg import Layout
>>> table = slices(Layout((2, (2, 2)), (4, (1, 2))), Subject())[0]
>>> table.quantity("offset"), table.quantity("block")
([[0, 1, 2, 3], [4, 5, 6, 7]], [[0, 0, 1, 1], [0, 0, 1, 1]])
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from layoutalg.analysis.banks import BANK_BYTES, BANKS
from layoutalg.drawing.grid import Axis, Drawable, frame
from layoutalg.errors import LayoutError
from layoutalg.pictures.holders import Holder, told
from layoutalg.pictures.values import table_of
from layoutalg.tuples.coordinates import unrank
from layoutalg.tuples.int_tuple import product
from layoutalg.tuples.int_tuple import text

#: The quantities that can colour cells, and those that can be written in them.
COLOURS = ("offset", "bank", "block", "mode", "thread", "value", "none")
LABELS = ("offset", "index", "coord", "bank", "block", "mode", "thread", "value", "none")

Cells = list[list[Any]]


@dataclass(frozen=True, slots=True)
class Limits:
    """The most rows, columns and slices of a picture; ``None`` is all of them."""

    rows: int | None = None
    columns: int | None = None
    grids: int | None = None


@dataclass(frozen=True, slots=True)
class Subject:
    """What is known of a layout besides itself.

    Args:
        element_bytes: of one element, for banks.
        held: the holders of each element by its index, for threads and values.
    """

    element_bytes: int | None = None
    held: tuple[tuple[Holder, ...], ...] | None = None


class Slice:
    """One table: the cells of two modes at a position of all others."""

    def __init__(
        self, layout: Drawable, subject: Subject, rows: Axis, columns: Axis, point: tuple[int, ...], title: str
    ) -> None:
        self.layout, self.subject, self.point, self.title = layout, subject, point, title
        self.rows, self.columns = rows, columns
        self._found: dict[str, Cells] = {}

    def quantity(self, name: str) -> Cells:
        """A quantity of every cell, row by row; ``None`` where a cell has none.

        Raises:
            LayoutError: for banks, if the size of an element is not known or the layout gives no numbers.
        """
        if name not in self._found:
            self._found[name] = getattr(self, f"_{name}")()
        return self._found[name]

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
        """The block of the axes' innermost extents, counted down first."""
        high, wide = self.rows.block, self.columns.block
        many = -(-self.rows.size // high)
        return [[i // high + many * (j // wide) for j in self._across()] for i in self._down()]

    def _mode(self) -> Cells:
        """The position in mode 1; of rank 3 and more that in the modes after it, which is one for a slice."""
        if self.point:
            start = self._index_of_slice()
            return [[start] * self.columns.shown for _ in self._down()]
        return [list(self._across()) for _ in self._down()]

    def _bank(self) -> Cells:
        element_bytes = self.subject.element_bytes
        if element_bytes is None:
            raise LayoutError("draw: banks need element_bytes, the bytes of an element, found none")
        for row in self.quantity("offset"):
            for offset in row:
                if type(offset) is not int:
                    raise LayoutError(f"draw: banks need offsets, found {text(offset)}; layout = {self.layout}")
        return [[offset * element_bytes // BANK_BYTES % BANKS for offset in row] for row in self.quantity("offset")]

    def _thread(self) -> Cells:
        return [[None if who is None else who[0][0] for who in row] for row in self._holders()]

    def _value(self) -> Cells:
        return [[None if who is None else who[0][1] for who in row] for row in self._holders()]

    def _told(self) -> Cells:
        """The holders in words: what the label ``thread`` writes."""
        return [[None if who is None else told(who) for who in row] for row in self._holders()]

    def _holders(self) -> Cells:
        """Who holds each cell; without a thread-value layout, rows are taken as threads and columns as values."""
        held = self.subject.held
        if held is None:
            return [[((i, j),) for j in self._across()] for i in self._down()]
        return [[held[index] or None for index in row] for row in self.quantity("index")]

    def _down(self) -> range:
        return range(self.rows.shown)

    def _across(self) -> range:
        return range(self.columns.shown)

    def further(self) -> tuple[int, ...]:
        """The extents of the modes after the second."""
        shape = self.layout.shape
        return tuple(product(mode) for mode in shape[2:]) if type(shape) is tuple else ()


def slices(layout: Drawable, subject: Subject, limits: Limits = Limits(), most: int | None = None) -> list[Slice]:
    """The tables of a layout, one for each slice of the modes after the second.

    Args:
        layout: any function on a shape.
        subject: what else is known of it.
        limits: how much of it is shown.
        most: the most cells; more is refused.

    Raises:
        LayoutError: for more cells than ``most``.
    """
    rows, columns, rest, count = frame(layout, limits.rows, limits.columns, limits.grids, most)
    found = []
    for index in range(count):
        point: Any = unrank(index, rest)
        title = text((None, None, *point)) if point else ""
        found.append(Slice(layout, subject, rows, columns, tuple(point), title))
    return found
