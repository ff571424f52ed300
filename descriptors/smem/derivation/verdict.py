"""The verdict on the descriptors of a tile at an address: the proof, the evidence of the read model, and the warnings.

``judge`` is the only function that computes it. The text of ``descriptors derive``, its JSON, the tools of ``mcp`` and
the explorer page print its result without additions.

>>> from descriptors import derive, proved
>>> d = derive((128, 128), "bf16", "K", "128B", (64, 16), arch="sm90")
>>> print(judge(d, 1024, proved(d, base=1024)))
proved: 16384 elements in 16 subtiles, by theorem (read model: measured on a Hopper GPU)
   for every tile 64*m x 64*k, any base that is a multiple of 1024
>>> judge(d).tone, judge(d, 128, proved(d, base=128)).tone, judge(d, 1024, proved(d, base=1024)).tone
('open', 'warn', 'good')
"""

from __future__ import annotations

from typing import Any

from descriptors.records import Record, attributes
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.derivation.proved import Proof
from descriptors.smem.derivation.verify import Report
from descriptors.smem.proof.addresses import is_measured, unread
from descriptors.text import counted
from layoutalg.frozen import frozen


@frozen
class DerivationVerdict:
    """A verdict on the descriptors of a tile at an address.

    Args:
        state: ``proved``, ``disproved``, or ``not proved`` if no proof was requested.
        grade: evidence of the read model: ``measured``, ``documented``, or ``none`` if no instruction reads the
            operand.
        evidence: the evidence as text.
        compared: what was compared, and how; "" without a proof.
        scope: the tiles and the bases that the proof covers; "" if it covers only what was compared.
        warnings: probable mistakes, although the descriptors read the tile.
    """

    state: str
    grade: str
    evidence: str
    compared: str
    scope: str
    warnings: tuple[str, ...]

    @property
    def tone(self) -> str:
        """The color class of the verdict on a page: ``good``, ``warn``, ``bad``, or ``open`` without a proof."""
        if self.state == "proved":
            return "warn" if self.warnings else "good"
        return "bad" if self.state == "disproved" else "open"

    @property
    def headline(self) -> str:
        """The verdict in one line, with its grade."""
        return _headline(self.compared or self.state, self.evidence, self.warnings)

    @property
    def lines(self) -> list[str]:
        """The lines of the verdict: the headline and the scope of the proof, if there is one, then the warnings."""
        proof = [self.headline, *([f"   {self.scope}"] if self.scope else [])] if self.compared else []
        return [*proof, *_warning_lines(self.warnings)]

    def record(self) -> dict[str, Any]:
        """Return the verdict as plain data."""
        return VERDICT(self)

    def __str__(self) -> str:
        return "\n".join(self.lines)


#: A verdict as plain data.
VERDICT = Record(
    "DerivationVerdict",
    state={"proved", "disproved", "not proved"},
    grade={"measured", "documented", "none"},
    **attributes(DerivationVerdict, "evidence compared scope warnings"),
)


def judge(d: Derivation, base: int = 0, report: Report | Proof | None = None) -> DerivationVerdict:
    """Return the verdict on the descriptors of a tile at an address.

    Args:
        d: the result of ``derive``.
        base: address of the tile, in bytes.
        report: the result of ``proved`` or ``verify`` for it; None if nothing was proved.

    Raises:
        DescriptorError: if the tile cannot be at such an address.

    >>> from descriptors import derive
    >>> (warning,) = judge(derive((128, 128), "bf16", "K", "128B", (64, 16)), 128).warnings
    >>> print(warning.partition("; ")[0])
    base 128 is not a multiple of 1024, so base_offset is 1 and the swizzle pattern starts at the tile
    """
    measured = is_measured(d.arch, d.element, d.major, absolute=d.descriptor.leading_is_absolute)
    state, compared, scope = "not proved", "", ""
    if isinstance(report, Proof):
        state, compared, scope = "proved", report.compared, report.claim
    elif report is not None:
        state, compared = "proved" if report.ok else "disproved", str(report)
    return DerivationVerdict(
        state,
        "none" if d.evidence == unread(d.arch) else "measured" if measured else "documented",
        d.evidence,
        compared,
        scope,
        d.warnings_at(base),
    )


def proof_lines(report: Report | Proof) -> list[str]:
    """Return the lines of a proof or of a comparison, as in a verdict."""
    compared, scope = (report.compared, [f"   {report.claim}"]) if isinstance(report, Proof) else (str(report), [])
    return [_headline(compared, report.evidence, report.warnings), *scope, *_warning_lines(report.warnings)]


def _headline(compared: str, evidence: str, warnings: tuple[str, ...]) -> str:
    state, colon, rest = compared.partition(":")
    qualified = f"{state}, with {counted(len(warnings), 'warning')}" if warnings and state == "proved" else state
    return f"{qualified}{colon}{rest} (read model: {evidence})"


def _warning_lines(warnings: tuple[str, ...]) -> list[str]:
    return [f"warning: {warning}" for warning in warnings]
