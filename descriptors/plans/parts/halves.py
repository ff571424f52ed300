"""Which rows of a tile each CTA of a pair holds, and copies that bring these and no others.

An instruction of a pair takes half of its rows of A, and half of its rows of B, from each CTA. Of B, whose rows are the
columns of the product, a CTA therefore holds half of every N block: local row x of CTA v is the row ::

    x + (x / run + v) run            with the run N / 2 of the instruction

of the tile. Of A it holds one run, half of the tile's rows: M blocks are then the rows of its accumulators in order.
Source: PTX ISA 9.1, tcgen05 matrix shapes and CTA pairs; CuTe ``mma_traits_sm100.hpp``, the B layouts of 2-SM atoms.

Law: both CTAs together hold every row of the tile, each once, and a box holds no two runs.

>>> from descriptors.plans.parts.asked import asked
>>> one = asked("m256n64k16", "bf16", tile=(256, 192, 64), cta_group=2)
>>> run = run_of(one, "B")
>>> run, sorted(row_of(x, v, run) for v in (0, 1) for x in range(96)) == list(range(192))
(32, True)
>>> from descriptors import derive, tma_plan
>>> within(tma_plan(derive((96, 64), "bf16", "K", "128B", (32, 16), arch="sm100")), run, "B").box
(64, 32)
"""

from __future__ import annotations

from math import gcd

from descriptors.errors import DescriptorError
from descriptors.operands.operand import Matrix
from descriptors.plans.parts.asked import MainLoop
from descriptors.plans.parts.multicast import in_pieces
from descriptors.tma.plan import TmaPlan


def run_of(one: MainLoop, matrix: Matrix) -> int:
    """Rows of the tile that follow one another in a CTA: all of its rows, but of B of a pair half of an N block.

    >>> from descriptors.plans.parts.asked import asked
    >>> run_of(asked("m64n64k16", "bf16", tile=(64, 192, 64)), "B")
    192
    """
    if matrix == "B":
        return one.extents[1] // 2 if one.cta_group == 2 else one.tile[1]
    return one.tile[0] // one.cta_group


def row_of(local: int, cta: int, run: int) -> int:
    """The row of the tile that a row of a CTA is.

    Args:
        local: the row, counted in the CTA.
        cta: which CTA of the pair, 0 or 1; 0 of one alone.
        run: rows that follow one another.

    >>> [row_of(x, 1, 32) for x in (0, 31, 32)]
    [32, 63, 96]
    """
    return local + (local // run + cta) * run


def within(whole: TmaPlan, run: int, matrix: Matrix) -> TmaPlan:
    """The same copies, cut where a box would hold rows of two runs, which lie apart in the tile.

    Args:
        whole: the copies.
        run: rows that follow one another.
        matrix: ``"A"`` or ``"B"``, for messages.

    Raises:
        DescriptorError: if a box cannot be cut there.
    """
    along = [dimension for dimension in whole.dimensions if dimension.mode == 0]
    rows = max(dimension.box * dimension.step for dimension in along)
    pieces = rows // gcd(rows, run)
    if pieces == 1:
        return whole
    slow = whole.dimensions[-1]
    if slow.mode != 0 or slow.box % pieces:
        raise DescriptorError(
            f"plan: a box of {matrix} must be whole runs of {run} rows, for each CTA of a pair holds half of every N "
            f"block, found {rows}; {matrix} {whole.major}-major, swizzle {whole.swizzle}"
        )
    return in_pieces(whole, pieces)
