"""Judges of layouts, of offsets, and of operations that may have no answer.

Invariant: layouts are compared index by index, whatever their shapes.

>>> function("(4,2):(1,4)", "8:1"), function("8:2", "8:1")
(None, 'is 2 at index 1, must be 1')

The hint for an exclusive or names a wrong bit.

>>> exclusive("6", (12, 10)), exclusive("5", (12, 10))
(None, 'says 5 for 12 xor 10: bit 0 is 1, but both have 0 there')
>>> numbers("8", "((4,8):(8,1))(2)")
'says 8 for ((4,8):(8,1))(2)'

If an operation has no answer, `none` is right and every layout is wrong. If it has an answer, `none` is wrong.

>>> [lawful(answer, "composition", "(6,2):(1,7)", "(3,2):(2,3)") for answer in ("none", "(3,2):(2,3)")]
[None, 'is a layout, but there is none: it is 7 at index 5, must be 8']
>>> [lawful(answer, "complement", "4:2", 24) for answer in ("none", "(3,2):(8,1)")]
['says that there is none, but there is one', None]
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import layoutalg
from descriptors.course.judges.answers import NONE, integers_of, layout_of, written_layout
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
    """Return the number of coordinates of each mode.

    Raises:
        DescriptorError: if an extent is a symbol.

    >>> counts_of(layout_of("((2,4),(2,4)):((1,4),(2,16))"))
    (8, 8)
    """
    shape = layout.shape
    return tuple(_number(size(mode), layout) for mode in (shape if isinstance(shape, tuple) else (shape,)))


def offset_of(layout: Layout | ComposedLayout, *coordinate: int) -> int:
    """Return the offset of a layout at a coordinate or an index.

    Raises:
        DescriptorError: if the offset is a coordinate or contains a symbol.

    >>> offset_of(layout_of("(4,8):(8,1)"), 2, 3)
    19
    """
    return _number(layout(*coordinate), layout)


def _number(value: object, layout: Layout | ComposedLayout) -> int:
    if type(value) is not int:
        raise DescriptorError(f"answer: {layout} contains {value}, which is not a number")
    return value


def function(answer: str, function_text: str) -> str | None:
    """Judge a layout that must have given offsets, index by index, with any shape."""
    layout, right = written_layout(answer), layout_of(function_text)
    if size(layout) != size(right):
        return f"has {size(layout)} elements, must have {size(right)}"
    if isinstance(layout, Layout) and isinstance(right, Layout) and coalesce(layout) == coalesce(right):
        return None  # equal functions coalesce to equal layouts; this is faster than enumeration
    for index in range(size(right)):
        if layout(index) != right(index):
            return f"is {layout(index)} at index {index}, must be {right(index)}"
    return None


def shaped(answer: str, function_text: str) -> str | None:
    """Judge a layout that must have given offsets and modes of given sizes, split in any way."""
    layout, right = written_layout(answer), layout_of(function_text)
    counts = [list(counts_of(each)) for each in (layout, right)]
    if counts[0] != counts[1]:
        return f"has modes of {counts[0]} elements, must have {counts[1]}"
    return function(answer, function_text)


def numbers(answer: str, *expressions: str) -> str | None:
    """Judge a list of numbers, each of which must be the value of an expression."""
    sizes = dict(re.findall(r"\b(size|cosize)\b\W*(?:is\W*)?(\d+)", answer.lower()))
    if len(sizes) == 2 and [text.partition("(")[0] for text in expressions] == ["size", "cosize"]:
        answer = f"{sizes['size']}, {sizes['cosize']}"  # in either order
    values = integers_of(answer, len(expressions))
    for value, expression in zip(values, expressions, strict=True):
        if value != evaluate(expression):
            return f"says {value} for {expression}"
    return None


_AT = re.compile(r"\(\(?(\(.*\):\(.*\))\)?\)\((\d+)\)$")


def reading(answer: str, *expressions: str) -> str | None:
    """Return the likely misreading of a layout's index that leads to the first wrong number; None if it is not known.

    >>> reading("0, 1", "((4,8):(8,1))(0)", "((4,8):(8,1))(1)")
    'the rightmost coordinate is counted first'
    """
    try:
        pairs = zip(integers_of(answer, len(expressions)), expressions, strict=True)
        value, expression = next((value, text) for value, text in pairs if value != evaluate(text))
        match = _AT.match(expression)
        layout = layout_of(match[1]) if match else None
    except (StopIteration, LayoutError):
        return None
    if match is None or not isinstance(layout, Layout):
        return None
    index = int(match[2])
    readings = {
        "the rightmost coordinate is counted first": Layout(_reversed(layout.shape), _reversed(layout.stride))(index),
        "the index is taken for the offset": index,
        "the first stride is taken for all of the indices": index * offset_of(layout, 1),
    }
    return next((mistake for mistake, number in readings.items() if number == value), None)


def _reversed(tree: Any) -> Any:
    return tuple(_reversed(item) for item in reversed(tree)) if isinstance(tree, tuple) else tree


def no_composition(answer: str, a: str) -> str | None:
    """Judge a layout b for which a(b(i)) must not be a layout."""
    try:
        composed = composition(layout_of(a), written_layout(answer))
    except LayoutError as error:
        return None if "composition" in str(error) else f"cannot be composed at all: {error}"
    return f"has a composition: {composed}"


def counterexample(answer: str, claim: str, a: str, b: str) -> str | None:
    """Judge an index i at which a layout must differ from a(b(i))."""
    index, *more = integers_of(answer)
    layout, first, second = layout_of(claim), layout_of(b), layout_of(a)
    if more or not 0 <= index < size(layout):
        return f"must be an index from 0 to {size(layout) - 1}, but is {answer}"
    if layout(index) == second(first(index)):
        return f"is no counterexample: both are {layout(index)} at index {index}"
    return None


def different(answer: str, layout: str, *others: str) -> str | None:
    """Judge a layout that must have the offsets of a layout in another form; other nesting is not another form.

    >>> different("(4,3):(2,8)", "12:2"), different("((3,4)):((2,6))", "12:2", "(3,4):(2,6)")
    (None, 'has the same form as one of the given layouts: ((3,4)):((2,6))')
    """
    wrong = function(answer, layout)
    if wrong is None and flatten(written_layout(answer)) in map(layout_of, (layout, *others)):
        return f"has the same form as one of the given layouts: {answer}"
    return wrong


def exclusive(answer: str, *pairs: tuple[int, int]) -> str | None:
    """Judge the exclusive or of each pair of numbers."""
    for value, (a, b) in zip(integers_of(answer, len(pairs)), pairs, strict=True):
        for place in range(max(value, a, b, 0).bit_length()):
            first, second, bit = (number >> place & 1 for number in (a, b, value))
            if bit != (first != second):
                have = f"both have {first}" if first == second else f"one has {first} and the other {second}"
                return f"says {value} for {a} xor {b}: bit {place} is {bit}, but {have} there"
        if value < 0:
            return f"says {value} for {a} xor {b}: the exclusive or of numbers that are not negative is not negative"
    return None


_NONE = re.compile(rf"(?:there is )?{NONE}")


def says_none(answer: str) -> bool:
    """Return whether an answer means that there is no layout.

    >>> says_none("None."), says_none("there is no layout"), says_none("no idea")
    (True, True, False)
    """
    return _NONE.fullmatch(answer.strip(" .`'\"*()[]").casefold()) is not None


def lawful(answer: str, operation: str, *operands: Any) -> str | None:
    """Judge an answer to an operation of the algebra; `none` is right if the operation has no answer."""
    values = [evaluate(operand) if isinstance(operand, str) else operand for operand in operands]
    has_answer = answerable(operation, *values)
    if says_none(answer):
        return "says that there is none, but there is one" if has_answer else None
    wrong = broken_law(operation, written_layout(answer), *values)
    if has_answer:
        return wrong
    more = f": it {wrong}" if wrong and "there is none" not in wrong else ""
    return f"is a layout, but there is none{more}"


def answerable(operation: str, *operands: Any) -> bool:
    """Return whether an operation of the algebra has an answer.

    Raises:
        DescriptorError: if there is no such operation.

    >>> from layoutalg import Layout
    >>> answerable("logical_divide", Layout(12, 1), Layout(5, 1))
    False
    """
    if operation not in law_names():
        raise DescriptorError(
            f"course: {operation} is not an operation with a law; supported: {', '.join(law_names())}"
        )
    try:
        getattr(layoutalg, operation)(*operands)
    except LayoutError:
        return False
    return True


#: The judges, by the names that exercises use.
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
