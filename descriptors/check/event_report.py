"""The check of a list of tensor-memory events, one per line: ``descriptors tmem check``.

The events are those of ``events``. The rules are those of ``tcgen05`` about memory; lines have no information about
completion. The report uses the names of NVIDIA's run-time checks for rules that have one.
Source: ptxas 13.5, the names of its run-time checks (NVIDIA's code); PTX ISA 9.1, tcgen05.alloc, ld, st.

Invariant: a clean list stays clean if a multiplication is repeated, and a missing deallocation is always reported.

>>> lines = ["alloc d 64", "relinquish", "mma d 64", "ld d 32x32b.x64 warp 0", "dealloc d 64"]
>>> check_events(lines).ok, check_events([*lines[:3], *lines[2:]]).ok, check_events(lines[:-1]).ok
(True, True, False)
>>> [finding.rule for finding in check_events(["alloc d 48", "ld d+40 32x32b.x32 warp 1"]).findings]
['granularity', 'columns', 'warp', 'never deallocated']

Invariant: text and data have the same findings.

>>> report = check_events(["alloc d 48", "mma d 64", "dealloc d"])
>>> [finding["rule"] for finding in record_report(report)["findings"]], tell_report(report).count("<-")
(['granularity', 'columns'], 2)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from descriptors.check.events import End, LineEvent, parse_event
from descriptors.check.rules import GUARDRAILS
from descriptors.check.tcgen05 import MEMORY, TensorState, after, breaches
from descriptors.errors import DescriptorError, brief
from descriptors.records import Record, Row, attributes
from descriptors.text import Told, aligned, counted
from descriptors.tmem.allocations import Alloc
from descriptors.tmem.geometry import weakest
from layoutalg.frozen import frozen

#: Largest number of events.
MOST_EVENTS = 10_000
#: Number of events that are listed although they have no finding.
_LISTED = 200


@frozen
class EventFinding:
    """A violation of a rule by an event.

    Args:
        number: index of the event, from 0; the index after the last event stands for the end of the kernel.
        rule: a name of ``GUARDRAILS``.
        told: the fact.
    """

    number: int
    rule: str
    told: str

    @property
    def evidence(self) -> str:
        """The evidence of the rule.

        >>> EventFinding(0, "size increases", "").evidence
        'documented, not measured on a Blackwell GPU'
        """
        return GUARDRAILS[self.rule].evidence


@frozen
class EventReport(Told):
    """The result of a check of events.

    Args:
        events: the events.
        findings: the violations, in order.
        most: the largest number of columns that were allocated at once.
    """

    events: tuple[LineEvent, ...]
    findings: tuple[EventFinding, ...]
    most: int

    @property
    def ok(self) -> bool:
        """Whether there is no finding."""
        return not self.findings

    @property
    def headline(self) -> str:
        """The result in one line."""
        events = counted(len(self.events), "event")
        if self.ok:
            return f"nothing wrong in {events}, at most {self.most} columns at once"
        return f"{counted(len(self.findings), 'finding')} in {events}: {self.findings[0].told}"


def check_events(lines: Iterable[str | LineEvent]) -> EventReport:
    """Check a sequence of events of one CTA that does not share its SM.

    Args:
        lines: events, or lines in the notation of ``descriptors.check.events``.

    Raises:
        DescriptorError: if a line is not an event, or two live allocations have the same name.

    >>> (finding,) = check_events(["alloc d 32", "st d@32 32x32b.x8 warp 0", "dealloc d"]).findings
    >>> print(finding.number, finding.rule, finding.told)
    1 warp warp 0 accesses lanes 32 to 63, but it reaches lanes 0 to 31
    """
    events = tuple(_events(lines))
    state, findings, most = TensorState(), [], 0
    for number, event in enumerate([*events, End()]):
        if isinstance(event, Alloc) and state.named(event.name):
            raise DescriptorError(f"tmem check: {event.name} is allocated twice; each allocation needs its own name")
        violations = breaches(state, event, MEMORY)
        findings += [EventFinding(number, violation.rule.guardrail, violation.found) for violation in violations]
        state = after(state, event)
        most = max(most, state.columns)
    return EventReport(events, tuple(findings), most)


def _events(lines: Iterable[str | LineEvent]) -> Iterator[LineEvent]:
    if isinstance(lines, (str, bytes)) or not isinstance(lines, Iterable):
        raise DescriptorError(f"tmem check: {brief(lines)} is not a sequence of lines")
    for number, line in enumerate(lines):
        if number == MOST_EVENTS:
            raise DescriptorError(f"tmem check: there are more than {MOST_EVENTS} events")
        yield line if isinstance(line, LineEvent) else parse_event(line)


def tell_report(report: EventReport) -> str:
    """Return the text of a report.

    >>> print(tell_report(check_events(["alloc d 32", "relinquish"])))
    1 finding in 2 events; at most 32 columns at once
       0    alloc d 32
       1    relinquish
       end              <- never deallocated: the kernel ends while the 32 columns of d are allocated
       known    never deallocated: documented, not measured on a Blackwell GPU
    """
    count = counted(len(report.findings), "finding") if report.findings else "no finding"
    summary = f"{count} in {counted(len(report.events), 'event')}; at most {report.most} columns at once"
    rules = {finding.rule: finding.evidence for finding in report.findings} or {"the rules": _weakest_evidence()}
    evidence_lines = [f"   known    {rule}: {evidence}" for rule, evidence in rules.items()]
    return "\n".join([summary, *aligned(_event_rows(report), indent=3), *evidence_lines])


def _event_rows(report: EventReport) -> Iterator[tuple[str, str, str]]:
    """Yield the rows of the first events, and of all events with findings: number, event, and finding."""
    notes: dict[int, list[str]] = {}
    for finding in report.findings:
        notes.setdefault(finding.number, []).append(f"<- {finding.rule}: {finding.told}")
    for number, event in enumerate([*report.events, ""]):
        is_end = number == len(report.events)
        if number in notes or (number < _LISTED and not is_end):
            first, *others = notes.get(number, [""])
            yield "end" if is_end else str(number), str(event), first
            yield from (("", "", other) for other in others)


def _weakest_evidence() -> str:
    return weakest(*(rule.evidence for rule in GUARDRAILS.values()))


#: The report as plain data.
record_report = Record(
    ok=bool,
    events=Row([str], lambda report: [str(event) for event in report.events]),
    most_columns=Row(int, "most"),
    evidence=Row(str, lambda report: _weakest_evidence()),
    findings=[Record(**attributes(EventFinding, "event=number rule told evidence"))],
)
