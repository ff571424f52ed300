"""A fragment: lanes of a warp that follow the same path, with one program counter and the history of their threads.

A branch that lanes decide differently makes two fragments, which become one again at the reconvergence point. The
*history* is what the threads did and what accesses they know to be complete. It is copied when lanes separate and
merged when they meet; ``_MERGE_RULES`` defines an empty value and a merge for each kind of history. A register holds
one value per lane.

Source: PTX ISA 9.1, Thread Hierarchy; wgmma.commit_group, cp.async.commit_group (groups of one thread).

Invariant: lanes that separate and meet again have the state they had before.

>>> fragment = Fragment(0, 0, (0, 1, 2, 3))
>>> fragment.known, fragment.registers = 5, {"a": (10, 11, 12, 13), "b": 7}
>>> other = fragment.split_off([1, 3], pc=9)
>>> fragment.lanes, fragment.registers, other.lanes, other.registers, other.known
((0, 2), {'a': (10, 12), 'b': 7}, (1, 3), {'a': (11, 13), 'b': 7}, 5)
>>> other.known |= 8
>>> fragment.merge([other])
>>> fragment.lanes, sorted(fragment.registers.items()), fragment.known
((0, 1, 2, 3), [('a', (10, 11, 12, 13)), ('b', 7)], 13)
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from enum import Enum
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

from descriptors.check.execution.lanes import Unknown, Value, join_lanes, lane_values, select_lanes

#: Prefix of a register name for the origin of its bytes, which is handled like its value.
ORIGIN = "origin of "
#: Accesses, as bits; merging unites them.
Bits: TypeAlias = int
#: A number that only grows; merging takes the greatest.
Count: TypeAlias = int
#: Accesses by a key, such as the instruction that made them; merging unites them.
Accesses: TypeAlias = "dict[int, int]"
#: How often instructions were executed; merging takes the larger count of each.
Times: TypeAlias = "dict[int, int]"


class Awaited(Enum):
    """A kind of object that a fragment waits for, as messages name it; a :class:`Wait` adds the place."""

    MBARRIER = "an mbarrier"  # address
    BARRIER = "barrier"  # CTA, number of the barrier
    CLUSTER = "the cluster's barrier"
    WARP = "other lanes of the warp"  # CTA, warp, instruction
    WARPGROUP = "a wgmma of four warps"  # CTA, warpgroup
    COLUMNS = "columns of tensor memory"  # CTA
    REGISTERS = "registers"  # CTA, registers per thread


#: The instruction in the wait of a ``bar.warp.sync``, which meets those of other lines.
ANY_SYNC = -1


class Wait(NamedTuple):
    """The kind and the place of a wait; the place has the numbers that the comment in ``Awaited`` lists."""

    awaited: Awaited
    where: tuple[int, ...]


#: All lanes, for operations whose groups do not depend on the lane that issued them.
ALL_LANES = -1


class CommitGroups:
    """Commit groups by kind of operation: bits of accesses, oldest group first, the open group last.

    Groups of bulk copies belong to a thread, so that they are kept by the lanes that issued the copies. A commit or a
    wait concerns the groups of the lanes that execute it.

    >>> groups = CommitGroups()
    >>> for bit in range(3):
    ...     groups.add("bulk", bit, lanes=0b1)
    ...     groups.commit("bulk", lanes=0b11)
    >>> groups.wait("bulk", pending=0, lanes=0b10)
    0
    >>> groups.closed("bulk", pending=1), groups.closed("bulk", pending=5)
    ([1, 2], [])
    >>> groups.wait("bulk", pending=2, lanes=0b11), groups.all("bulk")
    (1, 6)
    """

    __slots__ = ("_rows",)

    def __init__(self) -> None:
        self._rows: dict[tuple[str, int], list[int]] = {}

    def _rows_of(self, kind: str, lanes: int) -> list[list[int]]:
        return [row for (row_kind, mask), row in self._rows.items() if row_kind == kind and mask & lanes]

    def add(self, kind: str, bit: int, lanes: int = ALL_LANES) -> None:
        """Add an access of some lanes to their open group."""
        self._rows.setdefault((kind, lanes), [0])[-1] |= 1 << bit

    def commit(self, kind: str, lanes: int = ALL_LANES) -> None:
        """Close the open groups of some lanes."""
        for row in self._rows_of(kind, lanes):
            row.append(0)

    def closed(self, kind: str, pending: int, lanes: int = ALL_LANES) -> list[int]:
        """Return the closed groups of some lanes, except the ``pending`` newest."""
        return [group for row in self._rows_of(kind, lanes) for group in row[:-1][: max(0, len(row) - 1 - pending)]]

    def wait(self, kind: str, pending: int, lanes: int = ALL_LANES) -> int:
        """Remove the closed groups, except the ``pending`` newest, and return their accesses, which are complete."""
        completed = self.closed(kind, pending, lanes)
        for row in self._rows_of(kind, lanes):
            del row[: max(0, len(row) - 1 - pending)]
        return union(completed)

    def rows(self) -> tuple[tuple[tuple[str, int], tuple[int, ...]], ...]:
        """Return all groups with their kinds and lanes, sorted."""
        return tuple(sorted((key, tuple(row)) for key, row in self._rows.items()))

    def all(self, kind: str) -> int:
        """Return the accesses of all groups."""
        return union([group for row in self._rows_of(kind, ALL_LANES) for group in row])

    def of_lanes(self, lanes: int) -> CommitGroups:
        """Return the groups without those of other lanes."""
        groups = CommitGroups()
        groups._rows = {key: list(row) for key, row in self._rows.items() if key[1] & lanes}
        return groups

    def merged_with(self, other: CommitGroups) -> CommitGroups:
        """Return the groups of threads that now follow the same path, aligned at the newest group."""
        merged = CommitGroups()
        for key in {**self._rows, **other._rows}:
            padded = [groups._rows.get(key, [0]) for groups in (self, other)]
            size = max(map(len, padded))
            first, second = ([0] * (size - len(row)) + row for row in padded)
            merged._rows[key] = [a | b for a, b in zip(first, second, strict=True)]
        return merged


def union(sets: Collection[int]) -> int:
    """Return the accesses of several sets."""
    bits = 0
    for bits_of_set in sets:
        bits |= bits_of_set
    return bits


def _merge_accesses(first: Accesses, second: Accesses) -> Accesses:
    return {place: first.get(place, 0) | second.get(place, 0) for place in first | second}


def _merge_times(first: Times, second: Times) -> Times:
    return {**second, **{place: max(times, second.get(place, 0)) for place, times in first.items()}}


#: Empty value and merge function of each kind of history. Merging with an empty value copies.
_MERGE_RULES: dict[str, tuple[Callable[[], Any], Callable[[Any, Any], Any]]] = {
    "Bits": (int, int.__or__),
    "Count": (int, max),
    "Accesses": (dict, _merge_accesses),
    "Times": (dict, _merge_times),
    "CommitGroups": (CommitGroups, CommitGroups.merged_with),
}


@lru_cache(maxsize=4096)
def mask_of(lanes: tuple[int, ...]) -> int:
    """Return lanes as bits."""
    return sum(1 << lane for lane in lanes)


class Join:
    """The reconvergence point of a branch.

    Args:
        pc: the step.
        lanes: the lanes that are expected; lanes that end are removed.
    """

    __slots__ = ("arrived", "dead", "lanes", "pc")

    def __init__(self, pc: int, lanes: set[int]) -> None:
        self.pc, self.lanes, self.dead = pc, lanes, False
        self.arrived: list[Fragment] = []

    @property
    def complete(self) -> bool:
        """Whether all expected lanes have arrived."""
        return bool(self.arrived) and sum(len(fragment.lanes) for fragment in self.arrived) >= len(self.lanes)


class Fragment:
    """Lanes of a warp that follow the same path.

    Args:
        cta: rank of the CTA in the cluster.
        warp: number of the warp.
        lanes: numbers of the lanes, in order.
    """

    # -- history: the kind of each determines how it is merged
    known: Bits  #: accesses that it knows to be complete
    published: Bits  #: those of them that a proxy fence follows
    issued: Accesses  #: tcgen05 operations by the lanes that issued them
    issued_known: Bits  #: accesses that were known at an issue
    issued_published: Bits  #: accesses that were published at an issue
    reads_of_a: Bits  #: reads of A from shared memory by its tcgen05 operations
    loads: Bits  #: tcgen05.ld that no wait covers yet
    stores: Bits  #: tcgen05.st that no wait covers yet
    loaded: Accesses  #: tcgen05.ld whose registers nothing used yet
    stale: Accesses  #: lanes of such a load whose cells nothing wrote, as bits
    sequence: Count  #: number of wgmma operations issued so far
    cluster_phase: Count  #: 1 + the phase of the cluster barrier in which it arrived last
    apart: Accesses  #: ordinary accesses by their lanes, if no barrier of the warp followed
    loose: Accesses  #: those after which the lanes met in an instruction that does not order memory
    copies: Accesses  #: cp.async by their lanes
    fenced: Bits  #: accesses that it knew at its last fence, which a relaxed arrival signals
    fenced_published: Bits  #: those of them that were published
    unacquired: Bits  #: accesses that relaxed waits ended after; known after the next fence
    unacquired_published: Bits  #: those of them that were published
    cluster_waits: Count  #: 1 + the phase of the cluster barrier that it waited for last
    times: Times  #: numbers of executed events and of waits that are over
    groups: CommitGroups

    def __init__(self, cta: int, warp: int, lanes: tuple[int, ...]) -> None:
        self.cta, self.warp, self.lanes = cta, warp, lanes
        self.registers: dict[str, Value] = {}
        for name, (empty, _) in _HISTORY.items():
            setattr(self, name, empty())
        self.pc = 0
        self.joins: tuple[Join, ...] = ()  # innermost last
        self.active: list[int] | None = None  # positions of the lanes that the guard selects; None for all
        self.epoch = -1  # bit of its ordinary accesses since its last signal; -1 for none
        self.epoch_lanes = 0  # lanes that made those, as bits
        self.failed = (-1, -1, -1)  # the last wait that failed: step, mbarrier, phase
        self.blocked: Wait | None = None
        self.alone = False  # whether it executes an instruction alone that lanes of a warp execute together
        self.released = False  # whether it continues without lanes that it waited for
        self.done = False

    @property
    def access_sets(self) -> tuple[int, ...]:
        """The sets of accesses of the history that are not separated by lanes, as bits."""
        return (
            self.known, self.published, self.issued_known, self.issued_published, self.loads, self.stores,
            self.fenced, self.fenced_published, self.unacquired, self.unacquired_published,
        )  # fmt: skip

    @property
    def access_sets_by_lanes(self) -> tuple[Accesses, ...]:
        """The sets of accesses of the history that are separated by lanes."""
        return self.apart, self.loose, self.copies, self.issued

    @property
    def lane_count(self) -> int:
        """Number of lanes that execute the current instruction."""
        return len(self.lanes) if self.active is None else len(self.active)

    @property
    def places(self) -> list[int]:
        """The positions in ``lanes`` of the lanes that execute the current instruction."""
        return list(range(len(self.lanes))) if self.active is None else list(self.active)

    @property
    def executing(self) -> list[int]:
        """The lanes that execute the current instruction."""
        return [self.lanes[place] for place in self.places]

    @property
    def mask(self) -> int:
        """The lanes that execute the current instruction, as bits."""
        return mask_of(self.lanes if self.active is None else tuple(self.executing))

    def awaits(self, awaited: Awaited) -> bool:
        """Check whether the fragment waits for something of a kind."""
        return self.blocked is not None and self.blocked.awaited is awaited

    def wait_groups(self, kind: str, pending: int) -> None:
        """Wait for the commit groups except the ``pending`` newest: their accesses are then known to be complete."""
        completed = self.groups.wait(kind, pending, self.mask)
        self.known |= completed
        for lanes, bits in self.copies.items() if kind == "cp" else ():
            if bits & completed:
                self.apart[lanes] = self.apart.get(lanes, 0) | bits & completed
        self.epoch = -1

    def learn(self, known: int, published: int) -> None:
        """Add the accesses that others signaled at a barrier.

        An access that all its lanes signaled is no longer ``apart``.
        """
        self.known |= known
        self.published |= published
        self.apart, self.loose = (
            {lanes: left for lanes, bits in accesses.items() if (left := bits & ~known)}
            for accesses in (self.apart, self.loose)
        )

    def meet_lanes(self, lanes: int, *, ordered: bool) -> None:
        """Record that lanes of the warp meet, in the order of memory accesses or only in execution."""
        for mask in [mask for mask in self.apart if not mask & ~lanes]:
            bits = self.apart.pop(mask)
            if not ordered:
                self.loose[mask] = self.loose.get(mask, 0) | bits
        if ordered:
            self.loose = {mask: bits for mask, bits in self.loose.items() if mask & ~lanes}

    def count(self, place: int) -> None:
        """Count an execution of an instruction, or a wait that is over."""
        self.times[place] = self.times.get(place, 0) + 1

    def set_unknown(self, name: str, unknown: Unknown) -> None:
        """Make a register unknown, because an instruction may have written it."""
        self.registers[name] = unknown
        self.registers.pop(ORIGIN + name, None)

    def remove_lanes(self, places: Collection[int]) -> None:
        """Remove lanes, given by their positions."""
        removed = set(places)
        remaining = [place for place in range(len(self.lanes)) if place not in removed]
        self.registers = {name: select_lanes(value, remaining) for name, value in self.registers.items()}
        self.lanes = tuple(self.lanes[place] for place in remaining)

    def split_off(self, places: list[int], pc: int) -> Fragment:
        """Remove lanes, given by their positions, and return them as a fragment that continues at ``pc``."""
        other = Fragment(self.cta, self.warp, tuple(self.lanes[place] for place in places))
        other.pc, other.joins, other.released = pc, self.joins, self.released
        other.registers = {name: select_lanes(value, places) for name, value in self.registers.items()}
        for name, (empty, meet) in _HISTORY.items():
            setattr(other, name, meet(getattr(self, name), empty()))
        self.remove_lanes(places)
        self.groups, other.groups = (part.groups.of_lanes(mask_of(part.lanes)) for part in (self, other))
        self.epoch = -1
        return other

    def merge(self, others: list[Fragment], live: Collection[str] | None = None) -> None:
        """Take over the lanes of other fragments, which are done then.

        Args:
            others: fragments of the same warp at the same step.
            live: registers that are read from there on; None for all.
        """
        parts = [self, *others]
        order = sorted((lane, number, place) for number, p in enumerate(parts) for place, lane in enumerate(p.lanes))
        self.registers = _side_by_side(parts, [(number, place) for _, number, place in order], live)
        self.lanes = tuple(lane for lane, _, _ in order)
        for other in others:
            for name, (_, meet) in _HISTORY.items():
                setattr(self, name, meet(getattr(self, name), getattr(other, name)))
            other.done = True
        self.epoch = -1


_HISTORY = {name: _MERGE_RULES[kind] for name, kind in Fragment.__annotations__.items()}


def _side_by_side(
    parts: list[Fragment], order: list[tuple[int, int]], live: Collection[str] | None
) -> dict[str, Value]:
    """Return the registers of several fragments as those of one.

    A register that a fragment lacks is unknown in its lanes.

    Args:
        parts: the fragments.
        order: for each lane, in order, the number of its fragment and its position there.
        live: the registers that are needed; None for all.
    """
    registers: dict[str, Value] = {}
    for name in {
        name for part in parts for name in part.registers if live is None or name.removeprefix(ORIGIN) in live
    }:
        values = [part.registers.get(name) for part in parts]
        head = values[0]
        if type(head) is int and all(value == head for value in values):
            registers[name] = head
            continue
        unset = Unknown(f"{name}, which not every path writes")
        rows = [lane_values(unset if v is None else v, len(p.lanes)) for v, p in zip(values, parts, strict=True)]
        registers[name] = join_lanes([rows[number][place] for number, place in order])
    return registers
