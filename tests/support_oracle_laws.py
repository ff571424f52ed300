"""Laws of the operations whose result is a function of one operand: each decides by enumeration."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from itertools import product as pairings
from math import gcd, prod
from typing import Any

import judge as J

from descriptors.oracle.reader import Affine, Composed, Swizzling, read, write, write_tuple


def normal_term(term: Any) -> str:
    """Notation with strides of extent-1 modes written 0, and identity swizzles written S<0,4,3> or dropped."""
    if isinstance(term, Swizzling):
        return write(term if term.bits else Swizzling(0, 4, 3))
    if isinstance(term, Composed):
        if isinstance(term.outer, Swizzling) and term.outer.bits == 0 and term.offset == 0:
            return normal_term(term.inner)
        return f"{normal_term(term.outer)} o {write_tuple(term.offset)} o {normal_term(term.inner)}"
    return write(Affine(term.shape, _idle_zero(term.shape, term.stride)))


def _idle_zero(shape: Any, stride: Any) -> Any:
    if isinstance(shape, tuple):
        return tuple(map(_idle_zero, shape, stride))
    return 0 if shape == 1 else stride


def modes(shape: Any) -> tuple[Any, ...]:
    """The top modes of a shape or stride; a bare leaf is the only one of its own."""
    return shape if isinstance(shape, tuple) else (shape,)


def _law_coalesce(result: Any, a: str, profile: Any = None) -> bool:
    operand = read(a)
    if J.values(result) != J.values(operand):
        return False
    if isinstance(profile, tuple):
        shape = modes(result.shape)
        sizes = [J.count(mode) for mode in modes(operand.shape)]
        if not isinstance(result.shape, tuple) or [J.count(mode) for mode in shape] != sizes:
            return False
        pairs = zip(profile, shape, modes(_affine(result).stride), strict=False)
        return all(isinstance(item, tuple) or _is_coalesced(extents, strides) for item, extents, strides in pairs)
    return _is_coalesced(result.shape, _affine(result).stride)


def _affine(term: Any) -> Any:
    return term.inner if isinstance(term, Composed) else term


def _is_coalesced(shape: Any, stride: Any) -> bool:
    parts = list(zip(J.leaves(shape), J.leaves(stride), strict=True))
    if isinstance(shape, tuple) and (len(shape) < 2 or any(isinstance(mode, tuple) for mode in shape)):
        return not shape
    if len(parts) > 1 and any(extent == 1 for extent, _ in parts):
        return False
    return not any(J.same(J.times(s, J.point(d)), J.point(e)) for (s, d), (_, e) in pairwise(parts))


def _law_filter(result: Any, a: str) -> bool:
    operand = read(a)
    shape, stride = J.leaves(_affine(operand).shape), J.leaves(_affine(operand).stride)
    kept = [(s, d) for s, d in zip(shape, stride, strict=True) if d]
    bare = Affine(tuple(s for s, _ in kept), tuple(d for _, d in kept))
    if isinstance(operand, Composed):
        bare = Composed(operand.outer, operand.offset, bare)
    return J.values(result) == J.values(bare) and _is_coalesced(result.shape, _affine(result).stride)


def _law_filter_zeros(result: Any, a: str) -> bool:
    operand = read(a)

    def filtered(shape: Any, stride: Any) -> Any:
        return tuple(map(filtered, shape, stride)) if isinstance(shape, tuple) else (shape if stride else 1)

    wanted = Affine(filtered(_affine(operand).shape, _affine(operand).stride), _affine(operand).stride)
    whole = Composed(operand.outer, operand.offset, wanted) if isinstance(operand, Composed) else wanted
    return normal_term(result) == normal_term(whole)


def _law_complement(result: Any, a: str, cotarget: Any) -> bool:
    wanted = read(cotarget).shape if isinstance(cotarget, str) else cotarget
    rest = J.complement(J.pairs(read(a)), J.count(wanted))
    return rest is not None and J.values(result) == [J.line(rest, i) for i in range(prod(s for s, _ in rest))]


def _law_right_inverse(result: Any, a: str) -> bool:
    there = J.values(read(a))
    return all(0 <= v < len(there) and there[v] == i for i, v in enumerate(J.values(result)))


def _law_left_inverse(result: Any, a: str) -> bool:
    return all(J.same(J.at(result, value), index) for index, value in enumerate(J.values(read(a))))


def _law_nullspace(result: Any, a: str) -> bool:
    operand = read(a)
    zeros = prod(s for s, d in J.pairs(operand) if not d)
    values = J.values(result)
    return len(set(values)) == len(values) == zeros and all(J.same(J.at(operand, value), 0) for value in values)


def _law_max_common_layout(result: Any, a: str, b: str) -> bool:
    first, second, values = J.values(read(a)), J.values(read(b)), J.values(result)
    return all(v < min(len(first), len(second)) and first[v] == second[v] == i for i, v in enumerate(values))


def _law_recast(result: Any, new_bits: int, old_bits: int, a: str) -> bool:
    common = gcd(new_bits, old_bits)
    up, down = new_bits // common, old_bits // common
    before, after = read(a), result
    if up > 1 and down > 1:
        return any(_covers(before, middle, down) and _covers(after, middle, up) for middle in _grown(before, down))
    coarse, fine, factor = (after, before, up) if down == 1 else (before, after, down)
    return _covers(coarse, fine, factor)


def _grown(term: Any, factor: int) -> list[Affine]:
    """A layout in units smaller by a factor: strides scale, and one leaf of stride 1, where there is any, grows."""
    parts = J.pairs(term)
    scaled = [(s, d * factor) for s, d in parts]
    runs = [k for k, (_, d) in enumerate(parts) if d == 1]
    grown = [[*scaled[:k], (parts[k][0] * factor, 1), *scaled[k + 1 :]] for k in runs] or [scaled]
    return [Affine(tuple(s for s, _ in leaves), tuple(d for _, d in leaves)) for leaves in grown]


def _covers(coarse: Any, fine: Any, factor: int) -> bool:
    """Whether fine(c) == factor * coarse(c // f) + position(c % f), leaf by leaf, for some f.

    Positions must lie within a coarse unit and differ; the last coarse element of a leaf may be filled in part. Each
    fine stride must divide the factor or be a multiple of it, as CuTe defines the operation.
    """
    wide, narrow = J.leaves(fine.shape), J.leaves(coarse.shape)
    strides = [d for s, d in J.pairs(_affine(fine)) if s > 1 and d]
    if len(wide) != len(narrow) or any(factor % d and d % factor for d in strides):
        return False
    steps = [[f for f in range(1, factor + 1) if -(-s // f) == t] for s, t in zip(wide, narrow, strict=True)]
    units, values = J.values(coarse), J.values(fine)
    return any(_covers_by(choice, units, values, wide, narrow, factor) for choice in pairings(*steps))


def _covers_by(
    steps: tuple[int, ...], units: list[int], values: list[int], wide: list[int], narrow: list[int], factor: int
) -> bool:
    positions: dict[tuple[int, ...], int] = {}
    weights = [prod(narrow[:k]) for k in range(len(narrow))]
    for index, value in enumerate(values):
        digits = J.digits(index, wide)
        where = sum(digit // step * weight for digit, step, weight in zip(digits, steps, weights, strict=True))
        key = tuple(digit % step for digit, step in zip(digits, steps, strict=True))
        position = value - factor * units[where]
        if not 0 <= position < factor or positions.setdefault(key, position) != position:
            return False
    return len(set(positions.values())) == len(positions)


def _law_ordered(result: Any, shape: Any, order: Any) -> bool:
    if result.shape != shape or sorted(J.values(result)) != list(range(J.count(shape))):
        return False
    ranks = _spread_order(shape, order)
    moving = [(rank, k, d) for k, ((s, d), rank) in enumerate(zip(J.pairs(result), ranks, strict=True)) if s > 1]
    strides = [d for *_, d in sorted(moving)]
    return strides == sorted(strides)


def _spread_order(shape: Any, order: Any) -> list[Any]:
    """The rank of each leaf; an integer for a nested mode ranks all of its leaves."""
    if isinstance(order, tuple):
        return [rank for mode, item in zip(shape, order, strict=True) for rank in _spread_order(mode, item)]
    return [order] * len(J.leaves(shape))


def _law_like(result: Any, a: str) -> bool:
    operand = read(a)
    if result.shape != operand.shape:
        return False
    pairs = [(s, d, e) for (s, d), (_, e) in zip(J.pairs(operand), J.pairs(result), strict=True) if s > 1]
    if any((d == 0) != (e == 0) for _, d, e in pairs):
        return False
    moving = [(d, e) for _, d, e in pairs if d]
    filled = prod(s for s, d, _ in pairs if d)
    if sorted(set(J.values(result))) != list(range(filled)):
        return False
    return all((d < x) <= (e < y) for d, e in moving for x, y in moving if d > 0 and x > 0)


LAWS: dict[str, Callable[..., bool]] = {
    "coalesce": _law_coalesce,
    "filter": _law_filter,
    "filter_zeros": _law_filter_zeros,
    "complement": _law_complement,
    "right_inverse": _law_right_inverse,
    "left_inverse": _law_left_inverse,
    "nullspace": _law_nullspace,
    "max_common_layout": _law_max_common_layout,
    "recast_layout": _law_recast,
    "upcast": lambda result, a, factor: _law_recast(result, factor, 1, a),
    "downcast": lambda result, a, factor: _law_recast(result, 1, factor, a),
    "make_ordered_layout": _law_ordered,
    "make_layout_like": _law_like,
}
