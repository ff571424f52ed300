"""Where the results of the instruction go: lanes and columns of tensor memory, and the registers of a warpgroup.

On sm90 the accumulator of ``wgmma`` lies in registers; on sm100 that of ``tcgen05.mma`` lies in tensor memory, from
where loads bring it to registers. The tile is one operand: it says M of an A operand or N of a B operand, and the other
extent is chosen. Law: a place of the picture stands for the row (or column) of D that the chosen element takes part in.

>>> from descriptors import derive
>>> view = View(derive((128, 128), "bf16", "K", "128B", (128, 16)), cell=(70, 21))
>>> stage = tensor_memory(view)
>>> stage.scene.title, stage.grids[0].rows, stage.grids[0].columns
('Accumulator of 128x64 f32, cta_group 1', 128, 64)
"""

from __future__ import annotations

from functools import lru_cache

from descriptors.errors import DescriptorError
from descriptors.show.pictures.cell_picture import CellsPicture, Held
from descriptors.show.pictures.column_picture import ColumnsPicture
from descriptors.show.pictures.panels import Frame, table, ticks, times
from descriptors.show.stages.stage import LEAST_TYPE, Grid, Mark, Stage, stage
from descriptors.show.stages.view import View
from descriptors.targets import has_tcgen05, has_wgmma
from descriptors.tmem.accumulator import accumulator
from descriptors.tmem.columns import ColumnPlan, tmem_plan
from descriptors.tmem.copied import tmem_copied
from descriptors.tmem.readout import readout
from descriptors.tmem.scale_factors import scale_factors
from descriptors.tmem.tmem_fragment import TmemFragment
from layoutalg import Figure, fragment, size
from layoutalg.frozen import replace

#: The most columns of D whose registers are drawn.
MOST_COLUMNS = 16


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
    """What lies in tensor memory, as ``descriptors tmem --draw`` has it; framed, the row of D of the chosen element.

    Raises:
        DescriptorError: on sm90, which has no tensor memory, and where there is no such instruction, copy or factor.
    """
    if not has_tcgen05(view.derivation.arch):
        raise DescriptorError(
            "explore: tensor memory must be that of sm100, found sm90: its accumulators are registers"
        )
    m, n = extents(view)
    drawn, frames = _drawn(_lying(view, m, n))
    if view.lying not in ("accumulator", "loads"):
        return drawn
    return replace(
        drawn, marks=tuple(mark for frame in frames for mark in _marks_of_cells(view, frame, accumulator(m, n)))
    )


def _lying(view: View, m: int, n: int) -> Held | ColumnPlan:
    """What is asked for, of the tile's instruction."""
    d, (rows, columns) = view.derivation, view.anatomy.extents
    if view.lying == "allocation":
        return tmem_plan(m, n, d.mma[1], str(d.element))
    if view.lying == "scale factors":
        if d.element.storage_bits > 8 or d.element.name.startswith(("u", "s")):
            raise DescriptorError(f"explore: an operand with scale factors must be of 4 to 8 bits, found {d.element}")
        return scale_factors(rows, columns, 16 if d.element.storage_bits == 4 else 32)
    if view.lying == "copy":
        return tmem_copied((rows, columns), str(d.element), d.swizzle, "128x256b")
    return readout(accumulator(m, n), view.load) if view.lying == "loads" else accumulator(m, n)


@lru_cache(maxsize=8)
def _drawn(answer: Held | ColumnPlan) -> tuple[Stage, tuple[Frame, ...]]:
    """The picture of an answer as a stage without marks, and where its cells are."""
    picture = ColumnsPicture(answer) if isinstance(answer, ColumnPlan) else CellsPicture(answer)
    figure, (title, sentence) = Figure(), picture.heading()
    frames = picture.panels(figure, 0)
    grids = [_inert(frame) for frame in frames]
    drawn = stage(figure, title, sentence, grids, [], picture.text())
    return drawn, tuple(replace(frame, x=grid.x, y=grid.y) for frame, grid in zip(frames, drawn.grids, strict=True))


def registers(view: View) -> Stage:
    """The accumulator in registers: the thread and its value that holds each element of D.

    Raises:
        DescriptorError: if there is no such accumulator or load.
        LayoutError: as ``layoutalg.fragment``.
    """
    m, n = extents(view)
    columns_drawn = min(n, MOST_COLUMNS)
    holders, what = (
        _wgmma(view.derivation.mma[1], m, n) if has_wgmma(view.derivation.arch) else _load_map(view.load, m, n)
    )
    drawn = [line[:columns_drawn] for line in holders]
    labels = [[f"{thread}:{value}" for thread, value in line] for line in drawn]
    wide = Figure.width_of("0" * max(len(one) for line in labels for one in line), LEAST_TYPE, mono=True) + 6
    figure, frame = Figure(), Frame(0, 0, wide * columns_drawn, 15 * m, m, columns_drawn)
    wide, high = frame.step
    roles: list[list[str | None]] = [[Figure.kind(thread) for thread, _ in line] for line in drawn]
    figure.table(0, 0, wide, high, roles, labels, size=LEAST_TYPE)
    figure.border(*frame.box, "tile", line=1.4)
    rows, columns = [str(i) for i in range(m)], [str(j) for j in range(columns_drawn)]
    ticks(figure, frame, rows, columns, LEAST_TYPE)
    more = f", the first {columns_drawn} of {n} columns" if columns_drawn < n else ""
    said = f"{what}{more}; t:v is value v of thread t, the colour its thread, eight in turn."
    text = "\n".join(table(labels, left=rows, top=columns))
    title = f"Accumulator {times((m, n))} in registers"
    return stage(figure, title, said, [_inert(frame)], _marks_of_line(view, frame), text)


#: Thread of the warpgroup and number of its value, of each element of D.
Holders = list[list[tuple[int, int]]]


@lru_cache(maxsize=4)
def _wgmma(depth: int, m: int, n: int) -> tuple[Holders, str]:
    """Who holds each element of D of ``wgmma``, and what that is called."""
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


@lru_cache(maxsize=4)
def _load_map(shape: str, m: int, n: int) -> tuple[Holders, str]:
    """Who holds each element of D after the loads of one shape, and what they are."""
    loads = readout(accumulator(m, n), shape)
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


def _marks_of_cells(view: View, frame: Frame, held: TmemFragment) -> list[Mark]:
    """The same where D lies in cells: a run of each lane that has some of it."""
    along, line = int(_is_column(view)), view.inside[0]
    columns_by_lane: dict[int, list[int]] = {}
    for other in range(size(held.layout[1 - along])):
        cell = held.cell(*((other, line) if along else (line, other)))
        if cell.lane < frame.rows and cell.column < frame.columns:
            columns_by_lane.setdefault(cell.lane, []).append(cell.column)
    runs = [Mark("subtile", *frame.cell(lane, min(met), 1, max(met) - min(met) + 1))
            for lane, met in sorted(columns_by_lane.items())]  # fmt: skip
    return _merge_marks(runs) if along else runs


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
