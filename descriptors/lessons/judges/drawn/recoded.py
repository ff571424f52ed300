"""Judges of swizzles as functions: the same places, or the same places counted in another unit.

Law: a swizzle of bytes and one of elements are right together if they move each element to the same bytes.

>>> same_swizzle("S<3,4,3>", "S<3,4,3>"), same_swizzle("S<2,4,3>", "S<3,4,3>")
(None, 'leaves bit 6 of 512 as it is: 512 goes to 512, must go to 576')
>>> in_elements("S<3,3,3>", "S<3,4,3>", 2), in_elements("S<3,4,3>", "S<3,4,3>", 2)
(None, 'moves element 64 to 64, must be 72')
"""

from __future__ import annotations

from collections.abc import Callable

from descriptors.errors import DescriptorError
from layoutalg import Swizzle, evaluate

#: Bits of the numbers that are compared; a swizzle is determined by the powers of two.
BITS = 20


def _swizzle(text: str) -> Swizzle:
    value = evaluate(text)
    if not isinstance(value, Swizzle):
        raise DescriptorError(f"course: it must be a swizzle, as S<3,4,3>, found {text}")
    return value


def same_swizzle(answer: str, wanted: str) -> str | None:
    """A swizzle that moves every number as another does."""
    mine, right = _swizzle(answer), _swizzle(wanted)
    for bit in range(BITS):
        number = 1 << bit
        if mine(number) != right(number):
            where = (mine(number) ^ right(number)).bit_length() - 1
            does = "changes" if mine(number) >> where & 1 else "leaves"
            end = "" if does == "changes" else " as it is"
            return f"{does} bit {where} of {number}{end}: {number} goes to {mine(number)}, must go to {right(number)}"
    return None


def in_elements(answer: str, of_bytes: str, element_bytes: int) -> str | None:
    """The swizzle of offsets in elements that does what a swizzle of bytes does."""
    mine, right = _swizzle(answer), _swizzle(of_bytes)
    for bit in range(BITS):
        number = 1 << bit
        if mine(number) * element_bytes != right(number * element_bytes):
            return f"moves element {number} to {mine(number)}, must be {right(number * element_bytes) // element_bytes}"
    return None


#: The judges, by the name that an exercise gives.
JUDGES: dict[str, Callable[..., str | None]] = {"same swizzle": same_swizzle, "unit of elements": in_elements}
