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
from descriptors.gemm.chain import Chain
from descriptors.gemm.gathered import gathered
from descriptors.gemm.plan_chain import chain_of
from descriptors.gemm.plan_scales import Scales
from descriptors.gemm.planned_loop import PlannedLoop
from descriptors.gemm.product import Product, multiply
from descriptors.gemm.promotion import Promotion
from descriptors.gemm.register_operand import LoadedOperand
from descriptors.gemm.turns import TurnReport, prove_turns
from layoutalg.frozen import frozen, replace


@frozen
class Plan(PlannedLoop):
    """One instruction and one main loop, with its proof: a ``HopperPlan`` or a ``BlackwellPlan``."""

    def verify(self, seed: int = 1) -> Product:
        """Prove both operands as ``derive`` does, the product: copies, words, bits, pointers, accumulators; the chain.

        Args:
            seed: of the numbers that are multiplied.

        >>> from descriptors.gemm.planner import plan
        >>> print(plan("m128n16k16", "bf16", tile=(128, 16, 64), stages=2).verify())
        proved: 128x16x64 product, 2 stages, 2048 accumulators
        """
        copies = None if self.implicit is None else gathered(self.implicit, self)
        return replace(multiply(self, seed), chain=self.chain.verify(), turns=self._turns(), gathered=copies)

    def _turns(self) -> TurnReport | None:
        """Prove that two sets of accumulators are used in turn; None of one set."""
        return None

    @property
    def chain(self) -> Chain:
        """Its copies, layouts, words, accumulators and stores, link by link."""
        return chain_of(self)


@frozen
class HopperPlan(Plan):
    """A plan of ``wgmma``, whose accumulators are registers.

    Args:
        accumulators: the registers.
        loads: how A gets into registers; None where the instruction reads it by a word.
        promotion: of accumulators that are scaled every 128 of K; None of others.
    """

    accumulators: Registers
    loads: LoadedOperand | None = None
    promotion: Promotion | None = None


@frozen
class BlackwellPlan(Plan):
    """A plan of ``tcgen05.mma``, whose accumulators are columns of tensor memory.

    Args:
        accumulators: the columns.
        scales: scale factors; None of a kind without.
    """

    accumulators: TensorColumns
    scales: Scales | None = None

    def _turns(self) -> TurnReport | None:
        """Prove that two sets of accumulators are used in turn; None of one set."""
        return prove_turns(self.accumulators) if self.accumulators.sets > 1 else None
