"""Tensor-core shared-memory descriptors, derived from layouts.

``derive`` runs the steps from a tile, or any layout, to the descriptor word and the offset of every operand in it, and
proves the result; each step is a value of ``layoutalg``. ``decode``, ``read_addresses``, ``diff`` and ``candidates``
go the other way, from words and layouts to what is wrong with them; ``idesc``, ``emit`` and ``tma_plan`` make what goes
with a descriptor. ``tell`` and ``record`` write any of these answers down, as text and as plain data. The other names
are the parts: operands, atoms, canonical forms, the words of sm90 (``wgmma``) and sm100 (``tcgen05``).

>>> d = derive(tile=(128, 128), dtype="bf16", major="MN", swizzle="64B", mma=(64, 16), arch="sm100")
>>> d.descriptor.stride_byte_offset, d.descriptor.leading_byte_offset, hex(d.descriptor.encode())
(512, 8192, '0x8000402002000000')
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # what a reader of types needs: the same names as in _NAMES
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
    from descriptors.output.answers import record, tell
    from descriptors.output.explanation import explain
    from descriptors.proof.read_model import read_addresses
    from descriptors.tma.limits import TmaError
    from descriptors.tma.plan import Box, Dimension, TmaPlan
    from descriptors.tma.planner import tma_plan
    from descriptors.words.address import SMEM_BYTES
    from descriptors.words.bitfield import Field, UnknownCode, Word
    from descriptors.words.descriptor import SmemDescriptor

#: The public names by the module they live in, which is imported when one of them is asked for.
_NAMES = {
    "debug.candidates": "candidates",
    "debug.decode": "decode",
    "debug.diff": "diff",
    "derivation.advance": "AdvanceReport",
    "derivation.derivation": "Derivation",
    "derivation.derive": "derive",
    "derivation.verify": "Report verify",
    "emitters.emit": "emit",
    "errors": "ChoiceError DescriptorError FieldError NotCanonicalError ProofError",
    "instructions.idesc": "decode_idesc idesc",
    "instructions.rules": "IllegalError",
    "operands.atoms": "ATOMS Atom canonical_atom",
    "operands.canonical": "Form Match form",
    "operands.match": "match",
    "operands.operand": "ELEMENT_TYPES ElementType Major SwizzleMode",
    "operands.swizzled": "plain",
    "output.answers": "record tell",
    "output.explanation": "explain",
    "proof.read_model": "read_addresses",
    "tma.limits": "TmaError",
    "tma.plan": "Box Dimension TmaPlan",
    "tma.planner": "tma_plan",
    "words.address": "SMEM_BYTES",
    "words.bitfield": "Field UnknownCode Word",
    "words.descriptor": "SmemDescriptor",
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = [
    "ATOMS",
    "ELEMENT_TYPES",
    "SMEM_BYTES",
    "AdvanceReport",
    "Atom",
    "Box",
    "ChoiceError",
    "Derivation",
    "DescriptorError",
    "Dimension",
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
    "TmaError",
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
    "record",
    "tell",
    "tma_plan",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted([*_HOMES])
