"""The proof of a derivation: by the theorem where its conditions hold, and element by element where they do not.

``proved`` asks the theorem first (``basis``), in time that depends on the modes and not on the elements; what it proves
holds at every base that is a multiple of the alignment, and, of a tile of atoms, for its whole ``family``. Where a
condition of the theorem does not hold it walks every element instead (``verify``), and says so; what it refutes it
walks too, so that the error tells every element that is wrong. Asked for the walk, it does both: the theorem says for
which tiles and bases, and the measured read model, which shares nothing with theorem and derivation, reads this one.

The *family* of a tile is every tile of the same atoms, instruction and order, of any size, proved at once. Its extents
are ``a*m`` and ``b*k``, with a and b the least numbers of whole atoms and whole operands, and the stages ``s``. What is
proved are the closed forms of ``symbolic``, or, of operands that cross atoms, those of ``crossing``; a tile is of the
family if its extents are such multiples and the closed forms, with its numbers, are the offsets of its descriptor.

Law: a tile is proved iff the enumerating proof proves it.

>>> from layoutalg.frozen import replace
>>> from descriptors import derive, proved, verify
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

Law: numbers for the symbols give tiles that are proved with numbers.

>>> for tile in ((128, 768), (256, 1536), (128, 768, 2)):
...     print(proved(derive(tile, "e2m1", "K", "128B", (128, 96), arch="sm103", cta_group=2, capacity=None)).claim)
for every tile 128*m x 768*k, any base that is a multiple of 1024
for every tile 128*m x 768*k, any base that is a multiple of 1024
for every tile 128*m x 768*k x s, any base that is a multiple of 1024

Law: a family's offsets, for the numbers of a tile, are those that ``derive`` gives it.

>>> for tile in ((64, 64), (128, 192), (64, 64, 3)):
...     d = derive(tile, "bf16", "K", "128B", (64, 16), verify=False)
...     print(" x ".join(family_of(d)))
64*m x 64*k
64*m x 64*k
64*m x 64*k x s
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import lcm
from typing import Any, NamedTuple

from descriptors.errors import DescriptorError, ProofError, as_flag, as_integer, brief
from descriptors.smem.derivation.basis import cut_tile, verdict, verdict_for_all
from descriptors.smem.derivation.crossing import columns_for_all, hold_for_all, is_48_bytes_of_k
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.derivation.request import Reader, TileSpec
from descriptors.smem.derivation.symbolic import formulas
from descriptors.smem.derivation.verify import Report
from descriptors.smem.operands.atoms import atom_in_elements
from descriptors.smem.operands.forms import LEADING, STRIDE
from descriptors.smem.operands.operand import LINE_BYTES, Major, SwizzleMode
from descriptors.smem.operands.swizzled import plain
from descriptors.smem.proof.addresses import MOST_ELEMENTS
from descriptors.text import Told, counted
from layoutalg import ComposedLayout, Layout, LayoutError, size, substitute, symbol, symbols_of
from layoutalg.frozen import frozen, replace


class Family(NamedTuple):
    """A proved family.

    Args:
        tile: the extents, as they are written.
        unit: what those of MN and K are multiples of, in elements.
        atom: the atom that its tiles are made of, in elements.
        offsets: LBO and SBO in bytes, as a function of the numbers m, k and s.
    """

    tile: tuple[str, ...]
    unit: tuple[int, int]
    atom: Layout | ComposedLayout
    offsets: Callable[[tuple[int, ...]], tuple[int, int]]


def family_of(d: Derivation) -> tuple[str, ...]:
    """The extents of the family that a tile is of, if that is proved; () of a tile that is not, or is of none.

    Law: whatever the numbers m, k and s, the words of such a tile read it, as far as their fields can hold them.

    >>> from descriptors import derive
    >>> family_of(derive(layout="S<3,3,3> o 0 o (64,64):(64,1)", dtype="bf16", mma=(64, 16)))
    ()
    """
    if not d.order:
        return ()
    family = _family(Reader(d.arch, d.element, d.mma), d.major, d.swizzle, d.order)
    if family is None or (family.atom is not d.atom and family.atom != d.atom):
        return ()
    (a, b), (mn, k, *stages) = family.unit, d.tile
    if mn % a or k % b:
        return ()
    leading, stride = family.offsets((mn // a, k // b, *stages))
    descriptor = d.descriptor
    right = (leading, stride) == (descriptor.leading_byte_offset, descriptor.stride_byte_offset)
    return family.tile if right or _right_where_read(d, leading, stride) else ()


def why_alone(d: Derivation) -> str:
    """Why a tile is of no proved family, in words.

    >>> from descriptors import derive
    >>> why_alone(derive(layout="S<3,3,3> o 0 o (64,64):(64,1)", dtype="bf16", mma=(64, 16)))
    'an explicit layout does not say how it grows'
    """
    if not d.order:
        return "an explicit layout does not say how it grows"
    if d.atom != atom_in_elements(d.major, d.swizzle, d.element):
        return "closed forms are of the canonical atom of a mode, and this is another"
    return "its words are those of no closed form that is proved for every size"


def _right_where_read(d: Derivation, leading: int, stride: int) -> bool:
    """Whether the offsets of a derivation that somebody reads are these."""
    descriptor = d.descriptor
    return all(
        name in d.dont_care or mine == theirs
        for name, mine, theirs in (
            (LEADING, leading, descriptor.leading_byte_offset),
            (STRIDE, stride, descriptor.stride_byte_offset),
        )
    )


@lru_cache(maxsize=1 << 7)
def _family(by: Reader, major: Major, mode: SwizzleMode, order: tuple[int, ...]) -> Family | None:
    """The family, proved; None where there is none, or it is not decided for every value of its symbols."""
    reads = by.extents
    assert reads is not None  # a derivation knows what it was read by
    atom = atom_in_elements(major, mode, by.element)
    a, b = (lcm(size(extent), part) for extent, part in zip(plain(atom), reads, strict=True))
    symbols = symbol("m"), symbol("k"), symbol("s")
    tile = (a * symbols[0], b * symbols[1], symbols[2])[: len(order)]
    spec = TileSpec(major, mode, reads, tile, order, None)
    try:
        offsets = _offsets_for_all(by, spec)
    except (DescriptorError, LayoutError):  # the algebra does not decide a step, or has none, for some of the sizes
        return None
    if offsets is None:
        return None
    leading, stride = (_formula(offset, symbols) for offset in offsets)
    return Family(tuple(map(str, tile)), (a, b), atom, lambda numbers: (leading(numbers), stride(numbers)))


def _offsets_for_all(by: Reader, spec: TileSpec) -> tuple[Any, Any] | None:
    """LBO and SBO with symbols, if they are proved; of operands that cross atoms the line that the first lies in."""
    if is_48_bytes_of_k(by.element, spec.major, spec.swizzle, spec.reads):
        tile, columns = columns_for_all(spec.extents, by.element, spec.reads, spec.order)
        return (
            (0, columns.match.stride_byte_offset)
            if columns and hold_for_all(tile, columns, by.element, spec.reads)
            else None
        )
    family = formulas(by, spec)
    return (family.leading_byte_offset, family.stride_byte_offset) if verdict_for_all(family) else None


def _formula(value: Any, symbols: tuple[Any, ...]) -> Callable[[tuple[int, ...]], int]:
    """An offset as a function of the numbers for the symbols; it is asked for few, and often for the same."""
    if type(value) is int:
        return lambda numbers: value
    names = list(map(str, symbols))
    positions = [names.index(name) for name in symbols_of(value)]

    @lru_cache(maxsize=1 << 8)
    def substituted(*numbers: int) -> int:
        offset: int = substitute(value, {names[i]: number for i, number in zip(positions, numbers, strict=True)})
        return offset

    return lambda numbers: substituted(*[numbers[i] for i in positions])


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
        report: the walk over every element by the read model, where there was one; else None.
        alone: why it was proved of this tile alone, in words; "" where there is a family, or no theorem.
        warnings: what is probably a mistake about the tile at this address, although its descriptors read it.

    >>> from descriptors import derive
    >>> print(proved(derive((128, 128), "bf16", "K", "128B", (64, 16), verify=False), walk=True))
    proved: 16384 elements in 16 subtiles, each walked, by theorem for every tile 64*m x 64*k, any base that is \
a multiple of 1024
    """

    elements: int
    subtiles: int
    step: int
    family: tuple[str, ...]
    evidence: str
    beyond: int = 0
    report: Report | None = None
    alone: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether every element is read from where it is stored: always, for a proof that fails is an error."""
        return True

    @property
    def by(self) -> tuple[str, ...]:
        """What proved it: ``"walk"``, every element by the read model; ``"theorem"``; or both."""
        return (*(["walk"] if self.report is not None else []), *(["theorem"] if self.step else []))

    @property
    def compared(self) -> str:
        """How much it is that was proved of this tile, and how, in words."""
        lie = "lies" if self.beyond == 1 else "lie"
        beyond = f"; {counted(self.beyond, 'subtile')} {lie} beyond every word" if self.beyond else ""
        how = ", by theorem" if self.report is None else ", each walked"
        return f"proved: {counted(self.elements, 'element')} in {counted(self.subtiles, 'subtile')}{how}{beyond}"

    @property
    def claim(self) -> str:
        """For what it was proved, in words."""
        if not self.step:
            return "for this tile at this address alone, as no theorem covers it"
        tiles = f"every tile {' x '.join(self.family)}" if self.family else "this tile alone"
        offset = " with its base offset" if self.step == LINE_BYTES else ""
        why = f": {self.alone}" if self.alone else ""
        theorem = "by theorem " if self.report is not None else ""
        return f"{theorem}for {tiles}, any base that is a multiple of {self.step}{offset}{why}"

    def __str__(self) -> str:
        return "; warning: ".join([f"{self.compared}, {self.claim}", *self.warnings])


def proved(derivation: Derivation, *, base: int = 0, walk: bool = False) -> Proof:
    """The proof that every word of a derivation reads the elements of its subtile from where the tile stores them.

    Args:
        derivation: what ``derive`` returned.
        base: an address of the tile that is to be covered, in bytes.
        walk: whether to walk every element at that address by the read model too, where the theorem holds. A tile that
            is larger than any table is proved by the theorem alone, and ``by`` says so.

    Raises:
        ProofError: if it does not hold; the comparison of every element is its ``proof``.
        DescriptorError: if the base is none for such a tile, or the tile does not fit the address window from there.

    >>> from descriptors import derive
    >>> print(proved(derive(layout="(8,(8,2)):(8,(1,64))", dtype="bf16", mma=(8, 16), verify=False)))
    proved: 128 elements in 1 subtile, by theorem, for this tile alone, any base that is a multiple of 16: an explicit \
layout does not say how it grows
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
    by_theorem = verdict(d, tile, base)
    if by_theorem.outcome != "equal" or not tile.fits(d.element.storage_bits, base):
        proof = _by_comparison(d, base, by_theorem.outcome, step)
    else:
        proof = _of_all(d, step, tile.operands, 0)
    too_large = size(d.smem_tile) > MOST_ELEMENTS or (proof.beyond and d.crossing is not None)
    if as_flag(walk, "proved: walk") and proof.report is None and not too_large:
        proof = replace(proof, report=_walked(d, base))
    warnings = d.warnings_at(base)
    return replace(proof, warnings=warnings) if warnings else proof


def _of_all(d: Derivation, step: int, subtiles: int, beyond: int) -> Proof:
    """The proof by the theorem, of so many subtiles and of the family."""
    family = family_of(d)
    elements = d.mma[0] * d.mma[1] * subtiles
    return Proof(elements, subtiles, step, family, d.evidence, beyond, alone="" if family else why_alone(d))


def _by_comparison(d: Derivation, base: int, outcome: str, step: int) -> Proof:
    """What only the comparison can tell: which elements are wrong, where no theorem says, or what does not fit."""
    if outcome == "equal" and d.capacity is None and (nameable := d.advance_report(base).named):
        return _of_all(d, step, nameable, size(d.advance) - nameable)
    report = _walked(d, base)
    assert outcome == "open", f"the theorem refutes what holds element by element: {d.smem_tile}"
    return Proof(report.elements, report.subtiles, 0, (), report.evidence, report.beyond, report)


def _walked(d: Derivation, base: int) -> Report:
    """The walk over every element at an address.

    Raises:
        ProofError: if one is read from elsewhere.
    """
    from descriptors.smem.derivation.verify import verify  # where the theorem alone decides, nothing is walked

    report = verify(d, bases=(base,))
    if not report.ok:
        raise ProofError(f"derive: the words must read the tile, {report}; smem_tile = {d.smem_tile}", report)
    return report
