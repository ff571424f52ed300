"""What can be wrong with a sequence of events: the rules with their grades, a finding, a report.

The first eight rules are those of NVIDIA's own checks at run time, known by their names in ``ptxas`` alone; the others
are the manual's.

Law: whatever is found is found by a rule that is known.

>>> from descriptors.tmem.guardrails import check_events
>>> report = check_events(["alloc d 48", "alloc e 64", "mma f 8", "relinquish", "alloc g 32"])
>>> {found.rule for found in report.findings} <= set(RULES), report.ok
(True, False)
"""

from __future__ import annotations

from descriptors.errors import DescriptorError, brief
from descriptors.frozen import frozen
from descriptors.text import Told, counted
from descriptors.tmem.events import Event
from descriptors.tmem.geometry import BELIEVED, DOCUMENTED, NVIDIA

#: Every rule, and how it is known: the eight of the run-time checks, then those of the manual alone.
RULES = {
    "phase": NVIDIA,
    "granularity": NVIDIA,
    "columns": NVIDIA,
    "deallocation": NVIDIA,
    "warp": NVIDIA,
    "bounds": NVIDIA,
    "datapath": BELIEVED,
    "sparsity": NVIDIA,
    "size increases": DOCUMENTED,
    "waits for ever": DOCUMENTED,
    "never deallocated": DOCUMENTED,
}


@frozen
class EventFinding:
    """Something wrong.

    Args:
        number: of the event, from 0; that after the last one stands for the end of the kernel.
        rule: a name of ``RULES``.
        told: what must hold and what was found.
    """

    number: int
    rule: str
    told: str


@frozen
class EventReport(Told):
    """The outcome of a check.

    Args:
        events: what was checked.
        findings: what is wrong, in order.
        most: the most columns that were allocated at once.
    """

    events: tuple[Event, ...]
    findings: tuple[EventFinding, ...]
    most: int

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.findings

    @property
    def headline(self) -> str:
        """The answer in one line."""
        if self.ok:
            return f"nothing wrong in {counted(len(self.events), 'event')}, at most {self.most} columns at once"
        return (
            f"{counted(len(self.findings), 'finding')} in {counted(len(self.events), 'event')}: {self.findings[0].told}"
        )


def rule_evidence(rule: str) -> str:
    """How a rule is known.

    Raises:
        DescriptorError: if there is no such rule.

    >>> rule_evidence("size increases")
    'documented, not measured on a Blackwell GPU'
    """
    if rule not in RULES:
        raise DescriptorError(f"tmem check: a rule must be one of {', '.join(RULES)}, found {brief(rule)}")
    return RULES[rule]
