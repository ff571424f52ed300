"""Draw one atom with the offset of each element in the tile, counted in elements.

For a tile that does not consist of whole atoms, the picture shows a chunk of a subtile.

Invariant: the number in a cell is the offset of that element in the tile, in elements, after the swizzle, or before it
in a view that is not swizzled.

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

#: Width of one digit, height of a cell, numbers of elements along a part, and the gap between two parts.
DIGIT, HIGH, PARTS, GAP = 6.8, 17, (16, 8), 34
#: The space that a window leaves for a picture.
ROOM = 800, 480


def atom(view: View) -> Stage:
    """Draw the atom of the chosen element, or its chunk if the tile does not consist of whole atoms."""
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
            first = origin[0] + i, origin[1] + j
            inside = [row[j : j + part[1]] for row in offsets[i : i + part[0]]]
            grids.append(_panel(figure, view, inside, Frame(x, y, wide * part[1], HIGH * part[0], *part), first))
    name = atom_name(d) if a.atom_grid[0] else "chunk"
    parts_ = f", in {len(grids)} parts" if len(grids) > 1 else ""
    when = "after" if view.swizzled else "before"
    sentence = (
        f"One {name} of {times(block)} elements{parts_}, from element ({origin[0]},{origin[1]}) on; a number: the "
        f"offset of an element {when} the swizzle, in elements; thin frames: 16 bytes{_coloured(view)}."
    )
    text = "\n".join(table(offsets, left=[str(origin[0] + i) for i in range(block[0])]))
    return stage(figure, f"One {name}", sentence, grids, _marks(view, grids), text)


def _coloured(view: View) -> str:
    """Return the meaning of the color; "" if it has none."""
    line = view.line_bytes if view.colour == "bank" else 8 * PIECE
    meanings = {"column": "the logical column of 16 bytes", "wrong": ""}
    meaning = meanings.get(visible_colour(view), f"their position in a line of {line} bytes")
    return f"; color: {meaning}" if meaning else ""


def _arrangement(block: tuple[int, int], wide: float) -> tuple[tuple[int, int], int]:
    """Return rows and columns of a part, and the number of parts in a row, such that the numbers are largest.

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


def _panel(figure: Figure, view: View, offsets: list[list[int]], frame: Frame, first: tuple[int, int]) -> Grid:
    bits = view.derivation.element.storage_bits
    roles: list[list[str | None]] = [
        [Figure.kind(_kind(view, (first[0] + i, first[1] + j), offset * bits // 8)) for j, offset in enumerate(row)]
        for i, row in enumerate(offsets)
    ]
    wide, _ = frame.step
    figure.table(frame.x, frame.y, wide, HIGH, roles, [list(map(str, row)) for row in offsets], size=LEAST_TYPE)
    u, v = view.anatomy.unit
    downs = [HIGH * i for i in range(u, frame.rows, u)] if u > 1 else []
    acrosses = [wide * j for j in range(v, frame.columns, v)] if v > 1 else []
    figure.border(*frame.box, "chunk", rows=downs, columns=acrosses, line=1)
    figure.border(*frame.box, "atom", line=2.4)
    _axes(figure, frame, first)
    return Grid(*frame.box, frame.rows, frame.columns, origin=first)


def _marks(view: View, grids: list[Grid]) -> list[Mark]:
    """Return the frames of the chosen element and of its 16 bytes, in the part that contains them."""
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


def _kind(view: View, element: tuple[int, int], address: int) -> int:
    """Return the number that selects the color of an element: its column, or its position in a line."""
    u, v = view.anatomy.unit
    if view.colour == "column":
        return element[1] // v if v > u else element[0] // u
    if visible_colour(view) == "wrong":
        return 0
    return bank_group(address, view.line_bytes) if view.colour == "bank" else bank_group(address)


def _axes(figure: Figure, frame: Frame, origin: tuple[int, int]) -> None:
    """Write the element index of each row and column."""
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
