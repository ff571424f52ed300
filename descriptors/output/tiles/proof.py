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
from descriptors.output.words.pages import page
from descriptors.smem.derivation.proved import Proof
from descriptors.smem.derivation.verify import Report


def tell(report: Report | Proof) -> str:
    """A proof for a person: how much was proved, how the model is known, and for which tiles and bases it holds.

    >>> from descriptors import derive, verify
    >>> print(tell(verify(derive((128, 128), "bf16", "K", "128B", (64, 16), arch="sm90"))))
    proved: 16384 elements in 16 subtiles (read model: measured on a Hopper GPU)
    >>> from descriptors import proved
    >>> print(tell(proved(derive((128, 128), "bf16", "K", "128B", (64, 16), arch="sm90"))))
    proved: 16384 elements in 16 subtiles (read model: measured on a Hopper GPU)
       for every tile 64*m x 64*k, any base that is a multiple of 1024
    """
    if isinstance(report, Proof):
        return f"{report.compared} (read model: {report.evidence})\n   {report.claim}"
    return f"{report} (read model: {report.evidence})"


@text.html.register(Proof)
def _proof_html(proof: Proof) -> str:
    return page(tell(proof), [], "")


@text.html.register(Report)
def _html(report: Report) -> str:
    return page(tell(report), [], text.image(report))


def record(report: Report | Proof) -> dict[str, Any]:
    """A proof as plain data; what was proved by the theorem with the tiles and the bases that it holds for.

    >>> from descriptors import derive, proved
    >>> record(proved(derive((128, 128), "bf16", "K", "128B", (64, 16))))["family"]
    ['64*m', '64*k']
    """
    more: dict[str, Any] = {}
    if isinstance(report, Proof):
        more = {
            "family": list(report.family) or None,
            "no_family": report.alone or None,
            "base_multiple": report.step or None,
            "by": "theorem" if report.report is None else "comparison",
        }
    return {
        **more,
        "ok": report.ok,
        "elements": report.elements,
        "subtiles": report.subtiles,
        "evidence": report.evidence,
        "beyond": report.beyond,
    }
