r"""The state of a run, for comparing two moments: everything that decides how the run continues.

Iterations of a loop return to the same state except for names: the numbers of accesses grow, and so do those of phases
and of ``wgmma``. An access is therefore named by the sets of known accesses that contain it: two accesses of one kind
that the same sets contain are known to the same threads from then on, since sets are only united. Phases are counted
from the last one. Registers are compared separately, because they may drift. The order of runnable fragments is no part
of the state, since one schedule stands for all (``machine``).

Source: PTX ISA 9.1, mbarrier (phase); equal states have equal futures because the machine is deterministic.

Invariant: a loop returns to its state, and an mbarrier in it after two phases.

>>> from descriptors.check.execution.dispatch import execution
>>> from descriptors.check.execution.launch import Launch
>>> from descriptors.check.execution.program import program
>>> from descriptors.check.ptx.ptx_module import parse
>>> def final_state(rounds):
...     init = "mov.u32 k, 0; mbarrier.init.shared.b64 [b], 1; L: mbarrier.arrive.shared.b64 _, [b]; add.u32 k, k, 1;"
...     body = f"{init} setp.lt.u32 p, k, {rounds}; @p bra L; bar.sync 1, 64; ret;"
...     launch = Launch((1, 1, 1), (1, 1, 1), (1, 1, 1), 0, {}, {"b": 0}, {}, {})
...     machine = Machine(program(parse(f".version 8.8\n.entry k() {{ {body} }}").functions[0]), launch, execution)
...     machine.run()
...     return state(machine)
>>> final_state(3) == final_state(4), final_state(3) == final_state(5)
(False, True)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from descriptors.check.execution.fragment import Awaited, Fragment, Join, Wait
from descriptors.check.execution.knowledge import Access, Segments
from descriptors.check.execution.machine import Machine
from descriptors.check.execution.mbarrier import Mbarrier
from descriptors.check.execution.meetings import Issue

#: A state; runs continue equally from equal states, except for the values of registers.
State: TypeAlias = tuple[Any, ...]
#: Key of a fragment: CTA, warp and lanes.
Key: TypeAlias = tuple[int, int, tuple[int, ...]]


def key_of(fragment: Fragment) -> Key:
    """Return the CTA, the warp and the lanes of a fragment."""
    return fragment.cta, fragment.warp, fragment.lanes


def state(machine: Machine) -> State:
    """Return the state of a machine between two of its steps."""
    return _States(machine).whole()


def _bits(accesses: int) -> Iterator[int]:
    """Yield the number of each bit that is set."""
    while accesses:
        yield accesses.bit_length() - 1
        accesses ^= 1 << accesses.bit_length() - 1


class _States:
    """The parts of a state.

    Args:
        machine: the machine.
    """

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.live = sorted((fragment for fragment in machine.fragments if not fragment.done), key=key_of)
        self.ended = sorted((fragment for fragment in machine.fragments if fragment.done), key=key_of)
        self.base: dict[tuple[int, int], int] = {}
        for fragment in self.live:
            group = (fragment.cta, fragment.warp // 4)
            self.base[group] = min(self.base.get(group, fragment.sequence), fragment.sequence)
        self.issues = self._issues()
        self.asked = self._asked()
        self.sets: dict[int, int] = {}  # number of each set of known accesses
        for bits in self._sets():
            self.sets.setdefault(bits & self.asked, len(self.sets))
        self.names: dict[int, int] = {}

    # -- accesses

    def _asked(self) -> int:
        """Return the accesses that a later step may look for, as bits."""
        machine, bits = self.machine, {fragment.epoch for fragment in self.live}
        for memory in (
            machine.memory.shared,
            *(segments for tensor in machine.memory.tensor.values() for segments in tensor.cells),
        ):
            for _, _, writer, readers in memory.segments():
                bits.update(access.bit for access in (writer, *readers) if access is not None)
        bits.update(access.bit for tensor in machine.memory.tensor.values() for _, _, access in tensor.freed)
        for barrier in machine.barriers:
            bits.update((barrier.bit, *(copy.issue for copy in barrier.landings)))
            bits.update(_bits(barrier.events | barrier.events_before))
        bits.update(bit for accesses in machine.notes.reaches.values() for bit in accesses)
        bits.update(issue.bit for issue in self.issues)
        bits.update(machine.lanes.shares_of([*bits]))
        return sum(1 << bit for bit in bits if bit >= 0)

    def _sets(self) -> Iterator[int]:
        """Yield all sets of known accesses."""
        machine = self.machine
        yield machine.unfenced_inits
        for fragment in self.ended:
            yield from (fragment.known, fragment.published)
        for fragment in self.live:
            yield from fragment.access_sets
            yield from fragment.loaded.values()
            yield from (bits for accesses in fragment.access_sets_by_lanes for bits in accesses.values())
            yield from (bits for _, row in fragment.groups.rows() for bits in row)
        for barrier in machine.barriers:
            yield from (barrier.next_known, barrier.next_published, barrier.known, barrier.published)
            yield from (barrier.events, barrier.events_before)
        for rendezvous in machine.rendezvous.values():
            yield from (rendezvous.known, rendezvous.published)
        for issue in self.issues:
            yield from (issue.known, issue.published)

    def _issues(self) -> list[Issue]:
        """Return the ``wgmma`` operations that are incomplete or in a group."""
        waiting = 0
        for fragment in self.live:
            waiting |= fragment.groups.all("wgmma")
        return [issue for _, issue in self.machine.issues.items() if not issue.complete or waiting >> issue.bit & 1]

    def name(self, bit: int) -> int:
        """Return the name of an access, which is the sets that contain it; -1 for none."""
        if bit < 0:
            return -1
        name = self.names.get(bit)
        if name is None:
            name = self.names[bit] = sum(1 << n for bits, n in self.sets.items() if bits >> bit & 1)
        return name

    def access(self, access: Access | None) -> tuple[Any, ...]:
        """Return an access by its name and description, without its iteration."""
        return () if access is None else (self.name(access.bit), *access[1:-1])

    def memory(self, memory: Segments) -> tuple[Any, ...]:
        """Return the accesses of a memory; adjacent segments with the same accesses are joined."""
        segments: list[list[Any]] = []
        for start, end, writer, readers in memory.segments():
            content = (self.access(writer), frozenset(map(self.access, readers)))
            if segments and segments[-1][1] == start and segments[-1][2] == content:
                segments[-1][1] = end
            else:
                segments.append([start, end, content])
        return tuple(map(tuple, segments))

    # -- threads

    def fragment(self, fragment: Fragment) -> tuple[Any, ...]:
        """Return the state of a fragment without its registers."""
        step, address, phase = fragment.failed
        barrier = self.machine.barriers.find(address)
        groups = tuple((key, *map(self._number, row)) for key, row in fragment.groups.rows())
        meeting = self.machine.rendezvous.get(Wait(Awaited.CLUSTER, ()))
        return (
            (
                *key_of(fragment),
                fragment.pc,
                fragment.blocked,
                fragment.alone,
                None if fragment.active is None else tuple(fragment.active),
            ),
            (step, address, barrier.phase - phase if barrier else 0),
            tuple(map(self._number, fragment.access_sets)),
            tuple((load, self._number(bits)) for load, bits in sorted(fragment.loaded.items())),
            tuple(tuple(self._shared(accesses)) for accesses in fragment.access_sets_by_lanes),
            (groups, self.name(fragment.epoch), fragment.sequence - self.base[fragment.cta, fragment.warp // 4]),
            fragment.cluster_phase - (meeting.phase if meeting else 0),
            fragment.cluster_phase > fragment.cluster_waits,
            tuple(map(self.join, fragment.joins)),
        )

    def _shared(self, accesses: Mapping[int, int]) -> Iterator[tuple[int, int]]:
        """Return accesses by their lanes, as far as a later step may look for them."""
        return ((lanes, self._number(bits)) for lanes, bits in sorted(accesses.items()) if bits & self.asked)

    def _number(self, bits: int) -> int:
        """Return the number of a set among all sets."""
        return self.sets[bits & self.asked]

    def join(self, join: Join) -> tuple[Any, ...]:
        """Return the state of a reconvergence point."""
        place = next((n for n, other in enumerate(self.joins()) if other is join), -1)
        return place, join.pc, tuple(sorted(join.lanes)), join.dead, frozenset(self._keys(join.arrived))

    def joins(self) -> list[Join]:
        """Return the reconvergence points that a fragment may still reach."""
        wanted = [join for fragment in self.live for join in fragment.joins]
        return [
            candidate
            for candidate in self.machine.joins
            if candidate.arrived or any(candidate is join for join in wanted)
        ]

    @staticmethod
    def _keys(fragments: Iterable[Fragment]) -> tuple[Key, ...]:
        return tuple(map(key_of, fragments))

    # -- barriers

    def barrier(self, barrier: Mbarrier) -> tuple[Any, ...]:
        """Return the state of an mbarrier, with the parity of its phase."""
        knowledge = (
            barrier.next_known,
            barrier.next_published,
            barrier.known,
            barrier.published,
            barrier.events,
            barrier.events_before,
        )
        copies = tuple((*copy[:3], self.name(copy.issue)) for copy in barrier.landings)
        return (
            (
                barrier.address,
                self.name(barrier.bit),
                barrier.count,
                barrier.line,
                barrier.pending,
                barrier.phase & 1,
                barrier.excess,
            ),
            (tuple(barrier.expected), barrier.came, copies),
            tuple(map(self._number, knowledge)),
        )

    def issue(self, key: tuple[int, int, int], issue: Issue) -> tuple[Any, ...]:
        """Return the state of a ``wgmma``, numbered from the last one of its warpgroup."""
        sequence = key[2] - self.base.get(key[:2], 0)
        sets = self._number(issue.known), self._number(issue.published)
        return (*key[:2], sequence, issue.complete, issue.warps, self.name(issue.bit), *sets)

    # -- everything

    def whole(self) -> State:
        """Return the complete state, in an order that the future may depend on."""
        machine, memories, issues = self.machine, self.machine.memory, {id(issue) for issue in self.issues}
        return (
            tuple(map(self.fragment, self.live)),
            tuple(
                (fragment.cta, self._number(fragment.known), self._number(fragment.published))
                for fragment in self.ended
            ),
            tuple((place, *sorted(lanes)) for place, lanes in machine.alive.items()),
            frozenset(self._keys(machine.runnable)),
            frozenset((wait, frozenset(self._keys(fragments))) for wait, fragments in machine.waiting.items()),
            tuple(map(self.join, self.joins())),
            tuple(map(self.barrier, machine.barriers)),
            tuple(
                (
                    wait,
                    rendezvous.target,
                    rendezvous.came,
                    self._number(rendezvous.known),
                    self._number(rendezvous.published),
                )
                + (frozenset(self._keys(rendezvous.waiters)),)
                for wait, rendezvous in machine.rendezvous.items()
            ),
            tuple(self.issue(key, issue) for key, issue in machine.issues.items() if id(issue) in issues),
            self.memory(memories.shared),
            tuple((cta, *self._tensor(cta)) for cta in sorted(memories.tensor)),
            (memories.bytes.all(), tuple((warp, memory.all()) for warp, memory in sorted(memories.local.items()))),
            self._number(machine.unfenced_inits),
            tuple(machine.requests.items()),
            tuple((cta, *pool.held.values()) for cta, pool in sorted(machine.pools.items())),
            tuple(sorted((key, self._known(bits)) for key, bits in machine.notes.reaches.items())),
        )

    def _tensor(self, cta: int) -> tuple[Any, ...]:
        tensor = self.machine.memory.tensor[cta]
        freed = tuple((low, high, self.access(access)) for low, high, access in tensor.freed)
        return tuple(tensor.allocated), freed, tuple(map(self.memory, tensor.cells))

    def _known(self, bits: Iterable[int]) -> tuple[int, ...]:
        return tuple(sorted({self.name(bit) for bit in bits}))
