"""A tiled copy without an operand: which thread reads each element of its tile, and which one has it afterwards.

Two panels, the source and the destination, each cell with its thread; of the chosen thread all that it reads and all
that it has are framed, and on both sides the element of the value that is followed. Law: a cell stands for the thread
and value whose element it is; where several threads point at one, for the first of them.

>>> from layoutalg import make_tiled_copy_tv
>>> one = TracedCopy(make_tiled_copy_tv(4, Layout((4, 8), (8, 1)), Layout((2, 4), (4, 1))), at=(9, 5))
>>> one.holders("S")[3][5], one.elements("S", 9)[5]
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

#: The most elements of a tile; height of a cell, its least and its largest width, and what lies between the sides.
MOST, HIGH, LEAST, WIDEST, GAP = 1 << 14, 18, 14, 40, 76
#: What is drawn: the sides of a copy.
SIDES = {"S": "source: who reads", "D": "destination: who has it afterwards"}


@frozen
class TracedCopy:
    """A tiled copy, and the value of a thread that is followed.

    Args:
        copy: whose tile has one or two modes with an extent.
        bits: of an element.
        tensor: (rows, columns) to offset, of what memory holds, in elements; row by row if left out.
        at: the chosen thread and value.

    Raises:
        DescriptorError: if the tile is too large, or there is no such thread or value.
        LayoutError: as ``TiledCopy.fragment``.
    """

    copy: TiledCopy
    bits: int = 16
    tensor: Layout | ComposedLayout | None = None
    at: Pair = (0, 0)

    def __post_init__(self) -> None:
        rows, columns = self.extents
        if not 0 < rows * columns <= MOST:
            raise DescriptorError(f"explore: a tiled copy must have at most {MOST} elements, found {rows}x{columns}")
        threads, values = map(size, side_of(self.copy, "S").layout)
        if not (0 <= self.at[0] < threads and 0 <= self.at[1] < values):
            found = f"{self.at[0]},{self.at[1]}"
            raise DescriptorError(f"explore: at must be one of {threads} threads and {values} values, found {found}")

    @property
    def extents(self) -> Pair:
        """Rows and columns of the tile."""
        return side_of(self.copy, "S").shape

    def elements(self, side: str, thread: int) -> list[Pair]:
        """The row and column of each value of a thread: what it reads (S), or has afterwards (D)."""
        layout, (rows, _) = side_of(self.copy, side).layout, self.extents
        places = [layout(thread, value) for value in range(size(layout[1]))]
        return [(int(place) % rows, int(place) // rows) for place in places]

    def holders(self, side: str) -> list[list[Pair | None]]:
        """The first thread, and its value, of each element of the tile."""
        rows, columns = self.extents
        held: list[list[Pair | None]] = [[None] * columns for _ in range(rows)]
        for thread in reversed(range(size(side_of(self.copy, side).layout[0]))):
            for value, (row, column) in enumerate(self.elements(side, thread)):
                held[row][column] = thread, value
        return held

    def facts(self) -> list[str]:
        """What is said of the chosen thread, and what its warp asks of memory."""
        (thread, value), lines = self.at, list[str]()
        for side, what in (("S", "reads"), ("D", "has afterwards")):
            told = [
                f"({row},{first})" + (f" to ({row},{first + count - 1})" if count > 1 else "")
                for row, first, count in _runs(self.elements(side, thread))
            ]
            lines.append(f"thread {thread} {what} {', '.join(told)}")
        row, column = self.elements("S", thread)[value]
        landed = self.holders("D")[row][column]
        where = f"afterwards value {landed[1]} of thread {landed[0]}" if landed else "afterwards nobody's"
        lines.append(f"its value {value} is element ({row},{column}), {where}")
        return [*lines, *self._accesses()]

    def _accesses(self) -> list[str]:
        """The first access of each side that lies in memory, and how many there are."""
        atom, lines = self.copy.atom, list[str]()
        if self.bits % 8:
            return ["", "accesses are those of whole bytes"]
        tensor = Layout(self.extents, (self.extents[1], 1)) if self.tensor is None else self.tensor
        for side, own, other, what in (("S", atom.source, atom.destination, "reading"),
                                       ("D", atom.destination, atom.source, "writing")):  # fmt: skip
            if own == atom.reference != other:  # registers
                continue
            found = self.copy.accesses(tensor, self.bits // 8, store=side == "D")
            lines += ["", f"{what} {tensor}: {counted(len(found), 'access')} of a warp; the first", str(found[0])]
        return lines


@lru_cache(maxsize=16)
def side_of(copy: TiledCopy, side: str) -> Fragment:
    """Who reads what (S), or has it afterwards (D)."""
    return copy.fragment("D" if side == "D" else "S")


def traced_copy(view: TracedCopy) -> Stage:
    """The two sides of a tiled copy, beside one another, or one below the other where they are wide.

    >>> from layoutalg import make_tiled_copy_tv
    >>> both = traced_copy(TracedCopy(make_tiled_copy_tv(4, Layout((4, 8), (8, 1)), Layout((2, 4), (4, 1)))))
    >>> [len(grid.cells) for grid in both.grids], len(both.marks)
    ([8], 3)
    """
    rows, columns = view.extents
    figure, grids, marks = Figure(), list[Grid](), list[Mark]()
    sides = SIDES if view.copy.atom.source != view.copy.atom.destination else {"S": "source and destination"}
    for side, name in sides.items():
        held = view.holders(side)
        wide = _width(held)
        beside = bool(grids) and 2 * columns * wide < 1100
        x = grids[0].width + GAP if beside else 0
        y = HIGH * rows + GAP if grids and not beside else 0
        frame = Frame(x, y, wide * columns, HIGH * rows, rows, columns)
        figure.text(x, y - 25, name, "ink", 13, bold=True)
        figure.cells(x, y, wide, HIGH, [[None if at is None else Figure.kind(at[0]) for at in line] for line in held])
        hairs(figure, frame)
        figure.border(*frame.box, "tile", line=1.4)
        figure.texts(_threads(held, frame), "ink", LEAST_TYPE, "middle", mono=True)
        ticks(figure, frame, [str(i) for i in range(rows)], [str(j) for j in range(columns)], LEAST_TYPE)
        chosen = [[at if at is None or side == "S" else (at[0], 0) for at in line] for line in held]
        grids.append(Grid(*frame.box, rows, columns, cells=tuple(map(tuple, chosen))))
        own = view.elements(side, view.at[0])
        marks += [Mark("subtile", *frame.cell(row, first, 1, count)) for row, first, count in _runs(own)]
        marks.append(Mark("cell", *frame.cell(*view.elements("S", view.at[0])[view.at[1]])))
    threads, values = (size(view.copy.layout_tv[i]) for i in (0, 1))
    said = (
        f"Number: the thread, colour: eight threads in turn; framed: thread {view.at[0]}, and the element that "
        f"is its value {view.at[1]}. "
        f"{threads} threads of {counted(values, 'value')} each."
    )
    return stage(figure, f"A tiled copy of {times(view.extents)}", said, grids, marks, "")


def _runs(own: list[Pair]) -> list[tuple[int, int, int]]:
    """The elements of a thread as runs along rows: row, first column, how many."""
    runs: list[tuple[int, int, int]] = []
    for row, column in sorted(set(own)):
        if runs and runs[-1][0] == row and runs[-1][1] + runs[-1][2] == column:
            runs[-1] = row, runs[-1][1], runs[-1][2] + 1
        else:
            runs.append((row, column, 1))
    return runs


def _labels(line: list[Pair | None]) -> list[tuple[int, int, str]]:
    """Where one thread has elements of a row beside one another: first column, how many, its number."""
    labels, column = list[tuple[int, int, str]](), 0
    for thread, run in groupby(line, key=lambda at: None if at is None else at[0]):
        count = len(list(run))
        labels.append((column, count, "" if thread is None else str(thread)))
        column += count
    return labels


def _width(held: list[list[Pair | None]]) -> float:
    """The width of a cell in which every number has room."""
    need = max(
        (Figure.width_of(name, LEAST_TYPE, mono=True) + 4) / count for line in held for _, count, name in _labels(line)
    )
    return min(max(need, LEAST), WIDEST)


def _threads(held: list[list[Pair | None]], frame: Frame) -> list[tuple[float, float, str]]:
    """The number of each thread in the middle of what it has of a row."""
    spots = []
    for i, line in enumerate(held):
        for first, count, name in _labels(line):
            x, y, wide, high = frame.cell(i, first, 1, count)
            spots.append((x + wide / 2, y + high / 2 + 0.36 * LEAST_TYPE, name))
    return [spot for spot in spots if spot[2]]
