"""What a run of the atlas did.

Law: a run is well if and only if nothing is disproved, in this run or before.

>>> runs = [Summary({"proved": 1, "disproved": now}, 0, 9, 0.1, before) for now in (0, 1) for before in (0, 1)]
>>> [record(one)["ok"] for one in runs]
[True, False, False, False]
"""

from __future__ import annotations

from typing import Any

from descriptors.sweep.atlas import Summary


def tell(summary: Summary) -> str:
    """A run for a person, in one line: rows by status, elements, speed."""
    return str(summary)


def record(summary: Summary) -> dict[str, Any]:
    """A run as plain data.

    >>> record(Summary({"proved": 40, "refused": 8}, skipped=0, elements=1300000, seconds=0.2))["counts"]
    {'proved': 40, 'refused': 8}
    """
    return {
        "ok": summary.ok,
        "counts": dict(summary.counts),
        "skipped": summary.skipped,
        "disproved_before": summary.disproved_before,
        "elements": summary.elements,
        "seconds": summary.seconds,
    }
