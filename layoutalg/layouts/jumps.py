"""Where the offsets of a layout jump: the exact decision behind composition.

For flat coalesced modes ``s_k:d_k`` with prefix products ``P_k``, the extended layout is
``f(x) = d_0 * x + sum of c_k * floor(x / P_k)`` with ``c_k = d_k - s_(k-1) * d_(k-1) != 0``. Along steps of t, floor k
splits into a linear part and the jumps of ``floor(r_k * x / P_k)``, ``r_k = t mod P_k``. The questions "how far is
``x -> f(t x)`` linear" and "is f additive over these modes" are therefore questions about jumps that cancel.

>>> from layoutalg import LayoutError, Layout, composition
>>> a = Layout((6, 2), (1, 7))  # jumps from 5 to 7 at index 6, so that steps of 2 stay linear for three
>>> print([a(2 * x) for x in range(6)], composition(a, Layout(6, 2)))
[0, 2, 4, 7, 9, 11] (3,2):(2,7)
"""

from __future__ import annotations

from itertools import islice
from itertools import product as cartesian
from math import gcd, prod
from typing import Any

from layoutalg.errors import UndecidedError
from layoutalg.tuples.coordinates import extended_offset

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
        dirty = [(p, c, [_cut(t, p) for t in strides]) for p, c in self.boundaries if any(t % p for t in strides)]
        if not dirty:
            return None

        def differs(_: list[tuple[int, int]], where: tuple[int, ...]) -> bool:
            index = sum(map(int.__mul__, strides, where))
            total: Any = 0
            for p, c, turns in dirty:
                missing = _cut(index, p) - sum(map(int.__mul__, turns, where))
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


def _cut(index: int, boundary: int) -> int:
    """The quotient, cut towards zero."""
    return index // boundary if index >= 0 else -(-index // boundary)
