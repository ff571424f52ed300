r"""Coverage of a kernel by its completed runs: the operations that they executed, and the iterations of its loops.

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

from collections.abc import Collection, Iterator

from descriptors.check.execution.bounded_loops import (
    BoundedLoop,
    Reach,
    bounded_loops,
    deciding_loads,
    executed,
    operations,
    reach,
)
from descriptors.check.execution.evidence import Blind
from descriptors.check.execution.program import Program
from descriptors.check.execution.runs import Run
from descriptors.text import counted

_TENSOR = ("tcgen05.alloc", "tcgen05.dealloc")
_COPIES = ("cp.async", "cp.reduce")
_MEET = ("mbarrier.", "bar", "tcgen05.commit", "clusterlaunchcontrol")


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
        self._by_value: dict[
            tuple[int, tuple[str, int], int], dict[int, int]
        ] = {}  # iterations of a loop by a parameter
        self._stopped: dict[int, int] = {}  # iterations in a run that was stopped

    def add_run(self, run: Run) -> None:
        """Add the coverage of a run."""
        machine, done = run.machine, executed(run.machine)
        for place, read in machine.notes.reads.items():
            self._reads.setdefault(place, set()).update(read.difference(self.given))
        ended = run.stop is None and not machine.hung
        if ended:
            self._executed |= done
        for loop in bounded_loops(self.kernel):
            reads = {key for place in loop.bounds for key in machine.notes.reads.get(place, ())}
            self._keys.setdefault(loop.number, set()).update(reads.difference(self.given))
            reached = reach(machine, loop, done)
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
        """Yield what is not covered.

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
            what = ".".join(code[places[0]].opcode.split(".")[:2])
            yield Blind(properties, lines[0], what, f"no completed run executes it{also}{more}")
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


def _properties(opcode: str) -> tuple[str, ...]:
    """Return the properties that an instruction leaves undecided if it is not executed."""
    if opcode.startswith(_TENSOR):
        return ("tensor memory",)
    if opcode.startswith(_COPIES) and "group" not in opcode:
        return ("bytes", "reuse")
    return ("barriers", "reuse") if opcode.startswith(_MEET) else ("reuse",)
