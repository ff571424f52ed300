"""What is wrong with the order in which a kernel uses tensor memory: an allocator, and what each instruction may touch.

The checks are those that NVIDIA's own guardrails make at run time (``ptxas -g-tensor-memory-access-check`` names them),
and the rules of the manual that no tool makes: an allocator hands out columns, and each event is held against what is
allocated then. The hardware waits where columns are short; here, with one CTA alone, that is a wait for ever.
Source: ptxas 13.5, the names of its run-time checks (NVIDIA's code); PTX ISA 9.1, tcgen05.alloc, ld, st.

Law: what is clean stays clean when an event that touches nothing new is said twice, and no leak is ever unseen.

>>> lines = ["alloc d 64", "relinquish", "mma d 64", "ld d 32x32b.x64 warp 0", "dealloc d 64"]
>>> check_events(lines).ok, check_events([*lines[:3], *lines[2:]]).ok, check_events(lines[:-1]).ok
(True, True, False)
>>> [found.rule for found in check_events(["alloc d 48", "ld d+40 32x32b.x32 warp 1"]).findings]
['granularity', 'columns', 'warp', 'never deallocated']
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from descriptors.errors import DescriptorError, brief
from descriptors.tmem.copies import tmem_copy
from descriptors.tmem.events import Event, parse_event
from descriptors.tmem.findings import EventFinding, EventReport
from descriptors.tmem.geometry import COLUMNS, LANES, LEAST_COLUMNS, quarter_of
from descriptors.tmem.moves import tmem_move

#: The most events of a sequence.
MOST_EVENTS = 10_000


class _State:
    """What is allocated: the first column and how many, by name; what was given back. It changes with every event."""

    __slots__ = ("gone", "held", "last", "most", "relinquished")

    def __init__(self) -> None:
        self.held: dict[str, tuple[int, int]] = {}
        self.gone: set[str] = set()
        self.relinquished = False
        self.last = COLUMNS
        self.most = 0

    def room(self, columns: int) -> int | None:
        """The first column of so many free ones, at a multiple of their number; None if there are none."""
        taken = {column for first, count in self.held.values() for column in range(first, first + count)}
        for first in range(0, COLUMNS - columns + 1, max(columns, 1)):
            if taken.isdisjoint(range(first, first + columns)):
                return first
        return None


def check_events(lines: Iterable[str | Event]) -> EventReport:
    """Check a sequence of events of one CTA that has an SM for itself.

    Args:
        lines: events, or lines in the notation of ``descriptors.tmem.events``.

    Raises:
        DescriptorError: if a line is no event.

    >>> (found,) = check_events(["alloc d 32", "st d@32 32x32b.x8 warp 0", "dealloc d"]).findings
    >>> print(found.number, found.rule, found.told)
    1 warp warp 0 must reach lanes 0 to 31, finds lanes 32 to 63
    """
    if isinstance(lines, (str, bytes)) or not isinstance(lines, Iterable):
        raise DescriptorError(f"tmem check: the events must be a sequence of lines, found {brief(lines)}")
    events = []
    for line in lines:
        events.append(line if isinstance(line, Event) else parse_event(line))
        if len(events) > MOST_EVENTS:
            raise DescriptorError(f"tmem check: there must be at most {MOST_EVENTS} events, found more")
    state, findings = _State(), []
    for number, event in enumerate(events):
        findings += [EventFinding(number, rule, told) for rule, told in _HANDLERS[event.kind](state, event)]
        state.most = max(state.most, sum(count for _, count in state.held.values()))
    for name, (_, count) in state.held.items():
        told = f"{name} must be deallocated before the kernel ends, found {count} columns held"
        findings.append(EventFinding(len(events), "never deallocated", told))
    return EventReport(tuple(events), tuple(findings), state.most)


_Findings = Iterator[tuple[str, str]]


def _alloc(state: _State, event: Event) -> _Findings:
    columns = event.columns or 0
    if state.relinquished:
        yield "phase", "an allocation must come before relinquish_alloc_permit, found one after it"
    if event.name in state.held:
        raise DescriptorError(f"tmem check: a name must stand for one allocation, found {event.name} allocated twice")
    legal = LEAST_COLUMNS <= columns <= COLUMNS and columns & columns - 1 == 0
    if not legal:
        yield "granularity", f"columns must be a power of two from {LEAST_COLUMNS} to {COLUMNS}, found {columns}"
    elif columns > state.last:
        yield "size increases", f"an allocation must not be larger than one before it, {state.last}, found {columns}"
    first = state.room(columns)
    if first is None:
        free = COLUMNS - sum(count for _, count in state.held.values())
        yield "waits for ever", f"{columns} columns must be free, found {max(free, 0)} of {COLUMNS} in no such place"
        first = 0
    state.held[event.name] = (first, columns)
    state.gone.discard(event.name)
    if legal:
        state.last = min(state.last, columns)


def _relinquish(state: _State, event: Event) -> _Findings:
    state.relinquished = True
    return iter(())


def _dealloc(state: _State, event: Event) -> _Findings:
    if event.name not in state.held:
        again = " again" if event.name in state.gone else ""
        yield "deallocation", f"what is deallocated must be allocated, found {event.name}{again}"
        return
    _, count = state.held.pop(event.name)
    state.gone.add(event.name)
    if event.columns not in (None, count):
        yield "deallocation", f"as many columns must be deallocated as were allocated, {count}, found {event.columns}"


def _touch(state: _State, event: Event, columns: int) -> _Findings:
    """Whether columns from an event's place on are allocated, and its lane exists."""
    if event.lane >= LANES:
        yield "bounds", f"a lane must be below {LANES}, found {event.lane}"
    if event.name not in state.held:
        was = "deallocated" if event.name in state.gone else "never allocated"
        yield "columns", f"an address must come from an allocation, found {event.name}, {was}"
        return
    first, count = state.held[event.name]
    end = event.column + columns
    if first + end > COLUMNS:
        yield "bounds", f"columns must end at {COLUMNS}, found {first + end}"
    elif end > count:
        yield "columns", f"columns {event.column} to {end - 1} of {event.name} must be allocated, found {count} columns"


def _move(state: _State, event: Event) -> _Findings:
    made = tmem_move(event.shape, event.kind)
    yield from _touch(state, event, made.columns)
    first, last = event.lane, event.lane + made.lanes - 1
    if event.lane % made.lanes:
        yield "datapath", f"the lane of .{made.shape} must be a multiple of {made.lanes}, found {event.lane}"
    elif event.warp is not None and (first not in (reach := quarter_of(event.warp)) or last not in reach):
        yield "warp", f"warp {event.warp} must reach lanes {reach[0]} to {reach[-1]}, finds lanes {first} to {last}"


def _copy(state: _State, event: Event) -> _Findings:
    made = tmem_copy(event.shape)
    yield from _touch(state, event, made.columns)
    last = event.lane + max(made.cells.cell(row, 0, i).lane for row in (0, made.rows - 1) for i in range(made.copies))
    if event.lane < LANES <= last:
        yield "bounds", f"the lanes of .{made.name} must end at {LANES - 1}, found {last}"


def _mma(state: _State, event: Event) -> _Findings:
    yield from _touch(state, event, event.columns or 0)
    if event.lane not in (0, 16):
        yield "datapath", f"the lane of an operand of tcgen05.mma must be 0 or 16, found {event.lane}"
    if event.idesc is not None and bool(event.idesc >> 2 & 1) != event.sparse:
        says = "sparse" if event.idesc >> 2 & 1 else "dense"
        yield "sparsity", f"bit 2 of the instruction descriptor must say what the instruction is, says {says}"


def _shift(state: _State, event: Event) -> _Findings:
    yield from _touch(state, event, 8)
    if event.lane % 32:
        yield "datapath", f"the lane of tcgen05.shift must be a multiple of 32, found {event.lane}"


_HANDLERS = {
    "alloc": _alloc,
    "relinquish": _relinquish,
    "dealloc": _dealloc,
    "ld": _move,
    "st": _move,
    "cp": _copy,
    "mma": _mma,
    "shift": _shift,
}
