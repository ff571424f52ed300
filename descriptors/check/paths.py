r"""The protocols of ``wgmma`` and ``tcgen05`` on every path of a function, including loops.

The states are computed as a fixed point. Then each block is walked once more and its violations are reported once.
This module also checks what the states do not contain: tensor memory that is never allocated, and the parity of waits
in loops. A phase of an mbarrier ends with each commit of an iteration. A wait with a constant parity is therefore over
before it begins in every other iteration. This is reported only if the loop commits to the mbarrier once, waits for it
with one constant parity, and does nothing else to any mbarrier: other arrivals or a new init may make the wait right.
Source: as the rules; PTX ISA 9.1, mbarrier.try_wait (.parity), Phase of the mbarrier object.

Invariant: a violation on one of two paths is found, wherever the paths meet.

>>> from descriptors.check.ptx.ptx_module import parse
>>> mma = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {a,b,c,d}, x, y, 0, 1, 1, 0, 0;"
>>> body = f"wgmma.fence.sync.aligned; {mma} @p bra L; wgmma.wait_group.sync.aligned 0; L: st.global.f32 [q], a; ret;"
>>> function = parse(f".version 8.8\n.entry k() {{ {body} }}").functions[0]
>>> [(index, one.rule.name) for index, one in path_breaches(function, {}, {})]
[(4, 'wgmma-wait')]

Invariant: a wait whose parity changes is not reported.

>>> from descriptors.check.ptx.known_bits import NOTHING, exactly
>>> commit = "tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [m];"
>>> text = f".entry k() {{ L: {commit} mbarrier.try_wait.parity.b64 w, [m], f; @q bra L; ret; }}"
>>> function, place = parse(".version 8.8\n" + text).functions[0], exactly(0)._replace(base="&bar")
>>> known = [{0: {"m": place}, 1: {"m": place, "f": f}} for f in (exactly(0), NOTHING)]
>>> [[i for i, _ in stuck_waits(function, values)] for values in known]
[[1], []]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, TypeAlias

from descriptors.check import tcgen05, wgmma
from descriptors.check.events import (
    BarrierWait,
    Commit,
    Event,
    Fence,
    Issue,
    Load,
    Mma,
    Round,
    TensorCommit,
    Wait,
)
from descriptors.check.instruction_events import barrier, events_of
from descriptors.check.ptx.conditions import Conditions
from descriptors.check.ptx.constant_folding import Values, number
from descriptors.check.ptx.control_flow import Block, blocks
from descriptors.check.ptx.ptx_module import REST, Function, allowed
from descriptors.check.rules import Broken, Doubt, broken
from descriptors.check.tensor_cells import TensorCells
from descriptors.check.tensor_memory import memory_findings
from descriptors.check.threads import Threads, thread_findings
from descriptors.check.worlds import Family, Worlds
from descriptors.errors import DescriptorError
from descriptors.tmem.allocations import Alloc

#: Violations and doubts, each with the index of its instruction.
_Found: TypeAlias = Iterator[tuple[int, Broken | Doubt]]


def path_breaches(
    function: Function, values: Values, variables: Mapping[str, int], known: list[Block] | None = None
) -> Iterator[tuple[int, Broken]]:
    """Yield the violations of the protocols, each with the index of its instruction.

    Args:
        function: the function.
        values: the operands of its tensor-core instructions as ``fold`` returns them.
        variables: variables of the module.
        known: the basic blocks of the function; computed if None.

    Raises:
        DescriptorError: if a branch does not lead to a label.
    """
    for index, one in path_findings(function, values, variables, known):
        if isinstance(one, Broken):
            yield index, one


def path_undecided(
    function: Function, values: Values, variables: Mapping[str, int], known: list[Block] | None = None
) -> Iterator[tuple[int, str, str, str, str]]:
    """Yield the doubts: index of the instruction, property, what is undecided, why, and what would decide it.

    Args:
        function: the function.
        values: the operands of its tensor-core instructions as ``fold`` returns them.
        variables: variables of the module.
        known: the basic blocks of the function; computed if None.
    """
    for index, one in path_findings(function, values, variables, known):
        if isinstance(one, Doubt):
            yield index, one.property, one.what, one.why, one.decides


def path_findings(
    function: Function, values: Values, variables: Mapping[str, int], known: list[Block] | None = None,
    differs: frozenset[str] | None = None, target: str = "",
) -> list[tuple[int, Broken | Doubt]]:  # fmt: skip
    """Return violations and doubts in the order of the text, each with the index of its instruction."""
    graph = blocks(function) if known is None else known
    conditions = Conditions(function, graph)
    tensor = bool(function.having("tcgen05."))
    cells = TensorCells(function, values, variables, conditions, graph) if tensor else None
    events = events_of(function, values, variables, conditions, cells, target)
    told: list[tuple[int, Broken | Doubt]] = []
    if function.having("wgmma."):
        _bounded(events, graph)
        told += _of_warpgroup(function, graph, events, conditions)
    certain = frozenset[int]()
    if function.entry and function.having("wgmma.", "tcgen05."):
        threads = Threads(function, graph, conditions, differs)
        told += thread_findings(threads)
        shared = ("tcgen05.alloc", "tcgen05.dealloc", "tcgen05.relinquish")
        certain = frozenset(index for index in function.having(*shared) if threads.some(index))
    if tensor:
        told += _of_tensor(function, graph, events, conditions, certain)
        if cells is not None and function.entry:
            told += memory_findings(events, cells, conditions)
        told += _unallocated(function, events)
    return sorted(dict.fromkeys(told), key=lambda one: one[0])


#: Largest product of registers and of the steps that visit all registers, far more than any kernel needs.
WORK = 100_000_000


def _bounded(events: Mapping[int, list[Event]], graph: list[Block]) -> None:
    """Check that a function is not too large: each fence, commit, wait and block visits all registers.

    Raises:
        DescriptorError: if the product of both numbers is larger than ``WORK``.
    """
    flat = [event for held in events.values() for event in held]
    registers = {name for event in flat if isinstance(event, Mma) for name in (*event.accumulators, *event.a)}
    looks = sum(isinstance(event, Fence | Commit | Wait) for event in flat) + len(graph)
    if len(registers) * looks > WORK:
        size = f"{len(registers)} registers of multiplications, and {looks} blocks, fences, commits and waits"
        raise DescriptorError(f"check: a function is too large to be analyzed; it has {size}")


def _of_warpgroup(
    function: Function, graph: list[Block], events: Mapping[int, list[Event]], conditions: Conditions
) -> _Found:
    """Yield the violations and doubts of wgmma, and multiplications with more registers in flight than a thread has."""
    every = [event for row in events.values() for event in row]
    held = {name for one in every if isinstance(one, Mma) for name in (*one.accumulators, *one.a)}
    room = allowed(function)
    tight = len(held) + REST > room

    def after(state: Any, _: int, event: Event) -> Any:
        wgmma.change(state, event)
        return state

    guarded = any(function.code[i].predicate and function.code[i].opcode.startswith("wgmma.") for i in events)
    family = Family({}, after, wgmma.meet, lambda state: wgmma.step(state, Round())[0], both=not guarded)
    for index, event, state in Worlds(function, graph, events, family, conditions).walk():
        yield from ((index, one) for one in wgmma.breaches(state, event))
        yield from ((index, one) for one in wgmma.doubts(state, event))
        if tight and isinstance(event, Mma):
            own = held & {*event.accumulators, *event.a}
            flying = len(own | {name for name in held & state.keys() if state[name].age is not None})
            if flying + REST > room:
                fact = f"{flying} registers are in flight, and a thread has {room}"
                yield index, broken("wgmma-registers", f"{fact}; {REST} of them are needed for other values")


def _of_tensor(
    function: Function, graph: list[Block], events: Mapping[int, list[Event]], conditions: Conditions,
    certain: frozenset[int],
) -> _Found:  # fmt: skip
    """Yield the violations and doubts of tcgen05.

    An allocation or deallocation by one warp holds for the whole CTA, so it counts if some thread executes it.
    """
    every = {index: event for index, row in events.items() for event in row}
    barriers = {e.barrier for e in every.values() if isinstance(e, TensorCommit | BarrierWait)}
    names = frozenset(name.rpartition("+")[0] for name in barriers if name and not name.startswith("&"))

    def after(state: Any, _: int, event: Event) -> Any:
        return _after(state, event)

    family = Family(tcgen05.TensorState(), after, tcgen05.meet, tcgen05.again, tcgen05.renamed)
    worlds = Worlds(function, graph, events, family, conditions, names, certain)
    allocations = [event for event in every.values() if isinstance(event, Alloc)]
    once: set[str] = set()
    for index, event, state in worlds.walk():
        found: list[Broken | Doubt] = [*tcgen05.step(state, event)[1], *tcgen05.doubts(state, event)]
        for one in found:
            if isinstance(one, Doubt):
                yield index, one
            elif one.rule.name in _ONCE:
                if one.rule.name not in once:
                    yield index, one
                once.add(one.rule.name)
            elif one.rule.name == "tcgen05-alloc-full" and conditions.passes(index, index):
                why = "it is in a loop, and the text does not show that each iteration frees its allocation"
                yield index, Doubt("tensor memory", "how much is allocated", why, "an allocation before the loop")
            elif one.rule.name != "tcgen05-dealloc-unknown" or not _elsewhere(event, state, allocations):
                yield index, one
        if isinstance(event, Load):
            yield from ((index, one) for one in _foreign(index, event, state, every, conditions))


#: Rules that some compilers break everywhere: reported once per function.
_ONCE = ("tcgen05-fence-after", "tcgen05-wait-ld")


@lru_cache(maxsize=1 << 14)
def _after(state: tcgen05.TensorState, event: Event) -> tcgen05.TensorState:
    return tcgen05.after(state, event)


def _elsewhere(event: Any, state: tcgen05.TensorState, allocations: list[Alloc]) -> bool:
    """Return whether a deallocation may be for an allocation of another role, which is on no path to it."""
    alike = (one for one in allocations if one.exclusive == event.exclusive)
    return not state.allocated and any(one.columns in (None, event.columns) for one in alike)


def _foreign(
    index: int, event: Load, state: tcgen05.TensorState, every: Mapping[int, Event], conditions: Conditions
) -> Iterator[Doubt]:
    """Yield a doubt if a load reads the result of another role and does not wait on an mbarrier of its commits."""
    others = [
        at for at, one in every.items()
        if isinstance(one, Issue) and one.operation == "mma" and not conditions.passes(at, index)
        and (event.cells is None or one.cells is None or one.cells.meets(event.cells) is not False)
    ]  # fmt: skip
    own = any(one.name == "mma" and tcgen05.may_meet(one.cells, event.cells) for one, _ in state.operations)
    if not others or own:
        return
    commits = {one.barrier for one in every.values() if isinstance(one, TensorCommit) and not one.reads_alone}
    if any(name.startswith("&") and name in commits for name in state.waited):
        return
    what = f"whether the tcgen05.mma of another role (line {conditions.code[others[0]].line}) is complete"
    if not state.heard:
        why = "no path to the load waits on an mbarrier"
    else:
        why = "the text does not show that the wait is on the mbarrier of one of its commits"
    yield Doubt("order", what, why, "an execution of all roles, or a wait by a constant address")


def _unallocated(function: Function, events: Mapping[int, list[Event]]) -> Iterator[tuple[int, Broken]]:
    """Yield the first use of tensor memory in a kernel that neither allocates it nor calls functions that may do so."""
    if not function.entry or function.having("tcgen05.alloc", "call"):
        return
    for index in function.having("tcgen05.mma", "tcgen05.ld", "tcgen05.st", "tcgen05.cp")[:1]:
        name = function.code[index].opcode.partition(".cta")[0]
        yield index, broken("tcgen05-unallocated", f"{name} is used in a kernel without tcgen05.alloc")


_COMMIT, _WAITS = "tcgen05.commit", ("mbarrier.try_wait.parity", "mbarrier.test_wait.parity")
_OTHER = ("mbarrier.init", "mbarrier.inval", "mbarrier.arrive", "mbarrier.expect_tx", "mbarrier.complete_tx", "call")


def stuck_waits(function: Function, values: Values) -> Iterator[tuple[int, Broken]]:
    """Yield the waits of loops whose parity never changes, each with the index of its instruction.

    Args:
        function: the function.
        values: the operands of its commits and waits as ``fold`` returns them.
    """
    code = function.code
    told: set[int] = set()
    for start, end in _loops(function):
        inside = range(start, end)
        if any(code[i].opcode.startswith(_OTHER) or "complete_tx" in code[i].opcode for i in inside):
            continue
        commits = [
            barrier(code[i].operands[:1], values.get(i, {})) for i in inside if code[i].opcode.startswith(_COMMIT)
        ]
        waits = [i for i in inside if code[i].opcode.startswith(_WAITS) and len(code[i].operands) > 2]
        names = {i: barrier(code[i].operands[1:2], values.get(i, {})) for i in waits}
        if "" in commits or "" in names.values():
            continue
        for name in dict.fromkeys(names.values()):
            own = [i for i in waits if names[i] == name]
            parities = {number(code[i].operands[2], values.get(i, {})) for i in own}
            if commits.count(name) == 1 and len(parities) == 1 and None not in parities and own[0] not in told:
                told.add(own[0])
                yield (
                    own[0],
                    broken("tcgen05-parity", f"this wait has parity {parities.pop()} in every iteration"),
                )


def _loops(function: Function) -> Iterator[tuple[int, int]]:
    """Yield the first instruction of each loop with commits and the end of its branch back; innermost loops first."""
    found = []
    for index in function.having("bra"):
        target = function.code[index].operands[-1] if function.code[index].operands else None
        start = function.labels.get(target, index + 1) if isinstance(target, str) else index + 1
        if start <= index:
            found.append((start, index + 1))
    commits = function.having(_COMMIT)
    held = [(a, b) for a, b in found if any(a <= index < b for index in commits)]
    yield from sorted(held, key=lambda one: one[1] - one[0])[:MOST]


#: Largest number of loops that are checked, far more than any kernel has around its commits.
MOST = 256
