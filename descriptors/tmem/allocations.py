"""The tensor-memory allocations of a CTA, and the effect of ``alloc`` and ``dealloc`` on them.

This is the only definition of the transitions. The path analysis of a PTX text uses it, and so does the execution of a
kernel, which also knows where each allocation begins.

    ``alloc``     adds an allocation
    ``dealloc``   frees the allocation that it refers to, whatever columns or qualifier it names; a wrong number of
                  columns is reported once, and afterwards the columns are free
    the end       frees nothing

A ``dealloc`` refers to the allocation with its name or slot, if one of these is known. Otherwise it refers to one with
the same number of columns, then to one whose number of columns is unknown or illegal, or, if its own number is unknown,
to the last one.
Source: PTX ISA 9.1, tcgen05.alloc, tcgen05.dealloc; which allocation a wrong ``dealloc`` frees is our choice.

Invariant: a deallocation with a wrong number of columns is one fault, and leaves no allocation.

>>> live = after((), Alloc(64, slot="s"))
>>> wrong = Dealloc(32, slot="s")
>>> fault_of(live, wrong).name, after(live, wrong)
('COLUMNS', ())

Invariant: the columns of an allocation of illegal size are not compared with those of its deallocation.

>>> fault_of((Alloc(48),), Dealloc(64)), after((Alloc(48),), Dealloc(64))
(None, ())
"""

from __future__ import annotations

from enum import Enum

from descriptors.tmem.geometry import ALLOCATIONS, COLUMNS, EXCLUSIVE_COLUMNS, LEAST_COLUMNS
from layoutalg.frozen import frozen


@frozen
class Alloc:
    """A ``tcgen05.alloc`` instruction and the allocation that it makes.

    Args:
        columns: number of columns; None if it is in a register.
        name: name of the returned address; "" if it has none.
        exclusive: whether it must be the only allocation.
        most: largest number of columns of an exclusive allocation on the target.
        slot: location to which its address is written, if no other allocation of the text writes there; else "".
    """

    columns: int | None
    name: str = ""
    exclusive: bool = False
    most: int = EXCLUSIVE_COLUMNS
    slot: str = ""

    def __str__(self) -> str:
        return _line("alloc", self.name, self.columns, self.exclusive)

    @property
    def is_legal(self) -> bool:
        """Whether the number of columns is legal; for an exclusive allocation this depends on the target."""
        if self.exclusive:
            return self.columns in range(LEAST_COLUMNS, self.most + 1, LEAST_COLUMNS)
        return self.columns in ALLOCATIONS

    @property
    def granted(self) -> int:
        """Columns that the execution grants; an illegal ordinary size gets at most 128 so that execution continues."""
        wanted = max(self.columns or 0, LEAST_COLUMNS)
        return wanted if self.exclusive or self.is_legal else min(1 << (wanted - 1).bit_length(), COLUMNS // 4)


@frozen
class Dealloc:
    """A ``tcgen05.dealloc`` instruction.

    Args:
        columns: number of columns; None if unknown.
        name: name of the allocation; "" if its address is unknown.
        exclusive: whether it has the qualifier of exclusive allocations.
        slot: location from which its address was read; "" if unknown.
    """

    columns: int | None
    name: str = ""
    exclusive: bool = False
    slot: str = ""

    def __str__(self) -> str:
        return _line("dealloc", self.name, self.columns, self.exclusive)


def _line(kind: str, name: str, columns: int | None, exclusive: bool) -> str:
    shown = "" if columns is None else str(columns)
    return " ".join(filter(None, (kind, name, shown, "exclusive" * exclusive)))


class Fault(Enum):
    """What is wrong with a deallocation."""

    UNKNOWN = "it frees no allocation that lives"
    COLUMNS = "it has other columns than its allocation"
    EXCLUSIVE = "it is exclusive and its allocation is not, or the other way round"


Live = tuple[Alloc, ...]


def meant(live: Live, event: Dealloc) -> Alloc | None:
    """Return the allocation to which a deallocation refers; None if there is none.

    >>> meant((Alloc(64, slot="s"), Alloc(32)), Dealloc(32, slot="s")).columns
    64
    """
    if event.name:
        named = [alloc for alloc in live if alloc.name == event.name]
        return next((alloc for alloc in named if alloc.columns == event.columns), named[0] if named else None)
    if event.slot and (candidates := [alloc for alloc in live if alloc.slot == event.slot]):
        return candidates[-1]
    for candidates in (
        [alloc for alloc in live if alloc.columns == event.columns],
        [alloc for alloc in live if alloc.columns is None],
        [alloc for alloc in live if not alloc.is_legal and event.columns in ALLOCATIONS],
    ):
        if candidates:
            return next((alloc for alloc in candidates if alloc.exclusive == event.exclusive), candidates[0])
    return live[-1] if live and event.columns is None else None


def fault_of(live: Live, event: Dealloc) -> Fault | None:
    """Return the fault of a deallocation; None if it is correct."""
    freed = meant(live, event)
    if freed is None:
        return Fault.UNKNOWN
    known = None not in (event.columns, freed.columns) and freed.is_legal
    if known and event.columns != freed.columns:
        return Fault.COLUMNS
    return Fault.EXCLUSIVE if freed.exclusive != event.exclusive else None


def after(live: Live, event: Alloc | Dealloc) -> Live:
    """Return the live allocations after an event."""
    if isinstance(event, Alloc):
        return (*live, event)
    freed = meant(live, event)
    if freed is None:
        return live
    index = live.index(freed)
    return live[:index] + live[index + 1 :]
