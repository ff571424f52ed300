"""A baseline: the findings of kernels that are known and accepted, so that a check is about new ones alone.

A finding is known by its file's name without folders, its rule, function and opcode, and what was found, less numbers
of lines and of registers: it stays known where lines move, and where a compiler's cache has another folder. Each has a
number, the most that one file of the name had; what a file has beyond that is new, and the last are told. What was not
decided is kept in the same way, for who wants everything decided but that; it is told still, since it is not clean.
Source: the file is ours.

Law: what was written into a baseline is known, all of it, and nothing else is.

>>> from descriptors import check_ptx
>>> head, bad = ".version 8.8\\n.target sm_90a\\n.entry k() {{ {} ret; }}", "wgmma.wait_group.sync 0;"
>>> known = baseline(baseline_text([("k.ptx", check_ptx(head.format(bad)))]))
>>> def after(name, n):
...     told = without_known(check_ptx(head.format("\\n".join([bad] * n))), name, known)
...     return len(told.errors), len(told.known)
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

#: How often a finding is known in one file: its file, rule, function, opcode, and what was found.
Baseline: TypeAlias = Mapping[tuple[str, ...], int]


def baseline(text: str) -> Baseline:
    """The baseline that a text is.

    Raises:
        DescriptorError: if it is none.

    >>> baseline("{}")
    Traceback (most recent call last):
    descriptors.errors.DescriptorError: check: this is not a baseline that --write-baseline wrote
    """
    try:
        read = json.loads(text)
        if read[_MARK] != VERSION:
            raise ValueError
        rows = [(tuple([row[name] for name in _FIELDS]), row["count"]) for row in read["findings"]]
    except (ValueError, LookupError, TypeError, RecursionError):
        raise DescriptorError("check: this is not a baseline that --write-baseline wrote") from None
    if not all(type(count) is int and all(isinstance(word, str) for word in key) for key, count in rows):
        raise DescriptorError("check: a row of the baseline is not texts and a count")
    return dict(rows)


def baseline_text(checked: Iterable[tuple[str, Report]]) -> str:
    """The findings of files as a baseline, those that were known already as well, and what was not decided.

    Args:
        checked: the name of each file, and what was found in it.

    >>> baseline(baseline_text([]))
    {}
    """
    held: Counter[tuple[str, ...]] = Counter()
    for name, report in checked:
        held |= Counter(_key(name, one) for one in (*report.findings, *report.known))
        held |= Counter(_key(name, one) for one in report.undecided)
    rows = [dict(zip(_FIELDS, key, strict=True)) | {"count": count} for key, count in sorted(held.items())]
    return json.dumps({_MARK: VERSION, "findings": rows}, indent=1) + "\n"


def without_known(report: Report, name: str, known: Baseline) -> Report:
    """A report less what a baseline has of its file, which is counted.

    Args:
        report: what was found.
        name: of the file.
        known: the baseline.
    """
    left = Counter(known)

    def has(one: Finding | Undecided) -> bool:
        key = _key(name, one)
        left[key] -= 1
        return left[key] >= 0

    held = [(one, has(one)) for one in report.findings]
    return replace(
        report,
        findings=tuple([one for one, old in held if not old]),
        known=(*report.known, *(one for one, old in held if old)),
        accepted=tuple([one for one in report.undecided if has(one)]),
    )


#: What stands for the rule of what was not decided.
UNDECIDED = "undecided "


def _key(name: str, one: Finding | Undecided) -> tuple[str, ...]:
    if isinstance(one, Finding):
        return PurePath(name).name, *alike(one)
    return PurePath(name).name, UNDECIDED + one.property, one.function, one.what, lasting(one.why)
