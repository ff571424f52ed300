"""Thread-value layouts from a layout of threads and one of values: make_layout_tv.

Each element of a tile belongs to one value of one thread; the values of a thread lie together, the threads over them.
Law: with both raked over one another, element ``layout_tv(t, v)`` has thread t and value v.
Source: CUTLASS ``include/cute/atom/copy_atom.hpp`` (make_tiled_copy), ``python/CuTeDSL`` (make_layout_tv).

>>> threads, values = Layout((2, 3), (3, 1)), Layout((2, 2), (2, 1))
>>> tiler, tv = make_layout_tv(threads, values)
>>> print(tiler, tv)
(4, 6) ((3,2),(2,2)):((8,2),(4,1))
>>> owner = raked_product(threads, values)
>>> all(owner(tv(t, v)) == t + 6 * v for t in range(6) for v in range(4))
True
"""

from __future__ import annotations

from layoutalg.algebra.composition import composition
from layoutalg.algebra.inverse import right_inverse
from layoutalg.algebra.products import raked_product
from layoutalg.errors import LayoutError
from layoutalg.layouts.layout import Layout
from layoutalg.layouts.modes import need_plain, size
from layoutalg.tuples.leaf import need_int


def make_layout_tv(thr_layout: Layout, val_layout: Layout) -> tuple[tuple[int, ...], Layout]:
    """The tile that threads cover with their values, and which element each value of each thread is.

    Args:
        thr_layout: coordinate of a thread to its number; every number from 0 on once.
        val_layout: coordinate of a value to its number, likewise.

    Returns:
        the extents of the tile, and (thread, value) to an index into it, first mode fastest.

    Raises:
        LayoutError: if a number is missing, or as :func:`raked_product`.

    >>> tiler, tv = make_layout_tv(Layout((4, 8), (8, 1)), Layout((2, 4), (4, 1)))
    >>> print(tiler, tv)
    (8, 32) ((8,4),(4,2)):((32,2),(8,1))
    """
    threads, values = need_plain(thr_layout, "make_layout_tv"), need_plain(val_layout, "make_layout_tv")
    for one in (threads, values):
        if size(right_inverse(one)) != need_int(size(one), "make_layout_tv: a number of threads or values"):
            raise LayoutError(
                f"make_layout_tv: threads and values must have the numbers from 0 on, each once, found {threads} and "
                f"{values}"
            )
    owner = raked_product(threads, values)
    return tuple(int(size(mode)) for mode in owner), composition(
        right_inverse(owner), Layout((size(threads), size(values)))
    )
