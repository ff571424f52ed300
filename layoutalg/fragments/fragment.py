"""Fragment: a tile, and which of its elements each register of each thread holds.

Law: ``layout(thread, value)`` is the index of an element of the tile, ``row + rows * column``.

>>> from layoutalg.fragments.rules import quads
>>> one = Fragment("mma.m16n8k16.C", (16, 8), quads(2, 1, 2))
>>> one.threads, one.values, one.element(5, 2)  # thread 5, value 2: row, column
(32, 4, (9, 2))
"""

from __future__ import annotations

from layoutalg.errors import LayoutError
from layoutalg.layouts.layout import Layout, need_integer_strides
from layoutalg.layouts.modes import need_plain, size
from layoutalg.tuples.frozen import Value
from layoutalg.tuples.int_tuple import safe_text
from layoutalg.tuples.leaf import as_int, need_int


def need_thread_values(value: object, operation: str) -> Layout:
    """The value itself, if it is a plain layout of two modes, threads and values, which gives numbers.

    Raises:
        LayoutError: if it is something else.

    >>> print(need_thread_values(Layout((32, 2)), "Fragment"))
    (32,2):(1,32)
    """
    layout = need_integer_strides(need_plain(value, operation), operation)
    if len(layout) != 2:
        raise LayoutError(f"{operation}: a layout must have two modes (threads, values), found {layout}")
    for mode in layout:
        need_int(size(mode), f"{operation}: a number of threads or values")
    return layout


class Fragment(Value):
    """A tile, and what each thread's registers hold of it.

    Args:
        name: of the instruction and operand, as in ``mma.m16n8k16.C``.
        shape: rows and columns of the tile: M x K of A, N x K of B, M x N of C and D; lanes x columns of tensor memory.
        layout: (thread, value) to ``row + rows * column``. Values fill 32-bit registers from the low bits up.

    Raises:
        LayoutError: if one of them is something else.

    >>> from layoutalg.fragments.names import fragment
    >>> print(fragment("mma.m16n8k16.C"))
    mma.m16n8k16.C: 16x8, ((4,8),(2,2)):((32,1),(16,8))
    """

    __slots__ = ("name", "shape", "layout")
    name: str
    shape: tuple[int, int]
    layout: Layout

    def __init__(self, name: str, shape: tuple[int, int], layout: Layout) -> None:
        if not isinstance(name, str) or type(shape) is not tuple or len(shape) != 2:
            raise LayoutError(
                f"Fragment: must have a name and a shape (rows, columns), found {safe_text(name)}, {safe_text(shape)}"
            )
        rows, columns = [as_int(extent, "Fragment: an extent") for extent in shape]
        if rows < 1 or columns < 1:
            raise LayoutError(f"Fragment: extents must be positive, found {rows} x {columns}")
        self.fix(name=name, shape=(rows, columns), layout=need_thread_values(layout, "Fragment"))

    @property
    def threads(self) -> int:
        """How many threads hold the tile."""
        return int(size(self.layout[0]))

    @property
    def values(self) -> int:
        """How many elements each of them holds."""
        return int(size(self.layout[1]))

    def element(self, thread: int, value: int) -> tuple[int, int]:
        """Row and column of the element that is a thread's value.

        Raises:
            CoordinateError: if there is no such thread or value.
        """
        index = self.layout(thread, value)
        return index % self.shape[0], index // self.shape[0]

    def __str__(self) -> str:
        return f"{self.name}: {self.shape[0]}x{self.shape[1]}, {self.layout}"
