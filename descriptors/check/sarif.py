r"""Reports of checks in the SARIF format, with one run for all files.

A finding is a result. Its fingerprint does not depend on line numbers. The verdicts are properties of the artifact of
the file. Undecided items and files that could not be checked are notifications of the run, because they are not faults
of a kernel.
Source: SARIF 2.1.0 (OASIS), sections 3.13 to 3.28, 3.58.

Invariant: each finding is a result; each undecided item and each executed kernel is a notification.

>>> from descriptors import check_ptx
>>> body = "wgmma.fence.sync.aligned; mbarrier.init.b64 [b], 1;"
>>> report = check_ptx(f".version 8.8\n.target sm_90\n.entry k() {{ {body} }}")
>>> (run,) = sarif([("k.ptx", report)])["runs"]
>>> len(report.findings), len(run["results"])
(1, 1)
>>> len(report.undecided), [len(invocation["toolExecutionNotifications"]) for invocation in run["invocations"]]
(4, [5])
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from typing import Any
from urllib.parse import quote

from descriptors.check.kernel_report import Finding, Report, Undecided, alike
from descriptors.check.rules import ALL_RULES, Level, decided_by, page_address, rule_text

#: The SARIF level of each level.
_LEVELS = {Level.ERROR: "error", Level.ASKS: "note", Level.PERFORMANCE: "warning"}
#: The name of the fingerprint, with the version of its content.
FINGERPRINT = "ruleFunctionOpcodeFound/v1"


def sarif(checked: Sequence[tuple[str, Report]], refused: Sequence[tuple[str, str]] = ()) -> dict[str, Any]:
    """Return reports as a SARIF 2.1.0 log.

    Args:
        checked: the name of each file, as it is shown, and its report.
        refused: the name of each file that could not be checked, and the reason.

    >>> sarif([], [("k.ptx", "no PTX")])["runs"][0]["invocations"][0]["executionSuccessful"]
    False
    """
    used = dict.fromkeys(row.rule.name for _, report in checked for row in report.findings)
    return log(
        [_describe_rule(name) for name in used],
        [_make_artifact(name, report) for name, report in checked],
        [row for name, report in checked for row in _make_results(name, report)],
        [row for name, report in checked for row in _make_notifications(name, report)],
        refused,
    )


def log(
    rules: list[dict[str, Any]],
    artifacts: list[dict[str, Any]],
    results: list[dict[str, Any]],
    notes: list[dict[str, Any]],
    refused: Sequence[tuple[str, str]],
) -> dict[str, Any]:
    """Return the SARIF log of one run.

    Args:
        rules: the rules as SARIF reporting descriptors.
        artifacts: the files as SARIF artifacts.
        results: the findings as SARIF results.
        notes: notifications of the run.
        refused: the name of each file that could not be checked, and the reason; each becomes a notification.
    """
    notes = notes + [{"level": "error", "message": {"text": why}, "locations": [place(name)]} for name, why in refused]
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "descriptors check", "rules": rules}},
                "artifacts": artifacts,
                "invocations": [{"executionSuccessful": not refused, "toolExecutionNotifications": notes}],
                "results": results,
            }
        ],
    }


def _describe_rule(name: str) -> dict[str, Any]:
    rule = ALL_RULES[name]
    return {
        "id": name,
        "shortDescription": {"text": rule.demands},
        "help": {"text": rule_text(rule)},
        **({"helpUri": address} if (address := page_address(rule)) else {}),
        "defaultConfiguration": {"level": _LEVELS[rule.level]},
        "properties": {"property": rule.property, "decidedBy": list(decided_by(rule))},
    }


def _make_results(name: str, report: Report) -> list[dict[str, Any]]:
    """Return the findings of a file as SARIF results; equal findings are numbered."""
    counts: Counter[tuple[str, ...]] = Counter()
    results = []
    for row in report.findings:
        counts[alike(row)] += 1
        results.append(_make_result(name, row, counts[alike(row)]))
    return results


def _make_result(name: str, row: Finding, number: int) -> dict[str, Any]:
    return {
        "ruleId": row.rule.name,
        "level": _LEVELS[row.rule.level],
        "message": {"text": f"{row.sentence}; {row.rule.fix}"},
        "locations": [place(name, row.line, row.function)],
        **_related_location(name, row),
        "partialFingerprints": {FINGERPRINT: fingerprint(*alike(row), str(number))},
    }


def fingerprint(*parts: str) -> str:
    """Return the fingerprint of a result from texts that do not depend on line numbers.

    >>> len(fingerprint("rule", "function", "1"))
    32
    """
    return sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:32]


def _related_location(name: str, row: Finding) -> dict[str, Any]:
    """Return the other of two events as a related location, if the execution reached both."""
    if row.moment is None or not row.moment.other_line:
        return {}
    iteration = f", in iteration {row.moment.other_round}" if row.moment.other_round else ""
    before = place(name, row.moment.other_line, row.function)
    return {"relatedLocations": [{"id": 1, "message": {"text": f"the earlier event{iteration}"}, **before}]}


def _make_notifications(name: str, report: Report) -> list[dict[str, Any]]:
    """Return the undecided items of a file, and how its kernels were executed, as SARIF notifications."""
    executed = [
        {"level": "none", "descriptor": {"id": "executed"}, "message": {"text": note}, "locations": [place(name)]}
        for note in report.notes
    ]
    return [*(_undecided_notification(name, item) for item in report.undecided), *executed]


def _undecided_notification(name: str, item: Undecided) -> dict[str, Any]:
    decides = f"; to decide this, the check needs {item.decides}" if item.decides else ""
    return {
        "level": "note",
        "descriptor": {"id": f"undecided/{item.property.replace(' ', '-')}"},
        "message": {"text": f"{item.property}: {item.what}: {item.why}{decides}"},
        "locations": [place(name, item.line, item.function)],
    }


def _make_artifact(name: str, report: Report) -> dict[str, Any]:
    verdicts = {verdict.property: verdict.verdict for verdict in report.properties}
    results = {verdict.property: verdict.result for verdict in report.properties}
    return artifact(name, verdict=report.verdict, **verdicts, result=report.result, results=results)


def artifact(name: str, **verdicts: Any) -> dict[str, Any]:
    """Return a file as a SARIF artifact with its verdicts."""
    return {"location": {"uri": _uri(name)}, "properties": verdicts}


def place(name: str, line: int = 1, function: str = "") -> dict[str, Any]:
    """Return a line of a file, with its function, as a SARIF location.

    >>> place("a b.ptx", 7)["physicalLocation"]["artifactLocation"]
    {'uri': 'a%20b.ptx'}
    """
    location: dict[str, Any] = {
        "physicalLocation": {"artifactLocation": {"uri": _uri(name)}, "region": {"startLine": max(1, line)}}
    }
    return location | ({"logicalLocations": [{"name": function, "kind": "function"}]} if function else {})


def _uri(name: str) -> str:
    """Return a path as a percent-encoded URI reference."""
    return quote(name.replace("\\", "/"), safe="/", errors="surrogateescape")
