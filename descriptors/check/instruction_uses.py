"""An instruction descriptor held against the instruction that it goes to: kind, cta_group, .ws, .sp, where A lies.

``decode_idesc`` reads a word alone and takes what it does not hold as it fits; here nothing is left to fit. An
assembler looks at no word: it may be in a register.
Source: the rows of ``tables``; PTX ISA 9.1, tcgen05.mma (.ashift, .sp).

Law: a word of ``idesc`` has no complaint where it is used as it was made.

>>> from descriptors.smem.instructions.idesc import idesc
>>> made = [(cta_group, m, n) for cta_group, m in ((1, 64), (1, 128), (2, 128), (2, 256)) for n in range(32, 257, 32)]
>>> words = [(idesc("bf16", m=m, n=n, cta_group=cta_group), cta_group) for cta_group, m, n in made]
>>> any(complaints(word, Use("f16", cta_group=cta_group)) for word, cta_group in words)
False
"""

from __future__ import annotations

from descriptors.frozen import frozen
from descriptors.smem.instructions.idesc import DecodedInstruction, Instruction, checks_of, decode_idesc
from descriptors.smem.instructions.rules import IllegalError
from descriptors.smem.instructions.tables import DENSE_K
from descriptors.smem.words.bitfield import UnknownCode


@frozen
class Use:
    """What the qualifiers and operands of a ``tcgen05.mma`` say.

    Args:
        kind: as in ``KindRow``.
        cta_group: 1 or 2.
        sparse: whether it is ``.sp``.
        ws: whether it is ``.ws``.
        a_source: where A lies, ``smem`` or ``tmem``.
        ashift: whether A is shifted.
        scale_vector: elements that share a scale factor; None for a kind without.
    """

    kind: str
    cta_group: int = 1
    sparse: bool = False
    ws: bool = False
    a_source: str = "smem"
    ashift: bool = False
    scale_vector: int | None = None


def instruction_of(read: DecodedInstruction, use: Use) -> Instruction | None:
    """The instruction that a word and its use are together; None where a field has a code that names nothing."""
    values = {name: value for name, value in read.values if name not in ("k_is_96", "sparse")}
    if any(isinstance(value, UnknownCode) for value in values.values()):
        return None
    wide = any(name == "k_is_96" and value for name, value in read.values)
    d_dtype = values.pop("d_dtype", "f32")
    return Instruction(
        kind=use.kind,
        k=96 if wide else DENSE_K["sm100", use.kind] * (1 + use.sparse),
        d_dtype=d_dtype,
        sparse=use.sparse,
        ws=use.ws,
        cta_group=use.cta_group,
        a_source=use.a_source,
        scale_vector=use.scale_vector,
        **values,
    )


def complaints(word: int, use: Use) -> list[str]:
    """What is illegal about a word where it is used so, leniently read.

    Args:
        word: the 32 bits.
        use: the instruction.

    Raises:
        FieldError: if ``word`` is no 32-bit integer.
        ChoiceError: if there is no such kind.

    >>> complaints(0x04200490, Use("f16", cta_group=2))[0].partition(";")[0]
    'M must be 128, 256, found 64'
    """
    read = decode_idesc(word, use.kind)
    told = [f"{name} has {value}" for name, value in read.values if isinstance(value, UnknownCode)]
    if read.unknown_bits:
        told.append(f"reserved bits are set: {read.unknown_bits:#010x}")
    if read["sparse"] != use.sparse:
        told.append(f"bit 2 says {'sparse' if read['sparse'] else 'dense'}, the instruction has {_sp(use.sparse)}.sp")
    one = instruction_of(read, use)
    for check in checks_of(one, "lenient") if one is not None else ():
        try:
            check()
        except IllegalError as error:
            told.append(str(error).removeprefix("legality: "))
    if use.ashift and one is not None and one.m not in (128, 256):
        told.append(f"M must be 128 or 256 with .ashift, found {one.m}")
    return told


def _sp(sparse: bool) -> str:
    return "" if sparse else "no "
