r"""A machine that runs a kernel at one iteration count and follows how each value changes with the count.

The value of a register drifts as ``drift`` defines, starting from a parameter. A value that an event reads, a branch or
a guard must not drift: then it is the same for larger parameters, and so is everything that the run does. Each time the
lanes of a loop reach a chosen instruction, the machine is at a *turn*. If it is in the same state at two turns, except
for counters that drifted, the iterations between them are a period that may be repeated any number of times: the drift
that the rules give at the second turn is compared with what the registers hold there.

Source: this project; a period closes by induction over the number of its repetitions.

Invariant: a loop whose bound is a parameter closes; one that does something special in iteration 40 does not.

>>> from descriptors.check.execution.program import program
>>> from descriptors.check.ptx.ptx_module import parse
>>> def kernel_with(more):
...     head = "ld.param.u32 n, [n]; mov.u32 k, 0; mbarrier.init.shared.b64 [b], 1;"
...     tail = "L: mbarrier.arrive.shared.b64 _, [b];"
...     tail += f"add.u32 k, k, 1; setp.lt.u32 p, k, n; {more} @p bra L; ret;"
...     launch = Launch((1, 1, 1), (1, 1, 1), (1, 1, 1), 0, {("n", 0): 9}, {"b": 0}, {}, {})
...     text = f".version 8.8\n.entry k(.param .u32 n) {{ {head} {tail} }}"
...     return parse(text).functions[0], launch
>>> def closes(more):
...     function, launch = kernel_with(more)
...     machine = Drifting(program(function), launch, ("n", 0), 2, budget=999)
...     machine.watch((0, 0, (0,)), 5, Period(2, 2, {(0, 0, (0,)): {"k": 2}}))
...     machine.run()
...     return machine.closed, machine.why
>>> closes("")
(True, '')
>>> closes("setp.eq.u32 q, k, 40; @q mbarrier.arrive.shared.b64 _, [b];")
(False, 'line 2: the effect of mbarrier.arrive.shared may change with the iteration count')
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from descriptors.check.execution.dispatch import execution
from descriptors.check.execution.drift import FIXED, Drift, Moving, drift_of, most_periods
from descriptors.check.execution.fragment import Fragment, Join
from descriptors.check.execution.lanes import Value
from descriptors.check.execution.launch import Launch
from descriptors.check.execution.machine import Guard, Handler, Machine, items_of, short_opcode
from descriptors.check.execution.program import Program, Step
from descriptors.check.execution.recurrence import Key, State, key_of, state
from descriptors.check.ptx.ptx_module import targets
from descriptors.check.ptx.ptx_operands import Address, Negated, Operand, Vector

#: Change of registers from one turn to another; None if it is not one number.
Speeds: TypeAlias = "dict[Key, dict[str, int | None]]"


class Period(NamedTuple):
    """Iterations of a loop after which the state recurs.

    Args:
        first: turn at which they begin.
        turns: number of iterations.
        speeds: change of the registers during them.
    """

    first: int
    turns: int
    speeds: Speeds


class Frame(NamedTuple):
    """A moment of a run: its state, the values of registers, and their drifts."""

    state: State
    registers: dict[Key, dict[str, Value]]
    drifts: dict[Key, dict[str, Moving]]


class Drifting(Machine):
    """A cluster that executes a kernel and follows how its values change with a parameter.

    Args:
        program: the kernel.
        launch: how the kernel is launched.
        parameter: the parameter that changes, by name and offset.
        change: its change per period.
        alone: whether all other scalar parameters may have any value.
        budget: number of steps after which the run is stopped.
    """

    def __init__(
        self,
        program: Program,
        launch: Launch,
        parameter: tuple[str, int],
        change: int,
        *,
        alone: bool = False,
        budget: int,
    ) -> None:
        super().__init__(program, launch, execution, budget)
        self.follows = False  # origins of bytes drift and decide nothing
        self.parameter, self.change, self.alone = parameter, change, alone
        self.why, self.closed, self.turns = "", False, 0
        self.most_periods: int | None = None  # periods that may be added before a value overflows; None for any number
        self.bounds: Counter[tuple[Key, int]] = Counter()  # comparisons of drifting values, by lanes and instruction
        self.compared: dict[tuple[Key, int], list[Moving]] = {}  # last drifts of their operands
        self.loose: set[tuple[Key, str]] = set()  # registers that did not change as expected
        self._integer = [executed.guard is Guard.RESULT for executed in self._executions]
        self._drifts: dict[Fragment, dict[str, Moving]] = {fragment: {} for fragment in self.fragments}
        self._step = self.steps[0] if self.steps else None
        self._checks, self._parts = True, dict[str, Moving]()
        self._result: Moving = FIXED
        self._turn: tuple[Key, int] | None = None
        self._period: Period | None = None
        self._frame: Frame | None = None
        self._seen: Callable[[], None] | None = None

    def watch(
        self, key: Key, place: int, period: Period | None = None, on_turn: Callable[[], None] | None = None
    ) -> None:
        """Choose an instruction of some lanes as the turn of a loop.

        Args:
            key: the lanes.
            place: index of the instruction.
            period: the iterations that should close.
            on_turn: called at each turn.
        """
        self._turn, self._period, self._seen = (key, place), period, on_turn

    # -- drifts of values

    def drift(self, fragment: Fragment, operand: Operand) -> Moving:
        """Return the drift of an operand."""
        if isinstance(operand, Vector):
            drifts = {self.drift(fragment, item) for item in operand.items}
            return FIXED if drifts == {FIXED} else None
        if isinstance(operand, (Negated, Address)):
            operand = operand.name if isinstance(operand, Negated) else operand.base
        return self._drifts[fragment].get(operand, FIXED) if isinstance(operand, str) else FIXED

    def value(self, fragment: Fragment, operand: Operand) -> Value:
        """Return the value of an operand; if an event reads it, it must not drift."""
        if self._checks and not self.why and self.drift(fragment, operand) != FIXED:
            assert self._step is not None
            instruction = self._step.instruction
            effect = f"the effect of {short_opcode(instruction)}"
            self.why = f"line {instruction.line}: {effect} may change with the iteration count"
        return super().value(fragment, operand)

    def set(self, fragment: Fragment, name: Operand, value: Value) -> None:
        """Write a register, which then has the drift of the result."""
        super().set(fragment, name, value)
        if not isinstance(name, str) or name == "_":
            return
        drifts = self._drifts[fragment]
        drift: Moving = self._parts.get(name, self._result)
        if (
            fragment.active is not None
            and len(fragment.active) < len(fragment.lanes)
            and drifts.get(name, FIXED) != drift
        ):
            drift = None
        if drift == FIXED:
            drifts.pop(name, None)
        else:
            drifts[name] = drift

    # -- lanes that separate and meet

    def resume(self, fragment: Fragment) -> None:
        """Let a fragment continue before all fragments with a greater key.

        The order is then the same in each iteration.
        """
        fragment.blocked = None
        self.runnable.insert(sum(key_of(other) < key_of(fragment) for other in self.runnable), fragment)

    def split(self, fragment: Fragment, places: list[int], pc: int, meeting: int | None) -> None:
        """Separate lanes; both parts keep their drifts."""
        super().split(fragment, places, pc, meeting)
        other = self.runnable.pop()
        self._drifts[other] = dict(self._drifts[fragment])
        self.resume(other)

    def _merged(self, parts: list[Fragment], join: Join | None = None) -> Fragment:
        drifts_of_parts = [self._drifts[part] for part in parts]
        fragment = super()._merged(parts, join)
        merged: dict[str, Moving] = {}
        for name in {name for part_drifts in drifts_of_parts for name in part_drifts}:
            drifts = {part_drifts.get(name, FIXED) for part_drifts in drifts_of_parts}
            merged[name] = drifts.pop() if len(drifts) == 1 else None
        self._drifts[fragment] = merged
        return fragment

    # -- steps

    def _guarded(self, fragment: Fragment, step: Step, guard: Guard) -> bool:
        self._step = step
        return super()._guarded(fragment, step, guard)

    def _execute(self, handler: Handler, fragment: Fragment, step: Step) -> bool | None:
        self._step = step
        if self._turn is not None and step.place == self._turn[1] and key_of(fragment) == self._turn[0]:
            self._at_turn()
        self._result = FIXED
        self._parts = {}
        if self._integer[fragment.pc]:
            self._move(fragment, step)
            self._checks = False
            waits = super()._execute(handler, fragment, step)
            self._checks = True
            return waits
        name = step.instruction.opcode
        if name.startswith("mbarrier.arrive"):
            self._result = None  # the result is the number of a phase
        elif name.startswith("ld") and "param" in step.instruction.qualifiers:
            self._parameter(handler, fragment, step)
        return super()._execute(handler, fragment, step)

    def _move(self, fragment: Fragment, step: Step) -> None:
        """Compute the drift of the results of an integer instruction."""
        instruction = step.instruction
        operands = instruction.operands[bool(targets(instruction)) :]
        drifts = [self.drift(fragment, operand) for operand in operands]
        if all(drift == FIXED for drift in drifts):
            return
        if instruction.opcode.startswith("setp"):
            self.bounds[key_of(fragment), step.place] += 1
            self.compared[key_of(fragment), step.place] = drifts
        if instruction.opcode.startswith("mov") and any(
            isinstance(operand, Vector) for operand in instruction.operands
        ):
            self._pack(fragment, step)
            return
        checks, self._checks = self._checks, False
        values = [self.value(fragment, operand) for operand in operands]
        self._result = drift_of(instruction, values, drifts)
        periods = most_periods(instruction, values, drifts)
        if periods is not None and self._result is not None:
            self.most_periods = periods if self.most_periods is None else min(self.most_periods, periods)
        self._checks = checks

    def _pack(self, fragment: Fragment, step: Step) -> None:
        """Compute the drift of a ``mov`` of a vector, whose lowest part may drift if it has 32 bits."""
        target, source = step.instruction.operands
        parts = items_of(source if isinstance(source, Vector) else target)
        self._result = None
        if len(parts) != 2 or not step.instruction.opcode.endswith("64"):
            return
        if isinstance(source, Vector):
            low, high = (self.drift(fragment, part) for part in parts)
            self._result = low if high == FIXED else None
        elif isinstance(parts[0], str) and isinstance(parts[1], str):
            self._parts = {parts[0]: self.drift(fragment, source), parts[1]: FIXED}

    def _parameter(self, handler: Handler, fragment: Fragment, step: Step) -> None:
        """Compute the drift of a load of a parameter by executing it with both values."""
        launch, scalars = self.launch, self.notes.scalars
        values = []
        for change in (0, self.change):
            value = launch.scalars.get(self.parameter, launch.size) + change
            self.launch, self.notes.scalars = launch._replace(scalars={**launch.scalars, self.parameter: value}), {}
            super()._execute(handler, fragment, step)
            names = [item for item in items_of(step.instruction.operands[0]) if isinstance(item, str)]
            values.append([fragment.registers.get(name) for name in names])
        depends_on_others = self.alone and any(key not in launch.scalars for key in self.notes.scalars)
        narrow = self.alone and step.instruction.opcode.endswith(("8", "16"))
        self.launch, self.notes.scalars = launch, scalars
        for name, before, after in zip(names, *values, strict=True):
            moved = after - before if type(before) is int and type(after) is int else 0
            self._parts[name] = None if depends_on_others or narrow else Drift(moved, moved)

    # -- turns

    def frame(self) -> Frame:
        """Return the current moment."""
        live = [fragment for fragment in self.fragments if not fragment.done]
        registers = {key_of(fragment): dict(fragment.registers) for fragment in live}
        return Frame(state(self), registers, {key_of(fragment): dict(self._drifts[fragment]) for fragment in live})

    def _at_turn(self) -> None:
        if self._seen is not None:
            self._seen()
        period = self._period
        if period is not None and self.turns == period.first:
            self._begin(period.speeds)
            self._frame = self.frame()
        elif period is not None and self.turns == period.first + period.turns and self._frame is not None:
            self._compare(self._frame, self.frame(), period.speeds)
        self.turns += 1

    def _begin(self, speeds: Speeds) -> None:
        """Set the drifts for periods that are past from here on: registers changed in each of them."""
        for fragment in self.fragments:
            if not fragment.done:
                lane_speeds, drifts = speeds.get(key_of(fragment), {}), self._drifts[fragment]
                for name in fragment.registers.keys() | lane_speeds.keys():
                    drift, speed = drifts.get(name, FIXED), lane_speeds.get(name, 0)
                    followed = drift if speed is not None and isinstance(drift, Drift) else None
                    drifts[name] = followed and Drift(followed.ahead + (speed or 0), followed.ahead)

    def _compare(self, first: Frame, last: Frame, speeds: Speeds) -> None:
        """Compare two moments: all must be equal except for the expected changes; from here on no period is ahead."""
        if first.state != last.state:
            self.why = self.why or "the state of an iteration does not recur"
            return
        for key, before in first.registers.items():
            after = last.registers[key]
            for name in before.keys() | after.keys():
                drift = first.drifts[key].get(name, FIXED)
                if drift is not None and (
                    last.drifts[key].get(name, FIXED) != drift
                    or distance(before.get(name), after.get(name)) != speeds.get(key, {}).get(name, 0)
                ):
                    self.loose.add((key, name))
        self.closed = not self.loose
        for drifts in self._drifts.values():
            for name, drift in drifts.items():
                drifts[name] = Drift(drift.past, 0) if isinstance(drift, Drift) else None


def distance(before: Value | None, after: Value | None) -> int | None:
    """Return the change of a register; None if it is not one number.

    >>> distance(3, 9), distance((1, 2), (3, 4)), distance((1, 2), (3, 5))
    (6, 2, None)
    """
    if type(before) is int and type(after) is int:
        return after - before
    if type(before) is tuple and type(after) is tuple and len(before) == len(after):
        steps = {b - a if type(a) is int and type(b) is int else None for a, b in zip(before, after, strict=True)}
        return steps.pop() if len(steps) == 1 else None
    return 0 if before is not None and before == after else None


def speeds_between(first: Frame, last: Frame) -> Speeds:
    """Return the change of the registers between two moments of the same state."""
    speeds: Speeds = {}
    for key, before in first.registers.items():
        after = last.registers[key]
        speeds[key] = {name: distance(before.get(name), after.get(name)) for name in before.keys() | after.keys()}
    return speeds
