"""Divides: a layout as tiles of a given shape, and the tiles' positions.

Definition: ``logical_divide(A, T) = composition(A, (T, complement(T, size(A))))``. Its first mode holds the offsets of
one tile in the order of T, its second the tiles. Law: the result has exactly the elements of A, and a tile has exactly
the elements of the tiler; a tiler that does not divide is an error, never a rounded result.

The other three rearrange the modes of the logical divide. By a tuple of tilers, each divides its own mode::

    logical_divide  ((TileM,RestM), (TileN,RestN), L, ...)
    zipped_divide   ((TileM,TileN), (RestM,RestN,L,...))
    tiled_divide    ((TileM,TileN), RestM, RestN, L, ...)
    flat_divide     (TileM, TileN, RestM, RestN, L, ...)

Source: CUTLASS ``include/cute/layout.hpp``, CuTe documentation "Layout Algebra", division.

>>> from layoutalg import Layout
>>> a = Layout((8, 8), (8, 1))
>>> parts = zipped_divide(a, (4, 2))
>>> print(parts, all(parts((i, j), (p, q)) == a(4 * p + i, 2 * q + j)
...     for i in range(4) for j in range(2) for p in range(2) for q in range(4)))
((4,2),(2,4)):((8,1),(32,2)) True
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from layoutalg.algebra.complement import gaps
from layoutalg.errors import LayoutError, NotDivisibleError
from layoutalg.layouts.flat import cut
from layoutalg.layouts.layout import Layout, need_readable, trusted
from layoutalg.layouts.modes import LayoutKind, Tiler, modes_of, need_layout, through
from layoutalg.layouts.plain_composition import compose_plain
from layoutalg.tuples.int_tuple import Shape, Stride, check_depth, product, safe_text
from layoutalg.tuples.leaf import as_leaf, equal


def logical_divide(target: LayoutKind, tiler: Tiler) -> LayoutKind:
    """Split a layout, or each of its modes, into ``(tile, rest)``.

    Args:
        target: a layout; of a composed layout, the inner one is divided.
        tiler: a layout, or an integer n for ``n:1``, divides the layout as a whole; a tuple of tilers divides mode by
            mode, where ``None`` leaves a mode as it is, and modes beyond the tuple stay as they are.

    Raises:
        NotDivisibleError: if the tiler does not divide, or no layout is the result.
        NotInjectiveError: if the tiler reaches an offset twice.
        LayoutError: if a tiler has more modes than the layout, or is of another kind.

    >>> print(logical_divide(Layout((8, 8), (8, 1)), (4, 2)))
    ((4,2),(2,4)):((8,32),(1,2))
    """
    need_layout(target, "logical_divide")
    check_depth(tiler, "logical_divide: tiler")
    return through(lambda plain: need_readable(divide_plain(plain, tiler), "logical_divide"), target)


def divide_plain(target: Layout, tiler: Tiler) -> Layout:
    """:func:`logical_divide` of a plain layout."""
    if tiler is None:
        return target
    if type(tiler) is tuple:
        return by_mode(target, tiler, divide_plain, "logical_divide")
    halves = cut(target, tiler) if type(tiler) is int and tiler > 0 else None
    if halves is not None:  # nearly always
        (inner, step), (outer, leap) = halves
        return trusted((inner, outer), (step, leap))
    tile = as_tile(tiler, "logical_divide")
    total = product(target.shape)
    count = product(tile.shape)
    shape: Shape
    stride: Stride
    filled = True
    if type(tiler) is int:  # the complement of n:1 in a multiple of n
        shape, stride = (count, total // count), (1, count if count != total else 0)
    else:
        rest, filled = gaps(tile, total)
        shape, stride = (tile.shape, rest.shape), (tile.stride, rest.stride)
    if not filled:
        raise NotDivisibleError(
            f"logical_divide: the tiles must leave no element out, found gaps between the modes of the tiler that no "
            f"whole number of tiles fills; target = {target}, tiler = {tile}"
        )
    if not equal(count * product(shape[1]), total):
        raise NotDivisibleError(
            f"logical_divide: the tiler must divide the layout, found tiles of {count} in {total} elements; "
            f"target = {target}, tiler = {tile}"
        )
    try:
        return compose_plain(target, trusted(shape, stride))
    except NotDivisibleError as error:
        raise NotDivisibleError(
            f"logical_divide: the tiles must form a layout, found none ({error}); target = {target}, tiler = {tile}"
        ) from error


def as_tile(tiler: Tiler, operation: str) -> Layout:
    """A tiler that is not a tuple as the layout it stands for."""
    if isinstance(tiler, Layout):
        return tiler
    count = as_leaf(tiler, f"{operation}: a tiler")
    if count < 1:
        raise LayoutError(f"{operation}: a tiler must be positive, found {count}")
    return trusted(count, 1)


def by_mode(
    target: Layout, tiler: tuple[Tiler, ...], operate: Callable[[Layout, Tiler], Layout], operation: str
) -> Layout:
    """Apply an operation to each of the first modes with its own tiler; modes beyond the tiler stay as they are."""
    if len(tiler) > len(target):
        raise LayoutError(
            f"{operation}: a tiler must have at most {len(target)} modes, found {safe_text(tiler)}; target = {target}"
        )
    parts = [operate(mode, tile) for mode, tile in zip(target, tiler, strict=False)]
    parts += [target[mode] for mode in range(len(tiler), len(target))]
    return trusted(tuple([part.shape for part in parts]), tuple([part.stride for part in parts]))


def zip_modes(divided: Layout, tiler: Tiler, operation: str) -> Layout:
    """Collect the pairs of a divide or product by a tuple as ``((firsts), (seconds, modes beyond the tuple))``."""
    shape, stride = (_zipped(part, tiler, operation) for part in (divided.shape, divided.stride))
    return trusted(shape, stride)


def _zipped(parts: Any, tiler: Tiler, operation: str) -> tuple[Any, Any]:
    """:func:`zip_modes` of a shape or of a stride."""
    if type(tiler) is not tuple:
        if tiler is None:
            raise LayoutError(
                f"{operation}: a tiler must not hold None, since a mode that is not divided has no tile; write its "
                f"extent to keep it whole, found {safe_text(parts)}"
            )
        return parts[0], parts[1]
    pairs = [_zipped(part, tile, operation) for part, tile in zip(parts, tiler, strict=False)]
    return tuple([first for first, _ in pairs]), (*[second for _, second in pairs], *parts[len(tiler) :])


def zipped_divide(target: LayoutKind, tiler: Tiler) -> LayoutKind:
    """A layout as ``((tile), (rest))``: mode 0 runs inside a tile, mode 1 over the tiles.

    Args:
        target: a layout; of a composed layout, the inner one is divided.
        tiler: as in :func:`logical_divide`, without ``None``.

    Raises:
        LayoutError: as :func:`logical_divide`.

    >>> print(zipped_divide(Layout(((8, 16), (64, 2)), ((64, 512), (1, 8192))), (64, 16)))
    ((64,16),(2,(4,2))):((64,1),(4096,(16,8192)))
    """
    need_layout(target, "zipped_divide")
    check_depth(tiler, "zipped_divide: tiler")
    return through(
        lambda plain: need_readable(zip_modes(divide_plain(plain, tiler), tiler, "zipped_divide"), "zipped_divide"),
        target,
    )


def tiled_divide(target: LayoutKind, tiler: Tiler) -> LayoutKind:
    """As :func:`zipped_divide`, with the modes over the tiles at the top: ``((tile), rest, rest, ...)``.

    >>> print(tiled_divide(Layout((8, 8, 3), (8, 1, 64)), (4, 2)))
    ((4,2),2,4,3):((8,1),32,2,64)
    """
    need_layout(target, "tiled_divide")
    check_depth(tiler, "tiled_divide: tiler")
    return through(
        lambda plain: need_readable(
            unpack(zip_modes(divide_plain(plain, tiler), tiler, "tiled_divide"), 1), "tiled_divide"
        ),
        target,
    )


def flat_divide(target: LayoutKind, tiler: Tiler) -> LayoutKind:
    """As :func:`zipped_divide`, with all modes at the top: ``(tile, tile, ..., rest, rest, ...)``.

    >>> print(flat_divide(Layout((8, 8, 3), (8, 1, 64)), (4, 2)))
    (4,2,2,4,3):(8,1,32,2,64)
    """
    need_layout(target, "flat_divide")
    check_depth(tiler, "flat_divide: tiler")
    return through(
        lambda plain: need_readable(
            unpack(zip_modes(divide_plain(plain, tiler), tiler, "flat_divide"), 0, 1), "flat_divide"
        ),
        target,
    )


def unpack(zipped: Layout, *modes: int) -> Layout:
    """Put the sub-modes of the given modes of a pair in the place of those modes, one level deep."""
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
