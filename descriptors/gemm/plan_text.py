"""Plans of main loops, told: instruction, operands, copies, accumulators, budgets, order of issue; and the proposals.

Law: text and data have the same words, the same tensor maps, and the same line of PTX but for registers left out.

>>> from descriptors.gemm.planner import plan, propose
>>> example = plan("m64n8k16", "bf16", tile=(64, 8, 32), stages=2)
>>> text, kept = story_plan(example), record_plan(example)
>>> all(kept["operands"][name]["word"] in text for name in "AB"), kept["instruction"]["ptx"] in text
(True, True)
>>> all(name in text for side in kept["operands"].values() for name in side["tensor_map"])
True

Law: a row of the proposals is a plan, and its command gives that plan.

>>> best = propose("bf16", tile=(64, 16, 32), arch="sm90", top=2)
>>> [line in tell_proposals(best) for line in map(plan_command, best.plans)]
[True, True]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from descriptors.answers import Table, fields
from descriptors.gemm.accumulators import THREAD_REGISTERS, Registers, TensorColumns, usual_warpgroups
from descriptors.gemm.budget import BARRIER_BYTES
from descriptors.gemm.multicast import masks
from descriptors.gemm.plan import Plan
from descriptors.gemm.plan_operands import StagedOperand, dimension_name, encode_arguments
from descriptors.gemm.planner import Proposals
from descriptors.gemm.product import Product
from descriptors.gemm.register_operand import LoadedOperand
from descriptors.gemm.schedule import order, read_bytes, traffic
from descriptors.smem.words.descriptor import SMEM_BYTES
from descriptors.text import aligned, counted, extents_text, some, word_text
from layoutalg.frozen import contents

#: The longest line of a list.
_WIDTH = 116
#: Refusals that are listed; the others are counted.
_REFUSALS = 12


def tell_plan(plan: Plan, proof: Product | None = None, because: str = "") -> str:
    """What one writes into a kernel: the instruction, the words and their steps, places, bytes, and how it is known.

    Args:
        plan: the plan.
        proof: what ``plan.verify()`` returned, for the last line.
        because: why the architecture was assumed; "" where it was named.

    >>> from descriptors.gemm.planner import plan
    >>> for line in tell_plan(plan("m64n8k16", "bf16", tile=(64, 8, 32), stages=2)).splitlines()[2:6]:
    ...     print(line)
               2 a stage: 1 M block, 1 N block, 2 K blocks
       A       0x8000002000010000  K-major 64B, LBO 16, SBO 512, transpose bit 0
               add 0, 2 for K block 0 to 1; 0, 256 for stage 0 to 1
       B       0x8000000000010200  K-major 64B, LBO 16, SBO 0, transpose bit 0
    """
    one = plan.asked
    title = f"{one.name}, {one.a} by {one.b} into {one.d} ({one.arch}): a tile of {extents_text(one.tile)}"
    lines = [f"{title}, {counted(plan.stages, 'stage')}", *aligned(_head(plan, because), indent=3)]
    return "\n".join([*lines, *([] if proof is None else list(_proof_lines(proof))[-1:])])


def _head(plan: Plan, because: str) -> Iterator[tuple[str, str]]:
    """The rows of what one writes into a kernel."""
    one, accumulators, room = plan.asked, plan.accumulators, plan.budget
    if because:
        yield "arch", f"{one.arch}, assumed, {because}"
    yield "ptx", plan.line.short
    yield "", _blocks(plan)
    if plan.line.idescs:
        yield "idesc", some(dict.fromkeys(word_text(word, 32) for word in plan.line.idescs))
    for side in (plan.a, plan.b):
        yield from _side_rows(plan, side)
    if plan.scales is not None:
        at = ", ".join(f"{name} at {base}" for name, base in zip(("SFA", "SFB"), plan.scales.bases, strict=True))
        yield "scales", f"{plan.scales.dtype}, one for {plan.scales.vector} of K: {at}"
    if isinstance(accumulators, Registers):
        groups = counted(accumulators.warpgroups, "warpgroup")
        yield "D", f"{accumulators.registers} of {THREAD_REGISTERS} registers a thread, {groups}"
    else:
        yield "D", f"{accumulators.plan.used} columns used, {accumulators.plan.allocate} to allocate: {_columns(plan)}"
    boxes = ", ".join(f"{counted(len(side.boxes), 'box')} of {side.matrix}" for side in (plan.a, plan.b))
    boxes += ", scale factors" if plan.scales else ""
    yield "copies", f"{boxes}: {plan.transaction_bytes} bytes a stage, for expect_tx"
    places = f"A at {plan.a.base}, B at {plan.b.base}, barriers at {plan.barriers}"
    yield "memory", f"{room.used} of {room.capacity} bytes: {places}; {counted(room.most_stages, 'stage')} at most"


def _side_rows(plan: Plan, side: StagedOperand) -> Iterator[tuple[str, str]]:
    """The word of an operand, and what is added to it."""
    d = side.derivation
    if side.matrix == "A" and plan.loads is not None:
        yield (
            "A",
            f"{plan.loads.registers} registers a thread for an M block, {d.major}-major {d.swizzle} at {side.base}",
        )
        return
    offsets = f"LBO {d.descriptor.leading_byte_offset}, SBO {d.descriptor.stride_byte_offset}"
    what = f"{d.major}-major {d.swizzle}, {offsets}, transpose bit {side.transposed}"
    yield side.matrix, f"{word_text(side.word)}  {what}"
    steps = [f"{some(row)} for {name} 0 to {len(row) - 1}" for name, row in _steps(side)]
    if steps:
        yield "", f"add {'; '.join(steps)}"


def _steps(side: StagedOperand) -> list[tuple[str, tuple[int, ...]]]:
    """What is added to the word of an operand, in 16-byte units, for which block or stage."""
    letter = "M" if side.matrix == "A" else "N"
    rows = [("K block", side.k_steps), (f"{letter} block", side.mn_steps), ("stage", side.stage_steps)]
    return [(name, row) for name, row in rows if len(row) > 1]


def story_plan(plan: Plan, proof: Product | None = None, because: str = "") -> str:
    """The same, then all of the plan: layouts, copies, accumulators, budgets, order of issue.

    Args:
        plan, proof, because: as ``tell_plan`` has them.

    >>> from descriptors.gemm.planner import plan
    >>> print(story_plan(plan("m64n8k16", "bf16", tile=(64, 8, 32), stages=2)).splitlines()[-1])
       MMA  registers -> C                            after the loop and a wait for all groups
    """
    lines = [tell_plan(plan, because=because), "", *_instruction(plan), ""]
    for side in (plan.a, plan.b):
        lines += [*_operand_lines(plan, side), ""]
    lines += [*_scales_lines(plan), *_accumulators(plan), "", *_shared(plan), "", *_order(plan)]
    return "\n".join([*lines, *([] if proof is None else ["", *_proof_lines(proof)])])


def tables_plan(plan: Plan) -> list[Table]:
    """Who issues what, and why."""
    return [("order of issue", [("who", "what", "why"), *map(tuple, order(plan))])]


def _proof_lines(proof: Product) -> Iterator[str]:
    yield from (f"{name} {report}" for name, report in zip("AB", proof.operands, strict=True))
    yield f"{proof} (models: {proof.evidence})"


def _instruction(plan: Plan) -> Iterator[str]:
    one, line = plan.asked, plan.line
    yield "Instruction"
    yield f"   {line.short}"
    if line.registers > 4:
        registers = f"{line.registers} registers, %d0 to %d{line.registers - 1}"
        yield f"   The accumulator is {registers}; --json has the whole line."
    yield f"   A stage is {_blocks(plan).replace(' a stage', ' of them')}."
    if line.idescs:
        words = [word_text(word, 32) for word in line.idescs]
        each = "of every K block" if len(set(words)) == 1 else "of K block 0, 1, ..."
        yield f"   idesc   {some(dict.fromkeys(words))}, {each}"
    if one.row is not None:
        yield f"   legal   {one.row}"
        yield from _wrapped("           by ", one.row.source.split(" "), " ")


def _blocks(plan: Plan) -> str:
    m, n, k = plan.asked.blocks
    return f"{m * n * k} a stage: {counted(m, 'M block')}, {counted(n, 'N block')}, {counted(k, 'K block')}"


def _accumulators(plan: Plan) -> Iterator[str]:
    accumulators, one = plan.accumulators, plan.asked
    if isinstance(accumulators, Registers):
        groups = counted(accumulators.warpgroups, "warpgroup")
        shape = f"{one.extents[0]}x{one.extents[1]} {one.d}"
        yield f"Accumulators: {accumulators.each} of {shape} in the registers of each of {groups}"
        yield f"   registers  {accumulators.registers} a thread, of {THREAD_REGISTERS}"
        yield f"   layout     (thread, value) -> m + {one.extents[0]} n: {accumulators.fragment.layout}"
        if one.blocks[0] > 1:
            yield f"   blocks     M block i is of warpgroup i % {accumulators.warpgroups}"
        return
    fragment, read = accumulators.readout.fragment, accumulators.readout
    yield f"Accumulators: {len(accumulators.firsts)} in tensor memory: {fragment.what}"
    yield f"   columns    {_columns(plan)}: {accumulators.plan.used} used, {accumulators.plan.allocate} to allocate"
    yield f"   layout     (m, n) -> lane << 16 | column: {fragment.layout}"
    yield f"   read by    {read.move.ptx}, {len(read.loads) // 4} a warp of each: (thread, value) -> {read.elements}"


def _columns(plan: Plan) -> str:
    """What lies in which columns of tensor memory."""
    assert isinstance(plan.accumulators, TensorColumns)
    parts = plan.accumulators.plan.parts
    return ", ".join(f"{part.name} {part.column} to {part.column + part.columns - 1}" for part in parts)


def _shared(plan: Plan) -> Iterator[str]:
    room = plan.budget
    yield f"Shared memory: {room.used} of {room.capacity} bytes"
    parts = ", ".join(f"{name} {size}" for name, size in room.parts)
    yield f"   a stage    {room.stage_bytes} bytes: {parts}, barriers {BARRIER_BYTES}"
    yield f"   barriers   at {plan.barriers}"
    moved = traffic(plan)
    about = f"{moved.core_matrices} core matrices of 128 bytes, {moved.wavefronts} wavefronts by the bank model"
    yield f"   reads      {moved.read_bytes} bytes a stage by the instructions: {about}"
    per_read, per_copied = f"{moved.per_byte_read:.1f}", f"{moved.per_byte_copied:.1f}"
    yield f"   intensity  {per_read} operations for a byte read, {per_copied} for a byte that the CTA copies"
    yield f"   stages     {room.most_stages} at most, by {room.limit}"


def _order(plan: Plan) -> Iterator[str]:
    yield f"Order of issue, s the stage; a stage is {plan.transaction_bytes} bytes for its full barrier"
    yield from aligned(order(plan), indent=3)


def record_plan(plan: Plan, proof: Product | None = None) -> dict[str, Any]:
    """A plan as plain data.

    Args:
        plan: the plan.
        proof: what ``plan.verify()`` returned.

    >>> from descriptors.gemm.planner import plan
    >>> record_plan(plan("m64n8k16", "bf16", tile=(64, 8, 32), stages=2))["transaction_bytes"]
    4608
    """
    one, room = plan.asked, plan.budget
    return {
        **fields(one, "arch kind tile"),
        "stages": plan.stages,
        **fields(one, "cta_group cluster blocks"),
        "instruction": {
            "name": one.name,
            "ptx": plan.ptx,
            "registers": plan.line.registers,
            "idesc": [word_text(word, 32) for word in plan.line.idescs],
            "legal": None if one.row is None else {"row": str(one.row), "source": one.row.source},
        },
        "operands": {side.matrix: _operand_record(side) for side in (plan.a, plan.b)},
        "registers_of_a": _loads_record(plan.loads),
        "scale_factors": _scales_record(plan),
        "accumulators": _accumulators_record(plan),
        "transaction_bytes": plan.transaction_bytes,
        "shared_memory": {
            "parts": dict(room.parts),
            "stage_bytes": room.stage_bytes,
            "barriers": plan.barriers,
            **fields(room, "used capacity most_stages limit"),
        },
        "traffic": contents(traffic(plan)),
        "order": [step._asdict() for step in order(plan)],
        "proof": None if proof is None else _proof_record(proof),
    }


def _accumulators_record(plan: Plan) -> dict[str, Any]:
    accumulators = plan.accumulators
    if isinstance(accumulators, Registers):
        return {**fields(accumulators, "warpgroups each registers"), "layout": str(accumulators.fragment.layout)}
    return {
        "columns": {part.name: (part.column, part.columns) for part in accumulators.plan.parts},
        "allocate": accumulators.plan.allocate,
        "layout": str(accumulators.readout.fragment.layout),
        "load": accumulators.readout.move.ptx,
        "registers": str(accumulators.readout.elements),
    }


def _proof_record(proof: Product) -> dict[str, Any]:
    return {
        "operands": {name: str(report) for name, report in zip("AB", proof.operands, strict=True)},
        "product": str(proof),
        **fields(proof, "ok accumulators differing evidence"),
    }


def _operand_lines(plan: Plan, side: StagedOperand) -> Iterator[str]:
    """An operand in every stage: its memory and layout, its words or its registers, its copies."""
    d, letter = side.derivation, "M" if side.matrix == "A" else "N"
    yield f"{side.matrix}: {extents_text(d.tile[:2])} {d.element} a stage, {d.major}-major, swizzle {d.swizzle}"
    if plan.asked.cta_group == 2:
        several = side.run < d.tile[0]
        first, each = f"{2 * side.run} j + " * several, f", for each {letter} block j" * several
        yield f"   half       CTA v of the pair holds {letter} from {first}{side.run} v on, {side.run} of them{each}"
    where = f"{side.stage_bytes} bytes a stage, at {side.base} of shared memory, a multiple of {side.alignment_bytes}"
    yield f"   memory     {where}"
    yield f"   layout     {d.smem_tile}"
    if side.matrix == "A" and plan.loads is not None:
        yield from _loads(plan.loads)
    else:
        yield from _words(side)
    arguments = [f"{name} = {value}" for name, value in encode_arguments(side)]
    yield from _wrapped("   copies     cuTensorMapEncodeTiled(", [*arguments[:-1], arguments[-1] + ")"], ", ", " " * 16)
    names = ", ".join(dimension_name(side.matrix, one) for one in side.tma.dimensions)
    for box in side.boxes:
        at = f"box at ({names}) + ({', '.join(map(str, side.coordinates(box)))})"
        yield f"              {at} to {side.base + box.offset_bytes} + {side.stage_bytes} s"
    yield from _multicast(plan, side)
    each = f"{len(side.boxes)} x {side.tma.transaction_bytes}"
    yield f"   signals    {side.transaction_bytes} bytes a stage ({each})"


def _multicast(plan: Plan, side: StagedOperand) -> Iterator[str]:
    if side.ctas == 1:
        return
    same, other = ("x", "y") if side.matrix == "A" else ("y", "x")
    own = side.own_boxes
    issued = f"box {other}" if own == 1 else f"boxes {own} {other} to {own} {other} + {own - 1}"
    yield f"   multicast  the {side.ctas} CTAs of one {same} need this tile; CTA (x, y) issues {issued}, to all of them"
    sent = [f"{mask:#x} for {same} {at}" for at, mask in enumerate(masks(side.matrix, plan.asked.cluster))]
    yield f"              with ctaMask {', '.join(sent)}; rank of a CTA: x + {plan.asked.cluster[0]} y"


def _words(side: StagedOperand) -> Iterator[str]:
    yield f"   word       {word_text(side.word)} of the first block; add to it, in 16-byte units,"
    for what, steps in _steps(side):
        yield f"              {some(steps)} for {what} 0 to {len(steps) - 1}"
    field = side.derivation.descriptor.word["start_address"].mask
    last = (side.word & field) + max(side.mn_steps) + max(side.k_steps) + max(side.stage_steps)
    verdict = "none: the last start is" if last <= field else "out of the 14-bit field: the last start would be"
    yield f"   carry      {verdict} {last} of the field's {field}"
    yield f"   major      {side.bit} = {side.transposed}"


def _loads(loads: LoadedOperand) -> Iterator[str]:
    yield f"   registers  {loads.registers} a thread for an M block of a stage, 4 a K block, in place of a word"
    yield f"   fragment   (thread, value) -> m + 64 k: {loads.fragment.layout}"
    yield f"   loads      {loads.loads} a thread for a K block: {loads.move}"
    if loads.loads == 1:
        points = ", ".join(str(loads.pointer(t)) for t in (0, 1, 8, 16))
        yield f"              threads 0, 1, 8, 16 give the addresses of elements (m, k) = {points} of the K block"


def _scales_lines(plan: Plan) -> Iterator[str]:
    """The scale factors in every stage, and the pointers of every K block; nothing where there are none."""
    if plan.scales is None:
        return
    one = plan.scales
    yield f"Scale factors: {one.dtype}, one for {one.vector} elements of K"
    for name, factors, base, column in zip(("SFA", "SFB"), (one.a, one.b), one.bases, one.columns, strict=True):
        yield f"   {name}        {factors.bytes} bytes a stage, at {base}: {factors.memory}"
        words = [word_text(word) for word, at in one.copies() if column <= at < column + factors.columns]
        yield f"              tcgen05.cp.{factors.copy} to column {column} on; a stage adds {factors.bytes // 16} to"
        yield from _wrapped(" " * 14, some(words).split(", "), ", ")
    rows = [("K block", "%sfa_tmem", "%sfb_tmem")]
    rows += [(str(k), word_text(a, 32), word_text(b, 32)) for k, (a, b) in enumerate(one.pointers)]
    yield from aligned(rows, indent=3)
    for name, letter, steps in zip(("%sfa_tmem", "%sfb_tmem"), "MN", one.steps, strict=True):
        if len(steps) > 1:
            yield f"   add to {name}, in columns, {some(steps)} for {letter} block 0 to {len(steps) - 1}"
    yield ""


def _operand_record(side: StagedOperand) -> dict[str, Any]:
    """An operand as plain data."""
    d = side.derivation
    return {
        "dtype": d.element.name,
        **fields(d, "tile mma major swizzle"),
        "layout": str(d.smem_tile),
        **fields(side, "base stage_bytes alignment_bytes"),
        "word": word_text(side.word),
        "steps": {"mn": side.mn_steps, "k": side.k_steps, "stage": side.stage_steps},
        "transposed": side.transposed,
        "transpose_bit": side.bit,
        "tensor_map": dict(encode_arguments(side)),
        "boxes": [{"coordinates": side.coordinates(box), "offset_bytes": box.offset_bytes} for box in side.boxes],
        **fields(side, "transaction_bytes run"),
        "shared_by": side.ctas,
    }


def _loads_record(loads: LoadedOperand | None) -> dict[str, Any] | None:
    """The loads of an A in registers as plain data; None of one in shared memory."""
    if loads is None:
        return None
    return {"layout": str(loads.fragment.layout), **fields(loads, "move loads registers")}


def _scales_record(plan: Plan) -> dict[str, Any] | None:
    """The scale factors as plain data; None where there are none."""
    if plan.scales is None:
        return None
    one = plan.scales
    return {
        **fields(one, "dtype vector bases columns"),
        "bytes": (one.a.bytes, one.b.bytes),
        "copies": [{"word": word_text(word), "column": column} for word, column in one.copies()],
        "pointers": [[word_text(pointer, 32) for pointer in pair] for pair in one.pointers],
        "steps": one.steps,
    }


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


def tell_proposals(proposals: Proposals) -> str:
    """Proposals for a person.

    Args:
        proposals: what ``propose`` returned.

    >>> from descriptors.gemm.planner import propose
    >>> print(tell_proposals(propose("bf16", tile=(64, 16, 32), arch="sm90", top=1)).splitlines()[0])
    5 plans of a tile of 64x16x32, ranked by the shared memory that a stage reads, then by stages
    """
    lines = [f"{proposals.headline.split(',')[0]}, ranked by the shared memory that a stage reads, then by stages"]
    rows: list[tuple[str, ...]] = [("instruction", "CTAs", "A", "B", "stages", "bytes", "accumulators", "read a stage")]
    rows += [_row(one) for one in proposals.plans]
    lines += ["", *aligned(rows, indent=3), "", "Proved, and told whole by"]
    lines += [f"   {plan_command(one)}" for one in proposals.plans]
    if proposals.fitting > len(proposals.plans):
        lines.append(f"   {proposals.fitting - len(proposals.plans)} more fit (--top shows them)")
    if proposals.refused:
        lines += ["", "Refused"]
        lines += [f"   {name}: {reason}" for name, reason in proposals.refused[:_REFUSALS]]
    if len(proposals.refused) > _REFUSALS:
        lines.append(f"   and {len(proposals.refused) - _REFUSALS} more (--json has them)")
    lines.append(f"   {proposals.others} legal shapes do not divide the tile" if proposals.others else "")
    return "\n".join(lines).rstrip()


def _row(one: Plan) -> tuple[str, ...]:
    sides = [f"{side.derivation.major}-major {side.derivation.swizzle}" for side in (one.a, one.b)]
    accumulators = one.accumulators
    place = (
        f"{accumulators.registers} registers"
        if isinstance(accumulators, Registers)
        else f"{accumulators.plan.allocate} columns"
    )
    stages = f"{one.stages} of {one.budget.most_stages}"
    used, read = str(one.budget.used), f"{read_bytes(one)} bytes"
    return one.asked.name, str(one.asked.cta_group), *sides, stages, used, place, read


def plan_command(one: Plan) -> str:
    """The command that tells a plan whole.

    >>> from descriptors.gemm.planner import plan
    >>> plan_command(plan("m64n16k16", "bf16", tile=(64, 16, 32), stages=2, verify=False))
    'descriptors plan m64n16k16 bf16 --arch sm90 --tile 64x16x32 --stages 2 --a-swizzle 64B --b-swizzle 64B'
    """
    loop = one.asked
    words = ["descriptors plan", loop.name, loop.a.name, f"--arch {loop.arch} --tile {extents_text(loop.tile)}"]
    words.append(f"--stages {one.stages}")
    words += [f"--b-dtype {loop.b.name}"] if loop.b != loop.a else []
    words += [f"--d-dtype {loop.d}"] if loop.d not in ("f32", "s32") else []
    words += [f"--{name}-major MN" for name, side in (("a", one.a), ("b", one.b)) if side.transposed]
    words += [f"--{name}-swizzle {side.derivation.swizzle}" for name, side in (("a", one.a), ("b", one.b))]
    words += [f"--cta-group {loop.cta_group}"] if loop.cta_group == 2 else []
    words += [f"--cluster {extents_text(loop.cluster)}"] if loop.cluster != (1, 1) else []
    words += ["--a registers"] if loop.a_source == "rmem" else []
    if isinstance(one.accumulators, Registers) and one.accumulators.warpgroups != usual_warpgroups(loop.blocks[0]):
        words.append(f"--warpgroups {one.accumulators.warpgroups}")
    words += [f"--smem {one.budget.capacity}"] if one.budget.capacity != SMEM_BYTES else []
    words += [f"--legality {loop.legality}"] if loop.legality != "strict" else []
    words += [f"--kind {loop.kind} --scale-dtype {loop.scale[0]} --scale-vector {loop.scale[1]}"] if loop.scale else []
    return " ".join(words)


def record_proposals(proposals: Proposals) -> dict[str, Any]:
    """Proposals as plain data.

    Args:
        proposals: what ``propose`` returned.

    >>> from descriptors.gemm.planner import propose
    >>> record_proposals(propose("bf16", tile=(64, 16, 32), arch="sm90", top=1))["plans"][0]["read_bytes"]
    5120
    """
    return {
        **fields(proposals, "tile fitting"),
        "plans": [
            {
                "instruction": one.asked.name,
                "cta_group": one.asked.cta_group,
                "majors": {side.matrix: str(side.derivation.major) for side in (one.a, one.b)},
                "swizzles": {side.matrix: str(side.derivation.swizzle) for side in (one.a, one.b)},
                "stages": one.stages,
                "most_stages": one.budget.most_stages,
                "used": one.budget.used,
                "read_bytes": read_bytes(one),
                "command": plan_command(one),
            }
            for one in proposals.plans
        ],
        "refused": [{"instruction": name, "reason": reason} for name, reason in proposals.refused],
        "others": proposals.others,
    }
