"""Layouts and swizzles as matrices over GF(2), and matrices as layouts.

A layout whose extents are powers of two maps the bits of an index to the bits of an offset. That map is linear over
exclusive-or exactly if no addition of its modes ever carries: if the offsets of the single index bits have no 1 in
common. Swizzles are always linear, and composing is multiplying, so that a swizzled tile is one matrix.

Why nothing else is linear: a function that is linear has ``L(x + y) == L(x) ^ L(y)`` for two index bits x and y, a
layout has ``L(x + y) == L(x) + L(y)``, and a sum equals the exclusive-or only if the terms share no bit. With a
constant k added first, bit x changes the bits ``k ^ (k + L(x))``, and the same holds of these.

Laws: ``to_f2(L)(i) == L(i)`` for every index i; ``to_f2(composition(A, B)) == to_f2(A) @ to_f2(B)`` up to rows of
zeros; L is injective exactly if its matrix is.
Source: "Linear Layouts: Robust Code Generation of Efficient Tensor Computation Using F2" (arXiv 2505.23819), section 4,
for the idea; the condition is derived here.

>>> from layoutalg import ComposedLayout, Layout, Swizzle
>>> tile = ComposedLayout(Swizzle(2, 1, 3), 0, Layout((8, 8), (8, 1)))
>>> all(to_f2(tile)(i) == tile(i) for i in range(64))
True

The way back: a layout adds the offsets of its index bits, so that a matrix is a plain layout exactly if no two of its
columns have a 1 in common. A swizzle undoes itself: the matrix is a layout after the swizzle S exactly if S of its
columns is a plain layout. It is a bijection, so that columns (other than 0) which depend on each other stay in the way
of every swizzle.

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
from layoutalg.errors import LayoutError, UndecidedError
from layoutalg.layouts.composed import ComposedLayout
from layoutalg.layouts.flat import from_flat, merge
from layoutalg.layouts.layout import Layout, has_basis, trusted, valid_shape
from layoutalg.layouts.modes import AnyLayout, need_layout, size
from layoutalg.layouts.swizzle import Swizzle
from layoutalg.tuples.int_tuple import Shape, flatten_tuple, product, safe_text, text
from layoutalg.tuples.leaf import as_int, need_int

#: How many offsets are compared where the parts of a composed layout do not decide.
_MOST_COMPARED = 1 << 16


class NotLinearError(LayoutError):
    """A layout that is not linear over GF(2), so that no bit matrix is equal to it: enumerate it instead."""


def to_f2(layout: AnyLayout | Swizzle, rows: int | None = None) -> F2Matrix:
    """The matrix of a layout or swizzle: bits of the index (first mode lowest) to bits of the offset.

    Law: ``to_f2(layout)(i) == layout(i)`` for every index i.

    Args:
        layout: a layout with extents that are powers of two; or a swizzle, as a function on ``rows`` bits.
        rows: bits of an offset. Default: the fewest that hold every offset, or the fields of the swizzle.

    Raises:
        NotLinearError: if an extent is no power of two, modes overlap in bits, a stride is negative, or the offset of
            index 0 is not 0 (:func:`to_f2_affine` takes that).
        UndecidedError: for symbols, and for composed layouts too large to compare where nothing else decides.
        LayoutError: if ``rows`` is too small, or strides are basis strides.

    >>> from layoutalg import ComposedLayout, Layout, Swizzle
    >>> to_f2(Layout((2, 4), (4, 1)))
    F2Matrix((4, 1, 2), 3)
    >>> to_f2(ComposedLayout(Swizzle(1, 0, 2), 0, Layout((2, 4), (4, 1))))
    F2Matrix((5, 1, 2), 3)
    """
    if isinstance(layout, Swizzle):
        return _of_swizzle(layout, rows)
    matrix, constant = to_f2_affine(layout, rows)
    if constant:
        raise NotLinearError(f"to_f2: index 0 must have offset 0, found {constant}; layout = {layout}")
    return matrix


def to_f2_affine(layout: AnyLayout, rows: int | None = None) -> tuple[F2Matrix, int]:
    """The matrix and the constant of a layout that is linear up to a constant, as slices of swizzled tiles are.

    Law: ``layout(i) == matrix(i) ^ constant``. Arguments and errors are those of :func:`to_f2`.

    >>> from layoutalg import ComposedLayout, Layout, Swizzle
    >>> to_f2_affine(ComposedLayout(Swizzle(0, 0, 0), 8, Layout((2, 2), (-8, 1))))
    (F2Matrix((8, 1), 4), 8)
    """
    columns, constant = _affine(need_layout(layout, "to_f2"))
    needed = max([constant, *columns]).bit_length()
    if rows is not None and as_int(rows, "to_f2: rows") < needed:
        raise LayoutError(
            f"to_f2: rows must be at least {needed}, the bits of an offset, found {rows}; layout = {layout}"
        )
    return F2Matrix(columns, needed if rows is None else rows), constant


def fit_f2(values: Sequence[int]) -> tuple[F2Matrix, int]:
    """The matrix and the constant of a list of values: ``values[i] == matrix(i) ^ constant``.

    Raises:
        NotLinearError: if there are none, or the number of values is no power of two.

    >>> fit_f2([3, 7, 2, 6])
    (F2Matrix((4, 1), 3), 3)
    """
    count = len(values)
    if not count or count & (count - 1):
        raise NotLinearError(f"fit_f2: the number of values must be a power of two, found {count}")
    numbers = [as_int(value, "fit_f2: a value") for value in values]
    if min(numbers) < 0:
        raise NotLinearError(f"fit_f2: values must not be negative, found {min(numbers)}")
    constant = numbers[0]
    linear = [constant]
    columns = [numbers[1 << bit] ^ constant for bit in range(count.bit_length() - 1)]
    for column in columns:
        linear += [value ^ column for value in linear]
    if linear != numbers:
        i = next(i for i in range(count) if linear[i] != numbers[i])
        raise NotLinearError(
            f"fit_f2: value {i} must be {linear[i]}, which the values at powers of two decide, found {numbers[i]}"
        )
    return F2Matrix(columns, max([constant, *columns]).bit_length()), constant


def _of_swizzle(swizzle: Swizzle, rows: int | None) -> F2Matrix:
    """A swizzle as a square matrix."""
    count = swizzle.bits + swizzle.base + abs(swizzle.shift) if rows is None else as_int(rows, "to_f2: rows")
    columns = [swizzle(1 << bit) for bit in range(count)]
    if max(columns, default=0).bit_length() > count:
        raise LayoutError(
            f"to_f2: rows must hold the bits that the swizzle changes, found {count}; swizzle = {swizzle}"
        )
    return F2Matrix(columns, count)


def _affine(layout: AnyLayout) -> tuple[list[int], int]:
    """Columns and constant of a layout."""
    if isinstance(layout, Layout):
        return _sums(0, layout, layout), 0
    if isinstance(layout.inner, Layout) and isinstance(layout.outer, Swizzle):
        start = as_int(need_int(layout.offset, "to_f2: the offset"), "to_f2: the offset")
        if start < 0:
            raise NotLinearError(f"to_f2: offsets must not be negative, found {start} added; layout = {layout}")
        swizzle = layout.outer
        return [swizzle(column) for column in _sums(start, layout.inner, layout)], swizzle(start)
    for extent in flatten_tuple(layout.shape):
        _log2(need_int(extent, "to_f2: an extent"), "the shape", layout)
    return _after(layout) or _by_comparison(layout)


def _after(layout: ComposedLayout) -> tuple[list[int], int] | None:
    """Columns and constant of a composed layout from those of its parts, where these decide."""
    offset = layout.offset
    if type(offset) is not int or offset < 0 or (isinstance(layout.inner, Layout) and has_basis(layout.inner)):
        return None
    try:
        columns, constant = _affine(layout.inner)
        if (constant | _union(columns)) & offset:
            return None
        inside = [constant ^ offset, *columns]
        if isinstance(layout.outer, Swizzle):
            values = [layout.outer(value) for value in inside]
            return values[1:], values[0]
        outer, start = _affine(layout.outer)
    except NotLinearError:
        return None
    if max(inside).bit_length() > len(outer):
        return None
    function = F2Matrix(outer)
    return [function(column) for column in inside[1:]], start ^ function(inside[0])


def _by_comparison(layout: ComposedLayout) -> tuple[list[int], int]:
    """Columns and constant of a composed layout from all its offsets."""
    count = size(layout)
    if count > _MOST_COMPARED:
        raise UndecidedError(f"to_f2: must compare {count} offsets, more than {_MOST_COMPARED}; layout = {layout}")
    try:
        matrix, constant = fit_f2([layout(i) for i in range(count)])
    except NotLinearError as error:
        raise NotLinearError(f"to_f2: {str(error).partition(': ')[2]}; layout = {layout}") from None
    return list(matrix.columns), constant


def _sums(start: int, layout: Layout, whole: AnyLayout) -> list[int]:
    """The bits of ``start + layout(i)`` that each bit of the index changes.

    Raises:
        NotLinearError: if an extent is no power of two, an offset is negative, or two bits of the index change one
            bit.
    """
    if has_basis(layout):
        raise LayoutError(f"to_f2: strides must be integers; layout = {whole}")
    columns: list[int] = []
    owners: list[str] = []
    for path, extent, stride in _named_modes(layout.shape, layout.stride):
        mode = f"mode {path} = {extent}:{stride}"
        for bit in range(_log2(need_int(extent, "to_f2: an extent"), mode, whole)):
            offset = start + (need_int(stride, "to_f2: a stride") << bit)
            if min(start, offset) < 0:
                raise NotLinearError(f"to_f2: offsets must not be negative, found {offset} in {mode}; layout = {whole}")
            columns.append(start ^ offset)
            owners.append(mode)
    if (clashing := clash(columns)) is not None:
        first, second = (owners[j] for j in clashing)
        shared = columns[clashing[0]] & columns[clashing[1]]
        which = f"{first} and {second}" if first != second else f"{first} with itself"
        raise NotLinearError(
            f"to_f2: modes must not overlap in bits, found {which} in bits {shared:#b}; layout = {whole}"
        )
    return columns


def _named_modes(shape: Any, stride: Any, path: tuple[int, ...] = ()) -> Iterator[tuple[str, Any, Any]]:
    """The leaf modes of a layout: path, extent and stride."""
    if type(shape) is tuple:
        for index, (s, d) in enumerate(zip(shape, stride, strict=True)):
            yield from _named_modes(s, d, (*path, index))
    else:
        yield text(path[0] if len(path) == 1 else path) if path else "0", shape, stride


def _log2(extent: int, what: str, layout: AnyLayout) -> int:
    if extent & (extent - 1):
        raise NotLinearError(f"to_f2: an extent must be a power of two, found {extent} in {what}; layout = {layout}")
    return extent.bit_length() - 1


def _union(columns: Sequence[int]) -> int:
    result = 0
    for column in columns:
        result |= column
    return result


def clash(columns: Sequence[int]) -> tuple[int, int] | None:
    """The first two columns that share a bit."""
    bits = 0
    for j, column in enumerate(columns):
        if column & bits:
            return next(i for i in range(j) if columns[i] & column), j
        bits |= column
    return None


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
        zero_sum = [column for j, column in enumerate(present) if dependent[0] >> j & 1]
        raise LayoutError(
            f"from_f2: the columns other than 0 must be independent, as a layout adds, found that {zero_sum} xor to 0; "
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
    remaining = list(columns)

    def leaf(part: Any) -> Layout:
        if type(part) is tuple:
            parts = [leaf(item) for item in part]
            return trusted(tuple([p.shape for p in parts]), tuple([p.stride for p in parts]))
        bits = part.bit_length() - 1
        own, remaining[:bits] = tuple(remaining[:bits]), []
        return from_flat(*merge((2,) * bits, own))

    return leaf(shape)
