"""The words of a tile one by one: which of them reads an element from elsewhere than where it is stored, and which one.

What a word reads and what its part of the tile stores are compared as maps (``agreement``). Where the tile cannot be
cut at its operands, or a word names the line in which K goes on, both are listed mode by mode: sums of one value of
each mode are the same everywhere iff the values are, in each mode alone. This says what is wrong with words that are
not those that they must be (``cut_tile``), and that words which differ in bits that nobody reads are right.

Law: a refutation is an element that the word of its subtile reads from elsewhere.

>>> from dataclasses import replace
>>> from descriptors import derive
>>> from descriptors.derivation.cut_tile import cut_tile
>>> d = derive((128, 64), "bf16", "K", "128B", (64, 16), verify=False)
>>> tile, words = cut_tile(d), [word for row in d.words() for word in row]
>>> for changed in (0, 1 << 16, 1 << 32, 1):
...     print(one_by_one(d, tile, [*words[:5], words[5] + changed, *words[6:]], 0))
Verdict(outcome='equal', at=())
Verdict(outcome='equal', at=())
Verdict(outcome='different', at=(72, 16))
Verdict(outcome='different', at=(64, 16))
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod
from typing import Any

from descriptors.derivation.cut_tile import CutTile
from descriptors.derivation.parts.crossing import LINE, PIECES
from descriptors.derivation.parts.derivation import Derivation
from descriptors.errors import DescriptorError
from descriptors.operands.operand import LINE_BYTES, Major
from descriptors.text import tuple_text
from descriptors.theorem.affine import Affine, permuted, stored
from descriptors.theorem.agreement import Verdict, agreement
from descriptors.theorem.digits import listed, value
from descriptors.theorem.walk_model import Fields, fields, per_16_bytes, walk, xor

_OPEN, _EQUAL = Verdict("open"), Verdict("equal")


def one_by_one(d: Derivation, tile: CutTile, words: Sequence[int], base: int) -> Verdict:
    """The verdict on every word of a tile at an address, in the order of the subtiles.

    Raises:
        DescriptorError: if there is not a word for each operand, or one has no meaning.
    """
    extents = (*d.mma, *(1 for _ in tile.modes[2:]))
    form = stored(d.smem_tile)
    sizes = [prod(n for n, _ in mode) for mode in form.modes]
    counts = [many // part for many, part in zip(sizes, extents, strict=True)]
    if prod(sizes) != len(words) * prod(extents) or any(many % part for many, part in zip(sizes, extents, strict=True)):
        shown = f"{len(words)} words for operands {tuple_text(d.mma)}"
        raise DescriptorError(f"verify: a word must stand for each operand, found {shown}; smem_tile = {d.smem_tile}")
    left_open = False
    for where, word in zip(product(*map(range, counts)), words, strict=True):
        corner = [x * part for x, part in zip(where, extents, strict=True)]
        found = _one(d, tile, form, corner, fields(word, d.arch), base)
        if found.outcome == "different":
            return Verdict(
                "different", tuple(x + y for x, y in zip(corner, (*found.at, *[0] * (len(corner) - 2)), strict=True))
            )
        if found.outcome == "open":
            left_open = True
    return _OPEN if left_open else _EQUAL


def _one(d: Derivation, tile: CutTile, form: Affine, corner: Sequence[int], told: Fields, base: int) -> Verdict:
    """The verdict on the word of the operand that begins at a corner of the tile, an element for MN and one for K."""
    name, whole = d.element.name, per_16_bytes(d.element.name)
    walked = walk(told._replace(start=0), name, "K" if d.major is Major.K else "MN", d.mma)
    if walked is None:
        return _OPEN
    # The pattern of a swizzled tile starts at its base, a multiple of a line: all is counted from there. That of a word
    # for a tile without one does not know the base: there all is counted from address 0.
    origin, lines = (base // 16, base // LINE_BYTES) if form.xor[0] else (0, 0)
    late = told.base_offset - lines & (1 << told.pattern.bits) - 1
    read = Affine((told.start - origin) * whole, walked, xor(told.pattern, name), late)
    begins = form.start + (base // 16 - origin) * whole
    here = form._replace(start=begins + sum(value(mode, x) for mode, x in zip(form.modes, corner, strict=True)))
    heads = [mode.head for mode in tile.modes[:2] if mode.head is not None]
    if len(heads) == 2 and not told.absolute and d.crossing is None:
        return agreement(here._replace(modes=heads), read)
    modes = list(map(listed, walked))
    if told.absolute:
        if not _may_be_absolute(told, d):
            return _OPEN
        modes[1] = _along_lines(told, d.mma[1], whole)
    return _listed(here, read, [list(_part(form, i, corner, d.mma[i])) for i in (0, 1)], modes)


def _part(form: Affine, mode: int, corner: Sequence[int], extent: int) -> Iterator[int]:
    """The values of one mode of a tile from a corner on, less that of the corner."""
    first = value(form.modes[mode], corner[mode])
    for x in range(extent):
        yield value(form.modes[mode], corner[mode] + x) - first


def _listed(stored: Affine, read: Affine, mine: list[list[Any]], theirs: list[list[Any]]) -> Verdict:
    """The verdict on sums of one listed value of each mode: decided where the exclusive-or is one."""
    for mode in (0, 1):
        for x, (one, other) in enumerate(zip(mine[mode], theirs[mode], strict=True)):
            if permuted(stored, stored.start + one) != permuted(read, read.start + other):
                return Verdict("different", (0, x) if mode else (x, 0))
    return _EQUAL if stored.xor == read.xor and not read.late else _OPEN


def _may_be_absolute(told: Fields, d: Derivation) -> bool:
    """Whether the tensor core takes an absolute leading byte address with such an operand (PTX has it for K = 96)."""
    return (
        told.pattern.span == LINE
        and told.pattern.bits == LINE.bit_length() - 1
        and d.major is Major.K
        and not told.base_offset
        and d.mma[1] <= PIECES * per_16_bytes(d.element.name)
        and not told.leading % LINE
    )


def _along_lines(told: Fields, extent: int, whole: int) -> list[Any]:
    """Where each element of a row is read from, less the first: to the end of its line, then in the line of LBO."""
    found = list[Any]()
    for x in range(extent):
        piece, rest = divmod(x, whole)
        beyond = told.start % LINE + piece - LINE
        found.append((piece if beyond < 0 else told.leading - told.start + beyond) * whole + rest)
    return found
