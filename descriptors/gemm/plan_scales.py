"""Plan the scale factors of a main loop: their memory and copies in each stage, and the pointers of each K block.

All stages use the same columns of tensor memory, which are rewritten for each stage. This is safe because a copy and
the multiplication after it execute in the order in which one thread issues them (PTX ISA 9.1, tcgen05, Implicitly
Pipelined tcgen05 Instructions).

Invariant: the pointers of the K blocks are to different bytes, and contain the ids of the instruction descriptors.

>>> from descriptors.gemm.plan_request import main_loop
>>> one = main_loop("m128n128k64", "e2m1", tile=(128, 128, 256), kind="mxf4")
>>> scales = scales_of(one, columns=(128, 132))
>>> [(hex(a), hex(b)) for a, b in scales.pointers][:2]
[('0x80', '0x84'), ('0x80000080', '0x80000084')]
"""

from __future__ import annotations

from descriptors.errors import DescriptorError
from descriptors.gemm.plan_request import MainLoop
from descriptors.text import extents_text
from descriptors.tmem.block_scaled import factors_of
from descriptors.tmem.scale_factors import ScaleFactors, scale_factors
from layoutalg.frozen import frozen

#: The factors of an N block begin at a multiple of this many rows: two columns, as CUTLASS advances the pointer.
_STEP_ROWS = 64


@frozen
class Scales:
    """The scale factors of both operands in one CTA.

    Args:
        dtype: type of a scale factor.
        vector: elements along K that share a factor, with zeros counted: for a sparse A, and its B, twice as many as
            for a dense A.
        qualifier: ``1X``, ``2X``, ``4X``, ``block16`` or ``block32``.
        a, b: memory and copies of the factors of A and B, from address 0.
        columns: the first column in tensor memory, for A and for B.
        pointers: for each K block of the first M and N blocks, the pointers for A and for B.
        steps: columns that are added to the pointer of A for each M block, and to that of B for each N block.
        bases: address of the first stage in shared memory, in bytes, for A and for B.
    """

    dtype: str
    vector: int
    qualifier: str
    a: ScaleFactors
    b: ScaleFactors
    columns: tuple[int, int]
    pointers: tuple[tuple[int, int], ...]
    steps: tuple[tuple[int, ...], tuple[int, ...]] = ((0,), (0,))
    bases: tuple[int, int] = (0, 0)

    @property
    def stage_bytes(self) -> int:
        """Size of one stage of both in shared memory, in bytes."""
        return self.a.bytes + self.b.bytes

    @property
    def halves(self) -> bool:
        """Whether the factors of the two halves of N are stored apart."""
        return self.b.copy != self.a.copy

    def pointer_at(self, index: int, block: int, k: int) -> int:
        """Return the pointer for K block ``k`` and an M block of A (index 0) or an N block of B (index 1)."""
        return self.pointers[k][index] + self.steps[index][block]

    def copies(self, stage: int = 0) -> tuple[tuple[int, int], ...]:
        """Return descriptor and column of every ``tcgen05.cp`` of a stage, those of A first.

        >>> from descriptors.gemm.plan_request import main_loop
        >>> scales = scales_of(main_loop("m128n128k64", "e2m1", tile=(128, 128, 256), kind="mxf4"), columns=(128, 136))
        >>> [(hex(word), column) for word, column in scales.copies()][:2]
        [('0x400800010000', 128), ('0x400800010020', 132)]
        """
        copies = []
        for factors, column, base in zip((self.a, self.b), self.columns, self.bases, strict=True):
            start = (base + stage * factors.bytes) // 16
            copies += [(step.word + start, column + step.column) for step in factors.steps]
        return tuple(copies)


def scales_of(loop: MainLoop, *, columns: tuple[int, int]) -> Scales:
    """Return the scale factors that an instruction of a block-scaled kind needs for one stage.

    Args:
        loop: the instruction and the tile, of a kind with scale factors.
        columns: the first column of the factors of A and of B in tensor memory.

    Raises:
        DescriptorError: if the type, the number of elements per factor or the blocks along N are not supported.
    """
    assert loop.scale is not None and loop.instruction_scale is not None
    # A factor is for a number of stored elements of A, so a sparse instruction has no more factors than a dense one.
    (m, n, k), step, blocks, zeros = loop.tile, loop.extents[2], loop.blocks, 1 + loop.sparse
    k, step = k // zeros, step // zeros
    dtype, _, qualifier = factors_of(loop.kind, *loop.instruction_scale, k=step, arch=loop.arch, legality=loop.legality)
    vector = loop.scale[1]
    twofold = (loop.cta_group, loop.extents[0]) == (2, 128)
    _check_blocks(loop)
    a = scale_factors(m // loop.cta_group, k, vector, step=step, of_64=twofold and blocks[0] == 1)
    b = scale_factors(n, k, vector, step=step, halves=twofold)
    pointers = tuple(
        (at_a.pointer(columns[0]), at_b.pointer(columns[1])) for at_a, at_b in zip(a.places, b.places, strict=True)
    )
    rows = loop.extents[0] // loop.cta_group, loop.extents[1]
    along_m, along_n = (tuple(i * each // 32 for i in range(count)) for each, count in zip(rows, blocks, strict=False))
    return Scales(dtype, zeros * vector, qualifier, a, b, columns, pointers, (along_m, along_n))


def _check_blocks(loop: MainLoop) -> None:
    """Check that the scale factors of every N block begin in an even column; no pointer to others is known."""
    n, count = loop.extents[1], loop.blocks[1]
    if count > 1 and n % _STEP_ROWS:
        raise DescriptorError(
            f"plan: N of the instruction is {n}, which is not a multiple of {_STEP_ROWS}; with scale factors, "
            f"several N blocks need such a multiple; tile = {extents_text(loop.tile)}, instruction = {loop.name}"
        )
