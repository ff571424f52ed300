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

from collections.abc import Mapping
from typing import Any

from layoutalg.errors import LayoutError, UndecidedError

#: A product of powers of symbols, sorted by name: ``(("k", 1), ("m", 2))``. The empty one is 1.
Monomial = tuple[tuple[str, int], ...]


class Polynomial:
    """An integer polynomial that is no constant (a constant is an ``int``).

    >>> from sympy import symbols
    >>> m = Polynomial.of(symbols("m", positive=True, integer=True))
    >>> print(8 * m * m + 2 * m, 8 * m // 4, 8 * m < 4)
    8*m**2+2*m 2*m False
    >>> m % 2
    Traceback (most recent call last):
    layoutalg.errors.UndecidedError: cannot decide whether 2 divides m; give it as 2*m if it does
    """

    __slots__ = ("terms",)
    terms: dict[Monomial, int]

    @staticmethod
    def of(value: Any) -> int | Polynomial:
        """An integer or polynomial from a sympy expression.

        Raises:
            LayoutError: if it is no polynomial with integer coefficients, or a symbol is not declared as a positive
                integer.
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
                return int(expression)
            raise LayoutError(f"symbol: an expression must be an integer, found {expression}")
        try:
            polynomial = sympy.Poly(expression, *names)
        except sympy.PolynomialError:
            raise LayoutError(f"symbol: an expression must be a polynomial in its symbols, found {value}") from None
        terms: dict[Monomial, int] = {}
        for powers, coefficient in polynomial.terms():
            if not coefficient.is_Integer:
                raise LayoutError(f"symbol: coefficients must be integers, found {value}")
            terms[tuple((str(n), p) for n, p in zip(names, powers, strict=True) if p)] = int(coefficient)
        return _made(terms)  # type: ignore[no-any-return]

    @staticmethod
    def symbol(name: str) -> Polynomial:
        """The polynomial that is one symbol.

        >>> print(2 * Polynomial.symbol("k"))
        2*k
        """
        result = object.__new__(Polynomial)
        result.terms = {((name, 1),): 1}
        return result

    def _sympy_(self) -> Any:
        """The sympy expression (sympy calls this itself)."""
        import sympy

        return sympy.Add(
            *[
                c * sympy.Mul(*[sympy.Symbol(n, positive=True, integer=True) ** p for n, p in monomial])
                for monomial, c in self.terms.items()
            ]
        )

    def substitute(self, values: Mapping[str, int | Polynomial]) -> Any:
        """The value for given symbols; others stay.

        >>> Polynomial.symbol("m").substitute({"m": 4})
        4
        """
        total: Any = 0
        for monomial, c in self.terms.items():
            term: Any = c
            for name, power in monomial:
                value = values.get(name)
                term = term * (Polynomial.symbol(name) if value is None else value) ** power
            total = total + term
        return total

    def symbols(self) -> set[str]:
        """The names of its symbols."""
        return {name for monomial in self.terms for name, _ in monomial}

    # Ring operations: exact.

    def __add__(self, other: Any) -> Any:
        terms = dict(self.terms)
        for monomial, c in _terms(other).items():
            terms[monomial] = terms.get(monomial, 0) + c
        return _made(terms)

    __radd__ = __add__

    def __mul__(self, other: Any) -> Any:
        if type(other) is int:
            return _made({monomial: c * other for monomial, c in self.terms.items()})
        if not isinstance(other, Polynomial):
            return NotImplemented
        terms: dict[Monomial, int] = {}
        for a, c in self.terms.items():
            for b, e in other.terms.items():
                monomial = _times(a, b)
                terms[monomial] = terms.get(monomial, 0) + c * e
        return _made(terms)

    __rmul__ = __mul__

    def __neg__(self) -> Any:
        return self * -1

    def __sub__(self, other: Any) -> Any:
        return self + other * -1

    def __rsub__(self, other: Any) -> Any:
        return self * -1 + other

    def __pow__(self, power: int) -> Any:
        result: Any = 1
        for _ in range(power):
            result = result * self
        return result

    def __abs__(self) -> Any:
        return -self if self < 0 else self

    # Division: exact, or with a remainder that is known to be one.

    def __divmod__(self, divisor: Any) -> tuple[Any, Any]:
        return _divmod(self, divisor)

    def __rdivmod__(self, number: Any) -> tuple[Any, Any]:
        return _divmod(number, self)

    def __mod__(self, divisor: Any) -> Any:
        return _divmod(self, divisor)[1]

    def __rmod__(self, number: Any) -> Any:
        return _divmod(number, self)[1]

    def __floordiv__(self, divisor: Any) -> Any:
        return _divmod(self, divisor)[0]

    def __rfloordiv__(self, number: Any) -> Any:
        return _divmod(number, self)[0]

    # Comparison: decided for all values, or an error.

    def __lt__(self, other: Any) -> bool:
        return _less(self, other)

    def __gt__(self, other: Any) -> bool:
        return _less(other, self)

    def __le__(self, other: Any) -> bool:
        return not _less(other, self)

    def __ge__(self, other: Any) -> bool:
        return not _less(self, other)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Polynomial) and self.terms == other.terms

    def __hash__(self) -> int:
        return hash(frozenset(self.terms.items()))

    def __str__(self) -> str:
        parts = []
        for monomial, c in sorted(self.terms.items(), key=_printed_order):
            factors = [name if power == 1 else f"{name}**{power}" for name, power in monomial]
            if not factors or abs(c) != 1:
                factors.insert(0, str(abs(c)))
            parts.append(("-" if c < 0 else "+") + "*".join(factors))
        text = "".join(parts)
        return text.removeprefix("+")

    __repr__ = __str__


def same(a: Any, b: Any) -> bool:
    """Whether two integers or polynomials are equal for all values of their symbols.

    Raises:
        UndecidedError: if they are equal for some values and may differ for others.

    >>> m = Polynomial.symbol("m")
    >>> same(8 * m, 4 * m + 4 * m), same(8 * m, 4)
    (True, False)
    """
    if a == b:
        return True
    low, high = _range_of_sign(a - b)
    if low > 0 or high < 0:
        return False
    raise UndecidedError(f"cannot decide whether {a} equals {b}")


def _made(terms: dict[Monomial, int]) -> Any:
    """The polynomial of these terms; an ``int`` if it is a constant."""
    kept = {monomial: c for monomial, c in terms.items() if c}
    if not kept:
        return 0
    if len(kept) == 1 and () in kept:
        return kept[()]
    result = object.__new__(Polynomial)
    result.terms = kept
    return result


def _terms(value: Any) -> dict[Monomial, int]:
    if isinstance(value, Polynomial):
        return value.terms
    return {(): value} if value else {}


def _times(a: Monomial, b: Monomial) -> Monomial:
    powers = dict(a)
    for name, power in b:
        powers[name] = powers.get(name, 0) + power
    return tuple(sorted(powers.items()))


def _over(a: Monomial, b: Monomial) -> Monomial | None:
    """The monomial a / b, if it is one."""
    powers = dict(a)
    for name, power in b:
        powers[name] = powers.get(name, 0) - power
        if powers[name] < 0:
            return None
    return tuple(sorted((name, power) for name, power in powers.items() if power))


def _printed_order(term: tuple[Monomial, int]) -> Any:
    """Higher degree first, then by name; the constant last."""
    monomial, _ = term
    return (-sum(power for _, power in monomial), monomial)


def _range_of_sign(value: Any) -> tuple[int, int]:
    """Bounds in {-1, 0, 1} on the sign of a value over all symbols >= 1.

    With each symbol written as 1 + y, y >= 0, coefficients of one sign settle it, and the constant says whether it can
    be zero.
    """
    if isinstance(value, int):
        sign = (value > 0) - (value < 0)
        return sign, sign
    shifted = value.substitute({name: Polynomial.symbol(name) + 1 for name in value.symbols()})
    terms = _terms(shifted)
    constant = terms.get((), 0)
    if all(c >= 0 for c in terms.values()):
        return (1 if constant > 0 else 0), 1
    if all(c <= 0 for c in terms.values()):
        return -1, (-1 if constant < 0 else 0)
    return -1, 1


def _less(a: Any, b: Any) -> bool:
    low, high = _range_of_sign(b - a)
    if low > 0:
        return True
    if high <= 0:
        return False
    raise UndecidedError(f"cannot decide whether {a} is less than {b}")


def _divmod(number: Any, divisor: Any) -> tuple[Any, Any]:
    """Quotient and remainder, 0 <= remainder < divisor, where they are polynomials.

    The divisor's leading term divides what it can; what is left must be a remainder for all values.
    """
    lead, coefficient = min(_terms(divisor).items(), key=_printed_order)
    quotient: Any = 0
    rest: Any = number
    left: Any = 0  # terms that the leading term does not divide
    for _ in range(64):
        terms = _terms(rest)
        if not terms:
            break
        monomial, c = min(terms.items(), key=_printed_order)
        over = _over(monomial, lead)
        share = c // coefficient if over is not None else 0
        if over is not None and share:
            step = _made({over: share})
            quotient = quotient + step
            rest = rest - divisor * step
            terms = _terms(rest)
        term = _made({monomial: terms.get(monomial, 0)})
        left = left + term
        rest = rest - term
    remainder = left + rest
    if remainder == 0:
        return quotient, 0
    low = _range_of_sign(remainder)
    if low[0] >= 0 and _range_of_sign(divisor - remainder)[0] > 0:
        return quotient, remainder
    example = _suggestion(number, divisor) if isinstance(number, Polynomial) else f"a multiple of {divisor}"
    raise UndecidedError(f"cannot decide whether {divisor} divides {number}; give it as {example} if it does")


def _suggestion(number: Polynomial, divisor: Any) -> str:
    """How to write a multiple of the divisor with the symbols of a number."""
    if len(number.terms) == 1:
        ((monomial, _),) = number.terms.items()
        return str(_made({monomial: 1}) * divisor)
    return f"a multiple of {divisor}"
