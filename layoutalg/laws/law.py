"""Check an answer against the definition of an operation. This is the public interface of ``layoutalg.laws``.

There are two kinds of laws. A *definition* examines the whole answer; it is used if several functions are right or the
form matters: a complement, an inverse, a coalesced layout. A *plan* gives the expected value at every coordinate of the
answer; it is used if only one function is right: compositions, divides, products, slices.

Invariant: no result of the algebra breaks the law of its operation.

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
from layoutalg.laws.points import NoAnswerError, TooLargeError, leaves, misfit
from layoutalg.layouts.composed import ComposedLayout
from layoutalg.layouts.layout import Layout
from layoutalg.layouts.modes import AnyLayout, Tiler
from layoutalg.notation.expression import evaluate
from layoutalg.tuples.leaf import as_int

#: An operand of an operation: a layout, a swizzle, a tiler or an integer; a layout may be given in notation.
Operand: TypeAlias = AnyLayout | Tiler | str | tuple[Any, ...]

#: The plan of each operation for which one function is right. The other operations have a definition in ``LAWS``.
_PLANS = PLANS | PRODUCT_PLANS
#: The operations that return a layout and an offset.
WITH_OFFSET = ("slice_and_offset", "local_tile", "local_partition")


def law_names() -> tuple[str, ...]:
    """Return the names of the operations that have a law.

    >>> len(law_names()), law_names()[:3]
    (30, ('blocked_product', 'coalesce', 'complement'))
    """
    return tuple(sorted({*LAWS, *_PLANS}))


def broken_law(operation: str, answer: Operand, *operands: Operand) -> str | None:
    """Return the first place at which an answer breaks the definition of an operation, or None if it is right.

    Invariant: the definition is enumerated, so every layout that satisfies it is accepted, not only the one that the
    operation returns. No function of the algebra is called.

    Args:
        operation: the name of an operation, as in ``law_names()``.
        answer: a layout or its notation; for ``slice_and_offset``, ``local_tile`` and ``local_partition`` a pair of a
            layout and an offset.
        operands: the operands in the order of the operation, offsets in elements; layouts may be given in notation.

    Returns:
        The error as the end of a sentence about the answer; None if the answer is right.

    Raises:
        LayoutError: if the operation has no law, an operand does not fit the operation, or there are more than 2**16
            indices to enumerate.

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
        raise LayoutError(
            f"broken_law: {brief(operation)} is not an operation with a law; these are {', '.join(law_names())}"
        )
    try:
        value = _answer(operation, answer)
        return breach(operation, tuple(map(_value, operands)), value)
    except LayoutError:
        raise  # a LayoutError is a ValueError, which the last clause would catch
    except TooLargeError as error:
        raise LayoutError(f"broken_law: {operation} has more than 2**16 indices to enumerate") from error
    except NoAnswerError:
        return "is an answer where there is none"
    except (TypeError, AttributeError, ValueError, LookupError, RecursionError, OverflowError) as error:
        operands_text = ", ".join(map(brief, operands))
        raise LayoutError(f"broken_law: the operands ({operands_text}) do not fit {operation}") from error


def breach(operation: str, operands: tuple[Any, ...], answer: Any) -> str | None:
    """Check an answer as :func:`broken_law` does, for values with the attributes of layouts, without checking operands.

    Raises:
        NoAnswerError: if no layout satisfies the definition.
        TooLargeError: if the enumeration is too long.
    """
    if operation in LAWS:
        law: Callable[..., str | None] = LAWS[operation]
        return _empty_mode(answer) or law(answer, *operands)
    layout, offset = answer if operation in WITH_OFFSET else (answer, 0)
    plan = _PLANS[operation](*operands)
    # slice_ does not return the offset of the fixed modes, so its values are right up to a constant.
    return _empty_mode(layout) or misfit(layout, plan, offset, free_offset=operation == "slice_")


def _empty_mode(answer: Any) -> str | None:
    """Return the error that an extent is not positive, so that nothing can be enumerated; None if all are positive."""
    smallest = min(leaves(getattr(answer, "shape", 1)), default=1)
    return f"has an extent of {smallest}" if smallest < 1 else None


def _answer(operation: str, answer: Operand) -> Any:
    """Return an answer as a value of the type of the operation: a layout, a layout and an offset, or a length.

    Raises:
        LayoutError: if the answer has another type.
    """
    value = _value(answer)
    if operation == "max_common_vector":
        return as_int(value, "broken_law: the answer")
    if operation in WITH_OFFSET:
        kind = "a layout and an offset"
        fits = isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], (Layout, ComposedLayout))
    else:
        kind, fits = "a layout", isinstance(value, (Layout, ComposedLayout))
    if not fits:
        raise LayoutError(f"broken_law: the answer of {operation} is {brief(answer)}, which is not {kind}")
    return value


def _value(operand: Operand) -> Any:
    """Return the value of an operand; a string is evaluated, also in a tuple."""
    if isinstance(operand, str):
        try:
            return evaluate(operand)
        except LayoutError as error:
            raise LayoutError(f"broken_law: {error}") from error
    return tuple(map(_value, operand)) if isinstance(operand, tuple) else operand
