"""A law by the name of its operation: the public door, which takes layouts or their notation.

Law: every answer of the algebra keeps the law of its operation.

>>> from layoutalg import Layout, composition
>>> broken_law("composition", composition(Layout((4, 8), (8, 1)), Layout(4, 2)), "(4,8):(8,1)", "4:2") is None
True
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from layoutalg.errors import LayoutError, brief
from layoutalg.laws.definitions import LAWS
from layoutalg.laws.partitions import PLANS, PRODUCT_PLANS
from layoutalg.laws.points import NoAnswer, TooLarge, leaves, misfit
from layoutalg.layouts.composed import ComposedLayout
from layoutalg.layouts.layout import Layout
from layoutalg.layouts.modes import AnyLayout, Tiler
from layoutalg.notation.expression import evaluate
from layoutalg.tuples.leaf import as_int

#: What an operation takes: a layout, a swizzle, a tiler, an integer; a layout may be given in notation.
Operand: TypeAlias = AnyLayout | Tiler | str | tuple[Any, ...]

_PLANS = PLANS | PRODUCT_PLANS
#: Operations that answer with a layout and the offset that completes it.
WITH_OFFSET = ("slice_and_offset", "local_tile", "local_partition")


def law_names() -> tuple[str, ...]:
    """The operations that have a law here.

    >>> len(law_names()), law_names()[:3]
    (29, ('blocked_product', 'coalesce', 'complement'))
    """
    return tuple(sorted({*LAWS, *_PLANS}))


def broken_law(operation: str, answer: Operand, *operands: Operand) -> str | None:
    """Where an answer breaks the definition of an operation first; None if nowhere, whatever its form.

    Law: the definition is enumerated, so that any layout that satisfies it is accepted, not only the one that the
    operation itself returns; nothing of the algebra is called.

    Args:
        operation: its name, as in ``law_names()``.
        answer: a layout, or its notation; of ``slice_and_offset``, ``local_tile`` and ``local_partition`` a pair of a
            layout and an offset.
        operands: what the operation takes, in its order, offsets in elements; layouts may be given in notation.

    Returns:
        What is wrong, as the end of a sentence about the answer; None if it is right.

    Raises:
        LayoutError: if there is no such law, an operand is not what the operation takes, or there are more than 2**16
            indices to look at.

    Source: the post-conditions in CUTLASS ``include/cute/layout.hpp``, operation by operation.

    >>> print(broken_law("complement", "(3,2):(8,1)", "4:2", 24))
    None
    >>> broken_law("complement", "6:1", "4:2", 24)
    'reaches offset 2 twice: by (a 0, yours 2) and by (a 1, yours 0)'
    >>> broken_law("complement", "(2,2):(1,8)", "4:2", 24)
    'reaches 4 x 4 = 16 offsets, must reach 24'
    >>> broken_law("composition", "(2,2):(1,16)", "(4,8):(8,1)", "4:2")
    'is 1 at index 1, must be 16'
    """
    if not isinstance(operation, str) or operation not in {*LAWS, *_PLANS}:
        raise LayoutError(f"broken_law: operation must be one of {', '.join(law_names())}, found {brief(operation)}")
    try:
        mine, given = _answer(operation, answer), tuple(map(_value, operands))
        return judged(operation, given, mine)
    except LayoutError:
        raise
    except TooLarge as error:
        raise LayoutError(f"broken_law: {operation} must have at most 2**16 indices to be enumerated") from error
    except NoAnswer:
        return "is an answer where there is none"
    except (TypeError, AttributeError, ValueError, LookupError, RecursionError, OverflowError) as error:
        what = ", ".join(map(brief, operands))
        raise LayoutError(f"broken_law: operands must be those of {operation}, found {what}") from error


def judged(operation: str, operands: tuple[Any, ...], answer: Any) -> str | None:
    """:func:`broken_law` of values that have the attributes of layouts.

    Raises:
        NoAnswer: if no layout satisfies the definition.
        TooLarge: if the enumeration would be too long.
    """
    if operation in LAWS:
        law: Callable[..., str | None] = LAWS[operation]
        return not_a_layout(answer) or law(answer, *operands)
    layout, offset = answer if operation in WITH_OFFSET else (answer, 0)
    plan = _PLANS[operation](*operands)
    return not_a_layout(layout) or misfit(layout, plan, offset, free_offset=operation == "slice_")


def not_a_layout(answer: Any) -> str | None:
    """Why a value is no layout at all, whatever the operation."""
    extents = leaves(getattr(answer, "shape", 1))
    return f"has an extent of {min(extents)}" if min(extents, default=1) < 1 else None


def _answer(operation: str, given: Any) -> Any:
    """The answer as a value: a layout, with an offset where the operation gives one, or an integer for a length."""
    value = _value(given)
    layout = value[0] if operation in WITH_OFFSET and isinstance(value, tuple) and len(value) == 2 else value
    if operation == "max_common_vector":
        return as_int(value, "broken_law: the answer")
    if not isinstance(layout, (Layout, ComposedLayout)) or (operation in WITH_OFFSET) != isinstance(value, tuple):
        wanted = "a layout and an offset" if operation in WITH_OFFSET else "a layout"
        raise LayoutError(f"broken_law: the answer of {operation} must be {wanted}, found {brief(given)}")
    return value


def _value(given: Any) -> Any:
    """A text as the layout or tuple that it denotes, parts of a tuple likewise."""
    if isinstance(given, str):
        try:
            return evaluate(given)
        except LayoutError as error:
            raise LayoutError(f"broken_law: {error}") from error
    return tuple(map(_value, given)) if isinstance(given, tuple) else given
