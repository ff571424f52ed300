"""Multiplications as they are written: a ``wgmma.mma_async`` or a ``tcgen05.mma`` with its parts by name.

A view names what stands there; whether that is legal is for ``wgmma_forms`` and ``tcgen05_forms``. Operands that do not
fit the order of the instruction make no view: None.
Source: PTX ISA 9.1, wgmma.mma_async, tcgen05.mma: Syntax.

Law: a view is made from the whole of its operands: with one more there is none.

>>> from descriptors.check.ptx_module import Instruction
>>> def of(text): return wgmma(Instruction(1, "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16", operands(text)))
>>> of("{a,b,c,d}, x, y, p, 1, 1, 0, 1").b_transposed, of("{a,b,c,d}, x, y, p, 1, 1, 0, 1, 1") is None
(1, True)
"""

from __future__ import annotations

import re

from descriptors.check.ptx_module import Instruction
from descriptors.check.ptx_operands import Address, Negated, Operand, Vector, operands
from descriptors.frozen import frozen
from descriptors.smem.instructions.tables import DENSE_K

__all__ = ["TensorMma", "Wgmma", "operands", "tensor_mma", "wgmma"]

_SHAPE = re.compile(r"m(\d{1,4})n(\d{1,4})k(\d{1,4})\Z")
_WGMMA_KINDS = {
    "f16": "f16",
    "bf16": "f16",
    "tf32": "tf32",
    "e4m3": "f8",
    "e5m2": "f8",
    "s8": "i8",
    "u8": "i8",
    "b1": "b1",
}


@frozen
class Wgmma:
    """A ``wgmma.mma_async``.

    Args:
        shape: M, N, K.
        types: those of D, A and B, as the qualifiers have them.
        kind: the kind of our tables that A is of; "" if of none.
        sparse: whether it is ``.sp``.
        d: the registers of D.
        a: A: a register with a descriptor, or a vector of registers.
        b: B: a register with a descriptor.
        scale_d: whether D is added to: a predicate, or 0 or 1.
        scales: immediates that may negate A and B.
        transposes: immediates that say which operands in shared memory are MN-major.
        extra: qualifiers behind the types.
    """

    shape: tuple[int, int, int]
    types: tuple[str, str, str]
    kind: str
    sparse: bool
    d: Operand
    a: Operand
    b: Operand
    scale_d: Operand
    scales: tuple[Operand, ...]
    transposes: tuple[Operand, ...]
    extra: tuple[str, ...] = ()

    @property
    def from_registers(self) -> bool:
        """Whether A is in registers."""
        return isinstance(self.a, Vector)

    @property
    def a_transposed(self) -> Operand:
        """imm-trans-a; 0 where there is none."""
        return self.transposes[0] if self.transposes and not self.from_registers else 0

    @property
    def b_transposed(self) -> Operand:
        """imm-trans-b; 0 where there is none."""
        return self.transposes[-1] if self.transposes else 0


def wgmma(one: Instruction) -> Wgmma | None:
    """The parts of a ``wgmma.mma_async``; None where they do not fit its order.

    >>> wgmma(Instruction(1, "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16", ())) is None
    True
    """
    words = [w for w in one.qualifiers[2:] if w not in ("sync", "aligned", "sp")]
    shape = _SHAPE.match(words[0]) if words else None
    if shape is None or len(words) < 4:
        return None
    kind, sparse = _WGMMA_KINDS.get(words[2], ""), "sp" in one.qualifiers
    read = list(one.operands)
    first, read = read[:3], read[3 + 2 * sparse :]
    if len(first) < 3 or not read:
        return None
    scaled, transposed = kind in ("f16", "tf32", "f8"), kind == "f16"
    many = 1 - isinstance(first[1], Vector) + 1
    tail = read[1:]
    wanted = (2 if scaled else 0) + (many if transposed else 0)
    if len(tail) != wanted and not (kind == "tf32" and len(tail) > 2):
        return None
    return Wgmma(
        shape=(int(shape[1]), int(shape[2]), int(shape[3])),
        types=(words[1], words[2], words[3]),
        kind=kind,
        sparse=sparse,
        d=first[0],
        a=first[1],
        b=first[2],
        scale_d=read[0],
        scales=tuple(tail[:2]) if scaled else (),
        transposes=tuple(tail[2:]),
        extra=tuple(words[4:]),
    )


@frozen
class TensorMma:
    """A ``tcgen05.mma``.

    Args:
        kind: the qualifier without ``.kind::``.
        cta_group: 1 or 2; 0 where there is none.
        ws, sparse, ashift: whether it is so qualified.
        scale_name: the qualifier of the scale vector, as ``4X`` or ``block16``; "" without one.
        block_scaled: whether it is ``.block_scale``.
        d: the address of D.
        a: A: a register with a descriptor, or an address in tensor memory.
        b: B: a register with a descriptor.
        idesc: the register with the instruction descriptor.
        mask: lanes whose results are not written; None without.
        scales: the addresses of the scale factors.
        enable: whether D is added to: a predicate.
        tail: what follows: the scale of D, or the mask of zero columns.
    """

    kind: str
    cta_group: int
    ws: bool
    sparse: bool
    ashift: bool
    scale_name: str
    block_scaled: bool
    d: Operand
    a: Operand
    b: Operand
    idesc: Operand
    mask: Operand | None
    scales: tuple[Operand, ...]
    enable: Operand
    tail: tuple[Operand, ...]

    @property
    def in_tensor_memory(self) -> bool:
        """Whether A is in tensor memory."""
        return isinstance(self.a, Address)

    @property
    def scale_vector(self) -> int | None:
        """Elements that share a scale factor; None where the kind has none, or its qualifier says none."""
        if not self.block_scaled:
            return None
        vectors = {"1X": 32, "2X": 32, "4X": 16, "block16": 16, "block32": 32}
        return vectors.get(self.scale_name, 32 if self.kind != "mxf4nvf4" else None)

    @property
    def k(self) -> int:
        """K of a dense instruction, in elements; 0 for a kind that is not known."""
        return DENSE_K.get(("sm100", self.kind), 0)


def tensor_mma(one: Instruction) -> TensorMma | None:
    """The parts of a ``tcgen05.mma``; None where they do not fit its order.

    >>> made = Instruction(1, "tcgen05.mma.cta_group::2.kind::f16", operands("[d], x, y, i, {m0,m1}, p, 3"))
    >>> tensor_mma(made).cta_group, tensor_mma(made).tail
    (2, (3,))
    """
    words = one.qualifiers[2:]
    named = dict(w.split("::", 1) for w in words if "::" in w)
    sparse, scaled = "sp" in words, "block_scale" in words
    read = list(one.operands)
    if len(read) < 5 + sparse or not isinstance(read[0], Address) or "kind" not in named:
        return None
    d, a, b = read[:3]
    rest = read[3 + sparse :]
    if sparse and not isinstance(read[3], Address):
        return None
    idesc, rest = rest[0], rest[1:]
    mask = rest.pop(0) if rest and isinstance(rest[0], Vector) else None
    scales = tuple(rest[:2]) if scaled else ()
    rest = rest[len(scales) :]
    if any(not isinstance(s, Address) for s in scales) or len(scales) != 2 * scaled or not 1 <= len(rest) <= 2:
        return None
    if not isinstance(rest[0], str | Negated | int) or not isinstance(idesc, str | int):
        return None
    name = named.get("scale_vec", "") or next((w for w in words if w in ("block16", "block32")), "")
    group = named.get("cta_group", "0")
    return TensorMma(
        kind=named["kind"], cta_group=int(group) if group in ("1", "2") else 0, ws="ws" in words, sparse=sparse,
        ashift="ashift" in words, scale_name=name, block_scaled=scaled, d=d, a=a, b=b, idesc=idesc, mask=mask,
        scales=scales, enable=rest[0], tail=tuple(rest[1:]),
    )  # fmt: skip
