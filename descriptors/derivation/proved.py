"""The proof of a derivation: by the theorem where its conditions hold, and element by element where they do not.

``proved`` asks the theorem first (``basis``), in time that depends on the modes and not on the elements; what it proves
holds at every base that is a multiple of the alignment, and, of a tile of atoms, for its whole ``family``. Where a
condition of the theorem does not hold it compares every element instead (``verify``), and says so; what it refutes it
compares too, so that the error tells every element that is wrong.

Law: a tile is proved iff the enumerating proof proves it.

>>> from dataclasses import replace
>>> from descriptors import derive, verify
>>> d = derive((128, 64), "bf16", "K", "128B", (64, 16), verify=False)
>>> for sbo in (512, 1024, 2048):
...     one = replace(d, descriptor=replace(d.descriptor, stride_byte_offset=sbo))
...     try:
...         print(proved(one).ok, verify(one).ok)
...     except ProofError:
...         print(False, verify(one).ok)
False False
True True
False False
"""

from __future__ import annotations

from functools import lru_cache

from descriptors.derivation.basis import verdict
from descriptors.derivation.cut_tile import cut_tile
from descriptors.derivation.family import family_of, why_alone
from descriptors.derivation.parts.derivation import Derivation
from descriptors.derivation.report import Report
from descriptors.errors import DescriptorError, ProofError, as_integer, brief
from descriptors.frozen import frozen
from descriptors.operands.operand import LINE_BYTES, Major
from descriptors.proof import read_model
from descriptors.text import Told, counted
from layoutalg import size


@frozen
class Proof(Told):
    """A proof that holds: of what, and how.

    Args:
        elements: elements of the tile.
        subtiles: operands that the tile holds, and so descriptor words.
        step: the tile is proved at every base that is a multiple of so many bytes and from which it fits; 0 where it
            was compared at one base alone.
        family: extents of the family that is proved with it, in positive integers m, k and s; () where it is of none.
        evidence: how the read model of this operand is known.
        beyond: subtiles of a tile of any size that lie beyond what a start address can name: they have no word.
        report: the comparison of every element, where a condition of the theorem does not hold; else None.
        alone: why it was proved of this tile alone, in words; "" where there is a family, or a comparison.

    >>> from descriptors import derive
    >>> print(proved(derive((128, 128), "bf16", "K", "128B", (64, 16), verify=False)))
    proved: 16384 elements in 16 subtiles, for every tile 64*m x 64*k, any base that is a multiple of 1024
    """

    elements: int
    subtiles: int
    step: int
    family: tuple[str, ...]
    evidence: str
    beyond: int = 0
    report: Report | None = None
    alone: str = ""

    @property
    def ok(self) -> bool:
        """Whether every element is read from where it is stored: always, for a proof that fails is an error."""
        return True

    @property
    def compared(self) -> str:
        """How much it is that was proved of this tile, in words."""
        lie = "lies" if self.beyond == 1 else "lie"
        beyond = f"; {counted(self.beyond, 'subtile')} {lie} beyond every word" if self.beyond else ""
        return f"proved: {counted(self.elements, 'element')} in {counted(self.subtiles, 'subtile')}{beyond}"

    @property
    def claim(self) -> str:
        """For what it was proved, in words."""
        if self.report is not None:
            return "compared one by one, as no theorem covers it"
        tiles = f"every tile {' x '.join(self.family)}" if self.family else "this tile alone"
        offset = " with its base offset" if self.step == LINE_BYTES else ""
        why = f": {self.alone}" if self.alone else ""
        return f"for {tiles}, any base that is a multiple of {self.step}{offset}{why}"

    def __str__(self) -> str:
        return f"{self.compared}, {self.claim}"


def proved(derivation: Derivation, *, base: int = 0) -> Proof:
    """The proof that every word of a derivation reads the elements of its subtile from where the tile stores them.

    Args:
        derivation: what ``derive`` returned.
        base: an address of the tile that is to be covered, in bytes.

    Raises:
        ProofError: if it does not hold; the comparison of every element is its ``proof``.
        DescriptorError: if the base is none for such a tile, or the tile does not fit the address window from there.

    >>> from descriptors import derive
    >>> print(proved(derive(layout="(8,(8,2)):(8,(1,64))", dtype="bf16", mma=(8, 16), verify=False)))
    proved: 128 elements in 1 subtile, for this tile alone, any base that is a multiple of 16: an explicit layout does \
not say how it grows
    """
    d = derivation
    if not isinstance(d, Derivation):
        raise DescriptorError(f"proved: the operand must be a derivation, found {brief(d)}")
    step = d.swizzle.alignment_bytes
    base = base if type(base) is int else as_integer(base, "proved: the base address")
    if base:
        d.descriptor_at(base)  # refuses what no tile can begin at
        step = step if base % step == 0 else LINE_BYTES
    tile = cut_tile(d)
    found = verdict(d, tile, base)
    if found.outcome != "equal" or not tile.fits(d.element.storage_bits, base):
        return _compared(d, base, found.outcome, step)
    return _of_all(d, step, tile.operands, 0)


def _of_all(d: Derivation, step: int, subtiles: int, beyond: int) -> Proof:
    """The proof by the theorem, of so many subtiles and of the family."""
    family = family_of(d)
    evidence = _evidence(d.arch, d.element.name, d.major is Major.K, d.descriptor.leading_is_absolute)
    elements = d.mma[0] * d.mma[1] * subtiles
    return Proof(elements, subtiles, step, family, evidence, beyond, alone="" if family else why_alone(d))


def _compared(d: Derivation, base: int, outcome: str, step: int) -> Proof:
    """What only the comparison can tell: which elements are wrong, where no theorem says, or what does not fit."""
    if outcome == "equal" and d.capacity is None and (named := d.advance_report(base).named):
        return _of_all(d, step, named, size(d.advance) - named)
    from descriptors.derivation.verify import verify  # where the theorem decides, nothing is compared

    report = verify(d, bases=(base,))
    if not report.ok:
        raise ProofError(f"derive: the words must read the tile, {report}; smem_tile = {d.smem_tile}", report)
    assert outcome == "open", f"the theorem refutes what holds element by element: {d.smem_tile}"
    return Proof(report.elements, report.subtiles, 0, (), report.evidence, report.beyond, report)


@lru_cache(maxsize=1 << 7)
def _evidence(arch: str, dtype: str, is_k: bool, absolute: bool) -> str:
    return read_model.evidence(arch=arch, dtype=dtype, major="K" if is_k else "MN", absolute=absolute)
