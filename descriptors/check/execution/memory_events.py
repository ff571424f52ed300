r"""Execute loads and stores of shared and local memory, loads of parameters, and ``mapa``.

Stored values are kept if they are known. A 64-bit parameter is a pointer, far from shared memory and from all others,
unless it bounds a loop. A 32-bit parameter is the size that a run is for. A floating-point parameter is a constant of
unknown value.

Source: PTX ISA 9.1, ld, st, ldmatrix, stmatrix, mapa; State Spaces.

Invariant: a load returns the bytes that were stored, with any width.

>>> from descriptors.check.execution.dispatch import execution
>>> from descriptors.check.execution.launch import Launch
>>> from descriptors.check.execution.program import program
>>> from descriptors.check.ptx.ptx_module import parse
>>> body = "st.shared.b32 [s+4], 0x12345678; ld.shared.b8 a, [s+6]; ld.shared.u16 c, [s+4]; st.shared.b32 [s], a;"
>>> launch = Launch((32, 1, 1), (1, 1, 1), (1, 1, 1), 0, {}, {"s": 0}, {}, {})
>>> machine = Machine(program(parse(f".version 8.8\n.entry k() {{ {body} ret; }}").functions[0]), launch, execution)
>>> machine.run()
>>> [hex(machine.fragments[0].registers[name]) for name in "ac"]
['0x34', '0x5678']
"""

from __future__ import annotations

import re

from descriptors.check.execution.accesses import check_access, runs_of
from descriptors.check.execution.bounded_loops import count_loads
from descriptors.check.execution.fragment import Fragment
from descriptors.check.execution.lanes import (
    Cause,
    Unknown,
    Value,
    first_unknown,
    join_lanes,
    lane_values,
    map_lanes,
    origin_text,
)
from descriptors.check.execution.launch import LOCAL, PARAMETERS, address_text, of_cta, pointer
from descriptors.check.execution.machine import Handler, Machine, items_of
from descriptors.check.execution.origins import carries, carry_loaded, carry_matrices, carry_stored, origins
from descriptors.check.execution.program import Step
from descriptors.check.ptx.integer_instructions import signed
from descriptors.check.ptx.ptx_operands import Address, Operand

_WIDTH = re.compile(r"[busf](\d+)\Z|bf?16x?2?\Z")
#: Bound of the addresses of shared memory.
_WINDOW = 1 << 32
_LOW_64 = 0xFFFFFFFFFFFFFFFF


def _widths(step: Step, operand: Operand) -> tuple[tuple[Operand, ...], int, int]:
    """Return the items that a lane loads or stores, the bytes of each item, and the bytes of all."""
    words, items = step.instruction.qualifiers, items_of(operand)
    count = next((int(w[1]) for w in words if w in ("v2", "v4", "v8")), 1)
    match = _WIDTH.match(words[-1])
    size = count * (int(match[1]) if match and match[1] else 16) // 8
    return items, size // len(items), size


def lane_addresses(machine: Machine, fragment: Fragment, step: Step, operand: Operand) -> list[int] | None:
    """Return the shared-memory addresses of the executing lanes; None if one is unknown or outside of shared memory."""
    value = machine.value(fragment, operand)
    if (unknown := first_unknown(value)) is not None:
        if "shared" in step.instruction.opcode or step.instruction.opcode.startswith(("ldmatrix", "stmatrix")):
            machine.note_skipped(step, f"its address depends on {origin_text(unknown)}")
        return None
    numbers = [v for v in lane_values(value, fragment.lane_count) if isinstance(v, int) and v < _WINDOW]
    return numbers if len(numbers) == fragment.lane_count else None


# -- shared memory


def _store(machine: Machine, fragment: Fragment, step: Step) -> None:
    """Execute a store to shared memory; storing the value that memory already has is not checked for conflicts."""
    target, source = step.instruction.operands[:2]
    places = lane_addresses(machine, fragment, step, target)
    if places is None:
        return
    items, width, size = _widths(step, source)
    values = [machine.value(fragment, item) for item in items]
    rows = [(number * width, lane_values(value, fragment.lane_count)) for number, value in enumerate(values)]
    access = machine.access(fragment, step, "a store", generic=True)
    fresh = _changed_places(machine, fragment, places, items, width, rows)
    _check_lane_values(machine, fragment, step, places, [row for _, row in rows])
    machine.lanes.record_places(access.bit, fragment.executing, places, size)
    if fresh:

        def is_doubtful() -> bool:
            unknown = any(first_unknown(value) is not None for value in values)
            return unknown or any(machine.memory.bytes.load(place, size) is None for place in fresh)

        check_access(machine, fragment, step, runs_of(fresh, size), access, writes=True, is_doubtful=is_doubtful)
    carry_stored(machine, fragment, places, items, width)
    if all(type(value) is Unknown for value in values):
        for place in places:
            machine.memory.bytes.forget(place, size)
        return
    for offset, row in rows:
        for place, value in zip(places, row, strict=True):
            machine.memory.bytes.store(place + offset, width, value)


def _changed_places(
    machine: Machine,
    fragment: Fragment,
    places: list[int],
    items: tuple[Operand, ...],
    width: int,
    rows: list[tuple[int, tuple[int | Unknown, ...]]],
) -> list[int]:
    """Return the addresses at which the stored value differs from the contents."""
    followed = machine.program.followed if machine.follows and width == 4 else frozenset()
    if not any(item in followed or isinstance(row[0], int) for item, (_, row) in zip(items, rows, strict=True)):
        return places
    sources = [
        origins(machine, fragment, item) if item in followed else (None,) * fragment.lane_count for item in items
    ]
    return [
        place
        for number, place in enumerate(places)
        if not all(
            _is_redundant(machine, place + offset, width, row[number], source[number])
            for (offset, row), source in zip(rows, sources, strict=True)
        )
    ]


def _is_redundant(machine: Machine, place: int, width: int, value: int | Unknown, source: int | Unknown | None) -> bool:
    """Check that a store writes the value that memory already has: the same number, or bytes of the same origin."""
    if isinstance(value, int):
        return machine.memory.bytes.load(place, width) == value & ((1 << 8 * width) - 1)
    return isinstance(source, int) and machine.memory.origins.word(place) == source


def _check_lane_values(
    machine: Machine, fragment: Fragment, step: Step, places: list[int], rows: list[tuple[int | Unknown, ...]]
) -> None:
    """Report lanes of a warp that store different values to one address."""
    if len(set(places)) == len(places):
        return
    first_lane: dict[int, int] = {}
    for number, place in enumerate(places):
        other = first_lane.setdefault(place, number)
        pairs = [(row[other], row[number]) for row in rows]
        if any(isinstance(a, int) and isinstance(b, int) and a != b for a, b in pairs):
            lanes = f"lanes {fragment.executing[other]} and {fragment.executing[number]} of a warp"
            fact = f"{lanes} store different values to {address_text(place, machine.launch)}"
            machine.report("reuse-order", step, fact)
            return


def _load(machine: Machine, fragment: Fragment, step: Step) -> None:
    """Execute a load from shared memory."""
    target, source = step.instruction.operands[:2]
    places = lane_addresses(machine, fragment, step, source)
    carry_loaded(machine, fragment, step, places, shared=True)
    if places is None:
        machine.set_items(fragment, target, Unknown("a value loaded from memory", step.instruction.line))
        return
    items, width, size = _widths(step, target)
    access = machine.access(fragment, step, "a load")
    machine.lanes.record_places(access.bit, fragment.executing, places, size)
    check_access(machine, fragment, step, runs_of(places, size), access, writes=False)
    unknown = Unknown("a value loaded from shared memory", step.instruction.line)
    extends = step.instruction.qualifiers[-1].startswith("s")
    for number, item in enumerate(items):
        values: list[int | Unknown] = []
        for place in places:
            value = machine.memory.bytes.load(place + number * width, width)
            if value is None:
                values.append(unknown)
            else:
                values.append(signed(value, 8 * width) & _LOW_64 if extends else value)
        machine.set(fragment, item, join_lanes(values))


def _matrix(machine: Machine, fragment: Fragment, step: Step) -> None:
    """Execute ``ldmatrix`` or ``stmatrix``: eight lanes per matrix give the addresses of its rows of 16 bytes."""
    words, (first, second, *_) = step.instruction.qualifiers, step.instruction.operands
    stores = words[0] == "stmatrix"
    count = next((int(w[1:]) for w in words if w in ("x1", "x2", "x4")), 1) * (1 + ("m16n16" in words))
    places = lane_addresses(machine, fragment, step, first if stores else second)
    if not stores:
        machine.set_items(fragment, first, Unknown("a value loaded from shared memory", step.instruction.line))
        carry_matrices(machine, fragment, step, places)
    if places is None:
        return
    if wrong := [place for place in places[: 8 * count] if place % 16]:
        machine.report("fragment-address", step, f"address {wrong[0]:#x} is not a multiple of 16 bytes")
    if stores:
        for place in places[: 8 * count]:
            machine.memory.origins.forget(place, 16)
    access = machine.access(fragment, step, words[0], generic=stores)
    check_access(machine, fragment, step, runs_of(places[: 8 * count], 16), access, writes=stores)


def _map_shared(machine: Machine, fragment: Fragment, step: Step) -> None:
    """Execute ``mapa``: map a shared-memory address to another CTA."""
    target, address, rank, *_ = step.instruction.operands
    values = [machine.value(fragment, operand) for operand in (address, rank)]
    machine.set(fragment, target, map_lanes(of_cta, values, fragment.lane_count))


# -- local memory, global memory, and addresses that may be of any

#: Qualifiers of loads of memory that other CTAs write.
_SHARED_FLAGS = {"volatile", "acquire", "relaxed", "mmio"}


def _local_address(machine: Machine, fragment: Fragment, operand: Operand) -> int | None:
    """Return an address of local memory; None for other addresses."""
    value = machine.value(fragment, operand)
    return value if isinstance(value, int) and LOCAL <= value < PARAMETERS else None


def _generic_load(machine: Machine, fragment: Fragment, step: Step) -> None:
    """Execute ``ld`` without a followed state space, or of a parameter."""
    words, operands = step.instruction.qualifiers, step.instruction.operands
    if "param" in words:
        _load_parameter(machine, fragment, step)
        return
    target = operands[0]
    place = None if "global" in words or "const" in words else _local_address(machine, fragment, operands[1])
    if place is not None:
        items, width, _ = _widths(step, target)
        unknown = Unknown("a value loaded from local memory", step.instruction.line)
        for number, item in enumerate(items):
            value = machine.memory.local[fragment.cta, fragment.warp].load(place + number * width, width)
            machine.set(fragment, item, unknown if value is None else value)
    elif "global" in words and machine.launch.content and not _SHARED_FLAGS & set(words):
        _load_assumed(machine, fragment, step)
    elif "global" in words:
        _load_global(machine, fragment, step)
    elif any(word in words for word in ("const", "local")):
        machine.set_items(fragment, target, Unknown(Cause.GLOBAL, step.instruction.line))
    else:
        _load(machine, fragment, step)


def _load_global(machine: Machine, fragment: Fragment, step: Step) -> None:
    """Execute a load of global memory: the value is unknown, but its address is kept."""
    if carries(machine, step):
        value = machine.value(fragment, step.instruction.operands[1])
        places = [v for v in lane_values(value, fragment.lane_count) if isinstance(v, int)]
        carry_loaded(machine, fragment, step, places if len(places) == fragment.lane_count else None, shared=False)
    machine.set_items(fragment, step.instruction.operands[0], Unknown(Cause.GLOBAL, step.instruction.line))


def _load_assumed(machine: Machine, fragment: Fragment, step: Step) -> None:
    """Execute a load of global memory with assumed contents: multiples of the size, the same for all threads."""
    target, source = step.instruction.operands[:2]
    address, size = machine.value(fragment, source), machine.launch.size
    items, width, _ = _widths(step, target)
    unknown = Unknown(Cause.GLOBAL, step.instruction.line)
    is_word = width == 4 and step.instruction.qualifiers[-1][0] in "bus"
    for number, item in enumerate(items):
        offset = number * width
        content = (
            map_lanes(lambda a, offset=offset: size * (1 + (a + offset >> 2 & 7)), [address], fragment.lane_count)
            if is_word
            else unknown
        )
        machine.set(fragment, item, content if first_unknown(content) is None else unknown)


def _generic_store(machine: Machine, fragment: Fragment, step: Step) -> None:
    """Execute ``st`` without a state space, or into memory that is not followed."""
    words, operands = step.instruction.qualifiers, step.instruction.operands
    if "global" in words or "param" in words:
        return
    place = _local_address(machine, fragment, operands[0])
    if place is not None:
        items, width, _ = _widths(step, operands[1])
        for number, item in enumerate(items):
            value = machine.value(fragment, item)
            stored = value if isinstance(value, int) else Unknown("a value that differs between lanes")
            machine.memory.local[fragment.cta, fragment.warp].store(place + number * width, width, stored)
    elif "local" not in words:
        _store(machine, fragment, step)


# -- parameters


def _load_parameter(machine: Machine, fragment: Fragment, step: Step) -> None:
    """Load a parameter: its value in the launch; otherwise the size of the run or, for most 64-bit loads, a pointer."""
    target, operand = step.instruction.operands[:2]
    kind = step.instruction.qualifiers[-1]
    name, offset = (operand.base, operand.offset) if isinstance(operand, Address) else ("", 0)
    address, is_count = machine.value(fragment, operand), step.place in count_loads(machine.program)
    if (
        isinstance(address, int) and address >= PARAMETERS
    ):  # a parameter has one value, whichever register its address is in
        name, offset = machine.program.names[address - PARAMETERS >> 16], address - PARAMETERS & 0xFFFF
    for number, item in enumerate(items_of(target)):
        value: Value
        key = (name, offset + number * int(kind[1:]) // 8)
        if kind.startswith("f"):
            value = Unknown(Cause.PARAMETER, step.instruction.line)
        elif kind.endswith("64") and not is_count:
            value = machine.launch.scalars.get(key, pointer(*key))
        elif kind.endswith("32") or is_count:
            value = machine.notes.scalars[key] = machine.launch.scalars.get(key, machine.launch.size)
        else:
            value = machine.launch.size & ((1 << int(kind[1:])) - 1)
        if not kind.startswith("f") and (is_count or not kind.endswith("64")):
            machine.notes.reads.setdefault(step.place, set()).add(key)
        machine.set(fragment, item, value)


MEMORY: dict[str, Handler] = {
    "ld": _generic_load,
    "ld.shared": _load,
    "ld.shared::cta": _load,
    "ld.param": _load_parameter,
    "ld.param::entry": _load_parameter,
    "st": _generic_store,
    "st.shared": _store,
    "st.shared::cta": _store,
    "ldmatrix": _matrix,
    "stmatrix": _matrix,
    "mapa": _map_shared,
}
