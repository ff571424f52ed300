"""One swizzle atom, element by element: the one in which the chosen element lies.

Law: the number in a cell is the offset of that element in the tile, in elements, after the swizzle.

>>> from descriptors import derive
>>> d = derive((128, 128), "bf16", "K", "128B", (64, 16))
>>> made = atom(View(d, cell=(11, 21)))
>>> made.grids[0].origin, f">{d.smem_tile(11, 21)}<" in made.record()["svg"]
((8, 0), True)
"""

from __future__ import annotations

from descriptors.operands.swizzled import parts
from descriptors.pictures.parts.panels import Frame, atom_name, every, times
from descriptors.pictures.parts.tables import table
from descriptors.stages.drawn import Drawn, Grid, Mark, drawn
from descriptors.stages.view import PIECE, View
from layoutalg import Figure

#: Width of an element's cell by the digits of its number, its height, and the most elements that have numbers.
DIGIT, HIGH, MOST = 6.2, 17, 2048


def atom(view: View) -> Drawn:
    """The atom of a view's element; of a tile without whole atoms its subtile's chunk."""
    a, d = view.anatomy, view.derivation
    block = a.atom_extents if a.atom_grid[0] else a.chunk_extents
    origin = view.cell[0] // block[0] * block[0], view.cell[1] // block[1] * block[1]
    offsets = _offsets(view, origin, block)
    bits = d.element.storage_bits
    units = view.line_bytes // PIECE
    kinds = [
        [_kind(view, (origin[0] + i, origin[1] + j), one * bits // 8, units) for j, one in enumerate(row)]
        for i, row in enumerate(offsets)
    ]
    figure, digits = Figure(), len(str(max(map(max, offsets))))
    wide = DIGIT * digits + 6
    frame = Frame(0, 0, wide * block[1], HIGH * block[0], *block)
    figure.cells(0, 0, wide, HIGH, [[Figure.kind(one) for one in row] for row in kinds])
    labels = [[str(one) for one in row] for row in offsets] if block[0] * block[1] <= MOST else ()
    figure.table(0, 0, wide, HIGH, [[None] * block[1]] * block[0], labels, size=9.5)
    per = d.element.per_16_bytes
    down, across = a.unit if max(a.unit) == per else (1, per)
    figure.border(*frame.box, "chunk", rows=[HIGH * i for i in range(down, block[0], down) if down > 1],
                  columns=[wide * j for j in range(across, block[1], across) if across > 1], line=1)  # fmt: skip
    figure.border(*frame.box, "atom", line=2.4)
    _axes(figure, frame, origin)
    grid = Grid(*frame.box, *block, origin=origin)
    row, column = view.cell[0] - origin[0], view.cell[1] - origin[1]
    u, v = a.unit
    piece = grid.box(row // u * u, column // v * v, u, v)
    marks = [Mark("piece", *piece), Mark("cell", *grid.box(row, column))]
    name = atom_name(d) if a.atom_grid[0] else "chunk"
    said = (
        f"One {name} of {times(block)} elements, from element ({origin[0]},{origin[1]}) on; a number: the offset of an "
        f"element {'after' if view.swizzled else 'before'} the swizzle, in elements; thin frames: 16 bytes."
    )
    text = "\n".join(table(offsets, left=[str(origin[0] + i) for i in range(block[0])]))
    return drawn(figure, f"One {name}", said, [grid], marks, text)


def _offsets(view: View, origin: tuple[int, int], block: tuple[int, int]) -> list[list[int]]:
    rows, swizzle, offset = parts(view.derivation.smem_tile)
    found = []
    for i in range(block[0]):
        line = []
        for j in range(block[1]):
            place = rows((origin[0] + i, origin[1] + j, *view.anatomy.stage_coordinate))
            assert isinstance(place, int)
            place += offset
            line.append(swizzle(place) if swizzle and view.swizzled else place)
        found.append(line)
    return found


def _kind(view: View, at: tuple[int, int], address: int, units: int) -> int:
    """What colours an element of an atom: its column where that is asked for, else where in a line it lies."""
    u, v = view.anatomy.unit
    if view.colour == "column":
        return at[1] // v if v > u else at[0] // u
    if view.colour == "wrong":
        return 0
    return address // PIECE % units if view.colour == "bank" else address // PIECE % 8


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
