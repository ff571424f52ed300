"""Elements that are read from elsewhere than where they are stored, and a picture of them for the terminal.

Law: the mismatches of a report are the elements that differ, each once, in the order of their coordinates.

>>> stored = [[16 * (8 * i + k) for k in range(8)] for i in range(4)]
>>> fetched = [[one ^ (one & 64) * 2 for one in row] for row in stored]
>>> found = first_mismatches(stored, fetched, unit="byte", most=32)
>>> [one.coordinate for one in found] == [(i, k) for i in range(4) for k in range(8) if stored[i][k] & 64]
True

Law: a cell is a dot if and only if none of its elements is wrong, and a large X if all are.

>>> wrong = [[(i & 6) * k % 12 == 0 for k in range(128)] for i in range(64)]
>>> four = lambda i, k: sum(wrong[2 * i + a][2 * k + b] for a in range(2) for b in range(2))  # how many are wrong
>>> picture(wrong).rows == tuple("".join(".xxxX"[four(i, k)] for k in range(64)) for i in range(32))
True
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from descriptors.text import tuple_text
from layoutalg.frozen import frozen

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


#: The most rows and columns of cells.
_ROWS, _COLUMNS = 32, 64


@frozen
class Picture:
    """Which elements are read from where they are stored, MN down and K across.

    Args:
        rows: a text a row, a character a cell: ``.`` all right, ``x`` some wrong, ``X`` all wrong.
        block: elements (MN, K) in a cell.

    >>> print(Picture((".X", "xX"), (2, 1)))
    mn \\ k  0
         0  .X
         2  xX
    a character is 2x1 elements: . right, x some wrong, X wrong
    """

    rows: tuple[str, ...]
    block: tuple[int, int]

    def __str__(self) -> str:
        mn, k = self.block
        corner = "mn \\ k"
        margin = max(len(corner), len(str(len(self.rows) * mn)))
        ruler = "".join(f"{j * k:<8}" for j in range(0, len(self.rows[0]), 8)).rstrip()
        lines = [f"{corner:>{margin}}  {ruler}"]
        lines += [f"{i * mn:>{margin}}  {row}" for i, row in enumerate(self.rows)]
        cells = "an element" if self.block == (1, 1) else f"{mn}x{k} elements"
        return "\n".join([*lines, f"a character is {cells}: . right, x some wrong, X wrong"])


def picture(wrong: Sequence[Sequence[bool]]) -> Picture:
    """The picture of an operand, in cells of so many elements that it fits a terminal.

    Args:
        wrong: whether each element is read from elsewhere, ``wrong[mn][k]``.

    >>> picture([[False, True], [False, False]]).rows
    ('.X', '..')
    """
    block = (_cell(len(wrong), _ROWS), _cell(len(wrong[0]), _COLUMNS))
    rows = []
    for i in range(0, len(wrong), block[0]):
        band = wrong[i : i + block[0]]
        cells = ([row[j : j + block[1]] for row in band] for j in range(0, len(wrong[0]), block[1]))
        rows.append("".join("X" if all(map(all, cell)) else "x" if any(map(any, cell)) else "." for cell in cells))
    return Picture(tuple(rows), block)


def _cell(extent: int, most: int) -> int:
    """Elements of a cell, a power of two so that the pieces of a swizzle stay visible."""
    step = 1
    while -(-extent // step) > most:
        step *= 2
    return step
