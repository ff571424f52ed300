"""Draw a plan: its stages in time, the operands of a stage with their descriptors, shared memory, the accumulators.

>>> from descriptors import plan
>>> numbers = MainLoopPicture(plan("m64n8k16", "bf16", tile=(64, 8, 32), stages=2, verify=False)).record()
>>> numbers["words"]["A"], numbers["memory"][:2]
([['0x8000002000010000', '0x8000002000010002']], [('A', 0, 0, 4096), ('A', 1, 4096, 4096)])
"""

from __future__ import annotations

from typing import Any

from descriptors.gemm.accumulators import Registers, TensorColumns
from descriptors.gemm.budget import BARRIER_BYTES
from descriptors.gemm.plan import Plan
from descriptors.gemm.plan_operands import StagedOperand
from descriptors.show.pictures.panels import amount, spaced, story
from descriptors.text import aligned, counted, extents_text, ranges_text, word_text
from layoutalg import Figure, Picture, Scene
from layoutalg.frozen import frozen

#: Width of the picture, and the largest numbers of tiles in the timeline and of blocks along an extent.
WIDE, MOST_TILES, MOST_BLOCKS = Figure.ROOM, 8, 16
#: The latency of a copy, in units of the time between two copies.
_WAY = 1
#: The gap between two operands that are next to each other, and the width of each.
_GUTTER = 40
_HALF = (WIDE - _GUTTER) / 2
#: The largest number of K blocks of operands next to each other, and the smallest width of a cell with a name.
_BESIDE, _NAMED = 8, 110.0
#: The smallest space between two labels of one row.
_APART = 14.0


@frozen
class MainLoopPicture(Picture):
    """The picture of a main loop.

    Args:
        plan: the plan.
    """

    plan: Plan

    def record(self) -> dict[str, Any]:
        """Return the numbers that are drawn."""
        plan = self.plan
        return {
            "kind": "plan",
            "tile": plan.asked.tile,
            "stages": plan.stages,
            "words": {side.matrix: self._words(side) for side in (plan.a, plan.b)},
            "memory": self._memory(),
            "used": plan.budget.used,
            "capacity": plan.budget.capacity,
            "accumulators": self._accumulators(),
            **({"turns": turns(columns)} if (columns := self._in_turn()) else {}),
        }

    def scene(self) -> Scene:
        """Draw panels below one another: time, operands, memory, accumulators, and output tiles if they alternate."""
        figure, plan = Figure(), self.plan
        y = figure.heading(0, 0, self._title(), self._sentence(), room=WIDE) + 16
        y = self._timeline(figure, y) + 44
        right, below = max(self._operand(figure, 0, y, plan.a), _HALF) + _GUTTER, self._operand_bottom(y, plan.a)
        if len(plan.a.k_steps) > _BESIDE:  # two such tables are too wide for one line
            right, y = 0.0, below + 44
        self._operand(figure, right, y, plan.b)
        y = max(below, self._operand_bottom(y, plan.b)) + 44
        y = self._map(figure, y) + 48
        y = self._grid(figure, y) + 44
        if columns := self._in_turn():
            self._turns(figure, y, columns)
        return figure.scene(self._title(), self._sentence())

    def text(self, *, color: bool = False, width: int | None = None) -> str:
        """Return a table of shared memory by address, and the descriptors of a stage."""
        plan = self.plan
        rows: list[tuple[object, ...]] = [("from", "bytes", "content")]
        rows += [
            (address, size, name if stage < 0 else f"{name}, stage {stage}")
            for name, stage, address, size in self._memory()
        ]
        lines = [self._title(), self._sentence(), "", *aligned(rows, ">><", indent=3), ""]
        for side in (plan.a, plan.b):
            for i, row in enumerate(self._words(side)):
                lines.append(f"   {side.matrix}, block {i}: {' '.join(row)}")
        return story(lines, width)

    def _title(self) -> str:
        loop = self.plan.asked
        return f"{loop.name} {loop.a.name}, a tile of {extents_text(loop.tile)} in {counted(self.plan.stages, 'stage')}"

    def _sentence(self) -> str:
        plan = self.plan
        m, n, k = plan.asked.blocks
        about = f"A stage is {amount(plan.transaction_bytes)} of copies and {counted(m * n * k, 'instruction')}"
        pair = " Each CTA of the pair has such a memory, and half of the rows of A and of each N block of B." * (
            plan.asked.cta_group == 2
        )
        blocks = ", ".join(counted(count, f"{name} block") for name, count in zip("MNK", (m, n, k), strict=True))
        return f"{about}: {blocks}. Colors are stages.{pair}"

    def _words(self, side: StagedOperand) -> list[list[str]]:
        """Return the descriptors of the first stage; none for A in registers."""
        if side.matrix == "A" and self.plan.loads is not None:
            return []
        return [[word_text(side.word_at(i, k, 0)) for k in range(len(side.k_steps))] for i in range(len(side.mn_steps))]

    def _memory(self) -> list[tuple[str, int, int, int]]:
        """Return name, stage, address and bytes of each part of shared memory; stage -1 if the part has no stages."""
        plan, intervals = self.plan, list[tuple[str, int, int, int]]()
        parts: list[tuple[str, int, int]] = [(side.matrix, side.base, side.stage_bytes) for side in (plan.a, plan.b)]
        if plan.scales is not None:
            sizes = (plan.scales.a.bytes, plan.scales.b.bytes)
            parts += list(zip(("SFA", "SFB"), plan.scales.bases, sizes, strict=True))
        if plan.metadata is not None and plan.metadata.bytes:
            parts.append(("E", plan.metadata.base, plan.metadata.bytes))
        for name, base, size in parts:
            intervals += [(name, s, base + s * size, size) for s in range(plan.stages)]
        return [*intervals, ("barriers", -1, plan.barriers, BARRIER_BYTES * plan.stages)]

    def _accumulators(self) -> list[list[str]]:
        """Return the warpgroup or the columns of each accumulator: M blocks down, N blocks across."""
        plan, (m, n, _) = self.plan, self.plan.asked.blocks
        accumulators = plan.accumulators
        if isinstance(accumulators, Registers):
            return [[f"warpgroup {i % accumulators.warpgroups}" for _ in range(n)] for i in range(m)]
        firsts = [accumulators.of(number).firsts for number in range(accumulators.sets)]
        return [[f"column {'/'.join(str(first[j * m + i]) for first in firsts)}" for j in range(n)] for i in range(m)]

    def _timeline(self, figure: Figure, y: float) -> float:
        """Draw the copies and multiplications of the first tiles, with arrows where one waits for the other."""
        plan = self.plan
        slots = schedule(plan.stages, min(plan.stages + 2, MOST_TILES))
        y = figure.panel_heading(0, y, "In time", ["left to right, not to scale: tile t uses stage t mod stages"])
        x, step, high = 60.0, (WIDE - 60.0) / (slots[-1][1] + 1), 40.0
        foot, blocks = y + 84, plan.asked.blocks[2]
        for name, top in (("TMA", y), ("MMA", foot)):
            figure.text(0, top + 26, name, "ink", Figure.HEADING, bold=True)
        for t, (filled, multiplied) in enumerate(slots):
            role, left, later = Figure.kind(t % plan.stages), x + filled * step, x + multiplied * step
            figure.box(left + 3, y, step - 6, high, role, "rule", 0.8, 4)
            figure.text(left + step / 2, y + 25, f"tile {t}", "ink", Figure.BODY, "middle", bold=True)
            figure.box(later + 3, foot, step - 6, high, role, "rule", 0.8, 4)
            if blocks <= MOST_BLOCKS:
                wide = (step - 6) / blocks
                cuts = [later + 3 + i * wide for i in range(1, blocks)]
                figure.lines([(cut, foot, cut, foot + high) for cut in cuts], "rule", 0.8)
            figure.text(later + step / 2, foot + 58, f"tile {t}", "muted", Figure.LABEL, "middle")
            figure.arrow([(left + step - 3, y + high), (later + 3, foot - 1)], "good", 1.4, 7)
            if t >= plan.stages:
                done = x + (slots[t - plan.stages][1] + 1) * step - 3
                figure.arrow([(done, foot), (left + 3, y + high + 1)], "bad", 1.4, 7, (4, 3))
        entries = [("dot:good", f"full[s]: {spaced(plan.transaction_bytes)} bytes have arrived")]
        entries.append(("dot:bad", "empty[s]: the instructions that read the stage are done"))
        return figure.legend(0, foot + 78, entries, WIDE)

    def _cell(self, side: StagedOperand) -> tuple[float, float]:
        return max(52.0, min(116.0, (_HALF - 44) / len(side.k_steps))), 40.0

    def _operand_bottom(self, y: float, side: StagedOperand) -> float:
        return y + 54 + min(len(side.mn_steps), MOST_BLOCKS) * self._cell(side)[1] + 20

    def _operand(self, figure: Figure, x: float, y: float, side: StagedOperand) -> float:
        """Draw the blocks of a stage of an operand with the start of each descriptor, and return the right edge."""
        d, letter = side.derivation, "M" if side.matrix == "A" else "N"
        words = self._words(side)
        sentence = (
            f"descriptor {words[0][0]}; a number: added to its start"
            if words
            else "in registers, loaded by ldmatrix or ld.shared"
        )
        title = f"{side.matrix}: {extents_text(d.tile[:2])}, {d.major}-major, swizzle {d.swizzle}"
        top = figure.panel_heading(x, y, title, [sentence])
        wide, high = self._cell(side)
        rows, columns = min(len(side.mn_steps), MOST_BLOCKS), min(len(side.k_steps), MOST_BLOCKS)
        roles = [[Figure.step(k, columns) for k in range(columns)] for _ in range(rows)]
        labels = [
            [f"+ {side.mn_steps[i] + side.k_steps[k]}" if words else "4 registers" for k in range(columns)]
            for i in range(rows)
        ]
        left = x + 44
        figure.table(left, top, wide, high, roles, labels, size=12)
        figure.border(left, top, wide * columns, high * rows, "tile")
        for i in range(rows):
            figure.text(left - 8, top + high * (i + 0.6), f"{letter} {i}", "muted", Figure.LABEL, "end")
        for k in range(columns):
            figure.text(left + wide * (k + 0.5), top + high * rows + 16, f"K {k}", "muted", Figure.LABEL, "middle")
        return left + wide * columns

    def _map(self, figure: Figure, y: float) -> float:
        """Draw shared memory as a bar with every stage of every part at its address, and return the lower edge."""
        plan, capacity = self.plan, self.plan.budget.capacity
        used = f"{spaced(plan.budget.used)} of {spaced(capacity)} bytes"
        y = (
            figure.panel_heading(
                0, y, "Shared memory of a CTA", [f"{used}; {plan.budget.limit.removeprefix('shared memory: ')}"]
            )
            + 4
        )
        scale, high = WIDE / capacity, 46.0
        labels: list[tuple[float, float, float, str]] = []  # x of the leader, left and right edge, text
        figure.box(0, y, WIDE, high, "faint", "rule", 1)
        starts: dict[str, int] = {}
        for name, stage, start, size in self._memory():
            starts.setdefault(name, start)
            figure.box(start * scale, y, size * scale, high, Figure.kind(stage) if stage >= 0 else "bad", "paper", 0.8)
            if stage >= 0 and size * scale > 26:
                figure.text((start + size / 2) * scale, y + 29, str(stage), "ink", Figure.LABEL, "middle", mono=True)
        for name, start in starts.items():
            words, left = f"{name} at {spaced(start)}", start * scale
            wide = figure.width_of(words, Figure.LABEL)
            place = min(left, WIDE - wide)
            labels.append((left, place, place + wide, words))
        rows = rows_of([label[:3] for label in labels])
        for (left, place, _, words), row in zip(labels, rows, strict=True):
            figure.lines([(left, y + high, left, y + high + 8 + 16 * row)], "ink", 1.2)
            figure.text(place + 3 * bool(row), y + high + 20 + 16 * row, words, "muted", Figure.LABEL)
        return y + high + 26 + 16 * max(rows)

    def _in_turn(self) -> TensorColumns | None:
        """Return the accumulators if there are two sets of them, else None."""
        accumulators = self.plan.accumulators
        return accumulators if isinstance(accumulators, TensorColumns) and accumulators.sets > 1 else None

    def _turns(self, figure: Figure, y: float, accumulators: TensorColumns) -> float:
        """Draw when output tiles are multiplied and read in their sets of accumulators, with arrows for waits."""
        both = (
            f"columns {ranges_text(accumulators.shared)} belong to both sets and are read first"
            if accumulators.shared
            else ""
        )
        sentence = both or f"set 1 begins {accumulators.step} columns after set 0; a set is free when it has been read"
        heading = "Output tiles in alternating accumulators"
        y = figure.panel_heading(0, y, heading, [f"left to right, not to scale: {sentence}"])
        slots, left, high = turns(accumulators), 84.0, 40.0
        step, foot = (WIDE - left) / max(end for row in slots for end in row[1:]), y + 84
        for name, top in (("MMA", y), ("epilogue", foot)):
            figure.text(0, top + 26, name, "ink", Figure.HEADING, bold=True)
        for tile, (begin, done, free, end) in enumerate(slots):
            role, place = Figure.kind(tile % accumulators.sets), f"tile {tile}, set {tile % accumulators.sets}"
            for top, first, last in ((y, begin, done), (foot, done, end)):
                figure.box(left + first * step + 3, top, (last - first) * step - 6, high, role, "rule", 0.8, 4)
                figure.text(left + (first + last) / 2 * step, top + 25, place, "ink", Figure.LABEL, "middle")
            figure.arrow([(left + done * step - 3, y + high), (left + done * step + 6, foot - 1)], "good", 1.4, 7)
            waiting = tile + (1 if accumulators.shared else accumulators.sets)
            if waiting < len(slots):
                to = left + slots[waiting][0] * step + 6
                figure.arrow([(left + free * step - 3, foot), (to, y + high + 1)], "bad", 1.4, 7, (4, 3))
        entries = [("dot:good", "done: the commit of the last stage"), ("dot:bad", "free: the columns have been read")]
        return figure.legend(0, foot + high + 20, entries, WIDE)

    def _grid(self, figure: Figure, y: float) -> float:
        """Draw the accumulators of the tile with their warpgroup or columns, and return the lower edge."""
        plan, grid = self.plan, self._accumulators()
        accumulators = plan.accumulators
        if isinstance(accumulators, Registers):
            sentence = f"{accumulators.registers} registers per thread of each warpgroup"
        else:
            sentence = f"{accumulators.plan.used} columns of tensor memory used, {accumulators.plan.allocate} allocated"
        rows, columns = grid[:MOST_BLOCKS], min(len(grid[0]), MOST_BLOCKS)
        wide = min(240.0, (WIDE - 44) / columns)
        if wide < _NAMED:
            sentence += f"; a number: the {grid[0][0].partition(' ')[0]}"
        y = figure.panel_heading(0, y, "Accumulators", [sentence])
        kinds = {name: i for i, name in enumerate(dict.fromkeys(name for row in grid for name in row))}
        roles = [[Figure.kind(kinds[name]) for name in row[:columns]] for row in rows]
        named = wide >= _NAMED
        labels = [[name if named else name.rpartition(" ")[2] for name in row[:columns]] for row in rows]
        figure.table(44, y, wide, 38, roles, labels, size=12)
        figure.border(44, y, wide * columns, 38 * len(rows), "tile")
        for i in range(len(rows)):
            figure.text(36, y + 38 * (i + 0.6), f"M {i}", "muted", Figure.LABEL, "end")
        for j in range(columns):
            figure.text(44 + wide * (j + 0.5), y + 38 * len(rows) + 16, f"N {j}", "muted", Figure.LABEL, "middle")
        return y + 38 * len(rows) + 20


def turns(accumulators: TensorColumns, tiles: int = 4) -> list[tuple[float, float, float, float]]:
    """Return four times for each output tile: it begins, is multiplied, its shared columns are read, all are read.

    A multiplication takes 2 units of time, a readout 1.5.

    Args:
        accumulators: two sets of accumulators.
        tiles: number of output tiles.

    >>> from descriptors import plan
    >>> turns(plan("m128n32k16", "bf16", tile=(128, 32, 64), accumulators=2, verify=False).accumulators, 2)
    [(0.0, 2.0, 3.5, 3.5), (2.0, 4.0, 5.5, 5.5)]
    """
    slots: list[tuple[float, float, float, float]] = []
    for tile in range(tiles):
        loads, first = accumulators.reads(tile % accumulators.sets)
        before = tile - (1 if accumulators.shared else accumulators.sets)
        begin = max(slots[-1][1] if slots else 0.0, slots[before][2] if before >= 0 else 0.0)
        done = max(begin + 2.0, slots[-1][3] if slots else 0.0)
        slots.append((begin, done, done + 1.5 * first / len(loads), done + 1.5))
    return slots


def schedule(stages: int, tiles: int) -> list[tuple[int, int]]:
    """Return when the copy and the multiplication of each tile begin, as early as stages and order allow.

    >>> schedule(2, 4)
    [(0, 2), (1, 3), (3, 5), (4, 6)]
    """
    slots: list[tuple[int, int]] = []
    for t in range(tiles):
        copier, multiplier = (slots[-1][0] + 1, slots[-1][1] + 1) if slots else (0, 0)
        filled = max(copier, slots[t - stages][1] + 1 if t >= stages else 0)
        slots.append((filled, max(multiplier, filled + 1 + _WAY)))
    return slots


def rows_of(labels: list[tuple[float, float, float]]) -> list[int]:
    """Return the row of each label below a bar: the first row in which no label or leader overlaps another label.

    Args:
        labels: x of the leader, left edge and right edge of each label, from left to right.

    >>> rows_of([(0, 0, 50), (300, 300, 380), (320, 320, 400), (390, 390, 460)])
    [0, 2, 1, 0]
    """
    row_by_label: dict[int, int] = {}
    for i in reversed(range(len(labels))):
        row_by_label[i] = next(
            row for row in range(len(labels) + 1) if row == len(labels) or _free(labels, row_by_label, i, row)
        )
    return [row_by_label[i] for i in range(len(labels))]


def _free(labels: list[tuple[float, float, float]], row_by_label: dict[int, int], index: int, row: int) -> bool:
    leader, begin, end = labels[index]
    for other, other_row in row_by_label.items():
        down, left, right = labels[other]
        if other_row == row and begin - _APART < right and left < end + _APART:
            return False
        if (other_row < row and left < leader < right) or (row < other_row and begin < down < end):
            return False
    return True
