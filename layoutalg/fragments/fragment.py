"""Fragments: which elements of a tile each register of each thread holds, and the rules that describe them.

Three rules describe every fragment of ``wgmma``, ``mma.sync``, ``ldmatrix``, ``stmatrix``, ``tcgen05.ld`` and
``tcgen05.st``:

- *quads*: eight groups of four threads. Group i holds row i of a piece of 8 rows and 4 units. Thread j of the group
  holds the j-th *unit* of this row: the elements of one register, or two accumulators. Pieces are ordered down, then
  across.
- *turned quads*: the same with each piece of 8 x 8 elements transposed (``.trans``); pieces of bytes have 16 columns.
- *lanes*: for tensor memory, where a thread holds a lane or half of a lane.

Invariant: ``layout(thread, value)`` is the index of an element of the tile, ``row + rows * column``, and every element
of the tile is one value of one thread.

Source: PTX ISA 9.1, matrix fragments of wgmma, mma and ldmatrix, matrix fragments of tcgen05.ld; CUTLASS
``include/cute/atom/mma_traits_sm80.hpp``, ``mma_traits_sm90_gmma.hpp``, ``copy_traits_sm75.hpp``,
``copy_traits_sm100.hpp``. The tests compare with the layouts of these headers.

>>> c = Fragment("mma.m16n8k16.C", (16, 8), quads(2, 1, 2))
>>> c.threads, c.values, c.element(5, 2)  # the row and column of value 2 of thread 5
(32, 4, (9, 2))
>>> print(quads(2, 2, 2, warps=4))  # A of wgmma, 64 x 16 elements of 16 bits
((4,8,4),(2,2,2)):((128,1,16),(64,8,512))
>>> sorted(quads(2, 2, 2, warps=4)(i) for i in range(1024)) == list(range(1024))
True
"""

from __future__ import annotations

from collections.abc import Iterable

from layoutalg.algebra.composition import composition
from layoutalg.algebra.make import make_layout
from layoutalg.algebra.rearrange import prepend
from layoutalg.drawing.shown import Shown
from layoutalg.errors import CoordinateError, LayoutError
from layoutalg.frozen import fix, frozen
from layoutalg.layouts.layout import Layout, need_integer_strides
from layoutalg.layouts.modes import need_plain, size
from layoutalg.tuples.int_tuple import Coord, safe_text
from layoutalg.tuples.leaf import as_int, need_int


def quads(down: int, across: int, unit: int, warps: int = 1) -> Layout:
    """Return the thread-value layout of pieces whose rows belong to groups of four threads.

    Args:
        down: number of pieces of 8 rows and ``4 * unit`` columns that a warp holds, from top to bottom.
        across: number of pieces from left to right.
        unit: number of adjacent elements of a row that a thread holds.
        warps: number of warps, from top to bottom.

    >>> print(quads(2, 1, 2))  # the accumulators of m16n8
    ((4,8),(2,2)):((32,1),(16,8))
    >>> print(quads(1, 1, 1))  # A of m8n8k4, f64
    ((4,8),1):((8,1),0)
    """
    rows = 8 * down * warps
    threads = [(4, unit * rows), (8, 1), (warps, 8 * down)]
    return thread_values(threads, [(unit, rows), (down, 8), (across, 4 * unit * rows)])


def turned_quads(down: int, across: int) -> Layout:
    """Return the thread-value layout of 8 x 8 pieces whose columns belong to groups of four threads.

    Each thread holds two rows of its column.

    >>> print(turned_quads(1, 1))
    ((4,8),2):((2,8),1)
    """
    rows = 8 * down
    return thread_values([(4, 2), (8, rows)], [(2, 1), (down, 8), (across, 8 * rows)])


def turned_bytes(together: int, down: int, across: int) -> Layout:
    """Return the thread-value layout of matrices of bytes whose columns belong to groups of four threads.

    The eight groups hold the first eight columns of a matrix and then the other eight.

    Args:
        together: bytes of a column that a thread holds: 4 of 16 for ``ldmatrix``, 2 of 8 for ``stmatrix``.
        down: number of matrices of ``4 * together`` rows and 16 columns, from top to bottom.
        across: number of matrices from left to right.

    >>> print(turned_bytes(2, 1, 1))
    ((4,8),(2,2)):((2,8),(1,64))
    """
    rows = 4 * together * down
    values = [(together, 1), (2, 8 * rows), (down, 4 * together), (across, 16 * rows)]
    return thread_values([(4, together), (8, rows)], values)


def row_pointers(down: int, across: int, width: int, height: int = 8) -> Layout:
    """Return the rows whose addresses the threads provide to ``ldmatrix``.

    Thread t provides the address of row ``t % height`` of piece ``t // height``; the values are the elements of it.

    Args:
        down: number of pieces from top to bottom.
        across: number of pieces from left to right.
        width: number of elements of a row.
        height: number of rows of a piece: 8, or 16 for ``.m16n16``.

    >>> print(row_pointers(2, 2, 8))
    ((8,2,2),8):((1,8,128),16)
    """
    rows = height * down
    return thread_values([(height, 1), (down, height), (across, rows * width)], [(width, rows)])


def lanes(shape: str, count: int) -> Layout:
    """Return the 32-bit cell of tensor memory that ``tcgen05.ld`` loads into each register.

    Args:
        shape: ``32x32b``, ``16x64b``, ``16x128b``, ``16x256b`` or ``16x32bx2``. The second half of ``16x32bx2``
            begins ``count`` columns after the first.
        count: the number after ``.x``.

    Returns:
        (thread, register) to ``lane + lanes * column``, both relative to the address.

    >>> print(lanes("32x32b", 4), lanes("16x256b", 1) == quads(2, 1, 2))
    (32,4):(1,32) True
    """
    if shape == "32x32b":
        return thread_values([(32, 1)], [(count, 32)])
    if shape == "16x64b":
        return thread_values([(2, 8), (2, 16), (8, 1)], [(count, 32)])
    if shape == "16x32bx2":
        return thread_values([(16, 1), (2, 16 * count)], [(count, 16)])
    return quads(2, count, 1 if shape == "16x128b" else 2)


def packed_halves(cells: Layout, rows: int) -> Layout:
    """Return a layout of :func:`lanes` for ``.pack::16b``, where a register holds the low halves of two columns.

    Args:
        cells: a layout that :func:`lanes` returns.
        rows: the number of its lanes.

    >>> print(packed_halves(lanes("32x32b", 4), 32))
    (32,(2,4)):(1,(32,64))
    """
    spread = composition(Layout((rows, size(cells) // rows), (1, 2 * rows)), cells)
    return make_layout(spread[0], prepend(spread[1], Layout(2, rows)))


def thread_values(threads: Iterable[tuple[int, int]], values: Iterable[tuple[int, int]]) -> Layout:
    """Return a thread-value layout from (extent, stride) pairs of its two modes, without extents of 1.

    >>> print(thread_values([(4, 8), (8, 1)], [(1, 7)]))
    ((4,8),1):((8,1),0)
    """
    return make_layout(_mode(threads), _mode(values))


def _mode(parts: Iterable[tuple[int, int]]) -> Layout:
    moving = [part for part in parts if part[0] != 1]
    if not moving:
        return Layout(1, 0)
    return Layout(*moving[0]) if len(moving) == 1 else Layout(tuple(s for s, _ in moving), tuple(d for _, d in moving))


def thread_number(thread: object, threads: int, what: str) -> int:
    """Return the number of a thread, after checking that there is such a thread.

    Raises:
        LayoutError: if it is not an integer.
        CoordinateError: if it is not in [0,threads).
    """
    number = as_int(thread, f"{what}: thread")
    if not 0 <= number < threads:
        raise CoordinateError(f"{what}: thread {number} is not in [0,{threads})")
    return number


def need_thread_values(value: object, operation: str) -> Layout:
    """Return ``value`` if it is a plain layout with integer strides and two modes, threads and values.

    Raises:
        LayoutError: if it is not.

    >>> print(need_thread_values(Layout((32, 2)), "Fragment"))
    (32,2):(1,32)
    """
    layout = need_integer_strides(need_plain(value, operation), operation)
    if len(layout) != 2:
        modes = f"{len(layout)} mode{'s' * (len(layout) != 1)}"
        raise LayoutError(f"{operation}: the layout {layout} has {modes}, not two (threads, values)")
    for mode in layout:
        need_int(size(mode), f"{operation}: a number of threads or values")
    return layout


@frozen
class Fragment(Shown):
    """A tile and the elements of it that each thread's registers hold.

    Args:
        name: instruction and operand, such as ``mma.m16n8k16.C``.
        shape: rows and columns of the tile: M x K for A, N x K for B, M x N for C and D; lanes x columns for tensor
            memory.
        layout: (thread, value) to ``row + rows * column``. Values fill 32-bit registers from the low bits up.

    Raises:
        LayoutError: if an argument has another type or an extent is not positive.

    >>> from layoutalg.fragments.fragment_names import fragment
    >>> print(fragment("mma.m16n8k16.C"))
    mma.m16n8k16.C: 16x8, ((4,8),(2,2)):((32,1),(16,8))
    """

    name: str
    shape: tuple[int, int]
    layout: Layout

    def __init__(self, name: str, shape: tuple[int, int], layout: Layout) -> None:
        if not isinstance(name, str) or type(shape) is not tuple or len(shape) != 2:
            raise LayoutError(
                f"Fragment: {safe_text(name)}, {safe_text(shape)} are not a name and a shape (rows, columns)"
            )
        rows, columns = [as_int(extent, "Fragment: an extent") for extent in shape]
        if rows < 1 or columns < 1:
            raise LayoutError(f"Fragment: {rows} x {columns} are not positive extents")
        fix(self, name=name, shape=(rows, columns), layout=need_thread_values(layout, "Fragment"))

    @property
    def threads(self) -> int:
        """Number of threads that hold the tile."""
        return int(size(self.layout[0]))

    @property
    def values(self) -> int:
        """Number of elements that each thread holds."""
        return int(size(self.layout[1]))

    def element(self, thread: int, value: int) -> tuple[int, int]:
        """Return the row and column of the element that a thread's value is.

        Raises:
            CoordinateError: if there is no such thread or value.
        """
        index = self.layout(thread, value)
        return index % self.shape[0], index // self.shape[0]

    def owners(self, row: int, column: int) -> tuple[tuple[int, int], ...]:
        """Return each (thread, value) that has an element: the inverse of :meth:`element`.

        Raises:
            LayoutError: if the tile has no such element.

        >>> Fragment("mma.m16n8k16.C", (16, 8), quads(2, 1, 2)).owners(5, 3)
        ((21, 1),)
        """
        return owners(self, (row, column))

    @property
    def extents(self) -> str:
        """Rows and columns as text, such as ``16x8``."""
        return f"{self.shape[0]}x{self.shape[1]}"

    def __str__(self) -> str:
        return f"{self.name}: {self.extents}, {self.layout}"


def owners(fragment: Fragment, element: Coord) -> tuple[tuple[int, int], ...]:
    """Return each (thread, value) that has an element of a fragment's tile.

    Args:
        fragment: the fragment.
        element: (row, column).

    Raises:
        LayoutError: if the tile has no such element.
    """
    if type(element) is not tuple or len(element) != 2:
        raise LayoutError(f"owners: {safe_text(element)} is not (row, column) of {fragment.name}")
    row, column = [as_int(part, "owners: a coordinate") for part in element]
    rows, columns = fragment.shape
    if not (0 <= row < rows and 0 <= column < columns):
        raise LayoutError(
            f"owners: element ({row},{column}) is not in the tile of {rows} x {columns} of {fragment.name}; the tile "
            f"repeats, and this element has the place of element ({row % rows},{column % columns})"
        )
    index, threads = row + rows * column, fragment.threads
    total = threads * fragment.values
    return tuple((i % threads, i // threads) for i in range(total) if fragment.layout(i) == index)
