"""Judges of layouts and of numbers that the algebra computes.

Law: an answer is wrong where it differs, whatever its shape.

>>> function("(4,2):(1,4)", "8:1"), function("8:2", "8:1")
(None, 'is 2 at index 1, must be 1')
"""

from __future__ import annotations

from collections.abc import Callable

from descriptors.course.judges.typed import layout_of
from descriptors.errors import DescriptorError
from layoutalg import ComposedLayout, Layout, LayoutError, composition, evaluate, parse_int_tuple, size


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


def function(answer: str, wanted: str) -> str | None:
    """The same offsets, index by index, whatever the shape."""
    mine, right = layout_of(answer), layout_of(wanted)
    if size(mine) != size(right):
        return f"has {size(mine)} elements, must have {size(right)}"
    for index in range(size(right)):
        if mine(index) != right(index):
            return f"is {mine(index)} at index {index}, must be {right(index)}"
    return None


def shaped(answer: str, wanted: str) -> str | None:
    """The same offsets, in modes of the same sizes."""
    mine, right = layout_of(answer), layout_of(wanted)
    counts = [list(counts_of(one)) for one in (mine, right)]
    if counts[0] != counts[1]:
        return f"has modes of {counts[0]} elements, must have {counts[1]}"
    return function(answer, wanted)


def numbers(answer: str, *expressions: str) -> str | None:
    """A list of numbers, each the value of an expression of the algebra."""
    mine = parse_int_tuple(f"({answer.strip('()[] ')},)" if "," not in answer else f"({answer.strip('()[] ')})")
    right = [evaluate(expression) for expression in expressions]
    found = list(mine) if isinstance(mine, tuple) else [mine]
    if len(found) != len(right):
        return f"has {len(found)} numbers, must have {len(right)}"
    for one, value, expression in zip(found, right, expressions, strict=True):
        if one != value:
            return f"says {one} where {expression} is something else"
    return None


def no_composition(answer: str, a: str) -> str | None:
    """A layout b for which a(b(i)) is no layout."""
    try:
        found = composition(layout_of(a), layout_of(answer))
    except LayoutError as error:
        return None if "composition" in str(error) else f"cannot be composed at all: {error}"
    return f"has a composition: {found}"


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


#: The judges, by the name that an exercise gives.
JUDGES: dict[str, Callable[..., str | None]] = {
    "function": function,
    "shaped": shaped,
    "numbers": numbers,
    "no composition": no_composition,
    "counterexample": counterexample,
    "different": different,
}
