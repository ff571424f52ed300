"""Judges of a derivation, step by step, and of the word of any operand in a tile, by what is read.

A tile is (extents, dtype, major, swizzle, mma), as in the judge `word`; the architecture is sm90.

Law: what the derivation has at each step is right at that step.

>>> tile = ((128, 64), "bf16", "K", "128B", (64, 16))
>>> [stage(str(plain(getattr(derived_tile(*tile), name))), name, *tile) for name in STAGES]
[None, None, None, None, None]
>>> advance("4128", 1, 1, *tile), advance("8224", 1, 1, *tile)
('says 4128, which is not where operand (1, 1) begins', None)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from descriptors.course.judges.tile import derived_tile
from descriptors.course.judges.typed import layout_of
from descriptors.errors import DescriptorError
from descriptors.smem.debug.diff import diff
from descriptors.smem.operands.swizzled import plain
from layoutalg import coalesce, parse_int_tuple, product, size

#: The five layouts of a derivation, in their order.
STAGES = ("smem_tile", "partitioned", "recast", "canonical", "advance")


def stage(answer: str, name: str, *tile: Any) -> str | None:
    """One of the five layouts, without its swizzle: the same modes, however they are split, and the same offsets."""
    mine, right = plain(layout_of(answer)), plain(getattr(derived_tile(*tile), name))
    counts = [_counts(one.shape, 2 if name == "canonical" else 1) for one in (mine, right)]
    if counts[0] != counts[1]:
        return f"has modes of {counts[0]} elements, must have {counts[1]}"
    if coalesce(mine) == coalesce(right):  # one function has one shortest form; a tile has many elements
        return None
    for index in range(size(right)):
        if mine(index) != right(index):
            return f"is {mine(index)} at index {index}, must be {right(index)}"
    return None


def _counts(shape: Any, deep: int) -> Any:
    if not deep or not isinstance(shape, tuple):
        return size(shape)
    return [_counts(mode, deep - 1) for mode in shape]


def advance(answer: str, i: int, k: int, *tile: Any) -> str | None:
    """How far operand (i, k) begins after the first, in bytes."""
    mine, right = parse_int_tuple(answer.strip()), derived_tile(*tile).offset_of(i, k)
    if mine == right:
        return None
    unit = " (that is the offset in units of 16 bytes)" if isinstance(mine, int) and mine * 16 == right else ""
    return f"says {answer}, which is not where operand ({i}, {k}) begins{unit}"


def word_of(answer: str, base: int, i: int, k: int, *tile: Any) -> str | None:
    """The word of operand (i, k) of a tile at an address: any that reads its elements from where they lie."""
    derived = derived_tile(*tile)
    try:
        number = int(answer.strip(), 0)
    except ValueError as error:
        raise DescriptorError(f"course: a word must be a number, as 0x4000004000010000, found {answer}") from error
    if not 0 <= number < 1 << 64:
        raise DescriptorError(f"course: a word must have 64 bits, found {answer}")
    told = diff(
        number,
        derived.smem_tile,
        "sm90",
        dtype=derived.element,
        major=derived.major,
        shape=derived.mma,
        subtile=(i, k),
        base=base,
    )
    if not told.differing:
        return None
    wrong = ", ".join(f"{change.field} {change.found}" for change in told.changes)
    return f"reads {told.differing} of {product(derived.mma)} elements from elsewhere; wrong is {wrong}"


#: The judges, by the name that an exercise gives.
JUDGES: dict[str, Callable[..., str | None]] = {"stage": stage, "advance": advance, "word of": word_of}
