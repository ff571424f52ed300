"""The operations of the algebra as ``layoutalg ops`` lists them and explains one of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from inspect import Signature, getdoc, signature
from typing import Any

from layoutalg.errors import LayoutError
from layoutalg.notation.expression import OPERATIONS, operations

#: What stands in place of a docstring where Python was told to drop them.
_NO_DOCUMENTATION = "(no documentation: Python runs with -OO)"


def tell_operations() -> str:
    """Every operation by topic, with its summary.

    >>> tell_operations().splitlines()[2]
    '  ComposedLayout        The function coordinate -> outer(offset + inner(coordinate)).'
    """
    return "\n".join(_lines(record_operations()))


def _lines(summaries: dict[str, str]) -> Iterator[str]:
    width = max(map(len, summaries))
    for topic, names in OPERATIONS.items():
        yield topic
        yield from (f"  {name:<{width}}  {summaries[name]}" for name in names)


def record_operations() -> dict[str, str]:
    """The summary of every operation, by its name."""
    return {name: _summary(function) for name, function in operations().items()}


def explained(name: str) -> str:
    """The parameters of an operation and its whole docstring.

    Raises:
        LayoutError: if there is no such operation.

    >>> explained("coalesce").splitlines()[0]
    'coalesce(layout, target_profile=None)'
    """
    functions = operations()
    if name not in functions:
        raise LayoutError(f"ops: NAME must be an operation (`layoutalg ops` lists them), found {name[:60]!r}")
    return f"{name}{_parameters(functions[name])}\n\n{getdoc(functions[name]) or _NO_DOCUMENTATION}"


def _summary(function: Callable[..., Any]) -> str:
    """The first line of an operation's docstring, without its markup."""
    first = (function.__doc__ or _NO_DOCUMENTATION).strip().split("\n", 1)[0]
    return re.sub(r":\w+:`([^`]*)`", r"\1", first).replace("``", "")


def _parameters(function: Callable[..., Any]) -> str:
    """The parameters of an operation as a reader wants them: without types."""
    declared = signature(function).parameters.values()
    return str(Signature([parameter.replace(annotation=parameter.empty) for parameter in declared]))
