"""A plan: one instruction and one main loop, whole, and the proof of its product.

Law: a plan that is changed in what it makes the hardware do is refuted, with an element.

>>> from layoutalg.frozen import replace
>>> from descriptors.gemm.planner import plan
>>> example = plan("m64n16k16", "bf16", tile=(64, 16, 32), stages=2, b_major="MN")
>>> print(replace(example, b=replace(example.b, transposed=0)).verify())
disproved: 64x16x32 product, 2 stages, 1015 of 1024 accumulators differ; D(0,0) must be -48, found -7: B(0,1) of stage
0 is read from byte 8194, where B(1,0) of stage 0 lies
"""

from __future__ import annotations

from descriptors.gemm.accumulators import Registers, TensorColumns
from descriptors.gemm.budget import Budget
from descriptors.gemm.chain import Chain
from descriptors.gemm.epilogue import Epilogue
from descriptors.gemm.gathered import gathered
from descriptors.gemm.implicit_gemm import ImplicitGemm
from descriptors.gemm.plan_chain import simulated_chain
from descriptors.gemm.plan_metadata import Metadata
from descriptors.gemm.plan_operands import StagedOperand
from descriptors.gemm.plan_request import MainLoop
from descriptors.gemm.plan_scales import Scales
from descriptors.gemm.product import Product, Simulation, multiply
from descriptors.gemm.promotion import Promotion
from descriptors.gemm.ptx_line import PtxLine
from descriptors.gemm.register_operand import LoadedOperand
from descriptors.gemm.turns import prove_turns
from descriptors.text import Told, counted, extents_text
from layoutalg.frozen import frozen, replace


@frozen
class Plan(Told):
    """One instruction and one main loop.

    Args:
        asked: the instruction and the tile.
        a, b: the operands: layouts, words, steps, copies.
        line: the instruction as PTX has it, and its instruction descriptors.
        accumulators: registers, or columns of tensor memory.
        epilogue: how a program stores C.
        scales: scale factors; None of a kind without.
        budget: shared memory.
        barriers: where the barriers begin in shared memory, in bytes.
        loads: how A gets into registers; None where the instruction reads it by a word.
        metadata: of a sparse A; None of a dense one.
        promotion: of accumulators that are scaled every 128 of K on sm90; None of others.
        implicit: how the copies gather a convolution; None of a plain product.
    """

    asked: MainLoop
    a: StagedOperand
    b: StagedOperand
    line: PtxLine
    accumulators: Registers | TensorColumns
    epilogue: Epilogue
    scales: Scales | None
    budget: Budget
    barriers: int
    loads: LoadedOperand | None = None
    metadata: Metadata | None = None
    promotion: Promotion | None = None
    implicit: ImplicitGemm | None = None

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
        """How many tiles of the operands are kept at once."""
        return self.budget.stages

    @property
    def ptx(self) -> str:
        """The instruction, complete."""
        return self.line.ptx

    @property
    def transaction_bytes(self) -> int:
        """What the copies of one stage of one CTA add to the transaction count of its full barrier: ``expect_tx``.

        The one sum of it. A box of A or B counts by the bytes it reads (``TmaPlan.transaction_bytes``), whoever of
        a cluster issues it; scale factors, and metadata of sm100, are copied as they lie, so that they count by the
        bytes that they fill.

        >>> from descriptors.gemm.planner import plan
        >>> example = plan("m64n128k16", "bf16", tile=(64, 128, 64), verify=False)
        >>> example.transaction_bytes == sum(2 * 64 * rows for rows in (64, 128))
        True
        """
        factors = 0 if self.scales is None else self.scales.stage_bytes
        factors += 0 if self.metadata is None else self.metadata.bytes
        return self.a.transaction_bytes + self.b.transaction_bytes + factors

    def verify(self, seed: int = 1) -> Product:
        """Prove both operands as ``derive`` does, the product: copies, words, bits, pointers, accumulators; the chain.

        Args:
            seed: of the numbers that are multiplied.

        >>> from descriptors.gemm.planner import plan
        >>> print(plan("m128n16k16", "bf16", tile=(128, 16, 64), stages=2).verify())
        proved: 128x16x64 product, 2 stages, 2048 accumulators
        """
        held, simulation = self.accumulators, self._simulation
        turns = prove_turns(held) if isinstance(held, TensorColumns) and held.sets > 1 else None
        copies = None if self.implicit is None else gathered(self.implicit, simulation)
        return replace(multiply(simulation, seed), chain=self.chain.verify(), turns=turns, gathered=copies)

    @property
    def chain(self) -> Chain:
        """Its copies, layouts, words, accumulators and stores, link by link."""
        return simulated_chain(self._simulation, self.implicit)

    @property
    def _simulation(self) -> Simulation:
        return Simulation(
            self.asked, self.a, self.b, self.line, self.accumulators, self.epilogue, self.scales, self.loads,
            self.metadata, self.promotion,
        )  # fmt: skip
