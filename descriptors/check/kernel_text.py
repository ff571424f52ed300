r"""The text and the plain data of a kernel report and of a kernel summary.

Invariant: each finding is in both, and the table that ends the text has each property; fragments only if there are any.

>>> from descriptors import check_ptx
>>> text = ".version 8.8\n.target sm_90\n.entry k() { wgmma.fence.sync.aligned; ret; }"
>>> report = check_ptx(text)
>>> print(tell_report(report, "k.ptx"))
k.ptx:3: error[form-target]: sm_90 has no wgmma instructions
    wgmma.fence.sync.aligned
    note: only sm_90a has them
    note: the target must support the instruction (PTX ISA 9.1, wgmma.mma_async; tcgen05, Target ISA)
    help: use another .target
k.ptx: sm_90, 0 MMA instructions: 1 error
  property       result    checked             details
  forms          1 error   1 of 1 instruction
  words          not used
  order          clean     1 of 1 instruction
  tensor memory  not used
  barriers       not used
  bytes          not used
  proxies        not used
  reuse          not used
>>> [finding["rule"] for finding in record_report(report)["findings"]], record_report(report)["verdict"]
(['form-target'], 'wrong')
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import groupby
from textwrap import wrap
from typing import TypeAlias, TypeVar

from descriptors.check.execution.rings import Ring, Use
from descriptors.check.kernel_report import NOT_LOOKED_AT, ExecutedLaunch, Finding, Moment, Report, Undecided, Verdict
from descriptors.check.rules import ALL_RULES, PROPERTIES, Level, Rule, decided_by, page_address
from descriptors.check.story import Accumulation, Kernel, Story
from descriptors.errors import ChoiceError
from descriptors.records import Option, Record, Row, attributes
from descriptors.targets import architecture
from descriptors.text import aligned, counted, extents_text, known_line, known_record, printable, ranges_text
from layoutalg.messages import Message

#: Terminal styles (SGR codes) of a place, secondary text, what is right, and what is undecided; and of each level.
_PLACE, _FAINT, _RIGHT, _OPEN = "1", "2", "32", "33"
_LIT = {Level.ERROR: "1;31", Level.ASKS: "1;33", Level.PERFORMANCE: "1;35"}
#: The word for each level in a finding.
_LEVEL_WORDS = {Level.ERROR: "error", Level.ASKS: "warning", Level.PERFORMANCE: "performance"}
#: Findings of one rule that are printed before the rest is only counted, because one mistake may show in many places.
MOST = 3
#: Largest number of lines with undecided items, and of characters of a message.
MOST_OPEN, LETTERS = 200, 4000
#: Width of the summary and of the notes in columns.
WIDTH = 80

#: Parts of a text, each with its terminal style.
_Lit: TypeAlias = Sequence[tuple[str, str]]


def tell_report(report: Report, name: str = "<ptx>", everything: bool = False, color: bool = False) -> str:
    r"""Return the text of a report: its findings, the undecided items, and a table with the result of each property.

    Findings of one function with the same text are grouped into one line with a count; so are undecided items.

    Args:
        report: the report.
        name: name of the file.
        everything: whether to print each finding in a line of its own.
        color: whether to color the text for a terminal.

    >>> from descriptors import check_ptx
    >>> print(tell_report(check_ptx(".version 8.8\n.target sm_80\n.entry k() { ret; }"), "k.ptx"))
    k.ptx: not checked: sm_80 code without tensor-core instructions
    """
    lines: list[str] = []
    name = printable(name)
    rules: dict[str, list[list[Finding]]] = {}
    for group in _group_items(
        report.findings, lambda finding: (finding.rule.name, finding.function, finding.found), everything
    ):
        groups = rules.setdefault(group[0].rule.name, [])
        groups.append(group)
        if len(groups) <= MOST or everything:
            lines += _format_findings(group, name, len(groups) == 1, color)
    for rule, groups in rules.items():
        if len(groups) > MOST and not everything:
            rest = [finding for group in groups[MOST:] for finding in group]
            more = f"{len(rest)} more, {_line_range(rest)} (--all)"
            lines.append(f"{_style(f'{name}:', _PLACE, color)} {_level_text(ALL_RULES[rule], color)} {more}")
    lines += _format_undecided(report, name, everything, color)
    return "\n".join([*lines, *_format_verdict(report, name, color)])


def tell_refused(name: str, error: Exception, color: bool = False) -> str:
    """Return the lines for a file that cannot be checked.

    >>> print(tell_refused("k.ptx", ValueError("ptx: no .version directive; line 1")))
    k.ptx: error: no .version directive
      note: line 1
    """
    place = printable(name)
    first, *rest = map(printable, Message.of(error).text(place).split("\n"))
    fact = first.removeprefix(f"{place}: error: ")
    head = [_style(f"{place}:", _PLACE, color), _style("error:", _LIT[Level.ERROR], color), fact]
    return "\n".join([" ".join(head), *rest])


def tell_summary(reports: Sequence[Report], refused: int, uncompiled: int = 0, color: bool = False) -> str:
    r"""Return the summary of all files.

    Args:
        reports: the reports of the files that were checked.
        refused: number of files that could not be checked.
        uncompiled: number of ``.cu`` files of a folder that were skipped because there is no compiler.
        color: whether to color the text for a terminal.

    >>> from descriptors import check_ptx
    >>> head, bad = ".version 8.8\n.target sm_90a\n.entry k() {", "wgmma.wait_group.sync 0; ret; }"
    >>> print(tell_summary([check_ptx(head + body) for body in (bad, bad, "}")], 1))
    4 files: 2 with errors, 2 not checked. 2 errors.
    """
    results = Counter(report.result for report in reports)
    files = (
        ("with errors", results["errors"], _LIT[Level.ERROR]),
        ("incomplete", results["incomplete"], _OPEN),
        ("clean", results["clean"], _RIGHT),
        ("not checked", refused + results[NOT_LOOKED_AT], _LIT[Level.ERROR] if refused else _OPEN),
    )
    parts = [(f"{number} {label}", style) for label, number, style in files if number]
    errors = sum(len(report.errors) for report in reports)
    warnings = sum(len(report.findings) for report in reports) - errors
    counts = [counted(number, label) for number, label in ((errors, "error"), (warnings, "warning")) if number]
    for label, number in (("in the baseline", sum(len(report.known) for report in reports)),
                         ("left out", sum(report.left_out for report in reports))):  # fmt: skip
        counts += [f"{number} {label}"] if number else []
    ends = [f"{text}{',' if part < len(parts) else '.'}" for part, (text, _) in enumerate(parts, 1)]
    line = [(f"{counted(len(reports) + refused, 'file')}:", _PLACE)]
    line += [(text, style) for text, (_, style) in zip(ends, parts, strict=True)]
    line += [(f"{', '.join(counts)}.", "")] if counts else []
    line += [(f"{counted(uncompiled, '.cu file')} skipped: nvcc is not on the path.", _OPEN)] if uncompiled else []
    return _wrap_parts(line, color)


_Item = TypeVar("_Item", Finding, Undecided)


def _group_items(items: Iterable[_Item], key: Callable[[_Item], Hashable], everything: bool) -> list[list[_Item]]:
    """Return groups of items with equal keys, in the order of their first items; one item each if ``everything``."""
    groups: dict[Hashable, list[_Item]] = {}
    for number, item in enumerate(items):
        groups.setdefault(number if everything else key(item), []).append(item)
    return list(groups.values())


def _line_range(items: Sequence[Finding] | Sequence[Undecided]) -> str:
    """Return the first and the last line of some items as text."""
    first, last = min(item.line for item in items), max(item.line for item in items)
    return f"line {first}" if first == last else f"lines {first}..{last}"


def _count_text(items: Sequence[Finding] | Sequence[Undecided]) -> str:
    """Return the number of some items and their lines as text; "" for one item."""
    return f"; {len(items)} times, {_line_range(items)}" if len(items) > 1 else ""


def _format_findings(group: list[Finding], name: str, first: bool, color: bool) -> list[str]:
    """Return the lines of findings with the same detail: the fact and its notes.

    For the first group of a rule, the lines include the instruction, the requirement and source of the rule, and its
    fix.
    """
    finding = group[0]
    registers = f" ({', '.join(finding.registers[:4])}{', ...' if len(finding.registers) > 4 else ''})"
    fact = _shorten(printable(f"{finding.fact}{registers if finding.registers else ''}")) + _count_text(group)
    notes = [f"    note: {_shorten(printable(note))}" for note in finding.notes]
    line = f"{_style(f'{name}:{finding.line}:', _PLACE, color)} {_level_text(finding.rule, color)} {fact}"
    if not first:
        return [line, *notes]
    return [
        line,
        f"    {printable(finding.instruction)}",
        *notes,
        _style(f"    note: {finding.rule.demands} ({finding.rule.source})", _FAINT, color),
        f"    help: {finding.rule.fix}",
    ]


def _format_undecided(report: Report, name: str, everything: bool, color: bool) -> list[str]:
    """Return the lines of undecided items, without those of properties that were not checked at all."""
    unchecked = {verdict.property for verdict in report.properties if verdict.result == NOT_LOOKED_AT}
    items = [item for item in report.undecided if item.property not in unchecked]
    lines = []
    merged: dict[Hashable, tuple[list[str], list[Undecided]]] = {}  # properties with equal items share a line
    for group in _group_items(
        items, lambda item: (item.property, item.function, item.what, item.why, item.decides), everything
    ):
        key = [(item.line, item.function, item.what, item.why, item.decides) for item in group]
        merged.setdefault(tuple(key), ([], group))[0].append(group[0].property)
    for properties, group in merged.values():
        first, names = group[0], ", ".join(dict.fromkeys(properties))
        about = _shorten(printable(f"{first.what}: {first.why}" if first.why else first.what)) + _count_text(group)
        place = _style(f"{name}:{first.line}:", _PLACE, color)
        lines.append(f"{place} {_style(f'undecided[{names}]:', _OPEN, color)} {about}")
        if first.decides:
            lines.append(_style(f"    help: to decide this, the check needs {printable(first.decides)}", _FAINT, color))
    if len(lines) > MOST_OPEN and not everything:
        more = f"{len(lines) - MOST_OPEN} more lines (--all)"
        lines[MOST_OPEN:] = [f"{_style(f'{name}:', _PLACE, color)} {_style('undecided:', _OPEN, color)} {more}"]
    return lines


def _shorten(text: str) -> str:
    """Return a message, cut to ``LETTERS`` characters."""
    return text if len(text) <= LETTERS else f"{text[:LETTERS]}..."


def _format_verdict(report: Report, name: str, color: bool) -> list[str]:
    """Return the line with the verdict of a file, and the table with the result of each property."""
    target, place = printable(report.target) or "no target", _style(f"{name}:", _PLACE, color)
    verdicts = [
        property_verdict
        for property_verdict in report.properties
        if property_verdict.property != "fragments" or property_verdict.verdict != "absent"
    ]
    if report.result == NOT_LOOKED_AT:
        items = ", ".join(
            dict.fromkeys(
                counted(property_verdict.number, property_verdict.unit)
                for property_verdict in verdicts
                if property_verdict.result == NOT_LOOKED_AT
            )
        )
        why = f"{target} code without tensor-core instructions{f' ({items})' if items else ''}"
        return [f"{place} {_style('not checked:', _OPEN, color)} {why}"]
    rows = [
        (verdict.property, *_result_cell(verdict), _checked_count(verdict), _other_counts(verdict))
        for verdict in verdicts
    ]
    table = aligned(
        [("property", "result", "checked", "details")]
        + [(name, result, checked, details) for name, result, _, checked, details in rows]
    )
    styles = [_FAINT, *(style for _, _, style, _, _ in rows)]
    lines = [f"{place} {target}, {counted(report.multiplications, 'MMA instruction')}: {_summarize(report, color)}"]
    lines += [_style(f"  {line}".rstrip(), style, color) for line, style in zip(table, styles, strict=True)]
    lines += [_style(f"  {line}", _FAINT, color) for line in known_line(_architecture(report.target))]
    for note in report.notes:
        wrapped = wrap(
            printable(note),
            WIDTH,
            initial_indent="  ",
            subsequent_indent=" " * INDENT,
            break_long_words=False,
            break_on_hyphens=False,
        )  # names and numbers stay whole
        lines += [_style(line, _FAINT, color) for line in wrapped]
    return lines


def _summarize(report: Report, color: bool) -> str:
    """Return the verdict of a file in a few words."""
    incomplete = sum(verdict.verdict == "incomplete" for verdict in report.properties)
    warnings = len(report.findings) - len(report.errors)
    words = [counted(n, label) for n, label in ((len(report.errors), "error"), (warnings, "warning")) if n]
    if incomplete:
        words.append(f"{incomplete} {'property' if incomplete == 1 else 'properties'} incomplete")
    words = words or [report.verdict]
    hidden = [
        f"{n} {label}" for n, label in ((len(report.known), "in the baseline"), (report.left_out, "left out")) if n
    ]
    right = "" if hidden else _RIGHT
    style = _LIT[Level.ERROR] if report.errors else _OPEN if report.verdict == "incomplete" else right
    return _style(", ".join([*words, *hidden]), style, color)


def _architecture(target: str) -> str:
    """Return the architecture of a target, for the line with its evidence; sm100 for a newer, unknown target."""
    try:
        return architecture(target).name
    except ChoiceError:
        return "sm100" if sum(map(str.isdigit, target)) > 2 else "sm90"


def _result_cell(verdict: Verdict) -> tuple[str, str]:
    """Return the result of a property, and the style in which a terminal shows it."""
    match verdict.result:
        case "errors":
            return counted(verdict.errors, "error"), _LIT[Level.ERROR]
        case "incomplete" | "not checked" as result:
            return result, _OPEN
        case "clean":
            return "clean", "" if verdict.left_out or verdict.known or verdict.remarks else _RIGHT
    return verdict.result, ""


def _checked_count(verdict: Verdict) -> str:
    """Return how many items of a property were checked."""
    return f"{verdict.looked_at} of {counted(verdict.number, verdict.unit)}" if verdict.number else ""


def _other_counts(verdict: Verdict) -> str:
    """Return the other counts of a property."""
    counts = [counted(verdict.remarks, "warning")] if verdict.remarks else []
    named = ((verdict.undecided, "undecided"), (verdict.known, "in the baseline"), (verdict.left_out, "left out"))
    return ", ".join([*counts, *(f"{number} {name}" for number, name in named if number)])


def _wrap_parts(parts: _Lit, color: bool) -> str:
    """Return parts of a text, wrapped at words to lines of ``WIDTH`` columns."""
    lines: list[list[tuple[str, str]]] = [[]]
    used = 0
    for text, style in parts:
        for word in text.split(" "):
            if used and used + 1 + len(word) > WIDTH:
                lines.append([])
                used = INDENT - 1
            lines[-1].append((word, style))
            used += len(word) + bool(used)
    return ("\n" + " " * INDENT).join(_style_line(line, color) for line in lines)


#: Indentation of a continued line in columns.
INDENT = 4


def _style_line(words: _Lit, color: bool) -> str:
    """Return a line of words in which adjacent words with the same style are colored together."""
    runs = ((style, " ".join(word for word, _ in row)) for style, row in groupby(words, key=lambda word: word[1]))
    return " ".join(_style(text, style, color) for style, text in runs)


def _style(text: str, style: str, color: bool) -> str:
    """Return a text in a terminal style; unchanged without color or style."""
    return f"\x1b[{style}m{text}\x1b[0m" if color and style else text


def _level_text(rule: Rule, color: bool) -> str:
    """Return the level and the name of a rule; with color, the name links to its page if it is published (OSC 8)."""
    address = page_address(rule) if color else ""
    name = f"\x1b]8;;{address}\x1b\\[{rule.name}]\x1b]8;;\x1b\\" if address else f"[{rule.name}]"
    return f"{_style(_LEVEL_WORDS[rule.level], _LIT[rule.level], color)}{name}:"


def rules_text() -> str:
    """Return one line for each rule: name, level, the parts that decide it, and the requirement.

    >>> rules_text().splitlines()[0]
    'form-target                 error        text              the target must support the instruction'
    """
    return "\n".join(
        f"{name:27} {rule.level!s:12} {', '.join(decided_by(rule)):17} {rule.demands}"
        for name, rule in ALL_RULES.items()
    )


#: The verdict for a property of a kernel.
VERDICT = Record(
    "Verdict",
    result={"clean", "errors", "incomplete", "not checked", "not used"},
    verdict={"absent", "clean", "incomplete", "wrong"},
    **attributes(Verdict, "looked_at number unit errors remarks undecided left_out known"),
)
#: A finding, with the rule that the kernel breaks.
FINDING = Record(
    "Finding",
    **attributes(Finding, "line level=rule.level"),
    rule=Row(set(ALL_RULES), "rule.name"),
    **attributes(Finding, "fact"),
    notes=[str],
    help=Row(str, "rule.fix"),
    **attributes(Finding, "demands=rule.demands found registers instruction function"),
    witness=Row((Record(**attributes(Moment, "round rounds other_line other_round parameters")), None), "moment"),
    **attributes(Finding, "fix=rule.fix source=rule.source"),
)
#: A launch with which a kernel was executed.
LAUNCH = Record(
    **attributes(ExecutedLaunch, "function completed steps"),
    threads=Row([int], lambda launch: list(launch.threads)),
    cluster=Row([int], lambda launch: list(launch.cluster)),
    parameters=Row({str: int}, lambda launch: dict(launch.parameters)),
)
#: A report as plain data; ``name`` is the name of the file.
record_report = Record(
    "Kernel",
    file=Row(str, Option("name", "<ptx>")),
    **attributes(Report, "target functions multiplications words resolved"),
    result={"clean", "errors", "incomplete", "not checked"},
    verdict={"clean", "incomplete", "wrong"},
    properties=Row(
        dict.fromkeys(PROPERTIES, VERDICT), lambda report: {verdict.property: verdict for verdict in report.properties}
    ),
    undecided=[Record(**attributes(Undecided, "property line what why decides function"))],
    unresolved=[{"line": int, "what": str}],
    errors=Row(int, lambda report: len(report.errors)),
    left_out=int,
    known=Row(int, lambda report: len(report.known)),
    notes=Row([str], lambda report: list(report.notes)),
    launches=[LAUNCH],
    evidence=Row(str, lambda report: _evidence_of(report.target, report.functions), optional=True),
    findings=[FINDING],
)


def _evidence_of(target: str, functions: Sequence[object]) -> str | None:
    """Return the evidence for facts about a target, or None if the file has no functions."""
    return known_record(_architecture(target)).get("evidence") if functions else None


def tell_story(story: Story) -> str:
    r"""Return the summary of the kernels of a file as text.

    >>> from descriptors import explain_ptx
    >>> print(tell_story(explain_ptx(".version 8.8\n.target sm_80\n")))
    sm_80: 0 functions with tensor-core instructions
    """
    kernels = [line for kernel in story.kernels for line in _format_kernel(kernel)]
    return "\n".join([story.headline, *kernels, *(known_line(_architecture(story.target)) if kernels else [])])


def _format_kernel(kernel: Kernel) -> list[str]:
    """Return the lines of one kernel."""
    lines = ["", f"{kernel.name}, line {kernel.line}"]
    for number, accumulation in enumerate(kernel.accumulations, 1):
        lines += _format_accumulation(number, accumulation)
    for opcode, numbers in kernel.warp_multiplications:
        lines_text = f"line {numbers[0]}" if len(numbers) == 1 else f"lines {numbers[0]}..{numbers[-1]}"
        lines.append(f"  {len(numbers)} x {opcode}, {lines_text}")
    if kernel.waits:
        waits = ", ".join(f"{n} (line {line})" for line, n in kernel.waits)
        lines.append(f"  {counted(kernel.commits, 'commit')}, waits for all groups except the newest {waits}")
        lines.append(f"  at most {counted(kernel.in_flight, 'group')} in flight where one is issued")
    if kernel.columns:
        columns = ", ".join("an unknown number of" if size is None else str(size) for size in kernel.columns)
        lines.append(f"  tensor memory: {columns} columns allocated of 512")
    if kernel.loads or kernel.stores:
        lines.append(f"  {kernel.loads} tcgen05.ld, {kernel.stores} tcgen05.st")
    if kernel.commits and not kernel.waits:
        lines.append(f"  {counted(kernel.commits, 'commit')} to mbarriers")
    if kernel.rings:
        shared = any(use.ctas != (0,) for ring in kernel.rings for use in ring.uses)
        lines.append(f"  mbarriers{' of CTA 0' if shared else ''} in an execution ({kernel.launch}):")
        lines += [line for ring in kernel.rings for line in _format_ring(ring, shared)]
    return lines


def _format_ring(ring: Ring, shared: bool) -> list[str]:
    """Return the lines of a ring and of its uses.

    Args:
        ring: the ring.
        shared: whether other CTAs of the cluster use the mbarriers, so that each use must name its CTAs.
    """
    size = f", {' or '.join(map(str, ring.bytes))} bytes" if ring.bytes else ""
    head = f"    {ring.stages} from {ring.place}: {counted(ring.count, 'arrival')}{size} a phase"
    return [head, *(f"      {_format_use(use, shared)}" for use in ring.uses)]


def _format_use(use: Use, shared: bool) -> str:
    warps, ctas, lines = ("s" * (len(row) > 1) for row in (use.warps, use.ctas, use.lines))
    cta_text = " and ".join(map(str, use.ctas)) if len(use.ctas) == 2 else ranges_text(use.ctas)
    owner = f" of CTA{ctas} {cta_text}" if shared else ""
    return f"{use.what} by warp{warps} {ranges_text(use.warps)}{owner}, line{lines} {', '.join(map(str, use.lines))}"


def _format_accumulation(number: int, accumulation: Accumulation) -> list[str]:
    m, n, k = accumulation.shape
    count = len(accumulation.lines)
    place = (
        f"line {accumulation.lines[0]}" if count == 1 else f"lines {accumulation.lines[0]}..{accumulation.lines[-1]}"
    )
    shape = (
        f"{extents_text(accumulation.shape)}, together {extents_text((m, n, k * count))}" if k else "of unknown shape"
    )
    starts = {True: "adds to D", False: "starts from zero", None: "a predicate decides whether it adds to D"}[
        accumulation.first_adds
    ]
    lines = [
        f"  {number}. {count} x {accumulation.opcode}",
        f"     {place}{', in a loop' if accumulation.in_loop else ''}: {shape}; {starts}",
    ]
    return lines + [f"     {operand}" for operand in accumulation.operands]


#: A ring of mbarriers with its uses.
RING = Record(
    "Ring", **attributes(Ring, "place stages count bytes"), uses=[Record(**attributes(Use, "what warps lines"))]
)
#: The summary of one kernel.
KERNEL_STORY = Record(
    "Story",
    **attributes(Kernel, "name line"),
    accumulations=[
        Record(
            **attributes(Accumulation, "lines opcode"),
            shape=[int],
            **attributes(Accumulation, "first_adds operands in_loop"),
        )
    ],
    warp_multiplications=Row(
        [{"opcode": str, "lines": [int]}],
        lambda kernel: tuple({"opcode": opcode, "lines": lines} for opcode, lines in kernel.warp_multiplications),
        optional=True,
    ),
    **attributes(Kernel, "columns waits commits loads stores"),
    rings=[RING],
    launch=str,
)
#: The summary of the kernels of a file as plain data.
record_story = Record(
    target=str,
    kernels=[KERNEL_STORY],
    evidence=Row(str, lambda story: _evidence_of(story.target, story.kernels), optional=True),
)
