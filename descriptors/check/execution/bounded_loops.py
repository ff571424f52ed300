r"""Find the loops of a kernel with events, and the scalar parameters that bound them or lead to an operation.

``runs`` chooses parameters by these loops, and ``coverage`` compares the completed runs with them.

Source: loops are nested strongly connected components; the bound of a loop is found by a backward slice (Weiser 1981).

Invariant: a loop that polls an mbarrier is not bounded by a parameter.

>>> from descriptors.check.execution.program import program
>>> from descriptors.check.ptx.ptx_module import parse
>>> wait = "W: mbarrier.try_wait.parity.shared.b64 w, [b], q; @!w bra W;"
>>> loop = f"ld.param.u32 n, [n]; mov.u32 k, 0; L: {wait} add.u32 k, k, 1; setp.lt.u32 p, k, n; @p bra L; ret;"
>>> kernel = program(parse(f".version 8.8\n.entry k(.param .u32 n) {{ {loop} }}").functions[0])
>>> [(loop.bounds, [kernel.function.code[place].opcode for place in loop.events]) for loop in bounded_loops(kernel)]
[((0,), ['mbarrier.try_wait.parity.shared.b64'])]
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from descriptors.check.execution.program import Program
from descriptors.check.ptx.control_flow import Block
from descriptors.check.ptx.ptx_module import Function, Instruction, targets
from descriptors.check.ptx.ptx_operands import Address, names

#: Largest number of bounded loops of a function that are followed.
MOST = 256
_MULTIPLIES = ("wgmma.mma_async", "tcgen05.mma", "mma.")
#: Operations that a completed run must have executed, so that the barriers, copies and multiplications are decided.
_OPERATIONS = (
    *("mbarrier.", "bar.sync", "bar.arrive", "bar.red", "bar.cta", "barrier.", "cp.async", "cp.reduce", "red.async"),
    *("st.async", "wgmma.mma_async", "wgmma.commit", "wgmma.wait", "tcgen05.mma", "tcgen05.commit", "tcgen05.cp"),
    *("tcgen05.alloc", "tcgen05.dealloc", "clusterlaunchcontrol.try_cancel", "setmaxnreg."),
)
_PREFETCH = ("cp.async.bulk.prefetch",)
_MEMORY = ("ld", "atom")


class BoundedLoop(NamedTuple):
    """A loop with events that ends by a value of a parameter or of memory.

    Args:
        number: number of the loop in its function.
        line: line of its first instruction.
        events: indices of its operations, without those in bounded loops inside it.
        bounds: indices of the loads that its end is computed from, nearest first.
        depth: number of loops around it.
    """

    number: int
    line: int
    events: tuple[int, ...]
    bounds: tuple[int, ...]
    depth: int

    def multiplies(self, function: Function) -> bool:
        """Check whether the loop has a multiplication."""
        return any(function.code[place].opcode.startswith(_MULTIPLIES) for place in self.events)


def is_operation(instruction: Instruction) -> bool:
    """Check whether a completed run must have executed an instruction."""
    return instruction.opcode.startswith((*_OPERATIONS, "mma.")) and not instruction.opcode.startswith(_PREFETCH)


def operations(function: Function) -> frozenset[int]:
    """Return the indices of the instructions that a completed run must have executed, without ``mma.sync``.

    Operands of ``mma.sync`` are checked one by one instead.
    """
    return frozenset(
        place
        for place, instruction in enumerate(function.code)
        if is_operation(instruction) and not instruction.opcode.startswith("mma.")
    )


# -- what bounds a loop


@lru_cache(maxsize=8)
def bounded_loops(kernel: Program) -> tuple[BoundedLoop, ...]:
    """Return the loops with operations whose end is computed from a load, outer loops first; at most ``MOST``."""
    function, graph = kernel.function, kernel.graph
    writers = _writers(function)
    wanted = operations(function) | set(function.having("mma."))
    full = {number for number, block in enumerate(graph) if not wanted.isdisjoint(range(block.start, block.end))}
    bounds: dict[int, tuple[int, ...]] = {}
    for number, loop in enumerate(kernel.loops):
        if len(bounds) < MOST and not full.isdisjoint(loop.blocks):
            loads = _source_loads(function, writers, list(_exit_registers(function, graph, loop.blocks)))
            if loads:
                bounds[number] = loads
    own_blocks = {number: set(kernel.loops[number].blocks) for number in bounds}
    for number in bounds:
        around = kernel.loops[number].around
        while around >= 0:
            own_blocks.get(around, set()).difference_update(kernel.loops[number].blocks)
            around = kernel.loops[around].around
    return tuple(
        BoundedLoop(
            number,
            min(function.code[graph[block].start].line for block in kernel.loops[number].blocks),
            tuple(
                place
                for block in sorted(own_blocks[number] & full)
                for place in range(graph[block].start, graph[block].end)
                if place in wanted
            ),
            bounds[number],
            kernel.loops[number].depth,
        )
        for number in bounds
    )


def _writers(function: Function) -> dict[str, list[int]]:
    """Return the indices of the instructions that write each register."""
    writers: dict[str, list[int]] = {}
    for place, instruction in enumerate(function.code):
        for name in targets(instruction):
            writers.setdefault(name, []).append(place)
    return writers


def _exit_registers(function: Function, graph: Sequence[Block], loop: frozenset[int]) -> Iterator[str]:
    """Yield the registers that decide whether a thread leaves a loop."""
    for number in loop:
        block = graph[number]
        branch = function.code[block.end - 1]
        if all(way in loop for way in block.next) and not branch.opcode.startswith(("ret", "exit")):
            continue
        if branch.predicate:
            yield branch.predicate
        elif branch.opcode.startswith("brx"):
            yield from names(branch.operands[0])


def _source_loads(function: Function, writers: dict[str, list[int]], registers: Iterable[str]) -> tuple[int, ...]:
    """Return the loads that registers are computed from, nearest first; waits and votes have none."""
    loads: dict[int, None] = {}
    waiting = deque(registers)
    seen: set[str] = set(waiting)
    while waiting:
        for place in writers.get(waiting.popleft(), ()):
            instruction = function.code[place]
            if instruction.opcode.startswith(_MEMORY):
                loads[place] = None
                continue
            if is_operation(instruction) or instruction.opcode.startswith(("elect", "tcgen05", "wgmma", "call")):
                continue
            read = [name for operand in instruction.operands[1:] for name in names(operand)]
            for name in [*read, *([instruction.predicate] if instruction.predicate else [])]:
                if name not in seen:
                    seen.add(name)
                    waiting.append(name)
    return tuple(loads)


#: Instructions whose result is an address if an operand is one; a product is at most an offset.
_MOVES = ("mov", "add", "sub", "selp", "cvt", "min", "max")


@lru_cache(maxsize=8)
def count_loads(kernel: Program) -> frozenset[int]:
    """Return the loads of 64-bit parameters that are numbers.

    They bound a loop, and no address is computed from them.
    """
    code = kernel.function.code
    bounds = [
        [place for place in loop.bounds if re.fullmatch(r"ld\.param(::entry)?\.[bus]64", code[place].opcode)]
        for loop in bounded_loops(kernel)
    ]
    if not any(bounds):
        return frozenset()
    results: dict[str, list[str]] = {}
    addresses = set[str]()
    for instruction in code:
        moved = instruction.operands[1:] if instruction.opcode.startswith(_MOVES) else ()
        if instruction.opcode.startswith(("mad.lo", "mad.wide")):
            moved = instruction.operands[3:]
        for name in (name for operand in moved for name in names(operand)):
            results.setdefault(name, []).extend(targets(instruction))
        if instruction.opcode.startswith("cvta"):
            addresses.update(name for operand in instruction.operands[1:] for name in names(operand))
        elif not instruction.opcode.startswith("ld.param"):
            addresses.update(operand.base for operand in instruction.operands if isinstance(operand, Address))
    return frozenset(
        place
        for loads in bounds
        # A loop over addresses may compare with an end address that is never accessed.
        if all(addresses.isdisjoint(_computed_from(targets(code[load]), results)) for load in loads)
        for place in loads
    )


def _computed_from(registers: Iterable[str], results: dict[str, list[str]]) -> set[str]:
    """Return registers, and those that are computed from them."""
    reached = set(registers)
    waiting = deque(reached)
    while waiting:
        fresh = set(results.get(waiting.popleft(), ())) - reached
        reached |= fresh
        waiting.extend(fresh)
    return reached


def deciding_loads(kernel: Program, places: Collection[int]) -> dict[int, frozenset[int]]:
    """Return the loads that decide whether a thread reaches some instructions, directly or through other branches.

    A load from shared memory stands for the loads that the stored values are computed from, too.
    """
    function, graph = kernel.function, kernel.graph
    controls: dict[int, set[int]] = {}
    for number, block in enumerate(graph):
        if len(block.next) > 1:
            for start in block.next:
                for other in kernel.up_to(start, number):
                    controls.setdefault(other, set()).add(number)
    writers = _writers(function)
    stored = [
        name
        for index in function.having("st.shared")
        if function.code[index].qualifiers[-1][:1] in ("b", "u", "s")
        for operand in function.code[index].operands[1:]
        for name in names(operand)
    ]
    deciding: dict[int, frozenset[int]] = {}
    block_of = {place: number for number, block in enumerate(graph) for place in range(block.start, block.end)}
    for place in places:
        waiting, seen = [block_of[place]], {block_of[place]}
        registers = [function.code[place].predicate] if function.code[place].predicate else []
        while waiting:
            for number in controls.get(waiting.pop(), ()):
                branch = function.code[graph[number].end - 1]
                registers += [branch.predicate] if branch.predicate else list(names(branch.operands[0]))
                if number not in seen:
                    seen.add(number)
                    waiting.append(number)
        loads = set(_source_loads(function, writers, registers))
        if any(function.code[load].opcode.startswith("ld.shared") for load in loads):
            loads.update(_source_loads(function, writers, stored))
        deciding[place] = frozenset(loads)
    return deciding


def main_parameters(
    kernel: Program, reads: dict[int, set[tuple[str, int]]], free: Iterable[tuple[str, int]]
) -> list[tuple[str, int]]:
    """Return scalar parameters, first those that bound inner loops with multiplications, then those of other loops.

    Args:
        kernel: the kernel.
        reads: the scalar parameters that a load reads, by index of the load.
        free: the parameters to order.
    """
    order: list[tuple[str, int]] = []
    loops = sorted(
        bounded_loops(kernel), key=lambda loop: (not loop.multiplies(kernel.function), -loop.depth, len(loop.bounds))
    )
    for loop in loops:
        order += [key for place in loop.bounds for key in sorted(reads.get(place, ()))]
    rank = {key: number for number, key in reversed([*enumerate(order)])}
    return sorted(free, key=lambda key: rank.get(key, len(order)))
