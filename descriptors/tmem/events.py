"""What a kernel does with tensor memory, an event a line: the notation that ``guardrails`` checks.

    alloc NAME COLUMNS             one warp allocates; NAME is the address
    relinquish                     the CTA gives up the right to allocate
    dealloc NAME [COLUMNS]         gives the columns back
    ld PLACE SHAPE.xN [warp W]     tcgen05.ld, with .pack::16b or not; st likewise
    cp PLACE SHAPE                 tcgen05.cp
    mma PLACE COLUMNS [sparse] [idesc WORD]    reads or writes so many columns from there
    shift PLACE                    tcgen05.shift

A PLACE is NAME, NAME+COLUMN, with @LANE where it is not lane 0.

Law: an event reads back as it is written.

>>> lines = ["alloc d 64", "ld d+8@32 32x32b.x8 warp 1", "mma d 64 sparse idesc 0x8200014", "relinquish", "dealloc d"]
>>> [str(parse_event(line)) for line in lines] == lines
True
"""

from __future__ import annotations

import re

from descriptors.errors import DescriptorError, brief
from descriptors.frozen import frozen


@frozen
class Event:
    """One instruction.

    Args:
        kind: ``alloc``, ``relinquish``, ``dealloc``, ``ld``, ``st``, ``cp``, ``mma`` or ``shift``.
        name: the allocation that its address comes from.
        column: columns from there.
        lane: lane of the address.
        columns: columns that it names; None where its shape says them.
        shape: of ``ld``, ``st`` and ``cp``, with ``.xN`` and qualifiers.
        warp: the warp that issues it, where that matters.
        sparse: whether the instruction is a sparse one.
        idesc: its instruction descriptor, if known.
    """

    kind: str
    name: str = ""
    column: int = 0
    lane: int = 0
    columns: int | None = None
    shape: str = ""
    warp: int | None = None
    sparse: bool = False
    idesc: int | None = None

    def __str__(self) -> str:
        place = self.name + (f"+{self.column}" if self.column else "") + (f"@{self.lane}" if self.lane else "")
        words = [self.kind, place, self.shape, "" if self.columns is None else str(self.columns)]
        words.append("" if self.warp is None else f"warp {self.warp}")
        words += ["sparse" if self.sparse else "", "" if self.idesc is None else f"idesc {self.idesc:#x}"]
        return " ".join(word for word in words if word)


_PLACE = r"(?P<name>[A-Za-z_]\w{0,30})(\+(?P<column>\d{1,6}))?(@(?P<lane>\d{1,6}))?"
_FORMS = {
    "alloc": r"(?P<name>[A-Za-z_]\w{0,30}) (?P<columns>\d{1,6})",
    "relinquish": r"",
    "dealloc": r"(?P<name>[A-Za-z_]\w{0,30})( (?P<columns>\d{1,6}))?",
    "ld": _PLACE + r" (?P<shape>[\w.:]{1,40})( warp (?P<warp>\d{1,2}))?",
    "cp": _PLACE + r" (?P<shape>[\w.:]{1,40})",
    "mma": _PLACE + r" (?P<columns>\d{1,6})(?P<sparse> sparse)?( idesc (?P<idesc>0x[0-9a-fA-F]{1,8}))?",
    "shift": _PLACE,
}
_FORMS["st"] = _FORMS["ld"]
_SHOWN = {
    "alloc": "alloc NAME COLUMNS",
    "relinquish": "relinquish",
    "dealloc": "dealloc NAME [COLUMNS]",
    "ld": "ld PLACE SHAPE.xN [warp W]",
    "st": "st PLACE SHAPE.xN [warp W]",
    "cp": "cp PLACE SHAPE",
    "mma": "mma PLACE COLUMNS [sparse] [idesc WORD]",
    "shift": "shift PLACE",
}


def parse_event(line: str) -> Event:
    """The event that a line names.

    Raises:
        DescriptorError: if it is none.

    >>> parse_event("st d@64 16x256b.x4 warp 2").lane
    64
    """
    words = line.split() if isinstance(line, str) else []
    kind = words[0] if words else ""
    if kind not in _FORMS:
        raise DescriptorError(f"tmem check: an event must be one of {', '.join(_SHOWN)}, found {brief(line)}")
    found = re.fullmatch(_FORMS[kind], " ".join(words[1:]), re.ASCII)
    if found is None:
        raise DescriptorError(f"tmem check: an event must read {_SHOWN[kind]}, found {brief(line)}")
    told = found.groupdict()
    numbers = {name: int(told[name]) for name in ("column", "lane", "columns", "warp") if told.get(name) is not None}
    idesc = int(told["idesc"], 16) if told.get("idesc") else None
    return Event(
        kind,
        told.get("name") or "",
        shape=told.get("shape") or "",
        sparse=bool(told.get("sparse")),
        idesc=idesc,
        **numbers,
    )
