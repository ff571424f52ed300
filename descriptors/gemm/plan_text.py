"""Present a plan as text or plain data: instruction, operands, copies, accumulators, memory, order of issue.

Invariant: text and data have the same descriptors and tensor maps, and the same PTX except for abbreviated registers.

>>> from descriptors.gemm.planner import plan
>>> example = plan("m64n8k16", "bf16", tile=(64, 8, 32), stages=2)
>>> text, kept = story_plan(example), record_plan(example)
>>> all(kept["operands"][name]["word"] in text for name in "AB"), kept["instruction"]["ptx"] in text
(True, True)
>>> all(name in text for side in kept["operands"].values() for name in side["tensor_map"])
True
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from descriptors.answers import Table
from descriptors.gemm.accumulators import THREAD_REGISTERS, Registers, TensorColumns
from descriptors.gemm.budget import BARRIER_BYTES, Budget
from descriptors.gemm.convolution_text import CONVOLUTION, convolution_rows, step_lines
from descriptors.gemm.epilogue import Epilogue, Pieces
from descriptors.gemm.operand_text import (
    LOADS,
    METADATA,
    OPERAND,
    PROMOTION,
    SCALES,
    metadata_lines,
    operand_lines,
    promotion_lines,
    scales_lines,
    steps_text,
    word_steps,
    wrapped,
)
from descriptors.gemm.plan import HopperPlan, Plan
from descriptors.gemm.plan_metadata import Metadata
from descriptors.gemm.plan_operands import ENCODE_ARGUMENTS, StagedOperand
from descriptors.gemm.plan_request import MainLoop
from descriptors.gemm.product import Product
from descriptors.gemm.program_support import cuda_refusal
from descriptors.gemm.promotion import GROUP
from descriptors.gemm.schedule import STEP, Traffic, order, traffic
from descriptors.gemm.thread_registers import RegisterBudget, register_budget
from descriptors.gemm.turns import free_barriers
from descriptors.records import HALF, PAIR, Named, Option, Record, Row, attributes
from descriptors.targets import has_tcgen05
from descriptors.text import aligned, counted, extents_text, ranges_text, some, word_text
from descriptors.tmem.block_scaled import factors_disputed


def tell_plan(plan: Plan, proof: Product | None = None, because: str = "") -> str:
    """Return the values of a plan that a kernel needs: instruction, descriptors and their steps, addresses and sizes.

    Args:
        plan: the plan.
        proof: the result of ``plan.verify()``, for the last line.
        because: why the architecture was assumed; "" if it was given.

    >>> from descriptors.gemm.planner import plan
    >>> for line in tell_plan(plan("m64n8k16", "bf16", tile=(64, 8, 32), stages=2)).splitlines()[2:6]:
    ...     print(line)
               2 a stage: 1 M block, 1 N block, 2 K blocks
       A       0x8000002000010000  K-major 64B, LBO 16, SBO 512, transpose bit 0
               add 0, 2 for K block 0 to 1; 0, 256 for stage 0 to 1
       B       0x8000000000010200  K-major 64B, LBO 16, SBO 0, transpose bit 0
    """
    loop = plan.asked
    instruction_text = f"{'sparse ' * loop.sparse}{loop.name}, {loop.a} by {loop.b} into {loop.d} ({loop.arch})"
    title = f"{instruction_text}: a tile of {extents_text(loop.tile)}"
    lines = [f"{title}, {counted(plan.stages, 'stage')}", *aligned(_head(plan, because), indent=3)]
    return "\n".join([*lines, *([] if proof is None else list(_proof_lines(proof))[-1:])])


def _head(plan: Plan, because: str) -> Iterator[tuple[str, str]]:
    """Yield the rows of ``tell_plan``: name and value."""
    loop, accumulators, memory = plan.asked, plan.accumulators, plan.budget
    if because:
        yield "arch", f"{loop.arch}, assumed, {because}"
    if reason := cuda_refusal(plan):
        yield "program", f"--emit cuda does not support this plan: {reason}"
    yield "ptx", plan.line.short
    yield "", f"{_instructions(plan)} a stage: {_blocks(plan)}"
    if plan.line.idescs:
        yield "idesc", some(dict.fromkeys(word_text(word, 32) for word in plan.line.idescs))
    yield from convolution_rows(plan)
    for side in (plan.a, plan.b):
        yield from _side_rows(plan, side)
    if plan.metadata is not None:
        yield from _metadata_rows(plan.metadata, loop.blocks[2])
    if plan.scales is not None:
        bases = ", ".join(f"{name} at {base}" for name, base in zip(("SFA", "SFB"), plan.scales.bases, strict=True))
        yield "scales", f"{plan.scales.dtype}, one for {plan.scales.vector} of K: {bases}"
        for source in factors_disputed(loop.kind, loop.extents[2], loop.arch):
            yield "", f"disputed: {source}"
    if plan.promotion is not None:
        promotion = plan.promotion
        loads = f"{promotion.a_loads} of A, {promotion.b_loads} of B to load a thread"
        yield "scales", f"f32, one for {GROUP} of K (of B for {GROUP} rows too): {loads}"
        more = f"{promotion.registers} registers more"
        yield "", f"promoted every {promotion.blocks} K blocks, %p 0 in the first of them: {more}"
    if isinstance(accumulators, Registers):
        groups = counted(accumulators.warpgroups, "warpgroup")
        yield "D", f"{accumulators.registers} of {THREAD_REGISTERS} registers a thread, {groups}"
        yield from _register_rows(plan)
    else:
        about = f"{accumulators.plan.used} columns used, {accumulators.plan.allocate} to allocate"
        yield "D", f"{about}: {_columns(accumulators)}"
        if accumulators.sets > 1:
            yield "", f"2 sets in turn, {accumulators.step} columns on: {_turn(accumulators)}"
        yield from (("", note) for note in accumulators.plan.notes)
    if plan.epilogue.staged is not None or plan.epilogue.terms:
        yield "C", f"{plan.epilogue}"
    boxes = ", ".join(f"{counted(len(side.boxes), 'box')} of {side.matrix}" for side in (plan.a, plan.b))
    boxes += ", scale factors" * (plan.scales is not None)
    boxes += ", metadata" * (plan.metadata is not None and plan.metadata.bytes > 0)
    yield "copies", f"{boxes}: {plan.transaction_bytes} bytes a stage, for expect_tx"
    pieces = f"C at {plan.epilogue.staged.base}, " if plan.epilogue.staged else ""
    places = f"A at {plan.a.base}, B at {plan.b.base}, {pieces}barriers at {plan.barriers}"
    yield (
        "memory",
        f"{memory.used} of {memory.capacity} bytes: {places}; {counted(memory.most_stages, 'stage')} at most",
    )


def _register_rows(plan: Plan) -> Iterator[tuple[str, str]]:
    """Yield the rows with the registers of each role of a program for sm90."""
    if isinstance(plan, HopperPlan):
        launch, roles = str(register_budget(plan)).split("; ")
        yield "registers", launch
        yield "", roles


def _metadata_rows(metadata: Metadata, blocks: int) -> Iterator[tuple[str, str]]:
    """Yield the rows with the metadata operands of the instructions."""
    places = [metadata.place(k) for k in range(blocks)]
    through = f"for K block 0 to {blocks - 1}" if blocks > 1 else "for the K block"
    selectors = some(selector for _, selector in places) if len(metadata.selectors) > 1 else ""
    if has_tcgen05(metadata.packed.arch):
        selector_text = f", selector {selectors} of idesc" if selectors else ""
        first = f"column {some(column for column, _ in places)}{selector_text} {through}"
        yield "metadata", f"%e_tmem {first}; in memory at {metadata.base}"
        if metadata.blocks > 1:
            columns = some(i * metadata.block_columns for i in range(metadata.blocks))
            yield "", f"add {columns} for M block 0 to {metadata.blocks - 1}"
        return
    count = counted(metadata.registers, "register")
    selector_text = f", %sel {selectors} {through}" if selectors else ""
    yield "metadata", f"{count} a thread for an M block, of pack_metadata{selector_text}"


def _side_rows(plan: Plan, side: StagedOperand) -> Iterator[tuple[str, str]]:
    """Yield the rows with the descriptor of an operand, and the numbers that are added to it."""
    d = side.derivation
    if side.matrix == "A" and plan.loads is not None:
        yield (
            "A",
            f"{plan.loads.registers} registers a thread for an M block, {d.major}-major {d.swizzle} at {side.base}",
        )
        return
    offsets = f"LBO {d.descriptor.leading_byte_offset}, SBO {d.descriptor.stride_byte_offset}"
    description = f"{d.major}-major {d.swizzle}, {offsets}, transpose bit {side.transposed}"
    yield side.matrix, f"{word_text(side.word)}  {description}"
    steps = [f"{steps_text(row)} for {name} 0 to {len(row) - 1}" for name, row in word_steps(side)]
    if steps:
        yield "", f"add {'; '.join(steps)}"
    if d.crossing is not None:
        yield "", "LBO is an address too: at address a add a / 16 to the start and to LBO"


def story_plan(plan: Plan, proof: Product | None = None, because: str = "") -> str:
    """Return the whole plan as text: ``tell_plan``, then layouts, copies, accumulators, memory and order of issue.

    Args:
        plan, proof, because: as in ``tell_plan``.

    >>> from descriptors.gemm.planner import plan
    >>> print(story_plan(plan("m64n8k16", "bf16", tile=(64, 8, 32), stages=2)).splitlines()[-1])
       MMA  registers -> C                            after the loop and a wait for all groups
    """
    lines = [tell_plan(plan, because=because), "", *_instruction(plan), ""]
    for side in (plan.a, plan.b):
        lines += [*operand_lines(plan, side), ""]
    lines += [
        *step_lines(plan),
        *scales_lines(plan),
        *metadata_lines(plan),
        *promotion_lines(plan),
        *_accumulators(plan),
        "",
        *_shared(plan),
        "",
        *_order(plan),
    ]
    return "\n".join([*lines, *([] if proof is None else ["", *_proof_lines(proof)])])


def tables_plan(plan: Plan) -> list[Table]:
    """Return the order of issue as a table."""
    return [("order of issue", [("who", "what", "why"), *map(tuple, order(plan))])]


def _proof_lines(proof: Product) -> Iterator[str]:
    yield from (f"{name} {report}" for name, report in zip("AB", proof.operands, strict=True))
    if proof.chain is not None:
        yield from wrapped("chain ", proof.chain.headline.split("; "), "; ")
    if proof.turns is not None:
        yield f"turns {proof.turns}"
    yield f"{proof} (models: {proof.evidence})"


def _instruction(plan: Plan) -> Iterator[str]:
    loop, line = plan.asked, plan.line
    yield "Instruction"
    yield f"   {line.short}"
    if line.registers > 4:
        registers = f"{line.registers} registers, %d0 to %d{line.registers - 1}"
        yield f"   The accumulator is {registers}; --json has the whole line."
    yield f"   A stage is {_instructions(plan)} of them: {_blocks(plan)}."
    if line.idescs:
        words = [word_text(word, 32) for word in line.idescs]
        each = "of every K block" if len(set(words)) == 1 else "of K block 0, 1, ..."
        yield f"   idesc   {some(dict.fromkeys(words))}, {each}"
    if loop.row is not None:
        yield f"   legal   {loop.row}"
        yield from wrapped("           by ", loop.row.source.split(" "), " ")


def _instructions(plan: Plan) -> int:
    """Return the number of instructions of a stage."""
    return prod(plan.asked.blocks)


def _blocks(plan: Plan) -> str:
    m, n, k = plan.asked.blocks
    return f"{counted(m, 'M block')}, {counted(n, 'N block')}, {counted(k, 'K block')}"


def _accumulators(plan: Plan) -> Iterator[str]:
    accumulators, loop = plan.accumulators, plan.asked
    if isinstance(accumulators, Registers):
        groups = counted(accumulators.warpgroups, "warpgroup")
        shape = f"{loop.extents[0]}x{loop.extents[1]} {loop.d}"
        yield f"Accumulators: {accumulators.each} of {shape} in the registers of each of {groups}"
        yield f"   registers  {accumulators.registers} a thread, of {THREAD_REGISTERS}"
        yield from _register_steps(plan)
        yield f"   layout     (thread, value) -> m + {loop.extents[0]} n: {accumulators.fragment.layout}"
        if loop.blocks[0] > 1:
            yield f"   blocks     M block i is of warpgroup i % {accumulators.warpgroups}"
        return
    fragment, read = accumulators.readout.fragment, accumulators.readout
    yield f"Accumulators: {len(accumulators.firsts)} in tensor memory: {fragment.what}"
    used, allocated = accumulators.plan.used, accumulators.plan.allocate
    yield f"   columns    {_columns(accumulators)}: {used} used, {allocated} to allocate"
    yield f"   layout     (m, n) -> lane << 16 | column: {fragment.layout}"
    yield f"   read by    {read.move.ptx}, {len(read.loads) // 4} a warp of each: (thread, value) -> {read.elements}"
    if accumulators.sets > 1:
        yield f"   in turn    2 sets, {accumulators.step} columns on: {_turn(accumulators)}"


def _register_steps(plan: Plan) -> Iterator[str]:
    """Yield the lines with the registers of each role of a program for sm90."""
    if not isinstance(plan, HopperPlan):
        return
    budget = register_budget(plan)
    yield f"   at launch  {budget.launch} for each of {budget.threads} threads: a pool of {budget.pool}"
    for name, threads, each in budget.roles:
        way = "keep" if each == budget.launch else f"setmaxnreg.{'dec' if each < budget.launch else 'inc'}"
        yield f"   {name:<11}{way} {each}: {threads} threads have {threads * each}"
    yield f"   together   {budget.used} of {budget.pool}"


def _columns(accumulators: TensorColumns) -> str:
    """Return the columns of each part of tensor memory."""
    return ", ".join(
        f"{part.name} {part.column} to {part.column + part.columns - 1}" for part in accumulators.plan.parts
    )


def _turn(accumulators: TensorColumns) -> str:
    """Describe what must be read before the next tile is multiplied."""
    if not accumulators.shared:
        return "output tile t has set t mod 2, which is free once it is read"
    return f"both have columns {ranges_text(accumulators.shared)}, which are read first: then the next tile may begin"


def _shared(plan: Plan) -> Iterator[str]:
    memory = plan.budget
    yield f"Shared memory: {memory.used} of {memory.capacity} bytes"
    parts = ", ".join(f"{name} {size}" for name, size in memory.parts)
    yield f"   a stage    {memory.stage_bytes} bytes: {parts}, barriers {BARRIER_BYTES}"
    if (staged := plan.epilogue.staged) is not None:
        about = f"{counted(staged.pieces, 'piece')} of {staged.piece_bytes}: {staged.layout}"
        yield f"   C          {staged.bytes} bytes at {staged.base}, {about}"
        arguments = [f"{name} = {value}" for name, value in plan.epilogue.map_arguments]
        arguments[-1] += ")"
        yield from wrapped("   map of C   cuTensorMapEncodeTiled(", arguments, ", ", " " * 16)
    yield f"   barriers   at {plan.barriers}"
    totals = traffic(plan)
    about = f"{totals.core_matrices} core matrices of 128 bytes, {totals.wavefronts} wavefronts by the bank model"
    yield f"   reads      {totals.read_bytes} bytes a stage by the instructions: {about}"
    per_read, per_copied = f"{totals.per_byte_read:.1f}", f"{totals.per_byte_copied:.1f}"
    yield f"   intensity  {per_read} operations for a byte read, {per_copied} for a byte that the CTA copies"
    yield f"   stages     {memory.most_stages} at most, by {memory.limit}"


def _order(plan: Plan) -> Iterator[str]:
    yield f"Order of issue, s the stage; a stage is {plan.transaction_bytes} bytes for its full barrier"
    yield from aligned(order(plan), indent=3)


def _read_columns(tensor: TensorColumns) -> list[list[int]]:
    """Return the columns that are read from each set, in order."""
    return [
        [tensor.of(number).firsts[index] + load.column for index, load in tensor.reads(number)[0]]
        for number in range(tensor.sets)
    ]


#: Accumulators in registers, and in one set or in two of columns of tensor memory.
REGISTERS = Record(
    "Registers",
    lambda accumulators: isinstance(accumulators, Registers),
    **attributes(Registers, "warpgroups each registers layout=fragment.layout"),
)
_COLUMNS = {
    "columns": Row({str: PAIR}, lambda tensor: {part.name: (part.column, part.columns) for part in tensor.plan.parts}),
    **attributes(TensorColumns, "allocate=plan.allocate layout=readout.fragment.layout load=readout.move.ptx"),
    **attributes(TensorColumns, "registers=readout.elements"),
}
COLUMNS = Named(
    "TensorColumns",
    (
        Record("", lambda tensor: tensor.sets == 1, **_COLUMNS),
        Record(
            **_COLUMNS,
            sets=Row([[int]], lambda tensor: [tensor.of(number).firsts for number in range(tensor.sets)]),
            shared_columns=Row(
                (PAIR, None), lambda tensor: [tensor.shared.start, tensor.shared.stop] if tensor.shared else None
            ),
            free_barriers=Row(int, free_barriers),
            reads=Row(
                {
                    "columns": Row([[int]], _read_columns),
                    "before_it_is_free": Row(int, lambda tensor: tensor.reads(0)[1]),
                },
                ".",
            ),
        ),
    ),
)
#: Pieces of C in shared memory.
_PIECES = Record(**attributes(Pieces, "type rows columns writers base bytes swizzle layout"))
#: A proof of a plan.
PROOF = Record(
    operands=Row({"A": str, "B": str}, lambda proof: dict(zip("AB", proof.operands, strict=True))),
    product=Row(str, "."),
    chain=Row((str, None), "chain.headline"),
    turns=Row(str, optional=True),
    gathered=Row(str, optional=True),
    **attributes(Product, "ok accumulators differing evidence"),
)
#: A plan as plain data; ``proof`` is the result of its ``verify``.
record_plan = Record(
    "Plan",
    **attributes(MainLoop, "arch kind tile", "asked"),
    stages=int,
    **attributes(MainLoop, "cta_group cluster blocks", "asked"),
    instruction=Row(
        Record(
            name=Row(str, "asked.name"),
            ptx=str,
            registers=Row(int, "line.registers"),
            idesc=Row([HALF], lambda plan: list(plan.line.idescs)),
            legal=Row((Record(row=Row(str, "."), source=str), None), "asked.row"),
        ),
        ".",
    ),
    operands=Row(
        {"A": OPERAND, "B": OPERAND}, lambda plan: {side.matrix: (side, plan.implicit) for side in (plan.a, plan.b)}
    ),
    convolution=Row(CONVOLUTION, "implicit", optional=True),
    registers_of_a=Row((LOADS, None), "loads"),
    scale_factors=Row((SCALES, None), "scales"),
    metadata=Row(METADATA, lambda plan: None if plan.metadata is None else plan, optional=True),
    promotion=Row(PROMOTION, optional=True),
    accumulators=(REGISTERS, COLUMNS),
    register_budget=Row(
        (
            Record(
                **attributes(RegisterBudget, "threads launch pool used accumulators others"),
                roles=[{"name": str, "threads": int, "registers": int}],
            ),
            None,
        ),
        lambda plan: register_budget(plan) if isinstance(plan, HopperPlan) else None,
    ),
    epilogue=Record(
        **attributes(Epilogue, "c splits terms"),
        staged=(_PIECES, None),
        tensor_map=Row(
            (ENCODE_ARGUMENTS, None), lambda epilogue: dict(epilogue.map_arguments) if epilogue.staged else None
        ),
    ),
    transaction_bytes=int,
    shared_memory=Row(
        Record(
            parts=Row(
                Record(A=int, B=int, **dict.fromkeys(("SFA", "SFB", "E"), Row(int, optional=True))),
                lambda plan: dict(plan.budget.parts),
            ),
            stage_bytes=Row(int, "budget.stage_bytes"),
            barriers=int,
            **attributes(Budget, "used capacity most_stages limit", "budget"),
        ),
        ".",
    ),
    traffic=Row(Record(**attributes(Traffic, "operations copied_bytes read_bytes core_matrices wavefronts")), traffic),
    order=Row([STEP], lambda plan: list(order(plan))),
    cuda_refusal=Row((str, None), lambda plan: cuda_refusal(plan) or None),
    proof=Row((PROOF, None), Option("proof")),
)
