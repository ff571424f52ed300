"""Maps over mixed-radix digits, and a theorem that decides whether two of them are equal.

A *digit map* splits an index, fastest digit first, by extents n1, n2, ... (index = x1 + n1*(x2 + n2*(x3 + ...))) and
adds a step for each digit: ``f(index) = x1*d1 + x2*d2 + ...``. A mode of a layout is a digit map, and so is a dimension
of the read model. Two maps may split the same indices by different extents.

*Theorem.* Remove the digits of extent 1, and join two neighbors (n, d), (n', d') into (n*n', d) if d' = n*d. Two maps
of the same size agree everywhere if and only if the remaining digits are equal.
*Proof.* Joining does not change a value: x*d + x'*n*d = (x + n*x')*d. After joining, d1 = f(1), and if there is a
second digit, n1 is the smallest index at which f differs from index*d1. The other digits follow in the same way from
f(n1*index). So the values determine the digits. The theorem has no conditions: extents need not be powers of two, steps
may be 0 or negative, and carries do not matter, because the sums are sums of integers.

Consequently, two maps agree everywhere if they agree on a basis: on index 1 of each digit, and on the index where the
shorter of two digits ends. The first basis index at which they differ is the refutation. With symbols for positive
integers in extents and steps, maps with equal digits are equal for all values of the symbols.

Invariant: the result is that of a comparison of all indices, and a refutation is an index at which the values differ.

>>> from itertools import product
>>> maps = [[(6, 1)], [(2, 1), (3, 2)], [(3, 1), (2, 3)], [(2, 3), (3, 1)], [(3, 1), (2, -3)], [(2, 0), (3, 0)]]
>>> for f, g in product(maps, maps):
...     index, differing = first_difference(f, g), [i for i in range(6) if value(f, i) != value(g, i)]
...     assert index in differing if differing else index is None, (f, g)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

#: An extent and a step: integers, or polynomials in symbols for positive integers.
Digit: TypeAlias = tuple[Any, Any]


def normal(digits: Iterable[Digit]) -> list[Digit]:
    """Return the normal form of a map: without digits of extent 1, and with neighbors joined if possible.

    >>> normal([(8, 64), (1, 7), (4, 512), (2, 1)])
    [(32, 64), (2, 1)]
    """
    joined: list[Digit] = []
    extent: Any = 0
    step = end = None
    for n, d in digits:
        if n == 1:
            continue
        if d == end:
            extent = extent * n
            end = extent * step
            continue
        if extent:
            joined.append((extent, step))
        extent, step, end = n, d, n * d
    if extent:
        joined.append((extent, step))
    return joined


def first_difference(one: Iterable[Digit], other: Iterable[Digit]) -> int | None:
    """Return an index at which two maps of the same size differ, or None if they are equal. The digits are numbers.

    >>> first_difference([(2, 1), (3, 2)], [(6, 1)]), first_difference([(2, 1), (3, 2)], [(2, 1), (3, 4)])
    (None, 2)
    """
    mine, theirs = normal(one), normal(other)
    if mine == theirs:
        return None
    weight = 1
    for (n, d), (m, e) in zip(mine, theirs, strict=False):
        if d != e:
            break
        if n != m:
            weight *= min(n, m)
            break
        weight *= n
    return weight


def value(digits: Iterable[Digit], index: int) -> Any:
    """Return the value of a map at an index.

    >>> value([(8, 64), (4, 1)], 19)
    194
    """
    total: Any = 0
    for n, d in digits:
        index, x = divmod(index, n)
        total = total + x * d
    return total


def cut(digits: Iterable[Digit], extent: int) -> tuple[list[Digit], list[Digit]] | None:
    """Split a map into a map within blocks of an extent and one over the blocks: f(x + extent*i) = head(x) + tail(i).

    Both are in normal form. The result is None if the extent does not divide the digits.

    >>> cut([(8, 64), (6, 512)], 16), cut([(2, 1), (6, 4)], 3)
    (([(16, 64)], [(3, 1024)]), None)
    """
    head, tail, left = list[Digit](), normal(digits), extent
    while left > 1 and tail:
        n, d = tail.pop(0)
        if left % n == 0:
            head.append((n, d))
            left //= n
        elif n % left == 0:
            head.append((left, d))
            tail.insert(0, (n // left, left * d))
            left = 1
        else:
            return None
    return (head, tail) if left == 1 else None


def listed(digits: Iterable[Digit]) -> list[Any]:
    """Return the value of a map at every index.

    >>> listed([(2, 1), (3, 10)])
    [0, 1, 10, 11, 20, 21]
    """
    values: list[Any] = [0]
    for n, d in digits:
        values = [total + x * d for x in range(n) for total in values]
    return values


def leaves(shape: Any, stride: Any) -> list[Digit]:
    """Return the digits of a mode of a layout: its extents and strides, nested or not, fastest first.

    >>> leaves((8, (2, 4)), (64, (1, 512)))
    [(8, 64), (2, 1), (4, 512)]
    """
    if type(shape) is not tuple:
        return [(shape, stride)]
    for n in shape:
        if type(n) is tuple:
            parts = zip(shape, stride, strict=True)
            return [digit for extent, step in parts for digit in leaves(extent, step)]
    return list(zip(shape, stride, strict=True))


def common(one: Sequence[Digit], other: Sequence[Digit]) -> list[tuple[int, int, int]] | None:
    """Return common digits of two maps of the same size: (extent, step, other step). The digits are numbers.

    The result is None if there are no common digits, as for 6 = 2*3 and 6 = 3*2.

    >>> common([(2, 1), (6, 4)], [(4, 3), (3, 5)]), common([(2, 1), (3, 4)], [(3, 1), (2, 4)])
    ([(2, 1, 3), (2, 4, 6), (3, 8, 5)], None)
    """
    cuts = {1}
    for digits in (one, other):
        weight = 1
        for n, _ in digits:
            weight *= n
            cuts.add(weight)
    pairs = list(pairwise(sorted(cuts)))
    if any(high % low for low, high in pairs):
        return None
    return [(high // low, value(one, low), value(other, low)) for low, high in pairs]
