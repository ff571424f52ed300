"""``tcgen05`` executed: tensor memory allocated and freed, loads and stores of it, multiplications and copies into it.

The operations that a thread issues are in order among themselves; all else is in order by commits, waits and barriers.
What a run does not see of tensor memory is told: scale factors, parts of groups of lanes, a second CTA that issues.
Source: PTX ISA 9.1, tcgen05: Memory Consistency Model; tcgen05.alloc, dealloc, ld, st, wait, mma, cp, shift, commit.

Law: columns are somebody's from ``alloc`` to ``dealloc``, and no longer.

>>> from descriptors.check.execution.dispatch import execution
>>> from descriptors.check.execution.launch import Launch
>>> from descriptors.check.execution.program import program
>>> from descriptors.check.ptx.ptx_module import parse
>>> alloc = "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s], 32; ld.shared.b32 t, [s];"
>>> store, load = (f"tcgen05.{word}.sync.aligned.32x32b.x1.b32" for word in ("st", "ld"))
>>> use = f"{store} [t], {{r}}; tcgen05.wait::st.sync.aligned; {load} {{q}}, [t+%d]; tcgen05.wait::ld.sync.aligned;"
>>> def of(column):
...     body = f"{alloc} mov.u32 r, 1; {use % column} tcgen05.dealloc.cta_group::1.sync.aligned.b32 t, 32; ret;"
...     launch = Launch((32, 1, 1), (1, 1, 1), (1, 1, 1), 0, {}, {"s": 0}, {}, {})
...     held = Machine(program(parse(f".version 8.8\\n.entry k() {{ {body} }}").functions[0]), launch, execution)
...     held.run()
...     return [one.rule for one in held.found.values()]
>>> of(0), of(8), of(64)
([], ['tcgen05-unwritten'], ['tcgen05-unwritten', 'tcgen05-unallocated'])
"""

from __future__ import annotations

import re
from typing import NamedTuple

from descriptors.check.execution.accesses import Operation, read_operand
from descriptors.check.execution.barrier_events import arrive_at
from descriptors.check.execution.footprints import Cells, cells_of_a, cells_of_copy, cells_of_d, groups_of, operand_runs
from descriptors.check.execution.fragment import Awaited, Fragment, Wait
from descriptors.check.execution.knowledge import Access
from descriptors.check.execution.lanes import Unknown, origin
from descriptors.check.execution.launch import multicast
from descriptors.check.execution.machine import Handler, Machine
from descriptors.check.execution.program import Step
from descriptors.check.execution.warp_events import whole_warp
from descriptors.check.ptx.multiplications import (
    Side,
    TensorMma,
    described_by,
    tensor_mma,
    tensor_sides,
    use_of,
)
from descriptors.check.ptx.ptx_operands import Address, Operand
from descriptors.errors import DescriptorError
from descriptors.smem.instructions.idesc import Instruction as Described
from descriptors.tmem.moves import tmem_move


def _unseen(machine: Machine, step: Step, why: str) -> None:
    """Something about tensor memory that the run does not see."""
    machine.unseen.setdefault(step.place, why)
    machine.tensor_unknown = True


class _Span(NamedTuple):
    """Cells of tensor memory: groups of lanes, and columns from the first to the last but one."""

    groups: frozenset[int]
    low: int
    high: int


def _span(cells: Cells, column: int) -> _Span:
    return _Span(cells.groups, column, column + cells.columns)


def _touch(machine: Machine, step: Step, cta: int, span: _Span, operation: Operation, *, writes: bool) -> None:
    """An access of the tensor memory of a CTA."""
    (groups, low, high), tensor = span, machine.tensor[cta]
    access, known, _ = operation
    for group in groups:
        memory = tensor.cells[group]
        if not writes and any(writer is None for _, _, writer in memory.rows(low, high)):
            machine.tell("tcgen05-unwritten", step, f"found {access.kind} of columns that nothing wrote")
        for clash in memory.write(low, high, access, known) if writes else memory.read(low, high, access, known):
            earlier, verb = clash.earlier, "written" if clash.wrote else "read"
            found = f"{access.kind} of columns that {earlier.kind} in line {earlier.line} has {verb}"
            machine.clash(step, "tcgen05-order", clash, f"found {found}, with nothing that waits for it")
    if tensor.holds(low, high):
        return
    if (gone := tensor.freed_by(low, high)) is not None:
        found = f"found {access.kind} of columns that line {gone.line} frees, with nothing that orders the two"
        machine.tell("tcgen05-dealloc-early", step, found, gone.line)
        return
    machine.tell("tcgen05-unallocated", step, f"found columns {low} to {high - 1}, with {tensor.shown} allocated")


def _place(machine: Machine, one: Fragment, step: Step, operand: Operand | None) -> tuple[int, int] | None:
    """Lane and column of an address of tensor memory."""
    if not isinstance(operand, Address):
        return None
    value = machine.value(one, operand)
    if not isinstance(value, int):
        _unseen(machine, step, f"an address that depends on {origin(value)}")
        return None
    return value >> 16 & 0x7F, value & 0x1FF


# -- allocation


def _allocate(machine: Machine, one: Fragment, step: Step) -> bool | None:
    whole_warp(machine, one, step, "tcgen05-aligned")
    slot, size = step.instruction.operands[:2]
    columns = machine.known(one, size, step, "the columns of an allocation")
    tensor = machine.tensor[one.cta]
    place = tensor.room(columns)
    if place is None:
        return machine.park(one, Wait(Awaited.COLUMNS, (one.cta,)))
    tensor.allocate(place, place + columns)
    address = machine.value(one, slot)
    if isinstance(address, int):
        access = machine.access(one, step, "the address that tcgen05.alloc stores", generic=True)
        for clash in machine.shared.write(address, address + 4, access, one.known):
            found = f"found a store of the address over bytes of line {clash.earlier.line}"
            machine.clash(step, "reuse-order", clash, found)
        machine.bytes.store(address, 4, place)
    return None


def _free(machine: Machine, one: Fragment, step: Step) -> None:
    whole_warp(machine, one, step, "tcgen05-aligned")
    low, columns = (machine.value(one, operand) for operand in step.instruction.operands[:2])
    if not isinstance(low, int) or not isinstance(columns, int):
        machine.skip(step, f"an address that depends on {origin(low)}")
        return
    low &= 0x1FF
    high, tensor = low + columns, machine.tensor[one.cta]
    if (low, high) not in tensor.allocated:
        found = f"found columns {low} to {high - 1}, with {tensor.shown} allocated"
        machine.tell("tcgen05-dealloc-unknown", step, found)
        return
    access = Access(machine.fresh(), step.instruction.line, "the deallocation")
    for memory in tensor.cells:
        for clash in memory.write(low, high, access, one.known):
            user = f"{clash.earlier.kind} in line {clash.earlier.line}"
            found = f"found columns that {user} is at, with nothing that waits for it"
            machine.clash(step, "tcgen05-dealloc-early", clash, found)
    tensor.free(low, high, access)
    machine.wake(Wait(Awaited.COLUMNS, (one.cta,)))


# -- loads and stores


def _move(machine: Machine, one: Fragment, step: Step) -> None:
    """``tcgen05.ld`` and ``st``, which a wait covers."""
    words, operands = step.instruction.qualifiers, step.instruction.operands
    stores = words[1] == "st"
    whole_warp(machine, one, step, "tcgen05-aligned")
    if not stores:
        machine.set_items(one, operands[0], Unknown("a value loaded from tensor memory", step.instruction.line))
    place = _place(machine, one, step, next((o for o in operands if isinstance(o, Address)), None))
    if place is None:
        return
    shape = next((w for w in words if w[:2] in ("32", "16") and "b" in w), "32x32b")
    many = next((w for w in words if w[0] == "x" and w[1:].isdigit()), "x1")
    packed = next((f".{w}" for w in words if w.endswith("pack::16b")), "")
    offset = next((o for o in operands if isinstance(o, int)), None) if "bx2" in shape else None
    try:
        move = tmem_move(f"{shape}.{many}{packed}", "st" if stores else "ld", offset=offset)
    except DescriptorError:
        _unseen(machine, step, "a shape of no load or store")
        return
    bit, (lane, column) = machine.fresh(), place
    access = Access(bit, step.instruction.line, f"tcgen05.{words[1]}", ordered=_in_order(one, 2))
    groups = groups_of(range(lane, lane + move.lanes))
    pieces = [(column, column + move.columns)]
    if offset is not None and offset >= move.num:
        pieces = [(column, column + move.num), (column + offset, column + offset + move.num)]
    for low, high in pieces:
        operation = Operation(access, one.known, one.published)
        _touch(machine, step, one.cta, _Span(groups, low, high), operation, writes=stores)
    if stores:
        one.stores |= 1 << bit
    else:
        one.loads |= 1 << bit
        one.loaded[step.place] = one.loaded.get(step.place, 0) | 1 << bit


def _in_order(one: Fragment, kind: int, pair: bool = False) -> int:
    """A number for what one warp's instructions of a kind are in order by; those of a pair of CTAs are one's."""
    return ((one.cta & ~1 if pair else one.cta) << 16 | one.warp << 4 | kind) + 1


def _wait(machine: Machine, one: Fragment, step: Step) -> None:
    whole_warp(machine, one, step, "tcgen05-aligned")
    if "wait::ld" in step.instruction.opcode:
        one.known |= one.loads
        one.loads = 0
    else:
        one.known |= one.stores
        one.stores = 0
    one.epoch = -1


# -- asynchronous operations

_KINDS = {"mma": "a multiplication", "cp": "tcgen05.cp", "shift": "tcgen05.shift"}


def _elected(machine: Machine, one: Fragment, step: Step) -> None:
    if one.many > 1:
        machine.tell("tcgen05-elect", step, f"found {one.many} threads of a warp that issue it")


def _issue(machine: Machine, one: Fragment, step: Step) -> Operation:
    """An asynchronous operation of a thread, which its next commit covers."""
    _elected(machine, one, step)
    bit = machine.fresh()
    one.issued |= 1 << bit
    one.issued_known |= one.known
    one.issued_published |= one.published
    words = step.instruction.qualifiers
    ordered = _in_order(one, 1, pair="cta_group::2" in words)
    access = Access(bit, step.instruction.line, _KINDS[words[1]], ordered=ordered)
    return Operation(access, one.known, one.published)


def _commit(machine: Machine, one: Fragment, step: Step) -> None:
    operands = step.instruction.operands
    address = machine.known(one, operands[0], step, "the address of an mbarrier")
    mask = None
    if any(word.startswith("multicast") for word in step.instruction.qualifiers) and len(operands) > 1:
        mask = machine.known(one, operands[1], step, "the CTAs of a commit")
    for at in multicast(address, mask, machine.ctas):
        arrive_at(machine, one, step, at, one.issued | one.issued_known, one.issued_published)
    _elected(machine, one, step)


def _multiply(machine: Machine, one: Fragment, step: Step) -> None:
    view = tensor_mma(step.instruction)
    if view is None:
        return
    operation = _issue(machine, one, step)
    words = [_word(machine, one, step, operand) for operand in (view.a, view.b)]
    described = _described(machine, one, step, view)
    if described is None:
        machine.tensor_unknown = True
        return
    ranks, sides = _ranks(machine, one, step, described.cta_group), tensor_sides(view, described)
    for side, word in zip(sides, words, strict=True):
        if word is None:
            continue
        for rank in ranks:
            runs = operand_runs(word, "sm100", side.dtype, side.major, side.shape, rank)
            read_operand(machine, step, runs, operation, padded=side.dtype in _PADDED)
    if (d := _accumulator(machine, one, step, view, described)) is not None:
        adds = machine.value(one, view.enable) == 1
        for rank in ranks:
            if adds:
                addition = operation._replace(access=operation.access._replace(kind="an addition"))
                _touch(machine, step, rank, d, addition, writes=False)
            _touch(machine, step, rank, d, operation, writes=True)
    if (a := _cells_of_a(machine, one, step, described, sides[0])) is not None:
        for rank in ranks:
            _touch(machine, step, rank, a, operation, writes=False)
    if view.scales:
        _unseen(machine, step, "which cells scale factors are read from")


#: Types of less than a byte, whose containers nobody need write whole.
_PADDED = ("e2m1", "e2m1_unpacksmem", "e3m2", "e2m3")


def _word(machine: Machine, one: Fragment, step: Step, operand: Operand) -> int | None:
    """The descriptor of an operand; None for one elsewhere, or one that is not known."""
    if isinstance(operand, Address):
        return None
    value = machine.value(one, operand)
    if isinstance(value, int):
        return value
    machine.skip(step, f"a descriptor that depends on {origin(value)}")
    return None


def _described(machine: Machine, one: Fragment, step: Step, view: TensorMma) -> Described | None:
    """The instruction that its descriptor says; None for one that is not known, or none."""
    number = machine.value(one, view.idesc)
    if not isinstance(number, int):
        machine.skip(step, f"an instruction descriptor that depends on {origin(number)}")
        return None
    described = described_by(number & 0xFFFFFFFF, use_of(view))
    if described is None or not described.m or not described.n:
        machine.skip(step, "an instruction descriptor that describes no instruction")
        return None
    return described


def _ranks(machine: Machine, one: Fragment, step: Step, cta_group: int) -> list[int]:
    """The CTAs whose memory an operation is in."""
    if cta_group == 1:
        return [one.cta]
    if one.cta % 2:
        _unseen(machine, step, "a second CTA of the pair issues it too, where one is to issue for both")
        return [one.cta]
    return [one.cta, one.cta | 1] if one.cta | 1 < machine.ctas else [one.cta]


def _accumulator(machine: Machine, one: Fragment, step: Step, view: TensorMma, described: Described) -> _Span | None:
    place = _place(machine, one, step, view.d)
    if place is None:
        return None
    lane, column = place
    cells = cells_of_d(described, lane)
    if cells is None or not cells.groups:
        _unseen(machine, step, "an accumulator of no instruction")
        return None
    return _span(cells, column)


def _cells_of_a(machine: Machine, one: Fragment, step: Step, described: Described, side: Side) -> _Span | None:
    """The cells that A is read from; None where it lies in shared memory."""
    place = _place(machine, one, step, side.operand)
    if place is None:
        return None
    lane, column = place
    try:
        cells = cells_of_a(described.m, side.shape[1], side.dtype, described.cta_group, described.sparse, lane)
    except DescriptorError:
        _unseen(machine, step, "A of no instruction")
        return None
    return _span(cells, column)


_SHAPE = re.compile(r"\d+x\d+b\Z")


def _copy(machine: Machine, one: Fragment, step: Step) -> None:
    operation, words = _issue(machine, one, step), step.instruction.qualifiers
    place = _place(machine, one, step, step.instruction.operands[0])
    if place is None:
        return
    machine.skip(step, "what it reads of shared memory is not followed")
    name = next((w for w in words if _SHAPE.match(w)), "")
    multicast = next((f".{w}" for w in words if w.startswith("warpx")), "")
    try:
        cells = cells_of_copy(name + multicast)
    except DescriptorError:
        _unseen(machine, step, "a shape of no copy")
        return
    lane, column = place
    if lane or not cells.groups:
        _unseen(machine, step, "lanes that are followed in groups of 16 alone")
    for rank in [one.cta] if "cta_group::1" in words else [one.cta & ~1, one.cta | 1]:
        _touch(machine, step, rank, _span(cells, column), operation, writes=True)


def _shift(machine: Machine, one: Fragment, step: Step) -> None:
    _issue(machine, one, step)


TCGEN05: dict[str, Handler] = {
    "tcgen05.alloc": _allocate,
    "tcgen05.dealloc": _free,
    "tcgen05.ld": _move,
    "tcgen05.st": _move,
    "tcgen05.wait::ld": _wait,
    "tcgen05.wait::st": _wait,
    "tcgen05.mma": _multiply,
    "tcgen05.cp": _copy,
    "tcgen05.shift": _shift,
    "tcgen05.commit": _commit,
}
