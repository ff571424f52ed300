"""The state of mbarriers: counts of arrivals and of bytes, and phases.

A phase ends when no arrival is pending and all expected bytes have arrived. Bytes may arrive before they are expected.
The parity of a wait names the phase that ended last: a new barrier passes a wait for parity 1. An object lives from its
``init`` to the next ``init`` at the same address. If the size of a copy is unknown, the phase ends when nothing else
can continue (``settle``).

Source: PTX ISA 9.1, mbarrier: Contents, Phase, Arrive-on operation, expect-tx and complete-tx operations.

Invariant: a phase ends with its last arrival, and a wait for the other parity passes before.

>>> barrier = Mbarrier(0, 1, count=2, line=5)
>>> [barrier.passes(1), barrier.passes(0)], barrier.arrive(1), barrier.arrive(1), [barrier.passes(1), barrier.passes(0)]
([True, False], False, True, [False, True])

Invariant: if bytes are expected, the phase ends with the last of them.

>>> barrier = Mbarrier(0, 1, count=1, line=5)
>>> barrier.expect(64), barrier.arrive(1), barrier.complete(32), barrier.complete(32)
(False, False, False, True)
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple


class Box(NamedTuple):
    """Key of a copy size that is not in the text; copies with the same key have the same size.

    Args:
        of_tensor_map: whether it is the box of a tensor map.
        name: address of the tensor map, or the register that holds it; otherwise the index of the instruction.
    """

    of_tensor_map: bool
    name: int | str


class Landing(NamedTuple):
    """A copy of unknown size that signals an mbarrier when it completes.

    Args:
        line: line of the copy.
        map: key of its size.
        place: destination address.
        issue: unique number of the copy.
    """

    line: int
    map: Box
    place: int
    issue: int


class Touch(NamedTuple):
    """An instruction that names an mbarrier.

    Args:
        cta, warp: of the threads.
        place: index of the instruction.
        address: address of the mbarrier.
        phase: phase of the mbarrier at that time.
        passed: whether it was a wait that is over.
        life: number of earlier mbarriers at that address.
    """

    cta: int
    warp: int
    place: int
    address: int
    phase: int
    passed: bool = False
    life: int = 0


class Phase(NamedTuple):
    """A phase that ended: expected bytes by line, bytes that arrived, and copies of unknown size."""

    address: int
    expected: tuple[tuple[int, int], ...]
    came: int
    landings: tuple[Landing, ...]


class Mbarrier:
    """One mbarrier object.

    Args:
        address: its address.
        bit: access that initialized it.
        count: arrivals per phase.
        line: line of its ``init``.
    """

    def __init__(self, address: int, bit: int, count: int, line: int) -> None:
        self.address, self.bit, self.count, self.line = address, bit, count, line
        self.pending, self.phase, self.life = count, 0, 0
        self.expected: list[tuple[int, int]] = []
        self.came = 0
        self.landings: list[Landing] = []
        self.next_known = self.next_published = 0
        self.known = self.published = 0
        self.events = self.events_before = 0  # arrivals and copies of this phase and of the previous one, as bits
        self.copies = 0  # those of all phases that are copies
        self.excess = 0  # arrivals beyond the count of the phase, until they are reported
        self.ended: list[Phase] = []

    @property
    def missing(self) -> int:
        """Bytes that are expected and have not arrived."""
        return sum(size for _, size in self.expected) - self.came

    def passes(self, parity: int) -> bool:
        """Check whether a wait for this parity is over."""
        return (self.phase - 1) & 1 == parity & 1

    def learn(self, known: int, published: int) -> None:
        """Add the accesses that an arrival or a copy signals."""
        self.next_known |= known
        self.next_published |= published

    def note(self, bit: int, *, is_copy: bool = False) -> None:
        """Add an arrival or a copy to the phase; a thread that waits for the phase learns it."""
        self.events |= 1 << bit
        self.copies |= is_copy << bit
        self.learn(1 << bit, 0)

    def arrive(self, count: int) -> bool:
        """Count arrivals; return whether the phase ends."""
        self.pending -= count
        if self.pending < 0:
            self.excess, self.pending = -self.pending, 0
        return self._end()

    def expect(self, size: int, line: int = 0) -> bool:
        """Expect bytes; return whether the phase ends."""
        self.expected.append((line, size))
        return self._end()

    def complete(self, size: int) -> bool:
        """Count bytes that arrived; return whether the phase ends."""
        self.came += size
        return self._end()

    def land(self, landing: Landing) -> None:
        """Add a copy of unknown size."""
        self.landings.append(landing)

    def settle(self) -> bool:
        """Assume that the copies of unknown size bring the missing bytes; return whether that ends the phase."""
        if self.pending or not self.landings or self.missing <= 0:
            return False
        self._finish()
        return True

    def _end(self) -> bool:
        if self.pending or self.missing or self.landings:
            return False
        self._finish()
        return True

    def _finish(self) -> None:
        self.ended.append(Phase(self.address, tuple(self.expected), self.came, tuple(self.landings)))
        self.phase += 1
        self.pending, self.expected, self.came, self.landings = self.count, [], 0, []
        self.known, self.published = self.next_known, self.next_published
        self.events, self.events_before = 0, self.events


#: Bytes of an mbarrier object.
BYTES = 8


class Mbarriers:
    """The mbarriers of a cluster, one per address, the earlier ones, and the instructions that named them.

    >>> mbarriers = Mbarriers()
    >>> for line in (5, 9):
    ...     mbarriers.add(Mbarrier(64, bit=0, count=1, line=line))
    >>> mbarriers.find(64).line, [barrier.line for barrier in mbarriers.ever()]
    (9, [5, 9])
    >>> mbarriers.retire(64), mbarriers.find(64)
    (None, None)
    """

    def __init__(self) -> None:
        self._live: dict[int, Mbarrier] = {}
        self._places: list[int] = []  # sorted addresses of the live mbarriers
        self._retired: list[Mbarrier] = []
        self._lives: Counter[int] = Counter()  # number of mbarriers so far, by address
        self.touches: list[Touch] = []  # uses in the order of the run

    def __len__(self) -> int:
        return len(self._live)

    def __iter__(self) -> Iterator[Mbarrier]:
        return iter(self._live.values())

    def find(self, address: int) -> Mbarrier | None:
        """Return the mbarrier at an address; None if there is none."""
        return self._live.get(address)

    def overlapping(self, start: int, end: int) -> Mbarrier | None:
        """Return the first live mbarrier that has a byte in a range; None if there is none."""
        place = bisect_right(self._places, start - BYTES)
        overlaps = place < len(self._places) and self._places[place] < end
        return self._live[self._places[place]] if overlaps else None

    def add(self, barrier: Mbarrier) -> None:
        """Add an mbarrier; it replaces the one at the same address."""
        self.retire(barrier.address)
        barrier.life = self._lives[barrier.address]
        self._lives[barrier.address] += 1
        self._live[barrier.address] = barrier
        insort(self._places, barrier.address)

    def retire(self, address: int) -> None:
        """Remove the mbarrier at an address from the live ones."""
        if (retired := self._live.pop(address, None)) is not None:
            self._retired.append(retired)
            self._places.remove(address)

    def ever(self) -> Iterator[Mbarrier]:
        """Yield all mbarriers, live or not."""
        yield from self._retired
        yield from self

    def users(self) -> dict[tuple[int, int], dict[int, set[tuple[int, int]]]]:
        """Return CTA and warp of the users of each mbarrier, by its address and life, and then by instruction."""
        users: dict[tuple[int, int], dict[int, set[tuple[int, int]]]] = {}
        for touch in self.touches:
            places = users.setdefault((touch.address, touch.life), {})
            places.setdefault(touch.place, set()).add((touch.cta, touch.warp))
        return users
