"""A plan of a main loop: instruction, operands, copies, accumulators, budgets, order of issue, and the proof.

Law: text and data have the same words, and the same line of PTX but for registers left out.

>>> from descriptors.plans.planner import plan
>>> made = plan("m64n8k16", "bf16", tile=(64, 8, 32), stages=2)
>>> told, kept = tell(made), record(made)
>>> all(kept["operands"][name]["word"] in told for name in "AB"), kept["instruction"]["ptx"] in told
(True, True)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from descriptors import text
from descriptors.output.words.pages import page
from descriptors.plans.accumulators import THREAD_REGISTERS, Registers
from descriptors.plans.budget import BARRIER_BYTES
from descriptors.plans.operands import StagedOperand
from descriptors.plans.order import order
from descriptors.plans.plan import Plan
from descriptors.plans.product import Product
from descriptors.plans.tensor_map import dimension_name, encode_arguments
from descriptors.text import aligned, counted, extents_text, word_text

#: The longest line of a list.
_WIDTH = 116

#: Numbers of a row that are written out; of more the first ones, and the last.
_SHOWN = 8


@text.tell.register(Plan)
def tell(made: Plan, proof: Product | None = None) -> str:
    """A plan for a person.

    Args:
        made: the plan.
        proof: what ``made.verify()`` returned, for the last lines.

    >>> from descriptors.plans.planner import plan
    >>> print(tell(plan("m64n8k16", "bf16", tile=(64, 8, 32), stages=2)).splitlines()[0])
    m64n8k16, bf16 by bf16 into f32 (sm90): a tile of 64x8x32, 2 stages
    """
    one = made.asked
    title = f"{one.name}, {one.a} by {one.b} into {one.d} ({one.arch}): a tile of {extents_text(one.tile)}"
    lines = [f"{title}, {counted(made.stages, 'stage')}", "", *_instruction(made), ""]
    for side in (made.a, made.b):
        lines += [*_operand(made, side), ""]
    lines += [*_scales(made), *_accumulators(made), "", *_shared(made), "", *_order(made)]
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
        yield f"   idesc   {_some(dict.fromkeys(words))}, {each}"
    if one.row is not None:
        yield f"   legal   {one.row}"
        yield from _wrapped("           by ", one.row.source.split(" "), " ")


def _operand(made: Plan, side: StagedOperand) -> Iterator[str]:
    d, letter = side.derivation, "M" if side.matrix == "A" else "N"
    yield f"{side.matrix}: {extents_text(d.tile[:2])} {d.element} a stage, {d.major}-major, swizzle {d.swizzle}"
    if made.asked.cta_group == 2:
        yield f"   half       CTA v of the pair holds {letter} from {d.tile[0]} v on, {d.tile[0]} of them"
    where = f"{side.stage_bytes} bytes a stage, at {side.base} of shared memory, a multiple of {side.alignment_bytes}"
    yield f"   memory     {where}"
    yield f"   layout     {d.smem_tile}"
    yield f"   word       {word_text(side.word)} of the first block; add to it, in 16-byte units,"
    for what, steps in ((f"{letter} block", side.mn_steps), ("K block", side.k_steps), ("stage", side.stage_steps)):
        if len(steps) > 1:
            yield f"              {_some(steps)} for {what} 0 to {len(steps) - 1}"
    last = side.word_at(-1, -1, -1) & 0x3FFF
    yield f"   carry      none: the last start is {last} of the 14-bit field's 16383"
    yield f"   major      {side.bit} = {side.transposed}"
    told = [f"{name} = {value}" for name, value in encode_arguments(side)]
    yield from _wrapped("   copies     cuTensorMapEncodeTiled(", [*told[:-1], told[-1] + ")"], ", ", " " * 16)
    names = ", ".join(dimension_name(side.matrix, one) for one in side.tma.dimensions)
    for box in side.boxes:
        at = f"box at ({names}) + ({', '.join(map(str, box.coordinates))})"
        yield f"              {at} to {side.base + box.offset_bytes} + {side.stage_bytes} s"
    each = f"{len(side.boxes)} x {side.tma.transaction_bytes}"
    yield f"   signals    {side.transaction_bytes} bytes a stage ({each})"


def _wrapped(begin: str, words: Sequence[str], between: str, indent: str = "") -> Iterator[str]:
    """Words behind a beginning, in lines of bounded length."""
    line = begin + words[0]
    for word in words[1:]:
        if len(line) + len(between) + len(word) > _WIDTH:
            yield (line + between).rstrip()
            line = (indent or " " * len(begin)) + word
        else:
            line += between + word
    yield line


def _some(values: Iterable[object]) -> str:
    given = list(map(str, values))
    return ", ".join(given if len(given) <= _SHOWN else [*given[: _SHOWN - 2], "...", given[-1]])


def _scales(made: Plan) -> Iterator[str]:
    if made.scales is None:
        return
    one = made.scales
    yield f"Scale factors: {one.dtype}, one for {one.vector} elements of K"
    for name, factors, base, column in zip(("SFA", "SFB"), (one.a, one.b), one.bases, one.columns, strict=True):
        yield f"   {name}        {factors.bytes} bytes a stage, at {base}: {factors.memory}"
        words = [word_text(word) for word, at in one.copies() if column <= at < column + factors.columns]
        yield f"              tcgen05.cp.{factors.copy} to column {column} on; a stage adds {factors.bytes // 16} to"
        yield f"              {_some(words)}"
    rows = [("K block", "%sfa_tmem", "%sfb_tmem")]
    rows += [(str(k), word_text(a, 32), word_text(b, 32)) for k, (a, b) in enumerate(one.pointers)]
    yield from aligned(rows, indent=3)
    yield ""


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
    yield f"   stages     {room.most_stages} at most, by {room.limit}"


def _order(made: Plan) -> Iterator[str]:
    yield f"Order of issue, s the stage; a stage is {made.transaction_bytes} bytes for its full barrier"
    yield from aligned(order(made), indent=3)


def record(made: Plan, proof: Product | None = None) -> dict[str, Any]:
    """A plan as plain data.

    Args:
        made: the plan.
        proof: what ``made.verify()`` returned.

    >>> from descriptors.plans.planner import plan
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
        "blocks": one.blocks,
        "instruction": {
            "name": one.name,
            "ptx": made.ptx,
            "registers": made.line.registers,
            "idesc": [word_text(word, 32) for word in made.line.idescs],
            "legal": None if one.row is None else {"row": str(one.row), "source": one.row.source},
        },
        "operands": {side.matrix: _operand_record(side) for side in (made.a, made.b)},
        "scale_factors": _scales_record(made),
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
        "order": [step._asdict() for step in order(made)],
        "proof": None if proof is None else _proof_record(proof),
    }


def _operand_record(side: StagedOperand) -> dict[str, Any]:
    d = side.derivation
    return {
        "dtype": d.element.name,
        "tile": d.tile,
        "mma": d.mma,
        "major": str(d.major),
        "swizzle": str(d.swizzle),
        "layout": str(d.smem_tile),
        "base": side.base,
        "stage_bytes": side.stage_bytes,
        "alignment_bytes": side.alignment_bytes,
        "word": word_text(side.word),
        "steps": {"mn": side.mn_steps, "k": side.k_steps, "stage": side.stage_steps},
        "transposed": side.transposed,
        "transpose_bit": side.bit,
        "tensor_map": dict(encode_arguments(side)),
        "boxes": [{"coordinates": box.coordinates, "offset_bytes": box.offset_bytes} for box in side.boxes],
        "transaction_bytes": side.transaction_bytes,
    }


def _scales_record(made: Plan) -> dict[str, Any] | None:
    if made.scales is None:
        return None
    one = made.scales
    return {
        "dtype": one.dtype,
        "vector": one.vector,
        "bases": one.bases,
        "columns": one.columns,
        "bytes": (one.a.bytes, one.b.bytes),
        "copies": [{"word": word_text(word), "column": column} for word, column in one.copies()],
        "pointers": [[word_text(pointer, 32) for pointer in pair] for pair in one.pointers],
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
