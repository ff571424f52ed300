"""Arithmetic on int tuples: sums, quotients of shapes, and steps through coordinates.

Invariant: ``tuple_sub(tuple_add(a, b), b) == a`` for congruent tuples; ``ceil_div(shape, tiler)`` counts the tiles of a
divide that rounds up; ``increment_coord`` goes through all coordinates of a shape in the order of the index.
Source: CuTe IR ``CuteOps.td`` (arithmetic operations), CUTLASS ``include/cute/int_tuple.hpp``; names of the CuTe DSL
4.8.1, and of CuTe IR where the DSL has none.

>>> from layoutalg import Layout, idx2crd, size, zipped_divide
>>> size(zipped_divide(Layout((10, 64)), (16, 16), round_up=True)[1]) == product(ceil_div((10, 64), (16, 16))) == 4
True
>>> all(increment_coord(idx2crd(i, (4, (2, 3))), (4, (2, 3))) == idx2crd(i + 1, (4, (2, 3))) for i in range(23))
True
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from layoutalg.algebra.divide import zipped_divide
from layoutalg.errors import CoordinateError, LayoutError, NotDivisibleError
from layoutalg.layouts.composed import ComposedLayout, add
from layoutalg.layouts.layout import Layout
from layoutalg.layouts.modes import Tiler
from layoutalg.tuples.int_tuple import (
    Index,
    IntTuple,
    Shape,
    check_depth,
    congruent,
    flatten_tuple,
    product,
    safe_text,
    unflatten,
)
from layoutalg.tuples.leaf import as_leaf, divides
from layoutalg.tuples.leaf import ceil_div as leaf_ceil_div


def _checked(value: Any, operation: str) -> Any:
    """Return a nested tuple of integers and polynomials with its leaves converted.

    Raises:
        LayoutError: if a leaf is not an integer, or the nesting is too deep.
    """
    check_depth(value, f"{operation}: an operand")
    return unflatten([as_leaf(leaf, f"{operation}: an operand") for leaf in flatten_tuple(value)], value)


def tuple_add(a: IntTuple, b: IntTuple) -> IntTuple:
    """Add two int tuples leaf by leaf; the shorter one is padded with 0, and the integer 0 may be added to a tuple.

    Raises:
        LayoutError: if a tuple meets an integer other than 0.

    Source: CuTe IR ``CuteOps.td`` (tuple_add).

    >>> tuple_add((1, 2, 3), (4, 5)), tuple_add(((1, 2), 3), 0)
    ((5, 7, 3), ((1, 2), 3))
    """
    return _sum(a, _checked(b, "tuple_add"), "tuple_add")  # type: ignore[no-any-return]


def tuple_sub(a: IntTuple, b: IntTuple) -> IntTuple:
    """Subtract an int tuple from another leaf by leaf, padded as in :func:`tuple_add`.

    A leaf of ``b`` beyond ``a`` is taken over without a minus sign, as in CuTe IR.

    Raises:
        LayoutError: if a tuple meets an integer other than 0.

    Source: CuTe IR ``CuteOps.td`` (tuple_sub).

    >>> tuple_sub((5, 8, 3), (1, 2)), tuple_sub((10, 8), (3, 2, 5))
    ((4, 6, 3), (7, 6, 5))
    """
    a, b = _checked(a, "tuple_sub"), _checked(b, "tuple_sub")
    return _sum(a, _negated(b, a), "tuple_sub")  # type: ignore[no-any-return]


def _negated(value: Any, other: Any) -> Any:
    """Return a tuple with each leaf that has a partner in another tuple negated."""
    if type(value) is not tuple:
        return -value
    if type(other) is not tuple:
        return tuple([_negated(item, 0) for item in value])
    paired = [_negated(item, partner) for item, partner in zip(value, other, strict=False)]
    return (*paired, *value[len(other) :])


def _sum(a: Any, b: Any, operation: str) -> Any:
    try:
        return add(_checked(a, operation), b)
    except LayoutError as error:
        raise LayoutError(f"{operation}: {safe_text(a)} and {safe_text(b)} do not have the same nesting") from error


def product_each(value: Shape) -> Shape:
    """Return the product of each top-level mode; the number itself for an integer.

    >>> product_each((2, (3, (4, 5))))
    (2, 60)
    """
    value = _checked(value, "product_each")
    return tuple([product(mode) for mode in value]) if type(value) is tuple else value


def shape_div(a: Shape, b: Shape) -> Shape:
    """Divide a shape by another one, mode by mode.

    An integer divides a tuple from left to right: each mode is divided by what the modes before it left over. A tuple
    divides an integer as its product does. If both are integers, one must divide the other; a quotient below 1 is 1.

    Raises:
        NotDivisibleError: if no integer divides the other one.
        LayoutError: if two tuples have different ranks, or a divisor is 0.

    Source: CuTe IR ``CuteOps.td`` (shape_div), CUTLASS ``include/cute/int_tuple.hpp``.

    >>> shape_div((8, 10), (2, 5)), shape_div((4, 5, 6), 40), shape_div(60, (3, 4, 5))
    ((4, 2), (1, 1, 3), 1)
    """
    a, b = _checked(a, "shape_div"), _checked(b, "shape_div")
    if type(a) is tuple and type(b) is tuple and len(a) != len(b):
        raise LayoutError(f"shape_div: {safe_text(a)} and {safe_text(b)} have different ranks")
    return _divided(a, b, _exact_quotient)  # type: ignore[no-any-return]


def _exact_quotient(a: Any, b: Any) -> Any:
    if b == 0:
        raise LayoutError(f"shape_div: {safe_text(a)} is divided by 0")
    if divides(b, a):
        return a // b
    if divides(a, b):
        return 1 if (a > 0) == (b > 0) else -1
    raise NotDivisibleError(f"shape_div: neither of {a} and {b} divides the other")


def ceil_div(target: Shape, tiler: Tiler) -> Shape:
    """Return the number of tiles that cover a shape, mode by mode.

    Args:
        target: a shape.
        tiler: a shape, or a tile of layouts. A tuple divides the first modes; the other modes do not change. An integer
            divides a tuple from left to right, as in :func:`shape_div`. A layout is the tile of its mode, or of the
            whole shape.

    Raises:
        LayoutError: if the tiler has more modes than the shape, or a divisor is not positive.

    Source: CuTe IR ``CuteOps.td`` (ceil_div). For a tuple and an integer, the CuTe DSL 4.8.1 returns the product of
    these numbers.

    >>> ceil_div((8, 10, 6), (3, 4)), ceil_div((8, 10), 40), ceil_div((8, 16), Layout((4, 8)))
    ((3, 3, 6), (1, 2), 4)
    """
    target = _checked(target, "ceil_div")
    check_depth(tiler, "ceil_div: the tiler")
    if any(isinstance(leaf, (Layout, ComposedLayout)) or leaf is None for leaf in flatten_tuple(tiler)):  # type: ignore[arg-type]
        return zipped_divide(Layout(target), tiler, round_up=True)[1].shape
    return _divided(target, _checked(tiler, "ceil_div"), _rounded_quotient)  # type: ignore[no-any-return]


def _rounded_quotient(number: Any, divisor: Any) -> Any:
    if divisor < 1:
        raise LayoutError(f"ceil_div: {safe_text(number)} is divided by {divisor}, which is not positive")
    return leaf_ceil_div(number, divisor)


def _divided(a: Any, b: Any, quotient: Callable[[Any, Any], Any]) -> Any:
    """Divide nested tuples, given the quotient of integers.

    Raises:
        LayoutError: if b has more modes than a.
    """
    if type(a) is not tuple:
        return quotient(a, product(b))
    if type(b) is tuple:
        if len(b) > len(a):
            raise LayoutError(f"ceil_div: {safe_text(b)} has more modes than {safe_text(a)}")
        return (*[_divided(x, y, quotient) for x, y in zip(a, b, strict=False)], *a[len(b) :])
    quotients = []
    rest = b
    for mode in a:
        quotients.append(_divided(mode, rest, quotient))
        rest = quotient(rest, product(mode))
    return tuple(quotients)


def increment_coord(coord: Index, shape: Shape) -> Index:
    """Return the coordinate after another one, in the order of the index: the first mode is the fastest.

    The last mode has no bound, as in CuTe: after the last coordinate of (4,8) comes (0,8), the end of a loop.

    Raises:
        CoordinateError: if the coordinate is not congruent to the shape, or a mode except the last one is outside it.

    Source: CuTe IR ``CuteOps.td`` (increment_coord).

    >>> increment_coord((1, 2), (4, 8)), increment_coord((3, 2), (4, 8)), increment_coord((3, 7), (4, 8))
    ((2, 2), (0, 3), (0, 8))
    """
    shape = _checked(shape, "increment_coord")
    if not congruent(coord, shape) or None in flatten_tuple(coord):
        raise CoordinateError(
            f"increment_coord: {safe_text(coord)} is not a coordinate congruent to {safe_text(shape)}"
        )
    digits = list(flatten_tuple(_checked(coord, "increment_coord")))
    *extents, _ = flatten_tuple(shape) or (1,)
    for digit, extent in zip(digits, extents, strict=False):
        if not 0 <= digit < extent:
            raise CoordinateError(f"increment_coord: {safe_text(coord)} is outside {safe_text(shape)}")
    for position, digit in enumerate(digits):
        if position == len(extents) or digit + 1 < extents[position]:
            digits[position] = digit + 1
            break
        digits[position] = 0
    return unflatten(digits, coord)  # type: ignore[no-any-return]


def elem_less(a: Index, b: Shape) -> bool:
    """Check if each number of a coordinate is less than that of a shape, so that the coordinate is inside the shape.

    It is the predicate of the elements that a divide with ``round_up`` covers beyond the layout; see
    :mod:`layoutalg.algebra.divide`. A coordinate that is shorter than the shape is padded with 0, and 0 is the origin.

    Raises:
        LayoutError: if a tuple is compared with an integer.

    Source: CUTLASS ``include/cute/int_tuple.hpp`` (elem_less).

    >>> elem_less((1, (2, 3)), (2, (3, 4))), elem_less((1, 4), (2, 4)), elem_less((1, 1, 0), (2, 4))
    (True, False, False)
    """
    return _elem_less(_checked(a, "elem_less"), _checked(b, "elem_less"))


def _elem_less(a: Any, b: Any) -> bool:
    if type(b) is tuple and type(a) is not tuple and a == 0:
        a = ()
    if (type(a) is tuple) != (type(b) is tuple):
        raise LayoutError(f"elem_less: {safe_text(a)} and {safe_text(b)} do not have the same nesting")
    if type(a) is not tuple:
        return bool(a < b)
    return len(a) <= len(b) and all(map(_elem_less, a + (0,) * (len(b) - len(a)), b))
