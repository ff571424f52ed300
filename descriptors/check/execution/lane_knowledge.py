"""Track which lanes of a warp made an ordinary access, and which of them signaled it to other threads.

A warp is not a single thread. If all lanes store and one lane arrives at an mbarrier, or issues a copy, that lane
releases only its own store. ``bar.warp.sync`` and the barriers of a CTA order the memory accesses of all lanes.
``elect.sync``, ``shfl.sync``, ``vote.sync`` and other instructions with ``.sync`` make the lanes wait for each other,
but the manual does not say that they order memory: an access that is signaled after one of them is undecided.

If only some lanes of an access signaled it, a second bit stands for it: its *share*, with those lanes.

Source: PTX ISA 9.1, Memory Consistency Model (program order, synchronizes); bar.warp.sync; elect.sync, shfl.sync.

Invariant: the shares of all lanes together are the access.

>>> from descriptors.check.execution.fragment import Fragment
>>> numbers = iter(range(1, 9))
>>> lanes, fragment = LaneKnowledge(lambda: next(numbers)), Fragment(0, 0, (0, 1))
>>> fragment.known = 1
>>> lanes.record_access(fragment, bit=0, mask=3)
>>> fragment.active = [0]
>>> first, _ = lanes.release_set(fragment, {0, 1})
>>> fragment.active = [1]
>>> second, _ = lanes.release_set(fragment, {0, 1})
>>> first, second, [lanes.missing(0, known)[0] for known in (first, second, first | second)]
(2, 4, [2, 1, 0])
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple

from descriptors.check.execution.fragment import Fragment


class _Share(NamedTuple):
    bit: int
    lanes: int
    loose: bool


class LaneKnowledge:
    """The lanes that made ordinary accesses, and the lanes that signaled them.

    Args:
        fresh: returns a new bit for an access.
    """

    def __init__(self, fresh: Callable[[], int]) -> None:
        self._fresh = fresh
        self._lanes: dict[int, int] = {}  # lanes that made an access, as bits
        self._shares: dict[int, list[_Share]] = {}
        self._told: dict[tuple[int, int, int, bool], tuple[int, int]] = {}  # accesses with a share, and their shares
        self._places: dict[int, list[tuple[list[int], list[int], int]]] = {}

    def record_access(self, fragment: Fragment, bit: int, mask: int) -> None:
        """Record that the lanes of a mask make an access."""
        self._lanes[bit] = mask
        fragment.apart[mask] = fragment.apart.get(mask, 0) | 1 << bit

    def record_copy(self, fragment: Fragment, bit: int, places: list[int], size: int) -> None:
        """Record a ``cp.async`` of the executing lanes, each of which waits for its own part."""
        mask = self._lanes[bit] = fragment.mask
        fragment.copies[mask] = fragment.copies.get(mask, 0) | 1 << bit
        self.record_places(bit, fragment.executing, places, size)

    def record_places(self, bit: int, lanes: list[int], places: list[int], size: int) -> None:
        """Record the bytes that each lane accesses."""
        if len(lanes) > 1:
            self._places.setdefault(bit, []).append((lanes, places, size))

    def release_set(self, fragment: Fragment, alive: Collection[int]) -> tuple[int, int]:
        """Return the accesses that a signal of the executing lanes covers: complete ones, and published ones."""
        known, published = fragment.known, fragment.published
        if not fragment.apart and not fragment.loose:
            return known, published
        mask = fragment.mask
        others = sum(1 << lane for lane in alive) & ~mask
        for accesses, loose in ((fragment.loose, True), (fragment.apart, False)):
            bits = 0
            for lanes, access_bits in accesses.items():
                if lanes & others:
                    bits |= access_bits
            if bits:
                known = known & ~bits | self._share(fragment, bits, mask, loose)
                published &= ~bits
        return known, published

    def _share(self, fragment: Fragment, bits: int, mask: int, loose: bool) -> int:
        """Return the shares of accesses that belong to some lanes."""
        key = fragment.cta, fragment.warp, mask, loose
        done, shares = self._told.get(key, (0, 0))
        remaining = bits & ~done
        while remaining:
            bit = (remaining & -remaining).bit_length() - 1
            remaining &= remaining - 1
            share = _Share(self._fresh(), mask, loose)
            self._shares.setdefault(bit, []).append(share)
            shares |= 1 << share.bit
        self._told[key] = done | bits, shares
        return shares

    def missing(self, bit: int, known: int) -> tuple[int, bool]:
        """Return the lanes of an access that did not signal it, as bits, and True if they met without ordering memory.

        All bits are set (-1) if no share of the access is known.
        """
        lanes, told_lanes, met_lanes = self._lanes.get(bit, 0), 0, 0
        for share in self._shares.get(bit, ()):
            if known >> share.bit & 1:
                told_lanes |= share.lanes
                met_lanes |= lanes if share.loose else share.lanes
        return (lanes & ~told_lanes, not lanes & ~met_lanes) if told_lanes else (-1, False)

    def knows(self, bit: int, known: int) -> bool:
        """Check whether an access is known, directly or by a share."""
        return bool(known >> bit & 1) or self.missing(bit, known)[0] >= 0

    def lacks(self, bit: int, missing: int, start: int, end: int, *, wrote: bool) -> bool:
        """Check whether lanes that did not signal an access accessed some of these bytes; for a write, only they."""
        accesses = self._places.get(bit)
        if accesses is None:
            return True
        inside: set[int] = set()
        covered: set[int] = set()
        for lanes, places, size in accesses:
            for lane, place in zip(lanes, places, strict=True):
                accessed = range(max(place, start), min(place + size, end))
                (inside if missing >> lane & 1 else covered).update(accessed)
        return bool(inside - covered if wrote else inside)

    def shares_of(self, bits: Iterable[int]) -> list[int]:
        """Return the bits of all shares of some accesses."""
        return [share.bit for bit in bits for share in self._shares.get(bit, ())]
