"""What is folded out of drawn programs, held against what a thread computes: bits, few values, distances, choices."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from typing import NamedTuple

from ptx_interpreter import Program, Thread
from ptx_programs import body, text

from descriptors.check.ptx.constant_folding import fold
from descriptors.check.ptx.control_flow import blocks
from descriptors.check.ptx.known_bits import ALL, Known
from descriptors.check.ptx.ptx_module import parse


class Judged(NamedTuple):
    """What was looked at.

    Args:
        probes: registers at instructions that were executed.
        telling: those of which some bit is known that is not just above the width.
        constant: those of which all is known.
        wrong: what the first of them is that is not so, in words; "" if there is none.
    """

    probes: int
    telling: int
    constant: int
    wrong: str


def judged(seed: object, length: int = 30, runs: int = 3, steps: int = 300) -> Judged:
    """A drawn program, folded whole and executed from random registers."""
    module = parse(text(seed, length))
    function = next(one for one in module.functions if one.entry)
    graph = blocks(function)
    folded = fold(function, module.variables, range(len(function.code)), graph)
    program = Program(body(seed, length))
    program.variables["smem"] = 1024
    assert [one.opcode for one in function.code] == [line.opcode for line in program.lines], "read otherwise"
    judge = _Judge(folded, {block.start: number for number, block in enumerate(graph)})
    draw, seen = random.Random(repr(seed) + "run"), dict[int, list[int]]()
    addresses = dict[str, int]()
    for _ in range(runs):
        thread = Thread(program, draw, seen, addresses)
        judge.bases, judge.last = {f"&{name}": at for name, at in addresses.items()}, -1
        thread.run(steps, judge)
    return Judged(judge.probes, judge.telling, judge.constant, judge.wrong)


class _Judge:
    """What holds of the registers of a thread, looked at before each instruction."""

    def __init__(self, folded: Mapping[int, Mapping[str, Known]], heads: Mapping[int, int]) -> None:
        self.folded, self.heads = folded, heads
        self.bases: dict[str, int] = {}
        self.last, self.wrong = -1, ""
        self.probes = self.telling = self.constant = 0

    def __call__(self, index: int, thread: Thread) -> None:
        self._note(index, thread)
        line = thread.program.lines[index]
        roots: dict[str, list[tuple[Known, int]]] = {}
        for name, known in self.folded[index].items():
            cell = thread.cell(name.partition("#")[0], line)
            if cell is not None:
                self._look(name, known, cell, f"{name} at {index}, {line.opcode}")
                if known.choices:
                    roots.setdefault(known.root, []).append((known, cell[1]))
        for root, several in roots.items():
            many = range(len(several[0][0].choices))
            if not any(all(one.choices[i] == value for one, value in several) for i in many):
                self.wrong = self.wrong or f"choice by {root} at {index}: {several}"

    def _look(self, name: str, known: Known, cell: list[int], where: str) -> None:
        width, value = cell
        self.probes += 1
        self.telling += bool(known.mask & ((1 << width) - 1))
        self.constant += known.mask == ALL
        found = ""
        if value & known.mask != known.value:
            found = "bits"
        elif known.choices and value not in known.choices:
            found = "choices"
        elif (origin := self._origin(known.base)) and (value - origin[0] - known.offset) % (1 << origin[1]):
            found = f"distance from {origin[0]:#x}"
        if found and not self.wrong:
            self.wrong = f"{found} of {where}: {known}, is {value:#x}"

    def _origin(self, base: str) -> tuple[int, int] | None:
        """What a value is counted from, and modulo how many bits: the steps on from a register stand behind it.

        None for what was not seen, and for a word whose halves are counted from two.
        """
        name, *steps = re.split(r"(?=>>|%\d+(?:$|[>%]))", base)
        if name not in self.bases or "," in base:
            return None
        made, bits = self.bases[name] & 0xFFFFFFFF, 32
        for step in steps:
            by = int(step.lstrip(">%"))
            made, bits = (made >> by, bits - by) if step[0] == ">" else (made % (1 << by), min(bits, by))
        return made, max(bits, 0)

    def _note(self, index: int, thread: Thread) -> None:
        """Note what registers have that were written last, or that paths brought here; not those of inner blocks."""
        if self.last >= 0:
            line = thread.program.lines[self.last]
            for operand in line.operands[:1]:
                for name in operand.strip("{}()").replace("|", ",").split(","):
                    self._base(f"{name.strip()}@{self.last}", thread.cell(name.strip(), line))
        if index in self.heads:
            for name, cell in thread.program.lines[index].scopes[0].items():
                if isinstance(cell, list):
                    self._base(f"{name}@L{self.heads[index]}", cell)
        self.last = index

    def _base(self, name: str, cell: list[int] | None) -> None:
        if cell is not None:
            self.bases[name] = cell[1]
