"""Arithmetic on one extent or stride: the only module that knows what a leaf may be.

A leaf is a plain ``int`` of at most 64 bits, as in CuTe, or a :class:`~layoutalg.tuples.polynomial.Polynomial` in
symbols that stand for positive integers (a sympy expression becomes one). Every decision that the algebra takes about
an extent ("does a divide b", "is it less") goes through a function of this module or an operator of the polynomial; one
that has no single answer for all values of the symbols raises :class:`UndecidedError`, which names the fact that is
missing. Integers come first in each function: they pay one type test.

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

#: Deepest nesting of a shape. Real layouts stay below five; the bound keeps recursion away from the interpreter's.
MAX_DEPTH = 64


def as_int(value: object, what: str) -> int:
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
            value = _index(value)  # type: ignore[arg-type]  # whether it is one, it says itself
        except TypeError:
            raise LayoutError(f"{what} must be an integer, found {brief(value)}") from None
    if -LIMIT <= value <= LIMIT:
        return int(value)
    raise LayoutError(f"{what} must fit 64 bits, found a number of {value.bit_length()} bits")


def as_flag(value: object, what: str) -> bool:
    """Return ``value`` if it is True or False: what is merely true by accident is a mistake.

    Raises:
        LayoutError: if it is neither.

    >>> as_flag(True, "access: store")
    True
    """
    if not isinstance(value, bool):
        raise LayoutError(f"{what} must be True or False, found {brief(value)}")
    return value


def as_leaf(value: object, what: str) -> Integer:
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
        return number if isinstance(number, Polynomial) else as_int(number, what)
    return as_int(value, what)


def need_int(value: Integer, what: str) -> int:
    """The value itself if it is an ``int``; for a computation that runs over numbers.

    Raises:
        UndecidedError: for a polynomial.
    """
    if isinstance(value, Polynomial):
        raise UndecidedError(f"{what} must be a number, found {value}; substitute its symbols first")
    return value


def has_symbols(leaves: Iterable[object]) -> bool:
    """Whether any of these leaves holds symbols."""
    for leaf in leaves:
        if type(leaf) is not int and isinstance(getattr(leaf, "value", leaf), Polynomial):
            return True
    return False


def divides(divisor: Integer, number: Integer) -> bool:
    """Whether ``number`` is a multiple of ``divisor``; everything divides 0, and 0 divides only 0.

    Raises:
        UndecidedError: if it depends on the values of symbols.

    >>> divides(4, 12), divides(5, 12), divides(0, 0)
    (True, False, True)
    >>> m = Polynomial.symbol("m")
    >>> divides(8, 16 * m), divides(8, 16 * m + 3)
    (True, False)
    """
    return bool(number % divisor == 0) if divisor else number == 0


def equal(a: Integer, b: Integer) -> bool:
    """Whether two leaves are equal, where a wrong "no" would be a wrong result.

    Raises:
        UndecidedError: if it depends on the values of symbols.
    """
    return a == b if type(a) is int and type(b) is int else same(a, b)


def surely_less(a: Integer, b: Integer) -> bool:
    """Whether ``a < b`` is known; where it depends on the values of symbols, the answer is no."""
    try:
        return bool(a < b)
    except UndecidedError:
        return False


def need_steps(extent: Integer) -> None:
    """Refuse an extent that is 1 for some values of its symbols, where that makes a difference.

    Raises:
        UndecidedError: naming the extent.

    >>> need_steps(2 * Polynomial.symbol("m"))
    """
    if type(extent) is not int and not surely_less(1, extent):
        raise UndecidedError(f"cannot decide whether {extent} is 1; give it as {extent}+1 if it is not")


def ceil_div(number: Integer, divisor: Integer) -> Integer:
    """The least number of ``divisor``-sized pieces that cover ``number``.

    Raises:
        UndecidedError: if the symbols leave the remainder open.

    >>> print(ceil_div(12, 5), ceil_div(8 * Polynomial.symbol("m"), 4))
    3 2*m
    """
    return -(-number // divisor)


def is_one(extent: Integer) -> bool:
    """Whether an extent is 1 for all values of its symbols, so that its stride is never used.

    >>> is_one(1), is_one(Polynomial.symbol("m"))
    (True, False)
    """
    return bool(extent == 1)
