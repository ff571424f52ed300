"""Definitions of the operations on one layout or two: what any right answer satisfies, by enumeration.

Each law takes an answer and the operands of the operation of its name, and says where the answer breaks it first, or
nothing. The form of the answer is free where the definition leaves it so; ``house`` says which form is chosen.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import prod
from typing import Any

import judge
from exact import spread
from fit import first_difference
from points import Plain, at, count, inner, items, leaves, line, modes, pairs, point, same, times, under, values
from recasts import law_downcast, law_recast_layout, law_upcast


def is_coalesced(shape: Any, stride: Any) -> bool:
    """Whether a layout is flat, without idle modes, and no two neighbours could be one."""
    parts = list(zip(leaves(shape), leaves(stride), strict=True))
    if isinstance(shape, tuple) and (len(shape) < 2 or any(isinstance(mode, tuple) for mode in shape)):
        return not shape
    if len(parts) > 1 and any(extent == 1 for extent, _ in parts):
        return False
    return not any(same(times(s, point(d)), point(e)) for (s, d), (_, e) in pairwise(parts))


def law_coalesce(answer: Any, layout: Any, profile: Any = None) -> str | None:
    if wrong := first_difference(values(answer), values(layout)):
        return wrong
    if not isinstance(profile, tuple):
        return None if is_coalesced(answer.shape, inner(answer).stride) else "has modes that could be one"
    parts = modes(inner(answer))
    sizes = [count(mode) for mode in items(layout.shape)]
    if not isinstance(answer.shape, tuple) or [count(mode.shape) for mode in parts] != sizes:
        return f"has modes of other sizes than {sizes}"
    for k, (item, mode) in enumerate(zip(profile, parts, strict=False)):
        if not isinstance(item, tuple) and not is_coalesced(mode.shape, mode.stride):
            return f"has parts in mode {k} that could be one"
    return None


def law_filter(answer: Any, layout: Any) -> str | None:
    kept = [(s, d) for s, d in pairs(inner(layout)) if d != 0]
    bare = under(layout, Plain(tuple(s for s, _ in kept), tuple(d for _, d in kept)))
    if wrong := first_difference(values(answer), values(bare)):
        return wrong
    return None if is_coalesced(answer.shape, inner(answer).stride) else "has modes that could be one"


def law_complement(answer: Any, layout: Any, cotarget: Any = 1) -> str | None:
    rest = judge.complement(pairs(layout), count(getattr(cotarget, "shape", cotarget)))
    if rest is None:
        return "is no complement, as there is none"
    return first_difference(values(answer), [line(rest, i) for i in range(prod(s for s, _ in rest))])


def law_right_inverse(answer: Any, layout: Any) -> str | None:
    domain = count(layout.shape)
    for index, where in enumerate(values(answer)):
        if not 0 <= where < domain or at(layout, where) != index:
            return f"is {where} at index {index}, where the layout is not {index}"
    return None


def law_left_inverse(answer: Any, layout: Any) -> str | None:
    for index, offset in enumerate(values(layout)):
        if not same(at(answer, offset), index):
            return f"is {at(answer, offset)} at offset {offset}, must be {index}"
    return None


def law_nullspace(answer: Any, layout: Any) -> str | None:
    found = values(answer)
    for index, where in enumerate(found):
        if not same(at(layout, where), 0):
            return f"is {where} at index {index}, where the layout is not 0"
    zeros = prod(s for s, d in pairs(layout) if d == 0)
    if len(set(found)) != len(found) or len(found) != zeros:
        return f"has {len(set(found))} indices, must have {zeros}"
    return None


def law_max_common_layout(answer: Any, a: Any, b: Any) -> str | None:
    domain = min(count(a.shape), count(b.shape))
    for index, where in enumerate(values(answer)):
        if not 0 <= where < domain or not at(a, where) == at(b, where) == index:
            return f"is {where} at index {index}, where not both layouts are {index}"
    return None


def law_max_common_vector(answer: Any, a: Any, b: Any) -> str | None:
    shared = set(zip(values(a), values(b), strict=False))
    missing = [offset for offset in range(answer) if (offset, offset) not in shared]
    if answer < 1 or (missing and answer > 1):
        return f"is {answer}, but the layouts do not have the same index at offset {missing[0] if missing else 0}"
    return None


def law_make_ordered_layout(answer: Any, shape: Any, order: Any) -> str | None:
    if answer.shape != shape:
        return "has another shape"
    if sorted(values(answer)) != list(range(count(shape))):
        return "is not compact"
    ranks = spread(order, shape)
    moving = [(rank, k, d) for k, ((s, d), rank) in enumerate(zip(pairs(answer), ranks, strict=True)) if s > 1]
    strides = [d for *_, d in sorted(moving)]
    return None if strides == sorted(strides) else "has strides in another order"


def law_make_layout_like(answer: Any, layout: Any) -> str | None:
    part = inner(layout)
    if answer.shape != part.shape:
        return "has another shape"
    both = [(s, d, e) for (s, d), (_, e) in zip(pairs(part), pairs(answer), strict=True) if s > 1]
    if any((d == 0) != (e == 0) for _, d, e in both):
        return "has strides of 0 at other modes"
    if sorted(set(values(answer))) != list(range(prod(s for s, d, _ in both if d != 0))):
        return "is not compact"
    moving = [(d, e) for _, d, e in both if d != 0]
    ordered = all((d < x) <= (e < y) for d, e in moving for x, y in moving if d > 0 and x > 0)
    return None if ordered else "has strides in another order"


LAWS: dict[str, Callable[..., str | None]] = {
    "coalesce": law_coalesce,
    "filter": law_filter,
    "complement": law_complement,
    "right_inverse": law_right_inverse,
    "left_inverse": law_left_inverse,
    "nullspace": law_nullspace,
    "max_common_layout": law_max_common_layout,
    "max_common_vector": law_max_common_vector,
    "make_ordered_layout": law_make_ordered_layout,
    "make_layout_like": law_make_layout_like,
    "upcast": law_upcast,
    "downcast": law_downcast,
    "recast_layout": law_recast_layout,
}
