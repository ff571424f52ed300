"""The model of accumulators: in which register, or which cell of tensor memory, an instruction leaves each element.

The judge of a whole product, so it shares no code with the fragments and layouts that it judges. Thread t of the 128 of
a warpgroup, value v of its share of ``wgmma``'s D, two of 16 bits in a register::

    row = 16 (t/32) + t%32/4 + 8 (v/2 % 2)        column = 8 (v/4) + 2 (t%4) + v%2

Element (m, n) of the share that one CTA has of ``tcgen05.mma``'s D, by the arrangements that PTX draws::

    D (M 128), A (M 256 of two CTAs)    lane m                     column n
    F (M 64)                            lane 32 (m/16) + m%16      column n
    B (M 128 of two CTAs)               lane m + 64 (n / (N/2))    column n % (N/2)

Of a pair of CTAs an instruction takes half of its rows of A and half of its rows of B from each, CTA 0's first; a CTA
has the rows of D that are its rows of A. And register r of thread t is, after ``tcgen05.ld.32x32b`` from (lane,
column), the cell (lane + t, column + r).
Source: PTX ISA 9.1, wgmma.mma_async (register fragments); tcgen05 data path layouts A, B, D, F; tcgen05.ld. The
fragments of wgmma were measured on an H200; nothing of tcgen05 was measured.

Law: every element has a place of its own.

>>> len(set(map(tuple, wgmma_elements(24).reshape(-1, 2).tolist()))) == 64 * 24
True
>>> [len(set(map(tuple, tcgen05_cells(m, 32, g).reshape(-1, 2).tolist()))) for m, g in ((64, 1), (128, 1), (128, 2))]
[2048, 4096, 2048]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from descriptors.errors import DescriptorError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def wgmma_elements(n: int) -> NDArray[np.int64]:
    """Row and column of every value of every thread: axes (thread, value, 2).

    Args:
        n: N of the instruction.

    >>> wgmma_elements(16)[37, 6].tolist()
    [25, 10]
    """
    import numpy as np

    thread, value = np.meshgrid(np.arange(128), np.arange(n // 2), indexing="ij")
    row = 16 * (thread // 32) + thread % 32 // 4 + 8 * (value // 2 % 2)
    return np.stack([row, 8 * (value // 4) + 2 * (thread % 4) + value % 2], axis=-1)


def tcgen05_cells(m: int, n: int, cta_group: int) -> NDArray[np.int64]:
    """Lane and column of every element of one CTA's share, columns from the accumulator's own: axes (m, n, 2).

    Args:
        m: M of the instruction, over both CTAs where ``cta_group`` is 2.
        n: N of the instruction.
        cta_group: 1 or 2.

    Raises:
        DescriptorError: if the arrangement is none of those above.

    >>> tcgen05_cells(64, 8, 1)[17, 3].tolist(), tcgen05_cells(128, 8, 2)[17, 5].tolist()
    ([33, 3], [81, 1])
    """
    import numpy as np

    row, column = np.meshgrid(np.arange(m // cta_group), np.arange(n), indexing="ij")
    if (m, cta_group) in ((128, 1), (256, 2)):
        return np.stack([row, column], axis=-1)
    if (m, cta_group) == (64, 1):
        return np.stack([32 * (row // 16) + row % 16, column], axis=-1)
    if (m, cta_group) == (128, 2):
        return np.stack([row + 64 * (column // (n // 2)), column % (n // 2)], axis=-1)
    raise DescriptorError(f"accumulator model: M must be 64, 128 or 256, found {m}; cta_group {cta_group}")


def joined(blocks: Sequence[NDArray[Any]], instructions: int, *, axis: int) -> NDArray[Any]:
    """The rows of B that one instruction after the other takes: of each the first half as CTA 0's words read them.

    Args:
        blocks: what each CTA's words read, block by block along an axis.
        instructions: along N.
        axis: along which the rows are.

    Returns:
        the same along that axis, the rows of an instruction together; row n of B is column n of its product.

    >>> import numpy as np
    >>> joined([np.array([0, 1, 4, 5]), np.array([2, 3, 6, 7])], 2, axis=0).tolist()
    [0, 1, 2, 3, 4, 5, 6, 7]
    """
    import numpy as np

    parts = [np.split(one, instructions, axis=axis) for one in blocks]
    return np.concatenate([part for block in zip(*parts, strict=True) for part in block], axis=axis)
