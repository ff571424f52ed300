"""Model of a sparse operand: the k, with zeros counted, to which an instruction assigns each stored element of A.

The model judges packed metadata, so it shares no code with the packing. For row r of 64 and stored element j of an
instruction, ``wgmma.mma_async.sp`` reads two bits, or four for tf32, from the register of a thread:

    8 bits      thread 32 (r/16) + 4 (r%8) + r%16/8 + 2 (j/16)     bit 4 (j/2 % 8) + 2 (j%2)
    16 bits     thread 32 (r/16) + 4 (r%8) + 2 selector + j/8      bit 16 (r%16/8) + 4 (j/2 % 4) + 2 (j%2)
    tf32        thread 32 (r/16) + 4 (r%8) + 2 selector + j/4      bit 16 (r%16/8) + 4 (j%4)

and ``tcgen05.mma.sp``, for row r of 128, from a cell of tensor memory, in columns relative to its operand:

    4 bits      lane r                            column j/32       bit 4 (j/4 % 8) + 2 (j/2 % 2)
    8 bits      lane r                            column j/16       bit 4 (j/2 % 8) + 2 (j%2)
    16 bits     lane r%8 + 8 (j/8) + 16 (r/16)    column selector   bit 16 (r%16/8) + 4 (j/2 % 4) + 2 (j%2)
    tf32        lane r%8 + 8 (j/4) + 16 (r/16)    column selector   bit 16 (r%16/8) + 4 (j%4)

The two bits are the position in the group of four, ``k = 4 (j/2) + bits``. For 4-bit elements they are the position of
a pair in the group of eight, ``k = 8 (j/4) + 2 bits + j%2``. The four bits of tf32 are 0100 for the first of two
elements and 1110 for the second. The column operand is even, and the selector in the instruction descriptor is 0 or 1.

Source: PTX ISA 9.1, wgmma.mma_async.sp and tcgen05.mma.sp, sparse matrices; CUTLASS ``mma_traits_sm100.hpp``, which
clears the lowest bit of the column and makes it the selector. The rules for wgmma were measured on Hopper; those for
tcgen05 were not measured.

Invariant: every code of an instruction is read once.

>>> import numpy as np
>>> for bits in (8, 16, 32):
...     thread, bit = wgmma_places(bits, 0)
...     each = set(zip(thread.ravel().tolist(), bit.ravel().tolist()))
...     assert len(each) == 64 * 256 // bits
>>> wgmma_selected(np.full(128, 0xEEEEEEEE, np.uint32), 16, 1)[0, :4].tolist()
[2, 3, 6, 7]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: The position for each code of tf32; other codes are invalid.
_OF_TWO = {0b0100: 0, 0b1110: 1}


def wgmma_places(bits: int, selector: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the thread and the lowest bit of the metadata of each stored element: axes (row, stored element).

    Args:
        bits: bits of an element of A.
        selector: the selector of the instruction.
    """
    r, j = _rows(64, bits)
    thread, high = 32 * (r // 16) + 4 * (r % 8), r % 16 // 8
    if bits == 8:
        return thread + high + 2 * (j // 16), 4 * (j // 2 % 8) + 2 * (j % 2)
    if bits == 16:
        return thread + 2 * selector + j // 8, 16 * high + 4 * (j // 2 % 4) + 2 * (j % 2)
    return thread + 2 * selector + j // 4, 16 * high + 4 * (j % 4)


def wgmma_selected(registers: NDArray[Any], bits: int, selector: int) -> NDArray[Any]:
    """Return the k of each stored element, or -1 for an invalid code of tf32: axes (row, stored element).

    Args:
        registers: the 32-bit registers of the 128 threads.
        bits: bits of an element of A.
        selector: the selector of the instruction.
    """
    thread, bit = wgmma_places(bits, selector)
    return _selected(registers[thread] >> bit, bits)


def tcgen05_selected(cells: NDArray[Any], column: int, bits: int, selector: int = 0) -> NDArray[Any]:
    """Return the k of each stored element for one CTA's 128 rows; -1 for all if column or selector are invalid.

    Args:
        cells: the cells of tensor memory: axes (lane, column).
        column: the column operand of the instruction.
        bits: bits of an element of A.
        selector: the selector of the instruction descriptor.
    """
    import numpy as np

    r, j = _rows(128, bits)
    if column % 2 or selector not in ((0, 1) if bits > 8 else (0,)):
        return np.full(r.shape, -1)
    if bits == 4:
        return _selected(cells[r, column + j // 32] >> (4 * (j // 4 % 8) + 2 * (j // 2 % 2)), bits)
    if bits == 8:
        return _selected(cells[r, column + j // 16] >> (4 * (j // 2 % 8) + 2 * (j % 2)), bits)
    half, step = (8, 4 * (j // 2 % 4) + 2 * (j % 2)) if bits == 16 else (4, 4 * (j % 4))
    word = cells[r % 8 + 8 * (j // half) + 16 * (r // 16), column + selector]
    return _selected(word >> (16 * (r % 16 // 8) + step), bits)


def _rows(rows: int, bits: int) -> tuple[NDArray[Any], NDArray[Any]]:
    import numpy as np

    r, j = np.meshgrid(np.arange(rows), np.arange(256 // bits), indexing="ij")
    return r, j


def _selected(shifted: NDArray[Any], bits: int) -> NDArray[Any]:
    import numpy as np

    j = np.arange(256 // bits)[None, :]
    if bits == 4:
        pair: NDArray[Any] = 8 * (j // 4) + 2 * (shifted & 3).astype(np.int64) + j % 2
        return pair
    if bits != 32:
        four: NDArray[Any] = 4 * (j // 2) + (shifted & 3).astype(np.int64)
        return four
    table = np.full(16, -1)
    table[list(_OF_TWO)] = list(_OF_TWO.values())
    position = table[(shifted & 15).astype(np.int64)]
    return np.where(position < 0, -1, 2 * j + position)
