"""The threads of a cluster: fragments that part at a branch, wait, meet again and end, whatever they execute.

Lanes that meet again behind a branch know what either of them knew, which the manual does not promise without
bar.warp.sync: compilers count on it, and a missing one is not seen. Where nobody can go on, lanes that wait for others
of their warp go on without them, and so do those at the end of a branch. If the kernel hangs all the same, what these
lanes came to is left out.
Source: PTX ISA 9.1, Thread Hierarchy; barrier, bar.warp.sync; where the ways of a branch meet is said by ``program``.

Law: who waits for something goes on when somebody wakes it, and not before.

>>> from descriptors.check.execution.program import program
>>> from descriptors.check.ptx.ptx_module import parse
>>> launch = Launch((40, 1, 1), (1, 1, 1), (1, 1, 1), 0, {}, {}, {}, {})
>>> threads = Schedule(program(parse(".version 8.8\\n.entry k() { ret; }").functions[0]), launch)
>>> [len(one.lanes) for one in threads.fragments]
[32, 8]
>>> columns, first = Wait(Awaited.COLUMNS, (0,)), threads.runnable.popleft()
>>> threads.park(first, columns), len(threads.runnable), threads.wake(columns), len(threads.runnable)
(True, 1, None, 2)
"""

from __future__ import annotations

from collections import deque

from descriptors.check.execution.fragment import Awaited, Fragment, Join, Wait
from descriptors.check.execution.launch import WARP, Launch
from descriptors.check.execution.meetings import Rendezvous
from descriptors.check.execution.program import Program


class Schedule:
    """The threads of a cluster.

    Args:
        program: what they execute.
        launch: how it is started.
    """

    def __init__(self, program: Program, launch: Launch) -> None:
        self.program, self.launch = program, launch
        (x, y, z), threads = launch.cluster, launch.threads[0] * launch.threads[1] * launch.threads[2]
        self.ctas, self.warps = x * y * z, -(-threads // WARP)
        self.alive = {
            (cta, warp): set(range(min(WARP, threads - warp * WARP)))
            for cta in range(self.ctas)
            for warp in range(self.warps)
        }
        self.fragments = [Fragment(cta, warp, tuple(sorted(lanes))) for (cta, warp), lanes in self.alive.items()]
        self.runnable = deque(self.fragments)
        self.waiting: dict[Wait, list[Fragment]] = {}
        self.rendezvous: dict[Wait, Rendezvous] = {}
        self.joins: list[Join] = []

    # -- who waits, and who goes on

    def park(self, one: Fragment, wait: Wait) -> bool:
        """Let a fragment wait until somebody wakes who waits for this; True, for it cannot go on."""
        one.blocked, one.active = wait, None
        self.waiting.setdefault(wait, []).append(one)
        return True

    def wake(self, wait: Wait) -> None:
        """Let all go on that wait for this."""
        for one in self.waiting.pop(wait, ()):
            self.resume(one)

    def resume(self, one: Fragment) -> None:
        """Let a fragment go on."""
        one.blocked = None
        self.runnable.append(one)

    def pass_on(self, one: Fragment) -> bool:
        """Let a fragment go on behind its instruction, but others first; True, for it does not go on now."""
        one.pc += 1
        one.active = None
        self.resume(one)
        return True

    def release(self) -> bool:
        """Where nobody can go on: let those go on that wait for others of their warp; whether there are any."""
        of_warp = next((wait for wait in self.waiting if wait.awaited is Awaited.WARP), None)
        if of_warp is not None:
            for one in self.waiting.pop(of_warp):
                one.alone = one.released = True
                self.resume(one)
            return True
        join = next((join for join in self.joins if join.arrived), None)
        if join is not None:
            self._close(join)
            for one in join.arrived:
                one.joins = tuple(held for held in one.joins if held is not join)
                one.released = True
                self.resume(one)
        return join is not None

    # -- lanes that part, meet and end

    def split(self, one: Fragment, places: list[int], pc: int, meeting: int | None) -> None:
        """Take some lanes of a fragment apart, to go on elsewhere; both are one again where the ways meet."""
        if meeting is not None:
            join = Join(meeting, {*one.lanes})
            self.joins.append(join)
            one.joins = (*one.joins, join)
        other = one.parted(places, pc)
        self.fragments.append(other)
        self.runnable.append(other)

    def meet(self, one: Fragment) -> bool:
        """At the end of a branch: whether the fragment waits for the other lanes, or is taken up by them."""
        join = one.joins[-1]
        if join.dead:
            one.joins = one.joins[:-1]
            return bool(one.joins and one.pc == one.joins[-1].pc and self.meet(one))
        join.arrived.append(one)
        self._complete(join)
        return True

    def _complete(self, join: Join) -> None:
        if join.dead or not join.complete:
            return
        self._close(join)
        self.resume(self._merged(join.arrived, join))

    def _close(self, join: Join) -> None:
        """Nobody waits at a join any more."""
        join.dead = True
        self.joins = [one for one in self.joins if one is not join]

    def _merged(self, parts: list[Fragment], join: Join | None = None) -> Fragment:
        """Fragments at one place as one: where a join is, with the registers that are read behind it alone."""
        first, *others = parts
        first.joins = tuple(held for held in first.joins if held is not join)
        if others:
            first.meet(others, None if join is None else self.program.live(join.pc))
            first.released = any(one.released for one in parts) and not self._is_whole(first)
            self.fragments = [one for one in self.fragments if not (one.done and one in others)]
        return first

    def _is_whole(self, one: Fragment) -> bool:
        """Whether a fragment has all lanes of its warp that live."""
        return self.alive[one.cta, one.warp] <= {*one.lanes}

    def gather(self, held: Rendezvous) -> None:
        """End the phase of a rendezvous if all have come: who waited goes on, the fragments of a warp as one."""
        wanted = self.wanted(held)
        if not held.came or held.came < wanted:
            return
        held.came, held.phase = held.came - wanted, held.phase + 1
        groups: dict[tuple[int, int, int, tuple[Join, ...]], list[Fragment]] = {}
        for one in held.waiters:
            groups.setdefault((one.cta, one.warp, one.pc, one.joins), []).append(one)
        held.waiters = []
        for parts in groups.values():
            one = self._merged(parts)
            held.leave(one)
            one.count(self.program.steps[one.pc].place)
            self.pass_on(one)

    def wanted(self, held: Rendezvous) -> int:
        """How many threads meet at a rendezvous."""
        if held.target is not None:
            return held.target
        return sum(len(lanes) for (cta, _), lanes in self.alive.items() if held.cta in (None, cta))

    def end(self, one: Fragment, places: list[int]) -> bool:
        """Lanes end; whether they are all of their fragment."""
        gone = {one.lanes[place] for place in places}
        self.alive[one.cta, one.warp] -= gone
        for join in one.joins:
            join.lanes -= gone
        if len(places) == len(one.lanes):
            one.done = True
        else:
            one.without(places)
        for join in one.joins:
            self._complete(join)
        for held in list(self.rendezvous.values()):
            self.gather(held)
        return one.done
