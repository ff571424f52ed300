"""Draw a plan of ``mma.sync``: the first lines of A and B in shared memory, and the warp that computes each part of C.

A cell of an operand is 16 bytes, with eight cells in a line of all banks. It shows the row along M or N and the first
k of the element that is stored there. Colors are the matrices of the first load of the first warp. A matrix has no
bank conflicts if its eight rows are in eight columns.

>>> from descriptors.gemm.mma_planner import mma_plan
>>> numbers = MmaPicture(mma_plan("mma.m16n8k16", "bf16", tile=(32, 32, 64), stages=2)).record()
>>> [chunk[0] for chunk in numbers["memory"]["A"][1]], numbers["warps"][0]
(['1,8', '1,0', '1,24', '1,16', '1,40', '1,32', '1,56', '1,48'], [0, 2])
"""

from __future__ import annotations

from typing import Any

from descriptors.gemm.mma_operand import COPY_BYTES, LINE_BYTES, MmaOperand
from descriptors.gemm.mma_plan import MmaPlan
from descriptors.show.pictures.panels import spaced, story
from descriptors.text import counted, extents_text
from layoutalg import Figure, Picture, Scene, offsets
from layoutalg.frozen import frozen

#: Lines of shared memory that are drawn, and the largest number of blocks of C along an extent.
LINES, MOST_BLOCKS = 16, 16
_GUTTER = 60
_CELL = ((Figure.ROOM - _GUTTER) / 2 - 60) / 8
_BESIDE = LINE_BYTES // COPY_BYTES

#: The first element of a 16-byte cell, and the matrix of the first load that has a row there; -1 for none.
Chunk = tuple[str, int]


@frozen
class MmaPicture(Picture):
    """The picture of a main loop of ``mma.sync``.

    Args:
        plan: the plan.
    """

    plan: MmaPlan

    def record(self) -> dict[str, Any]:
        """Return the numbers that are drawn."""
        plan = self.plan
        return {
            "kind": "mma plan",
            "tile": plan.asked.tile,
            "stages": plan.stages,
            "memory": {side.matrix: self._chunks(side) for side in (plan.a, plan.b)},
            "warps": self._warps(),
            "used": plan.budget.used,
            "capacity": plan.budget.capacity,
        }

    def scene(self) -> Scene:
        """Draw the operands next to each other, and the accumulators below."""
        figure, plan = Figure(), self.plan
        y = figure.heading(0, 0, self._title(), self._sentence(), room=Figure.ROOM) + 16
        below = [
            self._operand(figure, i * (Figure.ROOM + _GUTTER) / 2, y, side) for i, side in enumerate((plan.a, plan.b))
        ]
        self._grid(figure, max(below) + 44)
        return figure.scene(self._title(), self._sentence())

    def text(self, *, color: bool = False, width: int | None = None) -> str:
        """Return the lines of the operands and the warps as tables."""
        lines = [self._title(), self._sentence()]
        for side in (self.plan.a, self.plan.b):
            lines += ["", f"{self._about(side)}: {self._cells(side)}"]
            chunks = [[text for text, _ in row] for row in self._chunks(side)]
            wide = max(len(text) for row in chunks for text in row)
            lines += [f"   {' '.join(text.rjust(wide) for text in row)}" for row in chunks]
        lines += [
            "",
            "C: the warp of every 16 x 16",
            *(f"   {' '.join(f'{w:2}' for w in row)}" for row in self._warps()),
        ]
        return story(lines, width)

    def _title(self) -> str:
        loop = self.plan.asked
        return f"{loop.name} {loop.a.name}, a tile of {extents_text(loop.tile)} in {counted(self.plan.stages, 'stage')}"

    def _sentence(self) -> str:
        plan, (down, across) = self.plan, self.plan.asked.warps
        used = f"{spaced(plan.budget.used)} of {spaced(plan.budget.capacity)} bytes of shared memory"
        return f"{counted(down * across, 'warp')}, {down} along M and {across} along N; {used}."

    def _about(self, side: MmaOperand) -> str:
        return f"{side.matrix}: {extents_text(side.tile)}, {side.major}-major, swizzle {side.swizzle}"

    def _cells(self, side: MmaOperand) -> str:
        return f"{'MN'['AB'.index(side.matrix)]}, K of the first element of each {COPY_BYTES} bytes"

    def _chunks(self, side: MmaOperand) -> list[list[Chunk]]:
        """Return the first lines of a stage as 16-byte cells."""
        places = (offsets(side.layout) * side.bytes).tolist()
        first = {
            byte: (mn, k * side.packed)
            for mn, row in enumerate(places)
            for k, byte in enumerate(row)
            if byte % COPY_BYTES == 0
        }
        matrix = {} if side.by_element else self._matrices(side, places)
        rows = min(LINES, side.stage_bytes // LINE_BYTES)
        starts = [[LINE_BYTES * i + COPY_BYTES * j for j in range(_BESIDE)] for i in range(rows)]
        return [[("{},{}".format(*first[byte]), matrix.get(byte, -1)) for byte in row] for row in starts]

    def _matrices(self, side: MmaOperand, places: list[list[int]]) -> dict[int, int]:
        """Return the matrix of each row of the first load of the first warp, by the first byte of the row."""
        pointers = side.load_elements()[:32, 0, 0, 0].tolist()
        return {places[row % side.tile[0]][row // side.tile[0]]: lane // 8 for lane, row in enumerate(pointers)}

    def _warps(self) -> list[list[int]]:
        """Return the warp that computes each 16 x 16 block of C."""
        (m, n, _), (down, across) = self.plan.asked.tile, self.plan.asked.warps
        return [[i % down + down * (j % across) for j in range(n // 16)] for i in range(m // 16)]

    def _operand(self, figure: Figure, x: float, y: float, side: MmaOperand) -> float:
        top = figure.panel_heading(x, y, self._about(side), [self._cells(side)])
        chunks, high = self._chunks(side), 26.0
        roles = [["faint" if matrix < 0 else Figure.kind(matrix) for _, matrix in row] for row in chunks]
        figure.table(x + 50, top, _CELL, high, roles, [[text for text, _ in row] for row in chunks], size=11)
        figure.border(x + 50, top, _CELL * _BESIDE, high * len(chunks), "tile")
        for i in range(len(chunks)):
            figure.text(x + 44, top + high * (i + 0.65), str(LINE_BYTES * i), "muted", Figure.LABEL, "end", mono=True)
        return top + high * len(chunks)

    def _grid(self, figure: Figure, y: float) -> None:
        sentence = f"{self.plan.asked.registers} registers per thread; a cell is 16 x 16 and shows its warp"
        y = figure.panel_heading(0, y, "Accumulators", [sentence])
        grid = [row[:MOST_BLOCKS] for row in self._warps()[:MOST_BLOCKS]]
        wide = min(80.0, (Figure.ROOM - 44) / len(grid[0]))
        roles = [[Figure.kind(warp) for warp in row] for row in grid]
        figure.table(44, y, wide, 28, roles, [[str(warp) for warp in row] for row in grid], size=12)
        figure.border(44, y, wide * len(grid[0]), 28 * len(grid), "tile")
