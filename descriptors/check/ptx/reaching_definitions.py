r"""The definition of a register that reaches an instruction: an instruction, or a join of several definitions.

This is static single assignment form, computed only for the registers that are needed. A *join* of a register is a
block whose head several definitions of the register reach; a path without a definition counts as one. Between a
definition or a join and a read of its value, the register does not change.
Source: Cytron, Ferrante, Rosen, Wegman, Zadeck 1991 (dominance frontiers), computed as Cooper, Harvey and Kennedy 2001.

Invariant: the definition of a read is the last write on every path.

>>> from descriptors.check.ptx.control_flow import blocks
>>> from descriptors.check.ptx.ptx_module import parse
>>> body = "mov.b32 a, 1; @p bra L; mov.b32 a, 2; L: add.s32 b, a, 1; ret;"
>>> function = parse(f".version 8.8\n.entry k() {{ {body} }}").functions[0]
>>> definitions = Definitions(function, blocks(function))
>>> definitions.before("a", 2), definitions.before("a", 3), definitions.inputs(definitions.before("a", 3))
((0, 'a'), (-3, 'a'), [(0, 'a'), (2, 'a')])
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import TypeAlias

from descriptors.check.ptx.control_flow import Block, dominators
from descriptors.check.ptx.ptx_module import Function

#: A definition: the register, and the index of the instruction, or ``~`` of the number of the block for a join.
Definition: TypeAlias = tuple[int, str]


class Definitions:
    """The definitions of a function, and the instructions that they reach.

    Args:
        function: the function.
        graph: its basic blocks.
    """

    def __init__(self, function: Function, graph: list[Block]) -> None:
        self.graph = graph
        self.starts = [block.start for block in graph]
        self.where = where = dict(function.writes)
        for name in [name for name in where if "0" in name and _ALIAS.match(name)]:  # %r01 is %r1
            plain = _ALIAS.sub(r"\1\2", name)
            where[plain] = sorted({*where.get(plain, ()), *where.pop(name)})
        self._flow: _Flow | None = None
        self._ways: dict[int, set[int]] = {}
        self._joins: dict[str, set[int] | None] = {}
        self._heads: dict[str, dict[int, Definition | None]] = {}

    @property
    def flow(self) -> _Flow:
        """Dominators and joins, computed when the first register needs them."""
        if self._flow is None:
            self._flow = _Flow(self.graph)
        return self._flow

    def before(self, name: str, index: int) -> Definition | None:
        """Return the definition of a register that an instruction reads; None if some path to it has none."""
        places = self.where.get(name)
        if places is None:
            return None
        block = self._block(index)
        place = bisect_left(places, index)
        if place and places[place - 1] >= self.starts[block]:
            return places[place - 1], name
        return self._at_head(name, places, block)

    def inputs(self, join: Definition) -> list[Definition | None]:
        """Return the definitions that meet at a join, without those of unreachable blocks."""
        block, name = ~join[0], join[1]
        definitions: list[Definition | None] = [None] if block == 0 else []
        return definitions + [self._at_end(name, number) for number in self.flow.before[block]]

    def follows(self, index: int, others: Sequence[int]) -> bool:
        """Return whether a path leads to an instruction from one of some others."""
        block = self._block(index)
        return any(
            (self._block(other) == block and other < index) or block in self._reachable_from(self._block(other))
            for other in others
        )

    def _block(self, index: int) -> int:
        return bisect_right(self.starts, index) - 1

    def _reachable_from(self, block: int) -> set[int]:
        """Return the blocks that are reachable from the end of a block."""
        if block not in self._ways:
            reached, waiting = set[int](), [*self.graph[block].next]
            while waiting:
                number = waiting.pop()
                if number not in reached:
                    reached.add(number)
                    waiting.extend(self.graph[number].next)
            self._ways[block] = reached
        return self._ways[block]

    def _at_end(self, name: str, block: int) -> Definition | None:
        places = self.where[name]
        place = bisect_left(places, self.graph[block].end)
        if place and places[place - 1] >= self.starts[block]:
            return places[place - 1], name
        return self._at_head(name, places, block)

    def _at_head(self, name: str, places: Sequence[int], block: int) -> Definition | None:
        """Return the definition that reaches the head of a block."""
        flow = self.flow
        if len(places) == 1:
            home = self._block(places[0])
            return (places[0], name) if home != block and flow.dominates(home, block) else None
        if name not in self._joins:
            self._joins[name] = flow.joins({self._block(place) for place in places})
            self._heads[name] = {}
        joins, heads, passed = self._joins[name], self._heads[name], list[int]()
        if joins is None:
            return None
        definition: Definition | None = None
        while block not in heads:
            passed.append(block)
            up = flow.nearest[block]
            if block in joins:
                definition = ~block, name
                break
            if block == 0 or up is None:
                break
            block = up
            place = bisect_left(places, self.graph[block].end)
            if place and places[place - 1] >= self.starts[block]:
                definition = places[place - 1], name
                break
        else:
            definition = heads[block]
        heads.update(dict.fromkeys(passed, definition))
        return definition


_ALIAS = re.compile(r"(.*?[^0-9])0+([0-9]+)\Z")


class _Flow:
    """The dominator tree and the dominance frontiers of a graph."""

    def __init__(self, graph: list[Block]) -> None:
        self.nearest = dominators(graph)
        self.before: list[list[int]] = [[] for _ in graph]
        for number, block in enumerate(graph):
            if self.nearest[number] is not None:
                for follower in block.next:
                    self.before[follower].append(number)
        self.entered, self.left = self._number_blocks()
        self.frontier: list[list[int]] = [[] for _ in graph]
        self.steps = STEPS
        for number, ways in enumerate(self.before):
            if len(ways) + (number == 0) > 1:
                self._meet(number, ways)

    def _number_blocks(self) -> tuple[list[int], list[int]]:
        """Return the entry and exit times of each block in a depth-first walk of the dominator tree."""
        below: list[list[int]] = [[] for _ in self.nearest]
        for number, up in enumerate(self.nearest):
            if up is not None and number:
                below[up].append(number)
        entered, left, clock = [-1] * len(below), [-1] * len(below), 0
        waiting = [(0, False)] if below else []
        while waiting:
            number, is_exit = waiting.pop()
            clock += 1
            if is_exit:
                left[number] = clock
                continue
            entered[number] = clock
            waiting.append((number, True))
            waiting.extend((child, False) for child in below[number])
        return entered, left

    def _meet(self, number: int, ways: list[int]) -> None:
        """Add a block to the frontiers of the blocks from its predecessors up to its immediate dominator."""
        stop = self.nearest[number] if number else None
        for runner in ways:
            block: int | None = runner
            while block is not None and block != stop and self.steps > 0:
                self.steps -= 1
                if not self.frontier[block] or self.frontier[block][-1] != number:
                    self.frontier[block].append(number)
                block = self.nearest[block] if block else None

    def dominates(self, first: int, second: int) -> bool:
        """Return whether every path to the second block passes the first."""
        return 0 < self.entered[first] <= self.entered[second] and self.left[second] <= self.left[first]

    def joins(self, homes: set[int]) -> set[int] | None:
        """Return the blocks where definitions in some blocks meet; None if that takes too many steps."""
        join_blocks: set[int] = set()
        waiting = list(homes)
        while waiting and self.steps > 0:
            for number in self.frontier[waiting.pop()]:
                self.steps -= 1
                if number not in join_blocks:
                    join_blocks.add(number)
                    if number not in homes:
                        waiting.append(number)
        return join_blocks if self.steps > 0 else None


#: Largest number of steps for finding joins, far more than any kernel needs.
STEPS = 4_000_000
