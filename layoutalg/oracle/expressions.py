"""The layout algebra evaluated by the CuTe DSL: single operations, and whole expressions along one syntax tree.

A case names an operation and gives its arguments as plain data; an expression goes as its syntax tree, so that what an
operation inside gives is given to the next by the DSL itself, and no value of ours is. The answer is text, the way the
DSL prints the result. Whatever a question does to the DSL (an exception, a native crash, no end), it gets an answer and
the others go on. Where the DSL is known not to do as the algebra does, :data:`ROWS` has the rows of
``docs/divergences.md``, by operation.

The tree is what was written, and nothing of what it comes to: an integer, a truth value and ``None`` stand for
themselves, a tuple is a list, and all else is a pair of its name and its parts: an operation of the algebra by its own
name, with its operands in the order of its parameters, and what the notation writes with signs by those of `SIGNS`.

Laws: signs and names aside, a text and its tree hold the same numbers in the same order; every operation has its own
rows once, and one without rows none.

>>> syntax("size(coalesce((2,4):(1,2)), mode=[0])")
{'size': [{'coalesce': [{':': [[2, 4], [1, 2]]}]}, [0]]}
>>> syntax("(S<3,4,3> o 0 o 8:1)(5)")
{'()': [{'( )': [{'o': [{'S<>': [3, 4, 3]}, 0, {':': [8, 1]}]}]}, 5]}
>>> rows_of(["size", ":"]), rows_of(["logical_divide", "complement", "complement"])
('', 'logical_divide: rows 34 and 35; complement: rows 21 to 23 and 75')
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

from layoutalg.errors import NotationError
from layoutalg.frozen import frozen
from layoutalg.notation.expression import ExpressionParser, bind_operation
from layoutalg.oracle.service import Status, ask
from layoutalg.tuples.scaled_basis import ScaledBasis

Argument: TypeAlias = "int | str | Sequence[Argument] | None"


@frozen
class Case:
    """One question: ``operation`` with ``arguments`` in the order of the DSL's function of that name.

    Attributes:
        operation: a name of the DSL's layout algebra, or one of ``call`` (a layout and a coordinate), ``text`` (a
            layout, read and written back), ``upcast`` and ``downcast`` (a layout and a factor), ``concatenate``
            (layouts, as ``make_layout(layout, ...)``).
        arguments: integers, ``None``, tuples of these, and texts in CuTe notation for layouts, composed layouts and
            swizzles, alone or inside a tuple (a tiler of layouts).
    """

    operation: str
    arguments: tuple[Argument, ...]


@frozen
class Answer:
    """What the DSL said.

    Attributes:
        status: ``ok``; ``rejected`` (it raised an exception); ``crashed`` (its native code died); ``timeout``.
        text: the result as the DSL prints it, or the reason. A result with an offset (`slice_and_offset`,
            `local_tile`, `local_partition`) reads ``LAYOUT + OFFSET``; identity swizzles are left out.
    """

    status: Status
    text: str


def evaluate(cases: Iterable[Case], *, each_s: float = 20.0, batch: int = 1000) -> list[Answer]:
    """Return the DSL's answer to every case, in order.

    Args:
        cases: the questions.
        each_s: seconds that one case may take.
        batch: cases traced together; one trace is what makes thousands of cases a matter of seconds.

    Raises:
        OracleUnavailableError: if the CuTe DSL is not installed.
        OracleError: if the oracle broke as a tool.

    >>> from layoutalg.oracle import available
    >>> case = Case("zipped_divide", ("((8,16),(64,2)):((64,512),(1,8192))", (64, 16)))
    >>> evaluate([case])[0].text if available() else "((64,16),(2,(4,2))):((64,1),(4096,(16,8192)))"
    '((64,16),(2,(4,2))):((64,1),(4096,(16,8192)))'
    """
    questions = [(case.operation, case.arguments) for case in cases]
    return [
        Answer(reply.status, str(reply.value))
        for reply in ask("layoutalg.oracle.dsl.algebra", questions, each_s=each_s, batch=batch)
    ]


#: A layout of shape and stride, a swizzle, a composed layout, a basis stride of value and path, a function at a
#: coordinate, one mode, and parentheses around one value, which are a tuple of one unless that is a layout.
SIGNS = (":", "S<>", "o", "@", "()", "[]", "( )")


class SymbolError(NotationError):
    """An expression holds symbols, and a tree has numbers alone."""


@frozen
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

    def apply(self, name: str, function: Callable[..., Any], positional: list[Any], keywords: dict[str, Any]) -> Any:
        bound = bind_operation(name, function, positional, keywords)
        return _Node(name, (*bound.args, *bound.kwargs.values()))

    def image(self, function: Any, coordinate: list[Any]) -> Any:
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


def evaluate_expressions(sources: Iterable[str], *, each_s: float = 20.0, batch: int = 100) -> list[Answer]:
    """Return what the DSL makes of every expression, in order.

    Args:
        sources: expressions, as :func:`layoutalg.evaluate` takes them.
        each_s: seconds that one may take.
        batch: how many are traced together.

    Raises:
        NotationError: if a text is no expression.
        SymbolError: if there are symbols in it, which the DSL does not have.
        OracleUnavailableError: if the CuTe DSL is not installed.
        OracleError: if the oracle broke as a tool.

    >>> from layoutalg.oracle import available
    >>> sources = ["size(coalesce((2,4):(1,2)))"]
    >>> evaluate_expressions(sources)[0].text if available() else "8"
    '8'
    """
    trees = [syntax(source) for source in sources]
    replies = ask("layoutalg.oracle.dsl.expressions", trees, each_s=each_s, batch=batch)
    return [Answer(reply.status, str(reply.value)) for reply in replies]


#: Rows of the page by the name that an operation has in a syntax tree (`layoutalg.oracle.expressions`).
ROWS = {
    "()": (64, 66, 76),
    "blocked_product": (73,),
    "complement": (21, 22, 23, 75),
    "composition": (1, 2, 3, 4, 5),
    "left_inverse": (29, 31),
    "logical_divide": (34, 35),
    "logical_product": (71, 73),
    "make_ordered_layout": (56,),
    "max_common_vector": (74,),
    "nullspace": (33,),
    "raked_product": (73,),
    "recast_layout": (49, 50, 51, 52, 53),
    "slice_": (68,),
    "slice_and_offset": (69, 70),
    "tile_to_shape": (60,),
    "tiled_divide": (43,),
    "zipped_divide": (39, 43),
}


def rows_of(operations: Iterable[str]) -> str:
    """The rows of these operations as a sentence tells them; empty if none has any.

    >>> rows_of(["composition"])
    'composition: rows 1 to 5'
    """
    rows_by_name = {("a call" if name == "()" else name): ROWS[name] for name in operations if name in ROWS}
    return "; ".join(f"{name}: row{'s' * (len(rows) > 1)} {_runs_text(rows)}" for name, rows in rows_by_name.items())


def _runs_text(rows: Sequence[int]) -> str:
    """Numbers, runs of three or more as such."""
    runs: list[list[int]] = []
    for row in rows:
        if runs and row == runs[-1][-1] + 1:
            runs[-1].append(row)
        else:
            runs.append([row])
    parts = [f"{run[0]} to {run[-1]}" if len(run) > 2 else " and ".join(map(str, run)) for run in runs]
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))
