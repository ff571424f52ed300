"""Infer the bytes of copies whose boxes the text does not give, from what expects them and what reads them.

A phase of an mbarrier has copies and the bytes that are expected of them; copies with the same tensor map have the same
box. If these equations have several solutions, a copy ends where the next object in shared memory begins, or it brings
the bytes that are read from its destination.

Source: a box is a property of its map (CUDA Driver API, cuTensorMapEncodeTiled). That all copied bytes are read is an
observation about kernels, so it decides only if all equations agree.

Invariant: two copies that are expected together and are adjacent share the bytes by their distance.

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
    """Return the bytes of each copy that can be inferred, by the key of its map.

    Args:
        phases: phases that ended, with their copies.
        places: destinations of the copies of each map.
        starts: addresses at which an object in shared memory begins, in order.
        reads: ranges of bytes that multiplications read.
    """
    equations = _equations(phases)
    spaces = {name: room for name in places if (room := _space_before_next(places[name], starts)) is not None}
    read = {name: covered for name in places if (covered := _bytes_read(places[name], spaces.get(name, 0), reads))}
    sizes: dict[object, int] = {}
    while (
        _solve_single(equations, sizes)
        or _accept_consistent(equations, read, sizes)
        or _accept_consistent(equations, spaces, sizes)
        or _solve_unread(equations, read, spaces, sizes)
    ):
        pass
    return sizes


class _Equation(NamedTuple):
    """An equation: the copies of each key together bring ``total`` bytes."""

    counts: Mapping[object, int]
    total: int

    def rest(self, sizes: Mapping[object, int]) -> tuple[dict[object, int], int]:
        """Return the copies whose sizes are unknown, and the bytes that they bring."""
        unsized = {name: count for name, count in self.counts.items() if name not in sizes}
        return unsized, self.total - sum(sizes[name] * count for name, count in self.counts.items() if name in sizes)


def _equations(phases: Iterable[Phase]) -> list[_Equation]:
    """Return the different equations of the phases with copies."""
    equations: dict[tuple[tuple[tuple[str, int], ...], int], _Equation] = {}
    for phase in phases:
        if phase.landings:
            counts: Counter[object] = Counter(landing.map for landing in phase.landings)
            total = sum(count for _, count in phase.expected) - phase.came
            key = (tuple(sorted((repr(name), count) for name, count in counts.items())), total)
            equations[key] = _Equation(dict(counts), total)
    return list(equations.values())


def _solve_single(equations: list[_Equation], sizes: dict[object, int]) -> bool:
    """Solve each equation with one unknown size; return whether there was any."""
    known = len(sizes)
    for equation in equations:
        unsized, remaining = equation.rest(sizes)
        for name, count in unsized.items() if len(unsized) == 1 and remaining > 0 else ():
            if remaining % count == 0:
                sizes[name] = remaining // count
    return len(sizes) > known


def _accept_consistent(equations: list[_Equation], known: Mapping[object, int], sizes: dict[object, int]) -> bool:
    """Solve an equation with several unknown sizes if the assumed sizes satisfy it; return whether one was solved."""
    for equation in equations:
        unsized, remaining = equation.rest(sizes)
        if len(unsized) < 2 or any(name not in known for name in unsized):
            continue
        if sum(known[name] * count for name, count in unsized.items()) == remaining:
            sizes.update({name: known[name] for name in unsized})
            return True
    return False


def _solve_unread(
    equations: list[_Equation], read: Mapping[object, int], rooms: Mapping[object, int], sizes: dict[object, int]
) -> bool:
    """Solve an equation for the one copy that is not read, if all others bring the bytes that are read of them."""
    for equation in equations:
        unsized, remaining = equation.rest(sizes)
        unread = [name for name in unsized if name not in read]
        if len(unsized) < 2 or len(unread) != 1:
            continue
        (name,) = unread
        unread_bytes = remaining - sum(read[other] * count for other, count in unsized.items() if other in read)
        size, over = divmod(unread_bytes, unsized[name])
        if unread_bytes > 0 and not over and size <= rooms.get(name, unread_bytes):
            sizes[name] = size
            return True
    return False


def _space_before_next(places: set[int], starts: Sequence[int]) -> int | None:
    """Return the least distance from a destination of a copy to the next object; None if nothing follows."""
    rooms = [starts[i] - place for place in places if (i := bisect_right(starts, place)) < len(starts)]
    return min(rooms) if rooms else None


def _bytes_read(places: set[int], room: int, reads: Iterable[tuple[int, int]]) -> int:
    """Return the bytes of a copy that are read without a gap from its start."""
    longest = 0
    runs = sorted(reads)
    for place in places:
        end = place
        for low, high in runs:
            if low <= end < high and (not room or low < place + room):
                end = max(end, min(high, place + room) if room else high)
        longest = max(longest, end - place)
    return longest
