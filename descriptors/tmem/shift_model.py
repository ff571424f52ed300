"""A model of ``tcgen05.shift`` and of the other instructions of a convolution by shifts, on one CTA's tensor memory.

It verifies instruction sequences, so it shares no code with the modules that plan them. The memory is an array of 128
lanes by 512 columns of 32-bit words. Each function changes it as one instruction does::

    load       tcgen05.cp.128x256b: row r of 128 goes to lane r, its 8 words to 8 columns
    refresh    tcgen05.cp.4x256b: row r of 4 goes to the lane that is 32 r after the lane of the address
    shift      tcgen05.shift.down: 8 columns; in each quarter of 32 lanes, lane l gets the row of lane l + 1, and the
               last lane keeps its row
    multiply   tcgen05.mma: D = A B^T, or D + A B^T with enable-input-d; lane l of D is not written if bit l % 32 of
               word l / 32 of disable-output-lane is 1
    clear      tcgen05.st of zeros by the four warps

Elements are two's complement integers of 8, 16 or 32 bits: the data movement does not depend on the type, and integer
sums are exact. It is not settled which lanes one shift moves: the quarter of its address, as PTX's "for a warp" can be
read, or all four quarters, as the DSL says. This is an argument. None of this was measured on a Blackwell GPU.
Source: PTX ISA 9.1, tcgen05.shift, tcgen05.cp, tcgen05.mma; CuTe DSL 4.8.1, docstring of ``tcgen05_mma`` (the
direction, and that the last lane of a quarter keeps its row).

Invariant: a shift of all quarters moves every row but four, and never across quarters.

>>> import numpy as np
>>> cells = np.arange(128, dtype=np.uint32)[:, None].repeat(512, 1)
>>> shift(cells, 0, 8, quarters="all")
>>> cells[:, 8].tolist() == [lane if lane % 32 == 31 else lane + 1 for lane in range(128)]
True
>>> cells[:, 7].tolist() == cells[:, 16].tolist() == list(range(128))
True
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from descriptors.errors import ChoiceError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Words = NDArray[np.uint32]
    Numbers = NDArray[np.int64]

# A quarter has 32 lanes. Load, refresh and shift move 256 bits per lane, which is 8 columns.
_QUARTER, _COLUMNS = 32, 8


def load(cells: Words, column: int, rows: Words) -> None:
    """Write 128 rows of 8 words to 8 columns.

    >>> import numpy as np
    >>> cells = np.zeros((128, 512), np.uint32)
    >>> load(cells, 8, np.arange(1024, dtype=np.uint32).reshape(128, 8))
    >>> cells[1, 7:17].tolist()
    [0, 8, 9, 10, 11, 12, 13, 14, 15, 0]
    """
    cells[:, column : column + _COLUMNS] = rows


def refresh(cells: Words, lane: int, column: int, rows: Words) -> None:
    """Write 4 rows of 8 words to lanes ``lane``, ``lane + 32``, ``lane + 64``, ``lane + 96``.

    >>> import numpy as np
    >>> cells = np.zeros((128, 512), np.uint32)
    >>> refresh(cells, 31, 0, np.ones((4, 8), np.uint32))
    >>> cells[:, 0].nonzero()[0].tolist()
    [31, 63, 95, 127]
    """
    cells[lane::_QUARTER, column : column + _COLUMNS] = rows


def shift(cells: Words, lane: int, column: int, *, quarters: str) -> None:
    """Move each row of 8 columns one lane down, within its quarter; the last lane of a quarter keeps its row.

    Args:
        cells: the memory.
        lane: lane of the address, a multiple of 32.
        column: column of the address.
        quarters: which quarters move: ``all``, or the ``one`` of the address.

    Raises:
        ChoiceError: if ``quarters`` is neither.
    """
    if quarters not in ("all", "one"):
        raise ChoiceError("shift: quarters", quarters, ("all", "one"))
    for first in range(0, len(cells), _QUARTER) if quarters == "all" else (lane,):
        part = cells[first : first + _QUARTER, column : column + _COLUMNS]
        part[:-1] = part[1:].copy()


def multiply(
    cells: Words, d: int, a: int, b: Numbers, *, bits: int, masks: Sequence[int], enable_input_d: bool
) -> None:
    """Multiply one K step of A by B and write 32-bit integers to D.

    Args:
        cells: the memory.
        d: first column of D.
        a: first of the 8 columns of A.
        b: (n, k), integers.
        bits: bits per element of A: 8, 16 or 32.
        masks: four words with the lanes of D that are not written.
        enable_input_d: whether the product is added to D.

    >>> import numpy as np
    >>> cells = np.full((128, 512), 7, np.uint32)
    >>> multiply(cells, 16, 0, np.ones((1, 8), np.int64), bits=32, masks=(1, 0, 0, 0), enable_input_d=False)
    >>> cells[:3, 16].tolist()
    [7, 56, 56]
    """
    import numpy as np

    rows = np.ascontiguousarray(cells[:, a : a + _COLUMNS].astype("<u4")).view(f"<i{bits // 8}").astype(np.int64)
    sums = rows @ b.T
    before = cells[:, d : d + len(b)]
    if enable_input_d:
        sums = sums + before
    unmasked = [lane for lane in range(len(cells)) if not masks[lane // _QUARTER] >> lane % _QUARTER & 1]
    before[unmasked] = (sums[unmasked] & 0xFFFFFFFF).astype(np.uint32)


def clear(cells: Words, column: int, columns: int) -> None:
    """Write zeros to all lanes of some columns.

    >>> import numpy as np
    >>> cells = np.ones((128, 512), np.uint32)
    >>> clear(cells, 0, 510)
    >>> int(cells.sum())
    256
    """
    cells[:, column : column + columns] = 0


def read(cells: Words, column: int, columns: int) -> Numbers:
    """Return the 32-bit integers of some columns: (lane, column).

    >>> import numpy as np
    >>> read(np.full((128, 512), 2**32 - 1, np.uint32), 0, 2)[5].tolist()
    [-1, -1]
    """
    import numpy as np

    numbers: Numbers = cells[:, column : column + columns].astype(np.uint32).view(np.int32).astype(np.int64)
    return numbers
