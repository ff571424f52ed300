"""Events: the effect of an instruction on the protocols of ``wgmma`` and ``tcgen05``.

Events come from a PTX text, from tests, or from the lines that ``descriptors tmem check`` reads. Which fields of an
event are known depends on its source: a line has the name of an allocation and the shape of a load, and a PTX text has
registers. The lines are:

    alloc NAME COLUMNS [exclusive] one warp allocates; NAME is the address
    relinquish                     the CTA gives up the right to allocate
    dealloc NAME [COLUMNS] [exclusive]    gives the columns back
    ld PLACE SHAPE.xN [warp W]     tcgen05.ld, with .pack::16b or not; st likewise
    cp PLACE SHAPE                 tcgen05.cp
    mma PLACE COLUMNS [sparse] [idesc WORD]    reads or writes so many columns from there; with idesc the accumulator
    shift PLACE                    tcgen05.shift

A PLACE is NAME or NAME+COLUMN, followed by @LANE if the lane is not 0.

Invariant: an event equals the evaluation of its ``repr``, and the text of a parsed line is that line.

>>> from descriptors.check import events
>>> event = Mma(("f0", "f1"), shape="m64n8k16")
>>> eval(repr(event), vars(events)) == event
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
        a: the registers of A; empty if A is in shared memory.
        shape: the qualifiers of shape and types, which must be equal if there is no fence in between.
        adds: whether it adds to D (scale-d 1); None if an unknown predicate decides it.
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
    """``wgmma.wait_group``, which leaves at most the ``pending`` newest groups in flight."""

    pending: int


@frozen
class Touch:
    """An ordinary instruction that reads and writes registers.

    Args:
        reads: the registers that it reads.
        writes: the registers that it writes.
        moves: whether it only moves a constant or another register.
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
    """The back edge of a loop."""


@frozen
class Place:
    """An address of tensor memory.

    Args:
        name: its base: an allocation, or a register of a PTX text.
        column: columns from the base.
        lane: lanes from the base.

    >>> str(Place("d", 8, 32))
    'd+8@32'
    """

    name: str
    column: int = 0
    lane: int = 0

    def __str__(self) -> str:
        return self.name + (f"+{self.column}" if self.column else "") + (f"@{self.lane}" if self.lane else "")


#: All lanes of tensor memory, one bit each.
ALL_LANES = (1 << LANES) - 1


@frozen
class Cells:
    """Cells of tensor memory, as far as they are known.

    Args:
        name: the base of the columns.
        column: the first column; None if it is not known.
        columns: number of columns; None if it is not known.
        lanes: one bit for each lane that may be among them.
    """

    name: str
    column: int | None
    columns: int | None
    lanes: int = ALL_LANES

    def meets(self, other: Cells) -> bool | None:
        """Return whether two sets have cells in common; None if that is not known.

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
        """Whether the column and the number of columns are known."""
        return self.column is not None and self.columns is not None

    def __str__(self) -> str:
        if self.column is None:
            return f"unknown columns of {self.name or 'tensor memory'}"
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
        place: its address in tensor memory; None if it is not known.
        columns: number of columns that an ``mma`` accesses from there; None if it is not known.
        shape: shape and qualifiers of a ``cp``; "" if they are not known.
        sparse: whether an ``mma`` is sparse.
        idesc: its instruction descriptor, if known.
        cells: the cells that it writes, for an event of a PTX text.
        reads: the cells that an ``mma`` reads as A, for an event of a PTX text.
        adds: whether an ``mma`` adds to its accumulator; None if that is not known.
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
        return _join_words(self.operation, self.place, self.shape, self.columns, "sparse" * self.sparse, idesc)


@frozen
class TensorCommit:
    """``tcgen05.commit`` to an mbarrier.

    Args:
        barrier: address of the mbarrier; "" if it is not known.
        reads_alone: whether it arrives when A has been read from shared memory, so that it completes no operation.
    """

    barrier: str = ""
    reads_alone: bool = False


@frozen
class BarrierWait:
    """A wait for the phase of an mbarrier.

    Args:
        barrier: address of the mbarrier; "" if it is not known.
        relaxed: whether it is ``.relaxed``, so that it orders nothing without a fence.
    """

    barrier: str = ""
    relaxed: bool = False


@frozen
class Meeting:
    """A barrier of the CTA or the cluster, after which the waits of other threads also hold for this thread."""


@frozen
class Arrive:
    """An arrival at an mbarrier, which signals other threads."""


@frozen
class Load:
    """``tcgen05.ld``: registers from tensor memory.

    Args:
        registers: the registers that it fills.
        place: its address; None if it is not known.
        shape: the shape with ``.xN`` and qualifiers; "" if they are not known.
        warp: the warp that issues it; None if it is not known.
        cells: the cells that it reads, for an event of a PTX text.
    """

    registers: tuple[str, ...] = ()
    place: Place | None = None
    shape: str = ""
    warp: int | None = None
    cells: Cells | None = None

    def __str__(self) -> str:
        return _join_words("ld", self.place, self.shape, "" if self.warp is None else f"warp {self.warp}")


@frozen
class Store:
    """``tcgen05.st``: registers to tensor memory; its fields are those of ``Load``."""

    registers: tuple[str, ...] = ()
    place: Place | None = None
    shape: str = ""
    warp: int | None = None
    cells: Cells | None = None

    def __str__(self) -> str:
        return _join_words("st", self.place, self.shape, "" if self.warp is None else f"warp {self.warp}")


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


#: An event that a line of ``descriptors tmem check`` can name.
LineEvent: TypeAlias = Alloc | Relinquish | Dealloc | Load | Store | Issue
Event: TypeAlias = (
    Fence | Mma | Commit | Wait | Touch | Copy | Call | Round
    | LineEvent | TensorCommit | BarrierWait | Meeting | Arrive | WaitLoad | WaitStore | FenceAfter | End
)  # fmt: skip


def _join_words(*words: object) -> str:
    """Return the line of an event: its words without empty ones."""
    return " ".join(str(word) for word in words if word not in ("", None))


_NAME = r"(?P<name>[A-Za-z_]\w{0,30})"
_PLACE = _NAME + r"(\+(?P<column>\d{1,6}))?(@(?P<lane>\d{1,6}))?"
_COLUMNS, _SHAPE = r"(?P<columns>\d{1,6})", r"(?P<shape>[\w.:]{1,40})"
_EXCLUSIVE = "(?P<exclusive> exclusive)?"
_MOVE = rf"{_PLACE} {_SHAPE}( warp (?P<warp>\d{{1,2}}))?"

_Words: TypeAlias = Mapping[str, str | None]


def _parse_number(words: _Words, name: str) -> int | None:
    word = words.get(name)
    return None if word is None else int(word, 0 if name == "idesc" else 10)


def _parse_place(words: _Words) -> Place:
    return Place(words["name"] or "", _parse_number(words, "column") or 0, _parse_number(words, "lane") or 0)


def _issue_maker(operation: str) -> Callable[[_Words], Issue]:
    return lambda words: Issue(
        operation, _parse_place(words), _parse_number(words, "columns"), words.get("shape") or "",
        bool(words.get("sparse")), _parse_number(words, "idesc"),
    )  # fmt: skip


#: The events of lines: the form as text and as a pattern, and a function that makes the event from its words.
_FORMS: Mapping[str, tuple[str, str, Callable[[_Words], LineEvent]]] = {
    "alloc": (
        "alloc NAME COLUMNS [exclusive]", f"{_NAME} {_COLUMNS}{_EXCLUSIVE}",
        lambda words: Alloc(_parse_number(words, "columns"), words["name"] or "", bool(words["exclusive"])),
    ),
    "relinquish": ("relinquish", "", lambda _: Relinquish()),
    "dealloc": (
        "dealloc NAME [COLUMNS] [exclusive]", f"{_NAME}( {_COLUMNS})?{_EXCLUSIVE}",
        lambda words: Dealloc(_parse_number(words, "columns"), words["name"] or "", bool(words["exclusive"])),
    ),
    "ld": (
        "ld PLACE SHAPE.xN [warp W]", _MOVE,
        lambda words: Load((), _parse_place(words), words["shape"] or "", _parse_number(words, "warp")),
    ),
    "st": (
        "st PLACE SHAPE.xN [warp W]", _MOVE,
        lambda words: Store((), _parse_place(words), words["shape"] or "", _parse_number(words, "warp")),
    ),
    "cp": ("cp PLACE SHAPE", f"{_PLACE} {_SHAPE}", _issue_maker("cp")),
    "mma": (
        "mma PLACE COLUMNS [sparse] [idesc WORD]",
        rf"{_PLACE} {_COLUMNS}(?P<sparse> sparse)?( idesc (?P<idesc>0x[0-9a-fA-F]{{1,8}}))?", _issue_maker("mma"),
    ),
    "shift": ("shift PLACE", _PLACE, _issue_maker("shift")),
}  # fmt: skip


def parse_event(line: str) -> LineEvent:
    """Parse the line of an event.

    Raises:
        DescriptorError: if the line is not an event.

    >>> parse_event("st d@64 16x256b.x4 warp 2").place
    Place(name='d', column=0, lane=64)
    """
    words = line.split() if isinstance(line, str) else []
    kind = words[0] if words else ""
    if kind not in _FORMS:
        raise DescriptorError(f"tmem check: {brief(line)} is not an event; supported: {', '.join(_FORMS)}")
    notation, pattern, make = _FORMS[kind]
    match = re.fullmatch(pattern, " ".join(words[1:]), re.ASCII)
    if match is None:
        raise DescriptorError(f"tmem check: {brief(line)} is not a valid event; its form is {notation}")
    return make(match.groupdict())
