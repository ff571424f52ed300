"""Explain how the value of an expression comes about, step by step, or which condition of an operation fails.

The steps are those of the definitions: a divide is a complement and a composition, a composition takes the modes of B
one by one. They have the numbers of the operands in them.

Invariant: the result of the last step is the value of the expression, and each step is right: its result is
that of its operation, its condition is true. Only the last step of a refused operation has a condition that is false.
Source: the definitions in the modules of :mod:`layoutalg.algebra`.

>>> print(explain("complement(4:2, 24)"))
(2,3):(1,8)
<BLANKLINE>
complement(4:2, 24) = (2,3):(1,8)
complement(A, M): the offsets that A leaves free, up to M.
1. The modes so far use the offset 0. That fits 2 times below 2, the stride of
   4:2: add 2:1.
   complement(1:0, 2) = 2:1
2. One period has 8 offsets, and 3 of them cover 24: add 3:8.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from layoutalg.errors import LayoutError, NotationError
from layoutalg.explanations.composition_steps import explain_coalesce, explain_composition
from layoutalg.explanations.division_steps import (
    explain_blocked_product,
    explain_complement,
    explain_divide,
    explain_logical_divide,
    explain_logical_product,
    explain_product,
    explain_raked_product,
    explain_tile_to_shape,
)
from layoutalg.explanations.inverse_steps import explain_left_inverse, explain_nullspace, explain_right_inverse
from layoutalg.explanations.step import Board, ExplanationStep, FailedError, NotExplainedError, need_numbers
from layoutalg.frozen import frozen
from layoutalg.layouts.layout import Layout
from layoutalg.layouts.modes import size
from layoutalg.notation.expression import ExpressionParser, apply_operation, bind_operation, operations
from layoutalg.tuples.int_tuple import flatten_tuple, text

#: What the result of each operation is, and the function that writes its steps.
_OPERATIONS: dict[str, tuple[str, Callable[..., Any]]] = {
    "coalesce": ("coalesce(A): the fewest modes for the same function of the index.", explain_coalesce),
    "composition": ("composition(A, B): the layout R with R(i) = A(B(i)), in the shape of B.", explain_composition),
    "complement": ("complement(A, M): the offsets that A leaves free, up to M.", explain_complement),
    "logical_divide": (
        "logical_divide(A, T): composition(A, (T, complement(T, size(A)))).",
        explain_logical_divide,
    ),
    "zipped_divide": ("zipped_divide(A, T): the logical divide as ((tile), (rest)).", explain_divide("zipped")),
    "tiled_divide": ("tiled_divide(A, T): the logical divide as ((tile), rest, ...).", explain_divide("tiled")),
    "flat_divide": ("flat_divide(A, T): the logical divide as (tile, ..., rest, ...).", explain_divide("flat")),
    "logical_product": (
        "logical_product(A, B): (A, composition(complement(A, N), B)).",
        explain_logical_product,
    ),
    "zipped_product": ("zipped_product(A, B): the logical product as ((block), (copies)).", explain_product("zipped")),
    "tiled_product": ("tiled_product(A, B): the logical product as ((block), copies, ...).", explain_product("tiled")),
    "flat_product": ("flat_product(A, B): the logical product as (block, ..., copies, ...).", explain_product("flat")),
    "blocked_product": (
        "blocked_product(A, B): the logical product with mode i = (block, copies).",
        explain_blocked_product,
    ),
    "raked_product": (
        "raked_product(A, B): the logical product with mode i = (copies, block).",
        explain_raked_product,
    ),
    "tile_to_shape": (
        "tile_to_shape(A, shape, order): copies of A, in this order, fill the shape.",
        explain_tile_to_shape,
    ),
    "right_inverse": ("right_inverse(A): an index for each offset, R with A(R(i)) = i.", explain_right_inverse),
    "left_inverse": ("left_inverse(A): an index for each offset of A, R with A(R(A(i))) = A(i).", explain_left_inverse),
    "nullspace": ("nullspace(A): the indices of the modes of stride 0.", explain_nullspace),
}


@frozen
class Explanation:
    """The steps to the value of an expression; ``str`` is the text for a terminal.

    Args:
        source: the expression.
        value: its value; None if an operation was refused.
        steps: one step for each operation of the expression, in the order of evaluation.
        error: the message of the refusal; "" if there is none.
        error_type: the class of the refusal, such as ``NotDivisibleError``; "" if there is none.
    """

    source: str
    value: Any
    steps: tuple[ExplanationStep, ...]
    error: str = ""
    error_type: str = ""

    def __str__(self) -> str:
        head = "no result" if self.error else "None" if self.value is None else text(self.value)
        return f"{head}\n\n{self.steps_text}" if self.steps else head

    @property
    def steps_text(self) -> str:
        """The steps as text, numbered."""
        if len(self.steps) == 1:
            return str(self.steps[0])
        defined: set[str] = set()
        return "\n".join(
            line for number, step in enumerate(self.steps, 1) for line in step.lines(f"{number}.", defined)
        )


def explain(source: str) -> Explanation:
    """Return the steps from the operands of an expression to its value, or to the condition that fails.

    Every operation of the expression is explained. The steps of ``coalesce``, ``composition``, ``complement``, the
    divides, the products, ``tile_to_shape`` and the inverses follow their definitions; other operations, and operands
    with symbols or basis strides, have one step with the result.

    Args:
        source: an expression as for :func:`layoutalg.evaluate`.

    Returns:
        The explanation. If an operation refuses its operands, the explanation has the error and the steps up to the
        condition that is false.

    Raises:
        NotationError: if the text is not an expression.

    >>> print(explain("composition((6,2):(1,7), (3,2):(2,3))").steps_text)
    composition((6,2):(1,7), (3,2):(2,3)) has no result
    composition(A, B): the layout R with R(i) = A(B(i)), in the shape of B.
    1. The mode 3:2 of B visits every 2nd index of A, 3 times. All indices stay in
       the mode 6:1: stride 2 * 1 = 2.
       composition((6,2):(1,7), 3:2) = 3:2
    2. The mode 2:3 of B visits every 3rd index of A, 2 times. All indices stay in
       the mode 6:1: stride 3 * 1 = 3.
       composition((6,2):(1,7), 2:3) = 2:3
    3. Together, the modes carry over the end of a mode of A: A(4 + 3) = A(7) = 8,
       but A(4) + A(3) = 7. In a layout, the offsets of the modes add up.
       needed: 4 + 3 = 8, which is false
    """
    parser = _Recorder(source)
    try:
        value = parser.parse_all()
    except NotationError:
        raise
    except LayoutError as error:
        return Explanation(source, None, tuple(parser.steps), str(error), type(error).__name__)
    return Explanation(source, value, tuple(parser.steps))


class _Recorder(ExpressionParser):
    """A parser of expressions that keeps the explanation of each operation that it evaluates."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.steps: list[ExplanationStep] = []

    def apply(self, name: str, function: Callable[..., Any], positional: list[Any], keywords: dict[str, Any]) -> Any:
        operands = bind_operation(name, function, positional, keywords).args
        try:
            return super().apply(name, function, positional, keywords)
        finally:
            if name not in _CONSTRUCTORS:
                self.steps.append(explain_call(name, *operands))

    def image(self, function: Any, coordinate: list[Any]) -> Any:
        value = super().image(function, coordinate)
        self.steps.append(_explain_image(function, tuple(coordinate), value))
        return value

    def composed(self, outer: Any, offset: Any, inner: Any) -> Any:
        value = super().composed(outer, offset, inner)
        if type(outer) is Layout and type(inner) is Layout and offset == 0:
            self.steps.append(
                ExplanationStep(
                    "A o B is a composed layout, which keeps A and B: the function i -> A(B(i)). The next step looks "
                    "for a layout that is the same function."
                )
            )
            self.steps.append(explain_call("composition", outer, inner))
        return value


#: Operations whose value is only what the operands say.
_CONSTRUCTORS = ("Layout", "ComposedLayout", "Swizzle", "E")


def explain_call(operation: str, *operands: Any) -> ExplanationStep:
    """Return the explanation of one operation.

    The steps are shown if they end in the value of the operation, or in a condition that fails where it is refused.

    Args:
        operation: the name of the operation.
        operands: its operands, in its order.
    """
    value, refusal = None, None
    try:
        value = apply_operation(operation, operations()[operation], list(operands), {})
    except LayoutError as error:
        refusal = error
    step = steps_of(operation, *operands)
    if step is None or (step.result, step.holds) != (value, refusal is None):
        return _without_steps(operation, operands, value, refusal)
    return step


def steps_of(operation: str, *operands: Any) -> ExplanationStep | None:
    """Return the steps that the definition of an operation has; None if there are none for these operands."""
    if operation not in _OPERATIONS:
        return None
    sentence, write = _OPERATIONS[operation]
    board = Board(explain_call)
    try:
        result = write(board, *operands)
    except FailedError:
        return ExplanationStep(sentence, operation, operands, holds=False, steps=tuple(board.steps))
    except (NotExplainedError, LayoutError):
        return None
    return ExplanationStep(sentence, operation, operands, result, steps=tuple(board.steps))


def _without_steps(operation: str, operands: tuple[Any, ...], value: Any, error: LayoutError | None) -> ExplanationStep:
    """Return the one step of an operation without an explanation: its result or its refusal."""
    sentence = f"No steps are shown for {operation}."
    if operation in _OPERATIONS:
        sentence = f"{_OPERATIONS[operation][0]} No steps are shown for these operands."
    if error is None:
        return ExplanationStep(sentence, operation, operands, value)
    fact = str(error).partition("; ")[0].partition(": ")[2]
    failed = ExplanationStep(f"{fact[:1].upper()}{fact[1:]}.", holds=False)
    return ExplanationStep(sentence, operation, operands, holds=False, steps=(failed,))


def _explain_image(function: Any, coordinate: tuple[Any, ...], value: Any) -> ExplanationStep:
    """Return the step of a call of a layout: a coordinate of integers has the sum of its coordinates times strides."""
    place = coordinate[0] if len(coordinate) == 1 else coordinate
    try:
        need_numbers(function)
        digits, rest = [], place
        if type(place) is int and 0 <= place < size(function):
            for extent in flatten_tuple(function.shape):
                digits.append(rest % extent)
                rest //= extent
        elif isinstance(place, tuple) and len(flatten_tuple(place)) == len(flatten_tuple(function.shape)):
            digits = list(flatten_tuple(place))
        if not digits or type(value) is not int or not all(type(digit) is int for digit in digits):
            raise NotExplainedError
    except NotExplainedError:
        return ExplanationStep("Apply the layout to the coordinate.", "()", (function, *coordinate), value)
    terms = [f"{digit}*{d}" for digit, d in zip(digits, flatten_tuple(function.stride), strict=True)]
    named = f"Index {place} is the coordinate ({','.join(map(str, digits))}). " if type(place) is int else ""
    return ExplanationStep(
        f"{named}An offset is the sum of the coordinates times the strides.",
        "()",
        (function, *coordinate),
        value,
        f"{' + '.join(terms)} = {value}",
    )
