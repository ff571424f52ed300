r"""Extend a few iteration counts of a loop to all counts: its bound grows by whole periods, and nothing else changes.

A parameter that bounds loops is found by the comparisons that depend on it. The number of iterations in a period is
found by the first state that recurs. The kernel is then run at one count after the other, until a run has *closed* for
each remainder modulo the period: its period may be repeated once more, and hence any number of times (``drifting``). If
the state of a loop does not recur, if a second loop follows, or if the bound changes other than the counter, only the
counts that were run are decided. Two loops with one bound, such as a producer's and a consumer's, close only if they
change alike.

Source: this project; the paths of a loop that repeat its state are pumped like those of a finite automaton.

Invariant: a loop with one arrival and one wait closes for every count, with a period of two, since a phase has a
parity.

>>> from descriptors.check.execution.program import program
>>> from descriptors.check.ptx.ptx_module import parse
>>> def closed_within(count):
...     head = "ld.param.u32 n, [n]; mov.u32 k, 0; mbarrier.init.shared.b64 [b], 1;"
...     wait = "and.b32 q, k, 1; W: mbarrier.try_wait.parity.shared.b64 w, [b], q; @!w bra W;"
...     loop = f"L: mbarrier.arrive.shared.b64 _, [b]; {wait} add.u32 k, k, 1; setp.lt.u32 p, k, n; @p bra L; ret;"
...     launch = Launch((1, 1, 1), (1, 1, 1), (1, 1, 1), 0, {}, {"b": 0}, {}, {})
...     text = f".version 8.8\n.entry k(.param .u32 n) {{ {head} {loop} }}"
...     return counts(program(parse(text).functions[0]), launch, ("n", 0), budget=count)
>>> result = closed_within(9999)
>>> result.step, result.turns, result.whole, [run.machine.launch.scalars["n", 0] for run in result.runs]
(1, 2, True, [1024, 1, 2, 3, 4])
"""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple

from descriptors.check.execution.drift import Drift
from descriptors.check.execution.drifting import Drifting, Frame, Period, speeds_between
from descriptors.check.execution.launch import Launch
from descriptors.check.execution.outcomes import Stop, is_wrong
from descriptors.check.execution.program import Program
from descriptors.check.execution.recurrence import Key, State
from descriptors.check.execution.run_policy import LARGE
from descriptors.check.execution.runs import Run

#: Change of a parameter for finding the comparisons that depend on it: a multiple of any tile extent.
_FAR = 1 << 16
#: A size with more iterations than a state needs to recur.
_LONG = 4 * LARGE
#: Turns within which a state must recur, and number of attempts with a period.
_TURNS, _ATTEMPTS = 64, 4

#: The largest value of a parameter of 32 bits that is not negative.
MOST = (1 << 31) - 1

_WRONG = "something is wrong there"


class Counts(NamedTuple):
    """Result for the iteration counts that depend on a parameter.

    Args:
        runs: the first with a large value, then one count after the other.
        parameter: name and offset.
        start: the first of its values from which larger ones follow; 0 if no loop depends on it.
        end: the last of its values that follows, before a number in the kernel overflows.
        step: distance between its values.
        turns: iterations per period.
        alone: whether larger values follow for any values of the other scalar parameters.
        why: why larger values do not follow; "" if they do.
        steps: steps of all runs.
    """

    runs: tuple[Run, ...]
    parameter: tuple[str, int]
    start: int
    end: int
    step: int
    turns: int
    alone: bool
    why: str
    steps: int

    @property
    def whole(self) -> bool:
        """Whether all larger values follow."""
        return not self.why


class _Loop(NamedTuple):
    """A loop that a parameter bounds: its lanes, an instruction, its period, and the parameter's change per period."""

    key: Key
    place: int
    period: Period
    change: int


class _Found(Exception):
    """Raised to end a run when a state has recurred, or when the search takes too long."""


def counts(kernel: Program, launch: Launch, parameter: tuple[str, int], budget: int) -> Counts:
    """Run the iteration counts that depend on a parameter.

    Args:
        kernel: the kernel.
        launch: how the kernel is launched.
        parameter: name and offset.
        budget: steps of all runs.
    """
    return _PeriodSearch(kernel, launch, parameter, budget).run()


class _PeriodSearch:
    """The runs for one parameter."""

    def __init__(self, kernel: Program, launch: Launch, parameter: tuple[str, int], budget: int) -> None:
        self.kernel, self.launch, self.parameter = kernel, launch, parameter
        self.alone, self.budget, self.steps = True, budget, 0
        self.runs: list[Run] = []
        self.end = MOST

    def run(self) -> Counts:
        """Run one count after the other, until all larger ones follow."""
        loop = self._find_loop()
        if isinstance(loop, str):
            return self._result(0, 0, 0, loop)
        step, turns, start = loop.change // loop.period.turns, loop.period.turns, 1
        if why := self._why_not_periodic(loop, (loop.period.first + 2 * turns) * step):
            return self._result(0, step, turns, why)
        rests: dict[int, str] = {}
        for number in range(1, _TURNS):
            rests[number % turns] = self._run_count(loop, number * step)
            if rests[number % turns] == _WRONG:
                start = number + 1
                rests.clear()
            if len(rests) == turns and not any(rests.values()):
                return self._result(start * step, step, turns, "")
            if self.steps >= self.budget:
                break
        why = next((why for why in rests.values() if why), "too many steps")
        return self._result(start * step, step, turns, why)

    def _result(self, start: int, step: int, turns: int, why: str) -> Counts:
        return Counts(tuple(self.runs), self.parameter, start, self.end, step, turns, self.alone, why, self.steps)

    def _machine(self, size: int, change: int, *, alone: bool = False) -> Drifting:
        scalars = {**self.launch.scalars, self.parameter: size}
        launch = self.launch._replace(scalars=scalars)
        budget = self.budget - self.steps
        return Drifting(self.kernel, launch, self.parameter, change, alone=alone, budget=budget)

    def _run(self, machine: Drifting) -> Run:
        stop = None
        try:
            machine.run()
        except Stop as error:
            stop = error
        finally:
            self.steps += machine.count
        return Run(machine, stop)

    # -- the loop

    def _find_loop(self) -> _Loop | str:
        """Return the loop that the parameter bounds, or why none closes."""
        machine = self._machine(LARGE, _FAR)
        run = self._run(machine)
        if not run.endless:  # a stopped run only says that nothing closes
            self.runs.append(run)
        if run.stop is not None or machine.hung:
            return "the kernel does not run to its end"
        if not machine.bounds:
            return machine.why
        (key, place), times = machine.bounds.most_common(1)[0]
        if times < 3:
            return "no loop depends on it alone"
        period = self._find_period(key, place)
        if period is None:
            return "no state of the loop recurs"
        loop = self._match_bound(machine, key, place, period)
        if isinstance(loop, _Loop) and self._estimated_steps(loop, machine) > self.budget - self.steps:
            return "too many steps"
        return loop

    def _estimated_steps(self, loop: _Loop, machine: Drifting) -> int:
        """Estimate the least number of steps that closing the loop takes, after a run of a large value."""
        turns = loop.period.turns
        iterations = machine.bounds[loop.key, loop.place]
        last_turn = loop.period.first + 2 * turns
        return machine.count * last_turn * last_turn // (2 * iterations)

    def _find_period(self, key: Key, place: int) -> Period | None:
        """Return the period until the first state that recurs; None if none does."""
        machine = self._machine(_LONG, _FAR)
        first_turns: dict[State, tuple[int, Frame]] = {}
        periods: list[Period] = []

        def look() -> None:
            frame = machine.frame()
            first = first_turns.setdefault(frame.state, (machine.turns, frame))
            if first[1] is not frame:
                periods.append(Period(first[0], machine.turns - first[0], speeds_between(first[1], frame)))
                raise _Found
            if machine.turns > _TURNS:
                raise _Found

        machine.watch(key, place, on_turn=look)
        with suppress(_Found):
            self._run(machine)
        return periods[0] if periods else None

    def _match_bound(self, machine: Drifting, key: Key, place: int, period: Period) -> _Loop | str:
        """Return the loop with the parameter's change per period, for which its bound changes like its counter.

        If there is none, return why.
        """
        for lanes, compare in machine.bounds:
            speeds, drifts = period.speeds.get(lanes, {}), machine.compared[lanes, compare]
            moves = [
                speeds.get(operand, 0) if isinstance(operand, str) else 0
                for operand in self.kernel.function.code[compare].operands[1:3]
            ]
            (first, second), (left, right) = moves, drifts[:2]
            if first is None or second is None or not isinstance(left, Drift) or not isinstance(right, Drift):
                continue
            if left == right:
                continue
            change, remainder = divmod((second - first) * _FAR, left.past - right.past)
            if change > 0 and not remainder and not change % period.turns:
                return _Loop(key, place, period, change)
        return "the bound of the loop does not change like its counter"

    # -- one count

    def _run_count(self, loop: _Loop, size: int) -> str:
        """Run one count; return why larger counts do not follow from it, or "" if they do."""
        machine, run = self._run_periodic(loop, size, alone=self.alone)
        if not run.endless:
            self.runs.append(run)
        if run.stop is not None or machine.hung or is_wrong(machine.notes.wrong.values()):
            return "too many steps" if run.endless else _WRONG
        if machine.closed and machine.most_periods is not None:
            self.end = min(self.end, size + machine.most_periods * loop.change)
        return machine.why or ("" if machine.closed else "too few iterations")

    def _why_not_periodic(self, loop: _Loop, size: int) -> str:
        """Return why a count with enough iterations does not close; "" if it closes.

        This is tried before all smaller counts are run.
        """
        for self.alone in (True, False):
            machine, run = self._run_periodic(loop, size, alone=self.alone)
            if machine.closed and not machine.why:
                return ""
        return machine.why or ("too many steps" if run.endless else "a period ends too late")

    def _run_periodic(self, loop: _Loop, size: int, *, alone: bool) -> tuple[Drifting, Run]:
        """Run one count with a period; registers that do not change as expected are treated as not followed."""
        for _ in range(_ATTEMPTS):
            machine = self._machine(size, loop.change, alone=alone)
            machine.watch(loop.key, loop.place, loop.period)
            run = self._run(machine)
            for key, name in machine.loose:
                loop.period.speeds.setdefault(key, {})[name] = None
            if not machine.loose:
                break
        return machine, run
