"""Boxes of tensor maps: the parameter that holds a map, the box that its copies suggest, and the fit of a given box.

A run infers the bytes of a box from what mbarriers expect, and its type and rows from the multiplications that read the
copied bytes. A suggestion is consistent with the kernel; it need not be what the host passes.

Source: CUDA Driver API, cuTensorMapEncodeTiled (boxDim: at most 256 per extent; its first extent is at most as wide as
the swizzle); PTX ISA 9.1, mbarrier, tx-count: a phase ends when as many bytes have arrived as were expected.

Invariant: a suggested box has the bytes of the copy, and no extent above 256.

>>> for size, line, rank in ((8192, 128, 2), (65536, 128, 3), (65536, 128, 2), (100, 128, 2), (4096, 16, 3)):
...     print(box_text(size, "e4m3", line, rank))
128x64xe4m3
128x256x2xe4m3
65536
100
16x256x1xe4m3
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from descriptors.check.execution.configuration import parameter_text
from descriptors.check.execution.launch import PARAMETERS, address_text, pointer
from descriptors.check.execution.machine import Machine
from descriptors.check.execution.mbarrier import Box, Phase
from descriptors.check.execution.outcomes import Witness
from descriptors.check.ptx.ptx_module import Instruction
from descriptors.smem.operands.operand import ELEMENT_TYPES
from descriptors.text import counted, extents_text

#: The longest extent of a box, and the bytes of a parameter space.
_EXTENT, _SPACE = 256, 1 << 16
#: Longest name of a parameter in a suggestion; a parameter with a longer name is named by its number.
NAME_LETTERS = 1000
#: Swizzle of a tensor map that writes lines of so many bytes.
_SWIZZLES = {128: "128B", 64: "64B", 32: "32B"}


def parameter_of(box: Box, names: Sequence[str]) -> str:
    """Return the parameter that holds a tensor map or a pointer to it; "" if no option can name it.

    >>> [parameter_of(Box(True, PARAMETERS + (1 << 16) + offset), ("a", "b")) for offset in (0, 128)]
    ['b', 'b+128']
    >>> parameter_of(Box(True, pointer("a", 8)), ("a", "b")), parameter_of(Box(True, "%rd1"), ("a", "b"))
    ('a+8', '')
    """
    if not box.of_tensor_map or not isinstance(box.name, int):
        return ""
    candidates = [
        (offset, number)
        for number, name in enumerate(names)
        for offset in (box.name - PARAMETERS - (number << 16), _pointer_offset(box.name, name))
        if 0 <= offset < _SPACE
    ]
    if not candidates:
        return ""
    offset, number = min(candidates)
    name = names[number] if len(names[number]) <= NAME_LETTERS else str(number)
    return parameter_text((name, offset))


def _pointer_offset(address: int, name: str) -> int:
    """Return the offset in a parameter of the pointer to an address; -1 if there is none."""
    first, step = pointer(name, 0), pointer(name, 8) - pointer(name, 0)
    number, rest = divmod(address - first, step)
    return -1 if rest or number < 0 else 8 * number


def box_text(size: int, dtype: str, line: int, rank: int) -> str:
    """Return a box in the form of ``--tensormap``: extents and a type if they fit, otherwise bytes.

    Args:
        size: bytes of the box.
        dtype: element type; "" if it is unknown.
        line: bytes of the first extent.
        rank: number of extents; 0 if it is unknown.
    """
    kind = ELEMENT_TYPES.get(dtype)
    if kind is None or size % line or not rank:
        return str(size)
    inner, rows = line * 8 // kind.bits, size // line
    extents = [inner, rows]
    if rows > _EXTENT and rank > 2 and rows % _EXTENT == 0:
        extents = [inner, _EXTENT, rows // _EXTENT]
    extents += [1] * (rank - len(extents))
    fits = len(extents) == rank and max(extents) <= _EXTENT and inner * kind.bits == line * 8
    return f"{extents_text(extents)}x{dtype}" if fits else str(size)


def suggestion(machine: Machine, copy: Instruction, box: Box, place: int) -> str:
    """Return what would decide the box of a tensor copy; "" if no option can.

    Args:
        machine: the run.
        copy: the instruction.
        box: key of the box.
        place: destination address.
    """
    name = parameter_of(box, machine.program.names)
    if not name:
        return ""
    size = machine.launch.bytes_of(box)
    if not size:
        return f"the box that the host encodes: --tensormap {name}=BOX (extents and type, as 64x128xbf16, or bytes)"
    dtype, line = _read_tile(machine, place, size)
    text = box_text(size, dtype, line, _rank(copy.opcode))
    swizzle = f", swizzle {_SWIZZLES[line]}" if line in _SWIZZLES else ""
    shown = f" ({size} bytes{swizzle})" if "x" in text or swizzle else ""
    return f"the box that the host encodes: --tensormap {name}={text} if it is this one{shown}"


def _read_tile(machine: Machine, place: int, size: int) -> tuple[str, int]:
    """Return type and bytes per line of the operands that are read from some bytes; "" and 16 if they differ."""
    read = {tile for start, tile in machine.notes.tiles.items() if place <= start < place + size}
    return read.pop() if len(read) == 1 else ("", 16)


def row_mismatch(machine: Machine, copy: Instruction, box: Box, place: int) -> str:
    """State that a given box has other rows than the swizzled lines that multiplications read; "" if it has the same.

    A tensor map may view a matrix so that two rows of the box are one line, so this is no error.

    Args:
        machine: the run.
        copy: the instruction.
        box: key of the box.
        place: destination address.
    """
    row_bytes = machine.launch.box_rows.get(box, 0)
    _, line = _read_tile(machine, place, machine.launch.boxes.get(box, 0))
    if not row_bytes or line not in _SWIZZLES or row_bytes == line or not _rank(copy.opcode):
        return ""
    return f"its rows have {row_bytes} bytes, and multiplications read lines of {line} bytes (swizzle {line}B)"


def type_mismatch(machine: Machine, box: Box, place: int) -> str:
    """State that a given box has another type than the multiplications that read its bytes; "" if it has the same.

    A tensor map of ``u8`` may hold any elements, because tensor maps have no other type of 8 bits.

    Args:
        machine: the run.
        box: key of the box.
        place: destination address.
    """
    dtype = machine.launch.box_types.get(box, "")
    read, _ = _read_tile(machine, place, machine.launch.boxes.get(box, 0))
    same = read.removesuffix("_unpacksmem") == dtype.removesuffix("_unpacksmem")
    if not dtype or not read or same or dtype == "u8":
        return ""
    return f"its elements are {dtype}, and multiplications read {read}"


def misfit(machine: Machine, boxes: Mapping[Box, int], consistent: Mapping[object, int]) -> Witness | None:
    """Return the first tensor copy whose given box has other bytes than those that are expected and read.

    Args:
        machine: a run without these boxes.
        boxes: bytes of the given boxes.
        consistent: bytes of boxes as inferred from that run.
    """
    places: dict[Box, int] = {}
    for index, box, _ in machine.notes.copies:
        if box in boxes and consistent.get(box, boxes[box]) != boxes[box]:
            places.setdefault(box, index)
    if not places:
        return None
    code, names = machine.program.function.code, machine.program.names
    mismatches = [
        f"{parameter_of(box, names)} with {boxes[box]} instead of {consistent[box]} (line {code[index].line})"
        for box, index in places.items()
    ]
    first = min(places, key=lambda box: (boxes[box] > consistent[box], places[box]))
    rule = "reuse-unwritten" if boxes[first] < consistent[first] else "reuse-order"
    sizes = ", ".join(mismatches)
    fact = f"the given boxes do not have the bytes that are expected and read: {sizes}; correct --tensormap"
    return Witness(rule, places[first], fact)


def _rank(opcode: str) -> int:
    """Return the number of extents of the box of a tiled copy; 0 for other copies."""
    match = re.search(r"\.tensor\.([1-5])d\b", opcode)
    return int(match[1]) if match and "im2col" not in opcode and "gather4" not in opcode else 0


def disagreement(machine: Machine, boxes: Mapping[Box, int]) -> Witness | None:
    """Return the first phase of an mbarrier that expects other bytes than its copies bring with these boxes.

    If the run hangs, a phase may have ended without the copies of threads that wait forever: too few bytes prove
    nothing there, but too many do.

    Args:
        machine: a run without these boxes, in which a phase ends whatever its copies bring.
        boxes: bytes of the given boxes.
    """
    for phase in map(_without_repeats, _phases(machine)):
        counts: Counter[Box] = Counter(copy.map for copy in phase.landings)
        expected = sum(count for _, count in phase.expected) - phase.came
        brought = sum(boxes[box] * count for box, count in counts.items() if box in boxes)
        unknown = sum(count for box, count in counts.items() if box not in boxes)
        least = brought + 16 * unknown
        too_few = not unknown and least < expected and not machine.hung
        if brought and (least > expected or too_few):
            return _disagreement_witness(machine, phase, boxes, expected, brought)
    return None


def _phases(machine: Machine) -> Iterator[Phase]:
    """Yield the phases with tensor copies, and those that lack only bytes at the end."""
    for barrier in machine.barriers.ever():
        yield from (phase for phase in barrier.ended if phase.landings)
        if barrier.landings and not barrier.pending:
            yield Phase(barrier.address, tuple(barrier.expected), barrier.came, tuple(barrier.landings))


def _without_repeats(phase: Phase) -> Phase:
    """Return a phase with one copy to each place if it expects no bytes.

    Such a phase ends without its copies, so that those of several iterations are counted in one phase.
    """
    first = {copy.place: copy for copy in reversed(phase.landings)}
    return phase if phase.expected else phase._replace(landings=tuple(first.values())[::-1])


def _disagreement_witness(
    machine: Machine, phase: Phase, boxes: Mapping[Box, int], expected: int, brought: int
) -> Witness:
    """State that a phase of an mbarrier expects other bytes than its copies bring."""
    code, names = machine.program.function.code, machine.program.names
    lines_by_box: dict[Any, list[int]] = {}
    for landing in phase.landings:
        lines_by_box.setdefault(landing.map, []).append(landing.line)
    copies = ", ".join(
        f"{parameter_of(box, names)} with {boxes[box]} bytes{f' x {len(lines)}' * (len(lines) > 1)} (line {lines[0]})"
        for box, lines in lines_by_box.items() if box in boxes
    )  # fmt: skip
    other_copies = sum(len(lines) for box, lines in lines_by_box.items() if box not in boxes)
    others = f" beside {counted(other_copies, 'copy')} of unknown bytes" if other_copies else ""
    expect_line = phase.expected[0][0] if phase.expected else 0
    in_line = f" (line {expect_line})" if expect_line else ""
    fact = (
        f"the mbarrier at {address_text(phase.address, machine.launch)} expects {expected} bytes{in_line} and its "
        f"copies bring {brought}{others}: {copies}; correct expect_tx or --tensormap"
    )
    line = expect_line or phase.landings[0].line
    place = next(
        n
        for n, instruction in enumerate(code)
        if instruction.line == line and instruction.opcode.startswith(("mbarrier", "cp"))
    )
    return Witness("barrier-hang", place, fact, phase.landings[0].line if expect_line else 0)
