"""The class ``Swizzle``, which xors one bit field of an offset into another one.

``Swizzle(bits, base, shift)`` takes the field of ``bits`` bits at position ``base + shift`` and xors it into the field
at position ``base`` (for a negative shift, from ``base`` into ``base - shift``). The lowest ``base`` bits never change,
so runs of ``2**base`` elements stay together.

Invariant: a swizzle is a bijection, it is its own inverse, and it is linear over xor: ``s(x ^ y) == s(x) ^ s(y)``.
Source: CUTLASS ``include/cute/swizzle.hpp``; article "Decoding Swizzle<B,M,S>", section 4.

>>> s = Swizzle(3, 4, 3)
>>> all(s(s(x)) == x and s(x ^ 77) == s(x) ^ s(77) for x in range(1024)), len(set(map(s, range(1024))))
(True, 1024)
"""

from __future__ import annotations

from layoutalg.errors import LayoutError
from layoutalg.frozen import fix, frozen
from layoutalg.tuples.leaf import as_int, need_int


@frozen
class Swizzle:
    """The permutation ``S<bits,base,shift>`` of non-negative offsets, in the unit of the offset.

    Args:
        bits: width of the field, in bits; 0 is the identity.
        base: number of low bits left alone.
        shift: distance from the target field to the source field; ``abs(shift) >= bits``, so that they do not overlap.

    Raises:
        LayoutError: if bits or base is negative, or the fields overlap or need more than 63 bits.

    >>> Swizzle(3, 4, 3)(0b1_000_0000)
    144
    >>> print(Swizzle(3, 4, 3))
    S<3,4,3>
    """

    bits: int
    base: int
    shift: int

    def __init__(self, bits: int, base: int, shift: int) -> None:
        fix(
            self,
            bits=as_int(bits, "Swizzle: bits"),
            base=as_int(base, "Swizzle: base"),
            shift=as_int(shift, "Swizzle: shift"),
        )
        if self.bits < 0 or self.base < 0:
            raise LayoutError(f"Swizzle: {self} has a negative number of bits or a negative base")
        if abs(self.shift) < self.bits:
            raise LayoutError(
                f"Swizzle: the two fields of {self} overlap, because abs(shift) is less than bits "
                f"({abs(self.shift)} < {self.bits})"
            )
        needed = self.bits + self.base + abs(self.shift)
        if needed > 63:
            raise LayoutError(f"Swizzle: the fields of {self} need {needed} bits, but an offset has 63")

    @property
    def source_mask(self) -> int:
        """The bits that are read (CuTe's YYY).

        >>> bin(Swizzle(3, 4, 3).source_mask)
        '0b1110000000'
        """
        return ((1 << self.bits) - 1) << (self.base + max(0, self.shift))

    @property
    def target_mask(self) -> int:
        """The bits that change (CuTe's ZZZ).

        >>> bin(Swizzle(3, 4, 3).target_mask)
        '0b1110000'
        """
        return ((1 << self.bits) - 1) << (self.base - min(0, self.shift))

    def __call__(self, offset: int) -> int:
        """Return the swizzled offset, in the unit of ``offset``.

        Raises:
            LayoutError: if the offset is not an integer, unless the swizzle is the identity.
        """
        if type(offset) is not int:
            if not self.bits:
                return offset
            offset = as_int(need_int(offset, "swizzle: an offset"), "swizzle: an offset")
        source = offset & self.source_mask
        return offset ^ (source >> self.shift if self.shift >= 0 else source << -self.shift)

    def __str__(self) -> str:
        return f"S<{self.bits},{self.base},{self.shift}>"
