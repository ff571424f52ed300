"""Logical tile and physical memory side by side: every 16 bytes on both sides, in one colour and with one number.

Left stand the rows and columns of the tile, right the lines of shared memory, both as they are; what moved changed its
place, not its colour. ``tile`` has all of a stage, and where its cells are too small for numbers the lines about the
chosen element enlarged; ``lines`` has these alone, each piece by its row and its logical column.

Laws: a place of either side stands for the element whose cell it lies in; the two sides have the same pieces, each
once; without a swizzle and with it the left side is the same.

>>> from descriptors import derive
>>> d = derive((128, 128), "bf16", "K", "128B", (64, 16))
>>> whole = tile(View(d, cell=(70, 21)))
>>> logical, mark = whole.grids[0], next(mark for mark in whole.marks if mark.role == "cell")
>>> int((mark.y - logical.y) / logical.height * 128), int((mark.x - logical.x) / logical.width * 128 + 0.5)
(70, 21)
>>> [grid.cells[9][:3] for grid in lines(View(d)).grids if grid.cells]
[((9, 8), (9, 0), (9, 24))]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from descriptors.show.pictures.anatomy import Pair, ranks
from descriptors.show.pictures.panels import Frame, atom_name, border, every, hairs, table, ticks, times, type_size
from descriptors.show.stages.bank_stage import cells, column, row, window
from descriptors.show.stages.stage import LEAST_TYPE, Cells, Grid, Mark, Stage, stage, with_inset
from descriptors.show.stages.view import PIECE, View, kinds, places, roles, visible_colour
from descriptors.smem.operands.operand import SwizzleMode
from layoutalg import Figure
from layoutalg.frozen import frozen, replace

#: Height of a whole tile, the most of its width, the height of its largest cells, and what lies between two panels.
DOWN, ACROSS, CELL, GAP = 440, 240, 20, 56
#: So many lines stand below one another, and more only where there would be more columns of them than this.
MOST_LINES, MOST_COLUMNS = 128, 6
#: Pieces of a tile that are enlarged, at least along one side, and the width of a piece in whole tiles.
NEAR, PIECE_WIDE = 8, 31

_MEANINGS = {
    "order": "Shade: the order of memory",
    "bank": "Colour and number: which 16 bytes of a line of {line} it lies in",
    "column": "Colour and number: the logical column of 16 bytes",
    "atom": "Colour: the atom",
    "subtile": "Shade: the order in which subtiles start",
    "chunk": "Colour: the chunk of a subtile",
    "wrong": "Red: some of its elements are read from elsewhere",
}
_TITLES = {
    "order": "in the order of memory",
    "bank": "by banks",
    "column": "by logical columns",
    "atom": "atom by atom",
    "subtile": "subtile by subtile",
    "chunk": "chunk by chunk",
    "wrong": "what a changed word reads from elsewhere",
}


@frozen
class Pieces:
    """The pieces of a stage, 16 bytes each, by their place in the tile.

    Args:
        view: what is looked at.
        roles: what each is filled with.
        labels: what each is numbered with.
        element_at: its first element (MN, K), by its place in memory, in pieces from the start of the tile.
    """

    view: View
    roles: tuple[tuple[str | None, ...], ...]
    labels: tuple[tuple[str, ...], ...]
    element_at: dict[int, Pair]

    def role(self, at: Pair | None) -> str | None:
        """What the piece that begins with an element is filled with."""
        u, v = self.view.anatomy.unit
        return None if at is None else self.roles[at[0] // u][at[1] // v]

    def label(self, at: Pair | None) -> str:
        """What it is numbered with."""
        u, v = self.view.anatomy.unit
        return "" if at is None else self.labels[at[0] // u][at[1] // v]

    def name(self, at: Pair | None) -> str:
        """Its row and its logical column."""
        return "" if at is None else f"{row(self.view, at)}:{column(self.view, at)}"


@frozen
class Enlarged:
    """How the lines about the chosen element are drawn.

    Args:
        lines: how many.
        piece_wide: width of a piece.
        label: what stands in a piece.
        is_below: whether memory stands below the tile, as wide as it; else beside it.
    """

    lines: int
    piece_wide: int
    label: Callable[[Pieces, Pair | None], str]
    is_below: bool

    def memory_at(self, logical: Frame) -> tuple[float, float]:
        """Where memory begins, behind the part of the tile."""
        if self.is_below:
            return logical.x, logical.y + logical.height + GAP
        return logical.x + logical.width + GAP + 12, logical.y

    def width_of_line(self, units: int) -> float:
        """The width of a line of memory that has so many pieces."""
        return self.piece_wide * (8 if self.is_below else units)


#: What is enlarged beside a whole tile, and what is a picture of its own.
INSET = Enlarged(NEAR, PIECE_WIDE, Pieces.label, is_below=True)
ALONE = Enlarged(16, 42, Pieces.name, is_below=False)


def tile(view: View) -> Stage:
    """All of a stage: the tile, shared memory, and where numbers do not fit the lines about the chosen element."""
    shown, is_numbered = _whole(_unmoved(view))
    if not is_numbered:
        inset, (x, y) = Figure(), (max(grid.x + grid.width for grid in shown.grids) + GAP, shown.grids[0].y)
        shown = with_inset(shown, inset, _near(inset, view, (x, y), INSET))
    return replace(shown, marks=tuple(marks(view, shown.grids)))


def lines(view: View) -> Stage:
    """The lines about the chosen element, and the same part of the tile, each piece with its row and its column."""
    figure = Figure()
    grids = _near(figure, view, (0, 0), ALONE)
    shown = window(view, ALONE.lines)
    there = grids[-1].cells or ()
    named = [["." if at is None else f"{row(view, at)}:{column(view, at)}" for at in line] for line in there]
    text = "\n".join(table(named, left=[f"0x{view.line_bytes * one:04x}" for one in shown]))
    return stage(figure, "Who lives where", _sentence_of_lines(view), grids, marks(view, grids), text)


def _unmoved(view: View) -> View:
    """A view whose element is the first of its subtile, where what is drawn does not depend on more."""
    i, j = view.subtile if view.word is not None else (0, 0)
    return replace(view, cell=(i * view.derivation.mma[0], j * view.derivation.mma[1]))


@lru_cache(maxsize=16)
def _pieces(view: View) -> Pieces:
    numbers = kinds(view)
    shown = kinds(replace(view, word=None)) if view.colour in ("bank", "column") else places(view)
    u, v = view.anatomy.unit
    element_at = {
        address // PIECE: (i * u, j * v) for i, line in enumerate(places(view)) for j, address in enumerate(line)
    }
    labels = tuple(tuple(str(one) for one in line) for line in shown)
    return Pieces(view, tuple(map(tuple, roles(view, numbers))), labels, element_at)


@lru_cache(maxsize=16)
def _whole(view: View) -> tuple[Stage, bool]:
    """The tile and shared memory with nothing chosen, and whether their pieces have numbers."""
    pieces, figure = _pieces(view), Figure()
    rows, columns = len(pieces.roles), len(pieces.roles[0])
    high = min(CELL, max(DOWN / rows, 1))
    wide = min(PIECE_WIDE, max(ACROSS / columns, 2))
    logical = Frame(0, 0, round(columns * wide), round(rows * high), rows, columns)
    _caption(figure, logical, "logical: the tile")
    figure.cells(0, 0, *logical.step, pieces.roles)
    is_numbered = _numbers(figure, logical, pieces.labels)
    _levels(figure, view, logical)
    u, v = view.anatomy.unit
    left, top = [str(i * u) for i in range(rows)], [str(j * v) for j in range(columns)]
    ticks(figure, logical, left, top, LEAST_TYPE)
    grids = [Grid(*logical.box, *view.anatomy.extents)]
    x = logical.width + GAP
    for there, frame, first in _columns_of_lines(pieces, x):
        _memory(figure, pieces, frame, there, first, is_first=frame.x == x)
        grids.append(Grid(*frame.box, frame.rows, frame.columns, cells=there))
    if not is_numbered:
        _atom_numbers(figure, view, logical, grids[1:])
    text = "\n".join(table(kinds(view), left=left, top=top))
    title = f"{times(view.anatomy.extents)} {view.derivation.element}, {_TITLES[visible_colour(view)]}"
    return stage(figure, title, _sentence_of_tile(view), grids, [], text), is_numbered


def _columns_of_lines(pieces: Pieces, x: float) -> list[tuple[Cells, Frame, int]]:
    """All lines of a stage in columns beside one another: what lies there, the panel, and the number of its first."""
    view = pieces.view
    units = view.line_bytes // PIECE
    first, last = min(pieces.element_at) // units, max(pieces.element_at) // units
    count = last - first + 1
    deep = max(min(count, MOST_LINES), -(-count // MOST_COLUMNS))
    high = min(CELL, max(DOWN / deep, 1))
    wide = (PIECE_WIDE if high >= CELL / 2 else 24 if count <= deep else 16) * 8 / units
    panels = []
    for number, start in enumerate(range(first, last + 1, deep)):
        there = cells(view, range(start, min(start + deep, last + 1)), pieces.element_at)
        frame = Frame(x + number * (units * wide + GAP), 0, units * wide, high * len(there), len(there), units)
        panels.append((there, frame, start))
    return panels


def _near(figure: Figure, view: View, at: tuple[float, float], size: Enlarged) -> tuple[Grid, ...]:
    """The part of the tile about the chosen element, and the lines about the place where it lies, enlarged."""
    pieces, a = _pieces(_unmoved(view)), view.anatomy
    u, v = a.unit
    i, j = view.cell[0] // u, view.cell[1] // v
    high, wide = (NEAR, size.lines) if u > 1 else (size.lines, NEAR)
    top, left = i // high * high, j // wide * wide
    inside = [line[left : left + wide] for line in pieces.roles[top : top + high]]
    (x, y), origin = at, (top * u, left * v)
    logical = Frame(x, y, size.piece_wide * len(inside[0]), CELL * len(inside), len(inside), len(inside[0]))
    _caption(figure, logical, f"logical, from element ({origin[0]},{origin[1]})")
    first = [[(origin[0] + r * u, origin[1] + c * v) for c in range(logical.columns)] for r in range(logical.rows)]
    figure.cells(x, y, *logical.step, inside)
    hairs(figure, logical)
    _numbers(figure, logical, [[size.label(pieces, one) for one in line] for line in first])
    figure.border(*logical.box, "tile", line=1.4)
    downs, acrosses = [str(one[0][0]) for one in first], [str(one[1]) for one in first[0]]
    ticks(figure, logical, downs, acrosses, LEAST_TYPE)
    shown = window(view, size.lines)
    units = view.line_bytes // PIECE
    there = cells(view, shown, pieces.element_at)
    memory = Frame(*size.memory_at(logical), size.width_of_line(units), CELL * len(there), len(there), units)
    _memory(figure, pieces, memory, there, shown[0], label=size.label)
    return (
        Grid(*logical.box, logical.rows * u, logical.columns * v, origin=origin),
        Grid(*memory.box, memory.rows, memory.columns, cells=there),
    )


def _memory(
    figure: Figure,
    pieces: Pieces,
    frame: Frame,
    there: Cells,
    first: int,
    *,
    label: Callable[[Pieces, Pair | None], str] = Pieces.label,
    is_first: bool = True,
) -> None:
    """Lines of shared memory: what lies there, their addresses, and above them the banks."""
    view, (wide, high) = pieces.view, frame.step
    if is_first:
        when = "" if _is_plain(view) else ", swizzled" if view.swizzled else ", without the swizzle"
        _caption(figure, frame, f"shared memory{when}")
    figure.cells(frame.x, frame.y, wide, high, [[pieces.role(at) for at in line] for line in there])
    if _numbers(figure, frame, [[label(pieces, at) for at in line] for line in there]):
        hairs(figure, frame)
    a, line_bytes = view.anatomy, view.line_bytes
    if a.atom_grid[0] and "atom" in view.levels and a.atom_bytes % line_bytes == 0 and high * a.atom_bytes >= 320:
        border(figure, frame, "atom", max(1, frame.rows * line_bytes // a.atom_bytes), outer=False)
    figure.border(*frame.box, "tile", line=1.4)
    skip = every(frame.rows, high, 13)
    ats = [(frame.x - 6, frame.y + (i + 0.5) * high + 4, i + first) for i in range(0, frame.rows, skip)]
    figure.texts([(x, y, f"0x{line_bytes * one:04x}") for x, y, one in ats], "muted", LEAST_TYPE, "end", mono=True)
    skip = every(frame.columns, wide, 22)
    banks = [
        (frame.x + (j + 0.5) * wide, frame.y - 8, str(j * PIECE // view.bank_bytes))
        for j in range(0, frame.columns, skip)
    ]
    figure.texts(banks, "muted", LEAST_TYPE, "middle", mono=True)
    figure.text(frame.x - 6, frame.y - 8, "bank", "muted", LEAST_TYPE, "end", mono=True)


def _caption(figure: Figure, frame: Frame, text: str) -> None:
    figure.text(frame.x, frame.y - 25, text, "ink", 13, bold=True)


def _numbers(figure: Figure, frame: Frame, labels: Sequence[Sequence[str]]) -> bool:
    """Number the cells of a panel where there is room; whether there was."""
    wide, high = frame.step
    size = type_size(labels, wide, high, [LEAST_TYPE])
    if size:
        none: list[list[str | None]] = [[None] * frame.columns] * frame.rows
        figure.table(frame.x, frame.y, wide, high, none, labels, size=size, hair=False)
    return bool(size)


def _levels(figure: Figure, view: View, frame: Frame) -> None:
    """The borders of the levels that are drawn."""
    a = view.anatomy
    (rows, columns), (mn, k) = a.chunk_extents, a.extents
    if "chunk" in view.levels:
        border(figure, frame, "chunk", mn // rows, k // columns, outer=False)
    if "atom" in view.levels and a.atom_grid[0]:
        border(figure, frame, "atom", *a.atom_grid, outer=False)
    if "subtile" in view.levels:
        border(figure, frame, "subtile", *a.subtile_grid, outer=False)
    if "tile" in view.levels:
        border(figure, frame, "tile")


def _atom_numbers(figure: Figure, view: View, logical: Frame, memory: Sequence[Grid]) -> None:
    """The number of each atom in memory, on both sides, where there is room for it."""
    a = view.anatomy
    if not a.atom_grid[0]:
        return
    order = ranks(a.atom_places())
    frame = replace(logical, rows=a.atom_grid[0], columns=a.atom_grid[1])
    labels = [[str(one) for one in line] for line in order]
    wide, high = frame.step
    size = type_size(labels, wide, high, (15, 13, LEAST_TYPE))
    spots = [
        (frame.x + (j + 3 / 8) * wide, frame.y + (i + 0.5) * high, label)  # halves and quarters are borders of subtiles
        for i, line in enumerate(labels)
        for j, label in enumerate(line)
    ]
    step, deep, tall = memory[0].height / memory[0].rows, memory[0].rows, a.atom_bytes / view.line_bytes
    if not size or tall * step < size + 2:
        return
    start = min(map(min, a.atom_places()))
    for label_row, place_row in zip(labels, a.atom_places(), strict=True):
        for label, place in zip(label_row, place_row, strict=True):
            number, line = divmod((place - start) / view.line_bytes, deep)
            grid = memory[int(number)]
            spots.append((grid.x + grid.width / 2, grid.y + (line + tall / 2) * step, label))
    figure.texts([(x, y + 0.36 * size, text) for x, y, text in spots], "ink", size, "middle", mono=True, bold=True)


def marks(view: View, grids: Sequence[Grid]) -> list[Mark]:
    """What is chosen: on the tile the subtile, the atom, the 16 bytes and the element; in memory the 16 bytes.

    Args:
        view: what is looked at.
        grids: of elements, or of places of memory.
    """
    frames, a = list[Mark](), view.anatomy
    levels = [("subtile", view.derivation.mma), ("atom", a.atom_extents), ("piece", a.unit), ("cell", (1, 1))]
    for role, block in levels:
        if role != "atom" or a.atom_grid[0]:
            top, left = (one // extent * extent for one, extent in zip(view.cell, block, strict=True))
            frames += [Mark(role, *box) for grid in grids if not grid.cells for box in _clipped(grid, top, left, block)]
    piece = view.cell[0] // a.unit[0] * a.unit[0], view.cell[1] // a.unit[1] * a.unit[1]
    return frames + [
        Mark("piece", *grid.box(i, j))
        for grid in grids
        for i, line in enumerate(grid.cells or ())
        for j, at in enumerate(line)
        if at == piece
    ]


def _clipped(grid: Grid, top: int, left: int, block: Pair) -> list[tuple[float, float, float, float]]:
    """A block of elements on a grid of elements, as much of it as is there."""
    first = max(top - grid.origin[0], 0), max(left - grid.origin[1], 0)
    last = min(top + block[0] - grid.origin[0], grid.rows), min(left + block[1] - grid.origin[1], grid.columns)
    if first[0] >= last[0] or first[1] >= last[1]:
        return []
    return [grid.box(*first, last[0] - first[0], last[1] - first[1])]


def _is_plain(view: View) -> bool:
    return view.derivation.swizzle is SwizzleMode.NONE


def _meaning(view: View) -> str:
    return _MEANINGS[visible_colour(view)].format(line=f"{view.line_bytes} bytes")


def _sentence_of_lines(view: View) -> str:
    u, v = view.anatomy.unit
    contiguous = ("row", "K") if v > u else ("k", "MN")
    cell = f"{PIECE} bytes, r:c: the {contiguous[0]} r, and the number c of the {PIECE} bytes along {contiguous[1]}"
    return f"A cell is {cell}. {_meaning(view)}."


def _sentence_of_tile(view: View) -> str:
    rows, columns = view.anatomy.atom_grid
    name = atom_name(view.derivation)
    atoms = f" {rows * columns} {name}s (blue) are numbered in the order of memory." if rows else ""
    cell = f"{PIECE} bytes, {times(view.anatomy.unit)} elements"
    return f"A cell is {cell}. {_meaning(view)}, the same on both sides.{atoms}"
