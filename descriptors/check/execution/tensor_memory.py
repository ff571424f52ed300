"""Tensor memory of a CTA: which columns are allocated, and who touched what of them.

Lanes are followed in groups, columns one by one. A CTA's allocator gives the first columns that are free. What an
allocation and a deallocation do is defined in ``tmem.allocations``; an allocation has the name of its first column.
Source: PTX ISA 9.1, tcgen05: Tensor Memory Addressing, Tensor Memory Allocation; that the first are given is ours, and
nothing may depend on it.

Law: what is freed is given again.

>>> memory, columns = TensorMemory(), Alloc(256)
>>> [memory.room(columns), memory.allocate(0, columns, 5), memory.room(columns), memory.room(Alloc(512))]
[0, None, 256, None]
>>> memory.free(memory.deallocation(0, 256), Access(0, 9, "the deallocation"))
>>> memory.room(Alloc(512)), memory.freed_by(8, 16).line, memory.shown
(0, 9, 'none')
"""

from __future__ import annotations

from descriptors.check.execution.knowledge import Access, Segments
from descriptors.tmem.allocations import Alloc, Dealloc, Fault, after, fault_of, meant
from descriptors.tmem.geometry import COLUMNS, LANES
from layoutalg.frozen import replace

#: Lanes that are followed as one.
GROUP = 16
#: Groups of lanes.
GROUPS = range(LANES // GROUP)


class TensorMemory:
    """The tensor memory of a CTA."""

    def __init__(self) -> None:
        self.cells = [Segments() for _ in GROUPS]
        self.live: tuple[Alloc, ...] = ()
        #: The instruction that made each allocation, by its name.
        self.places: dict[str, int] = {}
        self.freed: list[tuple[int, int, Access]] = []
        #: What collectors of the tensor core keep: the word or the address of a matrix, None where it is not known.
        self.collected: dict[str, int | None] = {}

    @property
    def allocated(self) -> list[tuple[int, int]]:
        """The columns of each allocation that lives, from the first to the last but one."""
        return [(int(allocation.name), int(allocation.name) + allocation.granted) for allocation in self.live]

    def room(self, event: Alloc) -> int | None:
        """The first columns that are free for an allocation; None where there are none. An exclusive one has all.

        One of illegal size is reported by itself, and nothing waits for it: there is always room beside it.
        """
        if event.exclusive or any(allocation.exclusive for allocation in self.live):
            return None if self.live else 0
        place = 0
        for low, high in sorted(self.allocated):
            if place + event.granted <= low:
                break
            place = max(place, high)
        if place + event.granted <= COLUMNS:
            return place
        return None if all(allocation.is_legal for allocation in (*self.live, event)) else 0

    def has_columns_apart(self, event: Alloc) -> bool:
        """Return whether enough columns are free for an allocation, even if they are not adjacent."""
        is_exclusive = event.exclusive or any(allocation.exclusive for allocation in self.live)
        return not is_exclusive and event.granted + sum(allocation.granted for allocation in self.live) <= COLUMNS

    def allocate(self, low: int, event: Alloc, place: int) -> None:
        """Columns from one on are somebody's, by an instruction, and nobody touched them yet."""
        high = low + event.granted
        self.live = after(self.live, replace(event, name=str(low)))
        self.places[str(low)] = place
        self.freed = [row for row in self.freed if row[1] <= low or row[0] >= high]
        self._clear(low, high)

    def deallocation(self, low: int, columns: int, exclusive: bool = False) -> Dealloc:
        """The event that frees columns: it means the allocation in which the first of them is."""
        own = next((first for first, last in self.allocated if first <= low < last), low)
        return Dealloc(columns, str(own), exclusive)

    def fault(self, low: int, event: Dealloc) -> Fault | None:
        """What is wrong with a deallocation from a column on."""
        fault = fault_of(self.live, event)
        return fault if fault is not None or str(low) == event.name else Fault.UNKNOWN

    def span(self, event: Dealloc) -> tuple[int, int] | None:
        """Return the columns that a deallocation frees."""
        freed = meant(self.live, event)
        return None if freed is None else (int(freed.name), int(freed.name) + freed.granted)

    def free(self, event: Dealloc, access: Access) -> None:
        """Columns that are allocated are nobody's from here on."""
        span = self.span(event)
        self.live = after(self.live, event)
        if span is not None:
            self._clear(*span)
            self.freed.append((*span, access))

    def _clear(self, low: int, high: int) -> None:
        for memory in self.cells:
            memory.clear(low, high)

    def holds(self, low: int, high: int) -> bool:
        """Whether columns lie in one allocation; what one of illegal size would have is not known."""
        ends = {allocation.name: COLUMNS for allocation in self.live if not allocation.is_legal}
        return any(first <= low and high <= ends.get(str(first), last) for first, last in self.allocated)

    def freed_by(self, low: int, high: int) -> Access | None:
        """What freed columns that lay in one allocation; None where nothing did."""
        return next((access for first, last, access in self.freed if first <= low and high <= last), None)

    @property
    def shown(self) -> str:
        """The allocated columns, for a person."""
        return ", ".join(f"{low} to {high - 1}" for low, high in self.allocated) or "none"
