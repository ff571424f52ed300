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
>>> [(index, violation.rule.name) for index, violation in path_breaches(function, {}, {})]
[(4, 'wgmma-wait')]

Invariant: a wait whose parity changes is not reported.

>>> from descriptors.check.ptx.known_bits import NOTHING, exactly
>>> commit = "tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [m];"
>>> text = f".entry k() {{ L: {commit} mbarrier.try_wait.parity.b64 w, [m], f; @q bra L; ret; }}"
>>> function, place = parse(".version 8.8\n" + text).functions[0], exactly(0)._replace(base="&bar")
>>> operand_values = [{0: {"m": place}, 1: {"m": place, "f": f}} for f in (exactly(0), NOTHING)]
>>> [[i for i, _ in stuck_waits(function, values)] for values in operand_values]
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
_Findings: TypeAlias = Iterator[tuple[int, Broken | Doubt]]


def path_breaches(
    function: Function, values: Values, variables: Mapping[str, int], graph: list[Block] | None = None
) -> Iterator[tuple[int, Broken]]:
    """Yield the violations of the protocols, each with the index of its instruction.

    Args:
        function: the function.
        values: the operands of its tensor-core instructions as ``fold`` returns them.
        variables: variables of the module.
        graph: the basic blocks of the function; computed if None.

    Raises:
        DescriptorError: if a branch does not lead to a label.
    """
    for index, violation in path_findings(function, values, variables, graph):
        if isinstance(violation, Broken):
            yield index, violation


def path_undecided(
    function: Function, values: Values, variables: Mapping[str, int], graph: list[Block] | None = None
) -> Iterator[tuple[int, str, str, str, str]]:
    """Yield the doubts: index of the instruction, property, undecided item, reason, and deciding information.

    Args:
        function: the function.
        values: the operands of its tensor-core instructions as ``fold`` returns them.
        variables: variables of the module.
        graph: the basic blocks of the function; computed if None.
    """
    for index, doubt in path_findings(function, values, variables, graph):
        if isinstance(doubt, Doubt):
            yield index, doubt.property, doubt.what, doubt.why, doubt.decides


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
    findings: list[tuple[int, Broken | Doubt]] = []
    if function.having("wgmma."):
        _check_size(events, graph)
        findings += _wgmma_findings(function, graph, events, conditions)
    certain = frozenset[int]()
    if function.entry and function.having("wgmma.", "tcgen05."):
        threads = Threads(function, graph, conditions, differs)
        findings += thread_findings(threads)
        shared = ("tcgen05.alloc", "tcgen05.dealloc", "tcgen05.relinquish")
        certain = frozenset(index for index in function.having(*shared) if threads.some(index))
    if tensor:
        findings += _tcgen05_findings(function, graph, events, conditions, certain)
        if cells is not None and function.entry:
            findings += memory_findings(events, cells, conditions)
        findings += _unallocated_use(function, events)
    return sorted(dict.fromkeys(findings), key=lambda row: row[0])


#: Largest product of registers and of the steps that visit all registers, far more than any kernel needs.
WORK = 100_000_000


def _check_size(events: Mapping[int, list[Event]], graph: list[Block]) -> None:
    """Check that a function is not too large: each fence, commit, wait and block visits all registers.

    Raises:
        DescriptorError: if the product of both numbers is larger than ``WORK``.
    """
    flat = [event for row in events.values() for event in row]
    registers = {name for event in flat if isinstance(event, Mma) for name in (*event.accumulators, *event.a)}
    looks = sum(isinstance(event, Fence | Commit | Wait) for event in flat) + len(graph)
    if len(registers) * looks > WORK:
        size = f"{len(registers)} registers of multiplications, and {looks} blocks, fences, commits and waits"
        raise DescriptorError(f"check: a function is too large to be analyzed; it has {size}")


def _wgmma_findings(
    function: Function, graph: list[Block], events: Mapping[int, list[Event]], conditions: Conditions
) -> _Findings:
    """Yield the violations and doubts of wgmma, and multiplications with more registers in flight than a thread has."""
    mmas = [event for row in events.values() for event in row if isinstance(event, Mma)]
    used_registers = {name for mma in mmas for name in (*mma.accumulators, *mma.a)}
    register_limit = allowed(function)
    may_exceed = len(used_registers) + REST > register_limit

    def after(state: Any, _: int, event: Event) -> Any:
        wgmma.change(state, event)
        return state

    guarded = any(function.code[i].predicate and function.code[i].opcode.startswith("wgmma.") for i in events)
    family = Family({}, after, wgmma.meet, lambda state: wgmma.step(state, Round())[0], both=not guarded)
    for index, event, state in Worlds(function, graph, events, family, conditions).walk():
        yield from ((index, item) for item in wgmma.breaches(state, event))
        yield from ((index, item) for item in wgmma.doubts(state, event))
        if may_exceed and isinstance(event, Mma):
            own = used_registers & {*event.accumulators, *event.a}
            in_flight = len(own | {name for name in used_registers & state.keys() if state[name].age is not None})
            if in_flight + REST > register_limit:
                fact = f"{in_flight} registers are in flight, and a thread has {register_limit}"
                yield index, broken("wgmma-registers", f"{fact}; {REST} of them are needed for other values")


def _tcgen05_findings(
    function: Function, graph: list[Block], events: Mapping[int, list[Event]], conditions: Conditions,
    certain: frozenset[int],
) -> _Findings:  # fmt: skip
    """Yield the violations and doubts of tcgen05.

    An allocation or deallocation by one warp holds for the whole CTA, so it counts if some thread executes it.
    """
    events_by_index = {index: event for index, row in events.items() for event in row}
    barriers = {e.barrier for e in events_by_index.values() if isinstance(e, TensorCommit | BarrierWait)}
    names = frozenset(name.rpartition("+")[0] for name in barriers if name and not name.startswith("&"))

    def after(state: Any, _: int, event: Event) -> Any:
        return _state_after(state, event)

    family = Family(tcgen05.TensorState(), after, tcgen05.meet, tcgen05.again, tcgen05.renamed)
    worlds = Worlds(function, graph, events, family, conditions, names, certain)
    allocations = [event for event in events_by_index.values() if isinstance(event, Alloc)]
    reported_once: set[str] = set()
    for index, event, state in worlds.walk():
        found: list[Broken | Doubt] = [*tcgen05.step(state, event)[1], *tcgen05.doubts(state, event)]
        for item in found:
            if isinstance(item, Doubt):
                yield index, item
            elif item.rule.name in _ONCE:
                if item.rule.name not in reported_once:
                    yield index, item
                reported_once.add(item.rule.name)
            elif item.rule.name == "tcgen05-alloc-full" and conditions.passes(index, index):
                why = "it is in a loop, and the text does not show that each iteration frees its allocation"
                yield index, Doubt("tensor memory", "how much is allocated", why, "an allocation before the loop")
            elif item.rule.name != "tcgen05-dealloc-unknown" or not _may_be_for_other_role(event, state, allocations):
                yield index, item
        if isinstance(event, Load):
            yield from (
                (index, doubt) for doubt in _foreign_result_doubts(index, event, state, events_by_index, conditions)
            )


#: Rules that some compilers break everywhere: reported once per function.
_ONCE = ("tcgen05-fence-after", "tcgen05-wait-ld")


@lru_cache(maxsize=1 << 14)
def _state_after(state: tcgen05.TensorState, event: Event) -> tcgen05.TensorState:
    return tcgen05.after(state, event)


def _may_be_for_other_role(event: Any, state: tcgen05.TensorState, allocations: list[Alloc]) -> bool:
    """Return whether a deallocation may be for an allocation of another role, which is on no path to it."""
    same_kind = (allocation for allocation in allocations if allocation.exclusive == event.exclusive)
    return not state.allocated and any(allocation.columns in (None, event.columns) for allocation in same_kind)


def _foreign_result_doubts(
    index: int, event: Load, state: tcgen05.TensorState, events_by_index: Mapping[int, Event], conditions: Conditions
) -> Iterator[Doubt]:
    """Yield a doubt if a load reads the result of another role and does not wait on an mbarrier of its commits."""
    others = [
        place for place, other in events_by_index.items()
        if isinstance(other, Issue) and other.operation == "mma" and not conditions.passes(place, index)
        and (event.cells is None or other.cells is None or other.cells.meets(event.cells) is not False)
    ]  # fmt: skip
    own = any(pending.name == "mma" and tcgen05.may_meet(pending.cells, event.cells) for pending, _ in state.operations)
    if not others or own:
        return
    commits = {
        other.barrier for other in events_by_index.values() if isinstance(other, TensorCommit) and not other.reads_alone
    }
    if any(name.startswith("&") and name in commits for name in state.waited):
        return
    what = f"whether the tcgen05.mma of another role (line {conditions.code[others[0]].line}) is complete"
    if not state.heard:
        why = "no path to the load waits on an mbarrier"
    else:
        why = "the text does not show that the wait is on the mbarrier of one of its commits"
    yield Doubt("order", what, why, "an execution of all roles, or a wait by a constant address")


def _unallocated_use(function: Function, events: Mapping[int, list[Event]]) -> Iterator[tuple[int, Broken]]:
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
    reported: set[int] = set()
    for start, end in _commit_loops(function):
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
            if commits.count(name) == 1 and len(parities) == 1 and None not in parities and own[0] not in reported:
                reported.add(own[0])
                yield (
                    own[0],
                    broken("tcgen05-parity", f"this wait has parity {parities.pop()} in every iteration"),
                )


def _commit_loops(function: Function) -> Iterator[tuple[int, int]]:
    """Yield the first instruction of each loop with commits and the end of its branch back; innermost loops first."""
    loops = []
    for index in function.having("bra"):
        target = function.code[index].operands[-1] if function.code[index].operands else None
        start = function.labels.get(target, index + 1) if isinstance(target, str) else index + 1
        if start <= index:
            loops.append((start, index + 1))
    commits = function.having(_COMMIT)
    with_commits = [(a, b) for a, b in loops if any(a <= index < b for index in commits)]
    yield from sorted(with_commits, key=lambda loop: loop[1] - loop[0])[:MOST]


#: Largest number of loops that are checked, far more than any kernel has around its commits.
MOST = 256
