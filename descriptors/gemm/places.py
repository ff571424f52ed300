"""Locations of elements in five memories as plain numbers: the homes and the moves of the links of a chain.

The elements of a tile are numbered row by row, ``row * columns + column``. A place is a number that encodes a location
in its memory:

    global memory    the address of the element's lowest bit
    shared memory    the same
    registers        bit << 48 | thread << 24 | value; the values of a thread are counted over all its instructions, in
                     order; the bit is the lowest bit of a narrow element that has a byte to itself
    tensor memory    lane << 21 | column << 5 | bit
    the operand      the number of the element that the instruction multiplies there

Invariant: elements that are moved and moved back are where they were.

>>> import numpy as np
>>> contents = Contents.of(SHARED, np.array([16, 0, 32]), np.array([7, 8, 9]))
>>> there = Move(SHARED, REGISTERS, np.array([0, 16, 32]), np.array([2, 0, 1]))
>>> back = Move(REGISTERS, SHARED, there.leaves, there.takes)
>>> moved = contents.moved(there).moved(back)
>>> moved.at(np.array([0, 16, 32, 48])).tolist(), moved.space
([8, 7, 9, -1], 'shared memory')
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from descriptors.smem.operands.operand import ElementType
from layoutalg.frozen import frozen

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]

GLOBAL, SHARED, REGISTERS = "global memory", "shared memory", "registers"
TENSOR, OPERAND = "tensor memory", "the operand"

#: Number of bits of the value's number, below the thread.
VALUE_BITS = 24
#: Number of bits of value and thread, below the bit at which an element begins in its byte.
THREAD_BITS = 48


class Home(NamedTuple):
    """The locations at which a link states that elements are. An element may have several places.

    Args:
        space: the memory.
        elements: numbers of the elements.
        places: the place of each element.
        clips: whether elements without a place end here, as a store writes nothing outside the tensor.
    """

    space: str
    elements: Numbers
    places: Numbers
    clips: bool = False


class Move(NamedTuple):
    """A move by a link, independent of the elements at its source.

    Args:
        source, target: the memories.
        takes: places in the source.
        leaves: for each of them, the place in the target.
    """

    source: str
    target: str
    takes: Numbers
    leaves: Numbers


class Contents(NamedTuple):
    """The contents of a memory: sorted places, each once, and the element at each place."""

    space: str
    places: Numbers
    elements: Numbers

    @classmethod
    def of(cls, space: str, places: Numbers, elements: Numbers) -> Contents:
        """Return the contents after writes in this order; the last write to a place remains."""
        import numpy as np

        order = np.argsort(places, kind="stable")
        places, elements = places[order], elements[order]
        last = np.append(places[1:] != places[:-1], True) if len(places) else np.zeros(0, dtype=bool)
        return cls(space, places[last], elements[last])

    def at(self, places: Numbers) -> Numbers:
        """Return the element at each place; -1 where there is none."""
        import numpy as np

        if not len(self.places):
            return np.full(len(places), -1, dtype=np.int64)
        index = np.minimum(np.searchsorted(self.places, places), len(self.places) - 1)
        return np.where(self.places[index] == places, self.elements[index], -1)

    def where(self, element: int) -> int | None:
        """Return the first place of an element; None if it has none."""
        import numpy as np

        indices = np.flatnonzero(self.elements == element)
        return int(self.places[indices[0]]) if len(indices) else None

    def moved(self, move: Move) -> Contents:
        """Return the contents of the target memory after a move."""
        elements = self.at(move.takes)
        is_present = elements >= 0
        return Contents.of(move.target, move.leaves[is_present], elements[is_present])


@frozen
class Tile:
    """The tile that a chain moves, and the properties that a link needs of its neighbors.

    Args:
        rows, columns: extents: MN x K of an operand, M x N of a result.
        element: the element type at this link.
        arch: the architecture, such as ``sm90`` or ``sm100``; "" if it was not given.
        contents: the contents of memory before the link; None at the first link.
        before: where an earlier link states that the elements are in memory; None if none does.
        after: where the next link states that they are in memory; None if it does not.
    """

    rows: int
    columns: int
    element: ElementType
    arch: str = ""
    contents: Contents | None = None
    before: Home | None = None
    after: Home | None = None

    @property
    def size(self) -> int:
        """Number of elements."""
        return self.rows * self.columns

    def numbers(self, rows: Numbers, columns: Numbers) -> Numbers:
        """Return the numbers of elements given by their coordinates."""
        return rows * self.columns + columns

    def all(self) -> Numbers:
        """Return the numbers of all elements as an array (row, column)."""
        import numpy as np

        return np.arange(self.size, dtype=np.int64).reshape(self.rows, self.columns)

    def named(self, element: int) -> str:
        """Return the coordinate of an element in CuTe notation."""
        return f"({element // self.columns},{element % self.columns})"


def place_text(space: str, place: int, columns: int = 1) -> str:
    """Return a place as text, without a preposition.

    Args:
        space: the memory.
        place: the place.
        columns: number of columns of the tile, for places in an operand.

    >>> place_text(REGISTERS, 35 << 24 | 3), place_text(TENSOR, 2 << 21 | 5 << 5), place_text(SHARED, 0x400 * 8 + 4)
    ('value 3 of thread 35', 'lane 2, column 5', 'byte 0x400, bit 4')
    """
    match space:
        case "registers":
            bit = f", from bit {place >> THREAD_BITS} of its byte" if place >> THREAD_BITS else ""
            thread = (place & (1 << THREAD_BITS) - 1) >> VALUE_BITS
            return f"value {place & (1 << VALUE_BITS) - 1} of thread {thread}{bit}"
        case "tensor memory":
            bit = f", bit {place & 31}" if place & 31 else ""
            return f"lane {place >> 21}, column {place >> 5 & 0xFFFF}{bit}"
        case "the operand":
            return f"({place // columns},{place % columns}) of the operand"
    bit = f", bit {place % 8}" if place % 8 else ""
    return f"byte {place // 8:#x}{bit}" + (" of global memory" if space == GLOBAL else "")


def preposition(space: str) -> str:
    """Return the preposition for places in a memory."""
    return "at" if space in (GLOBAL, SHARED) else "in" if space != OPERAND else "as"
