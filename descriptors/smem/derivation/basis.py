"""A derivation, and a family of them, held against the theorem: what the tile stores and what its words read, as maps.

The fetched side begins with the words that ``Derivation.words`` hands out, every one of them: with their bits, as
``digit_model`` reads them, which shares no position with the module that wrote them. The stored side is the tile's
layout, mode by mode, cut at the operands. From the walk of the first word and the tile it follows what all words must
be (``cut_tile``); only where they are others are they looked at one by one (``one_by_one``). A tile that lies beyond
the window, or has too many operands for a table, has no such words: there the fetched side is the walk of the first
word, then the steps of the advance, by which the start address alone moves.

*Theorem.* Let a tile be ``X(start + f1(c1) + f2(c2) + ...)`` and each map over digits be cut at the extent n of an
operand, f(x + n*i) = head(x) + tail(i). If the first word begins at ``start`` and reads the heads under the same X,
all words read the whole tile, provided that word (i, j, ...) is the first one plus tail1(i) + tail2(j) + ... in units
of 16 bytes and no sum leaves the window. *Proof.* The start address is the lowest field and counts 16 bytes. No sum
carries out of it: a word differs from the first one in its start alone, and reads start + tails + heads before X.

Operands that cross atoms begin at piece 3*j of a row, and name the line that the last of their three pieces lies in.
Both places are the tile's: in a line piece follows piece, and all steps but those along K are whole lines, so that what
an operand reads to the end of its line, and from the beginning of the one that it names, is where the tile goes on.

One by one, what a word reads and what its part of the tile stores are compared as maps (``agreement``). Where the tile
cannot be cut at its operands, or a word names the line in which K goes on, both are listed mode by mode: sums of one
value of each mode are the same everywhere iff the values are, in each mode alone. This says what is wrong with words
that are not those that they must be, and that words which differ in bits that nobody reads are right.

Law: the verdict is that of the enumerating proof, on right words and on wrong ones.

>>> from layoutalg.frozen import replace
>>> from descriptors import derive, verify
>>> d = derive((128, 64), "bf16", "K", "128B", (64, 16), verify=False)
>>> wrong = [replace(d, descriptor=replace(d.descriptor, stride_byte_offset=sbo)) for sbo in range(0, 2048, 256)]
>>> [verdict(one).outcome == "equal" for one in wrong] == [verify(one).ok for one in wrong]
True

Law: what is added to the first word is what the words of a right derivation differ by.

>>> tile, words = cut_tile(d), d.words()
>>> rows, columns = tile.modes
>>> words == tuple(tuple(words[0][0] + a + b for b in columns.added) for a in rows.added)
True

Law: a refutation is an element that the word of its subtile reads from elsewhere.

>>> right = [word for row in words for word in row]
>>> for changed in (0, 1 << 16, 1 << 32, 1):
...     print(one_by_one(d, tile, [*right[:5], right[5] + changed, *right[6:]], 0))
Verdict(outcome='equal', at=())
Verdict(outcome='equal', at=())
Verdict(outcome='different', at=(72, 16))
Verdict(outcome='different', at=(64, 16))
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, product
from math import prod
from typing import Any, NamedTuple

from descriptors.errors import DescriptorError
from descriptors.smem.derivation.advance import MOST_SUBTILES, Table, numbers
from descriptors.smem.derivation.crossing import LINE, PIECES
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.derivation.symbolic import SymbolicDerivation
from descriptors.smem.operands.operand import LINE_BYTES, Major
from descriptors.smem.operands.swizzled import parts
from descriptors.smem.proof.digit_model import Fields, fields, per_16_bytes, placing, unplaced, walk, xor
from descriptors.smem.proof.digits import Digit, cut, leaves, listed, normal, value
from descriptors.smem.proof.theorem import (
    Affine,
    Verdict,
    agreement,
    agreement_for_all,
    bounds,
    modes,
    permuted,
    stored,
)
from descriptors.smem.words.descriptor import SmemDescriptor, window_bytes, word_format
from descriptors.text import tuple_text


class CutMode(NamedTuple):
    """One mode of a tile, cut at the extent of an operand.

    Args:
        head: the digits of the map within an operand, normal; None where the mode cannot be cut there.
        added: what is added to the word of the first operand, for each; () where that is no number of 16 bytes.
        operands: how many there are.
        low, high: the least and the greatest value of the whole mode, in elements.
    """

    head: tuple[Digit, ...] | None
    added: tuple[int, ...]
    operands: int
    low: int
    high: int


class CutTile(NamedTuple):
    """A tile cut at its operands.

    Args:
        start: the offset of its first element, in elements.
        xor: as in ``Affine``.
        modes: all of them, MN and K first.
        operands: how many there are.
        low, high: the least and the greatest offset of an element, before the exclusive-or.
        window: what a start address can name, in bytes.
    """

    start: int
    xor: tuple[int, int, int]
    modes: tuple[CutMode, ...]
    operands: int
    low: int
    high: int
    window: int

    def fits(self, bits: int, base: int) -> bool:
        """Whether all elements, of so many bits, lie in the window from a base: then every word has its start address.

        >>> from descriptors import derive
        >>> tile = cut_tile(derive((128, 128), "bf16", "K", "128B", (64, 16)))
        >>> tile.fits(16, 2**18 - 2**15), tile.fits(16, 2**18 - 2**14)
        (True, False)
        """
        return base * 8 + self.low * bits >= 0 and base * 8 + (self.high + 1) * bits <= self.window * 8


def cut_tile(d: Derivation) -> CutTile:
    """The tile of a derivation, cut at the extents of its operands.

    Raises:
        DescriptorError: if it is neither a plain layout nor a swizzle after one.
    """
    rows, swizzle, start = parts(d.smem_tile)
    xor = (swizzle.bits, swizzle.base, swizzle.shift) if swizzle else (0, 0, 0)
    whole, crossing = d.element.per_16_bytes, d.crossing is not None
    shape: Any = rows.shape
    stride: Any = rows.stride
    modes, operands, low, high = [], 1, start, start
    for i, n in enumerate(shape):
        if crossing and i == 1:
            mode = _cut_line(n, stride[i], d.mma[1], whole)
        else:
            mode = _cut_mode(n, stride[i], d.mma[i] if i < 2 else 1, whole, crossing)
        modes.append(mode)
        operands *= mode.operands
        low += mode.low
        high += mode.high
    return CutTile(start, xor, tuple(modes), operands, low, high, window_bytes(d.arch))


def _cut_mode(shape: Any, stride: Any, extent: int, whole: int, crossing: bool) -> CutMode:
    """One mode; where operands cross atoms the line that a word names moves with its start, by whole lines."""
    digits = leaves(shape, stride)
    many, (low, high) = prod(n for n, _ in digits), bounds(Affine(0, [digits]))
    halves = cut(digits, extent)
    if halves is None:
        return CutMode(None, (), many // extent, low, high)
    head, tail = halves
    steps = _units(tail, whole, LINE if crossing else 1)
    if crossing:
        steps = tuple([placing(step, step) for step in steps])
    return CutMode(tuple(head), steps, many // extent, low, high)


def _units(tail: list[Digit], whole: int, multiple: int) -> tuple[int, ...]:
    """The values of a map in units of 16 bytes; () where one is no multiple of so many, or they are too many."""
    if prod(n for n, _ in tail) > MOST_SUBTILES or any(step % (whole * multiple) for _, step in tail):
        return ()
    return tuple([one // whole for one in listed(tail)])


def _cut_line(shape: Any, stride: Any, extent: int, whole: int) -> CutMode:
    """The mode along K where operands cross atoms, which must be of whole lines of pieces that follow one another."""
    digits = leaves(shape, stride)
    many, (low, high) = prod(n for n, _ in digits), bounds(Affine(0, [digits]))
    halves = cut(digits, LINE * whole)
    lines = () if halves is None or halves[0] != [(LINE * whole, 1)] else _units(halves[1], whole, LINE)
    if many % extent or extent != PIECES * whole or not lines:
        return CutMode(None, (), many // extent, low, high)
    added = []
    for first in range(0, many // whole, PIECES):
        added.append(placing(lines[first // LINE] + first % LINE, lines[(first + PIECES - 1) // LINE]))
    return CutMode(((extent, 1),), tuple(added), many // extent, low, high)


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
        count = f"{len(words)} words for operands {tuple_text(d.mma)}"
        raise DescriptorError(f"verify: a word must stand for each operand, found {count}; smem_tile = {d.smem_tile}")
    left_open = False
    for where, word in zip(product(*map(range, counts)), words, strict=True):
        corner = [x * part for x, part in zip(where, extents, strict=True)]
        of_operand = _one(d, tile, form, corner, fields(word, word_format(d.arch)), base)
        if of_operand.outcome == "different":
            return Verdict(
                "different",
                tuple(x + y for x, y in zip(corner, (*of_operand.at, *[0] * (len(corner) - 2)), strict=True)),
            )
        if of_operand.outcome == "open":
            left_open = True
    return _OPEN if left_open else _EQUAL


def _one(d: Derivation, tile: CutTile, form: Affine, corner: Sequence[int], word: Fields, base: int) -> Verdict:
    """The verdict on the word of the operand that begins at a corner of the tile, an element for MN and one for K."""
    name, whole = d.element.name, per_16_bytes(d.element.name)
    walked = walk(word._replace(start=0), name, "K" if d.major is Major.K else "MN", d.mma)
    if walked is None:
        return _OPEN
    # The pattern of a swizzled tile starts at its base, a multiple of a line: all is counted from there. That of a word
    # for a tile without one does not know the base: there all is counted from address 0.
    origin, lines = (base // 16, base // LINE_BYTES) if form.xor[0] else (0, 0)
    late = word.base_offset - lines & (1 << word.pattern.bits) - 1
    read_map = Affine((word.start - origin) * whole, walked, xor(word.pattern, name), late)
    begins = form.start + (base // 16 - origin) * whole
    here = form._replace(start=begins + sum(value(mode, x) for mode, x in zip(form.modes, corner, strict=True)))
    heads = [mode.head for mode in tile.modes[:2] if mode.head is not None]
    if len(heads) == 2 and not word.absolute and d.crossing is None:
        return agreement(here._replace(modes=heads), read_map)
    modes = list(map(listed, walked))
    if word.absolute:
        if not _may_be_absolute(word, d):
            return _OPEN
        modes[1] = _along_lines(word, d.mma[1], whole)
    return _listed(here, read_map, [list(_part(form, i, corner, d.mma[i])) for i in (0, 1)], modes)


def _part(form: Affine, mode: int, corner: Sequence[int], extent: int) -> Iterator[int]:
    """The values of one mode of a tile from a corner on, less that of the corner."""
    first = value(form.modes[mode], corner[mode])
    for x in range(extent):
        yield value(form.modes[mode], corner[mode] + x) - first


def _listed(stored_map: Affine, read_map: Affine, mine: list[list[Any]], theirs: list[list[Any]]) -> Verdict:
    """The verdict on sums of one listed value of each mode: decided where the exclusive-or is one."""
    for mode in (0, 1):
        for x, (one, other) in enumerate(zip(mine[mode], theirs[mode], strict=True)):
            if permuted(stored_map, stored_map.start + one) != permuted(read_map, read_map.start + other):
                return Verdict("different", (0, x) if mode else (x, 0))
    return _EQUAL if stored_map.xor == read_map.xor and not read_map.late else _OPEN


def _may_be_absolute(word: Fields, d: Derivation) -> bool:
    """Whether the tensor core takes an absolute leading byte address with such an operand (PTX has it for K = 96)."""
    return (
        word.pattern.span == LINE
        and word.pattern.bits == LINE.bit_length() - 1
        and d.major is Major.K
        and not word.base_offset
        and d.mma[1] <= PIECES * per_16_bytes(d.element.name)
        and not word.leading % LINE
    )


def _along_lines(word: Fields, extent: int, whole: int) -> list[Any]:
    """Where each element of a row is read from, less the first: to the end of its line, then in the line of LBO."""
    starts = list[Any]()
    for x in range(extent):
        piece, rest = divmod(x, whole)
        beyond = word.start % LINE + piece - LINE
        starts.append((piece if beyond < 0 else word.leading - word.start + beyond) * whole + rest)
    return starts


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
        read_map = fetched(d)
        return _OPEN if read_map is None else agreement(stored(d.smem_tile), read_map)
    words: Table = d.words(base)
    first = words
    while type(first) is tuple and first:
        first = first[0]
    start = _first_word(d, tile, first, base) if type(first) is int else None
    if start is not None and _are_sums(words, start, tile.modes):
        return _EQUAL
    return one_by_one(d, tile, numbers(words), base)


class _Read(NamedTuple):
    """What a word reads wherever it starts: the walk, normal; the exclusive-or; what that sees of the base offset."""

    heads: tuple[tuple[Digit, ...], tuple[Digit, ...]]
    xor: tuple[int, int, int]
    base_offset: int
    mask: int
    absolute: bool


def _read_digits(d: Derivation, word: int) -> _Read | None:
    """What a word reads whose start, and absolute leading byte address, are 0; None if that is over no whole digits.

    Raises:
        DescriptorError: if the word has no meaning.
    """
    word_fields = fields(word, word_format(d.arch))
    walked = walk(word_fields, d.element.name, "K" if d.major is Major.K else "MN", d.mma)
    if walked is None:
        return None
    mn, k = walked
    mask = (1 << word_fields.pattern.bits) - 1
    heads = tuple(normal(mn)), tuple(normal(k))
    return _Read(
        heads, xor(word_fields.pattern, d.element.name), word_fields.base_offset & mask, mask, word_fields.absolute
    )


def _first_word(d: Derivation, tile: CutTile, first: int, base: int) -> int | None:
    """What the first word of a tile must be, if what it reads is the tile's; None if not, or that is not so plain."""
    crossing = d.crossing is not None
    whole, rest = per_16_bytes(d.element.name), unplaced(first, crossing, word_format(d.arch))
    digits_read = _read_digits(d, rest)
    if (
        digits_read is None
        or digits_read.xor != tile.xor
        or (digits_read.base_offset - base // LINE_BYTES) & digits_read.mask
        or digits_read.absolute is not crossing
        or digits_read.heads[0] != tile.modes[0].head
        or digits_read.heads[1] != tile.modes[1].head
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
    word_fields = fields(d.descriptor_at(0).encode(), word_format(d.arch))
    walked = walk(word_fields._replace(start=0), name, "K" if d.major is Major.K else "MN", d.mma)
    if walked is None or word_fields.absolute or d.crossing is not None:
        return None
    late = word_fields.base_offset & (1 << word_fields.pattern.bits) - 1
    return Affine(
        word_fields.start * whole, _along_advance(walked, d.advance, whole), xor(word_fields.pattern, name), late
    )


def _along_advance(operand: Sequence[Sequence[Digit]], advance: Any, whole: int) -> list[list[Digit]]:
    """The digits of the operand, then those of the steps from operand to operand."""
    steps = modes(advance, whole)
    return [[*operand[0], *steps[0]], [*operand[1], *steps[1]], *steps[2:]]


def verdict_for_all(family: SymbolicDerivation) -> bool:
    """Whether the formulas of a family of tiles hold for every value of its symbols.

    False also where that is not decided.

    >>> from layoutalg.frozen import replace
    >>> from descriptors import derive_symbolic
    >>> one = derive_symbolic(("64*m", "64*k"), "bf16", "K", "128B", (64, 16), order=(1, 0))
    >>> verdict_for_all(one), verdict_for_all(replace(one, match=replace(one.match, stride_byte_offset=1024)))
    (True, False)
    """
    name, word = family.element.name, SmemDescriptor(family.arch, 0, 0, family.swizzle).encode()
    word_fields = fields(word, word_format(family.arch))
    whole, step = per_16_bytes(name), family.match.stride_byte_offset // 16
    word_fields = word_fields._replace(leading=family.match.leading_byte_offset // 16, stride=step)
    operand = walk(word_fields, name, "K" if family.major is Major.K else "MN", family.mma)
    if operand is None:
        return False
    read_map = Affine(0, _along_advance(operand, family.advance, whole), xor(word_fields.pattern, name))
    return agreement_for_all(stored(family.smem_tile), read_map)
