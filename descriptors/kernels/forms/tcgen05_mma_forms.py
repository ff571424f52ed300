"""Whether a ``tcgen05.mma`` is one that an assembler takes: kind, forms, masks, collectors, scale factors.

Source: PTX ISA 9.1, tcgen05.mma, tcgen05.mma.ws, tcgen05.mma.sp; the verdicts of ptxas on record. Where the manual is
narrower than ptxas, which takes scale-input-d with kind i8, ptxas is followed: an error is what an assembler rejects.

Law: the mask of output lanes has a bit for every lane of the CTAs.

>>> [32 * MASKS[cta_group] for cta_group in (1, 2)]
[128, 256]
"""

from __future__ import annotations

from collections.abc import Iterator

from descriptors.instructions.rules import kind_row
from descriptors.instructions.tables import KINDS
from descriptors.kernels.forms.views import TensorMma, tensor_mma
from descriptors.ptx.module import Instruction
from descriptors.ptx.operands import Negated, Vector

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

    >>> from descriptors.kernels.forms.views import operands
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
