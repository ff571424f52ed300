r"""A machine that executes the integer instructions of a cluster, step by step.

If the text does not determine the value of a register, the value is unknown, with the reason. If a run cannot continue
without it, the run stops and names the place. A fragment learns of the accesses of others only by waiting, so that one
schedule is sufficient: two accesses that this schedule does not order are not ordered at all. If no fragment can
continue, copies of unknown size complete first; then lanes continue without other lanes of their warp. If that does not
help, the kernel hangs.

Source: PTX ISA 9.1, Thread Hierarchy; Parallel Synchronization and Communication Instructions; emulating the integers
of each warp follows Weft (Sharma, Bauer, Aiken 2015).

Invariant: lanes that a branch separates are one fragment again at the reconvergence point, each with the values it
computed.

>>> from descriptors.check.execution.dispatch import execution
>>> from descriptors.check.execution.program import program
>>> from descriptors.check.ptx.ptx_module import parse
>>> body = "mov.u32 a, %tid.x; setp.lt.u32 p, a, 3; @p bra L; add.u32 a, a, 100; L: st.shared.b32 [s], a; ret;"
>>> launch = Launch((4, 1, 1), (1, 1, 1), (1, 1, 1), 0, {}, {"s": 0}, {}, {})
>>> machine = Machine(program(parse(f".version 8.8\n.entry k() {{ {body} }}").functions[0]), launch, execution)
>>> machine.run()
>>> [(fragment.lanes, fragment.registers["a"]) for fragment in machine.fragments]
[((0, 1, 2, 3), (0, 1, 2, 103))]
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from enum import Enum
from typing import Any, NamedTuple

from descriptors.check.execution.contents import Contents, Origins
from descriptors.check.execution.fragment import Awaited, Fragment, Wait
from descriptors.check.execution.knowledge import Access, Clash, Segments
from descriptors.check.execution.lane_knowledge import LaneKnowledge
from descriptors.check.execution.lanes import (
    Unknown,
    Value,
    first_unknown,
    join_lanes,
    lane_values,
    map_lanes,
    origin_text,
    select_lanes,
)
from descriptors.check.execution.launch import LOCAL, PARAMETERS, RANK, Launch, special_register
from descriptors.check.execution.mbarrier import Mbarriers
from descriptors.check.execution.meetings import Issues
from descriptors.check.execution.outcomes import Notes, Reason, Stop, Witness
from descriptors.check.execution.program import Program, Step
from descriptors.check.execution.register_pool import RegisterPool
from descriptors.check.execution.schedule import Schedule
from descriptors.check.execution.tensor_memory import TensorMemory
from descriptors.check.ptx.ptx_module import Instruction, targets
from descriptors.check.ptx.ptx_operands import Address, Negated, Operand, Vector

_LOW_64 = 0xFFFFFFFFFFFFFFFF


def items_of(operand: Operand) -> tuple[Operand, ...]:
    """Return the items of a vector, or the operand itself.

    >>> items_of(Vector(("a", "b"))), items_of("a")
    (('a', 'b'), ('a',))
    """
    return operand.items if isinstance(operand, Vector) else (operand,)


def short_opcode(instruction: Instruction) -> str:
    """Return the first three words of an opcode, for messages.

    >>> short_opcode(Instruction(1, "mul.wide.u32.x", ()))
    'mul.wide.u32'
    """
    return ".".join(instruction.qualifiers[:3])


class Guard(Enum):
    """The treatment of an instruction whose guard is unknown."""

    OWN = "its handler evaluates the guard"
    RESULT = "its result is unknown"
    PASSED = "it is skipped and reported as undecided"
    NEEDED = "the run stops"


#: Executes an instruction; returns True if the fragment cannot continue now (it will be resumed, or is done).
Handler = Callable[["Machine", Fragment, Step], "bool | None"]


class Execution(NamedTuple):
    """The handler of an instruction, and its treatment if its guard is unknown."""

    handler: Handler
    guard: Guard


class Memory:
    """The memory of a cluster: its contents, and the accesses to it."""

    def __init__(self) -> None:
        self.shared = Segments()
        self.bytes = Contents()  # known bytes of shared memory
        self.origins = Origins()  # origins of the words of shared memory
        self.local: defaultdict[tuple[int, int], Contents] = defaultdict(Contents)  # by CTA and warp
        self.tensor: defaultdict[int, TensorMemory] = defaultdict(TensorMemory)  # by CTA


class Machine(Schedule):
    """A cluster that executes a kernel: its threads, their waits, its memory, and the notes of the run.

    Args:
        program: the kernel.
        launch: how the kernel is launched.
        execution: returns the handler of an opcode.
        budget: number of steps after which the run is stopped.
    """

    def __init__(
        self, program: Program, launch: Launch, execution: Callable[[str], Execution], budget: int = 2_000_000
    ) -> None:
        super().__init__(program, launch)
        self.budget = budget
        self.steps = program.steps
        self._executions = [execution(step.instruction.opcode) for step in self.steps]
        self._syncs = [
            index in program.behind_sync or "sync" in step.instruction.qualifiers
            for index, step in enumerate(self.steps)
        ]
        self._counted = [self._is_counted(index) for index in range(len(self.steps))]
        self.count = 0  # number of steps so far
        self.bits = 0  # number of accesses so far
        self.hung = False  # whether the run ended with threads that wait
        self.barriers = Mbarriers()
        self.unfenced_inits = 0  # accesses that initialized mbarriers and that no fence of their thread follows
        self.issues = Issues()
        self.pools: dict[int, RegisterPool] = {}  # register pools by CTA
        self.register_counts: dict[tuple[int, int], list[tuple[int, int]]] = {}  # by CTA and warp: count, instruction
        self.lanes = LaneKnowledge(self.new_bit)
        self.memory = Memory()
        self.follows = True  # whether origins are followed
        self.iterations: dict[tuple[int, int, int], dict[int, int]] = {}  # of loops, by CTA, warp and first lane
        self.requests: Counter[int] = Counter()  # requests for another tile, by instruction
        self.accumulations: dict[tuple[int, int, int], Any] = {}  # first A and B, by CTA, warp and line
        self.notes = Notes()
        self.executing: Fragment | None = None

    def _is_counted(self, index: int) -> bool:
        """Check that each execution of a step counts as an iteration; polls of a waiting loop do not."""
        name = self.steps[index].instruction.opcode
        return self._executions[index].guard in (Guard.PASSED, Guard.NEEDED) and "_wait." not in name

    # -- values

    def value(self, fragment: Fragment, operand: Operand) -> Value:
        """Return the value of an operand for the lanes that execute."""
        if isinstance(operand, int):
            return operand
        if isinstance(operand, str):
            value = fragment.registers.get(operand)
            if value is None:
                value = self._named(fragment, operand)
            if fragment.active is not None and type(value) is tuple:
                return select_lanes(value, fragment.active)
            return value
        if isinstance(operand, Negated):
            return map_lanes(lambda a: a ^ 1, [self.value(fragment, operand.name)], fragment.lane_count)
        if isinstance(operand, Address):
            base = self.value(fragment, operand.base) if operand.base else 0
            offset = operand.offset
            return map_lanes(lambda a: a + offset & _LOW_64, [base], fragment.lane_count) if offset else base
        if isinstance(operand, Vector) and len(operand.items) == 1:
            return self.value(fragment, operand.items[0])
        return Unknown("an unsupported operand")

    def _named(self, fragment: Fragment, name: str) -> Value:
        """Return the value of a name that is no register with a value: a special register or a variable."""
        if name.startswith("%"):
            special = special_register(name, self.launch, fragment.cta, fragment.warp, fragment.lanes)
            if special is not None:
                return special
        if name in self.launch.variables:
            return self.launch.variables[name] | fragment.cta << RANK
        if name in self.program.parameters:
            return PARAMETERS + (self.program.parameters[name] << 16)
        if name in self.program.function.variables:
            return LOCAL + (list(self.program.function.variables).index(name) << 20)
        return Unknown(f"{name}, which nothing writes")

    def require_scalar(self, fragment: Fragment, operand: Operand, step: Step, what: str) -> int:
        """Return a value that the run needs and that all lanes must share.

        Raises:
            Stop: if the value is unknown or differs between lanes.
        """
        value = self.value(fragment, operand)
        if type(value) is int:
            return value
        why = value if type(value) is Unknown else "a value that differs between the lanes of a warp"
        raise Stop(step.instruction.line, why, what)

    def require_lanes(self, fragment: Fragment, operand: Operand, step: Step, what: str) -> list[int]:
        """Return the values of the executing lanes, which the run needs.

        Raises:
            Stop: if one is unknown.
        """
        value = self.value(fragment, operand)
        if (unknown := first_unknown(value)) is not None:
            raise Stop(step.instruction.line, unknown, what)
        return [number for number in lane_values(value, fragment.lane_count) if isinstance(number, int)]

    def set(self, fragment: Fragment, name: Operand, value: Value) -> None:
        """Write a register in the lanes that execute."""
        if not isinstance(name, str) or name == "_":
            return
        if fragment.active is not None and len(fragment.active) < len(fragment.lanes):
            unset = Unknown(f"{name}, which nothing writes")
            before = list(lane_values(fragment.registers.get(name, unset), len(fragment.lanes)))
            for place, number in zip(fragment.active, lane_values(value, len(fragment.active)), strict=True):
                before[place] = number
            value = join_lanes(before)
        fragment.registers[name] = value

    def set_items(self, fragment: Fragment, target: Operand, value: Value) -> None:
        """Write a register, or each register of a vector."""
        for item in items_of(target):
            self.set(fragment, item, value)

    # -- accesses and notes

    def access(self, fragment: Fragment, step: Step, kind: str, *, generic: bool = False) -> Access:
        """Record an ordinary access of a fragment; all accesses between two signals of it share one bit."""
        mask = fragment.mask
        if fragment.epoch < 0 or fragment.epoch_lanes != mask:
            fragment.epoch, fragment.epoch_lanes = self.new_bit(), mask
            fragment.known |= 1 << fragment.epoch
            self.lanes.record_access(fragment, fragment.epoch, mask)
        return Access(fragment.epoch, step.instruction.line, kind, generic, iteration=self.iteration(fragment, step))

    def release_set(self, fragment: Fragment) -> tuple[int, int]:
        """Return the accesses that a signal of the executing lanes covers: complete ones, and published ones."""
        return self.lanes.release_set(fragment, self.alive[fragment.cta, fragment.warp])

    def iteration(self, fragment: Fragment, step: Step) -> int:
        """Return how often a fragment has reached its instruction, including this time."""
        return fragment.times.get(step.place, 0) + 1

    def new_bit(self) -> int:
        """Return a new bit for an access."""
        self.bits += 1
        return self.bits - 1

    def report_clash(self, step: Step, rule: str, clash: Clash, fact: str) -> None:
        """Report two accesses that are not ordered, once for each pair of instructions."""
        self.report(rule, step, fact, clash.earlier.line, clash.earlier.iteration)

    def report(self, rule: str, step: Step, fact: str, other: int = 0, other_round: int = 0) -> None:
        """Record a violation of a rule by the instruction that is executed.

        Args:
            rule: name of the rule.
            step: the instruction.
            fact: the fact, and a note after each "; ".
            other: line of the other event; 0 for none.
            other_round: how often its warp had reached the other event.
        """
        fragment = self.executing
        witness = Witness(
            rule, step.place, fact, other, 0 if fragment is None else self.iteration(fragment, step), other_round
        )
        self.notes.add_witness(witness, released=fragment is not None and fragment.released)

    def count_iteration(self, fragment: Fragment, step: Step) -> None:
        """Count an iteration of a loop if the branch that a fragment takes leads backward."""
        target = self.program.block_at(str(step.instruction.operands[-1]))
        if target not in self.program.back_edges or self.program.graph[target].start > step.place:
            return
        warp, notes = (fragment.cta, fragment.warp), self.notes
        iterations = self.iterations.setdefault((*warp, fragment.lanes[0]), {})
        iterations[target] = iteration = iterations.get(target, 0) + 1
        for other in self.program.inner[target]:
            iterations.pop(other, None)
        notes.longest[target] = max(notes.longest.get(target, 0), iteration)
        notes.turns[*warp, target] = notes.turns.get((*warp, target), 0) + 1

    def note_skipped(self, step: Step, why: str) -> None:
        """Record an instruction that the run does not execute completely."""
        self.notes.skipped.setdefault(step.place, why)
        if not step.instruction.opcode.startswith(("ld", "mma")):
            self.memory.origins.clear()

    # -- running

    def run(self) -> None:
        """Run to the end, or until the run cannot continue.

        Raises:
            Stop: if the run depends on an unknown value.
        """
        while True:
            while self.runnable:
                self._advance(self.runnable.popleft())
            if not self._settle():
                break
        self.hung = any(not fragment.done for fragment in self.fragments)

    def _settle(self) -> bool:
        """Release a fragment if no fragment can continue; return whether one can continue now."""
        ended = [barrier.address for barrier in self.barriers if barrier.settle()]
        if ended:
            for address in ended:
                self.wake(Wait(Awaited.MBARRIER, (address,)))
            return True
        return self.release()

    def _advance(self, fragment: Fragment) -> None:
        """Execute a fragment until it waits, ends or branches."""
        steps, executions = self.steps, self._executions
        self.executing = fragment
        while True:
            if fragment.joins and fragment.pc == fragment.joins[-1].pc and self.arrive_at_join(fragment):
                return
            if fragment.pc >= len(steps):
                self.end(fragment, list(range(len(fragment.lanes))))
                return
            step = steps[fragment.pc]
            self.count += 1
            if self.count > self.budget:
                why = f"stopped after {self.budget} steps"
                raise Stop(step.instruction.line, why, reason=Reason.ENDLESS)
            handler, guard = executions[fragment.pc]
            if fragment.apart and self._syncs[fragment.pc]:
                fragment.meet_lanes(fragment.mask, ordered=False)
            if step.place in self.program.uses:
                for load in self.program.uses[step.place]:
                    fragment.known |= fragment.loaded.pop(load, 0)
                    self._use_stale(fragment, step, guard, load)
            if step.instruction.predicate and guard is not Guard.OWN:
                if not self._guarded(fragment, step, guard):
                    fragment.pc += 1
                    continue
                if self._execute(handler, fragment, step):
                    return
                fragment.active = None
            elif self._execute(handler, fragment, step):
                return
            if self._counted[fragment.pc]:
                fragment.count(step.place)
            fragment.pc += 1

    def _use_stale(self, fragment: Fragment, step: Step, guard: Guard, load: int) -> None:
        """Check the first use of registers of a ``tcgen05.ld``: lanes whose cells nothing wrote must not matter.

        An accumulator with M 64 is read like this: half of the lanes hold no element.
        """
        if not (stale := fragment.stale.pop(load, 0)):
            return
        if step.instruction.predicate and guard is not Guard.OWN and not self._guarded(fragment, step, guard):
            return
        lanes, fragment.active = [lane for lane in fragment.executing if stale >> lane & 1], None
        if not lanes:
            return
        line, opcode = self.program.function.code[load].line, step.instruction.opcode
        what = f"lanes {lanes[0]} to {lanes[-1]} of line {line}, whose cells nothing wrote"
        if opcode.startswith(("st.", "red.", "atom.")):
            self.report("tcgen05-unwritten", step, f"this instruction stores registers of {what}", line)
        else:
            self.notes.unseen.setdefault(step.place, f"the use of {what}")

    def _execute(self, handler: Handler, fragment: Fragment, step: Step) -> bool | None:
        """Execute an instruction; one without the operands of its opcode, which an assembler rejects, ends the run."""
        try:
            return handler(self, fragment, step)
        except (IndexError, ValueError) as error:
            why = "its operands are not those of its opcode"
            raise Stop(step.instruction.line, why, f"the effect of {short_opcode(step.instruction)}") from error

    def _guarded(self, fragment: Fragment, step: Step, guard: Guard) -> bool:
        """Return whether some lane executes a guarded instruction, and make those lanes the active ones."""
        value, instruction = self.value(fragment, step.instruction.predicate), step.instruction
        if type(value) is int:
            return bool(value) != instruction.negated
        unknown = first_unknown(value)
        if unknown is None:
            places = [place for place, v in enumerate(lane_values(value, 0)) if bool(v) != instruction.negated]
            if len(places) < len(fragment.lanes):
                fragment.active = places
            return bool(places)
        if guard is Guard.NEEDED:
            raise Stop(instruction.line, unknown, f"the guard of {short_opcode(instruction)}")
        for name in targets(instruction):
            fragment.set_unknown(name, unknown)
        if guard is Guard.PASSED:
            self.note_skipped(step, f"a guard that depends on {origin_text(unknown)}")
        return False
