"""The transpose bits of A and B, which select MN-major operands in an MMA instruction.

A shared-memory descriptor does not contain the major: the same word describes other elements if the transpose bit is
set. K-major is 0, the default of every instruction; MN-major is 1. ``tcgen05.cp`` has no such bit.
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
    """Return the name of the bit that marks an operand as MN-major.

    Args:
        arch: the architecture; None for both generations.
        matrix: ``"A"`` or ``"B"``; None for either.
        brief: whether to abbreviate the instruction or descriptor that has the bit.

    >>> transpose_bit("sm90", "B")
    'imm-trans-b of wgmma.mma_async'
    >>> transpose_bit("sm100")
    'bit 15 (A) or bit 16 (B) of the tcgen05.mma instruction descriptor'
    >>> transpose_bit("sm100", "A", brief=True)
    'bit 15 of idesc'
    """
    if arch is None:
        return ", or ".join(transpose_bit(architecture, matrix) for architecture in BITS)
    base = generation(arch)
    a, b = BITS[base]["A"], BITS[base]["B"]
    bit = f"{a} (A) or {b} (B)" if matrix is None else BITS[base][matrix]
    return f"{bit} of {(_BRIEF if brief else _HOLDERS)[base]}"


def transpose_note(arch: Arch | None, matrix: Matrix | None = None) -> str:
    """Return a sentence that explains how to mark an operand as MN-major.

    Args:
        arch, matrix: as in ``transpose_bit``.

    >>> print(transpose_note("sm90", "B"))
    MN-major is selected by the instruction, not by the descriptor: set imm-trans-b of wgmma.mma_async to 1.
    """
    bit = transpose_bit(arch, matrix)
    return f"MN-major is selected by the instruction, not by the descriptor: set {bit} to 1."
