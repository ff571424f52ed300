"""The proof without enumeration: when a stored tile and what the tensor core reads of it are one map.

Both are affine over mixed-radix digits, with one exclusive-or after the sum (``affine``). In words:

*Theorem.* Let both sides be ``X(start + f1(c1) + f2(c2) + ...)``, each f a map over digits of the index of one mode,
over the same indices. If X is the same on both sides, they agree at every coordinate if and only if the starts agree
and, mode by mode, the maps over digits do - which their values on a basis decide (``digits``).
*Proof.* X is a bijection: it leaves alone the bits that it reads, so that it is its own inverse. So the sums agree. At
coordinate 0 they are the starts; with all indices but one 0 they are the starts and that mode's map.

Conditions, and what happens where one does not hold:

- *Digits.* The walk of the hardware is a map over whole digits where the operand's extents are whole multiples of its
  pieces, or end before the first does (``walk_model``). Extents need be no powers of two, and sums may carry: these
  are sums of integers, and X comes after. Otherwise: enumerate.
- *One exclusive-or.* The word's swizzle must be that of the tile, and the base offset 0 as far as X reads it. Otherwise
  both sides are compared bit by bit over GF(2), which asks that no sum carries (``bits``); else: enumerate.
- *Alignment and base.* A tile at address b that starts its own pattern lies at b + tile(c). A word that starts b later,
  with base offset b/128 mod 8, reads from b + what the first word read, wherever b is a multiple of 128: the low seven
  bits are left alone, and X reads line numbers less b/128. At multiples of the pattern's alignment the base offset is 0
  for the pattern does not see b. Without a swizzle b is a multiple of 16, all that the start address can say.
- *Start address bits.* The hardware's sum is not taken modulo 2**18, and neither is the map: what is proved holds for
  bases from which every start address fits its 14 bits, and every address the window; whoever asks checks that.

With symbols for positive integers in extents, steps and starts, the same digits prove the maps equal for all values.

Law: two maps under one exclusive-or agree iff they agree wherever they are compared; a refutation is concrete.

>>> xor = (2, 0, 2)
>>> tile = Affine(0, [[(3, 4), (2, 12)], [(4, 1)]], xor)
>>> agreement(tile, Affine(0, [[(6, 4)], [(2, 1), (2, 2)]], xor))
Verdict(outcome='equal', at=())
>>> told = agreement(tile, Affine(0, [[(3, 4), (2, 16)], [(4, 1)]], xor))
>>> told, at(tile, told.at) == at(Affine(0, [[(3, 4), (2, 16)], [(4, 1)]], xor), told.at)
(Verdict(outcome='different', at=(3, 0)), False)
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from descriptors.theorem import bits
from descriptors.theorem.affine import Affine, at
from descriptors.theorem.digits import first_difference, normal

__all__ = ["Affine", "Verdict", "agreement", "agreement_for_all", "at"]


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
    found = bits.differing(stored, fetched)
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
