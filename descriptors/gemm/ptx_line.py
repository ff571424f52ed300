"""Write the PTX of a main loop's instruction with all operands, and its instruction descriptors.

Invariant: the instruction descriptors contain the extents and the majors of the plan.

>>> from descriptors.gemm.plan_request import main_loop
>>> line = line_of(main_loop("m128n256k16", "bf16", tile=(128, 256, 64), b_major="MN"))
>>> line.ptx, hex(line.idescs[0]), [line.idescs[0] >> bit & 1 for bit in (15, 16)]
('tcgen05.mma.cta_group::1.kind::f16 [%d_tmem], %a_desc, %b_desc, %idesc, %p;', '0x8410490', [0, 1])
"""

from __future__ import annotations

from descriptors.gemm.metadata import arrangement
from descriptors.gemm.plan_request import MainLoop
from descriptors.gemm.plan_scales import Scales
from descriptors.smem.instructions.idesc import idesc
from descriptors.smem.instructions.rules import type_name
from descriptors.smem.operands.operand import Major
from descriptors.targets import has_wgmma
from descriptors.tmem.block_scaled import vector_of
from layoutalg.frozen import frozen


@frozen
class PtxLine:
    """The PTX of an instruction.

    The metadata of a sparse A are the register %e, with the selector %sel as an operand, or [%e_tmem], with the
    selector in the instruction descriptor.

    Args:
        ptx: the whole line. The predicate %p is 0 to overwrite the accumulator, and 1 to add to it.
        short: the same with long lists of registers abbreviated.
        registers: number of registers of the accumulator in the line; 0 if it is in tensor memory.
        idescs: the instruction descriptor of each K block of a stage; () for ``wgmma``.
    """

    ptx: str
    short: str
    registers: int
    idescs: tuple[int, ...]


def line_of(loop: MainLoop, scales: Scales | None = None) -> PtxLine:
    """Return the PTX of a main loop's instruction.

    Args:
        loop: the instruction and the tile.
        scales: the scale factors of a block-scaled kind.

    Raises:
        IllegalError: if the instruction does not exist.

    >>> from descriptors.gemm.plan_request import main_loop
    >>> line_of(main_loop("m64n8k32", "s8", tile=(64, 8, 64))).ptx
    'wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%d0, %d1, %d2, %d3}, %a_desc, %b_desc, %p;'
    >>> line_of(main_loop("wgmma.sp.m64n8k16", "tf32", tile=(64, 8, 32))).ptx[-37:]
    '%a_desc, %b_desc, %e, %sel, %p, 1, 1;'
    """
    if has_wgmma(loop.arch):
        return _wgmma(loop)
    opcode = f"tcgen05.mma{'.sp' * loop.sparse}.cta_group::{loop.cta_group}.kind::{loop.kind}"
    factors, metadata = "", "[%e_tmem], " * loop.sparse
    if scales is not None:
        opcode, factors = f"{opcode}.block_scale{vector_of(scales.qualifier)}", "[%sfa_tmem], [%sfb_tmem], "
    ptx = f"{opcode} [%d_tmem], %a_desc, %b_desc, {metadata}%idesc, {factors}%p;"
    return PtxLine(ptx, ptx, 0, _idescs(loop, scales))


def _wgmma(loop: MainLoop) -> PtxLine:
    """Return the PTX of ``wgmma``.

    Only floating-point instructions have the operands for the factors 1 and -1, and only 16-bit operands in memory have
    transpose bits.
    """
    count = loop.extents[1] // (4 if loop.d == "f16" else 2)
    names = [f"%d{i}" for i in range(count)]
    from_registers = loop.a_source == "rmem"
    tail = f"{'{%a0, %a1, %a2, %a3}' if from_registers else '%a_desc'}, %b_desc, {_metadata(loop)}%p"
    if loop.kind != "i8":
        tail += ", 1, 1"
    if loop.kind == "f16":
        majors = (loop.b_major,) if from_registers else (loop.a_major, loop.b_major)
        tail += "".join(f", {int(major is Major.MN)}" for major in majors)
    opcode = f"wgmma.mma_async{'.sp' * loop.sparse}.sync.aligned.{loop.name}.{loop.d}.{loop.a.name}.{loop.b.name}"
    few = names if count <= 4 else [*names[:2], "...", names[-1]]
    full, short = (f"{opcode} {{{', '.join(some)}}}, {tail};" for some in (names, few))
    return PtxLine(full, short, count, ())


def _metadata(loop: MainLoop) -> str:
    """Return the operands for metadata and selector, which is 0 if it has one value; "" for a dense A."""
    if not loop.sparse:
        return ""
    return "%e, %sel, " if arrangement(loop.a, loop.arch).selectors > 1 else "%e, 0, "


def _idescs(loop: MainLoop, scales: Scales | None) -> tuple[int, ...]:
    scale_dtype, vector = loop.instruction_scale or (None, None)
    m, n, depth = loop.extents
    ids = [(a >> 30, b >> 30) for a, b in scales.pointers] if scales else [(0, 0)] * loop.blocks[2]
    selectors = arrangement(loop.a, loop.arch).selectors if loop.sparse else 1
    return tuple(
        idesc(
            type_name(loop.a), type_name(loop.b), loop.d, m=m, n=n, k=depth, kind=loop.kind, arch=loop.arch,
            scale_dtype=scale_dtype, scale_vector=vector, a_major=loop.a_major, b_major=loop.b_major,
            cta_group=loop.cta_group, sfa_id=sfa, sfb_id=sfb, sparse=loop.sparse, sparsity_selector=k % selectors,
            legality=loop.legality,
        )
        for k, (sfa, sfb) in enumerate(ids)
    )  # fmt: skip
