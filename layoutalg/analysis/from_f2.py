"""Matrices over GF(2) as layouts: a plain one, or one after a swizzle.

A layout adds the offsets of its index bits, so that a matrix is a plain layout exactly if no two of its columns have a
1 in common. A swizzle undoes itself: the matrix is a layout after the swizzle S exactly if S of its columns is a plain
layout. It is a bijection, so that columns (other than 0) which depend on each other stay in the way of every swizzle.

Law: ``from_f2(m)(i) == m(i)``, or there is no such layout after at most one swizzle.

>>> from layoutalg import F2Matrix
>>> m = F2Matrix((1, 2, 5, 10), 4)
>>> print(from_f2(m), all(from_f2(m)(i) == m(i) for i in range(16)))
S<2,0,2> o 0 o 16:1 True
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from layoutalg.analysis.f2_matrix import F2Matrix
from layoutalg.analysis.to_f2 import clash
from layoutalg.errors import LayoutError
from layoutalg.layouts.composed import ComposedLayout
from layoutalg.layouts.flat import from_flat, merge
from layoutalg.layouts.layout import Layout, trusted
from layoutalg.layouts.modes import AnyLayout
from layoutalg.layouts.swizzle import Swizzle
from layoutalg.layouts.valid import valid_shape
from layoutalg.tuples.int_tuple import product, safe_text, text
from layoutalg.tuples.types import Shape


def from_f2(matrix: F2Matrix, shape: Shape | None = None) -> AnyLayout:
    """The layout of a matrix: a plain one if there is one, else a plain one after the smallest swizzle that does.

    Law: ``from_f2(m)(i) == m(i)`` for every index i. The order of swizzles is that of :func:`every_swizzle`.

    Args:
        matrix: bits of the index (first mode lowest) to bits of the offset.
        shape: a shape of ``2**columns`` elements; each leaf becomes the coalesced layout of its bits. Default: one
            mode, coalesced.

    Raises:
        LayoutError: if the shape does not fit, or no layout after at most one swizzle is the matrix. The message says
            which columns are in the way.

    >>> print(from_f2(F2Matrix((4, 1, 2))), from_f2(F2Matrix((4, 1, 2)), (2, 4)), from_f2(F2Matrix((5, 1, 2)), (2, 4)))
    (2,4):(4,1) (2,4):(4,1) S<1,0,2> o 0 o (2,4):(4,1)
    """
    if not isinstance(matrix, F2Matrix):
        raise LayoutError(f"from_f2: the matrix must be an F2Matrix, found {safe_text(matrix)}")
    columns = matrix.columns
    shape = 1 << len(columns) if shape is None else valid_shape(shape)
    if product(shape) != 1 << len(columns):
        raise LayoutError(
            f"from_f2: the shape must have 2**{len(columns)} elements, one for each index of the matrix, found "
            f"{product(shape)}; shape = {text(shape)}"
        )
    if (clashing := clash(columns)) is None:
        return _from_disjoint(columns, shape)
    present = [column for column in columns if column]
    if dependent := F2Matrix(present).null_space().columns:
        found = [column for j, column in enumerate(present) if dependent[0] >> j & 1]
        raise LayoutError(
            f"from_f2: the columns other than 0 must be independent, as a layout adds, found that {found} xor to 0; "
            f"matrix = {matrix!r}"
        )
    for swizzle in every_swizzle(matrix.rows):
        unswizzled = [swizzle(column) for column in columns]
        if clash(unswizzled) is None:
            return ComposedLayout(swizzle, 0, _from_disjoint(unswizzled, shape))
    raise LayoutError(
        f"from_f2: a swizzle must separate the columns so that none share a bit, found none of {matrix.rows} bits for "
        f"columns {clashing[0]} and {clashing[1]}; matrix = {matrix!r}"
    )


def every_swizzle(bits: int, base: int = 0) -> Iterator[Swizzle]:
    """Every swizzle but the identity that permutes the numbers below ``2**bits``, the smallest first.

    The order: fewest swizzled bits; then the shortest period, which is the alignment that a swizzled tile needs; then
    the largest base, which keeps the longest runs in one piece; then positive shifts before negative ones.

    Args:
        bits: the fields lie below this bit.
        base: the smallest base: runs of ``2**base`` stay in one piece.

    >>> print(*every_swizzle(3))
    S<1,0,1> S<1,0,-1> S<1,1,1> S<1,1,-1> S<1,0,2> S<1,0,-2>
    """
    for width in range(1, (bits - base) // 2 + 1):
        for period in range(base + 2 * width, bits + 1):
            for low in range(period - 2 * width, base - 1, -1):
                yield Swizzle(width, low, period - width - low)
                yield Swizzle(width, low, -(period - width - low))


def _from_disjoint(columns: Sequence[int], shape: Shape) -> Layout:
    """The layout of columns that share no bit, each leaf of the shape coalesced from its own."""
    left = list(columns)

    def leaf(part: Any) -> Layout:
        if type(part) is tuple:
            parts = [leaf(item) for item in part]
            return trusted(tuple([p.shape for p in parts]), tuple([p.stride for p in parts]))
        bits = part.bit_length() - 1
        own, left[:bits] = tuple(left[:bits]), []
        return from_flat(*merge((2,) * bits, own))

    return leaf(shape)
