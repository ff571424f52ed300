"""Elements that are not read from where they are stored, and a picture of them for the terminal.

Invariant: the mismatches are the elements whose addresses differ, each once, in the order of their coordinates.

>>> stored = [[16 * (8 * i + k) for k in range(8)] for i in range(4)]
>>> fetched = [[address ^ (address & 64) * 2 for address in row] for row in stored]
>>> mismatches = first_mismatches(stored, fetched, unit="byte", most=32)
>>> [each.coordinate for each in mismatches] == [(i, k) for i in range(4) for k in range(8) if stored[i][k] & 64]
True

Invariant: a cell of the picture is a dot if and only if none of its elements is wrong, and a large X if all are.

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

#: The largest number of mismatches in a report.
SHOWN = 8


@frozen
class Mismatch:
    """An element that the tensor core does not read from where it is stored.

    Args:
        coordinate: coordinate (MN, K) of the element within the operand.
        expected: the address where the layout stores it.
        found: the address where the tensor core reads it.
        unit: unit of the two addresses: ``"byte"``, or ``"bit"`` for elements smaller than a byte.
        subtile: coordinate of the operand in the tile; () for a single operand.
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
    """Return the first elements of an operand whose addresses differ, in the order of their MN, then K coordinates.

    Args:
        stored: addresses at which the elements are stored, ``stored[mn][k]``.
        fetched: addresses from which they are read, ``fetched[mn][k]``.
        unit: unit of an address: ``"byte"`` or ``"bit"``.
        most: the largest number of mismatches to return.
        subtile: as in ``Mismatch``.
        base: as in ``Mismatch``.

    >>> print(*first_mismatches([[0, 16]], [[0, 32]], unit="byte"))
    element (0,1) is stored at byte 0x10, read at byte 0x20
    """
    wrong = (
        Mismatch((i, k), home, read, unit, subtile, base)
        for i, (homes, reads) in enumerate(zip(stored, fetched, strict=True))
        if homes != reads
        for k, (home, read) in enumerate(zip(homes, reads, strict=True))
        if home != read
    )
    return list(islice(wrong, max(most, 0)))


#: The largest number of rows and columns of cells.
_ROWS, _COLUMNS = 32, 64


@frozen
class Picture:
    r"""A text picture of the elements that are read from where they are stored, with MN down and K across.

    Args:
        rows: a text for each row, with a character for each cell: ``.`` all correct, ``x`` some wrong, ``X`` all wrong.
        block: elements (MN, K) of a cell.

    >>> print(Picture((".X", "xX"), (2, 1)))
    mn \ k  0
         0  .X
         2  xX
    each character is 2x1 elements: '.' correct, 'x' partly wrong, 'X' wrong
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
        partly = "" if self.block == (1, 1) else "'x' partly wrong, "
        return "\n".join([*lines, f"each character is {cells}: '.' correct, {partly}'X' wrong"])


def picture(wrong: Sequence[Sequence[bool]]) -> Picture:
    """Return the picture of an operand, with cells large enough for it to fit a terminal.

    Args:
        wrong: whether each element is read from another address, ``wrong[mn][k]``.

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
    """Return the extent of a cell, a power of two so that the units of a swizzle remain visible."""
    step = 1
    while -(-extent // step) > most:
        step *= 2
    return step
