"""The allocations of a CTA in tensor memory, and what ``alloc`` and ``dealloc`` do to them.

This is the one definition of the transitions. The path analysis of a PTX text follows it, and so does the execution of
a kernel, which knows where each allocation begins.

    ``alloc``     adds an allocation
    ``dealloc``   frees the allocation that it means, with whatever columns or qualifier it names; a wrong number is
                  one fault, and whatever comes later finds the columns freed
    the end       frees nothing

A ``dealloc`` means the allocation of its name or slot, where one of these is known. Otherwise it means one of as many
columns, one whose columns are not known or not legal, or, if its own columns are not known, the last.
Source: PTX ISA 9.1, tcgen05.alloc, tcgen05.dealloc; which allocation a wrong ``dealloc`` frees is ours.

Law: a deallocation with a wrong number of columns is one fault, and nothing is held after it.

>>> live = after((), Alloc(64, slot="s"))
>>> wrong = Dealloc(32, slot="s")
>>> fault_of(live, wrong).name, after(live, wrong)
('COLUMNS', ())

Law: the columns of an allocation of illegal size are reported there, and compared with nothing.

>>> fault_of((Alloc(48),), Dealloc(64)), after((Alloc(48),), Dealloc(64))
(None, ())
"""

from __future__ import annotations

from enum import Enum

from descriptors.tmem.geometry import ALLOCATIONS, COLUMNS, EXCLUSIVE_COLUMNS, LEAST_COLUMNS
from layoutalg.frozen import frozen


@frozen
class Alloc:
    """``tcgen05.alloc``, and the allocation that it makes.

    Args:
        columns: how many; None where a register says it.
        name: of the address that it returns; "" where it has none.
        exclusive: whether it must be the only one that lives.
        most: the columns that an exclusive one may have, which its target says.
        slot: the place that its address is written to, where no other allocation of the text writes; else "".
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
        """Whether an allocation may be of so many columns; of an exclusive one that is for its target to say."""
        if self.exclusive:
            return self.columns in range(LEAST_COLUMNS, self.most + 1, LEAST_COLUMNS)
        return self.columns in ALLOCATIONS

    @property
    def granted(self) -> int:
        """The columns that a run gives it: of an illegal size a few, so that the run goes on."""
        wanted = max(self.columns or 0, LEAST_COLUMNS)
        return wanted if self.exclusive or self.is_legal else min(1 << (wanted - 1).bit_length(), COLUMNS // 4)


@frozen
class Dealloc:
    """``tcgen05.dealloc``.

    Args:
        columns: how many; None where that is not said.
        name: of the allocation; "" where its address is not known.
        exclusive: whether it frees an exclusive allocation.
        slot: the place that its address was read from; "" where that is not known.
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
    """Return the allocation that is freed; None if no allocation is meant.

    >>> meant((Alloc(64, slot="s"), Alloc(32)), Dealloc(32, slot="s")).columns
    64
    """
    if event.name:
        named = [one for one in live if one.name == event.name]
        return next((one for one in named if one.columns == event.columns), named[0] if named else None)
    if event.slot and (same := [one for one in live if one.slot == event.slot]):
        return same[-1]
    for same in (
        [one for one in live if one.columns == event.columns],
        [one for one in live if one.columns is None],
        [one for one in live if not one.is_legal and event.columns in ALLOCATIONS],
    ):
        if same:
            return next((one for one in same if one.exclusive == event.exclusive), same[0])
    return live[-1] if live and event.columns is None else None


def fault_of(live: Live, event: Dealloc) -> Fault | None:
    """Return what is wrong with a deallocation."""
    freed = meant(live, event)
    if freed is None:
        return Fault.UNKNOWN
    known = None not in (event.columns, freed.columns) and freed.is_legal
    if known and event.columns != freed.columns:
        return Fault.COLUMNS
    return Fault.EXCLUSIVE if freed.exclusive != event.exclusive else None


def after(live: Live, event: Alloc | Dealloc) -> Live:
    """Return the allocations that live after an event."""
    if isinstance(event, Alloc):
        return (*live, event)
    freed = meant(live, event)
    if freed is None:
        return live
    index = live.index(freed)
    return live[:index] + live[index + 1 :]
