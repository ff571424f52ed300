"""The protocol of ``tcgen05``: allocations of tensor memory, and which operations are issued, committed and complete.

The state is that of one CTA as one of its threads sees it. It has two parts.

*Memory*: the live allocations. Their sizes must be legal and never larger than an earlier one, freed or not. After the
permit is relinquished, no allocation may follow. All allocations must be freed, and only allocated columns may be
accessed. If columns are short, the hardware waits; a CTA that holds the missing columns itself waits forever. The
hardware chooses the columns of an allocation, so addresses are relative to it.

*Completion*: operations are asynchronous. ``mma``, ``cp`` and ``shift`` are in order among themselves. A commit to an
mbarrier covers all operations that the thread issued before it. A wait on the mbarrier of any later commit completes an
operation, except if the commit only signals that A was read. ``wait::st`` completes ``st``. ``wait::ld`` completes
``ld``; compilers omit it, because the hardware respects the dependency on the registers. A read requires only the
operations that wrote the same cells.

The rules are in ``rules``. ``MEMORY`` and ``COMPLETION`` list the functions that compare an event with the state before
it, and ``after`` returns the state after it. A function ignores an event with too little information. An operation has
the set of stages that it has on any path to a place. If it is unfinished on all paths, that is a violation; if on some,
a *doubt*. Cells or mbarriers that may or may not be the same also give a doubt.
Source: PTX ISA 9.1, tcgen05, memory consistency model; tcgen05.alloc, ld, st; ptxas 13.5, of whose run-time checks
(``-g-tensor-memory-access-check``) only the names are known.

Invariant: the meet of a state with itself is that state, and meeting is symmetric.

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
from descriptors.tmem.geometry import COLUMNS, EXCLUSIVE_COLUMNS, LANES, LEAST_COLUMNS, is_reached, quarter_of
from descriptors.tmem.moves import tmem_move
from layoutalg.frozen import frozen, replace

#: Largest number of nameless allocations in a state, so that a loop that allocates reaches a fixed point.
_NAMELESS = COLUMNS // LEAST_COLUMNS
#: Number of columns that ``tcgen05.shift`` accesses.
_SHIFTED = 8


#: The address of an mbarrier that is not known.
UNKNOWN = ""


@frozen
class Stage:
    """The stage of an operation.

    Args:
        name: ``issued``, ``committed``, ``perhaps`` (the thread waited on an mbarrier that may be that of a commit) or
            ``done``.
        barriers: mbarriers of the commits after it, while it is not done.
    """

    name: str
    barriers: frozenset[str] = frozenset()


@frozen
class Operation:
    """An issued ``mma``, ``cp``, ``shift`` or ``st``, and the cells that it writes, if they are known."""

    name: str
    cells: Cells | None = None


_Stages: TypeAlias = frozenset[Stage]
_ISSUED, _DONE = Stage("issued"), Stage("done")


def same_barrier(first: str, second: str) -> bool | None:
    """Return whether two addresses are those of one mbarrier; None if that is not known.

    >>> [same_barrier("&bars+8", other) for other in ("&bars+8", "&bars+0", "%r1+8", "")]
    [True, False, None, None]
    """
    if UNKNOWN in (first, second):
        return None
    if first == second:
        return True
    (first_base, _, _), (second_base, _, _) = first.rpartition("+"), second.rpartition("+")
    differ = (
        first_base == second_base
        or (first_base.startswith("&") and second_base.startswith("&"))
        or not (first_base or second_base)
    )
    return False if differ else None


@frozen
class TensorState:
    """The live allocations and the operations that may be unfinished.

    Args:
        allocated: the live allocations.
        freed: names of freed allocations.
        least: the smallest number of columns of a legal allocation so far; initially larger than any legal one.
        relinquished: whether the permit was relinquished on every path.
        operations: the issued operations, each with the stages that it may have.
        waited: mbarriers that the thread waited on, on every path, since the last iteration of a loop began.
        heard: whether the thread waited on any mbarrier on some path.
        quiet: whether, on every path, the thread read nothing and met no other thread since the last operation.
        gone: whether all allocations are freed on every path.
        fenced: whether tcgen05.fence::after_thread_sync followed the last wait, or there was no wait.
        relaxed: whether that wait was ``.relaxed``.
        loaded: registers of unfinished ``ld``.
        used: registers of ``ld`` that were read without a wait on some path.
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
        """The number of allocated columns, as far as it is known."""
        return sum(allocation.columns or 0 for allocation in self.allocated)

    def named(self, name: str) -> Alloc | None:
        """Return the live allocation with a name, if there is one."""
        return next((allocation for allocation in self.allocated if allocation.name == name), None) if name else None


def step(state: TensorState, event: Event) -> tuple[TensorState, list[Broken]]:
    """Return the state after an event, and the violations of the event.

    >>> [violation.rule.name for violation in step(TensorState(), Alloc(48))[1]]
    ['tcgen05-alloc-size']
    """
    return after(state, event), [*breaches(state, event, MEMORY), *breaches(state, event, COMPLETION)]


def doubts(state: TensorState, event: Event) -> list[Doubt]:
    """Return the doubts about an event.

    >>> doubts(TensorState(), Alloc(48))
    []
    """
    return [item for rule in COMPLETION.get(type(event), ()) for item in rule(state, event) if isinstance(item, Doubt)]


def breaches(state: TensorState, event: Event, table: Table) -> list[Broken]:
    """Return the violations of the rules of a table by an event.

    >>> breaches(TensorState(), Alloc(48), COMPLETION)
    []
    """
    return [item for rule in table.get(type(event), ()) for item in rule(state, event) if isinstance(item, Broken)]


def after(state: TensorState, event: Event) -> TensorState:
    """Return the state after an event.

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
            return replace(_record_operation(state, Operation(event.operation, _cells(event))), fenced=True, quiet=True)
        case TensorCommit(reads_alone=True):
            return state  # it signals that A was read, and completes no operation
        case TensorCommit(barrier):
            return _change_stages(state, lambda name, stage: stage if name == "st" else _commit_stage(stage, barrier))
        case BarrierWait(barrier, relaxed):
            staged = _change_stages(state, lambda name, stage: stage if name == "st" else _wait_stage(stage, barrier))
            waited_barriers = state.waited | {barrier} if barrier else state.waited
            return replace(staged, waited=waited_barriers, heard=True, quiet=False, fenced=False, relaxed=relaxed)
        case Meeting():
            return replace(state, quiet=False)
        case Load(registers):
            used = state.used.difference(registers)
            return replace(state, loaded=state.loaded | set(registers), used=used, fenced=True, quiet=False)
        case Store():
            return replace(_record_operation(state, Operation("st", _cells(event))), loaded=frozenset(), fenced=True)
        case WaitLoad():
            return replace(state, loaded=frozenset())
        case Touch() | Copy() if state.loaded.intersection(_reads(event)):
            return replace(state, loaded=frozenset(), used=state.used | state.loaded)  # reported once
        case WaitStore():
            return _change_stages(state, lambda name, stage: _DONE if name == "st" else stage)
        case FenceAfter():
            return replace(state, fenced=True)
        case _:
            return state


def _record_operation(state: TensorState, operation: Operation) -> TensorState:
    """Record an issued operation. It replaces earlier ones on the same known cells, because they complete with it."""
    stages_kept = frozenset({_ISSUED})
    if operation.cells is None or not operation.cells.known:
        stages_kept = stages_kept.union(*(stages for other, stages in state.operations if other == operation))
    others = {(other, stages) for other, stages in state.operations if other != operation}
    return replace(state, operations=frozenset({*others, (operation, stages_kept)}))


def _change_stages(state: TensorState, change: Callable[[str, Stage], Stage]) -> TensorState:
    changed = {
        (operation, frozenset(change(operation.name, stage) for stage in stages))
        for operation, stages in state.operations
    }
    return replace(state, operations=frozenset(changed))


def _commit_stage(stage: Stage, barrier: str) -> Stage:
    if stage.name == "done":
        return stage
    return Stage("committed" if stage.name == "issued" else stage.name, stage.barriers | {barrier})


def _wait_stage(stage: Stage, barrier: str) -> Stage:
    if stage.name in ("done", "issued"):
        return stage
    matches = [same_barrier(barrier, other) for other in stage.barriers]
    if True in matches:
        return _DONE
    return replace(stage, name="perhaps") if None in matches else stage


def renamed(state: TensorState, register: str) -> TensorState:
    """Return the state after a write of a register: mbarriers whose address is based on it become unknown.

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

    return replace(_change_stages(state, changed), waited=frozenset(map(named, state.waited)) - {UNKNOWN})


def again(state: TensorState) -> TensorState:
    """Return the state at the start of the next iteration: earlier waits were for the phase of the last iteration."""
    return replace(state, waited=frozenset()) if state.waited else state


_Findings: TypeAlias = Iterator[Broken | Doubt]
_Access: TypeAlias = Issue | Load | Store


def _check_permit(state: TensorState, event: Alloc) -> _Findings:
    """Report an allocation after the permit was relinquished."""
    if state.relinquished:
        yield broken("tcgen05-alloc-relinquished", "this allocation follows tcgen05.relinquish_alloc_permit")


def _check_size(state: TensorState, event: Alloc) -> _Findings:
    """Report an illegal number of columns."""
    if event.columns is not None and not event.is_legal:
        kind, legal = "allocation", f"a power of two from {LEAST_COLUMNS} to {COLUMNS}"
        if event.exclusive:
            kind, legal = "exclusive allocation", f"a multiple of {LEAST_COLUMNS} up to {event.most}"
        yield broken("tcgen05-alloc-size", f"the {kind} has {event.columns} columns, which is not {legal}")


def _check_order(state: TensorState, event: Alloc) -> _Findings:
    """Report an allocation larger than an earlier one. Illegal sizes have their own rule and are skipped."""
    if event.columns is not None and event.is_legal and event.columns > state.least:
        fact = f"the allocation has {event.columns} columns, and an earlier one has {state.least}"
        yield broken("tcgen05-alloc-order", fact)


def _check_space(state: TensorState, event: Alloc) -> _Findings:
    """Report an allocation that can never succeed: beside an exclusive one, or beyond all columns."""
    if state.allocated and (event.exclusive or any(allocation.exclusive for allocation in state.allocated)):
        live = ", ".join(
            "some" if allocation.columns is None else str(allocation.columns) for allocation in state.allocated
        )
        fact = f"an exclusive allocation and another one are live at the same time: {live} columns are not freed"
        yield broken("tcgen05-alloc-full", fact)
    elif event.is_legal and not event.exclusive:
        needed = sum(allocation.columns or 0 for allocation in (*state.allocated, event) if allocation.is_legal)
        if needed > COLUMNS:
            yield broken("tcgen05-alloc-full", f"the allocations need {needed} columns, and there are {COLUMNS}")


def _check_dealloc(state: TensorState, event: Dealloc) -> _Findings:
    """Report a deallocation that does not agree with an allocation."""
    freed = allocations.meant(state.allocated, event)
    match allocations.fault_of(state.allocated, event):
        case None:
            return
        case Fault.UNKNOWN if event.name:
            fact = f"{event.name} {'was deallocated before' if event.name in state.freed else 'is not allocated'}"
        case Fault.UNKNOWN:
            live = ", ".join(str(allocation.columns) for allocation in state.allocated)
            live_text = f"the live allocations have {live}" if live else "no allocation is live"
            fact = f"{'' if event.columns is None else f'{event.columns} '}columns are deallocated, but {live_text}"
        case Fault.COLUMNS:
            fact = f"{event.columns} columns are deallocated, but {freed.columns if freed else 0} were allocated"
        case Fault.EXCLUSIVE:
            with_, without = ("deallocation", "allocation") if event.exclusive else ("allocation", "deallocation")
            fact = f"the {with_} has .exclusive, and the {without} does not"
    yield broken("tcgen05-dealloc-unknown", fact)


def _check_leak(state: TensorState, event: End) -> _Findings:
    """Report allocations that are live at the end of the kernel."""
    for allocation in state.allocated:
        if allocation.name:
            fact = f"the kernel ends while the {allocation.columns} columns of {allocation.name} are allocated"
            yield broken("tcgen05-dealloc-missing", fact)
    if nameless := sum(not allocation.name for allocation in state.allocated):
        yield broken("tcgen05-dealloc-missing", f"the kernel ends with {counted(nameless, 'allocation')} not freed")


def _column_count(event: _Access) -> int | None:
    """Return the number of columns that an event accesses from its address on; None if it is not known."""
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
    """Return the cells that an event writes or reads: those of the event, or those from its address on."""
    if event.cells is not None or event.place is None:
        return event.cells
    return Cells(event.place.name, event.place.column, _column_count(event), 1 << event.place.lane % LANES)


def _check_lane_bound(state: TensorState, event: _Access) -> _Findings:
    """Report a lane that does not exist."""
    if event.place is not None and event.place.lane >= LANES:
        yield broken("tcgen05-bounds", f"the lane is {event.place.lane}, beyond the last lane {LANES - 1}")


def _check_allocated(state: TensorState, event: _Access) -> _Findings:
    """Report an access of columns that are not allocated."""
    place, columns = event.place, _column_count(event)
    if place is None or columns is None:
        return
    allocation, end = state.named(place.name), place.column + columns
    if allocation is None:
        past = "deallocated" if place.name in state.freed else "never allocated"
        yield broken("tcgen05-unallocated", f"the address is in {place.name}, which was {past}")
    elif end > (last := allocation.most if allocation.exclusive else COLUMNS):
        fact = f"the access reaches column {end - 1} of {place.name}, beyond the last possible column {last - 1}"
        yield broken("tcgen05-bounds", fact)
    elif allocation.columns is not None and end > allocation.columns:
        fact = f"the access touches columns {place.column} to {end - 1} of {place.name}, which has {allocation.columns}"
        yield broken("tcgen05-unallocated", fact)


def _check_quarter(state: TensorState, event: Load | Store) -> _Findings:
    """Report a load or store that begins in a wrong lane, or whose lanes its warp does not reach."""
    if event.place is None or not event.shape:
        return
    move, lane = tmem_move(event.shape, _direction(event)), event.place.lane
    first, last = lane, lane + move.lanes - 1
    if lane % move.lanes:
        fact = f"the lane of .{move.shape} is {lane}, which is not a multiple of {move.lanes}"
        yield broken("tcgen05-lane", fact)
    elif event.warp is not None and not is_reached(event.warp, first, last):
        reach = quarter_of(event.warp)
        fact = f"warp {event.warp} accesses lanes {first} to {last}, but it reaches lanes {reach[0]} to {reach[-1]}"
        yield broken("tcgen05-warp", fact)


def _check_copy(state: TensorState, event: Issue) -> _Findings:
    """Report a copy whose lanes extend beyond tensor memory."""
    if event.operation != "cp" or event.place is None or not event.shape or event.place.lane >= LANES:
        return
    copy = tmem_copy(event.shape)
    cells = (copy.cells.cell(row, 0, i).lane for row in (0, copy.rows - 1) for i in range(copy.copies))
    if (last := event.place.lane + max(cells)) >= LANES:
        yield broken("tcgen05-bounds", f".{copy.name} reaches lane {last}, beyond the last lane {LANES - 1}")


def _check_lane(state: TensorState, event: Issue) -> _Findings:
    """Report a multiplication or a shift that begins in a wrong lane."""
    lane = event.place.lane if event.place else 0
    if event.operation == "mma" and lane not in (0, 16):
        yield broken("tcgen05-lane", f"the lane of an operand of tcgen05.mma is {lane}, not 0 or 16")
    elif event.operation == "shift" and lane % 32:
        yield broken("tcgen05-lane", f"the lane of tcgen05.shift is {lane}, which is not a multiple of 32")


def _check_sparsity(state: TensorState, event: Issue) -> _Findings:
    """Report an instruction descriptor whose sparsity differs from that of the instruction."""
    if event.idesc is not None and bool(event.idesc >> 2 & 1) != event.sparse:
        described, actual = ("dense", "sparse") if event.sparse else ("sparse", "dense")
        fact = f"bit 2 of the instruction descriptor means {described}, but the instruction is {actual}"
        yield broken("word-idesc", fact)


def _check_width(state: TensorState, event: Issue) -> _Findings:
    """Report a multiplication whose columns cannot be those of an accumulator with N of its instruction descriptor.

    N is in the same bits for every kind. The number of columns depends on M, the CTAs and ``.ws``, which the descriptor
    does not store for every kind: it is N, or a half or a quarter of N.
    """
    if event.idesc is None or event.columns is None:
        return
    n = 8 * (event.idesc >> 17 & 63)
    if event.columns not in (n, n // 2, n // 4):
        fact = f"the accumulator has {event.columns} columns, but N {n} needs {n}, {n // 2} or {n // 4}"
        yield broken("word-idesc", fact)


def _is_unfinished(stages: _Stages) -> bool | None:
    """Return whether an operation is unfinished: on every path or on none; None if it is on some or not known."""
    names = {stage.name for stage in stages}
    if names == {"done"}:
        return False
    return None if names & {"done", "perhaps"} else True


def may_meet(first: Cells | None, second: Cells | None) -> bool:
    """Return whether two accesses may have cells in common.

    >>> may_meet(None, Cells("t", 0, 8))
    True
    """
    return first is None or second is None or first.meets(second) is not False


def _unfinished_writers(
    state: TensorState, cells: Cells | None, names: tuple[str, ...]
) -> Iterator[tuple[Operation, bool | None]]:
    """Yield the unfinished operations that may write some cells, each with True if that is certain, else None."""
    candidates = [
        (operation, _is_unfinished(stages)) for operation, stages in state.operations if operation.name in names
    ]
    for operation, unfinished in sorted(candidates, key=lambda row: str(row[0])):
        if cells is None or operation.cells is None:
            # Both have unknown cells. If there is one such operation, it is that one; else it is not known which.
            same = True if cells is operation.cells is None and len(candidates) == 1 else None
        else:
            same = operation.cells.meets(cells)
        if same is not False and unfinished is not False:
            yield operation, True if same and unfinished else None


def _check_completed(state: TensorState, event: Load) -> _Findings:
    """Report a load before the operations that write its cells are complete.

    If the cells are not known, a load is reported if the only multiplication is not complete.
    """
    cells = _cells(event)
    unfinished = list(_unfinished_writers(state, cells, _ASYNCHRONOUS))
    certain_writers = [operation for operation, certain in unfinished if certain]
    mma_stages = [stages for operation, stages in state.operations if operation.name == "mma"]
    if (
        not certain_writers
        and any(operation.name == "mma" for operation, _ in unfinished)
        and not any(other.name == "st" for other, _ in state.operations)
    ):
        # Whatever cells it reads: the only multiplication is not finished, and other cells were not written.
        unknown = cells is None or cells.column is None or any(operation.cells is None for operation, _ in unfinished)
        if len(mma_stages) == 1 and unknown and all(_is_unfinished(stages) for stages in mma_stages):
            certain_writers = [operation for operation, _ in unfinished if operation.name == "mma"]
    stages = {
        stage.name for operation, its_stages in state.operations if operation in certain_writers for stage in its_stages
    }
    if "committed" in stages:
        yield broken("tcgen05-wait", "this tcgen05.ld reads a result that is committed but not waited for")
    elif certain_writers:
        names = " and ".join(sorted({f"tcgen05.{operation.name}" for operation in certain_writers}))
        yield broken("tcgen05-commit", f"this tcgen05.ld reads the result of a {names} that is not committed")
    elif unfinished:
        yield _cells_doubt("order", f"whether tcgen05.{unfinished[0][0].name} is complete", unfinished[0][0], cells)


_ASYNCHRONOUS = ("mma", "cp", "shift")


def _cells_doubt(property_name: str, what: str, operation: Operation, cells: Cells | None) -> Doubt:
    """Return the doubt about an operation and an access of cells that may be its own."""
    if cells is None or operation.cells is None or operation.cells.meets(cells) is None:
        shown = "an unknown address" if cells is None else str(cells)
        other = "an unknown address" if operation.cells is None else str(operation.cells)
        why = f"the access is to {shown}, and the operation is to {other}"
        return Doubt(property_name, what, why, "addresses that are the result of the allocation plus a constant")
    why = "the thread waits for it on some paths only, or on an mbarrier whose address is not known"
    return Doubt(property_name, what, why, "a wait on every path, on the mbarrier of the commit by a constant address")


def _check_stored(state: TensorState, event: Issue | Load) -> _Findings:
    """Report an access of cells of an unfinished store: cells that are read, or that are added to."""
    if isinstance(event, Load):
        read: list[Cells | None] = [_cells(event)]
    else:
        read = [event.reads] if event.reads is not None else []
        read += [_cells(event)] if event.adds is not False or event.reads is None else []
    unfinished = [row for cells in read for row in _unfinished_writers(state, cells, ("st",))]
    if any(certain for _, certain in unfinished):
        yield broken("tcgen05-wait-st", "no tcgen05.wait::st is between the tcgen05.st and this access of its cells")
    elif unfinished:
        yield _cells_doubt("order", "whether tcgen05.st is complete", unfinished[0][0], read[0])


def _check_fenced(state: TensorState, event: _Access) -> _Findings:
    """Report a missing tcgen05.fence::after_thread_sync."""
    if not state.fenced:
        fact = (
            f"no tcgen05.fence::after_thread_sync is between the {'relaxed ' * state.relaxed}wait and this instruction"
        )
        yield broken("tcgen05-fence-relaxed" if state.relaxed else "tcgen05-fence-after", fact)


def _check_freed_before(state: TensorState, event: _Access) -> _Findings:
    """Report an access after all allocations are freed on every path."""
    if state.gone:
        yield broken("tcgen05-unallocated", "tensor memory is used after it was deallocated")


def _check_early_dealloc(state: TensorState, event: Dealloc) -> _Findings:
    """Report a deallocation while an operation of this thread may still be running.

    An operation counts as running if this thread has not waited for it and no other thread can have signaled its end.
    """
    unfinished = [
        operation for operation, stages in state.operations if operation.name != "st" and _is_unfinished(stages)
    ]
    if unfinished and state.quiet:
        fact = f"tensor memory is deallocated without a wait for the tcgen05.{unfinished[0].name} that uses it"
        yield broken("tcgen05-dealloc-early", fact)
    elif unread := state.loaded - state.used:  # a use without a wait has a finding of its own, tcgen05-wait-ld
        fact = "tensor memory is deallocated without a tcgen05.wait::ld for the tcgen05.ld that reads it"
        yield broken("tcgen05-dealloc-early", fact, tuple(sorted(unread)[:4]))


def _check_released(state: TensorState, event: Arrive) -> _Findings:
    """Report an arrival that signals other threads while loads or stores of this thread may be unfinished."""
    if state.loaded:
        fact = "no tcgen05.wait::ld is between a tcgen05.ld and this arrival at an mbarrier"
        yield broken("tcgen05-release", fact, tuple(sorted(state.loaded)[:4]))
    elif any(operation.name == "st" and _is_unfinished(stages) for operation, stages in state.operations):
        yield broken("tcgen05-release", "no tcgen05.wait::st is between a tcgen05.st and this arrival at an mbarrier")


def _check_loaded(state: TensorState, event: Store) -> _Findings:
    """Report a store that may overwrite cells of an unfinished load."""
    if state.loaded:
        fact = "this tcgen05.st may overwrite cells that a tcgen05.ld without tcgen05.wait::ld still reads"
        yield broken("tcgen05-wait-ld", fact, tuple(sorted(state.loaded)[:4]))


def _reads(event: Touch | Copy) -> tuple[str, ...]:
    return event.reads if isinstance(event, Touch) else (event.source,)


def _check_used(state: TensorState, event: Touch | Copy) -> _Findings:
    """Report a use of registers of an unfinished load."""
    if used := state.loaded.intersection(_reads(event)):
        fact = "registers of a tcgen05.ld are used without a tcgen05.wait::ld"
        yield broken("tcgen05-wait-ld", fact, tuple(sorted(used)))


#: The functions that compare each event with the state before it.
Table: TypeAlias = Mapping[type, tuple[Callable[[TensorState, Any], _Findings], ...]]

#: The rules of events that allocate, free or access tensor memory.
MEMORY: Table = {
    Alloc: (_check_permit, _check_size, _check_order, _check_space),
    Dealloc: (_check_dealloc,),
    End: (_check_leak,),
    Load: (_check_lane_bound, _check_allocated, _check_quarter),
    Store: (_check_lane_bound, _check_allocated, _check_quarter),
    Issue: (_check_lane_bound, _check_allocated, _check_copy, _check_lane, _check_sparsity, _check_width),
}
#: The rules of events that require another event to be complete.
COMPLETION: Table = {
    Issue: (_check_stored, _check_fenced, _check_freed_before),
    Load: (_check_completed, _check_stored, _check_fenced, _check_freed_before),
    Store: (_check_loaded, _check_fenced, _check_freed_before),
    Dealloc: (_check_early_dealloc,),
    Arrive: (_check_released,),
    Touch: (_check_used,),
    Copy: (_check_used,),
}


def meet(first: TensorState, second: TensorState) -> TensorState:
    """Return the state where two paths meet.

    >>> stored = run([Store(cells=Cells("a", 0, 8))])[0]
    >>> [operation.name for operation, _ in meet(stored, TensorState()).operations]
    ['st']
    """
    if first == second:
        return first
    return TensorState(
        allocated=max(
            first.allocated, second.allocated, key=lambda live: (len(live), [_allocation_key(n) for n in live])
        ),
        freed=first.freed | second.freed,
        least=max(first.least, second.least),  # an allocation larger than this is too large on both paths
        relinquished=first.relinquished and second.relinquished,
        operations=_merge_operations(first.operations, second.operations),
        waited=first.waited & second.waited,
        heard=first.heard or second.heard,
        quiet=first.quiet and second.quiet,
        gone=first.gone and second.gone,
        fenced=first.fenced and second.fenced,
        relaxed=any(state.relaxed and not state.fenced for state in (first, second)),  # one path is enough
        loaded=first.loaded | second.loaded,
        used=first.used | second.used,
    )


_Operations: TypeAlias = frozenset[tuple[Operation, _Stages]]


def _merge_operations(first: _Operations, second: _Operations) -> _Operations:
    """Return the stages on either path; an operation that was not issued on one path has those of the other."""
    if first == second:
        return first
    merged = dict(first)
    for operation, stages in second:
        merged[operation] = _limit_stages(merged.get(operation, frozenset()) | stages)
    return frozenset(merged.items())


#: Largest number of stages of one operation, far more than a pipeline has on the paths to one place.
_MOST_STAGES = 6


@lru_cache(maxsize=1 << 12)
def _limit_stages(stages: _Stages) -> _Stages:
    """Return the stages, or three that stand for unknown ones if there are too many."""
    if len(stages) <= _MOST_STAGES:
        return stages
    return frozenset({_DONE, _ISSUED, Stage("perhaps", frozenset({UNKNOWN}))})


def _allocation_key(allocation: Alloc) -> tuple[int, str]:
    return allocation.columns or 0, allocation.name


def run(events: Iterable[Event], state: TensorState | None = None) -> tuple[TensorState, list[Broken]]:
    """Return the state after a sequence of events, and all violations.

    >>> run([Alloc(64), Issue("mma"), Load(("r0",))])[1][0].rule.name
    'tcgen05-commit'
    """
    current, violations = state or TensorState(), []
    for event in events:
        current, event_violations = step(current, event)
        violations.extend(event_violations)
    return current, violations
