"""The tensor memory of a CTA: its allocated columns, and the accesses to them.

Lanes are followed in groups, columns individually. The allocator gives the first free columns. ``tmem.allocations``
defines allocations and deallocations; an allocation is named by its first column.

Source: PTX ISA 9.1, tcgen05: Tensor Memory Addressing, Tensor Memory Allocation; giving the first columns is this
project's choice, and nothing may depend on it.

Invariant: columns that are freed can be allocated again.

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

#: Lanes per group, which are followed together.
GROUP = 16
#: Groups of lanes.
GROUPS = range(LANES // GROUP)


class TensorMemory:
    """The tensor memory of a CTA."""

    def __init__(self) -> None:
        self.cells = [Segments() for _ in GROUPS]
        self.live: tuple[Alloc, ...] = ()
        #: Index of the instruction that made each allocation, by the name of the allocation.
        self.places: dict[str, int] = {}
        self.freed: list[tuple[int, int, Access]] = []
        #: Contents of the collector buffers: descriptor or address of a matrix; None if it is unknown.
        self.collected: dict[str, int | None] = {}

    @property
    def allocated(self) -> list[tuple[int, int]]:
        """The column range of each live allocation: first, and one after the last."""
        return [(int(allocation.name), int(allocation.name) + allocation.granted) for allocation in self.live]

    def room(self, event: Alloc) -> int | None:
        """Return the first columns that are free for an allocation, or None; an exclusive allocation takes all columns.

        An allocation of illegal size has a finding of its own and never waits: it always gets columns.
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
        """Check whether enough columns are free for an allocation, even if they are not adjacent."""
        is_exclusive = event.exclusive or any(allocation.exclusive for allocation in self.live)
        return not is_exclusive and event.granted + sum(allocation.granted for allocation in self.live) <= COLUMNS

    def allocate(self, low: int, event: Alloc, place: int) -> None:
        """Allocate columns from ``low`` on, by the instruction at ``place``; they have no accesses yet."""
        high = low + event.granted
        self.live = after(self.live, replace(event, name=str(low)))
        self.places[str(low)] = place
        self.freed = [freed for freed in self.freed if freed[1] <= low or freed[0] >= high]
        self._clear(low, high)

    def deallocation(self, low: int, columns: int, exclusive: bool = False) -> Dealloc:
        """Return the event that frees columns: it names the allocation that contains the first of them."""
        own = next((first for first, last in self.allocated if first <= low < last), low)
        return Dealloc(columns, str(own), exclusive)

    def fault(self, low: int, event: Dealloc) -> Fault | None:
        """Return the fault of a deallocation from a column on; None if it is correct."""
        fault = fault_of(self.live, event)
        return fault if fault is not None or str(low) == event.name else Fault.UNKNOWN

    def span(self, event: Dealloc) -> tuple[int, int] | None:
        """Return the columns that a deallocation frees."""
        freed = meant(self.live, event)
        return None if freed is None else (int(freed.name), int(freed.name) + freed.granted)

    def free(self, event: Dealloc, access: Access) -> None:
        """Free columns."""
        span = self.span(event)
        self.live = after(self.live, event)
        if span is not None:
            self._clear(*span)
            self.freed.append((*span, access))

    def _clear(self, low: int, high: int) -> None:
        for memory in self.cells:
            memory.clear(low, high)

    def holds(self, low: int, high: int) -> bool:
        """Check whether columns are in one allocation; the extent of one of illegal size is unknown."""
        ends = {allocation.name: COLUMNS for allocation in self.live if not allocation.is_legal}
        return any(first <= low and high <= ends.get(str(first), last) for first, last in self.allocated)

    def freed_by(self, low: int, high: int) -> Access | None:
        """Return the access that freed columns of one allocation; None if none did."""
        return next((access for first, last, access in self.freed if first <= low and high <= last), None)

    @property
    def shown(self) -> str:
        """The allocated columns, as text."""
        return ", ".join(f"{low} to {high - 1}" for low, high in self.allocated) or "none"
