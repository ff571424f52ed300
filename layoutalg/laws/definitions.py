"""The definitions of operations on one or two layouts, which check any right answer by enumeration.

Each law is a function of an answer and the operands of an operation. It returns the first error as the end of a
sentence about the answer, or None. If the definition does not determine the form of the answer, every form is accepted.
A recast has the same bits in larger or smaller units, as CuTe defines it mode by mode.

Invariant: a law accepts the results of the algebra, and all other right answers.

>>> from layoutalg import Layout, complement as ours, upcast
>>> a = Layout(4, 2)
>>> [law_complement(answer, a, 24) for answer in (ours(a, 24), Layout((3, 2), (8, 1)))]
[None, None]
>>> law_upcast(upcast(Layout((8, 4), (1, 8)), 8), Layout((8, 4), (1, 8)), 8) is None
True
>>> law_upcast(Layout((1, 4), (1, 2)), Layout((8, 4), (1, 8)), 8)
'puts element 8 into unit 2, must be 1'
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from math import gcd, prod
from typing import Any

from layoutalg.laws.existence import basis_complement, by_axis, complement
from layoutalg.laws.points import (
    Composite,
    Plain,
    after,
    at,
    congruent,
    count,
    digits,
    first_difference,
    inner,
    items,
    leaves,
    modes,
    nested_like,
    pairs,
    plus,
    point,
    rank_of,
    same,
    times,
    under,
    values,
)


def is_coalesced(shape: Any, stride: Any) -> bool:
    """Check if a layout is flat, has no modes of extent 1, and no two neighboring modes could be one."""
    parts = list(zip(leaves(shape), leaves(stride), strict=True))
    if isinstance(shape, tuple) and (len(shape) < 2 or any(isinstance(mode, tuple) for mode in shape)):
        return not shape
    if len(parts) > 1 and any(extent == 1 for extent, _ in parts):
        return False
    return not any(same(times(s, point(d)), point(e)) for (s, d), (_, e) in pairwise(parts))


def law_coalesce(answer: Any, layout: Any, profile: Any = None) -> str | None:
    """Check that all offsets are equal, and that no two modes could be joined; with a profile, in each of its modes."""
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
    """Check that the offsets are those of the modes with a stride, and that no two modes could be joined."""
    moving = [(s, d) for s, d in pairs(inner(layout)) if d != 0]
    bare = under(layout, Plain(tuple(s for s, _ in moving), tuple(d for _, d in moving)))
    if wrong := first_difference(values(answer), values(bare)):
        return wrong
    return None if is_coalesced(answer.shape, inner(answer).stride) else "has modes that could be one"


def law_complement(answer: Any, layout: Any, cotarget: Any = 1) -> str | None:
    """Check that the sums with the layout are unique and reach the cotarget in whole periods, in any order of modes.

    For basis strides, the cotarget is a shape of coordinates.
    """
    shape = getattr(cotarget, "shape", cotarget)
    basis = () not in by_axis(layout)
    rest = basis_complement(layout, shape) if basis else complement(pairs(layout), count(shape))
    if rest is None:
        return "is no complement, as there is none"
    plain = rest if isinstance(rest, Plain) else Plain(tuple(s for s, _ in rest), tuple(d for _, d in rest))
    right = [value or 0 for value in values(plain)]
    mine, theirs = ([value or 0 for value in values(part)] for part in (answer, layout))
    first: dict[Any, tuple[int, int]] = {}
    twice: dict[Any, tuple[int, int]] = {}
    for i in sorted({offset: index for index, offset in reversed(list(enumerate(theirs)))}.values()):
        for j, place in enumerate(mine):
            total = plus(theirs[i], place) or 0
            (twice if total in first else first).setdefault(total, (i, j))
    if twice:
        offset = min(twice, key=lambda total: total or ()) if basis else min(twice)
        (i, j), (k, m) = first[offset], twice[offset]
        return f"reaches offset {offset} twice: by (a {i}, yours {j}) and by (a {k}, yours {m})"
    if len(mine) != len(right):
        own = len(set(theirs))
        return f"reaches {own} x {len(mine)} = {own * len(mine)} offsets, must reach {own * len(right)}"
    missing = [value for value in right if value not in set(mine)]
    return f"has no copy at offset {missing[0] if basis else min(missing)}" if missing else None


def law_right_inverse(answer: Any, layout: Any) -> str | None:
    """Check that ``layout(answer(i)) == i`` at every index, or every coordinate, of the answer."""
    domain = count(layout.shape)
    paths = () if hasattr(layout, "inner") else tuple(path for path in by_axis(layout) if path)
    for index, value in enumerate(values(answer)):
        where = coordinate_of(index, answer.shape, paths) if paths else index
        if not 0 <= value < domain:
            return f"is {value} at index {index}, no index of the layout, which has {domain}"
        if not same(at(layout, value), where):
            return f"is {value} at index {index}, where the layout is {at(layout, value)}, must be {where}"
    return None


def coordinate_of(index: int, shape: Any, paths: tuple[tuple[int, ...], ...], path: tuple[int, ...] = ()) -> Any:
    """Return the point of an index in a shape whose modes at some paths are the modes of a coordinate."""
    if path in paths or not isinstance(shape, tuple):
        return ((path, index),) if index else ()
    total: Any = ()
    for k, mode in enumerate(shape):
        total = plus(total, coordinate_of(index % count(mode), mode, paths, (*path, k)))
        index //= count(mode)
    return total


def law_left_inverse(answer: Any, layout: Any, strict: bool = False) -> str | None:
    """Check that ``layout(answer(layout(i))) == layout(i)`` at every index; for an injective layout, that this is i."""
    image = values(layout)
    injective = len({value or 0 for value in image}) == len(image)
    if strict and not injective:
        return "is a left inverse of a layout that is not injective"
    for index, offset in enumerate(image):
        back = after(answer, offset)
        if injective and not same(back, index):
            return f"is {back} at offset {offset}, must be {index}"
        if not injective and not same(at(layout, back), offset):
            return f"is {back} at offset {offset}, where the layout is {at(layout, back)}"
    return None


def law_nullspace(answer: Any, layout: Any) -> str | None:
    """Check that the values are the indices of the modes of stride 0 of the layout, each once."""
    zero_indices = values(answer)
    for index, value in enumerate(zero_indices):
        if not same(at(layout, value), 0):
            return f"is {value} at index {index}, where the layout is not 0"
    zeros = prod(s for s, d in pairs(layout) if d == 0)
    if len(set(zero_indices)) != len(zero_indices) or len(zero_indices) != zeros:
        return f"has {len(set(zero_indices))} indices, must have {zeros}"
    return None


def law_max_common_layout(answer: Any, a: Any, b: Any) -> str | None:
    """Check that both layouts map each value of the answer to its index, and consist of such runs."""
    domain = min(count(a.shape), count(b.shape))
    for index, value in enumerate(values(answer)):
        if not 0 <= value < domain or not at(a, value) == at(b, value) == index:
            return f"is {value} at index {index}, where not both layouts are {index}"
    return law_max_common_vector(count(answer.shape), a, b)


def law_max_common_vector(answer: Any, a: Any, b: Any) -> str | None:
    """Check that the elements split into runs of this length, contiguous in both, one of them from offset 0 on."""
    if answer < 1:
        return f"is {answer}, must be at least 1"
    left = Counter(zip(values(a), values(b), strict=False))
    if answer > 1 and (0, 0) not in left:
        return f"is {answer}, but no element has offset 0 in both layouts"
    for x, y in sorted(left):
        copies = left[x, y]
        for step in range(answer if copies else 0):
            left[x + step, y + step] -= copies
            if left[x + step, y + step] < 0:
                place = f"from offset {x} in the first layout and {y} in the second"
                return f"is {answer}, but the run {place} ends after {step}"
    return None


def spread(order: Any, shape: Any) -> list[int]:
    """Return the order number of each leaf; an integer for a nested mode is the number of all of its leaves."""
    if isinstance(order, tuple):
        return [key for part, mode in zip(order, shape, strict=True) for key in spread(part, mode)]
    return [order] * len(leaves(shape))


def law_make_ordered_layout(answer: Any, shape: Any, order: Any) -> str | None:
    """Check that the layout is compact, and that its strides grow in the order."""
    if answer.shape != shape:
        return "has another shape"
    if sorted(values(answer)) != list(range(count(shape))):
        return "is not compact"
    ranks = spread(order, shape)
    moving = [(rank, k, d) for k, ((s, d), rank) in enumerate(zip(pairs(answer), ranks, strict=True)) if s > 1]
    strides = [d for *_, d in sorted(moving)]
    return None if strides == sorted(strides) else "has strides in another order"


def law_make_layout_like(answer: Any, layout: Any) -> str | None:
    """Check that the answer is compact, with strides in the order of those of the layout, and 0 where it has 0."""
    part = inner(layout)
    if answer.shape != part.shape:
        return "has another shape"
    both = [(s, d, e) for (s, d), (_, e) in zip(pairs(part), pairs(answer), strict=True) if s > 1]
    if any((d == 0) != (e == 0) for _, d, e in both):
        return "has strides of 0 at other modes"
    if sorted(set(values(answer))) != list(range(prod(s for s, d, _ in both if d != 0))):
        return "is not compact"
    moving = [(d, e) for _, d, e in both if d != 0]
    in_order = all((d < x) <= (e < y) for d, e in moving for x, y in moving if d > 0 and x > 0)
    return None if in_order else "has strides in another order"


def can_upcast(layout: Any, n: int) -> bool:
    """Check if a layout can be converted to units of ``n`` elements.

    Each stride must divide ``n`` or be a multiple of it, or its whole mode must stay in one unit. The modes in one unit
    must not reach beyond it, and a swizzle that is not the identity must not split it.
    """
    moving = [(s, d) for s, d in pairs(inner(layout)) if s > 1 and d]
    within = sum(d * (min(s, -(-n // d)) - 1) for s, d in moving if d % n and d > 0)
    possible = within < n and all(d % n == 0 or (d > 0 and (n % d == 0 or d * (s - 1) < n)) for s, d in moving)
    if not hasattr(layout, "inner"):
        return possible
    whole = layout.offset % n == 0 and (n & (n - 1) == 0 or not layout.outer.bits)
    return possible and whole and (not layout.outer.bits or 1 << layout.outer.base >= n)


def law_upcast(answer: Any, layout: Any, n: int) -> str | None:
    """Check that each element is in the larger unit that contains it."""
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
    """Check if at most one mode is contiguous, and, for a swizzled layout, if n is a power of two."""
    contiguous = [s for s, d in pairs(inner(layout)) if d == 1 and s > 1]
    return len(contiguous) < 2 and (not hasattr(layout, "inner") or not layout.outer.bits or n & (n - 1) == 0)


def law_downcast(answer: Any, layout: Any, n: int) -> str | None:
    """Check that each smaller unit is at the offset of its element."""
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
        coordinate = digits(index, new)
        part = 0
        for mode in grown:
            part, coordinate[mode] = coordinate[mode] % n, coordinate[mode] // n
        right = n * at(layout, rank_of(tuple(coordinate), tuple(old))) + part
        if at(answer, index) != right:
            return f"is {at(answer, index)} at index {index}, must be {right}"
    return None


def law_recast_layout(answer: Any, new: int, old: int, layout: Any) -> str | None:
    """Check a conversion through the largest unit that divides both: first a downcast, then an upcast."""
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
    """Yield the candidates of a layout in units smaller by ``n``: strides are scaled, and one mode of stride 1 grows.

    A swizzle does not change: only the identity can be converted to smaller and then to larger units.
    """
    extents, strides = leaves(layout.shape), leaves(inner(layout).stride)
    candidates: list[int | None] = [k for k, d in enumerate(strides) if d == 1]
    for grown in candidates or [None]:
        shape = [s * n if k == grown else s for k, s in enumerate(extents)]
        stride = [1 if k == grown else d * n for k, d in enumerate(strides)]
        plain = Plain(nested_like(iter(shape), layout.shape), nested_like(iter(stride), layout.shape))
        yield Composite(layout.outer, n * layout.offset, plain) if hasattr(layout, "inner") else plain


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
