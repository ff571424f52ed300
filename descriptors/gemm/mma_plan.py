"""A plan of ``mma.sync``: one main loop, with the proof of its product.

Every thread copies its part of a stage with ``cp.async``, or one thread issues TMA copies. A stage is multiplied when
its copies are complete and all threads are synchronized, and it is refilled one step later. The fragments of the next K
block are loaded while one K block is multiplied.

Invariant: the proof of a plan that makes the hardware do something else fails, and names an element or the step that
comes too early.

>>> from layoutalg.frozen import replace
>>> from descriptors.gemm.mma_planner import mma_plan
>>> example = mma_plan("mma.m16n8k16", "bf16", tile=(32, 32, 32), stages=2)
>>> print(replace(example, b=replace(example.b, load=example.a.load)).verify())
disproved: 32x32x32 product, 2 stages, 1023 of 1024 accumulators differ; D(0,0) is 27 instead of -27: for B(0,8) of \
stage 0 it takes B(8,0) of stage 0
>>> print(replace(example, pending=1).verify())
disproved: 32x32x32 product, 2 stages; tile 0 is multiplied before its copies are done
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from descriptors.gemm.budget import Budget
from descriptors.gemm.mma_operand import MmaOperand, tiled_mma
from descriptors.gemm.mma_product import MmaProduct, multiply
from descriptors.gemm.mma_request import MmaLoop
from descriptors.gemm.mma_scales import MmaScales
from descriptors.smem.tma.tma_plan import TmaPlan
from descriptors.targets import WARP_ARCHITECTURES
from descriptors.text import Told, counted, extents_text
from layoutalg import Layout, TiledMma, offsets
from layoutalg.frozen import frozen

if TYPE_CHECKING:
    from numpy.typing import NDArray


@frozen
class MmaPlan(Told):
    """One ``mma.sync`` instruction and its main loop.

    Args:
        asked: the instruction, the tile and the warps.
        a, b: the operands: layouts, copies and loads.
        budget: the use of shared memory.
        pending: number of groups of copies that may be incomplete when a stage is multiplied.
        scales: the scale factors of a block-scaled kind; None for others.
    """

    asked: MmaLoop
    a: MmaOperand
    b: MmaOperand
    budget: Budget
    pending: int
    scales: MmaScales | None = None

    @property
    def headline(self) -> str:
        """The answer in one line."""
        loop = self.asked
        return (
            f"mma.sync {loop.name} {loop.a.name} ({loop.arch}), a tile of {extents_text(loop.tile)}, "
            f"{counted(self.stages, 'stage')}: {self.budget.used} bytes of shared memory"
        )

    @property
    def stages(self) -> int:
        """Number of stages: tiles of the operands that shared memory holds at once."""
        return self.budget.stages

    @property
    def by_engine(self) -> bool:
        """Whether TMA fills the stages."""
        return WARP_ARCHITECTURES[self.asked.arch].tma

    @property
    def evidence(self) -> str:
        """The evidence for the models of the hardware."""
        return WARP_ARCHITECTURES[self.asked.arch].known

    @property
    def barriers(self) -> int:
        """Address of the first barrier in shared memory, in bytes; with TMA there is one barrier per stage."""
        return self.budget.places()["barriers"]

    @property
    def transaction_bytes(self) -> int:
        """Bytes that the copies of a stage add to the transaction count of its barrier."""
        copies = [side.fill for side in (self.a, self.b) if isinstance(side.fill, TmaPlan)]
        return sum(len(copy.boxes) * copy.transaction_bytes for copy in copies)

    @property
    def tiled(self) -> TiledMma:
        """The instruction tiled over the warps."""
        return tiled_mma(self.asked, max(8, self.asked.a.storage_bits))

    @property
    def store_elements(self) -> NDArray[Any]:
        """The element ``M + (M of the tile) N`` of C that each thread stores from each accumulator.

        Axes (thread, value of two adjacent blocks, block along M, pair of blocks along N).
        """
        places: NDArray[Any] = offsets(self.tiled.thrfrg_C(Layout(self.asked.tile[:2])))
        threads, (blocks, across, _) = len(places), self.asked.blocks
        by_block = places.reshape(threads, 4, blocks, 2, across // 2, order="F")
        return by_block.transpose(0, 3, 1, 2, 4).reshape(threads, 8, blocks, across // 2)

    def verify(self, seed: int = 1) -> MmaProduct:
        """Prove the product: copies, swizzles, matrices, fragments, accumulators, stores and their order.

        Args:
            seed: seed of the random numbers that are multiplied.

        >>> from descriptors.gemm.mma_planner import mma_plan
        >>> print(mma_plan("mma.m16n8k32", "s8", tile=(64, 32, 64), stages=3).verify())
        proved: 64x32x64 product, 3 stages, 2048 accumulators
        """
        order = (self.stages, self.pending)
        return multiply(self.asked, (self.a, self.b), self.store_elements, order, self.scales, seed)
