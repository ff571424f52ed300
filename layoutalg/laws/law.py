"""Which law an operation has, and where an answer breaks it: the door of this room, for layouts and their notation.

A law is of one of two kinds. A *definition* looks at the answer as a whole, where several functions are right or the
form is what matters: a complement, an inverse, a coalesced layout. A *plan* says what every coordinate of the answer
stands for, where one function alone is right: compositions, divides, products, slices.

Law: no answer of the algebra breaks the law of its operation.

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

#: The plan of each operation whose answer is one function; the others have a definition in ``LAWS``.
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
        value = _answer(operation, answer)
        return breach(operation, tuple(map(_value, operands)), value)
    except LayoutError:
        raise  # says already what is wrong; it is a ValueError, which the last clause would word anew
    except TooLarge as error:
        raise LayoutError(f"broken_law: {operation} must have at most 2**16 indices to be enumerated") from error
    except NoAnswer:
        return "is an answer where there is none"
    except (TypeError, AttributeError, ValueError, LookupError, RecursionError, OverflowError) as error:
        what = ", ".join(map(brief, operands))
        raise LayoutError(f"broken_law: operands must be those of {operation}, found {what}") from error


def breach(operation: str, operands: tuple[Any, ...], answer: Any) -> str | None:
    """:func:`broken_law` without the door: of values that have the attributes of layouts, nothing checked or evaluated.

    Raises:
        NoAnswer: if no layout satisfies the definition.
        TooLarge: if the enumeration would be too long.
    """
    if operation in LAWS:
        law: Callable[..., str | None] = LAWS[operation]
        return _empty_mode(answer) or law(answer, *operands)
    layout, offset = answer if operation in WITH_OFFSET else (answer, 0)
    plan = _PLANS[operation](*operands)
    # A slice leaves out the offset of the modes that it fixes, so its values are right but for one constant.
    return _empty_mode(layout) or misfit(layout, plan, offset, free_offset=operation == "slice_")


def _empty_mode(answer: Any) -> str | None:
    """That an extent is 0 or less, so that there is nothing to enumerate; None of a layout, and of a number."""
    smallest = min(leaves(getattr(answer, "shape", 1)), default=1)
    return f"has an extent of {smallest}" if smallest < 1 else None


def _answer(operation: str, answer: Operand) -> Any:
    """An answer as a value of the kind that the operation gives: a layout, a layout and an offset, or a length."""
    value = _value(answer)
    if operation == "max_common_vector":
        return as_int(value, "broken_law: the answer")
    if operation in WITH_OFFSET:
        kind = "a layout and an offset"
        fits = isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], (Layout, ComposedLayout))
    else:
        kind, fits = "a layout", isinstance(value, (Layout, ComposedLayout))
    if not fits:
        raise LayoutError(f"broken_law: the answer of {operation} must be {kind}, found {brief(answer)}")
    return value


def _value(operand: Operand) -> Any:
    """The value of an operand: a text is evaluated, and so are the texts in a tuple."""
    if isinstance(operand, str):
        try:
            return evaluate(operand)
        except LayoutError as error:
            raise LayoutError(f"broken_law: {error}") from error
    return tuple(map(_value, operand)) if isinstance(operand, tuple) else operand
