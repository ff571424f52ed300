"""Present answers: as text, as plain data for JSON, and as HTML with a picture for a notebook.

A table maps the class of an answer to the module that presents it. The table contains names of classes and modules, so
that modules are imported only if they are needed, and the result does not depend on what else was imported.

Invariant: ``record`` returns only dicts, sequences, strings, numbers, booleans and None, so that JSON can represent it.

>>> import json
>>> from descriptors import candidates, decode, derive, select_rows
>>> d = derive((128, 64), "bf16", "K", "128B", (64, 16))
>>> answers = [d, d.advance_report(), d.match, decode(0), select_rows("sm90"), candidates("(64,16):(64,1)", "bf16")]
>>> all(json.loads(json.dumps(record(answer))) and tell(answer) for answer in answers)
True
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from descriptors.errors import DescriptorError, LayoutError, as_flag, brief

#: The module that presents each answer, by the class of the answer or of the items of a sequence, as MODULE:NOUN. Its
#: functions are ``record_NOUN``; ``tell_NOUN``, unless ``str`` is sufficient; ``story_NOUN``, if there is a longer
#: text; and ``tables_NOUN``, if the page has tables. MODULE:CLASS of the picture on the page follows, if there is one.
#: All names are relative to this package. A module that presents nothing else may omit NOUN, and ``_NOUN`` with it.
ANSWERS: Mapping[str, str] = {
    "check.kernel_report.Report": "check.kernel_text:report",
    "check.story.Story": "check.kernel_text:story",
    "gemm.mma_plan.MmaPlan": "gemm.mma_text:mma show.pictures.mma_picture:MmaPicture",
    "gemm.plan.Plan": "gemm.plan_text:plan show.pictures.main_loop_picture:MainLoopPicture",
    "gemm.planner.Proposals": "gemm.proposal_text:proposals",
    "gemm.problem.TileProposals": "gemm.proposal_text:tile_proposals",
    "gemm.chain.ChainReport": "gemm.chain_text:",
    "gemm.contract.ContractReport": "gemm.contract:",
    "smem.debug.decode.Decoded": "smem.debug.word_text:decoded show.pictures.word_picture:WordPicture",
    "smem.debug.diff.Diff": "smem.debug.word_text:diff show.pictures.difference_picture:DifferencePicture",
    "smem.debug.read.Fetched": "smem.debug.word_text:fetched",
    "smem.derivation.advance.AdvanceReport": "smem.derivation.derivation_text:reach",
    "smem.derivation.derivation.Derivation": (
        "smem.derivation.derivation_text:derivation show.pictures.level_picture:LevelsPicture"
    ),
    "smem.derivation.proved.Proof": "smem.derivation.derivation_text:proof",
    "smem.derivation.symbolic.SymbolicDerivation": "smem.derivation.closed_forms:formulas",
    "smem.derivation.verify.Report": "smem.derivation.derivation_text:proof show.pictures.proof_picture:ProofPicture",
    "smem.instructions.idesc.DecodedInstruction": "smem.instructions.instruction_text:idesc",
    "smem.instructions.rules.Selection": "smem.instructions.instruction_text:selection",
    "smem.operands.canonical.Match": "smem.derivation.explanation:match",
    "smem.tma.map_check.BoxCheck": "smem.tma.map_text:box_check",
    "smem.tma.map_check.MapChanges": "smem.tma.map_text:map_changes",
    "smem.tma.map_check.WordCheck": "smem.tma.map_text:word_check",
    "smem.words.tensor_map.TensorMap": "smem.tma.map_text:tensor_map",
    "smem.tma.tma_plan.TmaPlan": "smem.tma.tma_text:tma_plan show.pictures.box_picture:BoxesPicture",
    "sweep.atlas.Summary": "sweep.survey_text:summary",
    "sweep.finding.Survey": "sweep.survey_text:survey",
    "tmem.block_scaled.BlockScaled": "tmem.copy_text:block_scaled show.pictures.column_picture:ColumnsPicture",
    "tmem.columns.ColumnPlan": "tmem.fragment_text:columns show.pictures.column_picture:ColumnsPicture",
    "tmem.copied.Copied": "tmem.copy_text:copied show.pictures.cell_picture:CellsPicture",
    "tmem.landing_proof.Landing": "tmem.copy_text:landing",
    "tmem.copies.WidenedCopy": "tmem.copy_text:widened",
    "check.event_report.EventReport": "check.event_report:report",
    "tmem.moves.TmemMove": "tmem.move_text:move show.pictures.cell_picture:CellsPicture",
    "tmem.reductions.TmemReduction": "tmem.move_text:reduction show.pictures.cell_picture:CellsPicture",
    "tmem.readout.Readout": "tmem.move_text:readout show.pictures.cell_picture:CellsPicture",
    "tmem.scale_factors.ScaleFactors": "tmem.copy_text:factors show.pictures.cell_picture:CellsPicture",
    "tmem.shift_convolution.ShiftConvolution": "tmem.shift_text:convolution show.pictures.shift_picture:ShiftPicture",
    "tmem.shift_convolution.ShiftProof": "tmem.shift_text:proof",
    "tmem.shift_views.ViewedConvolution": "tmem.shift_text:views",
    "tmem.shift_views.ViewedProof": "tmem.shift_text:viewed_proof",
    "tmem.tmem_fragment.TmemFragment": "tmem.fragment_text:fragment show.pictures.cell_picture:CellsPicture",
    "Sequence[targets.Architecture]": "smem.instructions.instruction_text:architectures",
    "Sequence[smem.debug.candidates.Candidate]": "smem.debug.word_text:candidates",
    "Sequence[sweep.formulas.FormulaRow]": "sweep.formulas:formulas",
    "Sequence[tmem.copies.TmemCopy]": "tmem.copy_text:copies",
    "Sequence[tmem.readout.Readout]": "tmem.move_text:readouts",
}

#: The title and the rows of a table of a page; the first row is the heading.
Table = tuple[str, Sequence[Sequence[object]]]


def tell(answer: object, *, steps: bool = False, **options: Any) -> str:
    """Return an answer as text, as its command prints it.

    Args:
        answer: the result of a function of this package: a derivation, a match, candidates, a decoded descriptor, a
            comparison, a plan of TMA copies, a proof, and so on.
        steps: whether to return the longer text, if the answer has one: the steps of a derivation, all parts of a plan.
        options: options of the function that writes the text; a derivation accepts ``base`` of the tile and its proof.

    Raises:
        DescriptorError: if the value is not an answer of this package.

    >>> from descriptors import match
    >>> print(tell(match("(64,16):(64,1)", "bf16", swizzle="128B")).splitlines()[0])
    stored as  S<3,3,3> o 0 o (64,16):(64,1): swizzle 128B applied to (64,16):(64,1)
    """
    home = _home(answer, "tell")
    writer = (_function(home, "story") if as_flag(steps, "tell: steps") else None) or _function(home, "tell") or str
    return str(writer(answer, **options))


def record(answer: object, **options: Any) -> Any:
    """Return an answer as plain data for JSON, as its command prints it with ``--json``.

    Args:
        answer: the answer, as for ``tell``.
        options: options of the function that writes the record.

    Raises:
        DescriptorError: if the value is not an answer of this package.

    >>> from descriptors import candidates
    >>> [candidate["fits"] for candidate in record(candidates("(64,16):(64,1)", "bf16"))[:2]]
    [True, False]
    """
    writer = _function(_home(answer, "record"), "record")
    assert writer is not None
    return writer(answer, **options)


def page(answer: object) -> str:
    """Return an answer for a notebook, as HTML without scripts: its picture, its tables, and its text to unfold.

    An answer without picture and tables is shown as ``print`` shows it.

    >>> from descriptors import check_events, decode
    >>> html = page(decode(0x4000404000010000))
    >>> html.count("<img"), html.count("<table"), html.count("<details>"), page(check_events(["alloc d 32"]))[:5]
    (1, 1, 1, '<pre>')
    """
    home = ANSWERS.get(_key(answer), "")
    tables, picture = _function(home, "tables"), home.partition(" ")[2]
    if tables is None and not picture:
        return f"<pre>{_safe(str(answer))}</pre>"
    story = tell(answer, steps=True)
    pictures = _image(picture, answer) if picture else ""
    pictures += "".join(_table(title, rows) for title, rows in (tables(answer) if tables else ()) if len(rows) > 1)
    title, whole = story.partition("\n")[0], "<details><summary>the whole story</summary><pre>"
    return f"<div><code>{_safe(title)}</code>{pictures}{whole}{_safe(story)}</pre></details></div>"


def plain_data(value: Any) -> Any:
    """Return a value as JSON can represent it: other values than numbers, strings, None and containers become strings.

    >>> from descriptors import SwizzleMode
    >>> plain_data((1024, None, SwizzleMode.B128))
    (1024, None, '128B')
    """
    if isinstance(value, (tuple, list)):
        return tuple(map(plain_data, value))
    if isinstance(value, Mapping):
        return {str(name): plain_data(item) for name, item in value.items()}
    return value if value is None or type(value) in (bool, int, float, str) else str(value)


def _key(answer: object) -> str:
    """Return the key of an answer in the table: the name of its class, or of its nearest base class in the table."""
    if isinstance(answer, (tuple, list)) and answer:
        return f"Sequence[{_key(answer[0])}]"
    names = [f"{base.__module__}.{base.__qualname__}".removeprefix("descriptors.") for base in type(answer).__mro__]
    return next((name for name in names if name in ANSWERS), names[0])


def _home(answer: object, operation: str) -> str:
    if (key := _key(answer)) in ANSWERS:
        return ANSWERS[key]
    known = ", ".join(sorted(name.rpartition(".")[2] for name in ANSWERS if "[" not in name))
    raise DescriptorError(
        f"{operation}: {brief(answer)} is not an answer of this package; answers: {known}, and sequences of "
        "candidates, formulas, copies or readouts"
    )


def _function(home: str, operation: str) -> Callable[..., Any] | None:
    """Return a function of the module that presents an answer; None if the module does not have it."""
    module, _, noun = home.partition(" ")[0].partition(":")
    return getattr(_module(module), f"{operation}_{noun}".removesuffix("_"), None) if module else None


def _image(picture: str, answer: object) -> str:
    """Return the picture of an answer; "" if it has too many parts for a picture."""
    module, _, name = picture.partition(":")
    try:
        return str(getattr(_module(module), name)(answer)._repr_html_())
    except (DescriptorError, LayoutError):
        return ""


def _module(name: str) -> Any:
    from importlib import import_module  # imported only if an answer is presented

    return import_module(f"descriptors.{name}")


_CELL = "padding:2px 8px;border:1px solid #8886;text-align:left;font-family:monospace"


def _table(title: str, rows: Sequence[Sequence[object]]) -> str:
    """Return a table of a page as HTML with inline styles."""
    body = "".join(_row(row, "td" if i else "th") for i, row in enumerate(rows))
    caption = f'<caption style="text-align:left">{_safe(title)}</caption>'
    return f'<table style="border-collapse:collapse">{caption}{body}</table>'


def _row(cells: Sequence[object], tag: str) -> str:
    return "<tr>" + "".join(f'<{tag} style="{_CELL}">{_safe(str(cell))}</{tag}>' for cell in cells) + "</tr>"


def _safe(text: str) -> str:
    from html import escape  # imported late, because it takes long to load and only pages need it

    return escape(text)
