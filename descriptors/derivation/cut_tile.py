"""A tile cut at its operands: the map within one, and what each word must have added to the first, mode by mode.

*Theorem.* Let a tile be ``X(start + f1(c1) + f2(c2) + ...)`` and each map over digits be cut at the extent n of an
operand, f(x + n*i) = head(x) + tail(i). If the first word begins at ``start`` and reads the heads under the same X,
all words read the whole tile, provided that word (i, j, ...) is the first one plus tail1(i) + tail2(j) + ... in units
of 16 bytes and no sum leaves the window. *Proof.* The start address is the lowest field and counts 16 bytes. No sum
carries out of it: a word differs from the first one in its start alone, and reads start + tails + heads before X.

Operands that cross atoms begin at piece 3*j of a row, and name the line that the last of their three pieces lies in.
Both places are the tile's: in a line piece follows piece, and all steps but those along K are whole lines, so that what
an operand reads to the end of its line, and from the beginning of the one that it names, is where the tile goes on.

Law: what is added to the first word is what the words of a right derivation differ by.

>>> from descriptors import derive
>>> d = derive((128, 128), "bf16", "K", "128B", (64, 16))
>>> rows, columns = cut_tile(d).modes
>>> d.words() == tuple(tuple(d.words()[0][0] + a + b for b in columns.added) for a in rows.added)
True
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

from descriptors.derivation.parts.crossing import LINE, PIECES
from descriptors.derivation.parts.derivation import Derivation
from descriptors.derivation.parts.table import MOST_SUBTILES
from descriptors.operands.swizzled import parts
from descriptors.theorem.affine import Affine, bounds
from descriptors.theorem.digits import Digit, cut, leaves, listed
from descriptors.theorem.walk_model import placing
from descriptors.words.address import WINDOW_BYTES
from layoutalg import ComposedLayout, Layout, Swizzle


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
    """

    start: int
    xor: tuple[int, int, int]
    modes: tuple[CutMode, ...]
    operands: int
    low: int
    high: int

    def fits(self, bits: int, base: int) -> bool:
        """Whether all elements, of so many bits, lie in the window from a base: then every word has its start address.

        >>> from descriptors import derive
        >>> tile = cut_tile(derive((128, 128), "bf16", "K", "128B", (64, 16)))
        >>> tile.fits(16, 2**18 - 2**15), tile.fits(16, 2**18 - 2**14)
        (True, False)
        """
        return base * 8 + self.low * bits >= 0 and base * 8 + (self.high + 1) * bits <= WINDOW_BYTES * 8


def cut_tile(d: Derivation) -> CutTile:
    """The tile of a derivation, cut at the extents of its operands.

    Raises:
        DescriptorError: if it is neither a plain layout nor a swizzle after one.
    """
    tile = d.smem_tile
    if type(tile) is ComposedLayout and type(tile.outer) is Swizzle and tile.outer.bits and type(tile.inner) is Layout:
        rows, start, swizzle = tile.inner, tile.offset, tile.outer  # the common case, without a closer look
        xor = swizzle.bits, swizzle.base, swizzle.shift
    else:
        rows, _, start = parts(tile)
        xor = 0, 0, 0
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
    return CutTile(start, xor, tuple(modes), operands, low, high)


@lru_cache(maxsize=1 << 12)
def _cut_mode(shape: Any, stride: Any, extent: int, whole: int, crossing: bool) -> CutMode:
    """One mode; where operands cross atoms the line that a word names moves with its start, by whole lines."""
    digits = leaves(shape, stride)
    many, (low, high) = prod(n for n, _ in digits), bounds(Affine(0, [digits]))
    found = cut(digits, extent)
    if found is None:
        return CutMode(None, (), many // extent, low, high)
    head, tail = found
    steps = _units(tail, whole, LINE if crossing else 1)
    if crossing:
        steps = tuple([placing(step, step) for step in steps])
    return CutMode(tuple(head), steps, many // extent, low, high)


def _units(tail: list[Digit], whole: int, multiple: int) -> tuple[int, ...]:
    """The values of a map in units of 16 bytes; () where one is no multiple of so many, or they are too many."""
    if prod(n for n, _ in tail) > MOST_SUBTILES or any(step % (whole * multiple) for _, step in tail):
        return ()
    return tuple([one // whole for one in listed(tail)])


@lru_cache(maxsize=1 << 10)
def _cut_line(shape: Any, stride: Any, extent: int, whole: int) -> CutMode:
    """The mode along K where operands cross atoms, which must be of whole lines of pieces that follow one another."""
    digits = leaves(shape, stride)
    many, (low, high) = prod(n for n, _ in digits), bounds(Affine(0, [digits]))
    found = cut(digits, LINE * whole)
    lines = () if found is None or found[0] != [(LINE * whole, 1)] else _units(found[1], whole, LINE)
    if many % extent or extent != PIECES * whole or not lines:
        return CutMode(None, (), many // extent, low, high)
    added = []
    for first in range(0, many // whole, PIECES):
        added.append(placing(lines[first // LINE] + first % LINE, lines[(first + PIECES - 1) // LINE]))
    return CutMode(((extent, 1),), tuple(added), many // extent, low, high)
