"""Definitions of the operations on one layout or two: what any right answer satisfies, by enumeration.

Each law takes an answer and the operands of the operation of its name, and says where the answer breaks it first, or
nothing. The form of the answer is free where the definition leaves it so.

Law: what the algebra answers breaks nothing, and neither does another right answer.

>>> from layoutalg import Layout, complement as ours
>>> a = Layout(4, 2)
>>> [law_complement(answer, a, 24) for answer in (ours(a, 24), Layout((3, 2), (8, 1)))]
[None, None]
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import prod
from typing import Any

from layoutalg.laws.fit import first_difference
from layoutalg.laws.forms import complement
from layoutalg.laws.points import (
    Plain,
    at,
    count,
    inner,
    items,
    leaves,
    line,
    modes,
    pairs,
    point,
    same,
    times,
    under,
    values,
)
from layoutalg.laws.recasts import law_downcast, law_recast_layout, law_upcast


def is_coalesced(shape: Any, stride: Any) -> bool:
    """Whether a layout is flat, without idle modes, and no two neighbours could be one."""
    parts = list(zip(leaves(shape), leaves(stride), strict=True))
    if isinstance(shape, tuple) and (len(shape) < 2 or any(isinstance(mode, tuple) for mode in shape)):
        return not shape
    if len(parts) > 1 and any(extent == 1 for extent, _ in parts):
        return False
    return not any(same(times(s, point(d)), point(e)) for (s, d), (_, e) in pairwise(parts))


def law_coalesce(answer: Any, layout: Any, profile: Any = None) -> str | None:
    """Every offset as it was, in modes of which none could be joined; with a profile, by its modes."""
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
    """The offsets of the modes that move, in modes of which none could be joined."""
    kept = [(s, d) for s, d in pairs(inner(layout)) if d != 0]
    bare = under(layout, Plain(tuple(s for s, _ in kept), tuple(d for _, d in kept)))
    if wrong := first_difference(values(answer), values(bare)):
        return wrong
    return None if is_coalesced(answer.shape, inner(answer).stride) else "has modes that could be one"


def law_complement(answer: Any, layout: Any, cotarget: Any = 1) -> str | None:
    """Sums with the layout's offsets are unique, and reach the cotarget in whole periods; in any order of the modes."""
    target = count(getattr(cotarget, "shape", cotarget))
    rest = complement(pairs(layout), target)
    if rest is None:
        return "is no complement, as there is none"
    right = sorted(line(rest, index) for index in range(prod(s for s, _ in rest)))
    mine, theirs = values(answer), values(layout)
    reached: dict[Any, tuple[int, int]] = {}
    twice: dict[Any, tuple[int, int]] = {}
    for i in sorted({offset: index for index, offset in reversed(list(enumerate(theirs)))}.values()):
        for j, place in enumerate(mine):
            (twice if theirs[i] + place in reached else reached).setdefault(theirs[i] + place, (i, j))
    if twice:
        offset = min(twice)
        (i, j), (k, m) = reached[offset], twice[offset]
        return f"reaches offset {offset} twice: by (a {i}, yours {j}) and by (a {k}, yours {m})"
    if len(mine) != len(right):
        held = len(set(theirs))
        return f"reaches {held} x {len(mine)} = {held * len(mine)} offsets, must reach {held * len(right)}"
    missing = sorted(set(right) - set(mine))
    return f"has no copy at offset {missing[0]}" if missing else None


def law_right_inverse(answer: Any, layout: Any) -> str | None:
    """``layout(answer(i)) == i`` at every index of the answer."""
    domain = count(layout.shape)
    for index, where in enumerate(values(answer)):
        if not 0 <= where < domain or at(layout, where) != index:
            return f"is {where} at index {index}, where the layout is not {index}"
    return None


def law_left_inverse(answer: Any, layout: Any) -> str | None:
    """``answer(layout(i)) == i`` at every index of the layout."""
    for index, offset in enumerate(values(layout)):
        if not same(at(answer, offset), index):
            return f"is {at(answer, offset)} at offset {offset}, must be {index}"
    return None


def law_nullspace(answer: Any, layout: Any) -> str | None:
    """The indices of the layout whose offset is 0 by its modes of stride 0, each once."""
    found = values(answer)
    for index, where in enumerate(found):
        if not same(at(layout, where), 0):
            return f"is {where} at index {index}, where the layout is not 0"
    zeros = prod(s for s, d in pairs(layout) if d == 0)
    if len(set(found)) != len(found) or len(found) != zeros:
        return f"has {len(set(found))} indices, must have {zeros}"
    return None


def law_max_common_layout(answer: Any, a: Any, b: Any) -> str | None:
    """Where the answer points, both layouts are the index itself."""
    domain = min(count(a.shape), count(b.shape))
    for index, where in enumerate(values(answer)):
        if not 0 <= where < domain or not at(a, where) == at(b, where) == index:
            return f"is {where} at index {index}, where not both layouts are {index}"
    return None


def law_max_common_vector(answer: Any, a: Any, b: Any) -> str | None:
    """Up to the answer, both layouts have each offset at the same index."""
    shared = set(zip(values(a), values(b), strict=False))
    missing = [offset for offset in range(answer) if (offset, offset) not in shared]
    if answer < 1 or (missing and answer > 1):
        return f"is {answer}, but the layouts do not have the same index at offset {missing[0] if missing else 0}"
    return None


def spread(order: Any, shape: Any) -> list[int]:
    """The rank of each leaf; an integer for a nested mode ranks all of its leaves."""
    if isinstance(order, tuple):
        return [key for part, mode in zip(order, shape, strict=True) for key in spread(part, mode)]
    return [order] * len(leaves(shape))


def law_make_ordered_layout(answer: Any, shape: Any, order: Any) -> str | None:
    """Compact, strides growing in the order."""
    if answer.shape != shape:
        return "has another shape"
    if sorted(values(answer)) != list(range(count(shape))):
        return "is not compact"
    ranks = spread(order, shape)
    moving = [(rank, k, d) for k, ((s, d), rank) in enumerate(zip(pairs(answer), ranks, strict=True)) if s > 1]
    strides = [d for *_, d in sorted(moving)]
    return None if strides == sorted(strides) else "has strides in another order"


def law_make_layout_like(answer: Any, layout: Any) -> str | None:
    """Compact, with the order of the strides of the layout, and 0 where it has 0."""
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
