r"""The control flow of a function: basic blocks, fixed points of states, dominators, and control dependence.

A block ends at a branch or before a label. States that can only grow finitely many times reach a fixed point; for
others, a limit on the visits of a block ends the computation with an error. A block is *under* a branch (control
dependent on it) if one way out of the branch always reaches the block and another may not, or if it is under a branch
of such a block.
Source: PTX ISA 9.1, Control Flow Instructions; control dependence: Ferrante, Ottenstein, Warren 1987; post-dominators:
the dominator algorithm of Cooper, Harvey and Kennedy 2001. The tests compare with an enumeration of paths.

Invariant: every instruction is in one block, in order, and each edge ends at the start of a block.

>>> from descriptors.check.ptx.ptx_module import parse
>>> text = ".version 8.8\n.entry k() { L: add.s32 r, r, 1; @p bra L; ret; }"
>>> [(block.start, block.end, block.next) for block in blocks(parse(text).functions[0])]
[(0, 2, (1, 0)), (2, 3, ())]

Invariant: after the ways out of a branch have met, no block is under the branch.

>>> graph = [Block(0, 1, (1, 2)), Block(1, 2, (2,)), Block(2, 3, ())]
>>> postdominators(graph), under(graph, {0})
([2, 2, 3], {1})
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from heapq import heappop, heappush
from itertools import pairwise
from typing import TypeVar

from descriptors.check.ptx.ptx_module import Function, Instruction
from descriptors.errors import DescriptorError
from layoutalg.frozen import frozen

_S = TypeVar("_S")

#: Largest number of visits of a block before the fixed point is given up.
ROUNDS = 64
_ENDS, _BRANCHES = ("ret", "exit", "trap"), ("bra", "brx")
#: Largest number of labels in the branch tables of a function, far more than any kernel has.
WAYS = 1 << 18


@frozen
class Block:
    """Instructions ``start`` to ``end`` of a function, and the numbers of the blocks that may follow.

    >>> Block(0, 3, (1,)).end
    3
    """

    start: int
    end: int
    next: tuple[int, ...]


def blocks(function: Function) -> list[Block]:
    """Return the basic blocks of a function; the first one is its entry.

    Raises:
        DescriptorError: if a branch does not lead to a label.
    """
    code = function.code
    marks = {0, len(code), *function.labels.values()}
    marks.update(index + 1 for index in function.having(*_ENDS, *_BRANCHES) if _ends_block(code[index]))
    starts = sorted(mark for mark in marks if mark <= len(code))
    if not code:
        return []
    number = {start: index for index, start in enumerate(starts)}
    ways = sum(len(_table_labels(function, code[index])) for index in function.having("brx"))
    if ways > WAYS:
        raise DescriptorError(f"ptx: the branch tables have {ways} labels together, which is more than {WAYS}")
    return [Block(a, b, _find_successors(function, b, number, starts)) for a, b in pairwise(starts)]


def _ends_block(instruction: Instruction) -> bool:
    name = instruction.opcode.partition(".")[0]
    return name in _ENDS or name in _BRANCHES


def _find_successors(function: Function, end: int, number: dict[int, int], starts: list[int]) -> tuple[int, ...]:
    last, length = function.code[end - 1], len(function.code)
    name = last.opcode.partition(".")[0]
    fallthrough = (number[end],) if end < length else ()
    if not _ends_block(last):
        return fallthrough
    not_taken = fallthrough if last.predicate else ()
    if name in _ENDS:
        return not_taken
    ends = [function.labels[label] for label in _branch_labels(function, last)]
    return tuple(dict.fromkeys([*not_taken, *(number[e] for e in ends if e < length)]))


def _branch_labels(function: Function, branch: Instruction) -> list[str]:
    target = branch.operands[-1] if branch.operands else ""
    if branch.opcode.startswith("brx"):
        return [label for label in _table_labels(function, branch) if label in function.labels]
    if not isinstance(target, str) or target not in function.labels:
        raise DescriptorError(f"ptx: a branch leads to {target or 'nothing'}, which is not a label; line {branch.line}")
    return [target]


def _table_labels(function: Function, branch: Instruction) -> Collection[str]:
    """Return the labels of the table of a branch, or all labels of the function if the table is missing."""
    return function.tables.get(str(branch.operands[-1]) if branch.operands else "", function.labels)


def fixed_point(
    graph: list[Block], start: _S, through: Callable[[int, _S], _S], meet: Callable[[_S, _S], _S],
    back: Callable[[_S], _S] | None = None,
) -> list[_S | None]:  # fmt: skip
    """Return the state before each block; None for a block that no path reaches.

    Args:
        graph: the blocks.
        start: the state before the first block.
        through: returns the state after a block from its number and the state before it.
        meet: returns the state where two paths meet.
        back: returns the state after an edge to an earlier block; None if it does not change.

    Raises:
        DescriptorError: if the states do not reach a fixed point.

    >>> loop = [Block(0, 1, (1,)), Block(1, 2, (1, 2)), Block(2, 3, ())]
    >>> fixed_point(loop, frozenset(), lambda number, state: state | {number}, frozenset.union)
    [frozenset(), frozenset({0, 1}), frozenset({0, 1})]
    """
    before: list[_S | None] = [None] * len(graph)
    if not graph:
        return before
    before[0] = start
    visits = [0] * len(graph)
    waiting, queued = [0], {0}
    while waiting:
        number = heappop(waiting)
        queued.discard(number)
        state = before[number]
        visits[number] += 1
        if visits[number] > ROUNDS or state is None:
            raise DescriptorError(f"ptx: the states of block {number} do not settle in {ROUNDS} iterations")
        after = through(number, state)
        for follower in graph[number].next:
            old = before[follower]
            incoming = back(after) if back is not None and follower <= number else after
            new = incoming if old is None else meet(old, incoming)
            if old is None or new != old:
                before[follower] = new
                if follower not in queued:
                    heappush(waiting, follower)
                    queued.add(follower)
    return before


def cycles(graph: list[Block]) -> set[int]:
    """Return the blocks that are in a cycle.

    >>> sorted(cycles([Block(0, 1, (1,)), Block(1, 2, (2,)), Block(2, 3, (1, 3)), Block(3, 4, ()), Block(4, 5, (4,))]))
    [1, 2, 4]
    """
    groups = components({number: block.next for number, block in enumerate(graph)})
    return {number for group in groups for number in group if len(group) > 1 or number in graph[number].next}


def components(successors: Mapping[int, Sequence[int]]) -> list[frozenset[int]]:
    """Return the strongly connected components of a graph, each before those that it leads to.

    >>> [sorted(component) for component in components({0: [1], 1: [2], 2: [1, 3], 3: []})]
    [[0], [1, 2], [3]]
    """
    predecessors: dict[int, list[int]] = {number: [] for number in successors}
    for number, followers in successors.items():
        for follower in followers:
            predecessors[follower].append(number)
    components_found: list[frozenset[int]] = []
    visited: set[int] = set()
    # In the reversed graph, all nodes reachable from the node that finished last are one component (Kosaraju).
    for root in _reverse_postorder(successors, sorted(successors)):
        group, waiting = set[int](), [root]
        while waiting:
            number = waiting.pop()
            if number not in visited:
                visited.add(number)
                group.add(number)
                waiting.extend(predecessors[number])
        if group:
            components_found.append(frozenset(group))
    return components_found


#: Largest number of steps of ``under``, far more than any kernel needs.
STEPS = 2_000_000


def postdominators(graph: list[Block]) -> list[int]:
    """Return the immediate post-dominator of each block; ``len(graph)`` stands for the end of the function.

    The post-dominator of a block from which no path leads to the end is the end.

    >>> postdominators([Block(0, 1, (0,))])
    [1]
    """
    end = len(graph)
    onward: list[Sequence[int]] = [[*block.next] or [end] for block in graph]
    nearest = _find_dominators([*onward, ()], _reverse_edges([*onward, ()]), end)
    return [end if block is None else block for block in nearest[:end]]


def dominators(graph: list[Block]) -> list[int | None]:
    """Return the immediate dominator of each block: 0 for the first block, None for an unreachable one.

    >>> dominators([Block(0, 1, (1, 2)), Block(1, 2, (2,)), Block(2, 3, ()), Block(3, 4, (2,))])
    [0, 0, 0, None]
    """
    onward: list[Sequence[int]] = [block.next for block in graph]
    return _find_dominators(_reverse_edges(onward), onward, 0) if graph else []


def _reverse_edges(onward: list[Sequence[int]]) -> list[Sequence[int]]:
    """Return a graph with reversed edges."""
    predecessors: list[list[int]] = [[] for _ in onward]
    for number, followers in enumerate(onward):
        for follower in followers:
            predecessors[follower].append(number)
    return [*predecessors]


def _find_dominators(predecessors: list[Sequence[int]], onward: list[Sequence[int]], root: int) -> list[int | None]:
    """Return the immediate dominator of each node of a graph, given by its edges in both directions."""
    order = _reverse_postorder(onward, [root])
    place = {number: index for index, number in enumerate(order)}
    nearest: list[int | None] = [None] * len(onward)
    nearest[root] = root
    changed = True
    while changed:
        changed = False
        for number in order[1:]:
            processed = [n for n in predecessors[number] if nearest[n] is not None]
            dominator = processed[0]
            for other in processed[1:]:
                dominator = _common_dominator(dominator, other, nearest, place)
            if nearest[number] != dominator:
                nearest[number], changed = dominator, True
    return nearest


def _reverse_postorder(
    onward: Sequence[Sequence[int]] | Mapping[int, Sequence[int]], roots: Iterable[int]
) -> list[int]:
    """Return the nodes reachable from the roots in reverse postorder: before their successors, except back edges."""
    visited, postorder = set[int](), list[int]()
    for root in roots:
        waiting = [(root, iter(onward[root]))] if root not in visited else []
        visited.add(root)
        while waiting:
            number, others = waiting[-1]
            next_node = next((n for n in others if n not in visited), None)
            if next_node is None:
                postorder.append(number)
                waiting.pop()
            else:
                visited.add(next_node)
                waiting.append((next_node, iter(onward[next_node])))
    return postorder[::-1]


def _common_dominator(a: int, b: int, nearest: list[int | None], place: dict[int, int]) -> int:
    """Return the nearest common dominator of two nodes."""
    while a != b:
        if place[a] < place[b]:
            a, b = b, a
        up = nearest[a]
        assert up is not None
        a = up
    return a


def under(graph: list[Block], branches: Iterable[int]) -> set[int]:
    """Return the blocks that are under the branches at the ends of some blocks.

    >>> sorted(under([Block(0, 1, (1, 3)), Block(1, 2, (2, 1)), Block(2, 3, (3,)), Block(3, 4, ())], {1}))
    [1]
    """
    nearest = postdominators(graph)
    dependent: set[int] = set()
    waiting = [number for number in set(branches) if len(graph[number].next) > 1]
    queued = set(waiting)
    steps = 0
    while waiting:
        number = waiting.pop()
        for start in graph[number].next:
            while start not in (nearest[number], len(graph)) and steps < STEPS:
                steps += 1
                dependent.add(start)
                if len(graph[start].next) > 1 and start not in queued:
                    queued.add(start)
                    waiting.append(start)
                start = nearest[start]
    return dependent
