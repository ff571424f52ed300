"""Write terms of SMT-LIB 2, in integer arithmetic or in bit vectors that are wide enough not to overflow.

Example: the same sum and product in both arithmetics.

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
    """An arithmetic of SMT-LIB: its sort and its operators.

    Args:
        sort: the name of the sort.
        bits: the width of a bit vector; 0 for integers.
        operators: the names of +, *, quotient, remainder, <= and <.
    """

    sort: str
    bits: int
    operators: tuple[str, str, str, str, str, str]

    def number(self, value: Any) -> str:
        """Return the term of a number or of a polynomial in symbols; a text is a term already.

        Raises:
            DescriptorError: if an expression is not a polynomial.

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
        """Return the sum; 0 without values."""
        return self._joined(0, [value for value in values if value != 0])

    def product(self, *values: Any) -> str:
        """Return the product; 1 without values."""
        return "0" if 0 in values and not self.bits else self._joined(1, [value for value in values if value != 1])

    def part(self, value: Any, by: Any) -> str:
        """Return the quotient, rounded down."""
        return self.number(value) if by == 1 else self._of(2, value, by)

    def rest(self, value: Any, by: Any) -> str:
        """Return the remainder of the quotient."""
        return self._of(3, value, by)

    def least(self, *values: Any) -> str:
        """Return the condition that each value is at most the next."""
        return both([self._of(4, *pair) for pair in pairwise(values)])

    def below(self, value: Any, end: Any) -> str:
        """Return the condition that a value is less than another."""
        return self._of(5, value, end)

    def within(self, value: Any, end: Any) -> str:
        """Return the condition that a value is in [0, end)."""
        upper = self.below(value, end)
        return upper if self.bits else both([self.least(0, value), upper])

    def _of(self, operator: int, *values: Any) -> str:
        return f"({self.operators[operator]} {' '.join(map(self.number, values))})"

    def _joined(self, neutral: int, values: Sequence[Any]) -> str:
        return self._of(neutral, *values) if len(values) > 1 else self.number(values[0] if values else neutral)


INTEGERS = Arithmetic("Int", 0, ("+", "*", "div", "mod", "<=", "<"))
BITS = Arithmetic("N", 32, ("bvadd", "bvmul", "bvudiv", "bvurem", "bvule", "bvult"))


def _polynomial(node: Any) -> str:
    """Return the term of a Python expression of sums, products and powers."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Constant(value=int(number)):
            return str(number)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return f"(- {_polynomial(operand)})"
        case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant(value=int(exponent))):
            return f"(* {' '.join([_polynomial(left)] * exponent)})"
        case ast.BinOp(op=ast.Add() | ast.Mult() as operator):
            sign, factors = ("+", _flat(node, ast.Add)) if isinstance(operator, ast.Add) else ("*", _factors(node))
            return f"({sign} {' '.join(factors)})"
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            return f"(+ {_polynomial(left)} (- {_polynomial(right)}))"
    raise DescriptorError(f"claim: the extent {ast.unparse(node)} is not a polynomial")


def _flat(node: Any, kind: type) -> list[str]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, kind):
        return [*_flat(node.left, kind), *_flat(node.right, kind)]
    return [_polynomial(node)]


def _factors(node: Any) -> list[str]:
    """Return the factors of a product; a power is a repeated factor."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return [*_factors(node.left), *_factors(node.right)]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and isinstance(node.right, ast.Constant):
        return [_polynomial(node.left)] * int(str(node.right.value))
    return [_polynomial(node)]


def both(conditions: Sequence[str]) -> str:
    """Return the conjunction of conditions.

    >>> both(["a", "b"]), both(["a"]), both([])
    ('(and a b)', 'a', 'true')
    """
    return f"(and {' '.join(conditions)})" if len(conditions) > 1 else conditions[0] if conditions else "true"


def either(conditions: Sequence[str]) -> str:
    """Return the disjunction of conditions.

    >>> either(["a", "b"]), either([])
    ('(or a b)', 'false')
    """
    return f"(or {' '.join(conditions)})" if len(conditions) > 1 else conditions[0] if conditions else "false"


def function(name: str, arguments: str, sort: str, body: str) -> str:
    """Return the definition of a function whose arguments have one sort; one line unless the body has line breaks.

    >>> print(function("twice", "x", "Int", "(* 2 x)"))
    (define-fun twice ((x Int)) Int (* 2 x))
    """
    return f"(define-fun {name} ({' '.join(f'({argument} {sort})' for argument in arguments.split())}) {sort} {body})"


def remark(text: str) -> str:
    """Return a text as comment lines.

    >>> print(remark("a" + chr(10) + "b"))
    ; a
    ; b
    """
    return "\n".join(f"; {line}".rstrip() for line in text.splitlines())
