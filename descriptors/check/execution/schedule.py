r"""Schedule the fragments of a cluster: they separate at branches, wait, meet again and end.

Lanes that meet again after a branch know the accesses that any of them knew. The manual does not promise this without
bar.warp.sync, but compilers rely on it; a missing bar.warp.sync there is not found. If no fragment can continue, lanes
that wait for others of their warp continue without them, as do lanes at the end of a branch. If the kernel hangs all
the same, violations by these lanes are left out.

Source: PTX ISA 9.1, Thread Hierarchy; barrier, bar.warp.sync; ``program`` defines where branches reconverge.

Invariant: a fragment that waits continues when it is woken, and not before.

>>> from descriptors.check.execution.program import program
>>> from descriptors.check.ptx.ptx_module import parse
>>> launch = Launch((40, 1, 1), (1, 1, 1), (1, 1, 1), 0, {}, {}, {}, {})
>>> threads = Schedule(program(parse(".version 8.8\n.entry k() { ret; }").functions[0]), launch)
>>> [len(fragment.lanes) for fragment in threads.fragments]
[32, 8]
>>> columns, first = Wait(Awaited.COLUMNS, (0,)), threads.runnable.popleft()
>>> threads.park(first, columns), len(threads.runnable), threads.wake(columns), len(threads.runnable)
(True, 1, None, 2)
"""

from __future__ import annotations

from collections import deque

from descriptors.check.execution.fragment import ANY_SYNC, Awaited, Fragment, Join, Wait
from descriptors.check.execution.launch import WARP, Launch
from descriptors.check.execution.meetings import Rendezvous
from descriptors.check.execution.program import Program


class Schedule:
    """The threads of a cluster.

    Args:
        program: the kernel that they execute.
        launch: how the kernel is launched.
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

    # -- waiting and continuing

    def park(self, fragment: Fragment, wait: Wait) -> bool:
        """Block a fragment until ``wake`` is called for this wait; return True, because it cannot continue."""
        fragment.blocked, fragment.active = wait, None
        self.waiting.setdefault(wait, []).append(fragment)
        return True

    def wake(self, wait: Wait) -> None:
        """Let all fragments continue that wait for this."""
        for fragment in self.waiting.pop(wait, ()):
            self.resume(fragment)

    def resume(self, fragment: Fragment) -> None:
        """Let a fragment continue."""
        fragment.blocked = None
        self.runnable.append(fragment)

    def pass_on(self, fragment: Fragment) -> bool:
        """Let a fragment continue after its instruction, but other fragments first; return True."""
        fragment.pc += 1
        fragment.active = None
        self.resume(fragment)
        return True

    def release(self) -> bool:
        """Let lanes continue that wait for others of their warp, when no fragment can; return whether there are any."""
        of_warp = [wait for wait in self.waiting if wait.awaited is Awaited.WARP]
        of_warp.sort(key=lambda wait: wait.where[2] == ANY_SYNC)
        join = next((join for join in self.joins if join.arrived), None)
        if of_warp and (join is None or of_warp[0].where[2] != ANY_SYNC):
            for fragment in self.waiting.pop(of_warp[0]):
                fragment.alone = fragment.released = True
                self.resume(fragment)
            return True
        if join is not None:
            self._close(join)
            for fragment in join.arrived:
                fragment.joins = tuple(other for other in fragment.joins if other is not join)
                fragment.released = True
                self.resume(fragment)
        return join is not None

    # -- lanes that separate, meet and end

    def split(self, fragment: Fragment, places: list[int], pc: int, meeting: int | None) -> None:
        """Separate some lanes of a fragment to continue at ``pc``; both parts join again at ``meeting``."""
        if meeting is not None:
            join = Join(meeting, {*fragment.lanes})
            self.joins.append(join)
            fragment.joins = (*fragment.joins, join)
        other = fragment.split_off(places, pc)
        self.fragments.append(other)
        self.runnable.append(other)

    def arrive_at_join(self, fragment: Fragment) -> bool:
        """Handle the end of a branch; return whether the fragment waits for other lanes or was merged with them."""
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
        """Mark a reconvergence point as passed."""
        join.dead = True
        self.joins = [other for other in self.joins if other is not join]

    def _merged(self, parts: list[Fragment], join: Join | None = None) -> Fragment:
        """Merge fragments at the same step; at a join, keep only the registers that are live there."""
        first, *others = parts
        first.joins = tuple(other for other in first.joins if other is not join)
        if others:
            first.merge(others, None if join is None else self.program.live(join.pc))
            first.released = any(fragment.released for fragment in parts) and not self._is_whole(first)
            self.fragments = [fragment for fragment in self.fragments if not (fragment.done and fragment in others)]
        return first

    def _is_whole(self, fragment: Fragment) -> bool:
        """Check whether a fragment has all lanes of its warp that have not ended."""
        return self.alive[fragment.cta, fragment.warp] <= {*fragment.lanes}

    def gather(self, rendezvous: Rendezvous) -> None:
        """End the phase of a rendezvous if all threads have arrived; waiting fragments of a warp continue as one."""
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
        """Return how many threads must arrive at a rendezvous."""
        if rendezvous.target is not None:
            return rendezvous.target
        return sum(len(lanes) for (cta, _), lanes in self.alive.items() if rendezvous.cta in (None, cta))

    def end(self, fragment: Fragment, places: list[int]) -> bool:
        """End lanes; return whether they are all lanes of their fragment."""
        ended = {fragment.lanes[place] for place in places}
        self.alive[fragment.cta, fragment.warp] -= ended
        for join in fragment.joins:
            join.lanes -= ended
        if len(places) == len(fragment.lanes):
            fragment.done = True
        else:
            fragment.remove_lanes(places)
        for join in fragment.joins:
            self._complete(join)
        for rendezvous in list(self.rendezvous.values()):
            self.gather(rendezvous)
        return fragment.done
