"""Follow where bytes come from: the global addresses of the four bytes of each register and shared-memory word.

Data are not computed, but their origin is followed. A ``cp.async`` brings bytes of global memory to shared memory, and
``ldmatrix`` or a load brings them to registers, whose bytes are thus known by their addresses until something is
computed from them. Four addresses are one number, with the lowest byte's address in the lowest bits, so that they are
handled like other values of lanes. ``Origins`` is the shared-memory part.

Source: PTX ISA 9.1, cp.async, ldmatrix, ld, mov; ``layoutalg.fragment`` defines which lane gets which bytes of
``ldmatrix``.

Invariant: the lanes of ``ldmatrix`` together have each byte of its rows once.

>>> table = matrix_bytes("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16")
>>> all_bytes = sorted(byte for register in table for four in register for byte in four)
>>> all_bytes == [(lane, byte) for lane in range(32) for byte in range(16)]
True
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from descriptors.check.execution.contents import word_from
from descriptors.check.execution.fragment import ORIGIN, Fragment
from descriptors.check.execution.lanes import Unknown, Value, join_lanes, lane_values
from descriptors.check.execution.machine import Machine, items_of
from descriptors.check.execution.program import Step
from descriptors.check.ptx.ptx_operands import Operand
from layoutalg import LayoutError, fragment

_UNKNOWN = Unknown("an origin that is not followed")


# -- registers


def carries(machine: Machine, step: Step) -> bool:
    """Check whether an instruction brings bytes to registers unchanged and origins are followed."""
    return machine.follows and step.place in machine.program.carries


def carry(machine: Machine, fragment: Fragment, name: Operand, origin: Value) -> None:
    """Write the origin of a register."""
    if isinstance(name, str) and name in machine.program.followed:
        machine.set(fragment, ORIGIN + name, origin)


def origins(machine: Machine, fragment: Fragment, name: Operand) -> tuple[int | Unknown, ...]:
    """Return the origins of a register, lane by lane."""
    value = machine.value(fragment, ORIGIN + name) if isinstance(name, str) else _UNKNOWN
    return lane_values(value, fragment.lane_count)


def carry_loaded(
    machine: Machine, fragment: Fragment, step: Step, places: Sequence[int] | None, *, shared: bool
) -> None:
    """Record the origins of a load by the threads; only words of 4 bytes are followed.

    Args:
        machine: the machine.
        fragment: the threads.
        step: the load, whose target is its first operand.
        places: addresses of the lanes; None if one is unknown.
        shared: whether they are in shared memory; otherwise in global memory.
    """
    if not carries(machine, step):
        return
    is_word = step.instruction.qualifiers[-1] in ("b32", "u32", "s32", "f32", "f16x2", "bf16x2")
    for number, item in enumerate(items_of(step.instruction.operands[0])):
        origin: Value = _UNKNOWN
        if places is not None and is_word:
            addresses = [place + 4 * number for place in places]
            origin = join_lanes(_words_at(machine, addresses) if shared else [word_from(place) for place in addresses])
        carry(machine, fragment, item, origin)


def _words_at(machine: Machine, places: Sequence[int]) -> list[int | Unknown]:
    words = [machine.memory.origins.word(place) for place in places]
    return [_UNKNOWN if word is None else word for word in words]


def carry_stored(
    machine: Machine, fragment: Fragment, places: Sequence[int], items: Sequence[Operand], width: int
) -> None:
    """Record the origins of a store into shared memory."""
    for number, item in enumerate(items if machine.follows else ()):
        words = origins(machine, fragment, item) if width == 4 else (_UNKNOWN,) * fragment.lane_count
        for place, word in zip(places, words, strict=True):
            if width == 4:
                machine.memory.origins.store(place + 4 * number, word)
            else:
                machine.memory.origins.forget(place + width * number, width)


@lru_cache(maxsize=64)
def matrix_bytes(name: str) -> tuple[tuple[tuple[tuple[int, int], ...], ...], ...] | None:
    """Return the four bytes of each register and lane of an ``ldmatrix``: lane that gives the row address, and byte.

    None for a format whose elements are not whole bytes in shared memory.

    >>> matrix_bytes("ldmatrix.sync.aligned.m8n8.x1.shared.b16")[0][5]
    ((1, 4), (1, 5), (1, 6), (1, 7))
    >>> matrix_bytes("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16")[0][5]
    ((2, 2), (2, 3), (3, 2), (3, 3))
    """
    words = name.split(".")
    if "m8n16" in words or any("x16" in word for word in words):
        return None
    height, bits = (16, 8) if "m16n16" in words else (8, 16)
    count = next((int(word[1:]) for word in words if word in ("x1", "x2", "x4")), 1)
    try:
        layout = fragment(f"{name}.{height * count}x{128 // bits}")
    except LayoutError:
        return None
    size = bits // 8

    def of(lane: int, register: int) -> tuple[tuple[int, int], ...]:
        elements = [layout.element(lane, value) for value in range(register * 4 // size, (register + 1) * 4 // size)]
        return tuple([(row_lane, column * size + byte) for row_lane, column in elements for byte in range(size)])

    registers = layout.values * size // 4
    return tuple([tuple([of(lane, register) for lane in range(32)]) for register in range(registers)])


def carry_matrices(machine: Machine, fragment: Fragment, step: Step, places: Sequence[int] | None) -> None:
    """Record the origins of the registers of an ``ldmatrix``."""
    if not carries(machine, step):
        return
    table = matrix_bytes(step.instruction.opcode) if places is not None and len(places) == 32 else None
    memory = machine.memory.origins
    for register, item in enumerate(items_of(step.instruction.operands[0])):
        origin: Value = _UNKNOWN
        if table is not None and places is not None and register < len(table):
            words: list[int | Unknown] = []
            for four in table[register]:
                addresses = [places[lane] + byte for lane, byte in four]
                word = (
                    memory.word(addresses[0])
                    if addresses[3] - addresses[0] == 3 and addresses[1] - addresses[0] == 1
                    else memory.bytes(addresses)
                )
                words.append(_UNKNOWN if word is None else word)
            origin = join_lanes(words)
        carry(machine, fragment, item, origin)


def carry_moved(machine: Machine, fragment: Fragment, step: Step) -> None:
    """Record the origin of a register that ``mov`` writes."""
    if carries(machine, step):
        target, source = step.instruction.operands
        carry(machine, fragment, target, join_lanes(origins(machine, fragment, source)))


def carry_copied(machine: Machine, fragment: Fragment, step: Step, places: Sequence[int], size: int) -> None:
    """Record the origins of a ``cp.async``; one with a smaller source size writes zeros, too, and is not followed."""
    if not machine.follows:
        return
    _, source, *options = step.instruction.operands
    if "L2::cache_hint" in step.instruction.qualifiers:
        options.pop()
    source_sizes = lane_values(machine.value(fragment, options[1]) if len(options) > 1 else size, fragment.lane_count)
    sources = lane_values(machine.value(fragment, source), fragment.lane_count)
    for place, address, brought in zip(places, sources, source_sizes, strict=True):
        if isinstance(address, int) and brought == size:
            machine.memory.origins.copy(place, address, size)
        else:
            machine.memory.origins.forget(place, size)


def carry_bulk(machine: Machine, fragment: Fragment, source: Operand, place: int, size: int) -> None:
    """Record the origins of a bulk copy without a tensor map."""
    address = machine.value(fragment, source) if machine.follows else None
    if isinstance(address, int):
        machine.memory.origins.copy(place, address, size)
