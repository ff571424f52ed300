"""Plan the scale factors of a block-scaled ``mma.sync``: the factors that each thread loads and that instructions read.

In global memory the factors of a row of A, or a column of B, follow one another along K, one byte each. A thread loads
four of them at once, for its row of every block of its warp; the fragment gives the row of each lane. The instruction
reads one, two or four bytes of the register, from the byte and the threads that its selectors name.

Invariant: each K block reads the bytes of its own factors.

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

#: Number of factors in a register.
WORD = 4


@frozen
class MmaScales:
    """The scale factors of A and B.

    Args:
        dtype: type of a factor.
        vector: elements along K that share a factor.
        each: number of factors of a row that an instruction reads.
        words: registers of a thread for a row of a stage.
        a_rows, b_rows: lane to the row of A, or the column of B, of a block, whose factors the lane loads.
        threads: the thread selectors of A and B. Selector i chooses the lanes with t % 4 equal to 2 i or 2 i + 1 for A,
            and to i for B.
    """

    dtype: str
    vector: int
    each: int
    words: int
    a_rows: Layout
    b_rows: Layout
    threads: tuple[int, int] = (0, 0)

    def place(self, block: int) -> tuple[int, int]:
        """Return the register of a K block, and the first byte of its factors."""
        return divmod(block * self.each, WORD)


def scale_rows(loop: MmaLoop, scales: MmaScales, index: int) -> Layout:
    """Return the layout of threads to the row of A, or column of B, whose factors they load for the warp's first block.

    Args:
        loop: the tile and the warps.
        scales: the scale factors.
        index: 0 for A, 1 for B.

    >>> from descriptors.gemm.mma_request import mma_loop
    >>> loop = mma_loop("mma.m16n8k64", "e2m1", tile=(64, 64, 256), warps=(2, 2))
    >>> print(scale_rows(loop, mma_scales(loop), 0))
    ((2,2,8),(2,2)):((8,0,1),(16,0))
    """
    lanes = (scales.a_rows, scales.b_rows)[index]
    return make_layout(lanes, Layout(loop.warps, ((16, 0), (0, 16))[index]))


def mma_scales(loop: MmaLoop) -> MmaScales | None:
    """Return the scale factors of a main loop; None for a kind without.

    Args:
        loop: the instruction and the tile.

    Raises:
        DescriptorError: if the factors of a row of a stage do not fill whole registers.
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
