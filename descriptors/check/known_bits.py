"""What is known of a register's value: bits, and a distance from a value that is not known.

``Known(value, mask, base, offset)``: the bits of ``mask`` have the values in ``value``; and the whole is ``base`` plus
``offset``, where ``base`` names something that is the same each time it is named. Arithmetic keeps both if it can.
Source: the algebra of known bits, as compilers have it; its judge is enumeration.

Law: whatever two values are, within what is known of them, the result is within what is known of the result.

>>> from itertools import product
>>> masks = [(value, mask) for mask in range(8) for value in range(8) if value & ~mask == 0]
>>> def held(known): return [n for n in range(8) if n & known.mask == known.value]
>>> def sound(rule, real): return all(real(x, y) & 7 & r.mask == r.value for a, b in product(masks, masks)
...     for r in [rule(Known(*a), Known(*b), 3)] for x in held(Known(*a)) for y in held(Known(*b)))
>>> sound(add, int.__add__), sound(subtract, int.__sub__), sound(both, int.__and__), sound(either, int.__or__)
(True, True, True, True)
"""

from __future__ import annotations

from typing import NamedTuple


class Known(NamedTuple):
    """What is known of a value.

    Args:
        value: the known bits; 0 where nothing is known.
        mask: which bits are known.
        base: what the value is counted from; "" for nothing that has a name, or for a constant.
        offset: the value less that base.
    """

    value: int
    mask: int
    base: str = ""
    offset: int = 0

    def constant(self, bits: int) -> int | None:
        """The value, if all its bits are known.

        >>> Known(5, 0xFF).constant(8), Known(5, 0x0F).constant(8)
        (5, None)
        """
        full = (1 << bits) - 1
        return self.value & full if self.mask & full == full else None


NOTHING = Known(0, 0)


def exactly(value: int, bits: int = 64) -> Known:
    """A constant; bits above its width are known to be zero.

    >>> exactly(-1, 32).value == 0xFFFFFFFF
    True
    """
    return Known(value & ((1 << bits) - 1), (1 << 64) - 1)


def narrow(one: Known, bits: int) -> Known:
    """The low bits, the rest zero."""
    low = (1 << bits) - 1
    high = ((1 << 64) - 1) & ~low
    kept = one.base if one.base and (bits == 64 or (one.mask & high == high and not one.value & high)) else ""
    return Known(one.value & low, one.mask & low | high, kept, one.offset if kept else 0)


def add(a: Known, b: Known, bits: int, carry: int = 0) -> Known:
    """The sum, in so many bits."""
    low = (1 << bits) - 1
    most_a, most_b = a.value | low & ~a.mask, b.value | low & ~b.mask  # the largest that each can be
    most = (most_a & low) + (most_b & low) + carry
    least = (a.value & low) + (b.value & low) + carry
    # A bit is known where both operands' bits and the carry into it are.
    carry_zero, carry_one = ~(most ^ most_a ^ most_b), least ^ a.value ^ b.value
    mask = a.mask & b.mask & (carry_zero | carry_one) & low
    value = least & mask
    base, offset = _moved(a, b, carry, bits)
    return Known(value, mask | (((1 << 64) - 1) & ~low), base, offset)


def _moved(a: Known, b: Known, carry: int, bits: int) -> tuple[str, int]:
    for one, other in ((a, b), (b, a)):
        if one.base and (by := other.constant(bits)) is not None:
            signed = by - (1 << bits) if by >> (bits - 1) else by
            return one.base, one.offset + signed + carry
    return "", 0


def subtract(a: Known, b: Known, bits: int) -> Known:
    """The difference, in so many bits."""
    by = b.constant(bits)
    if by is not None:
        return add(a, exactly(-by, bits), bits)
    low = (1 << bits) - 1
    inverse = Known(~b.value & b.mask & low, b.mask & low)
    return add(a, inverse, bits, 1)


def both(a: Known, b: Known, bits: int) -> Known:
    """Bitwise and."""
    low = (1 << bits) - 1
    ones = a.value & b.value
    zeros = a.mask & ~a.value | b.mask & ~b.value
    made = Known(ones & low, (ones | zeros) & low | (((1 << 64) - 1) & ~low))
    return _same(made, a, b)


def either(a: Known, b: Known, bits: int) -> Known:
    """Bitwise or; of operands without a common bit it is the sum."""
    low = (1 << bits) - 1
    ones = a.value | b.value
    zeros = a.mask & ~a.value & b.mask & ~b.value
    if low & ~(a.mask & ~a.value | b.mask & ~b.value) == 0:
        base, offset = _moved(a, b, 0, bits)
    else:
        base, offset = "", 0
    return Known(ones & low, (ones | zeros) & low | (((1 << 64) - 1) & ~low), base, offset)


def differ(a: Known, b: Known, bits: int) -> Known:
    """Bitwise exclusive or."""
    low = (1 << bits) - 1
    mask = a.mask & b.mask & low
    return Known((a.value ^ b.value) & mask, mask | (((1 << 64) - 1) & ~low))


def _same(made: Known, a: Known, b: Known) -> Known:
    """An ``and`` that takes no bit away leaves what it was; one of low bits alone leaves it modulo those."""
    for one, other in ((a, b), (b, a)):
        if one.base and (~one.mask | one.value) & ~(other.value & other.mask) == 0:
            return made._replace(base=one.base, offset=one.offset)
        kept = other.constant(64)
        bits = kept.bit_length() if kept else 0
        if one.base and kept and (kept | one.mask & ~one.value) & (1 << bits) - 1 == (1 << bits) - 1:
            return made._replace(base=f"{one.base}%{bits}", offset=one.offset)
    return made


def shift_left(a: Known, by: int, bits: int) -> Known:
    """Moved up, zeros below.

    >>> shift_left(exactly(3), 2, 8).value
    12
    """
    low = (1 << bits) - 1
    if by >= bits:
        return exactly(0)
    return Known(a.value << by & low, (a.mask << by | (1 << by) - 1) & low | (((1 << 64) - 1) & ~low))


def shift_right(a: Known, by: int, bits: int) -> Known:
    """Moved down, zeros above.

    >>> shift_right(Known(0x30, 0xF0), 4, 8) == Known(3, (1 << 64) - 1)
    True
    """
    low = (1 << bits) - 1
    if by >= bits:
        return exactly(0)
    above, lost = ((1 << 64) - 1) & ~(low >> by), (1 << by) - 1
    made = Known((a.value & low) >> by, (a.mask & low) >> by | above)
    # A multiple of the step that is lost is moved as a whole, whatever it is added to.
    if a.base and not a.offset & lost:
        return made._replace(base=f"{a.base}>>{by}", offset=a.offset >> by)
    return made


def modulo(one: Known, bits: int) -> Known:
    """The low bits of a value; its distance from a base is then one modulo ``2**bits``, and the base says so.

    >>> modulo(Known(0, 0, "r", 5), 14)[2:]
    ('r%14', 5)
    """
    made = narrow(one, bits)
    return made if made.base or not one.base else made._replace(base=f"{one.base}%{bits}", offset=one.offset)


def meet(a: Known, b: Known) -> Known:
    """What is known of a value that is one or the other.

    >>> meet(exactly(4), exactly(6)).mask == (1 << 64) - 3
    True
    """
    if a == b:
        return a
    mask = a.mask & b.mask & ~(a.value ^ b.value)
    same = a.base if a.base == b.base and a.offset == b.offset else ""
    return Known(a.value & mask, mask, same, a.offset if same else 0)
