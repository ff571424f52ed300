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
    function: Function, variables: Mapping[str, int], indices: Iterable[int], graph: list[Block] | None = None
) -> dict[int, dict[str, Known]]:
    """Return the known bits of the registers that some instructions read, by the index of the instruction.

    Args:
        function: the function.
        variables: variables of the module and their alignment in bytes.
        indices: indices of the instructions.
        graph: the basic blocks of the function; computed if None.
    """
    folder = _Folder(function, variables, blocks(function) if graph is None else graph)
    folder.note_allocations()
    values_by_index = {}
    for index in sorted(set(indices)):
        instruction = function.code[index]
        data = instruction.opcode.startswith(_DATA)
        registers = {
            name
            for operand in instruction.operands
            if not (data and isinstance(operand, Vector))
            for name in names(operand)
        }
        values_by_index[index] = {
            name: folder.value(name, index) for name in registers | {instruction.predicate} if name
        }
    return values_by_index


class _Work(NamedTuple):
    """The computation of a definition.

    Args:
        rule: returns the known bits of the result from those of the operands.
        read: the operands: their known bits, or their definitions.
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
        """Return the known bits of an operand of an instruction."""
        source = self._operand(operand, index)
        if isinstance(source, Known):
            return source
        if source not in self.known:
            self._solve(source)
        return self._refine(self.known[source])

    def place(self, operands: Sequence[Operand], index: int) -> tuple[str, int] | None:
        """Return the shared-memory place of an address as a base and an offset; None if it is not known."""
        if not operands or not isinstance(operands[0], Address):
            return None
        address = operands[0]
        address_value = self.value(address.base, index) if address.base else exactly(0)
        return (address_value.base, address_value.offset + address.offset) if address_value.base else None

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
            instruction = self.code[index]
            if _STORES.match(instruction.opcode):
                place = self.place(instruction.operands[instruction.opcode.startswith("atom") :], index)
                for base, offset in list(self.allocated) if place is not None else ():
                    if place is not None and _overlaps(base, offset, place, instruction.opcode):
                        del self.allocated[base, offset]
        # Values computed so far did not take the places into account.
        self.known.clear()
        self.work.clear()

    def _refine(self, value: Known) -> Known:
        """Combine the value with one addition from its base, which loses fewer bits to carries."""
        if value.mask == ALL or value.base not in self.bases:
            return value
        origin = self.known.get(self.bases[value.base], NOTHING)
        sum_from_base = add(narrow(origin, 32), exactly(value.offset, 32), 32)
        low = (1 << 32) - 1
        return value._replace(value=value.value | sum_from_base.value & low, mask=value.mask | sum_from_base.mask & low)

    def _operand(self, operand: Operand, index: int) -> Known | Definition:
        """Return a constant, the address of a variable, or the definition of a register that an instruction reads."""
        if isinstance(operand, int):
            return exactly(operand)
        if isinstance(operand, Negated):
            operand = operand.name
        if not isinstance(operand, str):
            return NOTHING
        definition = self.definitions.before(operand, index)
        if definition is not None:
            return definition
        if operand in self.definitions.where or operand in self.function.classes:
            return NOTHING
        align = self.function.variables.get(operand, self.variables.get(operand, 0))
        return Known(0, (align & -align) - 1, f"&{operand}") if align else _SPECIAL.get(operand, NOTHING)

    def _solve(self, root: Definition) -> None:
        """Compute a definition and all that it depends on, in the order of the dependencies (Tarjan)."""
        number, lowest, stack = {root: 0}, {root: 0}, [root]
        waiting = [(root, self._needs(root))]
        while waiting:
            definition, needs = waiting[-1]
            next_definition = None
            while needs and next_definition is None:
                other = needs.pop()
                if other not in self.known:
                    if other in number:
                        lowest[definition] = min(lowest[definition], number[other])
                    else:
                        next_definition = other
            if next_definition is not None:
                number[next_definition] = lowest[next_definition] = len(number)
                stack.append(next_definition)
                waiting.append((next_definition, self._needs(next_definition)))
                continue
            waiting.pop()
            if waiting:
                parent = waiting[-1][0]
                lowest[parent] = min(lowest[parent], lowest[definition])
            if lowest[definition] == number[definition]:
                group = [stack.pop()]
                while group[-1] != definition:
                    group.append(stack.pop())
                self._settle(group)

    def _needs(self, definition: Definition) -> list[Definition]:
        work = self.work.get(definition)
        if work is None:
            work = self.work[definition] = self._prepare_work(definition)
        return [other for other in work.read if not isinstance(other, Known)]

    def _settle(self, group: list[Definition]) -> None:
        """Compute definitions that depend on each other, starting with no values, until no value is added."""
        if len(group) == 1 and group[0] not in self.work[group[0]].read:
            self.known[group[0]] = self._compute(group[0], {}, None)
            return
        users: dict[Definition, list[Definition]] = {definition: [] for definition in group}
        for definition in group:
            for other in self._needs(definition):
                if other in users:
                    users[other].append(definition)
        endless = all(self.work[definition].grows for definition in group)
        values: dict[Definition, Known] = {}
        visits = dict.fromkeys(group, 0)
        # Process definitions in the order of the text, so that inner loops settle first.
        order = {definition: (self._position(definition), number) for number, definition in enumerate(group)}
        waiting = sorted((place, definition) for definition, place in order.items())
        queued, remaining = set(group), LOOKS * (40 + len(group))
        while waiting and remaining:
            definition = heappop(waiting)[1]
            queued.discard(definition)
            remaining -= 1
            value = self._compute_in_loop(definition, values, visits[definition], endless)
            if value is not None and value != values.get(definition):
                values[definition], visits[definition] = value, visits[definition] + 1
                for user in users[definition]:
                    if user not in queued:
                        queued.add(user)
                        heappush(waiting, (order[user], user))
        self.known.update(
            {definition: values.get(definition, NOTHING) if not waiting else NOTHING for definition in group}
        )

    def _position(self, definition: Definition) -> int:
        """Return the position of a definition in the text; a join is before the instructions of its block."""
        return 2 * definition[0] + 1 if definition[0] >= 0 else 2 * self.definitions.starts[~definition[0]]

    def _compute_in_loop(
        self, definition: Definition, values: dict[Definition, Known], visits: int, endless: bool
    ) -> Known | None:
        """Return the known bits of a definition from the values so far; they only decrease, so the loop terminates."""
        if visits > ROUNDS:
            return NOTHING
        work, previous = self.work[definition], values.get(definition)
        available = [isinstance(other, Known) or other in values or other in self.known for other in work.read]
        if not (any(available) if work.joins else all(available)):
            return None
        value = self._compute(definition, values, previous)
        if work.joins and value.mask != ALL:  # a value with several sources has no distance from another base
            value = value._replace(base=work.origin, offset=0)
        if value.choices and endless:
            value = value._replace(choices=(), root="")
        if work.joins and previous is not None and not value.choices:
            lost = previous.mask & ~(value.mask & ~(value.value ^ previous.value))
            mask = value.mask & previous.mask & ~lost & ((lost & -lost) - 1 if lost and visits > PATIENCE else ALL)
            value = value._replace(value=value.value & mask, mask=mask)
        return value

    def _compute(self, definition: Definition, values: dict[Definition, Known], previous: Known | None) -> Known:
        """Return the known bits of a definition from those of its operands."""
        work, settled = self.work[definition], self.known
        operand_values = [
            other if isinstance(other, Known) else values.get(other) or settled.get(other) for other in work.read
        ]
        known_operands = [other for other in operand_values if other is not None]
        if work.joins:
            value = merge(
                known_operands, previous.choices if previous is not None and previous.root == work.origin else ()
            )
        else:
            value = narrow(
                work.rule(known_operands) if work.other else _apply_rule(work.rule, known_operands), work.bits
            )
        if value.mask == ALL:
            return Known(value.value, ALL)
        if value.choices and not value.root:
            value = value._replace(root=work.origin)
        return value if value.base else value._replace(base=work.origin, offset=0)

    def _prepare_work(self, definition: Definition) -> _Work:
        """Return the computation of a definition."""
        index, name = definition
        if index < 0:
            origin = f"{name}@L{~index}"
            self.bases[origin] = definition
            self.joins -= 1
            joined = self.definitions.inputs(definition) if self.joins > 0 else [None]
            inputs = tuple([NOTHING if other is None else other for other in joined])
            return _Work(merge, inputs, 64, origin, joins=True, grows=True)
        origin, instruction = f"{name}@{index}", self.code[index]
        self.bases[origin] = definition
        bits = _register_width(self.function.classes.get(name, ""), instruction)
        compute, operands = self._find_rule(instruction, name, index)
        read = tuple([self._operand(operand, index) for operand in operands])
        if negations := tuple([isinstance(operand, Negated) for operand in operands]):
            compute = partial(_apply_negated, compute, negations) if any(negations) else compute
        if instruction.predicate:
            guard, previous = self._operand(instruction.predicate, index), self.definitions.before(name, index)
            compute = partial(_apply_guarded, compute, bits, instruction.negated)
            read = (guard, NOTHING if previous is None else previous, *read)
        grows = instruction.opcode.startswith(_GROWS) and not instruction.predicate
        return _Work(compute, read, bits, origin, grows=grows, other=instruction.opcode.startswith("shfl"))

    def _find_rule(self, instruction: Instruction, name: str, index: int) -> tuple[Rule, Sequence[Operand]]:
        """Return the rule and the operands by which an instruction computes a register that it writes."""
        written = targets(instruction)
        if written.count(name) != 1:
            return _give_nothing, ()
        first, sources, number = instruction.operands[0], instruction.operands[1:], written.index(name)
        if (
            instruction.opcode in _PACKS
            and len(sources) == 1
            and (isinstance(sources[0], Vector) or isinstance(first, Vector))
        ):
            return _find_pack_rule(first, sources[0], int(instruction.opcode[-2:]), number)
        if instruction.opcode.startswith("shfl.sync.") and number == 0 and sources:
            return _value_of_any_thread, sources[:1]
        if instruction.opcode.startswith("cvta.") and sources:
            return partial(
                _convert_generic, "to" in instruction.qualifiers, (self.function.variables, self.variables)
            ), sources[:1]
        if (
            instruction.opcode in _LOADS
            and len(sources) == 1
            and isinstance(sources[0], Address)
            and isinstance(first, str)
        ):
            places = [place for place, allocs in self.allocated.items() if self.definitions.follows(index, allocs)]
            return partial(_load_allocation, frozenset(places), sources[0].offset), (sources[0].base,)
        operation = decode(instruction.opcode, floats=True)
        if operation is None or not (isinstance(first, str) or operation.name == "setp"):
            return _give_nothing, ()
        operation_rule = rule(operation if number == 0 else operation.opposite())
        constants = {operand for operand in sources if isinstance(operand, int)}
        allowed = {0} if operation.type[0] == "f" else {0, 1, -1} if operation.type == "pred" else constants
        if operation_rule is None or not allowed >= constants:  # the number may be a float of another width
            return _give_nothing, ()
        return operation_rule, sources


_PACKS = ("mov.b16", "mov.b32", "mov.b64")
_LOADS = tuple(f"ld.shared{cta}.{kind}" for cta in ("", "::cta") for kind in ("b32", "u32", "s32"))
_GROWS = ("add.", "sub.", "mov.", "cvt.")


def _overlaps(base: str, offset: int, place: tuple[str, int], opcode: str) -> bool:
    """Return whether a store to a place writes the four bytes at another place."""
    size = _SIZE.search(opcode)
    size_bytes = int(size[1] or 1) * int(size[2]) // 8 if size else 32
    return base == place[0] and place[1] - 4 < offset < place[1] + size_bytes


def _register_width(kind: str, instruction: Instruction) -> int:
    """Return the width of a register by its class, or by the instruction if it is not declared."""
    if kind == "pred":
        return 1
    if not kind[1:].isdigit():
        kind = (
            instruction.qualifiers[1]
            if instruction.opcode.startswith("cvt.") and len(instruction.qualifiers) > 1
            else ""
        )
    return int(kind[1:]) if kind[1:] in ("8", "16", "32") else 64


def _give_nothing(_: Sequence[Known]) -> Known:
    return NOTHING


def _apply_rule(compute: Rule, operands: Sequence[Known]) -> Known:
    """Apply a rule to operands, separately for each combination of their choices."""
    roots = {operand.root: len(operand.choices) for operand in operands if operand.choices}
    common = compute(operands)
    if not roots or common.mask == ALL or prod(roots.values()) > MOST:
        return common
    counts = {root: min(len(operand.choices) for operand in operands if operand.root == root) for root in roots}
    results = []
    for row in product(*map(range, counts.values())):
        choice_of = dict(zip(counts, row, strict=True))
        results.append(
            compute(
                [
                    exactly(operand.choices[choice_of[operand.root]]) if operand.choices else operand
                    for operand in operands
                ]
            )
        )
    merged = merge(results)
    choices, root = merged.choices, ""
    if len(roots) == 1 and all(operand.mask == ALL for operand in results):
        choices, root = tuple([operand.value for operand in results]), next(iter(roots))
    return Known(merged.value | common.value, merged.mask | common.mask, common.base, common.offset, choices, root)


def _apply_guarded(compute: Rule, bits: int, negated: bool, operands: Sequence[Known]) -> Known:
    """Return the result of a guarded instruction: its result if the guard holds, and the earlier value if not."""
    guard, previous = operands[0].constant(1), operands[1]
    if guard is not None:
        return compute(operands[2:]) if bool(guard) != negated else previous
    return merge([narrow(compute(operands[2:]), bits), narrow(previous, bits)])


def _apply_negated(compute: Rule, negations: tuple[bool, ...], operands: Sequence[Known]) -> Known:
    """Apply a rule to operands of which some are negated predicates."""
    return compute(
        [
            differ(operand, exactly(1), 1) if is_negated else operand
            for operand, is_negated in zip(operands, negations, strict=True)
        ]
    )


def _value_of_any_thread(operands: Sequence[Known]) -> Known:
    """Return the known bits of a value of some thread, this one or another."""
    value = operands[0]
    return (
        value if value.base[:1] == "&" else Known(value.value, value.mask, "", 0, tuple(dict.fromkeys(value.choices)))
    )


def _convert_generic(to_variable: bool, variables: Sequence[Mapping[str, int]], operands: Sequence[Known]) -> Known:
    """Convert the address of a variable to a generic address, of which no bit is known, or back."""
    base, offset = operands[0].base, operands[0].offset
    if not to_variable:
        return Known(0, 0, f"{_GENERIC}{base}", offset) if base[:1] == "&" else NOTHING
    if not base.startswith(f"{_GENERIC}&"):
        return NOTHING
    name = base[len(_GENERIC) + 1 :]
    align = next((alignments[name] for alignments in variables if name in alignments), 1)
    return add(Known(0, (align & -align) - 1, f"&{name}"), exactly(offset), 64)


_GENERIC = "generic "


def _load_allocation(allocated: frozenset[tuple[str, int]], offset: int, operands: Sequence[Known]) -> Known:
    """Return what a load from shared memory yields: an address of tensor memory, if an allocation wrote it there."""
    address = operands[0]
    return Known(0, ALL & ~ADDRESS_MASK) if (address.base, address.offset + offset) in allocated else NOTHING


def _find_pack_rule(first: Operand, source: Operand, total: int, number: int) -> tuple[Rule, Sequence[Operand]]:
    """Return the rule and the operands of a ``mov`` that packs a register from parts, or unpacks it."""
    if isinstance(first, Vector) and not isinstance(source, Vector):
        part = total // len(first.items)
        return partial(_unpack_part, number * part, part, total), (source,)
    if isinstance(source, Vector) and isinstance(first, str) and source.items:
        return partial(_pack_parts, total // len(source.items), total), source.items
    return _give_nothing, ()


def _unpack_part(place: int, part: int, total: int, operands: Sequence[Known]) -> Known:
    return narrow(shift_right(narrow(operands[0], total), place, total), part)


def _pack_parts(part: int, total: int, operands: Sequence[Known]) -> Known:
    result = narrow(operands[0], part)
    base, offset = result.base, result.offset
    for number, item in enumerate(operands[1:], 1):
        item = narrow(item, part)
        if item.mask == ALL:
            offset += item.value << number * part
        else:
            base = f"{base}, {item.base}+{item.offset}" if base and item.base else ""
        result = insert(item, result, number * part, part, total)
    return result._replace(base=base, offset=offset if base else 0) if part == 32 else result


def observed(function: Function) -> list[int]:
    r"""Return the indices of the instructions whose operands the checker needs.

    >>> from descriptors.check.ptx.ptx_module import parse
    >>> observed(parse(".version 8.8\n.entry k() { x; tcgen05.alloc [a], b; }").functions[0])
    [1]
    """
    opcodes = ("wgmma.mma_async", *(f"tcgen05.{name}" for name in _OBSERVED))
    return function.having(*opcodes, *WAITS)


def number(operand: Operand, values: Mapping[str, Known], bits: int = 32) -> int | None:
    """Return the value of an operand if it is a constant, else None.

    >>> number(5, {}), number("%r1", {})
    (5, None)
    """
    if isinstance(operand, int):
        return operand
    return values[operand].constant(bits) if isinstance(operand, str) and operand in values else None
