"""Plans of ``mma.sync``, told: instruction, operands with their copies and loads, accumulators, budget, order of issue.

Law: text and data have the same instruction, swizzles and layouts.

>>> from descriptors.gemm.mma_planner import mma_plan
>>> example = mma_plan("mma.m16n8k16", "bf16", tile=(32, 32, 32), stages=2)
>>> text, kept = story_mma(example), record_mma(example)
>>> all(side[what] in text for side in kept["operands"].values() for what in ("swizzle", "layout", "move"))
True
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

from descriptors.answers import Table, fields
from descriptors.gemm.accumulators import THREAD_REGISTERS
from descriptors.gemm.mma_operand import COPY_BYTES, MmaOperand
from descriptors.gemm.mma_plan import MmaPlan
from descriptors.gemm.mma_product import MmaProduct
from descriptors.gemm.mma_scales import scale_rows
from descriptors.gemm.plan_operands import map_arguments
from descriptors.smem.tma.tma_plan import TmaPlan
from descriptors.text import aligned, counted, extents_text


def tell_mma(plan: MmaPlan, proof: MmaProduct | None = None, because: str = "") -> str:
    """What one writes into a kernel: the instruction, who copies and loads what, places, bytes, and how it is known.

    Args:
        plan: the plan.
        proof: what ``plan.verify()`` returned, for the last line.
        because: why the architecture was assumed; "" where it was named.

    >>> from descriptors.gemm.mma_planner import mma_plan
    >>> for line in tell_mma(mma_plan("mma.m16n8k16", "bf16", tile=(32, 32, 32), stages=2)).splitlines()[:4]:
    ...     print(line)
    m16n8k16, bf16 by bf16 into f32 (sm80): a tile of 32x32x32, 2 stages
       ptx     mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
               4 a stage of each of 4 warps, 2 along M and 2 along N: 1 M block, 2 N blocks, 2 K blocks
       A       K-major, swizzle S<2,4,3>: 16 bytes of 128 threads; 1 ldmatrix.x4 for a K block
    """
    loop = plan.asked
    what = f"{loop.name}, {loop.a} by {loop.b} into {loop.d} ({loop.arch})"
    title = f"{what}: a tile of {extents_text(loop.tile)}, {counted(plan.stages, 'stage')}"
    lines = [title, *aligned(_head(plan, because), indent=3)]
    return "\n".join([*lines, *_proof_lines(proof)])


def _head(plan: MmaPlan, because: str) -> Iterator[tuple[str, str]]:
    loop, room = plan.asked, plan.budget
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
        one = plan.scales
        places = ", ".join(f"{word}.{byte}" for word, byte in map(one.place, range(loop.blocks[2])))
        yield "scales", f"{one.dtype}, one for {one.vector} of K: {counted(one.words, 'register')} a row of a stage"
        yield "", f"register and byte of each K block: {places}; threads {one.threads[0]} of A, {one.threads[1]} of B"
    yield "D", f"{loop.registers} of {THREAD_REGISTERS} registers a thread; C in {loop.c}"
    if plan.by_engine:
        yield "copies", f"{plan.transaction_bytes} bytes a stage by the copy engine, for expect_tx"
    else:
        yield "copies", f"{room.stage_bytes} bytes a stage by cp.async; cp.async.wait_group {plan.pending}"
    places = f"A at {plan.a.base}, B at {plan.b.base}" + f", barriers at {plan.barriers}" * plan.by_engine
    yield "memory", f"{room.used} of {room.capacity} bytes: {places}; {counted(room.most_stages, 'stage')} at most"


def _copies(side: MmaOperand) -> str:
    """Who fills a stage."""
    if isinstance(side.fill, TmaPlan):
        return f"{counted(len(side.fill.boxes), 'box')} of {extents_text(side.fill.box)}"
    threads, along, depth = side.fill_elements.shape
    times = f" {along * depth} times" if along * depth > 1 else ""
    return f"{COPY_BYTES} bytes{times} of {threads} threads"


def _loads(plan: MmaPlan, side: MmaOperand) -> str:
    """How many loads of a thread bring a K block."""
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
    """The same, then all of the plan: layouts, who copies, loads and stores what, and the order of issue.

    Args:
        plan, proof, because: as ``tell_mma`` has them.
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
    return tuple(int(one) for one in tiler)


def _order(plan: MmaPlan) -> list[tuple[str, str, str]]:
    """Who issues what, and why."""
    ahead, sent = counted(plan.stages - 1, "tile"), f"the tile {counted(plan.stages - 1, 'step')} on"
    done, before = "its copies are done, the stage before is read", "into the stage before"
    if plan.by_engine:
        copies = [
            ("thread 0", f"expect_tx {plan.transaction_bytes} and the boxes of {ahead}", "before the loop"),
            *([("all", "ld.global of scale factors", "of the tile")] if plan.scales else []),
            ("all", "mbarrier.try_wait on full[s], bar.sync", done),
            ("thread 0", f"expect_tx and the boxes of {sent}", before),
        ]
    else:
        copies = [
            ("all", f"cp.async of {ahead}, a commit_group each", "before the loop"),
            ("all", f"cp.async.wait_group {plan.pending}, bar.sync", done),
            ("all", f"cp.async of {sent}, commit_group", before),
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
    """Who issues what, and why."""
    return [("order of issue", _order(plan))]


def record_mma(plan: MmaPlan, proof: MmaProduct | None = None) -> dict[str, Any]:
    """A plan as plain data.

    Args:
        plan: the plan.
        proof: what ``plan.verify()`` returned.

    >>> from descriptors.gemm.mma_planner import mma_plan
    >>> record_mma(mma_plan("mma.m16n8k16", "bf16", tile=(32, 32, 32), stages=2))["operands"]["A"]["conflicts"]
    {'copies': 0, 'loads': 0}
    """
    loop, room = plan.asked, plan.budget
    return {
        **fields(loop, "arch tile warps"),
        "stages": plan.stages,
        **fields(loop, "blocks threads"),
        "instruction": {**fields(loop, "name kind"), "ptx": loop.opcode},
        "operands": {side.matrix: _operand_record(side) for side in (plan.a, plan.b)},
        "accumulators": {"type": loop.d, "registers": loop.registers, "layout": str(plan.tiled.tv_layout("C"))},
        "c": loop.c,
        **({"transaction_bytes": plan.transaction_bytes} if plan.by_engine else {"wait_group": plan.pending}),
        "scale_factors": _scales_record(plan),
        "shared_memory": {"parts": dict(room.parts), **fields(room, "stage_bytes used capacity most_stages limit")},
        "order": [dict(zip(("who", "what", "why"), row, strict=True)) for row in _order(plan)[1:]],
        "proof": None
        if proof is None
        else {"product": str(proof), **fields(proof, "ok accumulators differing evidence")},
    }


def _operand_record(side: MmaOperand) -> dict[str, Any]:
    filled, loaded = side.conflicts()
    return {
        "dtype": str(side.element),
        **fields(side, "major tile packed base stage_bytes swizzle layout move shift"),
        "copies": _copies_record(side),
        "loads": {
            "tile": _tile(side.load.tiler),
            "rows": None if side.by_element else str(side.load.fragment("S").layout),
            "fragments": str(side.load.fragment("D").layout),
        },
        "conflicts": {"copies": filled, "loads": loaded},
    }


def _copies_record(side: MmaOperand) -> dict[str, Any]:
    if isinstance(side.fill, TmaPlan):
        boxes = [{"origin": box.origin, "offset_bytes": box.offset_bytes} for box in side.fill.boxes]
        return {
            "box": side.fill.box,
            "boxes": boxes,
            "tensor_map": dict(map_arguments(side.fill, side.matrix, halved=side.packed > 1)),
        }
    return {"tile": _tile(side.fill.tiler), "layout": str(side.fill.layout_tv), "bytes": COPY_BYTES}


def _scales_record(plan: MmaPlan) -> dict[str, Any] | None:
    one = plan.scales
    if one is None:
        return None
    places = [one.place(kb) for kb in range(plan.asked.blocks[2])]
    rows = {name: str(scale_rows(plan.asked, one, i)) for i, name in enumerate(("a_rows", "b_rows"))}
    return {**fields(one, "dtype vector words threads"), **rows, "places": places}
