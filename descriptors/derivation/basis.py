"""A derivation, and a family of them, held against the theorem: what the tile stores and what its words read, as maps.

The fetched side begins with the words that ``Derivation.words`` hands out, every one of them: with their bits, as
``walk_model`` reads them, which shares no position with the module that wrote them. The stored side is the tile's
layout, mode by mode, cut at the operands. From the walk of the first word and the tile it follows what all words must
be (``cut_tile``); only where they are others are they looked at one by one (``one_by_one``). A tile that lies beyond
the window, or has too many operands for a table, has no such words: there the fetched side is the walk of the first
word, then the steps of the advance, by which the start address alone moves.

Law: the verdict is that of the enumerating proof, on right words and on wrong ones.

>>> from dataclasses import replace
>>> from descriptors import derive, verify
>>> d = derive((128, 64), "bf16", "K", "128B", (64, 16), verify=False)
>>> words = [replace(d, descriptor=replace(d.descriptor, stride_byte_offset=sbo)) for sbo in range(0, 2048, 256)]
>>> [verdict(one).outcome == "equal" for one in words] == [verify(one).ok for one in words]
True
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

from descriptors.derivation.cut_tile import CutMode, CutTile, cut_tile
from descriptors.derivation.parts.crossing import LINE
from descriptors.derivation.parts.derivation import Derivation
from descriptors.derivation.parts.table import MOST_SUBTILES, Table, numbers
from descriptors.derivation.symbolic import SymbolicDerivation
from descriptors.operands.operand import LINE_BYTES, Major
from descriptors.theorem.affine import Affine, modes, stored
from descriptors.theorem.agreement import Verdict, agreement, agreement_for_all
from descriptors.theorem.digits import Digit, normal
from descriptors.theorem.walk_model import fields, per_16_bytes, placing, unplaced, walk, xor
from descriptors.words.descriptor import SmemDescriptor

_OPEN, _EQUAL = Verdict("open"), Verdict("equal")


def verdict(d: Derivation, tile: CutTile | None = None, base: int = 0) -> Verdict:
    """Whether every element of the tile is read from where it is stored.

    Args:
        d: the derivation.
        tile: its tile as ``cut_tile`` has it, where that is known already.
        base: address of the tile, in bytes, where its swizzle pattern starts.

    Raises:
        DescriptorError: if the words do not stand for the operands of the tile, or one has no meaning.

    >>> from descriptors import derive
    >>> verdict(derive((128, 128), "bf16", "MN", "64B", (64, 16), verify=False))
    Verdict(outcome='equal', at=())
    """
    tile = tile or cut_tile(d)
    if not tile.fits(d.element.storage_bits, base) or tile.operands > MOST_SUBTILES:
        read = fetched(d)
        return _OPEN if read is None else agreement(stored(d.smem_tile), read)
    words: Table = d.words(base)
    first = words
    while type(first) is tuple and first:
        first = first[0]
    start = _expected(d, tile, first, base) if type(first) is int else None
    if start is not None and _are_sums(words, start, tile.modes):
        return _EQUAL
    from descriptors.derivation.one_by_one import one_by_one  # seldom

    return one_by_one(d, tile, numbers(words), base)


class _Read(NamedTuple):
    """What a word reads wherever it starts: the walk, normal; the exclusive-or; what that sees of the base offset."""

    heads: tuple[tuple[Digit, ...], tuple[Digit, ...]]
    xor: tuple[int, int, int]
    base_offset: int
    mask: int
    absolute: bool


@lru_cache(maxsize=1 << 10)
def _read(word: int, arch: str, dtype: str, is_k: bool, mma: tuple[int, int]) -> _Read | None:
    """What a word reads whose start, and absolute leading byte address, are 0; None if that is over no whole digits.

    Raises:
        DescriptorError: if the word has no meaning.
    """
    told = fields(word, arch)
    walked = walk(told, dtype, "K" if is_k else "MN", mma)
    if walked is None:
        return None
    mn, k = walked
    mask = (1 << told.pattern.bits) - 1
    heads = tuple(normal(mn)), tuple(normal(k))
    return _Read(heads, xor(told.pattern, dtype), told.base_offset & mask, mask, told.absolute)


def _expected(d: Derivation, tile: CutTile, first: int, base: int) -> int | None:
    """What the first word of a tile must be, if what it reads is the tile's; None if not, or that is not so plain."""
    name, crossing = d.element.name, d.crossing is not None
    whole, rest = per_16_bytes(name), unplaced(first, crossing)
    read = _read(rest, d.arch, name, d.major is Major.K, d.mma)
    if (
        read is None
        or read.xor != tile.xor
        or (read.base_offset - base // LINE_BYTES) & read.mask
        or read.absolute is not crossing
        or read.heads[0] != tile.modes[0].head
        or read.heads[1] != tile.modes[1].head
        or tile.start % (whole * LINE if crossing else whole)
    ):
        return None
    begins = tile.start // whole + base // 16
    return rest + placing(begins, begins if crossing else 0)


def _are_sums(words: Table, start: int, modes: tuple[CutMode, ...]) -> bool:
    """Whether words are a start and what each mode adds to it, the first mode outermost.

    No sum leaves the window, as the tile does not: nothing is carried from one field into the next.
    """
    sums, flat = [start], words
    for i, mode in enumerate(modes):
        added = mode.added
        if len(added) != 1 or added[0]:
            sums = [one + more for one in sums for more in added]
        if i:
            flat = tuple(chain.from_iterable(flat))  # type: ignore[arg-type]
    return flat == tuple(sums)


def fetched(d: Derivation) -> Affine | None:
    """What the first word, moved along the advance, reads of a tile at address 0: modes (MN, K, stages...).

    None if that is over no whole digits, or where operands cross atoms.
    """
    name, whole = d.element.name, per_16_bytes(d.element.name)
    told = fields(d.descriptor_at(0).encode(), d.arch)
    walked = walk(told._replace(start=0), name, "K" if d.major is Major.K else "MN", d.mma)
    if walked is None or told.absolute or d.crossing is not None:
        return None
    late = told.base_offset & (1 << told.pattern.bits) - 1
    return Affine(told.start * whole, _moved(walked, d.advance, whole), xor(told.pattern, name), late)


def _moved(operand: Sequence[Sequence[Digit]], advance: Any, whole: int) -> list[list[Digit]]:
    """The digits of the operand, then those of the steps from operand to operand."""
    steps = modes(advance, whole)
    return [[*operand[0], *steps[0]], [*operand[1], *steps[1]], *steps[2:]]


def verdict_for_all(family: SymbolicDerivation) -> bool:
    """Whether the formulas of a family of tiles hold for every value of its symbols.

    False also where that is not decided.

    >>> from dataclasses import replace
    >>> from descriptors import derive_symbolic
    >>> one = derive_symbolic(("64*m", "64*k"), "bf16", "K", "128B", (64, 16), order=(1, 0))
    >>> verdict_for_all(one), verdict_for_all(replace(one, match=replace(one.match, stride_byte_offset=1024)))
    (True, False)
    """
    name, word = family.element.name, SmemDescriptor(family.arch, 0, 0, family.swizzle).encode()
    told = fields(word, family.arch)
    whole, step = per_16_bytes(name), family.match.stride_byte_offset // 16
    told = told._replace(leading=family.match.leading_byte_offset // 16, stride=step)
    operand = walk(told, name, "K" if family.major is Major.K else "MN", family.mma)
    if operand is None:
        return False
    read = Affine(0, _moved(operand, family.advance, whole), xor(told.pattern, name))
    return agreement_for_all(stored(family.smem_tile), read)
