"""Plan a main loop of ``mma.sync`` for an instruction and a tile.

In shared memory A comes before B, each with all its stages. B begins at a multiple of the size of the swizzle pattern
of its copies, because TMA permutes bits of absolute addresses.

Invariant: the operands do not overlap and fit the shared memory, and every plan is proved.

>>> example = mma_plan("mma.m16n8k16", "bf16", tile=(128, 128, 32), stages=3)
>>> example.a.base, example.b.base, example.budget.used
(0, 24576, 49152)
"""

from __future__ import annotations

from collections.abc import Sequence

from descriptors.errors import Advice, DescriptorError, ProofError, advised, as_flag, proposing
from descriptors.gemm.budget import budget
from descriptors.gemm.mma_operand import mma_operand
from descriptors.gemm.mma_plan import MmaPlan
from descriptors.gemm.mma_product import MmaProduct
from descriptors.gemm.mma_request import K_BYTES, mma_loop
from descriptors.gemm.mma_scales import mma_scales
from descriptors.gemm.plan_request import smaller
from descriptors.smem.operands.operand import ElementType, Major, MajorName
from descriptors.targets import WARP_ARCHITECTURES
from descriptors.text import counted
from layoutalg.frozen import replace

#: The default limit for the number of stages, and the minimum: one stage is multiplied while another is copied.
USUAL_STAGES, FEWEST_STAGES = 4, 2


@advised
def mma_plan(
    instruction: str | Sequence[int] | None,
    dtype: str | ElementType,
    *,
    tile: Sequence[int],
    warps: Sequence[int] | None = None,
    stages: int | None = None,
    arch: str | None = None,
    b_dtype: str | ElementType | None = None,
    d_dtype: str | None = None,
    c_dtype: str | None = None,
    a_major: Major | MajorName = Major.K,
    b_major: Major | MajorName = Major.K,
    kind: str | None = None,
    scale_dtype: str | None = None,
    scale_vector: int | None = None,
    smem: int | None = None,
    verify: bool = True,
) -> MmaPlan:
    """Plan a main loop of ``mma.sync`` and prove its product: copies, swizzles, loads, fragments and stores.

    Invariant: if the plan's copies, loads and instructions are executed and the accumulators stored, the result is
    ``A @ B``, element by element (``MmaPlan.verify``).

    Args:
        instruction: its shape, ``"mma.m16n8k16"``, with 32 bytes along K; None for the only one of the type.
        dtype: element type of A: f16, bf16, tf32, s8, u8; e4m3 and e5m2 from sm89 on; e2m1, e2m3 and e3m2 on sm120.
        tile: M, N and K of one stage, in elements.
        warps: number of warps along M and N; by default few that have enough registers for the accumulators.
        stages: number of stages; by default as many as fit, at most 4.
        arch: ``"sm80"``, ``"sm89"``, ``"sm120"`` or ``"sm121"``; by default the first that supports the types.
        b_dtype: element type of B; by default that of A.
        d_dtype: type of the accumulators; by default f32, or s32 for integers.
        c_dtype: type of C in global memory; by default that of the accumulators.
        a_major, b_major: ``"K"`` or ``"MN"``.
        kind: ``"f8f6f4"``, ``"mxf8f6f4"``, ``"mxf4"`` or ``"mxf4nvf4"`` on sm120; by default derived from the types.
        scale_dtype, scale_vector: type of the scale factors of a block-scaled kind, and elements along K that share a
            factor.
        smem: shared memory of the CTA, in bytes; by default that of the architecture.
        verify: whether to prove the product. Needs numpy.

    Raises:
        DescriptorError: if the instruction does not exist, or shared memory or registers do not suffice.
        ProofError: if the product is not ``A @ B``.

    Source: PTX ISA 9.1, mma, ldmatrix, cp.async.

    >>> example = mma_plan("mma.m16n8k16", "bf16", tile=(128, 128, 64), b_major="MN")
    >>> print(example.stages, example.a.swizzle, example.b.move)
    4 S<3,4,3> ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
    """
    with_proof = as_flag(verify, "plan: verify")
    loop = mma_loop(
        instruction, dtype, tile=tile, warps=warps, arch=arch, b_dtype=b_dtype, d_dtype=d_dtype, c_dtype=c_dtype,
        a_major=a_major, b_major=b_major, kind=kind, scale_dtype=scale_dtype, scale_vector=scale_vector,
    )  # fmt: skip
    sides = zip("AB", loop.tile, (loop.a, loop.b), strict=False)
    parts = tuple((name, extent * loop.tile[2] * element.storage_bits // 8) for name, extent, element in sides)
    target, a, b = WARP_ARCHITECTURES[loop.arch], mma_operand(loop, "A"), mma_operand(loop, "B")
    tiles = smaller(loop.tile, (16, 16, K_BYTES * 8 // loop.a.storage_bits))
    with proposing(tiles):
        memory = budget(
            parts, stages, capacity=target.shared if smem is None else smem, barrier_bytes=8 * target.tma,
            usual=USUAL_STAGES, alignment=b.alignment,
        )  # fmt: skip
    if memory.stages < FEWEST_STAGES:
        raise DescriptorError(
            f"plan: {counted(memory.stages, 'stage')} is fewer than {FEWEST_STAGES}; one stage is multiplied while "
            "another is copied",
            proposals=[Advice({"stages": FEWEST_STAGES}), *tiles],
        )
    b = replace(b, base=memory.places()["B"])
    whole_plan = MmaPlan(loop, a, b, memory, memory.stages - FEWEST_STAGES, mma_scales(loop))
    if with_proof:
        prove_mma(whole_plan)
    return whole_plan


def prove_mma(plan: MmaPlan) -> MmaProduct:
    """Return the proof of a plan's product.

    Raises:
        ProofError: if the proof fails; the error has it as ``proof``.

    >>> print(prove_mma(mma_plan("mma.m16n8k8", "tf32", tile=(32, 16, 16), verify=False)))
    proved: 32x16x16 product, 4 stages, 512 accumulators
    """
    proof = plan.verify()
    if not proof.ok:
        raise ProofError(f"plan: the copies and loads do not give A @ B; {proof}; {plan.headline}", proof)
    return proof
