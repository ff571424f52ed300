"""Tensor-core shared-memory descriptors, derived from layouts.

``derive`` runs the steps from a tile specification to the descriptor word and the offset of every operand in the tile;
each step is a value of ``layoutalg``. The other names are the parts it is made of: operands, atoms, canonical forms,
and the descriptor words of sm90 (``wgmma``) and sm100 (``tcgen05``).

>>> d = derive(tile=(128, 128), dtype="bf16", major="MN", swizzle="64B", mma=(64, 16), arch="sm100")
>>> d.descriptor.stride_byte_offset, d.descriptor.leading_byte_offset, hex(d.descriptor.encode())
(512, 8192, '0x8000402002000000')
"""

from descriptors.atoms import ATOMS, Atom, canonical_atom
from descriptors.bitfield import Field, UnknownCode, Word
from descriptors.canonical import Form, Match, form, match, plain
from descriptors.derive import derive
from descriptors.errors import ChoiceError, DescriptorError, FieldError, NotCanonicalError
from descriptors.operand import ELEMENT_TYPES, ElementType, Major, SwizzleMode
from descriptors.record import Derivation, SmemDescriptor

__all__ = [
    "ATOMS",
    "ELEMENT_TYPES",
    "Atom",
    "ChoiceError",
    "Derivation",
    "DescriptorError",
    "ElementType",
    "Field",
    "FieldError",
    "Form",
    "Major",
    "Match",
    "NotCanonicalError",
    "SmemDescriptor",
    "SwizzleMode",
    "UnknownCode",
    "Word",
    "canonical_atom",
    "derive",
    "form",
    "match",
    "plain",
]
