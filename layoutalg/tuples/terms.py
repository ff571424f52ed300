"""Sums of monomials with integer coefficients, as sorted tuples: the ring that polynomials compute in.

A monomial is a product of powers of symbols; a sum holds each monomial once, with a coefficient that is not 0, in a
fixed order: higher degree first, then by name, so that the constant comes last. So equal sums are equal tuples, and the
first term is the leading one. Laws: those of a commutative ring, for :func:`added` and :func:`multiplied`.

>>> m, k, one = ((("m", 1),), 1), ((("k", 1),), 1), constant(1)
>>> a, b = added((m,), one), added((k,), scaled((m,), 2))
>>> multiplied(a, b) == multiplied(b, a) == added(multiplied((m,), b), b)
True
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sized
from typing import Any, TypeAlias

from layoutalg.errors import LayoutError, brief

#: A product of powers of symbols, sorted by name: ``(("k", 1), ("m", 2))``. The empty one is 1.
Monomial: TypeAlias = tuple[tuple[str, int], ...]
Term: TypeAlias = tuple[Monomial, int]
Terms: TypeAlias = tuple[Term, ...]


#: The most terms of a sum, and the highest power of one: layouts need a few, and products of sums grow without end.
MOST_TERMS = 1024
MOST_POWER = 1 << 12


class TooManyTermsError(LayoutError):
    """A sum with more terms than are computed with; where a sign is asked for, the answer is that none is known."""


def constant(value: int) -> Terms:
    """The sum that is one number; the empty sum for 0."""
    return (((), value),) if value else ()


def ordered(coefficients: dict[Monomial, int]) -> Terms:
    """The sum of these multiples of monomials.

    >>> ordered({(): 2, (("m", 1),): 3, (("k", 1),): 0})
    (((('m', 1),), 3), ((), 2))
    """
    kept = [term for term in coefficients.items() if term[1]]
    _need_few(kept)
    if len(kept) > 1:
        kept.sort(key=_place)
    return tuple(kept)


def _need_few(terms: Sized) -> None:
    if len(terms) > MOST_TERMS:
        raise TooManyTermsError(f"symbols: a sum must have at most {MOST_TERMS} terms, found more")


def _place(term: Term) -> tuple[int, Monomial]:
    """Higher degree first, then by name; the constant last."""
    monomial, _ = term
    return (-sum([power for _, power in monomial]), monomial)


def added(a: Terms, b: Terms) -> Terms:
    """The sum of two sums."""
    if len(b) == 1 and not b[0][0]:  # a number: its place is known
        total = b[0][1]
        if a and not a[-1][0]:
            a, total = a[:-1], total + a[-1][1]
        return (*a, ((), total)) if total else a
    coefficients = dict(a)
    for monomial, c in b:
        coefficients[monomial] = coefficients.get(monomial, 0) + c
    return ordered(coefficients)


def scaled(a: Terms, factor: int) -> Terms:
    """A sum times a number."""
    return tuple([(monomial, c * factor) for monomial, c in a]) if factor else ()


def multiplied(a: Terms, b: Terms) -> Terms:
    """The product of two sums."""
    coefficients: dict[Monomial, int] = {}
    for left, c in a:
        for right, e in b:
            monomial = _times(left, right)
            coefficients[monomial] = coefficients.get(monomial, 0) + c * e
        if len(coefficients) > MOST_TERMS:  # some may cancel in the end; what runs away does not
            _need_few(coefficients)
    return ordered(coefficients)


def _times(a: Monomial, b: Monomial) -> Monomial:
    powers = dict(a)
    for name, power in b:
        powers[name] = powers.get(name, 0) + power
    return tuple(sorted(powers.items()))


def power(a: Terms, exponent: int) -> Terms:
    """A sum times itself, so often.

    Raises:
        LayoutError: for a power that is negative or beyond what is computed with.
    """
    if not 0 <= exponent <= MOST_POWER:
        raise LayoutError(f"symbols: a power must lie in [0,{MOST_POWER}], found {brief(exponent)}")
    result = constant(1)
    for _ in range(exponent):
        result = multiplied(result, a)
    return result


def substituted(a: Terms, values: Mapping[str, Terms]) -> Terms:
    """A sum with sums in place of some of its symbols."""
    total: Terms = ()
    for monomial, c in a:
        term = constant(c)
        for name, exponent in monomial:
            term = multiplied(term, power(values.get(name) or ((((name, 1),), 1),), exponent))
        total = added(total, term)
    return total


def over(a: Monomial, b: Monomial) -> Monomial | None:
    """The monomial a / b, if it is one."""
    powers = dict(a)
    for name, power in b:
        powers[name] = powers.get(name, 0) - power
        if powers[name] < 0:
            return None
    return tuple(sorted([(name, power) for name, power in powers.items() if power]))


def written(terms: Terms, name: Callable[[str], str]) -> str:
    """A sum as text, each symbol as ``name`` writes it.

    >>> written(ordered({(("m", 2),): 8, (("k", 1),): -1, (): 2}), str)
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
    """The sum that a sympy expression is.

    Raises:
        LayoutError: if it is no polynomial with integer coefficients, or a symbol is no declared positive integer.
    """
    import sympy

    expression = sympy.expand(value)
    for symbol in expression.free_symbols:
        if not (symbol.is_integer and symbol.is_positive):
            raise LayoutError(
                f"symbol: must be declared positive and integer (symbols({str(symbol)!r}, positive=True, "
                f"integer=True)), found {symbol}"
            )
    names = sorted(expression.free_symbols, key=str)
    if not names:
        if expression.is_Integer:
            return constant(int(expression))
        raise LayoutError(f"symbol: an expression must be an integer, found {expression}")
    try:
        polynomial = sympy.Poly(expression, *names)
    except sympy.PolynomialError:
        raise LayoutError(f"symbol: an expression must be a polynomial in its symbols, found {value}") from None
    coefficients: dict[Monomial, int] = {}
    for powers, coefficient in polynomial.terms():
        if not coefficient.is_Integer:
            raise LayoutError(f"symbol: coefficients must be integers, found {value}")
        coefficients[tuple((str(n), p) for n, p in zip(names, powers, strict=True) if p)] = int(coefficient)
    return ordered(coefficients)


def to_sympy(terms: Terms) -> Any:
    """The sympy expression of a sum."""
    import sympy

    return sympy.Add(
        *[
            c * sympy.Mul(*[sympy.Symbol(n, positive=True, integer=True) ** p for n, p in monomial])
            for monomial, c in terms
        ]
    )
