"""The law of each operation whose answer is not unique, or is easier checked than computed, by enumeration.

Each takes an answer, or :data:`REFUSED`, and the operands of the operation of its name, and says what is wrong, or
nothing. Built on ``judge`` alone.
"""

from __future__ import annotations

from collections.abc import Callable
from math import gcd
from typing import Any

import judge
from exact import inner, inside, modes
from judge import Plain, count, leaves

REFUSED = object()  # in place of an answer


def law_right_inverse(answer: Any, layout: Any) -> str | None:
    if answer is REFUSED:
        return "refused, but every layout has one"
    values = judge.values(answer)
    if any(not 0 <= x < count(layout.shape) or judge.at(layout, x) != i for i, x in enumerate(values)):
        return "does not give the index of every offset"
    still = 1
    if hasattr(layout, "inner"):
        return None
    for s, d in judge.pairs(layout):
        still *= s if d == 0 else 1
    image = judge.values(layout)
    # CuTe's form collects whole modes; with a negative stride a longer layout may exist that collects parts of them.
    if len(set(image)) * still == len(image) and min(image) >= 0:
        run = next(n for n in range(len(image) + 1) if n not in set(image))
        if len(values) != run:
            return f"has {len(values)} elements, the longest run has {run}"
    return None


def law_left_inverse(answer: Any, layout: Any) -> str | None:
    image = judge.values(layout)
    chained = len(set(image)) == len(image)
    below = reach = 1
    for d, s in sorted((d, s) for s, d in judge.form(judge.values(inner(layout))) or []):
        chained = chained and d > 0 and d % below == 0 and d >= reach
        below, reach = (d, d * s) if chained else (below, reach)
    if answer is REFUSED:
        return "refused, but the strides are an injective chain" if chained else None
    if not chained:
        return "answered, but the strides are no injective chain"
    wrong = [i for i, x in enumerate(image) if not 0 <= x < count(answer.shape) or judge.at(answer, x) != i]
    return f"does not give back index {wrong[0]}" if wrong else None


def law_nullspace(answer: Any, layout: Any) -> str | None:
    if answer is REFUSED:
        return "refused, but every layout has one"
    values = judge.values(answer)
    if any(judge.at(layout, index) for index in values):
        return "reaches an index that does not map to 0"
    still = count(tuple(s for s, d in judge.pairs(layout) if d == 0))
    return None if len(set(values)) == len(values) == still else f"has {len(values)} elements of {still}"


def law_max_common_layout(answer: Any, a: Any, b: Any) -> str | None:
    if answer is REFUSED:
        return "refused, but any two layouts have one"
    values = judge.values(answer)
    if any(judge.at(a, x) != i or judge.at(b, x) != i for i, x in enumerate(values)):
        return "is not undone by both layouts"
    return None


def law_max_common_vector(answer: Any, a: Any, b: Any) -> str | None:
    if answer is REFUSED:
        return "refused, but any two layouts have one"
    where_a, where_b = ({x: i for i, x in reversed(list(enumerate(judge.values(part))))} for part in (a, b))
    if not (judge.injective(a) and judge.injective(b)):
        return None
    agreed = 0
    while agreed in where_a and where_a[agreed] == where_b.get(agreed):
        agreed += 1
    longest = max(n for n in range(1, agreed + 1) if judge.form([where_a[x] for x in range(n)]) is not None)
    return None if answer == longest else f"found {answer}, the longest has {longest}"


def _rearranged(answer: Any, block: Any, tiler: Any, raked: bool) -> str | None:
    result = judge.product(inner(block), tiler.shape, tiler.stride)
    if answer is REFUSED or result is None:
        return None if answer is REFUSED and result is None else f"found {answer}, the product is {result}"
    mine, theirs = [count(m.shape) for m in modes(inner(block))], [count(m.shape) for m in modes(tiler)]
    rank = max(len(mine), len(theirs))
    mine, theirs = mine + [1] * (rank - len(mine)), theirs + [1] * (rank - len(theirs))
    if [count(m.shape) for m in modes(inner(answer))] != [m * t for m, t in zip(mine, theirs, strict=True)]:
        return "has modes of other sizes"
    for index in range(count(answer.shape)):
        where = judge.digits(index, [m * t for m, t in zip(mine, theirs, strict=True)])
        low = theirs if raked else mine
        fast = tuple(w % n for w, n in zip(where, low, strict=True))
        slow = tuple(w // n for w, n in zip(where, low, strict=True))
        inside, copy = (slow, fast) if raked else (fast, slow)
        flat_index = judge.rank_of(inside, tuple(mine)) + count(block.shape) * judge.rank_of(copy, tuple(theirs))
        offset = judge.at(Plain(*result), flat_index)
        expected = judge.after(block.outer, block.offset + offset) if hasattr(block, "inner") else offset
        if judge.at(answer, index) != expected:
            return f"is {judge.at(answer, index)} at {index}, should be {expected}"
    return None


def law_blocked_product(answer: Any, block: Any, tiler: Any) -> str | None:
    return _rearranged(answer, block, tiler, raked=False)


def law_raked_product(answer: Any, block: Any, tiler: Any) -> str | None:
    return _rearranged(answer, block, tiler, raked=True)


def law_tile_to_shape(answer: Any, atom: Any, shape: tuple[int, ...], order: Any = None) -> str | None:
    mine = [count(m.shape) for m in modes(inner(atom))]
    mine += [1] * (len(shape) - len(mine))
    if len(mine) != len(shape) or any(whole % part for whole, part in zip(shape, mine, strict=True)):
        return None if answer is REFUSED else "answered, but the atom does not divide the shape"
    counts = tuple(whole // part for whole, part in zip(shape, mine, strict=True))
    keys = tuple(range(len(counts))) if order is None else order
    strides = [0] * len(counts)
    current = 1
    for mode in sorted(range(len(counts)), key=lambda mode: (keys[mode], mode)):
        strides[mode] = current
        current *= counts[mode]
    return _rearranged(answer, atom, Plain(counts, tuple(strides)), raked=False)


def law_upcast(answer: Any, layout: Any, n: int) -> str | None:
    part = inner(layout)
    moving = [(s, d) for s, d in judge.pairs(part) if s > 1 and d]
    within = sum(d * (min(s, n // d) - 1) for s, d in moving if d % n and d > 0 and n % d == 0)
    possible = within < n and all(d % n == 0 or (d > 0 and n % d == 0) for _, d in moving)
    if hasattr(layout, "inner"):
        possible = possible and layout.offset % n == 0 and n & (n - 1) == 0
        possible = possible and (not layout.outer.bits or 1 << layout.outer.base >= n)
    if answer is REFUSED or not possible:
        return (
            None if answer is REFUSED and not possible else ("refused" if possible else "answered, but units straddle")
        )
    old, new = leaves(layout.shape), leaves(answer.shape)
    steps = [n // d if s > 1 and d and d % n else 1 for s, d in zip(old, leaves(part.stride), strict=True)]
    if [-(-s // step) for s, step in zip(old, steps, strict=True)] != new:
        return "has other extents"
    for index in range(count(layout.shape)):
        group = [digit // step for digit, step in zip(judge.digits(index, old), steps, strict=True)]
        if judge.at(answer, judge.rank_of(tuple(group), tuple(new))) != judge.at(layout, index) // n:
            return f"puts element {index} into another unit"
    return None


def law_downcast(answer: Any, layout: Any, n: int) -> str | None:
    contiguous = [s for s, d in judge.pairs(inner(layout)) if d == 1 and s > 1]
    possible = len(contiguous) < 2 and (not hasattr(layout, "inner") or n & (n - 1) == 0)
    if answer is REFUSED or not possible:
        return None if answer is REFUSED and not possible else ("refused" if possible else "answered")
    old, new = leaves(layout.shape), leaves(answer.shape)
    grown = [mode for mode, (s, t) in enumerate(zip(old, new, strict=True)) if s != t]
    if len(grown) > 1 or (contiguous and n > 1 and not grown):
        return "grows other modes than the contiguous one"
    for index in range(count(answer.shape)):
        digits = judge.digits(index, new)
        part = 0
        for mode in grown:
            part, digits[mode] = digits[mode] % n, digits[mode] // n
        if judge.at(answer, index) != n * judge.at(layout, judge.rank_of(tuple(digits), tuple(old))) + part:
            return f"is wrong at {index}"
    return None


def law_recast_layout(answer: Any, new: int, old: int, layout: Any) -> str | None:
    if new % old == 0:
        return law_upcast(answer, layout, new // old)
    if old % new == 0:
        return law_downcast(answer, layout, old // new)
    if answer is REFUSED:
        return None  # a refusal of a ratio that is no integer is that of the recast to or from the common unit
    unit = gcd(new, old)
    before = {judge.at(layout, i) * old // unit + j for i in range(count(layout.shape)) for j in range(old // unit)}
    after = [{offset * new // unit + j for j in range(new // unit)} for offset in judge.values(answer)]
    if before - set().union(*after) or any(not place & before for place in after):
        return "does not cover the same bits"
    return None


def _kept(coordinate: Any, shape: Any) -> list[Any]:
    if coordinate is None:
        return [shape]
    if isinstance(coordinate, tuple):
        return [kept for c, s in zip(coordinate, shape, strict=True) for kept in _kept(c, s)]
    return []


def _filled(coordinate: Any, indices: Any) -> Any:
    if coordinate is None:
        return next(indices)
    return tuple(_filled(c, indices) for c in coordinate) if isinstance(coordinate, tuple) else coordinate


def law_slice_and_offset(answer: Any, coordinate: Any, layout: Any) -> str | None:
    if answer is REFUSED:
        return None if not _fits(coordinate, layout.shape) else "refused, but the coordinate fits"
    result, offset = answer
    extents = [count(shape) for shape in _kept(coordinate, layout.shape)]
    if count(result.shape) != count(tuple(extents)):
        return "has another size"
    for index in range(count(result.shape)):
        where = _filled(coordinate, iter(judge.digits(index, extents)))
        if judge.at(result, index) + offset != judge.at_coordinate(layout, where):
            return f"is wrong at {index}"
    return None


def _fits(coordinate: Any, shape: Any) -> bool:
    if coordinate is None:
        return True
    if isinstance(coordinate, tuple):
        return isinstance(shape, tuple) and len(shape) == len(coordinate) and all(map(_fits, coordinate, shape))
    return bool(0 <= coordinate < count(shape))


def law_slice_(answer: Any, layout: Any, coordinate: Any) -> str | None:
    """A slice without its offset: right if one constant completes it."""
    if answer is REFUSED:
        return law_slice_and_offset(answer, coordinate, layout)
    first = _filled(coordinate, iter([0] * len(_kept(coordinate, layout.shape))))
    offset = judge.at_coordinate(layout, first) - judge.at(answer, 0)
    return law_slice_and_offset((answer, offset), coordinate, layout)


def _blocks(layout: Any, tiler: tuple[int, ...]) -> tuple[int, ...] | None:
    """How many tiles along each mode, where :func:`judge.divide` allows them."""
    parts = modes(inner(layout))
    if len(parts) != len(tiler) or any(judge.divide(m, t, 1) is None for m, t in zip(parts, tiler, strict=True)):
        return None
    return tuple(count(m.shape) // t for m, t in zip(parts, tiler, strict=True))


def _place(layout: Any, tiler: Any, tile: Any, inside: Any) -> Any:
    where = tuple(p * t + i for p, t, i in zip(tile, tiler, inside, strict=True))
    return judge.at_coordinate(layout, where if isinstance(layout.shape, tuple) else where[0])


def law_local_tile(answer: Any, layout: Any, tiler: tuple[int, ...], tile: tuple[int, ...]) -> str | None:
    grid = _blocks(layout, tiler)
    possible = grid is not None and inside(tile, grid)
    if answer is REFUSED or not possible:
        return None if answer is REFUSED and not possible else ("refused" if possible else "answered")
    result, offset = answer
    if count(result.shape) != count(tiler):
        return "has another size"
    for index in range(count(tiler)):
        if judge.at(result, index) + offset != _place(layout, tiler, tile, judge.digits(index, tiler)):
            return f"is wrong at {index}"
    return None


def law_local_partition(answer: Any, layout: Any, threads: Any, index: int) -> str | None:
    tiler = tuple(count(m.shape) for m in modes(threads))
    grid = _blocks(layout, tiler)
    found = [i for i, x in enumerate(judge.values(threads)) if x == index]
    possible = grid is not None and len(found) == 1
    if answer is REFUSED or not possible:
        return None if answer is REFUSED and not possible else ("refused" if possible else "answered")
    result, offset = answer
    assert grid is not None
    if count(result.shape) != count(grid):
        return "has another size"
    for tile in range(count(grid)):
        expected = _place(layout, tiler, judge.digits(tile, grid), judge.digits(found[0], tiler))
        if judge.at(result, tile) + offset != expected:
            return f"is wrong at {tile}"
    return None


LAWS: dict[str, Callable[..., str | None]] = {
    name.removeprefix("law_"): function for name, function in list(globals().items()) if name.startswith("law_")
}
