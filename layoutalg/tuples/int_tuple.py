"""Nested tuples of integers: the shapes, strides and coordinates that everything else is made of.

An *int tuple* is an integer or a tuple of int tuples. Its *profile* is its nesting. Two are *congruent* when their
profiles are equal; ``a`` is *weakly congruent* to ``b`` when ``b`` refines the profile of ``a``. A shape of size n has
exactly n coordinates, counted colexicographically (first mode fastest).
Source: CUTLASS ``include/cute/int_tuple.hpp`` and ``include/cute/stride.hpp``.

Law: a tuple is its leaves and its profile.

>>> shape = (2, (3, 4))
>>> unflatten(flatten_tuple(shape), shape) == shape, product(shape)
(True, 24)

The kinds of nested tuples, as types: what a shape, a stride and a coordinate may hold.

Each is a leaf or a tuple of its own kind, to any depth. Offsets and sizes are typed ``int``: with symbols they are
polynomials, which compute like one.

>>> from layoutalg import E, Layout
>>> shape, stride = (4, (2, 3)), (E(0), (E(1), 0))  # a Shape, a Stride
>>> print(Layout(shape, stride))
(4,(2,3)):(1@0,(1@1,0))
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

from layoutalg.errors import LayoutError
from layoutalg.tuples.basis import ScaledBasis
from layoutalg.tuples.leaf import MAX_DEPTH, as_leaf
from layoutalg.tuples.polynomial import Integer, Polynomial

#: Extents: positive integers.
Shape: TypeAlias = int | Polynomial | tuple["Shape", ...]

#: Strides: integers of any sign, or basis strides.
Stride: TypeAlias = int | Polynomial | ScaledBasis | tuple["Stride", ...]

#: A place in a shape: an index, or a tuple with an index for each mode.
Index: TypeAlias = int | Polynomial | tuple["Index", ...]

#: A coordinate: an index, or ``None`` for a mode that is kept.
Coord: TypeAlias = int | Polynomial | tuple["Coord", ...] | None

#: A nested tuple of any of these numbers.
IntTuple: TypeAlias = int | Polynomial | ScaledBasis | tuple["IntTuple", ...]

__all__ = ["Coord", "Index", "IntTuple", "Integer", "Shape", "Stride"]


def flatten_tuple(value: IntTuple | Coord) -> tuple[Any, ...]:
    """The leaves of an int tuple, left to right; a leaf gives a tuple of one.

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
    """The product of all leaves: the size of a shape; 1 for the empty tuple.

    >>> product((8, (4, 2)))
    64
    """
    if type(value) is not tuple:
        # A size is typed as a number, although symbols may stand in it.
        return value if type(value) is int else as_leaf(value, "product: a factor")  # type: ignore[return-value]
    result = 1
    item: Any  # a leaf computes like an int
    try:
        for item in value:
            result *= product(item) if type(item) is tuple else item
    except (TypeError, RecursionError):
        raise LayoutError(
            f"product: factors must be integers, nested {MAX_DEPTH} levels at most, found {safe_text(value)}"
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
    """Whether two int tuples have the same profile.

    >>> congruent((4, (2, 2)), (1, (4, 8))), congruent(4, (4,))
    (True, False)
    """
    if type(a) is tuple:
        return type(b) is tuple and len(a) == len(b) and all(map(congruent, a, b))
    return type(b) is not tuple


def weakly_congruent(a: IntTuple | Coord, b: IntTuple | Coord) -> bool:
    """Whether the profile of ``b`` refines that of ``a``: a coordinate like ``a`` indexes a shape like ``b``.

    >>> weakly_congruent((1, 2), (4, (2, 2))), weakly_congruent((1, (0, 1)), (4, 4))
    (True, False)
    """
    if type(a) is tuple:
        return type(b) is tuple and len(a) == len(b) and all(map(weakly_congruent, a, b))
    return True


def tuple_depth(value: IntTuple) -> int:
    """Levels of nesting: 0 for a leaf, 1 for a flat tuple.

    >>> tuple_depth((2, (3, 4)))
    2
    """
    if type(value) is not tuple:
        return 0
    return 1 + max(map(tuple_depth, value), default=0)


def text(value: object) -> str:
    """An int tuple in CuTe's notation: no spaces, ``_`` for ``None``.

    >>> text((8, (4, None))), text((8,))
    ('(8,(4,_))', '(8)')
    """
    if type(value) is tuple:
        shown = _in_one(value)
        if shown is not None:
            return shown
        return "(" + ",".join([str(item) if type(item) is int else text(item) for item in value]) + ")"
    return "_" if value is None else str(value)


def _in_one(value: object) -> str | None:
    """The text of a tuple by way of Python's own, which has spaces; None where it holds more than integers."""
    shown = str(value)
    if shown.strip("0123456789,() -"):
        return None
    return shown.replace(", ", ",").replace(",)", ")")


def safe_text(value: object) -> str:
    """:func:`text` for an error message about a value that may be anything: bounded in depth and length."""
    try:
        shown = text(value)
    except (RecursionError, ValueError):  # too deep; an integer of more digits than Python prints
        return "a value too large to print"
    return shown if len(shown) <= 120 else shown[:117] + "..."


def check_depth(value: object, what: str) -> None:
    """Refuse a tuple nested deeper than the algebra recurses.

    Raises:
        LayoutError: beyond 64 levels.
    """
    if type(value) is not tuple:
        return
    level: list[object] = list(value)
    for _ in range(MAX_DEPTH):
        level = [item for group in level if type(group) is tuple for item in group]
        if not level:
            return
    raise LayoutError(f"{what}: nesting must not exceed {MAX_DEPTH} levels, found more")


def compact_strides(shape: Shape, current: int = 1) -> Stride:
    """Strides of the compact layout of ``shape``, first mode fastest.

    A mode of extent 1 gets stride 0, as in CuTe: the stride is never used.

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
    """Whether a coordinate keeps a mode (has a ``None`` anywhere)."""
    if type(coord) is not tuple:
        return coord is None
    for item in coord:
        if item is None or (type(item) is tuple and has_none(item)):
            return True
    return False
