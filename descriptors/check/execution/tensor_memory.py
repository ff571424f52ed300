"""Tensor memory of a CTA: which columns are allocated, and who touched what of them.

Lanes are followed in groups, columns one by one. A CTA's allocator gives the first columns that are free.
Source: PTX ISA 9.1, tcgen05: Tensor Memory Addressing, Tensor Memory Allocation; that the first are given is ours, and
nothing may depend on it.

Law: what is freed is given again.

>>> memory = TensorMemory()
>>> [memory.room(256), memory.allocate(0, 256), memory.room(256), memory.room(512)]
[0, None, 256, None]
>>> memory.free(0, 256, Access(0, 9, "the deallocation"))
>>> memory.room(512), memory.freed_by(8, 16).line, memory.shown
(0, 9, 'none')
"""

from __future__ import annotations

from descriptors.check.execution.knowledge import Access, Segments
from descriptors.tmem.geometry import COLUMNS, LANES

#: Lanes that are followed as one.
GROUP = 16
#: Groups of lanes.
GROUPS = range(LANES // GROUP)


class TensorMemory:
    """The tensor memory of a CTA."""

    def __init__(self) -> None:
        self.cells = [Segments() for _ in GROUPS]
        self.allocated: list[tuple[int, int]] = []
        self.freed: list[tuple[int, int, Access]] = []
        self.exclusive = False
        #: What collectors of the tensor core keep: the word or the address of a matrix, None where it is not known.
        self.collected: dict[str, int | None] = {}

    def room(self, columns: int, exclusive: bool = False) -> int | None:
        """The first column of so many that are free; None where there are none. An exclusive allocation has all."""
        if exclusive or self.exclusive:
            return None if self.allocated else 0
        place = 0
        for low, high in sorted(self.allocated):
            if place + columns <= low:
                break
            place = max(place, high)
        return place if place + columns <= COLUMNS else None

    def allocate(self, low: int, high: int, exclusive: bool = False) -> None:
        """Columns are somebody's, and nobody touched them yet."""
        self.exclusive = exclusive
        self.allocated.append((low, high))
        self.freed = [row for row in self.freed if row[1] <= low or row[0] >= high]
        self._clear(low, high)

    def free(self, low: int, high: int, access: Access) -> None:
        """Columns that are allocated are nobody's from here on."""
        self._clear(low, high)
        self.allocated.remove((low, high))
        self.exclusive = False
        self.freed.append((low, high, access))

    def _clear(self, low: int, high: int) -> None:
        for memory in self.cells:
            memory.clear(low, high)

    def holds(self, low: int, high: int) -> bool:
        """Whether columns lie in one allocation."""
        return any(first <= low and high <= last for first, last in self.allocated)

    def freed_by(self, low: int, high: int) -> Access | None:
        """What freed columns that lay in one allocation; None where nothing did."""
        return next((access for first, last, access in self.freed if first <= low and high <= last), None)

    @property
    def shown(self) -> str:
        """The allocated columns, for a person."""
        return ", ".join(f"{low} to {high - 1}" for low, high in self.allocated) or "none"
