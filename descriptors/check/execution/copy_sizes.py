"""Bytes of copies whose boxes the text does not say, from what expects them and what reads them.

A phase of a barrier has copies and the bytes that are expected of them; what names the same tensor map has the same
box. Where equations leave a choice, a copy ends where the next thing in shared memory begins, or it brings what is read
of it. Source: a box is a property of its map (CUDA Driver API, cuTensorMapEncodeTiled); that all that is copied is read
is a reading of kernels, so it decides only where all equations agree.

Law: two copies that are expected together and lie side by side share the bytes as they lie.

>>> from descriptors.check.execution.mbarrier import Landing
>>> phase = Phase(0, ((7, 3072),), 0, (Landing(8, "a", 4096, 0), Landing(9, "b", 6144, 1)))
>>> infer([phase], places={"a": {4096}, "b": {6144}}, starts=[4096, 6144, 7168], reads=[])
{'a': 2048, 'b': 1024}
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from descriptors.check.execution.mbarrier import Phase


def infer(
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
    rooms = {name: room for name in places if (room := _room(places[name], starts)) is not None}
    read = {name: covered for name in places if (covered := _read(places[name], rooms.get(name, 0), reads))}
    sizes: dict[object, int] = {}
    changed = True
    while changed:
        changed = False
        for counts, total in rows:
            open_ = [name for name in counts if name not in sizes]
            left = total - sum(sizes[name] * many for name, many in counts.items() if name in sizes)
            if len(open_) == 1 and left > 0 and left % counts[open_[0]] == 0:
                sizes[open_[0]] = left // counts[open_[0]]
                changed = True
        if not changed:
            changed = _choose(rows, rooms, read, sizes)
    return sizes


def _equations(phases: Iterable[Phase]) -> list[tuple[Counter[object], int]]:
    found: dict[tuple[tuple[tuple[str, int], ...], int], tuple[Counter[object], int]] = {}
    for phase in phases:
        if not phase.landings:
            continue
        counts: Counter[object] = Counter(landing.map for landing in phase.landings)
        total = sum(many for _, many in phase.expected) - phase.came
        key = (tuple(sorted((repr(name), many) for name, many in counts.items())), total)
        found[key] = (counts, total)
    return list(found.values())


def _choose(
    rows: list[tuple[Counter[object], int]],
    rooms: Mapping[object, int],
    read: Mapping[object, int],
    sizes: dict[object, int],
) -> bool:
    """Settle one equation with several open sizes, by the bytes that are read or the room that there is."""
    for known in (read, rooms):
        for counts, total in rows:
            open_ = [name for name in counts if name not in sizes]
            if len(open_) < 2 or any(name not in known for name in open_):
                continue
            left = total - sum(sizes[name] * many for name, many in counts.items() if name in sizes)
            if sum(known[name] * counts[name] for name in open_) == left:
                sizes.update({name: known[name] for name in open_})
                return True
    for counts, total in rows:
        open_ = [name for name in counts if name not in sizes]
        left = total - sum(sizes[name] * many for name, many in counts.items() if name in sizes)
        unread = [name for name in open_ if name not in read]
        if len(open_) > 1 and len(unread) == 1:
            rest = left - sum(read[name] * counts[name] for name in open_ if name in read)
            if rest > 0 and rest % counts[unread[0]] == 0 and rest // counts[unread[0]] <= rooms.get(unread[0], rest):
                sizes[unread[0]] = rest // counts[unread[0]]
                return True
    return False


def _room(places: set[int], starts: Sequence[int]) -> int | None:
    """The least distance from a place of a copy to the next thing; None where nothing follows."""
    rooms = [starts[i] - place for place in places if (i := bisect_right(starts, place)) < len(starts)]
    return min(rooms) if rooms else None


def _read(places: set[int], room: int, reads: Iterable[tuple[int, int]]) -> int:
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
