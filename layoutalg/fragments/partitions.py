"""Partitions of tiled copies and tiled MMAs as functions, for expressions: ``partition_S(copy, layout, thread)``.

Invariant: each function returns what the method of the same name returns.

>>> from layoutalg.layouts.layout import Layout
>>> from layoutalg.fragments.tiled_copy import make_tiled_copy_tv
>>> copy = make_tiled_copy_tv(4, Layout((4, 8), (8, 1)), Layout((2, 4), (4, 1)))
>>> partition_S(copy, Layout((64, 64), (64, 1)), 5) == copy.partition_S(Layout((64, 64), (64, 1)), 5)
True
"""

from __future__ import annotations

from typing import Any

from layoutalg.errors import LayoutError
from layoutalg.fragments.fragment import Fragment
from layoutalg.fragments.fragment import owners as owners_in
from layoutalg.fragments.fragment_names import fragment
from layoutalg.fragments.tiled_copy import TiledCopy
from layoutalg.fragments.tiled_mma import TiledMma
from layoutalg.layouts.modes import AnyLayout
from layoutalg.tuples.int_tuple import Coord, safe_text


def partition_S(copy: TiledCopy, layout: AnyLayout, thread: int) -> tuple[AnyLayout, int]:
    """Return what a thread of a tiled copy reads, and its offset; see :meth:`TiledCopy.partition_S`."""
    return _need_copy(copy, "partition_S").partition_S(layout, thread)


def partition_D(copy: TiledCopy, layout: AnyLayout, thread: int) -> tuple[AnyLayout, int]:
    """Return what a thread of a tiled copy holds afterwards, and its offset; see :meth:`TiledCopy.partition_D`."""
    return _need_copy(copy, "partition_D").partition_D(layout, thread)


def partition_A(mma: TiledMma, layout: AnyLayout, thread: int) -> tuple[AnyLayout, int]:
    """Return what a thread of a tiled MMA holds of A, and its offset; see :meth:`TiledMma.partition_A`."""
    return _need_mma(mma, "partition_A").partition_A(layout, thread)


def partition_B(mma: TiledMma, layout: AnyLayout, thread: int) -> tuple[AnyLayout, int]:
    """Return what a thread of a tiled MMA holds of B, and its offset."""
    return _need_mma(mma, "partition_B").partition_B(layout, thread)


def partition_C(mma: TiledMma, layout: AnyLayout, thread: int) -> tuple[AnyLayout, int]:
    """Return what a thread of a tiled MMA holds of C, and its offset."""
    return _need_mma(mma, "partition_C").partition_C(layout, thread)


def thrfrg_S(copy: TiledCopy, layout: AnyLayout) -> AnyLayout:
    """Divide a layout by threads and the values they read; see :meth:`TiledCopy.thrfrg_S`."""
    return _need_copy(copy, "thrfrg_S").thrfrg_S(layout)


def thrfrg_D(copy: TiledCopy, layout: AnyLayout) -> AnyLayout:
    """Divide a layout by threads and the values they hold after the copy."""
    return _need_copy(copy, "thrfrg_D").thrfrg_D(layout)


def thrfrg_A(mma: TiledMma, layout: AnyLayout) -> AnyLayout:
    """Divide a layout (M, K) by threads and values; see :meth:`TiledMma.thrfrg_A`."""
    return _need_mma(mma, "thrfrg_A").thrfrg_A(layout)


def thrfrg_B(mma: TiledMma, layout: AnyLayout) -> AnyLayout:
    """Divide a layout (N, K) by threads and values."""
    return _need_mma(mma, "thrfrg_B").thrfrg_B(layout)


def thrfrg_C(mma: TiledMma, layout: AnyLayout) -> AnyLayout:
    """Divide a layout (M, N) by threads and values."""
    return _need_mma(mma, "thrfrg_C").thrfrg_C(layout)


def retile(copy: TiledCopy, layout: AnyLayout) -> AnyLayout:
    """Divide a thread's registers by the values of a tiled copy; see :meth:`TiledCopy.retile`."""
    return _need_copy(copy, "retile").retile(layout)


def owners(of: TiledCopy | TiledMma | Fragment | str, element: Coord, side: str = "") -> tuple[tuple[int, int], ...]:
    """Return each thread and value that has an element of a tile.

    Args:
        of: a tiled copy, a tiled MMA, a fragment, or the name of a fragment.
        element: (row, column).
        side: of a copy S (the default) or D; of an MMA A, B or C (the default).

    Raises:
        LayoutError: if ``of`` is something else, or has no such side or element.

    >>> owners("mma.m16n8k16.C", (5, 3))
    ((21, 1),)
    """
    if not isinstance(side, str):
        raise LayoutError(f"owners: {safe_text(side)} is not a side or an operand")
    if isinstance(of, TiledCopy):
        return of.owners(element, side or "S")
    if isinstance(of, TiledMma):
        return of.owners(element, side or "C")  # type: ignore[arg-type]
    named = fragment(of) if isinstance(of, str) else of
    if not isinstance(named, Fragment) or side:
        raise LayoutError(
            f"owners: {safe_text(of)} is not a tiled copy, a tiled MMA, a fragment or the name of one"
            if not side
            else f"owners: {safe_text(of)} has no sides; its name contains the operand"
        )
    return owners_in(named, element)


def _need_copy(value: Any, operation: str) -> TiledCopy:
    if not isinstance(value, TiledCopy):
        raise LayoutError(f"{operation}: {safe_text(value)} is not a tiled copy")
    return value


def _need_mma(value: Any, operation: str) -> TiledMma:
    if not isinstance(value, TiledMma):
        raise LayoutError(f"{operation}: {safe_text(value)} is not a tiled MMA")
    return value
