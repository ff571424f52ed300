"""Whether a ``tcgen05`` instruction is one that an assembler takes: target, qualifiers, registers, immediates.

The multiplications are in ``tcgen05_mma_forms``. Source: PTX ISA 9.1, tcgen05; the verdicts of ptxas on record.

Law: a thread's registers of ``tcgen05.ld`` hold what a warp's 32 lanes are given: 32 bits a register.

>>> [registers(shape, 4) for shape in ("32x32b", "16x64b", "16x128b", "16x256b", "16x32bx2")]
[4, 4, 8, 16, 4]

Whether a ``tcgen05.mma`` is one that an assembler takes: kind, forms, masks, collectors, scale factors.

Source: PTX ISA 9.1, tcgen05.mma, tcgen05.mma.ws, tcgen05.mma.sp; the verdicts of ptxas on record. Where the manual is
narrower than ptxas, which takes scale-input-d with kind i8, ptxas is followed: an error is what an assembler rejects.

Law: the mask of output lanes has a bit for every lane of the CTAs.

>>> [32 * MASKS[cta_group] for cta_group in (1, 2)]
[128, 256]
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache

from descriptors.check.finding import Finding, finding
from descriptors.check.ptx_module import Instruction
from descriptors.check.ptx_operands import Address, Negated, Vector
from descriptors.check.tcgen05 import SIZES
from descriptors.check.views import TensorMma, tensor_mma
from descriptors.errors import DescriptorError
from descriptors.smem.instructions.legality import check_copy
from descriptors.smem.instructions.rules import kind_row
from descriptors.smem.instructions.tables import KINDS
from descriptors.tmem.moves import MOST, tmem_move

#: Registers of the mask of output lanes, by cta_group.
MASKS = {1: 4, 2: 8}
_KINDS = tuple(row.kind for row in KINDS if row.arch == "sm100")
_SCALE_NAMES = {
    "mxf8f6f4": ("", "1X", "block32"),
    "mxf4": ("", "2X", "block32"),
    "mxf4nvf4": ("2X", "4X", "block16", "block32"),
}
_BUFFERS = ("fill", "use", "lastuse", "discard")


def multiplication(one: Instruction, target: str) -> Iterator[tuple[str, str]]:
    """What an assembler would refuse about a ``tcgen05.mma``: the rule, and what was found.

    >>> from descriptors.check.views import operands
    >>> made = Instruction(1, "tcgen05.mma.cta_group::1.kind::f16", operands("[d], x, y, i, {m0,m1}, p"))
    >>> list(multiplication(made, "sm_100a"))
    [('form-registers', 'found 2 for the mask, which has 4')]
    """
    view = tensor_mma(one)
    if view is None:
        yield "form-operands", f"found {len(one.operands)} operands"
        return
    if view.kind not in _KINDS:
        yield "form-qualifier", f"found .kind::{view.kind}"
        return
    yield from _target(view, target)
    yield from _scaled(view)
    yield from _collector(view, one)
    yield from _mask(view)
    yield from _tail(view)
    if view.ws and view.cta_group == 2:
        yield "form-qualifier", "found .cta_group::2 with .ws"
    if view.ashift and (view.ws or not view.in_tensor_memory):
        yield "form-qualifier", f"found .ashift with {'.ws' if view.ws else 'A in shared memory'}"
    if not isinstance(view.enable, str | Negated):
        yield "form-operands", "found no predicate for enable-input-d"


def _target(view: TensorMma, target: str) -> Iterator[tuple[str, str]]:
    if view.kind == "i8" and (target.endswith("f") or target.startswith("sm_103")):
        yield "form-target", f"found kind i8 on {target}; it is of {kind_row('sm100', 'i8').targets}"
    if view.scale_name[-1:] == "X" and target.endswith("f"):
        yield "form-target", f"found .scale_vec::{view.scale_name} on {target}; write .block16 or .block32"


def _scaled(view: TensorMma) -> Iterator[tuple[str, str]]:
    legal = _SCALE_NAMES.get(view.kind)
    if (legal is not None) != view.block_scaled:
        yield "form-qualifier", f"found kind {view.kind} with{'' if view.block_scaled else 'out'} .block_scale"
    elif legal is not None and view.scale_name not in legal:
        names = ", ".join(name or "none" for name in legal)
        yield "form-qualifier", f"found scale vector {view.scale_name or 'none'}; kind {view.kind} has {names}"
    if view.block_scaled and (view.ws or view.ashift):
        yield "form-operands", f"found .block_scale with {'.ws' if view.ws else '.ashift'}"


def _collector(view: TensorMma, one: Instruction) -> Iterator[tuple[str, str]]:
    for word in one.qualifiers:
        if not word.startswith("collector::"):
            continue
        buffer, _, use = word.removeprefix("collector::").partition("::")
        legal = ("b0", "b1", "b2", "b3") if view.ws else ("a",)
        if buffer not in legal or use not in _BUFFERS:
            yield "form-qualifier", f"found .{word}{' with .ws' if view.ws else ''}"
        elif view.ashift and use in ("fill", "use"):
            yield "form-qualifier", f"found .{word} with .ashift"


def _mask(view: TensorMma) -> Iterator[tuple[str, str]]:
    if view.mask is None:
        return
    if view.block_scaled or view.ws:
        yield "form-operands", f"found a mask of output lanes with {'.ws' if view.ws else '.block_scale'}"
    elif isinstance(view.mask, Vector) and view.cta_group and len(view.mask.items) != MASKS[view.cta_group]:
        yield "form-registers", f"found {len(view.mask.items)} for the mask, which has {MASKS[view.cta_group]}"


def _tail(view: TensorMma) -> Iterator[tuple[str, str]]:
    if not view.tail or view.ws:
        return
    (scale,) = view.tail
    if view.kind not in ("f16", "tf32", "i8"):
        yield "form-immediate", f"found scale-input-d with kind {view.kind}, which has none"
    elif not isinstance(scale, int) or not 0 <= scale <= 15:
        yield "form-immediate", f"found scale-input-d {scale if isinstance(scale, int) else '?'}, which must be 0 to 15"


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
