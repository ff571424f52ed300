"""The state of ``tcgen05`` as one thread sees it: what is allocated, what was issued, committed and waited for.

Operations are asynchronous. ``mma``, ``cp`` and ``shift`` are in order among themselves, complete by a commit to an
mbarrier and a wait on it; ``st`` by ``wait::st``; of ``ld`` the registers by ``wait::ld``, which compilers leave out,
since the dependency on the registers is respected. Where two paths meet, what may be outstanding is, and a commit or
a wait that stands on some path is believed: the branch around it is usually that around the operation.
Source: PTX ISA 9.1, tcgen05, memory consistency model; tcgen05.alloc.

Law: where a state meets itself it stays, and the order of the two does not matter.

>>> states = [run([Alloc(64), Issue("mma"), *tail])[0] for tail in ([], [TensorCommit("b")], [Relinquish()])]
>>> all(meet(a, a) == a and meet(a, b) == meet(b, a) for a in states for b in states)
True
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from descriptors.check.events import (
    Alloc,
    BarrierWait,
    Dealloc,
    End,
    FenceAfter,
    Issue,
    Load,
    Relinquish,
    Store,
    TensorCommit,
    TensorEvent,
    Touch,
    WaitLoad,
    WaitStore,
)
from descriptors.check.protocol_rules import Broken, broken
from descriptors.frozen import frozen
from descriptors.tmem.geometry import COLUMNS, LEAST_COLUMNS

#: What may be allocated of the columns of tensor memory: powers of two.
SIZES = tuple(1 << i for i in range(COLUMNS.bit_length()) if 1 << i >= LEAST_COLUMNS)


@frozen
class TensorState:
    """What may be outstanding.

    Args:
        allocated: columns of the allocations that live; None for one of unknown size.
        last: columns of the last allocation; None if there was none, or its size is not known.
        relinquished: whether the permit was given back on every path.
        issued: operations that no commit followed, by name.
        committed: those for which some path has a commit since they were issued: one thread is elected for either.
        barriers: mbarriers of commits; "" for one of unknown address.
        waited: those of them for which some path has a wait since the commit, or one that may have been for them.
        fenced: whether tcgen05.fence::after_thread_sync followed the last wait, or there was none.
        stored: places of outstanding ``st``; "" for one that is not known.
        loaded: registers of outstanding ``ld``.
    """

    allocated: tuple[int | None, ...] = ()
    last: int | None = None
    relinquished: bool = False
    issued: frozenset[str] = frozenset()
    committed: frozenset[str] = frozenset()
    barriers: frozenset[str] = frozenset()
    waited: frozenset[str] = frozenset()
    fenced: bool = True
    stored: frozenset[str] = frozenset()
    loaded: frozenset[str] = frozenset()


def step(state: TensorState, event: TensorEvent) -> tuple[TensorState, list[Broken]]:
    """The state after an event, and the rules that the event breaks.

    >>> [one.rule.name for one in step(TensorState(), Alloc(48))[1]]
    ['tcgen05-alloc-size']
    """
    match event:
        case Alloc() | Dealloc() | Relinquish() | End():
            return _memory(state, event)
        case Issue(operation):
            told = [*_unstored(state), *_unfenced(state)]
            issued, left = state.issued | {operation}, state.committed - {operation}
            return replace(state, issued=issued, committed=left, fenced=True, stored=frozenset()), told
        case TensorCommit(barrier):
            if not state.issued:
                return state, []
            left = state.waited - {barrier}
            done, barriers = state.committed | state.issued, state.barriers | {barrier}
            return replace(state, issued=frozenset(), committed=done, barriers=barriers, waited=left), []
        case BarrierWait(barrier):
            return _wait(state, barrier), []
        case Load(registers, place):
            told = [*_uncommitted(state), *_unstored(state, place), *_unfenced(state)]
            return replace(state, loaded=state.loaded | set(registers), fenced=True), told
        case Store(_, place):
            told = [*_unloaded(state, "a tcgen05.st that may overwrite the cells"), *_unfenced(state)]
            return replace(state, stored=state.stored | {place}, loaded=frozenset(), fenced=True), told
        case WaitLoad():
            return replace(state, loaded=frozenset()), []
        case WaitStore():
            return replace(state, stored=frozenset()), []
        case FenceAfter():
            return replace(state, fenced=True), []
        case Touch(reads, _):
            used = state.loaded.intersection(reads)
            told = [broken("tcgen05-wait-ld", "found a use without it", tuple(sorted(used)))] if used else []
            return (replace(state, loaded=frozenset()) if used else state), told  # told once


def _memory(state: TensorState, event: Alloc | Dealloc | Relinquish | End) -> tuple[TensorState, list[Broken]]:
    told: list[Broken] = []
    match event:
        case Alloc(columns):
            if columns is not None and columns not in SIZES:
                told.append(broken("tcgen05-alloc-size", f"found {columns}"))
            elif columns is not None and state.last is not None and columns > state.last:
                told.append(broken("tcgen05-alloc-order", f"found {columns} after {state.last}"))
            if state.relinquished:
                told.append(broken("tcgen05-alloc-relinquished", "found an allocation"))
            live = (*state.allocated, columns)
            if sum(one or 0 for one in live) > COLUMNS:
                told.append(broken("tcgen05-alloc-full", f"found {sum(one or 0 for one in live)}"))
            return replace(state, allocated=live[-16:], last=columns), told
        case Dealloc(columns):
            return _free(state, columns)
        case Relinquish():
            return replace(state, relinquished=True), told
        case End():
            if state.allocated:
                told.append(broken("tcgen05-dealloc-missing", f"found {len(state.allocated)} not freed"))
    return state, told


def _free(state: TensorState, columns: int | None) -> tuple[TensorState, list[Broken]]:
    live = list(state.allocated)
    if columns in live:
        live.remove(columns)
    elif None in live:
        live.remove(None)
    elif columns is None and live:
        live.pop()
    else:
        of = f"of {', '.join(map(str, live))}" if live else "before any"
        return state, [broken("tcgen05-dealloc-unknown", f"found {columns} columns {of} allocated")]
    return replace(state, allocated=tuple(live)), []


def _wait(state: TensorState, barrier: str) -> TensorState:
    """A wait is for the mbarrier that it names; one without a name may be for any, and any for one without."""
    meant = state.barriers & {barrier, ""} if barrier else state.barriers
    return replace(state, waited=state.waited | meant, fenced=False)


def _uncommitted(state: TensorState) -> Iterable[Broken]:
    if open_ := state.issued - state.committed:
        yield broken("tcgen05-commit", f"found a tcgen05.ld after an uncommitted {', '.join(sorted(open_))}")
    elif state.barriers - state.waited:
        yield broken("tcgen05-wait", "found a tcgen05.ld with no wait since the commit")


def _unstored(state: TensorState, place: str | None = None) -> Iterable[Broken]:
    """Stores that are outstanding: all of them for an mma, for a ld those to its own place."""
    if state.stored if place is None else place and place in state.stored:
        yield broken("tcgen05-wait-st", "found none")


def _unfenced(state: TensorState) -> Iterable[Broken]:
    if not state.fenced:
        yield broken("tcgen05-fence-after", "found none")


def _unloaded(state: TensorState, what: str) -> Iterable[Broken]:
    if state.loaded:
        yield broken("tcgen05-wait-ld", f"found {what}", tuple(sorted(state.loaded)[:4]))


def meet(one: TensorState, other: TensorState) -> TensorState:
    """The state where two paths meet.

    >>> sorted(meet(TensorState(stored=frozenset({"a"})), TensorState()).stored)
    ['a']
    """
    if one == other:
        return one
    return TensorState(
        allocated=max(one.allocated, other.allocated, key=lambda live: (len(live), [n or 0 for n in live])),
        last=one.last if one.last == other.last else None,
        relinquished=one.relinquished and other.relinquished,
        issued=one.issued | other.issued,
        committed=one.committed | other.committed,
        barriers=one.barriers | other.barriers,
        waited=one.waited | other.waited,
        fenced=one.fenced and other.fenced,
        stored=one.stored | other.stored,
        loaded=one.loaded | other.loaded,
    )


def run(events: Iterable[TensorEvent], state: TensorState | None = None) -> tuple[TensorState, list[Broken]]:
    """The state after a sequence of events, and every rule that was broken on the way.

    >>> run([Alloc(64), Issue("mma"), Load(("r0",))])[1][0].rule.name
    'tcgen05-commit'
    """
    now, told = state or TensorState(), []
    for event in events:
        now, found = step(now, event)
        told.extend(found)
    return now, told
