"""Whether a ``tcgen05`` instruction is one that an assembler takes: target, qualifiers, registers, immediates.

The multiplications are in ``tcgen05_mma_forms``. Source: PTX ISA 9.1, tcgen05; the verdicts of ptxas on record.

Law: a thread's registers of ``tcgen05.ld`` hold what a warp's 32 lanes are given: 32 bits a register.

>>> [registers(shape, 4) for shape in ("32x32b", "16x64b", "16x128b", "16x256b", "16x32bx2")]
[4, 4, 8, 16, 4]
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache

from descriptors.errors import DescriptorError
from descriptors.instructions.operands import check_copy
from descriptors.kernels.forms.finding import Finding, finding
from descriptors.kernels.forms.tcgen05_mma_forms import multiplication
from descriptors.protocol.tcgen05 import SIZES
from descriptors.ptx.module import Instruction
from descriptors.ptx.operands import Address, Vector
from descriptors.transfer.moves import MOST, tmem_move

_TARGET = re.compile(r"sm_(100|101|103|110)([af])\Z")
_NUM = re.compile(r"x(\d+)\Z")
_CONVERSIONS = ("b8x16", "b6x16_p32", "b4x16_p64")


@lru_cache
def registers(shape: str, num: int) -> int:
    """Registers a thread of a ``tcgen05.ld`` or ``st``.

    >>> registers("16x256b", 32)
    128
    """
    return tmem_move(f"{shape}.x{num}").registers


def tcgen05_findings(one: Instruction, target: str) -> Iterator[Finding]:
    """What an assembler would refuse about a ``tcgen05`` instruction.

    >>> made = Instruction(3, "tcgen05.wait::ld", ())
    >>> [found.found for found in tcgen05_findings(made, "sm_100a")]
    ['found no .sync.aligned']
    """
    found = _TARGET.match(target)
    if found is None:
        yield finding(one.line, "form-target", f"found {target}", one.opcode)
    name = one.qualifiers[1] if len(one.qualifiers) > 1 else ""
    for rule, text in _FORMS.get(name.partition("::")[0], _unknown)(one, target):
        yield finding(one.line, rule, text, one.opcode)
    if name in _GROUPED and not any(w in ("cta_group::1", "cta_group::2") for w in one.qualifiers):
        yield finding(one.line, "form-qualifier", "found no .cta_group::1 or .cta_group::2", one.opcode)


_GROUPED = ("alloc", "dealloc", "relinquish_alloc_permit", "cp", "shift", "mma", "commit")
_Told = Iterator[tuple[str, str]]


def _unknown(one: Instruction, _: str) -> _Told:
    yield "form-qualifier", f"found {one.opcode}"


def _synchronous(one: Instruction) -> _Told:
    if not {"sync", "aligned"} <= set(one.qualifiers):
        yield "form-qualifier", "found no .sync.aligned"


def _alloc(one: Instruction, _: str) -> _Told:
    yield from _synchronous(one)
    if len(one.operands) != 2:
        yield "form-operands", f"found {len(one.operands)} operands where there are 2"
    elif isinstance(one.operands[1], int) and one.operands[1] not in SIZES:
        yield "form-immediate", f"found {one.operands[1]} columns, which must be 32, 64, 128, 256 or 512"


def _load(one: Instruction, target: str) -> _Told:
    yield from _synchronous(one)
    words, store = one.qualifiers, one.qualifiers[1] == "st"
    shape = next((w for w in words if w in MOST), "")
    num = next((int(m[1]) for w in words if (m := _NUM.match(w))), 0)
    if not shape or num & (num - 1) or not 0 < num <= MOST[shape]:
        yield "form-shape", f"found .{shape or '?'}.x{num}"
        return
    if ("pack::16b" if store else "unpack::16b") in words:
        yield "form-qualifier", f"found {'.pack::16b of st' if store else '.unpack::16b of ld'}"
    red = "red" in words
    if red and (shape not in ("32x32b", "16x32bx2") or num < 2):
        yield "form-shape", f"found .red with .{shape}.x{num}"
    if red and target.startswith("sm_100"):
        yield "form-target", f"found ld.red on {target}"
    wanted = 2 + red + (shape == "16x32bx2")
    if len(one.operands) != wanted:
        yield "form-operands", f"found {len(one.operands)} operands where .{shape} has {wanted}"
        return
    vector, place = (one.operands[-1], one.operands[0]) if store else (one.operands[0], one.operands[1 + red])
    given = len(vector.items) if isinstance(vector, Vector) else 1
    if given != registers(shape, num):
        yield "form-registers", f"found {given}; .{shape}.x{num} has {registers(shape, num)}"
    if not isinstance(place, Address):
        yield "form-operands", "found no address in tensor memory"
    if shape == "16x32bx2" and not isinstance(one.operands[-1 if not store else 1], int):
        yield "form-immediate", "found no immediate offset, which .16x32bx2 has"


def _copy(one: Instruction, _: str) -> _Told:
    words = one.qualifiers[2:]
    shape = next((w for w in words if re.fullmatch(r"\d+x\d+b", w)), "")
    multicast = next((w for w in words if w.startswith("warpx")), None)
    try:
        check_copy(shape, multicast)
    except DescriptorError as error:
        yield "form-qualifier", f"found {str(error).partition(': ')[2]}"
    given = [w for w in words if w in _CONVERSIONS]
    if given and (len(given) != 2 or given[0] != "b8x16"):
        yield "form-qualifier", f"found .{'.'.join(given)}: .b8x16 and the format of the source go together"
    if len(one.operands) != 2 or not isinstance(one.operands[0], Address):
        yield "form-operands", "found no address and descriptor"


def _shift(one: Instruction, target: str) -> _Told:
    if "down" not in one.qualifiers:
        yield "form-qualifier", "found no .down"
    if target.endswith("f"):
        yield "form-target", f"found tcgen05.shift on {target}; it is of the targets that end with a"


def _commit(one: Instruction, _: str) -> _Told:
    many = any(w.startswith("multicast::") for w in one.qualifiers)
    if len(one.operands) != 1 + many or not isinstance(one.operands[0], Address):
        yield "form-operands", f"found {len(one.operands)} operands where there are {1 + many}"
    if "mbarrier::arrive::one" not in one.qualifiers:
        yield "form-qualifier", "found no .mbarrier::arrive::one"


def _wait(one: Instruction, _: str) -> _Told:
    if one.qualifiers[1] not in ("wait::ld", "wait::st"):
        yield "form-qualifier", f"found .{one.qualifiers[1]}"
    yield from _synchronous(one)


def _fence(one: Instruction, _: str) -> _Told:
    if one.qualifiers[1] not in ("fence::before_thread_sync", "fence::after_thread_sync"):
        yield "form-qualifier", f"found .{one.qualifiers[1]}"


_FORMS: dict[str, Callable[[Instruction, str], _Told]] = {
    "alloc": _alloc,
    "dealloc": _alloc,
    "relinquish_alloc_permit": lambda one, _: _synchronous(one),
    "ld": _load,
    "st": _load,
    "cp": _copy,
    "shift": _shift,
    "mma": multiplication,
    "commit": _commit,
    "wait": _wait,
    "fence": _fence,
}
