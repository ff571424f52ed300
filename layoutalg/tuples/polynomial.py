"""Integer polynomials in positive integer symbols, for extents and strides that contain symbols.

A :class:`Polynomial` represents one integer for each choice of values for its symbols; the values are integers of at
least 1. It supports the operators of an integer. If a result is not the same for *every* choice, the operator raises
:class:`UndecidedError`, which names the missing fact. Two operators always return: ``==`` checks if two polynomials
have the same terms, and ``bool`` is True.

A polynomial is stored as a *sum*: a tuple of monomials (products of powers of symbols), each with a coefficient other
than 0. The order is fixed: higher degree first, then by name, so that the constant is last. Equal sums are therefore
equal tuples, and the first term is the leading one. :func:`signs` bounds the sign of a sum over all choices.
:func:`divided` returns a quotient and a remainder that are right for each choice, or raises. Both are incomplete: they
may fail to find an answer that exists, but do not return a wrong one.

Invariant: for any values, ``substitute(op(p, q)) == op(substitute(p), substitute(q))`` for each operator that returns;
:func:`added` and :func:`multiplied` satisfy the laws of a commutative ring.
``Polynomial.of`` converts from sympy and ``sympify`` converts to it; the arithmetic does not need sympy.

>>> m, k = Polynomial.symbol("m"), Polynomial.symbol("k")
>>> all(int((m + 2 * k * m).substitute({"m": a, "k": b})) == a + 2 * b * a for a in (1, 2, 5) for b in (1, 3))
True
>>> quotient, remainder = divided((12 * m + 5).terms, (6 * m).terms)  # 5 < 6*m for every m
>>> added(multiplied(quotient, (6 * m).terms), remainder) == (12 * m + 5).terms, signs(remainder)
(True, (1, 1))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sized
from operator import index
from typing import Any, TypeAlias

from layoutalg.errors import LayoutError, UndecidedError, brief
from layoutalg.frozen import frozen

#: A product of powers of symbols, sorted by name: ``(("k", 1), ("m", 2))``. The empty product is 1.
Monomial: TypeAlias = tuple[tuple[str, int], ...]
Term: TypeAlias = tuple[Monomial, int]
Terms: TypeAlias = tuple[Term, ...]


#: The most terms of a sum, and the highest power of one. Layouts need a few; products of sums can grow without bound.
MOST_TERMS = 1024
MOST_POWER = 1 << 12


class TooManyTermsError(LayoutError):
    """A sum has more than ``MOST_TERMS`` terms. :func:`signs` catches this and returns that the sign is unknown."""


def constant(value: int) -> Terms:
    """Return the sum of one number; the empty sum for 0."""
    return (((), value),) if value else ()


def ordered(coefficients: dict[Monomial, int]) -> Terms:
    """Return the sum with these monomials and coefficients, in the fixed order.

    >>> ordered({(): 2, (("m", 1),): 3, (("k", 1),): 0})
    (((('m', 1),), 3), ((), 2))
    """
    terms = [term for term in coefficients.items() if term[1]]
    _need_few(terms)
    if len(terms) > 1:
        terms.sort(key=_sort_key)
    return tuple(terms)


def _need_few(terms: Sized) -> None:
    if len(terms) > MOST_TERMS:
        raise TooManyTermsError(f"symbols: a sum has more than {MOST_TERMS} terms")


def _sort_key(term: Term) -> tuple[int, Monomial]:
    """Return the key that sorts terms by falling degree, then by name, so that the constant is last."""
    monomial, _ = term
    return (-sum([power for _, power in monomial]), monomial)


def added(a: Terms, b: Terms) -> Terms:
    """Return the sum of two sums."""
    if len(b) == 1 and not b[0][0]:  # a number, which belongs at the end
        total = b[0][1]
        if a and not a[-1][0]:
            a, total = a[:-1], total + a[-1][1]
        return (*a, ((), total)) if total else a
    coefficients = dict(a)
    for monomial, c in b:
        coefficients[monomial] = coefficients.get(monomial, 0) + c
    return ordered(coefficients)


def scaled(a: Terms, factor: int) -> Terms:
    """Return a sum times a number."""
    return tuple([(monomial, c * factor) for monomial, c in a]) if factor else ()


def multiplied(a: Terms, b: Terms) -> Terms:
    """Return the product of two sums."""
    coefficients: dict[Monomial, int] = {}
    for left, c in a:
        for right, e in b:
            monomial = _times(left, right)
            coefficients[monomial] = coefficients.get(monomial, 0) + c * e
        if len(coefficients) > MOST_TERMS:  # terms that cancel later are counted too, which bounds the work
            _need_few(coefficients)
    return ordered(coefficients)


def _times(a: Monomial, b: Monomial) -> Monomial:
    powers = dict(a)
    for name, power in b:
        powers[name] = powers.get(name, 0) + power
    return tuple(sorted(powers.items()))


def power(a: Terms, exponent: int) -> Terms:
    """Return a sum to the power of ``exponent``.

    Raises:
        LayoutError: if the exponent is negative or greater than ``MOST_POWER``.
    """
    if not 0 <= exponent <= MOST_POWER:
        raise LayoutError(f"symbols: exponent {brief(exponent)} is not in [0,{MOST_POWER}]")
    result = constant(1)
    for _ in range(exponent):
        result = multiplied(result, a)
    return result


def substituted(a: Terms, values: Mapping[str, Terms]) -> Terms:
    """Replace some symbols of a sum by sums."""
    total: Terms = ()
    for monomial, c in a:
        term = constant(c)
        for name, exponent in monomial:
            term = multiplied(term, power(values.get(name) or ((((name, 1),), 1),), exponent))
        total = added(total, term)
    return total


def over(a: Monomial, b: Monomial) -> Monomial | None:
    """Return the monomial a / b, or None if b does not divide a."""
    powers = dict(a)
    for name, power in b:
        powers[name] = powers.get(name, 0) - power
        if powers[name] < 0:
            return None
    return tuple(sorted([(name, power) for name, power in powers.items() if power]))


def terms_text(terms: Terms, name: Callable[[str], str]) -> str:
    """Return a sum as text, with each symbol as ``name`` formats it.

    >>> terms_text(ordered({(("m", 2),): 8, (("k", 1),): -1, (): 2}), str)
    '8*m**2-k+2'
    """
    parts = []
    for monomial, c in terms:
        factors = [name(symbol) if power == 1 else f"{name(symbol)}**{power}" for symbol, power in monomial]
        if not factors or abs(c) != 1:
            factors.insert(0, str(abs(c)))
        parts.append(("-" if c < 0 else "+") + "*".join(factors))
    return "".join(parts).removeprefix("+")


def from_sympy(value: Any) -> Terms:
    """Convert a sympy expression to a sum.

    Raises:
        LayoutError: if it is not a polynomial with integer coefficients, or a symbol is not declared as a positive
            integer.
    """
    import sympy

    expression = sympy.expand(value)
    for symbol in expression.free_symbols:
        if not (symbol.is_integer and symbol.is_positive):
            raise LayoutError(
                f"symbol: {symbol} is not declared as a positive integer; use "
                f"sympy.symbols({str(symbol)!r}, positive=True, integer=True)"
            )
    names = sorted(expression.free_symbols, key=str)
    if not names:
        if expression.is_Integer:
            return constant(int(expression))
        raise LayoutError(f"symbol: {expression} is not an integer")
    try:
        polynomial = sympy.Poly(expression, *names)
    except sympy.PolynomialError:
        raise LayoutError(f"symbol: {value} is not a polynomial in its symbols") from None
    coefficients: dict[Monomial, int] = {}
    for powers, coefficient in polynomial.terms():
        if not coefficient.is_Integer:
            raise LayoutError(f"symbol: {value} has the coefficient {coefficient}, which is not an integer")
        coefficients[tuple((str(n), p) for n, p in zip(names, powers, strict=True) if p)] = int(coefficient)
    return ordered(coefficients)


def to_sympy(terms: Terms) -> Any:
    """Convert a sum to a sympy expression."""
    import sympy

    return sympy.Add(
        *[
            c * sympy.Mul(*[sympy.Symbol(n, positive=True, integer=True) ** p for n, p in monomial])
            for monomial, c in terms
        ]
    )


#: The most steps of one long division. Extents and strides in use have far fewer terms.
_MOST_STEPS = 64


def signs(terms: Terms) -> tuple[int, int]:
    """Return a lower and an upper bound in {-1, 0, 1} on the sign of a sum over all values of its symbols.

    Write each symbol as 1 + y with y >= 0. If all coefficients then have the same sign, the sum has that sign, and it
    can be zero only if the constant is 0. Otherwise the bounds are -1 and 1.

    >>> m, one = (((("m", 1),), 1),), constant(1)
    >>> signs(m), signs(added(m, scaled(one, -1))), signs(added(m, scaled(one, -2)))
    ((1, 1), (0, 1), (-1, 1))
    """
    if not terms:
        return 0, 0
    moving = [c for monomial, c in terms if monomial]
    at_ones = sum([c for _, c in terms])
    sign = (at_ones > 0) - (at_ones < 0)
    if all(c > 0 for c in moving):  # the sum grows with every symbol, so it is smallest where all of them are 1
        return sign, (1 if moving else sign)
    if all(c < 0 for c in moving):
        return -1, sign
    names = {name for monomial, _ in terms for name, _ in monomial}
    try:
        shifted = substituted(terms, {name: ((((name, 1),), 1), ((), 1)) for name in names})
    except TooManyTermsError:
        return -1, 1
    if all(c > 0 for _, c in shifted):
        return (1 if at_ones else 0), 1
    if all(c < 0 for _, c in shifted):
        return -1, (-1 if at_ones else 0)
    return -1, 1


def divided(number: Terms, divisor: Terms) -> tuple[Terms, Terms]:
    """Divide one sum by another, and return the quotient and the remainder.

    This is long division by the leading term of the divisor. The result is valid if the remainder is at least 0 and
    less than the divisor for all values of the symbols.

    Raises:
        UndecidedError: if that is not known.
        ZeroDivisionError: if the divisor is 0.
    """
    if not divisor:
        raise ZeroDivisionError(f"division of {_text(number)} by zero")
    leading, coefficient = divisor[0]
    quotient: Terms = ()
    rest = number
    undivided: Terms = ()  # terms that the leading term does not divide
    for _ in range(_MOST_STEPS):
        if not rest:
            break
        monomial, c = rest[0]
        shared = over(monomial, leading)
        share = c // coefficient if shared is not None else 0
        if shared is not None and share:
            step = ((shared, share),)
            quotient = added(quotient, step)
            rest = added(rest, scaled(multiplied(divisor, step), -1))
        if rest and rest[0][0] == monomial:
            undivided, rest = (*undivided, rest[0]), rest[1:]
    remainder = added(undivided, rest)
    if not remainder:
        return quotient, ()
    if signs(remainder)[0] >= 0 and signs(added(divisor, scaled(remainder, -1)))[0] > 0:
        return quotient, remainder
    by = _text(divisor)
    raise UndecidedError(
        f"cannot decide whether {by} divides {_text(number)}; give it as {_multiple(number, divisor)} if it does"
    )


def _multiple(number: Terms, divisor: Terms) -> str:
    """Return the text of a multiple of the divisor that can replace a number, for the advice in an error message."""
    if len(number) == 1 and number[0][0]:
        return _text(multiplied(((number[0][0], 1),), divisor))
    return f"a multiple of {_text(divisor)}"


def _text(terms: Terms) -> str:
    return terms_text(terms or constant(0), str) or "0"


#: A number, or a polynomial in symbols.
Integer: TypeAlias = "int | Polynomial"


def symbol(name: str) -> Polynomial:
    """Return a symbol that represents a positive integer, for use in extents and strides.

    Args:
        name: the name with which it is printed.

    Raises:
        LayoutError: if the name is not a string, or is empty.

    >>> m = symbol("m")
    >>> print(8 * m, 2 * m < 1)
    8*m False
    >>> 8 * m + 2
    8*symbol('m')+2
    """
    if not isinstance(name, str) or not name:
        raise LayoutError(f"symbol: {brief(name)} is not a name; a name is a string that is not empty")
    return _polynomial(((((name, 1),), 1),))


def _powers(monomial: Any) -> Monomial:
    """Return a product of powers in its unique form: each symbol once, sorted by name, with a positive power.

    Raises:
        ValueError: if a name is not a string or a power is not positive.
    """
    powers: dict[str, int] = {}
    for name, exponent in monomial:
        if not isinstance(name, str) or index(exponent) < 1:
            raise ValueError
        powers[name] = powers.get(name, 0) + index(exponent)
    return tuple(sorted(powers.items()))


@frozen
class Polynomial:
    """An integer polynomial that is not constant, made by arithmetic on :func:`symbol`. A constant is an ``int``.

    Args:
        terms: the monomials with their coefficients; a monomial is a product of powers of symbols.

    Raises:
        LayoutError: if the terms are not of this form, or add up to a constant.

    >>> from sympy import symbols
    >>> m = Polynomial.of(symbols("m", positive=True, integer=True))
    >>> print(8 * m * m + 2 * m, 8 * m // 4, 8 * m < 4)
    8*m**2+2*m 2*m False
    >>> m % 2
    Traceback (most recent call last):
    layoutalg.errors.UndecidedError: cannot decide whether 2 divides m; give it as 2*m if it does
    """

    terms: Terms

    def __init__(self, terms: Iterable[Term]) -> None:
        coefficients: dict[Monomial, int] = {}
        try:
            for monomial, c in terms:
                powers = _powers(monomial)
                coefficients[powers] = coefficients.get(powers, 0) + index(c)
        except (TypeError, ValueError):
            raise LayoutError(
                f"Polynomial: {brief(terms)} is not a sequence of terms; a term is a pair of a product of powers and "
                f"its coefficient"
            ) from None
        ordered_terms = ordered(coefficients)
        if not ordered_terms or not ordered_terms[0][0]:
            raise LayoutError(f"Polynomial: {terms_text(ordered_terms, str) or 0} has no symbol")
        _set_terms(self, ordered_terms)

    @staticmethod
    def of(value: Any) -> Integer:
        """Convert a sympy expression to an integer or a polynomial.

        Raises:
            LayoutError: if it is not a polynomial with integer coefficients, or a symbol is not declared as a positive
                integer.
        """
        return _number(from_sympy(value))

    @staticmethod
    def symbol(name: str) -> Polynomial:
        """Return the polynomial of one symbol, as :func:`layoutalg.symbol` does.

        >>> print(2 * Polynomial.symbol("k"))
        2*k
        """
        return symbol(name)

    def _sympy_(self) -> Any:
        """Return the sympy expression; ``sympy.sympify`` calls this."""
        return to_sympy(self.terms)

    def substitute(self, values: Mapping[str, Integer]) -> Integer:
        """Replace symbols by values; symbols without a value remain.

        >>> Polynomial.symbol("m").substitute({"m": 4})
        4
        """
        return _number(substituted(self.terms, {name: _terms(value) for name, value in values.items()}))

    def symbols(self) -> set[str]:
        """Return the names of the symbols."""
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

    # Division: exact, or with a remainder that is known to be in range.

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

    # Comparison: decided for all values of the symbols, or an error.

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
        return terms_text(self.terms, str)

    def __repr__(self) -> str:
        return terms_text(self.terms, "symbol({!r})".format)


# A frozen class has no setter. Calling the setter of the slot is faster than object.__setattr__, which searches for it.
_set_terms = Polynomial.__dict__["terms"].__set__


def _polynomial(terms: Terms) -> Polynomial:
    """Return the polynomial of terms that are known to be in order and not constant."""
    result = object.__new__(Polynomial)
    _set_terms(result, terms)
    return result


def _number(terms: Terms) -> Integer:
    """Return the polynomial of ordered terms; an ``int`` if it is constant."""
    if not terms:
        return 0
    if not terms[0][0]:  # the constant comes last, so it is the only term here
        return terms[0][1]
    return _polynomial(terms)


def _terms(value: Integer) -> Terms:
    return value.terms if isinstance(value, Polynomial) else constant(value)


def same(a: Integer, b: Integer) -> bool:
    """Check if two integers or polynomials are equal for all values of their symbols.

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
