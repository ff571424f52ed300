"""A judge of operations that may have no answer: the law of the operation, or the word `none` where there is none.

Law: `none` is right where every layout is wrong, and wrong where one is right.

>>> [lawful(mine, "composition", "(6,2):(1,7)", "(3,2):(2,3)") for mine in ("none", "(3,2):(2,3)")]
[None, 'is a layout, but there is none: it is 7 at index 5, must be 8']
>>> [lawful(mine, "complement", "4:2", 24) for mine in ("none", "(3,2):(8,1)")]
['says that there is none, but there is one', None]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import layoutalg
from descriptors.course.judges.typed import layout_of
from descriptors.errors import DescriptorError
from layoutalg import LayoutError, broken_law, evaluate, law_names

#: How an answer says that there is no layout.
NONE = ("none", "no such layout", "no")


def lawful(answer: str, operation: str, *operands: Any) -> str | None:
    """A right answer of an operation of the algebra, in any form, or `none` where the operation has no answer."""
    given = [evaluate(one) if isinstance(one, str) else one for one in operands]
    there_is = answerable(operation, *given)
    if answer.strip(" .`'\"").casefold() in NONE:
        return "says that there is none, but there is one" if there_is else None
    wrong = broken_law(operation, layout_of(answer), *given)
    if there_is:
        return wrong
    more = f": it {wrong}" if wrong and "there is none" not in wrong else ""
    return f"is a layout, but there is none{more}"


def answerable(operation: str, *operands: Any) -> bool:
    """Whether the algebra has an answer.

    Raises:
        DescriptorError: if there is no such operation.

    >>> from layoutalg import Layout
    >>> answerable("logical_divide", Layout(12, 1), Layout(5, 1))
    False
    """
    if operation not in law_names():
        raise DescriptorError(f"course: the operation must be one of {', '.join(law_names())}, found {operation}")
    try:
        getattr(layoutalg, operation)(*operands)
    except LayoutError:
        return False
    return True


#: The judges, by the name that an exercise gives.
JUDGES: dict[str, Callable[..., str | None]] = {"lawful": lawful}
