"""The divides, which split a layout into tiles.

Definition: ``logical_divide(A, T) = composition(A, (T, complement(T, size(A))))``. Its first mode is one tile in the
order of T, and its second mode iterates over the tiles.

Invariant: the result has exactly the elements of A, and a tile has exactly the elements of the tiler. A tiler that does
not divide A is an error, unless ``round_up`` is true. Then whole tiles cover A and more: the tiles continue beyond the
last mode of A, as in :func:`composition`, and a kernel needs to know which elements are inside. The same divide of the
identity layout gives the coordinates of all elements, and :func:`elem_less` compares a coordinate with the shape.

The other three operations rearrange the modes of the logical divide. With a tuple of tilers, each tiler divides its own
mode::

    logical_divide  ((TileM,RestM), (TileN,RestN), L, ...)
    zipped_divide   ((TileM,TileN), (RestM,RestN,L,...))
    tiled_divide    ((TileM,TileN), RestM, RestN, L, ...)
    flat_divide     (TileM, TileN, RestM, RestN, L, ...)

Proof of the invariant, if the composition exists: ``logical_divide_law`` in ``proofs/Divide.v``.
Source: CUTLASS ``include/cute/layout.hpp``, CuTe documentation "Layout Algebra", division.

>>> from layoutalg import Layout
>>> a = Layout((8, 8), (8, 1))
>>> parts = zipped_divide(a, (4, 2))
>>> print(parts, all(parts((i, j), (p, q)) == a(4 * p + i, 2 * q + j)
...     for i in range(4) for j in range(2) for p in range(2) for q in range(4)))
((4,2),(2,4)):((8,1),(32,2)) True

The last tile of 10 rows, divided into tiles of 4, has two rows that are not in the tensor:

>>> from layoutalg import elem_less, make_identity_layout
>>> rows = zipped_divide(make_identity_layout((10, 8)), (4, 8), round_up=True)
>>> print(rows, [elem_less(rows((i, 0), (2, 0)), (10, 8)) for i in range(4)])
((4,8),(3,1)):((1@0,1@1),(4@0,0)) [True, True, False, False]
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from layoutalg.algebra.complement import gaps
from layoutalg.errors import LayoutError, NotDivisibleError
from layoutalg.layouts.flat import cut
from layoutalg.layouts.layout import Layout, has_basis, need_readable, trusted
from layoutalg.layouts.modes import LayoutKind, Tiler, modes_of, need_layout, through
from layoutalg.layouts.plain_composition import compose_plain
from layoutalg.tuples.int_tuple import Shape, Stride, check_depth, product, safe_text
from layoutalg.tuples.leaf import as_flag, as_leaf, ceil_div, equal


def logical_divide(target: LayoutKind, tiler: Tiler, *, round_up: bool = False) -> LayoutKind:
    """Split a layout, or each of its modes, into ``(tile, rest)``.

    Args:
        target: a layout; for a composed layout, the inner layout is divided.
        tiler: a layout or an integer n (for ``n:1``) divides the layout as a whole. A tuple of tilers divides mode by
            mode; ``None`` in the tuple and modes beyond the tuple leave a mode as it is. A layout with basis strides
            selects coordinates.
        round_up: whether the last tile of a mode may reach beyond the layout, as in CuTe.

    Raises:
        NotDivisibleError: if the tiler does not divide the layout and ``round_up`` is false, or if the result is not a
            layout.
        NotInjectiveError: if the tiler maps two coordinates to one offset, other than by a stride of 0, which repeats
            elements of the layout.
        LayoutError: if a tiler has more modes than the layout, or has another type.

    >>> print(logical_divide(Layout((8, 8), (8, 1)), (4, 2)))
    ((4,2),(2,4)):((8,32),(1,2))
    >>> print(logical_divide(Layout(10), 4, round_up=True))
    (4,3):(1,4)
    """
    return _divided(target, tiler, round_up, "logical_divide", lambda divided: divided)


def _divided(
    target: LayoutKind, tiler: Tiler, round_up: bool, operation: str, arrange: Callable[[Layout], Layout]
) -> LayoutKind:
    """Return the logical divide, with its modes rearranged."""
    need_layout(target, operation)
    if type(tiler) is tuple:
        check_depth(tiler, f"{operation}: the tiler")
    if round_up is not False:
        as_flag(round_up, f"{operation}: round_up")
    if type(target) is Layout:  # through() does the same
        plain: Any = target
        return need_readable(arrange(divide_plain(plain, tiler, round_up)), operation)  # type: ignore[return-value]
    return through(lambda plain: need_readable(arrange(divide_plain(plain, tiler, round_up)), operation), target)


def divide_plain(target: Layout, tiler: Tiler, round_up: bool = False) -> Layout:
    """Divide a plain layout; see :func:`logical_divide`."""
    if tiler is None:
        return target
    if type(tiler) is tuple:
        return by_mode(
            target, tiler, partial(divide_plain, round_up=True) if round_up else divide_plain, "logical_divide"
        )
    halves = cut(target, tiler) if type(tiler) is int and tiler > 0 else None
    if halves is not None:  # the most frequent case
        (tile_shape, tile_stride), (rest_shape, rest_stride) = halves
        return trusted((tile_shape, rest_shape), (tile_stride, rest_stride))
    tile = as_tile(tiler, "logical_divide")
    total = product(target.shape)
    count = product(tile.shape)
    shape: Shape
    stride: Stride
    filled = True
    if type(tiler) is int:  # the complement of n:1 in a multiple of n
        tiles = ceil_div(total, count) if round_up else total // count
        shape, stride = (count, tiles), (1, count if count != total else 0)
    else:
        rest, filled = gaps(tile, target.shape if has_basis(tile) else total)
        shape, stride = (tile.shape, rest.shape), (tile.stride, rest.stride)
    if not filled:
        raise NotDivisibleError(
            f"logical_divide: the tiles leave elements out, because whole tiles do not fill the gaps between the modes "
            f"of the tiler; target = {target}, tiler = {tile}"
        )
    if not round_up and not equal(count * product(shape[1]), total):
        raise NotDivisibleError(
            f"logical_divide: the tiler does not divide the layout: whole tiles of {count} elements cover "
            f"{count * product(shape[1])} elements, but the layout has {total}; target = {target}, tiler = {tile}; "
            f"pass round_up=True to let the last tile reach beyond the layout"
        )
    try:
        return compose_plain(target, trusted(shape, stride))
    except NotDivisibleError as error:
        fact = "logical_divide: the tiles do not form a layout"
        raise NotDivisibleError(with_cause(fact, error, f"target = {target}, tiler = {tile}")) from error


def with_cause(fact: str, error: LayoutError, operands: str) -> str:
    """Return a message of a fact, the fact of the error that caused it, and the operands of both."""
    cause, _, notes = str(error).partition("; ")
    return f"{fact} ({cause}); {notes}; {operands}"


def as_tile(tiler: Tiler, operation: str) -> Layout:
    """Return a tiler that is not a tuple as a layout.

    Raises:
        LayoutError: if the tiler is neither a layout nor a positive integer.
    """
    if isinstance(tiler, Layout):
        return tiler
    count = as_leaf(tiler, f"{operation}: a tiler")
    if count < 1:
        raise LayoutError(f"{operation}: tiler {count} is not positive")
    return trusted(count, 1)


def by_mode(
    target: Layout, tiler: tuple[Tiler, ...], operate: Callable[[Layout, Tiler], Layout], operation: str
) -> Layout:
    """Apply an operation to each of the first modes with its own tiler; modes beyond the tiler do not change.

    Raises:
        LayoutError: if the tiler has more modes than the layout.
    """
    if len(tiler) > len(target):
        raise LayoutError(
            f"{operation}: tiler {safe_text(tiler)} has {len(tiler)} modes, more than the layout, which has "
            f"{len(target)}; layout = {target}"
        )
    parts = [operate(mode, tile) for mode, tile in zip(target, tiler, strict=False)]
    parts += [target[mode] for mode in range(len(tiler), len(target))]
    return trusted(tuple([part.shape for part in parts]), tuple([part.stride for part in parts]))


def zip_modes(divided: Layout, tiler: Tiler, operation: str) -> Layout:
    """Rearrange the pairs of a divide or product by a tuple to ``((firsts), (seconds, modes beyond the tuple))``.

    Raises:
        LayoutError: if the tiler is ``None``, or has ``None`` for a mode that is not a pair.
    """
    if tiler is None:
        raise LayoutError(f"{operation}: the tiler is None, so that no mode has a tile")
    shape, stride = (_zip_parts(part, tiler, operation) for part in (divided.shape, divided.stride))
    return trusted(shape, stride)


def _zip_parts(parts: Any, tiler: Tiler, operation: str) -> tuple[Any, Any]:
    """Rearrange a shape or a stride; see :func:`zip_modes`.

    Raises:
        LayoutError: if the tiler has ``None`` for a mode that is not a pair.
    """
    if type(tiler) is not tuple:
        if tiler is None and (type(parts) is not tuple or len(parts) != 2):
            raise LayoutError(
                f"{operation}: the tiler has None for the mode {safe_text(parts)}, which is not a pair (tile, rest); "
                f"give its extent to keep the mode whole"
            )
        return parts[0], parts[1]
    pairs = [_zip_parts(part, tile, operation) for part, tile in zip(parts, tiler, strict=False)]
    return tuple([first for first, _ in pairs]), (*[second for _, second in pairs], *parts[len(tiler) :])


def zipped_divide(target: LayoutKind, tiler: Tiler, *, round_up: bool = False) -> LayoutKind:
    """Split a layout into ``((tile), (rest))``: mode 0 is a tile, and mode 1 iterates over the tiles.

    Args:
        target: a layout; for a composed layout, the inner layout is divided.
        tiler: as in :func:`logical_divide`. A mode for which it has ``None`` must be a pair (tile, rest) already.
        round_up: as in :func:`logical_divide`.

    Raises:
        LayoutError: as :func:`logical_divide`.

    >>> print(zipped_divide(Layout(((8, 16), (64, 2)), ((64, 512), (1, 8192))), (64, 16)))
    ((64,16),(2,(4,2))):((64,1),(4096,(16,8192)))
    >>> print(zipped_divide(Layout((10, 64), (64, 1)), (16, 16), round_up=True))
    ((16,16),(1,4)):((64,1),(0,16))
    """
    return _divided(target, tiler, round_up, "zipped_divide", lambda a: zip_modes(a, tiler, "zipped_divide"))


def tiled_divide(target: LayoutKind, tiler: Tiler, *, round_up: bool = False) -> LayoutKind:
    """Split a layout as :func:`zipped_divide`, with each mode over the tiles at the top: ``((tile), rest, rest, ...)``.

    >>> print(tiled_divide(Layout((8, 8, 3), (8, 1, 64)), (4, 2)))
    ((4,2),2,4,3):((8,1),32,2,64)
    """
    return _divided(target, tiler, round_up, "tiled_divide", lambda a: unpack(zip_modes(a, tiler, "tiled_divide"), 1))


def flat_divide(target: LayoutKind, tiler: Tiler, *, round_up: bool = False) -> LayoutKind:
    """Split a layout as :func:`zipped_divide`, with all modes at the top: ``(tile, tile, ..., rest, rest, ...)``.

    >>> print(flat_divide(Layout((8, 8, 3), (8, 1, 64)), (4, 2)))
    (4,2,2,4,3):(8,1,32,2,64)
    """
    return _divided(target, tiler, round_up, "flat_divide", lambda a: unpack(zip_modes(a, tiler, "flat_divide"), 0, 1))


def unpack(zipped: Layout, *modes: int) -> Layout:
    """Replace the given modes of a layout of two modes by their sub-modes, one level deep."""
    shape: list[Any] = []
    stride: list[Any] = []
    for mode in range(2):
        s, d = modes_of(zipped.shape)[mode], modes_of(zipped.stride)[mode]
        if mode in modes and type(s) is tuple:
            shape.extend(s)
            stride.extend(d)
        else:
            shape.append(s)
            stride.append(d)
    return trusted(tuple(shape), tuple(stride))
