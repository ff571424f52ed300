"""Arithmetic on one leaf (an extent or a stride), which is an integer or a polynomial.

A leaf is a plain ``int`` of at most 64 bits, as in CuTe, or a :class:`~layoutalg.tuples.polynomial.Polynomial` in
symbols that represent positive integers (a sympy expression is converted to one). Every decision of the algebra about
an extent ("does a divide b", "is a less than b") uses a function of this module or an operator of the polynomial. If a
decision depends on the values of the symbols, it raises :class:`UndecidedError`, which names the missing fact. Each
function handles integers first, so that they cost only one type test.

>>> [n for n in range(1, 13) if divides(n, 12)], ceil_div(7, 2)
([1, 2, 3, 4, 6, 12], 4)
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import index as _index

from layoutalg.errors import LayoutError, UndecidedError, brief
from layoutalg.tuples.polynomial import Integer, Polynomial, same

__all__ = [
    "LIMIT",
    "MAX_DEPTH",
    "Polynomial",
    "as_flag",
    "as_int",
    "as_leaf",
    "ceil_div",
    "divides",
    "equal",
    "has_symbols",
    "is_one",
    "need_int",
    "need_steps",
    "surely_less",
]

#: Largest magnitude of an extent, a stride or an offset: CuTe's widest integer is 64 bits, signed.
LIMIT = 2**63 - 1

#: Deepest nesting of a shape. Real layouts have less than five levels. The bound is far below Python's recursion limit.
MAX_DEPTH = 64


def as_int(value: object, subject: str) -> int:
    """Return ``value`` as a plain ``int`` within 64 bits.

    Args:
        value: anything that Python accepts as an index (numpy integers included), but not a ``bool``.
        subject: the beginning of the error message, e.g. ``"Layout: an extent"``.

    Raises:
        LayoutError: if the value is not an integer, or does not fit in 64 bits.

    >>> as_int(8, "Layout: an extent")
    8
    """
    if type(value) is not int:
        if isinstance(value, bool):
            raise LayoutError(f"{subject} is {value!r}, which is not an integer")
        try:
            value = _index(value)  # type: ignore[arg-type]  # raises a TypeError if it is not an integer
        except TypeError:
            raise LayoutError(f"{subject} is {brief(value)}, which is not an integer") from None
    if -LIMIT <= value <= LIMIT:
        return int(value)
    raise LayoutError(f"{subject} is a number of {value.bit_length()} bits, beyond the limit of 2**63 - 1")


def as_flag(value: object, subject: str) -> bool:
    """Return ``value`` if it is True or False. Other values that Python treats as true are most likely mistakes.

    Raises:
        LayoutError: if the value is not a bool.

    >>> as_flag(True, "access: store")
    True
    """
    if not isinstance(value, bool):
        raise LayoutError(f"{subject} is {brief(value)}, which is neither True nor False")
    return value


def as_leaf(value: object, subject: str) -> Integer:
    """Return ``value`` as an ``int`` within 64 bits, or as a polynomial if it is one or a sympy expression.

    Raises:
        LayoutError: if it is neither, or a symbol in it is not declared as a positive integer.

    >>> from sympy import symbols
    >>> print(as_leaf(8 * symbols("m", positive=True, integer=True), "Layout: an extent"))
    8*m
    """
    if isinstance(value, Polynomial):
        return value
    if hasattr(value, "free_symbols"):
        number = Polynomial.of(value)
        return number if isinstance(number, Polynomial) else as_int(number, subject)
    return as_int(value, subject)


def need_int(value: Integer, subject: str) -> int:
    """Return the value itself if it is an ``int``, for a computation that needs numbers.

    Raises:
        UndecidedError: if the value is a polynomial.
    """
    if isinstance(value, Polynomial):
        raise UndecidedError(f"{subject} is {value}, which contains symbols; give numbers for them")
    return value


def has_symbols(leaves: Iterable[object]) -> bool:
    """Check if any of these leaves contains symbols."""
    for leaf in leaves:
        if type(leaf) is not int and isinstance(getattr(leaf, "value", leaf), Polynomial):
            return True
    return False


def divides(divisor: Integer, number: Integer) -> bool:
    """Check if ``number`` is a multiple of ``divisor``. Every number divides 0, and 0 divides only 0.

    Raises:
        UndecidedError: if the answer depends on the values of symbols.

    >>> divides(4, 12), divides(5, 12), divides(0, 0)
    (True, False, True)
    >>> m = Polynomial.symbol("m")
    >>> divides(8, 16 * m), divides(8, 16 * m + 3)
    (True, False)
    """
    return bool(number % divisor == 0) if divisor else number == 0


def equal(a: Integer, b: Integer) -> bool:
    """Check if two leaves are equal for all values of their symbols; for use where a wrong "no" gives a wrong result.

    Raises:
        UndecidedError: if the answer depends on the values of symbols.
    """
    return a == b if type(a) is int and type(b) is int else same(a, b)


def surely_less(a: Integer, b: Integer) -> bool:
    """Check if ``a < b`` is known; return False if that depends on the values of symbols."""
    try:
        return bool(a < b)
    except UndecidedError:
        return False


def need_steps(extent: Integer) -> None:
    """Check that an extent is greater than 1 for all values of its symbols; a number passes, whatever it is.

    Raises:
        UndecidedError: if the extent is, or may be, 1 for some values.

    >>> need_steps(2 * Polynomial.symbol("m"))
    """
    if type(extent) is not int and not surely_less(1, extent):
        raise UndecidedError(f"cannot decide whether {extent} is 1; give it as {extent}+1 if it is not")


def ceil_div(number: Integer, divisor: Integer) -> Integer:
    """Return the quotient, rounded up to the next integer.

    Raises:
        UndecidedError: if the remainder depends on the values of symbols.

    >>> print(ceil_div(12, 5), ceil_div(8 * Polynomial.symbol("m"), 4))
    3 2*m
    """
    return -(-number // divisor)


def is_one(extent: Integer) -> bool:
    """Check if an extent is 1 for all values of its symbols, so that its stride is never used.

    >>> is_one(1), is_one(Polynomial.symbol("m"))
    (True, False)
    """
    return bool(extent == 1)
