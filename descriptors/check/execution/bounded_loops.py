"""The loops of a kernel that hold events, the scalar parameters that bound them, and how far completed runs took them.

A run says nothing about an instruction that it never executed, and little about a loop that it left before the ring of
mbarriers came around. So a kernel is decided only where the completed runs together executed each barrier operation,
copy and multiplication, and repeated each loop that a parameter bounds until every stage of its ring was used again.
Source: loops are nested strongly connected components; the bound of a loop is found by a backward slice (Weiser 1981).

Invariant: a wait that spins is no loop that a parameter bounds.

>>> from descriptors.check.execution.program import program
>>> from descriptors.check.ptx.ptx_module import parse
>>> wait = "W: mbarrier.try_wait.parity.shared.b64 w, [b], q; @!w bra W;"
>>> loop = f"ld.param.u32 n, [n]; mov.u32 k, 0; L: {wait} add.u32 k, k, 1; setp.lt.u32 p, k, n; @p bra L; ret;"
>>> made = program(parse(f".version 8.8\\n.entry k(.param .u32 n) {{ {loop} }}").functions[0])
>>> [(one.bounds, [made.function.code[place].opcode for place in one.events]) for one in bounded_loops(made)]
[((0,), ['mbarrier.try_wait.parity.shared.b64'])]
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from descriptors.check.execution.machine import Machine
from descriptors.check.execution.program import Program
from descriptors.check.ptx.control_flow import Block
from descriptors.check.ptx.ptx_module import Function, Instruction, targets
from descriptors.check.ptx.ptx_operands import Address, names

#: Least iterations of a loop: the first, one that follows another, and one that follows such a one.
LEAST = 3
#: Bounded loops of a function that are followed.
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
        number: of the loop in its function.
        line: of its first instruction.
        events: places of its operations, less those in bounded loops inside of it.
        bounds: places of the loads that its end is computed from, the nearest first.
        depth: how many loops are around it.
    """

    number: int
    line: int
    events: tuple[int, ...]
    bounds: tuple[int, ...]
    depth: int

    def multiplies(self, function: Function) -> bool:
        """Whether a multiplication is among its operations."""
        return any(function.code[place].opcode.startswith(_MULTIPLIES) for place in self.events)


class Reach(NamedTuple):
    """How far a run took a loop.

    Args:
        iterations: the most in a row.
        needed: iterations after which every stage of the ring that its waits use was used again.
    """

    iterations: int
    needed: int


def is_operation(one: Instruction) -> bool:
    """Whether a completed run must have executed an instruction."""
    return one.opcode.startswith((*_OPERATIONS, "mma.")) and not one.opcode.startswith(_PREFETCH)


def operations(function: Function) -> frozenset[int]:
    """The places of what a completed run must have executed; ``mma.sync`` is judged by its operands instead."""
    return frozenset(
        place for place, one in enumerate(function.code) if is_operation(one) and not one.opcode.startswith("mma.")
    )


# -- what bounds a loop


@lru_cache(maxsize=8)
def bounded_loops(made: Program) -> tuple[BoundedLoop, ...]:
    """The loops with operations whose end is computed from a load, outer loops first; at most ``MOST`` of them."""
    function, graph = made.function, made.graph
    writers = _writers(function)
    held = operations(function) | set(function.having("mma."))
    full = {number for number, one in enumerate(graph) if not held.isdisjoint(range(one.start, one.end))}
    bounds: dict[int, tuple[int, ...]] = {}
    for number, loop in enumerate(made.loops):
        if len(bounds) < MOST and not full.isdisjoint(loop.blocks):
            found = _bounds(function, writers, list(_leaving(function, graph, loop.blocks)))
            if found:
                bounds[number] = found
    own = {number: set(made.loops[number].blocks) for number in bounds}
    for number in bounds:
        around = made.loops[number].around
        while around >= 0:
            own.get(around, set()).difference_update(made.loops[number].blocks)
            around = made.loops[around].around
    return tuple(
        BoundedLoop(
            number,
            min(function.code[graph[block].start].line for block in made.loops[number].blocks),
            tuple(
                place
                for block in sorted(own[number] & full)
                for place in range(graph[block].start, graph[block].end)
                if place in held
            ),
            bounds[number],
            made.loops[number].depth,
        )
        for number in bounds
    )


def _writers(function: Function) -> dict[str, list[int]]:
    """Return the places of the instructions that write each register."""
    writers: dict[str, list[int]] = {}
    for place, instruction in enumerate(function.code):
        for name in targets(instruction):
            writers.setdefault(name, []).append(place)
    return writers


def _leaving(function: Function, graph: Sequence[Block], loop: frozenset[int]) -> Iterator[str]:
    """The registers that decide whether a thread leaves a loop."""
    for number in loop:
        block = graph[number]
        last = function.code[block.end - 1]
        if all(way in loop for way in block.next) and not last.opcode.startswith(("ret", "exit")):
            continue
        if last.predicate:
            yield last.predicate
        elif last.opcode.startswith("brx"):
            yield from names(last.operands[0])


def _bounds(function: Function, writers: dict[str, list[int]], registers: Iterable[str]) -> tuple[int, ...]:
    """The loads that registers are computed from, the nearest first; a wait's or a vote's answer has none."""
    found: dict[int, None] = {}
    waiting = deque(registers)
    seen: set[str] = set(waiting)
    while waiting:
        for place in writers.get(waiting.popleft(), ()):
            one = function.code[place]
            if one.opcode.startswith(_MEMORY):
                found[place] = None
                continue
            if is_operation(one) or one.opcode.startswith(("elect", "tcgen05", "wgmma", "call")):
                continue
            read = [name for operand in one.operands[1:] for name in names(operand)]
            for name in [*read, *([one.predicate] if one.predicate else [])]:
                if name not in seen:
                    seen.add(name)
                    waiting.append(name)
    return tuple(found)


#: Instructions whose result is an address where an operand is one: not products, which are offsets at most.
_MOVES = ("mov", "add", "sub", "selp", "cvt", "min", "max")


@lru_cache(maxsize=8)
def count_loads(made: Program) -> frozenset[int]:
    """The loads of 64-bit parameters that are numbers: they bound a loop, and no address is computed from them."""
    code = made.function.code
    bounds = [
        [place for place in loop.bounds if re.fullmatch(r"ld\.param(::entry)?\.[bus]64", code[place].opcode)]
        for loop in bounded_loops(made)
    ]
    if not any(bounds):
        return frozenset()
    results: dict[str, list[str]] = {}
    addresses = set[str]()
    for one in code:
        moved = one.operands[1:] if one.opcode.startswith(_MOVES) else ()
        if one.opcode.startswith(("mad.lo", "mad.wide")):
            moved = one.operands[3:]
        for name in (name for operand in moved for name in names(operand)):
            results.setdefault(name, []).extend(targets(one))
        if one.opcode.startswith("cvta"):
            addresses.update(name for operand in one.operands[1:] for name in names(operand))
        elif not one.opcode.startswith("ld.param"):
            addresses.update(operand.base for operand in one.operands if isinstance(operand, Address))
    return frozenset(
        place
        for loads in bounds
        # A loop over addresses may end at one that nothing is read from.
        if all(addresses.isdisjoint(_reached(targets(code[load]), results)) for load in loads)
        for place in loads
    )


def _reached(registers: Iterable[str], results: dict[str, list[str]]) -> set[str]:
    """Return the registers, and those that are computed from them."""
    reached = set(registers)
    waiting = deque(reached)
    while waiting:
        new = set(results.get(waiting.popleft(), ())) - reached
        reached |= new
        waiting.extend(new)
    return reached


def deciding_loads(made: Program, places: Collection[int]) -> dict[int, frozenset[int]]:
    """For some instructions the loads that decide, directly or through other branches, whether a thread reaches them.

    A load from shared memory stands for the loads that what is stored there is computed from, too.
    """
    function, graph = made.function, made.graph
    controls: dict[int, set[int]] = {}
    for number, block in enumerate(graph):
        if len(block.next) > 1:
            for start in block.next:
                for other in made.up_to(start, number):
                    controls.setdefault(other, set()).add(number)
    writers = _writers(function)
    stored = [
        name
        for index in function.having("st.shared")
        if function.code[index].qualifiers[-1][:1] in ("b", "u", "s")
        for operand in function.code[index].operands[1:]
        for name in names(operand)
    ]
    found: dict[int, frozenset[int]] = {}
    block_of = {place: number for number, one in enumerate(graph) for place in range(one.start, one.end)}
    for place in places:
        waiting, seen = [block_of[place]], {block_of[place]}
        registers = [function.code[place].predicate] if function.code[place].predicate else []
        while waiting:
            for number in controls.get(waiting.pop(), ()):
                last = function.code[graph[number].end - 1]
                registers += [last.predicate] if last.predicate else list(names(last.operands[0]))
                if number not in seen:
                    seen.add(number)
                    waiting.append(number)
        loads = set(_bounds(function, writers, registers))
        if any(function.code[load].opcode.startswith("ld.shared") for load in loads):
            loads.update(_bounds(function, writers, stored))
        found[place] = frozenset(loads)
    return found


# -- how far a run took them


def executed(machine: Machine) -> set[int]:
    """The places of the instructions with which a run did something."""
    found = {touch.place for touch in machine.barriers.touches}
    for one in machine.fragments:
        found.update(one.times)
    return found


def reach(machine: Machine, loop: BoundedLoop, done: set[int]) -> Reach:
    """How far a run that executed some instructions took a loop."""
    own = [target for target, number in machine.program.back_edges.items() if number == loop.number]
    longest = max((machine.notes.longest.get(target, 0) for target in own), default=0)
    came = not done.isdisjoint(loop.events)
    return Reach(longest + came, max(LEAST, _of_ring(machine, loop, own), _of_groups(machine.program.function, loop)))


def _of_ring(machine: Machine, loop: BoundedLoop, own: Collection[int]) -> int:
    """Iterations after which each mbarrier that the loop waits for was waited for twice, and one once more."""
    places = set(loop.events)
    waited: dict[tuple[int, int], Counter[int]] = {}
    for touch in machine.barriers.touches:
        if touch.passed and touch.place in places:
            waited.setdefault((touch.cta, touch.warp), Counter())[touch.address] += 1
    needed = 0
    for warp, addresses in waited.items():
        turns = max((machine.notes.turns.get((*warp, target), 0) for target in own), default=0)
        each = max(1, addresses.total() // max(1, turns))
        sites = len({touch.place for touch in machine.barriers.touches if touch.place in places})
        needed = max(needed, -(-(2 * len(addresses) + 1) // min(each, sites)))
    return needed


def _of_groups(function: Function, loop: BoundedLoop) -> int:
    """Iterations after which each buffer was used again, where the oldest of some groups is waited for."""
    needed = 0
    for place in loop.events:
        one = function.code[place]
        if one.opcode.startswith(("cp.async.wait_group", "cp.async.bulk.wait_group")):
            left = one.operands[0] if one.operands and isinstance(one.operands[0], int) else 0
            needed = max(needed, 2 * (left + (1 if "bulk" in one.opcode else 2)) + 1)
    return needed


def main_parameters(
    made: Program, reads: dict[int, set[tuple[str, int]]], free: Iterable[tuple[str, int]]
) -> list[tuple[str, int]]:
    """Scalar parameters, those first that bound the inner loops with multiplications, then those of other loops.

    Args:
        made: the kernel.
        reads: the scalar parameters that a load reads, by its place.
        free: the parameters to order.
    """
    order: list[tuple[str, int]] = []
    loops = sorted(
        bounded_loops(made), key=lambda one: (not one.multiplies(made.function), -one.depth, len(one.bounds))
    )
    for loop in loops:
        order += [key for place in loop.bounds for key in sorted(reads.get(place, ()))]
    rank = {key: number for number, key in reversed([*enumerate(order)])}
    return sorted(free, key=lambda key: rank.get(key, len(order)))
