"""What is wrong with a sequence of events, each finding beside its event.

Law: text and data have the same findings.

>>> from descriptors.tmem.guardrails import check_events
>>> report = check_events(["alloc d 48", "mma d 64", "dealloc d"])
>>> [one["rule"] for one in record(report)["findings"]], tell(report).count("<-")
(['granularity', 'columns'], 2)
"""

from __future__ import annotations

from typing import Any

from descriptors.text import aligned, counted
from descriptors.tmem.findings import RULES, EventReport, rule_evidence
from descriptors.tmem.geometry import weakest

#: Events that are listed one by one.
_LISTED = 200


def tell(report: EventReport) -> str:
    """A report for a person.

    >>> from descriptors.tmem.guardrails import check_events
    >>> print(tell(check_events(["alloc d 32", "relinquish"])))
    1 finding in 2 events; at most 32 columns at once
       0    alloc d 32
       1    relinquish
       end              <- never deallocated: d must be deallocated before the kernel ends, found 32 columns held
       known    never deallocated: documented, not measured on a Blackwell GPU
    """
    count = counted(len(report.findings), "finding") if report.findings else "no finding"
    head = f"{count} in {counted(len(report.events), 'event')}; at most {report.most} columns at once"
    rows = []
    told = {found.number for found in report.findings}
    shown = [number for number in range(len(report.events) + 1) if number in told or number < _LISTED]
    for number in shown:
        name = str(number) if number < len(report.events) else "end"
        event = str(report.events[number]) if number < len(report.events) else ""
        here = [f"<- {one.rule}: {one.told}" for one in report.findings if one.number == number]
        if name != "end" or here:
            rows += [(name if i == 0 else "", event if i == 0 else "", one) for i, one in enumerate(here or [""])]
    rules = dict.fromkeys(found.rule for found in report.findings)
    known = [f"   known    {rule}: {rule_evidence(rule)}" for rule in rules]
    known = known or [f"   known    the rules: {weakest(*RULES.values())}"]
    return "\n".join([head, *aligned(rows, indent=3), *known])


def record(report: EventReport) -> dict[str, Any]:
    """A report as plain data.

    >>> from descriptors.tmem.guardrails import check_events
    >>> record(check_events(["relinquish"]))["ok"]
    True
    """
    return {
        "ok": report.ok,
        "events": [str(event) for event in report.events],
        "most_columns": report.most,
        "evidence": weakest(*RULES.values()),
        "findings": [
            {"event": one.number, "rule": one.rule, "told": one.told, "evidence": rule_evidence(one.rule)}
            for one in report.findings
        ],
    }
