"""A plan of ``mma.sync`` as a picture: the first lines of A and B in shared memory, and which warp has which part of C.

Of an operand every cell is 16 bytes, eight to a line of banks, with the row along M or N and the first k in it, where
the swizzle puts them; colours are the matrices that the first warp's first load brings, so that a matrix without bank
conflicts has its eight rows in eight columns.

>>> from descriptors.gemm.mma_planner import mma_plan
>>> numbers = MmaPicture(mma_plan("mma.m16n8k16", "bf16", tile=(32, 32, 64), stages=2)).record()
>>> [one[0] for one in numbers["memory"]["A"][1]], numbers["warps"][0]
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

#: Lines of shared memory that are drawn, and the most blocks of C along an extent.
LINES, MOST_BLOCKS = 16, 16
_GUTTER = 60
_CELL = ((Figure.ROOM - _GUTTER) / 2 - 60) / 8
_BESIDE = LINE_BYTES // COPY_BYTES

#: What begins at a 16 bytes, and the matrix that the first load brings from there; -1 for none.
Chunk = tuple[str, int]


@frozen
class MmaPicture(Picture):
    """One main loop of warps.

    Args:
        plan: what is drawn.
    """

    plan: MmaPlan

    def record(self) -> dict[str, Any]:
        """Every number that is drawn."""
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
        """The operands beside each other, the accumulators below."""
        figure, plan = Figure(), self.plan
        y = figure.heading(0, 0, self._title(), self._sentence(), room=Figure.ROOM) + 16
        below = [
            self._operand(figure, i * (Figure.ROOM + _GUTTER) / 2, y, side) for i, side in enumerate((plan.a, plan.b))
        ]
        self._grid(figure, max(below) + 44)
        return figure.scene(self._title(), self._sentence())

    def text(self, *, color: bool = False, width: int | None = None) -> str:
        """The same lines as tables."""
        lines = [self._title(), self._sentence()]
        for side in (self.plan.a, self.plan.b):
            lines += ["", f"{self._about(side)}: {self._cells(side)}"]
            wide = max(len(one[0]) for row in self._chunks(side) for one in row)
            lines += [f"   {' '.join(one[0].rjust(wide) for one in row)}" for row in self._chunks(side)]
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
        return f"{'MN'['AB'.index(side.matrix)]}, K of what begins at each {COPY_BYTES} bytes"

    def _chunks(self, side: MmaOperand) -> list[list[Chunk]]:
        """The first lines of a stage, each 16 bytes by what begins there."""
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
        return [[("{},{}".format(*first[at]), matrix.get(at, -1)) for at in row] for row in starts]

    def _matrices(self, side: MmaOperand, places: list[list[int]]) -> dict[int, int]:
        """Where the rows of the first warp's first load begin, and of which of its matrices each is."""
        pointers = side.load_elements()[:32, 0, 0, 0].tolist()
        return {places[at % side.tile[0]][at // side.tile[0]]: lane // 8 for lane, at in enumerate(pointers)}

    def _warps(self) -> list[list[int]]:
        """The warp that has each 16 x 16 of C."""
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
        sentence = f"{self.plan.asked.registers} registers a thread; in each cell, 16 x 16, its warp"
        y = figure.panel_heading(0, y, "Accumulators", [sentence])
        grid = [row[:MOST_BLOCKS] for row in self._warps()[:MOST_BLOCKS]]
        wide = min(80.0, (Figure.ROOM - 44) / len(grid[0]))
        roles = [[Figure.kind(warp) for warp in row] for row in grid]
        figure.table(44, y, wide, 28, roles, [[str(warp) for warp in row] for row in grid], size=12)
        figure.border(44, y, wide * len(grid[0]), 28 * len(grid), "tile")
