"""Any swizzle, of any layout of rows and columns, without an operand: tiles of units, and the lines where they lie.

A unit is what the swizzle leaves whole, 2**M of what it counts; a line has 2**S units, and 2**B lines and units are a
swizzle tile, so that a line has several where S is larger than B. A swizzle alone has a grid of such tiles, or of
packed blocks of units, row by row; a layout says itself where its elements lie.

Laws: the two sides have the same units, each once, where the layout does; where a unit lies is what the swizzle gives
of where it lay; no unit leaves its swizzle tile.

>>> plain = Swizzled(Swizzle(3, 4, 3), grid=(2, 2), at=(11, 5))
>>> plain.place, plain.bits()[2:]
((1, 0, 3, 5), ['before 0 1 0 1 1 1 0 1 0 0 0 0', 'after  0 1 0 1 1 1 1 0 0 0 0 0'])
>>> Swizzled(Swizzle(2, 4, 3), at=(5, 6)).place, Swizzled(Swizzle(2, 4, 3), grid=(1, 1)).extents
((1, 1, 1, 2), (4, 4))
>>> Swizzled(Swizzle(2, 3, 2), layout=Layout((8, 32), (32, 1))).line_units
4
"""

from __future__ import annotations

from itertools import product
from typing import Any

from descriptors.errors import ChoiceError, DescriptorError
from descriptors.show.pictures.anatomy import Pair
from descriptors.show.pictures.panels import Frame, border, ticks, times, type_size
from descriptors.show.stages.stage import LEAST_TYPE, Grid, Mark, Stage, stage
from layoutalg import Figure, Layout, Swizzle, coalesce, flatten, size
from layoutalg.frozen import frozen, replace

#: The most units of a picture, width and height of one, and what lies between the two sides.
MOST, WIDE, HIGH, GAP = 4096, 30, 20, 76
#: What a unit can be numbered with, and the width of one with such a name.
LABELS = {"column": WIDE, "CMmRn": 46}


@frozen
class Swizzled:
    """A swizzle over rows and columns of units.

    Args:
        swizzle: what is done to an offset.
        layout: (rows, columns) to an offset; a grid of tiles if left out.
        offset: what is added to offsets before the swizzle.
        block: rows and columns of what lies packed, as an atom does, in units; lines as they are if left out.
        grid: blocks or swizzle tiles down and across, of a swizzle without a layout; across 0 is what a line has of
            them, at least two.
        at: the chosen unit.
        label: what a unit is numbered with: one of ``LABELS``, its column in the block or line, or column m and row n,
            as the tables of core matrices have it.
        is_moved: whether memory is drawn as the swizzle leaves it, else as it is without.

    Raises:
        DescriptorError: if there are too many units, no such block, or no such unit.
        ChoiceError: for another label.
    """

    swizzle: Swizzle
    layout: Layout | None = None
    offset: int = 0
    block: Pair = (0, 0)
    grid: Pair = (2, 0)
    at: Pair = (0, 0)
    label: str = "column"
    is_moved: bool = True

    def __post_init__(self) -> None:
        if self.label not in LABELS:
            raise ChoiceError("explore: label", self.label, LABELS)
        rows, columns = self.extents
        if not 0 < rows * columns <= MOST or self.line_units > MOST or min(self.block) < 0:
            raise DescriptorError(f"explore: a picture must have 1 to {MOST} units, found {rows}x{columns}")
        if not all(0 <= one < extent for one, extent in zip(self.at, self.extents, strict=True)):
            raise DescriptorError(f"explore: at must be a unit of {rows}x{columns}, found {self.at[0]},{self.at[1]}")

    @property
    def unit(self) -> Pair:
        """Rows and columns of a unit, in elements; one element where the layout does not keep units together."""
        if self.layout is None:
            return 1, 1 << self.swizzle.base
        many = 1 << self.swizzle.base
        for axis in (1, 0):
            first, *rest = (one for mode in (axis, 1 - axis) for one in flatten(coalesce(self.layout[mode])))
            steps = [one(1) for one in rest if size(one) > 1]
            if first(1) == 1 and size(first) % many == 0 and not any(step % many for step in (self.offset, *steps)):
                return (1, many) if axis else (many, 1)
        return 1, 1

    @property
    def line_units(self) -> int:
        """Units of a line of memory: as many as a row of the swizzle's tiles has."""
        whole = 1 << self.swizzle.base + abs(self.swizzle.shift)
        return max(whole // max(self.unit), 1)

    @property
    def packed(self) -> Pair:
        """Rows and columns of what lies packed: the block, or 2**B lines."""
        return self.block[0] or 1 << self.swizzle.bits, self.block[1] or self.line_units

    @property
    def extents(self) -> Pair:
        """Rows and columns, in units."""
        if self.layout is not None:
            return size(self.layout[0]) // self.unit[0], size(self.layout[1]) // self.unit[1]
        side = 1 << self.swizzle.bits
        down, across = self.block[0] or side, self.block[1] or side
        return self.grid[0] * down, (self.grid[1] or max(2, self.packed[1] // across)) * across

    @property
    def place(self) -> tuple[int, int, int, int]:
        """Of the chosen unit: row and column of its swizzle tile, row and column in it."""
        return tile_place(self.swizzle, self.before(*self.at))

    def before(self, row: int, column: int) -> int:
        """Where a unit begins before the swizzle, in what the swizzle counts."""
        if self.layout is not None:
            found = self.layout(row * self.unit[0], column * self.unit[1])
            assert isinstance(found, int)
            return self.offset + found
        (rows, columns), down = self.packed, self.grid[0]
        number = column // columns * down + row // rows
        return (number * rows * columns + row % rows * columns + column % columns) << self.swizzle.base

    def after(self, row: int, column: int) -> int:
        """Where it begins after the swizzle."""
        return self.swizzle(self.before(row, column))

    def name(self, at: Pair | None) -> str:
        """What is written in a unit.

        >>> Swizzled(Swizzle(3, 4, 3), label="CMmRn").name((9, 3))
        'CM3R1'
        """
        if at is None:
            return ""
        along = 0 if self.unit[0] > 1 else 1
        m, n = (at[i] % self.packed[i] for i in (along, 1 - along))
        return str(m) if self.label == "column" else f"CM{m}R{n}"

    def bits(self) -> list[str]:
        """The chosen unit's address bits, the highest first: Y selects, Z is changed, b counts within a unit."""
        before, after = self.before(*self.at), self.after(*self.at)
        ends = [before, after, self.swizzle.source_mask, self.swizzle.target_mask]
        places = range(max(one.bit_length() for one in ends), -1, -1)
        kinds = [
            "Y" if self.swizzle.source_mask >> n & 1 else "Z" if self.swizzle.target_mask >> n & 1 else
            "b" if n < self.swizzle.base else "." for n in places
        ]  # fmt: skip
        rows = [("bit", [f"{n % 10}" for n in places]), ("is", kinds)]
        rows += [(name, [str(at >> n & 1) for n in places]) for name, at in (("before", before), ("after", after))]
        return [f"{name:<6} {' '.join(cells)}" for name, cells in rows]

    def facts(self) -> list[str]:
        """What is said of the chosen unit."""
        names = ("row_tile_idx", "col_tile_idx", "row in it", "column in it")
        low, mask = self.swizzle.base + max(self.swizzle.shift, 0), (1 << self.swizzle.bits) - 1
        step = f"<< {self.swizzle.base + max(-self.swizzle.shift, 0)}"
        before, after = self.before(*self.at), self.after(*self.at)
        return [
            f"unit ({self.at[0]},{self.at[1]}): " + ", ".join(map("{} {}".format, names, self.place)),
            f"{before:#x} ^ (({before:#x} >> {low} & {mask}) {step}) = {after:#x}: from {before} to {after}",
            *self.bits(),
        ]


def tile_place(swizzle: Swizzle, offset: int) -> tuple[int, int, int, int]:
    """Of an offset before a swizzle: row and column of its swizzle tile among all, row and column of its unit in it.

    >>> tile_place(Swizzle(2, 4, 3), 0x2EA), tile_place(Swizzle(2, 4, 3), 0x2FA)
    ((1, 1, 1, 2), (1, 1, 1, 3))
    """
    line, unit = divmod(offset >> swizzle.base, 1 << abs(swizzle.shift))
    (row, inside), (column, within) = divmod(line, 1 << swizzle.bits), divmod(unit, 1 << swizzle.bits)
    return row, column, inside, within


def swizzled(view: Swizzled) -> Stage:
    """The units as rows and columns, and the lines where their units lie.

    >>> both = swizzled(Swizzled(Swizzle(3, 4, 3), grid=(1, 1)))
    >>> [at[1] for at in both.grids[1].cells[3]]
    [3, 2, 1, 0, 7, 6, 5, 4]
    """
    (rows, columns), units, step, wide = view.extents, view.line_units, max(view.unit), LABELS[view.label]
    logical = Frame(0, 0, wide * columns, HIGH * rows, rows, columns)
    lies = view.after if view.is_moved else view.before
    unit_at = {lies(i, j) // step: (i, j) for i in range(rows) for j in range(columns)}
    first, last = min(unit_at) // units, max(unit_at) // units
    if (last - first + 1) * units > 2 * MOST:
        raise DescriptorError(f"explore: the units must lie within {2 * MOST // units} lines, found {last - first + 1}")
    there = tuple(tuple(unit_at.get(units * n + place) for place in range(units)) for n in range(first, last + 1))
    memory = Frame(logical.width + GAP, 0, wide * units, HIGH * len(there), len(there), units)
    figure = Figure()
    _panel(figure, view, logical, [[(i, j) for j in range(columns)] for i in range(rows)], "logical: rows")
    when = "" if view.is_moved else ", without the swizzle"
    _panel(figure, view, memory, there, f"memory: lines of {units}{when}")
    _borders(figure, view, logical, memory, first)
    ticks(figure, logical, [str(i) for i in range(rows)], [str(j) for j in range(columns)], LEAST_TYPE)
    ticks(
        figure,
        memory,
        [f"{(first + i) * units * step:#x}" for i in range(len(there))],
        list(map(str, range(units))),
        LEAST_TYPE,
    )
    grids = [Grid(*logical.box, rows, columns), Grid(*memory.box, memory.rows, memory.columns, cells=there)]
    marks = [Mark("cell", *grids[0].box(*view.at))]
    marks += [Mark("cell", *grids[1].box(i, j)) for i, line in enumerate(there) for j, at in enumerate(line)
              if at == view.at]  # fmt: skip
    side, what = 1 << view.swizzle.bits, "line" if view.block == (0, 0) else f"block of {times(view.packed)}"
    number = (
        f"colour and number: its column in a {what}" if view.label == "column" else "CMmRn: its column m, its row n"
    )
    said = f"A cell is a unit of {step}; {number}; blue frames: swizzle tiles of {times((side, side))} units."
    return stage(figure, f"{view.swizzle} over {times((rows, columns))} units", said, grids, marks, "")


def _borders(figure: Figure, view: Swizzled, logical: Frame, memory: Frame, first: int) -> None:
    """Frames of swizzle tiles in memory; on the logical side of the blocks, else of the tiles if they are blocks."""
    (rows, columns), side = view.extents, 1 << view.swizzle.bits
    across = (side << view.swizzle.base) // max(view.unit)
    (wide, high), starts = memory.step, range(1, memory.rows)
    figure.border(*memory.box, "atom", outer=False, line=1.6,
                  rows=[high * i for i in starts if (first + i) % side == 0],
                  columns=[wide * j for j in range(across, memory.columns, across)])  # fmt: skip
    down, over = (side, side) if view.block == (0, 0) else view.packed
    if rows % down or columns % over:
        return
    units = product(range(rows), range(columns))
    tiles = {(i // down, j // over, *replace(view, at=(i, j)).place[:2]) for i, j in units}
    if view.block != (0, 0) or len(tiles) == rows // down * (columns // over):
        border(figure, logical, "atom", rows // down, columns // over, outer=False)


def _panel(figure: Figure, view: Swizzled, frame: Frame, there: Any, name: str) -> None:
    """One side: each unit in the colour of its column in the tile."""
    along = 0 if view.unit[0] > 1 else 1
    columns = [[None if at is None else at[along] % view.packed[along] for at in line] for line in there]
    labels = [[view.name(at) for at in line] for line in there]
    figure.text(frame.x, frame.y - 25, name, "ink", 13, bold=True)
    roles = [[None if one is None else Figure.kind(one) for one in line] for line in columns]
    figure.table(frame.x, frame.y, *frame.step, roles, labels, size=type_size(labels, *frame.step) or 10)
    figure.border(*frame.box, "tile", line=1.4)
