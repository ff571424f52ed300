"""The tile and one atom of it: every 16 bytes in the colour asked for, and the chosen atom element by element.

The tile has the borders of its levels and what is chosen; the swizzle atom is the one in which the chosen element lies.
Laws: a place of the picture stands for the element whose cell it lies in; the number in a cell of the atom is the
offset of that element in the tile, in elements, after the swizzle.

>>> from descriptors import derive
>>> d = derive((128, 128), "bf16", "K", "128B", (64, 16))
>>> whole = tile(View(d, cell=(70, 21)))
>>> grid, mark = whole.grids[0], whole.marks[-1]
>>> mark.role, int((mark.y - grid.y) / grid.height * 128), int((mark.x - grid.x) / grid.width * 128 + 0.5)
('cell', 70, 21)
>>> part = atom(View(d, cell=(11, 21)))
>>> part.grids[0].origin, f">{d.smem_tile(11, 21)}<" in part.record()["svg"]
((8, 0), True)
"""

from __future__ import annotations

from functools import lru_cache

from descriptors.show.pictures.anatomy import Anatomy
from descriptors.show.pictures.panels import Frame, atom_name, border, every, table, ticks, times, type_size
from descriptors.show.stages.stage import Grid, Mark, Stage, stage
from descriptors.show.stages.view import PIECE, Numbers, View, kinds, places, roles
from descriptors.smem.operands.operand import SwizzleMode
from descriptors.smem.operands.swizzled import parts
from descriptors.text import counted
from layoutalg import Figure, bank_group
from layoutalg.frozen import replace

#: Pixels that a tile fills, and the most of its height.
ACROSS, DOWN = 760, 680
#: The most numbers that are written in cells.
MOST_NUMBERS = 1200

_TITLES = {
    "order": "in the order of memory",
    "bank": "by banks",
    "column": "by logical columns",
    "atom": "atom by atom",
    "subtile": "subtile by subtile",
    "chunk": "chunk by chunk",
    "wrong": "what a changed word reads from elsewhere",
}
_SAID = {
    "order": "shade: the order of memory; ",
    "bank": "colour and number: which {unit} of a line of {line} bytes it lies in; ",
    "column": "colour: the logical column of 16 bytes; ",
    "atom": "colour: the atom; ",
    "subtile": "shade: the order in which subtiles start; ",
    "chunk": "colour: the chunk of a subtile; ",
    "wrong": "filled red: some of its elements would be read from elsewhere; ",
}


def tile(view: View) -> Stage:
    """The tile of a view. What does not depend on the chosen element is drawn once."""
    i, j = view.subtile if view.colour == "wrong" else (0, 0)
    plain = _tile(replace(view, cell=(i * view.derivation.mma[0], j * view.derivation.mma[1])))
    return replace(plain, marks=tuple(marks(view, plain.grids[0])))


@lru_cache(maxsize=16)
def _tile(view: View) -> Stage:
    a, figure, numbers = view.anatomy, Figure(), kinds(view)
    frame = _frame(a, len(numbers), len(numbers[0]))
    figure.cells(frame.x, frame.y, *frame.step, roles(view, numbers))
    if "chunk" in view.levels:
        (rows, columns), (mn, k) = a.chunk_extents, a.extents
        border(figure, frame, "chunk", mn // rows, k // columns, outer=False)
    if "atom" in view.levels and a.atom_grid[0]:
        border(figure, frame, "atom", *a.atom_grid, outer=False)
    if "subtile" in view.levels:
        border(figure, frame, "subtile", *a.subtile_grid, outer=False)
    if "tile" in view.levels:
        border(figure, frame, "tile")
    _labels(figure, view, frame, numbers)  # above the lines
    u, v = a.unit
    left, top = [str(i * u) for i in range(len(numbers))], [str(j * v) for j in range(len(numbers[0]))]
    ticks(figure, frame, left, top)
    mn, k = a.extents
    grid = Grid(*frame.box, mn, k)
    title = f"{times(a.extents)} {view.derivation.element}, {_TITLES[view.colour]}"
    text = "\n".join(table(numbers, left=left, top=top))
    return stage(figure, title, _sentence(view), [grid], [], text)


def marks(view: View, grid: Grid) -> list[Mark]:
    """What is chosen: the subtile, the atom and the cell of an element, as frames on a grid of elements."""
    (i, k), a = view.cell, view.anatomy
    frames = []
    for role, (high, wide), is_there in (
        ("subtile", view.derivation.mma, True),
        ("atom", a.atom_extents, bool(a.atom_grid[0])),
        ("piece", a.unit, True),
        ("cell", (1, 1), True),
    ):
        if is_there:
            frames.append(Mark(role, *grid.box(i // high * high, k // wide * wide, high, wide)))
    return frames


def _frame(a: Anatomy, rows: int, columns: int) -> Frame:
    """The panel of a tile: in its proportions where these can be read."""
    mn, k = a.extents
    high = min(DOWN, max(140, ACROSS * mn / k))
    wide = min(ACROSS, max(260, high * k / mn))
    return Frame(0, 0, max(round(wide), 2 * columns), max(round(high), 2 * rows), rows, columns)


def _labels(figure: Figure, view: View, frame: Frame, numbers: Numbers) -> None:
    """The address of each piece, or the number of its bank group, where there is room."""
    if frame.rows * frame.columns > MOST_NUMBERS:
        return
    numbers_written = numbers if view.colour in ("bank", "column") else places(view)
    labels = [[str(one) for one in row] for row in numbers_written]
    wide, high = frame.step
    if size := type_size(labels, wide, high):
        figure.texts(
            (
                (frame.x + (j + 0.5) * wide, frame.y + (i + 0.5) * high + 0.36 * size, label)
                for i, row in enumerate(labels)
                for j, label in enumerate(row)
            ),
            "ink", size, "middle", mono=True,
        )  # fmt: skip


def _sentence(view: View) -> str:
    a, d = view.anatomy, view.derivation
    said = _SAID[view.colour].format(line=view.line_bytes, unit=f"piece of {PIECE} bytes")
    levels = (
        f"blue lines: {atom_name(d)}, {times(a.atom_extents)}; red lines: what one instruction reads, {times(d.mma)}"
    )
    pieces = f"A cell is {PIECE} bytes, {times(a.unit)} elements; "
    swizzle = "" if d.swizzle is SwizzleMode.NONE or view.swizzled else "; drawn without the swizzle"
    rows, columns = a.atom_grid
    count = f"; {counted(rows * columns, atom_name(d))}" if rows else ""
    return f"{pieces}{said}{levels}{count}{swizzle}."


#: Width of an element's cell by the digits of its number, its height, elements of a part, and what is between two.
DIGIT, HIGH, PART, GAP = 6.2, 17, 16, 34


def atom(view: View) -> Stage:
    """The atom of a view's element; of a tile without whole atoms its subtile's chunk."""
    a, d = view.anatomy, view.derivation
    block = a.atom_extents if a.atom_grid[0] else a.chunk_extents
    origin = view.cell[0] // block[0] * block[0], view.cell[1] // block[1] * block[1]
    offsets = _offsets(view, origin, block)
    figure, grids = Figure(), list[Grid]()
    wide = DIGIT * len(str(max(map(max, offsets)))) + 6
    for i in range(0, block[0], _share(block[0])):
        for j in range(0, block[1], _share(block[1])):
            part = min(_share(block[0]), block[0] - i), min(_share(block[1]), block[1] - j)
            # Parts of one line of elements stand below one another, those of one column beside one another.
            x = i // _share(block[0]) * (part[1] * wide + GAP)
            y = j // _share(block[1]) * (part[0] * HIGH + GAP)
            at = origin[0] + i, origin[1] + j
            inside = [row[j : j + part[1]] for row in offsets[i : i + part[0]]]
            grids.append(_panel(figure, view, inside, Frame(x, y, wide * part[1], HIGH * part[0], *part), at))
    name = atom_name(d) if a.atom_grid[0] else "chunk"
    parts_ = f", in {len(grids)} parts" if len(grids) > 1 else ""
    when = "after" if view.swizzled else "before"
    said = (
        f"One {name} of {times(block)} elements{parts_}, from element ({origin[0]},{origin[1]}) on; a number: the "
        f"offset of an element {when} the swizzle, in elements; thin frames: 16 bytes{_coloured(view)}."
    )
    text = "\n".join(table(offsets, left=[str(origin[0] + i) for i in range(block[0])]))
    return stage(figure, f"One {name}", said, grids, _marks(view, grids), text)


def _coloured(view: View) -> str:
    """What the colour says, where it says something."""
    line = view.line_bytes if view.colour == "bank" else 8 * PIECE
    meanings = {"column": "the logical column of 16 bytes", "wrong": ""}
    what = meanings.get(view.colour, f"where in a line of {line} bytes they lie")
    return f"; colour: {what}" if what else ""


def _share(extent: int) -> int:
    """Elements of a part, so that numbers can be read."""
    return extent if extent <= PART else PART


def _panel(figure: Figure, view: View, offsets: list[list[int]], frame: Frame, at: tuple[int, int]) -> Grid:
    bits = view.derivation.element.storage_bits
    roles: list[list[str | None]] = [
        [Figure.kind(_kind(view, (at[0] + i, at[1] + j), one * bits // 8)) for j, one in enumerate(row)]
        for i, row in enumerate(offsets)
    ]
    wide, _ = frame.step
    figure.table(frame.x, frame.y, wide, HIGH, roles, [[str(one) for one in row] for row in offsets], size=9.5)
    u, v = view.anatomy.unit
    downs = [HIGH * i for i in range(u, frame.rows, u)] if u > 1 else []
    acrosses = [wide * j for j in range(v, frame.columns, v)] if v > 1 else []
    figure.border(*frame.box, "chunk", rows=downs, columns=acrosses, line=1)
    figure.border(*frame.box, "atom", line=2.4)
    _axes(figure, frame, at)
    return Grid(*frame.box, frame.rows, frame.columns, origin=at)


def _marks(view: View, grids: list[Grid]) -> list[Mark]:
    """The chosen element and its 16 bytes, in the part that has it."""
    (i, k), (u, v) = view.cell, view.anatomy.unit
    for grid in grids:
        row, column = i - grid.origin[0], k - grid.origin[1]
        if 0 <= row < grid.rows and 0 <= column < grid.columns:
            high, wide = min(u, grid.rows), min(v, grid.columns)
            piece = grid.box(row // high * high, column // wide * wide, high, wide)
            return [Mark("piece", *piece), Mark("cell", *grid.box(row, column))]
    return []


def _offsets(view: View, origin: tuple[int, int], block: tuple[int, int]) -> list[list[int]]:
    rows, swizzle, offset = parts(view.derivation.smem_tile)
    offsets = []
    for i in range(block[0]):
        line = []
        for j in range(block[1]):
            place = rows((origin[0] + i, origin[1] + j, *view.anatomy.stage_coordinate))
            assert isinstance(place, int)
            place += offset
            line.append(swizzle(place) if swizzle and view.swizzled else place)
        offsets.append(line)
    return offsets


def _kind(view: View, at: tuple[int, int], address: int) -> int:
    """What colours an element of an atom: its column where that is asked for, else where in a line it lies."""
    u, v = view.anatomy.unit
    if view.colour == "column":
        return at[1] // v if v > u else at[0] // u
    if view.colour == "wrong":
        return 0
    return bank_group(address, view.line_bytes) if view.colour == "bank" else bank_group(address)


def _axes(figure: Figure, frame: Frame, origin: tuple[int, int]) -> None:
    """Which element each row and column is."""
    wide, high = frame.step
    skip = every(frame.columns, wide, 30)
    figure.texts(
        [(frame.x + (j + 0.5) * wide, frame.y - 6, str(origin[1] + j)) for j in range(0, frame.columns, skip)],
        "muted", 10.5, "middle", mono=True,
    )  # fmt: skip
    skip = every(frame.rows, high, 13)
    figure.texts(
        [(frame.x - 7, frame.y + (i + 0.5) * high + 4, str(origin[0] + i)) for i in range(0, frame.rows, skip)],
        "muted", 10.5, "end", mono=True,
    )  # fmt: skip
