"""Model of fragments: the element that an instruction reads from each register, and that ``ldmatrix`` loads into it.

The model judges the loads of operands into registers, so it shares no code with the fragments. A register contains E
elements, 32 bits together. For ``wgmma``, register r of thread t of a warpgroup has the E elements from

    row = 16 (t/32) + t%32/4 + 8 (r%2)        column = 4 E (r/2) + E (t%4)

on. ``ldmatrix.x4`` loads matrix r into register r. Row i of this matrix is the 16 bytes at the address that lane
8 r + i of the warp passes. A thread gets the 4 bytes from 4 (t%4) on of row t%32/4. With ``.trans``, which is for
16-bit elements only, it gets those of the transposed matrix: elements t%32/4 of rows 2 (t%4) and 2 (t%4) + 1.

For ``mma.sync``, a warp has of A what the first warp has for ``wgmma``. Of B it has column t/4 instead of the row,
without the 8 rows below. Of D and C, value v is in row t/4 + 8 (v/2) and column 2 (t%4) + v%2.

Source: PTX ISA 9.1, wgmma.mma_async (register fragments of A); ldmatrix; matrix fragments of mma. All were measured on
an H200.

Invariant: every element of a K block is in exactly one place.

>>> len(set(map(tuple, wgmma_a_elements(2).reshape(-1, 2).tolist()))) == 64 * 16
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Threads of a warpgroup, registers of A of a thread, lanes of a warp.
THREADS, REGISTERS, LANES = 128, 4, 32


def wgmma_a_elements(each: int) -> NDArray[np.int64]:
    """Return row and column of every element of A in registers: axes (thread, register, element, 2).

    Args:
        each: number of elements of a register.

    >>> wgmma_a_elements(4)[37, 3, 1].tolist()
    [25, 21]
    """
    import numpy as np

    t, r, e = np.meshgrid(np.arange(THREADS), np.arange(REGISTERS), np.arange(each), indexing="ij")
    row = 16 * (t // LANES) + t % LANES // 4 + 8 * (r % 2)
    return np.stack([row, 4 * each * (r // 2) + each * (t % 4) + e], axis=-1)


def ldmatrix_bytes(pointers: NDArray[np.int64], each: int, *, trans: bool = False) -> NDArray[np.int64]:
    """Return the address from which each element of each register is loaded: axes (thread, register, element).

    Args:
        pointers: the address that every thread passes, in bytes, for whole warps.
        each: number of elements of a register; 2 with ``trans``.
        trans: whether the matrices are transposed.

    >>> import numpy as np
    >>> [ldmatrix_bytes(16 * np.arange(32), 2, trans=trans)[5, 1].tolist() for trans in (False, True)]
    [[148, 150], [162, 178]]
    """
    import numpy as np

    t, r, e = np.meshgrid(np.arange(len(pointers)), np.arange(REGISTERS), np.arange(each), indexing="ij")
    warp, lane, width = t // LANES * LANES, t % LANES, 4 // each
    row, byte = (2 * (lane % 4) + e, width * (lane // 4)) if trans else (lane // 4, 4 * (lane % 4) + width * e)
    addresses: NDArray[np.int64] = pointers[warp + 8 * r + row] + byte
    return addresses


def mma_elements(operand: str, each: int) -> NDArray[np.int64]:
    """Return the fragment of ``mma.sync`` with M 16, N 8 and 32 bytes of K: axes (thread, register, element, 2).

    Args:
        operand: ``"A"`` for row and k, ``"B"`` for column and k, or ``"D"`` for row and column.
        each: number of elements of a register of A or B; 2 for D, where two values of a row count as a register.

    >>> [mma_elements(name, 2)[5, 1].tolist() for name in "ABD"]
    [[[9, 2], [9, 3]], [[1, 10], [1, 11]], [[9, 2], [9, 3]]]
    """
    import numpy as np

    count = {"A": REGISTERS, "B": 2, "D": 2}[operand]
    t, r, e = np.meshgrid(np.arange(LANES), np.arange(count), np.arange(each), indexing="ij")
    along = 4 * each * {"A": r // 2, "B": r, "D": 0 * r}[operand] + each * (t % 4) + e
    down = 8 * {"A": r % 2, "B": 0 * r, "D": r}[operand]
    return np.stack([t // 4 + down, along], axis=-1)


def scale_lanes(index: int, threads: int) -> NDArray[np.int64]:
    """Return the lane from which a block-scaled ``mma.sync`` reads the factors of each row of A, or column of B.

    Args:
        index: 0 for A: lanes 2 ``threads`` and 2 ``threads`` + 1 of each four have the factors of row t/4 + 8 (t%2).
            1 for B: lane ``threads`` of each four has the factors of column t/4.
        threads: the thread selector.

    Source: PTX ISA 9.1, block scaling for mma.sync; CUTLASS mma_traits_sm120.hpp. Not measured.

    >>> scale_lanes(0, 0)[[0, 1, 8]].tolist(), scale_lanes(1, 2)[:3].tolist()
    ([0, 4, 1], [2, 6, 10])
    """
    import numpy as np

    row = np.arange(8 if index else 16)
    return 4 * row + threads if index else 4 * (row % 8) + row // 8 + 2 * threads


def container_bit(bits: int) -> int:
    """Return the bit of a byte from which kinds f8f6f4 and mxf8f6f4 read an element; ``ldmatrix`` leaves it at bit 0.

    Args:
        bits: number of bits of the element.

    Source: PTX ISA 9.1, mma (element types of 4 and 6 bits); CUTLASS, fp4_shift_A.

    >>> [container_bit(bits) for bits in (4, 6, 8)]
    [2, 0, 0]
    """
    return 2 if bits == 4 else 0
