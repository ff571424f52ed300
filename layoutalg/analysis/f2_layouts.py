"""Convert layouts and swizzles to matrices over GF(2), and matrices to layouts.

A layout whose extents are powers of two maps the bits of an index to the bits of an offset. This map is linear over xor
exactly if no addition of its modes carries, that is, if the offsets of the single index bits have no 1 in common.
Swizzles are always linear, and composition is multiplication, so that a swizzled tile is one matrix.

No other layout is linear: a linear function has ``L(x + y) == L(x) ^ L(y)`` for two index bits x and y, a layout has
``L(x + y) == L(x) + L(y)``, and a sum equals the xor only if the terms share no bit. If a constant k is added first,
bit x changes the bits ``k ^ (k + L(x))``, for which the same is true.

Invariant: ``to_f2(L)(i) == L(i)`` for every index i; ``to_f2(composition(A, B)) == to_f2(A) @ to_f2(B)`` up to rows of
zeros; L is injective exactly if its matrix is injective.
Source: "Linear Layouts: Robust Code Generation of Efficient Tensor Computation Using F2" (arXiv 2505.23819), section 4,
for the idea; the condition is derived here.

>>> from layoutalg import ComposedLayout, Layout, Swizzle
>>> tile = ComposedLayout(Swizzle(2, 1, 3), 0, Layout((8, 8), (8, 1)))
>>> all(to_f2(tile)(i) == tile(i) for i in range(64))
True

The conversion from a matrix: a layout adds the offsets of its index bits, so a matrix is a plain layout exactly if no
two of its columns have a 1 in common. A swizzle is its own inverse: the matrix is the swizzle S after a layout exactly
if S applied to its columns is a plain layout. Since S is a bijection, columns other than 0 that depend on each other
cannot be separated by any swizzle.

Invariant: ``from_f2(m)(i) == m(i)``, or m is not a layout followed by at most one swizzle.

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

#: The most offsets that are compared if the parts of a composed layout are not sufficient for a decision.
_MOST_COMPARED = 1 << 16


class NotLinearError(LayoutError):
    """A layout is not linear over GF(2), so no matrix is equal to it."""


def to_f2(layout: AnyLayout | Swizzle, rows: int | None = None) -> F2Matrix:
    """Return the matrix of a layout or swizzle, from bits of the index (first mode lowest) to bits of the offset.

    Invariant: ``to_f2(layout)(i) == layout(i)`` for every index i.

    Args:
        layout: a layout whose extents are powers of two; or a swizzle, as a function on ``rows`` bits.
        rows: number of bits of an offset. Default: the bits of the largest offset, or of the fields of the swizzle.

    Raises:
        NotLinearError: if an extent is not a power of two, modes overlap in bits, a stride is negative, or the offset
            of index 0 is not 0 (:func:`to_f2_affine` supports that).
        UndecidedError: for symbols, and for composed layouts that are too large to compare all offsets.
        LayoutError: if ``rows`` is too small, or for basis strides.

    >>> from layoutalg import ComposedLayout, Layout, Swizzle
    >>> to_f2(Layout((2, 4), (4, 1)))
    F2Matrix((4, 1, 2), 3)
    >>> to_f2(ComposedLayout(Swizzle(1, 0, 2), 0, Layout((2, 4), (4, 1))))
    F2Matrix((5, 1, 2), 3)
    """
    if isinstance(layout, Swizzle):
        return _swizzle_matrix(layout, rows)
    matrix, constant = to_f2_affine(layout, rows)
    if constant:
        raise NotLinearError(f"to_f2: index 0 has offset {constant}, not 0; layout = {layout}")
    return matrix


def to_f2_affine(layout: AnyLayout, rows: int | None = None) -> tuple[F2Matrix, int]:
    """Return the matrix and the constant of a layout that is linear up to a constant, as slices of swizzled tiles are.

    Invariant: ``layout(i) == matrix(i) ^ constant``. Arguments and errors are those of :func:`to_f2`.

    >>> from layoutalg import ComposedLayout, Layout, Swizzle
    >>> to_f2_affine(ComposedLayout(Swizzle(0, 0, 0), 8, Layout((2, 2), (-8, 1))))
    (F2Matrix((8, 1), 4), 8)
    """
    columns, constant = _affine(need_layout(layout, "to_f2"))
    needed = max([constant, *columns]).bit_length()
    if rows is not None and as_int(rows, "to_f2: rows") < needed:
        raise LayoutError(f"to_f2: rows is {rows}, but the offsets have {needed} bits; layout = {layout}")
    return F2Matrix(columns, needed if rows is None else rows), constant


def fit_f2(values: Sequence[int]) -> tuple[F2Matrix, int]:
    """Return the matrix and the constant of a list of values: ``values[i] == matrix(i) ^ constant``.

    Raises:
        NotLinearError: if there is no such matrix, a value is negative, or the number of values is not a power of two.

    >>> fit_f2([3, 7, 2, 6])
    (F2Matrix((4, 1), 3), 3)
    """
    count = len(values)
    if not count or count & (count - 1):
        raise NotLinearError(f"fit_f2: the number of values is {count}, which is not a power of two")
    numbers = [as_int(value, "fit_f2: a value") for value in values]
    if min(numbers) < 0:
        raise NotLinearError(f"fit_f2: value {min(numbers)} is negative")
    constant = numbers[0]
    linear = [constant]
    columns = [numbers[1 << bit] ^ constant for bit in range(count.bit_length() - 1)]
    for column in columns:
        linear += [value ^ column for value in linear]
    if linear != numbers:
        i = next(i for i in range(count) if linear[i] != numbers[i])
        raise NotLinearError(
            f"fit_f2: value {i} is {numbers[i]}, but the values at powers of two determine that it is {linear[i]} in a "
            f"linear layout"
        )
    return F2Matrix(columns, max([constant, *columns]).bit_length()), constant


def _swizzle_matrix(swizzle: Swizzle, rows: int | None) -> F2Matrix:
    """Return a swizzle as a square matrix.

    Raises:
        LayoutError: if it has too few rows for the bits that the swizzle changes.
    """
    count = swizzle.bits + swizzle.base + abs(swizzle.shift) if rows is None else as_int(rows, "to_f2: rows")
    columns = [swizzle(1 << bit) for bit in range(count)]
    needed = max(columns, default=0).bit_length()
    if needed > count:
        raise LayoutError(f"to_f2: rows is {count}, but the swizzle changes bit {needed - 1}; swizzle = {swizzle}")
    return F2Matrix(columns, count)


def _affine(layout: AnyLayout) -> tuple[list[int], int]:
    """Return columns and constant of a layout.

    Raises:
        NotLinearError: if the layout is not linear up to a constant.
    """
    if isinstance(layout, Layout):
        return _changed_bits(0, layout, layout), 0
    if isinstance(layout.inner, Layout) and isinstance(layout.outer, Swizzle):
        start = as_int(need_int(layout.offset, "to_f2: the offset"), "to_f2: the offset")
        if start < 0:
            raise NotLinearError(f"to_f2: the inner offset {start} is negative; layout = {layout}")
        swizzle = layout.outer
        return [swizzle(column) for column in _changed_bits(start, layout.inner, layout)], swizzle(start)
    for extent in flatten_tuple(layout.shape):
        _log2(need_int(extent, "to_f2: an extent"), "the shape", layout)
    return _from_parts(layout) or _by_comparison(layout)


def _from_parts(layout: ComposedLayout) -> tuple[list[int], int] | None:
    """Return columns and constant of a composed layout from those of its parts; None if these are not sufficient."""
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
    """Return columns and constant of a composed layout from all of its offsets.

    Raises:
        NotLinearError: if the layout is not linear up to a constant.
        UndecidedError: if the layout is too large to enumerate.
    """
    count = size(layout)
    if count > _MOST_COMPARED:
        raise UndecidedError(
            f"to_f2: cannot decide whether the layout is linear without comparing {count} offsets, more than "
            f"{_MOST_COMPARED}; layout = {layout}"
        )
    try:
        matrix, constant = fit_f2([layout(i) for i in range(count)])
    except NotLinearError as error:
        raise NotLinearError(f"to_f2: {str(error).partition(': ')[2]}; layout = {layout}") from None
    return list(matrix.columns), constant


def _changed_bits(start: int, layout: Layout, whole: AnyLayout) -> list[int]:
    """Return the bits of ``start + layout(i)`` that each bit of the index changes.

    Raises:
        NotLinearError: if an extent is not a power of two, an offset is negative, or two bits of the index change the
            same bit.
        LayoutError: for basis strides.
    """
    if has_basis(layout):
        raise LayoutError(f"to_f2: the layout has basis strides, not integer strides; layout = {whole}")
    columns: list[int] = []
    owners: list[str] = []
    for path, extent, stride in _named_modes(layout.shape, layout.stride):
        mode = f"mode {path} = {extent}:{stride}"
        for bit in range(_log2(need_int(extent, "to_f2: an extent"), mode, whole)):
            offset = start + (need_int(stride, "to_f2: a stride") << bit)
            if min(start, offset) < 0:
                raise NotLinearError(f"to_f2: offset {offset} of {mode} is negative; layout = {whole}")
            columns.append(start ^ offset)
            owners.append(mode)
    if (clashing := clash(columns)) is not None:
        first, second = (owners[j] for j in clashing)
        shared = columns[clashing[0]] & columns[clashing[1]]
        fact = f"{first} and {second} overlap" if first != second else f"{first} overlaps with itself"
        raise NotLinearError(f"to_f2: {fact} in bits {shared:#b} of the offset; layout = {whole}")
    return columns


def _named_modes(shape: Any, stride: Any, path: tuple[int, ...] = ()) -> Iterator[tuple[str, Any, Any]]:
    """Yield the path (as text), the extent and the stride of each leaf of a layout."""
    if type(shape) is tuple:
        for index, (s, d) in enumerate(zip(shape, stride, strict=True)):
            yield from _named_modes(s, d, (*path, index))
    else:
        yield text(path[0] if len(path) == 1 else path) if path else "0", shape, stride


def _log2(extent: int, mode: str, layout: AnyLayout) -> int:
    if extent & (extent - 1):
        raise NotLinearError(f"to_f2: extent {extent} of {mode} is not a power of two; layout = {layout}")
    return extent.bit_length() - 1


def _union(columns: Sequence[int]) -> int:
    result = 0
    for column in columns:
        result |= column
    return result


def clash(columns: Sequence[int]) -> tuple[int, int] | None:
    """Return the numbers of the first two columns that share a bit, or None."""
    bits = 0
    for j, column in enumerate(columns):
        if column & bits:
            return next(i for i in range(j) if columns[i] & column), j
        bits |= column
    return None


def from_f2(matrix: F2Matrix, shape: Shape | None = None) -> AnyLayout:
    """Return the layout of a matrix: a plain layout if there is one, else the smallest swizzle after a plain layout.

    Invariant: ``from_f2(m)(i) == m(i)`` for every index i. The order of swizzles is that of :func:`every_swizzle`.

    Args:
        matrix: matrix from the bits of the index (first mode lowest) to the bits of the offset.
        shape: a shape of ``2**columns`` elements; each leaf becomes the coalesced layout of its bits. Default: one
            mode, coalesced.

    Raises:
        LayoutError: if the shape does not fit, or the matrix is not a plain layout followed by at most one swizzle. The
            message names the columns that prevent it.

    >>> print(from_f2(F2Matrix((4, 1, 2))), from_f2(F2Matrix((4, 1, 2)), (2, 4)), from_f2(F2Matrix((5, 1, 2)), (2, 4)))
    (2,4):(4,1) (2,4):(4,1) S<1,0,2> o 0 o (2,4):(4,1)
    """
    if not isinstance(matrix, F2Matrix):
        raise LayoutError(f"from_f2: {safe_text(matrix)} is not an F2Matrix")
    columns = matrix.columns
    shape = 1 << len(columns) if shape is None else valid_shape(shape)
    if product(shape) != 1 << len(columns):
        raise LayoutError(
            f"from_f2: the shape has {product(shape)} elements, but the matrix has 2**{len(columns)} indices; "
            f"shape = {text(shape)}"
        )
    if (clashing := clash(columns)) is None:
        return _from_disjoint(columns, shape)
    present = [column for column in columns if column]
    if dependent := F2Matrix(present).null_space().columns:
        zero_sum = [column for j, column in enumerate(present) if dependent[0] >> j & 1]
        raise LayoutError(
            f"from_f2: the matrix is not a layout followed by at most one swizzle, because the xor of its columns "
            f"{zero_sum} is 0; matrix = {matrix!r}"
        )
    for swizzle in every_swizzle(matrix.rows):
        unswizzled = [swizzle(column) for column in columns]
        if clash(unswizzled) is None:
            return ComposedLayout(swizzle, 0, _from_disjoint(unswizzled, shape))
    raise LayoutError(
        f"from_f2: the matrix is not a layout followed by at most one swizzle: columns {clashing[0]} and {clashing[1]} "
        f"share a bit, and no swizzle of {matrix.rows} bits separates all columns; matrix = {matrix!r}"
    )


def every_swizzle(bits: int, base: int = 0) -> Iterator[Swizzle]:
    """Yield every swizzle that permutes the numbers below ``2**bits``, except the identity, the smallest first.

    The order: fewest swizzled bits; then the shortest period, which is the alignment that a swizzled tile needs; then
    the largest base, which keeps the longest runs contiguous; then positive shifts before negative ones.

    Args:
        bits: the fields are below this bit.
        base: the smallest base; runs of ``2**base`` stay contiguous.

    >>> print(*every_swizzle(3))
    S<1,0,1> S<1,0,-1> S<1,1,1> S<1,1,-1> S<1,0,2> S<1,0,-2>
    """
    for width in range(1, (bits - base) // 2 + 1):
        for period in range(base + 2 * width, bits + 1):
            for low in range(period - 2 * width, base - 1, -1):
                yield Swizzle(width, low, period - width - low)
                yield Swizzle(width, low, -(period - width - low))


def _from_disjoint(columns: Sequence[int], shape: Shape) -> Layout:
    """Return the layout of columns that share no bit; each leaf of the shape takes the next columns, coalesced."""
    remaining = list(columns)

    def make_part(extent: Any) -> Layout:
        if type(extent) is tuple:
            parts = [make_part(item) for item in extent]
            return trusted(tuple([part.shape for part in parts]), tuple([part.stride for part in parts]))
        bits = extent.bit_length() - 1
        strides, remaining[:bits] = tuple(remaining[:bits]), []
        return from_flat(*merge((2,) * bits, strides))

    return make_part(shape)
