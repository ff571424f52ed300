"""The order of issue of a plan: who does what in the prologue, in each stage, and after the loop.

Law: what the plan does with tensor memory is what the guardrails find nothing wrong with.

>>> from descriptors.plans.planner import plan
>>> from descriptors.transfer.guardrails import check_events
>>> for made in (plan("m64n128k16", "bf16", tile=(128, 256, 64), arch="sm100", verify=False),
...              plan("m128n64k64", "e2m1", tile=(128, 64, 256), kind="mxf4", verify=False)):
...     assert check_events(events(made)).ok
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from descriptors.plans.parts.accumulators import Registers, TensorColumns
from descriptors.plans.plan import Plan
from descriptors.text import counted, word_text


class IssueStep(NamedTuple):
    """One thing that is done: who does it, what it is, and why here."""

    who: str
    what: str
    why: str


def order(made: Plan) -> tuple[IssueStep, ...]:
    """The order in which the instructions of a plan are issued.

    Args:
        made: the plan.

    >>> from descriptors.plans.planner import plan
    >>> made = plan("m64n128k16", "bf16", tile=(64, 128, 64), verify=False)
    >>> [one.what for one in order(made) if "wgmma" in one.what][:3]
    ['wgmma.fence.sync.aligned', '4 x wgmma.mma_async', 'wgmma.commit_group.sync.aligned']
    """
    if isinstance(made.accumulators, Registers):
        return (*_copies(made, "every stage"), *_wgmma(made, made.accumulators))
    return (*_alloc(made.accumulators), *_copies(made, "every stage"), *_tcgen05(made), *_readout(made.accumulators))


def _copies(made: Plan, when: str) -> Iterator[IssueStep]:
    pair = made.asked.cta_group == 2
    count = len(made.a.boxes) + len(made.b.boxes)
    readers = "the instructions that read it are done"
    if made.asked.cluster != (1, 1):
        readers += f", in {sum(made.asked.cluster) - 1} CTAs: all that this one sends to"
    yield IssueStep("TMA", "mbarrier.try_wait.parity empty[s]", f"{when}: {readers}")
    told = f"{made.transaction_bytes} bytes of this CTA"
    if pair:
        told += f"; {2 * made.transaction_bytes} if both CTAs of the pair signal the barrier of the leader"
    yield IssueStep("TMA", f"mbarrier.arrive.expect_tx full[s], {made.transaction_bytes}", told)
    what, of = "cp.async.bulk.tensor.2d ...", "the boxes of A and of B"
    if made.asked.cluster != (1, 1):
        count = made.a.own_boxes + made.b.own_boxes
        what, of = (
            "cp.async.bulk.tensor.2d ...multicast::cluster",
            "this CTA's share of the boxes, to all that need them",
        )
    yield IssueStep("TMA", f"{count} x {what} full[s]", of)
    if made.scales is not None:
        yield IssueStep("TMA", "cp.async.bulk ... full[s]", f"{made.scales.stage_bytes} bytes of scale factors")


def _there(made: Plan) -> str:
    """Where a stage is said to be free: in every CTA that copies into it."""
    return "" if made.asked.cluster == (1, 1) else f" of {sum(made.asked.cluster) - 1} CTAs"


def _wgmma(made: Plan, held: Registers) -> Iterator[IssueStep]:
    m, n, k = made.asked.blocks
    count = m // held.warpgroups * n * k
    yield IssueStep("MMA", "mbarrier.try_wait.parity full[s]", "every warpgroup: all bytes of the stage are there")
    if made.loads is not None:
        loads = m // held.warpgroups * k * made.loads.loads
        yield IssueStep("MMA", f"{loads} x {made.loads.move}", f"A into {made.loads.registers} registers an M block")
    yield IssueStep("MMA", "wgmma.fence.sync.aligned", "before the first wgmma that touches these registers")
    blocks = f"{counted(k, 'K block')} of {counted(held.each, 'accumulator')}"
    yield IssueStep("MMA", f"{count} x wgmma.mma_async", f"{blocks}; %p is 0 in the very first K block, then 1")
    yield IssueStep("MMA", "wgmma.commit_group.sync.aligned", "the group that the wait counts")
    told = "or 1, and the stage before this one is free" if made.loads is None else "before A is loaded again"
    yield IssueStep("MMA", "wgmma.wait_group.sync.aligned 0", told)
    yield IssueStep("MMA", f"mbarrier.arrive empty[s]{_there(made)}", "the stage may be filled again")
    yield IssueStep("MMA", "registers -> C", "after the loop and a wait for all groups")


def _alloc(held: TensorColumns) -> Iterator[IssueStep]:
    told = f"one warp, once; {held.plan.used} columns are used"
    yield IssueStep("one warp", f"tcgen05.alloc {held.plan.allocate} columns", told)
    yield IssueStep("one warp", "tcgen05.relinquish_alloc_permit", "no more will be allocated")


def _tcgen05(made: Plan) -> Iterator[IssueStep]:
    m, n, k = made.asked.blocks
    leader = "one thread of the leader" if made.asked.cta_group == 2 else "one thread"
    yield IssueStep("MMA", "mbarrier.try_wait.parity full[s]", f"{leader}: all bytes of the stage are there")
    yield IssueStep("MMA", "tcgen05.fence::after_thread_sync", "what follows is not moved before the wait")
    if made.scales is not None:
        count = len(made.scales.copies())
        yield IssueStep("MMA", f"{count} x tcgen05.cp", "scale factors; carried out before the tcgen05.mma after them")
    blocks = f"{counted(k, 'K block')} of {counted(m * n, 'accumulator')}"
    yield IssueStep("MMA", f"{m * n * k} x tcgen05.mma", f"{blocks}; %p is 0 in the very first K block, then 1")
    both = ", multicast to both CTAs" if made.asked.cta_group == 2 else ""
    yield IssueStep(
        "MMA", f"tcgen05.commit empty[s]{_there(made)}", f"arrives when these are done: the stage is free{both}"
    )
    yield IssueStep("MMA", "tcgen05.commit done", "after the last stage, for those who read the accumulators")


def _readout(held: TensorColumns) -> Iterator[IssueStep]:
    loads = len(held.readout.loads) // 4 * len(held.firsts)
    yield IssueStep("epilogue", "mbarrier.try_wait.parity done", "four warps, each for its own lanes")
    yield IssueStep("epilogue", "tcgen05.fence::after_thread_sync", "no tcgen05.ld before the wait")
    yield IssueStep("epilogue", f"{loads} x {held.readout.move.ptx}", "each warp")
    yield IssueStep("epilogue", "tcgen05.wait::ld.sync.aligned", "before the registers are read")
    yield IssueStep("one warp", f"tcgen05.dealloc {held.plan.allocate} columns", "after a barrier of all readers")


def events(made: Plan) -> list[str]:
    """What one CTA does with tensor memory, in the notation of ``check_events``; nothing on sm90.

    Args:
        made: the plan.

    >>> from descriptors.plans.planner import plan
    >>> events(plan("m128n32k16", "bf16", tile=(128, 32, 16), verify=False))[:4]
    ['alloc d 32', 'relinquish', 'mma d 32 idesc 0x08080490', 'ld d 32x32b.x32 warp 0']
    """
    held = made.accumulators
    if isinstance(held, Registers):
        return []
    lines = [f"alloc d {held.plan.allocate}", "relinquish"]
    if made.scales is not None:
        shapes = [one.copy for one in (made.scales.a, made.scales.b) for _ in one.steps]
        copies = zip(shapes, made.scales.copies(), strict=True)
        lines += [f"cp d+{column} {shape}" for shape, (_, column) in copies]
    width = held.readout.fragment.columns
    for first in held.firsts:
        place = f"d+{first}" if first else "d"
        lines.append(f"mma {place} {width} idesc {word_text(made.line.idescs[0], 32)}")
    for first in held.firsts:
        for load in held.readout.loads:
            column = first + load.column
            place = ("d" + (f"+{column}" if column else "")) + (f"@{load.lane}" if load.lane else "")
            lines.append(f"ld {place} {held.readout.move.shape}.x{held.readout.move.num} warp {load.warp}")
    return [*lines, f"dealloc d {held.plan.allocate}"]
