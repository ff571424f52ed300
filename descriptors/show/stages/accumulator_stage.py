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

from descriptors.errors import DescriptorError
from descriptors.show.pictures.panels import Frame, table, ticks, times, type_size
from descriptors.show.stages.stage import Grid, Mark, Stage, stage
from descriptors.show.stages.view import View
from descriptors.tmem.accumulator import accumulator
from descriptors.tmem.geometry import LANES
from descriptors.tmem.readout import readout
from layoutalg import Figure, fragment

#: Width of a picture, the least height of a row.
WIDE, LEAST = 640, 5
#: The most columns of D whose registers are drawn.
MOST_COLUMNS = 16

#: Row and column of D in each cell of tensor memory; None where there is none.
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
    held = accumulator(m, n)
    places: Places = [[None] * held.columns for _ in range(LANES)]
    for row in range(m):
        for column in range(n):
            cell = held.cell(row, column)
            places[cell.lane][cell.column] = (row, column)
    said = (
        f"{held.what}, {held.name}: lane down, column across; colour: the row of D, eight in turn; framed: "
        f"what the chosen element takes part in. {held.evidence[:1].upper()}{held.evidence[1:]}."
    )
    figure, frame = Figure(), Frame(0, 0, max(WIDE, 2 * held.columns), LEAST * LANES, LANES, held.columns)
    lanes, columns = [str(i) for i in range(LANES)], [str(j) for j in range(held.columns)]
    figure.cells(0, 0, *frame.step, [[None if at is None else Figure.kind(at[0]) for at in line] for line in places])
    figure.border(*frame.box, "tile", rows=[frame.height * i / 4 for i in range(1, 4)], line=1.4)
    ticks(figure, frame, lanes, columns)
    figure.text(-8, -8, "lane \\ column", "muted", 10, "end", mono=True)
    labels = [["." if at is None else f"{at[0]},{at[1]}" for at in line] for line in places]
    text = "\n".join(table(labels, left=lanes, top=columns))
    marks = _marks_of_cells(view, frame, places)
    return stage(figure, f"Accumulator {times((m, n))} in tensor memory", said, [_inert(frame)], marks, text)


def registers(view: View) -> Stage:
    """The accumulator in registers: the thread and its value that holds each element of D.

    Raises:
        DescriptorError: if there is no such accumulator or load.
        LayoutError: as ``layoutalg.fragment``.
    """
    m, n = extents(view)
    columns_drawn = min(n, MOST_COLUMNS)
    holders, what = _wgmma(view, m, n) if view.derivation.arch == "sm90" else _load_map(view, m, n)
    drawn = [line[:columns_drawn] for line in holders]
    labels = [[f"{thread}:{value}" for thread, value in line] for line in drawn]
    figure, frame = Figure(), Frame(0, 0, 44 * columns_drawn, 14 * m, m, columns_drawn)
    wide, high = frame.step
    roles: list[list[str | None]] = [[Figure.kind(thread) for thread, _ in line] for line in drawn]
    figure.table(0, 0, wide, high, roles, labels if type_size(labels, wide, high) else (), size=9)
    figure.border(*frame.box, "tile", line=1.4)
    rows, columns = [str(i) for i in range(m)], [str(j) for j in range(columns_drawn)]
    ticks(figure, frame, rows, columns)
    more = f", the first {columns_drawn} of {n} columns" if columns_drawn < n else ""
    said = f"{what}{more}; t:v is value v of thread t, the colour its thread, eight in turn."
    text = "\n".join(table(labels, left=rows, top=columns))
    title = f"Accumulator {times((m, n))} in registers"
    return stage(figure, title, said, [_inert(frame)], _marks_of_line(view, frame), text)


#: Thread of the warpgroup and number of its value, of each element of D.
Holders = list[list[tuple[int, int]]]


def _wgmma(view: View, m: int, n: int) -> tuple[Holders, str]:
    """Who holds each element of D of ``wgmma``, and what that is called."""
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


def _load_map(view: View, m: int, n: int) -> tuple[Holders, str]:
    """Who holds each element of D after the loads of one shape, and what they are."""
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


def _inert(frame: Frame) -> Grid:
    """A grid of D: its places are no elements of the operand."""
    return Grid(*frame.box, frame.rows, frame.columns, cells=())


def _is_column(view: View) -> bool:
    """Whether the chosen element is of B, and so multiplied into a column of D, instead of a row."""
    return view.derivation.operand == "B"


def _marks_of_line(view: View, frame: Frame) -> list[Mark]:
    """The row of D, or the column, that the chosen element is multiplied into, where D is drawn as it is."""
    line = view.inside[0]
    if line >= (frame.columns if _is_column(view) else frame.rows):
        return []
    box = frame.cell(0, line, frame.rows, 1) if _is_column(view) else frame.cell(line, 0, 1, frame.columns)
    return [Mark("subtile", *box)]


def _marks_of_cells(view: View, frame: Frame, places: Places) -> list[Mark]:
    """The same where D lies in cells: a run of each lane that has some of it."""
    along, runs = int(_is_column(view)), list[Mark]()
    for lane, line in enumerate(places):
        met = [column for column, at in enumerate(line) if at is not None and at[along] == view.inside[0]]
        if met:
            runs.append(Mark("subtile", *frame.cell(lane, met[0], 1, met[-1] - met[0] + 1)))
    return _merge_marks(runs) if _is_column(view) else runs


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
