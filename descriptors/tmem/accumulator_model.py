"""A model of accumulators: the register, or the tensor-memory cell, in which an instruction leaves each element.

It verifies whole products, so it shares no code with the fragments and layouts that it verifies. For ``wgmma``, value v
of thread t of a warpgroup of 128 threads is (two 16-bit values per register)::

    row = 16 (t/32) + t%32/4 + 8 (v/2 % 2)        column = 8 (v/4) + 2 (t%4) + v%2

For ``tcgen05.mma``, element (m, n) of one CTA's part of D is, in the arrangements that PTX draws, in::

    D (M 128), A (M 256 of two CTAs)    lane m                     column n
    F (M 64)                            lane 32 (m/16) + m%16      column n
    B (M 128 of two CTAs)               lane m + 64 (n / (N/2))    column n % (N/2)

With ``cta_group`` 2, an instruction reads half of the rows of A and half of the rows of B from each CTA, CTA 0 first. A
CTA holds the rows of D that correspond to its rows of A. After ``tcgen05.ld.32x32b`` from (lane, column), register r of
thread t contains cell (lane + t, column + r).
Source: PTX ISA 9.1, wgmma.mma_async (register fragments); tcgen05 data path layouts A, B, D, F; tcgen05.ld. The
fragments of wgmma were measured on an H200; nothing about tcgen05 was measured.

Invariant: no two elements share a register or a cell.

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
    """Return row and column of every value of every thread: axes (thread, value, 2).

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
    """Return lane and column of every element of one CTA's part of D: axes (m, n, 2).

    Columns are relative to the first column of the accumulator.

    Args:
        m: M of the instruction, over both CTAs if ``cta_group`` is 2.
        n: N of the instruction.
        cta_group: 1 or 2.

    Raises:
        DescriptorError: if the arrangement is none of A, B, D and F.

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
    raise DescriptorError(
        f"accumulator model: M {m} with cta_group {cta_group} is not supported; supported: M 64 and 128 with "
        "cta_group 1, M 128 and 256 with cta_group 2"
    )


def joined(blocks: Sequence[NDArray[Any]], instructions: int, *, axis: int) -> NDArray[Any]:
    """Return the rows of B in the order of the instructions; each instruction reads one half from each CTA.

    Args:
        blocks: for each CTA, the rows that its descriptors read, in order along an axis.
        instructions: number of instructions along N.
        axis: axis of the rows.

    Returns:
        All rows along that axis, those of one instruction together; row n of B is column n of its product.

    >>> import numpy as np
    >>> joined([np.array([0, 1, 4, 5]), np.array([2, 3, 6, 7])], 2, axis=0).tolist()
    [0, 1, 2, 3, 4, 5, 6, 7]
    """
    import numpy as np

    parts = [np.split(block, instructions, axis=axis) for block in blocks]
    return np.concatenate([part for halves in zip(*parts, strict=True) for part in halves], axis=axis)
