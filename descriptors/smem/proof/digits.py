"""Maps over mixed-radix digits, and when two of them are one: the theorem over the integers.

A *map over digits* takes an index apart, fastest first, by extents n1, n2, ... (index = x1 + n1*(x2 + n2*(x3 + ...)))
and adds up a step for each digit: ``f(index) = x1*d1 + x2*d2 + ...``. A mode of a layout is one; so is one dimension of
the walk of a tensor core. Two of them may cut the same indices by different extents.

*Theorem.* Leave out the digits of extent 1, and join two neighbours (n, d), (n', d') into (n*n', d) wherever d' = n*d.
Two maps of one size agree everywhere if and only if what is left is the same, digit by digit.
*Proof.* Joining changes no value: x*d + x'*n*d = (x + n*x')*d. Of what is left, n1 is the least index at which f is not
index*d1, where there is a second digit, and d1 = f(1); the other digits are those of f(n1*index), likewise. So the
digits are read off the values. No condition is needed: the extents need be no powers of two, the steps may be 0 or
negative, and nothing is said of carries, for the sums are sums of integers.

So two maps agree everywhere iff they agree on a basis: on the index 1 in each digit, and on the index where the shorter
of two digits ends. The first of these at which they differ is the refutation. With symbols for positive integers in
extents and steps, equal digits are equal maps for all values of the symbols.

Law: the verdict is that of the walk over all indices, and a refutation is an index at which the values differ.

>>> from itertools import product
>>> cuts = [[], [(6, 1)], [(2, 1), (3, 2)], [(3, 1), (2, 3)], [(2, 3), (3, 1)], [(3, 1), (2, -3)], [(2, 0), (3, 0)]]
>>> maps = [one for one in cuts for _ in one[:1]]
>>> for one, other in product(maps, maps):
...     index, differing = first_difference(one, other), [i for i in range(6) if value(one, i) != value(other, i)]
...     assert index in differing if differing else index is None, (one, other)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

#: An extent and a step: integers; or, in a family, polynomials in symbols for positive integers.
Digit: TypeAlias = tuple[Any, Any]


def normal(digits: Iterable[Digit]) -> list[Digit]:
    """The digits of the same map without those of extent 1, neighbours joined where one continues the other.

    >>> normal([(8, 64), (1, 7), (4, 512), (2, 1)])
    [(32, 64), (2, 1)]
    """
    found: list[Digit] = []
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
            found.append((extent, step))
        extent, step, end = n, d, n * d
    if extent:
        found.append((extent, step))
    return found


def first_difference(one: Iterable[Digit], other: Iterable[Digit]) -> int | None:
    """An index at which two maps of the same size, of numbers, differ; None where they agree everywhere.

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
    """What the map gives for an index.

    >>> value([(8, 64), (4, 1)], 19)
    194
    """
    total: Any = 0
    for n, d in digits:
        index, x = divmod(index, n)
        total = total + x * d
    return total


def cut(digits: Iterable[Digit], extent: int) -> tuple[list[Digit], list[Digit]] | None:
    """The maps within blocks of an extent, and from block to block: f(x + extent*i) = head(x) + tail(i).

    Both are normal. None where there are none: the extent ends inside a digit, and not after a part of it.

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
    """The map's value for every index.

    >>> listed([(2, 1), (3, 10)])
    [0, 1, 10, 11, 20, 21]
    """
    found: list[Any] = [0]
    for n, d in digits:
        found = [one + x * d for x in range(n) for one in found]
    return found


def leaves(shape: Any, stride: Any) -> list[Digit]:
    """The digits of a mode of a layout: its extents and strides, nested or not, fastest first.

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
    """Digits by which both maps of the same size, of numbers, can be taken apart: (extent, step, other step).

    None where one cuts inside the digits of the other, as 6 = 2*3 and 6 = 3*2 do: then no digits are common to both.

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
