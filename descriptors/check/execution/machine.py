"""The machine that executes the integers of a cluster, step by step.

What a register holds that the text does not say is unknown, with the reason. Where a run cannot go on without it, it
stops, and says where. What two fragments know is what waiting told them, so one schedule is enough: what is in no order
then is in none. Where nobody can go on, copies whose bytes the text does not say are taken to have come, then lanes go
on without others of their warp; where that helps nobody, the kernel hangs.
Source: PTX ISA 9.1, Thread Hierarchy; Parallel Synchronization and Communication Instructions; the way of emulating the
integers of each warp is Weft's (Sharma, Bauer, Aiken 2015).

Law: lanes that a branch takes apart are one again where its ways meet, each with what it computed.

>>> from descriptors.check.execution.dispatch import execution
>>> from descriptors.check.execution.program import program
>>> from descriptors.check.ptx.ptx_module import parse
>>> body = "mov.u32 a, %tid.x; setp.lt.u32 p, a, 3; @p bra L; add.u32 a, a, 100; L: st.shared.b32 [s], a; ret;"
>>> launch = Launch((4, 1, 1), (1, 1, 1), (1, 1, 1), 0, {}, {"s": 0}, {}, {})
>>> held = Machine(program(parse(f".version 8.8\\n.entry k() {{ {body} }}").functions[0]), launch, execution)
>>> held.run()
>>> [(one.lanes, one.registers["a"]) for one in held.fragments]
[((0, 1, 2, 3), (0, 1, 2, 103))]
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from enum import Enum
from typing import NamedTuple

from descriptors.check.execution.contents import Contents
from descriptors.check.execution.fragment import Awaited, Fragment, Wait
from descriptors.check.execution.knowledge import Access, Clash, Segments
from descriptors.check.execution.lanes import (
    Unknown,
    Value,
    each,
    first_unknown,
    lane_values,
    of_lanes,
    origin,
    together,
)
from descriptors.check.execution.launch import LOCAL, PARAMETERS, RANK, Launch, special_register
from descriptors.check.execution.mbarrier import Box, Mbarrier, Touch
from descriptors.check.execution.meetings import Issue
from descriptors.check.execution.outcomes import Reason, Stop, Witness
from descriptors.check.execution.program import Program, Step
from descriptors.check.execution.schedule import Schedule
from descriptors.check.execution.tensor_memory import TensorMemory
from descriptors.check.ptx.ptx_module import Instruction
from descriptors.check.ptx.ptx_operands import Address, Negated, Operand, Vector
from descriptors.check.ptx.reaching_definitions import targets

_LOW_64 = 0xFFFFFFFFFFFFFFFF


def items_of(operand: Operand) -> tuple[Operand, ...]:
    """The operands of a vector, or the one that it is.

    >>> items_of(Vector(("a", "b"))), items_of("a")
    (('a', 'b'), ('a',))
    """
    return operand.items if isinstance(operand, Vector) else (operand,)


def short(one: Instruction) -> str:
    """The beginning of an opcode, for a person.

    >>> short(Instruction(1, "mul.wide.u32.x", ()))
    'mul.wide.u32'
    """
    return ".".join(one.qualifiers[:3])


class Guard(Enum):
    """What becomes of an instruction whose guard is not known."""

    OWN = "it judges its guard itself, as a branch does"
    RESULT = "its result is not known"
    PASSED = "it is passed over, and told as not seen"
    NEEDED = "the run stops"


#: What executes an instruction; True where the fragment cannot go on now, and will be resumed, or is done.
Handler = Callable[["Machine", Fragment, Step], "bool | None"]


class Execution(NamedTuple):
    """How an instruction is executed."""

    handler: Handler
    guard: Guard


class Machine(Schedule):
    """A cluster that executes a kernel.

    Args:
        program: the kernel.
        launch: how it is started.
        execution: how an instruction is executed, by its opcode.
        budget: steps after which the run is given up.
    """

    def __init__(
        self, program: Program, launch: Launch, execution: Callable[[str], Execution], budget: int = 2_000_000
    ) -> None:
        super().__init__(program, launch)
        self.budget = budget
        self.steps = program.steps
        self._executions = [execution(step.instruction.opcode) for step in self.steps]
        self.count = 0
        self.hung = False
        # what threads wait at, besides one another; mbarriers by their addresses
        self.barriers: dict[int, Mbarrier] = {}
        self.touches: list[Touch] = []  # who used which, in the order of the run
        self.retired: list[Mbarrier] = []  # those that were invalidated, or initialised again
        self.issues: dict[tuple[int, int, int], Issue] = {}  # wgmma, by CTA, warpgroup and number
        self.issue_of: dict[int, Issue] = {}  # the same, by their bit
        # memory: who touched it, and what it holds
        self.bits = 0  # accesses so far
        self.shared = Segments()
        self.bytes = Contents()  # of shared memory
        self.local: defaultdict[tuple[int, int], Contents] = defaultdict(Contents)  # by CTA and warp
        self.tensor: defaultdict[int, TensorMemory] = defaultdict(TensorMemory)  # by CTA
        self.cancels: dict[int, int] = {}  # requests for another tile, by instruction
        self.reaches: dict[tuple[int, int], set[int]] = {}  # accesses of another CTA, by instruction and its rank
        # what the run learns; what is by number is by that of the instruction
        self.found: dict[tuple[str, int, int], Witness] = {}  # what is wrong: by rule, instruction and other line
        self.skipped: dict[int, str] = {}  # what was passed over, and why
        self.unseen: dict[int, str] = {}  # what of tensor memory was not followed, and why
        self.tensor_unknown = False  # whether columns may have been written that the run did not see
        self.copies: list[tuple[int, Box, int]] = []  # tensor copies: instruction, what names the box, address
        self.footprints: set[tuple[int, int]] = set()  # runs of bytes that multiplications read
        self.unwritten: dict[int, tuple[int, int]] = {}  # bytes of operands that nothing wrote
        self.filled = False  # whether something wrote bytes of an operand
        self.scalars: dict[tuple[str, int], int] = {}  # 32-bit parameters that were read, by name and offset

    # -- values

    def value(self, one: Fragment, operand: Operand) -> Value:
        """What an operand holds, for the lanes that execute."""
        if isinstance(operand, int):
            return operand
        if isinstance(operand, str):
            found = one.registers.get(operand)
            if found is None:
                found = self._named(one, operand)
            if one.active is not None and type(found) is tuple:
                return of_lanes(found, one.active)
            return found
        if isinstance(operand, Negated):
            return each(lambda a: a ^ 1, [self.value(one, operand.name)], one.many)
        if isinstance(operand, Address):
            base = self.value(one, operand.base) if operand.base else 0
            offset = operand.offset
            return each(lambda a: a + offset & _LOW_64, [base], one.many) if offset else base
        return Unknown("an operand that is not read")

    def _named(self, one: Fragment, name: str) -> Value:
        """A name that is no register with a value: a special register, or a variable."""
        if name.startswith("%"):
            special = special_register(name, self.launch, one.cta, one.warp, one.lanes)
            if special is not None:
                return special
        if name in self.launch.variables:
            return self.launch.variables[name] | one.cta << RANK
        if name in self.program.parameters:
            return PARAMETERS + (self.program.parameters[name] << 16)
        if name in self.program.function.variables:
            return LOCAL + (list(self.program.function.variables).index(name) << 20)
        return Unknown(f"{name}, which nothing writes")

    def known(self, one: Fragment, operand: Operand, step: Step, what: str) -> int:
        """A value that all lanes must share and the run needs.

        Raises:
            Stop: if it is not known, or differs between lanes.
        """
        value = self.value(one, operand)
        if type(value) is int:
            return value
        why = origin(value) if type(value) is Unknown else "a value that differs between the lanes of a warp"
        raise Stop(step.instruction.line, why, what)

    def known_lanes(self, one: Fragment, operand: Operand, step: Step, what: str) -> list[int]:
        """The values of the lanes that execute, which the run needs.

        Raises:
            Stop: if one is not known.
        """
        value = self.value(one, operand)
        if (unknown := first_unknown(value)) is not None:
            raise Stop(step.instruction.line, origin(unknown), what)
        return [number for number in lane_values(value, one.many) if isinstance(number, int)]

    def set(self, one: Fragment, name: Operand, value: Value) -> None:
        """Write a register, in the lanes that execute."""
        if not isinstance(name, str) or name == "_":
            return
        if one.active is not None and len(one.active) < len(one.lanes):
            unset = Unknown(f"{name}, which nothing writes")
            before = list(lane_values(one.registers.get(name, unset), len(one.lanes)))
            for place, number in zip(one.active, lane_values(value, len(one.active)), strict=True):
                before[place] = number
            value = together(before)
        one.registers[name] = value

    def set_items(self, one: Fragment, target: Operand, value: Value) -> None:
        """Write a register, or each of a vector."""
        for item in items_of(target):
            self.set(one, item, value)

    # -- accesses, and what is wrong with them

    def access(self, one: Fragment, step: Step, kind: str, *, generic: bool = False) -> Access:
        """An ordinary access of a fragment: all between two tellings are one bit."""
        if one.epoch < 0:
            one.epoch = self.fresh()
            one.known |= 1 << one.epoch
        return Access(one.epoch, step.instruction.line, kind, generic)

    def fresh(self) -> int:
        """A bit for an access."""
        self.bits += 1
        return self.bits - 1

    def reached(self, step: Step, bit: int, address: int) -> None:
        """An access reaches the shared memory of another CTA."""
        self.reaches.setdefault((step.place, address >> RANK), set()).add(bit)

    def clash(self, step: Step, rule: str, clash: Clash, found: str) -> None:
        """Tell of two accesses without order, once for each pair of instructions."""
        self.tell(rule, step, found, clash.earlier.line)

    def tell(self, rule: str, step: Step, found: str, other: int = 0) -> None:
        """Tell of something wrong."""
        self.found.setdefault((rule, step.place, other), Witness(rule, step.place, found, other))

    def skip(self, step: Step, why: str) -> None:
        """An instruction that the run does not see, or not all of it."""
        self.skipped.setdefault(step.place, why)

    # -- running

    def run(self) -> None:
        """Run to the end, or to where the run cannot go on.

        Raises:
            Stop: if it depends on what is not known.
        """
        while True:
            while self.runnable:
                self._advance(self.runnable.popleft())
            if not self._settle():
                break
        self.hung = any(not one.done for one in self.fragments)

    def _settle(self) -> bool:
        """What happens where nobody can go on; whether anything does."""
        ended = [barrier.address for barrier in self.barriers.values() if barrier.settle()]
        if ended:
            for address in ended:
                self.wake(Wait(Awaited.MBARRIER, (address,)))
            return True
        return self.release()

    def _advance(self, one: Fragment) -> None:
        """Execute a fragment until it waits, ends or branches."""
        steps, executions = self.steps, self._executions
        while True:
            if one.joins and one.pc == one.joins[-1].pc and self.meet(one):
                return
            if one.pc >= len(steps):
                self.end(one, list(range(len(one.lanes))))
                return
            step = steps[one.pc]
            self.count += 1
            if self.count > self.budget:
                why = f"stopped after {self.budget} steps"
                raise Stop(step.instruction.line, why, reason=Reason.ENDLESS)
            handler, guard = executions[one.pc]
            if step.place in self.program.uses:
                for load in self.program.uses[step.place]:
                    one.known |= one.loaded.pop(load, 0)
            if step.instruction.predicate and guard is not Guard.OWN:
                if not self._guarded(one, step, guard):
                    one.pc += 1
                    continue
                if self._execute(handler, one, step):
                    return
                one.active = None
                one.pc += 1
            elif self._execute(handler, one, step):
                return
            else:
                one.pc += 1

    def _execute(self, handler: Handler, one: Fragment, step: Step) -> bool | None:
        """Execute an instruction; one that is written without its operands, as no assembler takes it, ends the run."""
        try:
            return handler(self, one, step)
        except (IndexError, ValueError) as error:
            why = "it has not the operands of its opcode"
            raise Stop(step.instruction.line, why, f"what {short(step.instruction)} does") from error

    def _guarded(self, one: Fragment, step: Step, guard: Guard) -> bool:
        """Whether some lane executes a guarded instruction; the fragment is left with those lanes active."""
        value, instruction = self.value(one, step.instruction.predicate), step.instruction
        if type(value) is int:
            return bool(value) != instruction.negated
        unknown = first_unknown(value)
        if unknown is None:
            places = [place for place, v in enumerate(lane_values(value, 0)) if bool(v) != instruction.negated]
            if len(places) < len(one.lanes):
                one.active = places
            return bool(places)
        if guard is Guard.NEEDED:
            raise Stop(instruction.line, origin(unknown), f"the guard of {short(instruction)}")
        for name in targets(instruction):
            one.registers[name] = unknown
        if guard is Guard.PASSED:
            self.skip(step, f"a guard that depends on {origin(unknown)}")
        return False
