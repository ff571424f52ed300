"""The control flow of a function: its basic blocks, states that are carried along it, and what stands under a branch.

A block ends at a branch, or before a label. A family of states that only grow finitely many times comes to a fixed
point; a bound on the rounds ends the others with an error. A block stands under a branch if one way out of the branch
always comes to it and another may not, or if it stands under a branch of such a block.
Source: PTX ISA 9.1, Control Flow Instructions; control dependence, as compilers have it (Ferrante, Ottenstein, Warren
1987; post-dominators as Cooper, Harvey and Kennedy 2001 compute dominators), whose judge is enumeration of paths.

Law: every instruction is in one block, in order, and an edge ends where a block begins.

>>> from descriptors.check.ptx.ptx_module import parse
>>> text = ".version 8.8\\n.entry k() { L: add.s32 r, r, 1; @p bra L; ret; }"
>>> [(one.start, one.end, one.next) for one in blocks(parse(text).functions[0])]
[(0, 2, (1, 0)), (2, 3, ())]

Law: where two ways out of a branch meet again, nothing stands under it any more.

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

#: How often a block is looked at before a fixed point is given up.
ROUNDS = 64
_ENDS, _BRANCHES = ("ret", "exit", "trap"), ("bra", "brx")
#: Ways on that branches by tables may have in a function: far more than any kernel has.
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
    """The basic blocks of a function, the first of them where it begins.

    Raises:
        DescriptorError: if a branch leads to no label.
    """
    code = function.code
    marks = {0, len(code), *function.labels.values()}
    marks.update(index + 1 for index in function.having(*_ENDS, *_BRANCHES) if _leaves(code[index]))
    starts = sorted(mark for mark in marks if mark <= len(code))
    if not code:
        return []
    number = {start: index for index, start in enumerate(starts)}
    ways = sum(len(_table(function, code[index])) for index in function.having("brx"))
    if ways > WAYS:
        raise DescriptorError(f"ptx: the branch tables have {ways} labels together, which is more than {WAYS}")
    return [Block(a, b, _next(function, b, number, starts)) for a, b in pairwise(starts)]


def _leaves(one: Instruction) -> bool:
    name = one.opcode.partition(".")[0]
    return name in _ENDS or name in _BRANCHES


def _next(function: Function, end: int, number: dict[int, int], starts: list[int]) -> tuple[int, ...]:
    last, length = function.code[end - 1], len(function.code)
    name = last.opcode.partition(".")[0]
    follow = (number[end],) if end < length else ()
    if not _leaves(last):
        return follow
    onward = follow if last.predicate else ()
    if name in _ENDS:
        return onward
    ends = [function.labels[label] for label in _targets(function, last)]
    return tuple(dict.fromkeys([*onward, *(number[e] for e in ends if e < length)]))


def _targets(function: Function, branch: Instruction) -> list[str]:
    wanted = branch.operands[-1] if branch.operands else ""
    if branch.opcode.startswith("brx"):
        return [one for one in _table(function, branch) if one in function.labels]
    if not isinstance(wanted, str) or wanted not in function.labels:
        raise DescriptorError(f"ptx: a branch leads to {wanted or 'nothing'}, which is not a label; line {branch.line}")
    return [wanted]


def _table(function: Function, branch: Instruction) -> Collection[str]:
    """The labels to which a branch by a table may lead; all that there are, if the table is not there."""
    return function.tables.get(str(branch.operands[-1]) if branch.operands else "", function.labels)


def fixed_point(
    known: list[Block], start: _S, through: Callable[[int, _S], _S], meet: Callable[[_S, _S], _S],
    back: Callable[[_S], _S] | None = None,
) -> list[_S | None]:  # fmt: skip
    """The state before each block; None where no path leads.

    Args:
        known: the blocks.
        start: the state before the first.
        through: from the number of a block and the state before it to the state behind it.
        meet: the state where two paths meet.
        back: what the way back to an earlier block does to a state; nothing if it is not said.

    Raises:
        DescriptorError: if the states do not settle.

    >>> loop = [Block(0, 1, (1,)), Block(1, 2, (1, 2)), Block(2, 3, ())]
    >>> fixed_point(loop, frozenset(), lambda number, state: state | {number}, frozenset.union)
    [frozenset(), frozenset({0, 1}), frozenset({0, 1})]
    """
    before: list[_S | None] = [None] * len(known)
    if not known:
        return before
    before[0] = start
    seen = [0] * len(known)
    waiting, held = [0], {0}
    while waiting:
        number = heappop(waiting)
        held.discard(number)
        state = before[number]
        seen[number] += 1
        if seen[number] > ROUNDS or state is None:
            raise DescriptorError(f"ptx: the states of block {number} do not settle in {ROUNDS} iterations")
        after = through(number, state)
        for follower in known[number].next:
            old = before[follower]
            come = back(after) if back is not None and follower <= number else after
            new = come if old is None else meet(old, come)
            if old is None or new != old:
                before[follower] = new
                if follower not in held:
                    heappush(waiting, follower)
                    held.add(follower)
    return before


def cycles(graph: list[Block]) -> set[int]:
    """The blocks from which a way leads back to themselves.

    >>> sorted(cycles([Block(0, 1, (1,)), Block(1, 2, (2,)), Block(2, 3, (1, 3)), Block(3, 4, ()), Block(4, 5, (4,))]))
    [1, 2, 4]
    """
    groups = components({number: one.next for number, one in enumerate(graph)})
    return {number for group in groups for number in group if len(group) > 1 or number in graph[number].next}


def components(onward: Mapping[int, Sequence[int]]) -> list[frozenset[int]]:
    """Return the strongly connected components of a graph, each before those that it leads to.

    >>> [sorted(one) for one in components({0: [1], 1: [2], 2: [1, 3], 3: []})]
    [[0], [1, 2], [3]]
    """
    before: dict[int, list[int]] = {number: [] for number in onward}
    for number, followers in onward.items():
        for follower in followers:
            before[follower].append(number)
    found: list[frozenset[int]] = []
    seen: set[int] = set()
    # With all edges turned round, what the node that was left last leads to is one component (Kosaraju).
    for root in _reverse_postorder(onward, sorted(onward)):
        group, waiting = set[int](), [root]
        while waiting:
            number = waiting.pop()
            if number not in seen:
                seen.add(number)
                group.add(number)
                waiting.extend(before[number])
        if group:
            found.append(frozenset(group))
    return found


#: Steps after which blocks under branches are no longer looked for: far more than any kernel needs.
STEPS = 2_000_000


def postdominators(graph: list[Block]) -> list[int]:
    """For each block the nearest block that every way from it to the end comes to; ``len(graph)`` is the end itself.

    A block from which no way leads to the end has the end.

    >>> postdominators([Block(0, 1, (0,))])
    [1]
    """
    end = len(graph)
    onward: list[Sequence[int]] = [[*one.next] or [end] for one in graph]
    nearest = _nearest([*onward, ()], _turned([*onward, ()]), end)
    return [end if one is None else one for one in nearest[:end]]


def dominators(graph: list[Block]) -> list[int | None]:
    """For each block the nearest block that every way to it comes from; 0 for the first, None where no way leads.

    >>> dominators([Block(0, 1, (1, 2)), Block(1, 2, (2,)), Block(2, 3, ()), Block(3, 4, (2,))])
    [0, 0, 0, None]
    """
    onward: list[Sequence[int]] = [one.next for one in graph]
    return _nearest(_turned(onward), onward, 0) if graph else []


def _turned(onward: list[Sequence[int]]) -> list[Sequence[int]]:
    """A graph with its edges turned round."""
    before: list[list[int]] = [[] for _ in onward]
    for number, followers in enumerate(onward):
        for follower in followers:
            before[follower].append(number)
    return [*before]


def _nearest(before: list[Sequence[int]], onward: list[Sequence[int]], root: int) -> list[int | None]:
    """The nearest dominator of each node of a graph, given by its edges in both directions."""
    order = _reverse_postorder(onward, [root])
    place = {number: index for index, number in enumerate(order)}
    nearest: list[int | None] = [None] * len(onward)
    nearest[root] = root
    changed = True
    while changed:
        changed = False
        for number in order[1:]:
            known = [n for n in before[number] if nearest[n] is not None]
            found = known[0]
            for other in known[1:]:
                found = _common(found, other, nearest, place)
            if nearest[number] != found:
                nearest[number], changed = found, True
    return nearest


def _reverse_postorder(
    onward: Sequence[Sequence[int]] | Mapping[int, Sequence[int]], roots: Iterable[int]
) -> list[int]:
    """The nodes to which the roots lead, each before those to which it leads, but for the ways back of loops."""
    seen, done = set[int](), list[int]()
    for root in roots:
        waiting = [(root, iter(onward[root]))] if root not in seen else []
        seen.add(root)
        while waiting:
            number, others = waiting[-1]
            fresh = next((n for n in others if n not in seen), None)
            if fresh is None:
                done.append(number)
                waiting.pop()
            else:
                seen.add(fresh)
                waiting.append((fresh, iter(onward[fresh])))
    return done[::-1]


def _common(a: int, b: int, nearest: list[int | None], place: dict[int, int]) -> int:
    while a != b:
        if place[a] < place[b]:
            a, b = b, a
        up = nearest[a]
        assert up is not None
        a = up
    return a


def under(graph: list[Block], branches: Iterable[int]) -> set[int]:
    """The blocks that stand under the branches at the ends of some blocks.

    >>> sorted(under([Block(0, 1, (1, 3)), Block(1, 2, (2, 1)), Block(2, 3, (3,)), Block(3, 4, ())], {1}))
    [1]
    """
    nearest = postdominators(graph)
    found: set[int] = set()
    waiting = [number for number in set(branches) if len(graph[number].next) > 1]
    done = set(waiting)
    steps = 0
    while waiting:
        number = waiting.pop()
        for start in graph[number].next:
            while start not in (nearest[number], len(graph)) and steps < STEPS:
                steps += 1
                found.add(start)
                if len(graph[start].next) > 1 and start not in done:
                    done.add(start)
                    waiting.append(start)
                start = nearest[start]
    return found
