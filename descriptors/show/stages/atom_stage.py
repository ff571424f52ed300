"""One atom, element by element: where each lies in the tile, counted in elements.

A tile without whole atoms shows the chunk of a subtile. Law: the number in a cell is the offset of that element in the
tile, in elements, after the swizzle, or before it in a view without one.

>>> from descriptors import derive
>>> d = derive((128, 128), "bf16", "K", "128B", (64, 16))
>>> part = atom(View(d, cell=(11, 21)))
>>> part.grids[0].origin, f">{d.smem_tile(11, 21)}<" in part.record()["svg"]
((8, 0), True)
"""

from __future__ import annotations

from itertools import product

from descriptors.show.pictures.panels import Frame, atom_name, every, table, times
from descriptors.show.stages.stage import LEAST_TYPE, Grid, Mark, Stage, stage
from descriptors.show.stages.view import PIECE, View, visible_colour
from descriptors.smem.operands.swizzled import parts
from layoutalg import Figure, bank_group

#: Width of an element's cell by the digits of its number, its height, elements of a part, and what is between two.
DIGIT, HIGH, PARTS, GAP = 6.8, 17, (16, 8), 34
#: The room that a window leaves for a picture.
ROOM = 800, 480


def atom(view: View) -> Stage:
    """The atom of a view's element; of a tile without whole atoms its subtile's chunk."""
    a, d = view.anatomy, view.derivation
    block = a.atom_extents if a.atom_grid[0] else a.chunk_extents
    origin = view.cell[0] // block[0] * block[0], view.cell[1] // block[1] * block[1]
    offsets = _offsets(view, origin, block)
    figure, grids = Figure(), list[Grid]()
    wide = DIGIT * len(str(max(map(max, offsets)))) + 6
    share, in_a_row = _arrangement(block, wide)
    for i in range(0, block[0], share[0]):
        for j in range(0, block[1], share[1]):
            part = min(share[0], block[0] - i), min(share[1], block[1] - j)
            below, beside = divmod(len(grids), in_a_row)
            x, y = beside * (part[1] * wide + GAP), below * (part[0] * HIGH + GAP)
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
    what = meanings.get(visible_colour(view), f"where in a line of {line} bytes they lie")
    return f"; colour: {what}" if what else ""


def _arrangement(block: tuple[int, int], wide: float) -> tuple[tuple[int, int], int]:
    """Rows and columns of a part, and how many parts stand beside one another, so that numbers are largest.

    >>> _arrangement((8, 64), 33), _arrangement((64, 8), 33)
    (((8, 8), 3), ((16, 8), 2))
    """

    def scale(choice: tuple[tuple[int, int], int]) -> float:
        (rows, columns), beside = choice
        count = -(-block[0] // rows) * -(-block[1] // columns)
        across, down = min(beside, count) * (columns * wide + GAP), -(-count // beside) * (rows * HIGH + GAP)
        return min(ROOM[0] / across, ROOM[1] / down, 1.2)

    shares = [(min(PARTS[0], block[0]), min(columns, block[1])) for columns in PARTS]
    return max(product(shares, range(1, 5)), key=scale)


def _panel(figure: Figure, view: View, offsets: list[list[int]], frame: Frame, at: tuple[int, int]) -> Grid:
    bits = view.derivation.element.storage_bits
    roles: list[list[str | None]] = [
        [Figure.kind(_kind(view, (at[0] + i, at[1] + j), one * bits // 8)) for j, one in enumerate(row)]
        for i, row in enumerate(offsets)
    ]
    wide, _ = frame.step
    figure.table(frame.x, frame.y, wide, HIGH, roles, [[str(one) for one in row] for row in offsets], size=LEAST_TYPE)
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
    if visible_colour(view) == "wrong":
        return 0
    return bank_group(address, view.line_bytes) if view.colour == "bank" else bank_group(address)


def _axes(figure: Figure, frame: Frame, origin: tuple[int, int]) -> None:
    """Which element each row and column is."""
    wide, high = frame.step
    skip = every(frame.columns, wide, 30)
    figure.texts(
        [(frame.x + (j + 0.5) * wide, frame.y - 6, str(origin[1] + j)) for j in range(0, frame.columns, skip)],
        "muted", LEAST_TYPE, "middle", mono=True,
    )  # fmt: skip
    skip = every(frame.rows, high, 13)
    figure.texts(
        [(frame.x - 7, frame.y + (i + 0.5) * high + 4, str(origin[0] + i)) for i in range(0, frame.rows, skip)],
        "muted", LEAST_TYPE, "end", mono=True,
    )  # fmt: skip
