"""A model of scale factors: the bytes of tensor memory from which a block-scaled ``tcgen05.mma`` reads its factors.

It verifies pointers and copies, so it shares no code with the modules that derive them. The pointer gives a column c
and, in its two top bits, a byte b. Factor q of row x is then in::

    all rows together        lane x%32                        column c + x/32             byte b + q
    halves of N apart        lane x%32 + 64 (x / (N/2))       column c + (x % (N/2))/32   byte b + q

The lanes of each warp hold their own copy; the model reads the first. None of this was measured on a Blackwell GPU.
Source: PTX ISA 9.1, tcgen05, scale factor layouts, Scale Factor A ID and B ID; CUTLASS ``mma_traits_sm100.hpp``,
``tmem_sf_frg``.

Invariant: no two factors share a byte.

>>> for halves in (False, True):
...     places = factor_bytes(0x40000008, 256, 2, halves=halves).reshape(-1, 3)
...     assert len(set(map(tuple, places.tolist()))) == 512
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def factor_bytes(pointer: int, rows: int, count: int, *, group: int = 4, halves: bool = False) -> NDArray[np.int64]:
    """Return lane, column and byte of every factor that one instruction reads: axes (row, factor, 3).

    Args:
        pointer: the pointer that the instruction gets.
        rows: M of the CTA, or N.
        count: factors per row: K of the instruction divided by the number of elements that share a factor.
        group: columns of four factors of all rows of the tile; the fifth factor is the first of the next group.
        halves: whether the halves of N are in different lanes: ``cta_group`` 2 with M 128.

    >>> factor_bytes(0x80000004, 128, 2)[70].tolist()
    [[6, 6, 2], [6, 6, 3]]
    >>> factor_bytes(0x80000004, 128, 6)[0].tolist()
    [[0, 4, 2], [0, 4, 3], [0, 8, 0], [0, 8, 1], [0, 8, 2], [0, 8, 3]]
    """
    import numpy as np

    row, factor = np.meshgrid(np.arange(rows), np.arange(count), indexing="ij")
    part = rows // 2 if halves else rows
    lane, column = row % 32 + 64 * (row // part), (pointer & 0xFFFF) + row % part // 32
    byte = (pointer >> 30) + factor
    return np.stack([lane, column + byte // 4 * group, byte % 4], axis=-1)
