"""Two maps over digits under *different* exclusive-ors, and when they are one: the theorem over GF(2).

With one exclusive-or X on both sides nothing is to be done: X is a bijection, so that the sums must agree. With two,
the sums may differ and the values agree, as where a swizzle has become part of a layout's strides. Then *bits* are the
digits. A map is linear over GF(2) in the bits of its indices where

- every digit has a power of two as its extent and no negative step, so that it is a sum over bits, and
- **no sum carries**: no two of the values of those bits, and of the start, have a bit in common, so that ``+`` is the
  exclusive-or; and
- X subtracts no base offset, which borrows.

X is linear too, and so is the whole. *Theorem.* Two such maps, on one set of bits, agree everywhere if and only if they
agree at 0 and at each bit alone. A digit whose step is on both sides the same multiple of the period of both
exclusive-ors need be no power of two and may carry: X(v + t*period) = X(v) + t*period, so it moves both sides alike.

Where a condition does not hold, nothing is concluded from agreement (``None``: enumerate); a disagreement is one.

Law: a verdict is that of the walk over all coordinates.

>>> from itertools import product
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

from descriptors.theorem.affine import Affine, at
from descriptors.theorem.digits import common


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
