"""Judges of layouts, of the arithmetic that they are made of, and of operations that may have no answer.

Law: an answer is wrong where it differs, whatever its shape.

>>> function("(4,2):(1,4)", "8:1"), function("8:2", "8:1")
(None, 'is 2 at index 1, must be 1')

A number is right if the definition holds for it, and is told where it does not.

>>> sums("2, 3", (17, "mod", 5), (17, "div", 5)), sums("6", (12, "xor", 10)), bits("1101", 13)
(None, None, None)
>>> sums("5", (12, "xor", 10))
'says 5 for 12 xor 10: bit 0 is 1, but both have 0 there'

Where an operation has no answer, `none` is right and every layout wrong; where it has one, `none` is wrong.

>>> [lawful(mine, "composition", "(6,2):(1,7)", "(3,2):(2,3)") for mine in ("none", "(3,2):(2,3)")]
[None, 'is a layout, but there is none: it is 7 at index 5, must be 8']
>>> [lawful(mine, "complement", "4:2", 24) for mine in ("none", "(3,2):(8,1)")]
['says that there is none, but there is one', None]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import layoutalg
from descriptors.course.judges.answers import integers_of, layout_of
from descriptors.errors import DescriptorError
from layoutalg import (
    ComposedLayout,
    Layout,
    LayoutError,
    broken_law,
    composition,
    evaluate,
    law_names,
    parse_int_tuple,
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
    mine, right = layout_of(answer), layout_of(function_text)
    if size(mine) != size(right):
        return f"has {size(mine)} elements, must have {size(right)}"
    for index in range(size(right)):
        if mine(index) != right(index):
            return f"is {mine(index)} at index {index}, must be {right(index)}"
    return None


def shaped(answer: str, function_text: str) -> str | None:
    """The same offsets, in modes of the same sizes."""
    mine, right = layout_of(answer), layout_of(function_text)
    counts = [list(counts_of(one)) for one in (mine, right)]
    if counts[0] != counts[1]:
        return f"has modes of {counts[0]} elements, must have {counts[1]}"
    return function(answer, function_text)


def numbers(answer: str, *expressions: str) -> str | None:
    """A list of numbers, each the value of an expression of the algebra."""
    mine = parse_int_tuple(f"({answer.strip('()[] ')},)" if "," not in answer else f"({answer.strip('()[] ')})")
    right = [evaluate(expression) for expression in expressions]
    values = list(mine) if isinstance(mine, tuple) else [mine]
    if len(values) != len(right):
        return f"has {len(values)} numbers, must have {len(right)}"
    for one, value, expression in zip(values, right, expressions, strict=True):
        if one != value:
            return f"says {one} where {expression} is something else"
    return None


def no_composition(answer: str, a: str) -> str | None:
    """A layout b for which a(b(i)) is no layout."""
    try:
        composed = composition(layout_of(a), layout_of(answer))
    except LayoutError as error:
        return None if "composition" in str(error) else f"cannot be composed at all: {error}"
    return f"has a composition: {composed}"


def counterexample(answer: str, claim: str, a: str, b: str) -> str | None:
    """An index i at which a layout that is claimed to be a(b(i)) is something else."""
    index = parse_int_tuple(answer)
    claimed, first, then = layout_of(claim), layout_of(b), layout_of(a)
    if not isinstance(index, int) or not 0 <= index < size(claimed):
        return f"must be an index from 0 to {size(claimed) - 1}, found {answer}"
    if claimed(index) == then(first(index)):
        return f"is no counterexample: both are {claimed(index)} at index {index}"
    return None


def different(answer: str, layout: str, *others: str) -> str | None:
    """A layout of another shape than these, with the same offsets."""
    wrong = function(answer, layout)
    if wrong is None and str(layout_of(answer)) in (layout, *others):
        return f"is written as one of those that are given: {answer}"
    return wrong


def sums(answer: str, *questions: tuple[int, str, int]) -> str | None:
    """A number for each question `a mod b`, `a div b` or `a xor b`."""
    mine = integers_of(answer, len(questions))
    for said, (a, operation, b) in zip(mine, questions, strict=True):
        wrong = _OPERATIONS[operation](said, a, b)
        if wrong:
            return f"says {said} for {a} {operation} {b}: {wrong}"
    return None


def _mod(said: int, a: int, b: int) -> str | None:
    if not 0 <= said < b:
        return f"a remainder of {b} is one of 0 to {b - 1}"
    return None if (a - said) % b == 0 else f"{a} - {said} is no multiple of {b}"


def _div(said: int, a: int, b: int) -> str | None:
    if said * b > a:
        return f"{said} times {b} is {said * b}, more than {a}"
    left = a - said * b
    return None if left < b else f"{said} times {b} is {said * b}, which leaves {left}, and {b} goes into that again"


def _xor(said: int, a: int, b: int) -> str | None:
    for place in range(max(said, a, b, 0).bit_length()):
        one, other, mine = (number >> place & 1 for number in (a, b, said))
        if mine != (one != other):
            have = f"both have {one}" if one == other else f"one has {one} and the other {other}"
            return f"bit {place} is {mine}, but {have} there"
    return None if said >= 0 else "bits without a sign make no negative number"


_OPERATIONS: dict[str, Callable[[int, int, int], str | None]] = {"mod": _mod, "div": _div, "xor": _xor}


def bits(answer: str, *numbers: int) -> str | None:
    """Each number in binary, zeros in front or not."""
    mine = [one.strip().removeprefix("0b") for one in answer.strip("()[] ").split(",")]
    if len(mine) != len(numbers):
        return f"has {len(mine)} numbers, must have {len(numbers)}"
    for text, number in zip(mine, numbers, strict=True):
        if not text or set(text) - {"0", "1"} or len(text) > 64:
            return f"must be written with 0 and 1 alone, found {text[:20]}"
        if int(text, 2) != number:
            parts = [str(1 << place) for place, one in enumerate(reversed(text)) if one == "1"]
            return f"says {text} for {number}, but that is {' + '.join(reversed(parts)) or 0}"
    return None


#: How an answer says that there is no layout.
NONE = ("none", "no such layout", "no")


def lawful(answer: str, operation: str, *operands: Any) -> str | None:
    """A right answer of an operation of the algebra, in any form, or `none` where the operation has no answer."""
    values = [evaluate(one) if isinstance(one, str) else one for one in operands]
    there_is = answerable(operation, *values)
    if answer.strip(" .`'\"").casefold() in NONE:
        return "says that there is none, but there is one" if there_is else None
    wrong = broken_law(operation, layout_of(answer), *values)
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
    "sums": sums,
    "bits": bits,
    "lawful": lawful,
}
