"""Decide by a theorem whether the words of a derivation, or the formulas of a family, read the tile that is stored.

The stored side is the tile's layout, mode by mode, divided at the operands. The fetched side starts from every word of
``Derivation.words``, whose bits ``digit_model`` decodes without code shared with the encoder. The read model of the
first word, together with the tile, determines all words (``cut_tile``). Only if the words differ from these are they
checked one by one (``one_by_one``). A tile that extends beyond the window, or has too many operands for a table, has no
list of words. There the fetched side is the read model of the first word, followed by the steps of the advance, which
change only the start address.

*Theorem.* Let a tile be ``X(start + f1(c1) + f2(c2) + ...)``, where X is the exclusive-or of the swizzle, and divide
each digit map at the extent n of an operand: f(x + n*i) = head(x) + tail(i). If the first word begins at ``start`` and
reads the heads under the same X, then all words read the whole tile, provided that word (i, j, ...) is the first word
plus tail1(i) + tail2(j) + ... in units of 16 bytes, and no sum leaves the window. *Proof.* The start address is the
lowest field and counts 16 bytes. No sum carries out of it, so a word differs from the first one only in its start, and
reads start + tails + heads before X.

Operands that cross atoms begin at piece 3*j of a row; their LBO is the line of the last of their three pieces. Both
addresses are the tile's: the pieces of a line are consecutive, and all strides except those along K are multiples of a
line. So what an operand reads up to the end of its line, and from the beginning of the line in LBO, is what the tile
stores.

One by one, the map that a word reads and the map of its part of the tile are compared (``agreement``). If the tile
cannot be divided at its operands, or LBO is the address of a line, both maps are listed mode by mode: sums of one value
per mode are equal everywhere if and only if the values are equal in each mode. This finds the wrong element of wrong
words, and accepts words that differ only in bits that the hardware ignores.

Invariant: the verdict is that of the comparison of every element, for right and for wrong words.

>>> from layoutalg.frozen import replace
>>> from descriptors import derive, verify
>>> d = derive((128, 64), "bf16", "K", "128B", (64, 16), verify=False)
>>> wrong = [replace(d, descriptor=replace(d.descriptor, stride_byte_offset=sbo)) for sbo in range(0, 2048, 256)]
>>> [verdict(one).outcome == "equal" for one in wrong] == [verify(one).ok for one in wrong]
True

Invariant: the numbers added to the first word are the differences of the words of a right derivation.

>>> tile, words = cut_tile(d), d.words()
>>> rows, columns = tile.modes
>>> words == tuple(tuple(words[0][0] + a + b for b in columns.added) for a in rows.added)
True

Invariant: a refutation is an element that the word of its subtile reads from another address.

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
    """A mode of a tile, divided at the extent of an operand.

    Args:
        head: the digits of the map within an operand, in normal form; None if the mode cannot be divided there.
        added: the number to add to the word of the first operand, for each operand; () if an offset is not a multiple
            of 16 bytes.
        operands: number of operands.
        low, high: the smallest and the largest value of the whole mode, in elements.
    """

    head: tuple[Digit, ...] | None
    added: tuple[int, ...]
    operands: int
    low: int
    high: int


class CutTile(NamedTuple):
    """A tile divided at its operands.

    Args:
        start: the offset of its first element, in elements.
        xor: as in ``Affine``.
        modes: all modes, MN and K first.
        operands: number of operands.
        low, high: the smallest and the largest offset of an element, before the exclusive-or.
        window: number of bytes that a start address can address.
    """

    start: int
    xor: tuple[int, int, int]
    modes: tuple[CutMode, ...]
    operands: int
    low: int
    high: int
    window: int

    def fits(self, bits: int, base: int) -> bool:
        """Return whether all elements, of ``bits`` bits each, are within the address window for a base.

        >>> from descriptors import derive
        >>> tile = cut_tile(derive((128, 128), "bf16", "K", "128B", (64, 16)))
        >>> tile.fits(16, 2**18 - 2**15), tile.fits(16, 2**18 - 2**14)
        (True, False)
        """
        return base * 8 + self.low * bits >= 0 and base * 8 + (self.high + 1) * bits <= self.window * 8


def cut_tile(d: Derivation) -> CutTile:
    """Divide the tile of a derivation at the extents of its operands.

    Raises:
        DescriptorError: if the tile is neither a plain layout nor a swizzle after one.
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
    """Divide a mode at an operand; with ``crossing``, the line in LBO moves with the start, by whole lines."""
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
    """Return the values of a map in units of 16 bytes; () if a step is not a multiple, or there are too many."""
    if prod(n for n, _ in tail) > MOST_SUBTILES or any(step % (whole * multiple) for _, step in tail):
        return ()
    return tuple([offset // whole for offset in listed(tail)])


def _cut_line(shape: Any, stride: Any, extent: int, whole: int) -> CutMode:
    """Divide the mode along K of operands that cross atoms, which must consist of lines of consecutive pieces."""
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
    """Return the verdict on the words of a tile at an address, which are in the order of the subtiles.

    Raises:
        DescriptorError: if there is not one word per operand, or a word has no meaning.
    """
    extents = (*d.mma, *(1 for _ in tile.modes[2:]))
    form = stored(d.smem_tile)
    sizes = [prod(n for n, _ in mode) for mode in form.modes]
    counts = [many // part for many, part in zip(sizes, extents, strict=True)]
    if prod(sizes) != len(words) * prod(extents) or any(many % part for many, part in zip(sizes, extents, strict=True)):
        raise DescriptorError(
            f"verify: there is not one word per operand: {len(words)} words for operands {tuple_text(d.mma)}; "
            f"smem_tile = {d.smem_tile}"
        )
    left_open = False
    for coordinate, word in zip(product(*map(range, counts)), words, strict=True):
        corner = [x * part for x, part in zip(coordinate, extents, strict=True)]
        verdict_on_word = _check_word(d, tile, form, corner, fields(word, word_format(d.arch)), base)
        if verdict_on_word.outcome == "different":
            element = (*verdict_on_word.at, *[0] * (len(corner) - 2))
            return Verdict("different", tuple(x + y for x, y in zip(corner, element, strict=True)))
        if verdict_on_word.outcome == "open":
            left_open = True
    return _OPEN if left_open else _EQUAL


def _check_word(d: Derivation, tile: CutTile, form: Affine, corner: Sequence[int], word: Fields, base: int) -> Verdict:
    """Return the verdict on the word of the operand whose first element has the coordinate ``corner``."""
    name, whole = d.element.name, per_16_bytes(d.element.name)
    walked = walk(word._replace(start=0), name, "K" if d.major is Major.K else "MN", d.mma)
    if walked is None:
        return _OPEN
    # The pattern of a swizzled tile starts at its base, a multiple of a line, so addresses are counted from the base.
    # Without a swizzle in the tile, the pattern of the word does not depend on the base: count from address 0.
    origin, lines = (base // 16, base // LINE_BYTES) if form.xor[0] else (0, 0)
    late = word.base_offset - lines & (1 << word.pattern.bits) - 1
    read_map = Affine((word.start - origin) * whole, walked, xor(word.pattern, name), late)
    begins = form.start + (base // 16 - origin) * whole
    stored_map = form._replace(start=begins + sum(value(mode, x) for mode, x in zip(form.modes, corner, strict=True)))
    heads = [mode.head for mode in tile.modes[:2] if mode.head is not None]
    if len(heads) == 2 and not word.absolute and d.crossing is None:
        return agreement(stored_map._replace(modes=heads), read_map)
    modes = list(map(listed, walked))
    if word.absolute:
        if not _may_be_absolute(word, d):
            return _OPEN
        modes[1] = _along_lines(word, d.mma[1], whole)
    return _compare_lists(stored_map, read_map, [list(_part(form, i, corner, d.mma[i])) for i in (0, 1)], modes)


def _part(form: Affine, mode: int, corner: Sequence[int], extent: int) -> Iterator[int]:
    """Yield the values of a mode of a tile from a corner on, relative to the value at the corner."""
    first = value(form.modes[mode], corner[mode])
    for x in range(extent):
        yield value(form.modes[mode], corner[mode] + x) - first


def _compare_lists(
    stored_map: Affine, read_map: Affine, stored_values: list[list[Any]], read_values: list[list[Any]]
) -> Verdict:
    """Compare sums of one listed value per mode; equality is decided only if both have the same exclusive-or."""
    for mode in (0, 1):
        for x, (home, read) in enumerate(zip(stored_values[mode], read_values[mode], strict=True)):
            if permuted(stored_map, stored_map.start + home) != permuted(read_map, read_map.start + read):
                return Verdict("different", (0, x) if mode else (x, 0))
    return _EQUAL if stored_map.xor == read_map.xor and not read_map.late else _OPEN


def _may_be_absolute(word: Fields, d: Derivation) -> bool:
    """Return whether such an operand may have an absolute leading byte address (PTX has it for K = 96)."""
    return (
        word.pattern.span == LINE
        and word.pattern.bits == LINE.bit_length() - 1
        and d.major is Major.K
        and not word.base_offset
        and d.mma[1] <= PIECES * per_16_bytes(d.element.name)
        and not word.leading % LINE
    )


def _along_lines(word: Fields, extent: int, whole: int) -> list[Any]:
    """Return where each element of a row is read, relative to the first: up to the end of the line, then from LBO."""
    starts = list[Any]()
    for x in range(extent):
        piece, rest = divmod(x, whole)
        beyond = word.start % LINE + piece - LINE
        starts.append((piece if beyond < 0 else word.leading - word.start + beyond) * whole + rest)
    return starts


def verdict(d: Derivation, tile: CutTile | None = None, base: int = 0) -> Verdict:
    """Decide whether every element of the tile is read from where it is stored.

    Args:
        d: the derivation.
        tile: the result of ``cut_tile``, if the caller has it.
        base: address of the tile, in bytes, where its swizzle pattern starts.

    Raises:
        DescriptorError: if there is not one word per operand, or a word has no meaning.

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
    """What a word reads, apart from its start: the digits in normal form, the exclusive-or and its base offset."""

    heads: tuple[tuple[Digit, ...], tuple[Digit, ...]]
    xor: tuple[int, int, int]
    base_offset: int
    mask: int
    absolute: bool


def _read_digits(d: Derivation, word: int) -> _Read | None:
    """Return what a word with start and absolute leading address 0 reads; None if digits do not express it.

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
    """Return the first word that the tile requires, if ``first`` reads the digits of the tile; None otherwise."""
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
    """Return whether the words are the sums of a start and the numbers that each mode adds, first mode outermost.

    The tile is within the window, so no sum carries from one field into the next.
    """
    sums, flat = [start], words
    for i, mode in enumerate(modes):
        added = mode.added
        if len(added) != 1 or added[0]:
            sums = [total + number for total in sums for number in added]
        if i:
            flat = tuple(chain.from_iterable(flat))  # type: ignore[arg-type]
    return flat == tuple(sums)


def fetched(d: Derivation) -> Affine | None:
    """Return the map that the first word, moved along the advance, reads of a tile at address 0.

    Its modes are (MN, K, stages...). The result is None if digits do not express it, or operands cross atoms.
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
    """Return the digits of the operand, followed by those of the steps from operand to operand."""
    steps = modes(advance, whole)
    return [[*operand[0], *steps[0]], [*operand[1], *steps[1]], *steps[2:]]


def verdict_for_all(family: SymbolicDerivation) -> bool:
    """Return whether the formulas of a family of tiles are proved for every value of its symbols.

    >>> from layoutalg.frozen import replace
    >>> from descriptors import derive_symbolic
    >>> family = derive_symbolic(("64*m", "64*k"), "bf16", "K", "128B", (64, 16), order=(1, 0))
    >>> changed = replace(family, match=replace(family.match, stride_byte_offset=1024))
    >>> verdict_for_all(family), verdict_for_all(changed)
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
