"""The model of a pair of CTAs: what one instruction of both takes from the shared memory of each.

The judge of who holds what, so it shares no code with the plans. Of its M rows of A and its N rows of B an instruction
with ``cta_group::2`` takes the first half through the words as CTA 0 reads them, the second half as CTA 1 does; row n
of B is column n of the product. A CTA's accumulators are those of its own rows of A.
Source: PTX ISA 9.1, tcgen05 (CTA pair, matrix shapes, data path layouts A and B). Nothing of this was measured.

Law: the rows of an instruction are those of CTA 0, then those of CTA 1, whatever the number of instructions.

>>> import numpy as np
>>> joined([np.array([0, 1, 4, 5]), np.array([2, 3, 6, 7])], 2, axis=0).tolist()
[0, 1, 2, 3, 4, 5, 6, 7]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray


def joined(held: Sequence[NDArray[Any]], instructions: int, *, axis: int) -> NDArray[Any]:
    """The rows of B that one instruction after the other takes.

    Args:
        held: what each CTA's words read, block by block along an axis.
        instructions: along N.
        axis: along which the rows are.

    Returns:
        the same along that axis, the rows of an instruction together.
    """
    import numpy as np

    parts = [np.split(one, instructions, axis=axis) for one in held]
    return np.concatenate([part for block in zip(*parts, strict=True) for part in block], axis=axis)
