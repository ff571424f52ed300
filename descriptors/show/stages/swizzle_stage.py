"""Draw any swizzle of any layout of rows and columns: the logical units, and the lines of memory that contain them.

A unit is 2**M consecutive offsets, which the swizzle keeps together. A line has 2**S units. A swizzle tile has 2**B
lines of 2**B units, so a line has several tiles if S is larger than B. Without a layout, the picture shows a grid of
swizzle tiles, or of packed blocks of units, row by row.

Invariants: both sides have the same units, each once if the layout has them once. The position of a unit in memory is
the swizzle of its offset. A unit stays in its swizzle tile.

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

#: The largest number of units, width and height of a unit, and the gap between the two sides.
MOST, WIDE, HIGH, GAP = 4096, 30, 20, 76
#: The kinds of labels of a unit, with the width that each needs.
LABELS = {"column": WIDE, "CMmRn": 46}


@frozen
class Swizzled:
    """A swizzle over rows and columns of units.

    Args:
        swizzle: the swizzle.
        layout: layout from (rows, columns) to an offset; a grid of tiles if left out.
        offset: offset that is added before the swizzle.
        block: rows and columns, in units, of a packed block, such as an atom; whole lines if left out.
        grid: number of blocks or swizzle tiles, down and across, of a swizzle without a layout; 0 across is the number
            in a line, at least two.
        at: the chosen unit.
        label: one of ``LABELS``: the column of a unit in its block or line, or column m and row n, as in tables of
            core matrices.
        is_moved: whether memory is drawn after the swizzle.

    Raises:
        DescriptorError: if the number of units is not supported, or there is no such unit.
        ChoiceError: for an unknown label.
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
            raise DescriptorError(
                f"explore: {rows}x{columns} units in lines of {self.line_units} cannot be drawn; supported: 1 to "
                f"{MOST} units in lines of at most {MOST}"
            )
        if not all(0 <= index < extent for index, extent in zip(self.at, self.extents, strict=True)):
            raise DescriptorError(
                f"explore: at is {self.at[0]},{self.at[1]}, but the picture has {rows}x{columns} units"
            )

    @property
    def unit(self) -> Pair:
        """Rows and columns of a unit, in elements; one element if the layout does not keep units together."""
        if self.layout is None:
            return 1, 1 << self.swizzle.base
        many = 1 << self.swizzle.base
        for axis in (1, 0):
            first, *rest = (mode for i in (axis, 1 - axis) for mode in flatten(coalesce(self.layout[i])))
            steps = [mode(1) for mode in rest if size(mode) > 1]
            if first(1) == 1 and size(first) % many == 0 and not any(step % many for step in (self.offset, *steps)):
                return (1, many) if axis else (many, 1)
        return 1, 1

    @property
    def line_units(self) -> int:
        """Units of a line of memory, which is as wide as a row of swizzle tiles."""
        whole = 1 << self.swizzle.base + abs(self.swizzle.shift)
        return max(whole // max(self.unit), 1)

    @property
    def packed(self) -> Pair:
        """Rows and columns of a packed block, which is 2**B lines if no block is given."""
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
        """Row and column of the chosen unit's swizzle tile, and row and column in the tile."""
        return tile_place(self.swizzle, self.before(*self.at))

    def before(self, row: int, column: int) -> int:
        """Return the first offset of a unit before the swizzle."""
        if self.layout is not None:
            layout_offset = self.layout(row * self.unit[0], column * self.unit[1])
            assert isinstance(layout_offset, int)
            return self.offset + layout_offset
        (rows, columns), down = self.packed, self.grid[0]
        number = column // columns * down + row // rows
        return (number * rows * columns + row % rows * columns + column % columns) << self.swizzle.base

    def after(self, row: int, column: int) -> int:
        """Return the first offset of a unit after the swizzle."""
        return self.swizzle(self.before(row, column))

    def name(self, unit: Pair | None) -> str:
        """Return the label of a unit.

        >>> Swizzled(Swizzle(3, 4, 3), label="CMmRn").name((9, 3))
        'CM3R1'
        """
        if unit is None:
            return ""
        along = 0 if self.unit[0] > 1 else 1
        m, n = (unit[i] % self.packed[i] for i in (along, 1 - along))
        return str(m) if self.label == "column" else f"CM{m}R{n}"

    def bits(self) -> list[str]:
        """Return lines with the address bits of the chosen unit, the highest first.

        Y selects, Z is changed, b counts within a unit.
        """
        before, after = self.before(*self.at), self.after(*self.at)
        ends = [before, after, self.swizzle.source_mask, self.swizzle.target_mask]
        places = range(max(offset.bit_length() for offset in ends), -1, -1)
        kinds = [
            "Y" if self.swizzle.source_mask >> n & 1 else "Z" if self.swizzle.target_mask >> n & 1 else
            "b" if n < self.swizzle.base else "." for n in places
        ]  # fmt: skip
        rows = [("bit", [f"{n % 10}" for n in places]), ("is", kinds)]
        rows += [(name, [str(offset >> n & 1) for n in places])
                 for name, offset in (("before", before), ("after", after))]  # fmt: skip
        return [f"{name:<6} {' '.join(cells)}" for name, cells in rows]

    def facts(self) -> list[str]:
        """Return lines about the chosen unit."""
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
    """Return row and column of the swizzle tile of an offset, and row and column of its unit in the tile.

    Args:
        swizzle: the swizzle.
        offset: an offset before the swizzle.

    >>> tile_place(Swizzle(2, 4, 3), 0x2EA), tile_place(Swizzle(2, 4, 3), 0x2FA)
    ((1, 1, 1, 2), (1, 1, 1, 3))
    """
    line, unit = divmod(offset >> swizzle.base, 1 << abs(swizzle.shift))
    (row, inside), (column, within) = divmod(line, 1 << swizzle.bits), divmod(unit, 1 << swizzle.bits)
    return row, column, inside, within


def swizzled(view: Swizzled) -> Stage:
    """Draw the units as rows and columns, and the lines of memory that contain them.

    >>> both = swizzled(Swizzled(Swizzle(3, 4, 3), grid=(1, 1)))
    >>> [unit[1] for unit in both.grids[1].cells[3]]
    [3, 2, 1, 0, 7, 6, 5, 4]
    """
    (rows, columns), units, step, wide = view.extents, view.line_units, max(view.unit), LABELS[view.label]
    logical = Frame(0, 0, wide * columns, HIGH * rows, rows, columns)
    offset_of = view.after if view.is_moved else view.before
    unit_at = {offset_of(i, j) // step: (i, j) for i in range(rows) for j in range(columns)}
    first, last = min(unit_at) // units, max(unit_at) // units
    if (last - first + 1) * units > 2 * MOST:
        raise DescriptorError(
            f"explore: the units are spread over {last - first + 1} lines, but at most {2 * MOST // units} are drawn"
        )
    memory_units = tuple(
        tuple(unit_at.get(units * n + place) for place in range(units)) for n in range(first, last + 1)
    )
    memory = Frame(logical.width + GAP, 0, wide * units, HIGH * len(memory_units), len(memory_units), units)
    figure = Figure()
    _panel(figure, view, logical, [[(i, j) for j in range(columns)] for i in range(rows)], "logical: rows")
    when = "" if view.is_moved else ", without the swizzle"
    _panel(figure, view, memory, memory_units, f"memory: lines of {units}{when}")
    _borders(figure, view, logical, memory, first)
    ticks(figure, logical, [str(i) for i in range(rows)], [str(j) for j in range(columns)], LEAST_TYPE)
    ticks(
        figure,
        memory,
        [f"{(first + i) * units * step:#x}" for i in range(len(memory_units))],
        list(map(str, range(units))),
        LEAST_TYPE,
    )
    grids = [Grid(*logical.box, rows, columns), Grid(*memory.box, memory.rows, memory.columns, cells=memory_units)]
    marks = [Mark("cell", *grids[0].box(*view.at))]
    marks += [Mark("cell", *grids[1].box(i, j)) for i, line in enumerate(memory_units) for j, unit in enumerate(line)
              if unit == view.at]  # fmt: skip
    side, part = 1 << view.swizzle.bits, "line" if view.block == (0, 0) else f"block of {times(view.packed)}"
    number = f"color and number: its column in a {part}" if view.label == "column" else "CMmRn: its column m, its row n"
    sentence = f"A cell is a unit of {step}; {number}; blue frames: swizzle tiles of {times((side, side))} units."
    return stage(figure, f"{view.swizzle} over {times((rows, columns))} units", sentence, grids, marks, "")


def _borders(figure: Figure, view: Swizzled, logical: Frame, memory: Frame, first: int) -> None:
    """Draw the frames of swizzle tiles in memory, and on the logical side those of the blocks.

    Without blocks, the logical side has the frames of the swizzle tiles if these are blocks of rows and columns.
    """
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


def _panel(figure: Figure, view: Swizzled, frame: Frame, units: Any, name: str) -> None:
    """Draw one side: each unit in the color of its column in the packed block."""
    along = 0 if view.unit[0] > 1 else 1
    columns = [[None if unit is None else unit[along] % view.packed[along] for unit in line] for line in units]
    labels = [[view.name(unit) for unit in line] for line in units]
    figure.text(frame.x, frame.y - 25, name, "ink", 13, bold=True)
    roles = [[None if column is None else Figure.kind(column) for column in line] for line in columns]
    figure.table(frame.x, frame.y, *frame.step, roles, labels, size=type_size(labels, *frame.step) or 10)
    figure.border(*frame.box, "tile", line=1.4)
