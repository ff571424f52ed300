"""Plans of ``wgmma`` and ``tcgen05.mma``: one instruction and one main loop, with the proof of its product.

Invariant: the proof of a plan that makes the hardware do something else fails, and names an element.

>>> from layoutalg.frozen import replace
>>> from descriptors.gemm.planner import plan
>>> example = plan("m64n16k16", "bf16", tile=(64, 16, 32), stages=2, b_major="MN")
>>> print(replace(example, b=replace(example.b, transposed=0)).verify())
disproved: 64x16x32 product, 2 stages, 1015 of 1024 accumulators differ; D(0,0) is -7 instead of -48: B(0,1) of stage
0 is read from byte 8194, where B(1,0) of stage 0 is
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from descriptors.gemm.accumulators import Registers, TensorColumns
from descriptors.gemm.chain import Chain
from descriptors.gemm.gathered import gathered
from descriptors.gemm.plan_chain import chain_of
from descriptors.gemm.plan_metadata import COPY
from descriptors.gemm.plan_scales import Scales
from descriptors.gemm.planned_loop import PlannedLoop
from descriptors.gemm.product import Product, multiply
from descriptors.gemm.promotion import Promotion
from descriptors.gemm.register_operand import LoadedOperand
from descriptors.gemm.turns import TurnReport, prove_turns
from layoutalg.frozen import frozen, replace


@frozen
class Plan(PlannedLoop):
    """One instruction and its main loop, which ``verify`` proves: a ``HopperPlan`` or a ``BlackwellPlan``."""

    def verify(self, seed: int = 1) -> Product:
        """Prove both operands as ``derive`` does, the product, the chain, double buffering, and a convolution's copies.

        Args:
            seed: seed of the random numbers that are multiplied.

        >>> from descriptors.gemm.planner import plan
        >>> print(plan("m128n16k16", "bf16", tile=(128, 16, 64), stages=2).verify())
        proved: 128x16x64 product, 2 stages, 2048 accumulators
        """
        copies = None if self.implicit is None else gathered(self.implicit, self)
        return replace(multiply(self, seed), chain=self.chain.verify(), turns=self._turns(), gathered=copies)

    def _turns(self) -> TurnReport | None:
        """Prove that two sets of accumulators are used without a race; None if there is only one set."""
        return None

    @property
    def chain(self) -> Chain:
        """The plan's copies, layouts, descriptors, accumulators and stores, as links of a chain."""
        return chain_of(self)


@frozen
class HopperPlan(Plan):
    """A plan of ``wgmma``, whose accumulators are registers.

    Args:
        accumulators: the registers that hold the accumulators.
        loads: how A is loaded into registers; None if the instruction reads A by a descriptor.
        promotion: how accumulators are scaled every 128 of K; None if they are not.
    """

    accumulators: Registers
    loads: LoadedOperand | None = None
    promotion: Promotion | None = None


class ColumnCopy(NamedTuple):
    """A ``tcgen05.cp`` of a stage.

    Args:
        what: ``factors_a``, ``factors_b`` or ``metadata``.
        shape: the shape of the copy.
        word: the descriptor of the first stage.
        step: the number that is added to the descriptor for each stage.
        column: the first column of the destination.
    """

    what: str
    shape: str
    word: int
    step: int
    column: int


class Multiplication(NamedTuple):
    """A ``tcgen05.mma`` of a stage.

    Args:
        block: index of the block along M, N and K.
        column: the first column of its accumulator.
        a_step, b_step: the numbers that are added to the descriptors of the stage.
        idesc: the instruction descriptor.
        factors: the pointers to the scale factors of A and of B; () without scale factors.
        metadata: the column of the metadata; None for a dense A.
    """

    block: tuple[int, int, int]
    column: int
    a_step: int
    b_step: int
    idesc: int
    factors: tuple[int, ...]
    metadata: int | None


@frozen
class BlackwellPlan(Plan):
    """A plan of ``tcgen05.mma``, whose accumulators are columns of tensor memory.

    Args:
        accumulators: the columns that hold the accumulators.
        scales: the scale factors; None for a kind without.
    """

    accumulators: TensorColumns
    scales: Scales | None = None

    def _turns(self) -> TurnReport | None:
        """Prove that two sets of accumulators are used without a race; None if there is only one set."""
        return prove_turns(self.accumulators) if self.accumulators.sets > 1 else None

    def column_copies(self) -> Iterator[ColumnCopy]:
        """Yield the copies of a stage to tensor memory: scale factors of A, then of B, then metadata.

        >>> from descriptors.gemm.planner import plan
        >>> example = plan("m128n64k64", "e2m1", tile=(128, 64, 64), kind="mxf4", verify=False)
        >>> [(copy.what, copy.shape, copy.column) for copy in example.column_copies()]
        [('factors_a', '32x128b.warpx4', 64), ('factors_b', '32x128b.warpx4', 68)]
        """
        if self.scales is not None:
            sides = (("factors_a", self.scales.a), ("factors_b", self.scales.b))
            each = [(source, factors) for source, factors in sides for _ in factors.steps]
            for (source, factors), (word, column) in zip(each, self.scales.copies(), strict=True):
                yield ColumnCopy(source, factors.copy, word, factors.bytes // 16, column)
        if self.metadata is not None:
            step = self.metadata.bytes // 16
            yield from (ColumnCopy("metadata", COPY, word, step, column) for word, column in self.metadata.copies())

    def multiplications(self) -> Iterator[Multiplication]:
        """Yield the instructions of a stage in order: K blocks outermost, then N blocks, then M blocks.

        >>> from descriptors.gemm.planner import plan
        >>> example = plan("m128n64k16", "bf16", tile=(256, 64, 32), verify=False)
        >>> [(mma.block, mma.column, mma.a_step, mma.b_step) for mma in example.multiplications()]
        [((0, 0, 0), 0, 0, 0), ((1, 0, 0), 64, 512, 0), ((0, 0, 1), 0, 2, 2), ((1, 0, 1), 64, 514, 2)]
        """
        scales, metadata, rows = self.scales, self.metadata, len(self.a.mn_steps)
        for k, idesc in enumerate(self.line.idescs):
            for n, down in enumerate(self.b.mn_steps):
                for m, across in enumerate(self.a.mn_steps):
                    yield Multiplication(
                        (m, n, k),
                        self.accumulators.firsts[n * rows + m],
                        across + self.a.k_steps[k],
                        down + self.b.k_steps[k],
                        idesc,
                        () if scales is None else (scales.pointer_at(0, m, k), scales.pointer_at(1, n, k)),
                        None if metadata is None else metadata.place(k)[0] + m * metadata.block_columns,
                    )
