"""Signs and remainders of a sum of monomials, for all values of its symbols: integers of at least 1.

Law of :func:`signs`: the sign of the sum lies between its two bounds for every choice of the symbols. Law of
:func:`divided`: ``number == quotient * divisor + remainder`` with ``0 <= remainder < divisor`` for every choice, or an
error. Both may know less than there is to know; neither knows anything that is not so.

>>> m = ((("m", 1),), 1)
>>> number, divisor = added(scaled((m,), 12), constant(5)), scaled((m,), 6)
>>> quotient, remainder = divided(number, divisor)  # 12*m + 5 by 6*m, where 6*m > 5 for every m
>>> added(multiplied(quotient, divisor), remainder) == number, signs(remainder)
(True, (1, 1))
"""

from __future__ import annotations

from layoutalg.errors import UndecidedError
from layoutalg.tuples.terms import (
    Terms,
    TooManyTermsError,
    added,
    constant,
    multiplied,
    over,
    scaled,
    substituted,
    written,
)

#: Steps of one long division: more than any extent or stride has terms.
_MOST_STEPS = 64


def signs(terms: Terms) -> tuple[int, int]:
    """Bounds in {-1, 0, 1} on the sign of a sum.

    With each symbol written as 1 + y, y >= 0, coefficients of one sign settle it, and the constant says whether it can
    be zero.

    >>> m, one = (((("m", 1),), 1),), constant(1)
    >>> signs(m), signs(added(m, scaled(one, -1))), signs(added(m, scaled(one, -2)))
    ((1, 1), (0, 1), (-1, 1))
    """
    if not terms:
        return 0, 0
    moving = [c for monomial, c in terms if monomial]
    at_ones = sum([c for _, c in terms])
    sign = (at_ones > 0) - (at_ones < 0)
    if all(c > 0 for c in moving):  # it grows with every symbol, so that it is least where all are 1
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
    """Quotient and remainder, where they are sums.

    The divisor's leading term divides what it can; what is left must be a remainder for all values.

    Raises:
        UndecidedError: if it is one for some values only.
        ZeroDivisionError: if the divisor is 0.
    """
    if not divisor:
        raise ZeroDivisionError(f"division of {_shown(number)} by zero")
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
    shown = _shown(divisor)
    raise UndecidedError(
        f"cannot decide whether {shown} divides {_shown(number)}; give it as {_multiple(number, divisor)} if it does"
    )


def _multiple(number: Terms, divisor: Terms) -> str:
    """How to write a multiple of the divisor with the symbols of a number."""
    if len(number) == 1 and number[0][0]:
        return _shown(multiplied(((number[0][0], 1),), divisor))
    return f"a multiple of {_shown(divisor)}"


def _shown(terms: Terms) -> str:
    return written(terms or constant(0), str) or "0"
