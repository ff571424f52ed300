"""Whole expressions of the algebra, evaluated by the CuTe DSL along the same syntax tree.

The DSL gets the tree and no value of ours: what an operation inside gives is given to the next by the DSL itself.
"""

from __future__ import annotations

from collections.abc import Iterable

from layoutalg.oracle.algebra import Answer
from layoutalg.oracle.service import ask
from layoutalg.oracle.tree import syntax

__all__ = ["evaluate_expressions"]


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
