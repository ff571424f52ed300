"""Events: what an instruction does, as far as the emission protocol sees it.

A PTX text that was read becomes a sequence of them; so does what a test writes down, and what is written a line each,
for ``descriptors tmem check``. An event says what its source says: a line has the name of an allocation and the shape
of a load, a text has registers.

    alloc NAME COLUMNS [exclusive] one warp allocates; NAME is the address
    relinquish                     the CTA gives up the right to allocate
    dealloc NAME [COLUMNS] [exclusive]    gives the columns back
    ld PLACE SHAPE.xN [warp W]     tcgen05.ld, with .pack::16b or not; st likewise
    cp PLACE SHAPE                 tcgen05.cp
    mma PLACE COLUMNS [sparse] [idesc WORD]    reads or writes so many columns from there; with idesc the accumulator
    shift PLACE                    tcgen05.shift

A PLACE is NAME, NAME+COLUMN, with @LANE where it is not lane 0.

Law: an event is a value, equal by content and written as it is made; one of a line reads back as it is written.

>>> from descriptors.check import events
>>> one = Mma(("f0", "f1"), shape="m64n8k16")
>>> eval(repr(one), vars(events)) == one
True
>>> lines = ["alloc d 64", "ld d+8@32 32x32b.x8 warp 1", "mma d 64 sparse idesc 0x8200014", "relinquish", "dealloc d"]
>>> lines += ["alloc e 576 exclusive", "dealloc e exclusive"]
>>> [str(parse_event(line)) for line in lines] == lines
True
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TypeAlias

from descriptors.errors import DescriptorError, brief
from descriptors.tmem.allocations import Alloc, Dealloc
from descriptors.tmem.geometry import LANES
from layoutalg.frozen import frozen


@frozen
class Fence:
    """``wgmma.fence``."""


@frozen
class Mma:
    """``wgmma.mma_async``.

    Args:
        accumulators: the registers of D.
        a: the registers of A; empty where A lies in shared memory.
        shape: the shape and types, as the qualifiers have them: what must be equal for an order without a fence.
        adds: whether D is read as well: scale-d 1; None where a predicate says it.
    """

    accumulators: tuple[str, ...]
    a: tuple[str, ...] = ()
    shape: str = ""
    adds: bool | None = False


@frozen
class Commit:
    """``wgmma.commit_group``."""


@frozen
class Wait:
    """``wgmma.wait_group``: at most ``pending`` groups, the newest, stay in flight."""

    pending: int


@frozen
class Touch:
    """An ordinary instruction that reads and writes registers.

    Args:
        reads: the registers that it reads.
        writes: those that it writes.
        moves: whether it only moves a constant or another register into what it writes.
    """

    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    moves: bool = False


@frozen
class Copy:
    """A ``mov`` from one register to another."""

    target: str
    source: str


@frozen
class Call:
    """A call of a function."""


@frozen
class Round:
    """The way back to the head of a loop."""


@frozen
class Place:
    """An address of tensor memory.

    Args:
        name: what it is counted from: an allocation, or a register of a text.
        column: columns from there.
        lane: lanes from there.

    >>> str(Place("d", 8, 32))
    'd+8@32'
    """

    name: str
    column: int = 0
    lane: int = 0

    def __str__(self) -> str:
        return self.name + (f"+{self.column}" if self.column else "") + (f"@{self.lane}" if self.lane else "")


#: All lanes of tensor memory, a bit each.
ALL_LANES = (1 << LANES) - 1


@frozen
class Cells:
    """Cells of tensor memory, as far as they are known.

    Args:
        name: what columns are counted from.
        column: the first; None where it is not known.
        columns: how many; None where that is not known.
        lanes: a bit for each lane that may be among them.
    """

    name: str
    column: int | None
    columns: int | None
    lanes: int = ALL_LANES

    def meets(self, other: Cells) -> bool | None:
        """Whether two have cells in common; None where that is not known.

        >>> Cells("t", 0, None).meets(Cells("t", 0, None)), Cells("t", 0, None).meets(Cells("t", 8, None))
        (True, None)
        """
        if not self.lanes & other.lanes:
            return False if self.name == other.name else None
        if self.name != other.name or self.column is None or other.column is None:
            return None
        if self.column == other.column:
            return True
        low, high = (self, other) if self.column < other.column else (other, self)
        assert low.column is not None and high.column is not None
        return None if low.columns is None else low.column + low.columns > high.column

    @property
    def known(self) -> bool:
        """Whether nothing about them is left open."""
        return self.column is not None and self.columns is not None

    def __str__(self) -> str:
        if self.column is None:
            return f"columns of {self.name or 'tensor memory'} that are not known"
        end = "" if self.columns is None else f" to {self.column + self.columns - 1}"
        return f"columns {self.column}{end} of {self.name or 'tensor memory'}"


@frozen
class Relinquish:
    """``tcgen05.relinquish_alloc_permit``."""

    def __str__(self) -> str:
        return "relinquish"


@frozen
class Issue:
    """An asynchronous tcgen05 operation that a commit completes.

    Args:
        operation: ``mma``, ``cp`` or ``shift``.
        place: its address in tensor memory; None where it is not known.
        columns: of an ``mma``, those that it reads or writes from there; None where they are not known.
        shape: of a ``cp``, with its qualifiers; "" where it is not known.
        sparse: whether an ``mma`` is a sparse one.
        idesc: its instruction descriptor, if known.
        cells: what it writes, where a text says that.
        reads: what an ``mma`` reads as A, likewise.
        adds: whether an ``mma`` adds to what is there; None where that is not known.
    """

    operation: str
    place: Place | None = None
    columns: int | None = None
    shape: str = ""
    sparse: bool = False
    idesc: int | None = None
    cells: Cells | None = None
    reads: Cells | None = None
    adds: bool | None = None

    def __str__(self) -> str:
        idesc = "" if self.idesc is None else f"idesc {self.idesc:#x}"
        return _line(self.operation, self.place, self.shape, self.columns, "sparse" * self.sparse, idesc)


@frozen
class TensorCommit:
    """``tcgen05.commit`` to the mbarrier at an address; "" where it is not known.

    Args:
        barrier: its address.
        reads_alone: whether it arrives when A has been read from shared memory, and so completes nothing.
    """

    barrier: str = ""
    reads_alone: bool = False


@frozen
class BarrierWait:
    """A wait for the phase of an mbarrier; "" where its address is not known.

    Args:
        barrier: its address.
        relaxed: whether it is ``.relaxed``, and so orders nothing by itself.
    """

    barrier: str = ""
    relaxed: bool = False


@frozen
class Meeting:
    """A barrier of the CTA or the cluster, at which other threads may tell what they have waited for."""


@frozen
class Arrive:
    """An arrival at an mbarrier, which tells other threads that something was done."""


@frozen
class Load:
    """``tcgen05.ld``: registers from tensor memory.

    Args:
        registers: those that are filled.
        place: the address; None where it is not known.
        shape: the shape with ``.xN`` and qualifiers; "" where it is not known.
        warp: the warp that issues it; None where it is not known.
        cells: what is read, where a text says that.
    """

    registers: tuple[str, ...] = ()
    place: Place | None = None
    shape: str = ""
    warp: int | None = None
    cells: Cells | None = None

    def __str__(self) -> str:
        return _line("ld", self.place, self.shape, "" if self.warp is None else f"warp {self.warp}")


@frozen
class Store:
    """``tcgen05.st``: registers into tensor memory; its fields are those of ``Load``."""

    registers: tuple[str, ...] = ()
    place: Place | None = None
    shape: str = ""
    warp: int | None = None
    cells: Cells | None = None

    def __str__(self) -> str:
        return _line("st", self.place, self.shape, "" if self.warp is None else f"warp {self.warp}")


@frozen
class WaitLoad:
    """``tcgen05.wait::ld``."""


@frozen
class WaitStore:
    """``tcgen05.wait::st``."""


@frozen
class FenceAfter:
    """``tcgen05.fence::after_thread_sync``."""


@frozen
class End:
    """The end of the kernel."""


#: An event of tensor memory that a line can name.
LineEvent: TypeAlias = Alloc | Relinquish | Dealloc | Load | Store | Issue
Event: TypeAlias = (
    Fence | Mma | Commit | Wait | Touch | Copy | Call | Round
    | LineEvent | TensorCommit | BarrierWait | Meeting | Arrive | WaitLoad | WaitStore | FenceAfter | End
)  # fmt: skip


def _line(*words: object) -> str:
    """The line of an event: its words, less those that say nothing."""
    return " ".join(str(word) for word in words if word not in ("", None))


_NAME = r"(?P<name>[A-Za-z_]\w{0,30})"
_PLACE = _NAME + r"(\+(?P<column>\d{1,6}))?(@(?P<lane>\d{1,6}))?"
_COLUMNS, _SHAPE = r"(?P<columns>\d{1,6})", r"(?P<shape>[\w.:]{1,40})"
_EXCLUSIVE = "(?P<exclusive> exclusive)?"
_MOVE = rf"{_PLACE} {_SHAPE}( warp (?P<warp>\d{{1,2}}))?"

_Words: TypeAlias = Mapping[str, str | None]


def _number(words: _Words, name: str) -> int | None:
    word = words.get(name)
    return None if word is None else int(word, 0 if name == "idesc" else 10)


def _place(words: _Words) -> Place:
    return Place(words["name"] or "", _number(words, "column") or 0, _number(words, "lane") or 0)


def _operation(operation: str) -> Callable[[_Words], Issue]:
    return lambda words: Issue(
        operation, _place(words), _number(words, "columns"), words.get("shape") or "", bool(words.get("sparse")),
        _number(words, "idesc"),
    )  # fmt: skip


#: Every event of a line: how it reads, as text and as a pattern, and what is made of its words.
_FORMS: Mapping[str, tuple[str, str, Callable[[_Words], LineEvent]]] = {
    "alloc": (
        "alloc NAME COLUMNS [exclusive]", f"{_NAME} {_COLUMNS}{_EXCLUSIVE}",
        lambda words: Alloc(_number(words, "columns"), words["name"] or "", bool(words["exclusive"])),
    ),
    "relinquish": ("relinquish", "", lambda _: Relinquish()),
    "dealloc": (
        "dealloc NAME [COLUMNS] [exclusive]", f"{_NAME}( {_COLUMNS})?{_EXCLUSIVE}",
        lambda words: Dealloc(_number(words, "columns"), words["name"] or "", bool(words["exclusive"])),
    ),
    "ld": (
        "ld PLACE SHAPE.xN [warp W]", _MOVE,
        lambda words: Load((), _place(words), words["shape"] or "", _number(words, "warp")),
    ),
    "st": (
        "st PLACE SHAPE.xN [warp W]", _MOVE,
        lambda words: Store((), _place(words), words["shape"] or "", _number(words, "warp")),
    ),
    "cp": ("cp PLACE SHAPE", f"{_PLACE} {_SHAPE}", _operation("cp")),
    "mma": (
        "mma PLACE COLUMNS [sparse] [idesc WORD]",
        rf"{_PLACE} {_COLUMNS}(?P<sparse> sparse)?( idesc (?P<idesc>0x[0-9a-fA-F]{{1,8}}))?", _operation("mma"),
    ),
    "shift": ("shift PLACE", _PLACE, _operation("shift")),
}  # fmt: skip


def parse_event(line: str) -> LineEvent:
    """The event that a line names.

    Raises:
        DescriptorError: if it is none.

    >>> parse_event("st d@64 16x256b.x4 warp 2").place
    Place(name='d', column=0, lane=64)
    """
    words = line.split() if isinstance(line, str) else []
    kind = words[0] if words else ""
    if kind not in _FORMS:
        raise DescriptorError(f"tmem check: {brief(line)} is not an event; supported: {', '.join(_FORMS)}")
    shown, pattern, make = _FORMS[kind]
    read = re.fullmatch(pattern, " ".join(words[1:]), re.ASCII)
    if read is None:
        raise DescriptorError(f"tmem check: {brief(line)} is not a valid event; its form is {shown}")
    return make(read.groupdict())
