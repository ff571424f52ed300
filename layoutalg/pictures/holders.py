"""Who holds what: for each element of a tile, the threads and values that a thread-value layout gives it to.

Law: ``(t, v)`` is among the holders of index k exactly if ``thread_values(t, v) == k``.
Source: CuTe's thread-value layouts, CUTLASS ``include/cute/atom/mma_atom.hpp``.

>>> from layoutalg import Layout
>>> holders(Layout((4, 2), (2, 1)), 8)[5]
((2, 1),)
"""

from __future__ import annotations

from layoutalg.analysis.warp_accesses import need_few, need_offset
from layoutalg.errors import LayoutError
from layoutalg.layouts.composed import ComposedLayout
from layoutalg.layouts.layout import Layout
from layoutalg.layouts.modes import AnyLayout, size
from layoutalg.tuples.int_tuple import safe_text
from layoutalg.tuples.leaf import need_int

#: Thread and value.
Holder = tuple[int, int]


def holders(thread_values: AnyLayout, count: int) -> list[tuple[Holder, ...]]:
    """The holders of each of ``count`` elements of a tile, by the element's index; threads in order, then values.

    Raises:
        LayoutError: if the map has not two modes, or leaves the tile.

    >>> from layoutalg import Layout
    >>> holders(Layout((2, 2), (1, 0)), 2)
    [((0, 0), (0, 1)), ((1, 0), (1, 1))]
    """
    if not isinstance(thread_values, (Layout, ComposedLayout)) or len(thread_values) != 2:
        raise LayoutError(
            f"draw: thread_values must have two modes (threads, values), found {safe_text(thread_values)}"
        )
    threads, values = (need_int(size(thread_values, mode=[i]), "draw: a number of threads or values") for i in (0, 1))
    need_few(threads * values, thread_values)
    found: list[list[Holder]] = [[] for _ in range(count)]
    for thread in range(threads):
        for value in range(values):
            index = need_offset(thread_values(thread, value), thread_values)
            if not 0 <= index < count:
                raise LayoutError(
                    f"draw: thread_values must stay in the tile's {count} elements, found {index} of thread {thread}, "
                    f"value {value}; thread_values = {thread_values}"
                )
            found[index].append((thread, value))
    return [tuple(each) for each in found]


def told(held: tuple[Holder, ...]) -> str | None:
    """The holders of an element as a cell shows them; ``None`` where there is none.

    >>> told(((3, 1),)), told(((0, 0), (4, 0), (8, 0))), told(())
    ('T3 V1', 'T0 V0 +2', None)
    """
    if not held:
        return None
    thread, value = held[0]
    return f"T{thread} V{value}" + (f" +{len(held) - 1}" if len(held) > 1 else "")
