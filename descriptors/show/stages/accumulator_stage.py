"""Draw the accumulator of the instruction in tensor memory, and in the registers of a warpgroup.

On sm90 the accumulator of ``wgmma`` is in registers. On sm100 the accumulator of ``tcgen05.mma`` is in tensor memory,
and loads copy it to registers. The tile is one operand: it determines M for an A operand or N for a B operand. The
other extent is chosen.

Invariant: the marked cells are the row (or column) of D to which the chosen element contributes.

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

#: The largest number of columns of D whose registers are drawn.
MOST_COLUMNS = 16


def extents(view: View) -> tuple[int, int]:
    """Return M and N of the instruction. The tile determines one of them, the other is chosen.

    >>> from descriptors import derive
    >>> extents(View(derive((128, 128), "bf16", "K", "128B", (64, 16), operand="B"), across=128))
    (128, 64)
    """
    d = view.derivation
    if d.instruction != "mma":
        raise DescriptorError(
            f"explore: the instruction is {d.instruction}, but only an MMA instruction has an accumulator"
        )
    return (view.across, d.mma[0]) if d.operand == "B" else (d.mma[0], view.across)


def tensor_memory(view: View) -> Stage:
    """Draw the content of tensor memory, as ``descriptors tmem --draw`` does, and frame the chosen element's row of D.

    Raises:
        DescriptorError: if the architecture has no tensor memory, or the instruction, copy or scale factors do not
            exist.
    """
    if not has_tcgen05(view.derivation.arch):
        raise DescriptorError(
            f"explore: {view.derivation.arch} has no tensor memory; its accumulators are in registers"
        )
    m, n = extents(view)
    drawn, frames = _drawn(_lying(view, m, n))
    if view.lying not in ("accumulator", "loads"):
        return drawn
    return replace(
        drawn, marks=tuple(mark for frame in frames for mark in _marks_of_cells(view, frame, accumulator(m, n)))
    )


def _lying(view: View, m: int, n: int) -> Held | ColumnPlan:
    """Return the chosen content of tensor memory for the instruction of the tile."""
    d, (rows, columns) = view.derivation, view.anatomy.extents
    if view.lying == "allocation":
        return tmem_plan(m, n, d.mma[1], str(d.element))
    if view.lying == "scale factors":
        if d.element.storage_bits > 8 or d.element.name.startswith(("u", "s")):
            raise DescriptorError(
                f"explore: an operand of {d.element} has no scale factors; supported: floating-point elements of 4 to "
                "8 bits"
            )
        return scale_factors(rows, columns, 16 if d.element.storage_bits == 4 else 32)
    if view.lying == "copy":
        return tmem_copied((rows, columns), str(d.element), d.swizzle, "128x256b")
    return readout(accumulator(m, n), view.load) if view.lying == "loads" else accumulator(m, n)


@lru_cache(maxsize=8)
def _drawn(answer: Held | ColumnPlan) -> tuple[Stage, tuple[Frame, ...]]:
    """Return the picture of an answer as a stage without marks, and the frames of its panels."""
    picture = ColumnsPicture(answer) if isinstance(answer, ColumnPlan) else CellsPicture(answer)
    figure, (title, sentence) = Figure(), picture.heading()
    frames = picture.panels(figure, 0)
    grids = [_inert(frame) for frame in frames]
    drawn = stage(figure, title, sentence, grids, [], picture.text())
    return drawn, tuple(replace(frame, x=grid.x, y=grid.y) for frame, grid in zip(frames, drawn.grids, strict=True))


def registers(view: View) -> Stage:
    """Draw the accumulator in registers: the thread and value that hold each element of D.

    Raises:
        DescriptorError: if the instruction has no such accumulator or load.
        LayoutError: as ``layoutalg.fragment``.
    """
    m, n = extents(view)
    columns_drawn = min(n, MOST_COLUMNS)
    holders, description = (
        _wgmma(view.derivation.mma[1], m, n) if has_wgmma(view.derivation.arch) else _load_map(view.load, m, n)
    )
    drawn = [line[:columns_drawn] for line in holders]
    labels = [[f"{thread}:{value}" for thread, value in line] for line in drawn]
    wide = Figure.width_of("0" * max(len(label) for line in labels for label in line), LEAST_TYPE, mono=True) + 6
    figure, frame = Figure(), Frame(0, 0, wide * columns_drawn, 15 * m, m, columns_drawn)
    wide, high = frame.step
    roles: list[list[str | None]] = [[Figure.kind(thread) for thread, _ in line] for line in drawn]
    figure.table(0, 0, wide, high, roles, labels, size=LEAST_TYPE)
    figure.border(*frame.box, "tile", line=1.4)
    rows, columns = [str(i) for i in range(m)], [str(j) for j in range(columns_drawn)]
    ticks(figure, frame, rows, columns, LEAST_TYPE)
    more = f", the first {columns_drawn} of {n} columns" if columns_drawn < n else ""
    sentence = f"{description}{more}; t:v is value v of thread t; the color is the thread and repeats every eight."
    text = "\n".join(table(labels, left=rows, top=columns))
    title = f"Accumulator {times((m, n))} in registers"
    return stage(figure, title, sentence, [_inert(frame)], _marks_of_line(view, frame), text)


#: The thread of the warpgroup and the value that hold each element of D.
Holders = list[list[tuple[int, int]]]


@lru_cache(maxsize=4)
def _wgmma(depth: int, m: int, n: int) -> tuple[Holders, str]:
    """Return the thread and value of each element of D of ``wgmma``, and a description."""
    if m != 64:
        raise DescriptorError(f"explore: M of the instruction is {m}, but wgmma has only M 64")
    d_fragment = fragment(f"wgmma.m64n{n}k{depth}.D")
    holders = [[(0, 0)] * n for _ in range(m)]
    threads, values = d_fragment.layout
    for t in range(128):
        for v in range(n // 2):
            place = threads(t) + values(v)
            holders[place % m][place // m] = (t, v)
    return holders, f"{d_fragment.name}: the 128 threads of a warpgroup, warp w from thread 32 w"


@lru_cache(maxsize=4)
def _load_map(shape: str, m: int, n: int) -> tuple[Holders, str]:
    """Return the thread and value of each element of D after the loads of one shape, and a description."""
    loads = readout(accumulator(m, n), shape)
    holders = [[(0, 0)] * n for _ in range(m)]
    seen = dict.fromkeys(range(4), 0)
    for load in loads.loads:
        for t in range(loads.threads):
            for v in range(loads.values):
                row, column = loads.element(load, t, v)
                holders[row][column] = (32 * load.warp + t, seen[load.warp] * loads.values + v)
        seen[load.warp] += 1
    return holders, f"{loads.move.ptx}, {len(loads.loads) // 4} per warp, of the {loads.fragment.what}"


def _inert(frame: Frame) -> Grid:
    """Return a grid of D, whose cells are not elements of the operand."""
    return Grid(*frame.box, frame.rows, frame.columns, cells=())


def _is_column(view: View) -> bool:
    """Check that the chosen element belongs to B, so that it contributes to a column of D instead of a row."""
    return view.derivation.operand == "B"


def _marks_of_line(view: View, frame: Frame) -> list[Mark]:
    """Return the mark of the row or column of D that the chosen element contributes to, in a picture of D."""
    line = view.inside[0]
    if line >= (frame.columns if _is_column(view) else frame.rows):
        return []
    box = frame.cell(0, line, frame.rows, 1) if _is_column(view) else frame.cell(line, 0, 1, frame.columns)
    return [Mark("subtile", *box)]


def _marks_of_cells(view: View, frame: Frame, fragment: TmemFragment) -> list[Mark]:
    """Return the same marks in a picture of tensor memory: one run of columns for each lane."""
    along, line = int(_is_column(view)), view.inside[0]
    columns_by_lane: dict[int, list[int]] = {}
    for other in range(size(fragment.layout[1 - along])):
        cell = fragment.cell(*((other, line) if along else (line, other)))
        if cell.lane < frame.rows and cell.column < frame.columns:
            columns_by_lane.setdefault(cell.lane, []).append(cell.column)
    runs = [Mark("subtile", *frame.cell(lane, min(columns), 1, max(columns) - min(columns) + 1))
            for lane, columns in sorted(columns_by_lane.items())]  # fmt: skip
    return _merge_marks(runs) if along else runs


def _merge_marks(marks: list[Mark]) -> list[Mark]:
    """Merge marks that are directly below each other."""
    merged: list[Mark] = []
    for mark in marks:
        last = merged[-1] if merged else None
        if last is not None and (last.x, last.width) == (mark.x, mark.width) and last.y + last.height >= mark.y - 0.01:
            merged[-1] = Mark(mark.role, last.x, last.y, last.width, mark.y + mark.height - last.y)
        else:
            merged.append(mark)
    return merged
