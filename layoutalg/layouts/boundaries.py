"""Steps beside the boundaries of a layout's modes, for numbers: where each begins.

The boundaries are the prefix products P_0 = 1, P_1, ... of a layout's extents. Each divides the next, so that a step
which is a multiple of one is a multiple of all below it: the greatest boundary that is not above the step tells, by
bisection, what a walk over all of them would. That makes composition of r modes with p pieces O(p log r + r), where a
walk for each piece makes it O(r*p); the walk stays where a step is no such multiple, and for symbols, which no
bisection can order.

Law: it says what the walk says.

>>> bounds = boundaries([4, 2, 6, 3])
>>> bounds, skipped(bounds, 8), skipped(bounds, 16), skipped(bounds, 12)
([1, 4, 8, 48], (2, 1), (2, 2), (0, 12))
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence


def boundaries(extents: Sequence[int]) -> list[int]:
    """The prefix products of all extents but the last, from 1 on.

    >>> boundaries([2, 3, 4])
    [1, 2, 6]
    """
    found = [1]
    for extent in extents[:-1]:
        found.append(found[-1] * extent)
    return found


def skipped(bounds: Sequence[int], step: int) -> tuple[int, int]:
    """How many modes a step makes whole turns of, by the greatest boundary that it reaches, and the step in the next.

    (0, step) where it is no multiple of that boundary, so that only a walk tells.

    >>> skipped([1, 2, 6], 18)
    (2, 3)
    """
    where = bisect_right(bounds, step) - 1
    turns, rest = divmod(step, bounds[where])
    return (0, step) if rest else (where, turns)
