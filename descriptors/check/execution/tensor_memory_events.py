r"""Execute the allocation and deallocation of tensor memory, and its loads and stores by warps.

A load or store is complete after a wait, or, for a load, where its registers are used. Addresses are followed by
columns and by groups of lanes; other operations are recorded as unchecked.

Source: PTX ISA 9.1, tcgen05: Tensor Memory Addressing, Memory Consistency Model; tcgen05.alloc, dealloc, ld, st, wait.

Invariant: columns are allocated from ``alloc`` to ``dealloc``, and no longer.

>>> from descriptors.check.execution.dispatch import execution
>>> from descriptors.check.execution.launch import Launch
>>> from descriptors.check.execution.program import program
>>> from descriptors.check.ptx.ptx_module import parse
>>> alloc = "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s], 32; ld.shared.b32 t, [s];"
>>> store, load = (f"tcgen05.{word}.sync.aligned.32x32b.x1.b32" for word in ("st", "ld"))
>>> use = f"{store} [t], {{r}}; tcgen05.wait::st.sync.aligned; {load} {{q}}, [t+%d]; tcgen05.wait::ld.sync.aligned;"
>>> def violated_rules(column):
...     body = f"{alloc} mov.u32 r, 1; {use % column} tcgen05.dealloc.cta_group::1.sync.aligned.b32 t, 32; ret;"
...     launch = Launch((32, 1, 1), (1, 1, 1), (1, 1, 1), 0, {}, {"s": 0}, {}, {})
...     machine = Machine(program(parse(f".version 8.8\n.entry k() {{ {body} }}").functions[0]), launch, execution)
...     machine.run()
...     return [witness.rule for witness in machine.notes.wrong.values()]
>>> violated_rules(0), violated_rules(8), violated_rules(64)
([], ['tcgen05-unwritten'], ['tcgen05-unallocated'])
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from descriptors.check.execution.accesses import Operation, check_access
from descriptors.check.execution.footprints import Cells, groups_of, move_of
from descriptors.check.execution.fragment import Awaited, Fragment, Wait
from descriptors.check.execution.knowledge import Access
from descriptors.check.execution.lanes import Unknown, origin_text
from descriptors.check.execution.machine import Handler, Machine
from descriptors.check.execution.program import Step
from descriptors.check.execution.tensor_memory import GROUP
from descriptors.check.execution.warp_events import check_whole_warp
from descriptors.check.ptx.ptx_operands import Address, Operand, Vector
from descriptors.tmem.allocations import Alloc, Fault
from descriptors.tmem.geometry import is_reached, quarter_of


def note_unseen(machine: Machine, step: Step, why: str) -> None:
    """Record what the run does not follow of tensor memory."""
    machine.notes.unseen.setdefault(step.place, why)
    machine.notes.tensor_unknown = True


class Span(NamedTuple):
    """Cells of tensor memory: groups of lanes, and columns from ``low`` to before ``high``."""

    groups: frozenset[int]
    low: int
    high: int


def span_of(cells: Cells, column: int) -> Span:
    """Return the cells of an instruction, from the column of its address on."""
    return Span(cells.groups, column, column + cells.columns)


def check_cells(
    machine: Machine, step: Step, cta: int, span: Span, operation: Operation, *, writes: bool, apart: bool = False
) -> list[int]:
    """Check an access of the tensor memory of a CTA; return the groups of lanes that it reads and nothing wrote.

    Args:
        machine: the machine.
        step: the instruction.
        cta: rank of the CTA.
        span: the cells.
        operation: the access.
        writes: whether it writes.
        apart: whether each lane goes to a thread of its own, so that the use by the threads decides.
    """
    (groups, low, high), tensor = span, machine.memory.tensor[cta]
    access, known, _ = operation
    read = () if writes else groups
    unwritten = [g for g in read if any(writer is None for _, _, writer in tensor.cells[g].writers_in(low, high))]
    is_allocated = tensor.holds(low, high)
    if is_allocated and unwritten and not (apart and len(unwritten) < len(groups)):
        machine.report("tcgen05-unwritten", step, f"{access.this} reads columns that nothing wrote")
    for group in groups:
        memory = tensor.cells[group]
        for clash in memory.write(low, high, access, known) if writes else memory.read(low, high, access, known):
            fact = clash.fact(access, "columns", writes=writes)
            machine.report_clash(step, "tcgen05-order", clash, f"{fact}; nothing waits for the earlier access")
    if is_allocated:
        return unwritten
    if (deallocation := tensor.freed_by(low, high)) is not None:
        fact = f"{access.this} accesses columns that line {deallocation.line} frees, and nothing orders the two"
        machine.report("tcgen05-dealloc-early", step, fact, deallocation.line, deallocation.iteration)
    else:
        fact = f"columns {low} to {high - 1} are not in one allocation; allocated columns: {tensor.shown}"
        machine.report("tcgen05-unallocated", step, fact)
    return unwritten


def cell_of(machine: Machine, fragment: Fragment, step: Step, operand: Operand | None) -> tuple[int, int] | None:
    """Return lane and column of an address of tensor memory; None if it is unknown."""
    if not isinstance(operand, Address):
        return None
    value = machine.value(fragment, operand)
    if not isinstance(value, int):
        note_unseen(machine, step, f"its address depends on {origin_text(value)}")
        return None
    return value >> 16 & 0x7F, value & 0x3FF


# -- allocation


def _allocate(machine: Machine, fragment: Fragment, step: Step) -> bool | None:
    """Execute ``tcgen05.alloc``: take columns, or wait until enough are free, and store their address."""
    check_whole_warp(machine, fragment, step, "tcgen05-aligned")
    slot, size = step.instruction.operands[:2]
    columns = machine.require_scalar(fragment, size, step, "the columns of an allocation")
    tensor = machine.memory.tensor[fragment.cta]
    event = Alloc(columns, exclusive="exclusive" in step.instruction.qualifiers)
    place = tensor.room(event)
    if place is None:
        machine.notes.apart[step.place] = tensor.has_columns_apart(event)
        return machine.park(fragment, Wait(Awaited.COLUMNS, (fragment.cta,)))
    tensor.allocate(place, event, step.place)
    address = machine.value(fragment, slot)
    if isinstance(address, int):
        access = machine.access(fragment, step, "the store of tcgen05.alloc", generic=True)
        check_access(machine, fragment, step, [(address, address + 4)], access, writes=True)
        machine.memory.bytes.store(address, 4, place)
    return None


def _free(machine: Machine, fragment: Fragment, step: Step) -> None:
    """Execute ``tcgen05.dealloc``: free columns, and wake the allocations that wait."""
    check_whole_warp(machine, fragment, step, "tcgen05-aligned")
    low, columns = (machine.value(fragment, operand) for operand in step.instruction.operands[:2])
    if not isinstance(low, int) or not isinstance(columns, int):
        machine.note_skipped(step, f"its address depends on {origin_text(low)}")
        return
    low &= 0x1FF
    tensor = machine.memory.tensor[fragment.cta]
    event = tensor.deallocation(low, columns, "exclusive" in step.instruction.qualifiers)
    if fault := tensor.fault(low, event):
        fact = f"columns {low} to {low + columns - 1} are no allocation; allocated columns: {tensor.shown}"
        if fault is Fault.EXCLUSIVE:
            only = "deallocation" if event.exclusive else "allocation"
            fact = f"only the {only} is .exclusive"
        machine.report("tcgen05-dealloc-unknown", step, fact)
    if (span := tensor.span(event)) is None:
        return
    access = Access(
        machine.new_bit(), step.instruction.line, "the deallocation", iteration=machine.iteration(fragment, step)
    )
    for memory in tensor.cells:
        for clash in memory.write(*span, access, fragment.known):
            user = f"{clash.earlier.kind} in line {clash.earlier.line}"
            fact = f"this deallocation frees columns that {user} may still access; nothing waits for that access"
            machine.report_clash(step, "tcgen05-dealloc-early", clash, fact)
    tensor.free(event, access)
    machine.wake(Wait(Awaited.COLUMNS, (fragment.cta,)))


# -- loads and stores


@lru_cache(maxsize=256)
def _groups(lane: int, lanes: int) -> frozenset[int]:
    return groups_of(range(lane, lane + lanes))


def _move(machine: Machine, fragment: Fragment, step: Step) -> None:
    """Execute ``tcgen05.ld`` or ``st``, which a later wait completes."""
    words, operands = step.instruction.qualifiers, step.instruction.operands
    stores = words[1] == "st"
    check_whole_warp(machine, fragment, step, "tcgen05-aligned")
    if not stores:
        loaded = Unknown("a value loaded from tensor memory", step.instruction.line)
        for operand in operands:
            if isinstance(operand, Vector | str):  # also a reduction and metadata
                machine.set_items(fragment, operand, loaded)
    place = cell_of(machine, fragment, step, next((o for o in operands if isinstance(o, Address)), None))
    if place is None:
        return
    move = move_of(step.instruction)
    if move is None:
        note_unseen(machine, step, "no load or store has this shape")
        return
    bit, (lane, column) = machine.new_bit(), place
    kind, iteration = f"tcgen05.{words[1]}", machine.iteration(fragment, step)
    access = Access(bit, step.instruction.line, kind, ordered=order_key(fragment, 2), iteration=iteration)
    reached = is_reached(fragment.warp, lane, lane + move.lanes - 1)
    if reached is False:
        fact = (
            f"warp {fragment.warp} accesses lanes {lane} to {lane + move.lanes - 1}, which are not all in its quarter"
        )
        machine.report("tcgen05-warp", step, fact)
    elif reached is None:  # kernels in use do this, and each warp accesses its own quarter
        first = quarter_of(fragment.warp)[0]
        why = (
            f"warp {fragment.warp} names lane {lane}, and sources disagree whether this means lane {first + lane} of "
            "its quarter"
        )
        machine.notes.disputed.setdefault(step.place, why)
        lane += first
    groups = _groups(lane, move.lanes)
    pieces = [(column, column + move.columns)]
    half = move.num * (1 + move.packed)
    if move.offset >= half:
        pieces = [(column, column + half), (column + move.offset, column + move.offset + half)]
    apart, unwritten = not stores and move.shape == "32x32b", set[int]()
    for low, high in pieces:
        operation, span = Operation(access, fragment.known, fragment.published), Span(groups, low, high)
        unwritten.update(check_cells(machine, step, fragment.cta, span, operation, writes=stores, apart=apart))
    if stores:
        fragment.stores |= 1 << bit
        return
    fragment.loads |= 1 << bit
    fragment.loaded[step.place] = fragment.loaded.get(step.place, 0) | 1 << bit
    if apart and len(unwritten) < len(groups):
        fragment.stale[step.place] = sum(1 << offset for offset in range(32) if (lane + offset) // GROUP in unwritten)


def order_key(fragment: Fragment, kind: int, pair: bool = False) -> int:
    """Return a number for the instructions of a kind that one warp, or one pair of CTAs, issues in order."""
    return ((fragment.cta & ~1 if pair else fragment.cta) << 16 | fragment.warp << 4 | kind) + 1


def _wait(machine: Machine, fragment: Fragment, step: Step) -> None:
    check_whole_warp(machine, fragment, step, "tcgen05-aligned")
    if "wait::ld" in step.instruction.opcode:
        fragment.known |= fragment.loads
        fragment.loads = 0
    else:
        fragment.known |= fragment.stores
        fragment.stores = 0
    fragment.epoch = -1


TENSOR_MEMORY: dict[str, Handler] = {
    "tcgen05.alloc": _allocate,
    "tcgen05.dealloc": _free,
    "tcgen05.ld": _move,
    "tcgen05.st": _move,
    "tcgen05.wait::ld": _wait,
    "tcgen05.wait::st": _wait,
}
