"""The proof of a derivation: how many elements were compared, and how the read model is known.

Law: text and data tell of the same number of elements, and of the same evidence.

>>> from descriptors import derive, verify
>>> told = verify(derive((128, 64), "bf16", "K", "128B", (64, 16)))
>>> tell(told) == "proved: {elements} elements in {subtiles} subtiles (read model: {evidence})".format(**record(told))
True
"""

from __future__ import annotations

from typing import Any

from descriptors import text
from descriptors.derivation.verify import Report
from descriptors.output.words.pages import page


def tell(report: Report) -> str:
    """A proof for a person, in one line.

    >>> from descriptors import derive, verify
    >>> print(tell(verify(derive((128, 128), "bf16", "K", "128B", (64, 16), arch="sm90"))))
    proved: 16384 elements in 16 subtiles (read model: measured on a Hopper GPU)
    """
    return f"{report} (read model: {report.evidence})"


@text.html.register(Report)
def _html(report: Report) -> str:
    return page(tell(report), [], text.image(report))


def record(report: Report) -> dict[str, Any]:
    """A proof as plain data."""
    return {
        "ok": report.ok,
        "elements": report.elements,
        "subtiles": report.subtiles,
        "evidence": report.evidence,
        "beyond": report.beyond,
    }
