"""Any answer of the package as text for a person, and as plain data for a program: two functions for all of them.

Each kind of answer has a module here with a ``tell`` and a ``record``; this one only finds it by the type of the value.
Law: what ``record`` returns holds dicts, sequences, texts, numbers, truth values and None alone, so that it is JSON.

>>> import json
>>> from descriptors import candidates, decode, derive, select_rows
>>> d = derive((128, 64), "bf16", "K", "128B", (64, 16))
>>> answers = [d, d.advance_report(), d.match, decode(0), select_rows("sm90"), candidates("(64,16):(64,1)", "bf16")]
>>> all(json.loads(json.dumps(record(one))) and tell(one) for one in answers)
True
"""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any

from descriptors.check import event_report
from descriptors.check.event_report import EventReport
from descriptors.check.kernel_report import Report as Checked
from descriptors.check.story import Story
from descriptors.errors import DescriptorError, brief
from descriptors.gemm.plan import Plan
from descriptors.gemm.planner import Proposals
from descriptors.output import main_loop, plan, proposals, report, search, story, summary
from descriptors.output.chains import block_scaled, copied, factors, landing, shift_proof, shifted
from descriptors.output.tiles import advance, closed_forms, derivation, formulas, match, proof
from descriptors.output.tmem import columns, copies, fragment, moves, readout, readouts, reductions, widened
from descriptors.output.words import candidates, decoded, diff, fetched, idesc, instructions
from descriptors.smem.debug.candidates import Candidate
from descriptors.smem.debug.decode import Decoded
from descriptors.smem.debug.diff import Diff
from descriptors.smem.debug.read import Fetched
from descriptors.smem.derivation.advance import AdvanceReport
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.derivation.proved import Proof
from descriptors.smem.derivation.symbolic import SymbolicDerivation
from descriptors.smem.derivation.verify import Report
from descriptors.smem.instructions.idesc import DecodedInstruction
from descriptors.smem.instructions.rules import Selection
from descriptors.smem.operands.canonical import Match
from descriptors.smem.tma.tma_plan import TmaPlan
from descriptors.sweep.atlas import Summary
from descriptors.sweep.finding import Survey
from descriptors.sweep.formulas import FormulaRow
from descriptors.tmem.block_scaled import BlockScaled
from descriptors.tmem.columns import ColumnPlan
from descriptors.tmem.copied import Copied, Landing
from descriptors.tmem.copies import TmemCopy, WidenedCopy
from descriptors.tmem.moves import TmemMove, TmemReduction
from descriptors.tmem.readout import Readout
from descriptors.tmem.scale_factors import ScaleFactors
from descriptors.tmem.shift_convolution import ShiftConvolution, ShiftProof
from descriptors.tmem.tmem_fragment import TmemFragment

#: The module of each answer.
ANSWERS: Mapping[type, ModuleType] = {
    AdvanceReport: advance,
    BlockScaled: block_scaled,
    ColumnPlan: columns,
    Copied: copied,
    DecodedInstruction: idesc,
    Decoded: decoded,
    Derivation: derivation,
    Diff: diff,
    EventReport: event_report,
    Fetched: fetched,
    TmemFragment: fragment,
    Landing: landing,
    Match: match,
    Checked: report,
    TmemMove: moves,
    TmemReduction: reductions,
    Readout: readout,
    Proof: proof,
    Report: proof,
    ScaleFactors: factors,
    Selection: instructions,
    ShiftConvolution: shifted,
    ShiftProof: shift_proof,
    Summary: summary,
    Story: story,
    Survey: search,
    SymbolicDerivation: closed_forms,
    Plan: main_loop,
    Proposals: proposals,
    TmaPlan: plan,
    WidenedCopy: widened,
}

#: The module of each answer that is a sequence, by the type of its items.
SEQUENCES: Mapping[type, ModuleType] = {
    Candidate: candidates,
    TmemCopy: copies,
    FormulaRow: formulas,
    Readout: readouts,
}


def tell(answer: object, **options: Any) -> str:
    """An answer for a person: what the command of that answer prints.

    Args:
        answer: what a function of this package returned: a derivation, a match, candidates, a decoded word, a
            comparison, a plan of tensor copies, a proof...
        options: those of the answer's own module; a derivation takes the ``base`` of the tile and its proof.

    Raises:
        DescriptorError: if it is no answer.

    >>> from descriptors import match
    >>> print(tell(match("(64,16):(64,1)", "bf16", swizzle="128B")).splitlines()[0])
    form       K-major 128B ((8,m),(1,k)):((8,SBO),(-,1)), in 16-byte units
    """
    return str(_home(answer, "tell").tell(answer, **options))


def record(answer: object, **options: Any) -> Any:
    """An answer as plain data, fit for JSON: what the command of that answer writes with ``--json``.

    Args:
        answer: as for ``tell``.
        options: those of the answer's own module.

    Raises:
        DescriptorError: if it is no answer.

    >>> from descriptors import candidates
    >>> [one["fits"] for one in record(candidates("(64,16):(64,1)", "bf16"))[:2]]
    [True, False]
    """
    return _home(answer, "record").record(answer, **options)


def _home(answer: object, operation: str) -> ModuleType:
    if isinstance(answer, (tuple, list)) and answer and type(answer[0]) in SEQUENCES:
        return SEQUENCES[type(answer[0])]
    if type(answer) in ANSWERS:
        return ANSWERS[type(answer)]
    known = ", ".join(sorted(one.__name__ for one in ANSWERS))
    raise DescriptorError(
        f"{operation}: the operand must be an answer ({known}, or candidates, formulas, copies or readouts), "
        f"found {brief(answer)}"
    )
