"""What checks of kernels found, as SARIF: one run for all of them.

A finding is a result, known by a fingerprint that lines which moved do not change. A verdict is a property of its file
among the artifacts; what was not decided, and a file that was refused, is a notification of the run: neither is a fault
of the kernel that anybody should be asked to mend.
Source: SARIF 2.1.0 (OASIS), sections 3.13 to 3.28, 3.58.

Law: every finding is a result, and everything undecided a notification, and so is what was executed.

>>> from descriptors import check_ptx
>>> body = "wgmma.fence.sync.aligned; mbarrier.init.b64 [b], 1;"
>>> report = check_ptx(f".version 8.8\\n.target sm_90\\n.entry k() {{ {body} }}")
>>> (run,) = sarif([("k.ptx", report)])["runs"]
>>> len(report.findings), len(run["results"])
(1, 1)
>>> len(report.undecided), [len(one["toolExecutionNotifications"]) for one in run["invocations"]]
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

#: What SARIF calls the levels.
_LEVELS = {Level.ERROR: "error", Level.ASKS: "note", Level.PERFORMANCE: "warning"}
#: The fingerprint: its name, and the version of what it is made of.
FINGERPRINT = "ruleFunctionOpcodeFound/v1"


def sarif(checked: Sequence[tuple[str, Report]], refused: Sequence[tuple[str, str]] = ()) -> dict[str, Any]:
    """Reports as SARIF 2.1.0.

    Args:
        checked: the name of each file, as it is to be shown, and what was found in it.
        refused: the name of each file that could not be checked, and why.

    >>> sarif([], [("k.ptx", "no PTX")])["runs"][0]["invocations"][0]["executionSuccessful"]
    False
    """
    used = dict.fromkeys(one.rule.name for _, report in checked for one in report.findings)
    return log(
        [_rule(name) for name in used],
        [_artifact(name, report) for name, report in checked],
        [one for name, report in checked for one in _results(name, report)],
        [one for name, report in checked for one in _notifications(name, report)],
        refused,
    )


def log(
    rules: list[dict[str, Any]],
    artifacts: list[dict[str, Any]],
    results: list[dict[str, Any]],
    notes: list[dict[str, Any]],
    refused: Sequence[tuple[str, str]],
) -> dict[str, Any]:
    """The log of one run, whatever it looked at.

    Args:
        rules, artifacts, results: as SARIF has them.
        notes: notifications of the run.
        refused: the name of each file that could not be checked, and why; a notification each.
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


def _rule(name: str) -> dict[str, Any]:
    rule = ALL_RULES[name]
    return {
        "id": name,
        "shortDescription": {"text": rule.demands},
        "help": {"text": rule_text(rule)},
        **({"helpUri": address} if (address := page_address(rule)) else {}),
        "defaultConfiguration": {"level": _LEVELS[rule.level]},
        "properties": {"property": rule.property, "decidedBy": list(decided_by(rule))},
    }


def _results(name: str, report: Report) -> list[dict[str, Any]]:
    """The findings of a file; those that are alike are told apart by their number."""
    seen: Counter[tuple[str, ...]] = Counter()
    found = []
    for one in report.findings:
        seen[alike(one)] += 1
        found.append(_result(name, one, seen[alike(one)]))
    return found


def _result(name: str, one: Finding, number: int) -> dict[str, Any]:
    return {
        "ruleId": one.rule.name,
        "level": _LEVELS[one.rule.level],
        "message": {"text": f"{one.sentence}; {one.rule.fix}"},
        "locations": [place(name, one.line, one.function)],
        **_other(name, one),
        "partialFingerprints": {FINGERPRINT: fingerprint(*alike(one), str(number))},
    }


def fingerprint(*parts: str) -> str:
    """What knows a result again, made of what does not change when lines move.

    >>> len(fingerprint("rule", "function", "1"))
    32
    """
    return sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:32]


def _other(name: str, one: Finding) -> dict[str, Any]:
    """The other of two events, where a run came to both."""
    if one.moment is None or not one.moment.other_line:
        return {}
    made = f", in round {one.moment.other_round}" if one.moment.other_round else ""
    before = place(name, one.moment.other_line, one.function)
    return {"relatedLocations": [{"id": 1, "message": {"text": f"the event before{made}"}, **before}]}


def _notifications(name: str, report: Report) -> list[dict[str, Any]]:
    """What was not decided in a file, and how its kernels were executed."""
    executed = [
        {"level": "none", "descriptor": {"id": "executed"}, "message": {"text": note}, "locations": [place(name)]}
        for note in report.notes
    ]
    return [*(_undecided(name, one) for one in report.undecided), *executed]


def _undecided(name: str, one: Undecided) -> dict[str, Any]:
    decides = f"; decided by {one.decides}" if one.decides else ""
    return {
        "level": "note",
        "descriptor": {"id": f"undecided/{one.property.replace(' ', '-')}"},
        "message": {"text": f"{one.property}: {one.what}: {one.why}{decides}"},
        "locations": [place(name, one.line, one.function)],
    }


def _artifact(name: str, report: Report) -> dict[str, Any]:
    return artifact(name, verdict=report.verdict, **{one.property: one.verdict for one in report.properties})


def artifact(name: str, **verdicts: str) -> dict[str, Any]:
    """A file, with what is to be said of it as a whole."""
    return {"location": {"uri": _uri(name)}, "properties": verdicts}


def place(name: str, line: int = 1, function: str = "") -> dict[str, Any]:
    """A line of a file, and of which function it is.

    >>> place("a b.ptx", 7)["physicalLocation"]["artifactLocation"]
    {'uri': 'a%20b.ptx'}
    """
    where: dict[str, Any] = {
        "physicalLocation": {"artifactLocation": {"uri": _uri(name)}, "region": {"startLine": max(1, line)}}
    }
    return where | ({"logicalLocations": [{"name": function, "kind": "function"}]} if function else {})


def _uri(name: str) -> str:
    """A path as a reference that no letter of it breaks."""
    return quote(name.replace("\\", "/"), safe="/", errors="surrogateescape")
