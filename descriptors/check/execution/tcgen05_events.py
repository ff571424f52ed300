r"""Execute asynchronous ``tcgen05`` instructions: multiplications, copies, shifts, and their commits.

Operations of one thread are assumed to be in order among themselves, so that a copy of scale factors comes before the
multiplication that reads them; everything else is ordered by commits and barriers. Operations that a run does not
follow are recorded as unchecked: shifts, parts of groups of lanes, a second CTA that issues.

Source: PTX ISA 9.1, tcgen05: Memory Consistency Model; tcgen05.mma, cp, shift, commit.

Invariant: an operation is signaled to an mbarrier by a commit of its thread, and by nothing else.

>>> from descriptors.check.execution.dispatch import execution
>>> from descriptors.check.execution.launch import Launch
>>> from descriptors.check.execution.program import program
>>> from descriptors.check.ptx.ptx_module import parse
>>> alloc = "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s], 32; ld.shared.b32 t, [s];"
>>> copy = "elect.sync _|p, -1; @p tcgen05.cp.cta_group::1.128x256b [t], d;"
>>> wait = "L: mbarrier.try_wait.parity.shared.b64 q, [b], 0; @!q bra L;"
>>> free = "tcgen05.dealloc.cta_group::1.sync.aligned.b32 t, 32; ret;"
>>> def violated_rules(last):
...     count = 32 if last == "mbarrier.arrive" else 1
...     body = f"elect.sync _|e, -1; @e mbarrier.init.shared.b64 [b], {count}; {alloc} mov.b64 d, 64; {copy}"
...     launch = Launch((32, 1, 1), (1, 1, 1), (1, 1, 1), 0, {}, {"s": 0, "b": 8}, {}, {})
...     signal = "mbarrier.arrive.shared.b64 _, [b];" if last == "mbarrier.arrive" else f"@p {last}.b64 [b];"
...     text = f".version 8.8\n.entry k() {{ {body} {signal} {wait} {free} }}"
...     machine = Machine(program(parse(text).functions[0]), launch, execution)
...     machine.run()
...     return [witness.rule for witness in machine.notes.wrong.values()]
>>> commit = "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster"
>>> violated_rules(commit), violated_rules("mbarrier.arrive")
([], ['tcgen05-dealloc-early'])
"""

from __future__ import annotations

import re

from descriptors.check.execution.accesses import (
    Operation,
    Runs,
    check_mask,
    check_patterns,
    descriptor_of,
    read_operand,
)
from descriptors.check.execution.barrier_events import arrive_at
from descriptors.check.execution.footprints import (
    cells_of_a,
    cells_of_copy,
    cells_of_d,
    columns_of_scales,
    groups_of,
    line_bytes,
    operand_runs,
    source_of_copy,
)
from descriptors.check.execution.fragment import Fragment, union
from descriptors.check.execution.knowledge import Access
from descriptors.check.execution.lanes import origin_text
from descriptors.check.execution.launch import multicast
from descriptors.check.execution.machine import Handler, Machine
from descriptors.check.execution.program import Step
from descriptors.check.execution.tensor_memory import GROUPS
from descriptors.check.execution.tensor_memory_events import Span, cell_of, check_cells, note_unseen, order_key, span_of
from descriptors.check.ptx.multiplications import (
    Side,
    TensorMma,
    described_by,
    tensor_mma,
    tensor_sides,
    use_of,
)
from descriptors.errors import DescriptorError
from descriptors.smem.instructions.idesc import Instruction as Described
from descriptors.smem.operands.operand import ELEMENT_TYPES
from descriptors.targets import has

_KINDS = {"mma": "a multiplication", "cp": "tcgen05.cp", "shift": "tcgen05.shift"}


def _check_elected(machine: Machine, fragment: Fragment, step: Step) -> None:
    if fragment.lane_count > 1:
        machine.report("tcgen05-elect", step, f"{fragment.lane_count} threads of a warp issue this instruction")


def _issue(machine: Machine, fragment: Fragment, step: Step) -> Operation:
    """Return an asynchronous operation of a thread, which its next commit covers."""
    _check_elected(machine, fragment, step)
    bit = machine.new_bit()
    _note_issue(fragment, bit)
    known, published = machine.release_set(fragment)
    fragment.issued_known |= known
    fragment.issued_published |= published
    words = step.instruction.qualifiers
    ordered = order_key(fragment, 1, pair="cta_group::2" in words)
    iteration = machine.iteration(fragment, step)
    access = Access(bit, step.instruction.line, _KINDS[words[1]], ordered=ordered, iteration=iteration)
    return Operation(access, known, published)


def _note_issue(fragment: Fragment, bit: int) -> None:
    """Record an operation of the executing lanes; a commit covers only those of its own thread."""
    fragment.issued[fragment.mask] = fragment.issued.get(fragment.mask, 0) | 1 << bit


def _commit(machine: Machine, fragment: Fragment, step: Step) -> None:
    operands = step.instruction.operands
    address = machine.require_scalar(fragment, operands[0], step, "the address of an mbarrier")
    mask = None
    if any(word.startswith("multicast") for word in step.instruction.qualifiers) and len(operands) > 1:
        mask = machine.require_scalar(fragment, operands[1], step, "the CTAs of a commit")
        check_mask(machine, step, mask)
    # A commit that only signals that A was read does not signal that an operation is complete.
    completed = union([bits for lanes, bits in fragment.issued.items() if lanes & fragment.mask])
    if READS_OF_A in step.instruction.qualifiers:
        completed &= fragment.reads_of_a
    for target in multicast(address, mask, machine.ctas):
        # Commits of a thread arrive in order: a thread that saw the last commit saw all earlier ones.
        fragment.issued_known |= arrive_at(
            machine, fragment, step, target, completed | fragment.issued_known, fragment.issued_published
        )
    _check_elected(machine, fragment, step)


#: Qualifier of a commit that arrives when the earlier multiplications have read A from shared memory.
READS_OF_A = "sync_restrict::shared::read::mma::a"


def _with_own_read_of_a(machine: Machine, fragment: Fragment, operation: Operation) -> Operation:
    """Return an operation with a separate access for its read of A, if a commit signals only such reads."""
    if not any(READS_OF_A in machine.program.function.code[i].opcode for i in machine.program.function.having(_COMMIT)):
        return operation
    bit = machine.new_bit()
    _note_issue(fragment, bit)
    fragment.reads_of_a |= 1 << bit
    return operation._replace(access=operation.access._replace(bit=bit))


_COMMIT = "tcgen05.commit"


def _multiply(machine: Machine, fragment: Fragment, step: Step) -> None:
    """Execute ``tcgen05.mma``: an asynchronous operation on shared and tensor memory."""
    view = tensor_mma(step.instruction)
    if view is None:
        note_unseen(machine, step, "its operands are not those of its opcode")
        return
    operation = _issue(machine, fragment, step)
    _check_collectors(machine, fragment, step, view)
    described = _described_instruction(machine, fragment, step, view)
    if described is None:
        machine.notes.tensor_unknown = True
        return
    ranks = _target_ctas(machine, fragment, step, described.cta_group)
    _read_operands(machine, fragment, step, view, described, operation)
    if (d := _accumulator(machine, fragment, step, view, described)) is not None:
        adds = machine.value(fragment, view.enable) == 1
        for rank in ranks:
            if adds:
                addition = operation._replace(access=operation.access._replace(kind="an addition"))
                check_cells(machine, step, rank, d, addition, writes=False)
            check_cells(machine, step, rank, d, operation, writes=True)
    if (a := _cells_of_a(machine, fragment, step, described, tensor_sides(view, described)[0])) is not None:
        for rank in ranks:
            check_cells(machine, step, rank, a, operation, writes=False)
    _read_scales(machine, fragment, step, view, described, operation)


def _read_operands(
    machine: Machine, fragment: Fragment, step: Step, view: TensorMma, described: Described, operation: Operation
) -> None:
    """Read A and B, if they are in shared memory and the project has a model of the read."""
    read: dict[str, tuple[int, Runs | None]] = {}
    for side in tensor_sides(view, described):
        word = descriptor_of(machine, fragment, step, side.operand)
        if side.matrix == "B" and view.table is not None:
            _read_lookup_table(machine, fragment, step, view, described, operation)
        elif word is not None and not side.dtype:
            why = f"{side.matrix} has packed 4-bit or 6-bit types, for which there is no read model"
            machine.note_skipped(step, why)
        elif word is not None:
            reading = _with_own_read_of_a(machine, fragment, operation) if side.matrix == "A" else operation
            for rank in _target_ctas(machine, fragment, step, described.cta_group):
                runs = operand_runs(word, _descriptor_arch(machine), side.dtype, side.major, side.shape, rank)
                read_operand(machine, step, runs, reading, padded=_has_padding(side.dtype))
                read[side.matrix] = word, runs
                if runs:
                    machine.notes.tiles[runs[0][0]] = side.dtype, line_bytes(word, "sm100")
    check_patterns(machine, step, read, _descriptor_arch(machine))


def _read_scales(
    machine: Machine, fragment: Fragment, step: Step, view: TensorMma, described: Described, operation: Operation
) -> None:
    """Read the scale factors of a multiplication, if it has any."""
    scaled = list(zip(view.scales, columns_of_scales(described), strict=False))
    if scaled and described.sfa_lanes == 128:
        note_unseen(machine, step, "the cells of scale factors of A in 128 lanes are published only in a figure")
        scaled = scaled[1:]
    for operand, columns in scaled:
        if (place := cell_of(machine, fragment, step, operand)) is not None:
            for rank in _target_ctas(machine, fragment, step, described.cta_group):
                _read_scale_columns(machine, step, rank, (place[1], place[1] + columns), operation)


def _read_lookup_table(
    machine: Machine, fragment: Fragment, step: Step, view: TensorMma, described: Described, operation: Operation
) -> None:
    """Read the table by which B is decompressed: two columns from an even one on, one lane for 8 columns of N."""
    machine.note_skipped(step, "B has 3-bit indices, for which there is no read model")
    place = cell_of(machine, fragment, step, view.table)
    if place is None:
        return
    lane, column = place
    if column % 2:
        machine.report("tcgen05-table", step, f"the lookup table of B begins in column {column}")
    if described.cta_group == 2:
        note_unseen(machine, step, "the part of the lookup table in each of the two CTAs is unknown")
        return
    groups = groups_of(range(lane, lane + -(-described.n // 8)))
    kind = "a multiplication with a lookup table"
    read = operation._replace(access=operation.access._replace(kind=kind))
    check_cells(machine, step, fragment.cta, Span(groups, column, column + 2), read, writes=False)


def _check_collectors(machine: Machine, fragment: Fragment, step: Step, view: TensorMma) -> None:
    """Check and update the collector buffers: a buffer that is used must be filled, and unnamed buffers are discarded.

    A last use of an empty buffer is accepted: NVIDIA's compiler emits it where no buffer was filled.
    """
    collected = machine.memory.tensor[fragment.cta].collected
    used = dict(word.split("::")[1:] for word in step.instruction.qualifiers if word.startswith("collector::"))
    for buffer in used if view.ws else ("a", "b"):
        usage, matrix = used.get(buffer, "discard"), view.a if buffer == "a" else view.b
        value = machine.value(fragment, matrix)
        word = value if isinstance(value, int) else None
        if usage in ("use", "lastuse"):
            filled = collected.get(buffer)
            if buffer not in collected and usage == "use":
                fact = f".collector::{buffer}::{usage} uses an empty collector buffer"
                machine.report("tcgen05-collector", step, fact)
            elif None not in (word, filled) and word != filled:
                fact = f".collector::{buffer}::{usage} is for {word:#x}, but the buffer was filled with {filled:#x}"
                machine.report("tcgen05-collector", step, fact)
        if usage == "fill":
            collected[buffer] = word
        elif usage != "use":
            collected.pop(buffer, None)


def _read_scale_columns(
    machine: Machine, step: Step, rank: int, columns: tuple[int, int], operation: Operation
) -> None:
    """Read scale factors from those quarters of the lanes that have a copy of them."""
    tensor, (low, high) = machine.memory.tensor[rank], columns
    written_groups = {
        group for group in GROUPS if any(writer for _, _, writer in tensor.cells[group].writers_in(low, high))
    }
    kind = "a multiplication with scale factors"
    scaled = operation._replace(access=operation.access._replace(kind=kind))
    check_cells(machine, step, rank, Span(frozenset(written_groups or GROUPS), low, high), scaled, writes=False)


def _descriptor_arch(machine: Machine) -> str:
    """Return the architecture of the descriptors of a kernel: sm107 has one more bit in the start address."""
    return "sm107" if has("wide descriptor", machine.program.target) else "sm100"


def _has_padding(dtype: str) -> bool:
    """Check whether the containers of a type have bits that need not be written."""
    element = ELEMENT_TYPES.get(dtype)
    return element is not None and element.bits != element.storage_bits


def _described_instruction(machine: Machine, fragment: Fragment, step: Step, view: TensorMma) -> Described | None:
    """Decode the instruction descriptor; None if it is unknown or describes no instruction."""
    number = machine.value(fragment, view.idesc)
    if not isinstance(number, int):
        machine.note_skipped(step, f"its instruction descriptor depends on {origin_text(number)}")
        return None
    described = described_by(number & 0xFFFFFFFF, use_of(view, machine.program.target))
    if described is None or not described.m or not described.n:
        machine.note_skipped(step, "its instruction descriptor describes no instruction")
        return None
    return described


def _target_ctas(machine: Machine, fragment: Fragment, step: Step, cta_group: int) -> list[int]:
    """Return the CTAs whose memory an operation accesses."""
    if cta_group == 1:
        return [fragment.cta]
    if fragment.cta % 2:
        note_unseen(machine, step, "the second CTA of the pair issues it too, although one CTA issues for both")
        return [fragment.cta]
    return [fragment.cta, fragment.cta | 1] if fragment.cta | 1 < machine.ctas else [fragment.cta]


def _accumulator(
    machine: Machine, fragment: Fragment, step: Step, view: TensorMma, described: Described
) -> Span | None:
    place = cell_of(machine, fragment, step, view.d)
    if place is None:
        return None
    lane, column = place
    cells = cells_of_d(described, lane)
    if cells is None or not cells.groups:
        note_unseen(machine, step, "no instruction has this accumulator")
        return None
    return span_of(cells, column)


def _cells_of_a(machine: Machine, fragment: Fragment, step: Step, described: Described, side: Side) -> Span | None:
    """Return the cells that A is read from; None if it is in shared memory."""
    place = cell_of(machine, fragment, step, side.operand)
    if place is None:
        return None
    lane, column = place
    try:
        cells = cells_of_a(described.m, side.shape[1], side.dtype, described.cta_group, described.sparse, lane)
    except DescriptorError:
        note_unseen(machine, step, "no instruction has this A")
        return None
    return span_of(cells, column)


_SHAPE = re.compile(r"\d+x\d+b\Z")


def _copy(machine: Machine, fragment: Fragment, step: Step) -> None:
    """Execute ``tcgen05.cp``: an asynchronous copy from shared into tensor memory."""
    operation, words = _issue(machine, fragment, step), step.instruction.qualifiers
    place = cell_of(machine, fragment, step, step.instruction.operands[0])
    if place is None:
        return
    name = next((w for w in words if _SHAPE.match(w)), "")
    warps = next((f".{w}" for w in words if w.startswith("warpx")), "")
    try:
        cells, shape = cells_of_copy(name + warps), source_of_copy(name + warps)
    except DescriptorError:
        note_unseen(machine, step, "no copy has this shape")
        return
    ranks = [fragment.cta] if "cta_group::1" in words else [fragment.cta & ~1, fragment.cta | 1]
    word = descriptor_of(machine, fragment, step, step.instruction.operands[1])
    if word is not None:
        for rank in ranks:  # rows that no multiplication reads need not be written
            runs = operand_runs(word, _descriptor_arch(machine), "u8", "K", shape, rank)
            read_operand(machine, step, runs, operation, padded=True)
    lane, column = place
    if lane or not cells.groups:
        note_unseen(machine, step, "lanes are followed only in groups of 16")
    for rank in ranks:
        check_cells(machine, step, rank, span_of(cells, column), operation, writes=True)


def _shift(machine: Machine, fragment: Fragment, step: Step) -> None:
    _issue(machine, fragment, step)
    note_unseen(machine, step, "the cells that it moves are not modeled")


TCGEN05: dict[str, Handler] = {
    "tcgen05.mma": _multiply,
    "tcgen05.cp": _copy,
    "tcgen05.shift": _shift,
    "tcgen05.commit": _commit,
}
