"""Elements that are read from elsewhere than where they are stored.

Law: the mismatches of a report are the elements that differ, each once, in the order of their coordinates.

>>> stored = [[16 * (8 * i + k) for k in range(8)] for i in range(4)]
>>> fetched = [[one ^ (one & 64) * 2 for one in row] for row in stored]
>>> found = first_mismatches(stored, fetched, unit="byte", most=32)
>>> [one.coordinate for one in found] == [(i, k) for i in range(4) for k in range(8) if stored[i][k] & 64]
True
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from descriptors.frozen import frozen
from descriptors.text import tuple_text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def mismatched(stored: NDArray[Any], fetched: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Whether each element is fetched from elsewhere than where it is stored.

    >>> import numpy as np
    >>> mismatched(np.array([16, 32], dtype=np.int32), np.array([16, 48], dtype=np.uint32)).tolist()
    [False, True]
    """
    # Two types of one width would be widened to 64 bits first. As signed numbers far addresses are negative, which
    # nothing stored in the window is.
    found = fetched.view(stored.dtype) if stored.itemsize == fetched.itemsize else fetched
    wrong: NDArray[np.bool_] = found != stored
    return wrong


#: Mismatches that a report keeps.
SHOWN = 8


@frozen
class Mismatch:
    """An element that the tensor core reads from another place than where it is stored.

    Args:
        coordinate: the element's (MN, K) within the operand.
        expected: where the layout stores it.
        found: where the tensor core reads it.
        unit: ``"byte"``, or ``"bit"`` for elements smaller than a byte: what the two addresses count.
        subtile: coordinate of the operand in the tile; () for an operand alone.
        base: address of the tile, in bytes.

    >>> print(Mismatch((8, 0), 0x400, 0x800, "byte", subtile=(0, 1)))
    element (8,0) of subtile (0,1) is stored at byte 0x400, read at byte 0x800
    """

    coordinate: tuple[int, int]
    expected: int
    found: int
    unit: str
    subtile: tuple[int, ...] = ()
    base: int = 0

    def __str__(self) -> str:
        where = f" of subtile {tuple_text(self.subtile)}" if self.subtile else ""
        tile = f" of a tile at {self.base:#x}" if self.base else ""
        places = f"stored at {self.unit} {self.expected:#x}, read at {self.unit} {self.found:#x}"
        return f"element {tuple_text(self.coordinate)}{where}{tile} is {places}"


def first_mismatches(
    stored: Sequence[Sequence[int]],
    fetched: Sequence[Sequence[int]],
    *,
    unit: str,
    most: int = SHOWN,
    subtile: tuple[int, ...] = (),
    base: int = 0,
) -> list[Mismatch]:
    """The first elements of an operand that are read from elsewhere, in the order of their MN, then K coordinates.

    Args:
        stored: addresses at which the elements are, ``stored[mn][k]``.
        fetched: addresses from which they are read, likewise.
        unit: what an address counts: ``"byte"`` or ``"bit"``.
        most: the most mismatches to return.
        subtile: as in ``Mismatch``.
        base: as in ``Mismatch``.

    >>> print(*first_mismatches([[0, 16]], [[0, 32]], unit="byte"))
    element (0,1) is stored at byte 0x10, read at byte 0x20
    """
    wrong = (
        Mismatch((i, k), there, here, unit, subtile, base)
        for i, (row, read) in enumerate(zip(stored, fetched, strict=True))
        if row != read
        for k, (there, here) in enumerate(zip(row, read, strict=True))
        if there != here
    )
    return list(islice(wrong, max(most, 0)))
