"""Kernels, told: what a check found, as a compiler tells it, as plain data and as SARIF; and the story of a kernel.

Source: SARIF 2.1.0 (OASIS), sections 3.13 to 3.28.

Law: every finding is in each of the three.

>>> from descriptors import check_ptx
>>> text = ".version 8.8\\n.target sm_90\\n.entry k() { wgmma.fence.sync.aligned; ret; }"
>>> report = check_ptx(text)
>>> [len(report.findings), len(record_report(report)["findings"]), len(sarif(report, "k.ptx")["runs"][0]["results"])]
[1, 1, 1]
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from descriptors.answers import fields
from descriptors.check.kernel_report import Finding, Report
from descriptors.check.rules import ALL_RULES, Level
from descriptors.check.story import Accumulation, Kernel, Story
from descriptors.text import counted, extents_text

#: What SARIF calls the levels.
_SARIF = {Level.ERROR: "error", Level.ASKS: "note", Level.PERFORMANCE: "warning"}


#: How a terminal shows a place, each level, and the way out: bold, red, yellow, magenta, faint.
_PLACE, _FAINT = "1", "2"
_LIT = {Level.ERROR: "1;31", Level.ASKS: "1;33", Level.PERFORMANCE: "1;35"}
#: How many findings of one rule are told before the rest is counted: one mistake shows in many places.
MOST = 3


def tell_report(report: Report, name: str = "<ptx>", everything: bool = False, color: bool = False) -> str:
    """A report for a person: a line for each finding, the instruction and the way out below the first of a rule.

    Args:
        report: what was found.
        name: of the file.
        everything: whether to tell every finding of a rule, and not only the first three.
        color: whether a terminal shows it.

    >>> from descriptors import check_ptx
    >>> print(tell_report(check_ptx(".version 8.8\\n.target sm_80\\n.entry k() { ret; }"), "k.ptx"))
    k.ptx: 0 MMA instructions of sm_80: 0 errors and 0 remarks
    """
    lines: list[str] = []
    seen: dict[str, list[int]] = {}
    for one in report.findings:
        row = seen.setdefault(one.rule.name, [])
        row.append(one.line)
        if len(row) <= MOST or everything:
            lines += _finding_lines(one, name, len(row) == 1, color)
    for rule, row in seen.items():
        if len(row) > MOST and not everything:
            level = _lit(str(ALL_RULES[rule].level), _LIT[ALL_RULES[rule].level], color)
            place = _lit(f"{name}:", _PLACE, color)
            lines.append(f"{place} {level}: {len(row) - MOST} more, lines {row[MOST]}..{row[-1]} (--all) [{rule}]")
    place = _lit(f"{name}:", _PLACE, color)
    lines.extend(f"{_lit(f'{name}:{line}:', _PLACE, color)} not resolved: {what}" for line, what in report.unresolved)
    words = f"; {report.resolved} of {counted(report.words, 'descriptor word')} resolved" if report.words else ""
    return "\n".join([*lines, f"{place} {report.headline}{words}"])


def _finding_lines(one: Finding, name: str, first: bool, color: bool) -> list[str]:
    """The line of a finding, and what stands below the first of its rule."""
    registers = f" ({', '.join(one.registers[:4])}{', ...' if len(one.registers) > 4 else ''})"
    about = f"{one.rule.demands}, {one.found}{registers if one.registers else ''}"
    place, level = _lit(f"{name}:{one.line}:", _PLACE, color), _lit(f"{one.rule.level}:", _LIT[one.rule.level], color)
    line = f"{place} {level} {about} [{one.rule.name}]"
    if not first:
        return [line]
    return [
        line,
        f"    {one.instruction}",
        f"    fix: {one.rule.fix}" + _lit(f"; source: {one.rule.source}", _FAINT, color),
    ]


def _lit(text: str, how: str, color: bool) -> str:
    return f"\x1b[{how}m{text}\x1b[0m" if color else text


def rules_text() -> str:
    """Every rule of the checker, a line each: name, level, what must hold.

    >>> rules_text().splitlines()[0]
    'form-target                 error        the target must have the instruction'
    """
    return "\n".join(f"{name:27} {rule.level!s:12} {rule.demands}" for name, rule in ALL_RULES.items())


def record_report(report: Report, name: str = "<ptx>") -> dict[str, Any]:
    """A report as plain data.

    >>> from descriptors import check_ptx
    >>> record_report(check_ptx(".version 8.8\\n.target sm_80\\n.entry k() { ret; }"))["errors"]
    0
    """
    return {
        "file": name,
        **fields(report, "target functions multiplications words resolved"),
        "unresolved": [{"line": line, "what": what} for line, what in report.unresolved],
        "errors": len(report.errors),
        "left_out": report.left_out,
        "findings": [_finding_record(one) for one in report.findings],
    }


def _finding_record(one: Finding) -> dict[str, Any]:
    rule = fields(one.rule, "level name demands fix source")
    told = {"line": one.line, "level": rule["level"], "rule": rule["name"], "demands": rule["demands"]}
    return {**told, **fields(one, "found registers instruction"), "fix": rule["fix"], "source": rule["source"]}


def sarif(report: Report, name: str) -> dict[str, Any]:
    """A report as SARIF 2.1.0.

    Args:
        report: what was found.
        name: of the file, as it is to be shown.

    >>> from descriptors import check_ptx
    >>> sarif(check_ptx(".version 8.8\\n.target sm_80\\n.entry k() { ret; }"), "k.ptx")["version"]
    '2.1.0'
    """
    used = list(dict.fromkeys(one.rule.name for one in report.findings))
    rules = [
        {
            "id": name_,
            "shortDescription": {"text": ALL_RULES[name_].demands},
            "help": {"text": f"{ALL_RULES[name_].fix}. Source: {ALL_RULES[name_].source}"},
            "defaultConfiguration": {"level": _SARIF[ALL_RULES[name_].level]},
        }
        for name_ in used
    ]
    results = [
        {
            "ruleId": one.rule.name,
            "level": _SARIF[one.rule.level],
            "message": {"text": f"{one.rule.demands}, {one.found}; {one.rule.fix}"},
            "locations": [
                {"physicalLocation": {"artifactLocation": {"uri": name}, "region": {"startLine": max(1, one.line)}}}
            ],
        }
        for one in report.findings
    ]
    driver = {"name": "descriptors check", "rules": rules}
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }


def tell_story(story: Story) -> str:
    """A story for a person.

    >>> from descriptors import explain_ptx
    >>> print(tell_story(explain_ptx(".version 8.8\\n.target sm_80\\n")))
    sm_80: 0 functions with tensor-core instructions
    """
    return "\n".join([story.headline, *(line for kernel in story.kernels for line in _kernel(kernel))])


def _kernel(kernel: Kernel) -> list[str]:
    lines = ["", f"{kernel.name}, line {kernel.line}"]
    for number, one in enumerate(kernel.accumulations, 1):
        lines += _accumulation(number, one)
    if kernel.waits:
        waits = ", ".join(f"{n} (line {line})" for line, n in kernel.waits)
        lines.append(f"  {counted(kernel.commits, 'commit')}, waits for all groups but the newest {waits}")
        lines.append(f"  at most {counted(kernel.in_flight, 'group')} in flight where one is issued")
    if kernel.columns:
        columns = ", ".join("a register's" if one is None else str(one) for one in kernel.columns)
        lines.append(f"  tensor memory: {columns} columns allocated of 512")
    if kernel.loads or kernel.stores:
        lines.append(f"  {kernel.loads} tcgen05.ld, {kernel.stores} tcgen05.st")
    if kernel.commits and not kernel.waits:
        lines.append(f"  {counted(kernel.commits, 'commit')} to mbarriers")
    return lines


def _accumulation(number: int, one: Accumulation) -> list[str]:
    m, n, k = one.shape
    many = len(one.lines)
    where = f"line {one.lines[0]}" if many == 1 else f"lines {one.lines[0]}..{one.lines[-1]}"
    shape = f"{extents_text(one.shape)}, together {extents_text((m, n, k * many))}" if k else "of a shape not known"
    starts = {True: "adds to D", False: "starts from zero", None: "starts as a predicate says"}[one.first_adds]
    lines = [
        f"  {number}. {many} x {one.opcode}",
        f"     {where}{', in a loop' if one.in_loop else ''}: {shape}; {starts}",
    ]
    return lines + [f"     {operand}" for operand in one.operands]


def record_story(story: Story) -> dict[str, Any]:
    """A story as plain data.

    Law: each accumulation has its lines in both.

    >>> from descriptors import explain_ptx
    >>> mma = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {a,b,c,d}, x, y, 0, 1, 1, 0, 1;"
    >>> told = explain_ptx(f".version 8.8\\n.target sm_90a\\n.entry k() {{ {mma} }}")
    >>> "line 3" in tell_story(told), record_story(told)["kernels"][0]["accumulations"][0]["lines"]
    (True, (3,))
    >>> record_story(explain_ptx(".version 8.8\\n.target sm_80\\n"))
    {'target': 'sm_80', 'kernels': []}
    """
    return {"target": story.target, "kernels": [asdict(kernel) for kernel in story.kernels]}
