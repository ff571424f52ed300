"""The model of scale factors: which bytes of tensor memory a block-scaled ``tcgen05.mma`` takes its factors from.

The judge of pointers and copies, so it shares no code with what derives them. The pointer names a column c and, in its
two top bits, a byte b; factor q of row x is then ::

    all rows side by side    lane x%32                        column c + x/32             byte b + q
    halves of N apart        lane x%32 + 64 (x / (N/2))       column c + (x % (N/2))/32   byte b + q

Each warp's lanes hold a copy of their own; the first is read here. Nothing of this was measured on a Blackwell GPU.
Source: PTX ISA 9.1, tcgen05, scale factor layouts, Scale Factor A ID and B ID; CUTLASS ``mma_traits_sm100.hpp``,
``tmem_sf_frg``.

Law: no two factors share a byte.

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
    """Lane, column and byte of every factor that one instruction reads: axes (row, factor, 3).

    Args:
        pointer: what the instruction is given.
        rows: M of the CTA, or N.
        count: factors of a row: K of the instruction over the elements that share one.
        group: columns of four factors of all rows of the tile; the fifth factor is the first of the next group.
        halves: whether the halves of N lie apart: ``cta_group`` 2 with M 128.

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
