"""What a check of a kernel found: as a compiler tells it, as plain data, and as SARIF for code hosts.

Source: SARIF 2.1.0 (OASIS), sections 3.13 to 3.28.

Law: every finding is in each of the three.

>>> from descriptors import check_ptx
>>> text = ".version 8.8\\n.target sm_90\\n.entry k() { wgmma.fence.sync.aligned; ret; }"
>>> report = check_ptx(text)
>>> [len(report.findings), len(record(report)["findings"]), len(sarif(report, "k.ptx")["runs"][0]["results"])]
[1, 1, 1]
"""

from __future__ import annotations

from typing import Any

from descriptors.kernels.finding import ALL_RULES, Finding, Report
from descriptors.protocol.broken import Level
from descriptors.text import counted
from descriptors.text import tell as printed

#: What SARIF calls the levels.
_SARIF = {Level.ERROR: "error", Level.ASKS: "note", Level.PERFORMANCE: "warning"}


@printed.register
def tell(report: Report, name: str = "<ptx>", levels: tuple[Level, ...] = tuple(Level)) -> str:
    """A report for a person: a line for each finding, the rule and the way out below the first of a rule.

    Args:
        report: what was found.
        name: of the file.
        levels: which findings to show.

    >>> from descriptors import check_ptx
    >>> print(tell(check_ptx(".version 8.8\\n.target sm_80\\n.entry k() { ret; }"), "k.ptx"))
    k.ptx: 0 MMA instructions of sm_80: 0 errors and 0 remarks
    """
    lines: list[str] = []
    told: set[str] = set()
    for one in report.findings:
        if one.rule.level not in levels:
            continue
        registers = f" ({', '.join(one.registers[:4])}{', ...' if len(one.registers) > 4 else ''})"
        about = f"{one.rule.demands}, {one.found}{registers if one.registers else ''}"
        lines.append(f"{name}:{one.line}: {one.rule.level}: {about} [{one.rule.name}]")
        if one.rule.name not in told:
            told.add(one.rule.name)
            lines.append(f"    {one.instruction}")
            lines.append(f"    fix: {one.rule.fix}; source: {one.rule.source}")
    words = f"; {report.resolved} of {counted(report.words, 'descriptor word')} resolved" if report.words else ""
    lines.extend(f"{name}:{line}: not resolved: {what}" for line, what in report.unresolved)
    return "\n".join([*lines, f"{name}: {report.headline}{words}"])


def record(report: Report, name: str = "<ptx>") -> dict[str, Any]:
    """A report as plain data.

    >>> from descriptors import check_ptx
    >>> record(check_ptx(".version 8.8\\n.target sm_80\\n.entry k() { ret; }"))["errors"]
    0
    """
    return {
        "file": name,
        "target": report.target,
        "functions": list(report.functions),
        "multiplications": report.multiplications,
        "words": report.words,
        "resolved": report.resolved,
        "unresolved": [{"line": line, "what": what} for line, what in report.unresolved],
        "errors": len(report.errors),
        "findings": [_finding(one) for one in report.findings],
    }


def _finding(one: Finding) -> dict[str, Any]:
    return {
        "line": one.line,
        "level": str(one.rule.level),
        "rule": one.rule.name,
        "demands": one.rule.demands,
        "found": one.found,
        "registers": list(one.registers),
        "instruction": one.instruction,
        "fix": one.rule.fix,
        "source": one.rule.source,
    }


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
