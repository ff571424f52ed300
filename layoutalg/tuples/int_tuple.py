"""Nested tuples of integers (int tuples), which represent shapes, strides and coordinates, and their arithmetic.

An *int tuple* is an integer or a tuple of int tuples, to any depth. Its *profile* is its nesting. Two int tuples are
*congruent* if their profiles are equal; ``a`` is *weakly congruent* to ``b`` if the profile of ``b`` refines that of
``a``. A shape of size n has exactly n coordinates, counted colexicographically (first mode fastest). Offsets and sizes
have the type ``int`` in signatures, although they are polynomials if the shape contains symbols.

Invariant: the leaves and the profile determine a tuple. An index equals the offset of its coordinate under compact
strides.
Source: CUTLASS ``include/cute/int_tuple.hpp`` and ``include/cute/stride.hpp``.

>>> shape = (2, (3, 4))
>>> unflatten(flatten_tuple(shape), shape) == shape, product(shape)
(True, 24)
>>> [inner_offset(unrank(i, shape), shape, compact_strides(shape)) for i in (0, 1, 7, 23)]
[0, 1, 7, 23]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

from layoutalg.errors import CoordinateError, LayoutError
from layoutalg.tuples.leaf import LIMIT, MAX_DEPTH, as_leaf
from layoutalg.tuples.polynomial import Integer, Polynomial
from layoutalg.tuples.scaled_basis import ScaledBasis

__all__ = ["Coord", "Index", "IntTuple", "Integer", "Shape", "Stride"]

#: Extents, which are positive integers.
Shape: TypeAlias = int | Polynomial | tuple["Shape", ...]

#: Strides, which are integers of any sign or basis strides.
Stride: TypeAlias = int | Polynomial | ScaledBasis | tuple["Stride", ...]

#: A position in a shape: an index, or a tuple with an index for each mode.
Index: TypeAlias = int | Polynomial | tuple["Index", ...]

#: A coordinate: an index, or ``None`` for a mode that is kept.
Coord: TypeAlias = int | Polynomial | tuple["Coord", ...] | None

#: A nested tuple of any of these numbers.
IntTuple: TypeAlias = int | Polynomial | ScaledBasis | tuple["IntTuple", ...]


def flatten_tuple(value: IntTuple | Coord) -> tuple[Any, ...]:
    """Return the leaves of an int tuple from left to right; for a leaf, a tuple of one.

    >>> flatten_tuple(((2, (3,)), 4))
    (2, 3, 4)
    """
    if type(value) is not tuple:
        return (value,)
    for item in value:
        if type(item) is tuple:
            break
    else:
        return value
    leaves: list[Any] = []
    _collect(value, leaves)
    return tuple(leaves)


def _collect(value: tuple[Any, ...], leaves: list[Any]) -> None:
    for item in value:
        if type(item) is tuple:
            _collect(item, leaves)
        else:
            leaves.append(item)


def product(value: Shape) -> int:
    """Return the product of all leaves, which is the size of a shape; 1 for the empty tuple.

    Raises:
        LayoutError: if a leaf is not an integer, or the tuple is nested too deeply.

    >>> product((8, (4, 2)))
    64
    """
    if type(value) is not tuple:
        # The declared type of a size is int, although it may contain symbols.
        return value if type(value) is int else as_leaf(value, "product: a factor")  # type: ignore[return-value]
    result = 1
    item: Any  # a polynomial supports the operators of an int
    try:
        for item in value:
            if type(item) is not int:  # checked before the multiplication, since a string times an int is a long string
                item = product(item)
            result *= item
    except (TypeError, RecursionError):
        raise LayoutError(
            f"product: {safe_text(value)} has a factor that is not an integer, or more than {MAX_DEPTH} levels of "
            f"nesting"
        ) from None
    return result if type(result) is int else as_leaf(result, "product: a factor")  # type: ignore[return-value]


def unflatten(leaves: Iterable[Any], profile: IntTuple) -> Any:
    """Arrange leaves in the nesting of ``profile``; the inverse of :func:`flatten_tuple`.

    >>> unflatten([1, 2, 3], (0, (0, 0)))
    (1, (2, 3))
    """
    iterator = iter(leaves)
    return _arrange(iterator, profile) if type(profile) is tuple else next(iterator)


def _arrange(leaves: Iterator[Any], profile: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple([_arrange(leaves, item) if type(item) is tuple else next(leaves) for item in profile])


def congruent(a: IntTuple | Coord, b: IntTuple | Coord) -> bool:
    """Check if two int tuples have the same profile.

    >>> congruent((4, (2, 2)), (1, (4, 8))), congruent(4, (4,))
    (True, False)
    """
    if type(a) is tuple:
        return type(b) is tuple and len(a) == len(b) and all(map(congruent, a, b))
    return type(b) is not tuple


def weakly_congruent(a: IntTuple | Coord, b: IntTuple | Coord) -> bool:
    """Check if the profile of ``b`` refines that of ``a``, so that a coordinate like ``a`` indexes a shape like ``b``.

    >>> weakly_congruent((1, 2), (4, (2, 2))), weakly_congruent((1, (0, 1)), (4, 4))
    (True, False)
    """
    if type(a) is tuple:
        return type(b) is tuple and len(a) == len(b) and all(map(weakly_congruent, a, b))
    return True


def tuple_depth(value: IntTuple) -> int:
    """Return the number of levels of nesting: 0 for a leaf, 1 for a flat tuple.

    >>> tuple_depth((2, (3, 4)))
    2
    """
    if type(value) is not tuple:
        return 0
    return 1 + max(map(tuple_depth, value), default=0)


def text(value: object) -> str:
    """Return an int tuple in CuTe's notation: without spaces, ``_`` for ``None``.

    >>> text((8, (4, None))), text((8,))
    ('(8,(4,_))', '(8)')
    """
    if type(value) is tuple:
        plain = _integers_text(value)
        if plain is not None:
            return plain
        return "(" + ",".join([str(item) if type(item) is int else text(item) for item in value]) + ")"
    return "_" if value is None else str(value)


def _integers_text(value: object) -> str | None:
    """Return the text of a tuple of integers, made from Python's ``str`` in one step; None for other tuples."""
    plain = str(value)
    if plain.strip("0123456789,() -"):
        return None
    return plain.replace(", ", ",").replace(",)", ")")


def safe_text(value: object) -> str:
    """Return :func:`text` of any value for an error message, bounded in depth and length, as one line."""
    try:
        whole, several, _ = text(value).partition("\n")
        whole = whole.partition(";")[0] if several else whole  # of an atom or a tiled copy, whose text has a heading
    except (RecursionError, ValueError):  # too deep; an integer of more digits than Python prints
        return "a value too large to print"
    return whole if len(whole) <= 120 else whole[:117] + "..."


def check_depth(value: object, subject: str) -> None:
    """Check that a tuple is not nested deeper than the algebra recurses.

    Args:
        value: any value; one that is not a tuple passes.
        subject: the beginning of the error message, e.g. ``"Layout: shape"``.

    Raises:
        LayoutError: if the nesting has more than 64 levels.
    """
    if type(value) is not tuple:
        return
    level: list[object] = list(value)
    for _ in range(MAX_DEPTH):
        level = [item for group in level if type(group) is tuple for item in group]
        if not level:
            return
    raise LayoutError(f"{subject} has more than {MAX_DEPTH} levels of nesting")


def compact_strides(shape: Shape, current: int = 1) -> Stride:
    """Return the strides of the compact layout of ``shape``, first mode fastest.

    A mode of extent 1 gets stride 0, as in CuTe; its stride is never used.

    >>> compact_strides((4, (2, 1, 8)))
    (1, (4, 0, 8))
    """
    if type(shape) is not tuple:
        return 0 if shape == 1 else current
    strides = []
    for item in shape:
        strides.append(compact_strides(item, current))
        current *= product(item)
    return tuple(strides)


def has_none(coord: Coord) -> bool:
    """Check if a coordinate contains ``None``, so that it keeps a mode."""
    if type(coord) is not tuple:
        return coord is None
    for item in coord:
        if item is None or (type(item) is tuple and has_none(item)):
            return True
    return False


def inner_offset(coord: Any, shape: Any, stride: Any) -> Any:
    """Return the offset of a coordinate: its inner product with the strides.

    Args:
        coord: an index, or a coordinate weakly congruent to ``shape``.
        shape: extents.
        stride: strides congruent to ``shape``.

    Raises:
        CoordinateError: if the coordinate is outside the shape or does not fit its profile.

    >>> inner_offset((1, 5), (4, (2, 4)), (2, (1, 8)))
    19
    """
    if type(shape) is not tuple:
        if type(coord) is not int:
            coord = _as_index(coord, shape)
        if 0 <= coord < shape:
            return coord * stride
        raise CoordinateError(
            f"coordinate: {_index_text(coord)} is not in [0,{shape}), the range of its mode; shape = {text(shape)}"
        )
    if type(coord) is tuple:
        if len(coord) != len(shape):
            raise CoordinateError(
                f"coordinate: {safe_text(coord)} has rank {len(coord)}, but the shape has rank {len(shape)}; "
                f"shape = {text(shape)}"
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
            f"coordinate: index {_index_text(coord)} is not in [0,{product(shape)}); shape = {text(shape)}"
        )
    return extended_offset(coord, flatten_tuple(shape), flatten_tuple(stride))


def plain_offset(coord: tuple[Any, ...], shape: Any, stride: Any) -> int | None:
    """Return :func:`inner_offset` by a faster way; None if the operands are not of the supported form.

    Supported are a coordinate that is a tuple of indices in range, and modes that are integers or flat tuples of
    integers.

    >>> plain_offset((1, 5), (4, (2, 4)), (2, (1, 8))), plain_offset((1, 8), (4, (2, 4)), (2, (1, 8)))
    (19, None)
    """
    if type(shape) is not tuple or len(shape) != len(coord):
        return None
    total = 0
    for c, s, d in zip(coord, shape, stride):  # noqa: B905  # congruent; `strict` would cost a tenth of the time
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
    """Return the offset of any integer: the last mode extends to infinity, and division truncates as it does in C.

    :func:`composition` composes with this function. For an index inside the shape it is the layout's offset. It is odd:
    ``f(-x) == -f(x)``.

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
    """Return the coordinate of an index in a shape, in colexicographic order; the caller has checked the range.

    >>> unrank(13, (4, (2, 4)))
    (1, (1, 1))
    """
    if type(shape) is not tuple:
        return index
    coordinate: list[Index] = []
    item: Any  # a polynomial supports the operators of an int
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
    """Return an index of another integer type (for example numpy's) or with symbols as a leaf.

    Raises:
        CoordinateError: if the value is not an integer.
    """
    try:
        return as_leaf(coord, "coordinate: an index")
    except LayoutError:
        raise CoordinateError(
            f"coordinate: {safe_text(coord)} is neither an index nor weakly congruent to the shape; "
            f"shape = {text(shape)}"
        ) from None


def _index_text(index: Any) -> str:
    small = type(index) is not int or -LIMIT <= index <= LIMIT
    return str(index) if small else f"a number of {index.bit_length()} bits"
