"""Prove a derivation: by the theorem if its conditions hold, else by comparing every element.

``proved`` tries the theorem first (``basis``). Its time depends on the modes, not on the number of elements. The result
holds at every base that is a multiple of the alignment and, for a tile of atoms, for its whole ``family``. If a
condition of the theorem does not hold, ``proved`` compares every element instead (``verify``), and the proof states it.
If the theorem refutes the tile, every element is compared too, so that the error has every wrong element. With
``walk``, both are done: the theorem gives the tiles and bases, and the measured read model, which shares no code with
theorem and derivation, reads this tile.

The *family* of a tile is the set of all tiles of the same atoms, instruction and order, of any size. Its extents are
``a*m`` and ``b*k``, where a and b are the smallest multiples of the atom and the operand, and the stages ``s``. What is
proved are the closed forms of ``symbolic``, or those of ``crossing`` for operands that cross atoms. A tile belongs to
the family if its extents are such multiples, and the closed forms evaluate to the offsets of its descriptor.

Invariant: a tile is proved if and only if the comparison of every element passes.

>>> from layoutalg.frozen import replace
>>> from descriptors import derive, proved, verify
>>> d = derive((128, 64), "bf16", "K", "128B", (64, 16), verify=False)
>>> for sbo in (512, 1024, 2048):
...     changed = replace(d, descriptor=replace(d.descriptor, stride_byte_offset=sbo))
...     try:
...         print(proved(changed).ok, verify(changed).ok)
...     except ProofError:
...         print(False, verify(changed).ok)
False False
True True
False False

Invariant: tiles of different sizes have the same family.

>>> for tile in ((128, 768), (256, 1536), (128, 768, 2)):
...     print(proved(derive(tile, "e2m1", "K", "128B", (128, 96), arch="sm103", cta_group=2, capacity=None)).claim)
for every tile 128*m x 768*k, any base that is a multiple of 1024
for every tile 128*m x 768*k, any base that is a multiple of 1024
for every tile 128*m x 768*k x s, any base that is a multiple of 1024

Invariant: a family's offsets, for the numbers of a tile, are those of ``derive``.

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
    """A proved family of tiles.

    Args:
        tile: the extents, as text.
        unit: extents (MN, K), in elements, that the extents of its tiles are multiples of.
        atom: the atom of its tiles, in elements.
        offsets: LBO and SBO in bytes, as a function of the numbers m, k and s.
    """

    tile: tuple[str, ...]
    unit: tuple[int, int]
    atom: Layout | ComposedLayout
    offsets: Callable[[tuple[int, ...]], tuple[int, int]]


def family_of(d: Derivation) -> tuple[str, ...]:
    """Return the extents of the proved family of a tile, or () if it belongs to none.

    Invariant: for all numbers m, k and s, the words of such a tile read it, if their fields can store the values.

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
    """Return why a tile belongs to no proved family.

    >>> from descriptors import derive
    >>> why_alone(derive(layout="S<3,3,3> o 0 o (64,64):(64,1)", dtype="bf16", mma=(64, 16)))
    'a tile of atoms is verified for all sizes, an explicit layout is not'
    """
    if not d.order:
        return "a tile of atoms is verified for all sizes, an explicit layout is not"
    if d.atom != atom_in_elements(d.major, d.swizzle, d.element):
        return "closed forms exist for the canonical atom of a mode only, and this is another atom"
    return "its words do not follow from a closed form that is proved for all sizes"


def _right_where_read(d: Derivation, leading: int, stride: int) -> bool:
    """Return whether the offsets that the hardware reads have these values."""
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
    """Return the proved family, or None if it is not proved for every value of its symbols."""
    reads = by.extents
    assert reads is not None  # a derivation always has them
    atom = atom_in_elements(major, mode, by.element)
    a, b = (lcm(size(extent), part) for extent, part in zip(plain(atom), reads, strict=True))
    symbols = symbol("m"), symbol("k"), symbol("s")
    tile = (a * symbols[0], b * symbols[1], symbols[2])[: len(order)]
    spec = TileSpec(major, mode, reads, tile, order, None)
    try:
        offsets = _offsets_for_all(by, spec)
    except (DescriptorError, LayoutError):  # a step has no result, or is not decided, for some of the sizes
        return None
    if offsets is None:
        return None
    leading, stride = (_formula(offset, symbols) for offset in offsets)
    return Family(tuple(map(str, tile)), (a, b), atom, lambda numbers: (leading(numbers), stride(numbers)))


def _offsets_for_all(by: Reader, spec: TileSpec) -> tuple[Any, Any] | None:
    """Return LBO and SBO with symbols if they are proved, else None.

    For operands that cross atoms, LBO is the line of the first operand.
    """
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
    """Return an offset as a function of the numbers for the symbols; results are cached."""
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
    """A successful proof: what was proved, and by which method.

    Args:
        elements: number of elements of the tile.
        subtiles: number of subtiles, and of descriptor words.
        step: the tile is proved at every base that is a multiple of this number of bytes and from which it fits; 0 if
            it was compared at one base only.
        family: extents of the proved family, in positive integers m, k and s; () if the tile belongs to none.
        evidence: how the read model of this operand is known.
        beyond: number of subtiles beyond the window of the start address, which have no word.
        report: the comparison of every element with the read model, or None.
        alone: why only this tile was proved; "" if there is a family, or no theorem.
        warnings: probable mistakes about the tile at this address, although its descriptors read it.

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
        """Whether every element is read from where it is stored: always true, because a failed proof is an error."""
        return True

    @property
    def by(self) -> tuple[str, ...]:
        """The methods: ``"walk"``, every element with the read model; ``"theorem"``; or both."""
        return (*(["walk"] if self.report is not None else []), *(["theorem"] if self.step else []))

    @property
    def compared(self) -> str:
        """What was proved for this tile, and by which method, as text."""
        lie = "lies" if self.beyond == 1 else "lie"
        beyond = f"; {counted(self.beyond, 'subtile')} {lie} beyond every word" if self.beyond else ""
        how = ", by theorem" if self.report is None else ", each walked"
        return f"proved: {counted(self.elements, 'element')} in {counted(self.subtiles, 'subtile')}{how}{beyond}"

    @property
    def claim(self) -> str:
        """The tiles and bases that the proof covers, as text."""
        if not self.step:
            return "for this tile at this address only, because no theorem covers it"
        tiles = f"every tile {' x '.join(self.family)}" if self.family else "this tile alone"
        offset = " with its base offset" if self.step == LINE_BYTES else ""
        why = f": {self.alone}" if self.alone else ""
        theorem = "by theorem " if self.report is not None else ""
        return f"{theorem}for {tiles}, any base that is a multiple of {self.step}{offset}{why}"

    def __str__(self) -> str:
        return "; warning: ".join([f"{self.compared}, {self.claim}", *self.warnings])


def proved(derivation: Derivation, *, base: int = 0, walk: bool = False) -> Proof:
    """Prove that every word of a derivation reads the elements of its subtile from where the tile stores them.

    Args:
        derivation: the result of ``derive``.
        base: an address of the tile that the proof must cover, in bytes.
        walk: whether to compare every element at that address with the read model too, if the theorem holds. A tile
            that is larger than any table is proved by the theorem only, as ``by`` reports.

    Raises:
        ProofError: if the proof fails; its ``proof`` is the comparison of every element.
        DescriptorError: if such a tile cannot have the base, or does not fit in the address window from there.

    >>> from descriptors import derive
    >>> print(proved(derive(layout="(8,(8,2)):(8,(1,64))", dtype="bf16", mma=(8, 16), verify=False)))
    proved: 128 elements in 1 subtile, by theorem, for this tile alone, any base that is a multiple of 16: a tile of \
atoms is verified for all sizes, an explicit layout is not
    """
    d = derivation
    if not isinstance(d, Derivation):
        raise DescriptorError(f"proved: {brief(d)} is not a derivation")
    step = d.swizzle.alignment_bytes
    base = base if type(base) is int else as_integer(base, "proved: the base address")
    if base:
        d.descriptor_at(base)  # raises for an address that no tile can have
        step = step if base % step == 0 else LINE_BYTES
    tile = cut_tile(d)
    by_theorem = verdict(d, tile, base)
    if by_theorem.outcome != "equal" or not tile.fits(d.element.storage_bits, base):
        proof = _prove_by_comparison(d, base, by_theorem.outcome, step)
    else:
        proof = _proof_by_theorem(d, step, tile.operands, 0)
    too_large = size(d.smem_tile) > MOST_ELEMENTS or (proof.beyond and d.crossing is not None)
    if as_flag(walk, "proved: walk") and proof.report is None and not too_large:
        proof = replace(proof, report=_walk(d, base))
    warnings = d.warnings_at(base)
    return replace(proof, warnings=warnings) if warnings else proof


def _proof_by_theorem(d: Derivation, step: int, subtiles: int, beyond: int) -> Proof:
    """Return the proof by the theorem, for this number of subtiles and for the family."""
    family = family_of(d)
    elements = d.mma[0] * d.mma[1] * subtiles
    return Proof(elements, subtiles, step, family, d.evidence, beyond, alone="" if family else why_alone(d))


def _prove_by_comparison(d: Derivation, base: int, outcome: str, step: int) -> Proof:
    """Prove a tile that the theorem does not decide, that it refutes, or that exceeds the address window.

    Raises:
        ProofError: if an element is read from another address.
    """
    if outcome == "equal" and d.capacity is None and (nameable := d.advance_report(base).named):
        return _proof_by_theorem(d, step, nameable, size(d.advance) - nameable)
    report = _walk(d, base)
    assert outcome == "open", f"the theorem refutes what holds element by element: {d.smem_tile}"
    return Proof(report.elements, report.subtiles, 0, (), report.evidence, report.beyond, report)


def _walk(d: Derivation, base: int) -> Report:
    """Compare every element at an address.

    Raises:
        ProofError: if an element is read from another address.
    """
    from descriptors.smem.derivation.verify import verify  # not needed if the theorem decides

    report = verify(d, bases=(base,))
    if not report.ok:
        raise ProofError(f"derive: the words do not read the tile, {report}; smem_tile = {d.smem_tile}", report)
    return report
