"""Evaluation of layout algebra by the CuTe DSL: single operations, and whole expressions as syntax trees.

A case is the name of an operation with its arguments as plain data. An expression is sent as its syntax tree, so that
the DSL computes all intermediate results and uses no value of ours. The answer is the result as the DSL prints it. If a
question makes the DSL raise an exception, crash or hang, the question gets this answer, and the others are answered.
:data:`ROWS` contains, by operation, the rows of ``docs/divergences.md`` about known differences between the DSL and the
algebra.

The tree describes the text and no results. Integers, booleans and ``None`` represent themselves, and a tuple is a list.
Everything else is a pair of a name and its parts: an operation of the algebra has its own name, with the operands in
the order of its parameters; symbols of the notation have the names in `SIGNS`.

Invariants: apart from signs and names, a text and its tree contain the same numbers in the same order; the rows of an
operation are listed once, and an operation without rows is not listed.

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
    """An operation with arguments in the order of the DSL's function of the same name.

    Attributes:
        operation: a function of the DSL's layout algebra, or one of ``call`` (a layout and a coordinate), ``text`` (a
            layout, which is parsed and printed), ``upcast`` and ``downcast`` (a layout and a factor), ``concatenate``
            (layouts, as in ``make_layout(layout, ...)``).
        arguments: integers, ``None``, tuples of these, and texts in CuTe notation for layouts, composed layouts and
            swizzles, alone or inside a tuple (a tiler of layouts).
    """

    operation: str
    arguments: tuple[Argument, ...]


@frozen
class Answer:
    """An answer of the DSL.

    Attributes:
        status: ``ok``; ``rejected`` (an exception); ``crashed`` (its native code crashed); ``timeout``.
        text: the result as the DSL prints it, or the reason. A result with an offset (`slice_and_offset`,
            `local_tile`, `local_partition`) is written as ``LAYOUT + OFFSET``; identity swizzles are omitted.
    """

    status: Status
    text: str


def evaluate(cases: Iterable[Case], *, each_s: float = 20.0, batch: int = 1000) -> list[Answer]:
    """Return the DSL's answer to every case, in order.

    Args:
        cases: the operations with their arguments.
        each_s: the most seconds of one case.
        batch: number of cases in one trace; with large batches, thousands of cases take seconds.

    Raises:
        OracleUnavailableError: if the CuTe DSL is not installed.
        OracleError: if the worker process failed.

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


#: The names of symbols in a tree: a layout of shape and stride, a swizzle, a composed layout, a basis stride of value
#: and path, a function called with a coordinate, one mode, and parentheses around one value. The parentheses make a
#: tuple of one, unless the value is a layout.
SIGNS = (":", "S<>", "o", "@", "()", "[]", "( )")


#: Options that the DSL does not have: its divides round up, and its left inverse is not strict.
OPTIONS = ("round_up", "strict")


class SymbolError(NotationError):
    """An expression that contains symbols; a tree contains only numbers."""


@frozen
class _Node:
    """A name of an operation or symbol, and its parts."""

    name: str
    parts: tuple[Any, ...]


def syntax(source: str) -> Any:
    """Return the syntax tree of an expression.

    Args:
        source: an expression, as for :func:`layoutalg.evaluate`.

    Raises:
        NotationError: if the text is not an expression.
        LayoutError: if an operation does not have these parameters.
        SymbolError: if the expression contains symbols.

    >>> syntax("((4,8):(1@0,1@1))[1]")
    {'[]': [{'( )': [{':': [[4, 8], [{'@': [1, [0]]}, {'@': [1, [1]]}]]}]}, 1]}
    """
    return _data(_TreeParser(source).parse_all())


def operations_of(tree: Any) -> Iterator[str]:
    """Yield the names in a tree, including those of symbols, outermost first.

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
    """A parser of expressions that returns the syntax tree instead of the value."""

    def layout(self, shape: Any, stride: Any, start: int) -> Any:
        return _Node(":", (shape, stride))

    def swizzle(self, bits: int, base: int, shift: int) -> Any:
        return _Node("S<>", (bits, base, shift))

    def composed(self, outer: Any, offset: Any, inner: Any) -> Any:
        return _Node("o", (outer, offset, inner))

    def grouped(self, value: Any) -> Any:
        return _Node("( )", (value,)) if self.is_function(value) else (value,)

    def is_function(self, value: Any) -> bool:
        return isinstance(value, _Node)  # an operation that returns a number counts as a function, too

    def apply(self, name: str, function: Callable[..., Any], positional: list[Any], keywords: dict[str, Any]) -> Any:
        bound = bind_operation(name, function, positional, keywords)
        options = [value for key, value in bound.kwargs.items() if key not in OPTIONS]
        return _Node(name, (*bound.args, *options))

    def image(self, function: Any, coordinate: list[Any]) -> Any:
        return _Node("()", (function, *coordinate))

    def mode(self, layout: Any, index: int) -> Any:
        return _Node("[]", (layout, index))


def _data(part: Any) -> Any:
    if isinstance(part, _Node):
        return {part.name: [_data(inner) for inner in part.parts]}
    if isinstance(part, tuple):
        return [_data(item) for item in part]
    if isinstance(part, ScaledBasis):
        return {"@": [_data(part.value), list(part.mode)]}
    if part is None or isinstance(part, int):
        return part
    raise SymbolError(f"syntax: {part} is not a number, and the CuTe DSL has no symbols", str(part))


def evaluate_expressions(sources: Iterable[str], *, each_s: float = 20.0, batch: int = 100) -> list[Answer]:
    """Return the DSL's answer to every expression, in order.

    Args:
        sources: expressions, as for :func:`layoutalg.evaluate`.
        each_s: the most seconds of one expression.
        batch: number of expressions in one trace.

    Raises:
        NotationError: if a text is not an expression.
        SymbolError: if an expression contains symbols, which the DSL does not have.
        OracleUnavailableError: if the CuTe DSL is not installed.
        OracleError: if the worker process failed.

    >>> from layoutalg.oracle import available
    >>> sources = ["size(coalesce((2,4):(1,2)))"]
    >>> evaluate_expressions(sources)[0].text if available() else "8"
    '8'
    """
    trees = [syntax(source) for source in sources]
    replies = ask("layoutalg.oracle.dsl.expressions", trees, each_s=each_s, batch=batch)
    return [Answer(reply.status, str(reply.value)) for reply in replies]


#: Rows of ``docs/divergences.md`` by the name of an operation in a syntax tree.
ROWS = {
    "()": (64, 66, 76),
    "blocked_product": (73,),
    "ceil_div": (80,),
    "complement": (21, 22, 23, 75),
    "composition": (1, 2, 3, 4, 5),
    "left_inverse": (78,),
    "local_partition": (81,),
    "local_tile": (82,),
    "logical_divide": (34, 35),
    "logical_product": (71, 73, 77),
    "make_ordered_layout": (56,),
    "max_common_vector": (74,),
    "nullspace": (33,),
    "raked_product": (73,),
    "recast_layout": (49, 50, 51, 52, 53),
    "slice_": (68,),
    "slice_and_offset": (69, 70),
    "tile_to_shape": (60, 79),
    "tiled_divide": (43,),
    "zipped_divide": (39, 43),
}


def rows_of(operations: Iterable[str]) -> str:
    """Return the rows of operations as text; empty if no operation has rows.

    >>> rows_of(["composition"])
    'composition: rows 1 to 5'
    """
    rows_by_name = {("a call" if name == "()" else name): ROWS[name] for name in operations if name in ROWS}
    return "; ".join(f"{name}: row{'s' * (len(rows) > 1)} {_runs_text(rows)}" for name, rows in rows_by_name.items())


def _runs_text(rows: Sequence[int]) -> str:
    """Return numbers as text, with runs of three or more as ranges."""
    runs: list[list[int]] = []
    for row in rows:
        if runs and row == runs[-1][-1] + 1:
            runs[-1].append(row)
        else:
            runs.append([row])
    parts = [f"{run[0]} to {run[-1]}" if len(run) > 2 else " and ".join(map(str, run)) for run in runs]
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))
