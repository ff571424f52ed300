"""What an answer shows: text for a person, plain data for a program, a page with its picture for a notebook.

One table, from the class of an answer to the module that tells it. Classes and modules stand in it by their names, so
that nothing is loaded before it is asked for, and what an answer shows depends on nothing else that was imported.

Law: what ``record`` returns holds dicts, sequences, texts, numbers, truth values and None alone, so that it is JSON.

>>> import json
>>> from descriptors import candidates, decode, derive, select_rows
>>> d = derive((128, 64), "bf16", "K", "128B", (64, 16))
>>> answers = [d, d.advance_report(), d.match, decode(0), select_rows("sm90"), candidates("(64,16):(64,1)", "bf16")]
>>> all(json.loads(json.dumps(record(one))) and tell(one) for one in answers)
True
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from descriptors.errors import DescriptorError, LayoutError, as_flag, brief

#: Where each answer is told, by its class or by that of the items of a sequence: MODULE:NOUN, whose functions are
#: ``record_NOUN``, ``tell_NOUN`` but where ``str`` is all, ``story_NOUN`` where that is told in short, and
#: ``tables_NOUN`` where its page has tables. Then MODULE:CLASS of the picture on its page, if it has one. All names are
#: those within this package; of a module that tells nothing else the NOUN may be left out, and ``_NOUN`` with it.
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

#: A title and the rows of a table of a page, its heading first.
Table = tuple[str, Sequence[Sequence[object]]]


def tell(answer: object, *, steps: bool = False, **options: Any) -> str:
    """An answer for a person: what the command of that answer prints, what one came for first.

    Args:
        answer: what a function of this package returned: a derivation, a match, candidates, a decoded word, a
            comparison, a plan of tensor copies, a proof...
        steps: the whole story, where the answer is told in short without: how a derivation came about, all that a
            plan has.
        options: those of the answer's own writer; a derivation takes the ``base`` of the tile and its proof.

    Raises:
        DescriptorError: if it is no answer.

    >>> from descriptors import match
    >>> print(tell(match("(64,16):(64,1)", "bf16", swizzle="128B")).splitlines()[0])
    stored as  S<3,3,3> o 0 o (64,16):(64,1): swizzle 128B applied to (64,16):(64,1)
    """
    home = _home(answer, "tell")
    writer = (_function(home, "story") if as_flag(steps, "tell: steps") else None) or _function(home, "tell") or str
    return str(writer(answer, **options))


def record(answer: object, **options: Any) -> Any:
    """An answer as plain data, fit for JSON: what the command of that answer writes with ``--json``.

    Args:
        answer: as for ``tell``.
        options: those of the answer's own writer.

    Raises:
        DescriptorError: if it is no answer.

    >>> from descriptors import candidates
    >>> [one["fits"] for one in record(candidates("(64,16):(64,1)", "bf16"))[:2]]
    [True, False]
    """
    writer = _function(_home(answer, "record"), "record")
    assert writer is not None
    return writer(answer, **options)


def page(answer: object) -> str:
    """An answer for a notebook, as HTML without scripts: its picture, its tables, then the story, below a line to open.

    What has neither picture nor tables is shown as ``print`` shows it.

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
    """A value as JSON holds it: numbers, texts, None, sequences and maps as they are, all else in its own notation.

    >>> from descriptors import SwizzleMode
    >>> plain_data((1024, None, SwizzleMode.B128))
    (1024, None, '128B')
    """
    if isinstance(value, (tuple, list)):
        return tuple(map(plain_data, value))
    if isinstance(value, Mapping):
        return {str(name): plain_data(one) for name, one in value.items()}
    return value if value is None or type(value) in (bool, int, float, str) else str(value)


def _key(answer: object) -> str:
    """The row of an answer in the table: its class, or the nearest above it that has one."""
    if isinstance(answer, (tuple, list)) and answer:
        return f"Sequence[{_key(answer[0])}]"
    names = [f"{one.__module__}.{one.__qualname__}".removeprefix("descriptors.") for one in type(answer).__mro__]
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
    """The function of an answer's module, if it has it."""
    module, _, noun = home.partition(" ")[0].partition(":")
    return getattr(_module(module), f"{operation}_{noun}".removesuffix("_"), None) if module else None


def _image(picture: str, answer: object) -> str:
    """The picture of an answer; nothing where it has too many parts to be drawn."""
    module, _, name = picture.partition(":")
    try:
        return str(getattr(_module(module), name)(answer)._repr_html_())
    except (DescriptorError, LayoutError):
        return ""


def _module(name: str) -> Any:
    from importlib import import_module  # as late as any of them is asked for

    return import_module(f"descriptors.{name}")


_CELL = "padding:2px 8px;border:1px solid #8886;text-align:left;font-family:monospace"


def _table(title: str, rows: Sequence[Sequence[object]]) -> str:
    """A table of a page, its heading first, with styles of its own."""
    body = "".join(_row(row, "td" if i else "th") for i, row in enumerate(rows))
    caption = f'<caption style="text-align:left">{_safe(title)}</caption>'
    return f'<table style="border-collapse:collapse">{caption}{body}</table>'


def _row(cells: Sequence[object], tag: str) -> str:
    return "<tr>" + "".join(f'<{tag} style="{_CELL}">{_safe(str(cell))}</{tag}>' for cell in cells) + "</tr>"


def _safe(text: str) -> str:
    from html import escape  # its table of names takes long to load, and only a notebook asks for a page

    return escape(text)
