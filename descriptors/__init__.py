"""Tensor-core shared-memory descriptors, derived from layouts.

``derive`` runs the steps from a tile, or any layout, to the descriptor word and the offset of every operand in it, and
proves the result; each step is a value of ``layoutalg``; ``derive_symbolic`` does it for all tiles of a kind at once.
``decode``, ``read``, ``diff`` and ``candidates`` go the other way, from words and layouts to what is wrong with them;
``idesc``, ``emit`` and ``tma_plan`` make what goes with a descriptor; ``search``, ``lattice``, ``atlas`` and
``formulas`` look at many at once. ``tell`` and ``record`` write any of these answers down, as text and as plain data.
The other names are the parts: operands, atoms, canonical forms, the words of sm90 (``wgmma``) and sm100 (``tcgen05``).

>>> d = derive(tile=(128, 128), dtype="bf16", major="MN", swizzle="64B", mma=(64, 16), arch="sm100")
>>> d.descriptor.stride_byte_offset, d.descriptor.leading_byte_offset, hex(d.descriptor.encode())
(512, 8192, '0x8000402002000000')
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # what a reader of types needs: the same names as in _NAMES
    from descriptors.debug.candidates import Candidate, candidates
    from descriptors.debug.decode import Decoded, DecodedField, decode
    from descriptors.debug.diff import Change, Diff, diff
    from descriptors.debug.fit import Fit
    from descriptors.debug.read import Fetched, read
    from descriptors.debug.warnings import Remark
    from descriptors.derivation.advance import AdvanceReport
    from descriptors.derivation.derivation import Derivation, Grid
    from descriptors.derivation.derive import derive
    from descriptors.derivation.symbolic import SymbolicDerivation, derive_symbolic
    from descriptors.derivation.verify import Report, verify
    from descriptors.emitters.emit import emit
    from descriptors.errors import ChoiceError, DescriptorError, FieldError, NotCanonicalError, ProofError
    from descriptors.instructions.checks import check_scale, check_shape, check_transposed_b, check_types
    from descriptors.instructions.idesc import DecodedInstruction, decode_idesc, idesc
    from descriptors.instructions.operands import check_copy, check_major, check_operand
    from descriptors.instructions.rules import IllegalError
    from descriptors.instructions.selection import Selection, select_rows
    from descriptors.operands.atoms import ATOMS, Atom, canonical_atom
    from descriptors.operands.canonical import Form, Match, form
    from descriptors.operands.match import match
    from descriptors.operands.operand import (
        ELEMENT_TYPES,
        ElementType,
        Major,
        MajorName,
        Matrix,
        SwizzleMode,
        SwizzleName,
    )
    from descriptors.operands.swizzled import plain
    from descriptors.output.answers import record, tell
    from descriptors.output.explanation import explain
    from descriptors.pictures.kinds import picture
    from descriptors.proof.mismatch import Mismatch
    from descriptors.proof.read_model import read_addresses
    from descriptors.sweeps.atlas import Summary, atlas
    from descriptors.sweeps.finding import Finding, Refusal, Survey
    from descriptors.sweeps.formulas import FormulaRow, formulas
    from descriptors.sweeps.lattice import Lattice, lattice
    from descriptors.sweeps.search import search, survey
    from descriptors.tma.limits import TmaError
    from descriptors.tma.plan import Box, Dimension, TmaPlan
    from descriptors.tma.planner import tma_plan
    from descriptors.words.address import SMEM_BYTES
    from descriptors.words.bitfield import Field, UnknownCode, Word
    from descriptors.words.descriptor import Arch, SmemDescriptor

#: The public names by the module they live in, which is imported when one of them is asked for.
_NAMES = {
    "debug.candidates": "Candidate candidates",
    "debug.decode": "Decoded DecodedField decode",
    "debug.diff": "Change Diff diff",
    "debug.fit": "Fit",
    "debug.read": "Fetched read",
    "debug.warnings": "Remark",
    "derivation.advance": "AdvanceReport",
    "derivation.derivation": "Derivation Grid",
    "derivation.derive": "derive",
    "derivation.symbolic": "SymbolicDerivation derive_symbolic",
    "derivation.verify": "Report verify",
    "emitters.emit": "emit",
    "errors": "ChoiceError DescriptorError FieldError NotCanonicalError ProofError",
    "instructions.checks": "check_scale check_shape check_transposed_b check_types",
    "instructions.idesc": "DecodedInstruction decode_idesc idesc",
    "instructions.operands": "check_copy check_major check_operand",
    "instructions.rules": "IllegalError",
    "instructions.selection": "Selection select_rows",
    "operands.atoms": "ATOMS Atom canonical_atom",
    "operands.canonical": "Form Match form",
    "operands.match": "match",
    "operands.operand": "ELEMENT_TYPES ElementType Major MajorName Matrix SwizzleMode SwizzleName",
    "operands.swizzled": "plain",
    "output.answers": "record tell",
    "output.explanation": "explain",
    "pictures.kinds": "picture",
    "proof.mismatch": "Mismatch",
    "proof.read_model": "read_addresses",
    "sweeps.atlas": "Summary atlas",
    "sweeps.finding": "Finding Refusal Survey",
    "sweeps.formulas": "FormulaRow formulas",
    "sweeps.lattice": "Lattice lattice",
    "sweeps.search": "search survey",
    "tma.limits": "TmaError",
    "tma.plan": "Box Dimension TmaPlan",
    "tma.planner": "tma_plan",
    "words.address": "SMEM_BYTES",
    "words.bitfield": "Field UnknownCode Word",
    "words.descriptor": "Arch SmemDescriptor",
}
#: What tells and draws the answers of a function, loaded with it, so that ``print`` tells an answer's story, and a
#: notebook shows its picture.
_WRITERS = {
    "decode": "output.decoded pictures.word",
    "derive": "output.derivation pictures.levels",
    "diff": "output.diff pictures.difference",
    "match": "output.match",
    "survey": "output.search",
    "tma_plan": "output.plan pictures.boxes",
    "verify": "output.proof pictures.proofs",
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = [
    "ATOMS",
    "ELEMENT_TYPES",
    "SMEM_BYTES",
    "AdvanceReport",
    "Arch",
    "Atom",
    "Box",
    "Candidate",
    "Change",
    "ChoiceError",
    "Decoded",
    "DecodedField",
    "DecodedInstruction",
    "Derivation",
    "DescriptorError",
    "Diff",
    "Dimension",
    "ElementType",
    "Fetched",
    "Field",
    "FieldError",
    "Finding",
    "Fit",
    "Form",
    "FormulaRow",
    "Grid",
    "IllegalError",
    "Lattice",
    "Major",
    "MajorName",
    "Match",
    "Matrix",
    "Mismatch",
    "NotCanonicalError",
    "ProofError",
    "Refusal",
    "Remark",
    "Report",
    "Selection",
    "SmemDescriptor",
    "Summary",
    "Survey",
    "SwizzleMode",
    "SwizzleName",
    "SymbolicDerivation",
    "TmaError",
    "TmaPlan",
    "UnknownCode",
    "Word",
    "atlas",
    "candidates",
    "canonical_atom",
    "check_copy",
    "check_major",
    "check_operand",
    "check_scale",
    "check_shape",
    "check_transposed_b",
    "check_types",
    "decode",
    "decode_idesc",
    "derive",
    "derive_symbolic",
    "diff",
    "emit",
    "explain",
    "form",
    "formulas",
    "idesc",
    "lattice",
    "match",
    "picture",
    "plain",
    "read",
    "read_addresses",
    "record",
    "search",
    "select_rows",
    "survey",
    "tell",
    "tma_plan",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    for writer in _WRITERS.get(name, "").split():
        import_module(f"{__name__}.{writer}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted([*_HOMES])
