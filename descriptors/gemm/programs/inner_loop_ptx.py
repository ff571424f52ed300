"""The inner loop of a plan in PTX, for sm90 and for sm100: wait, multiply the K blocks, free the stage, store.

Around a loop stand the entry, its registers, and the barriers of the stages, where the plan has them: those that say
that a stage is full, a stage each, then those that say that it is empty, then the one of the accumulators. Who fills
the stages and sets up the barriers is not written here.

On sm90 every warpgroup runs the loop, each for its own M blocks; A comes by words, or from registers that the loop
loads. On sm100 four warps run it: thread 0 waits for a stage, copies its scale factors, issues the K blocks, and
commits them to the barrier that says that the stage is empty; of a pair of CTAs the leader does it for both. Columns
are allocated before it, and accumulators read after it. It was assembled, never run.

Laws: the text assembles around any loop that ends; a loop adds to the first word of a stage the steps of the plan, and
nothing else.

>>> print(frame("sm90", "gemm", "a plan", [], ["ret;"]).splitlines()[2])
.target sm_90a
>>> from descriptors.gemm.planner import plan
>>> example = plan("m64n8k16", "bf16", tile=(64, 8, 64), stages=2, verify=False)
>>> [line.strip() for line in write_wgmma(example, "gemm").splitlines() if line.strip().startswith("add.u64 %a_desc")]
['add.u64 %a_desc, %a, 0;', 'add.u64 %a_desc, %a, 2;', 'add.u64 %a_desc, %a, 4;', 'add.u64 %a_desc, %a, 6;']
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from descriptors.errors import DescriptorError, brief
from descriptors.gemm.accumulators import Registers, TensorColumns
from descriptors.gemm.plan import Plan
from descriptors.gemm.plan_operands import StagedOperand
from descriptors.gemm.plan_scales import Scales
from descriptors.gemm.programs.c_expressions import byte_lines
from descriptors.gemm.register_operand import REGISTERS, ROWS, LoadedOperand
from descriptors.text import word_text

#: The bits of a word that say where an operand starts, in 16-byte units.
START_FIELD = 0x3FFF

#: The version of PTX and the target of each architecture.
TARGETS = {"sm90": ("8.0", "sm_90a"), "sm100": ("8.7", "sm_100a")}


def frame(arch: str, name: str, title: str, registers: Sequence[str], body: Iterable[str], directives: str = "") -> str:
    """A module with one entry.

    Args:
        arch: ``"sm90"`` or ``"sm100"``.
        name: of the entry.
        title: a line of comment.
        registers: declarations.
        body: instructions and labels.
        directives: of the entry.

    Raises:
        DescriptorError: if the name is no identifier.
    """
    if not isinstance(name, str) or not (name.isascii() and name.isidentifier()) or len(name) > 64:
        raise DescriptorError(f"emit: name must be an identifier of at most 64 letters and digits, found {brief(name)}")
    version, target = TARGETS[arch]
    lines = "\n".join(line if line.endswith(":") else f"    {line}" for line in body)
    declared = "".join(f"    {line}\n" for line in registers)
    return f"""// {title}
.version {version}
.target {target}
.address_size 64

.extern .shared .align 1024 .b8 {name}_smem[];

// In: where the accumulators go, register by register of each thread; how many tiles along K there are, one or more.
.visible .entry {name}(.param .u64 {name}_out, .param .u32 {name}_tiles){directives}
{{
{declared}{lines}
}}
"""


def barriers(plan: Plan) -> tuple[int, int, int]:
    """Where the barriers of full stages, of empty stages, and of the accumulators begin, in bytes.

    Args:
        plan: the plan.

    >>> from descriptors.gemm.planner import plan
    >>> barriers(plan("m64n8k16", "bf16", tile=(64, 8, 64), stages=2, verify=False))
    (18432, 18448, 18464)
    """
    return plan.barriers, plan.barriers + 8 * plan.stages, plan.barriers + 16 * plan.stages


def wait(label: str, barrier: str, parity: str) -> list[str]:
    """A wait for the phase of a barrier to end.

    >>> wait("full", "%full", "%parity")[1]
    'mbarrier.try_wait.parity.shared::cta.b64 %ready, [%full], %parity;'
    """
    return [
        f"{label}:",
        f"mbarrier.try_wait.parity.shared::cta.b64 %ready, [{barrier}], {parity};",
        f"@!%ready bra {label};",
    ]


def next_stage(stages: int, label: str) -> list[str]:
    """The end of a loop over tiles: the next stage, with the other parity after the last, until all tiles are done.

    >>> next_stage(4, "loop")[-1]
    '@%more bra loop;'
    """
    return [
        "add.u32 %next, %stage, 1;",
        f"setp.eq.u32 %last, %next, {stages};",
        "selp.b32 %stage, 0, %next, %last;",
        "selp.b32 %flip, 1, 0, %last;",
        "xor.b32 %parity, %parity, %flip;",
        "add.u32 %tile, %tile, 1;",
        "setp.lt.u32 %more, %tile, %tiles;",
        f"@%more bra {label};",
    ]


def stage_word(target: str, first: str, step: str, side: StagedOperand) -> list[str]:
    """The word of a stage: where the operand starts there, put into its field, and all other fields of the word.

    >>> from descriptors.gemm.planner import plan
    >>> example = plan("m64n8k16", "bf16", tile=(64, 8, 64), stages=2, verify=False)
    >>> stage_word("%a", "%a_first", "%step", example.a)[-1]
    'or.b64 %a, %a, 0x4000004000010000;'
    """
    rest = word_text(side.word & ~START_FIELD)
    return [f"add.u64 {target}, {first}, {step};", f"and.b64 {target}, {target}, {START_FIELD:#x};"] + [
        f"or.b64 {target}, {target}, {rest};"
    ]


def linear(target: str, index: str, steps: Sequence[int], kind: str = "u64") -> list[str]:
    """``target = steps[index]``, of a list whose steps are all alike, or of any other.

    >>> linear("%x", "%i", (0, 512, 1024), "u32")
    ['mul.lo.u32 %x, %i, 512;']
    """
    if all(step == i * steps[-1] // max(len(steps) - 1, 1) for i, step in enumerate(steps)):
        each = steps[1] if len(steps) > 1 else 0
        wide = kind == "u64"
        return [f"mul.{'wide.u32' if wide else 'lo.u32'} {target}, {index}, {each};"]
    lines = [f"mov.{kind} {target}, {steps[0]};"]
    for i, step in enumerate(steps[1:], 1):
        lines += [
            f"setp.eq.u32 %last, {index}, {i};",
            f"selp.{kind[0].replace('u', 'b')}{kind[1:]} {target}, {step}, {target}, %last;",
        ]
    return lines


def write_wgmma(plan: Plan, name: str) -> str:
    """The loop as a module that assembles.

    Args:
        plan: a plan of sm90.
        name: of the entry.

    Raises:
        DescriptorError: if the name is no identifier.

    >>> from descriptors.gemm.planner import plan
    >>> text = write_wgmma(plan("m64n8k16", "bf16", tile=(64, 8, 64), stages=2, verify=False), "gemm")
    >>> [line.strip() for line in text.splitlines() if line.strip().startswith("wgmma")][::5]
    ['wgmma.fence.sync.aligned;', 'wgmma.commit_group.sync.aligned;']
    """
    accumulators = plan.accumulators
    assert isinstance(accumulators, Registers)
    body = [
        *_wgmma_begin(plan, name, accumulators),
        "loop:",
        *_wgmma_stage(plan, accumulators),
        *_wgmma_end(plan, accumulators),
    ]
    return frame("sm90", name, f"{plan.headline}: the loop of a warpgroup", _wgmma_registers(plan, accumulators), body)


def _wgmma_registers(plan: Plan, accumulators: Registers) -> list[str]:
    loads = (
        []
        if plan.loads is None
        else [f".reg .b32 %a<{plan.loads.registers * _own_blocks(plan, accumulators)}>, %at, %item;"]
    )
    kind = {"f32": "f32", "s32": "b32", "f16": "b32"}[plan.asked.d]
    return [
        f".reg .{kind} %d<{accumulators.each * plan.line.registers}>;",
        *loads,
        ".reg .b32 %thread, %group, %smem, %tile, %tiles, %stage, %next, %parity, %flip, %full, %empty;",
        ".reg .b64 %a_first, %b_first, %a, %b, %a_desc, %b_desc, %step, %out, %start;",
        ".reg .pred %p, %always, %ready, %last, %more;",
    ]


def _own_blocks(plan: Plan, accumulators: Registers) -> int:
    return plan.asked.blocks[0] // accumulators.warpgroups


def _wgmma_begin(plan: Plan, name: str, accumulators: Registers) -> Iterator[str]:
    """Words of the first stage, for this warpgroup, wherever shared memory begins."""
    yield from (f"ld.param.u64 %out, [{name}_out];", f"ld.param.u32 %tiles, [{name}_tiles];")
    yield from ("mov.u32 %thread, %tid.x;", "shr.u32 %group, %thread, 7;")
    yield from (f"mov.u32 %smem, {name}_smem;", "shr.u32 %flip, %smem, 4;", "cvt.u64.u32 %start, %flip;")
    if plan.loads is None:
        yield f"add.u64 %a_first, %start, {plan.a.word & START_FIELD};"
        yield from linear("%step", "%group", plan.a.mn_steps[: accumulators.warpgroups])
        yield "add.u64 %a_first, %a_first, %step;"
    yield f"add.u64 %b_first, %start, {plan.b.word & START_FIELD};"
    yield from ("mov.u32 %tile, 0;", "mov.u32 %stage, 0;", "mov.u32 %parity, 0;", "setp.eq.u32 %always, 0, 0;")
    zero = "0f00000000" if plan.asked.d == "f32" else "0"
    kind = "f32" if plan.asked.d == "f32" else "b32"
    yield from (f"mov.{kind} %d{i}, {zero};" for i in range(accumulators.each * plan.line.registers))


def _wgmma_stage(plan: Plan, accumulators: Registers) -> Iterator[str]:
    full, empty, _ = barriers(plan)
    yield "mad.lo.u32 %full, %stage, 8, %smem;"
    yield f"add.u32 %empty, %full, {empty};"
    yield f"add.u32 %full, %full, {full};"
    yield from wait("wait_full", "%full", "%parity")
    for low, side in (("a", plan.a), ("b", plan.b)):
        if low == "b" or plan.loads is None:
            yield from linear("%step", "%stage", side.stage_steps)
            yield from stage_word(f"%{low}", f"%{low}_first", "%step", side)
    if plan.loads is not None:
        for j in range(_own_blocks(plan, accumulators)):
            for k in range(plan.asked.blocks[2]):
                yield from _load_a(
                    plan.loads, plan.a, j * accumulators.warpgroups, k, (j * plan.loads.blocks + k) * REGISTERS
                )
    yield "setp.ne.u32 %p, %tile, 0;"
    yield "wgmma.fence.sync.aligned;"
    for k in range(plan.asked.blocks[2]):
        yield from _wgmma_block(plan, accumulators, k)
    yield from ("wgmma.commit_group.sync.aligned;", "wgmma.wait_group.sync.aligned 0;")
    yield "mbarrier.arrive.shared::cta.b64 _, [%empty];"


def _wgmma_block(plan: Plan, accumulators: Registers, k: int) -> Iterator[str]:
    """Every accumulator of this warpgroup, in one K block."""
    own, count = _own_blocks(plan, accumulators), plan.line.registers
    for n, step in enumerate(plan.b.mn_steps):
        yield f"add.u64 %b_desc, %b, {step + plan.b.k_steps[k]};"
        for j in range(own):
            first = (n * own + j) * count
            line = _renumbered(plan.ptx, "d", first)
            if plan.loads is None:
                # The first of this warpgroup's M blocks is in the word already.
                yield f"add.u64 %a_desc, %a, {plan.a.mn_steps[j * accumulators.warpgroups] + plan.a.k_steps[k]};"
            else:
                line = _renumbered(line, "a", (j * plan.loads.blocks + k) * REGISTERS)
            yield line.replace("%p", "%p" if k == 0 else "%always")


def _renumbered(line: str, name: str, first: int) -> str:
    """The registers of an instruction's list, counted from another one on."""
    return re.sub(rf"%{name}(\d+)", lambda found: f"%{name}{first + int(found[1])}", line)


def _load_a(loads: LoadedOperand, a: StagedOperand, block: int, k: int, first: int) -> Iterator[str]:
    """A K block of one M block into four registers of each thread."""
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


def _wgmma_end(plan: Plan, accumulators: Registers) -> Iterator[str]:
    """The end of the loop, and every register of each thread stored."""
    count = accumulators.each * plan.line.registers
    yield from next_stage(plan.stages, "loop")
    yield f"mul.wide.u32 %step, %thread, {4 * count};"
    yield "add.u64 %out, %out, %step;"
    kind = "f32" if plan.asked.d == "f32" else "b32"
    yield from (f"st.global.{kind} [%out+{4 * i}], %d{i};" for i in range(count))
    yield "ret;"


def write_tcgen05(plan: Plan, name: str) -> str:
    """The loop as a module that assembles.

    Args:
        plan: a plan of sm100.
        name: of the entry.

    Raises:
        DescriptorError: if the name is no identifier.

    >>> from descriptors.gemm.planner import plan
    >>> text = write_tcgen05(plan("m128n16k16", "bf16", tile=(128, 16, 64), stages=2, verify=False), "gemm")
    >>> [line.strip() for line in text.splitlines() if line.strip().startswith("tcgen05.alloc")]
    ['tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%smem_tmem], 32;']
    """
    accumulators = plan.accumulators
    assert isinstance(accumulators, TensorColumns)
    body = [
        *_tcgen05_begin(plan, name, accumulators),
        "loop:",
        *_tcgen05_stage(plan, accumulators),
        *next_stage(plan.stages, "loop"),
    ]
    body += [*_commit(plan, "%smem_done"), "all:", *_tcgen05_end(plan, accumulators)]
    title = f"{plan.headline}: the loop of a CTA, assembled, never run"
    pair = "\n.explicitcluster .reqnctapercluster 2, 1, 1" if plan.asked.cta_group == 2 else ""
    return frame("sm100", name, title, _tcgen05_registers(accumulators), body, pair)


def _tcgen05_registers(accumulators: TensorColumns) -> list[str]:
    return [
        f".reg .b32 %v<{accumulators.readout.values}>;",
        ".reg .b32 %thread, %warp, %smem, %smem_done, %smem_tmem, %tmem, %d_tmem, %idesc, %sfa_tmem, %sfb_tmem;",
        ".reg .b32 %tile, %tiles, %stage, %next, %parity, %flip, %full, %empty, %rank, %lane;",
        ".reg .b64 %a_first, %b_first, %a, %b, %a_desc, %b_desc, %s_desc, %step, %out, %start;",
        ".reg .b16 %both;",
        ".reg .pred %p, %always, %ready, %last, %more, %other;",
    ]


def _group(plan: Plan) -> str:
    return f"cta_group::{plan.asked.cta_group}"


def _together(plan: Plan) -> list[str]:
    """All threads of the CTA, or of both CTAs of a pair."""
    if plan.asked.cta_group == 1:
        return ["bar.sync 0;"]
    return ["barrier.cluster.arrive.aligned;", "barrier.cluster.wait.aligned;"]


def _tcgen05_begin(plan: Plan, name: str, accumulators: TensorColumns) -> Iterator[str]:
    """Columns, for which the whole first warp asks, and the words of the first stage."""
    group, (_, _, done) = _group(plan), barriers(plan)
    yield from (f"ld.param.u64 %out, [{name}_out];", f"ld.param.u32 %tiles, [{name}_tiles];")
    yield from ("mov.u32 %thread, %tid.x;", "shr.u32 %warp, %thread, 5;", f"mov.u32 %smem, {name}_smem;")
    yield from (f"add.u32 %smem_done, %smem, {done};", f"add.u32 %smem_tmem, %smem, {done + 8};")
    yield from ("setp.ne.u32 %other, %warp, 0;", "@%other bra allocated;")
    yield f"tcgen05.alloc.{group}.sync.aligned.shared::cta.b32 [%smem_tmem], {accumulators.plan.allocate};"
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
        yield f"add.u64 %{low}_first, %start, {side.word & START_FIELD};"
    yield from ("mov.u32 %tile, 0;", "mov.u32 %stage, 0;", "mov.u32 %parity, 0;", "setp.eq.u32 %always, 0, 0;")


def _tcgen05_stage(plan: Plan, accumulators: TensorColumns) -> Iterator[str]:
    full, empty, _ = barriers(plan)
    yield "mad.lo.u32 %full, %stage, 8, %smem;"
    yield f"add.u32 %empty, %full, {empty};"
    yield f"add.u32 %full, %full, {full};"
    yield from wait("wait_full", "%full", "%parity")
    yield "tcgen05.fence::after_thread_sync;"
    for low, side in (("a", plan.a), ("b", plan.b)):
        yield from linear("%step", "%stage", side.stage_steps)
        yield from stage_word(f"%{low}", f"%{low}_first", "%step", side)
    if plan.scales is not None:
        yield from _copies(plan, plan.scales)
    yield "setp.ne.u32 %p, %tile, 0;"
    for k in range(plan.asked.blocks[2]):
        yield from _tcgen05_block(plan, accumulators, k)
    yield from _commit(plan, "%empty")


def _copies(plan: Plan, scales: Scales) -> Iterator[str]:
    """The scale factors of a stage into their columns; those of A have other steps than those of B."""
    shapes = [(one, step) for one in (scales.a, scales.b) for step in one.steps]
    for (factors, _), (word, column) in zip(shapes, scales.copies(), strict=True):
        yield f"mul.wide.u32 %step, %stage, {factors.bytes // 16};"
        yield f"add.u64 %s_desc, %start, {word & START_FIELD};"
        yield "add.u64 %s_desc, %s_desc, %step;"
        yield f"and.b64 %s_desc, %s_desc, {START_FIELD:#x};"
        yield f"or.b64 %s_desc, %s_desc, {word_text(word & ~START_FIELD)};"
        yield f"add.u32 %d_tmem, %tmem, {column};"
        yield f"tcgen05.cp.{_group(plan)}.{factors.copy} [%d_tmem], %s_desc;"


def _tcgen05_block(plan: Plan, accumulators: TensorColumns, k: int) -> Iterator[str]:
    """Every accumulator, in one K block."""
    yield f"mov.b32 %idesc, {word_text(plan.line.idescs[k], 32)};"
    for n, down in enumerate(plan.b.mn_steps):
        yield f"add.u64 %b_desc, %b, {down + plan.b.k_steps[k]};"
        yield from _factors(plan, 1, n, k)
        for m, across in enumerate(plan.a.mn_steps):
            yield f"add.u64 %a_desc, %a, {across + plan.a.k_steps[k]};"
            yield from _factors(plan, 0, m, k)
            yield f"add.u32 %d_tmem, %tmem, {accumulators.firsts[n * len(plan.a.mn_steps) + m]};"
            yield plan.ptx.replace("%p", "%p" if k == 0 else "%always")


def _factors(plan: Plan, index: int, block: int, k: int) -> Iterator[str]:
    """The pointer to the factors of a block of A (0) or B (1)."""
    if plan.scales is not None:
        pointer = word_text(plan.scales.pointer_at(index, block, k), 32)
        yield f"add.u32 %sf{'ab'[index]}_tmem, %tmem, {pointer};"


def _commit(plan: Plan, barrier: str) -> list[str]:
    """What arrives at a barrier when all that was issued is done; at that of either CTA of a pair."""
    opcode = f"tcgen05.commit.{_group(plan)}.mbarrier::arrive::one.shared::cluster"
    if plan.asked.cta_group == 1:
        return [f"{opcode}.b64 [{barrier}];"]
    return ["mov.b16 %both, 3;", f"{opcode}.multicast::cluster.b64 [{barrier}], %both;"]


def _tcgen05_end(plan: Plan, accumulators: TensorColumns) -> Iterator[str]:
    """Every load of the plan, each warp in its own lanes; each register is stored where its thread and number say."""
    read, group = accumulators.readout, _group(plan)
    yield from ("mov.u32 %parity, 0;", *wait("wait_done", "%smem_done", "%parity"), "bar.warp.sync 0xffffffff;")
    yield "tcgen05.fence::after_thread_sync;"
    yield from ("and.b32 %lane, %warp, 3;", "mad.lo.u32 %tmem, %lane, 0x200000, %tmem;")
    mine = [load for load in read.loads if load.warp == 0]
    yield f"mul.wide.u32 %step, %thread, {4 * len(accumulators.firsts) * len(mine) * read.values};"
    yield "add.u64 %out, %out, %step;"
    registers = ", ".join(f"%v{i}" for i in range(read.values))
    at = 0
    for first in accumulators.firsts:
        for load in mine:
            yield f"add.u32 %d_tmem, %tmem, {(load.lane << 16) + first + load.column:#x};"
            yield f"{read.move.ptx} {{{registers}}}, [%d_tmem];"
            yield "tcgen05.wait::ld.sync.aligned;"
            yield from (f"st.global.b32 [%out+{at + 4 * i}], %v{i};" for i in range(read.values))
            at += 4 * read.values
    yield from ("tcgen05.fence::before_thread_sync;", *_together(plan))
    yield from ("tcgen05.fence::after_thread_sync;", "setp.ne.u32 %other, %warp, 0;", "@%other bra end;")
    yield from ("ld.shared.b32 %tmem, [%smem_tmem];",)
    yield f"tcgen05.dealloc.{group}.sync.aligned.b32 %tmem, {accumulators.plan.allocate};"
    yield from ("end:", "ret;")
