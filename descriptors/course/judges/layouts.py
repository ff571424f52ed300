"""Judges of layouts, of the numbers that they give, and of operations that may have no answer.

Invariant: an answer is wrong where it differs, whatever its shape.

>>> function("(4,2):(1,4)", "8:1"), function("8:2", "8:1")
(None, 'is 2 at index 1, must be 1')

An exclusive or is told bit by bit.

>>> exclusive("6", (12, 10)), exclusive("5", (12, 10))
(None, 'says 5 for 12 xor 10: bit 0 is 1, but both have 0 there')
>>> numbers("8", "((4,8):(8,1))(2)")
'says 8 for ((4,8):(8,1))(2)'

Where an operation has no answer, `none` is right and every layout wrong; where it has one, `none` is wrong.

>>> [lawful(mine, "composition", "(6,2):(1,7)", "(3,2):(2,3)") for mine in ("none", "(3,2):(2,3)")]
[None, 'is a layout, but there is none: it is 7 at index 5, must be 8']
>>> [lawful(mine, "complement", "4:2", 24) for mine in ("none", "(3,2):(8,1)")]
['says that there is none, but there is one', None]
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import layoutalg
from descriptors.course.judges.answers import integers_of, layout_of, written_layout
from descriptors.errors import DescriptorError
from layoutalg import (
    ComposedLayout,
    Layout,
    LayoutError,
    broken_law,
    coalesce,
    composition,
    evaluate,
    flatten,
    law_names,
    size,
)


def counts_of(layout: Layout | ComposedLayout) -> tuple[int, ...]:
    """How many coordinates each mode has.

    Raises:
        DescriptorError: if an extent is a symbol.

    >>> counts_of(layout_of("((2,4),(2,4)):((1,4),(2,16))"))
    (8, 8)
    """
    shape = layout.shape
    return tuple(_number(size(mode), layout) for mode in (shape if isinstance(shape, tuple) else (shape,)))


def offset_of(layout: Layout | ComposedLayout, *coordinate: int) -> int:
    """What a layout gives at a coordinate or an index.

    Raises:
        DescriptorError: if it is no number, but a coordinate or a symbol.

    >>> offset_of(layout_of("(4,8):(8,1)"), 2, 3)
    19
    """
    return _number(layout(*coordinate), layout)


def _number(value: object, layout: Layout | ComposedLayout) -> int:
    if type(value) is not int:
        raise DescriptorError(f"answer: a layout must be of numbers, found {value} in {layout}")
    return value


def function(answer: str, function_text: str) -> str | None:
    """The same offsets, index by index, whatever the shape."""
    mine, right = written_layout(answer), layout_of(function_text)
    if size(mine) != size(right):
        return f"has {size(mine)} elements, must have {size(right)}"
    if isinstance(mine, Layout) and isinstance(right, Layout) and coalesce(mine) == coalesce(right):
        return None  # one function has one shortest form; a tile has many elements
    for index in range(size(right)):
        if mine(index) != right(index):
            return f"is {mine(index)} at index {index}, must be {right(index)}"
    return None


def shaped(answer: str, function_text: str) -> str | None:
    """The same offsets, in modes of the same sizes, however they are split."""
    mine, right = written_layout(answer), layout_of(function_text)
    counts = [list(counts_of(one)) for one in (mine, right)]
    if counts[0] != counts[1]:
        return f"has modes of {counts[0]} elements, must have {counts[1]}"
    return function(answer, function_text)


def numbers(answer: str, *expressions: str) -> str | None:
    """A list of numbers, each the value of an expression of the algebra."""
    mine = integers_of(answer, len(expressions))
    for said, expression in zip(mine, expressions, strict=True):
        if said != evaluate(expression):
            return f"says {said} for {expression}"
    return None


_AT = re.compile(r"\(\(?(\(.*\):\(.*\))\)?\)\((\d+)\)$")


def reading(answer: str, *expressions: str) -> str | None:
    """How the indices of layouts were misread, if the first wrong number of an answer tells that.

    >>> reading("0, 1", "((4,8):(8,1))(0)", "((4,8):(8,1))(1)")
    'the rightmost coordinate is counted first'
    """
    try:
        pairs = zip(integers_of(answer, len(expressions)), expressions, strict=True)
        said, expression = next((said, one) for said, one in pairs if said != evaluate(one))
        found = _AT.match(expression)
        layout = layout_of(found[1]) if found else None
    except (StopIteration, LayoutError):
        return None
    if found is None or not isinstance(layout, Layout):
        return None
    index = int(found[2])
    readings = {
        "the rightmost coordinate is counted first": Layout(_reversed(layout.shape), _reversed(layout.stride))(index),
        "the index is taken for the offset": index,
        "the first stride is taken for all of the indices": index * offset_of(layout, 1),
    }
    return next((slip for slip, number in readings.items() if number == said), None)


def _reversed(tree: Any) -> Any:
    return tuple(_reversed(one) for one in reversed(tree)) if isinstance(tree, tuple) else tree


def no_composition(answer: str, a: str) -> str | None:
    """A layout b for which a(b(i)) is no layout."""
    try:
        composed = composition(layout_of(a), written_layout(answer))
    except LayoutError as error:
        return None if "composition" in str(error) else f"cannot be composed at all: {error}"
    return f"has a composition: {composed}"


def counterexample(answer: str, claim: str, a: str, b: str) -> str | None:
    """An index i at which a layout that is claimed to be a(b(i)) is something else."""
    index, *more = integers_of(answer)
    claimed, first, then = layout_of(claim), layout_of(b), layout_of(a)
    if more or not 0 <= index < size(claimed):
        return f"must be an index from 0 to {size(claimed) - 1}, found {answer}"
    if claimed(index) == then(first(index)):
        return f"is no counterexample: both are {claimed(index)} at index {index}"
    return None


def different(answer: str, layout: str, *others: str) -> str | None:
    """A layout of another shape than these, with the same offsets; nesting alone does not make another.

    >>> different("(4,3):(2,8)", "12:2"), different("((3,4)):((2,6))", "12:2", "(3,4):(2,6)")
    (None, 'is written as one of those that are given: ((3,4)):((2,6))')
    """
    wrong = function(answer, layout)
    if wrong is None and flatten(written_layout(answer)) in map(layout_of, (layout, *others)):
        return f"is written as one of those that are given: {answer}"
    return wrong


def exclusive(answer: str, *pairs: tuple[int, int]) -> str | None:
    """The exclusive or of each pair of numbers."""
    for said, (a, b) in zip(integers_of(answer, len(pairs)), pairs, strict=True):
        for place in range(max(said, a, b, 0).bit_length()):
            one, other, mine = (number >> place & 1 for number in (a, b, said))
            if mine != (one != other):
                have = f"both have {one}" if one == other else f"one has {one} and the other {other}"
                return f"says {said} for {a} xor {b}: bit {place} is {mine}, but {have} there"
        if said < 0:
            return f"says {said} for {a} xor {b}: bits without a sign make no negative number"
    return None


#: How an answer says that there is no layout; who writes `no idea` or `not sure` has not said so.
_NONE = re.compile(
    r"(?:there is )?(?:none(?: exists)?|(?:im|not )possible"
    r"|no(?: (?:such )?(?:layout|complement|composition|divide|inverse|answer))?)"
)


def lawful(answer: str, operation: str, *operands: Any) -> str | None:
    """A right answer of an operation of the algebra, in any form, or `none` where the operation has no answer."""
    values = [evaluate(one) if isinstance(one, str) else one for one in operands]
    there_is = answerable(operation, *values)
    if _NONE.fullmatch(answer.strip(" .`'\"").casefold()):
        return "says that there is none, but there is one" if there_is else None
    wrong = broken_law(operation, written_layout(answer), *values)
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
JUDGES: dict[str, Callable[..., str | None]] = {
    "function": function,
    "shaped": shaped,
    "numbers": numbers,
    "no composition": no_composition,
    "counterexample": counterexample,
    "different": different,
    "exclusive or": exclusive,
    "lawful": lawful,
}
