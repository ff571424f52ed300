"""Composition of plain layouts: decide if the result is a layout, and compute it.

Definition: ``composition(a, b)`` is the layout R whose shape refines that of b leaf by leaf, with
``R(i) == a(b(i))`` for every index i of b. Here a is extended beyond its shape as in CuTe
(:func:`~layoutalg.tuples.int_tuple.extended_offset`): its last mode extends to infinity, and it is an odd function.

Such an R need not exist: ``(6,2):(1,7) o (3,2):(2,3)`` maps (2,0) to 4 and (0,1) to 3, but (2,1) to 8, because the
index 4 + 3 = 7 carries into the second mode of a. The following theorem decides if R exists. Let a be flat and
coalesced with extents ``s_0, s_1, ...``, strides ``d_k`` and prefix products ``P_k = s_0 * ... * s_(k-1)``. Then::

    a(x) = d_0 * x + sum over k >= 1 of c_k * floor(x / P_k),    c_k = d_k - s_(k-1) * d_(k-1), never 0

So a leaf n:t of b has a constant stride exactly as long as the floors of ``t * x`` add no jump, and R is additive over
the leaves exactly if the floors are. Along steps of t, floor k is the sum of a linear part and the jumps of
``floor(r_k * x / P_k)``, where ``r_k = t mod P_k``. A boundary ``P_k`` is *clean* if the remainders of all leaves
together stay below ``P_k``; its floor is then linear. If every boundary is clean, R exists. If exactly one boundary is
not clean, R does not exist, since nothing cancels its jumps. If several boundaries are not clean, their jumps might
cancel, and the code examines all of them.
Proof, apart from the stride of one leaf: ``floor_form``, ``additive_exactly``, ``one_boundary`` and
``clean_composition`` in ``proofs/Boundaries.v``.
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

#: The most jumps or coordinates that are compared. Only layouts with several boundaries to which no divisibility rule
#: applies are compared at all, and a difference nearly always appears within the first few steps.
MAX_STEPS = 1 << 20


class ExtendedLayout:
    """The extended function of a flat coalesced layout, with a table of its jumps.

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
        """Return the offset of any index, within the shape or beyond."""
        return extended_offset(index, self.shape, self.stride)

    def first_jump(self, step: int, count: int) -> int | None:
        """Return the least x < count with ``f(step * x) != x * f(step)``; None if there is none.

        f is odd, so the sign of the step does not matter.
        """
        step = abs(step)
        # (next x at which floor k jumps, number of its jumps up to there, P_k, r_k, c_k)
        jumps = [[-(-p // r), 1, p, r, c] for p, c in self.boundaries if (r := step % p)]
        if not jumps:
            return None
        largest = max(entry[2] for entry in jumps)
        count = min(count, largest // gcd(step, largest) + 1)  # the jumps repeat after that
        for _ in range(MAX_STEPS):
            x = min(entry[0] for entry in jumps)
            if x >= count:
                return None
            total: Any = 0
            for entry in jumps:
                if entry[0] == x:
                    total = total + entry[4]
                    entry[1] += 1
                    entry[0] = -(-entry[1] * entry[2] // entry[3])
            if total != 0:
                return int(x)
        raise UndecidedError(
            f"composition: cannot decide whether the offsets along steps of {step} have a constant stride, because the "
            f"first {MAX_STEPS} jumps cancel"
        )

    def first_carry(self, modes: list[tuple[int, int]]) -> tuple[int, ...] | None:
        """Return a coordinate of the modes ``n:t`` whose offset is not the sum of the offsets of the modes, or None.

        Each mode must be linear (:meth:`first_jump` is None).
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

        def differs(coordinate: tuple[int, ...]) -> bool:
            total: Any = 0
            for p, c, remainders in residues:
                floor = sum(map(int.__mul__, remainders, coordinate)) // p
                if floor:
                    total = total + c * floor
            return bool(total != 0)

        return self._search(modes, ranges, differs)

    def _both_signs(self, modes: list[tuple[int, int]]) -> Callable[[tuple[int, ...]], bool] | None:
        """Return a check that the floors at a coordinate differ from the sum of those of its modes, or None if none do.

        This is for modes whose strides have both signs. A boundary that divides every stride has a linear floor. Since
        f is odd, floors are rounded towards zero.
        """
        strides = [t for _, t in modes]
        dirty = [(p, c, [_quotient(t, p) for t in strides]) for p, c in self.boundaries if any(t % p for t in strides)]
        if not dirty:
            return None

        def differs(coordinate: tuple[int, ...]) -> bool:
            index = sum(map(int.__mul__, strides, coordinate))
            total: Any = 0
            for p, c, floors in dirty:
                difference = _quotient(index, p) - sum(map(int.__mul__, floors, coordinate))
                if difference:
                    total = total + c * difference
            return bool(total != 0)

        return differs

    def _search(
        self, modes: list[tuple[int, int]], ranges: list[int], differs: Callable[[tuple[int, ...]], bool] | None
    ) -> tuple[int, ...] | None:
        """Return the first coordinate at which ``differs`` is true: small ones first, then the corners, then all."""
        if differs is None:
            return None
        small = [range(min(n, 3)) for n in ranges]
        corners = [(0,) if n == 1 else (0, n - 1) for n in ranges]
        for candidates in (small, corners):
            for coordinate in islice(cartesian(*candidates), MAX_STEPS >> 3):
                if differs(coordinate):
                    return tuple(coordinate)
        if prod(ranges) > MAX_STEPS:
            raise UndecidedError(
                f"composition: cannot decide whether the offsets are additive over the modes "
                f"{','.join(f'{n}:{t}' for n, t in modes)} of the index, because that needs more than {MAX_STEPS} "
                f"comparisons"
            )
        for coordinate in cartesian(*map(range, ranges)):
            if differs(coordinate):
                return tuple(coordinate)
        return None


def _quotient(index: int, boundary: int) -> int:
    """Return the quotient, rounded towards zero."""
    return index // boundary if index >= 0 else -(-index // boundary)


#: A leaf of b, ``(extent, stride)``.
Leaf = tuple[Any, Any]
#: The extents and strides of the modes of the result for one leaf of b.
Piece = tuple[list[Any], list[Any]]

#: A function that returns whether one number is less than another; with symbols, whether that is known.
Less = Callable[[Any, Any], bool]


def compose_plain(a: Layout, b: Layout) -> Layout:
    """Compose two plain layouts; see :func:`~layoutalg.algebra.composition.composition`.

    Raises:
        NotDivisibleError: if the result is not a layout.
        UndecidedError: if that depends on symbols, or needs too many comparisons.
        LayoutError: if b addresses modes that a does not have, or mixes integer and basis strides.
    """
    layout = quick_composition(a, b)
    return compose_carefully(a, b) if layout is None else layout


def compose_carefully(a: Layout, b: Layout) -> Layout:
    """Compose any two plain layouts, with each step separate; tests compare :func:`quick_composition` with it.

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
    """Return the layout of the pieces for all leaves of b, in the nesting of b."""
    if type(profile) is not tuple:
        return from_flat(*pieces[0])
    return trusted(
        unflatten([s[0] if len(s) == 1 else tuple(s) for s, _ in pieces], profile),
        unflatten([d[0] if len(d) == 1 else tuple(d) for _, d in pieces], profile),
    )


def _compose_leaves(
    extents: list[Any], strides: list[Any], leaves: list[Leaf], a: Layout, b: Layout, less: Less
) -> list[Piece]:
    """Compose coalesced modes with the leaves of b, whose offsets add up to one index.

    The divisibility rule of CuTe is tried first, which is exact for one leaf if it applies. If it does not apply, or if
    the leaves together carry across a boundary, the theorem in the docstring of the module decides.
    """
    if len(extents) == 1:  # a is linear on all integers
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
    """Compose with one leaf n:t by CuTe's divisibility rule; return None if it does not apply."""
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
        if rest_t % s == 0:  # every step is a multiple of the extent, so the index in this mode stays 0
            rest_t //= s
            continue
        if less(rest_t * (rest_n - 1), s):  # all remaining steps stay inside this mode
            indices.append((rest_n, sign * step))
            out_extents.append(rest_n)
            out_strides.append(sign * rest_t * d)
            return out_extents, out_strides
        if s % rest_t:
            return None
        count = s // rest_t  # number of steps that go through this mode exactly once
        if rest_n % count:
            return None
        indices.append((count, sign * step))
        out_extents.append(count)
        out_strides.append(sign * rest_t * d)
        rest_n //= count
        step *= count
        rest_t = 1
        if rest_n == 1:
            return out_extents, out_strides
    indices.append((rest_n, sign * step))
    out_extents.append(rest_n)
    out_strides.append(sign * rest_t * strides[-1])
    return out_extents, out_strides


def _clean(extents: list[Any], indices: list[Leaf], less: Less) -> bool:
    """Check if the sums of the index modes do not carry across a boundary of a; False if a stride is negative."""
    if min([t for _, t in indices]) < 0 if indices else False:
        return False
    boundary = 1
    for s in extents[:-1]:
        boundary *= s
        if not less(sum([t % boundary * (n - 1) for n, t in indices]), boundary):
            return False
    return True


def _exact(extents: list[Any], strides: list[Any], leaves: list[Leaf], a: Layout, b: Layout) -> list[Piece]:
    """Decide the composition by the theorem: split each leaf at its first jump, then check the sums for a carry.

    Raises:
        NotDivisibleError: if the result is not a layout.
        UndecidedError: if there are symbols, or too many coordinates to compare.
    """
    if has_symbols((*extents, *strides, *[leaf for mode in leaves for leaf in mode])):
        raise UndecidedError(
            f"composition: cannot decide whether the result is a layout for all values of the symbols, because the "
            f"modes of b may carry in a; a = {a}, b = {b}"
        )
    function = ExtendedLayout(extents, strides)
    pieces: list[Piece] = []
    indices: list[Leaf] = []
    for n, t in leaves:
        piece: Piece = ([], [])
        rest, step = (n, t) if t != 0 else (1, 0)
        while rest > 1 or not piece[0]:
            count = function.first_jump(step, rest)
            if count is not None and rest % count:
                _raise_uneven_leaf(n, t, count * (n // rest), a, b)
            count = count or rest
            indices.append((count, step))
            piece[0].append(count if t != 0 else n)
            piece[1].append(function(step) if count != 1 else 0)
            rest //= count
            step *= count
        pieces.append(piece)
    carry = function.first_carry(indices)
    if carry is not None:
        _raise_carry(function, indices, carry, leaves, a, b)
    return pieces


def _raise_uneven_leaf(n: int, t: int, index: int, a: Layout, b: Layout) -> NoReturn:
    raise NotDivisibleError(
        f"composition: the result is not a layout: the stride of a({t}*i) changes at i = {index}, which does not "
        f"divide {n}, the extent of the mode {n}:{t} of b; a = {a}, b = {b}"
    )


def _raise_carry(
    function: ExtendedLayout,
    indices: list[Leaf],
    carry: tuple[int, ...],
    leaves: list[Leaf],
    a: Layout,
    b: Layout,
) -> NoReturn:
    """Raise the error for a coordinate of b whose offset is not the sum of the offsets of the modes."""
    steps = [x * t for x, (_, t) in zip(carry, indices, strict=True) if x * t]
    total = sum((x * function(t) for x, (_, t) in zip(carry, indices, strict=True)), start=0)
    coordinate = []
    position = 0
    for n, t in leaves:  # combine the modes of one leaf to its coordinate
        value, weight = 0, 1
        while weight < n and position < len(indices) and t != 0:
            value += carry[position] * weight
            weight *= indices[position][0]
            position += 1
        position += 1 if t == 0 or n == 1 else 0
        coordinate.append(value)
    raise NotDivisibleError(
        f"composition: the result is not a layout: at coordinate {text(unflatten(coordinate, b.shape))} of b, "
        f"a({' + '.join(map(str, steps))}) = {function(sum(steps))}, but "
        f"{' + '.join(f'a({step})' for step in steps)} = {total}; a = {a}, b = {b}"
    )


def _compose_basis(a: Layout, b: Layout) -> Layout:
    """Compose with a layout with basis strides, each of which addresses one mode of a.

    Raises:
        LayoutError: if b mixes integer and basis strides, or addresses modes that a does not have.
    """
    groups: dict[tuple[int, ...], list[int]] = {}
    leaves = list(zip(flatten_tuple(b.shape), flatten_tuple(b.stride), strict=True))
    for i, (extent, stride) in enumerate(leaves):
        if is_one(extent) or is_zero(stride):  # the mode that the stride names does not matter
            continue
        if isinstance(stride, ScaledBasis):
            groups.setdefault(stride.mode, []).append(i)
        else:
            raise LayoutError(f"composition: b mixes integer and basis strides; b = {b}")
    pieces: list[Piece] = [([n], [0]) for n, _ in leaves]
    for path, members in groups.items():
        if any(other != path and other[: len(path)] == path for other in groups):
            raise LayoutError(
                f"composition: b addresses mode {path} of a both as a whole and in part; a = {a}, b = {b}"
            )
        part = trusted(tuple([leaves[i][0] for i in members]), tuple([leaves[i][1].value for i in members]))
        composed = compose_plain(_mode_at(a, path, b), part)
        for i, mode in zip(members, composed, strict=True):
            pieces[i] = (list(flatten_tuple(mode.shape)), list(flatten_tuple(mode.stride)))
    return _assemble(pieces, b.shape)


def _mode_at(a: Layout, path: tuple[int, ...], b: Layout) -> Layout:
    """Return the mode of a that a basis stride of b addresses.

    Raises:
        LayoutError: if a has no such mode.
    """
    mode = a
    for index in path:
        if index >= len(mode):
            raise LayoutError(f"composition: b addresses mode {path}, which a does not have; a = {a}, b = {b}")
        mode = mode[index]
    return mode
