"""Where the results of the instruction go: lanes and columns of tensor memory, and the registers of a warpgroup.

On sm90 the accumulator of ``wgmma`` lies in registers; on sm100 that of ``tcgen05.mma`` lies in tensor memory, from
where loads bring it to registers. The tile is one operand: it says M of an A operand or N of a B operand, and the other
extent is chosen. Law: a place of the picture stands for the row (or column) of D that the chosen element takes part in.

>>> from descriptors import derive
>>> view = View(derive((128, 128), "bf16", "K", "128B", (128, 16)), cell=(70, 21))
>>> stage = tensor_memory(view)
>>> stage.scene.title, stage.grids[0].rows, stage.grids[0].columns
('Accumulator 128 × 64 in tensor memory', 128, 64)
"""

from __future__ import annotations

from collections.abc import Sequence

from descriptors.errors import DescriptorError
from descriptors.show.pictures.panels import Frame, table, ticks, times, type_size
from descriptors.show.stages.stage import Grid, Mark, Stage, stage
from descriptors.show.stages.view import View
from descriptors.tmem.accumulator import accumulator
from descriptors.tmem.readout import readout
from layoutalg import Figure, fragment

#: Width of a picture, the least height of a row.
WIDE, LEAST = 640, 5
#: The most columns of D whose registers are drawn.
MOST_COLUMNS = 16

Places = list[list[tuple[int, int] | None]]


def extents(view: View) -> tuple[int, int]:
    """M and N of the instruction: one is the tile's, the other chosen.

    >>> from descriptors import derive
    >>> extents(View(derive((128, 128), "bf16", "K", "128B", (64, 16), operand="B"), across=128))
    (128, 64)
    """
    d = view.derivation
    if d.instruction != "mma":
        raise DescriptorError(f"explore: only an MMA instruction has an accumulator, found {d.instruction}")
    return (view.across, d.mma[0]) if d.operand == "B" else (d.mma[0], view.across)


def tensor_memory(view: View) -> Stage:
    """The accumulator in tensor memory: lanes down, columns across, the row of D in each cell.

    Raises:
        DescriptorError: on sm90, which has no tensor memory, and where there is no such instruction.
    """
    if view.derivation.arch != "sm100":
        raise DescriptorError(
            "explore: tensor memory must be that of sm100, found sm90: its accumulators are registers"
        )
    m, n = extents(view)
    fragment = accumulator(m, n)
    places: Places = [[None] * fragment.columns for _ in range(128)]
    for row in range(m):
        for column in range(n):
            cell = fragment.cell(row, column)
            places[cell.lane][cell.column] = (row, column)
    said = (
        f"{fragment.what}, {fragment.name}: lane down, column across; colour: the row of D, eight in turn; framed: "
        f"what the chosen element takes part in. {fragment.evidence[:1].upper()}{fragment.evidence[1:]}."
    )
    title = f"Accumulator {times((m, n))} in tensor memory"
    return _picture(view, places, title, said, ("lane", "column"))


def registers(view: View) -> Stage:
    """The accumulator in registers: the thread and its value that holds each element of D.

    Raises:
        DescriptorError: if there is no such accumulator or load.
        LayoutError: as ``layoutalg.fragment``.
    """
    m, n = extents(view)
    columns_drawn = min(n, MOST_COLUMNS)
    holders, what = _wgmma(view, m, n) if view.derivation.arch == "sm90" else _load_map(view, m, n)
    rows = range(len(holders))
    labels = [[f"{holders[i][j][0]}:{holders[i][j][1]}" for j in range(columns_drawn)] for i in rows]
    figure, frame = Figure(), Frame(0, 0, 44 * columns_drawn, 14 * len(holders), len(holders), columns_drawn)
    wide, high = frame.step
    roles: list[list[str | None]] = [[Figure.kind(holders[i][j][0]) for j in range(columns_drawn)] for i in rows]
    figure.table(0, 0, wide, high, roles, labels if type_size(labels, wide, high) else (), size=9)
    figure.border(*frame.box, "tile", line=1.4)
    ticks(figure, frame, [str(i) for i in rows], [str(j) for j in range(columns_drawn)])
    more = f", the first {columns_drawn} of {n} columns" if columns_drawn < n else ""
    said = f"{what}{more}; t:v is value v of thread t, the colour its thread, eight in turn."
    marks, grid = (
        _marks(view, Frame(*frame.box, frame.rows, frame.columns), None),
        Grid(*frame.box, frame.rows, columns_drawn),
    )
    text = "\n".join(table(labels, left=[str(i) for i in rows], top=[str(j) for j in range(columns_drawn)]))
    return stage(figure, f"Accumulator {times((m, n))} in registers", said, [_inert(grid)], marks, text)


def _wgmma(view: View, m: int, n: int) -> tuple[list[list[tuple[int, int]]], str]:
    """Who holds each element of D of ``wgmma``: thread of the warpgroup and number of its value."""
    depth = view.derivation.mma[1]
    if m != 64:
        raise DescriptorError(f"explore: an accumulator of wgmma must have M 64, found {m}; the tile's mma says it")
    d_fragment = fragment(f"wgmma.m64n{n}k{depth}.D")
    holders = [[(0, 0)] * n for _ in range(m)]
    threads, values = d_fragment.layout
    for t in range(128):
        for v in range(n // 2):
            place = threads(t) + values(v)
            holders[place % m][place // m] = (t, v)
    return holders, f"{d_fragment.name}: a warpgroup's 128 threads, warp w from thread 32 w on"


def _load_map(view: View, m: int, n: int) -> tuple[list[list[tuple[int, int]]], str]:
    """Who holds each element of D after the loads of one shape: thread of the warpgroup, number of its value."""
    loads = readout(accumulator(m, n), view.load)
    holders = [[(0, 0)] * n for _ in range(m)]
    seen = dict.fromkeys(range(4), 0)
    for load in loads.loads:
        for t in range(loads.threads):
            for v in range(loads.values):
                row, column = loads.element(load, t, v)
                holders[row][column] = (32 * load.warp + t, seen[load.warp] * loads.values + v)
        seen[load.warp] += 1
    return holders, f"{loads.move.ptx}, {len(loads.loads) // 4} a warp, of the {loads.fragment.what}"


def _picture(view: View, places: Places, title: str, said: str, axes: tuple[str, str]) -> Stage:
    lanes, columns = len(places), len(places[0])
    figure, frame = Figure(), Frame(0, 0, max(WIDE, 2 * columns), LEAST * lanes, lanes, columns)
    roles = [[None if at is None else Figure.kind(at[0]) for at in row] for row in places]
    figure.cells(0, 0, *frame.step, roles)
    figure.border(*frame.box, "tile", rows=[frame.height * i / 4 for i in range(1, 4)], line=1.4)
    ticks(figure, frame, [str(i) for i in range(lanes)], [str(j) for j in range(columns)])
    figure.text(-8, -8, f"{axes[0]} \\ {axes[1]}", "muted", 10, "end", mono=True)
    grid = _inert(Grid(*frame.box, lanes, columns))
    labels = [["." if at is None else f"{at[0]},{at[1]}" for at in row] for row in places]
    text = "\n".join(table(labels, left=[str(i) for i in range(lanes)], top=[str(j) for j in range(columns)]))
    return stage(figure, title, said, [grid], _marks(view, frame, places), text)


def _inert(grid: Grid) -> Grid:
    """A grid of D: its places are no elements of the operand."""
    return Grid(grid.x, grid.y, grid.width, grid.height, grid.rows, grid.columns, cells=())


def _marks(view: View, frame: Frame, places: Sequence[Sequence[tuple[int, int] | None]] | None) -> list[Mark]:
    """The row of D, or the column, that the chosen element of the operand is multiplied into."""
    along = 1 if view.derivation.operand == "B" else 0
    line_of_d = view.inside[0]
    if places is None:
        row, column = (line_of_d, 0) if along == 0 else (0, line_of_d)
        if row >= frame.rows or column >= frame.columns:
            return []
        box = frame.cell(row, 0, 1, frame.columns) if along == 0 else frame.cell(0, column, frame.rows, 1)
        return [Mark("subtile", *box)]
    runs: list[Mark] = []
    for lane, row_of in enumerate(places):
        met = [column for column, at in enumerate(row_of) if at is not None and at[along] == line_of_d]
        if met:
            runs.append(Mark("subtile", *frame.cell(lane, met[0], 1, met[-1] - met[0] + 1)))
    return runs if along == 0 else _merge_marks(runs)


def _merge_marks(marks: list[Mark]) -> list[Mark]:
    """Marks one below the other as one."""
    merged: list[Mark] = []
    for mark in marks:
        last = merged[-1] if merged else None
        if last is not None and (last.x, last.width) == (mark.x, mark.width) and last.y + last.height >= mark.y - 0.01:
            merged[-1] = Mark(mark.role, last.x, last.y, last.width, mark.y + mark.height - last.y)
        else:
            merged.append(mark)
    return merged
