"""Terms of SMT-LIB 2 as text, in one of two arithmetics: integers, and bit vectors of a width that nothing leaves.

Law: a term of numbers is one that Python, reading its operators, finds to be the same number.

>>> print(INTEGERS.sum(INTEGERS.product("x", 64), 8), BITS.sum(BITS.product("x", 64), 8))
(+ (* x 64) 8) (bvadd (bvmul x (_ bv64 32)) (_ bv8 32))
>>> print(INTEGERS.rest("x", 8), BITS.part("x", 8), INTEGERS.sum(), BITS.product(1, "x"))
(mod x 8) (bvudiv x (_ bv8 32)) 0 x
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from descriptors.errors import DescriptorError


class Arithmetic(NamedTuple):
    """How numbers and their operators are written.

    Args:
        sort: the name of the sort.
        bits: the width of a bit vector; 0 for integers.
        operators: of +, *, quotient, remainder, <=, <.
    """

    sort: str
    bits: int
    operators: tuple[str, str, str, str, str, str]

    def number(self, value: Any) -> str:
        """A number, a polynomial in symbols, or a term as it is.

        Raises:
            DescriptorError: if an expression is no polynomial.

        >>> from layoutalg import symbol
        >>> INTEGERS.number(2 * symbol("k") * symbol("k") - 3), BITS.number(7), INTEGERS.number(-1)
        ('(+ (* 2 k k) (- 3))', '(_ bv7 32)', '(- 1)')
        """
        if isinstance(value, str):
            return value
        if isinstance(value, int):
            if self.bits:
                return f"(_ bv{value % (1 << self.bits)} {self.bits})"
            return str(value) if value >= 0 else f"(- {-value})"
        return _polynomial(ast.parse(str(value), mode="eval").body)

    def sum(self, *values: Any) -> str:
        """The sum; of none 0."""
        return self._joined(0, [one for one in values if one != 0])

    def product(self, *values: Any) -> str:
        """The product; of none 1."""
        return "0" if 0 in values and not self.bits else self._joined(1, [one for one in values if one != 1])

    def part(self, value: Any, by: Any) -> str:
        """The quotient, rounded down."""
        return self.number(value) if by == 1 else self._of(2, value, by)

    def rest(self, value: Any, by: Any) -> str:
        """The remainder of that."""
        return self._of(3, value, by)

    def least(self, *values: Any) -> str:
        """Whether each value is at most the next."""
        return both([self._of(4, one, other) for one, other in pairwise(values)])

    def below(self, value: Any, end: Any) -> str:
        """Whether a value is less than another."""
        return self._of(5, value, end)

    def within(self, value: Any, end: Any) -> str:
        """Whether a value is one of 0 to another, less one."""
        upper = self.below(value, end)
        return upper if self.bits else both([self.least(0, value), upper])

    def _of(self, operator: int, *values: Any) -> str:
        return f"({self.operators[operator]} {' '.join(map(self.number, values))})"

    def _joined(self, neutral: int, values: Sequence[Any]) -> str:
        return self._of(neutral, *values) if len(values) > 1 else self.number(values[0] if values else neutral)


INTEGERS = Arithmetic("Int", 0, ("+", "*", "div", "mod", "<=", "<"))
BITS = Arithmetic("N", 32, ("bvadd", "bvmul", "bvudiv", "bvurem", "bvule", "bvult"))


def _polynomial(node: Any) -> str:
    """An expression that Python reads, of sums, products and powers."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Constant(value=int(number)):
            return str(number)
        case ast.UnaryOp(op=ast.USub(), operand=one):
            return f"(- {_polynomial(one)})"
        case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant(value=int(exponent))):
            return f"(* {' '.join([_polynomial(left)] * exponent)})"
        case ast.BinOp(op=ast.Add() | ast.Mult() as operator):
            sign, factors = ("+", _flat(node, ast.Add)) if isinstance(operator, ast.Add) else ("*", _factors(node))
            return f"({sign} {' '.join(factors)})"
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            return f"(+ {_polynomial(left)} (- {_polynomial(right)}))"
    raise DescriptorError(f"claim: an extent must be a polynomial, found {ast.unparse(node)}")


def _flat(node: Any, kind: type) -> list[str]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, kind):
        return [*_flat(node.left, kind), *_flat(node.right, kind)]
    return [_polynomial(node)]


def _factors(node: Any) -> list[str]:
    """The factors of a product; a power is so many of them."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return [*_factors(node.left), *_factors(node.right)]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and isinstance(node.right, ast.Constant):
        return [_polynomial(node.left)] * int(str(node.right.value))
    return [_polynomial(node)]


def both(conditions: Sequence[str]) -> str:
    """All of some conditions.

    >>> both(["a", "b"]), both(["a"]), both([])
    ('(and a b)', 'a', 'true')
    """
    return f"(and {' '.join(conditions)})" if len(conditions) > 1 else conditions[0] if conditions else "true"


def either(conditions: Sequence[str]) -> str:
    """One of some conditions.

    >>> either(["a", "b"]), either([])
    ('(or a b)', 'false')
    """
    return f"(or {' '.join(conditions)})" if len(conditions) > 1 else conditions[0] if conditions else "false"


def function(name: str, arguments: str, sort: str, body: str) -> str:
    """A definition, on one line unless its body has line breaks.

    >>> print(function("twice", "x", "Int", "(* 2 x)"))
    (define-fun twice ((x Int)) Int (* 2 x))
    """
    return f"(define-fun {name} ({' '.join(f'({one} {sort})' for one in arguments.split())}) {sort} {body})"


def remark(text: str) -> str:
    """A comment, line by line.

    >>> print(remark("a" + chr(10) + "b"))
    ; a
    ; b
    """
    return "\n".join(f"; {line}".rstrip() for line in text.splitlines())
