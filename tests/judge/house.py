"""What this project promises beyond the definitions: which form an answer has, and when there is none.

``PROMISES`` holds what an answer must be besides right: the form of the house, or the longest of several.
``POSSIBLE`` holds whether there is an answer at all, so that a refusal is judged too.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import judge
from texts import inside

from layoutalg.laws.definitions import LAWS, can_downcast, can_upcast, is_coalesced
from layoutalg.laws.existence import split
from layoutalg.laws.partitions import PLANS, as_layout, grid_of, projected, threads_of
from layoutalg.laws.points import Plan, count, inner, modes, pairs, values

# Promises


def has_basis(layout: Any) -> bool:
    """Whether a layout maps to coordinates: of these, the tests of the algebra say what is promised."""
    return any(hasattr(stride, "mode") for stride in judge.leaves(inner(layout).stride))


def promise_right_inverse(answer: Any, layout: Any) -> str | None:
    """The longest: with a negative stride a longer layout may collect parts of modes, which CuTe's form does not."""
    if hasattr(layout, "inner") or has_basis(layout):
        return None
    still = count(tuple(s for s, d in pairs(layout) if d == 0))
    image = values(layout)
    if len(set(image)) * still == len(image) and min(image) >= 0:
        run = next(n for n in range(len(image) + 1) if n not in set(image))
        if count(answer.shape) != run:
            return f"has {count(answer.shape)} elements, the longest run has {run}"
    return None


def promise_left_inverse(answer: Any, layout: Any, strict: bool = False) -> str | None:
    """One mode for each stride, which holds every offset of the layout; of an injective layout."""
    if has_basis(layout) or not judge.injective(layout):
        return None
    for index, offset in enumerate(values(layout)):
        if not 0 <= offset < count(answer.shape):
            return f"does not reach offset {offset} of index {index}"
    return None


def promise_max_common_vector(answer: Any, a: Any, b: Any) -> str | None:
    """The widest whose indices are a layout; of two plain layouts."""
    if not (judge.injective(a) and judge.injective(b)) or hasattr(a, "inner") or hasattr(b, "inner"):
        return None
    total = min(count(a.shape), count(b.shape))
    where_a, where_b = ({x: i for i, x in enumerate(values(part)[:total])} for part in (a, b))
    agreed = 0
    while agreed in where_a and where_a[agreed] == where_b.get(agreed):
        agreed += 1
    widest = max(
        n
        for n in range(1, agreed + 1)
        if n == 1
        or (
            total % n == 0
            and judge.form([where_a[x] for x in range(n)]) is not None
            and LAWS["max_common_vector"](n, a, b) is None
        )
    )
    return None if answer == widest else f"is {answer}, the widest is {widest}"


def promise_slice(answer: Any, plan: Plan) -> str | None:
    """Modes as they were where the slice stays swizzled, and no leaf in more parts than it needs where it does not."""
    layout = answer[0] if isinstance(answer, tuple) else answer
    tree = plan.tree if isinstance(plan.tree, tuple) else (plan.tree,)
    parts = modes(inner(layout)) if isinstance(plan.tree, tuple) else [inner(layout)]
    for part, mode in zip(tree, parts, strict=True):
        if hasattr(layout, "inner") and mode.shape != part.shape:
            return f"has a mode of shape {mode.shape}, must be {part.shape}"
        if not _is_sparing(mode, part.shape):
            return f"splits a leaf of {part.shape} into parts that could be one, {mode.shape}"
    return None


def _is_sparing(mode: Any, coarse: Any) -> bool:
    if isinstance(coarse, tuple):
        return all(map(_is_sparing, modes(mode), coarse))
    return not isinstance(mode.shape, tuple) or is_coalesced(mode.shape, mode.stride)


def _sliced(operation: str) -> Callable[..., str | None]:
    return lambda answer, *arguments: promise_slice(answer, PLANS[operation](*arguments))


PROMISES: dict[str, Callable[..., str | None]] = {
    "right_inverse": promise_right_inverse,
    "left_inverse": promise_left_inverse,
    "max_common_vector": promise_max_common_vector,
} | {name: _sliced(name) for name in ("slice_", "slice_and_offset", "local_tile", "local_partition")}


# Whether there is an answer


def _chained(layout: Any, strict: bool = False) -> bool | None:
    """Whether the strides form a chain of multiples, as the form of a left inverse needs, and it is one.

    Each digit of an offset in this chain is the step of one mode.
    """
    if has_basis(layout):
        return None
    plain, chain, weight = inner(layout), [], 1
    for s, d in judge.form(values(plain)) or []:
        chain.append((d, weight))
        weight *= s
    chain = sorted((d, w) for d, w in chain if d != 0)
    if any(d <= 0 for d, _ in chain) or any(e % d for (d, _), (e, _) in pairwise(chain)):
        return False
    if judge.injective(plain):
        return True
    if strict:
        return False

    def back(offset: int) -> int:
        bounds = [e // d for (d, _), (e, _) in pairwise(chain)] + [offset + 1]
        return sum(offset // d % bound * w for (d, w), bound in zip(chain, bounds, strict=True)) if chain else 0

    return all(judge.at(plain, back(offset)) == offset for offset in values(plain))


def _has_product(block: Any, tiler: Any) -> bool:
    return judge.product(inner(block), tiler.shape, tiler.stride) is not None


def _fills(atom: Any, shape: Any, order: Any = None, round_up: bool = False) -> bool:
    grid = grid_of(atom, shape, order, round_up)
    return grid is not None and _has_product(atom, grid)


def _has_tile(layout: Any, tiler: Any, coordinate: Any, proj: Any = None) -> bool:
    tiler, coordinate = projected(tiler, proj), projected(coordinate, proj)
    whole = split(inner(layout), tiler, judge.divide)
    if whole is None or len(coordinate) > len(modes(whole)):
        return False
    counts = [count(modes(mode)[1].shape) for mode in modes(whole)[: len(tiler)]]
    counts += [count(mode.shape) for mode in modes(whole)[len(tiler) :]]
    return inside((*coordinate, *(None,) * (len(counts) - len(coordinate))), tuple(counts))


def _has_partition(layout: Any, threads: Any, index: int, proj: Any = 1) -> bool:
    extents, found = threads_of(as_layout(threads), index, proj)
    return len(found) == 1 and split(inner(layout), extents, judge.divide) is not None


def _can_recast(new: int, old: int, layout: Any) -> bool | None:
    if new % old == 0:
        return can_upcast(layout, new // old)
    if old % new == 0:
        return can_downcast(layout, old // new)
    return None


POSSIBLE: dict[str, Callable[..., bool | None]] = {
    "right_inverse": lambda layout: True,
    "left_inverse": _chained,
    "nullspace": lambda layout: True,
    "max_common_layout": lambda a, b: True,
    "max_common_vector": lambda a, b: True,
    "blocked_product": _has_product,
    "raked_product": _has_product,
    "tile_to_shape": _fills,
    "upcast": can_upcast,
    "downcast": can_downcast,
    "recast_layout": _can_recast,  # of a ratio that is no integer, a refusal is that of the common unit
    "slice_": lambda layout, coordinate: inside(coordinate, layout.shape),
    "slice_and_offset": lambda coordinate, layout: inside(coordinate, layout.shape),
    "local_tile": _has_tile,
    "local_partition": _has_partition,
}
