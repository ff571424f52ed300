r"""The protocol events of the instructions of a function.

Events have only the registers of ``wgmma.mma_async`` and ``tcgen05.ld``, and registers that are copied from these. An
instruction that is not understood writes its first operand and reads the registers of the others.
Source: PTX ISA 9.1, instruction syntax: the first operand is the result.

Invariant: an instruction without such a register has no event.

>>> from descriptors.check.ptx.ptx_module import parse
>>> function = parse(".version 8.8\n.entry k() { add.s32 %r1, %r2, %r3; ret; }").functions[0]
>>> events_of(function, {}, {})
{1: [End()]}
"""

from __future__ import annotations

from collections.abc import Mapping

from descriptors.check.events import (
    Arrive,
    BarrierWait,
    Call,
    Commit,
    Copy,
    End,
    Event,
    Fence,
    FenceAfter,
    Issue,
    Load,
    Meeting,
    Mma,
    Place,
    Relinquish,
    Store,
    TensorCommit,
    Touch,
    Wait,
    WaitLoad,
    WaitStore,
)
from descriptors.check.instruction_forms import illegal_multiplication
from descriptors.check.ptx.conditions import Conditions
from descriptors.check.ptx.constant_folding import WAITS, Values, number
from descriptors.check.ptx.known_bits import Known
from descriptors.check.ptx.multiplications import wgmma
from descriptors.check.ptx.ptx_module import Function, Instruction, targets
from descriptors.check.ptx.ptx_operands import Address, Operand, Vector, names
from descriptors.check.tensor_cells import TensorCells
from descriptors.targets import architecture, has
from descriptors.tmem.allocations import Alloc, Dealloc
from layoutalg.frozen import replace


def events_of(
    function: Function, values: Values, variables: Mapping[str, int], conditions: Conditions | None = None,
    cells: TensorCells | None = None, target: str = "",
) -> dict[int, list[Event]]:  # fmt: skip
    """Return the events of a function, by the index of their instruction.

    Args:
        function: the function.
        values: the operands of its tensor-core instructions as ``fold`` returns them.
        variables: variables of the module, which are not registers.
        conditions: conditions of the function; without them, only mbarriers at the address of a variable have a name.
        cells: the cells of tensor memory that its instructions access; None if they are not known.
        target: the ``.target`` of its module, which limits exclusive allocations; "" for any.
    """
    tensor = cells is not None or bool(function.having("tcgen05."))
    tracked = _tracked_registers(function) - variables.keys()
    # A called function may free the allocations, and so may the caller of this function.
    frees = not function.entry or bool(function.having("tcgen05.dealloc", "call"))
    events_by_index: dict[int, list[Event]] = {}
    for index in sorted({*function.having(*_EVENTS), *(i for name in tracked for i in function.names.get(name, ()))}):
        instruction = function.code[index]
        name = instruction.opcode
        if name.startswith("wgmma."):
            events = _wgmma_events(instruction, values.get(index, {}))
        elif name.startswith(("tcgen05.", *WAITS)):
            events = [
                _limit_exclusive(event, target)
                for event in _tensor_events(index, instruction, values.get(index, {}), conditions, cells)
            ]
        elif tensor and name.startswith(_MEETINGS):
            events = [Arrive()] if name.startswith("mbarrier") else [Meeting()]
        elif name.startswith(("ret", "exit")) and not frees:
            events = [End()]
        elif name.startswith("call"):
            events = [Call(), *_register_events(instruction, tracked)]
        else:
            events = _register_events(instruction, tracked)
        if events:
            events_by_index[index] = events
    return events_by_index


_MEETINGS = ("bar.", "barrier.", "mbarrier.arrive.")
#: Instructions that are events whatever registers they have.
_EVENTS = ("wgmma.", "tcgen05.", *WAITS, *_MEETINGS, "ret", "exit", "call")


def _tracked_registers(function: Function) -> set[str]:
    """Return the registers of multiplications and loads, and all registers that are copied from them."""
    tracked: set[str] = set()
    copies: dict[str, list[str]] = {}
    for index in function.having("wgmma.mma_async", "tcgen05.ld", "mov."):
        instruction = function.code[index]
        if instruction.opcode.startswith("wgmma.mma_async"):
            for operand in instruction.operands[:2]:
                tracked.update(names(operand) if isinstance(operand, Vector) else ())
        elif instruction.opcode.startswith("tcgen05.ld"):
            tracked.update(_loaded_registers(instruction))
        elif pair := _parse_copy(instruction):
            copies.setdefault(pair[1], []).append(pair[0])
    waiting = list(tracked)
    while waiting:
        for name in copies.get(waiting.pop(), ()):
            if name not in tracked:
                tracked.add(name)
                waiting.append(name)
    return tracked


def _parse_copy(instruction: Instruction) -> tuple[str, str] | None:
    """Return target and source of an unguarded ``mov`` between registers."""
    if not instruction.opcode.startswith("mov.") or len(instruction.operands) != 2 or instruction.predicate:
        return None
    target, source = instruction.operands
    return (target, source) if isinstance(target, str) and isinstance(source, str) else None


def _register_events(instruction: Instruction, tracked: set[str]) -> list[Event]:
    if (pair := _parse_copy(instruction)) and pair[1] in tracked:
        return [Copy(*pair)]
    written = targets(instruction)
    read_names = [name for operand in instruction.operands[bool(written) :] for name in names(operand)]
    reads = tuple(name for name in dict.fromkeys(read_names) if name in tracked)
    writes = tuple(name for name in written if name in tracked)
    return [Touch(reads, writes, moves=instruction.opcode.startswith("mov."))] if reads or writes else []


def _wgmma_events(instruction: Instruction, values: Mapping[str, Known]) -> list[Event]:
    name = instruction.qualifiers[1] if len(instruction.qualifiers) > 1 else ""
    if name == "fence":
        return [Fence()]
    if name == "commit_group":
        return [Commit()]
    if name == "wait_group":
        pending = instruction.operands[0] if instruction.operands else 0
        return [Wait(pending if isinstance(pending, int) else 0)]
    view = wgmma(instruction)
    if view is None:
        return []
    a = names(view.a) if isinstance(view.a, Vector) else ()
    shape = ".".join(w for w in instruction.qualifiers[2:] if w not in ("sync", "aligned"))
    if not view.kind or illegal_multiplication(view):
        shape = ""  # it has a finding of its own, and is not compared with others
    return [Mma(names(view.d), a, shape, adds=_predicate_value(view.scale_d, values))]


def _predicate_value(operand: Operand, values: Mapping[str, Known]) -> bool | None:
    """Return whether a predicate holds; None if it is not known."""
    if isinstance(operand, int):
        return operand != 0
    constant = values[operand].constant(64) if isinstance(operand, str) and operand in values else None
    return None if constant is None else constant != 0


def _tensor_events(
    index: int,
    instruction: Instruction,
    values: Mapping[str, Known],
    conditions: Conditions | None,
    cells: TensorCells | None,
) -> list[Event]:
    words = instruction.qualifiers
    name = words[1] if len(words) > 1 else ""

    def place(number: int) -> str:
        return _barrier_name(instruction.operands[number : number + 1], values, conditions, index)

    slot = cells.allocation(index) if cells and name in ("alloc", "dealloc") else ""
    match name:
        case "mma":
            product = cells.products.get(index) if cells else None
            return [
                Issue(
                    name, cells=cells.result(index) if cells else None, reads=cells.factor(index) if cells else None,
                    adds=product.adds if product else None,
                )
            ]  # fmt: skip
        case "cp" | "shift":
            return [Issue(name, cells=cells.copied(index) if cells and name == "cp" else None)]
        case "alloc":
            return [Alloc(_column_count(instruction, values), exclusive="exclusive" in words, slot=slot)]
        case "dealloc":
            return [Dealloc(_column_count(instruction, values), exclusive="exclusive" in words, slot=slot)]
        case "relinquish_alloc_permit":
            return [Relinquish()]
        case "commit":
            return [TensorCommit(place(0), reads_alone=any(word.startswith("sync_restrict") for word in words))]
        case "try_wait" | "test_wait":
            return [BarrierWait(place(1), "relaxed" in words)]
        case "ld":
            return [
                Load(
                    _loaded_registers(instruction),
                    _tensor_address(instruction.operands[-1:], values)
                    or _tensor_address(instruction.operands[-2:-1], values),
                    cells=cells.moved(index) if cells else None,
                )
            ]  # fmt: skip
        case "st":
            stored = cells.moved(index) if cells else None
            registers = tuple(
                n for operand in instruction.operands if isinstance(operand, Vector) for n in names(operand)
            )
            return [Touch(registers), Store(registers, _tensor_address(instruction.operands[:1], values), cells=stored)]
    simple: dict[str, Event] = {
        "wait::ld": WaitLoad(),
        "wait::st": WaitStore(),
        "fence::after_thread_sync": FenceAfter(),
    }
    return [simple[name]] if name in simple else []


def _limit_exclusive(event: Event, target: str) -> Event:
    """Return an event with the largest exclusive allocation of a target."""
    if not isinstance(event, Alloc) or not has("tcgen05", target):
        return event
    return replace(event, most=architecture(target).exclusive_columns)


def _loaded_registers(instruction: Instruction) -> tuple[str, ...]:
    """Return the registers that a ``tcgen05.ld`` fills: all but its address, including reductions and metadata."""
    return tuple(
        name for operand in instruction.operands if not isinstance(operand, Address) for name in names(operand)
    )


def _column_count(instruction: Instruction, values: Mapping[str, Known]) -> int | None:
    """Return the number of columns of an allocation or deallocation."""
    return number(instruction.operands[1], values) if len(instruction.operands) > 1 else None


def _barrier_name(
    place: tuple[Operand, ...], values: Mapping[str, Known], conditions: Conditions | None, index: int
) -> str:
    """Return the name of the mbarrier at an address: a variable, or else a register, and an offset."""
    variable_name = barrier(place, values)
    if variable_name or not place or not isinstance(place[0], Address) or conditions is None or not place[0].base:
        return variable_name
    base, offset = conditions.sum(place[0].base, index)
    if base.startswith("%") or base in conditions.where:
        return f"{base}+{offset + place[0].offset}"
    return f"&{base}+{offset + place[0].offset}"


def _tensor_address(place: tuple[Operand, ...], values: Mapping[str, Known]) -> Place | None:
    """Return an address in tensor memory as base, column and lane; None if the operand is not an address."""
    if not place or not isinstance(place[0], Address):
        return None
    value = values.get(place[0].base)
    base = (value.base or place[0].base) if value is not None else place[0].base
    offset = (value.offset if value is not None and value.base else 0) + place[0].offset
    return Place(base, offset & 0xFFFF, offset >> 16)


def barrier(place: tuple[Operand, ...], values: Mapping[str, Known]) -> str:
    """Return the mbarrier at an address as a variable and an offset; "" if it is not known.

    >>> barrier((Address("%r1", 8),), {"%r1": Known(0, 0, "&bars", 16)})
    '&bars+24'
    """
    if not place or not isinstance(place[0], Address):
        return ""
    address = place[0]
    if address.base not in values:
        return ""
    value = values[address.base]
    return f"{value.base}+{value.offset + address.offset}" if value.base.startswith("&") else ""
