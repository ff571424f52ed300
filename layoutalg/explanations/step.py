"""The values that an explanation is made of, and the board on which the explanation of one operation is written.

A step says one thing in a sentence. Most steps also have a result, with the operation and the operands that it is the
result of, so that every step can be checked without the others. Other steps have a condition on numbers.

>>> step = ExplanationStep("Join 2:1 and 6:2.", "", (Layout((2, 6), (1, 2)),), Layout(12, 1))
>>> print(step)
Join 2:1 and 6:2.
(2,6):(1,2) = 12:1
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from layoutalg.errors import LayoutError
from layoutalg.frozen import frozen
from layoutalg.layouts.composed import ComposedLayout
from layoutalg.layouts.layout import Layout, has_basis
from layoutalg.tuples.int_tuple import flatten_tuple, text
from layoutalg.tuples.leaf import has_symbols


@frozen
class ExplanationStep:
    """A step of an explanation.

    Args:
        text: the step as a sentence.
        operation: the operation that ``result`` is the result of; "" if ``result`` is the same function of the index as
            the operand, and "offsets" if it has the same set of offsets.
        operands: the operands of the operation.
        result: the result; None if the step has none, or the operation was refused.
        condition: a relation between numbers that must be true, such as ``3*1 + 1*2 = 5 < 6``; "" if there is none.
        holds: whether the condition is true, and no step below was refused.
        steps: the steps below this one.
    """

    text: str
    operation: str = ""
    operands: tuple[Any, ...] = ()
    result: Any = None
    condition: str = ""
    holds: bool = True
    steps: tuple[ExplanationStep, ...] = ()

    @property
    def formula(self) -> str:
        """The operation with its operands and result in notation; "" if the step has no operands."""
        if not self.operands:
            return ""
        operands = ["None" if operand is None else text(operand) for operand in self.operands]
        if self.operation == "offsets":
            return f"{operands[0]} has the offsets of {text(self.result)}"
        call = f"{self.operation}({', '.join(operands)})" if self.operation else operands[0]
        if self.operation == "()":
            call = f"({operands[0]})({', '.join(operands[1:])})"
        return f"{call} has no result" if self.result is None and not self.holds else f"{call} = {text(self.result)}"

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(
        self, number: str = "", defined: set[str] | None = None, above: str = "", width: int = 80
    ) -> Iterator[str]:
        """Yield the lines of the step and of the steps below it, which have numbers.

        Args:
            number: the number of the step; the steps below it have this number and their own.
            defined: definitions of operations that are not printed again.
            above: the formula of the step above, which is not printed again.
            width: the columns that a sentence fills. A formula is not wrapped.
        """
        defined = set() if defined is None else defined
        head = f"{number} " if number else ""
        paragraphs = [self.text, self._condition_line]
        formula = self.formula
        steps = self.steps
        if self.operation and self.text.startswith(f"{self.operation}("):  # a definition, after what it defines
            paragraphs = ["" if self.text in defined else self.text, self._condition_line]
            defined.add(self.text)
            if len(steps) == 1 and not steps[0].steps and steps[0].formula in ("", formula):
                paragraphs += [steps[0].text, steps[0]._condition_line]
                steps = ()
            paragraphs, formula = [formula, *paragraphs], ""
        if formula == above:
            formula = ""
        for line in [line for part in filter(None, paragraphs) for line in _wrapped(part, width - len(head))]:
            yield head + line
            head = " " * len(head)
        if formula:
            yield head + formula
        for position, step in enumerate(steps, 1):
            below = f"{number.rstrip('.')}.{position}" if number else f"{position}."
            margin = "  " if number else ""
            for line in step.lines(below, defined, self.formula, width - len(margin)):
                yield margin + line

    @property
    def _condition_line(self) -> str:
        return self.condition if self.holds or not self.condition else f"needed: {self.condition}, which is false"


def _wrapped(paragraph: str, width: int) -> list[str]:
    """Return the lines of a paragraph, broken at spaces that follow a word of the sentence."""
    if not paragraph.endswith((".", "false")):  # a formula
        return [paragraph]
    lines = [""]
    for word in paragraph.split(" "):
        if lines[-1] and len(lines[-1]) + 1 + len(word) > max(width, 40):
            lines.append(word)
        else:
            lines[-1] += f" {word}" if lines[-1] else word
    return lines


class FailedError(Exception):
    """A condition of an operation is false; it is the last step on the board."""


class NotExplainedError(Exception):
    """An operation has no steps for these operands."""


class Board:
    """The steps of the explanation of one operation, in the order in which they are written.

    Args:
        explain: returns the explanation of another operation, for the steps below.
    """

    def __init__(self, explain: Callable[..., ExplanationStep]) -> None:
        self.explain = explain
        self.steps: list[ExplanationStep] = []

    def write(
        self,
        sentence: str,
        operation: str = "",
        operands: tuple[Any, ...] = (),
        result: Any = None,
        condition: str = "",
    ) -> Any:
        """Write a step and return its result."""
        self.steps.append(ExplanationStep(sentence, operation, operands, result, condition))
        return result

    def fail(self, sentence: str, condition: str = "") -> NoReturn:
        """Write the step whose condition is false.

        Raises:
            FailedError: always.
        """
        self.steps.append(ExplanationStep(sentence, condition=condition, holds=False))
        raise FailedError

    def group(self, sentence: str, operation: str, operands: tuple[Any, ...], result: Any, inner: Board) -> Any:
        """Write a step with the steps of another board below it, and return its result."""
        self.steps.append(ExplanationStep(sentence, operation, operands, result, steps=tuple(inner.steps)))
        return result

    def board(self) -> Board:
        """Return an empty board for the steps below a step."""
        return Board(self.explain)

    def call(self, operation: str, *operands: Any) -> Any:
        """Write the explanation of another operation, and return its result.

        Raises:
            FailedError: if that operation is refused.
        """
        step = self.explain(operation, *operands)
        self.steps.append(step)
        if not step.holds:
            raise FailedError
        return step.result

    def refused(self, operate: Callable[..., Any], *operands: Any) -> Any:
        """Return the value of an operation; write its refusal as a step that fails.

        Raises:
            FailedError: if it is refused.
        """
        try:
            return operate(*operands)
        except LayoutError as error:
            fact = str(error).partition("; ")[0].partition(": ")[2]
        return self.fail(f"{fact[:1].upper()}{fact[1:]}.")


def need_numbers(*layouts: Any) -> None:
    """Check that layouts are plain and made of integers, which the explanations support.

    Raises:
        NotExplainedError: otherwise.
    """
    for layout in layouts:
        if type(layout) is not Layout or has_basis(layout):
            raise NotExplainedError
        if has_symbols(flatten_tuple((layout.shape, layout.stride))):
            raise NotExplainedError


def through_inner(board: Board, operation: str, layout: Any, *operands: Any) -> ComposedLayout:
    """Explain an operation on a composed layout: it re-indexes the inner layout, and the function after it stays."""
    inner = board.call(operation, layout.inner, *operands)
    result = ComposedLayout(layout.outer, layout.offset, inner)
    return board.write(  # type: ignore[no-any-return]
        f"{text(layout.outer)} o {text(layout.offset)} is applied after the inner layout, so it stays.",
        operation,
        (layout, *operands),
        result,
    )


def by_mode(board: Board, operation: str, layout: Layout, tiler: tuple[Any, ...], rest: bool = True) -> Layout:
    """Explain an operation mode by mode with a tuple of operands.

    Args:
        board: the board to write on.
        operation: the operation.
        layout: the layout.
        tiler: the second operand of each mode.
        rest: whether the modes beyond the tuple stay; else they are dropped.
    """
    if len(tiler) > len(layout):
        board.fail("The tuple has more modes than the layout.", f"{len(tiler)} <= {len(layout)}")
    parts = []
    for mode, part in zip(layout, tiler, strict=False):
        parts.append(mode if part is None else board.call(operation, mode, part))
    if rest:
        parts += [layout[mode] for mode in range(len(tiler), len(layout))]
    result = Layout(tuple([part.shape for part in parts]), tuple([part.stride for part in parts]))
    return board.write("Put the modes together.", operation, (layout, tiler), result)  # type: ignore[no-any-return]


def listed(items: list[str]) -> str:
    """Return items as a list in a sentence.

    >>> listed(["2:1", "4:8", "3:2"]), listed(["2:1"])
    ('2:1, 4:8 and 3:2', '2:1')
    """
    return " and ".join([*([", ".join(items[:-1])] if len(items) > 1 else []), *items[-1:]])
