"""Coordinates of a shape: what offset one has under strides, and which one an index is.

Law: an index is its coordinate's offset under compact strides.

>>> [inner_offset(unrank(i, (2, (3, 4))), (2, (3, 4)), (1, (2, 6))) for i in (0, 1, 7, 23)]
[0, 1, 7, 23]
"""

from __future__ import annotations

from typing import Any

from layoutalg.errors import CoordinateError, LayoutError
from layoutalg.tuples.int_tuple import Index, Shape, flatten_tuple, product, safe_text, text
from layoutalg.tuples.leaf import LIMIT, as_leaf


def inner_offset(coord: Any, shape: Any, stride: Any) -> Any:
    """The inner product of a coordinate with the strides: the offset of ``coord``.

    Args:
        coord: an index, or a coordinate weakly congruent to ``shape``.
        shape: extents.
        stride: strides congruent to ``shape``.

    Raises:
        CoordinateError: if the coordinate lies outside the shape or does not fit its profile.

    >>> inner_offset((1, 5), (4, (2, 4)), (2, (1, 8)))
    19
    """
    if type(shape) is not tuple:
        if type(coord) is not int:
            coord = _as_index(coord, shape)
        if 0 <= coord < shape:
            return coord * stride
        raise CoordinateError(f"coordinate: must lie in [0,{shape}), found {_shown(coord)}; shape = {text(shape)}")
    if type(coord) is tuple:
        if len(coord) != len(shape):
            raise CoordinateError(
                f"coordinate: must have as many modes as the shape, found {safe_text(coord)}; shape = {text(shape)}"
            )
        result: Any = 0
        for c, s, d in zip(coord, shape, stride, strict=True):
            if type(c) is int and type(s) is int and 0 <= c < s:
                result = result + c * d
            else:
                result = result + inner_offset(c, s, d)
        return result
    if type(coord) is not int:
        coord = _as_index(coord, shape)
    if not 0 <= coord < product(shape):
        raise CoordinateError(
            f"coordinate: an index must lie in [0,{product(shape)}), found {_shown(coord)}; shape = {text(shape)}"
        )
    return extended_offset(coord, flatten_tuple(shape), flatten_tuple(stride))


def plain_offset(coord: tuple[Any, ...], shape: Any, stride: Any) -> int | None:
    """:func:`inner_offset` of indices inside modes of numbers, one level deep; None where that must look closer.

    >>> plain_offset((1, 5), (4, (2, 4)), (2, (1, 8))), plain_offset((1, 8), (4, (2, 4)), (2, (1, 8)))
    (19, None)
    """
    if type(shape) is not tuple or len(shape) != len(coord):
        return None
    total = 0
    for c, s, d in zip(coord, shape, stride):  # noqa: B905  # congruent, and saying it again costs a tenth
        if type(c) is not int or c < 0:
            return None
        if type(s) is int and type(d) is int:
            if c >= s:
                return None
            total += c * d
        elif type(d) is tuple:
            for n, step in zip(s, d):  # noqa: B905  # congruent
                if type(n) is not int or type(step) is not int:
                    return None
                total += c % n * step
                c //= n
            if c:
                return None
        else:
            return None
    return total


def extended_offset(index: int, shape: tuple[int, ...], stride: tuple[Any, ...]) -> Any:
    """The offset of any integer: the last mode runs on to infinity, and division truncates as it does in C.

    This is the function that :func:`composition` composes with. For an index inside the shape it is the layout's own
    offset; below zero it is odd: ``f(-x) == -f(x)``.

    Args:
        index: any integer.
        shape: flat extents.
        stride: flat strides.

    Source: CUTLASS ``include/cute/stride.hpp`` (crd2idx leaves the last mode unreduced).

    >>> extended_offset(9, (4, 2), (1, 10)), extended_offset(-1, (4, 2), (1, 10))
    (21, -1)
    """
    if not shape:
        return 0
    rest = abs(index)
    result: Any = 0
    for s, d in zip(shape[:-1], stride, strict=False):
        result = result + rest % s * d
        rest //= s
    result = result + rest * stride[-1]
    return -result if index < 0 else result


def unrank(index: int, shape: Shape) -> Index:
    """The coordinate of an index inside a shape, colexicographically; the caller has checked the range.

    >>> unrank(13, (4, (2, 4)))
    (1, (1, 1))
    """
    if type(shape) is not tuple:
        return index
    coordinate: list[Index] = []
    item: Any  # a leaf computes like an int
    for item in shape:
        if type(item) is tuple:
            count = product(item)
            coordinate.append(unrank(index % count, item))
        else:
            count = item
            coordinate.append(index % count)
        index //= count
    return tuple(coordinate)


def _as_index(coord: object, shape: Shape) -> Any:
    """An index given as another integer type (numpy's, say) or with symbols, or the error that tells what fits."""
    try:
        return as_leaf(coord, "coordinate: an index")
    except LayoutError:
        raise CoordinateError(
            f"coordinate: must be an index or a coordinate weakly congruent to the shape, found "
            f"{safe_text(coord)}; shape = {text(shape)}"
        ) from None


def _shown(index: Any) -> str:
    small = type(index) is not int or -LIMIT <= index <= LIMIT
    return str(index) if small else f"a number of {index.bit_length()} bits"
