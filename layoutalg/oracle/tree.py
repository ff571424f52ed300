"""The syntax tree of an expression, as plain data: what was written, and nothing of what it comes to.

An integer, a truth value and ``None`` stand for themselves, a tuple is a list, and all else is a pair of its name and
its parts: an operation of the algebra by its own name, with its operands in the order of its parameters, and what the
notation writes with signs by those of `SIGNS`. Law: signs and names aside, a text and its tree hold the same numbers in
the same order.

>>> syntax("size(coalesce((2,4):(1,2)), mode=[0])")
{'size': [{'coalesce': [{':': [[2, 4], [1, 2]]}]}, [0]]}
>>> syntax("(S<3,4,3> o 0 o 8:1)(5)")
{'()': [{'( )': [{'o': [{'S<>': [3, 4, 3]}, 0, {':': [8, 1]}]}]}, 5]}
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from layoutalg.errors import NotationError
from layoutalg.notation.expression import ExpressionParser, bind_operation
from layoutalg.tuples.basis import ScaledBasis

__all__ = ["SIGNS", "SymbolError", "operations_of", "syntax"]

#: A layout of shape and stride, a swizzle, a composed layout, a basis stride of value and path, a function at a
#: coordinate, one mode, and parentheses around one value, which are a tuple of one unless that is a layout.
SIGNS = (":", "S<>", "o", "@", "()", "[]", "( )")


class SymbolError(NotationError):
    """An expression holds symbols, and a tree has numbers alone."""


@dataclass(frozen=True, slots=True)
class _Node:
    """What an expression does at one place, and with which parts."""

    name: str
    parts: tuple[Any, ...]


def syntax(source: str) -> Any:
    """The tree of an expression.

    Args:
        source: an expression, as :func:`layoutalg.evaluate` takes it.

    Raises:
        NotationError: if the text is no expression.
        LayoutError: if an operation has no such parameters.
        SymbolError: if there are symbols in it.

    >>> syntax("((4,8):(1@0,1@1))[1]")
    {'[]': [{'( )': [{':': [[4, 8], [{'@': [1, [0]]}, {'@': [1, [1]]}]]}]}, 1]}
    """
    return _data(_TreeParser(source).parse_all())


def operations_of(tree: Any) -> Iterator[str]:
    """The names in a tree, outermost first, signs among them.

    >>> list(operations_of(syntax("size(coalesce((2,4):(1,2)))")))
    ['size', 'coalesce', ':']
    """
    if isinstance(tree, dict):
        for name, parts in tree.items():
            yield name
            yield from operations_of(parts)
    elif isinstance(tree, list):
        for part in tree:
            yield from operations_of(part)


class _TreeParser(ExpressionParser):
    """The parser of expressions, which notes what it meets."""

    def layout(self, shape: Any, stride: Any, start: int) -> Any:
        return _Node(":", (shape, stride))

    def swizzle(self, bits: int, base: int, shift: int) -> Any:
        return _Node("S<>", (bits, base, shift))

    def composed(self, outer: Any, offset: Any, inner: Any) -> Any:
        return _Node("o", (outer, offset, inner))

    def grouped(self, value: Any) -> Any:
        return _Node("( )", (value,)) if self.is_function(value) else (value,)

    def is_function(self, value: Any) -> bool:
        return isinstance(value, _Node)  # or a number, where an operation gives one: only its value could tell

    def apply(self, name: str, function: Callable[..., Any], positional: list[Any], named: dict[str, Any]) -> Any:
        bound = bind_operation(name, function, positional, named)
        return _Node(name, (*bound.args, *bound.kwargs.values()))

    def called(self, function: Any, coordinate: list[Any]) -> Any:
        return _Node("()", (function, *coordinate))

    def mode(self, layout: Any, index: int) -> Any:
        return _Node("[]", (layout, index))


def _data(part: Any) -> Any:
    if isinstance(part, _Node):
        return {part.name: [_data(one) for one in part.parts]}
    if isinstance(part, tuple):
        return [_data(one) for one in part]
    if isinstance(part, ScaledBasis):
        return {"@": [_data(part.value), list(part.mode)]}
    if part is None or isinstance(part, int):
        return part
    raise SymbolError(f"syntax: extents and strides must be numbers, found {part}", str(part))
