r"""Coverage of a kernel by its completed runs: the operations that they executed, and the iterations of its loops.

A run proves nothing about an instruction that it never executed, and little about a loop that it left before each
mbarrier of the ring was used again. A kernel is therefore decided only if its completed runs together executed each
barrier operation, copy and multiplication, and repeated each loop that a parameter bounds until every stage of its ring
was used again.

Invariant: an operation that no completed run executed is undecided, and so is a loop that every completed run left
before all stages of its ring were used again.

>>> from descriptors.check.execution.launch import Launch
>>> from descriptors.check.execution.program import program
>>> from descriptors.check.execution.runs import run
>>> from descriptors.check.ptx.ptx_module import parse
>>> body = "ld.param.u32 n, [n]; setp.lt.u32 p, n, 512; @p bra L; bar.sync 0; L: ret;"
>>> kernel = program(parse(f".version 8.8\n.entry k(.param .u32 n) {{ {body} }}").functions[0])
>>> def uncovered(*sizes):
...     coverage = Coverage(kernel)
...     for size in sizes:
...         coverage.add_run(run(kernel, Launch((32, 1, 1), (1, 1, 1), (1, 1, 1), size, {}, {}, {}, {})))
...     return [(row.line, row.why) for row in coverage.rows(set())]
>>> uncovered(256), uncovered(256, 1024)
([(2, 'no completed run executes it')], [])
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from typing import NamedTuple

from descriptors.check.execution.bounded_loops import (
    BoundedLoop,
    bounded_loops,
    deciding_loads,
    operations,
)
from descriptors.check.execution.evidence import Blind
from descriptors.check.execution.machine import Machine
from descriptors.check.execution.program import Program
from descriptors.check.execution.runs import Run
from descriptors.check.ptx.ptx_module import Function
from descriptors.text import counted

#: Least iterations of a loop: the first, the second, and one after the second.
LEAST = 3
_TENSOR = ("tcgen05.alloc", "tcgen05.dealloc")
_COPIES = ("cp.async", "cp.reduce")
_MEET = ("mbarrier.", "bar", "tcgen05.commit", "clusterlaunchcontrol")


class Reach(NamedTuple):
    """The iterations of a loop in a run.

    Args:
        iterations: the largest number of consecutive iterations.
        needed: iterations after which every stage of the ring of its waits was used again.
    """

    iterations: int
    needed: int


class Coverage:
    """The operations and iterations that the completed runs of a kernel executed.

    Args:
        kernel: the kernel.
        given: scalar parameters whose values are known.
    """

    def __init__(self, kernel: Program, given: Collection[tuple[str, int]] = ()) -> None:
        self.kernel, self.given = kernel, given
        self._wanted = operations(kernel.function)
        self._reads: dict[int, set[tuple[str, int]]] = {}  # parameters by the load that reads them
        self._loads: dict[int, frozenset[int]] = {}  # loads that decide whether an operation is reached
        self._executed: set[int] = set()
        self._reach: dict[int, Reach] = {}  # by number of the loop
        self._keys: dict[int, set[tuple[str, int]]] = {}  # parameters that bound a loop and are not given
        # iterations by value of a parameter, for each loop, parameter and size
        self._by_value: dict[tuple[int, tuple[str, int], int], dict[int, int]] = {}
        self._stopped: dict[int, int] = {}  # iterations in a run that was stopped

    def add_run(self, run: Run) -> None:
        """Add the coverage of a run."""
        machine, executed = run.machine, executed_places(run.machine)
        for place, read in machine.notes.reads.items():
            self._reads.setdefault(place, set()).update(read.difference(self.given))
        ended = run.stop is None and not machine.hung
        if ended:
            self._executed |= executed
        for loop in bounded_loops(self.kernel):
            reads = {key for place in loop.bounds for key in machine.notes.reads.get(place, ())}
            self._keys.setdefault(loop.number, set()).update(reads.difference(self.given))
            reached = measure_reach(machine, loop, executed)
            if not ended:
                self._stopped[loop.number] = max(self._stopped.get(loop.number, 0), reached.iterations)
                continue
            for key, value in machine.launch.scalars.items():
                if key not in self.given:
                    values = self._by_value.setdefault((loop.number, key, machine.launch.size), {})
                    values[value] = max(values.get(value, 0), reached.iterations)
            previous = self._reach.get(loop.number, Reach(0, 0))
            self._reach[loop.number] = Reach(*map(max, previous, reached))

    @property
    def missed(self) -> list[int]:
        """The indices of the operations that no completed run executed and that a free parameter may lead to."""
        missed = sorted(self._wanted - self._executed)
        if fresh := [place for place in missed if place not in self._loads]:
            self._loads.update(deciding_loads(self.kernel, fresh))
        return [place for place in missed if any(self._reads.get(load) for load in self._loads[place])]

    def keys(self, loop: BoundedLoop) -> set[tuple[str, int]]:
        """Return the parameters that bound a loop."""
        return self._keys.get(loop.number, set())

    def is_saturated(self, loop: BoundedLoop, key: tuple[str, int]) -> bool:
        """Check whether a parameter at least twice as large made a loop no longer, as for a remainder."""
        return any(
            2 * smaller <= larger and values[larger] <= values[smaller]
            for (number, name, _), values in self._by_value.items()
            if (number, name) == (loop.number, key)
            for smaller in values
            for larger in values
        )

    def is_short(self, loop: BoundedLoop) -> bool:
        """Check whether a loop was executed, but by no completed run far enough."""
        reach = self._reach.get(loop.number)
        return reach is not None and bool(self.keys(loop)) and 0 < reach.iterations < reach.needed

    def rows(self, closed: Collection[tuple[str, int]]) -> Iterator[Blind]:
        """Yield the operations and loops that are not covered.

        Args:
            closed: parameters whose larger values follow from those that were run.
        """
        code = self.kernel.function.code
        groups: dict[tuple[str, ...], list[int]] = {}
        for place in self.missed:
            groups.setdefault(_properties(code[place].opcode), []).append(place)
        for properties, places in groups.items():
            lines = sorted({code[place].line for place in places})
            also = f", nor line{'s' * (len(lines) > 2)} {', '.join(map(str, lines[1:5]))}" if len(lines) > 1 else ""
            more = f" and {len(lines) - 5} more" if len(lines) > 5 else ""
            opcode_stem = ".".join(code[places[0]].opcode.split(".")[:2])
            yield Blind(properties, lines[0], opcode_stem, f"no completed run executes it{also}{more}")
        for loop in bounded_loops(self.kernel):
            reach, keys = self._reach.get(loop.number), self.keys(loop)
            free = [key for key in keys if not self.is_saturated(loop, key)]
            if not self.is_short(loop) or reach is None or not free or any(key in closed for key in keys):
                continue
            iterations = counted(reach.iterations, "iteration")
            why = f"the completed runs make {iterations} in a row, and its ring is used again after {reach.needed}"
            if self._stopped.get(loop.number, 0) > reach.iterations:
                why += "; a run with more was stopped"
            yield Blind(("barriers", "reuse"), loop.line, "the later iterations of the loop", why)


def executed_places(machine: Machine) -> set[int]:
    """Return the indices of the events that a run executed."""
    places = {touch.place for touch in machine.barriers.touches}
    for fragment in machine.fragments:
        places.update(fragment.times)
    return places


def measure_reach(machine: Machine, loop: BoundedLoop, executed: set[int]) -> Reach:
    """Return how far a run that executed some instructions took a loop."""
    headers = [target for target, number in machine.program.back_edges.items() if number == loop.number]
    longest = max((machine.notes.longest.get(target, 0) for target in headers), default=0)
    is_executed = not executed.isdisjoint(loop.events)
    return Reach(
        longest + is_executed,
        max(
            LEAST, _iterations_for_ring(machine, loop, headers), _iterations_for_groups(machine.program.function, loop)
        ),
    )


def _iterations_for_ring(machine: Machine, loop: BoundedLoop, headers: Collection[int]) -> int:
    """Return the iterations after which each awaited mbarrier was waited for twice, and one of them a third time."""
    places = set(loop.events)
    waited: dict[tuple[int, int], Counter[int]] = {}
    for touch in machine.barriers.touches:
        if touch.passed and touch.place in places:
            waited.setdefault((touch.cta, touch.warp), Counter())[touch.address] += 1
    needed = 0
    for warp, addresses in waited.items():
        turns = max((machine.notes.turns.get((*warp, target), 0) for target in headers), default=0)
        waits_per_iteration = max(1, addresses.total() // max(1, turns))
        sites = len({touch.place for touch in machine.barriers.touches if touch.place in places})
        needed = max(needed, -(-(2 * len(addresses) + 1) // min(waits_per_iteration, sites)))
    return needed


def _iterations_for_groups(function: Function, loop: BoundedLoop) -> int:
    """Return the iterations after which each buffer was used again, if the loop waits for groups."""
    needed = 0
    for place in loop.events:
        instruction = function.code[place]
        if instruction.opcode.startswith(("cp.async.wait_group", "cp.async.bulk.wait_group")):
            pending = (
                instruction.operands[0] if instruction.operands and isinstance(instruction.operands[0], int) else 0
            )
            needed = max(needed, 2 * (pending + (1 if "bulk" in instruction.opcode else 2)) + 1)
    return needed


def _properties(opcode: str) -> tuple[str, ...]:
    """Return the properties that an instruction leaves undecided if it is not executed."""
    if opcode.startswith(_TENSOR):
        return ("tensor memory",)
    if opcode.startswith(_COPIES) and "group" not in opcode:
        return ("bytes", "reuse")
    return ("barriers", "reuse") if opcode.startswith(_MEET) else ("reuse",)
