"""Judges of partitions: layouts from (thread, value) to the elements of a tile.

An element is identified by its column-major index in the tile. A partition is right if it contains each element once,
in pieces of the required size.

>>> rows = "((2,16),8):((128,1),16)"
>>> shared_out(rows, "(16,16):(16,1)", 32, 8, 8), shared_out(rows, "(16,16):(1,16)", 32, 8, 8)
(None, 'gives thread 0 the places 0 and 16 as values 0 and 1, which must be neighbors')
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import product

from descriptors.course.judges.answers import integers_of, layout_of, written_layout
from descriptors.course.judges.layouts import counts_of, offset_of


def owner(answer: str, layout_text: str, shape: tuple[int, int], row: int, column: int) -> str | None:
    """Judge the thread and the value that hold an element."""
    named = re.fullmatch(r"\W*t(?:hread)?\W*(\d+)\W*v(?:alue)?\W*(\d+)\W*", answer.lower())
    indices, layout = integers_of(" ".join(named.groups()) if named else answer, 2), layout_of(layout_text)
    for name, number, count in zip(("thread", "value"), indices, counts_of(layout), strict=True):
        if not 0 <= number < count:
            return f"says {name} {number}, must be 0 to {count - 1}"
    across, down = divmod(layout(*indices), shape[0])
    if (down, across) == (row, column):
        return None
    return (
        f"names value {indices[1]} of thread {indices[0]}, which is element {(down, across)}, must be {(row, column)}"
    )


def shared_out(answer: str, memory: str, threads: int, values: int, run: int = 1, at_once: bool = False) -> str | None:
    """Judge a layout (thread, value) that must contain each element of a tile once.

    Args:
        answer: the layout.
        memory: the layout of the tile.
        threads, values: the number of threads, and of values per thread.
        run: the number of values in one access, which must be contiguous and aligned.
        at_once: whether the accesses of all threads at a time must cover contiguous memory.
    """
    layout, tile = written_layout(answer), layout_of(memory)
    if counts_of(layout) != (threads, values):
        counts = " x ".join(map(str, counts_of(layout)))
        return f"has {counts} threads and values, must have {threads} x {values}"
    owners: dict[int, tuple[int, int]] = {}
    for holder in product(range(threads), range(values)):
        element = offset_of(layout, *holder)
        if not 0 <= element < threads * values:
            return f"gives thread {holder[0]} as value {holder[1]} element {element}, beyond the last"
        if element in owners:
            pair = ", ".join(f"thread {thread} value {value}" for thread, value in (owners[element], holder))
            return f"has element {element} twice: {pair}"
        owners[element] = holder
    places = [[tile(layout(thread, value)) for value in range(values)] for thread in range(threads)]
    return _torn(places, run) or (_scattered(places, run) if at_once else None)


def _torn(places: list[list[int]], run: int) -> str | None:
    """Describe the first access of a thread that is not contiguous or not aligned; None if there is none."""
    for thread, mine in enumerate(places):
        for value in range(0, len(mine), run):
            for k in range(1, run):
                if mine[value + k] != mine[value] + k:
                    pair = f"{mine[value + k - 1]} and {mine[value + k]} as values {value + k - 1} and {value + k}"
                    return f"gives thread {thread} the places {pair}, which must be neighbors"
            if mine[value] % run:
                return f"lets thread {thread} begin an access at place {mine[value]}, not a multiple of {run}"
    return None


def _scattered(places: list[list[int]], run: int) -> str | None:
    """Describe the first gap in the accesses of all threads at a time; None if there is none."""
    for value in range(0, len(places[0]), run):
        moved = {place for thread_places in places for place in thread_places[value : value + run]}
        gap = next((place for place in range(min(moved), max(moved)) if place not in moved), None)
        if gap is not None:
            return f"moves the places {min(moved)} and {max(moved)} as value {value}, but not {gap} between them"
    return None


#: The judges, by the names that exercises use.
JUDGES: dict[str, Callable[..., str | None]] = {
    "owner": owner,
    "shared out": shared_out,
}
