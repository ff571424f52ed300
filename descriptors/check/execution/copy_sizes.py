"""Bytes of copies whose boxes the text does not say, from what expects them and what reads them.

A phase of a barrier has copies and the bytes that are expected of them; what names the same tensor map has the same
box. Where equations leave a choice, a copy ends where the next thing in shared memory begins, or it brings what is read
of it. Source: a box is a property of its map (CUDA Driver API, cuTensorMapEncodeTiled); that all that is copied is read
is a reading of kernels, so it decides only where all equations agree.

Law: two copies that are expected together and lie side by side share the bytes as they lie.

>>> from descriptors.check.execution.mbarrier import Landing
>>> phase = Phase(0, ((7, 3072),), 0, (Landing(8, "a", 4096, 0), Landing(9, "b", 6144, 1)))
>>> infer_sizes([phase], places={"a": {4096}, "b": {6144}}, starts=[4096, 6144, 7168], reads=[])
{'a': 2048, 'b': 1024}
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from descriptors.check.execution.mbarrier import Phase


def infer_sizes(
    phases: Iterable[Phase],
    places: Mapping[object, set[int]],
    starts: Sequence[int],
    reads: Iterable[tuple[int, int]],
) -> dict[object, int]:
    """The bytes of each copy that can be told, by what names its map.

    Args:
        phases: phases that ended, with their copies.
        places: where the copies of each map go.
        starts: addresses at which something in shared memory begins, in order.
        reads: runs of bytes that multiplications read.
    """
    rows = _equations(phases)
    rooms = {name: room for name in places if (room := _space_before_next(places[name], starts)) is not None}
    read = {name: covered for name in places if (covered := _bytes_read(places[name], rooms.get(name, 0), reads))}
    sizes: dict[object, int] = {}
    while (
        _solve_single(rows, sizes)
        or _accept_consistent(rows, read, sizes)
        or _accept_consistent(rows, rooms, sizes)
        or _solve_unread(rows, read, rooms, sizes)
    ):
        pass
    return sizes


class _Equation(NamedTuple):
    """So many copies of each name bring so many bytes together."""

    counts: Mapping[object, int]
    total: int

    def rest(self, sizes: Mapping[object, int]) -> tuple[dict[object, int], int]:
        """The copies whose sizes are open, and the bytes that they bring."""
        unsized = {name: many for name, many in self.counts.items() if name not in sizes}
        return unsized, self.total - sum(sizes[name] * many for name, many in self.counts.items() if name in sizes)


def _equations(phases: Iterable[Phase]) -> list[_Equation]:
    """An equation of each phase with copies, each once."""
    equations: dict[tuple[tuple[tuple[str, int], ...], int], _Equation] = {}
    for phase in phases:
        if phase.landings:
            counts: Counter[object] = Counter(landing.map for landing in phase.landings)
            total = sum(many for _, many in phase.expected) - phase.came
            key = (tuple(sorted((repr(name), many) for name, many in counts.items())), total)
            equations[key] = _Equation(dict(counts), total)
    return list(equations.values())


def _solve_single(rows: list[_Equation], sizes: dict[object, int]) -> bool:
    """Settle each equation with one open size; whether there are any."""
    before = len(sizes)
    for row in rows:
        unsized, left = row.rest(sizes)
        for name, many in unsized.items() if len(unsized) == 1 and left > 0 else ():
            if left % many == 0:
                sizes[name] = left // many
    return len(sizes) > before


def _accept_consistent(rows: list[_Equation], known: Mapping[object, int], sizes: dict[object, int]) -> bool:
    """Settle an equation with several open sizes, if those that are supposed fulfil it."""
    for row in rows:
        unsized, left = row.rest(sizes)
        if len(unsized) < 2 or any(name not in known for name in unsized):
            continue
        if sum(known[name] * many for name, many in unsized.items()) == left:
            sizes.update({name: known[name] for name in unsized})
            return True
    return False


def _solve_unread(
    rows: list[_Equation], read: Mapping[object, int], rooms: Mapping[object, int], sizes: dict[object, int]
) -> bool:
    """Settle the one size of an equation of which nothing is read, if all others bring what is read of them."""
    for row in rows:
        unsized, left = row.rest(sizes)
        unread = [name for name in unsized if name not in read]
        if len(unsized) < 2 or len(unread) != 1:
            continue
        (name,) = unread
        rest = left - sum(read[other] * many for other, many in unsized.items() if other in read)
        size, over = divmod(rest, unsized[name])
        if rest > 0 and not over and size <= rooms.get(name, rest):
            sizes[name] = size
            return True
    return False


def _space_before_next(places: set[int], starts: Sequence[int]) -> int | None:
    """The least distance from a place of a copy to the next thing; None where nothing follows."""
    rooms = [starts[i] - place for place in places if (i := bisect_right(starts, place)) < len(starts)]
    return min(rooms) if rooms else None


def _bytes_read(places: set[int], room: int, reads: Iterable[tuple[int, int]]) -> int:
    """Bytes that are read of a copy, from its place on as far as they are without a gap."""
    most = 0
    runs = sorted(reads)
    for place in places:
        end = place
        for low, high in runs:
            if low <= end < high and (not room or low < place + room):
                end = max(end, min(high, place + room) if room else high)
        most = max(most, end - place)
    return most
