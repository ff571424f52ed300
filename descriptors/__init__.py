"""Tensor-core shared-memory descriptors, derived from layouts.

``derive`` runs the steps from a tile, or any layout, to the descriptor word and the offset of every operand in it, and
proves the result; each step is a value of ``layoutalg``; ``derive_symbolic`` does it for all tiles of a kind at once.
``decode``, ``read``, ``diff`` and ``candidates`` go the other way, from words and layouts to what is wrong with them;
``idesc``, ``emit`` and ``tma_plan`` make what goes with a descriptor; ``accumulator``, ``tmem_plan``, ``readout``,
``tmem_copied`` and ``block_scaled`` say what lies in Blackwell's tensor memory and how it gets there; ``search``,
``lattice``, ``atlas`` and ``formulas`` look at many at once; ``plan`` puts it together: one instruction
and its main loop, whole, proved as a product. ``tell`` and ``record`` write any of these answers down, as text and as
plain data.
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
    from descriptors.derivation.derive import derive
    from descriptors.derivation.parts.advance import AdvanceReport
    from descriptors.derivation.parts.crossing import Crossing
    from descriptors.derivation.parts.derivation import Derivation
    from descriptors.derivation.parts.table import Grid
    from descriptors.derivation.proved import Proof, proved
    from descriptors.derivation.report import Report
    from descriptors.derivation.symbolic import SymbolicDerivation, derive_symbolic
    from descriptors.derivation.verify import verify
    from descriptors.emitters.emit import emit
    from descriptors.errors import ChoiceError, DescriptorError, FieldError, NotCanonicalError, ProofError
    from descriptors.gemm.emit import emit_plan
    from descriptors.instructions.checks import check_scale, check_shape, check_transposed_b, check_types
    from descriptors.instructions.idesc import DecodedInstruction, decode_idesc, idesc
    from descriptors.instructions.operands import check_copy, check_major, check_operand
    from descriptors.instructions.rules import IllegalError
    from descriptors.instructions.selection import Selection, select_rows
    from descriptors.kernels.inspect import check_ptx
    from descriptors.kernels.story import Story, explain_ptx
    from descriptors.matching.canonical import Match
    from descriptors.matching.forms import Form, form
    from descriptors.matching.match import match
    from descriptors.operands.atoms import ATOMS, Atom, canonical_atom
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
    from descriptors.output.tiles.explanation import explain
    from descriptors.pictures.kinds import picture
    from descriptors.plans.plan import Plan
    from descriptors.plans.planner import plan
    from descriptors.plans.product import Product
    from descriptors.plans.proposals import Proposals, propose
    from descriptors.proof.mismatch import Mismatch
    from descriptors.proof.read_model import read_addresses
    from descriptors.scales.block_scaled import BlockScaled, block_scaled
    from descriptors.scales.codes import decode_scale, encode_scale
    from descriptors.scales.factors import ScaleFactors, scale_factors
    from descriptors.scales.product import block_scaled_product, pack_scales, unpack_scales
    from descriptors.shift.convolution import ShiftConvolution, shift_convolution
    from descriptors.shift.running import ShiftProof
    from descriptors.sweeps.atlas import Summary, atlas
    from descriptors.sweeps.finding import Finding, Refusal, Survey
    from descriptors.sweeps.formulas import FormulaRow, formulas
    from descriptors.sweeps.lattice import Lattice, lattice
    from descriptors.sweeps.search import search, survey
    from descriptors.tma.limits import TmaError
    from descriptors.tma.plan import Box, Dimension, TmaPlan
    from descriptors.tma.planner import tma_plan
    from descriptors.tmem.accumulator import accumulator
    from descriptors.tmem.fragment import TmemFragment
    from descriptors.tmem.metadata import sparse_metadata
    from descriptors.tmem.operand import operand_a
    from descriptors.tmem.plan import ColumnPlan
    from descriptors.tmem.planner import tmem_plan
    from descriptors.tmem.scale_cells import scale_cells
    from descriptors.transfer.copied import Copied, tmem_copied
    from descriptors.transfer.copies import TmemCopy, tmem_copies, tmem_copy
    from descriptors.transfer.findings import EventReport
    from descriptors.transfer.guardrails import check_events
    from descriptors.transfer.landing import Landing
    from descriptors.transfer.moves import TmemMove, tmem_move
    from descriptors.transfer.readout import Readout, readout, readouts
    from descriptors.transfer.reductions import TmemReduction, tmem_reduction
    from descriptors.transfer.widening import WidenedCopy, widened_copy
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
    "derivation.parts.advance": "AdvanceReport",
    "derivation.parts.crossing": "Crossing",
    "derivation.parts.derivation": "Derivation",
    "derivation.derive": "derive",
    "derivation.proved": "Proof proved",
    "derivation.report": "Report",
    "derivation.symbolic": "SymbolicDerivation derive_symbolic",
    "derivation.parts.table": "Grid",
    "derivation.verify": "verify",
    "emitters.emit": "emit",
    "errors": "ChoiceError DescriptorError FieldError NotCanonicalError ProofError",
    "gemm.emit": "emit_plan",
    "instructions.checks": "check_scale check_shape check_transposed_b check_types",
    "instructions.idesc": "DecodedInstruction decode_idesc idesc",
    "instructions.operands": "check_copy check_major check_operand",
    "instructions.rules": "IllegalError",
    "instructions.selection": "Selection select_rows",
    "kernels.inspect": "check_ptx",
    "kernels.story": "Story explain_ptx",
    "operands.atoms": "ATOMS Atom canonical_atom",
    "matching.canonical": "Match",
    "matching.forms": "Form form",
    "matching.match": "match",
    "operands.operand": "ELEMENT_TYPES ElementType Major MajorName Matrix SwizzleMode SwizzleName",
    "operands.swizzled": "plain",
    "output.answers": "record tell",
    "output.tiles.explanation": "explain",
    "pictures.kinds": "picture",
    "plans.plan": "Plan",
    "plans.planner": "plan",
    "plans.product": "Product",
    "plans.proposals": "Proposals propose",
    "proof.mismatch": "Mismatch",
    "proof.read_model": "read_addresses",
    "scales.block_scaled": "BlockScaled block_scaled",
    "scales.codes": "decode_scale encode_scale",
    "scales.factors": "ScaleFactors scale_factors",
    "scales.product": "block_scaled_product pack_scales unpack_scales",
    "shift.convolution": "ShiftConvolution shift_convolution",
    "shift.running": "ShiftProof",
    "sweeps.atlas": "Summary atlas",
    "sweeps.finding": "Finding Refusal Survey",
    "sweeps.formulas": "FormulaRow formulas",
    "sweeps.lattice": "Lattice lattice",
    "sweeps.search": "search survey",
    "tma.limits": "TmaError",
    "tma.plan": "Box Dimension TmaPlan",
    "tma.planner": "tma_plan",
    "tmem.accumulator": "accumulator",
    "tmem.fragment": "TmemFragment",
    "tmem.metadata": "sparse_metadata",
    "tmem.operand": "operand_a",
    "tmem.plan": "ColumnPlan",
    "tmem.planner": "tmem_plan",
    "tmem.scale_cells": "scale_cells",
    "transfer.copied": "Copied tmem_copied",
    "transfer.copies": "TmemCopy tmem_copies tmem_copy",
    "transfer.findings": "EventReport",
    "transfer.guardrails": "check_events",
    "transfer.landing": "Landing",
    "transfer.moves": "TmemMove tmem_move",
    "transfer.readout": "Readout readout readouts",
    "transfer.reductions": "TmemReduction tmem_reduction",
    "transfer.widening": "WidenedCopy widened_copy",
    "words.address": "SMEM_BYTES",
    "words.bitfield": "Field UnknownCode Word",
    "words.descriptor": "Arch SmemDescriptor",
}
#: What tells and draws the answers of a function, loaded with it, so that ``print`` tells an answer's story, and a
#: notebook shows its picture.
_WRITERS = {
    "accumulator": "output.tmem.fragment",
    "block_scaled": "output.chains.block_scaled",
    "check_events": "output.tmem.events",
    "check_ptx": "output.report",
    "decode": "output.words.decoded pictures.words.word",
    "derive": "output.tiles.derivation pictures.parts.levels",
    "diff": "output.words.diff pictures.words.difference",
    "explain_ptx": "output.story",
    "match": "output.tiles.match",
    "operand_a": "output.tmem.fragment",
    "plan": "output.main_loop pictures.main_loops",
    "propose": "output.proposals output.main_loop",
    "readout": "output.tmem.readout",
    "scale_cells": "output.tmem.fragment",
    "scale_factors": "output.chains.factors",
    "sparse_metadata": "output.tmem.fragment",
    "shift_convolution": "output.chains.shifted pictures.shifted",
    "survey": "output.search",
    "tma_plan": "output.plan pictures.boxes",
    "tmem_copied": "output.chains.copied",
    "tmem_move": "output.tmem.moves",
    "tmem_plan": "output.tmem.columns",
    "tmem_reduction": "output.tmem.reductions",
    "proved": "output.tiles.proof",
    "verify": "output.tiles.proof pictures.proofs",
    "widened_copy": "output.tmem.widened",
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = [
    "ATOMS",
    "ELEMENT_TYPES",
    "SMEM_BYTES",
    "AdvanceReport",
    "Arch",
    "Atom",
    "BlockScaled",
    "Box",
    "Candidate",
    "Change",
    "ChoiceError",
    "ColumnPlan",
    "Copied",
    "Crossing",
    "Decoded",
    "DecodedField",
    "DecodedInstruction",
    "Derivation",
    "DescriptorError",
    "Diff",
    "Dimension",
    "ElementType",
    "EventReport",
    "Fetched",
    "Field",
    "FieldError",
    "Finding",
    "Fit",
    "Form",
    "FormulaRow",
    "Grid",
    "IllegalError",
    "Landing",
    "Lattice",
    "Major",
    "MajorName",
    "Match",
    "Matrix",
    "Mismatch",
    "NotCanonicalError",
    "Plan",
    "Product",
    "Proof",
    "ProofError",
    "Proposals",
    "Readout",
    "Refusal",
    "Remark",
    "Report",
    "ScaleFactors",
    "Selection",
    "ShiftConvolution",
    "ShiftProof",
    "SmemDescriptor",
    "Story",
    "Summary",
    "Survey",
    "SwizzleMode",
    "SwizzleName",
    "SymbolicDerivation",
    "TmaError",
    "TmaPlan",
    "TmemCopy",
    "TmemFragment",
    "TmemMove",
    "TmemReduction",
    "UnknownCode",
    "WidenedCopy",
    "Word",
    "accumulator",
    "atlas",
    "block_scaled",
    "block_scaled_product",
    "candidates",
    "canonical_atom",
    "check_copy",
    "check_events",
    "check_major",
    "check_operand",
    "check_ptx",
    "check_scale",
    "check_shape",
    "check_transposed_b",
    "check_types",
    "decode",
    "decode_idesc",
    "decode_scale",
    "derive",
    "derive_symbolic",
    "diff",
    "emit",
    "emit_plan",
    "encode_scale",
    "explain",
    "explain_ptx",
    "form",
    "formulas",
    "idesc",
    "lattice",
    "match",
    "operand_a",
    "pack_scales",
    "picture",
    "plain",
    "plan",
    "propose",
    "proved",
    "read",
    "read_addresses",
    "readout",
    "readouts",
    "record",
    "scale_cells",
    "scale_factors",
    "search",
    "select_rows",
    "shift_convolution",
    "sparse_metadata",
    "survey",
    "tell",
    "tma_plan",
    "tmem_copied",
    "tmem_copies",
    "tmem_copy",
    "tmem_move",
    "tmem_plan",
    "tmem_reduction",
    "unpack_scales",
    "verify",
    "widened_copy",
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
