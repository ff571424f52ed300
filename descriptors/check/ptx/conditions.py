r"""The conditions of guards and branches, traced to the registers and comparisons that decide them.

A *condition* is a register, a comparison, an election, or a combination of conditions by *not*, *and*, *or*. A register
with a single definition is replaced by that definition, unless a register that it was computed from is written in
between; any other register stands for itself. All elections with the same mask elect the same thread. The known truth
values are a mapping from conditions to booleans.
Source: PTX ISA 9.1, Predicated Execution; setp, selp, elect.sync ("deterministic: the same leader for the same mask").

Invariant: a condition and its negation are never both true.

>>> from descriptors.check.ptx.control_flow import blocks
>>> from descriptors.check.ptx.ptx_module import parse
>>> body = "setp.eq.s32 p, r, 0; setp.ne.s32 q, r, 0; not.pred n, q; and.pred m, p, e; @p x; @q y; @n z; @m w; ret;"
>>> function = parse(f".version 8.8\n.entry k() {{ {body} }}").functions[0]
>>> conditions = Conditions(function, blocks(function))
>>> x, y, z, w = (conditions.guard(index) for index in range(4, 8))
>>> x == z, truth(y, {x: True}), truth(w, {x: False}), truth(w, {x: True})
(True, False, False, None)
>>> truth(x, dict(follows(w, True)))
True
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from descriptors.check.ptx.control_flow import Block
from descriptors.check.ptx.integer_instructions import IntegerOperation, decode, exact
from descriptors.check.ptx.ptx_module import Function, Instruction
from descriptors.check.ptx.ptx_operands import Negated, Operand, Pair

#: A condition: its kind, and its parts.
Condition: TypeAlias = tuple[Any, ...]
#: Known truth values of conditions.
Known: TypeAlias = Mapping[Condition, bool]

#: Largest number of definitions that are followed one after the other.
DEPTH = 12
#: Largest number of other definitions, in other blocks, of a register whose definition is looked for.
WRITERS = 8


def truth(condition: Condition, truths: Known) -> bool | None:
    """Return whether a condition holds; None if that does not follow from the known truth values.

    >>> truth(("or", ("register", "p"), ("constant", 1)), {})
    True
    """
    if condition in truths:
        return truths[condition]
    match condition:
        case ("constant", value):
            return bool(value)
        case ("not", inner):
            found = truth(inner, truths)
            return None if found is None else not found
        case ("and", a, b):
            return _combine(truth(a, truths), truth(b, truths), False)
        case ("or", a, b):
            return _combine(truth(a, truths), truth(b, truths), True)
    return None


def _combine(a: bool | None, b: bool | None, decides: bool) -> bool | None:
    if decides in (a, b):
        return decides
    return None if a is None or b is None else not decides


def follows(condition: Condition, holds: bool) -> Iterator[tuple[Condition, bool]]:
    """Yield the truth values that follow from a condition that holds, or does not hold."""
    if condition[0] == "not":
        yield from follows(condition[1], not holds)
        return
    if condition[0] != "constant":
        yield condition, holds
    if (condition[0], holds) in (("and", True), ("or", False)):
        yield from follows(condition[1], holds)
        yield from follows(condition[2], holds)


def within(condition: Condition) -> Iterator[Condition]:
    """Yield a condition and its parts, without negations and constants."""
    if condition[0] not in ("not", "constant"):
        yield condition
    if condition[0] in ("not", "and", "or"):
        for part in condition[1:]:
            yield from within(part)


def leaves(condition: Condition) -> Iterator[str]:
    """Yield the registers that a condition depends on.

    >>> list(leaves(("and", ("register", "p"), ("elect", -1))))
    ['p']
    """
    if condition[0] == "register":
        yield condition[1]
    for part in condition[1:]:
        if isinstance(part, tuple):
            yield from leaves(part)


class Conditions:
    """The conditions of a function.

    Args:
        function: the function.
        graph: its basic blocks.
    """

    def __init__(self, function: Function, graph: list[Block]) -> None:
        self.code, self.graph = function.code, graph
        self.block = [number for number, block in enumerate(graph) for _ in range(block.start, block.end)]
        self.where = function.writes
        self._reached: dict[tuple[int, int, int], bool] = {}
        self._read: dict[tuple[str, int], Condition] = {}

    def guard(self, index: int) -> Condition:
        """Return the condition under which a reached instruction is executed."""
        instruction = self.code[index]
        if not instruction.predicate:
            return ("constant", 1)
        condition = self.at(instruction.predicate, index)
        return negation(condition) if instruction.negated else condition

    def at(self, name: str, index: int, depth: int = DEPTH) -> Condition:
        """Return the condition that a register is, as an instruction reads it."""
        key = (name, index)
        if key not in self._read:
            self._read[key] = self._compute_at(name, index, depth)
        return self._read[key]

    def _compute_at(self, name: str, index: int, depth: int) -> Condition:
        plain: Condition = ("register", name)
        definition = self._definition(name, index)
        if definition is None or not depth:
            return plain
        condition = self._condition_of(self.code[definition], name, definition, depth - 1)
        return condition if condition is not None and self.lasts(condition, definition, index) else plain

    def defined(self, name: str) -> int | None:
        """Return the only instruction that writes a register, if it is unguarded; else None."""
        places = self.where.get(name, ())
        return places[0] if len(places) == 1 and not self.code[places[0]].predicate else None

    def _definition(self, name: str, index: int) -> int | None:
        """Return the only definition of a register that reaches an instruction, if it is unguarded; else None."""
        places = self.where.get(name, ())
        if len(places) < 2:
            return self.defined(name)
        nearest = max((place for place in places if place < index), default=-1)
        if nearest < 0 or self.code[nearest].predicate:
            return None
        if self.block[nearest] == self.block[index]:
            return nearest
        others = [place for place in places if place != nearest]
        may_differ = len(others) > WRITERS or any(self.passes(place, index, nearest) for place in others)
        return None if may_differ else nearest

    def sum(self, name: str, index: int, depth: int = DEPTH) -> tuple[str, int]:
        """Return a register, as an instruction reads it, as another register and the distance from it."""
        definition = self.defined(name)
        if (
            definition is None
            or not depth
            or not self.code[definition].opcode.startswith(("mov.", "add.", "cvta.", "cvt."))
        ):
            return name, 0
        operands = self.code[definition].operands[1:]
        constant = sum(operand for operand in operands if isinstance(operand, int))
        registers = [operand for operand in operands if isinstance(operand, str)]
        if len(registers) != 1 or len(operands) > 2:
            return name, 0
        base, offset = self.sum(registers[0], definition, depth - 1)
        return (base, offset + constant) if self.lasts(("register", base), definition, index) else (name, 0)

    def lasts(self, condition: Condition, definition: int, index: int) -> bool:
        """Return whether a definition always precedes a read, and its registers are not written in between."""
        if self.passes(-1, index, definition):
            return False
        return not any(
            self.passes(place, index, definition) for name in leaves(condition) for place in self.where.get(name, ())
        )

    def _condition_of(self, instruction: Instruction, name: str, index: int, depth: int) -> Condition | None:
        operands = instruction.operands
        if instruction.opcode.startswith("elect.") and isinstance(operands[0], Pair) and operands[0].second == name:
            return ("elect", *(self._operand(operand, index, depth) for operand in operands[1:]))
        operation = decode(instruction.opcode, floats=True)
        if (
            operation is None
            or len(operands) != operation.operands + 1
            or not isinstance(operands[0], str)
            or operation.logic
        ):
            return None
        if operation.type != "pred" and operation.name not in ("mov", "selp", "setp"):
            return None
        parts = [self._operand(operand, index, depth) for operand in operands[1:]]
        if all(part[0] == "constant" for part in parts):
            return ("constant", exact(operation)(*[part[1] for part in parts]))
        match operation.name:
            case "mov":
                return parts[0]
            case "not":
                return negation(parts[0])
            case "selp":
                return ("selp", *parts)
            case "setp":
                return _comparison(operation, *parts)
        return _logic(operation.name, *parts)

    def _operand(self, operand: Operand, index: int, depth: int) -> Condition:
        if isinstance(operand, int):
            return ("constant", operand)
        if isinstance(operand, Negated):
            return negation(self.at(operand.name, index, depth))
        return self.at(operand, index, depth) if isinstance(operand, str) else ("text", str(operand), index)

    def passes(self, start: int, end: int, around: int = -1) -> bool:
        """Return whether a path leads from one instruction (-1: the start) to another without passing a third."""
        key = (start, end, around)
        if key not in self._reached:
            self._reached[key] = self._passes(start, end, around)
        return self._reached[key]

    def _passes(self, start: int, end: int, around: int) -> bool:
        if start >= len(self.block) or end >= len(self.block):
            return False
        first, last = self.block[max(start, 0)], self.block[end]
        barred = self.block[around] if around >= 0 else -1
        if first == last and start < end:
            return not start < around < end
        if first == barred and start < around:
            return False
        waiting, visited = list(self.graph[first].next), set[int]()
        while waiting:
            number = waiting.pop()
            if number in visited:
                continue
            visited.add(number)
            if number == last and not (number == barred and around < end):
                return True
            if number != barred:
                waiting.extend(self.graph[number].next)
        return False

    def comes(self, end: int, around: frozenset[int]) -> bool:
        """Return whether a path from the start reaches an instruction without passing some others."""
        barred = {self.block[place]: place for place in sorted(around, reverse=True)}
        waiting, visited, last = [0], set[int](), self.block[end]
        while waiting:
            number = waiting.pop()
            if number in visited:
                continue
            visited.add(number)
            if number == last and not (number in barred and barred[number] < end):
                return True
            if number not in barred:
                waiting.extend(self.graph[number].next)
        return False


def negation(condition: Condition) -> Condition:
    """Return the negation of a condition.

    >>> negation(negation(("register", "p")))
    ('register', 'p')
    """
    match condition:
        case ("not", inner):
            return tuple(inner)
        case ("constant", value):
            return ("constant", int(not value))
    return ("not", condition)


def _logic(kind: str, a: Condition, b: Condition) -> Condition | None:
    if kind == "xor":
        for operand, other in ((a, b), (b, a)):
            if operand[0] == "constant":
                return negation(other) if operand[1] else other
        return None
    if repr(b) < repr(a):
        a, b = b, a
    return (kind, a, b)


def _comparison(operation: IntegerOperation, a: Condition, b: Condition) -> Condition:
    if a == b:
        return ("constant", exact(operation)(0, 0))
    if operation.mode in ("ne", "ge", "gt"):
        return negation(_comparison(operation.opposite(), a, b))
    if operation.mode == "eq" and b[0] == "constant" and a[0] == "selp" and a[1][0] == a[2][0] == "constant":
        yes, no = (exact(operation)(choice[1], b[1]) for choice in a[1:3])
        if yes == no:
            return ("constant", yes)
        return tuple(a[3]) if yes else negation(a[3])
    return (operation.mode, operation.type, a, b)
