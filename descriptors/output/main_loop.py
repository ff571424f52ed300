"""A plan of a main loop: instruction, operands, copies, accumulators, budgets, order of issue, and the proof.

Law: text and data have the same words, and the same line of PTX but for registers left out.

>>> from descriptors.gemm.planner import plan
>>> made = plan("m64n8k16", "bf16", tile=(64, 8, 32), stages=2)
>>> told, kept = tell(made), record(made)
>>> all(kept["operands"][name]["word"] in told for name in "AB"), kept["instruction"]["ptx"] in told
(True, True)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from descriptors import text
from descriptors.gemm.accumulators import THREAD_REGISTERS, Registers
from descriptors.gemm.budget import BARRIER_BYTES
from descriptors.gemm.plan import Plan
from descriptors.gemm.product import Product
from descriptors.gemm.schedule import order, traffic
from descriptors.output.staged import (
    loads_record,
    operand_lines,
    operand_record,
    scales_lines,
    scales_record,
    some,
    wrapped,
)
from descriptors.output.words.pages import page
from descriptors.text import aligned, counted, extents_text, word_text


@text.tell.register(Plan)
def tell(made: Plan, proof: Product | None = None) -> str:
    """A plan for a person.

    Args:
        made: the plan.
        proof: what ``made.verify()`` returned, for the last lines.

    >>> from descriptors.gemm.planner import plan
    >>> print(tell(plan("m64n8k16", "bf16", tile=(64, 8, 32), stages=2)).splitlines()[0])
    m64n8k16, bf16 by bf16 into f32 (sm90): a tile of 64x8x32, 2 stages
    """
    one = made.asked
    title = f"{one.name}, {one.a} by {one.b} into {one.d} ({one.arch}): a tile of {extents_text(one.tile)}"
    lines = [f"{title}, {counted(made.stages, 'stage')}", "", *_instruction(made), ""]
    for side in (made.a, made.b):
        lines += [*operand_lines(made, side), ""]
    lines += [*scales_lines(made), *_accumulators(made), "", *_shared(made), "", *_order(made)]
    return "\n".join([*lines, *_proved(proof)])


@text.html.register(Plan)
def _html(made: Plan) -> str:
    rows: list[tuple[object, ...]] = [("who", "what", "why"), *map(tuple, order(made))]
    return page(tell(made), [("order of issue", rows)], text.image(made))


def _proved(proof: Product | None) -> Iterator[str]:
    if proof is not None:
        yield ""
        yield from (f"{name} {report}" for name, report in zip("AB", proof.operands, strict=True))
        yield f"{proof} (models: {proof.evidence})"


def _instruction(made: Plan) -> Iterator[str]:
    one, line = made.asked, made.line
    yield "Instruction"
    yield f"   {line.short}"
    if line.registers > 4:
        registers = f"{line.registers} registers, %d0 to %d{line.registers - 1}"
        yield f"   The accumulator is {registers}; --json has the whole line."
    m, n, k = one.blocks
    blocks = f"{counted(m, 'M block')}, {counted(n, 'N block')}, {counted(k, 'K block')}"
    yield f"   A stage is {m * n * k} of them: {blocks}."
    if line.idescs:
        words = [word_text(word, 32) for word in line.idescs]
        each = "of every K block" if len(set(words)) == 1 else "of K block 0, 1, ..."
        yield f"   idesc   {some(dict.fromkeys(words))}, {each}"
    if one.row is not None:
        yield f"   legal   {one.row}"
        yield from wrapped("           by ", one.row.source.split(" "), " ")


def _accumulators(made: Plan) -> Iterator[str]:
    held, one = made.accumulators, made.asked
    if isinstance(held, Registers):
        groups = counted(held.warpgroups, "warpgroup")
        shape = f"{one.extents[0]}x{one.extents[1]} {one.d}"
        yield f"Accumulators: {held.each} of {shape} in the registers of each of {groups}"
        yield f"   registers  {held.registers} a thread, of {THREAD_REGISTERS}"
        yield f"   layout     (thread, value) -> m + {one.extents[0]} n: {held.fragment.layout}"
        if one.blocks[0] > 1:
            yield f"   blocks     M block i is of warpgroup i % {held.warpgroups}"
        return
    fragment, read = held.readout.fragment, held.readout
    yield f"Accumulators: {len(held.firsts)} in tensor memory: {fragment.what}"
    parts = ", ".join(f"{part.name} {part.column} to {part.column + part.columns - 1}" for part in held.plan.parts)
    yield f"   columns    {parts}: {held.plan.used} used, {held.plan.allocate} to allocate"
    yield f"   layout     (m, n) -> lane << 16 | column: {fragment.layout}"
    yield f"   read by    {read.move.ptx}, {len(read.loads) // 4} a warp of each: (thread, value) -> {read.elements}"


def _shared(made: Plan) -> Iterator[str]:
    room = made.budget
    yield f"Shared memory: {room.used} of {room.capacity} bytes"
    parts = ", ".join(f"{name} {size}" for name, size in room.parts)
    yield f"   a stage    {room.stage_bytes} bytes: {parts}, barriers {BARRIER_BYTES}"
    yield f"   barriers   at {made.barriers}"
    moved = traffic(made)
    about = f"{moved.core_matrices} core matrices of 128 bytes, {moved.wavefronts} wavefronts by the bank model"
    yield f"   reads      {moved.read_bytes} bytes a stage by the instructions: {about}"
    per_read, per_copied = f"{moved.per_byte_read:.1f}", f"{moved.per_byte_copied:.1f}"
    yield f"   intensity  {per_read} operations for a byte read, {per_copied} for a byte that the CTA copies"
    yield f"   stages     {room.most_stages} at most, by {room.limit}"


def _order(made: Plan) -> Iterator[str]:
    yield f"Order of issue, s the stage; a stage is {made.transaction_bytes} bytes for its full barrier"
    yield from aligned(order(made), indent=3)


def record(made: Plan, proof: Product | None = None) -> dict[str, Any]:
    """A plan as plain data.

    Args:
        made: the plan.
        proof: what ``made.verify()`` returned.

    >>> from descriptors.gemm.planner import plan
    >>> record(plan("m64n8k16", "bf16", tile=(64, 8, 32), stages=2))["transaction_bytes"]
    4608
    """
    one, room = made.asked, made.budget
    return {
        "arch": one.arch,
        "kind": one.kind,
        "tile": one.tile,
        "stages": made.stages,
        "cta_group": one.cta_group,
        "cluster": one.cluster,
        "blocks": one.blocks,
        "instruction": {
            "name": one.name,
            "ptx": made.ptx,
            "registers": made.line.registers,
            "idesc": [word_text(word, 32) for word in made.line.idescs],
            "legal": None if one.row is None else {"row": str(one.row), "source": one.row.source},
        },
        "operands": {side.matrix: operand_record(side) for side in (made.a, made.b)},
        "registers_of_a": loads_record(made.loads),
        "scale_factors": scales_record(made),
        "accumulators": _accumulators_record(made),
        "transaction_bytes": made.transaction_bytes,
        "shared_memory": {
            "parts": dict(room.parts),
            "stage_bytes": room.stage_bytes,
            "barriers": made.barriers,
            "used": room.used,
            "capacity": room.capacity,
            "most_stages": room.most_stages,
            "limit": room.limit,
        },
        "traffic": asdict(traffic(made)),
        "order": [step._asdict() for step in order(made)],
        "proof": None if proof is None else _proof_record(proof),
    }


def _accumulators_record(made: Plan) -> dict[str, Any]:
    held = made.accumulators
    if isinstance(held, Registers):
        return {
            "warpgroups": held.warpgroups,
            "each": held.each,
            "registers": held.registers,
            "layout": str(held.fragment.layout),
        }
    return {
        "columns": {part.name: (part.column, part.columns) for part in held.plan.parts},
        "allocate": held.plan.allocate,
        "layout": str(held.readout.fragment.layout),
        "load": held.readout.move.ptx,
        "registers": str(held.readout.elements),
    }


def _proof_record(proof: Product) -> dict[str, Any]:
    return {
        "operands": {name: str(report) for name, report in zip("AB", proof.operands, strict=True)},
        "product": str(proof),
        "ok": proof.ok,
        "accumulators": proof.accumulators,
        "differing": proof.differing,
        "evidence": proof.evidence,
    }
