"""The protocol of ``tcgen05``: what is allocated of tensor memory, what was issued, committed and waited for.

Two things are kept of one CTA, as one of its threads sees it. *Memory*: the allocations that live. Their sizes must be
legal and may never grow, freed or not; with the permit given up nothing is allocated any more; what is allocated must
be freed, and nothing else may be touched. The hardware waits where columns are short; a CTA that is short by its own
doing waits for ever. Which columns an allocation gets is for the hardware to say: places are counted from it.
*Completion*: operations are asynchronous. ``mma``, ``cp`` and ``shift`` are in order among themselves; a commit to an
mbarrier covers all that the thread issued before it, and a wait on any mbarrier of a commit behind an operation ends
it, but for a commit that only tells that A was read. ``st`` is ended by ``wait::st``; of ``ld`` the registers by
``wait::ld``, which compilers leave out, since the dependency on the registers is respected. What is read needs those
operations alone that wrote those cells.

The rules stand in ``rules``; here ``MEMORY`` and ``COMPLETION`` name, beside each event, the functions that hold it
against the state before it, and ``after`` is the state behind it. A function says nothing of an event that does not say
enough. An operation has, of the ways that lead to a place, the stages that it has on any of them: all of them
unfinished is a breach, some of them a *doubt*; so is what may be the same cells or the same mbarrier, or may not.
Source: PTX ISA 9.1, tcgen05, memory consistency model; tcgen05.alloc, ld, st; ptxas 13.5, whose checks at run time
(``-g-tensor-memory-access-check``) are known by their names alone.

Law: where a state meets itself it stays, and the order of the two does not matter.

>>> states = [run([Alloc(64), Issue("mma"), *tail])[0] for tail in ([], [TensorCommit("b")], [Relinquish()])]
>>> all(meet(a, a) == a and meet(a, b) == meet(b, a) for a in states for b in states)
True
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, TypeAlias

from descriptors.check.events import (
    Arrive,
    BarrierWait,
    Cells,
    Copy,
    End,
    Event,
    FenceAfter,
    Issue,
    Load,
    Meeting,
    Relinquish,
    Store,
    TensorCommit,
    Touch,
    WaitLoad,
    WaitStore,
)
from descriptors.check.rules import Broken, Doubt, broken
from descriptors.text import counted
from descriptors.tmem import allocations
from descriptors.tmem.allocations import Alloc, Dealloc, Fault
from descriptors.tmem.copies import tmem_copy
from descriptors.tmem.geometry import COLUMNS, EXCLUSIVE_COLUMNS, LANES, LEAST_COLUMNS, quarter_of
from descriptors.tmem.moves import tmem_move
from layoutalg.frozen import frozen, replace

#: Nameless allocations that are kept: as many as there can be, so that a loop that allocates comes to an end.
_NAMELESS = COLUMNS // LEAST_COLUMNS
#: Columns that ``tcgen05.shift`` touches.
_SHIFTED = 8


#: An mbarrier of which it is not known which one it is.
UNKNOWN = ""


@frozen
class Stage:
    """How far an operation is.

    Args:
        name: ``issued``, ``committed``, ``perhaps`` (an mbarrier was waited for that may be one of its commits) or
            ``done``.
        barriers: mbarriers of the commits behind it, as long as it is not done.
    """

    name: str
    barriers: frozenset[str] = frozenset()


@frozen
class Operation:
    """What was issued: ``mma``, ``cp``, ``shift`` or ``st``, and the cells that it writes, if they are known."""

    name: str
    cells: Cells | None = None


_Stages: TypeAlias = frozenset[Stage]
_ISSUED, _DONE = Stage("issued"), Stage("done")


def same_barrier(one: str, other: str) -> bool | None:
    """Whether two addresses are of one mbarrier; None where that is not known.

    >>> [same_barrier("&bars+8", other) for other in ("&bars+8", "&bars+0", "%r1+8", "")]
    [True, False, None, None]
    """
    if UNKNOWN in (one, other):
        return None
    if one == other:
        return True
    (base, _, _), (another, _, _) = one.rpartition("+"), other.rpartition("+")
    apart = base == another or (base.startswith("&") and another.startswith("&")) or not (base or another)
    return False if apart else None


@frozen
class TensorState:
    """What lives, and what may be outstanding.

    Args:
        allocated: the allocations that live.
        freed: names of those that were freed.
        least: the fewest columns of a legal allocation so far; more than any before the first.
        relinquished: whether the permit was given back on every path.
        operations: what was issued, each with the stages that it may have.
        waited: mbarriers that were waited for on every way since the last round of a loop began.
        heard: whether any mbarrier was waited for on some way.
        quiet: whether on every way nothing was read and no thread could tell this one anything since the last
            operation.
        gone: whether on every way all that was allocated is freed.
        fenced: whether tcgen05.fence::after_thread_sync followed the last wait, or there was none.
        relaxed: whether that wait was ``.relaxed``.
        loaded: registers of outstanding ``ld``.
        used: registers of ``ld`` that were read without a wait, on some way.
    """

    allocated: tuple[Alloc, ...] = ()
    freed: frozenset[str] = frozenset()
    least: int = EXCLUSIVE_COLUMNS
    relinquished: bool = False
    operations: frozenset[tuple[Operation, _Stages]] = frozenset()
    waited: frozenset[str] = frozenset()
    heard: bool = False
    quiet: bool = True
    gone: bool = False
    fenced: bool = True
    relaxed: bool = False
    loaded: frozenset[str] = frozenset()
    used: frozenset[str] = frozenset()

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


def doubts(state: TensorState, event: Event) -> list[Doubt]:
    """What an event leaves open.

    >>> doubts(TensorState(), Alloc(48))
    []
    """
    return [one for rule in COMPLETION.get(type(event), ()) for one in rule(state, event) if isinstance(one, Doubt)]


def breaches(state: TensorState, event: Event, table: Table) -> list[Broken]:
    """The rules of a table that an event breaks.

    >>> breaches(TensorState(), Alloc(48), COMPLETION)
    []
    """
    return [one for rule in table.get(type(event), ()) for one in rule(state, event) if isinstance(one, Broken)]


def after(state: TensorState, event: Event) -> TensorState:
    """The state after an event.

    >>> after(TensorState(), Alloc(64, "d")).columns
    64
    """
    match event:
        case Alloc(columns, name):
            live = allocations.after(state.allocated, event)
            least = min(state.least, columns) if columns is not None and event.is_legal else state.least
            return replace(
                state, allocated=live if name else live[-_NAMELESS:], least=least, freed=state.freed - {name},
                gone=False,
            )  # fmt: skip
        case Dealloc(_, name):
            live = allocations.after(state.allocated, event)
            if live == state.allocated:
                return state
            return replace(state, allocated=live, freed=state.freed | {name} if name else state.freed, gone=not live)
        case Relinquish():
            return replace(state, relinquished=True)
        case Issue():
            return replace(_started(state, Operation(event.operation, _cells(event))), fenced=True, quiet=True)
        case TensorCommit(reads_alone=True):
            return state  # it says that A was read, and nothing of what any operation wrote
        case TensorCommit(barrier):
            return _staged(state, lambda name, stage: stage if name == "st" else _committed_to(stage, barrier))
        case BarrierWait(barrier, relaxed):
            made = _staged(state, lambda name, stage: stage if name == "st" else _waited_for(stage, barrier))
            known = state.waited | {barrier} if barrier else state.waited
            return replace(made, waited=known, heard=True, quiet=False, fenced=False, relaxed=relaxed)
        case Meeting():
            return replace(state, quiet=False)
        case Load(registers):
            used = state.used.difference(registers)
            return replace(state, loaded=state.loaded | set(registers), used=used, fenced=True, quiet=False)
        case Store():
            return replace(_started(state, Operation("st", _cells(event))), loaded=frozenset(), fenced=True)
        case WaitLoad():
            return replace(state, loaded=frozenset())
        case Touch() | Copy() if state.loaded.intersection(_reads(event)):
            return replace(state, loaded=frozenset(), used=state.used | state.loaded)  # told once
        case WaitStore():
            return _staged(state, lambda name, stage: _DONE if name == "st" else stage)
        case FenceAfter():
            return replace(state, fenced=True)
        case _:
            return state


def _started(state: TensorState, one: Operation) -> TensorState:
    """What was issued to the same cells before is covered by what ends this, if the cells are known."""
    kept = frozenset({_ISSUED})
    if one.cells is None or not one.cells.known:
        kept = kept.union(*(stages for each, stages in state.operations if each == one))
    others = {(each, stages) for each, stages in state.operations if each != one}
    return replace(state, operations=frozenset({*others, (one, kept)}))


def _staged(state: TensorState, change: Callable[[str, Stage], Stage]) -> TensorState:
    made = {(one, frozenset(change(one.name, stage) for stage in stages)) for one, stages in state.operations}
    return replace(state, operations=frozenset(made))


def _committed_to(stage: Stage, barrier: str) -> Stage:
    if stage.name == "done":
        return stage
    return Stage("committed" if stage.name == "issued" else stage.name, stage.barriers | {barrier})


def _waited_for(stage: Stage, barrier: str) -> Stage:
    if stage.name in ("done", "issued"):
        return stage
    same = [same_barrier(barrier, one) for one in stage.barriers]
    if True in same:
        return _DONE
    return replace(stage, name="perhaps") if None in same else stage


def renamed(state: TensorState, register: str) -> TensorState:
    """The state where a register is written: what was named by it is not known any more.

    >>> state = run([Issue("mma"), TensorCommit("%r1+8")])[0]
    >>> [stage.barriers for _, stages in renamed(state, "%r1").operations for stage in stages]
    [frozenset({''})]
    """
    if not state.operations and not state.waited:
        return state

    def named(barrier: str) -> str:
        return UNKNOWN if barrier.rpartition("+")[0] == register else barrier

    def changed(_: str, stage: Stage) -> Stage:
        return replace(stage, barriers=frozenset(map(named, stage.barriers)))

    return replace(_staged(state, changed), waited=frozenset(map(named, state.waited)) - {UNKNOWN})


def again(state: TensorState) -> TensorState:
    """The state where a round of a loop begins once more: what was waited for was the phase of the last one."""
    return replace(state, waited=frozenset()) if state.waited else state


_Found: TypeAlias = Iterator[Broken | Doubt]
_Access: TypeAlias = Issue | Load | Store


def _permit(state: TensorState, event: Alloc) -> _Found:
    if state.relinquished:
        yield broken("tcgen05-alloc-relinquished", "this allocation follows tcgen05.relinquish_alloc_permit")


def _size(state: TensorState, event: Alloc) -> _Found:
    if event.columns is not None and not event.is_legal:
        kind, legal = "allocation", f"a power of two from {LEAST_COLUMNS} to {COLUMNS}"
        if event.exclusive:
            kind, legal = "exclusive allocation", f"a multiple of {LEAST_COLUMNS} up to {event.most}"
        yield broken("tcgen05-alloc-size", f"the {kind} has {event.columns} columns, which is not {legal}")


def _order(state: TensorState, event: Alloc) -> _Found:
    """What is of no legal size is blamed for that alone, and is no bound for those behind it."""
    if event.columns is not None and event.is_legal and event.columns > state.least:
        fact = f"the allocation has {event.columns} columns, and an earlier one has {state.least}"
        yield broken("tcgen05-alloc-order", fact)


def _room(state: TensorState, event: Alloc) -> _Found:
    """Whether an allocation can ever be had: an exclusive one by itself alone, the others in all columns."""
    if state.allocated and (event.exclusive or any(one.exclusive for one in state.allocated)):
        live = ", ".join("some" if one.columns is None else str(one.columns) for one in state.allocated)
        fact = f"an exclusive allocation and another one are live at the same time: {live} columns are not freed"
        yield broken("tcgen05-alloc-full", fact)
    elif event.is_legal and not event.exclusive:
        taken = sum(one.columns or 0 for one in (*state.allocated, event) if one.is_legal)
        if taken > COLUMNS:
            yield broken("tcgen05-alloc-full", f"the allocations need {taken} columns, and there are {COLUMNS}")


def _freed(state: TensorState, event: Dealloc) -> _Found:
    """Compare a deallocation with the allocation that it means."""
    freed = allocations.meant(state.allocated, event)
    match allocations.fault_of(state.allocated, event):
        case None:
            return
        case Fault.UNKNOWN if event.name:
            fact = f"{event.name} {'was deallocated before' if event.name in state.freed else 'is not allocated'}"
        case Fault.UNKNOWN:
            live = ", ".join(str(one.columns) for one in state.allocated)
            held = f"the live allocations have {live}" if live else "no allocation is live"
            fact = f"{'' if event.columns is None else f'{event.columns} '}columns are deallocated, but {held}"
        case Fault.COLUMNS:
            fact = f"{event.columns} columns are deallocated, but {freed.columns if freed else 0} were allocated"
        case Fault.EXCLUSIVE:
            with_, without = ("deallocation", "allocation") if event.exclusive else ("allocation", "deallocation")
            fact = f"the {with_} has .exclusive, and the {without} does not"
    yield broken("tcgen05-dealloc-unknown", fact)


def _leak(state: TensorState, event: End) -> _Found:
    for one in state.allocated:
        if one.name:
            fact = f"the kernel ends while the {one.columns} columns of {one.name} are allocated"
            yield broken("tcgen05-dealloc-missing", fact)
    if nameless := sum(not one.name for one in state.allocated):
        yield broken("tcgen05-dealloc-missing", f"the kernel ends with {counted(nameless, 'allocation')} not freed")


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


def _cells(event: _Access) -> Cells | None:
    """The cells that an event writes or reads: as a text says it, or from its place on."""
    if event.cells is not None or event.place is None:
        return event.cells
    return Cells(event.place.name, event.place.column, _columns(event), 1 << event.place.lane % LANES)


def _bounds(state: TensorState, event: _Access) -> _Found:
    if event.place is not None and event.place.lane >= LANES:
        yield broken("tcgen05-bounds", f"the lane is {event.place.lane}, beyond the last lane {LANES - 1}")


def _allocated(state: TensorState, event: _Access) -> _Found:
    """Whether the columns that an event touches are allocated."""
    place, columns = event.place, _columns(event)
    if place is None or columns is None:
        return
    held, end = state.named(place.name), place.column + columns
    if held is None:
        was = "deallocated" if place.name in state.freed else "never allocated"
        yield broken("tcgen05-unallocated", f"the address is in {place.name}, which was {was}")
    elif end > (last := held.most if held.exclusive else COLUMNS):
        fact = f"the access reaches column {end - 1} of {place.name}, beyond the last possible column {last - 1}"
        yield broken("tcgen05-bounds", fact)
    elif held.columns is not None and end > held.columns:
        fact = f"the access touches columns {place.column} to {end - 1} of {place.name}, which has {held.columns}"
        yield broken("tcgen05-unallocated", fact)


def _quarter(state: TensorState, event: Load | Store) -> _Found:
    """Whether a load or store begins in a lane where its shape may, and its warp reaches its lanes."""
    if event.place is None or not event.shape:
        return
    move, lane = tmem_move(event.shape, _direction(event)), event.place.lane
    first, last = lane, lane + move.lanes - 1
    if lane % move.lanes:
        fact = f"the lane of .{move.shape} is {lane}, which is not a multiple of {move.lanes}"
        yield broken("tcgen05-lane", fact)
    elif event.warp is not None and (first not in (reach := quarter_of(event.warp)) or last not in reach):
        fact = f"warp {event.warp} accesses lanes {first} to {last}, but it reaches lanes {reach[0]} to {reach[-1]}"
        yield broken("tcgen05-warp", fact)


def _copied(state: TensorState, event: Issue) -> _Found:
    """Whether the lanes of a copy end where tensor memory does."""
    if event.operation != "cp" or event.place is None or not event.shape or event.place.lane >= LANES:
        return
    copy = tmem_copy(event.shape)
    cells = (copy.cells.cell(row, 0, i).lane for row in (0, copy.rows - 1) for i in range(copy.copies))
    if (last := event.place.lane + max(cells)) >= LANES:
        yield broken("tcgen05-bounds", f".{copy.name} reaches lane {last}, beyond the last lane {LANES - 1}")


def _lane(state: TensorState, event: Issue) -> _Found:
    """Whether a multiplication or a shift begins in a lane where it may."""
    lane = event.place.lane if event.place else 0
    if event.operation == "mma" and lane not in (0, 16):
        yield broken("tcgen05-lane", f"the lane of an operand of tcgen05.mma is {lane}, not 0 or 16")
    elif event.operation == "shift" and lane % 32:
        yield broken("tcgen05-lane", f"the lane of tcgen05.shift is {lane}, which is not a multiple of 32")


def _sparsity(state: TensorState, event: Issue) -> _Found:
    if event.idesc is not None and bool(event.idesc >> 2 & 1) != event.sparse:
        described, actual = ("dense", "sparse") if event.sparse else ("sparse", "dense")
        fact = f"bit 2 of the instruction descriptor means {described}, but the instruction is {actual}"
        yield broken("word-idesc", fact)


def _width(state: TensorState, event: Issue) -> _Found:
    """Check that the columns of a multiplication are those of the accumulator that its instruction descriptor has.

    N is in the same bits for every kind. How many columns it takes depends on M, the CTAs and ``.ws``, which the word
    does not say for every kind: N, or a half or a quarter of it.
    """
    if event.idesc is None or event.columns is None:
        return
    n = 8 * (event.idesc >> 17 & 63)
    if event.columns not in (n, n // 2, n // 4):
        fact = f"the accumulator has {event.columns} columns, but N {n} needs {n}, {n // 2} or {n // 4}"
        yield broken("word-idesc", fact)


def _open(stages: _Stages) -> bool | None:
    """Whether an operation is unfinished: on every way, on none, or None for what is not known."""
    names = {stage.name for stage in stages}
    if names == {"done"}:
        return False
    return None if names & {"done", "perhaps"} else True


def may_meet(one: Cells | None, other: Cells | None) -> bool:
    """Whether two may have cells in common.

    >>> may_meet(None, Cells("t", 0, 8))
    True
    """
    return one is None or other is None or one.meets(other) is not False


def _touched(
    state: TensorState, cells: Cells | None, names: tuple[str, ...]
) -> Iterator[tuple[Operation, bool | None]]:
    """The unfinished operations that may write some cells, and whether that is sure."""
    found = [(one, _open(stages)) for one, stages in state.operations if one.name in names]
    for one, still in sorted(found, key=lambda row: str(row[0])):
        if cells is None or one.cells is None:
            # A name for both: nothing tells them apart, so that there is one such operation, or it is not known which.
            same = True if cells is one.cells is None and len(found) == 1 else None
        else:
            same = one.cells.meets(cells)
        if same is not False and still is not False:
            yield one, True if same and still else None


def _completed(state: TensorState, event: Load) -> _Found:
    """What is read must be complete; where it is not known which cells that are, some operation must be."""
    cells = _cells(event)
    left = list(_touched(state, cells, _ASYNCHRONOUS))
    sure = [one for one, certain in left if certain]
    everything = [stages for one, stages in state.operations if one.name == "mma"]
    if not sure and any(one.name == "mma" for one, _ in left) and not any(o.name == "st" for o, _ in state.operations):
        # Whichever it reads: none of them is finished, and no other cells have anything in them.
        unknown = cells is None or cells.column is None or any(one.cells is None for one, _ in left)
        if len(everything) == 1 and unknown and all(_open(stages) for stages in everything):
            sure = [one for one, _ in left if one.name == "mma"]
    stages = {stage.name for one, kept in state.operations if one in sure for stage in kept}
    if "committed" in stages:
        yield broken("tcgen05-wait", "this tcgen05.ld reads a result that is committed but not waited for")
    elif sure:
        names = " and ".join(sorted({f"tcgen05.{one.name}" for one in sure}))
        yield broken("tcgen05-commit", f"this tcgen05.ld reads the result of a {names} that is not committed")
    elif left:
        yield _of_cells("order", f"whether tcgen05.{left[0][0].name} is complete", left[0][0], cells)


_ASYNCHRONOUS = ("mma", "cp", "shift")


def _of_cells(of: str, what: str, one: Operation, cells: Cells | None) -> Doubt:
    """What is open between an operation and who touches cells that may be its own."""
    if cells is None or one.cells is None or one.cells.meets(cells) is None:
        shown = "an address that is not known" if cells is None else str(cells)
        other = "an address that is not known" if one.cells is None else str(one.cells)
        why = f"the access is to {shown}, the operation to {other}"
        return Doubt(of, what, why, "addresses that are what the allocation returned plus a constant")
    why = "it is waited for on some ways alone, or by an mbarrier whose address is not known"
    return Doubt(of, what, why, "a wait on every way, for the mbarrier of the commit by a constant address")


def _stored(state: TensorState, event: Issue | Load) -> _Found:
    """Stores that are outstanding, to the cells that are read, or that are added to."""
    if isinstance(event, Load):
        read: list[Cells | None] = [_cells(event)]
    else:
        read = [event.reads] if event.reads is not None else []
        read += [_cells(event)] if event.adds is not False or event.reads is None else []
    left = [row for cells in read for row in _touched(state, cells, ("st",))]
    if any(certain for _, certain in left):
        yield broken("tcgen05-wait-st", "no tcgen05.wait::st is between the tcgen05.st and this access of its cells")
    elif left:
        yield _of_cells("order", "whether tcgen05.st is complete", left[0][0], read[0])


def _fenced(state: TensorState, event: _Access) -> _Found:
    if not state.fenced:
        rule, wait = ("fence-relaxed", "relaxed wait") if state.relaxed else ("fence-after", "wait")
        fact = f"no tcgen05.fence::after_thread_sync is between the {wait} and this instruction"
        yield broken(f"tcgen05-{rule}", fact)


def _freed_before(state: TensorState, event: _Access) -> _Found:
    """Whether on every way what was allocated is freed."""
    if state.gone:
        yield broken("tcgen05-unallocated", "tensor memory is used after it was deallocated")


def _early(state: TensorState, event: Dealloc) -> _Found:
    """What this thread has not seen the end of, while no other could have told it, is still at work."""
    left = [one for one, stages in state.operations if one.name != "st" and _open(stages)]
    if left and state.quiet:
        fact = f"tensor memory is deallocated without a wait for the tcgen05.{left[0].name} that uses it"
        yield broken("tcgen05-dealloc-early", fact)
    elif unread := state.loaded - state.used:  # a use without a wait is a remark of its own, tcgen05-wait-ld
        fact = "tensor memory is deallocated without a tcgen05.wait::ld for the tcgen05.ld that reads it"
        yield broken("tcgen05-dealloc-early", fact, tuple(sorted(unread)[:4]))


def _released(state: TensorState, event: Arrive) -> _Found:
    """What is told to other threads while this one's loads and stores may still be at work."""
    if state.loaded:
        fact = "no tcgen05.wait::ld is between a tcgen05.ld and this arrival at an mbarrier"
        yield broken("tcgen05-release", fact, tuple(sorted(state.loaded)[:4]))
    elif any(one.name == "st" and _open(stages) for one, stages in state.operations):
        yield broken("tcgen05-release", "no tcgen05.wait::st is between a tcgen05.st and this arrival at an mbarrier")


def _loaded(state: TensorState, event: Store) -> _Found:
    if state.loaded:
        fact = "this tcgen05.st may overwrite cells that a tcgen05.ld without tcgen05.wait::ld still reads"
        yield broken("tcgen05-wait-ld", fact, tuple(sorted(state.loaded)[:4]))


def _reads(event: Touch | Copy) -> tuple[str, ...]:
    return event.reads if isinstance(event, Touch) else (event.source,)


def _used(state: TensorState, event: Touch | Copy) -> _Found:
    if used := state.loaded.intersection(_reads(event)):
        fact = "registers of a tcgen05.ld are used without a tcgen05.wait::ld"
        yield broken("tcgen05-wait-ld", fact, tuple(sorted(used)))


#: Beside each event the functions that hold it against the state before it.
Table: TypeAlias = Mapping[type, tuple[Callable[[TensorState, Any], _Found], ...]]

#: What each event is held against that allocates tensor memory, frees it, or touches it.
MEMORY: Table = {
    Alloc: (_permit, _size, _order, _room),
    Dealloc: (_freed,),
    End: (_leak,),
    Load: (_bounds, _allocated, _quarter),
    Store: (_bounds, _allocated, _quarter),
    Issue: (_bounds, _allocated, _copied, _lane, _sparsity, _width),
}
#: What each event is held against that needs another to be complete.
COMPLETION: Table = {
    Issue: (_stored, _fenced, _freed_before),
    Load: (_completed, _stored, _fenced, _freed_before),
    Store: (_loaded, _fenced, _freed_before),
    Dealloc: (_early,),
    Arrive: (_released,),
    Touch: (_used,),
    Copy: (_used,),
}


def meet(one: TensorState, other: TensorState) -> TensorState:
    """The state where two paths meet.

    >>> stored = run([Store(cells=Cells("a", 0, 8))])[0]
    >>> [one.name for one, _ in meet(stored, TensorState()).operations]
    ['st']
    """
    if one == other:
        return one
    return TensorState(
        allocated=max(one.allocated, other.allocated, key=lambda live: (len(live), [_rank(n) for n in live])),
        freed=one.freed | other.freed,
        least=max(one.least, other.least),  # what is larger than this is on either path
        relinquished=one.relinquished and other.relinquished,
        operations=_both(one.operations, other.operations),
        waited=one.waited & other.waited,
        heard=one.heard or other.heard,
        quiet=one.quiet and other.quiet,
        gone=one.gone and other.gone,
        fenced=one.fenced and other.fenced,
        relaxed=any(state.relaxed and not state.fenced for state in (one, other)),  # one way is enough
        loaded=one.loaded | other.loaded,
        used=one.used | other.used,
    )


_Operations: TypeAlias = frozenset[tuple[Operation, _Stages]]


def _both(one: _Operations, other: _Operations) -> _Operations:
    """The stages of either side: an operation that was not issued on one of them has those of the other."""
    if one == other:
        return one
    found = dict(one)
    for operation, stages in other:
        found[operation] = _few(found.get(operation, frozenset()) | stages)
    return frozenset(found.items())


#: Stages of one operation that are told apart: far more than a pipeline has on the ways to one place.
_MOST_STAGES = 6


@lru_cache(maxsize=1 << 12)
def _few(stages: _Stages) -> _Stages:
    """The stages, or where they are too many, that they are not known."""
    if len(stages) <= _MOST_STAGES:
        return stages
    return frozenset({_DONE, _ISSUED, Stage("perhaps", frozenset({UNKNOWN}))})


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
