r"""Baselines: files with the known and accepted findings of kernels, so that a check reports only new ones.

A finding is identified by the name of its file without folders, its rule, function and opcode, and its detail without
line numbers and register names. It is therefore still known if lines move, or if a compiler caches the file in another
folder. Each row has a count, the largest number of such findings in one file; further findings of a file are new.
Undecided items are stored in the same way. They are still reported, because the property is not clean.
Source: the format of the file is ours.

Invariant: exactly the findings that were written into a baseline are known.

>>> from descriptors import check_ptx
>>> head, bad = ".version 8.8\n.target sm_90a\n.entry k() {{ {} ret; }}", "wgmma.wait_group.sync 0;"
>>> accepted = baseline(baseline_text([("k.ptx", check_ptx(head.format(bad)))]))
>>> def after(name, n):
...     report = without_known(check_ptx(head.format("\n".join([bad] * n))), name, accepted)
...     return len(report.errors), len(report.known)
>>> after("k.ptx", 1), after("cache/k.ptx", 2), after("other.ptx", 1)
((0, 1), (1, 1), (1, 0))
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import PurePath
from typing import TypeAlias

from descriptors.check.kernel_report import Finding, Report, Undecided, alike, lasting
from descriptors.errors import DescriptorError
from layoutalg.frozen import replace

#: The version of the file.
VERSION = 1
_FIELDS = ("file", "rule", "function", "instruction", "found")
_MARK = "descriptors baseline"

#: The number of known findings for each file, rule, function, opcode and detail.
Baseline: TypeAlias = Mapping[tuple[str, ...], int]


def baseline(text: str) -> Baseline:
    """Parse the text of a baseline file.

    Raises:
        DescriptorError: if the text is not that of a baseline.

    >>> baseline("{}")
    Traceback (most recent call last):
    descriptors.errors.DescriptorError: check: this is not a baseline that --write-baseline wrote
    """
    try:
        document = json.loads(text)
        if document[_MARK] != VERSION:
            raise ValueError
        rows = [(tuple([row[name] for name in _FIELDS]), row["count"]) for row in document["findings"]]
    except (ValueError, LookupError, TypeError, RecursionError):
        raise DescriptorError("check: this is not a baseline that --write-baseline wrote") from None
    if not all(type(count) is int and all(isinstance(word, str) for word in key) for key, count in rows):
        raise DescriptorError("check: a row of the baseline is not texts and a count")
    return dict(rows)


def baseline_text(checked: Iterable[tuple[str, Report]]) -> str:
    """Return the text of a baseline with all findings and undecided items, including those that were already known.

    Args:
        checked: the name and the report of each file.

    >>> baseline(baseline_text([]))
    {}
    """
    counts: Counter[tuple[str, ...]] = Counter()
    for name, report in checked:
        counts |= Counter(_key(name, finding) for finding in (*report.findings, *report.known))
        counts |= Counter(_key(name, item) for item in report.undecided)
    rows = [dict(zip(_FIELDS, key, strict=True)) | {"count": count} for key, count in sorted(counts.items())]
    return json.dumps({_MARK: VERSION, "findings": rows}, indent=1) + "\n"


def without_known(report: Report, name: str, base: Baseline) -> Report:
    """Return the report with the findings of the baseline moved to ``known``.

    Args:
        report: the report.
        name: name of the file.
        base: the baseline.
    """
    left = Counter(base)

    def is_known(item: Finding | Undecided) -> bool:
        key = _key(name, item)
        left[key] -= 1
        return left[key] >= 0

    findings = [(finding, is_known(finding)) for finding in report.findings]
    return replace(
        report,
        findings=tuple([finding for finding, base in findings if not base]),
        known=(*report.known, *(finding for finding, base in findings if base)),
        accepted=tuple([item for item in report.undecided if is_known(item)]),
    )


#: Prefix of the property of an undecided item, which is stored in place of a rule.
UNDECIDED = "undecided "


def _key(name: str, item: Finding | Undecided) -> tuple[str, ...]:
    """Return the row of the baseline that identifies a finding or an undecided item of a file."""
    if isinstance(item, Finding):
        return PurePath(name).name, *alike(item)
    return PurePath(name).name, UNDECIDED + item.property, item.function, item.what, lasting(item.why)
