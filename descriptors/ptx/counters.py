"""Counters that go round: registers that count up and start again, as the stage of a pipeline does, and their values.

All definitions of such a register are constants, or ``selp`` of a constant and of the register plus a constant, by a
comparison of that sum with a constant. Its values are enumerated: from the constants on, by what the instructions do.
Source: the loops that compilers write; PTX ISA 9.1, selp, setp.

Law: a counter has the values that the loop gives it, and no other.

>>> from descriptors.ptx.module import parse
>>> loop = "mov.u32 %s, 0; L: add.s32 %t, %s, 1; setp.gt.s32 %p, %t, 2; selp.b32 %s, 0, %t, %p; bra L;"
>>> counters(parse(f".version 8.8\\n.entry k() {{ {loop} }}").functions[0].code, {"%s": [0, 3], "%t": [1], "%p": [2]})
{'%s': (0, 1, 2)}
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence

from descriptors.ptx.module import Instruction
from descriptors.ptx.operands import Operand

#: A counter of more values is none.
MOST = 64

_COMPARE: dict[str, Callable[[int, int], bool]] = {
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge,
}  # fmt: skip


def counters(code: Sequence[Instruction], where: Mapping[str, Sequence[int]]) -> dict[str, tuple[int, ...]]:
    """The counters of a function, and the values of each.

    Args:
        code: the instructions.
        where: for each register that is looked at, the instructions that define it.
    """
    found = {}
    for name, places in where.items():
        made = [code[index] for index in places]
        if len(made) > 1 and any(one.opcode.startswith("selp") for one in made):
            values = _values(name, made, code, where)
            if values is not None:
                found[name] = values
    return found


def _values(
    name: str, made: list[Instruction], code: Sequence[Instruction], where: Mapping[str, Sequence[int]]
) -> tuple[int, ...] | None:
    starts: set[int] = set()
    steps: list[Callable[[int], int]] = []
    for one in made:
        if one.opcode.startswith("mov.") and len(one.operands) == 2 and not one.predicate:
            start = _constant(one.operands[1], code, where)
            if start is None:
                return None
            starts.add(start)
        elif one.opcode.startswith("selp") and (step := _step(name, one, code, where)) and not one.predicate:
            steps.append(step)
        else:
            return None
    waiting, seen = list(starts), set(starts)
    while waiting:
        value = waiting.pop()
        for after in (step(value) for step in steps):
            if after not in seen:
                seen.add(after)
                waiting.append(after)
        if len(seen) > MOST:
            return None
    return tuple(sorted(seen)) if min(seen, default=-1) >= 0 else None


def _single(operand: Operand, code: Sequence[Instruction], where: Mapping[str, Sequence[int]]) -> Instruction | None:
    """The only instruction that defines a register."""
    places = where.get(operand, ()) if isinstance(operand, str) else ()
    return code[places[0]] if len(places) == 1 and not code[places[0]].predicate else None


def _constant(operand: Operand, code: Sequence[Instruction], where: Mapping[str, Sequence[int]]) -> int | None:
    for _ in range(8):
        if isinstance(operand, int):
            return operand
        made = _single(operand, code, where)
        if made is None or not made.opcode.startswith("mov.") or len(made.operands) != 2:
            return None
        operand = made.operands[1]
    return None


def _step(
    name: str, one: Instruction, code: Sequence[Instruction], where: Mapping[str, Sequence[int]]
) -> Callable[[int], int] | None:
    """What a ``selp`` makes of the value before."""
    if len(one.operands) != 4:
        return None
    _, yes, no, predicate = one.operands
    test = _single(predicate, code, where)
    if test is None or not test.opcode.startswith("setp.") or len(test.operands) != 3:
        return None
    compare, bound = _COMPARE.get(test.qualifiers[1]), test.operands[2]
    sides = [_side(side, name, code, where) for side in (yes, no, test.operands[1])]
    if compare is None or not isinstance(bound, int) or None in sides or (".u" in test.opcode and bound < 0):
        return None
    first, second, tested = sides

    def step(value: int) -> int:
        assert first is not None and second is not None and tested is not None
        return first(value) if compare(tested(value), bound) else second(value)

    return step


def _side(
    side: Operand, name: str, code: Sequence[Instruction], where: Mapping[str, Sequence[int]]
) -> Callable[[int], int] | None:
    """An operand as a function of the counter: a constant, or the counter plus one."""
    constant = _constant(side, code, where)
    if constant is not None:
        return lambda _: constant
    made = _single(side, code, where)
    if made is None or not made.opcode.startswith("add.") or len(made.operands) != 3:
        return None
    by = _constant(made.operands[2], code, where)
    return (lambda value: value + by) if made.operands[1] == name and by is not None else None
