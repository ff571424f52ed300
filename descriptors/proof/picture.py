"""A picture of an operand for the terminal: which of its elements are right and which are wrong.

Law: a cell is a dot if and only if none of its elements is wrong, and a large X if all are.

>>> wrong = [[(i & 6) * k % 12 == 0 for k in range(128)] for i in range(64)]
>>> four = lambda i, k: sum(wrong[2 * i + a][2 * k + b] for a in range(2) for b in range(2))  # how many are wrong
>>> picture(wrong).rows == tuple("".join(".xxxX"[four(i, k)] for k in range(64)) for i in range(32))
True
"""

from __future__ import annotations

from collections.abc import Sequence

from descriptors.frozen import frozen

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
