r"""Constant folding: the known bits and values of the operands of some instructions of a function.

Only the registers on which these operands depend are computed. The value of a register is that of the definition that
reaches the read. If several definitions reach it, the value is what they agree on, and the set of their values if each
has few. So the stage of a pipeline, which counts up and wraps around, is known by its values, and so is everything that
is computed from it. A guarded definition may leave the earlier value. A register that is not defined on some path is
not known. The address of a shared-memory variable is its name plus an offset, with known alignment. A value that
``ld.shared`` reads from a place that only ``tcgen05.alloc`` is seen to write is an address of tensor memory: only its
lane and column bits can be set.
Source: PTX ISA 9.1: Predicated Execution, mov, cvta, shfl.sync, Special Registers; Tensor Memory Addressing; the rules
of ``known_results``. Fixed points over groups of definitions that depend on each other: Tarjan 1972.

Invariant: a folded constant is what the instructions compute.

>>> from descriptors.check.ptx.ptx_module import parse
>>> body = "mov.b32 %r1, 5; shl.b32 %r2, %r1, 4; or.b32 %r3, %r2, 3; cvt.u64.u32 %d, %r3; st.use %d;"
>>> function = parse(f".version 8.8\n.entry k() {{ {body} }}").functions[0]
>>> fold(function, {}, [4])[4]["%d"].constant(64)
83

Invariant: a counter has exactly the values that the loop gives it.

>>> loop = "mov.u32 %s, 0; L: add.s32 %t, %s, 1; setp.gt.s32 %p, %t, 2; selp.b32 %s, 0, %t, %p; st.use %s; bra L;"
>>> fold(parse(f".version 8.8\n.entry k() {{ {loop} }}").functions[0], {}, [4])[4]["%s"].values(32)
(0, 1, 2)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from heapq import heappop, heappush
from itertools import product
from math import prod
from typing import NamedTuple

from descriptors.check.ptx.control_flow import Block, blocks
from descriptors.check.ptx.integer_instructions import decode
from descriptors.check.ptx.known_bits import (
    ALL,
    MOST,
    NOTHING,
    Known,
    add,
    below,
    differ,
    exactly,
    insert,
    merge,
    narrow,
    shift_right,
)
from descriptors.check.ptx.known_results import Rule, rule
from descriptors.check.ptx.ptx_module import Function, Instruction, targets
from descriptors.check.ptx.ptx_operands import Address, Negated, Operand, Vector, names
from descriptors.check.ptx.reaching_definitions import Definition, Definitions
from descriptors.tmem.geometry import ADDRESS_MASK

#: The known registers of each instruction, by its index.
Values = Mapping[int, Mapping[str, Known]]
#: Beginnings of the opcodes of waits on mbarriers.
WAITS = ("mbarrier.try_wait", "mbarrier.test_wait")
_OBSERVED = ("mma", "cp", "commit", "alloc", "dealloc", "ld", "st")
# Vectors of these instructions are data, which is not folded.
_DATA = ("wgmma.", "tcgen05.ld", "tcgen05.st")


def fold(
    function: Function, variables: Mapping[str, int], asked: Iterable[int], known: list[Block] | None = None
) -> dict[int, dict[str, Known]]:
    """Return what is known of the registers that some instructions read, by the index of the instruction.

    Args:
        function: the function.
        variables: variables of the module and their alignment in bytes.
        asked: indices of the instructions.
        known: the basic blocks of the function; computed if None.
    """
    folder = _Folder(function, variables, blocks(function) if known is None else known)
    folder.note_allocations()
    found = {}
    for index in sorted(set(asked)):
        one = function.code[index]
        data = one.opcode.startswith(_DATA)
        read = {name for o in one.operands if not (data and isinstance(o, Vector)) for name in names(o)}
        found[index] = {name: folder.value(name, index) for name in read | {one.predicate} if name}
    return found


class _Work(NamedTuple):
    """The computation of a definition.

    Args:
        rule: returns what is known of the result from what is known of the operands.
        read: the operands: what is known of them, or their definitions.
        bits: width of the register.
        origin: the base of the value, if it has no other.
        joins: whether several definitions meet here.
        grows: whether it only adds or copies, so that a loop of such definitions has unboundedly many values.
        other: whether the operands are those of another thread, whose choices may differ.
    """

    rule: Rule
    read: tuple[Known | Definition, ...]
    bits: int
    origin: str
    joins: bool = False
    grows: bool = False
    other: bool = False


#: Visits of a definition in a loop after which nothing is known of it, and after which bits that change are given up.
ROUNDS, PATIENCE = 200, 3
#: Average number of visits of the definitions of a loop after which nothing is known of any of them.
LOOKS = 50

#: Largest number of allocations whose places are tracked, far more than any kernel has.
ALLOCATIONS = 64

# Special registers with a limited range.
_SPECIAL = {
    "%laneid": below(31),
    **{f"%tid.{axis}": below(1023) for axis in "xyz"},
    **{f"%ntid.{axis}": below(1024) for axis in "xyz"},
}
_STORES = re.compile(r"(?:st|red|atom)\.(?:\w+\.)*?shared\b")
_SIZE = re.compile(r"(?:\.v(\d))?\.[a-z]+(\d+)\Z")


class _Folder:
    """The values of the definitions of a function, each computed when it is first needed."""

    def __init__(self, function: Function, variables: Mapping[str, int], graph: list[Block]) -> None:
        self.function, self.code, self.variables = function, function.code, variables
        self.definitions = Definitions(function, graph)
        self.known: dict[Definition, Known] = {}
        self.work: dict[Definition, _Work] = {}
        self.bases: dict[str, Definition] = {}
        self.allocated: dict[tuple[str, int], list[int]] = {}
        # Kernels have at most one join per thirty instructions; a graph with far more is not followed.
        self.joins = 1000 + len(self.code) // 2

    def value(self, operand: Operand, index: int) -> Known:
        """Return what is known of an operand of an instruction."""
        found = self._operand(operand, index)
        if isinstance(found, Known):
            return found
        if found not in self.known:
            self._solve(found)
        return self._refined(self.known[found])

    def place(self, operands: Sequence[Operand], index: int) -> tuple[str, int] | None:
        """Return the shared-memory place of an address as a base and an offset; None if it is not known."""
        if not operands or not isinstance(operands[0], Address):
            return None
        address = operands[0]
        one = self.value(address.base, index) if address.base else exactly(0)
        return (one.base, one.offset + address.offset) if one.base else None

    def note_allocations(self) -> None:
        """Record the places to which allocations write their address, without those that a store may write.

        Another warp may read the address, so the allocation need not be on a path to the read.
        """
        for index in self.function.having("tcgen05.alloc"):
            if place := self.place(self.code[index].operands[:1], index):
                self.allocated.setdefault(place, []).append(index)
        if sum(map(len, self.allocated.values())) > ALLOCATIONS:
            self.allocated.clear()
        if not self.allocated:
            return
        for index in self.function.having("st.", "red.", "atom."):
            one = self.code[index]
            if _STORES.match(one.opcode):
                place = self.place(one.operands[one.opcode.startswith("atom") :], index)
                for base, at in list(self.allocated) if place is not None else ():
                    if place is not None and _hit(base, at, place, one.opcode):
                        del self.allocated[base, at]
        # Values computed so far did not take the places into account.
        self.known.clear()
        self.work.clear()

    def _refined(self, made: Known) -> Known:
        """Combine the value with one addition from its base, which loses fewer bits to carries."""
        if made.mask == ALL or made.base not in self.bases:
            return made
        origin = self.known.get(self.bases[made.base], NOTHING)
        once = add(narrow(origin, 32), exactly(made.offset, 32), 32)
        low = (1 << 32) - 1
        return made._replace(value=made.value | once.value & low, mask=made.mask | once.mask & low)

    def _operand(self, operand: Operand, index: int) -> Known | Definition:
        """Return a constant, the address of a variable, or the definition of a register that an instruction reads."""
        if isinstance(operand, int):
            return exactly(operand)
        if isinstance(operand, Negated):
            operand = operand.name
        if not isinstance(operand, str):
            return NOTHING
        found = self.definitions.before(operand, index)
        if found is not None:
            return found
        if operand in self.definitions.where or operand in self.function.classes:
            return NOTHING
        align = self.function.variables.get(operand, self.variables.get(operand, 0))
        return Known(0, (align & -align) - 1, f"&{operand}") if align else _SPECIAL.get(operand, NOTHING)

    def _solve(self, wanted: Definition) -> None:
        """Compute a definition and all that it depends on, in the order of the dependencies (Tarjan)."""
        number, lowest, stack = {wanted: 0}, {wanted: 0}, [wanted]
        waiting = [(wanted, self._needs(wanted))]
        while waiting:
            one, others = waiting[-1]
            fresh = None
            while others and fresh is None:
                other = others.pop()
                if other not in self.known:
                    if other in number:
                        lowest[one] = min(lowest[one], number[other])
                    else:
                        fresh = other
            if fresh is not None:
                number[fresh] = lowest[fresh] = len(number)
                stack.append(fresh)
                waiting.append((fresh, self._needs(fresh)))
                continue
            waiting.pop()
            if waiting:
                above = waiting[-1][0]
                lowest[above] = min(lowest[above], lowest[one])
            if lowest[one] == number[one]:
                group = [stack.pop()]
                while group[-1] != one:
                    group.append(stack.pop())
                self._settle(group)

    def _needs(self, one: Definition) -> list[Definition]:
        work = self.work.get(one)
        if work is None:
            work = self.work[one] = self._work(one)
        return [other for other in work.read if not isinstance(other, Known)]

    def _settle(self, group: list[Definition]) -> None:
        """Compute definitions that depend on each other, starting with no values, until no value is added."""
        if len(group) == 1 and group[0] not in self.work[group[0]].read:
            self.known[group[0]] = self._computed(group[0], {}, None)
            return
        users: dict[Definition, list[Definition]] = {one: [] for one in group}
        for one in group:
            for other in self._needs(one):
                if other in users:
                    users[other].append(one)
        endless = all(self.work[one].grows for one in group)
        now: dict[Definition, Known] = {}
        seen = dict.fromkeys(group, 0)
        # Process definitions in the order of the text, so that inner loops settle first.
        order = {one: (self._position(one), number) for number, one in enumerate(group)}
        waiting = sorted((place, one) for one, place in order.items())
        held, left = set(group), LOOKS * (40 + len(group))
        while waiting and left:
            one = heappop(waiting)[1]
            held.discard(one)
            left -= 1
            made = self._of_a_loop(one, now, seen[one], endless)
            if made is not None and made != now.get(one):
                now[one], seen[one] = made, seen[one] + 1
                for user in users[one]:
                    if user not in held:
                        held.add(user)
                        heappush(waiting, (order[user], user))
        self.known.update({one: now.get(one, NOTHING) if not waiting else NOTHING for one in group})

    def _position(self, one: Definition) -> int:
        """Return the position of a definition in the text; a join is before the instructions of its block."""
        return 2 * one[0] + 1 if one[0] >= 0 else 2 * self.definitions.starts[~one[0]]

    def _of_a_loop(self, one: Definition, now: dict[Definition, Known], seen: int, endless: bool) -> Known | None:
        """Return what is known of a definition from the values so far; known bits only decrease, so it terminates."""
        if seen > ROUNDS:
            return NOTHING
        work, before = self.work[one], now.get(one)
        there = [isinstance(other, Known) or other in now or other in self.known for other in work.read]
        if not (any(there) if work.joins else all(there)):
            return None
        made = self._computed(one, now, before)
        if work.joins and made.mask != ALL:  # a value with several sources has no distance from another base
            made = made._replace(base=work.origin, offset=0)
        if made.choices and endless:
            made = made._replace(choices=(), root="")
        if work.joins and before is not None and not made.choices:
            lost = before.mask & ~(made.mask & ~(made.value ^ before.value))
            mask = made.mask & before.mask & ~lost & ((lost & -lost) - 1 if lost and seen > PATIENCE else ALL)
            made = made._replace(value=made.value & mask, mask=mask)
        return made

    def _computed(self, one: Definition, now: dict[Definition, Known], before: Known | None) -> Known:
        """Return what is known of a definition from what is known of its operands."""
        work, known = self.work[one], self.known
        held = [other if isinstance(other, Known) else now.get(other) or known.get(other) for other in work.read]
        read = [other for other in held if other is not None]
        if work.joins:
            made = merge(read, before.choices if before is not None and before.root == work.origin else ())
        else:
            made = narrow(work.rule(read) if work.other else _applied(work.rule, read), work.bits)
        if made.mask == ALL:
            return Known(made.value, ALL)
        if made.choices and not made.root:
            made = made._replace(root=work.origin)
        return made if made.base else made._replace(base=work.origin, offset=0)

    def _work(self, one: Definition) -> _Work:
        """Return the computation of a definition."""
        index, name = one
        if index < 0:
            origin = f"{name}@L{~index}"
            self.bases[origin] = one
            self.joins -= 1
            several = self.definitions.inputs(one) if self.joins > 0 else [None]
            inputs = tuple([NOTHING if other is None else other for other in several])
            return _Work(merge, inputs, 64, origin, joins=True, grows=True)
        origin, made = f"{name}@{index}", self.code[index]
        self.bases[origin] = one
        bits = _width(self.function.classes.get(name, ""), made)
        found, operands = self._rule(made, name, index)
        read = tuple([self._operand(operand, index) for operand in operands])
        if turned := tuple([isinstance(operand, Negated) for operand in operands]):
            found = partial(_turned, found, turned) if any(turned) else found
        if made.predicate:
            guard, before = self._operand(made.predicate, index), self.definitions.before(name, index)
            found = partial(_guarded, found, bits, made.negated)
            read = (guard, NOTHING if before is None else before, *read)
        grows = made.opcode.startswith(_GROWS) and not made.predicate
        return _Work(found, read, bits, origin, grows=grows, other=made.opcode.startswith("shfl"))

    def _rule(self, one: Instruction, name: str, index: int) -> tuple[Rule, Sequence[Operand]]:
        """Return the rule and the operands by which an instruction computes a register that it writes."""
        written = targets(one)
        if written.count(name) != 1:
            return _nothing, ()
        first, read, number = one.operands[0], one.operands[1:], written.index(name)
        if one.opcode in _PACKS and len(read) == 1 and (isinstance(read[0], Vector) or isinstance(first, Vector)):
            return _pack(first, read[0], int(one.opcode[-2:]), number)
        if one.opcode.startswith("shfl.sync.") and number == 0 and read:
            return _lane, read[:1]
        if one.opcode.startswith("cvta.") and read:
            return partial(_generic, "to" in one.qualifiers, (self.function.variables, self.variables)), read[:1]
        if one.opcode in _LOADS and len(read) == 1 and isinstance(read[0], Address) and isinstance(first, str):
            places = [place for place, allocs in self.allocated.items() if self.definitions.follows(index, allocs)]
            return partial(_loaded, frozenset(places), read[0].offset), (read[0].base,)
        operation = decode(one.opcode, floats=True)
        if operation is None or not (isinstance(first, str) or operation.name == "setp"):
            return _nothing, ()
        found = rule(operation if number == 0 else operation.opposite())
        constants = {operand for operand in read if isinstance(operand, int)}
        allowed = {0} if operation.type[0] == "f" else {0, 1, -1} if operation.type == "pred" else constants
        if found is None or not allowed >= constants:  # the number may be a float of another width
            return _nothing, ()
        return found, read


_PACKS = ("mov.b16", "mov.b32", "mov.b64")
_LOADS = tuple(f"ld.shared{cta}.{kind}" for cta in ("", "::cta") for kind in ("b32", "u32", "s32"))
_GROWS = ("add.", "sub.", "mov.", "cvt.")


def _hit(base: str, at: int, place: tuple[str, int], opcode: str) -> bool:
    """Return whether a store to a place writes the four bytes at another place."""
    size = _SIZE.search(opcode)
    many = int(size[1] or 1) * int(size[2]) // 8 if size else 32
    return base == place[0] and place[1] - 4 < at < place[1] + many


def _width(kind: str, one: Instruction) -> int:
    """Return the width of a register by its class, or by the instruction if it is not declared."""
    if kind == "pred":
        return 1
    if not kind[1:].isdigit():
        kind = one.qualifiers[1] if one.opcode.startswith("cvt.") and len(one.qualifiers) > 1 else ""
    return int(kind[1:]) if kind[1:] in ("8", "16", "32") else 64


def _nothing(_: Sequence[Known]) -> Known:
    return NOTHING


def _applied(how: Rule, read: Sequence[Known]) -> Known:
    """Apply a rule to operands, separately for each combination of their choices."""
    roots = {one.root: len(one.choices) for one in read if one.choices}
    plain = how(read)
    if not roots or plain.mask == ALL or prod(roots.values()) > MOST:
        return plain
    many = {root: min(len(one.choices) for one in read if one.root == root) for root in roots}
    found = []
    for row in product(*map(range, many.values())):
        at = dict(zip(many, row, strict=True))
        found.append(how([exactly(one.choices[at[one.root]]) if one.choices else one for one in read]))
    made = merge(found)
    choices, root = made.choices, ""
    if len(roots) == 1 and all(one.mask == ALL for one in found):
        choices, root = tuple([one.value for one in found]), next(iter(roots))
    return Known(made.value | plain.value, made.mask | plain.mask, plain.base, plain.offset, choices, root)


def _guarded(how: Rule, bits: int, negated: bool, read: Sequence[Known]) -> Known:
    """Return the result of a guarded instruction: its result if the guard holds, and the earlier value if not."""
    guard, before = read[0].constant(1), read[1]
    if guard is not None:
        return how(read[2:]) if bool(guard) != negated else before
    return merge([narrow(how(read[2:]), bits), narrow(before, bits)])


def _turned(how: Rule, turned: tuple[bool, ...], read: Sequence[Known]) -> Known:
    """Apply a rule to operands of which some are negated predicates."""
    return how([differ(one, exactly(1), 1) if other else one for one, other in zip(read, turned, strict=True)])


def _lane(read: Sequence[Known]) -> Known:
    """Return what is known of a value of some thread, this one or another."""
    one = read[0]
    return one if one.base[:1] == "&" else Known(one.value, one.mask, "", 0, tuple(dict.fromkeys(one.choices)))


def _generic(to: bool, variables: Sequence[Mapping[str, int]], read: Sequence[Known]) -> Known:
    """Convert the address of a variable to a generic address, of which no bit is known, or back."""
    base, offset = read[0].base, read[0].offset
    if not to:
        return Known(0, 0, f"{_GENERIC}{base}", offset) if base[:1] == "&" else NOTHING
    if not base.startswith(f"{_GENERIC}&"):
        return NOTHING
    name = base[len(_GENERIC) + 1 :]
    align = next((those[name] for those in variables if name in those), 1)
    return add(Known(0, (align & -align) - 1, f"&{name}"), exactly(offset), 64)


_GENERIC = "generic "


def _loaded(allocated: frozenset[tuple[str, int]], offset: int, read: Sequence[Known]) -> Known:
    """Return what a load from shared memory yields: an address of tensor memory, if an allocation wrote it there."""
    one = read[0]
    return Known(0, ALL & ~ADDRESS_MASK) if (one.base, one.offset + offset) in allocated else NOTHING


def _pack(first: Operand, source: Operand, total: int, number: int) -> tuple[Rule, Sequence[Operand]]:
    """Return the rule and the operands of a ``mov`` that packs a register from parts, or unpacks it."""
    if isinstance(first, Vector) and not isinstance(source, Vector):
        part = total // len(first.items)
        return partial(_part, number * part, part, total), (source,)
    if isinstance(source, Vector) and isinstance(first, str) and source.items:
        return partial(_packed, total // len(source.items), total), source.items
    return _nothing, ()


def _part(place: int, part: int, total: int, read: Sequence[Known]) -> Known:
    return narrow(shift_right(narrow(read[0], total), place, total), part)


def _packed(part: int, total: int, read: Sequence[Known]) -> Known:
    made = narrow(read[0], part)
    base, offset = made.base, made.offset
    for number, one in enumerate(read[1:], 1):
        one = narrow(one, part)
        if one.mask == ALL:
            offset += one.value << number * part
        else:
            base = f"{base}, {one.base}+{one.offset}" if base and one.base else ""
        made = insert(one, made, number * part, part, total)
    return made._replace(base=base, offset=offset if base else 0) if part == 32 else made


def observed(function: Function) -> list[int]:
    r"""Return the indices of the instructions whose operands the checker needs.

    >>> from descriptors.check.ptx.ptx_module import parse
    >>> observed(parse(".version 8.8\n.entry k() { x; tcgen05.alloc [a], b; }").functions[0])
    [1]
    """
    wanted = ("wgmma.mma_async", *(f"tcgen05.{name}" for name in _OBSERVED))
    return function.having(*wanted, *WAITS)


def number(operand: Operand, values: Mapping[str, Known], bits: int = 32) -> int | None:
    """Return the value of an operand if it is a constant, else None.

    >>> number(5, {}), number("%r1", {})
    (5, None)
    """
    if isinstance(operand, int):
        return operand
    return values[operand].constant(bits) if isinstance(operand, str) and operand in values else None
