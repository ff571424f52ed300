"""Report: what a comparison of every element of a tile came to; the value alone, without what compares.

Law: it holds exactly where nothing differs, and says which.

>>> good, bad = Report(64, 1, (0,), 0, (), "measured"), Report(64, 1, (0,), 2, ("element (0,1)",), "measured")
>>> good.ok, bad.ok, str(good), str(bad)
(True, False, 'proved: 64 elements in 1 subtile', 'disproved: 2 of 64 elements in 1 subtile are read from elsewhere; \
element (0,1)')
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from descriptors.frozen import frozen
from descriptors.text import Told, counted

if TYPE_CHECKING:
    from descriptors.proof.mismatch import Mismatch


@frozen
class Report(Told):
    """The outcome of a proof.

    Args:
        elements: elements of the tile, each of them compared.
        subtiles: operands that the tile holds, and so descriptor words.
        bases: tile addresses at which all of them were compared, in bytes.
        differing: comparisons that failed, over all bases.
        mismatches: the first of those.
        evidence: how the read model of this operand is known.
        beyond: subtiles of a tile of any size (``capacity`` None) that lie beyond what a start address can name at one
            of the bases: they have no word, and were not compared there.

    >>> from descriptors import derive, verify
    >>> report = verify(derive(tile=(128, 128), dtype="bf16", major="K", swizzle="128B", mma=(64, 16), arch="sm90"))
    >>> print(report, report.evidence, sep="; read model ")
    proved: 16384 elements in 16 subtiles; read model measured on a Hopper GPU
    """

    elements: int
    subtiles: int
    bases: tuple[int, ...]
    differing: int
    mismatches: tuple[Mismatch, ...]
    evidence: str
    beyond: int = 0

    @property
    def ok(self) -> bool:
        """Whether every element is read from where it is stored."""
        return not self.differing

    def __str__(self) -> str:
        places = f" at {len(self.bases)} tile addresses" if len(self.bases) > 1 else ""
        compared = f"{counted(self.elements, 'element')} in {counted(self.subtiles, 'subtile')}{places}"
        if self.ok:
            lie = "lies" if self.beyond == 1 else "lie"
            beyond = f"; {counted(self.beyond, 'subtile')} {lie} beyond every word" if self.beyond else ""
            return f"proved: {compared}{beyond}"
        return f"disproved: {self.differing} of {compared} are read from elsewhere; {self.mismatches[0]}"
