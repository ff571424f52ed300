"""Present a plan of ``mma.sync`` as text or plain data: instruction, operands, copies, loads, memory, order of issue.

Invariant: text and data have the same instruction, swizzles and layouts.

>>> from descriptors.gemm.mma_planner import mma_plan
>>> example = mma_plan("mma.m16n8k16", "bf16", tile=(32, 32, 32), stages=2)
>>> text, kept = story_mma(example), record_mma(example)
>>> all(side[what] in text for side in kept["operands"].values() for what in ("swizzle", "layout", "move"))
True
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import Any

from descriptors.answers import Table
from descriptors.gemm.accumulators import THREAD_REGISTERS
from descriptors.gemm.budget import Budget
from descriptors.gemm.mma_operand import COPY_BYTES, MmaOperand
from descriptors.gemm.mma_plan import MmaPlan
from descriptors.gemm.mma_product import MmaProduct
from descriptors.gemm.mma_request import MmaLoop
from descriptors.gemm.mma_scales import MmaScales, scale_rows
from descriptors.gemm.plan_operands import ENCODE_ARGUMENTS, map_arguments
from descriptors.gemm.schedule import STEP
from descriptors.records import PAIR, Named, Option, Record, Row, attributes
from descriptors.smem.operands.operand import DTYPES
from descriptors.smem.tma.tma_plan import TmaPlan
from descriptors.text import aligned, counted, extents_text


def tell_mma(plan: MmaPlan, proof: MmaProduct | None = None, because: str = "") -> str:
    """Return the values of a plan that a kernel needs: instruction, copies, loads, addresses and sizes.

    Args:
        plan: the plan.
        proof: the result of ``plan.verify()``, for the last line.
        because: why the architecture was assumed; "" if it was given.

    >>> from descriptors.gemm.mma_planner import mma_plan
    >>> for line in tell_mma(mma_plan("mma.m16n8k16", "bf16", tile=(32, 32, 32), stages=2)).splitlines()[:4]:
    ...     print(line)
    m16n8k16, bf16 by bf16 into f32 (sm80): a tile of 32x32x32, 2 stages
       ptx     mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
               4 a stage of each of 4 warps, 2 along M and 2 along N: 1 M block, 2 N blocks, 2 K blocks
       A       K-major, swizzle S<2,4,3>: 16 bytes of 128 threads; 1 ldmatrix.x4 for a K block
    """
    loop = plan.asked
    instruction_text = f"{loop.name}, {loop.a} by {loop.b} into {loop.d} ({loop.arch})"
    title = f"{instruction_text}: a tile of {extents_text(loop.tile)}, {counted(plan.stages, 'stage')}"
    lines = [title, *aligned(_head(plan, because), indent=3)]
    return "\n".join([*lines, *_proof_lines(proof)])


def _head(plan: MmaPlan, because: str) -> Iterator[tuple[str, str]]:
    loop, memory = plan.asked, plan.budget
    if because:
        yield "arch", f"{loop.arch}, assumed, {because}"
    yield "ptx", loop.opcode
    blocks = ", ".join(counted(count, f"{name} block") for name, count in zip("MNK", loop.blocks, strict=True))
    (down, across), count = loop.warps, prod(loop.blocks)
    yield (
        "",
        f"{count} a stage of each of {counted(down * across, 'warp')}, {down} along M and {across} along N: {blocks}",
    )
    for side in (plan.a, plan.b):
        yield (
            side.matrix,
            f"{side.major}-major, swizzle {side.swizzle}: {_copies(side)}; {_loads(plan, side)} for a K block",
        )
    if plan.scales is not None:
        scales = plan.scales
        places = ", ".join(f"{word}.{byte}" for word, byte in map(scales.place, range(loop.blocks[2])))
        yield (
            "scales",
            f"{scales.dtype}, one for {scales.vector} of K: {counted(scales.words, 'register')} a row of a stage",
        )
        yield (
            "",
            f"register and byte of each K block: {places}; threads {scales.threads[0]} of A, {scales.threads[1]} of B",
        )
    yield "D", f"{loop.registers} of {THREAD_REGISTERS} registers a thread; C in {loop.c}"
    if plan.by_engine:
        yield "copies", f"{plan.transaction_bytes} bytes a stage by the copy engine, for expect_tx"
    else:
        yield "copies", f"{memory.stage_bytes} bytes a stage by cp.async; cp.async.wait_group {plan.pending}"
    places = f"A at {plan.a.base}, B at {plan.b.base}" + f", barriers at {plan.barriers}" * plan.by_engine
    yield (
        "memory",
        f"{memory.used} of {memory.capacity} bytes: {places}; {counted(memory.most_stages, 'stage')} at most",
    )


def _copies(side: MmaOperand) -> str:
    """Describe the copies that fill a stage."""
    if isinstance(side.fill, TmaPlan):
        return f"{counted(len(side.fill.boxes), 'box')} of {extents_text(side.fill.box)}"
    threads, along, depth = side.fill_elements.shape
    times = f" {along * depth} times" if along * depth > 1 else ""
    return f"{COPY_BYTES} bytes{times} of {threads} threads"


def _loads(plan: MmaPlan, side: MmaOperand) -> str:
    """Describe the loads of a thread for a K block."""
    m, n, _ = plan.asked.blocks
    pieces = m if side.matrix == "A" else n // 2
    if side.by_element:
        return f"{pieces * 16 // side.bytes} {side.move}"
    padding = f".{side.move.rpartition('.')[2]}" if side.element.bits < side.element.storage_bits else ""
    shifted = f", shifted left by {side.shift}" if side.shift else ""
    return f"{pieces} ldmatrix.x4{'.trans' * side.turned}{padding}{shifted}"


def _proof_lines(proof: MmaProduct | None) -> list[str]:
    return [] if proof is None else [f"{proof} (models: {proof.evidence})"]


def story_mma(plan: MmaPlan, proof: MmaProduct | None = None, because: str = "") -> str:
    """Return the whole plan as text: ``tell_mma``, then layouts, copies, loads, stores and the order of issue.

    Args:
        plan, proof, because: as in ``tell_mma``.
    """
    lines = [tell_mma(plan, because=because), ""]
    for side in (plan.a, plan.b):
        lines += [*_operand_lines(side), ""]
    lines += [f"Accumulators: {counted(plan.asked.registers, 'register')} a thread"]
    lines += [f"   layout     (thread, value) -> m + {16 * plan.asked.warps[0]} n: {plan.tiled.tv_layout('C')}", ""]
    lines += ["Order of issue, s the stage", *aligned(_order(plan), indent=3)]
    return "\n".join([*lines, *([""] if proof is not None else []), *_proof_lines(proof)])


def _operand_lines(side: MmaOperand) -> Iterator[str]:
    filled, loaded = side.conflicts()
    unit = "element" if side.packed == 1 else "byte of two elements"
    yield f"{side.matrix}: {extents_text(side.tile)} {side.element}, {side.major}-major, at {side.base}"
    yield f"   layout     (mn, k) -> {unit} of a stage of {side.stage_bytes} bytes: {side.layout}"
    yield f"   swizzle    {side.swizzle} of bytes: {filled} bank conflicts of copies, {loaded} of loads"
    if isinstance(side.fill, TmaPlan):
        yield f"   copies     {side.fill.headline}"
    else:
        yield f"   copies     {side.fill.layout_tv} of a piece of {extents_text(_tile(side.fill.tiler))}"
    yield f"   loads      {side.move}"
    parts = side.load.fragment("S"), side.load.fragment("D")
    piece = extents_text(_tile(side.load.tiler))
    if not side.by_element:
        yield f"   rows       (thread, value) -> mn + {side.load.tiler[0]} k of a piece of {piece}: {parts[0].layout}"
    yield f"   fragments  (thread, value) -> mn + {side.load.tiler[0]} k of a piece of {piece}: {parts[1].layout}"


def _tile(tiler: Sequence[Any]) -> tuple[int, ...]:
    return tuple(int(mode_size) for mode_size in tiler)


def _order(plan: MmaPlan) -> list[tuple[str, str, str]]:
    """Return the order of issue: role, operation and reason."""
    ahead, sent = counted(plan.stages - 1, "tile"), f"the tile {counted(plan.stages - 1, 'step')} on"
    ready_note, target_note = "its copies are done, the stage before is read", "into the stage before"
    if plan.by_engine:
        copies = [
            ("thread 0", f"expect_tx {plan.transaction_bytes} and the boxes of {ahead}", "before the loop"),
            *([("all", "ld.global of scale factors", "of the tile")] if plan.scales else []),
            ("all", "mbarrier.try_wait on full[s], bar.sync", ready_note),
            ("thread 0", f"expect_tx and the boxes of {sent}", target_note),
        ]
    else:
        copies = [
            ("all", f"cp.async of {ahead}, a commit_group each", "before the loop"),
            ("all", f"cp.async.wait_group {plan.pending}, bar.sync", ready_note),
            ("all", f"cp.async of {sent}, commit_group", target_note),
        ]
    load = "ld.shared" if plan.a.by_element and plan.b.by_element else "ldmatrix"
    return [
        ("who", "what", "why"),
        *copies,
        ("warp", f"{load} of K block k + 1", "while K block k is multiplied"),
        ("warp", f"{plan.asked.blocks[0] * plan.asked.blocks[1]} mma.sync", "of K block k"),
        ("thread", "st.global of pairs of columns", "after the loop"),
    ]


def tables_mma(plan: MmaPlan) -> list[Table]:
    """Return the order of issue as a table."""
    return [("order of issue", _order(plan))]


def _of_scales(plan: MmaPlan) -> MmaPlan | None:
    """Return the plan, if it has scale factors."""
    return plan if plan.scales is not None else None


#: The scale factors of a plan.
SCALES = Record(
    **attributes(MmaScales, "dtype vector words", "scales"),
    threads=Row([int], "scales.threads"),
    a_rows=Row(str, lambda plan: scale_rows(plan.asked, plan.scales, 0)),
    b_rows=Row(str, lambda plan: scale_rows(plan.asked, plan.scales, 1)),
    places=Row([PAIR], lambda plan: list(map(plan.scales.place, range(plan.asked.blocks[2])))),
)
#: An operand as plain data, copied by threads or TMA.
MMA_OPERAND = Record(
    "MmaOperand",
    dtype=Row(DTYPES, "element"),
    **attributes(MmaOperand, "major tile packed base stage_bytes swizzle layout move shift"),
    copies=Row(
        (
            Record(
                "",
                lambda side: not isinstance(side.fill, TmaPlan),
                tile=Row(PAIR, lambda side: _tile(side.fill.tiler)),
                layout=Row(str, "fill.layout_tv"),
                bytes=Row(int, lambda side: COPY_BYTES),
            ),
            Record(
                box=Row([int], "fill.box"),
                boxes=Row([Record(origin=PAIR, offset_bytes=int)], "fill.boxes"),
                tensor_map=Row(
                    ENCODE_ARGUMENTS, lambda side: dict(map_arguments(side.fill, side.matrix, halved=side.packed > 1))
                ),
            ),
        ),
        ".",
    ),
    loads=Row(
        Record(
            tile=Row(PAIR, lambda side: _tile(side.load.tiler)),
            rows=Row((str, None), lambda side: None if side.by_element else side.load.fragment("S").layout),
            fragments=Row(str, lambda side: side.load.fragment("D").layout),
        ),
        ".",
    ),
    conflicts=Row({"copies": int, "loads": int}, lambda side: side.conflicts()),
)


def _plan(fits: Callable[[MmaPlan], bool], **copies: Row) -> Record:
    """Return the declaration of plans with the rows for one way to wait for copies."""
    return Record(
        "",
        fits,
        **attributes(MmaLoop, "arch tile warps", "asked"),
        stages=int,
        **attributes(MmaLoop, "blocks threads", "asked"),
        instruction=Row(Record(**attributes(MmaLoop, "name kind ptx=opcode")), "asked"),
        operands=Row({"A": Row(MMA_OPERAND, "a"), "B": Row(MMA_OPERAND, "b")}, "."),
        accumulators=Row(
            Record(
                type=Row(str, "asked.d"),
                registers=Row(int, "asked.registers"),
                layout=Row(str, lambda plan: plan.tiled.tv_layout("C")),
            ),
            ".",
        ),
        c=Row(str, "asked.c"),
        **copies,
        scale_factors=Row((SCALES, None), _of_scales),
        shared_memory=Row(
            Record(
                parts=Row({"A": int, "B": int}, lambda budget: dict(budget.parts)),
                **attributes(Budget, "stage_bytes used capacity most_stages limit"),
            ),
            "budget",
        ),
        order=Row([STEP], lambda plan: _order(plan)[1:]),
        proof=Row(
            (Record(product=Row(str, "."), **attributes(MmaProduct, "ok accumulators differing evidence")), None),
            Option("proof"),
        ),
    )


#: A plan as plain data; ``proof`` is the result of its ``verify``.
record_mma = Named(
    "MmaPlan",
    (
        _plan(lambda plan: not plan.by_engine, wait_group=Row(int, "pending")),
        _plan(lambda plan: plan.by_engine, transaction_bytes=Row(int)),
    ),
)
