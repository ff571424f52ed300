"""Fragment: a tile, and which of its elements each register of each thread holds.

Law: ``layout(thread, value)`` is the index of an element of the tile, ``row + rows * column``.

>>> from layoutalg.fragments.rules import quads
>>> one = Fragment("mma.m16n8k16.C", (16, 8), quads(2, 1, 2))
>>> one.threads, one.values, one.element(5, 2)  # thread 5, value 2: row, column
(32, 4, (9, 2))
"""

from __future__ import annotations

from layoutalg.layouts.layout import Layout
from layoutalg.layouts.modes import size
from layoutalg.tuples.frozen import Value


class Fragment(Value):
    """A tile, and what each thread's registers hold of it.

    Args:
        name: of the instruction and operand, as in ``mma.m16n8k16.C``.
        shape: rows and columns of the tile: M x K of A, N x K of B, M x N of C and D; lanes x columns of tensor memory.
        layout: (thread, value) to ``row + rows * column``. Values fill 32-bit registers from the low bits up.

    >>> from layoutalg.fragments.names import fragment
    >>> print(fragment("mma.m16n8k16.C"))
    mma.m16n8k16.C: 16x8, ((4,8),(2,2)):((32,1),(16,8))
    """

    __slots__ = ("name", "shape", "layout")
    name: str
    shape: tuple[int, int]
    layout: Layout

    def __init__(self, name: str, shape: tuple[int, int], layout: Layout) -> None:
        self.fix(name=name, shape=shape, layout=layout)

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
