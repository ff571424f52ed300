"""Composition of plain layouts: when one is the index of another, and what it is then.

Definition: ``composition(a, b)`` is the layout R whose shape refines that of b leaf by leaf, with
``R(i) == a(b(i))`` for every index i of b. Here a is extended beyond its shape as CuTe extends it
(:func:`~layoutalg.tuples.int_tuple.extended_offset`): its last mode runs on to infinity, and it is odd below zero.

Such an R need not exist: ``(6,2):(1,7) o (3,2):(2,3)`` maps (2,0) to 4 and (0,1) to 3, but (2,1) to 8, because the
index 4 + 3 = 7 carries into the second mode of a. The theorem that decides it, for flat coalesced a with extents
``s_0, s_1, ...``, strides ``d_k`` and prefix products ``P_k = s_0 * ... * s_(k-1)``::

    a(x) = d_0 * x + sum over k >= 1 of c_k * floor(x / P_k),    c_k = d_k - s_(k-1) * d_(k-1), never 0

so a leaf n:t of b keeps one stride exactly as long as the floors of ``t * x`` add no jump, and R is additive over the
leaves exactly if the floors are. Along steps of t, floor k splits into a linear part and the jumps of
``floor(r_k * x / P_k)``, ``r_k = t mod P_k``. A boundary ``P_k`` where the remainders of all leaves together stay below
``P_k`` is *clean*: its floor is linear there. If every boundary is clean, R exists. If exactly one is not, it does not,
since nothing cancels its jumps. If several are not, their jumps might cancel, which is decided by looking at them all.
Source: CUTLASS ``include/cute/layout.hpp`` (composition); the theorem is derived here and tested by enumeration.

>>> a, b = Layout((6, 2), (8, 2)), Layout((4, 3), (3, 1))
>>> r = compose_plain(a, b)
>>> print(r, all(r(i) == a(b(i)) for i in range(12)))
((2,2),3):((24,2),8) True
>>> a = Layout((6, 2), (1, 7))  # jumps from 5 to 7 at index 6, so that steps of 2 stay linear for three
>>> print([a(2 * x) for x in range(6)], compose_plain(a, Layout(6, 2)))
[0, 2, 4, 7, 9, 11] (3,2):(2,7)
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain, islice
from itertools import product as cartesian
from math import gcd, prod
from operator import lt
from typing import Any, NoReturn

from layoutalg.errors import LayoutError, NotDivisibleError, UndecidedError
from layoutalg.layouts.flat import from_flat
from layoutalg.layouts.layout import Layout, has_basis, trusted
from layoutalg.layouts.number_composition import coalesced, quick_composition
from layoutalg.tuples.int_tuple import IntTuple, extended_offset, flatten_tuple, text, unflatten
from layoutalg.tuples.leaf import has_symbols, is_one, surely_less
from layoutalg.tuples.scaled_basis import ScaledBasis, Vector, is_zero

#: How many jumps or coordinates are compared before giving up. Only layouts with several boundaries that fit no
#: divisibility rule come here at all, and a difference nearly always shows within the first few.
MAX_STEPS = 1 << 20


class ExtendedLayout:
    """The extended function of a flat coalesced layout, prepared for questions about its jumps.

    >>> f = ExtendedLayout([2, 3, 4], [1, 5, 12])
    >>> f.first_jump(3, 8), f.first_jump(1, 8)
    (None, 2)
    >>> f.first_carry([(2, 1), (2, 1)])
    (1, 1)
    """

    def __init__(self, extents: list[Any], strides: list[Any]) -> None:
        self.shape = tuple(extents)
        self.stride = tuple(strides)
        self.boundaries: list[tuple[Any, Any]] = []  # (P_k, c_k)
        boundary = 1
        for k in range(1, len(extents)):
            boundary *= extents[k - 1]
            jump = strides[k] - extents[k - 1] * strides[k - 1]
            if jump != 0:
                self.boundaries.append((boundary, jump))

    def __call__(self, index: int) -> Any:
        """The offset of any index, within the shape or beyond."""
        return extended_offset(index, self.shape, self.stride)

    def first_jump(self, step: int, count: int) -> int | None:
        """The least x < count with ``f(step * x) != x * f(step)``; None if there is none.

        f is odd, so the sign of the step does not matter.
        """
        step = abs(step)
        # (next x at which floor k jumps, how many jumps so far, P_k, r_k, c_k)
        moving = [[-(-p // r), 1, p, r, c] for p, c in self.boundaries if (r := step % p)]
        if not moving:
            return None
        largest = max(entry[2] for entry in moving)
        count = min(count, largest // gcd(step, largest) + 1)  # the jumps repeat after that
        for _ in range(MAX_STEPS):
            x = min(entry[0] for entry in moving)
            if x >= count:
                return None
            total: Any = 0
            for entry in moving:
                if entry[0] == x:
                    total = total + entry[4]
                    entry[1] += 1
                    entry[0] = -(-entry[1] * entry[2] // entry[3])
            if total != 0:
                return int(x)
        raise UndecidedError(
            f"composition: more than {MAX_STEPS} jumps cancel along steps of {step}; cannot decide whether all do"
        )

    def first_carry(self, modes: list[tuple[int, int]]) -> tuple[int, ...] | None:
        """A coordinate of the modes ``n:t`` whose offset is not the sum of what each mode gives; None if there is none.

        Each mode by itself must be linear (:meth:`first_jump` is None).
        """
        if len({t > 0 for n, t in modes if t and n > 1}) > 1:
            return self._search(modes, [n if t else 1 for n, t in modes], self._both_signs(modes))
        dirty = [(p, c) for p, c in self.boundaries if sum(abs(t) % p * (n - 1) for n, t in modes) >= p]
        if not dirty:
            return None
        largest = max(p for p, _ in dirty)
        ranges = []
        for n, t in modes:
            remains = any(t % p for p, _ in dirty)
            ranges.append(min(n, largest // gcd(t, largest) + 1) if remains else 1)
        residues = [(p, c, [abs(t) % p for _, t in modes]) for p, c in dirty]

        def differs(_: list[tuple[int, int]], where: tuple[int, ...]) -> bool:
            total: Any = 0
            for p, c, remainders in residues:
                turns = sum(map(int.__mul__, remainders, where)) // p
                if turns:
                    total = total + c * turns
            return bool(total != 0)

        return self._search(modes, ranges, differs)

    def _both_signs(self, modes: list[tuple[int, int]]) -> Any:
        """Whether the floors at a coordinate are not the sum of those of its modes, whose strides have both signs.

        A boundary that divides every stride has a linear floor; f is odd, so that floors are cut towards zero.
        """
        strides = [t for _, t in modes]
        dirty = [(p, c, [_quotient(t, p) for t in strides]) for p, c in self.boundaries if any(t % p for t in strides)]
        if not dirty:
            return None

        def differs(_: list[tuple[int, int]], where: tuple[int, ...]) -> bool:
            index = sum(map(int.__mul__, strides, where))
            total: Any = 0
            for p, c, turns in dirty:
                missing = _quotient(index, p) - sum(map(int.__mul__, turns, where))
                if missing:
                    total = total + c * missing
            return bool(total != 0)

        return differs

    def _search(self, modes: list[tuple[int, int]], ranges: list[int], differs: Any) -> tuple[int, ...] | None:
        """The first coordinate at which ``differs`` holds: the small ones first, then the corners, then all."""
        if differs is None:
            return None
        small = [range(min(n, 3)) for n in ranges]
        corners = [(0,) if n == 1 else (0, n - 1) for n in ranges]
        for candidates in (small, corners):
            for where in islice(cartesian(*candidates), MAX_STEPS >> 3):
                if differs(modes, where):
                    return tuple(where)
        if prod(ranges) > MAX_STEPS:
            raise UndecidedError(
                f"composition: more than {MAX_STEPS} coordinates would have to be compared to decide whether the modes "
                f"{','.join(f'{n}:{t}' for n, t in modes)} of the index are additive"
            )
        for where in cartesian(*map(range, ranges)):
            if differs(modes, where):
                return tuple(where)
        return None


def _quotient(index: int, boundary: int) -> int:
    """The quotient, cut towards zero."""
    return index // boundary if index >= 0 else -(-index // boundary)


#: A leaf of b, ``(extent, stride)``, and what becomes of it: its extents and strides in the result.
Leaf = tuple[Any, Any]
Piece = tuple[list[Any], list[Any]]

#: Whether one number is less than another; where there are symbols, whether it surely is.
Less = Callable[[Any, Any], bool]


def compose_plain(a: Layout, b: Layout) -> Layout:
    """:func:`composition` of two plain layouts."""
    layout = quick_composition(a, b)
    return compose_carefully(a, b) if layout is None else layout


def compose_carefully(a: Layout, b: Layout) -> Layout:
    """:func:`compose_plain` of any, with every step by itself; it judges the quick way.

    >>> print(compose_carefully(Layout((6, 2), (8, 2)), Layout(12, 1)))
    (6,2):(8,2)
    """
    extents, strides = coalesced(flatten_tuple(a.shape), flatten_tuple(a.stride))
    leaves = list(zip(flatten_tuple(b.shape), flatten_tuple(b.stride), strict=True))
    if {*map(type, extents), *map(type, strides), *map(type, chain.from_iterable(leaves))} == {int}:
        return _assemble(_compose_leaves(extents, strides, leaves, a, b, lt), b.shape)
    if has_basis(b):
        return _compose_basis(a, b)
    vectors = has_basis(a)
    if vectors:
        strides = [Vector.of(stride) for stride in strides]
    pieces = _compose_leaves(extents, strides, leaves, a, b, surely_less)
    if vectors:
        pieces = [(s, [d.as_stride() if isinstance(d, Vector) else d for d in ds]) for s, ds in pieces]
    return _assemble(pieces, b.shape)


def _assemble(pieces: list[Piece], profile: IntTuple) -> Layout:
    """Put the pieces of the leaves of b into the nesting of b."""
    if type(profile) is not tuple:
        return from_flat(*pieces[0])
    return trusted(
        unflatten([s[0] if len(s) == 1 else tuple(s) for s, _ in pieces], profile),
        unflatten([d[0] if len(d) == 1 else tuple(d) for _, d in pieces], profile),
    )


def _compose_leaves(
    extents: list[Any], strides: list[Any], leaves: list[Leaf], a: Layout, b: Layout, less: Less
) -> list[Piece]:
    """Compose coalesced modes with the leaves of b, which add up to one index.

    First the rule that CuTe uses, which is exact for one leaf where it applies; where it does not, or where the leaves
    together carry across a boundary, the theorem of this module's docstring decides.
    """
    if len(extents) == 1:  # linear on all integers, whatever b is
        d = strides[0]
        return [([n], [d * t if n != 1 else 0]) for n, t in leaves]
    pieces = []
    indices: list[Leaf] = []  # every mode of the result as a mode n:t of the index into a
    for n, t in leaves:
        piece = _divide_leaf(extents, strides, n, t, indices, less)
        if piece is None:
            return _exact(extents, strides, leaves, a, b)
        pieces.append(piece)
    if len(leaves) > 1 and not _clean(extents, indices, less):
        return _exact(extents, strides, leaves, a, b)
    return pieces


def _divide_leaf(
    extents: list[Any], strides: list[Any], n: Any, t: Any, indices: list[Leaf], less: Less
) -> Piece | None:
    """Compose with one leaf n:t by CuTe's divisibility rule; None where it does not apply."""
    if n == 1 or t == 0:
        return [n], [0]
    sign = 1
    if t < 0:
        t, sign = -t, -1
    rest_t = t
    out_extents: list[Any] = []
    out_strides: list[Any] = []
    rest_n, step = n, t
    for s, d in zip(extents[:-1], strides[:-1], strict=True):
        if rest_t % s == 0:  # every step skips whole turns of this mode
            rest_t //= s
            continue
        if less(rest_t * (rest_n - 1), s):  # the whole rest stays inside this mode
            indices.append((rest_n, sign * step))
            out_extents.append(rest_n)
            out_strides.append(sign * rest_t * d)
            return out_extents, out_strides
        if s % rest_t:
            return None
        turn = s // rest_t  # after so many steps exactly one turn of this mode is over
        if rest_n % turn:
            return None
        indices.append((turn, sign * step))
        out_extents.append(turn)
        out_strides.append(sign * rest_t * d)
        rest_n //= turn
        step *= turn
        rest_t = 1
        if rest_n == 1:
            return out_extents, out_strides
    indices.append((rest_n, sign * step))
    out_extents.append(rest_n)
    out_strides.append(sign * rest_t * strides[-1])
    return out_extents, out_strides


def _clean(extents: list[Any], indices: list[Leaf], less: Less) -> bool:
    """Whether no sum of the index modes carries across a boundary of a that a single one does not."""
    if min([t for _, t in indices]) < 0 if indices else False:
        return False
    boundary = 1
    for s in extents[:-1]:
        boundary *= s
        if not less(sum([t % boundary * (n - 1) for n, t in indices]), boundary):
            return False
    return True


def _exact(extents: list[Any], strides: list[Any], leaves: list[Leaf], a: Layout, b: Layout) -> list[Piece]:
    """Decide composition where the divisibility rule does not: split each leaf at its first jump, then compare all."""
    if has_symbols((*extents, *strides, *[leaf for mode in leaves for leaf in mode])):
        raise UndecidedError(
            f"composition: cannot decide whether the modes of b add up without a carry in a for all values of the "
            f"symbols; a = {a}, b = {b}"
        )
    function = ExtendedLayout(extents, strides)
    pieces: list[Piece] = []
    indices: list[Leaf] = []
    for n, t in leaves:
        piece: Piece = ([], [])
        rest, step = (n, t) if t != 0 else (1, 0)
        while rest > 1 or not piece[0]:
            turn = function.first_jump(step, rest)
            if turn is not None and rest % turn:
                _refuse_leaf(n, t, turn * (n // rest), a, b)
            turn = turn or rest
            indices.append((turn, step))
            piece[0].append(turn if t != 0 else n)
            piece[1].append(function(step) if turn != 1 else 0)
            rest //= turn
            step *= turn
        pieces.append(piece)
    where = function.first_carry(indices)
    if where is not None:
        _refuse_sum(function, indices, where, leaves, a, b)
    return pieces


def _refuse_leaf(n: int, t: int, index: int, a: Layout, b: Layout) -> NoReturn:
    raise NotDivisibleError(
        f"composition: the offsets a({t}*i) must have one stride over a divisor of {n} steps, found that they break it "
        f"after {index}; a = {a}, b = {b}"
    )


def _refuse_sum(
    function: ExtendedLayout,
    indices: list[Leaf],
    where: tuple[int, ...],
    leaves: list[Leaf],
    a: Layout,
    b: Layout,
) -> NoReturn:
    """Say at which coordinate of b the offsets are not the sum of what the modes give."""
    index = sum(x * t for x, (_, t) in zip(where, indices, strict=True))
    total = sum((x * function(t) for x, (_, t) in zip(where, indices, strict=True)), start=0)
    coordinate = []
    position = 0
    for n, t in leaves:  # the modes of one leaf, as the leaf's own coordinate
        value, weight = 0, 1
        while weight < n and position < len(indices) and t != 0:
            value += where[position] * weight
            weight *= indices[position][0]
            position += 1
        position += 1 if t == 0 or n == 1 else 0
        coordinate.append(value)
    raise NotDivisibleError(
        f"composition: a(b(i)) must be additive over the modes of b, found a({index}) = {function(index)} at "
        f"coordinate {text(unflatten(coordinate, b.shape))} instead of {total}; a = {a}, b = {b}"
    )


def _compose_basis(a: Layout, b: Layout) -> Layout:
    """Compose with a layout of coordinates: every path that occurs addresses one mode of a."""
    groups: dict[tuple[int, ...], list[int]] = {}
    leaves = list(zip(flatten_tuple(b.shape), flatten_tuple(b.stride), strict=True))
    for i, (extent, stride) in enumerate(leaves):
        if is_one(extent) or is_zero(stride):  # it never steps, whatever it names
            continue
        if isinstance(stride, ScaledBasis):
            groups.setdefault(stride.mode, []).append(i)
        else:
            raise LayoutError(f"composition: integer and basis strides cannot be mixed; b = {b}")
    pieces: list[Piece] = [([n], [0]) for n, _ in leaves]
    for path, members in groups.items():
        if any(other != path and other[: len(path)] == path for other in groups):
            raise LayoutError(f"composition: mode {path} of a is addressed both whole and in part; a = {a}, b = {b}")
        part = trusted(tuple([leaves[i][0] for i in members]), tuple([leaves[i][1].value for i in members]))
        composed = compose_plain(_mode_at(a, path, b), part)
        for i, mode in zip(members, composed, strict=True):
            pieces[i] = (list(flatten_tuple(mode.shape)), list(flatten_tuple(mode.stride)))
    return _assemble(pieces, b.shape)


def _mode_at(a: Layout, path: tuple[int, ...], b: Layout) -> Layout:
    """The mode of a that a basis stride of b addresses."""
    mode = a
    for index in path:
        if index >= len(mode):
            raise LayoutError(f"composition: a basis stride must address a mode of a, found {path}; a = {a}, b = {b}")
        mode = mode[index]
    return mode
