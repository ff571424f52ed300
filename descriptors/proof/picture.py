"""A picture of an operand for the terminal: which of its elements are right and which are wrong.

Law: a cell is a dot if and only if none of its elements is wrong, and a large X if all are.

>>> import numpy as np
>>> wrong = (np.arange(64)[:, None] & 6) * np.arange(128) % 12 == 0
>>> cells = wrong.reshape(32, 2, 64, 2).sum(axis=(1, 3))  # how many of the four are wrong
>>> picture(wrong).rows == tuple("".join(".xxxX"[count] for count in row) for row in cells)
True
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: The most rows and columns of cells.
_ROWS, _COLUMNS = 32, 64


@dataclass(frozen=True, slots=True)
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


def picture(wrong: NDArray[np.bool_]) -> Picture:
    """The picture of an operand, in cells of so many elements that it fits a terminal.

    Args:
        wrong: whether each element is read from elsewhere, axes (MN, K).

    >>> import numpy as np
    >>> picture(np.array([[False, True], [False, False]])).rows
    ('.X', '..')
    """
    block = (_cell(wrong.shape[0], _ROWS), _cell(wrong.shape[1], _COLUMNS))
    rows = []
    for i in range(0, wrong.shape[0], block[0]):
        band = wrong[i : i + block[0]]
        cells = (band[:, j : j + block[1]] for j in range(0, wrong.shape[1], block[1]))
        rows.append("".join("X" if cell.all() else "x" if cell.any() else "." for cell in cells))
    return Picture(tuple(rows), block)


def _cell(extent: int, most: int) -> int:
    """Elements of a cell, a power of two so that the pieces of a swizzle stay visible."""
    step = 1
    while -(-extent // step) > most:
        step *= 2
    return step
