"""What an answer is worth: judged by the law of the operation, by enumeration, or by what a tensor core would read.

No exercise has a key: the solution of its file is one right answer among others, and goes through the same judge.

Law: what is not right comes with a hint.

>>> from descriptors.lessons.source import EXAMPLE, parse
>>> (exercise,) = parse(EXAMPLE).exercises
>>> [grade(exercise, answer) for answer in ("2:4", "(2,1):(4,7)", "2:3")]
[None, None, 'is 3 at index 1, must be 4']
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from descriptors.debug.diff import diff
from descriptors.derivation.derive import derive
from descriptors.derivation.parts.derivation import Derivation
from descriptors.errors import DescriptorError
from descriptors.lessons.source import Exercise
from descriptors.operands.operand import MajorName, as_major, as_swizzle_mode
from layoutalg import (
    ComposedLayout,
    Layout,
    LayoutError,
    Swizzle,
    broken_law,
    composition,
    evaluate,
    law_names,
    parse_int_tuple,
    product,
    size,
    wavefronts,
)


def grade(exercise: Exercise, answer: str) -> str | None:
    """What is wrong with an answer, as a hint; None if it is right.

    Args:
        exercise: the question.
        answer: what the student typed.

    >>> from descriptors.lessons.source import EXAMPLE, parse
    >>> grade(parse(EXAMPLE).exercises[0], "2:?")
    'is still to be filled in: 2:?'
    """
    mine = answer.strip()
    if "?" in mine:
        return f"is still to be filled in: {mine}"
    try:
        if exercise.judge in law_names():
            wrong = broken_law(exercise.judge, _layout(mine), *map(_operand, exercise.operands))
        else:
            wrong = JUDGES[exercise.judge](mine, *exercise.operands)
        if wrong is None and exercise.size is not None and size(_layout(mine)) != exercise.size:
            wrong = f"has {size(_layout(mine))} elements, must have {exercise.size}"
    except (LayoutError, DescriptorError) as error:
        return f"cannot be read as an answer: {error}"
    return wrong


def _operand(value: Any) -> Any:
    return evaluate(value) if isinstance(value, str) else value


def _layout(text: str) -> Layout | ComposedLayout:
    value = evaluate(text)
    if not isinstance(value, (Layout, ComposedLayout)):
        raise DescriptorError(f"answer: it must be a layout, as (4,8):(8,1), found {text}")
    return value


def function(answer: str, wanted: str) -> str | None:
    """The same offsets, index by index, whatever the shape."""
    mine, right = _layout(answer), _layout(wanted)
    if size(mine) != size(right):
        return f"has {size(mine)} elements, must have {size(right)}"
    for index in range(size(right)):
        if mine(index) != right(index):
            return f"is {mine(index)} at index {index}, must be {right(index)}"
    return None


def shaped(answer: str, wanted: str) -> str | None:
    """The same offsets, in modes of the same sizes."""
    mine, right = _layout(answer), _layout(wanted)
    counts = [
        [size(mode) for mode in (one.shape if isinstance(one.shape, tuple) else (one.shape,))] for one in (mine, right)
    ]
    if counts[0] != counts[1]:
        return f"has modes of {counts[0]} elements, must have {counts[1]}"
    return function(answer, wanted)


def _counts(layout: Layout | ComposedLayout) -> list[int]:
    shape = layout.shape
    return [size(mode) for mode in (shape if isinstance(shape, tuple) else (shape,))]


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
        found = composition(_layout(a), _layout(answer))
    except LayoutError as error:
        return None if "composition" in str(error) else f"cannot be composed at all: {error}"
    return f"has a composition: {found}"


def different(answer: str, layout: str, *others: str) -> str | None:
    """A layout of another shape than these, with the same offsets."""
    wrong = function(answer, layout)
    if wrong is None and str(_layout(answer)) in (layout, *others):
        return f"is written as one of those that are given: {answer}"
    return wrong


def conflict_free(answer: str, layout: str, access: str, access_bytes: int) -> str | None:
    """A swizzle of byte addresses with which an access of up to 32 lanes takes as few turns as its bytes need."""
    mine = evaluate(answer)
    if not isinstance(mine, Swizzle):
        return f"must be a swizzle, as S<3,4,3>, found {answer}"
    tile, lanes = _layout(layout), _layout(access)
    places = [tile(lanes(lane)) for lane in range(size(lanes))]
    if len({mine(place) for place in range(size(tile))} & set(range(size(tile)))) != size(tile):
        return "moves bytes out of the tile"
    if any(mine(place) % access_bytes for place in places):
        return f"tears the {access_bytes} bytes of an access apart: its lowest bit is too low"
    took = wavefronts([mine(place) for place in places], access_bytes)
    need = -(-len(places) * access_bytes // 128)
    return None if took == need else f"takes {took} turns, must take {need}"


def word(answer: str, *tile: Any) -> str | None:
    """A descriptor word that makes the tensor core read the first operand of a tile, element for element."""
    derived = _derived(*tile)
    try:
        number = int(answer, 0)
    except ValueError:
        return f"must be a number, as 0x4000004000010000, found {answer}"
    told = diff(
        number,
        derived.smem_tile,
        "sm90",
        dtype=derived.element,
        major=derived.major,
        shape=derived.mma,
        base=0,
    )
    if not told.differing:
        return None
    changes = "; ".join(str(change) for change in told.changes)
    return f"reads {told.differing} of {product(derived.mma)} elements from elsewhere: {changes}"


def field(answer: str, name: str, *tile: Any) -> str | None:
    """A field of that word, in bytes."""
    right, mine = getattr(_derived(*tile).descriptor, name), parse_int_tuple(answer)
    if mine == right:
        return None
    unit = " (that is the field in units of 16 bytes)" if isinstance(mine, int) and mine * 16 == right else ""
    return f"says {answer} bytes, which is not the {name.replace('_', ' ')}{unit}"


def _derived(tile: tuple[int, int], dtype: str, major: MajorName, swizzle: str, mma: tuple[int, int]) -> Derivation:
    return derive(tile, dtype, as_major(major), as_swizzle_mode(swizzle), mma, arch="sm90")


#: The judges that are no law of one operation.
JUDGES: dict[str, Callable[..., str | None]] = {
    "function": function,
    "shaped": shaped,
    "numbers": numbers,
    "no composition": no_composition,
    "different": different,
    "conflict free": conflict_free,
    "word": word,
    "field": field,
}
