"""The protocol of ``tcgen05``: what is allocated of tensor memory, what was issued, committed and waited for.

Two things are kept of one CTA, as one of its threads sees it. *Memory*: the allocations that live. Their sizes must be
legal and may never grow, freed or not; with the permit given up nothing is allocated any more; what is allocated must
be freed, and nothing else may be touched. The hardware waits where columns are short; a CTA that is short by its own
doing waits for ever. Which columns an allocation gets is for the hardware to say: places are counted from it.
*Completion*: operations are asynchronous. ``mma``, ``cp`` and ``shift`` are in order among themselves, complete by a
commit to an mbarrier and a wait on it; ``st`` by ``wait::st``; of ``ld`` the registers by ``wait::ld``, which compilers
leave out, since the dependency on the registers is respected.

The rules stand in ``rules``; here ``MEMORY`` and ``COMPLETION`` name, beside each event, the functions that hold it
against the state before it, and ``after`` is the state behind it. A function says nothing of an event that does not say
enough. Where two paths meet, what may be outstanding is, and a commit or a wait that stands on some path is believed:
the branch around it is usually that around the operation.
Source: PTX ISA 9.1, tcgen05, memory consistency model; tcgen05.alloc, ld, st; ptxas 13.5, whose checks at run time
(``-g-tensor-memory-access-check``) are known by their names alone.

Law: where a state meets itself it stays, and the order of the two does not matter.

>>> states = [run([Alloc(64), Issue("mma"), *tail])[0] for tail in ([], [TensorCommit("b")], [Relinquish()])]
>>> all(meet(a, a) == a and meet(a, b) == meet(b, a) for a in states for b in states)
True
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from descriptors.check.events import (
    Alloc,
    BarrierWait,
    Copy,
    Dealloc,
    End,
    Event,
    FenceAfter,
    Issue,
    Load,
    Place,
    Relinquish,
    Store,
    TensorCommit,
    Touch,
    WaitLoad,
    WaitStore,
)
from descriptors.check.rules import Broken, broken
from descriptors.tmem.copies import tmem_copy
from descriptors.tmem.geometry import ALLOCATIONS, COLUMNS, LANES, LEAST_COLUMNS, quarter_of
from descriptors.tmem.moves import tmem_move
from layoutalg.frozen import frozen, replace

#: Nameless allocations that are kept: as many as there can be, so that a loop that allocates comes to an end.
_NAMELESS = COLUMNS // LEAST_COLUMNS
#: Columns that ``tcgen05.shift`` touches.
_SHIFTED = 8


@frozen
class TensorState:
    """What lives, and what may be outstanding.

    Args:
        allocated: the allocations that live.
        freed: names of those that were freed.
        least: the fewest columns of a legal allocation so far; all columns before the first.
        relinquished: whether the permit was given back on every path.
        issued: operations that no commit followed, by name.
        committed: those for which some path has a commit since they were issued: one thread is elected for either.
        barriers: mbarriers of commits; "" for one of unknown address.
        waited: those of them for which some path has a wait since the commit, or one that may have been for them.
        fenced: whether tcgen05.fence::after_thread_sync followed the last wait, or there was none.
        stored: places of outstanding ``st``; None for one that is not known.
        loaded: registers of outstanding ``ld``.
    """

    allocated: tuple[Alloc, ...] = ()
    freed: frozenset[str] = frozenset()
    least: int = COLUMNS
    relinquished: bool = False
    issued: frozenset[str] = frozenset()
    committed: frozenset[str] = frozenset()
    barriers: frozenset[str] = frozenset()
    waited: frozenset[str] = frozenset()
    fenced: bool = True
    stored: frozenset[Place | None] = frozenset()
    loaded: frozenset[str] = frozenset()

    @property
    def columns(self) -> int:
        """The columns that are allocated, as far as they are known."""
        return sum(one.columns or 0 for one in self.allocated)

    def named(self, name: str) -> Alloc | None:
        """The allocation of a name that lives."""
        return next((one for one in self.allocated if one.name == name), None) if name else None


def step(state: TensorState, event: Event) -> tuple[TensorState, list[Broken]]:
    """The state after an event, and the rules that the event breaks.

    >>> [one.rule.name for one in step(TensorState(), Alloc(48))[1]]
    ['tcgen05-alloc-size']
    """
    return after(state, event), [*breaches(state, event, MEMORY), *breaches(state, event, COMPLETION)]


def breaches(state: TensorState, event: Event, table: Table) -> list[Broken]:
    """The rules of a table that an event breaks.

    >>> breaches(TensorState(), Alloc(48), COMPLETION)
    []
    """
    return [one for rule in table.get(type(event), ()) for one in rule(state, event)]


def after(state: TensorState, event: Event) -> TensorState:
    """The state after an event.

    >>> after(TensorState(), Alloc(64, "d")).columns
    64
    """
    match event:
        case Alloc(columns, name):
            live = (*state.allocated, event)
            least = min(state.least, columns) if columns in ALLOCATIONS and columns is not None else state.least
            return replace(
                state, allocated=live if name else live[-_NAMELESS:], least=least, freed=state.freed - {name}
            )
        case Dealloc(_, name):
            if (gone := _meant(state, event)) is None:
                return state
            index = state.allocated.index(gone)
            live = state.allocated[:index] + state.allocated[index + 1 :]
            return replace(state, allocated=live, freed=state.freed | {name} if name else state.freed)
        case Relinquish():
            return replace(state, relinquished=True)
        case Issue(operation):
            issued, left = state.issued | {operation}, state.committed - {operation}
            return replace(state, issued=issued, committed=left, fenced=True, stored=frozenset())
        case TensorCommit(barrier) if state.issued:
            done, barriers = state.committed | state.issued, state.barriers | {barrier}
            waited = state.waited - {barrier}
            return replace(state, issued=frozenset(), committed=done, barriers=barriers, waited=waited)
        case BarrierWait(barrier):
            # A wait is for the mbarrier that it names; one without a name may be for any, and any for one without.
            meant = state.barriers & {barrier, ""} if barrier else state.barriers
            return replace(state, waited=state.waited | meant, fenced=False)
        case Load(registers):
            return replace(state, loaded=state.loaded | set(registers), fenced=True)
        case Store(_, place):
            return replace(state, stored=state.stored | {place}, loaded=frozenset(), fenced=True)
        case WaitLoad():
            return replace(state, loaded=frozenset())
        case Touch() | Copy() if state.loaded.intersection(_reads(event)):
            return replace(state, loaded=frozenset())  # told once
        case WaitStore():
            return replace(state, stored=frozenset())
        case FenceAfter():
            return replace(state, fenced=True)
        case _:
            return state


def _meant(state: TensorState, event: Dealloc) -> Alloc | None:
    """The allocation that is freed: that of its name, or else one of as many columns, of unknown size, or the last."""
    if event.name:
        return state.named(event.name)
    live = state.allocated
    for columns in (event.columns, None):
        if same := [one for one in live if one.columns == columns]:
            return same[0]
    return live[-1] if live and event.columns is None else None


_Found: TypeAlias = Iterator[Broken]
_Access: TypeAlias = Issue | Load | Store


def _permit(state: TensorState, event: Alloc) -> _Found:
    if state.relinquished:
        yield broken("tcgen05-alloc-relinquished", "found an allocation")


def _size(state: TensorState, event: Alloc) -> _Found:
    if event.columns is not None and event.columns not in ALLOCATIONS:
        demand = f"columns must be a power of two from {LEAST_COLUMNS} to {COLUMNS}"
        yield broken("tcgen05-alloc-size", f"found {event.columns}", demand=demand)


def _order(state: TensorState, event: Alloc) -> _Found:
    """What is of no legal size is blamed for that alone, and is no bound for those behind it."""
    if event.columns in ALLOCATIONS and event.columns is not None and event.columns > state.least:
        yield broken("tcgen05-alloc-order", f"found {event.columns} after {state.least}")


def _room(state: TensorState, event: Alloc) -> _Found:
    if (taken := state.columns + (event.columns or 0)) > COLUMNS:
        yield broken("tcgen05-alloc-full", f"found {taken}")


def _freed(state: TensorState, event: Dealloc) -> _Found:
    meant = _meant(state, event)
    if meant is None and event.name:
        again = " again" if event.name in state.freed else ""
        demand = "what is deallocated must be allocated"
        yield broken("tcgen05-dealloc-unknown", f"found {event.name}{again}", demand=demand)
    elif meant is None:
        live = ", ".join(str(one.columns) for one in state.allocated)
        of = f"of {live}" if live else "before any"
        yield broken("tcgen05-dealloc-unknown", f"found {event.columns} columns {of} allocated")
    elif None not in (event.columns, meant.columns) and event.columns != meant.columns:
        demand = f"as many columns must be deallocated as were allocated, {meant.columns}"
        yield broken("tcgen05-dealloc-unknown", f"found {event.columns}", demand=demand)


def _leak(state: TensorState, event: End) -> _Found:
    for one in state.allocated:
        if one.name:
            demand = f"{one.name} must be deallocated before the kernel ends"
            yield broken("tcgen05-dealloc-missing", f"found {one.columns} columns held", demand=demand)
    if nameless := sum(not one.name for one in state.allocated):
        yield broken("tcgen05-dealloc-missing", f"found {nameless} not freed")


def _columns(event: _Access) -> int | None:
    """The columns from an event's place on that it touches; None where it does not say them."""
    match event:
        case Issue("mma", _, columns):
            return columns
        case Issue("shift", place):
            return _SHIFTED if place else None
        case Issue("cp", _, _, shape):
            return tmem_copy(shape).columns if shape else None
        case Load(_, _, shape) | Store(_, _, shape):
            return tmem_move(shape, _direction(event)).columns if shape else None
    return None


def _direction(event: Load | Store) -> str:
    return "ld" if isinstance(event, Load) else "st"


def _bounds(state: TensorState, event: _Access) -> _Found:
    if event.place is not None and event.place.lane >= LANES:
        yield broken("tcgen05-bounds", f"found {event.place.lane}", demand=f"a lane must be below {LANES}")


def _cells(state: TensorState, event: _Access) -> _Found:
    """Whether the columns that an event touches are allocated."""
    place, columns = event.place, _columns(event)
    if place is None or columns is None:
        return
    held, end = state.named(place.name), place.column + columns
    if held is None:
        was = "deallocated" if place.name in state.freed else "never allocated"
        demand = "an address must come from an allocation"
        yield broken("tcgen05-unallocated", f"found {place.name}, {was}", demand=demand)
    elif end > COLUMNS:
        yield broken("tcgen05-bounds", f"found {end}", demand=f"columns must end at {COLUMNS}")
    elif held.columns is not None and end > held.columns:
        demand = f"columns {place.column} to {end - 1} of {place.name} must be allocated"
        yield broken("tcgen05-unallocated", f"found {held.columns} columns", demand=demand)


def _quarter(state: TensorState, event: Load | Store) -> _Found:
    """Whether a load or store begins in a lane where its shape may, and its warp reaches its lanes."""
    if event.place is None or not event.shape:
        return
    move, lane = tmem_move(event.shape, _direction(event)), event.place.lane
    first, last = lane, lane + move.lanes - 1
    if lane % move.lanes:
        demand = f"the lane of .{move.shape} must be a multiple of {move.lanes}"
        yield broken("tcgen05-lane", f"found {lane}", demand=demand)
    elif event.warp is not None and (first not in (reach := quarter_of(event.warp)) or last not in reach):
        demand = f"warp {event.warp} must reach lanes {reach[0]} to {reach[-1]}"
        yield broken("tcgen05-warp", f"finds lanes {first} to {last}", demand=demand)


def _copied(state: TensorState, event: Issue) -> _Found:
    """Whether the lanes of a copy end where tensor memory does."""
    if event.operation != "cp" or event.place is None or not event.shape or event.place.lane >= LANES:
        return
    copy = tmem_copy(event.shape)
    cells = (copy.cells.cell(row, 0, i).lane for row in (0, copy.rows - 1) for i in range(copy.copies))
    if (last := event.place.lane + max(cells)) >= LANES:
        demand = f"the lanes of .{copy.name} must end at {LANES - 1}"
        yield broken("tcgen05-bounds", f"found {last}", demand=demand)


def _lane(state: TensorState, event: Issue) -> _Found:
    """Whether a multiplication or a shift begins in a lane where it may."""
    lane = event.place.lane if event.place else 0
    if event.operation == "mma" and lane not in (0, 16):
        demand = "the lane of an operand of tcgen05.mma must be 0 or 16"
        yield broken("tcgen05-lane", f"found {lane}", demand=demand)
    elif event.operation == "shift" and lane % 32:
        yield broken("tcgen05-lane", f"found {lane}", demand="the lane of tcgen05.shift must be a multiple of 32")


def _sparsity(state: TensorState, event: Issue) -> _Found:
    if event.idesc is not None and bool(event.idesc >> 2 & 1) != event.sparse:
        says = "sparse" if event.idesc >> 2 & 1 else "dense"
        demand = "bit 2 of the instruction descriptor must say what the instruction is"
        yield broken("word-idesc", f"says {says}", demand=demand)


def _committed(state: TensorState, event: Load) -> _Found:
    if left := state.issued - state.committed:
        yield broken("tcgen05-commit", f"found a tcgen05.ld after an uncommitted {', '.join(sorted(left))}")
    elif state.barriers - state.waited:
        yield broken("tcgen05-wait", "found a tcgen05.ld with no wait since the commit")


def _stored(state: TensorState, event: Issue | Load) -> _Found:
    """Stores that are outstanding: all of them for an mma, for a ld those to its own place."""
    if state.stored if isinstance(event, Issue) else event.place and event.place in state.stored:
        yield broken("tcgen05-wait-st", "found none")


def _fenced(state: TensorState, event: _Access) -> _Found:
    if not state.fenced:
        yield broken("tcgen05-fence-after", "found none")


def _loaded(state: TensorState, event: Store) -> _Found:
    if state.loaded:
        found = "found a tcgen05.st that may overwrite the cells"
        yield broken("tcgen05-wait-ld", found, tuple(sorted(state.loaded)[:4]))


def _reads(event: Touch | Copy) -> tuple[str, ...]:
    return event.reads if isinstance(event, Touch) else (event.source,)


def _used(state: TensorState, event: Touch | Copy) -> _Found:
    if used := state.loaded.intersection(_reads(event)):
        yield broken("tcgen05-wait-ld", "found a use without it", tuple(sorted(used)))


#: Beside each event the functions that hold it against the state before it.
Table: TypeAlias = Mapping[type, tuple[Callable[[TensorState, Any], _Found], ...]]

#: What each event is held against that allocates tensor memory, frees it, or touches it.
MEMORY: Table = {
    Alloc: (_permit, _size, _order, _room),
    Dealloc: (_freed,),
    End: (_leak,),
    Load: (_bounds, _cells, _quarter),
    Store: (_bounds, _cells, _quarter),
    Issue: (_bounds, _cells, _copied, _lane, _sparsity),
}
#: What each event is held against that needs another to be complete.
COMPLETION: Table = {
    Issue: (_stored, _fenced),
    Load: (_committed, _stored, _fenced),
    Store: (_loaded, _fenced),
    Touch: (_used,),
    Copy: (_used,),
}


def meet(one: TensorState, other: TensorState) -> TensorState:
    """The state where two paths meet.

    >>> sorted(meet(TensorState(stored=frozenset({Place("a")})), TensorState()).stored)
    [Place(name='a', column=0, lane=0)]
    """
    if one == other:
        return one
    return TensorState(
        allocated=max(one.allocated, other.allocated, key=lambda live: (len(live), [_rank(n) for n in live])),
        freed=one.freed | other.freed,
        least=max(one.least, other.least),  # what is larger than this is on either path
        relinquished=one.relinquished and other.relinquished,
        issued=one.issued | other.issued,
        committed=one.committed | other.committed,
        barriers=one.barriers | other.barriers,
        waited=one.waited | other.waited,
        fenced=one.fenced and other.fenced,
        stored=one.stored | other.stored,
        loaded=one.loaded | other.loaded,
    )


def _rank(one: Alloc) -> tuple[int, str]:
    return one.columns or 0, one.name


def run(events: Iterable[Event], state: TensorState | None = None) -> tuple[TensorState, list[Broken]]:
    """The state after a sequence of events, and every rule that was broken on the way.

    >>> run([Alloc(64), Issue("mma"), Load(("r0",))])[1][0].rule.name
    'tcgen05-commit'
    """
    now, told = state or TensorState(), []
    for event in events:
        now, found = step(now, event)
        told.extend(found)
    return now, told
