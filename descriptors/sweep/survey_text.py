"""Text and JSON records of a search: a table of the layouts, the command that derives each, and the refusals.

Invariant: a line for every finding, best first, numbered from 1.

>>> from descriptors.sweep.search import survey
>>> ranked = survey(tile=(64, 32), dtype="bf16", mma=(64, 16)).findings
>>> listed = [[str(number), str(one.major), str(one.swizzle)] for number, one in enumerate(ranked, 1)]
>>> [line.split()[:3] for line in findings_table(ranked)[1:]] == listed
True
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from descriptors.records import WORD, Option, Record, Row, attributes
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.instructions.transpose import transpose_note
from descriptors.smem.operands.canonical import Match
from descriptors.smem.operands.operand import as_major
from descriptors.smem.words.descriptor import window_bytes
from descriptors.sweep.atlas import Summary
from descriptors.sweep.finding import COLUMNS, Asked, Finding, Refusal, Survey
from descriptors.sweep.search import found_with_pad
from descriptors.targets import shared_bytes
from descriptors.text import aligned, counted, extents_text, word_text

#: Refused candidates that are listed, unless all are asked for.
_REFUSALS = 4


def _answer(value: object) -> str:
    """``-`` for no answer, yes or no, or the number."""
    return "-" if value is None else {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _orders(entry: Finding | Refusal) -> str:
    """``0,1``, or ``any`` where both orders come to the same."""
    return "any" if len(entry.orders) > 1 else ",".join(map(str, entry.orders[0]))


def _heading(column: str) -> str:
    """What a column is called in the table, which says once that all memory is in bytes."""
    return {"alignment_bytes": "align"}.get(column, column.removesuffix("_bytes"))


#: Headings of the table and what stands below them.
_TABLE: Mapping[str, Callable[[Finding], str]] = {
    "major": lambda one: str(one.major),
    "swizzle": lambda one: str(one.swizzle),
    "order": _orders,
    "boxes": lambda one: _answer(one.boxes),
    "wavefronts": lambda one: _answer(one.wavefronts),
    "conflicts": lambda one: _answer(one.conflicts),
    "store": lambda one: _answer(one.store_bytes),
    "align": lambda one: _answer(one.alignment_bytes),
    "padding": lambda one: _answer(one.padding_bytes),
    "slack": lambda one: _answer(one.slack_bytes),
    "waste": lambda one: _answer(one.waste_bytes),
    "total": lambda one: _answer(one.total_bytes),
    "fits": lambda one: _answer(one.fits),
    "transposes": lambda one: _answer(one.transposes),
    "carries": lambda one: _answer(one.carries),
    "word": lambda one: word_text(one.word),
}


#: Columns of plain stores, which nobody asks for where copies fill the tile.
_STORES = ("wavefronts", "conflicts", "store")
#: Columns that say something only where they are not this in every row.
_USUAL = {"padding": "0", "fits": "yes", "carries": "no", "transposes": "no"}


def findings_table(findings: Sequence[Finding], producer: str = "tma", everything: bool = False) -> list[str]:
    """Return the lines of the table: a number, then a column for each informative heading.

    Args:
        findings: the rows, best first.
        producer: who fills the tile; the cost of plain stores is of no copies.
        everything: all columns.

    >>> from descriptors.sweep.search import search
    >>> for line in findings_table(search(tile=(64, 16), dtype="bf16", mma=(64, 16), major="K")):
    ...     print(line[:38])
    #  major  swizzle  order  boxes  align
    1      K      32B    any      1    256
    2      K     none    0,1      2    128
    3      K     none    1,0     16    128
    """
    columns = {name: [show(one) for one in findings] for name, show in _TABLE.items()}
    kept = {
        name: cells
        for name, cells in columns.items()
        if everything
        or not ((producer == "tma" and name in _STORES) or name == "slack" or set(cells) == {_USUAL.get(name)})
    }
    rows = [[str(i + 1), *(cells[i] for cells in kept.values())] for i in range(len(findings))]
    return aligned([["#", *kept], *rows], ">")


def derive_command(finding: Finding, request: Asked) -> str:
    """Return the command that derives a finding, with its stages if the start address can reach all of them.

    Args:
        finding: one that a search found.
        request: what was searched for: of which kind the instruction is, how strictly the tables are read.

    >>> from descriptors.sweep.search import survey
    >>> outcome = survey(tile=(64, 16), dtype="bf16", mma=(64, 16))
    >>> print(derive_command(outcome.findings[0], outcome.asked).partition(" --mma")[0])
    descriptors derive --dtype bf16 --major K --swizzle 32B --tile 64x16
    """
    d, total = finding.derivation, finding.total_bytes
    staged = finding.stages > 1 and total <= window_bytes(d.arch)
    bytes_needed = total if staged or finding.stages == 1 else finding.stage_bytes
    words = [
        f"descriptors derive --dtype {d.element} --major {d.major} --swizzle {d.swizzle}",
        f"--tile {extents_text((*d.tile, finding.stages) if staged else d.tile)}",
        f"--mma {extents_text(d.mma)} --order {','.join(map(str, (*d.order, 2) if staged else d.order))}",
        f"--arch {d.arch}",
        f"--operand {d.operand}" if d.operand else "",
        f"--kind {request.kind}" if request.kind else "",
        f"--cta-group {request.cta_group}" if request.cta_group else "",
        "--sparse" if request.sparse else "",
        f"--legality {request.legality}" if request.legality != "strict" else "",
        "--capacity none" if bytes_needed > shared_bytes(d.arch) else "",
    ]
    return " ".join(word for word in words if word)


def tell_survey(survey: Survey, top: int | None = None, everything: bool = False, because: str = "") -> str:
    """Return the text of a search: the best layout with its command, the request, the table, and the refusals.

    Args:
        survey: what ``survey`` returned.
        top: how many of the best are shown; all if left out.
        everything: every column with what it means, and every refused candidate with its whole reason.
        because: why the architecture was assumed; "" where it was named.
    """
    best = survey.findings[:top]
    lines = [*(_best(survey, best[0], because) if best else [_nothing(survey)]), _title(survey)]
    if best:
        lines += ["", *_table(survey, best, everything), *(["", *_legend(survey)] if everything else [])]
    return "\n".join([*lines, *_notes(survey), *_refused(survey, everything)])


def _best(survey: Survey, one: Finding, because: str) -> Iterator[str]:
    boxes = f", {counted(one.boxes, 'box')}" if one.boxes is not None else ""
    order = "" if len(one.orders) > 1 else f", order {_orders(one)}"
    where = f"{one.total_bytes} bytes at a multiple of {one.alignment_bytes}"
    best = "best" if one.fits else f"nothing fits {survey.asked.smem} bytes of shared memory; the cheapest"
    yield f"{best}: {one.major}-major {one.swizzle}{order}: word {word_text(one.word)}{boxes}, {where}"
    if because:
        yield f"   {survey.asked.arch} is assumed, {because}"
    if one.padding_bytes:
        mn, k = one.derivation.tile[:2]
        yield f"   padded: no way to lay {extents_text(survey.asked.tile)} out as it is; {mn}x{k} is derived"
    if one.transposes:
        yield f"   transposed: the data must lie contiguous along {one.major}, as TMA copies them"
    yield f"   {derive_command(one, survey.asked)}"
    yield f"   proved, like every row below (read model: {one.proof.evidence})"


def _title(survey: Survey) -> str:
    request = survey.asked
    stages = f"{request.stages} stage{'s' if request.stages > 1 else ''}"
    along = as_major(request.contiguous or request.major or "K")
    filled = f" of data contiguous along {along}" if request.producer == "tma" else ""
    return (
        f"{request.dtype} tile {extents_text(request.tile)}, {stages}, mma {extents_text(request.mma)}, "
        f"{request.arch}, producer {request.producer}{filled}, {request.smem} bytes of shared memory"
    )


def _nothing(survey: Survey) -> str:
    uneven = not survey.asked.pad and any("which is not a multiple of" in one.reason for one in survey.refusals)
    fits = uneven and found_with_pad(survey.asked)
    return "nothing found" + ("; --pad would round the tile up to whole atoms and operands" if fits else "")


def _table(survey: Survey, best: Sequence[Finding], everything: bool) -> Iterator[str]:
    """The findings that the data can be copied to, unless none can, or all are to be shown."""
    usable = [one for one in best if not one.transposes]
    yield from findings_table(best if everything or not usable else usable, survey.asked.producer, everything)
    if len(best) < len(survey.findings):
        yield f"the best {len(best)} of {len(survey.findings)}"
    if usable and len(usable) < len(best) and not everything:
        other = next(one.major for one in best if one.transposes)
        yield f"{len(best) - len(usable)} more are {other}-major: --contiguous {other} if the data lie so"


def _legend(survey: Survey) -> Iterator[str]:
    """What the table is sorted by, and what its columns mean."""
    key = ", ".join(name.removesuffix("_bytes") for name in survey.key)
    yield f"sorted by {key}; the columns, all memory in bytes:"
    order = "stacking order of the atoms: 0,1 along MN first; 1,0 along K first; any: the same"
    yield from aligned([("order", order), *((_heading(name), text) for name, text in COLUMNS.items())], indent=2)


def _notes(survey: Survey) -> Iterator[str]:
    """What MN-major tiles take, and why some columns have no answer."""
    usable = [one for one in survey.findings if not one.transposes] or survey.findings
    yield from sorted({transpose_note(d.arch, d.operand) for d in (one.derivation for one in usable) if d.transposed})
    yield from sorted({f"no boxes: {_short(one.plan_refused)}" for one in usable if one.plan_refused})
    if survey.asked.producer != "tma":
        yield from sorted({f"no stores: {one.stores_refused}" for one in usable if one.stores_refused})


def _short(reason: str) -> str:
    """Return the fact of a reason and the ways out, without operands and sources."""
    fact, *more = re.sub(r" \((?:sources disagree: )?(?:PTX|CUTLASS|CUDA|CuTe|NVIDIA)\b.*", "", reason).split("; ")
    ways_out = [part for part in more if not re.match(r"[a-z]\w* = |sm\d+ ", part)]
    return "; ".join([fact, *ways_out])


def _refused(survey: Survey, everything: bool) -> Iterator[str]:
    if not survey.refusals:
        return
    refusals = survey.refusals if everything or not survey.findings else survey.refusals[:_REFUSALS]
    yield from ["", f"refused: {sum(len(one.orders) for one in survey.refusals)} candidates"]
    for one in refusals:
        reason = one.reason if everything else _short(one.reason)
        yield f"  {one.major!s:>2}  {one.swizzle!s:<12}  {_orders(one):<3}  {reason}"
    if len(refusals) < len(survey.refusals):
        yield f"  and {len(survey.refusals) - len(refusals)} more (--all)"


#: Everything that a program needs of a finding: the choice, all columns, the word, and the command; a finding comes
#: with its search.
FOUND = Record(
    "Found",
    **attributes(Finding, "major swizzle order orders", "0"),
    **attributes(Finding, " ".join(COLUMNS), "0"),
    **attributes(Finding, "stages stage_bytes", "0"),
    box=Row(([int], None), "0.plan.box"),
    tma_refused=Row((str, None), lambda pair: pair[0].plan_refused or None),
    stores_refused=Row((str, None), lambda pair: pair[0].stores_refused or None),
    smem_tile=Row(str, "0.derivation.smem_tile"),
    word=Row(WORD, "0.word"),
    **attributes(Match, "leading_byte_offset stride_byte_offset", "0.derivation.match"),
    **attributes(Derivation, "dont_care transposed", "0.derivation"),
    proved_elements=Row(int, "0.proof.elements"),
    proved_at=Row([int], "0.proof.bases"),
    evidence=Row(str, "0.proof.evidence"),
    command=Row(str, lambda pair: derive_command(*pair)),
)
#: A search; a command shows the tile of one instruction as it was typed.
SURVEY = Record(
    "Survey",
    request=Row(
        Record(
            **attributes(Asked, " ".join(Asked.__match_args__)) | {"mma": Row(([int], str, None)), "arch": Row(str)}
        ),
        "asked",
    ),
    sorted_by=Row([set(COLUMNS)], lambda survey: list(survey.key)),
    columns=Row(dict.fromkeys(COLUMNS, str), lambda survey: COLUMNS),
    found=Row(int, lambda survey: len(survey.findings)),
    findings=Row([FOUND], Option("findings")),
    refused=Row([Record(**attributes(Refusal, "major swizzle orders reason"))], "refusals"),
)


def record_survey(survey: Survey, top: int | None = None) -> dict[str, Any]:
    """Return a search as plain data: the request, the ``top`` best findings, and every refusal.

    >>> from descriptors.sweep.search import survey
    >>> record_survey(survey(tile=(64, 16), dtype="bf16", mma=(64, 16)))["request"]["mma"]
    (64, 16)
    """
    return SURVEY(survey, findings=[(finding, survey.asked) for finding in survey.findings[:top]])


#: What a run of the atlas did as plain data.
record_summary = Record(**attributes(Summary, "ok counts skipped disproved_before elements seconds"))
