"""Partial knowledge of a register's value: known bits, and a distance from an unknown value.

In ``Known(value, mask, base, offset)`` the bits of ``mask`` have the values in ``value``, and the number is ``base``
plus ``offset`` modulo 2**32, where ``base`` names a value that is the same each time it is named. Arithmetic keeps both
if possible. A value that is one of a few has ``choices``, one for each choice of the value that ``root`` names: if that
has its n-th choice, this value has its n-th, too. The rules in this module ignore choices; ``constant_folding`` applies
a rule to each choice.
Source: the algebra of known bits that compilers use; tested by enumeration.

Invariant: if the operands agree with their known bits, the result agrees with its known bits.

>>> from itertools import product
>>> masks = [(value, mask) for mask in range(8) for value in range(8) if value & ~mask == 0]
>>> def matching(bits): return [n for n in range(8) if n & bits.mask == bits.value]
>>> def sound(rule, real): return all(real(x, y) & 7 & r.mask == r.value for a, b in product(masks, masks)
...     for r in [rule(Known(*a), Known(*b), 3)] for x in matching(Known(*a)) for y in matching(Known(*b)))
>>> sound(add, int.__add__), sound(subtract, int.__sub__), sound(both, int.__and__), sound(either, int.__or__)
(True, True, True, True)
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

#: All bits that a value can have.
ALL = (1 << 64) - 1
#: Largest number of unknown bits of a value whose possible values are enumerated.
FEW = 8


class Known(NamedTuple):
    """Partial knowledge of a value.

    Args:
        value: the known bits; unknown bits are 0.
        mask: which bits are known.
        base: name of the value to which ``offset`` is relative; "" for a constant or if there is none.
        offset: the value minus the base.
        choices: the possible values, in the order of the choices of ``root``; empty if they are not known.
        root: name of the value that determines the choice.
    """

    value: int
    mask: int
    base: str = ""
    offset: int = 0
    choices: tuple[int, ...] = ()
    root: str = ""

    def constant(self, bits: int) -> int | None:
        """Return the low bits of the value if all of them are known, else None.

        >>> Known(5, 0xFF).constant(8), Known(5, 0x0F).constant(8)
        (5, None)
        """
        full = (1 << bits) - 1
        return self.value & full if self.mask & full == full else None

    def values(self, bits: int) -> tuple[int, ...]:
        """Return the possible values of the low bits in ascending order; empty if there may be many.

        >>> exactly(5).values(8), Known(4, 0xFC).values(8), NOTHING.values(9)
        ((5,), (4, 5, 6, 7), ())
        """
        full = (1 << bits) - 1
        if self.choices:
            return tuple(sorted({one & full for one in self.choices}))
        free = [1 << bit for bit in range(bits) if not self.mask >> bit & 1]
        if len(free) > FEW:
            return ()
        free_values = [sum(chosen) for count in range(len(free) + 1) for chosen in combinations(free, count)]
        return tuple(sorted(self.value & full | choice for choice in free_values))


NOTHING = Known(0, 0)


def exactly(value: int, bits: int = 64) -> Known:
    """Return a constant; bits above its width are known to be zero.

    >>> exactly(-1, 32).value == 0xFFFFFFFF
    True
    """
    return Known(value & ((1 << bits) - 1), ALL)


def narrow(operand: Known, bits: int) -> Known:
    """Return the low bits, with zeros above them."""
    low = (1 << bits) - 1
    high = ALL & ~low
    if operand.mask & high == high and not operand.value & high:
        return operand
    if bits == 32 and operand.base[:1] == "&":  # an address in shared memory has only 32 bits
        offset = (operand.offset + (1 << 31) & low) - (1 << 31)  # the offset of a descriptor includes its upper half
        return Known(operand.value & low, operand.mask & low | high, operand.base, offset)
    return Known(operand.value & low, operand.mask & low | high)


def extend(operand: Known, bits: int, to: int) -> Known:
    """Return a signed value extended to more bits.

    >>> extend(exactly(0x80), 8, 16).value == 0xFF80, extend(Known(0, 0x7F), 8, 16).mask & 0xFFFF == 0x7F
    (True, True)
    """
    operand, sign, above = narrow(operand, bits), 1 << (bits - 1), (1 << to) - (1 << bits)
    if not operand.mask & sign:
        return Known(operand.value, operand.mask & ~above)
    return Known(operand.value | above, operand.mask) if operand.value & sign else operand


def add(a: Known, b: Known, bits: int, carry: int = 0) -> Known:
    """Return the sum, with a number of bits."""
    low = (1 << bits) - 1
    most_a, most_b = a.value | low & ~a.mask, b.value | low & ~b.mask  # the largest that each can be
    most = (most_a & low) + (most_b & low) + carry
    least = (a.value & low) + (b.value & low) + carry
    # A bit of the sum is known if the bits of both operands and the carry into it are known.
    carry_zero, carry_one = ~(most ^ most_a ^ most_b), least ^ a.value ^ b.value
    mask = a.mask & b.mask & (carry_zero | carry_one) & low
    value = least & mask
    base, offset = _sum_base(a, b, carry, bits)
    return Known(value, mask | (ALL & ~low), base, offset)


def _sum_base(a: Known, b: Known, carry: int, bits: int) -> tuple[str, int]:
    for operand, other in ((a, b), (b, a)) if bits >= 32 else ():
        if operand.base and (constant := other.constant(bits)) is not None:
            signed = constant - (1 << bits) if constant >> (bits - 1) else constant
            return operand.base, operand.offset + signed + carry
    return "", 0


def subtract(a: Known, b: Known, bits: int) -> Known:
    """Return the difference, with a number of bits."""
    constant = b.constant(bits)
    if constant is not None:
        return add(a, exactly(-constant, bits), bits)
    low = (1 << bits) - 1
    inverse = Known(~b.value & b.mask & low, b.mask & low)
    return add(a, inverse, bits, 1)


def both(a: Known, b: Known, bits: int) -> Known:
    """Return the bitwise and."""
    low = (1 << bits) - 1
    ones = a.value & b.value
    zeros = a.mask & ~a.value | b.mask & ~b.value
    result = Known(ones & low, (ones | zeros) & low | (ALL & ~low))
    return _and_base(result, a, b)


def either(a: Known, b: Known, bits: int) -> Known:
    """Return the bitwise or, which is the sum if the operands have no common bit."""
    low = (1 << bits) - 1
    ones = a.value | b.value
    zeros = a.mask & ~a.value & b.mask & ~b.value
    if low & ~(a.mask & ~a.value | b.mask & ~b.value) == 0:
        base, offset = _sum_base(a, b, 0, bits)
    else:
        base, offset = "", 0
    return Known(ones & low, (ones | zeros) & low | (ALL & ~low), base, offset)


def differ(a: Known, b: Known, bits: int) -> Known:
    """Return the bitwise exclusive or."""
    low = (1 << bits) - 1
    mask = a.mask & b.mask & low
    return Known((a.value ^ b.value) & mask, mask | (ALL & ~low))


def _and_base(result: Known, a: Known, b: Known) -> Known:
    """Return the result of an ``and`` with its base: unchanged if no bit is cleared, modulo 2**n for n low bits."""
    for operand, other in ((a, b), (b, a)):
        if operand.base and (~operand.mask | operand.value) & ~(other.value & other.mask) == 0:
            return result._replace(base=operand.base, offset=operand.offset)
        constant = other.constant(64)
        bits = constant.bit_length() if constant else 0
        if (
            operand.base
            and constant
            and (constant | operand.mask & ~operand.value) & (1 << bits) - 1 == (1 << bits) - 1
        ):
            return result._replace(base=f"{operand.base}%{bits}", offset=operand.offset)
    return result


def shift_left(a: Known, by: int, bits: int) -> Known:
    """Return the value shifted left, with zeros below.

    >>> shift_left(exactly(3), 2, 8).value
    12
    """
    low = (1 << bits) - 1
    if by >= bits:
        return exactly(0)
    return Known(a.value << by & low, (a.mask << by | (1 << by) - 1) & low | (ALL & ~low))


def shift_right(a: Known, by: int, bits: int) -> Known:
    """Return the value shifted right, with zeros above.

    >>> shift_right(Known(0x30, 0xF0), 4, 8) == Known(3, (1 << 64) - 1)
    True
    """
    low = (1 << bits) - 1
    if by == 0:
        return narrow(a, bits)
    if by >= bits:
        return exactly(0)
    above, lost = ALL & ~(low >> by), (1 << by) - 1
    result = Known((a.value & low) >> by, (a.mask & low) >> by | above)
    # An offset that is a multiple of 2**by is shifted exactly, whatever the base is.
    if a.base and not a.offset & lost:
        return result._replace(base=f"{a.base}>>{by}", offset=a.offset >> by)
    return result


def modulo(operand: Known, bits: int) -> Known:
    """Return the low bits of a value, whose distance from its base is then known modulo ``2**bits``.

    >>> modulo(Known(0, 0, "r", 5), 14)[2:4]
    ('r%14', 5)
    """
    result = narrow(operand, bits)
    return (
        result
        if result.base or not operand.base
        else result._replace(base=f"{operand.base}%{bits}", offset=operand.offset)
    )


def multiply(a: Known, b: Known, bits: int) -> Known:
    """Return the product: the low bits that the factors determine, and zeros above the largest possible product.

    >>> multiply(Known(4, ALL & ~0xF0), exactly(3), 64) == Known(12, ALL & ~0x3F0)
    True
    """
    low = (1 << bits) - 1
    for factor, constant in ((a, b.constant(bits)), (b, a.constant(bits))):
        if constant is not None and constant & (constant - 1) == 0:
            return shift_left(factor, constant.bit_length() - 1, bits) if constant else exactly(0)
    known_bits = min(_known_low_bits(a.mask) + _zero_low_bits(b), _known_low_bits(b.mask) + _zero_low_bits(a), bits)
    most = (a.value | low & ~a.mask) * (b.value | low & ~b.mask)
    above = ALL & ~((1 << most.bit_length()) - 1) if most <= low else ALL & ~low
    least = (1 << known_bits) - 1
    return Known(a.value * b.value & least & ~above, least | above)


def _known_low_bits(mask: int) -> int:
    """Return the number of low bits below the first unknown bit."""
    free = ~mask & ALL
    return (free & -free).bit_length() - 1 if free else 64


def _zero_low_bits(operand: Known) -> int:
    """Return the number of low bits that are known to be zero."""
    not_zero = ~(operand.mask & ~operand.value) & ALL
    return (not_zero & -not_zero).bit_length() - 1 if not_zero else 64


def below(most: int) -> Known:
    """Return a value of which only an upper limit is known.

    >>> below(5) == Known(0, ALL & ~7)
    True
    """
    return Known(0, ALL & ~((1 << most.bit_length()) - 1))


def largest(operand: Known) -> int:
    """Return the largest possible value."""
    return operand.value | ALL & ~operand.mask


def insert(field: Known, into: Known, position: int, length: int, bits: int) -> Known:
    """Return a value with some of its bits replaced by the low bits of another.

    >>> insert(exactly(0xFF), exactly(0), 4, 2, 8).value
    48
    """
    hole = ((1 << length) - 1) << position & ((1 << bits) - 1)
    into = narrow(into, bits)
    return Known(into.value & ~hole | field.value << position & hole, into.mask & ~hole | field.mask << position & hole)


def meet(a: Known, b: Known) -> Known:
    """Return the known bits of a value that is one of two.

    >>> meet(exactly(4), exactly(6)).mask == (1 << 64) - 3
    True
    """
    if a is b or a == b:
        return a
    mask = a.mask & b.mask & ~(a.value ^ b.value)
    same = a.base if a.base == b.base and a.offset == b.offset else ""
    return Known(a.value & mask, mask, same, a.offset if same else 0)


#: Largest number of choices of a value.
MOST = 32


def merge(several: Sequence[Known], first: tuple[int, ...] = ()) -> Known:
    """Return the known bits of a value that is one of several.

    Args:
        several: the possible values.
        first: choices that come first, if the result has choices.

    >>> merge([exactly(4), exactly(6)]).choices, merge([exactly(4), NOTHING]).choices
    ((4, 6), ())
    """
    merged = several[0]
    for value in several[1:]:
        merged = meet(merged, value)
    if merged.choices or all(value == several[0] for value in several):
        return several[0]
    choices = dict.fromkeys(first)
    for value in several:
        if not value.choices and value.mask != ALL:
            return merged
        choices.update(dict.fromkeys(value.choices or (value.value,)))
    return merged._replace(choices=tuple(choices)) if 1 < len(choices) <= MOST else merged
