"""Accumulations: multiplications into one accumulator that follow one another, in whatever blocks.

Compilers put a multiplication into a block of its own where one thread is elected for it. Two follow one another if a
path leads from the first to the second, no loop begins or ends between them, and nothing is committed there.
Source: what an accumulation is, is ours.

Law: every multiplication is in one chain, in order.

>>> from descriptors.ptx.flow import blocks
>>> from descriptors.ptx.module import parse
>>> function = parse(".version 8.8\\n.entry k() { a; @p bra L; b; L: c; M: d; @q bra M; ret; }").functions[0]
>>> follow = Follow(function, blocks(function))
>>> follow(0, 2), follow(0, 3), follow(0, 4)
(True, True, False)
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from descriptors.kernels.multiplications import Multiplication
from descriptors.ptx.flow import Block
from descriptors.ptx.module import Function


class Follow:
    """Whether one instruction of a function follows another, as multiplications of one accumulation do.

    Args:
        function: the function.
        graph: its basic blocks.
    """

    def __init__(self, function: Function, graph: list[Block]) -> None:
        self.graph = graph
        self.block = [number for number, one in enumerate(graph) for _ in range(one.start, one.end)]
        back = [(number, to) for number, one in enumerate(graph) for to in one.next if to <= number]
        heads, ends = {graph[to].start for _, to in back}, {graph[number].end for number, _ in back}
        closed = {index for index, one in enumerate(function.code) if one.opcode.startswith(_CLOSING)}
        marks = sorted(heads | ends | {index + 1 for index in closed})
        #: For each instruction the number of borders at or before it.
        self.borders = []
        passed = 0
        for index in range(len(function.code) + 1):
            while passed < len(marks) and marks[passed] <= index:
                passed += 1
            self.borders.append(passed)

    def __call__(self, first: int, second: int) -> bool:
        """Whether the second, which stands further down, follows the first."""
        if self.borders[first] != self.borders[second]:
            return False
        wanted, waiting, seen = self.block[second], [self.block[first]], set[int]()
        while waiting:
            number = waiting.pop()
            if number == wanted:
                return True
            if number not in seen:
                seen.add(number)
                waiting.extend(to for to in self.graph[number].next if number < to <= wanted)
        return False


_CLOSING = ("wgmma.commit_group", "wgmma.wait_group", "tcgen05.commit")


def chains(function: Function, found: list[Multiplication], graph: list[Block]) -> Iterator[list[Multiplication]]:
    """The accumulations of a function.

    Args:
        function: the function.
        found: its multiplications.
        graph: its basic blocks.
    """
    follow = Follow(function, graph)
    chain = found[:1]
    for before, after in pairwise(found):
        same = after.result == before.result and after.opcode == before.opcode
        if not same or not follow(before.index, after.index):
            yield chain
            chain = []
        chain.append(after)
    yield chain
