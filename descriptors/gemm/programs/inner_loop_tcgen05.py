"""The inner loop of a plan of sm100 in PTX: wait, copy scale factors, multiply the K blocks, free the stage, read out.

Four warps run it: thread 0 waits for a stage, copies its scale factors and metadata to tensor memory, issues the K
blocks, and commits them to the barrier that says that the stage is empty; of a pair of CTAs the leader does it for
both. Columns are allocated before
it, and accumulators read after it. It was assembled, never run.

Law: a loop adds to the first word of a stage the steps of the plan, and nothing else.

>>> from descriptors.gemm.planner import plan
>>> example = plan("m128n16k16", "bf16", tile=(128, 16, 64), stages=2, verify=False)
>>> lines = [line.strip() for line in write(example, "gemm").splitlines()]
>>> [line for line in lines if line.startswith("add.u64 %a_desc")]
['add.u64 %a_desc, %a, 0;', 'add.u64 %a_desc, %a, 2;', 'add.u64 %a_desc, %a, 4;', 'add.u64 %a_desc, %a, 6;']
"""

from __future__ import annotations

from collections.abc import Iterator

from descriptors.gemm.plan import BlackwellPlan
from descriptors.gemm.plan_metadata import COPY
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
    """The loop as a module that assembles.

    Args:
        plan: a plan of sm100.
        name: of the entry.

    Raises:
        DescriptorError: if the name is no identifier.

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
    body += [*_commit(plan, "%smem_done"), "all:", *_end(plan)]
    title = f"{plan.headline}: the loop of a CTA"
    pair = "\n.explicitcluster .reqnctapercluster 2, 1, 1" if plan.asked.cta_group == 2 else ""
    return frame(plan.asked.arch, name, title, _registers(plan), body, pair)


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


def _together(plan: BlackwellPlan) -> list[str]:
    """All threads of the CTA, or of both CTAs of a pair."""
    if plan.asked.cta_group == 1:
        return ["bar.sync 0;"]
    return ["barrier.cluster.arrive.aligned;", "barrier.cluster.wait.aligned;"]


def _begin(plan: BlackwellPlan, name: str) -> Iterator[str]:
    """Columns, for which the whole first warp asks, and the words of the first stage."""
    group, (_, _, done) = _group(plan), barriers(plan)
    yield from (f"ld.param.u64 %out, [{name}_out];", f"ld.param.u32 %tiles, [{name}_tiles];")
    yield from ("mov.u32 %thread, %tid.x;", "shr.u32 %warp, %thread, 5;", f"mov.u32 %smem, {name}_smem;")
    yield from (f"add.u32 %smem_done, %smem, {done};", f"add.u32 %smem_tmem, %smem, {done + 8};")
    yield from ("setp.ne.u32 %other, %warp, 0;", "@%other bra allocated;")
    columns = plan.accumulators.plan
    exclusive = "exclusive." * columns.exclusive
    yield f"tcgen05.alloc.{exclusive}{group}.sync.aligned.shared::cta.b32 [%smem_tmem], {columns.allocate};"
    yield f"tcgen05.relinquish_alloc_permit.{group}.sync.aligned;"
    yield from (
        "allocated:",
        "tcgen05.fence::before_thread_sync;",
        *_together(plan),
        "tcgen05.fence::after_thread_sync;",
    )
    yield from ("ld.shared.b32 %tmem, [%smem_tmem];", "setp.ne.u32 %other, %thread, 0;", "@%other bra all;")
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
    for copy, step, word, column in _copies(plan):
        yield f"mul.wide.u32 %step, %stage, {step};"
        yield f"add.u64 %s_desc, %start, {word & start_field(plan)};"
        yield from stage_word("%s_desc", "%s_desc", "%step", word, start_field(plan))
        yield f"add.u32 %d_tmem, %tmem, {column};"
        yield f"tcgen05.cp.{_group(plan)}.{copy} [%d_tmem], %s_desc;"
    yield "setp.ne.u32 %p, %tile, 0;"
    for k in range(plan.asked.blocks[2]):
        yield from _block(plan, k)
    yield from _commit(plan, "%empty")


def _copies(plan: BlackwellPlan) -> Iterator[tuple[str, int, int, int]]:
    """Shape, step of a stage, word and column of what goes to tensor memory: scale factors, of A and of B; metadata."""
    if plan.scales is not None:
        shapes = [(one, step) for one in (plan.scales.a, plan.scales.b) for step in one.steps]
        for (factors, _), (word, column) in zip(shapes, plan.scales.copies(), strict=True):
            yield factors.copy, factors.bytes // 16, word, column
    if plan.metadata is not None:
        yield from ((COPY, plan.metadata.bytes // 16, word, column) for word, column in plan.metadata.copies())


def _block(plan: BlackwellPlan, k: int) -> Iterator[str]:
    """Every accumulator, in one K block."""
    yield f"mov.b32 %idesc, {word_text(plan.line.idescs[k], 32)};"
    for n, down in enumerate(plan.b.mn_steps):
        yield f"add.u64 %b_desc, %b, {down + plan.b.k_steps[k]};"
        yield from _factors(plan, 1, n, k)
        for m, across in enumerate(plan.a.mn_steps):
            yield f"add.u64 %a_desc, %a, {across + plan.a.k_steps[k]};"
            yield from _factors(plan, 0, m, k)
            if plan.metadata is not None:
                yield f"add.u32 %e_tmem, %tmem, {plan.metadata.place(k)[0] + m * plan.metadata.block_columns};"
            yield f"add.u32 %d_tmem, %tmem, {plan.accumulators.firsts[n * len(plan.a.mn_steps) + m]};"
            yield plan.ptx.replace("%p", "%p" if k == 0 else "%always")


def _factors(plan: BlackwellPlan, index: int, block: int, k: int) -> Iterator[str]:
    """The pointer to the factors of a block of A (0) or B (1)."""
    if plan.scales is not None:
        pointer = word_text(plan.scales.pointer_at(index, block, k), 32)
        yield f"add.u32 %sf{'ab'[index]}_tmem, %tmem, {pointer};"


def _commit(plan: BlackwellPlan, barrier: str) -> list[str]:
    """What arrives at a barrier when all that was issued is done; at that of either CTA of a pair."""
    opcode = f"tcgen05.commit.{_group(plan)}.mbarrier::arrive::one.shared::cluster"
    if plan.asked.cta_group == 1:
        return [f"{opcode}.b64 [{barrier}];"]
    return ["mov.b16 %both, 3;", f"{opcode}.multicast::cluster.b64 [{barrier}], %both;"]


def _end(plan: BlackwellPlan) -> Iterator[str]:
    """Every load of the plan, each warp in its own lanes; each register is stored where its thread and number say."""
    read, group = plan.accumulators.readout, _group(plan)
    yield from ("mov.u32 %parity, 0;", *wait("wait_done", "%smem_done", "%parity"), "bar.warp.sync 0xffffffff;")
    yield "tcgen05.fence::after_thread_sync;"
    yield from ("and.b32 %lane, %warp, 3;", "mad.lo.u32 %tmem, %lane, 0x200000, %tmem;")
    mine = [load for load in read.loads if load.warp == 0]
    yield f"mul.wide.u32 %step, %thread, {4 * len(plan.accumulators.firsts) * len(mine) * read.values};"
    yield "add.u64 %out, %out, %step;"
    registers = ", ".join(f"%v{i}" for i in range(read.values))
    at = 0
    for first in plan.accumulators.firsts:
        for load in mine:
            yield f"add.u32 %d_tmem, %tmem, {(load.lane << 16) + first + load.column:#x};"
            yield f"{read.move.ptx} {{{registers}}}, [%d_tmem];"
            yield "tcgen05.wait::ld.sync.aligned;"
            yield from (f"st.global.b32 [%out+{at + 4 * i}], %v{i};" for i in range(read.values))
            at += 4 * read.values
    yield from ("tcgen05.fence::before_thread_sync;", *_together(plan))
    yield from ("tcgen05.fence::after_thread_sync;", "setp.ne.u32 %other, %warp, 0;", "@%other bra end;")
    yield from ("ld.shared.b32 %tmem, [%smem_tmem];",)
    exclusive = "exclusive." * plan.accumulators.plan.exclusive
    yield f"tcgen05.dealloc.{exclusive}{group}.sync.aligned.b32 %tmem, {plan.accumulators.plan.allocate};"
    yield from ("end:", "ret;")
