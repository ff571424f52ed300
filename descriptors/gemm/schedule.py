"""Compute the order of issue of a plan, and the memory traffic of a stage.

The order of issue lists the operations before the loop, in each stage and after the loop, with the role that issues
them. The traffic of a stage is the bytes that are copied, the bytes that instructions read, the wavefronts of these
reads, and the operations per byte. An instruction reads its operands in core matrices of 8 rows of 16 bytes. The number
of wavefronts comes from the bank model of ordinary accesses; it was not measured for reads of tensor cores.

Invariant: ``check_events`` accepts the tensor-memory operations of a plan. Every canonical layout has the 8 rows of a
core matrix in different banks, so that each is one wavefront.

>>> from descriptors.gemm.planner import plan
>>> from descriptors.check.event_report import check_events
>>> for made in (plan("m64n128k16", "bf16", tile=(128, 256, 64), arch="sm100", verify=False),
...              plan("m128n64k64", "e2m1", tile=(128, 64, 256), kind="mxf4", verify=False)):
...     assert check_events(events(made)).ok
>>> for mode in ("128B", "64B", "32B", "none"):
...     moved = traffic(plan("m64n64k16", "bf16", tile=(64, 64, 64), a_swizzle=mode, b_swizzle=mode, verify=False))
...     assert moved.wavefronts == moved.core_matrices == moved.read_bytes // 128
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from descriptors.gemm.accumulators import Registers, TensorColumns
from descriptors.gemm.plan import BlackwellPlan, Plan
from descriptors.gemm.plan_operands import StagedOperand
from descriptors.gemm.promotion import Promotion
from descriptors.records import Record, each
from descriptors.smem.operands.operand import Major
from descriptors.text import counted, ranges_text, word_text
from layoutalg import wavefronts
from layoutalg.frozen import frozen


class IssueStep(NamedTuple):
    """One step of the order of issue: role, operation and reason."""

    who: str
    what: str
    why: str


def order(plan: Plan) -> tuple[IssueStep, ...]:
    """Return the order in which the instructions of a plan are issued.

    Args:
        plan: the plan.

    >>> from descriptors.gemm.planner import plan
    >>> example = plan("m64n128k16", "bf16", tile=(64, 128, 64), verify=False)
    >>> [step.what for step in order(example) if "wgmma" in step.what][:3]
    ['wgmma.fence.sync.aligned', '4 x wgmma.mma_async', 'wgmma.commit_group.sync.aligned']
    """
    if isinstance(plan.accumulators, Registers):
        return (*_copies(plan, "every stage"), *_wgmma(plan, plan.accumulators))
    accumulators = plan.accumulators
    return (
        *_alloc(accumulators),
        *_copies(plan, "every stage"),
        *_tcgen05(plan, accumulators),
        *_readout(plan, accumulators),
    )


def _copies(plan: Plan, when: str) -> Iterator[IssueStep]:
    pair = plan.asked.cta_group == 2
    count = len(plan.a.boxes) + len(plan.b.boxes)
    readers = "the instructions that read it are done"
    if plan.asked.cluster != (1, 1):
        readers += f", in {sum(plan.asked.cluster) - 1} CTAs: all that this one sends to"
    yield IssueStep("TMA", "mbarrier.try_wait.parity empty[s]", f"{when}: {readers}")
    reason = f"{plan.transaction_bytes} bytes of this CTA"
    if pair:
        reason += f"; {2 * plan.transaction_bytes} if both CTAs of the pair signal the barrier of the leader"
    yield IssueStep("TMA", f"mbarrier.arrive.expect_tx full[s], {plan.transaction_bytes}", reason)
    to, of = "", "the boxes of A and of B"
    if plan.asked.cluster != (1, 1):
        count = plan.a.own_boxes + plan.b.own_boxes
        to, of = "multicast::cluster", "this CTA's share of the boxes, to all that need them"
    if plan.implicit is None:
        yield IssueStep("TMA", f"{count} x cp.async.bulk.tensor.2d ...{to} full[s]", of)
    else:
        sides = (plan.a, plan.b) if plan.implicit.convolution.operand == "A" else (plan.b, plan.a)
        pixels, filters = (side.own_boxes for side in sides)
        yield IssueStep("TMA", f"{pixels} x cp.async.bulk.tensor.4d ...im2col...{to} full[s]", "pixels, at the tap")
        yield IssueStep("TMA", f"{filters} x cp.async.bulk.tensor.3d ...{to} full[s]", "filters, at the same tap")
    if plan.metadata is not None and plan.metadata.bytes:
        yield IssueStep("TMA", "cp.async.bulk ... full[s]", f"{plan.metadata.bytes} bytes of metadata")
    if plan.scales is not None:
        yield IssueStep("TMA", "cp.async.bulk ... full[s]", f"{plan.scales.stage_bytes} bytes of scale factors")


def _there(plan: Plan) -> str:
    """Return the suffix for the barriers that free a stage: those of every CTA that copies into it."""
    return "" if plan.asked.cluster == (1, 1) else f" of {sum(plan.asked.cluster) - 1} CTAs"


def _wgmma(plan: Plan, accumulators: Registers) -> Iterator[IssueStep]:
    m, n, k = plan.asked.blocks
    count = m // accumulators.warpgroups * n * k
    if plan.metadata is not None:
        words = plan.metadata.registers * m // accumulators.warpgroups
        yield IssueStep("MMA", f"{words} x ld.global.nc.b32", "metadata of the stage, every thread its own words")
    yield IssueStep("MMA", "mbarrier.try_wait.parity full[s]", "every warpgroup: all bytes of the stage are there")
    if plan.loads is not None:
        loads = m // accumulators.warpgroups * k * plan.loads.loads
        yield IssueStep("MMA", f"{loads} x {plan.loads.move}", f"A into {plan.loads.registers} registers an M block")
    if plan.promotion is not None:
        yield from _promoted(plan, plan.promotion, accumulators)
        return
    yield IssueStep("MMA", "wgmma.fence.sync.aligned", "before the first wgmma that touches these registers")
    blocks = f"{counted(k, 'K block')} of {counted(accumulators.each, 'accumulator')}"
    yield IssueStep(
        "MMA",
        f"{count} x wgmma.mma_async{'.sp' * plan.asked.sparse}",
        f"{blocks}; %p is 0 in the very first K block, then 1",
    )
    yield IssueStep("MMA", "wgmma.commit_group.sync.aligned", "the group that the wait counts")
    reason = "or 1, and the stage before this one is free" if plan.loads is None else "before A is loaded again"
    reason = "before the metadata are loaded again" if plan.metadata is not None else reason
    yield IssueStep("MMA", "wgmma.wait_group.sync.aligned 0", reason)
    yield IssueStep("MMA", f"mbarrier.arrive empty[s]{_there(plan)}", "the stage may be filled again")
    staged = plan.epilogue.staged
    count = 0 if staged is None else plan.asked.extents[1] // staged.columns * accumulators.each
    yield from _stored(plan, "MMA", count, "after the loop and a wait for all groups", "one thread of each warpgroup")


def _stored(plan: Plan, role: str, count: int, when: str, thread: str) -> Iterator[IssueStep]:
    """Yield the steps that store C, from registers or in pieces.

    Args:
        plan: the plan.
        role: the role that stores.
        count: number of pieces of a tile, for each warp or warpgroup that stores.
        when: when the sums are complete.
        thread: the thread that stores a piece.
    """
    epilogue = plan.epilogue
    rank, parts = (3, epilogue.splits) if epilogue.splits > 1 else (2, 0)
    if epilogue.terms and not parts:
        yield IssueStep(role, f"{' and '.join(epilogue.terms)} to each sum", "before it is stored")
    if epilogue.staged is None:
        yield IssueStep(role, "registers -> C", when)
    else:
        yield IssueStep(
            role, "cp.async.bulk.wait_group.read 1", f"{thread}: the piece before the last is taken; all meet"
        )
        yield IssueStep(role, f"registers -> a piece of {epilogue.staged.columns} columns", when)
        yield IssueStep(
            role, "fence.proxy.async.shared::cta", "every thread: the copy engine sees what it wrote; all meet"
        )
        yield IssueStep(
            role, f"cp.async.bulk.tensor.{rank}d.global ...", f"that thread, {count} of a tile; then commit_group"
        )
        yield IssueStep(role, "cp.async.bulk.wait_group.read 0", "that thread, after its last tile")
    if parts:
        terms = f", then {' and '.join(epilogue.terms)}" if epilogue.terms else ""
        yield IssueStep("add_parts", "parts -> C", f"a second kernel: {parts} parts along K in their order{terms}")


def _promoted(plan: Plan, promotion: Promotion, accumulators: Registers) -> Iterator[IssueStep]:
    """Yield the steps for each 128 of K: multiply, wait, scale, and add to the sums."""
    count = accumulators.each * promotion.blocks
    loads = promotion.a_loads + promotion.b_loads
    times = f", {promotion.groups} times" if promotion.groups > 1 else ""
    yield IssueStep("MMA", f"{loads} x ld.global.nc.f32", f"factors of A and of B for 128 of K{times}: from here")
    yield IssueStep("MMA", "wgmma.fence.sync.aligned", "the registers have been read since the last wgmma")
    yield IssueStep("MMA", f"{count} x wgmma.mma_async", "128 of K; %p is 0 in the first K block of them, then 1")
    yield IssueStep("MMA", "wgmma.commit_group.sync.aligned", "the group that the wait counts")
    yield IssueStep("MMA", "wgmma.wait_group.sync.aligned 0", "before the accumulators are read; to here")
    yield IssueStep("MMA", f"mbarrier.arrive empty[s]{_there(plan)}", "after the last of them: the stage may be filled")
    yield IssueStep("MMA", f"{promotion.registers} x fma.rn.f32", "sum += accumulator x factors, for each of them")
    yield IssueStep("MMA", "sums -> C", "after the loop")


def _alloc(accumulators: TensorColumns) -> Iterator[IssueStep]:
    reason = f"one warp, once; {accumulators.plan.used} columns are used"
    exclusive = ".exclusive" * accumulators.plan.exclusive
    yield IssueStep("one warp", f"tcgen05.alloc{exclusive} {accumulators.plan.allocate} columns", reason)
    yield IssueStep("one warp", "tcgen05.relinquish_alloc_permit", "no more will be allocated")


def _tcgen05(plan: Plan, accumulators: TensorColumns) -> Iterator[IssueStep]:
    m, n, k = plan.asked.blocks
    leader = "one thread of the leader" if plan.asked.cta_group == 2 else "one thread"
    if accumulators.sets > 1:
        free, reason = _free(accumulators), "the set of output tile t, t mod 2, has been read"
        reason = "of output tile t: the shared columns of tile t - 1 have been read" if accumulators.shared else reason
        yield IssueStep("MMA", f"mbarrier.try_wait.parity {free}", f"{leader}, before a tile: {reason}")
        yield IssueStep("MMA", "tcgen05.fence::after_thread_sync", "no tcgen05.mma before the wait")
    yield IssueStep("MMA", "mbarrier.try_wait.parity full[s]", f"{leader}: all bytes of the stage are there")
    yield IssueStep("MMA", "tcgen05.fence::after_thread_sync", "what follows is not moved before the wait")
    if plan.scales is not None:
        count = len(plan.scales.copies())
        yield IssueStep("MMA", f"{count} x tcgen05.cp", "scale factors; carried out before the tcgen05.mma after them")
    if plan.metadata is not None:
        count = len(plan.metadata.copies())
        yield IssueStep("MMA", f"{count} x tcgen05.cp", "metadata; carried out before the tcgen05.mma after them")
    blocks = f"{counted(k, 'K block')} of {counted(m * n, 'accumulator')}"
    yield IssueStep(
        "MMA",
        f"{m * n * k} x tcgen05.mma{'.sp' * plan.asked.sparse}",
        f"{blocks}; %p is 0 in the very first K block, then 1",
    )
    both = ", multicast to both CTAs" if plan.asked.cta_group == 2 else ""
    yield IssueStep(
        "MMA", f"tcgen05.commit empty[s]{_there(plan)}", f"arrives when these are done: the stage is free{both}"
    )
    done_barrier = "done[t mod 2]" if accumulators.sets > 1 else "done"
    yield IssueStep(
        "MMA", f"tcgen05.commit {done_barrier}", "after the last stage, for those who read the accumulators"
    )


def _free(accumulators: TensorColumns) -> str:
    """Return the barrier on which the multiplying warp waits before a tile."""
    return "free" if accumulators.shared else "free[t mod 2]"


def _readout(plan: Plan, accumulators: TensorColumns) -> Iterator[IssueStep]:
    loads, first = accumulators.reads(0)
    load, double_buffered = accumulators.readout.move.ptx, accumulators.sets > 1
    done_barrier = "done[t mod 2]" if double_buffered else "done"
    yield IssueStep("epilogue", f"mbarrier.try_wait.parity {done_barrier}", "four warps, each for its own lanes")
    yield IssueStep("epilogue", "tcgen05.fence::after_thread_sync", "no tcgen05.ld before the wait")
    columns = ranges_text(accumulators.shared)
    scope = f"each warp: columns {columns} first, which both sets have" if accumulators.shared else "each warp"
    between = f"; each stored, as below, before the next{', the last once the set is free' * double_buffered}" * (
        first > 1
    )
    yield IssueStep("epilogue", f"{first} x {load}", scope + between)
    yield IssueStep("epilogue", "tcgen05.wait::ld.sync.aligned", "behind each, before its registers are read")
    if double_buffered:
        leader_note = ", at the leader" if plan.asked.cta_group == 2 else ""
        yield IssueStep("epilogue", "tcgen05.fence::before_thread_sync", "the arrival is after the last of these loads")
        yield IssueStep("epilogue", f"mbarrier.arrive {_free(accumulators)}", f"each warp: may be written{leader_note}")
    if first < len(loads):
        more = "each warp, while the next tile is multiplied; each stored before the next"
        yield IssueStep("epilogue", f"{len(loads) - first} x {load}", more)
        yield IssueStep("epilogue", "tcgen05.wait::ld.sync.aligned", "behind each, before its registers are read")
    staged = plan.epilogue.staged
    count = 0 if staged is None else len(loads) * accumulators.readout.values // staged.columns
    yield from _stored(
        plan, "epilogue", count, "each warp, after each load, the rows of its own lanes", "one lane of each warp"
    )
    yield IssueStep(
        "one warp",
        f"tcgen05.dealloc{'.exclusive' * accumulators.plan.exclusive} {accumulators.plan.allocate} columns",
        "after a barrier of all readers",
    )


def events(plan: Plan) -> list[str]:
    """List the tensor-memory operations of one CTA in the notation of ``check_events``; none on sm90.

    Args:
        plan: the plan.

    >>> from descriptors.gemm.planner import plan
    >>> events(plan("m128n32k16", "bf16", tile=(128, 32, 16), verify=False))[:4]
    ['alloc d 32', 'relinquish', 'mma d 32 idesc 0x08080490', 'ld d 32x32b.x32 warp 0']
    """
    if not isinstance(plan, BlackwellPlan):
        return []
    accumulators = plan.accumulators
    exclusive = " exclusive" * accumulators.plan.exclusive
    lines = [f"alloc d {accumulators.plan.allocate}{exclusive}", "relinquish"]
    lines += [f"cp d+{copy.column} {copy.shape}" for copy in plan.column_copies()]
    for number in range(accumulators.sets):
        lines += _set_events(plan, accumulators.of(number))
    return [*lines, f"dealloc d {accumulators.plan.allocate}"]


def _set_events(plan: Plan, accumulators: TensorColumns) -> Iterator[str]:
    """Yield the multiplication of a tile into one set of accumulators, and its loads."""
    width, move = accumulators.readout.fragment.columns, accumulators.readout.move
    for first in accumulators.firsts:
        place = f"d+{first}" if first else "d"
        yield f"mma {place} {width}{' sparse' * plan.asked.sparse} idesc {word_text(plan.line.idescs[0], 32)}"
    for first in accumulators.firsts:
        for load in accumulators.readout.loads:
            column = first + load.column
            place = ("d" + (f"+{column}" if column else "")) + (f"@{load.lane}" if load.lane else "")
            yield f"ld {place} {move.shape}.x{move.num} warp {load.warp}"


#: Rows of a core matrix, and bytes of a row (PTX ISA 9.1, asynchronous warpgroup level matrix shared memory layout).
_ROWS, _ROW_BYTES = 8, 16


@frozen
class Traffic:
    """The memory traffic of one stage of one CTA.

    Args:
        operations: multiplications and additions of the CTA's share of the tile, without those skipped for a sparse A.
        copied_bytes: bytes that this CTA's copies bring in, without those that other CTAs of its cluster send.
        read_bytes: bytes that the instructions read; an operand counts once for each instruction that reads it.
        core_matrices: number of core matrices that the instructions read.
        wavefronts: number of wavefronts of these reads, by the bank model.
    """

    operations: int
    copied_bytes: int
    read_bytes: int
    core_matrices: int
    wavefronts: int

    @property
    def per_byte_read(self) -> float:
        """Operations per byte that instructions read."""
        return self.operations / self.read_bytes

    @property
    def per_byte_copied(self) -> float:
        """Operations per copied byte: arithmetic intensity with respect to global memory."""
        return self.operations / self.copied_bytes


def read_bytes(plan: Plan) -> int:
    """Return the bytes of shared memory that the instructions of a stage read, over both CTAs of a pair.

    >>> from descriptors.gemm.planner import plan
    >>> read_bytes(plan("m64n128k16", "bf16", tile=(128, 128, 64), verify=False))
    49152
    """
    return sum(_times(plan, side) * side.stage_bytes * plan.asked.cta_group for side in (plan.a, plan.b))


def traffic(plan: Plan) -> Traffic:
    """Return the memory traffic of one stage of one CTA.

    Args:
        plan: the plan.
    """
    m, n, k = plan.asked.tile
    matrices = fronts = 0
    for side in (plan.a, plan.b):
        each = _wavefronts(side)
        matrices += _times(plan, side) * len(each)
        fronts += _times(plan, side) * sum(each)
    return Traffic(
        operations=2 * m * n * plan.asked.stored("A", k) // plan.asked.cta_group,
        copied_bytes=plan.transaction_bytes
        - sum(side.transaction_bytes // side.ctas * (side.ctas - 1) for side in (plan.a, plan.b)),
        read_bytes=read_bytes(plan) // plan.asked.cta_group,
        core_matrices=matrices,
        wavefronts=fronts,
    )


def _times(plan: Plan, side: StagedOperand) -> int:
    """Return how often a stage of an operand is read: A for every N block, B for every M block, A in registers once."""
    m, n, _ = plan.asked.blocks
    if side.matrix == "B":
        return m
    return 1 if plan.loads is not None else n


def _wavefronts(side: StagedOperand) -> list[int]:
    """Return the number of wavefronts of every core matrix of a stage."""
    d = side.derivation
    each = 8 * _ROW_BYTES // d.element.storage_bits
    width, height = (each, _ROWS) if d.major is Major.MN else (_ROWS, each)
    fronts = []
    for mn in range(0, d.tile[0], width):
        for k in range(0, d.tile[1], height):
            rows = [(mn, k + i) if d.major is Major.MN else (mn + i, k) for i in range(_ROWS)]
            places = [side.base + d.smem_tile((*row, 0)) * d.element.storage_bits // 8 for row in rows]
            fronts.append(wavefronts(places, _ROW_BYTES))
    return fronts


#: A step of the order of issue as plain data.
STEP = Record("Step", **each(str, "who what why"))
