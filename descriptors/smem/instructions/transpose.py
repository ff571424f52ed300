"""Where an MMA instruction is told that an operand is MN-major: the transpose bit of A, and that of B.

No bit of a shared-memory descriptor holds the major: the same word is read one way without the transpose bit and
another way with it. K-major is 0, the default of every instruction; MN-major is 1. ``tcgen05.cp`` has no such bit.
Source: PTX ISA 9.1, wgmma.mma_async, imm-trans-a and imm-trans-b; tcgen05, Instruction descriptor (Tables 42-44), whose
fields :mod:`descriptors.smem.instructions.idesc` has.

>>> transpose_bit("sm90", "A"), transpose_bit("sm100", "B")
('imm-trans-a of wgmma.mma_async', 'bit 16 of the tcgen05.mma instruction descriptor')
"""

from __future__ import annotations

from collections.abc import Mapping

from descriptors.smem.instructions.idesc import word_of
from descriptors.smem.operands.operand import Matrix
from descriptors.smem.words.descriptor import Arch
from descriptors.targets import generation

_IDESC = word_of("f16")  # the majors have the same bits in every kind

#: The transpose bit of each operand, by generation.
BITS: Mapping[str, Mapping[Matrix, str]] = {
    "sm90": {"A": "imm-trans-a", "B": "imm-trans-b"},
    "sm100": {"A": f"bit {_IDESC['a_major'].low}", "B": f"bit {_IDESC['b_major'].low}"},
}

_HOLDERS: Mapping[str, str] = {"sm90": "wgmma.mma_async", "sm100": "the tcgen05.mma instruction descriptor"}
_BRIEF: Mapping[str, str] = {"sm90": "wgmma", "sm100": "idesc"}


def transpose_bit(arch: Arch | None, matrix: Matrix | None = None, *, brief: bool = False) -> str:
    """The bit by which an instruction learns that an operand is MN-major.

    Args:
        arch: the architecture; None for both generations.
        matrix: ``"A"`` or ``"B"``; None for either.
        brief: what has the bit by its short name.

    >>> transpose_bit("sm90", "B")
    'imm-trans-b of wgmma.mma_async'
    >>> transpose_bit("sm100")
    'bit 15 (A) or bit 16 (B) of the tcgen05.mma instruction descriptor'
    >>> transpose_bit("sm100", "A", brief=True)
    'bit 15 of idesc'
    """
    if arch is None:
        return ", or ".join(transpose_bit(one, matrix) for one in BITS)
    of = generation(arch)
    a, b = BITS[of]["A"], BITS[of]["B"]
    bit = f"{a} (A) or {b} (B)" if matrix is None else BITS[of][matrix]
    return f"{bit} of {(_BRIEF if brief else _HOLDERS)[of]}"


def transpose_note(arch: Arch | None, matrix: Matrix | None = None) -> str:
    """What to do for an MN-major operand, in a sentence.

    Args:
        arch, matrix: as ``transpose_bit`` has them.

    >>> print(transpose_note("sm90", "B"))
    MN-major takes the instruction's transpose bit, no bit of the word: set imm-trans-b of wgmma.mma_async to 1.
    """
    bit = transpose_bit(arch, matrix)
    return f"MN-major takes the instruction's transpose bit, no bit of the word: set {bit} to 1."
