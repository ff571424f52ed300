"""Every multiplication of a function with all that its text says: operands, words, instruction descriptor.

Source: PTX ISA 9.1, wgmma.mma_async (imm-trans), tcgen05.mma (instruction descriptor, cta_group).

Law: an operand in shared memory is as large as the share of one CTA.

>>> [_share(use, "B", 256, 16) for use in (Use("f16"), Use("f16", cta_group=2))]
[(256, 16), (128, 16)]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from descriptors.errors import DescriptorError
from descriptors.frozen import frozen
from descriptors.instructions.idesc import decode_idesc
from descriptors.instructions.instruction import Instruction as Described
from descriptors.instructions.uses import Use, instruction_of
from descriptors.kernels.acts import Values, number
from descriptors.kernels.forms.views import TensorMma, Wgmma, tensor_mma, wgmma
from descriptors.kernels.words import Operand
from descriptors.ptx.known import NOTHING, Known
from descriptors.ptx.module import Function
from descriptors.ptx.operands import Address, Vector, names

#: Types that kinds with 8-bit containers keep in them, and what such an operand is called.
_CONTAINERS = {"e2m1": "e2m1_unpacksmem"}


@frozen
class Multiplication:
    """One MMA instruction, read.

    Args:
        index: of the instruction in its function.
        line: in the text.
        opcode: with its qualifiers.
        operands: those in shared memory.
        result: what names D: its registers, or the address in tensor memory.
        view: its parts.
        use: what a ``tcgen05.mma`` says of its instruction descriptor; None for ``wgmma``.
        idesc: the instruction descriptor, if it is a constant.
        described: what both say together; None where that is not known.
        adds: whether D is added to; None where that is not known.
    """

    index: int
    line: int
    opcode: str
    operands: tuple[Operand, ...]
    result: str
    view: Wgmma | TensorMma
    use: Use | None = None
    idesc: int | None = None
    described: Described | None = None
    adds: bool | None = None


def multiplications(function: Function, values: Values) -> Iterator[Multiplication]:
    """The multiplications of a function, in order; those that are not understood are left out."""
    for index, one in enumerate(function.code):
        known = values.get(index, {})
        if one.opcode.startswith("wgmma.mma_async") and (first := wgmma(one)):
            yield Multiplication(
                index, one.line, one.opcode, tuple(_wgmma_operands(first, known)), ",".join(names(first.d)), first,
                adds=_adds(first.scale_d, known),
            )  # fmt: skip
        elif one.opcode.startswith("tcgen05.mma") and (second := tensor_mma(one)):
            yield _tensor(index, one.line, one.opcode, second, known)


def _adds(operand: object, known: Mapping[str, Known]) -> bool | None:
    found = number(operand, known, 1) if isinstance(operand, str | int) else None
    return None if found is None else bool(found)


def _word(operand: object, known: Mapping[str, Known]) -> Known:
    return known.get(operand, NOTHING) if isinstance(operand, str) else NOTHING


def _wgmma_operands(view: Wgmma, known: Mapping[str, Known]) -> Iterator[Operand]:
    m, n, k = view.shape
    sides: tuple[tuple[Literal["A", "B"], object, str, object, tuple[int, int]], ...] = (
        ("A", view.a, view.types[1], view.a_transposed, (m, k // (1 + view.sparse))),
        ("B", view.b, view.types[2], view.b_transposed, (n, k)),
    )
    for matrix, operand, dtype, transposed, shape in sides:
        if not isinstance(operand, Vector):
            yield Operand(matrix, "sm90", dtype, "MN" if transposed == 1 else "K", shape, _word(operand, known))


def _tensor(index: int, line: int, opcode: str, view: TensorMma, known: Mapping[str, Known]) -> Multiplication:
    use = Use(
        kind=view.kind, cta_group=view.cta_group or 1, sparse=view.sparse, ws=view.ws, ashift=view.ashift,
        a_source="tmem" if view.in_tensor_memory else "smem", scale_vector=view.scale_vector,
    )  # fmt: skip
    word = number(view.idesc, known) if isinstance(view.idesc, str | int) else None
    described = None
    if word is not None and view.k:
        word &= 0xFFFFFFFF
        try:
            described = instruction_of(decode_idesc(word, use.kind), use)
        except DescriptorError:
            described = None
    # Without the instruction descriptor the words of the operands are known, but not what they are of.
    operands = tuple(_tensor_operands(view, use, described, known))
    d = view.d if isinstance(view.d, Address) else Address("")
    place = known.get(d.base, NOTHING)
    result = f"{place.base or d.base}+{place.offset + d.offset}"
    return Multiplication(
        index, line, opcode, operands, result, view, use, word, described, _adds(view.enable, known)
    )  # fmt: skip


def _tensor_operands(
    view: TensorMma, use: Use, described: Described | None, known: Mapping[str, Known]
) -> Iterator[Operand]:
    for matrix, operand in (("A", view.a), ("B", view.b)):
        if isinstance(operand, Address):
            continue
        word = _word(operand, known)
        if described is None or not described.m or not described.n:
            yield Operand("A" if matrix == "A" else "B", "sm100", "", "K", (0, 0), word)
        elif matrix == "A":
            shape = _share(use, "A", described.m, described.k // (1 + use.sparse))
            yield Operand("A", "sm100", _stored(view.kind, described.a_dtype), _major(described.a_major), shape, word)
        else:
            shape = _share(use, "B", described.n, described.k)
            yield Operand("B", "sm100", _stored(view.kind, described.b_dtype), _major(described.b_major), shape, word)


def _stored(kind: str, dtype: str) -> str:
    return _CONTAINERS.get(dtype, dtype) if kind.endswith("f8f6f4") else dtype


def _major(major: object) -> Literal["K", "MN"]:
    return "MN" if str(major) == "MN" else "K"


def _share(use: Use, matrix: str, extent: int, k: int) -> tuple[int, int]:
    """MN and K of an operand in the shared memory of one CTA; two of a pair hold a half each."""
    return extent // use.cta_group, k
