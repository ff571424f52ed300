"""Draw a tiled copy: the thread that reads each element of its tile, and the thread that holds it afterwards.

Each of two panels, source and destination, shows the thread of each element. Frames mark the elements that the chosen
thread reads and holds afterwards, and the element of the chosen value on both sides.

Invariant: a cell stands for the thread and value that own its element. If several threads own it, the cell stands for
the first of them.

>>> from layoutalg import make_tiled_copy_tv
>>> copy = TracedCopy(make_tiled_copy_tv(4, Layout((4, 8), (8, 1)), Layout((2, 4), (4, 1))), at=(9, 5))
>>> copy.holders("S")[3][5], copy.elements("S", 9)[5]
((9, 5), (3, 5))
"""

from __future__ import annotations

from functools import lru_cache
from itertools import groupby

from descriptors.errors import DescriptorError
from descriptors.show.pictures.anatomy import Pair
from descriptors.show.pictures.panels import Frame, hairs, ticks, times
from descriptors.show.stages.stage import LEAST_TYPE, Grid, Mark, Stage, stage
from descriptors.text import counted
from layoutalg import ComposedLayout, Figure, Fragment, Layout, TiledCopy, size
from layoutalg.frozen import frozen

#: The largest number of elements; height, smallest and largest width of a cell; the gap between the panels.
MOST, HIGH, LEAST, WIDEST, GAP = 1 << 14, 18, 14, 40, 76
#: The headings of the panels.
SIDES = {"S": "source: thread that reads", "D": "destination: thread that holds it"}


@frozen
class TracedCopy:
    """A tiled copy with a chosen thread and value.

    Args:
        copy: the tiled copy, whose tile has one or two modes with an extent.
        bits: bits of an element.
        tensor: layout of the tensor in memory, from (rows, columns) to an offset in elements; row-major if left out.
        at: the chosen thread and value.

    Raises:
        DescriptorError: if the tile is empty or too large, or there is no such thread or value.
        LayoutError: as ``TiledCopy.fragment``.
    """

    copy: TiledCopy
    bits: int = 16
    tensor: Layout | ComposedLayout | None = None
    at: Pair = (0, 0)

    def __post_init__(self) -> None:
        rows, columns = self.extents
        if not 0 < rows * columns <= MOST:
            raise DescriptorError(
                f"explore: a tiled copy of {rows}x{columns} elements cannot be drawn; supported: 1 to {MOST} elements"
            )
        threads, values = map(size, side_of(self.copy, "S").layout)
        if not (0 <= self.at[0] < threads and 0 <= self.at[1] < values):
            raise DescriptorError(
                f"explore: at is {self.at[0]},{self.at[1]}, but the copy has {threads} threads of {values} values"
            )

    @property
    def extents(self) -> Pair:
        """Rows and columns of the tile."""
        return side_of(self.copy, "S").shape

    def elements(self, side: str, thread: int) -> list[Pair]:
        """Return the row and column of each value of a thread, in the source (S) or the destination (D)."""
        layout, (rows, _) = side_of(self.copy, side).layout, self.extents
        places = [layout(thread, value) for value in range(size(layout[1]))]
        return [(int(place) % rows, int(place) // rows) for place in places]

    def holders(self, side: str) -> list[list[Pair | None]]:
        """Return the first thread that owns each element of the tile, and its value."""
        rows, columns = self.extents
        owners: list[list[Pair | None]] = [[None] * columns for _ in range(rows)]
        for thread in reversed(range(size(side_of(self.copy, side).layout[0]))):
            for value, (row, column) in enumerate(self.elements(side, thread)):
                owners[row][column] = thread, value
        return owners

    def facts(self) -> list[str]:
        """Return lines about the elements of the chosen thread, and about the memory accesses of its warp."""
        (thread, value), lines = self.at, list[str]()
        for side, verb in (("S", "reads"), ("D", "holds afterwards")):
            ranges = [
                f"({row},{first})" + (f" to ({row},{first + count - 1})" if count > 1 else "")
                for row, first, count in _runs(self.elements(side, thread))
            ]
            lines.append(f"thread {thread} {verb} {', '.join(ranges)}")
        row, column = self.elements("S", thread)[value]
        owner = self.holders("D")[row][column]
        destination = (
            f"afterwards value {owner[1]} of thread {owner[0]}" if owner else "which no thread holds afterwards"
        )
        lines.append(f"its value {value} is element ({row},{column}), {destination}")
        return [*lines, *self._accesses()]

    def _accesses(self) -> list[str]:
        """Return the number of accesses and the first access of each side that is in memory."""
        atom, lines = self.copy.atom, list[str]()
        if self.bits % 8:
            return ["", "accesses are listed only for elements of whole bytes"]
        tensor = Layout(self.extents, (self.extents[1], 1)) if self.tensor is None else self.tensor
        for side, own, other, verb in (("S", atom.source, atom.destination, "reading"),
                                       ("D", atom.destination, atom.source, "writing")):  # fmt: skip
            if own == atom.reference != other:  # registers
                continue
            accesses = self.copy.accesses(tensor, self.bits // 8, store=side == "D")
            lines += ["", f"{verb} {tensor}: {counted(len(accesses), 'access')} of a warp; the first", str(accesses[0])]
        return lines


@lru_cache(maxsize=16)
def side_of(copy: TiledCopy, side: str) -> Fragment:
    """Return the fragment of the source (S) or of the destination (D)."""
    return copy.fragment("D" if side == "D" else "S")


def traced_copy(view: TracedCopy) -> Stage:
    """Draw the two sides of a tiled copy next to each other, or one below the other if they are wide.

    >>> from layoutalg import make_tiled_copy_tv
    >>> both = traced_copy(TracedCopy(make_tiled_copy_tv(4, Layout((4, 8), (8, 1)), Layout((2, 4), (4, 1)))))
    >>> [len(grid.cells) for grid in both.grids], len(both.marks)
    ([8], 3)
    """
    rows, columns = view.extents
    figure, grids, marks = Figure(), list[Grid](), list[Mark]()
    sides = SIDES if view.copy.atom.source != view.copy.atom.destination else {"S": "source and destination"}
    for side, name in sides.items():
        owners = view.holders(side)
        wide = _width(owners)
        beside = bool(grids) and 2 * columns * wide < 1100
        x = grids[0].width + GAP if beside else 0
        y = HIGH * rows + GAP if grids and not beside else 0
        frame = Frame(x, y, wide * columns, HIGH * rows, rows, columns)
        figure.text(x, y - 25, name, "ink", 13, bold=True)
        figure.cells(
            x, y, wide, HIGH, [[None if owner is None else Figure.kind(owner[0]) for owner in line] for line in owners]
        )
        hairs(figure, frame)
        figure.border(*frame.box, "tile", line=1.4)
        figure.texts(_threads(owners, frame), "ink", LEAST_TYPE, "middle", mono=True)
        ticks(figure, frame, [str(i) for i in range(rows)], [str(j) for j in range(columns)], LEAST_TYPE)
        chosen = [[owner if owner is None or side == "S" else (owner[0], 0) for owner in line] for line in owners]
        grids.append(Grid(*frame.box, rows, columns, cells=tuple(map(tuple, chosen))))
        own = view.elements(side, view.at[0])
        marks += [Mark("subtile", *frame.cell(row, first, 1, count)) for row, first, count in _runs(own)]
        marks.append(Mark("cell", *frame.cell(*view.elements("S", view.at[0])[view.at[1]])))
    threads, values = (size(view.copy.layout_tv[i]) for i in (0, 1))
    sentence = (
        f"A number is a thread; its color repeats every eight threads. Frames: thread {view.at[0]}, and the element "
        f"that is its value {view.at[1]}. "
        f"{threads} threads of {counted(values, 'value')} each."
    )
    return stage(figure, f"A tiled copy of {times(view.extents)}", sentence, grids, marks, "")


def _runs(own: list[Pair]) -> list[tuple[int, int, int]]:
    """Return the elements of a thread as runs along rows: row, first column, number of elements."""
    runs: list[tuple[int, int, int]] = []
    for row, column in sorted(set(own)):
        if runs and runs[-1][0] == row and runs[-1][1] + runs[-1][2] == column:
            runs[-1] = row, runs[-1][1], runs[-1][2] + 1
        else:
            runs.append((row, column, 1))
    return runs


def _labels(line: list[Pair | None]) -> list[tuple[int, int, str]]:
    """Return the runs of one thread in a row: first column, number of elements, the thread."""
    labels, column = list[tuple[int, int, str]](), 0
    for thread, run in groupby(line, key=lambda owner: None if owner is None else owner[0]):
        count = len(list(run))
        labels.append((column, count, "" if thread is None else str(thread)))
        column += count
    return labels


def _width(owners: list[list[Pair | None]]) -> float:
    """Return the width of a cell in which every number fits."""
    need = max(
        (Figure.width_of(name, LEAST_TYPE, mono=True) + 4) / count
        for line in owners
        for _, count, name in _labels(line)
    )
    return min(max(need, LEAST), WIDEST)


def _threads(owners: list[list[Pair | None]], frame: Frame) -> list[tuple[float, float, str]]:
    """Return position and number of each thread, in the middle of its run in a row."""
    spots = []
    for i, line in enumerate(owners):
        for first, count, name in _labels(line):
            x, y, wide, high = frame.cell(i, first, 1, count)
            spots.append((x + wide / 2, y + high / 2 + 0.36 * LEAST_TYPE, name))
    return [spot for spot in spots if spot[2]]
