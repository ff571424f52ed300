r"""Timeline of the waits of a run: which warps wait for which, phase by phase of the mbarriers.

An *act* is what a warp signals to an mbarrier in one phase (arrivals, bytes and copies), or a wait that such acts end.
Warps that do the same are one *role*. The time of an act is counted in acts: one after the previous act of its warp,
and after all acts that end its wait. Rings are named A, B and so on, in the order of their addresses: ``A1`` is the
second mbarrier of the first ring.

Source: PTX ISA 9.1, mbarrier (phase); the order of acts follows Lamport (1978).

Invariant: a wait comes after each act that ends it.

>>> from descriptors.check.execution.launch import Launch
>>> from descriptors.check.execution.program import program
>>> from descriptors.check.execution.runs import run
>>> from descriptors.check.ptx.ptx_module import parse
>>> init = "mov.u32 t, %tid.x; mbarrier.init.shared.b64 [b], 32; bar.sync 0; setp.lt.u32 p, t, 32; @p bra TELL;"
>>> wait = "L: mbarrier.try_wait.parity.shared.b64 q, [b], 0; @!q bra L; ret;"
>>> body = f"{init} {wait} TELL: mbarrier.arrive.shared.b64 _, [b]; ret;"
>>> launch = Launch((64, 1, 1), (1, 1, 1), (1, 1, 1), 0, {}, {"b": 0}, {}, {})
>>> timeline = rounds(run(program(parse(f".version 8.8\n.entry k() {{ {body} }}").functions[0]), launch).machine)
>>> [(timeline.roles[act.role], act.what, act.name, act.phase, act.time, act.sources) for act in timeline.acts]
[('warp 0', 'arrivals', 'A0', 0, 0, ()), ('warp 1', 'waits', 'A0', 0, 1, (0,))]
"""

from __future__ import annotations

from typing import TypeAlias

from descriptors.check.execution.fragment import Awaited
from descriptors.check.execution.machine import Machine
from descriptors.check.execution.mbarrier import Touch
from descriptors.check.execution.rings import WAITS, Ring, operation_of, ring_barriers, rings
from descriptors.text import ranges_text
from layoutalg.frozen import frozen, replace

#: A warp, by its CTA and its number.
_Warp: TypeAlias = "tuple[int, int]"


@frozen
class Act:
    """The operations of a role on an mbarrier in one phase.

    Args:
        role: number of the role.
        what: the operation, as in ``rings``; several with commas.
        name: name of the mbarrier.
        phase: phase that is signaled or waited for; -1 for a wait that a new mbarrier passes.
        time: least number of acts before it.
        lines: lines of the instructions.
        sources: indices of the acts that end the wait, or of all acts of its phase so far.
        endless: whether it is a wait that never completes.
    """

    role: int
    what: str
    name: str
    phase: int
    time: int
    lines: tuple[int, ...]
    sources: tuple[int, ...]
    endless: bool


@frozen
class Rounds:
    """The waits of the warps of a run for each other.

    Args:
        roles: warps that do the same, as text.
        rings: the rings, in the order of their letters.
        acts: in the order of the run; for each role, those of its first warp.
    """

    roles: tuple[str, ...]
    rings: tuple[Ring, ...]
    acts: tuple[Act, ...]


def rounds(machine: Machine) -> Rounds:
    """Return the timeline of a run, as the first CTA of the cluster sees it.

    Args:
        machine: the machine after the run.
    """
    return _Rounds(machine).all()


class _Rounds:
    """The acts of a run.

    Args:
        machine: the machine after the run.
    """

    def __init__(self, machine: Machine) -> None:
        self.machine, self.code = machine, machine.program.function.code
        self.rings = rings(machine)
        stages = [(number, stage) for number, ring in enumerate(self.rings) for stage in range(ring.stages)]
        self.names = {
            (barrier.address, barrier.life): f"{letter(ring)}{stage}"
            for barrier, (ring, stage) in zip(ring_barriers(machine), stages, strict=True)
        }
        self.touches = [touch for touch in machine.barriers.touches if (touch.address, touch.life) in self.names]
        self.roles = self._roles()
        self.number = {warps[0]: number for number, warps in enumerate(self.roles)}
        self.acts: list[Act] = []
        self.last: dict[_Warp, int] = {}  # last act of each warp

    def _roles(self) -> list[list[_Warp]]:
        """Return the warps that do the same, by CTA and number."""
        places: dict[_Warp, set[int]] = {}
        for touch in self.touches:
            places.setdefault((touch.cta, touch.warp), set()).add(touch.place)
        warps_by_role: dict[tuple[int, frozenset[int]], list[_Warp]] = {}
        for warp in sorted(places):
            warps_by_role.setdefault((warp[0], frozenset(places[warp])), []).append(warp)
        return list(warps_by_role.values())

    def all(self) -> Rounds:
        """Return roles, rings and acts."""
        for touch in self.touches:
            if (touch.cta, touch.warp) not in self.number:
                continue
            what = operation_of(self.code[touch.place].opcode)
            if what != WAITS or touch.passed:
                self._add(touch, what, touch.phase - (what == WAITS))
        for touch in self._endless():
            self._add(touch, WAITS, touch.phase, endless=True)
        return Rounds(tuple(map(self._words, self.roles)), tuple(self.rings), tuple(self.acts))

    def _endless(self) -> list[Touch]:
        """Return the waits that never complete, of the first warp of each role."""
        waits = {}
        for fragment in self.machine.fragments:
            wait = fragment.blocked
            if not fragment.done and wait is not None and wait.awaited is Awaited.MBARRIER:
                place, barrier = self.machine.steps[fragment.pc].place, self.machine.barriers.find(wait.where[0])
                known = barrier is not None and (barrier.address, barrier.life) in self.names
                if barrier is not None and known and (fragment.cta, fragment.warp) in self.number:
                    waits[fragment.cta, fragment.warp] = Touch(
                        fragment.cta, fragment.warp, place, barrier.address, barrier.phase, life=barrier.life
                    )
        return list(waits.values())

    def _add(self, touch: Touch, what: str, phase: int, *, endless: bool = False) -> None:
        """Add an act, or extend the last one of its warp."""
        warp, name, line = (touch.cta, touch.warp), self.names[touch.address, touch.life], self.code[touch.place].line
        number = self.last.get(warp)
        previous = None if number is None else self.acts[number]
        if previous is not None and number is not None and (previous.name, previous.phase, previous.endless) == (
            name, phase, endless,
        ) and (previous.what == WAITS) == (what == WAITS):  # fmt: skip
            whats = previous.what if what in previous.what.split(", ") else f"{previous.what}, {what}"
            self.acts[number] = replace(previous, what=whats, lines=tuple(sorted({*previous.lines, line})))
            return
        sources = tuple(
            n for n, act in enumerate(self.acts) if (act.name, act.phase) == (name, phase) and act.what != WAITS
        )
        ends = sources if what == WAITS else ()
        time = max([-1, *(self.acts[n].time for n in ends), *([previous.time] if previous else [])]) + 1
        self.last[warp] = len(self.acts)
        self.acts.append(Act(self.number[warp], what, name, phase, time, (line,), ends, endless))

    def _words(self, warps: list[_Warp]) -> str:
        """Describe warps."""
        cta = f"CTA {warps[0][0]}, " if self.machine.ctas > 1 else ""
        return f"{cta}warp{'s' * (len(warps) > 1)} {ranges_text([warp for _, warp in warps])}"


def letter(number: int) -> str:
    """Return the name of a ring.

    >>> letter(0), letter(27)
    ('A', 'AB')
    """
    return chr(ord("A") + number) if number < 26 else letter(number // 26 - 1) + letter(number % 26)
