"""From an instruction and a tile to a plan: what derives what, and where everything lies in shared memory.

Operands come first, A before B, each with all its stages; then scale factors; then barriers.

Law: nothing overlaps, and all of it fits.

>>> made = plan("m64n128k16", "bf16", tile=(128, 128, 64), stages=4)
>>> [made.a.base, made.b.base, made.barriers], made.budget.used
([0, 65536, 131072], 131136)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from descriptors.errors import DescriptorError, ProofError, as_flag
from descriptors.instructions.rules import Legality
from descriptors.operands.operand import ElementType, Major, MajorName, SwizzleMode, SwizzleName
from descriptors.plans.parts.accumulators import TensorColumns, columns_of, registers_of
from descriptors.plans.parts.asked import MainLoop, asked
from descriptors.plans.parts.budget import EXTRA_BYTES, Budget, budget
from descriptors.plans.parts.fragments import loaded
from descriptors.plans.parts.instruction import line_of
from descriptors.plans.parts.operands import operand
from descriptors.plans.parts.scales import Scales, scales_of
from descriptors.plans.plan import Plan
from descriptors.plans.product import Product
from descriptors.words.address import SMEM_BYTES

#: What any operand's address may have to be a multiple of.
_ALIGNMENT = 1024


def plan(
    instruction: str | Sequence[int],
    dtype: str | ElementType,
    *,
    tile: Sequence[int],
    stages: int | None = None,
    arch: str | None = None,
    b_dtype: str | ElementType | None = None,
    d_dtype: str | None = None,
    a_major: Major | MajorName = Major.K,
    b_major: Major | MajorName = Major.K,
    a_swizzle: SwizzleMode | SwizzleName | None = None,
    b_swizzle: SwizzleMode | SwizzleName | None = None,
    kind: str | None = None,
    cta_group: int = 1,
    scale_dtype: str | None = None,
    scale_vector: int | None = None,
    a_source: str = "smem",
    cluster: Sequence[int] | None = None,
    warpgroups: int | None = None,
    smem: int = SMEM_BYTES,
    legality: Legality = "strict",
    verify: bool = True,
) -> Plan:
    """Plan a main loop: operands, words, copies, instruction, accumulators, budgets; proved as a product.

    Law: with the shared memory filled by the plan's copies, the instructions with the plan's words leave ``A @ B`` in
    the plan's accumulators, element by element (``Plan.verify``).

    Args:
        instruction: its shape, ``"m64n128k16"`` or (M, N, K); M over both CTAs where ``cta_group`` is 2.
        dtype: element type of A.
        tile: M, N and K of one stage, over both CTAs, in elements.
        stages: how many stages; as many as fit, at most 8, if left out.
        arch: ``"sm90"`` or ``"sm100"``; sm90 if left out for M 64 without anything that only sm100 has.
        b_dtype: element type of B; that of A if left out.
        d_dtype: type of the accumulators; f32, or s32 for integers, if left out.
        a_major, b_major: ``"K"`` or ``"MN"``.
        a_swizzle, b_swizzle: the widest that fits if left out.
        kind: the kind of an sm100 instruction; found from the types if left out.
        cta_group: 1 or 2.
        scale_dtype, scale_vector: of a block-scaled kind; by the kind if left out.
        a_source: where the instruction takes A from: ``"smem"``, or ``"registers"``, on sm90 alone; A then goes from
            shared memory into them, from a tile of any major.
        cluster: CTAs along M and along N that share their copies by multicast, at most 8; none if left out.
        warpgroups: that multiply, on sm90; 2 or 3 where they divide the M blocks if left out.
        smem: shared memory of the CTA, in bytes.
        legality: how the tables of instructions are read.
        verify: whether to prove the operands and the product. Needs numpy.

    Raises:
        IllegalError: if there is no such instruction; the nearest are named.
        DescriptorError: if an argument is malformed, the tile is not whole instructions, or a budget does not suffice.
        ProofError: if the product is not ``A @ B``.

    >>> made = plan("m64n128k16", "bf16", tile=(128, 128, 64), stages=4, b_major="MN")
    >>> hex(made.b.word), made.b.k_steps, made.b.transposed, made.accumulators.registers
    ('0x4000004002001000', (0, 128, 256, 384), 1, 64)
    """
    proved = as_flag(verify, "plan: verify")
    one = asked(
        instruction, dtype, tile=tile, b_dtype=b_dtype, d_dtype=d_dtype, arch=arch, kind=kind, a_major=a_major,
        b_major=b_major, cta_group=cta_group, scale_dtype=scale_dtype, scale_vector=scale_vector, a_source=a_source,
        cluster=cluster, legality=legality,
    )  # fmt: skip
    held = registers_of(one, warpgroups) if one.arch == "sm90" else _columns(one, warpgroups)
    scales = _scales(one, held) if isinstance(held, TensorColumns) and one.scale else None
    room = _budget(one, scales, stages, smem)
    a = operand(one, "A", room.stages, swizzle=a_swizzle)
    b = operand(one, "B", room.stages, swizzle=b_swizzle, base=_aligned(room.stages * a.stage_bytes))
    end = _aligned(b.base + room.stages * b.stage_bytes)
    if scales is not None:
        bases = (end, end + room.stages * scales.a.bytes)
        scales, end = replace(scales, bases=bases), bases[1] + room.stages * scales.b.bytes
    loads = loaded(one, a) if one.a_source == "rmem" else None
    made = Plan(one, a, b, line_of(one, scales), held, scales, room, end, loads)
    if proved:
        prove_plan(made)
    return made


def prove_plan(made: Plan) -> Product:
    """The proof of a plan that holds: operands and product.

    Raises:
        ProofError: if it fails; it is the error's ``proof``.

    >>> print(prove_plan(plan("m64n8k8", "tf32", tile=(64, 8, 32), stages=1, verify=False)))
    proved: 64x8x32 product, 1 stage, 512 accumulators
    """
    proof = made.verify()
    if not proof.ok:
        said = next((one for one in (*proof.operands, proof) if not one.ok), proof)
        raise ProofError(f"plan: the words must give the product, {said}; {made.headline}", proof)
    return proof


def _columns(one: MainLoop, warpgroups: int | None) -> TensorColumns:
    if warpgroups is not None:
        raise DescriptorError(f"plan: warpgroups must be of sm90, where they issue wgmma, found arch {one.arch}")
    return columns_of(one)


def _scales(one: MainLoop, held: TensorColumns) -> Scales:
    return scales_of(one, columns=(held.plan.part("SFA").column, held.plan.part("SFB").column))


def _aligned(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT


def _budget(one: MainLoop, scales: Scales | None, stages: int | None, smem: int) -> Budget:
    (m, n, k), pair = one.tile, one.cta_group
    parts = [
        (name, rows // pair * k * element.storage_bits // 8)
        for name, rows, element in (("A", m, one.a), ("B", n, one.b))
    ]
    if scales is not None:
        parts += [("SFA", scales.a.bytes), ("SFB", scales.b.bytes)]
    # Operands begin at multiples of 1024 bytes, so that what lies before them may leave a gap.
    gaps = sum(_ALIGNMENT for _, size in parts[:2] if size % _ALIGNMENT)
    extra = gaps + (EXTRA_BYTES if one.arch == "sm100" else 0)
    return budget(tuple(parts), stages, extra=extra, capacity=smem)
