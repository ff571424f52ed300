"""Rounds: who waits for whom, phase by phase of the mbarriers, as one run of a kernel has it.

What warps tell an mbarrier in one phase, arrivals, bytes and copies, is one *act*; so is a wait that such acts end.
Warps that do the same are one *role*. When an act is, is counted in acts: one after those of its warp before, and after
all that end its wait. Rings are called A, B and so on, in the order of their addresses: ``A1`` is the
second mbarrier of the first.
Source: PTX ISA 9.1, mbarrier (phase); the order of acts is Lamport's of 1978.

Law: a wait comes after each act that ends it.

>>> from descriptors.check.execution.launch import Launch
>>> from descriptors.check.execution.program import program
>>> from descriptors.check.execution.runs import run
>>> from descriptors.check.ptx.ptx_module import parse
>>> init = "mov.u32 t, %tid.x; mbarrier.init.shared.b64 [b], 32; bar.sync 0; setp.lt.u32 p, t, 32; @p bra TELL;"
>>> wait = "L: mbarrier.try_wait.parity.shared.b64 q, [b], 0; @!q bra L; ret;"
>>> body = f"{init} {wait} TELL: mbarrier.arrive.shared.b64 _, [b]; ret;"
>>> launch = Launch((64, 1, 1), (1, 1, 1), (1, 1, 1), 0, {}, {"b": 0}, {}, {})
>>> seen = rounds(run(program(parse(f".version 8.8\\n.entry k() {{ {body} }}").functions[0]), launch).machine)
>>> [(seen.roles[act.role], act.what, act.name, act.phase, act.time, act.sources) for act in seen.acts]
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
    """What a role does at an mbarrier in one phase.

    Args:
        role: number of the role.
        what: what is done, as ``rings`` has it; several things with commas.
        name: of the mbarrier.
        phase: that is told, or waited for; -1 for a wait that a fresh mbarrier ends.
        time: how many acts it comes after, at the least.
        lines: of the instructions.
        sources: the acts that end the wait, or are all that there is of its phase, by their places among all.
        endless: whether it is a wait that nothing ends.
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
    """Who waits for whom in a run.

    Args:
        roles: warps that do the same, in words.
        rings: the rings, by their letters in order.
        acts: in the order of the run; of a role those of its first warp.
    """

    roles: tuple[str, ...]
    rings: tuple[Ring, ...]
    acts: tuple[Act, ...]


def rounds(machine: Machine) -> Rounds:
    """Who waits for whom in a run, as the first CTA of the cluster sees it.

    Args:
        machine: as the run left it.
    """
    return _Rounds(machine).all()


class _Rounds:
    """The acts of a run.

    Args:
        machine: as it left it.
    """

    def __init__(self, machine: Machine) -> None:
        self.machine, self.code = machine, machine.program.function.code
        self.rings = rings(machine)
        stages = [(number, stage) for number, ring in enumerate(self.rings) for stage in range(ring.stages)]
        self.names = {
            (touch.address, touch.life): f"{letter(ring)}{stage}"
            for touch, (ring, stage) in zip(ring_barriers(machine), stages, strict=True)
        }
        self.touches = [touch for touch in machine.barriers.touches if (touch.address, touch.life) in self.names]
        self.roles = self._roles()
        self.number = {warps[0]: number for number, warps in enumerate(self.roles)}
        self.acts: list[Act] = []
        self.last: dict[_Warp, int] = {}  # the last act of a warp

    def _roles(self) -> list[list[_Warp]]:
        """Warps that do the same, by their CTAs and numbers."""
        places: dict[_Warp, set[int]] = {}
        for touch in self.touches:
            places.setdefault((touch.cta, touch.warp), set()).add(touch.place)
        warps_by_role: dict[tuple[int, frozenset[int]], list[_Warp]] = {}
        for warp in sorted(places):
            warps_by_role.setdefault((warp[0], frozenset(places[warp])), []).append(warp)
        return list(warps_by_role.values())

    def all(self) -> Rounds:
        """Roles, rings and acts."""
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
        """The waits that never end, of the first warp of each role."""
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
        """One more act, or more of the last of its warp."""
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
        """Warps in words."""
        cta = f"CTA {warps[0][0]}, " if self.machine.ctas > 1 else ""
        return f"{cta}warp{'s' * (len(warps) > 1)} {ranges_text([warp for _, warp in warps])}"


def letter(number: int) -> str:
    """What a ring is called.

    >>> letter(0), letter(27)
    ('A', 'AB')
    """
    return chr(ord("A") + number) if number < 26 else letter(number // 26 - 1) + letter(number % 26)
