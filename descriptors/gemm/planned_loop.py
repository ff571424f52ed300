"""The parts of a plan, which the models simulate and from which programs are written.

``descriptors.gemm.plan`` adds the proof, with a class for ``wgmma`` and one for ``tcgen05.mma``.

Invariant: the parts that only the other class has are None.

>>> from descriptors.gemm.planner import plan
>>> example = plan("m128n16k16", "bf16", tile=(128, 16, 64), stages=2, verify=False)
>>> example.loads, example.promotion, example.transposed(0)
(None, None, [0, 0, 0, 0])
"""

from __future__ import annotations

from descriptors.gemm.accumulators import Registers, TensorColumns
from descriptors.gemm.budget import Budget
from descriptors.gemm.epilogue import Epilogue
from descriptors.gemm.implicit_gemm import ImplicitGemm
from descriptors.gemm.plan_metadata import Metadata
from descriptors.gemm.plan_operands import StagedOperand
from descriptors.gemm.plan_request import MainLoop
from descriptors.gemm.plan_scales import Scales
from descriptors.gemm.promotion import Promotion
from descriptors.gemm.ptx_line import PtxLine
from descriptors.gemm.register_operand import LoadedOperand
from descriptors.text import Told, counted, extents_text
from layoutalg.frozen import frozen

#: Where the two transpose bits are in an instruction descriptor, A first (PTX ISA 9.1, Tables 42-44).
_MAJOR_BITS = (15, 16)


@frozen
class PlannedLoop(Told):
    """One instruction and its main loop.

    Args:
        asked: the instruction and the tile.
        a, b: the operands: layouts, descriptors, steps and copies.
        line: the PTX of the instruction, and its instruction descriptors.
        accumulators: registers, or columns of tensor memory.
        epilogue: how a program stores C.
        budget: the use of shared memory.
        barriers: address of the first barrier in shared memory, in bytes.
        metadata: the metadata of a sparse A; None for a dense A.
        implicit: how the copies gather a convolution; None for a plain product.
    """

    asked: MainLoop
    a: StagedOperand
    b: StagedOperand
    line: PtxLine
    accumulators: Registers | TensorColumns
    epilogue: Epilogue
    budget: Budget
    barriers: int
    metadata: Metadata | None = None
    implicit: ImplicitGemm | None = None

    @property
    def loads(self) -> LoadedOperand | None:
        """The loads of A into registers; None if the instruction reads A by a descriptor."""
        return None

    @property
    def promotion(self) -> Promotion | None:
        """The scaling of accumulators every 128 of K; None if they are not."""
        return None

    @property
    def scales(self) -> Scales | None:
        """The scale factors in tensor memory; None for a kind without."""
        return None

    @property
    def headline(self) -> str:
        """The answer in one line."""
        loop = self.asked
        return (
            f"{'sparse ' * loop.sparse}{loop.name} {loop.a.name} ({loop.arch}), a tile of {extents_text(loop.tile)}, "
            f"{counted(self.stages, 'stage')}: {self.budget.used} bytes of shared memory"
        )

    @property
    def stages(self) -> int:
        """Number of stages: tiles of the operands that shared memory holds at once."""
        return self.budget.stages

    def transposed(self, index: int) -> list[int]:
        """Return the transpose bit of A (0) or B (1) in each K block: of the instruction descriptor if there is one."""
        if self.line.idescs:
            return [word >> _MAJOR_BITS[index] & 1 for word in self.line.idescs]
        return [(self.a, self.b)[index].transposed] * len(self.a.k_steps)

    @property
    def ptx(self) -> str:
        """The complete PTX instruction."""
        return self.line.ptx

    @property
    def transaction_bytes(self) -> int:
        """Bytes that the copies of one stage add to the transaction count of a CTA's full barrier (``expect_tx``).

        A box of A or B counts the bytes that it reads (``TmaPlan.transaction_bytes``), whichever CTA of a cluster
        issues it. Scale factors, and on sm100 metadata, are copied unchanged and count the bytes that they fill.

        >>> from descriptors.gemm.planner import plan
        >>> example = plan("m64n128k16", "bf16", tile=(64, 128, 64), verify=False)
        >>> example.transaction_bytes == sum(2 * 64 * rows for rows in (64, 128))
        True
        """
        factors = 0 if self.scales is None else self.scales.stage_bytes
        factors += 0 if self.metadata is None else self.metadata.bytes
        return self.a.transaction_bytes + self.b.transaction_bytes + factors
