"""The proof without enumeration: when a stored tile and what the tensor core reads of it are one map.

Both have one form, in elements: ``at(c) = X(start + f1(c1) + f2(c2) + ...)``, each ``f`` a map over mixed-radix digits
of one mode's index (``digits``), and X the exclusive-or of ``bits`` bits, of which the lowest is bit ``base``, with
those ``shift`` above them, a number of lines less. A layout with its swizzle has it, and the walk of the hardware.

*Theorem.* Let both sides be of this form, over the same indices. If X is the same on both sides, they agree at every
coordinate if and only if the starts agree and, mode by mode, the maps over digits do - which their values on a basis
decide (``digits``).
*Proof.* X is a bijection: it leaves alone the bits that it reads, so that it is its own inverse. So the sums agree. At
coordinate 0 they are the starts; with all indices but one 0 they are the starts and that mode's map.

Conditions, and what happens where one does not hold:

- *Digits.* The walk of the hardware is a map over whole digits where the operand's extents are whole multiples of its
  pieces, or end before the first does (``digit_model``). Extents need be no powers of two, and sums may carry: these
  are sums of integers, and X comes after. Otherwise: enumerate.
- *One exclusive-or.* The word's swizzle must be that of the tile, and the base offset 0 as far as X reads it. Otherwise
  both sides are compared bit by bit over GF(2), which asks that no sum carries; else: enumerate.
- *Alignment and base.* A tile at address b that starts its own pattern lies at b + tile(c). A word that starts b later,
  with base offset b/128 mod 8, reads from b + what the first word read, wherever b is a multiple of 128: the low seven
  bits are left alone, and X reads line numbers less b/128. At multiples of the pattern's alignment the base offset is 0
  for the pattern does not see b. Without a swizzle b is a multiple of 16, all that the start address can say.
- *Start address bits.* The hardware's sum is not taken modulo 2**18, and neither is the map: what is proved holds for
  bases from which every start address fits its 14 bits, and every address the window; whoever asks checks that.

With symbols for positive integers in extents, steps and starts, the same digits prove the maps equal for all values.

Under *different* exclusive-ors the sums may differ and the values agree, as where a swizzle has become part of a
layout's strides. Then *bits* are the digits. A map is linear over GF(2) in the bits of its indices where

- every digit has a power of two as its extent and no negative step, so that it is a sum over bits, and
- **no sum carries**: no two of the values of those bits, and of the start, have a bit in common, so that ``+`` is the
  exclusive-or; and
- X subtracts no base offset, which borrows.

X is linear too, and so is the whole. *Theorem.* Two such maps, on one set of bits, agree everywhere if and only if they
agree at 0 and at each bit alone. A digit whose step is on both sides the same multiple of the period of both
exclusive-ors need be no power of two and may carry: X(v + t*period) = X(v) + t*period, so it moves both sides alike.
Where a condition does not hold, nothing is concluded from agreement (``None``: enumerate); a disagreement is one.

Law: a layout's form gives the layout's values.

>>> from layoutalg import ComposedLayout, Layout, Swizzle
>>> tile = ComposedLayout(Swizzle(2, 3, 3), 16, Layout(((8, 3), 6, 2), ((8, 64), 1, 256)))
>>> form = stored(tile)
>>> all(at(form, (i, j, k)) == tile(i, j, k) for i in range(24) for j in range(6) for k in range(2))
True

Law: two maps under one exclusive-or agree iff they agree wherever they are compared; a refutation is concrete.

>>> xor = (2, 0, 2)
>>> tile = Affine(0, [[(3, 4), (2, 12)], [(4, 1)]], xor)
>>> agreement(tile, Affine(0, [[(6, 4)], [(2, 1), (2, 2)]], xor))
Verdict(outcome='equal', at=())
>>> told = agreement(tile, Affine(0, [[(3, 4), (2, 16)], [(4, 1)]], xor))
>>> told, at(tile, told.at) == at(Affine(0, [[(3, 4), (2, 16)], [(4, 1)]], xor), told.at)
(Verdict(outcome='different', at=(3, 0)), False)

Law: under different ones, too, a verdict is that of the walk over all coordinates.

>>> plain, xor = Affine(0, [[(8, 9)]]), Affine(0, [[(8, 8)]], (3, 0, 3))
>>> differing(plain, xor), [at(plain, (i,)) == at(xor, (i,)) for i in range(8)] == [True] * 8
((), True)
>>> differing(plain, Affine(0, [[(8, 8)]], (2, 0, 3)))
(4,)
>>> print(differing(Affine(0, [[(3, 9)]]), Affine(0, [[(3, 8)]], (3, 0, 3))))  # they agree, but 3 is no power of two
None
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import prod
from typing import Any, Literal, NamedTuple

from descriptors.smem.operands.swizzled import parts
from descriptors.smem.proof.digits import Digit, common, first_difference, leaves, normal, value
from layoutalg import ComposedLayout, Layout


class Affine(NamedTuple):
    """Maps over digits under one exclusive-or, in elements.

    Args:
        start: what is added to the maps.
        modes: the digits of each mode.
        xor: (bits, base, shift) of the exclusive-or; bits 0 for none.
        late: the number of lines that is subtracted from those that X reads, below ``2**bits``: a base offset.
    """

    start: Any
    modes: Sequence[Sequence[Digit]]
    xor: tuple[int, int, int] = (0, 0, 0)
    late: int = 0


def stored(tile: Layout | ComposedLayout) -> Affine:
    """A tile in this form.

    Raises:
        DescriptorError: if it is neither a plain layout nor a swizzle after one.

    >>> stored(Layout((8, (4, 2)), (1, (8, 64))))
    Affine(start=0, modes=[[(8, 1)], [(4, 8), (2, 64)]], xor=(0, 0, 0), late=0)
    """
    rows, swizzle, offset = parts(tile)
    return Affine(offset, modes(rows), (swizzle.bits, swizzle.base, swizzle.shift) if swizzle else (0, 0, 0))


def modes(rows: Layout, unit: int = 1) -> list[list[Digit]]:
    """The digits of every mode of a plain layout, whose offsets count ``unit`` elements.

    >>> modes(Layout((8, (4, 2)), (1, (8, 64))))
    [[(8, 1)], [(4, 8), (2, 64)]]
    """
    shape: Any = rows.shape
    stride: Any = rows.stride
    if type(shape) is not tuple:
        shape, stride = (shape,), (stride,)
    if unit == 1:
        return [leaves(n, d) for n, d in zip(shape, stride, strict=True)]
    parts = zip(shape, stride, strict=True)
    return [[(extent, unit * step) for extent, step in leaves(n, d)] for n, d in parts]


def at(form: Affine, where: Sequence[int]) -> int:
    """The value at an index of each mode.

    >>> at(Affine(0, [[(8, 8)], [(8, 1)]], (1, 0, 3)), (3, 5))
    28
    """
    plain: int = form.start + sum(value(digits, index) for digits, index in zip(form.modes, where, strict=True))
    return permuted(form, plain)


def permuted(form: Affine, plain: int) -> int:
    """What the exclusive-or makes of an offset.

    >>> [permuted(Affine(0, [], (2, 0, 2), late), 4) for late in range(4)]
    [5, 4, 7, 6]
    """
    bits, base, shift = form.xor
    lines = (plain >> base + shift) - form.late
    return plain ^ (lines & (1 << bits) - 1) << base


def bounds(form: Affine) -> tuple[int, int]:
    """The least and the greatest sum, before the exclusive-or.

    >>> bounds(Affine(16, [[(8, 2)], [(4, -1)]]))
    (13, 30)
    """
    low = high = form.start
    for mode in form.modes:
        for extent, step in mode:
            if step < 0:
                low += (extent - 1) * step
            else:
                high += (extent - 1) * step
    return low, high


def differing(one: Affine, other: Affine) -> tuple[int, ...] | None:
    """A coordinate at which two maps over modes of the same sizes differ; () where there is none; None if undecided.

    >>> differing(Affine(0, [[(4, 4)]], (2, 0, 2)), Affine(0, [[(4, 5)]]))
    ()
    """
    digits = [common(mine, theirs) for mine, theirs in zip(one.modes, other.modes, strict=True)]
    basis = [(i, bit) for i, found in enumerate(digits) for bit in _bits(found or ())]
    zero, sizes = (0,) * len(digits), [prod(n for n, _ in mode) for mode in one.modes]
    for count in (0, 1, 2):  # a pair refutes where sums carry; it proves nothing
        for chosen in combinations(basis, count):
            where = list(zero)
            for mode, bit in chosen:
                where[mode] += bit
            inside = all(index < size for index, size in zip(where, sizes, strict=True))
            if inside and at(one, where) != at(other, where):
                return tuple(where)
    if one.late or other.late or any(found is None for found in digits):
        return None
    period = 1 << max(sum(form.xor) if form.xor[0] else 0 for form in (one, other))
    images = [(one.start, other.start)]
    for found in digits:
        for extent, step, another in found or ():
            if step == another and step % period == 0:
                continue
            if extent & extent - 1 or step < 0 or another < 0:
                return None
            images += [(step << i, another << i) for i in range(extent.bit_length() - 1)]
    return () if all(_carries_nothing([pair[side] for pair in images]) for side in (0, 1)) else None


def _bits(digits: Sequence[tuple[int, int, int]]) -> list[int]:
    """The indices with one bit of one digit."""
    found, weight = list[int](), 1
    for extent, _, _ in digits:
        found += [weight << i for i in range((extent - 1).bit_length())]
        weight *= extent
    return found


def _carries_nothing(values: list[int]) -> bool:
    """Whether no two of the values have a bit in common: their sum is then their union."""
    union = 0
    for one in values:
        if one < 0:
            return False
        union |= one
    return union == sum(values)


class Verdict(NamedTuple):
    """What the theorem says of two maps.

    Args:
        outcome: ``"equal"`` everywhere; ``"different"`` at the coordinate; ``"open"`` where a condition does not hold.
        at: the coordinate, an index for each mode; () but for ``"different"``.
    """

    outcome: Literal["equal", "different", "open"]
    at: tuple[int, ...] = ()


_EQUAL, _OPEN = Verdict("equal"), Verdict("open")


def agreement(stored: Affine, fetched: Affine) -> Verdict:
    """Whether two maps over modes of the same sizes, of numbers, are one.

    >>> agreement(Affine(16, [[(8, 2)]]), Affine(0, [[(8, 2)]]))
    Verdict(outcome='different', at=(0,))
    """
    if stored.xor == fetched.xor and not stored.late and not fetched.late:
        count = len(stored.modes)
        if stored.start != fetched.start:
            return Verdict("different", (0,) * count)
        for i, mine in enumerate(stored.modes):
            index = first_difference(mine, fetched.modes[i])
            if index is not None:
                return Verdict("different", (0,) * i + (index,) + (0,) * (count - i - 1))
        return _EQUAL
    found = differing(stored, fetched)
    if found is None:
        return _OPEN
    return Verdict("different", found) if found else _EQUAL


def agreement_for_all(stored: Affine, fetched: Affine) -> bool:
    """Whether two maps with symbols are one for all values of the symbols; False also where that is not decided.

    >>> from layoutalg import symbol
    >>> m = symbol("m")
    >>> agreement_for_all(Affine(0, [[(8, 2), (m, 16)]]), Affine(0, [[(8 * m, 2)]]))
    True
    """
    if stored.xor != fetched.xor or stored.late or fetched.late or stored.start != fetched.start:
        return False
    pairs = zip(stored.modes, fetched.modes, strict=True)
    return all(normal(mine) == normal(theirs) for mine, theirs in pairs)
