"""Extents and strides that hold symbols: integer polynomials in positive integer symbols.

A :class:`Polynomial` stands for one integer for each choice of its symbols, all of them integers of at least 1. It
computes like an integer, and answers like one where the answer is the same for *every* choice; where it is not, it
raises :class:`UndecidedError` and names the fact that is missing. Two exceptions: ``==`` asks whether two are the same
polynomial, and ``bool`` is that of a number that is not the constant 0, so that both always answer.

Law: for any values, ``substitute(op(p, q)) == op(substitute(p), substitute(q))`` for each operator that returns.
sympy expressions come in and go out (``Polynomial.of``, ``sympify``); the arithmetic itself does not need sympy.

>>> m, k = Polynomial.symbol("m"), Polynomial.symbol("k")
>>> all(int((m + 2 * k * m).substitute({"m": a, "k": b})) == a + 2 * b * a for a in (1, 2, 5) for b in (1, 3))
True
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import index
from typing import Any, TypeAlias

from layoutalg.errors import LayoutError, UndecidedError, brief
from layoutalg.tuples.deciding import divided, signs
from layoutalg.tuples.frozen import Value
from layoutalg.tuples.terms import (
    Monomial,
    Term,
    Terms,
    added,
    constant,
    from_sympy,
    multiplied,
    ordered,
    power,
    scaled,
    substituted,
    to_sympy,
    written,
)

#: A number, or one that symbols stand in.
Integer: TypeAlias = "int | Polynomial"


def symbol(name: str) -> Polynomial:
    """A symbol for a positive integer, which extents and strides may hold.

    Args:
        name: as it is to be printed.

    Raises:
        LayoutError: if the name is no text, or empty.

    >>> m = symbol("m")
    >>> print(8 * m, 2 * m < 1)
    8*m False
    >>> 8 * m + 2
    8*symbol('m')+2
    """
    if not isinstance(name, str) or not name:
        raise LayoutError(f"symbol: must have a name, found {brief(name)}")
    return _polynomial(((((name, 1),), 1),))


def _powers(monomial: Any) -> Monomial:
    """A product of powers in its one form: each symbol once, by name, with a positive power."""
    powers: dict[str, int] = {}
    for name, exponent in monomial:
        if not isinstance(name, str) or index(exponent) < 1:
            raise ValueError
        powers[name] = powers.get(name, 0) + index(exponent)
    return tuple(sorted(powers.items()))


class Polynomial(Value):
    """An integer polynomial that is no constant (a constant is an ``int``): arithmetic on :func:`symbol` makes it.

    Args:
        terms: the monomials with their coefficients, each a product of powers of symbols.

    Raises:
        LayoutError: if they add up to a constant.

    >>> from sympy import symbols
    >>> m = Polynomial.of(symbols("m", positive=True, integer=True))
    >>> print(8 * m * m + 2 * m, 8 * m // 4, 8 * m < 4)
    8*m**2+2*m 2*m False
    >>> m % 2
    Traceback (most recent call last):
    layoutalg.errors.UndecidedError: cannot decide whether 2 divides m; give it as 2*m if it does
    """

    __slots__ = ("terms",)
    terms: Terms

    def __init__(self, terms: Iterable[Term]) -> None:
        coefficients: dict[Monomial, int] = {}
        try:
            for monomial, c in terms:
                powers = _powers(monomial)
                coefficients[powers] = coefficients.get(powers, 0) + index(c)
        except (TypeError, ValueError):
            raise LayoutError(
                f"Polynomial: terms must be pairs of a product of powers and its coefficient, found {brief(terms)}"
            ) from None
        found = ordered(coefficients)
        if not found or not found[0][0]:
            raise LayoutError(f"Polynomial: terms must hold a symbol, found {written(found, str) or 0}")
        _set_terms(self, found)

    @staticmethod
    def of(value: Any) -> Integer:
        """An integer or polynomial from a sympy expression.

        Raises:
            LayoutError: if it is no polynomial with integer coefficients, or a symbol is not declared as a positive
                integer.
        """
        return _number(from_sympy(value))

    @staticmethod
    def symbol(name: str) -> Polynomial:
        """The polynomial that is one symbol: :func:`symbol`.

        >>> print(2 * Polynomial.symbol("k"))
        2*k
        """
        return symbol(name)

    def _sympy_(self) -> Any:
        """The sympy expression (sympy calls this itself)."""
        return to_sympy(self.terms)

    def substitute(self, values: Mapping[str, Integer]) -> Integer:
        """The value for given symbols; others stay.

        >>> Polynomial.symbol("m").substitute({"m": 4})
        4
        """
        return _number(substituted(self.terms, {name: _terms(value) for name, value in values.items()}))

    def symbols(self) -> set[str]:
        """The names of its symbols."""
        return {name for monomial, _ in self.terms for name, _ in monomial}

    # Ring operations: exact.

    def __add__(self, other: Integer) -> Integer:
        return _number(added(self.terms, _terms(other)))

    __radd__ = __add__

    def __mul__(self, other: Integer) -> Integer:
        if type(other) is int:
            return _number(scaled(self.terms, other))
        if not isinstance(other, Polynomial):
            return NotImplemented
        return _number(multiplied(self.terms, other.terms))

    __rmul__ = __mul__

    def __neg__(self) -> Polynomial:
        return _polynomial(scaled(self.terms, -1))

    def __sub__(self, other: Integer) -> Integer:
        return self + other * -1

    def __rsub__(self, other: Integer) -> Integer:
        return self * -1 + other

    def __pow__(self, exponent: int) -> Integer:
        return _number(power(self.terms, exponent))

    def __abs__(self) -> Polynomial:
        return -self if self < 0 else self

    # Division: exact, or with a remainder that is known to be one.

    def __divmod__(self, divisor: Integer) -> tuple[Integer, Integer]:
        return _divided(self, divisor)

    def __rdivmod__(self, number: Integer) -> tuple[Integer, Integer]:
        return _divided(number, self)

    def __mod__(self, divisor: Integer) -> Integer:
        return _divided(self, divisor)[1]

    def __rmod__(self, number: Integer) -> Integer:
        return _divided(number, self)[1]

    def __floordiv__(self, divisor: Integer) -> Integer:
        return _divided(self, divisor)[0]

    def __rfloordiv__(self, number: Integer) -> Integer:
        return _divided(number, self)[0]

    # Comparison: decided for all values, or an error.

    def __lt__(self, other: Integer) -> bool:
        return _less(self, other)

    def __gt__(self, other: Integer) -> bool:
        return _less(other, self)

    def __le__(self, other: Integer) -> bool:
        return not _less(other, self)

    def __ge__(self, other: Integer) -> bool:
        return not _less(self, other)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Polynomial) and self.terms == other.terms

    def __hash__(self) -> int:
        return hash(self.terms)

    def __str__(self) -> str:
        return written(self.terms, str)

    def __repr__(self) -> str:
        return written(self.terms, "symbol({!r})".format)


# The slot itself, as a frozen class has no setter: object.__setattr__ takes longer to find it.
_set_terms = Polynomial.__dict__["terms"].__set__


def _polynomial(terms: Terms) -> Polynomial:
    """The polynomial of terms that are known to be in order and no constant."""
    result = object.__new__(Polynomial)
    _set_terms(result, terms)
    return result


def _number(terms: Terms) -> Integer:
    """The polynomial of ordered terms; an ``int`` if it is a constant."""
    if not terms:
        return 0
    if not terms[0][0]:  # the constant comes last, so that it stands alone here
        return terms[0][1]
    return _polynomial(terms)


def _terms(value: Integer) -> Terms:
    return value.terms if isinstance(value, Polynomial) else constant(value)


def same(a: Integer, b: Integer) -> bool:
    """Whether two integers or polynomials are equal for all values of their symbols.

    Raises:
        UndecidedError: if they are equal for some values and may differ for others.

    >>> m = Polynomial.symbol("m")
    >>> same(8 * m, 4 * m + 4 * m), same(8 * m, 4)
    (True, False)
    """
    if a == b:
        return True
    least, greatest = signs(_terms(a - b))
    if least > 0 or greatest < 0:
        return False
    raise UndecidedError(f"cannot decide whether {a} equals {b}")


def _less(a: Integer, b: Integer) -> bool:
    least, greatest = signs(_terms(b - a))
    if least > 0:
        return True
    if greatest <= 0:
        return False
    raise UndecidedError(f"cannot decide whether {a} is less than {b}")


def _divided(number: Integer, divisor: Integer) -> tuple[Integer, Integer]:
    quotient, remainder = divided(_terms(number), _terms(divisor))
    return _number(quotient), _number(remainder)
