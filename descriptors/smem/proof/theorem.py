"""The proof without enumeration: a theorem that decides whether a stored tile and the read model are the same map.

Both sides have the same form, in elements: ``at(c) = X(start + f1(c1) + f2(c2) + ...)``. Each ``f`` is a map over
mixed-radix digits of one mode's index (``digits``). X is an exclusive-or of ``bits`` bits, of which the lowest is bit
``base``, with the bits that are ``shift`` higher, after a subtraction of lines (the base offset). A layout with its
swizzle has this form, and so does the read model.

*Theorem.* Let both sides have this form, over the same indices. If X is the same on both sides, they agree at every
coordinate if and only if the starts agree and the digit maps of each mode agree, which their values on a basis decide
(``digits``).
*Proof.* X is a bijection: it does not change the bits that it reads, so it is its own inverse. So the sums agree. At
coordinate 0 they are the starts; with all indices but one equal to 0, they are the start plus that mode's map.

Conditions, and the alternative if one does not hold:

- *Digits.* The read model is a map over whole digits if the operand's extents are multiples of its pieces, or end
  inside the first (``digit_model``). Extents need not be powers of two, and sums may carry, because these are sums of
  integers and X is applied afterwards. Otherwise: enumerate.
- *One exclusive-or.* The word's swizzle must be that of the tile, and the bits of the base offset that X uses must be
  0. Otherwise both sides are compared bit by bit over GF(2), which requires that no sum carries; else: enumerate.
- *Alignment and base.* A tile at address b that starts its own pattern is stored at b + tile(c). A word that starts b
  later, with base offset b/128 mod 8, reads from b + the address that the first word reads, for each multiple b of 128:
  the low seven bits do not change, and X uses line numbers minus b/128. At multiples of the pattern's alignment, the
  base offset is 0, because b does not affect the pattern. Without a swizzle, b is a multiple of 16, the unit of the
  start address.
- *Start address bits.* The hardware's sum is not taken modulo 2**18, and neither is the map. The proof holds for bases
  from which every start address fits its 14 bits and every address the window; the caller checks this.

With symbols for positive integers in extents, steps and starts, equal digits prove the maps equal for all values.

Under *different* exclusive-ors, the sums may differ although the values agree, for example if a swizzle is part of a
layout's strides. Then the digits are *bits*. A map is linear over GF(2) in the bits of its indices if

- every digit has a power of two as its extent and no negative step, so that it is a sum over bits,
- **no sum carries**: no two of the values of those bits, and of the start, have a bit in common, so that ``+`` is the
  exclusive-or, and
- X subtracts no base offset, because a subtraction borrows.

X is linear too, and therefore the whole map. *Theorem.* Two such maps, on the same bits, agree everywhere if and only
if they agree at 0 and at each single bit. A digit whose step on both sides is the same multiple of the period of both
exclusive-ors need not be a power of two and may carry, because X(v + t*period) = X(v) + t*period changes both sides
alike. If a condition does not hold, agreement on the bits proves nothing (``None``: enumerate), but a disagreement is a
refutation.

Invariant: a layout's form has the layout's values.

>>> from layoutalg import ComposedLayout, Layout, Swizzle
>>> tile = ComposedLayout(Swizzle(2, 3, 3), 16, Layout(((8, 3), 6, 2), ((8, 64), 1, 256)))
>>> form = stored(tile)
>>> all(at(form, (i, j, k)) == tile(i, j, k) for i in range(24) for j in range(6) for k in range(2))
True

Invariant: two maps with the same exclusive-or are decided, and a refutation is a coordinate where they differ.

>>> xor = (2, 0, 2)
>>> tile = Affine(0, [[(3, 4), (2, 12)], [(4, 1)]], xor)
>>> agreement(tile, Affine(0, [[(6, 4)], [(2, 1), (2, 2)]], xor))
Verdict(outcome='equal', at=())
>>> verdict = agreement(tile, Affine(0, [[(3, 4), (2, 16)], [(4, 1)]], xor))
>>> verdict, at(tile, verdict.at) == at(Affine(0, [[(3, 4), (2, 16)], [(4, 1)]], xor), verdict.at)
(Verdict(outcome='different', at=(3, 0)), False)

Invariant: with different exclusive-ors, a verdict is that of a comparison of all coordinates.

>>> plain, xor = Affine(0, [[(8, 9)]]), Affine(0, [[(8, 8)]], (3, 0, 3))
>>> differing(plain, xor), [at(plain, (i,)) == at(xor, (i,)) for i in range(8)] == [True] * 8
((), True)
>>> differing(plain, Affine(0, [[(8, 8)]], (2, 0, 3)))
(4,)
>>> print(differing(Affine(0, [[(3, 9)]]), Affine(0, [[(3, 8)]], (3, 0, 3))))  # equal, but 3 is not a power of two
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
    """A sum of maps over digits, followed by an exclusive-or, in elements.

    Args:
        start: the number added to the maps.
        modes: the digits of each mode.
        xor: (bits, base, shift) of the exclusive-or; bits 0 for none.
        late: the number of lines, below ``2**bits``, that X subtracts from the line number: the base offset.
    """

    start: Any
    modes: Sequence[Sequence[Digit]]
    xor: tuple[int, int, int] = (0, 0, 0)
    late: int = 0


def stored(tile: Layout | ComposedLayout) -> Affine:
    """Convert a tile to this form.

    Raises:
        DescriptorError: if the tile is neither a plain layout nor a swizzle after one.

    >>> stored(Layout((8, (4, 2)), (1, (8, 64))))
    Affine(start=0, modes=[[(8, 1)], [(4, 8), (2, 64)]], xor=(0, 0, 0), late=0)
    """
    rows, swizzle, offset = parts(tile)
    return Affine(offset, modes(rows), (swizzle.bits, swizzle.base, swizzle.shift) if swizzle else (0, 0, 0))


def modes(rows: Layout, unit: int = 1) -> list[list[Digit]]:
    """Return the digits of every mode of a plain layout, whose offsets count ``unit`` elements.

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
    """Return the value at a coordinate: an index for each mode.

    >>> at(Affine(0, [[(8, 8)], [(8, 1)]], (1, 0, 3)), (3, 5))
    28
    """
    plain: int = form.start + sum(value(digits, index) for digits, index in zip(form.modes, where, strict=True))
    return permuted(form, plain)


def permuted(form: Affine, plain: int) -> int:
    """Apply the exclusive-or to an offset.

    >>> [permuted(Affine(0, [], (2, 0, 2), late), 4) for late in range(4)]
    [5, 4, 7, 6]
    """
    bits, base, shift = form.xor
    lines = (plain >> base + shift) - form.late
    return plain ^ (lines & (1 << bits) - 1) << base


def bounds(form: Affine) -> tuple[int, int]:
    """Return the smallest and the largest sum, before the exclusive-or.

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
    """Return a coordinate at which two maps over modes of the same sizes differ, () if they agree, None if undecided.

    >>> differing(Affine(0, [[(4, 4)]], (2, 0, 2)), Affine(0, [[(4, 5)]]))
    ()
    """
    digits = [common(*pair) for pair in zip(one.modes, other.modes, strict=True)]
    basis = [(i, bit) for i, shared in enumerate(digits) for bit in _bits(shared or ())]
    zero, sizes = (0,) * len(digits), [prod(n for n, _ in mode) for mode in one.modes]
    for count in (0, 1, 2):  # pairs of bits can refute maps whose sums carry; they prove nothing
        for bits in combinations(basis, count):
            coordinate = list(zero)
            for mode, bit in bits:
                coordinate[mode] += bit
            inside = all(index < size for index, size in zip(coordinate, sizes, strict=True))
            if inside and at(one, coordinate) != at(other, coordinate):
                return tuple(coordinate)
    if one.late or other.late or any(shared is None for shared in digits):
        return None
    period = 1 << max(sum(form.xor) if form.xor[0] else 0 for form in (one, other))
    images = [(one.start, other.start)]
    for shared in digits:
        for extent, step, another in shared or ():
            if step == another and step % period == 0:
                continue
            if extent & extent - 1 or step < 0 or another < 0:
                return None
            images += [(step << i, another << i) for i in range(extent.bit_length() - 1)]
    return () if all(_carries_nothing([pair[side] for pair in images]) for side in (0, 1)) else None


def _bits(digits: Sequence[tuple[int, int, int]]) -> list[int]:
    """Return the indices with a single bit of a single digit."""
    indices, weight = list[int](), 1
    for extent, _, _ in digits:
        indices += [weight << i for i in range((extent - 1).bit_length())]
        weight *= extent
    return indices


def _carries_nothing(values: list[int]) -> bool:
    """Return whether no two of the values have a bit in common, so that their sum does not carry."""
    union = 0
    for number in values:
        if number < 0:
            return False
        union |= number
    return union == sum(values)


class Verdict(NamedTuple):
    """The result of the theorem for two maps.

    Args:
        outcome: ``"equal"`` everywhere; ``"different"`` at the coordinate; ``"open"`` if a condition does not hold.
        at: the coordinate, an index for each mode; () unless the outcome is ``"different"``.
    """

    outcome: Literal["equal", "different", "open"]
    at: tuple[int, ...] = ()


_EQUAL, _OPEN = Verdict("equal"), Verdict("open")


def agreement(stored: Affine, fetched: Affine) -> Verdict:
    """Decide whether two maps over modes of the same sizes are equal. The digits are numbers.

    >>> agreement(Affine(16, [[(8, 2)]]), Affine(0, [[(8, 2)]]))
    Verdict(outcome='different', at=(0,))
    """
    if stored.xor == fetched.xor and not stored.late and not fetched.late:
        count = len(stored.modes)
        if stored.start != fetched.start:
            return Verdict("different", (0,) * count)
        for i, mode in enumerate(stored.modes):
            index = first_difference(mode, fetched.modes[i])
            if index is not None:
                return Verdict("different", (0,) * i + (index,) + (0,) * (count - i - 1))
        return _EQUAL
    coordinate = differing(stored, fetched)
    if coordinate is None:
        return _OPEN
    return Verdict("different", coordinate) if coordinate else _EQUAL


def agreement_for_all(stored: Affine, fetched: Affine) -> bool:
    """Return whether two maps with symbols are proved equal for all values of the symbols.

    >>> from layoutalg import symbol
    >>> m = symbol("m")
    >>> agreement_for_all(Affine(0, [[(8, 2), (m, 16)]]), Affine(0, [[(8 * m, 2)]]))
    True
    """
    if stored.xor != fetched.xor or stored.late or fetched.late or stored.start != fetched.start:
        return False
    pairs = zip(stored.modes, fetched.modes, strict=True)
    return all(normal(mode) == normal(other) for mode, other in pairs)
