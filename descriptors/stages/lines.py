"""Lines of shared memory over banks: which piece of 16 bytes of the tile lies at each place of a line.

A line is all banks once, 32 of 4 bytes on the hardware; other numbers are for comparison with other memories.
Law: without a swizzle and with it the same pieces lie in the lines of an atom, each once.

>>> from dataclasses import replace
>>> from descriptors import derive
>>> view = View(derive((128, 128), "bf16", "K", "128B", (64, 16)))
>>> found = [held(one, range(8)) for one in (view, replace(view, swizzled=False))]
>>> set(found[0].values()) == set(found[1].values()), found[0][9], found[1][9]
(True, (1, 0), (1, 8))
"""

from __future__ import annotations

from collections.abc import Sequence

from descriptors.pictures.parts.anatomy import Pair
from descriptors.proof.addresses import address_bits
from descriptors.stages.drawn import Cells
from descriptors.stages.pieces import element_address, places
from descriptors.stages.view import PIECE, View


def held(view: View, lines: Sequence[int]) -> dict[int, Pair]:
    """The first element (MN, K) of the piece at each place, by the number of the place: 16 bytes from the tile on.

    Args:
        view: the tile.
        lines: numbers of lines, in a row, counted from the start of the tile.
    """
    low, high = lines[0] * view.line_bytes, (lines[-1] + 1) * view.line_bytes
    u, v = view.anatomy.unit
    return {
        address // PIECE: (i * u, j * v)
        for i, row in enumerate(places(view))
        for j, address in enumerate(row)
        if low <= address < high
    }


def cells(view: View, lines: Sequence[int], found: dict[int, Pair]) -> Cells:
    """The same as a table: lines down, places across."""
    units = view.line_bytes // PIECE
    return tuple(tuple(found.get(units * line + place) for place in range(units)) for line in lines)


def column(view: View, element: Pair) -> int:
    """The logical column of a piece: its number along the contiguous dimension, in 16 bytes."""
    u, v = view.anatomy.unit
    return element[1] // v if v > u else element[0] // u


def row(view: View, element: Pair) -> int:
    """Its place along the other dimension, in elements."""
    u, v = view.anatomy.unit
    return element[0] if v > u else element[1]


def window(view: View, count: int) -> range:
    """So many lines, aligned to their number, in which the chosen element lies."""
    at = element_address(view)[1 if view.swizzled else 0] * address_bits(view.derivation.element) // 8
    last = max(map(max, places(view))) // view.line_bytes
    first = at // view.line_bytes // count * count
    return range(first, min(first + count, last + 1))
