"""What one instruction makes of what is known of its operands: moves, logic, sums, shifts, fields, conversions.

Source: PTX ISA 9.1, integer arithmetic, logic and shift, data movement and conversion instructions.

Law: of constants the result is a constant.

>>> from descriptors.ptx.known import exactly
>>> names = ("add.s32", "shr.u32", "xor.b32")
>>> [computed(Instruction(1, name, ()), [exactly(12), exactly(3)], 32).value for name in names]
[15, 1, 15]
"""

from __future__ import annotations

from descriptors.ptx.known import (
    NOTHING,
    Known,
    add,
    both,
    differ,
    either,
    exactly,
    meet,
    modulo,
    narrow,
    shift_left,
    shift_right,
    subtract,
)
from descriptors.ptx.module import Instruction

_LOGIC = {"and": both, "or": either, "xor": differ, "add": add, "sub": subtract}


def computed(one: Instruction, read: list[Known], bits: int) -> Known:
    """What an instruction makes of what is known of its operands; nothing where it is not one that is folded.

    Args:
        one: the instruction.
        read: what is known of its operands after the first.
        bits: its width.
    """
    name = one.opcode.partition(".")[0]
    wide = ".wide" in one.opcode
    if name in ("mov", "cvta"):
        return narrow(read[0], bits)
    if name == "cvt":
        return _converted(one, read[0])
    if name == "not":
        return differ(read[0], exactly(-1, bits), bits)
    if name == "selp":
        return meet(narrow(read[0], bits), narrow(read[1], bits)) if len(read) > 1 else NOTHING
    if name in _LOGIC and len(read) == 2:
        return _LOGIC[name](narrow(read[0], bits), narrow(read[1], bits), bits)
    by = read[1].constant(32) if len(read) > 1 else None
    if by is not None and name == "shl":
        return shift_left(read[0], by, bits)
    if by is not None and name == "shr" and (".s" not in one.opcode or _positive(read[0], bits)):
        return shift_right(narrow(read[0], bits), by, bits)
    if name == "bfe" and by is not None and len(read) > 2 and (length := read[2].constant(32)) is not None:
        return modulo(shift_right(read[0], by, bits), min(length, bits)) if ".u" in one.opcode else NOTHING
    if name in ("mul", "mad") and by is not None and (".lo" in one.opcode or wide):
        return _product(read, by, bits * (2 if wide else 1), name == "mad")
    return NOTHING


def _product(read: list[Known], by: int, bits: int, more: bool) -> Known:
    whole = read[0].constant(bits)
    if whole is not None:
        made = exactly(whole * by, bits)
    elif by & (by - 1) == 0 and by:
        made = shift_left(read[0], by.bit_length() - 1, bits)
    else:
        return NOTHING
    return add(made, read[2], bits) if more and len(read) > 2 else made


def _positive(one: Known, bits: int) -> bool:
    return bool(one.mask >> (bits - 1) & 1) and not one.value >> (bits - 1) & 1


def _converted(one: Instruction, read: Known) -> Known:
    """A conversion between integers; of what is signed only what is known to be positive."""
    kinds = one.qualifiers[1:]
    if len(kinds) != 2 or kinds[0][:1] not in "usb" or kinds[1][:1] not in "usb":
        return NOTHING
    source = int(kinds[1][1:]) if kinds[1][1:].isdigit() else 64
    if kinds[1][0] == "s" and not _positive(read, source):
        whole = read.constant(source)
        return NOTHING if whole is None else exactly(whole - (1 << source) if whole >> (source - 1) else whole)
    return narrow(narrow(read, source), int(kinds[0][1:]) if kinds[0][1:].isdigit() else 64)
