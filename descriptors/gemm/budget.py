"""What a plan takes of shared memory, stage by stage, and what limits the stages.

Law: as many stages as fit do fit, and one more does not.

>>> made = budget((("A", 16384), ("B", 16384)), 4)
>>> made.most_stages, budget(made.parts, made.most_stages).used <= made.capacity
(7, True)

The instruction of a main loop as PTX has it, complete with its operands, and its instruction descriptors.

Law: an instruction descriptor says the extents and the majors that the plan was asked for.

>>> from descriptors.gemm.plan_request import asked
>>> made = line_of(asked("m128n256k16", "bf16", tile=(128, 256, 64), b_major="MN"))
>>> made.ptx, hex(made.idescs[0]), [made.idescs[0] >> bit & 1 for bit in (15, 16)]
('tcgen05.mma.cta_group::1.kind::f16 [%d_tmem], %a_desc, %b_desc, %idesc, %p;', '0x8410490', [0, 1])
"""

from __future__ import annotations

from descriptors.errors import DescriptorError, as_integer
from descriptors.frozen import frozen
from descriptors.gemm.plan_request import MOST_STAGES, MainLoop
from descriptors.gemm.plan_scales import Scales
from descriptors.smem.instructions.idesc import idesc
from descriptors.smem.instructions.rules import type_name
from descriptors.smem.operands.operand import Major
from descriptors.smem.words.bitfield import SMEM_BYTES
from descriptors.text import counted


@frozen
class PtxLine:
    """An instruction.

    Args:
        ptx: the whole line; the predicate %p is 0 where the accumulator is to begin anew, 1 where it is added to.
        short: the same with the registers of a long list left out.
        registers: that the line names for the accumulator; 0 where that lies in tensor memory.
        idescs: the instruction descriptor of each K block of a stage; none of ``wgmma``.
    """

    ptx: str
    short: str
    registers: int
    idescs: tuple[int, ...]


def line_of(one: MainLoop, scales: Scales | None = None) -> PtxLine:
    """The line of an instruction.

    Args:
        one: the instruction and the tile.
        scales: its scale factors, of a block-scaled kind.

    Raises:
        IllegalError: if there is no such instruction.

    >>> from descriptors.gemm.plan_request import asked
    >>> line_of(asked("m64n8k32", "s8", tile=(64, 8, 64))).ptx
    'wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%d0, %d1, %d2, %d3}, %a_desc, %b_desc, %p;'
    """
    if one.arch == "sm90":
        return _wgmma(one)
    opcode = f"tcgen05.mma.cta_group::{one.cta_group}.kind::{one.kind}"
    factors = ""
    if scales is not None:
        opcode, factors = f"{opcode}.block_scale.scale_vec::{scales.qualifier}", "[%sfa_tmem], [%sfb_tmem], "
    ptx = f"{opcode} [%d_tmem], %a_desc, %b_desc, %idesc, {factors}%p;"
    return PtxLine(ptx, ptx, 0, _idescs(one, scales))


def _wgmma(one: MainLoop) -> PtxLine:
    """PTX has factors of 1 and -1 for floating-point operands alone, and transpose bits for 16 bits in memory."""
    count = one.extents[1] // (4 if one.d == "f16" else 2)
    names = [f"%d{i}" for i in range(count)]
    from_registers = one.a_source == "rmem"
    tail = f"{'{%a0, %a1, %a2, %a3}' if from_registers else '%a_desc'}, %b_desc, %p"
    if one.kind != "i8":
        tail += ", 1, 1"
    if one.kind == "f16":
        majors = (one.b_major,) if from_registers else (one.a_major, one.b_major)
        tail += "".join(f", {int(major is Major.MN)}" for major in majors)
    opcode = f"wgmma.mma_async.sync.aligned.{one.name}.{one.d}.{one.a.name}.{one.b.name}"
    few = names if count <= 4 else [*names[:2], "...", names[-1]]
    whole, short = (f"{opcode} {{{', '.join(some)}}}, {tail};" for some in (names, few))
    return PtxLine(whole, short, count, ())


def _idescs(one: MainLoop, scales: Scales | None) -> tuple[int, ...]:
    scale_dtype, vector = one.scale or (None, None)
    m, n, _ = one.extents
    ids = [(a >> 30, b >> 30) for a, b in scales.pointers] if scales else [(0, 0)] * one.blocks[2]
    return tuple(
        idesc(
            type_name(one.a), type_name(one.b), one.d, m=m, n=n, kind=one.kind, scale_dtype=scale_dtype,
            scale_vector=vector, a_major=one.a_major, b_major=one.b_major, cta_group=one.cta_group, sfa_id=sfa,
            sfb_id=sfb, legality=one.legality,
        )
        for sfa, sfb in ids
    )  # fmt: skip


#: Bytes of the two barriers of a stage, full and empty: an mbarrier object is 8 bytes (PTX ISA 9.1, mbarrier object).
BARRIER_BYTES = 16
#: Bytes beside the stages on sm100: the barrier of the accumulators, and the address that ``tcgen05.alloc`` writes.
EXTRA_BYTES = 16
#: Stages that are planned where nobody says how many: more hide no latency.
USUAL_STAGES = 8


@frozen
class Budget:
    """Shared memory of a CTA.

    Args:
        parts: what a stage holds, and its bytes; the barriers not among them.
        stages: how many are kept.
        extra: bytes beside the stages.
        capacity: bytes that there are.
    """

    parts: tuple[tuple[str, int], ...]
    stages: int
    extra: int
    capacity: int

    @property
    def stage_bytes(self) -> int:
        """Bytes of a stage, with its barriers."""
        return sum(size for _, size in self.parts) + BARRIER_BYTES

    @property
    def used(self) -> int:
        """Bytes of all stages and what stands beside them."""
        return self.stages * self.stage_bytes + self.extra

    @property
    def most_stages(self) -> int:
        """Stages that fit."""
        return (self.capacity - self.extra) // self.stage_bytes

    @property
    def limit(self) -> str:
        """What limits the stages, in words.

        >>> budget((("A", 16384), ("B", 16384)), 7).limit
        'shared memory: an 8th stage needs 29824 bytes more than the 232448 there are'
        """
        more = (self.most_stages + 1) * self.stage_bytes + self.extra - self.capacity
        number = self.most_stages + 1
        article = "an" if number in (8, 11, 18, *range(80, 90)) else "a"
        ends = {1: "st", 2: "nd", 3: "rd"} if number % 100 not in (11, 12, 13) else {}
        last = f"{article} {number}{ends.get(number % 10, 'th')} stage needs {more} bytes more than"
        return f"shared memory: {last} the {self.capacity} there are"


def budget(
    parts: tuple[tuple[str, int], ...], stages: int | None = None, *, extra: int = 0, capacity: int = SMEM_BYTES
) -> Budget:
    """The shared memory of so many stages.

    Args:
        parts: what a stage holds, and its bytes.
        stages: how many; as many as fit, at most 8, if left out.
        extra: bytes beside them.
        capacity: bytes that there are.

    Raises:
        DescriptorError: if they do not fit; it says what to reduce, and by how much.

    >>> budget((("A", 16384), ("B", 16384)), 8)
    Traceback (most recent call last):
    descriptors.errors.DescriptorError: plan: 8 stages must fit 232448 bytes of shared memory, need 262272, 29824 too
    many; a stage is A 16384, B 16384, barriers 16; give --stages 7 or fewer
    """
    limit = as_integer(capacity, "plan: shared memory", minimum=1024, maximum=SMEM_BYTES)
    count = 1 if stages is None else as_integer(stages, "plan: stages", minimum=1, maximum=MOST_STAGES)
    made = Budget(parts, count, extra, limit)
    if made.used > limit:
        each = ", ".join(f"{name} {size}" for name, size in (*parts, ("barriers", BARRIER_BYTES)))
        fewer = f"give --stages {made.most_stages} or fewer" if made.most_stages else "give a tile of less M, N or K"
        raise DescriptorError(
            f"plan: {counted(count, 'stage')} must fit {limit} bytes of shared memory, need {made.used}, "
            f"{made.used - limit} too many; a stage is {each}; {fewer}"
        )
    return made if stages is not None else Budget(parts, min(made.most_stages, USUAL_STAGES), extra, limit)
