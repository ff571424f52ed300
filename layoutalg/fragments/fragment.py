"""Fragment: a tile, and which of its elements each register of each thread holds; the rules that make them.

Law: ``layout(thread, value)`` is the index of an element of the tile, ``row + rows * column``, and every element of the
tile is one value of one thread. Three rules make every fragment of ``wgmma``, ``mma.sync``, ``ldmatrix``,
``stmatrix``, ``tcgen05.ld`` and ``tcgen05.st``:

- *quads*: eight groups of four threads. Group i has row i of a piece of 8 rows and 4 units; thread j of the group has
  its j-th *unit*: the elements of a register, or two accumulators. Pieces follow one another down, then across.
- *turned quads*: the same with each piece of 8 x 8 elements transposed (``.trans``); of bytes, pieces of 16 columns.
- *lanes*: of tensor memory, where a thread has a lane, or half of one.

Source: PTX ISA 9.1, matrix fragments of wgmma, mma and ldmatrix, matrix fragments of tcgen05.ld; CUTLASS
``include/cute/atom/mma_traits_sm80.hpp``, ``mma_traits_sm90_gmma.hpp``, ``copy_traits_sm75.hpp``,
``copy_traits_sm100.hpp``, with whose layouts the tests compare.

>>> c = Fragment("mma.m16n8k16.C", (16, 8), quads(2, 1, 2))
>>> c.threads, c.values, c.element(5, 2)  # thread 5, value 2: row, column
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
from layoutalg.errors import LayoutError
from layoutalg.frozen import fix, frozen
from layoutalg.layouts.layout import Layout, need_integer_strides
from layoutalg.layouts.modes import need_plain, size
from layoutalg.tuples.int_tuple import safe_text
from layoutalg.tuples.leaf import as_int, need_int


def quads(down: int, across: int, unit: int, warps: int = 1) -> Layout:
    """Fragments of pieces whose rows belong to groups of four threads.

    Args:
        down, across: how many pieces of 8 rows and ``4 * unit`` columns a warp has.
        unit: elements side by side in a row that a thread has together.
        warps: how many warps lie below one another.

    >>> print(quads(2, 1, 2))  # the accumulators of m16n8
    ((4,8),(2,2)):((32,1),(16,8))
    >>> print(quads(1, 1, 1))  # A of m8n8k4, f64
    ((4,8),1):((8,1),0)
    """
    rows = 8 * down * warps
    threads = [(4, unit * rows), (8, 1), (warps, 8 * down)]
    return thread_values(threads, [(unit, rows), (down, 8), (across, 4 * unit * rows)])


def turned_quads(down: int, across: int) -> Layout:
    """Fragments of pieces of 8 x 8 whose columns belong to groups of four threads, which have two rows each.

    >>> print(turned_quads(1, 1))
    ((4,8),2):((2,8),1)
    """
    rows = 8 * down
    return thread_values([(4, 2), (8, rows)], [(2, 1), (down, 8), (across, 8 * rows)])


def turned_bytes(together: int, down: int, across: int) -> Layout:
    """Fragments of matrices of bytes whose columns belong to groups of four threads: columns of eight, then eight more.

    Args:
        together: bytes of a column that a thread has: 4 of the 16 of ``ldmatrix``, 2 of the 8 of ``stmatrix``.
        down, across: how many matrices of ``4 * together`` rows and 16 columns there are, and where.

    >>> print(turned_bytes(2, 1, 1))
    ((4,8),(2,2)):((2,8),(1,64))
    """
    rows = 4 * together * down
    values = [(together, 1), (2, 8 * rows), (down, 4 * together), (across, 16 * rows)]
    return thread_values([(4, together), (8, rows)], values)


def row_pointers(down: int, across: int, width: int, height: int = 8) -> Layout:
    """The rows of pieces that threads point at for ``ldmatrix``: thread t at row t mod 8 of piece t // 8.

    Args:
        down, across: how many pieces there are, and where.
        width: elements of a row, which are the values.
        height: rows of a piece: 8, of ``.m16n16`` 16.

    >>> print(row_pointers(2, 2, 8))
    ((8,2,2),8):((1,8,128),16)
    """
    rows = height * down
    return thread_values([(height, 1), (down, height), (across, rows * width)], [(width, rows)])


def lanes(shape: str, count: int) -> Layout:
    """The cells of tensor memory, 32 bits each, that ``tcgen05.ld`` brings to each register.

    Args:
        shape: ``32x32b``, ``16x64b``, ``16x128b``, ``16x256b`` or ``16x32bx2``; the second half of the last begins
            ``count`` columns on.
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
    """The same with ``.pack::16b``: a register holds the low halves of two columns side by side, as two values.

    Args:
        cells: a rule of :func:`lanes`.
        rows: how many lanes it has.

    >>> print(packed_halves(lanes("32x32b", 4), 32))
    (32,(2,4)):(1,(32,64))
    """
    spread = composition(Layout((rows, size(cells) // rows), (1, 2 * rows)), cells)
    return make_layout(spread[0], prepend(spread[1], Layout(2, rows)))


def thread_values(threads: Iterable[tuple[int, int]], values: Iterable[tuple[int, int]]) -> Layout:
    """A thread-value layout from the extents and strides of its two modes; extents of 1 are left out.

    >>> print(thread_values([(4, 8), (8, 1)], [(1, 7)]))
    ((4,8),1):((8,1),0)
    """
    return make_layout(_mode(threads), _mode(values))


def _mode(parts: Iterable[tuple[int, int]]) -> Layout:
    moving = [part for part in parts if part[0] != 1]
    if not moving:
        return Layout(1, 0)
    return Layout(*moving[0]) if len(moving) == 1 else Layout(tuple(s for s, _ in moving), tuple(d for _, d in moving))


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


@frozen
class Fragment(Shown):
    """A tile, and what each thread's registers hold of it.

    Args:
        name: of the instruction and operand, as in ``mma.m16n8k16.C``.
        shape: rows and columns of the tile: M x K of A, N x K of B, M x N of C and D; lanes x columns of tensor memory.
        layout: (thread, value) to ``row + rows * column``. Values fill 32-bit registers from the low bits up.

    Raises:
        LayoutError: if one of them is something else.

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
                f"Fragment: must have a name and a shape (rows, columns), found {safe_text(name)}, {safe_text(shape)}"
            )
        rows, columns = [as_int(extent, "Fragment: an extent") for extent in shape]
        if rows < 1 or columns < 1:
            raise LayoutError(f"Fragment: extents must be positive, found {rows} x {columns}")
        fix(self, name=name, shape=(rows, columns), layout=need_thread_values(layout, "Fragment"))

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

    @property
    def extents(self) -> str:
        """Rows and columns, as people write them."""
        return f"{self.shape[0]}x{self.shape[1]}"

    def __str__(self) -> str:
        return f"{self.name}: {self.extents}, {self.layout}"
