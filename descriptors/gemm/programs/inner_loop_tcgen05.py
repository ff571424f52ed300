"""Write the inner loop of a ``tcgen05`` plan in PTX: wait, copy scale factors, multiply, free the stage, read out.

Four warps execute it. Thread 0 waits for a stage, copies its scale factors and metadata to tensor memory, issues the K
blocks, and commits them to the empty barrier of the stage; the leader of a CTA pair does this for both CTAs. Columns
are allocated before the loop, and accumulators are read after it. The loop was assembled, but never run.

Invariant: the loop adds only the plan's steps to the first descriptor of a stage.

>>> from descriptors.gemm.planner import plan
>>> example = plan("m128n16k16", "bf16", tile=(128, 16, 64), stages=2, verify=False)
>>> lines = [line.strip() for line in write(example, "gemm").splitlines()]
>>> [line for line in lines if line.startswith("add.u64 %a_desc")]
['add.u64 %a_desc, %a, 0;', 'add.u64 %a_desc, %a, 2;', 'add.u64 %a_desc, %a, 4;', 'add.u64 %a_desc, %a, 6;']
"""

from __future__ import annotations

from collections.abc import Iterator

from descriptors.gemm.plan import BlackwellPlan, Multiplication
from descriptors.gemm.programs.inner_loop_ptx import (
    barriers,
    frame,
    linear,
    next_stage,
    stage_word,
    start_field,
    wait,
)
from descriptors.text import word_text


def write(plan: BlackwellPlan, name: str) -> str:
    """Return the inner loop as a PTX module.

    Args:
        plan: a plan of ``tcgen05.mma``.
        name: name of the entry.

    Raises:
        DescriptorError: if the name is not an identifier.

    >>> from descriptors.gemm.planner import plan
    >>> text = write(plan("m128n16k16", "bf16", tile=(128, 16, 64), stages=2, verify=False), "gemm")
    >>> [line.strip() for line in text.splitlines() if line.strip().startswith("tcgen05.alloc")]
    ['tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%smem_tmem], 32;']
    """
    body = [
        *_begin(plan, name),
        "loop:",
        *_stage(plan),
        *next_stage(plan.stages, "loop"),
    ]
    body += [*commit("%smem_done", plan.asked.cta_group), "all:", *_end(plan)]
    title = f"{plan.headline}: the loop of a CTA"
    pair = "\n.explicitcluster .reqnctapercluster 2, 1, 1" if plan.asked.cta_group == 2 else ""
    return frame(plan.asked.arch, name, title, _registers(plan), body, directives=pair)


def _registers(plan: BlackwellPlan) -> list[str]:
    e = ", %e_tmem" if plan.metadata is not None else ""
    return [
        f".reg .b32 %v<{plan.accumulators.readout.values}>;",
        ".reg .b32 %thread, %warp, %smem, %smem_done, %smem_tmem, %tmem, %d_tmem, %idesc, %sfa_tmem, %sfb_tmem"
        + f"{e};",
        ".reg .b32 %tile, %tiles, %stage, %next, %parity, %flip, %full, %empty, %rank, %lane;",
        ".reg .b64 %a_first, %b_first, %a, %b, %a_desc, %b_desc, %s_desc, %step, %out, %start;",
        ".reg .b16 %both;",
        ".reg .pred %p, %always, %ready, %last, %more, %other;",
    ]


def _group(plan: BlackwellPlan) -> str:
    return f"cta_group::{plan.asked.cta_group}"


def _begin(plan: BlackwellPlan, name: str) -> Iterator[str]:
    """Yield the allocation of columns, by the whole first warp, and the descriptors of the first stage."""
    _, _, done_barrier = barriers(plan)
    yield from (f"ld.param.u64 %out, [{name}_out];", f"ld.param.u32 %tiles, [{name}_tiles];")
    yield from ("mov.u32 %thread, %tid.x;", "shr.u32 %warp, %thread, 5;", f"mov.u32 %smem, {name}_smem;")
    yield from (f"add.u32 %smem_done, %smem, {done_barrier};", f"add.u32 %smem_tmem, %smem, {done_barrier + 8};")
    columns = plan.accumulators.plan
    yield from allocate(columns.allocate, plan.asked.cta_group, exclusive=columns.exclusive)
    yield from ("setp.ne.u32 %other, %thread, 0;", "@%other bra all;")
    if plan.asked.cta_group == 2:
        yield from ("mov.u32 %rank, %cluster_ctarank;", "setp.ne.u32 %other, %rank, 0;", "@%other bra all;")
    yield from ("shr.u32 %flip, %smem, 4;", "cvt.u64.u32 %start, %flip;")
    for low, side in (("a", plan.a), ("b", plan.b)):
        yield f"add.u64 %{low}_first, %start, {side.word & start_field(plan)};"
    yield from ("mov.u32 %tile, 0;", "mov.u32 %stage, 0;", "mov.u32 %parity, 0;", "setp.eq.u32 %always, 0, 0;")


def _stage(plan: BlackwellPlan) -> Iterator[str]:
    full, empty, _ = barriers(plan)
    yield "mad.lo.u32 %full, %stage, 8, %smem;"
    yield f"add.u32 %empty, %full, {empty};"
    yield f"add.u32 %full, %full, {full};"
    yield from wait("wait_full", "%full", "%parity")
    yield "tcgen05.fence::after_thread_sync;"
    for low, side in (("a", plan.a), ("b", plan.b)):
        yield from linear("%step", "%stage", side.stage_steps)
        yield from stage_word(f"%{low}", f"%{low}_first", "%step", side.word, start_field(plan))
    for copy in plan.column_copies():
        yield f"mul.wide.u32 %step, %stage, {copy.step};"
        yield f"add.u64 %s_desc, %start, {copy.word & start_field(plan)};"
        yield from stage_word("%s_desc", "%s_desc", "%step", copy.word, start_field(plan))
        yield f"add.u32 %d_tmem, %tmem, {copy.column};"
        yield f"tcgen05.cp.{_group(plan)}.{copy.shape} [%d_tmem], %s_desc;"
    yield "setp.ne.u32 %p, %tile, 0;"
    for multiplication in plan.multiplications():
        yield from _multiply(plan, multiplication)
    yield from commit("%empty", plan.asked.cta_group)


def _multiply(plan: BlackwellPlan, multiplication: Multiplication) -> Iterator[str]:
    """Yield an instruction, and the computation of its operands."""
    m, n, k = multiplication.block
    factors = [
        f"add.u32 {register}, %tmem, {word_text(pointer, 32)};"
        for register, pointer in zip(("%sfa_tmem", "%sfb_tmem"), multiplication.factors, strict=False)
    ]
    if (m, n) == (0, 0):
        yield f"mov.b32 %idesc, {word_text(multiplication.idesc, 32)};"
    if m == 0:
        yield from (f"add.u64 %b_desc, %b, {multiplication.b_step};", *factors[1:])
    yield from (f"add.u64 %a_desc, %a, {multiplication.a_step};", *factors[:1])
    if multiplication.metadata is not None:
        yield f"add.u32 %e_tmem, %tmem, {multiplication.metadata};"
    yield f"add.u32 %d_tmem, %tmem, {multiplication.column};"
    yield plan.ptx.replace("%p", "%p" if k == 0 else "%always")


def together(ctas: int = 1) -> list[str]:
    """Return a barrier of all threads of the CTA or CTA pair that also orders their tensor-memory operations."""
    pair = ["barrier.cluster.arrive.aligned;", "barrier.cluster.wait.aligned;"]
    meeting = ["bar.sync 0;"] if ctas == 1 else pair
    return ["tcgen05.fence::before_thread_sync;", *meeting, "tcgen05.fence::after_thread_sync;"]


def commit(barrier: str, ctas: int = 1) -> list[str]:
    """Return the commit of all issued operations to a barrier; for a CTA pair, to the barriers of both CTAs."""
    opcode = f"tcgen05.commit.cta_group::{ctas}.mbarrier::arrive::one.shared::cluster"
    if ctas == 1:
        return [f"{opcode}.b64 [{barrier}];"]
    return ["mov.b16 %both, 3;", f"{opcode}.multicast::cluster.b64 [{barrier}], %both;"]


def allocate(columns: int, ctas: int = 1, *, exclusive: bool = False) -> list[str]:
    """Return the allocation of columns by the whole first warp, after which all threads know their address."""
    group = f"{'exclusive.' * exclusive}cta_group::{ctas}"
    return [
        "setp.ne.u32 %other, %warp, 0;",
        "@%other bra allocated;",
        f"tcgen05.alloc.{group}.sync.aligned.shared::cta.b32 [%smem_tmem], {columns};",
        f"tcgen05.relinquish_alloc_permit.cta_group::{ctas}.sync.aligned;",
        "allocated:",
        *together(ctas),
        "ld.shared.b32 %tmem, [%smem_tmem];",
    ]


def _end(plan: BlackwellPlan) -> Iterator[str]:
    """Yield the loads of the plan, each warp in its own lanes, and a store of every register of every thread."""
    read, group = plan.accumulators.readout, _group(plan)
    yield from ("mov.u32 %parity, 0;", *wait("wait_done", "%smem_done", "%parity"), "bar.warp.sync 0xffffffff;")
    yield "tcgen05.fence::after_thread_sync;"
    yield from ("and.b32 %lane, %warp, 3;", "mad.lo.u32 %tmem, %lane, 0x200000, %tmem;")
    mine = [load for load in read.loads if load.warp == 0]
    yield f"mul.wide.u32 %step, %thread, {4 * len(plan.accumulators.firsts) * len(mine) * read.values};"
    yield "add.u64 %out, %out, %step;"
    registers = ", ".join(f"%v{i}" for i in range(read.values))
    offset = 0
    for first in plan.accumulators.firsts:
        for load in mine:
            yield f"add.u32 %d_tmem, %tmem, {(load.lane << 16) + first + load.column:#x};"
            yield f"{read.move.ptx} {{{registers}}}, [%d_tmem];"
            yield "tcgen05.wait::ld.sync.aligned;"
            yield from (f"st.global.b32 [%out+{offset + 4 * i}], %v{i};" for i in range(read.values))
            offset += 4 * read.values
    yield from (*together(plan.asked.cta_group), "setp.ne.u32 %other, %warp, 0;", "@%other bra end;")
    yield from ("ld.shared.b32 %tmem, [%smem_tmem];",)
    exclusive = "exclusive." * plan.accumulators.plan.exclusive
    yield f"tcgen05.dealloc.{exclusive}{group}.sync.aligned.b32 %tmem, {plan.accumulators.plan.allocate};"
    yield from ("end:", "ret;")
