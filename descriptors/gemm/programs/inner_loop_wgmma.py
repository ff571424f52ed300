"""Write the inner loop of a ``wgmma`` plan in PTX: wait, load A if it is in registers, multiply, free the stage.

Every warpgroup executes the loop for its own M blocks. A is read by descriptors, or from registers that the loop loads.
For a sparse A, every thread loads its own metadata of the tile's rows from global memory, in the format of
``pack_metadata``.

Invariant: the loop adds only the plan's steps to the first descriptor of a stage.

>>> from descriptors.gemm.planner import plan
>>> example = plan("m64n8k16", "bf16", tile=(64, 8, 64), stages=2, verify=False)
>>> [line.strip() for line in write(example, "gemm").splitlines() if line.strip().startswith("add.u64 %a_desc")]
['add.u64 %a_desc, %a, 0;', 'add.u64 %a_desc, %a, 2;', 'add.u64 %a_desc, %a, 4;', 'add.u64 %a_desc, %a, 6;']
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from descriptors.gemm.plan import HopperPlan
from descriptors.gemm.plan_metadata import Metadata
from descriptors.gemm.plan_operands import StagedOperand
from descriptors.gemm.programs.c_expressions import byte_lines
from descriptors.gemm.programs.inner_loop_ptx import (
    LOOP_INPUT,
    LOOP_PARAMETERS,
    barriers,
    frame,
    linear,
    next_stage,
    stage_word,
    start_field,
    wait,
)
from descriptors.gemm.register_operand import REGISTERS, ROWS, LoadedOperand


def write(plan: HopperPlan, name: str) -> str:
    """Return the inner loop as a PTX module.

    Args:
        plan: a plan of ``wgmma``.
        name: name of the entry.

    Raises:
        DescriptorError: if the name is not an identifier.

    >>> from descriptors.gemm.planner import plan
    >>> text = write(plan("m64n8k16", "bf16", tile=(64, 8, 64), stages=2, verify=False), "gemm")
    >>> [line.strip() for line in text.splitlines() if line.strip().startswith("wgmma")][::5]
    ['wgmma.fence.sync.aligned;', 'wgmma.commit_group.sync.aligned;']
    """
    body = [
        *_begin(plan, name),
        "loop:",
        *_stage(plan),
        *_end(plan),
    ]
    title = f"{plan.headline}: the loop of a warpgroup"
    if plan.metadata is None:
        return frame(plan.asked.arch, name, title, _registers(plan), body)
    about = f"{LOOP_INPUT}\n// Then the packed metadata of the rows of the tile."
    parameters = (*LOOP_PARAMETERS, "u64 metadata")
    return frame(plan.asked.arch, name, title, _registers(plan), body, about=about, parameters=parameters, sparse=True)


def _registers(plan: HopperPlan) -> list[str]:
    loads = [] if plan.loads is None else [f".reg .b32 %a<{plan.loads.registers * _own_blocks(plan)}>, %at, %item;"]
    if plan.metadata is not None:
        count = plan.metadata.packs * _own_blocks(plan)
        loads += [f".reg .b32 %e<{count}>, %word;", ".reg .b64 %metadata, %e_at;"]
    kind = {"f32": "f32", "s32": "b32", "f16": "b32"}[plan.asked.d]
    return [
        f".reg .{kind} %d<{plan.accumulators.each * plan.line.registers}>;",
        *loads,
        ".reg .b32 %thread, %group, %smem, %tile, %tiles, %stage, %next, %parity, %flip, %full, %empty;",
        ".reg .b64 %a_first, %b_first, %a, %b, %a_desc, %b_desc, %step, %out, %start;",
        ".reg .pred %p, %always, %ready, %last, %more;",
    ]


def _own_blocks(plan: HopperPlan) -> int:
    return plan.asked.blocks[0] // plan.accumulators.warpgroups


def _begin(plan: HopperPlan, name: str) -> Iterator[str]:
    """Yield the descriptors of the first stage for this warpgroup, for any start of shared memory."""
    yield from (f"ld.param.u64 %out, [{name}_out];", f"ld.param.u32 %tiles, [{name}_tiles];")
    if plan.metadata is not None:
        yield f"ld.param.u64 %metadata, [{name}_metadata];"
    yield from ("mov.u32 %thread, %tid.x;", "shr.u32 %group, %thread, 7;")
    yield from (f"mov.u32 %smem, {name}_smem;", "shr.u32 %flip, %smem, 4;", "cvt.u64.u32 %start, %flip;")
    if plan.loads is None:
        yield f"add.u64 %a_first, %start, {plan.a.word & start_field(plan)};"
        yield from linear("%step", "%group", plan.a.mn_steps[: plan.accumulators.warpgroups])
        yield "add.u64 %a_first, %a_first, %step;"
    yield f"add.u64 %b_first, %start, {plan.b.word & start_field(plan)};"
    yield from ("mov.u32 %tile, 0;", "mov.u32 %stage, 0;", "mov.u32 %parity, 0;", "setp.eq.u32 %always, 0, 0;")
    zero = "0f00000000" if plan.asked.d == "f32" else "0"
    kind = "f32" if plan.asked.d == "f32" else "b32"
    yield from (f"mov.{kind} %d{i}, {zero};" for i in range(plan.accumulators.each * plan.line.registers))


def _stage(plan: HopperPlan) -> Iterator[str]:
    full, empty, _ = barriers(plan)
    yield "mad.lo.u32 %full, %stage, 8, %smem;"
    yield f"add.u32 %empty, %full, {empty};"
    yield f"add.u32 %full, %full, {full};"
    if plan.metadata is not None:
        yield from _load_e(plan.metadata, plan.accumulators.warpgroups, _own_blocks(plan))
    yield from wait("wait_full", "%full", "%parity")
    for low, side in (("a", plan.a), ("b", plan.b)):
        if low == "b" or plan.loads is None:
            yield from linear("%step", "%stage", side.stage_steps)
            yield from stage_word(f"%{low}", f"%{low}_first", "%step", side.word, start_field(plan))
    if plan.loads is not None:
        for j in range(_own_blocks(plan)):
            for k in range(plan.asked.blocks[2]):
                yield from _load_a(
                    plan.loads, plan.a, j * plan.accumulators.warpgroups, k, (j * plan.loads.blocks + k) * REGISTERS
                )
    yield "setp.ne.u32 %p, %tile, 0;"
    yield "wgmma.fence.sync.aligned;"
    for k in range(plan.asked.blocks[2]):
        yield from _block(plan, k)
    yield from ("wgmma.commit_group.sync.aligned;", "wgmma.wait_group.sync.aligned 0;")
    yield "mbarrier.arrive.shared::cta.b64 _, [%empty];"


def _block(plan: HopperPlan, k: int) -> Iterator[str]:
    """Yield the instructions of all accumulators of this warpgroup in one K block."""
    own, count = _own_blocks(plan), plan.line.registers
    for n, step in enumerate(plan.b.mn_steps):
        yield f"add.u64 %b_desc, %b, {step + plan.b.k_steps[k]};"
        for j in range(own):
            first = (n * own + j) * count
            line = _renumbered(plan.ptx, "d", first)
            if plan.loads is None:
                # The descriptor already contains the offset of this warpgroup's first M block.
                yield f"add.u64 %a_desc, %a, {plan.a.mn_steps[j * plan.accumulators.warpgroups] + plan.a.k_steps[k]};"
            else:
                line = _renumbered(line, "a", (j * plan.loads.blocks + k) * REGISTERS)
            if plan.metadata is not None:
                pack, selector = plan.metadata.place(k)
                line = line.replace("%e,", f"%e{j * plan.metadata.packs + pack},").replace("%sel", str(selector))
            yield line.replace("%p", "%p" if k == 0 else "%always")


def _renumbered(line: str, name: str, first: int) -> str:
    """Return an instruction with the registers of a list renumbered from ``first`` on."""
    return re.sub(rf"%{name}(\d+)", lambda match: f"%{name}{first + int(match[1])}", line)


def _load_e(metadata: Metadata, warpgroups: int, own: int) -> Iterator[str]:
    """Yield the loads of this thread's metadata; those of an M block follow one another for all tiles along K."""
    for j in range(own):
        yield f"add.u32 %word, %group, {j * warpgroups};"
        yield "mad.lo.u32 %word, %word, %tiles, %tile;"
        yield f"mul.lo.u32 %word, %word, {128 * metadata.packs};"
        # A warpgroup has 128 words, and the earlier warpgroups have the lower thread numbers.
        yield from ("and.b32 %next, %thread, 127;", "add.u32 %word, %word, %next;")
        yield from ("mul.wide.u32 %e_at, %word, 4;", "add.u64 %e_at, %e_at, %metadata;")
        for pack in range(metadata.packs):
            yield f"ld.global.nc.b32 %e{j * metadata.packs + pack}, [%e_at+{512 * pack}];"


def _load_a(loads: LoadedOperand, a: StagedOperand, block: int, k: int, first: int) -> Iterator[str]:
    """Yield the loads of a K block of one M block into four registers of each thread."""
    columns, each = a.derivation.mma[1], loads.each
    yield from ("{", ".reg .b32 row, column, at, digit, lane, warp;", "and.b32 lane, %thread, 31;")
    yield from ("shr.u32 warp, %thread, 5;", "and.b32 warp, warp, 3;", "mad.lo.u32 warp, %group, 4, warp;")
    base = [f"mad.lo.u32 at, %stage, {a.stage_bytes}, at;", "add.u32 at, at, %smem;", f"add.u32 at, at, {a.base};"]
    # Warp w of warpgroup g has rows 64 (block + g) + 16 w on, which are 16 (4 g + w) beyond those of the block.
    if loads.loads == 1:
        trans = ".trans" in loads.move
        yield from ("shr.u32 digit, lane, 3;", "and.b32 row, digit, 1;", "shr.u32 column, digit, 1;")
        yield from ("and.b32 lane, lane, 7;", "mul.lo.u32 row, row, 8;", f"mul.lo.u32 column, column, {4 * each};")
        yield f"add.u32 {'column, column' if trans else 'row, row'}, lane;"
        yield from ("mad.lo.u32 row, warp, 16, row;", f"add.u32 row, row, {block * ROWS};")
        yield from (f"add.u32 column, column, {k * columns};", *byte_lines(a.derivation), *base)
        yield f"{loads.move} {{{', '.join(f'%a{first + r}' for r in range(REGISTERS))}}}, [at];"
    else:
        for r in range(REGISTERS):
            for e in range(each):
                yield from ("shr.u32 row, lane, 2;", "mad.lo.u32 row, warp, 16, row;", "and.b32 column, lane, 3;")
                yield f"add.u32 row, row, {block * ROWS + 8 * (r % 2)};"
                yield f"mad.lo.u32 column, column, {each}, {4 * each * (r // 2) + e + k * columns};"
                yield from (*byte_lines(a.derivation), *base)
                bits = 32 // each
                target = f"%a{first + r}" if not e else "%item"
                yield f"ld.shared.{'u8' if bits == 8 else 'b32'} {target}, [at];"
                if e:
                    yield f"bfi.b32 %a{first + r}, %item, %a{first + r}, {bits * e}, {bits};"
    yield "}"


def _end(plan: HopperPlan) -> Iterator[str]:
    """Yield the end of the loop, and a store of every accumulator register."""
    count = plan.accumulators.each * plan.line.registers
    yield from next_stage(plan.stages, "loop")
    yield f"mul.wide.u32 %step, %thread, {4 * count};"
    yield "add.u64 %out, %out, %step;"
    kind = "f32" if plan.asked.d == "f32" else "b32"
    yield from (f"st.global.{kind} [%out+{4 * i}], %d{i};" for i in range(count))
    yield "ret;"
