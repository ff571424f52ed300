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

    def park(self, fragment: Fragment, wait: Wait) -> bool:
        """Let a fragment wait until somebody wakes who waits for this; True, for it cannot go on."""
        fragment.blocked, fragment.active = wait, None
        self.waiting.setdefault(wait, []).append(fragment)
        return True

    def wake(self, wait: Wait) -> None:
        """Let all go on that wait for this."""
        for fragment in self.waiting.pop(wait, ()):
            self.resume(fragment)

    def resume(self, fragment: Fragment) -> None:
        """Let a fragment go on."""
        fragment.blocked = None
        self.runnable.append(fragment)

    def pass_on(self, fragment: Fragment) -> bool:
        """Let a fragment go on behind its instruction, but others first; True, for it does not go on now."""
        fragment.pc += 1
        fragment.active = None
        self.resume(fragment)
        return True

    def release(self) -> bool:
        """Where nobody can go on: let those go on that wait for others of their warp; whether there are any."""
        of_warp = next((wait for wait in self.waiting if wait.awaited is Awaited.WARP), None)
        if of_warp is not None:
            for fragment in self.waiting.pop(of_warp):
                fragment.alone = fragment.released = True
                self.resume(fragment)
            return True
        join = next((join for join in self.joins if join.arrived), None)
        if join is not None:
            self._close(join)
            for fragment in join.arrived:
                fragment.joins = tuple(other for other in fragment.joins if other is not join)
                fragment.released = True
                self.resume(fragment)
        return join is not None

    # -- lanes that part, meet and end

    def split(self, fragment: Fragment, places: list[int], pc: int, meeting: int | None) -> None:
        """Take some lanes of a fragment apart, to go on elsewhere; both are one again where the ways meet."""
        if meeting is not None:
            join = Join(meeting, {*fragment.lanes})
            self.joins.append(join)
            fragment.joins = (*fragment.joins, join)
        other = fragment.split_off(places, pc)
        self.fragments.append(other)
        self.runnable.append(other)

    def arrive_at_join(self, fragment: Fragment) -> bool:
        """At the end of a branch: whether the fragment waits for the other lanes, or is taken up by them."""
        join = fragment.joins[-1]
        if join.dead:
            fragment.joins = fragment.joins[:-1]
            return bool(fragment.joins and fragment.pc == fragment.joins[-1].pc and self.arrive_at_join(fragment))
        join.arrived.append(fragment)
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
        self.joins = [other for other in self.joins if other is not join]

    def _merged(self, parts: list[Fragment], join: Join | None = None) -> Fragment:
        """Fragments at one place as one: where a join is, with the registers that are read behind it alone."""
        first, *others = parts
        first.joins = tuple(other for other in first.joins if other is not join)
        if others:
            first.merge(others, None if join is None else self.program.live(join.pc))
            first.released = any(fragment.released for fragment in parts) and not self._is_whole(first)
            self.fragments = [fragment for fragment in self.fragments if not (fragment.done and fragment in others)]
        return first

    def _is_whole(self, fragment: Fragment) -> bool:
        """Whether a fragment has all lanes of its warp that live."""
        return self.alive[fragment.cta, fragment.warp] <= {*fragment.lanes}

    def gather(self, rendezvous: Rendezvous) -> None:
        """End the phase of a rendezvous if all have come: who waited goes on, the fragments of a warp as one."""
        wanted = self.wanted(rendezvous)
        if not rendezvous.came or rendezvous.came < wanted:
            return
        rendezvous.came, rendezvous.phase = rendezvous.came - wanted, rendezvous.phase + 1
        groups: dict[tuple[int, int, int, tuple[Join, ...]], list[Fragment]] = {}
        for fragment in rendezvous.waiters:
            groups.setdefault((fragment.cta, fragment.warp, fragment.pc, fragment.joins), []).append(fragment)
        rendezvous.waiters = []
        for parts in groups.values():
            fragment = self._merged(parts)
            rendezvous.leave(fragment)
            fragment.count(self.program.steps[fragment.pc].place)
            self.pass_on(fragment)

    def wanted(self, rendezvous: Rendezvous) -> int:
        """How many threads meet at a rendezvous."""
        if rendezvous.target is not None:
            return rendezvous.target
        return sum(len(lanes) for (cta, _), lanes in self.alive.items() if rendezvous.cta in (None, cta))

    def end(self, fragment: Fragment, places: list[int]) -> bool:
        """Lanes end; whether they are all of their fragment."""
        gone = {fragment.lanes[place] for place in places}
        self.alive[fragment.cta, fragment.warp] -= gone
        for join in fragment.joins:
            join.lanes -= gone
        if len(places) == len(fragment.lanes):
            fragment.done = True
        else:
            fragment.remove_lanes(places)
        for join in fragment.joins:
            self._complete(join)
        for rendezvous in list(self.rendezvous.values()):
            self.gather(rendezvous)
        return fragment.done
