"""Recasts: the same bits in larger or smaller units, as CuTe defines it mode by mode, by enumeration.

Law: an upcast by n holds element i in the unit that it lies in.

>>> from layoutalg import Layout, upcast
>>> law_upcast(upcast(Layout((8, 4), (1, 8)), 8), Layout((8, 4), (1, 8)), 8) is None
True
>>> law_upcast(Layout((1, 4), (1, 2)), Layout((8, 4), (1, 8)), 8)
'puts element 8 into unit 2, must be 1'
"""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd
from typing import Any

from layoutalg.laws.points import (
    Composite,
    Plain,
    at,
    congruent,
    count,
    digits,
    inner,
    leaves,
    nested_like,
    pairs,
    rank_of,
)


def can_upcast(layout: Any, n: int) -> bool:
    """Whether units of ``n`` elements hold whole parts of a layout.

    Each stride must divide ``n`` or be a multiple of it, or its whole mode stay in one unit; the modes of one unit must
    not reach beyond it, and a swizzle that moves anything must not split it.
    """
    moving = [(s, d) for s, d in pairs(inner(layout)) if s > 1 and d]
    within = sum(d * (min(s, -(-n // d)) - 1) for s, d in moving if d % n and d > 0)
    possible = within < n and all(d % n == 0 or (d > 0 and (n % d == 0 or d * (s - 1) < n)) for s, d in moving)
    if not hasattr(layout, "inner"):
        return possible
    whole = layout.offset % n == 0 and (n & (n - 1) == 0 or not layout.outer.bits)
    return possible and whole and (not layout.outer.bits or 1 << layout.outer.base >= n)


def law_upcast(answer: Any, layout: Any, n: int) -> str | None:
    """Each element in the larger unit that holds it."""
    if not can_upcast(layout, n):
        return "is no upcast, as units straddle"
    if not congruent(answer.shape, layout.shape):
        return "is nested otherwise than the layout"
    old, new = leaves(layout.shape), leaves(answer.shape)
    strides = leaves(inner(layout).stride)
    steps = [-(-n // d) if s > 1 and d and d % n else 1 for s, d in zip(old, strides, strict=True)]
    extents = [-(-s // step) for s, step in zip(old, steps, strict=True)]
    if extents != new:
        return f"has extents {new}, must have {extents}"
    for index in range(count(layout.shape)):
        group = tuple(digit // step for digit, step in zip(digits(index, old), steps, strict=True))
        unit, right = at(answer, rank_of(group, tuple(new))), at(layout, index) // n
        if unit != right:
            return f"puts element {index} into unit {unit}, must be {right}"
    return None


def can_downcast(layout: Any, n: int) -> bool:
    """Whether one mode at most is contiguous, so that it is clear which grows; a swizzle moves by whole bits."""
    contiguous = [s for s, d in pairs(inner(layout)) if d == 1 and s > 1]
    return len(contiguous) < 2 and (not hasattr(layout, "inner") or not layout.outer.bits or n & (n - 1) == 0)


def law_downcast(answer: Any, layout: Any, n: int) -> str | None:
    """Each smaller unit where its element is."""
    if not can_downcast(layout, n):
        return "is no downcast, as two modes are contiguous"
    if not congruent(answer.shape, layout.shape):
        return "is nested otherwise than the layout"
    old, new = leaves(layout.shape), leaves(answer.shape)
    contiguous = any(d == 1 and s > 1 for s, d in pairs(inner(layout)))
    grown = [mode for mode, (s, t) in enumerate(zip(old, new, strict=True)) if s != t]
    missing = contiguous and n > 1 and not grown  # a contiguous mode of extent 1 may grow too
    if missing or len(grown) > 1 or any(new[mode] != n * old[mode] for mode in grown):
        return f"has extents {new}, where only the contiguous mode of {old} grows, by {n}"
    for index in range(count(answer.shape)):
        where = digits(index, new)
        part = 0
        for mode in grown:
            part, where[mode] = where[mode] % n, where[mode] // n
        right = n * at(layout, rank_of(tuple(where), tuple(old))) + part
        if at(answer, index) != right:
            return f"is {at(answer, index)} at index {index}, must be {right}"
    return None


def law_recast_layout(answer: Any, new: int, old: int, layout: Any) -> str | None:
    """Through the largest unit that divides both: first down, then up."""
    common = gcd(new, old)
    up, down = new // common, old // common
    if down == 1:
        return law_upcast(answer, layout, up)
    if up == 1:
        return law_downcast(answer, layout, down)
    between = [middle for middle in smaller_units(layout, down) if law_downcast(middle, layout, down) is None]
    faults = [law_upcast(answer, middle, up) for middle in between]
    if not faults:
        return "is no recast, as there is none to the common unit"
    return None if None in faults else faults[0]


def smaller_units(layout: Any, n: int) -> Iterator[Any]:
    """A layout in units smaller by ``n``: strides scale, and one mode of stride 1, or none, grows.

    A swizzle stays as it is: only one that moves nothing can be taken to units both smaller and larger.
    """
    extents, strides = leaves(layout.shape), leaves(inner(layout).stride)
    candidates: list[int | None] = [k for k, d in enumerate(strides) if d == 1]
    for grown in candidates or [None]:
        shape = [s * n if k == grown else s for k, s in enumerate(extents)]
        stride = [1 if k == grown else d * n for k, d in enumerate(strides)]
        plain = Plain(nested_like(iter(shape), layout.shape), nested_like(iter(stride), layout.shape))
        yield Composite(layout.outer, n * layout.offset, plain) if hasattr(layout, "inner") else plain
