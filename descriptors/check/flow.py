"""The control flow of a function: basic blocks, their successors, and a fixed point of states over them.

A state is carried along the blocks and met where paths meet, until nothing changes: loops need no other care. A family
of states that only grow finitely many times ends; a bound on the rounds ends the others with an error.
Source: PTX ISA 9.1, Control Flow Instructions.

Law: every instruction is in one block, in order, and an edge ends where a block begins.

>>> from descriptors.check.ptx_module import parse
>>> text = ".version 8.8\\n.entry k() { L: add.s32 r, r, 1; @p bra L; ret; }"
>>> [(one.start, one.end, one.next) for one in blocks(parse(text).functions[0])]
[(0, 2, (1, 0)), (2, 3, ())]
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from itertools import pairwise
from typing import TypeVar

from descriptors.check.ptx_module import Function, Instruction
from descriptors.errors import DescriptorError
from descriptors.frozen import frozen

_S = TypeVar("_S")

#: How often a block is looked at before a fixed point is given up.
ROUNDS = 64
_ENDS = ("ret", "exit", "trap")


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
    marks.update(index + 1 for index, one in enumerate(code) if _leaves(one))
    starts = sorted(mark for mark in marks if mark <= len(code))
    if not code:
        return []
    number = {start: index for index, start in enumerate(starts)}
    return [Block(a, b, _next(function, b, number, starts)) for a, b in pairwise(starts)]


def _leaves(one: Instruction) -> bool:
    name = one.opcode.partition(".")[0]
    return name in _ENDS or name in ("bra", "brx")


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
        return [one for one in function.tables.get(str(wanted), function.labels) if one in function.labels]
    if not isinstance(wanted, str) or wanted not in function.labels:
        raise DescriptorError(f"ptx: a branch must lead to a label, found {wanted}; line {branch.line}")
    return [wanted]


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
            raise DescriptorError(f"ptx: states must settle in {ROUNDS} rounds, found a block that does not; {number}")
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
