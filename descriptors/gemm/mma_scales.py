"""Scale factors of a block-scaled ``mma.sync``: which thread loads which of them, and which the instruction takes.

In global memory a row of A, and a column of B, has its factors along K one after the other, a byte each. A thread loads
four of them as they lie, for its row of every block of its warp: the lane that the fragment names. The instruction
takes one, two or four bytes of the register, from a byte on that it is told, of the threads that it is told.

Law: the bytes of a K block are those of its own factors.

>>> from descriptors.gemm.mma_request import mma_loop
>>> scales = mma_scales(mma_loop("mma.m16n8k64", "e2m1", tile=(64, 64, 256)))
>>> [scales.place(kb) for kb in range(4)], scales.words
([(0, 0), (0, 2), (1, 0), (1, 2)], 2)
"""

from __future__ import annotations

from descriptors.errors import DescriptorError
from descriptors.gemm.mma_request import MmaLoop
from descriptors.text import extents_text
from layoutalg import Layout, fragment, make_layout
from layoutalg.frozen import frozen

#: Factors of a register.
WORD = 4


@frozen
class MmaScales:
    """The factors of A and B.

    Args:
        dtype: of a factor.
        vector: elements along K that share one.
        each: factors that an instruction takes of a row.
        words: registers of a thread for a row of a stage.
        a_rows, b_rows: the lane to the row of A, or the column of B, in a block, whose factors it loads.
        threads: the threads that give them: of A lanes t % 4 of 2 i and 2 i + 1, of B of i.
    """

    dtype: str
    vector: int
    each: int
    words: int
    a_rows: Layout
    b_rows: Layout
    threads: tuple[int, int] = (0, 0)

    def place(self, block: int) -> tuple[int, int]:
        """The register of a K block, and the byte from which the instruction takes its factors."""
        return divmod(block * self.each, WORD)


def scale_rows(loop: MmaLoop, scales: MmaScales, index: int) -> Layout:
    """The thread to the row of A (0), or column of B (1), whose factors it loads for the first block of its warp.

    Args:
        loop: the tile and the warps.
        scales: the factors.
        index: which operand.

    >>> from descriptors.gemm.mma_request import mma_loop
    >>> loop = mma_loop("mma.m16n8k64", "e2m1", tile=(64, 64, 256), warps=(2, 2))
    >>> print(scale_rows(loop, mma_scales(loop), 0))
    ((2,2,8),(2,2)):((8,0,1),(16,0))
    """
    lanes = (scales.a_rows, scales.b_rows)[index]
    return make_layout(lanes, Layout(loop.warps, ((16, 0), (0, 16))[index]))


def mma_scales(loop: MmaLoop) -> MmaScales | None:
    """The factors of a main loop; None of a kind without.

    Args:
        loop: the instruction and the tile.

    Raises:
        DescriptorError: if a stage is not whole registers of factors.
    """
    if loop.scale is None:
        return None
    dtype, vector, _ = loop.scale
    if loop.tile[2] % (WORD * vector):
        raise DescriptorError(
            f"plan: tile K is {loop.tile[2]}, which is not a multiple of {WORD * vector}, the elements of the {WORD} "
            f"scale factors of a register; tile = {extents_text(loop.tile)}"
        )
    a_rows, b_rows = (fragment(f"mma.{loop.name}.{name}.{dtype}").layout[0] for name in ("SFA", "SFB"))
    return MmaScales(
        dtype, vector, loop.extents[2] // vector, loop.tile[2] // (WORD * vector), Layout(a_rows.shape, a_rows.stride),
        Layout(b_rows.shape, b_rows.stride),
    )  # fmt: skip
