"""Judges of who holds what: layouts of (thread, value) to the elements of a tile.

An element of a tile is its index, counted down the first column and then on. Invariant: any sharing out is right in
which each element is held once, in the pieces that are asked for.

>>> rows = "((2,16),8):((128,1),16)"
>>> shared_out(rows, "(16,16):(16,1)", 32, 8, 8), shared_out(rows, "(16,16):(1,16)", 32, 8, 8)
(None, 'gives thread 0 the places 0 and 16 as values 0 and 1, which must be neighbours')
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import product

from descriptors.course.judges.answers import integers_of, layout_of, written_layout
from descriptors.course.judges.layouts import counts_of, offset_of


def owner(answer: str, layout_text: str, shape: tuple[int, int], row: int, column: int) -> str | None:
    """The thread and the value that hold an element."""
    named = re.fullmatch(r"\W*t(?:hread)?\W*(\d+)\W*v(?:alue)?\W*(\d+)\W*", answer.lower())
    mine, layout = integers_of(" ".join(named.groups()) if named else answer, 2), layout_of(layout_text)
    for name, number, count in zip(("thread", "value"), mine, counts_of(layout), strict=True):
        if not 0 <= number < count:
            return f"says {name} {number}, must be one of 0 to {count - 1}"
    across, down = divmod(layout(*mine), shape[0])
    if (down, across) == (row, column):
        return None
    return f"names value {mine[1]} of thread {mine[0]}, which is element {(down, across)}, must be {(row, column)}"


def shared_out(answer: str, memory: str, threads: int, values: int, run: int = 1, at_once: bool = False) -> str | None:
    """A layout (thread, value) onto all elements of a tile, each once.

    Args:
        answer: the layout.
        memory: the tile: coordinate to place.
        threads, values: how many there are.
        run: values that one move takes: neighbours, the first at a multiple of as many places.
        at_once: whether what all threads move at a time must be one piece of memory.
    """
    mine, tile = written_layout(answer), layout_of(memory)
    if counts_of(mine) != (threads, values):
        counts = " x ".join(map(str, counts_of(mine)))
        return f"has {counts} threads and values, must have {threads} x {values}"
    owners: dict[int, tuple[int, int]] = {}
    for who in product(range(threads), range(values)):
        element = offset_of(mine, *who)
        if not 0 <= element < threads * values:
            return f"gives thread {who[0]} as value {who[1]} element {element}, beyond the last"
        if element in owners:
            other = owners[element]
            return f"has element {element} twice: thread {other[0]} value {other[1]}, thread {who[0]} value {who[1]}"
        owners[element] = who
    places = [[tile(mine(thread, value)) for value in range(values)] for thread in range(threads)]
    return _torn(places, run) or (_scattered(places, run) if at_once else None)


def _torn(places: list[list[int]], run: int) -> str | None:
    """The first values of one move that are no neighbours, or begin where no move may."""
    for thread, mine in enumerate(places):
        for value in range(0, len(mine), run):
            for k in range(1, run):
                if mine[value + k] != mine[value] + k:
                    pair = f"{mine[value + k - 1]} and {mine[value + k]} as values {value + k - 1} and {value + k}"
                    return f"gives thread {thread} the places {pair}, which must be neighbours"
            if mine[value] % run:
                return f"lets thread {thread} begin a move at place {mine[value]}, no multiple of {run}"
    return None


def _scattered(places: list[list[int]], run: int) -> str | None:
    """The first hole in what all threads move at a time."""
    for value in range(0, len(places[0]), run):
        moved = {place for mine in places for place in mine[value : value + run]}
        hole = next((place for place in range(min(moved), max(moved)) if place not in moved), None)
        if hole is not None:
            return f"moves the places {min(moved)} and {max(moved)} as value {value}, but not {hole} between them"
    return None


#: The judges, by the name that an exercise gives.
JUDGES: dict[str, Callable[..., str | None]] = {
    "owner": owner,
    "shared out": shared_out,
}
