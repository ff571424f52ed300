"""Tensor-core shared-memory descriptors, derived from layouts.

``derive`` runs the steps from a tile, or any layout, to the descriptor word and the offset of every operand in it, and
proves the result; each step is a value of ``layoutalg``. ``decode``, ``read_addresses``, ``diff`` and ``candidates``
go the other way, from words and layouts to what is wrong with them; ``idesc``, ``emit`` and ``tma_plan`` make what goes
with a descriptor. The other names are the parts: operands, atoms, canonical forms, the words of sm90 (``wgmma``) and
sm100 (``tcgen05``).

>>> d = derive(tile=(128, 128), dtype="bf16", major="MN", swizzle="64B", mma=(64, 16), arch="sm100")
>>> d.descriptor.stride_byte_offset, d.descriptor.leading_byte_offset, hex(d.descriptor.encode())
(512, 8192, '0x8000402002000000')
"""

from descriptors.debug.candidates import candidates
from descriptors.debug.decode import decode
from descriptors.debug.diff import diff
from descriptors.derivation.advance import AdvanceReport
from descriptors.derivation.derivation import Derivation
from descriptors.derivation.derive import derive
from descriptors.derivation.verify import Report, verify
from descriptors.emitters.emit import emit
from descriptors.errors import ChoiceError, DescriptorError, FieldError, NotCanonicalError, ProofError
from descriptors.instructions.idesc import decode_idesc, idesc
from descriptors.instructions.rules import IllegalError
from descriptors.operands.atoms import ATOMS, Atom, canonical_atom
from descriptors.operands.canonical import Form, Match, form
from descriptors.operands.match import match
from descriptors.operands.operand import ELEMENT_TYPES, ElementType, Major, SwizzleMode
from descriptors.operands.swizzled import plain
from descriptors.output.explanation import explain
from descriptors.proof.read_model import read_addresses
from descriptors.tma import TmaPlan, tma_plan
from descriptors.words.address import SMEM_BYTES
from descriptors.words.bitfield import Field, UnknownCode, Word
from descriptors.words.descriptor import SmemDescriptor

__all__ = [
    "ATOMS",
    "ELEMENT_TYPES",
    "SMEM_BYTES",
    "AdvanceReport",
    "Atom",
    "ChoiceError",
    "Derivation",
    "DescriptorError",
    "ElementType",
    "Field",
    "FieldError",
    "Form",
    "IllegalError",
    "Major",
    "Match",
    "NotCanonicalError",
    "ProofError",
    "Report",
    "SmemDescriptor",
    "SwizzleMode",
    "TmaPlan",
    "UnknownCode",
    "Word",
    "candidates",
    "canonical_atom",
    "decode",
    "decode_idesc",
    "derive",
    "diff",
    "emit",
    "explain",
    "form",
    "idesc",
    "match",
    "plain",
    "read_addresses",
    "tma_plan",
    "verify",
]
