"""The instruction of a main loop as PTX has it, complete with its operands, and its instruction descriptors.

Law: an instruction descriptor says the extents and the majors that the plan was asked for.

>>> from descriptors.plans.parts.asked import asked
>>> made = line_of(asked("m128n256k16", "bf16", tile=(128, 256, 64), b_major="MN"))
>>> made.ptx, hex(made.idescs[0]), [made.idescs[0] >> bit & 1 for bit in (15, 16)]
('tcgen05.mma.cta_group::1.kind::f16 [%d_tmem], %a_desc, %b_desc, %idesc, %p;', '0x8410490', [0, 1])
"""

from __future__ import annotations

from descriptors.frozen import frozen
from descriptors.instructions.idesc import idesc
from descriptors.instructions.rules import type_name
from descriptors.operands.operand import Major
from descriptors.plans.parts.asked import MainLoop
from descriptors.plans.parts.scales import Scales


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

    >>> from descriptors.plans.parts.asked import asked
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
