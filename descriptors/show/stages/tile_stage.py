"""Draw the logical tile next to shared memory. Each piece of 16 bytes has the same color and number on both sides.

The left side shows the rows and columns of the tile, the right side the lines of shared memory. ``tile`` draws the
whole stage. If its cells are too small for numbers, the lines around the chosen element are enlarged. ``lines`` draws
only these lines, and labels each piece with its row and its logical column.

Invariants: a cell of either side stands for the element that it contains. Both sides have the same pieces, each once.
The left side does not depend on the swizzle.

>>> from descriptors import derive
>>> d = derive((128, 128), "bf16", "K", "128B", (64, 16))
>>> tile_stage = tile(View(d, cell=(70, 21)))
>>> logical, mark = tile_stage.grids[0], next(mark for mark in tile_stage.marks if mark.role == "cell")
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

#: Height and largest width of a whole tile, largest height of a cell, and the gap between two panels.
DOWN, ACROSS, CELL, GAP = 440, 240, 20, 56
#: Lines in one column of lines, and the largest number of such columns. More columns make each column longer.
MOST_LINES, MOST_COLUMNS = 128, 6
#: The number of pieces that are enlarged along the shorter side, and the width of a piece in whole tiles.
NEAR, PIECE_WIDE = 8, 31

_MEANINGS = {
    "order": "Shade: the order in memory",
    "bank": "Color and number: the position in a line of {line}, in units of 16 bytes",
    "column": "Color and number: the logical column of 16 bytes",
    "atom": "Color: the atom",
    "subtile": "Shade: the order of the start addresses of the subtiles",
    "chunk": "Color: the chunk of a subtile",
    "wrong": "Red: the descriptor reads elements of it from a wrong address",
}
_TITLES = {
    "order": "colored by order in memory",
    "bank": "colored by bank",
    "column": "colored by logical column",
    "atom": "colored by atom",
    "subtile": "colored by subtile",
    "chunk": "colored by chunk",
    "wrong": "elements that the changed descriptor reads from a wrong address",
}


@frozen
class Pieces:
    """The pieces of a stage, 16 bytes each, as rows and columns of the tile.

    Args:
        view: the tile.
        roles: fill role of each piece.
        labels: label of each piece.
        element_at: first element (MN, K) of the piece at each offset in memory, in pieces from the start of the tile.
    """

    view: View
    roles: tuple[tuple[str | None, ...], ...]
    labels: tuple[tuple[str, ...], ...]
    element_at: dict[int, Pair]

    def role(self, element: Pair | None) -> str | None:
        """Return the fill role of the piece that begins with an element."""
        u, v = self.view.anatomy.unit
        return None if element is None else self.roles[element[0] // u][element[1] // v]

    def label(self, element: Pair | None) -> str:
        """Return the label of the piece that begins with an element."""
        u, v = self.view.anatomy.unit
        return "" if element is None else self.labels[element[0] // u][element[1] // v]

    def name(self, element: Pair | None) -> str:
        """Return the row and the logical column of the piece that begins with an element."""
        return "" if element is None else f"{row(self.view, element)}:{column(self.view, element)}"


@frozen
class Enlarged:
    """How the lines around the chosen element are drawn.

    Args:
        lines: number of lines.
        piece_wide: width of a piece.
        label: function that returns the label of a piece.
        is_below: whether memory is below the tile, with the same width, instead of next to it.
    """

    lines: int
    piece_wide: int
    label: Callable[[Pieces, Pair | None], str]
    is_below: bool

    def memory_at(self, logical: Frame) -> tuple[float, float]:
        """Return the corner of the panel of memory."""
        if self.is_below:
            return logical.x, logical.y + logical.height + GAP
        return logical.x + logical.width + GAP + 12, logical.y

    def width_of_line(self, units: int) -> float:
        """Return the width of a line of memory with a number of pieces."""
        return self.piece_wide * (8 if self.is_below else units)


#: The sizes of the enlarged lines in the picture of a whole tile, and in a picture of their own.
INSET = Enlarged(NEAR, PIECE_WIDE, Pieces.label, is_below=True)
ALONE = Enlarged(16, 42, Pieces.name, is_below=False)


def tile(view: View) -> Stage:
    """Draw the tile and shared memory, and enlarge the lines around the chosen element if numbers do not fit."""
    shown, is_numbered = _whole(_unmoved(view))
    if not is_numbered:
        inset, (x, y) = Figure(), (max(grid.x + grid.width for grid in shown.grids) + GAP, shown.grids[0].y)
        shown = with_inset(shown, inset, _near(inset, view, (x, y), INSET))
    return replace(shown, marks=tuple(marks(view, shown.grids)))


def lines(view: View) -> Stage:
    """Draw the lines around the chosen element and the same part of the tile, labeled with row and column."""
    figure, pieces = Figure(), _pieces(_unmoved(view))
    grids = _near(figure, view, (0, 0), ALONE)
    shown = window(view, ALONE.lines)
    names = [[pieces.name(element) or "." for element in line] for line in grids[-1].cells or ()]
    text = "\n".join(table(names, left=[f"0x{view.line_bytes * number:04x}" for number in shown]))
    title = "Lines of shared memory around the element"
    return stage(figure, title, _sentence_of_lines(view), grids, marks(view, grids), text)


def _unmoved(view: View) -> View:
    """Return a view that is the same for all elements for which the whole tile is drawn alike.

    The drawing depends on the subtile of the element only if a descriptor is compared.
    """
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
    labels = tuple(tuple(map(str, line)) for line in shown)
    return Pieces(view, tuple(map(tuple, roles(view, numbers))), labels, element_at)


@lru_cache(maxsize=16)
def _whole(view: View) -> tuple[Stage, bool]:
    """Draw the tile and shared memory without marks, and return whether the pieces have numbers."""
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
    for elements, frame, first in _columns_of_lines(pieces, x):
        _memory(figure, pieces, frame, elements, first, is_first=frame.x == x)
        grids.append(Grid(*frame.box, frame.rows, frame.columns, cells=elements))
    if not is_numbered:
        _atom_numbers(figure, view, logical, grids[1:])
    text = "\n".join(table(kinds(view), left=left, top=top))
    title = f"{times(view.anatomy.extents)} {view.derivation.element}, {_TITLES[visible_colour(view)]}"
    return stage(figure, title, _sentence_of_tile(view), grids, [], text), is_numbered


def _columns_of_lines(pieces: Pieces, x: float) -> list[tuple[Cells, Frame, int]]:
    """Return the columns of lines of a stage: the elements of their cells, the frame, the number of the first line."""
    view = pieces.view
    units = view.line_bytes // PIECE
    first, last = min(pieces.element_at) // units, max(pieces.element_at) // units
    count = last - first + 1
    deep = max(min(count, MOST_LINES), -(-count // MOST_COLUMNS))
    high = min(CELL, max(DOWN / deep, 1))
    wide = (PIECE_WIDE if high >= CELL / 2 else 24 if count <= deep else 16) * 8 / units
    panels = []
    for number, start in enumerate(range(first, last + 1, deep)):
        elements = cells(view, range(start, min(start + deep, last + 1)), pieces.element_at)
        frame = Frame(x + number * (units * wide + GAP), 0, units * wide, high * len(elements), len(elements), units)
        panels.append((elements, frame, start))
    return panels


def _near(figure: Figure, view: View, corner: tuple[float, float], size: Enlarged) -> tuple[Grid, ...]:
    """Draw the part of the tile and the lines of memory around the chosen element, enlarged."""
    pieces, a = _pieces(_unmoved(view)), view.anatomy
    u, v = a.unit
    i, j = view.cell[0] // u, view.cell[1] // v
    high, wide = (NEAR, size.lines) if u > 1 else (size.lines, NEAR)
    top, left = i // high * high, j // wide * wide
    inside = [line[left : left + wide] for line in pieces.roles[top : top + high]]
    (x, y), origin = corner, (top * u, left * v)
    logical = Frame(x, y, size.piece_wide * len(inside[0]), CELL * len(inside), len(inside), len(inside[0]))
    _caption(figure, logical, f"logical, from element ({origin[0]},{origin[1]})")
    first = [[(origin[0] + r * u, origin[1] + c * v) for c in range(logical.columns)] for r in range(logical.rows)]
    figure.cells(x, y, *logical.step, inside)
    hairs(figure, logical)
    _numbers(figure, logical, [[size.label(pieces, element) for element in line] for line in first])
    figure.border(*logical.box, "tile", line=1.4)
    downs, acrosses = [str(line[0][0]) for line in first], [str(element[1]) for element in first[0]]
    ticks(figure, logical, downs, acrosses, LEAST_TYPE)
    shown = window(view, size.lines)
    units = view.line_bytes // PIECE
    elements = cells(view, shown, pieces.element_at)
    memory = Frame(*size.memory_at(logical), size.width_of_line(units), CELL * len(elements), len(elements), units)
    _memory(figure, pieces, memory, elements, shown[0], label=size.label)
    return (
        Grid(*logical.box, logical.rows * u, logical.columns * v, origin=origin),
        Grid(*memory.box, memory.rows, memory.columns, cells=elements),
    )


def _memory(
    figure: Figure,
    pieces: Pieces,
    frame: Frame,
    elements: Cells,
    first: int,
    *,
    label: Callable[[Pieces, Pair | None], str] = Pieces.label,
    is_first: bool = True,
) -> None:
    """Draw lines of shared memory with their contents, their addresses, and the banks above them."""
    view, (wide, high) = pieces.view, frame.step
    if is_first:
        when = "" if _is_plain(view) else ", swizzled" if view.swizzled else ", without the swizzle"
        _caption(figure, frame, f"shared memory{when}")
    figure.cells(frame.x, frame.y, wide, high, [[pieces.role(element) for element in line] for line in elements])
    if _numbers(figure, frame, [[label(pieces, element) for element in line] for line in elements]):
        hairs(figure, frame)
    a, line_bytes = view.anatomy, view.line_bytes
    if a.atom_grid[0] and "atom" in view.levels and a.atom_bytes % line_bytes == 0 and high * a.atom_bytes >= 320:
        border(figure, frame, "atom", max(1, frame.rows * line_bytes // a.atom_bytes), outer=False)
    figure.border(*frame.box, "tile", line=1.4)
    skip = every(frame.rows, high, 13)
    addresses = [
        (frame.x - 6, frame.y + (i + 0.5) * high + 4, f"0x{line_bytes * (i + first):04x}")
        for i in range(0, frame.rows, skip)
    ]
    figure.texts(addresses, "muted", LEAST_TYPE, "end", mono=True)
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
    """Write the labels of a panel if they fit, and return whether they do."""
    wide, high = frame.step
    size = type_size(labels, wide, high, [LEAST_TYPE])
    if size:
        none: list[list[str | None]] = [[None] * frame.columns] * frame.rows
        figure.table(frame.x, frame.y, wide, high, none, labels, size=size, hair=False)
    return bool(size)


def _levels(figure: Figure, view: View, frame: Frame) -> None:
    """Draw the borders of the chosen levels."""
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
    """Write the rank of each atom in memory on both sides, if it fits."""
    a = view.anatomy
    if not a.atom_grid[0]:
        return
    order = ranks(a.atom_places())
    frame = replace(logical, rows=a.atom_grid[0], columns=a.atom_grid[1])
    labels = [list(map(str, line)) for line in order]
    wide, high = frame.step
    size = type_size(labels, wide, high, (15, 13, LEAST_TYPE))
    spots = [
        (
            frame.x + (j + 3 / 8) * wide,
            frame.y + (i + 0.5) * high,
            label,
        )  # borders of subtiles are at halves and quarters
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
    """Return the marks of the choice: subtile, atom, piece and element on the tile, the piece in memory.

    Args:
        view: the tile and the chosen element.
        grids: grids of elements, or of pieces in memory.
    """
    frames, a = list[Mark](), view.anatomy
    levels = [("subtile", view.derivation.mma), ("atom", a.atom_extents), ("piece", a.unit), ("cell", (1, 1))]
    for role, block in levels:
        if role != "atom" or a.atom_grid[0]:
            top, left = (index // extent * extent for index, extent in zip(view.cell, block, strict=True))
            frames += [Mark(role, *box) for grid in grids if not grid.cells for box in _clipped(grid, top, left, block)]
    piece = view.cell[0] // a.unit[0] * a.unit[0], view.cell[1] // a.unit[1] * a.unit[1]
    return frames + [
        Mark("piece", *grid.box(i, j))
        for grid in grids
        for i, line in enumerate(grid.cells or ())
        for j, element in enumerate(line)
        if element == piece
    ]


def _clipped(grid: Grid, top: int, left: int, block: Pair) -> list[tuple[float, float, float, float]]:
    """Return the part of a block of elements that is on a grid, as a box; none if it is outside."""
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
    label = f"r:c is the {contiguous[0]} and the index along {contiguous[1]} in units of {PIECE} bytes"
    return f"A cell is {PIECE} bytes; {label}. {_meaning(view)}."


def _sentence_of_tile(view: View) -> str:
    rows, columns = view.anatomy.atom_grid
    name = atom_name(view.derivation)
    atoms = f" {rows * columns} {name}s (blue) are numbered in their order in memory." if rows else ""
    cell = f"{PIECE} bytes, {times(view.anatomy.unit)} elements"
    return f"A cell is {cell}. {_meaning(view)}, the same on both sides.{atoms}"
