"""The shared-memory accesses of threads that move their values of a tile, warp by warp.

Law: thread t moves the element at ``layout(thread_values(t, v))`` for each value v, and every value once. How one
access is served is said by :mod:`layoutalg.analysis.banks`.
Source: CuTe's thread-value layouts, CUTLASS ``include/cute/atom/mma_atom.hpp``.

>>> tile, tv = Layout((64, 64), (64, 1)), Layout((32, 2), (1, 32))  # thread t moves elements t and t + 32
>>> [found.addresses[5] for found in accesses(tile, tv, 2, 2)] == [2 * tile(tv(5, v)) for v in range(2)]
True
"""

from __future__ import annotations

from typing import Any

from layoutalg.analysis.banks import WARP, Access, access, positive
from layoutalg.errors import LayoutError
from layoutalg.layouts.composed import ComposedLayout
from layoutalg.layouts.layout import Layout
from layoutalg.layouts.modes import AnyLayout, size
from layoutalg.layouts.swizzle import Swizzle
from layoutalg.tuples.int_tuple import safe_text
from layoutalg.tuples.leaf import as_int, need_int

#: The most elements of an access: more than shared memory has bytes, and seconds to look at.
MOST_ELEMENTS = 1 << 20


def need_few(count: int, access: AnyLayout) -> None:
    """Refuse an access of more elements than are looked at.

    Raises:
        LayoutError: if there are more than a million.
    """
    if count > MOST_ELEMENTS:
        raise LayoutError(f"banks: an access must have at most {MOST_ELEMENTS} elements, found {count} in {access}")


def need_offset(offset: Any, layout: AnyLayout) -> int:
    """The offset itself, where a tile gives numbers.

    Raises:
        LayoutError: for a coordinate, which basis strides give, and for symbols.
    """
    if type(offset) is tuple:
        raise LayoutError(f"banks: the tile must give offsets, found the coordinate {safe_text(offset)} in {layout}")
    return need_int(offset, "banks: an offset")


def accesses(
    layout: AnyLayout,
    thread_values: AnyLayout,
    element_bytes: int,
    access_bytes: int | None = None,
    banks: int = 32,
    bank_bytes: int = 4,
    *,
    base: int = 0,
    store: bool = False,
) -> tuple[Access, ...]:
    """Every access that the threads make to move their values of a tile, warp by warp.

    Thread t moves the element at ``layout(thread_values(t, v))`` for each value v, ``access_bytes`` at a time.

    Args:
        layout: the tile in shared memory: coordinate to offset, in elements.
        thread_values: (threads, values) to an index into the tile, as CuTe's thread-value layouts.
        element_bytes: bytes of an element.
        access_bytes: bytes of one load or store of a thread; default: one element. More needs as many values in a row
            to lie in a row.
        banks, bank_bytes, store: as for :func:`wavefronts`.
        base: byte address of offset 0.

    Raises:
        LayoutError: if the thread-value map has not two modes or leaves the tile, values of one access do not lie side
            by side, or an address is not aligned.

    A 64 x 64 tile of 2-byte elements, row-major. Each thread of a warp stores 8 elements: lanes 8 to a row; then one
    row a lane, and so again with a swizzle:

    >>> from layoutalg import ComposedLayout, Layout, Swizzle
    >>> tile = Layout((64, 64), (64, 1))
    >>> by_row = Layout(((8, 4), 8), ((512, 1), 64))
    >>> by_column = Layout((32, 8), (1, 64))
    >>> [sum(a.wavefronts for a in accesses(tile, tv, 2, 16, store=True)) for tv in (by_row, by_column)]
    [4, 32]
    >>> swizzled = ComposedLayout(Swizzle(3, 3, 3), 0, tile)
    >>> [sum(a.wavefronts for a in accesses(swizzled, tv, 2, 16, store=True)) for tv in (by_row, by_column)]
    [4, 4]
    """
    if not isinstance(layout, (Layout, ComposedLayout, Swizzle)):
        raise LayoutError(f"banks: the tile must be a layout, found {safe_text(layout)}")
    unit = positive(element_bytes, "element_bytes")
    width = unit if access_bytes is None else as_int(access_bytes, "banks: access_bytes")
    if width < unit or width % unit:
        raise LayoutError(f"banks: access_bytes must be a multiple of the element's {unit}, found {width}")
    if not isinstance(thread_values, (Layout, ComposedLayout)) or len(thread_values) != 2:
        raise LayoutError(
            f"banks: thread_values must have two modes (threads, values), found {safe_text(thread_values)}"
        )
    threads, values = [need_int(size(thread_values, mode=[i]), "banks: a number of threads or values") for i in (0, 1)]
    need_few(threads * values, thread_values)
    vector = width // unit
    if values % vector:
        raise LayoutError(f"banks: {values} values a thread must be a multiple of the {vector} of one access")
    start = as_int(base, "banks: base")
    made = []
    for warp, first in enumerate(range(0, threads, WARP)):
        for value in range(0, values, vector):
            lanes = range(first, min(first + WARP, threads))
            addresses = [start + unit * _first_offset(layout, thread_values, lane, value, vector) for lane in lanes]
            one = access(addresses, width, banks, bank_bytes, store=store)
            made.append(Access(one.addresses, one.phases, one.phase_wavefronts, warp, value))
    return tuple(made)


def _first_offset(layout: AnyLayout, thread_values: AnyLayout, thread: int, value: int, count: int) -> int:
    """The offset of a thread's value, after which the next of its ``count`` values follow without a gap."""
    where = [need_offset(layout(thread_values(thread, value + i)), layout) for i in range(count)]
    if where != list(range(where[0], where[0] + count)):
        raise LayoutError(
            f"banks: the {count} values of one access must lie side by side, found offsets {where} of thread "
            f"{thread}, value {value}; layout = {layout}, thread_values = {thread_values}"
        )
    return where[0]
