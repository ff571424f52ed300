"""Data: the layouts of the instruction descriptors of ``tcgen05.mma`` (sm100), 32 bits each.

Three layouts, one for the plain kinds, one for mxf8f6f4, one for mxf4 and mxf4nvf4; each kind reads the type codes in
its own way (code 1 is bf16, e5m2, s8, or e2m1). Law: fields do not overlap, and bits of no field are reserved.

Source: PTX ISA 9.1, tcgen05, Instruction descriptor (Tables 42-44); CuTe DSL 4.8.1
``experimental/primitives/descriptors.py`` (Tcgen05InstrDesc, Tcgen05MxInstrDesc, Tcgen05MxOmmaInstrDesc), which give
some bits that PTX reserves on sm100 to later architectures.

The types that a kind has codes for are those that the table of instructions lets it multiply.

>>> from descriptors.instructions.tables import TYPES
>>> allowed = {kind: {name for row in TYPES if row.kind == kind for name in row.a} for kind in INSTRUCTION_DESCRIPTORS}
>>> all({name for name, _ in word_of(kind)["a_dtype"].codes} == names for kind, names in allowed.items())
True
"""

from __future__ import annotations

from collections.abc import Mapping

from descriptors.errors import ChoiceError
from descriptors.operands.operand import Major
from descriptors.words.bitfield import Field, Word

_FLAG = ((False, 0), (True, 1))
_MAJORS = ((Major.K, 0), (Major.MN, 1))
_F8F6F4 = (("e4m3", 0), ("e5m2", 1), ("e2m3", 3), ("e3m2", 4), ("e2m1", 5))
_TYPES: Mapping[str, tuple[tuple[str, int], ...]] = {
    "f16": (("f16", 0), ("bf16", 1)),
    "tf32": (("tf32", 2),),
    "f8f6f4": _F8F6F4,
    "i8": (("u8", 0), ("s8", 1)),
    "mxf8f6f4": _F8F6F4,
    "mxf4": (("e2m1", 1),),
    "mxf4nvf4": (("e2m1", 1),),
}


def _flag(name: str, low: int) -> Field:
    return Field(name, low, 1, codes=_FLAG, default=False)


def _operands(kind: str, b_bits: int = 3) -> tuple[Field, ...]:
    """The fields that all three layouts share."""
    types = _TYPES[kind]
    return (
        _flag("sparse", 2),
        Field("a_dtype", 7, 3, codes=types, default=types[0][0]),
        Field("b_dtype", 10, b_bits, codes=types, default=types[0][0]),
        _flag("negate_a", 13),
        _flag("negate_b", 14),
        Field("a_major", 15, 1, codes=_MAJORS, default=Major.K),
        Field("b_major", 16, 1, codes=_MAJORS, default=Major.K),
        Field("n", 17, 6, unit=8),
    )


def _plain(kind: str) -> tuple[Field, ...]:
    return (
        Field("sparsity_selector", 0, 2),
        _flag("saturate", 3),
        Field("d_dtype", 4, 2, codes=(("f16", 0), ("f32", 1), ("s32", 2)), default="s32" if kind == "i8" else "f32"),
        *_operands(kind),
        Field("m", 24, 5, unit=16),
        Field("max_shift", 30, 2, codes=((0, 0), (8, 1), (16, 2), (32, 3))),
    )


def _scaled(kind: str) -> tuple[Field, ...]:
    fields = (
        Field("sfb_id", 4, 2),
        *_operands(kind, 3 if kind == "mxf8f6f4" else 2),
        Field("scale_dtype", 23, 1, codes=(("ue4m3", 0), ("ue8m0", 1)), default="ue8m0"),
        Field("m", 27, 2, unit=128),
        Field("sfa_id", 29, 2),
    )
    return fields if kind == "mxf8f6f4" else (*fields, _flag("k_is_96", 31))


def _word(kind: str) -> Word:
    fields = _plain(kind) if kind in ("f16", "tf32", "f8f6f4", "i8") else _scaled(kind)
    ordered = tuple(sorted(fields, key=lambda field: field.low))
    return Word(f"sm100 instruction descriptor of kind {kind}", 32, ordered)


#: The 32-bit instruction descriptor of each kind; M and N in elements.
INSTRUCTION_DESCRIPTORS: Mapping[str, Word] = {kind: _word(kind) for kind in _TYPES}


def word_of(kind: str) -> Word:
    """The instruction descriptor of a kind of sm100.

    Raises:
        ChoiceError: if there is no such kind.

    >>> word_of("mxf8f6f4")["scale_dtype"].low
    23
    """
    if not isinstance(kind, str) or kind not in INSTRUCTION_DESCRIPTORS:
        raise ChoiceError("idesc: kind", kind, INSTRUCTION_DESCRIPTORS)
    return INSTRUCTION_DESCRIPTORS[kind]
