"""Draw a verification as a bar: the number of elements read from where they are stored, and the evidence.

>>> from descriptors import derive, verify
>>> ProofPicture(verify(derive((128, 128), "bf16", "K", "128B", (64, 16)))).record()["right"]
16384
"""

from __future__ import annotations

from typing import Any

from descriptors.show.pictures.panels import spaced
from descriptors.smem.derivation.verify import Report
from descriptors.text import counted
from layoutalg import Figure, Picture, Scene
from layoutalg.frozen import frozen

#: Size of the bar in pixels, and the largest number of subtiles into which it is divided.
WIDE, HIGH, MOST = 720, 34, 240


@frozen
class ProofPicture(Picture):
    """The picture of a verification.

    Args:
        report: the result of ``verify``.
    """

    report: Report

    def record(self) -> dict[str, Any]:
        """Return the numbers that are drawn."""
        r = self.report
        compared = r.elements * max(len(r.bases), 1)
        return {"kind": "proof", "compared": compared, "right": compared - r.differing, "subtiles": r.subtiles}

    def scene(self) -> Scene:
        """Draw a bar with a part for each subtile. Its red end is the share of comparisons that failed."""
        figure, record, r = Figure(), self.record(), self.report
        title = "Proved" if r.ok else "Disproved"
        y = figure.heading(0, 0, f"{title}: {self._counts(record)}", self._sentence(), room=WIDE) + 6
        share = record["right"] / max(record["compared"], 1)
        figure.box(0, y, WIDE * share, HIGH, "good", opacity=0.85)
        figure.box(WIDE * share, y, WIDE * (1 - share), HIGH, "bad", opacity=0.85)
        if 1 < r.subtiles <= MOST:
            step = WIDE / r.subtiles
            figure.lines([(i * step, y, i * step, y + HIGH) for i in range(1, r.subtiles)], "paper", 1.4)
        figure.box(0, y, WIDE, HIGH, None, "rule", 1)
        return figure.scene(f"{title}: {self._counts(record)}", self._sentence())

    def text(self, *, color: bool = False, width: int | None = None) -> str:
        """Return the report as one line."""
        role = "good" if self.report.ok else "bad"
        return Picture.painted(str(self.report), role) if color else str(self.report)

    def _counts(self, record: dict[str, Any]) -> str:
        right, compared = spaced(record["right"]), spaced(record["compared"])
        return f"{right} of {compared} elements in {counted(record['subtiles'], 'subtile')}"

    def _sentence(self) -> str:
        r = self.report
        sentence = "Each is read from where the tile stores it" if r.ok else str(r.mismatches[0])
        return f"{sentence}. The read model: {r.evidence}."
