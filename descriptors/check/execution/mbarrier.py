"""The mbarrier as the machine that it is: counts of arrivals and of bytes, and phases.

A phase ends when no arrival is pending and all bytes that are expected have come. Bytes may come before they are
expected. The phase that a parity names is the last one that ended: a fresh barrier passes a wait for parity 1. An
object lives from its ``init`` to the next at the same address.
Where a copy does not say its bytes, the phase ends when it must: when nothing else can go on (``settle``).
Source: PTX ISA 9.1, mbarrier: Contents, Phase, Arrive-on operation, expect-tx and complete-tx operations.

Law: a phase ends by its last arrival, and a wait for the other parity goes by before.

>>> one = Mbarrier(0, 1, count=2, line=5)
>>> [one.passes(1), one.passes(0)], one.arrive(1), one.arrive(1), [one.passes(1), one.passes(0)]
([True, False], False, True, [False, True])

Law: with bytes expected it ends by the last of them.

>>> one = Mbarrier(0, 1, count=1, line=5)
>>> one.expect(64), one.arrive(1), one.complete(32), one.complete(32)
(False, False, False, True)
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple


class Box(NamedTuple):
    """What names the bytes of a copy that the text does not say: copies of one name bring as many.

    Args:
        of_tensor_map: whether it is the box of a tensor map.
        name: the address of the map, or the register that it comes from; else the place of the instruction.
    """

    of_tensor_map: bool
    name: int | str


class Landing(NamedTuple):
    """A copy that tells a barrier when it has come, of bytes that the text does not say.

    Args:
        line: of the copy.
        map: what names its tensor map.
        place: where it goes.
        issue: its own number, so that two alike are two.
    """

    line: int
    map: Box
    place: int
    issue: int


class Touch(NamedTuple):
    """An instruction that names an mbarrier.

    Args:
        cta, warp: of the threads.
        place: of the instruction.
        address: of the mbarrier.
        phase: that it was in.
        passed: whether it was a wait that was over.
        life: how many mbarriers were initialized at that address before.
    """

    cta: int
    warp: int
    place: int
    address: int
    phase: int
    passed: bool = False
    life: int = 0


class Phase(NamedTuple):
    """What a phase that ended had: bytes expected, by line; bytes that came with a size; and copies without one."""

    address: int
    expected: tuple[tuple[int, int], ...]
    came: int
    landings: tuple[Landing, ...]


class Mbarrier:
    """One mbarrier object.

    Args:
        address: where it lies.
        bit: of the access that initialised it.
        count: arrivals of a phase.
        line: of its ``init``.
    """

    def __init__(self, address: int, bit: int, count: int, line: int) -> None:
        self.address, self.bit, self.count, self.line = address, bit, count, line
        self.pending, self.phase, self.life = count, 0, 0
        self.expected: list[tuple[int, int]] = []
        self.came = 0
        self.landings: list[Landing] = []
        self.next_known = self.next_published = 0
        self.known = self.published = 0
        self.events = self.events_before = 0  # arrivals and copies of this phase and of the last one, as bits
        self.over = False
        self.ended: list[Phase] = []

    @property
    def missing(self) -> int:
        """Bytes that are expected and have not come."""
        return sum(size for _, size in self.expected) - self.came

    def passes(self, parity: int) -> bool:
        """Whether a wait for this parity goes on."""
        return (self.phase - 1) & 1 == parity & 1

    def learn(self, known: int, published: int) -> None:
        """What an arrival or a copy tells."""
        self.next_known |= known
        self.next_published |= published

    def note(self, bit: int) -> None:
        """Add an arrival or a copy to the phase; whoever waits for the phase knows of it."""
        self.events |= 1 << bit
        self.learn(1 << bit, 0)

    def arrive(self, many: int) -> bool:
        """So many arrivals; whether the phase ends."""
        self.pending -= many
        if self.pending < 0:
            self.over, self.pending = True, 0
        return self._end()

    def expect(self, many: int, line: int = 0) -> bool:
        """Expect bytes."""
        self.expected.append((line, many))
        return self._end()

    def complete(self, many: int) -> bool:
        """Bytes come; whether the phase ends."""
        self.came += many
        return self._end()

    def land(self, landing: Landing) -> None:
        """A copy of unknown bytes comes."""
        self.landings.append(landing)

    def settle(self) -> bool:
        """Let what copies of unknown bytes bring be what is missing; whether that ends the phase."""
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
    """The mbarriers of a cluster, one an address; those that were, and who used which.

    >>> held = Mbarriers()
    >>> for line in (5, 9):
    ...     held.add(Mbarrier(64, bit=0, count=1, line=line))
    >>> held.find(64).line, [one.line for one in held.ever()], held.retire(64), held.find(64)
    (9, [5, 9], None, None)
    """

    def __init__(self) -> None:
        self._live: dict[int, Mbarrier] = {}
        self._places: list[int] = []  # the addresses of the live ones, sorted
        self._retired: list[Mbarrier] = []
        self._lives: Counter[int] = Counter()  # how many there were at an address
        self.touches: list[Touch] = []  # who used which, in the order of the run

    def __len__(self) -> int:
        return len(self._live)

    def __iter__(self) -> Iterator[Mbarrier]:
        return iter(self._live.values())

    def find(self, address: int) -> Mbarrier | None:
        """The mbarrier at an address; None where none is."""
        return self._live.get(address)

    def overlapping(self, start: int, end: int) -> Mbarrier | None:
        """Return the first live mbarrier that has a byte in a range; None where there is none."""
        place = bisect_right(self._places, start - BYTES)
        overlaps = place < len(self._places) and self._places[place] < end
        return self._live[self._places[place]] if overlaps else None

    def add(self, barrier: Mbarrier) -> None:
        """One is initialised: what was at its address is none any more."""
        self.retire(barrier.address)
        barrier.life = self._lives[barrier.address]
        self._lives[barrier.address] += 1
        self._live[barrier.address] = barrier
        insort(self._places, barrier.address)

    def retire(self, address: int) -> None:
        """What is at an address is no mbarrier any more."""
        if (retired := self._live.pop(address, None)) is not None:
            self._retired.append(retired)
            self._places.remove(address)

    def ever(self) -> Iterator[Mbarrier]:
        """All that there were, and that there are."""
        yield from self._retired
        yield from self

    def users(self) -> dict[tuple[int, int], dict[int, set[tuple[int, int]]]]:
        """Return CTA and warp of the users of each mbarrier, by its address and life, and then by instruction."""
        users: dict[tuple[int, int], dict[int, set[tuple[int, int]]]] = {}
        for touch in self.touches:
            places = users.setdefault((touch.address, touch.life), {})
            places.setdefault(touch.place, set()).add((touch.cta, touch.warp))
        return users
