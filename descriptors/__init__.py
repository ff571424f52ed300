"""Tensor-core shared-memory descriptors, derived from layouts.

``derive`` runs the steps from a tile, or a layout that has a canonical form, to the descriptor word and the offset of
every operand in it, and proves the result; each step is a value of ``layoutalg``; ``derive_symbolic`` does it for all
tiles of a kind at once.
``decode``, ``read``, ``diff`` and ``candidates`` go the other way, from words and layouts to what is wrong with them;
``idesc``, ``emit`` and ``tma_plan`` make what goes with a descriptor, and ``tensor_map`` is what the driver makes of
such a plan; ``accumulator``, ``tmem_plan``, ``readout``, ``tmem_copied`` and ``block_scaled`` say what lies in
Blackwell's tensor memory and how it gets there; ``search``, ``lattice``, ``atlas`` and ``formulas`` look at many at
once; ``plan`` puts it together: one instruction and its main loop, whole, proved as a product. ``tell`` and ``record``
write any of these answers down, as text and as plain data.
The other names are the parts: operands, atoms, canonical forms, the words of sm90 (``wgmma``) and sm100 (``tcgen05``).

>>> d = derive(tile=(128, 128), dtype="bf16", major="MN", swizzle="64B", mma=(64, 16), arch="sm100")
>>> d.descriptor.stride_byte_offset, d.descriptor.leading_byte_offset, hex(d.descriptor.encode())
(512, 8192, '0x8000402002000000')
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # what a reader of types needs: the same names as in _NAMES
    from descriptors.answers import record, tell
    from descriptors.check.event_report import EventReport, check_events
    from descriptors.check.inspection import check_ptx
    from descriptors.check.story import Story, explain_ptx
    from descriptors.errors import ChoiceError, DescriptorError, FieldError, NotCanonicalError, ProofError
    from descriptors.gemm.chain import Chain, ChainReport, Disagreement
    from descriptors.gemm.chain_notation import chain, parse_chain
    from descriptors.gemm.metadata import compress, expand, metadata_layout, pack_metadata, unpack_metadata
    from descriptors.gemm.mma_plan import MmaPlan
    from descriptors.gemm.mma_planner import mma_plan
    from descriptors.gemm.plan import BlackwellPlan, HopperPlan, Plan
    from descriptors.gemm.planner import Proposals, plan, propose
    from descriptors.gemm.problem import TileProposals, propose_tiles
    from descriptors.gemm.product import Product
    from descriptors.gemm.programs.emit_plan import emit_plan
    from descriptors.gemm.promotion import a_scale_layout, b_scale_layout, pack_a_scales, unpack_a_scales
    from descriptors.show.pictures.kinds import picture
    from descriptors.smem.claims.claim import Claim, claim
    from descriptors.smem.debug.candidates import Candidate, Fit, candidates
    from descriptors.smem.debug.decode import Decoded, DecodedField, decode
    from descriptors.smem.debug.diff import Change, Diff, diff
    from descriptors.smem.debug.read import Fetched, read
    from descriptors.smem.debug.warnings import Remark
    from descriptors.smem.derivation.advance import AdvanceReport, Grid
    from descriptors.smem.derivation.crossing import Crossing
    from descriptors.smem.derivation.derivation import Derivation
    from descriptors.smem.derivation.derive import derive
    from descriptors.smem.derivation.explanation import explain
    from descriptors.smem.derivation.proved import Proof, proved
    from descriptors.smem.derivation.symbolic import SymbolicDerivation, derive_symbolic
    from descriptors.smem.derivation.verify import Report, verify
    from descriptors.smem.emitters.emit import emit
    from descriptors.smem.instructions.idesc import DecodedInstruction, decode_idesc, idesc
    from descriptors.smem.instructions.legality import (
        check_copy,
        check_major,
        check_operand,
        check_scale,
        check_shape,
        check_transposed_b,
        check_types,
    )
    from descriptors.smem.instructions.rules import IllegalError, Selection, select_rows
    from descriptors.smem.operands.atoms import ATOMS, Atom, canonical_atom
    from descriptors.smem.operands.canonical import Match
    from descriptors.smem.operands.forms import Form, form
    from descriptors.smem.operands.match import match
    from descriptors.smem.operands.operand import (
        ELEMENT_TYPES,
        ElementType,
        Major,
        MajorName,
        Matrix,
        SwizzleMode,
        SwizzleName,
    )
    from descriptors.smem.operands.swizzled import plain
    from descriptors.smem.proof.mismatch import Mismatch
    from descriptors.smem.proof.read_model import read_addresses
    from descriptors.smem.tma.convolution import Convolution, convolution
    from descriptors.smem.tma.map_check import (
        BoxCheck,
        MapChanges,
        WordCheck,
        box_check,
        box_layout,
        map_changes,
        word_check,
    )
    from descriptors.smem.tma.map_notation import parse_tensor_map
    from descriptors.smem.tma.tma_plan import Box, Dimension, TmaPlan
    from descriptors.smem.tma.tma_planner import tma_plan
    from descriptors.smem.words.bitfield import Field, UnknownCode, Word
    from descriptors.smem.words.descriptor import SMEM_BYTES, Arch, SmemDescriptor
    from descriptors.smem.words.tensor_map import Im2colWindow, MapRefusal, TensorMap, TmaError, tensor_map
    from descriptors.sweep.atlas import Summary, atlas
    from descriptors.sweep.finding import Finding, Refusal, Survey
    from descriptors.sweep.formulas import FormulaRow, formulas
    from descriptors.sweep.lattice import Lattice, lattice
    from descriptors.sweep.search import search, survey
    from descriptors.tmem.accumulator import accumulator
    from descriptors.tmem.block_scaled import BlockScaled, block_scaled
    from descriptors.tmem.columns import ColumnPlan, tmem_plan
    from descriptors.tmem.copied import Copied, tmem_copied
    from descriptors.tmem.copies import TmemCopy, WidenedCopy, tmem_copies, tmem_copy, widened_copy
    from descriptors.tmem.landing_proof import Landing
    from descriptors.tmem.moves import TmemMove, tmem_move
    from descriptors.tmem.operand_cells import operand_a, sparse_metadata
    from descriptors.tmem.packed_exponents import (
        exponent_places,
        exponents_layout,
        pack_exponents,
        transpose_exponents,
        unpack_exponents,
    )
    from descriptors.tmem.readout import Readout, readout, readouts
    from descriptors.tmem.reductions import TmemReduction, tmem_reduction
    from descriptors.tmem.scale_cells import scale_cells
    from descriptors.tmem.scale_factors import ScaleFactors, scale_factors
    from descriptors.tmem.scale_product import (
        block_scaled_product,
        decode_scale,
        encode_scale,
        pack_scales,
        unpack_scales,
    )
    from descriptors.tmem.shift_convolution import ShiftConvolution, ShiftProof, shift_convolution
    from descriptors.tmem.shift_views import ViewedConvolution, ViewedProof, shift_views
    from descriptors.tmem.tmem_fragment import TmemFragment

#: The public names by the module they live in, which is imported when one of them is asked for.
_NAMES = {
    "answers": "record tell",
    "check.event_report": "check_events EventReport",
    "check.inspection": "check_ptx",
    "check.story": "explain_ptx Story",
    "errors": "ChoiceError DescriptorError FieldError NotCanonicalError ProofError",
    "gemm.chain": "Chain ChainReport Disagreement",
    "gemm.chain_notation": "chain parse_chain",
    "gemm.metadata": "compress expand metadata_layout pack_metadata unpack_metadata",
    "gemm.mma_plan": "MmaPlan",
    "gemm.mma_planner": "mma_plan",
    "gemm.plan": "BlackwellPlan HopperPlan Plan",
    "gemm.planner": "plan Proposals propose",
    "gemm.problem": "TileProposals propose_tiles",
    "gemm.product": "Product",
    "gemm.programs.emit_plan": "emit_plan",
    "gemm.promotion": "a_scale_layout b_scale_layout pack_a_scales unpack_a_scales",
    "show.pictures.kinds": "picture",
    "smem.claims.claim": "Claim claim",
    "smem.debug.candidates": "Candidate candidates Fit",
    "smem.debug.decode": "decode Decoded DecodedField",
    "smem.debug.diff": "Change Diff diff",
    "smem.debug.read": "Fetched read",
    "smem.debug.warnings": "Remark",
    "smem.derivation.advance": "AdvanceReport Grid",
    "smem.derivation.crossing": "Crossing",
    "smem.derivation.derivation": "Derivation",
    "smem.derivation.derive": "derive",
    "smem.derivation.explanation": "explain",
    "smem.derivation.proved": "Proof proved",
    "smem.derivation.symbolic": "derive_symbolic SymbolicDerivation",
    "smem.derivation.verify": "Report verify",
    "smem.emitters.emit": "emit",
    "smem.instructions.idesc": "decode_idesc DecodedInstruction idesc",
    "smem.instructions.legality": (
        "check_copy check_major check_operand check_scale check_shape check_transposed_b check_types"
    ),
    "smem.instructions.rules": "IllegalError select_rows Selection",
    "smem.operands.atoms": "Atom ATOMS canonical_atom",
    "smem.operands.canonical": "Match",
    "smem.operands.forms": "Form form",
    "smem.operands.match": "match",
    "smem.operands.operand": "ELEMENT_TYPES ElementType Major MajorName Matrix SwizzleMode SwizzleName",
    "smem.operands.swizzled": "plain",
    "smem.proof.mismatch": "Mismatch",
    "smem.proof.read_model": "read_addresses",
    "smem.tma.convolution": "Convolution convolution",
    "smem.tma.map_check": "BoxCheck MapChanges WordCheck box_check box_layout map_changes word_check",
    "smem.tma.map_notation": "parse_tensor_map",
    "smem.tma.tma_plan": "Box Dimension TmaPlan",
    "smem.tma.tma_planner": "tma_plan",
    "smem.words.bitfield": "Field UnknownCode Word",
    "smem.words.descriptor": "Arch SMEM_BYTES SmemDescriptor",
    "smem.words.tensor_map": "Im2colWindow MapRefusal TensorMap TmaError tensor_map",
    "sweep.atlas": "atlas Summary",
    "sweep.finding": "Finding Refusal Survey",
    "sweep.formulas": "FormulaRow formulas",
    "sweep.lattice": "Lattice lattice",
    "sweep.search": "search survey",
    "tmem.accumulator": "accumulator",
    "tmem.block_scaled": "block_scaled BlockScaled",
    "tmem.columns": "ColumnPlan tmem_plan",
    "tmem.copied": "Copied tmem_copied",
    "tmem.copies": "tmem_copies tmem_copy TmemCopy widened_copy WidenedCopy",
    "tmem.landing_proof": "Landing",
    "tmem.moves": "tmem_move TmemMove",
    "tmem.reductions": "tmem_reduction TmemReduction",
    "tmem.operand_cells": "operand_a sparse_metadata",
    "tmem.packed_exponents": ("exponent_places exponents_layout pack_exponents transpose_exponents unpack_exponents"),
    "tmem.readout": "Readout readout readouts",
    "tmem.scale_cells": "scale_cells",
    "tmem.scale_factors": "scale_factors ScaleFactors",
    "tmem.scale_product": "block_scaled_product decode_scale encode_scale pack_scales unpack_scales",
    "tmem.shift_convolution": "shift_convolution ShiftConvolution ShiftProof",
    "tmem.shift_views": "ViewedConvolution ViewedProof shift_views",
    "tmem.tmem_fragment": "TmemFragment",
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = [
    "ATOMS",
    "ELEMENT_TYPES",
    "SMEM_BYTES",
    "AdvanceReport",
    "Arch",
    "Atom",
    "BlackwellPlan",
    "BlockScaled",
    "Box",
    "BoxCheck",
    "Candidate",
    "Chain",
    "ChainReport",
    "Change",
    "ChoiceError",
    "Claim",
    "ColumnPlan",
    "Convolution",
    "Copied",
    "Crossing",
    "Decoded",
    "DecodedField",
    "DecodedInstruction",
    "Derivation",
    "DescriptorError",
    "Diff",
    "Dimension",
    "Disagreement",
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
    "HopperPlan",
    "IllegalError",
    "Im2colWindow",
    "Landing",
    "Lattice",
    "Major",
    "MajorName",
    "MapChanges",
    "MapRefusal",
    "Match",
    "Matrix",
    "Mismatch",
    "MmaPlan",
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
    "TensorMap",
    "TileProposals",
    "TmaError",
    "TmaPlan",
    "TmemCopy",
    "TmemFragment",
    "TmemMove",
    "TmemReduction",
    "UnknownCode",
    "ViewedConvolution",
    "ViewedProof",
    "WidenedCopy",
    "Word",
    "WordCheck",
    "a_scale_layout",
    "accumulator",
    "atlas",
    "b_scale_layout",
    "block_scaled",
    "block_scaled_product",
    "box_check",
    "box_layout",
    "candidates",
    "canonical_atom",
    "chain",
    "check_copy",
    "check_events",
    "check_major",
    "check_operand",
    "check_ptx",
    "check_scale",
    "check_shape",
    "check_transposed_b",
    "check_types",
    "claim",
    "compress",
    "convolution",
    "decode",
    "decode_idesc",
    "decode_scale",
    "derive",
    "derive_symbolic",
    "diff",
    "emit",
    "emit_plan",
    "encode_scale",
    "expand",
    "explain",
    "explain_ptx",
    "exponent_places",
    "exponents_layout",
    "form",
    "formulas",
    "idesc",
    "lattice",
    "map_changes",
    "match",
    "metadata_layout",
    "mma_plan",
    "operand_a",
    "pack_a_scales",
    "pack_exponents",
    "pack_metadata",
    "pack_scales",
    "parse_chain",
    "parse_tensor_map",
    "picture",
    "plain",
    "plan",
    "propose",
    "propose_tiles",
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
    "shift_views",
    "sparse_metadata",
    "survey",
    "tell",
    "tensor_map",
    "tma_plan",
    "tmem_copied",
    "tmem_copies",
    "tmem_copy",
    "tmem_move",
    "tmem_plan",
    "tmem_reduction",
    "transpose_exponents",
    "unpack_a_scales",
    "unpack_exponents",
    "unpack_metadata",
    "unpack_scales",
    "verify",
    "widened_copy",
    "word_check",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*_HOMES])
