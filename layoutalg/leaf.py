"""Arithmetic on one extent or stride: the only module that knows what a leaf may be.

A leaf is a plain ``int`` of at most 64 bits, as in CuTe. Every decision that the algebra takes about an extent
("does a divide b", "is it one") goes through a function of this module, so that another kind of leaf needs a change
here and nowhere else. Integers come first in each function: they pay one type test.
"""

from __future__ import annotations

from operator import index as _index
from typing import Any

from layoutalg.errors import LayoutError

#: Largest magnitude of an extent, a stride or an offset: CuTe's widest integer is 64 bits, signed.
LIMIT = 2**63 - 1

#: Deepest nesting of a shape. Real layouts stay below five; the bound keeps recursion away from the interpreter's.
MAX_DEPTH = 64


def as_int(value: Any, what: str) -> int:
    """Return ``value`` as a plain ``int`` within 64 bits.

    Args:
        value: anything that Python accepts as an index (numpy integers included), but not a ``bool``.
        what: the subject of the error message, e.g. ``"Layout: an extent"``.

    Raises:
        LayoutError: if it is no integer, or does not fit 64 bits.

    >>> as_int(8, "Layout: an extent")
    8
    """
    if type(value) is not int:
        if isinstance(value, bool):
            raise LayoutError(f"{what} must be an integer, found {value!r}")
        try:
            value = _index(value)
        except TypeError:
            raise LayoutError(f"{what} must be an integer, found {_brief(value)}") from None
    if -LIMIT <= value <= LIMIT:
        return int(value)
    raise LayoutError(f"{what} must fit 64 bits, found a number of {value.bit_length()} bits")


def divides(divisor: int, number: int) -> bool:
    """Whether ``number`` is a multiple of ``divisor``; everything divides 0, and 0 divides only 0.

    >>> divides(4, 12), divides(5, 12), divides(0, 0)
    (True, False, True)
    """
    return number % divisor == 0 if divisor else number == 0


def ceil_div(number: int, divisor: int) -> int:
    """The least number of ``divisor``-sized pieces that cover ``number``.

    >>> ceil_div(12, 5)
    3
    """
    return -(-number // divisor)


def is_one(extent: int) -> bool:
    """Whether an extent is 1, so that its stride is never used.

    >>> is_one(1)
    True
    """
    return extent == 1


def _brief(value: object) -> str:
    """``repr`` of something a caller got wrong, short enough for one line."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
