"""One operand of a main loop: its derivation, its words and their steps, its copies, and the bit that says its major.

The words are kept as a kernel forms them: one word, and what is added to it for a block along M or N, a K block, a
stage. The proof of the product adds them up as the kernel does.

Law: the sums are the words of the derivation, wherever the operand lies.

>>> from descriptors.plans.parts.asked import asked
>>> a = operand(asked("m64n128k16", "bf16", tile=(128, 128, 64)), "A", 3, base=2048)
>>> all(a.word_at(i, k, s) == a.derivation.word(i, k, s, 2048) for i in range(2) for k in range(4) for s in range(3))
True
"""

from __future__ import annotations

from dataclasses import replace

from descriptors.derivation.derive import derive
from descriptors.derivation.parts.derivation import Derivation
from descriptors.errors import DescriptorError
from descriptors.frozen import frozen
from descriptors.instructions.operands import check_operand
from descriptors.operands.operand import Major, Matrix, SwizzleMode, SwizzleName
from descriptors.plans.parts.asked import MainLoop
from descriptors.plans.parts.halves import row_of, run_of, within
from descriptors.plans.parts.multicast import cut
from descriptors.tma.plan import Box, TmaPlan
from descriptors.tma.planner import tma_plan
from descriptors.words.transpose import transpose_bit

#: Tried in this order where no swizzle is asked for: the wider, the fewer bank conflicts and boxes.
_WIDEST = (SwizzleMode.B128, SwizzleMode.B128_BASE32B, SwizzleMode.B64, SwizzleMode.B32, SwizzleMode.NONE)


@frozen
class StagedOperand:
    """An operand in the shared memory of one CTA, all stages of it.

    Args:
        matrix: ``"A"`` or ``"B"``.
        derivation: of the tile (MN, K, stages).
        tma: the copies that fill it.
        base: its address, from the start of the CTA's shared memory, in bytes.
        word: of the first instruction's operand.
        mn_steps, k_steps, stage_steps: what is added to the word for each block along M or N, each K block, each stage;
            in 16-byte units, which the start address counts.
        transposed: the transpose bit of the instruction.
        run: rows of the tile that follow one another in a CTA: all of its rows, but of B of a pair half of an N block.
        ctas: of the cluster that need the same tile, and share its copies.
    """

    matrix: Matrix
    derivation: Derivation
    tma: TmaPlan
    base: int
    word: int
    mn_steps: tuple[int, ...]
    k_steps: tuple[int, ...]
    stage_steps: tuple[int, ...]
    transposed: int
    run: int
    ctas: int = 1

    def word_at(self, mn: int, k: int, stage: int) -> int:
        """The word of one block: a sum that never carries out of the start address, for all of it is shared memory."""
        return self.word + self.mn_steps[mn] + self.k_steps[k] + self.stage_steps[stage]

    @property
    def bit(self) -> str:
        """Where the transpose bit is."""
        return transpose_bit(self.derivation.arch, self.matrix)

    @property
    def stage_bytes(self) -> int:
        """Shared memory of one stage, in bytes."""
        d = self.derivation
        return d.tile[0] * d.tile[1] * d.element.storage_bits // 8

    @property
    def alignment_bytes(self) -> int:
        """What its address must be a multiple of."""
        return max(self.tma.alignment_bytes, self.derivation.swizzle.alignment_bytes)

    @property
    def boxes(self) -> tuple[Box, ...]:
        """The copies of the first stage; those of the others differ in the address alone."""
        return tuple(box for box in self.tma.boxes if box.stage == 0)

    def first_row(self, box: Box, cta: int = 0) -> int:
        """The row of the tile, over both CTAs of a pair, at which a box begins in one of them."""
        return row_of(box.origin[0], cta, self.run)

    def coordinates(self, box: Box) -> tuple[int, ...]:
        """Where a box of CTA 0 begins in the tile, along the tensor map's dimensions; CTA v adds v runs of rows."""
        moved = self.first_row(box) - box.origin[0]
        pairs = zip(self.tma.dimensions, box.coordinates, strict=True)
        return tuple(at + (0 if one.mode else one.index(moved)) for one, at in pairs)

    @property
    def own_boxes(self) -> int:
        """How many of them each CTA issues: the r-th of those that share them takes the r-th part."""
        return len(self.boxes) // self.ctas

    @property
    def transaction_bytes(self) -> int:
        """What the copies of one stage add to the transaction count of a CTA, in bytes, whoever issues them."""
        return len(self.boxes) * self.tma.transaction_bytes


def operand(
    one: MainLoop, matrix: Matrix, stages: int, *, swizzle: SwizzleMode | SwizzleName | None = None, base: int = 0
) -> StagedOperand:
    """Derive an operand, and plan its copies.

    Args:
        one: the instruction and the tile.
        matrix: ``"A"`` or ``"B"``.
        stages: how many tiles are kept at once.
        swizzle: its swizzle; the widest that fits if left out.
        base: its address, in bytes.

    Raises:
        DescriptorError: if it has no layout that both the instruction reads and copies fill.

    >>> from descriptors.plans.parts.asked import asked
    >>> operand(asked("m64n32k16", "bf16", tile=(64, 32, 64), b_major="MN"), "B", 2).derivation.swizzle
    SwizzleMode.B64
    """
    made = _chosen(one, matrix, stages, swizzle, base)
    ctas = one.cluster["BA".index(matrix)]
    return replace(made, tma=cut(made.tma, ctas, matrix), ctas=ctas)


def _chosen(
    one: MainLoop, matrix: Matrix, stages: int, swizzle: SwizzleMode | SwizzleName | None, base: int
) -> StagedOperand:
    if swizzle is not None:
        return _laid_out(one, matrix, stages, swizzle, base)
    refused: list[DescriptorError] = []
    for mode in _WIDEST:
        try:
            return _laid_out(one, matrix, stages, mode, base)
        except DescriptorError as error:
            refused.append(error)
    raise refused[-1]


def _laid_out(
    one: MainLoop, matrix: Matrix, stages: int, swizzle: SwizzleMode | SwizzleName, base: int
) -> StagedOperand:
    index = "AB".index(matrix)
    element, major = ((one.a, one.a_major), (one.b, one.b_major))[index]
    pair = one.cta_group
    # What threads load, and no instruction reads by a word, may have any major.
    legality = "off" if matrix == "A" and one.a_source == "rmem" else one.legality
    check_operand(one.arch, one.kind, element, major, swizzle, legality=legality)
    made = derive(
        (one.tile[index] // pair, one.tile[2], stages), element, major, swizzle,
        (one.extents[index] // pair, one.extents[2]), arch=one.arch, operand=matrix, kind=one.kind, cta_group=pair,
        legality=legality, capacity=None, verify=False,
    )  # fmt: skip
    blocks, run = one.blocks[index], run_of(one, matrix)
    return StagedOperand(
        matrix=matrix,
        derivation=made,
        tma=within(tma_plan(made), run, matrix),
        base=base,
        word=made.word(0, 0, 0, base),
        mn_steps=tuple(made.offset_of(i, 0) // 16 for i in range(blocks)),
        k_steps=tuple(made.offset_of(0, k) // 16 for k in range(one.blocks[2])),
        stage_steps=tuple(made.offset_of(0, 0, stage) // 16 for stage in range(stages)),
        transposed=int(major is Major.MN),
        run=run,
    )
