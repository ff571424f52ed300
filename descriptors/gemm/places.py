"""Places of elements in five memories, as plain numbers: where a link of a chain has them, and what it moves.

A tile's elements are numbered row by row, ``row * columns + column``. A place is a number of its memory:

    global memory    the address of the element's lowest bit
    shared memory    the same
    registers        bit << 48 | thread << 24 | value; values of a thread are counted over all its instructions, in
                     order; the bit is the lowest of a narrow element in the byte that it has to itself
    tensor memory    lane << 21 | column << 5 | bit
    the operand      the number of the element that the instruction multiplies there

Law: what is moved there and back lies where it lay.

>>> import numpy as np
>>> lies = Contents.of(SHARED, np.array([16, 0, 32]), np.array([7, 8, 9]))
>>> there = Move(SHARED, REGISTERS, np.array([0, 16, 32]), np.array([2, 0, 1]))
>>> back = Move(REGISTERS, SHARED, there.leaves, there.takes)
>>> moved = lies.moved(there).moved(back)
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

#: Bits of a value's number beside its thread.
VALUE_BITS = 24
#: Bits of a value and its thread, beside the bit where an element begins in its byte.
THREAD_BITS = 48


class Home(NamedTuple):
    """Where a link has elements; one may have several places.

    Args:
        space: the memory.
        elements: their numbers.
        places: one for each.
        clips: whether elements that it has not end there: a store writes none outside of the tensor.
    """

    space: str
    elements: Numbers
    places: Numbers
    clips: bool = False


class Move(NamedTuple):
    """What a link moves, whatever lies there.

    Args:
        source, target: the memories.
        takes: places of the first.
        leaves: the place of the second where each of them goes.
    """

    source: str
    target: str
    takes: Numbers
    leaves: Numbers


class Contents(NamedTuple):
    """What lies in a memory: places in order, each once, and the element of each."""

    space: str
    places: Numbers
    elements: Numbers

    @classmethod
    def of(cls, space: str, places: Numbers, elements: Numbers) -> Contents:
        """The contents after writes in this order: of several to one place the last one stays."""
        import numpy as np

        order = np.argsort(places, kind="stable")
        places, elements = places[order], elements[order]
        last = np.append(places[1:] != places[:-1], True) if len(places) else np.zeros(0, dtype=bool)
        return cls(space, places[last], elements[last])

    def at(self, places: Numbers) -> Numbers:
        """The element at each place; -1 where nothing lies."""
        import numpy as np

        if not len(self.places):
            return np.full(len(places), -1, dtype=np.int64)
        index = np.minimum(np.searchsorted(self.places, places), len(self.places) - 1)
        return np.where(self.places[index] == places, self.elements[index], -1)

    def where(self, element: int) -> int | None:
        """The first place of an element; None if it is nowhere."""
        import numpy as np

        found = np.flatnonzero(self.elements == element)
        return int(self.places[found[0]]) if len(found) else None

    def moved(self, move: Move) -> Contents:
        """What lies in the other memory after a move."""
        elements = self.at(move.takes)
        kept = elements >= 0
        return Contents.of(move.target, move.leaves[kept], elements[kept])


@frozen
class Tile:
    """The tile that a chain moves, and what its links know of one another.

    Args:
        rows, columns: extents: MN x K of an operand, M x N of a result.
        element: type of an element at this link.
        arch: ``sm90`` or ``sm100``; "" if nobody said it.
        contents: what lies where the link begins; None at the first.
        before: where the last link that says it has the elements in memory.
        after: where the next one has them; None if it does not say.
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
        """How many elements it has."""
        return self.rows * self.columns

    def numbers(self, rows: Numbers, columns: Numbers) -> Numbers:
        """The numbers of elements by their coordinates."""
        return rows * self.columns + columns

    def all(self) -> Numbers:
        """Every number, as an array (row, column)."""
        import numpy as np

        return np.arange(self.size, dtype=np.int64).reshape(self.rows, self.columns)

    def named(self, element: int) -> str:
        """An element's coordinate, as CuTe writes it."""
        return f"({element // self.columns},{element % self.columns})"


def place_text(space: str, place: int, columns: int = 1) -> str:
    """A place for a person, without the word before it.

    Args:
        space: the memory.
        place: the number.
        columns: of the tile, for elements of an operand.

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
    """What stands before a place in a sentence."""
    return "at" if space in (GLOBAL, SHARED) else "in" if space != OPERAND else "as"
