"""The protocol over the control flow of a function: every path, loops as well, and each breach once.

The states of ``wgmma`` and ``tcgen05`` are carried to a fixed point; then every block is walked once more, and told.
Beside them stands what a state does not hold: one ``.cta_group``, tensor memory that nobody allocates, and the phases
of mbarriers as far as a text decides them. A phase ends with each commit of a round, so that a wait for one and the
same parity is over before it began in every other round. That is told where the loop commits to the mbarrier once,
waits for it by one constant parity, and does nothing else to any mbarrier: whatever more arrives, or makes it anew, may
put that right.
Source: as the rules; PTX ISA 9.1, mbarrier.try_wait (.parity), Phase of the mbarrier object.

Law: a breach on one of two paths is found, wherever they meet.

>>> from descriptors.check.ptx_module import parse
>>> mma = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {a,b,c,d}, x, y, 0, 1, 1, 0, 0;"
>>> body = f"wgmma.fence.sync.aligned; {mma} @p bra L; wgmma.wait_group.sync.aligned 0; L: st.global.f32 [q], a; ret;"
>>> function = parse(f".version 8.8\\n.entry k() {{ {body} }}").functions[0]
>>> [(index, one.rule.name) for index, one in path_breaches(function, {}, {})]
[(4, 'wgmma-wait')]

Law: with a parity that changes there is nothing to tell.

>>> from descriptors.check.known_bits import NOTHING, exactly
>>> commit = "tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [m];"
>>> text = f".entry k() {{ L: {commit} mbarrier.try_wait.parity.b64 w, [m], f; @q bra L; ret; }}"
>>> function, place = parse(".version 8.8\\n" + text).functions[0], exactly(0)._replace(base="&bar")
>>> known = [{0: {"m": place}, 1: {"m": place, "f": f}} for f in (exactly(0), NOTHING)]
>>> [[i for i, _ in stuck_waits(function, values)] for values in known]
[[1], []]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import copy
from typing import Any

from descriptors.check import tcgen05, wgmma
from descriptors.check.constant_folding import Values, number
from descriptors.check.control_flow import Block, blocks, fixed_point
from descriptors.check.events import Commit, Event, Fence, Mma, Round, Wait
from descriptors.check.instruction_events import barrier, events_of
from descriptors.check.ptx_module import REST, Function, allowed
from descriptors.check.rules import Broken, broken
from descriptors.errors import DescriptorError
from layoutalg.frozen import frozen


def path_breaches(
    function: Function, values: Values, variables: Mapping[str, int], known: list[Block] | None = None
) -> Iterator[tuple[int, Broken]]:
    """Every breach of the protocol: the index of its instruction, and the rule.

    Args:
        function: the function.
        values: what ``fold`` knows of the operands of its tensor-core instructions.
        variables: variables of the module.
        known: the basic blocks of the function, if they are at hand.

    Raises:
        DescriptorError: if a branch leads nowhere.
    """
    events = events_of(function, values, variables)
    graph = blocks(function) if known is None else known
    told: list[tuple[int, Broken]] = []
    code = function.code
    if any(one.opcode.startswith("wgmma.") for one in code):
        _bounded(events, graph)
        told += _breaches(graph, events, _warpgroup(function, events))
    if any(one.opcode.startswith("tcgen05.") for one in code):
        told += _breaches(graph, events, _TENSOR)
        told += _groups(function)
        told += _unallocated(function, events)
    yield from sorted(told, key=lambda one: one[0])


#: Registers of multiplications times what looks at all of them: far more than any kernel has.
WORK = 100_000_000


def _bounded(events: Mapping[int, list[Event]], graph: list[Block]) -> None:
    """Refuse what would take for ever: fences, commits, waits and blocks each look at all registers that are held."""
    flat = [event for held in events.values() for event in held]
    registers = {name for event in flat if isinstance(event, Mma) for name in (*event.accumulators, *event.a)}
    looks = sum(isinstance(event, Fence | Commit | Wait) for event in flat) + len(graph)
    if len(registers) * looks > WORK:
        found = f"found {len(registers)} registers and {looks} blocks, fences, commits and waits"
        raise DescriptorError(f"check: a function must be one that can be followed, {found}")


@frozen
class _Family:
    """A protocol on paths: the state at the start, what an event breaks and makes of a state, where paths meet.

    ``after`` may change the state that it is handed, which is the block's own copy. ``back`` is what the way back to
    the head of a loop does to a state.
    """

    start: Any
    breaches: Callable[[Any, Event], list[Broken]]
    after: Callable[[Any, Event], Any]
    meet: Callable[[Any, Any], Any]
    back: Callable[[Any], Any] | None = None


def _warpgroup(function: Function, events: Mapping[int, list[Event]]) -> _Family:
    """The protocol of wgmma, and what it holds in flight against the registers of a thread."""
    every = [event for row in events.values() for event in row]
    held = {name for one in every if isinstance(one, Mma) for name in (*one.accumulators, *one.a)}
    room = allowed(function)
    tight = len(held) + REST > room

    def breaches(state: Any, event: Event) -> list[Broken]:
        told = wgmma.breaches(state, event)
        if tight and isinstance(event, Mma):
            own = held & {*event.accumulators, *event.a}
            flying = len(own | {name for name in held & state.keys() if state[name].age is not None})
            if flying + REST > room:
                told.append(broken("wgmma-registers", f"found {flying} in flight, where a thread has {room}"))
        return told

    def after(state: Any, event: Event) -> Any:
        wgmma.change(state, event)
        return state

    return _Family({}, breaches, after, wgmma.meet, lambda state: wgmma.step(state, Round())[0])


def _tensor_breaches(state: Any, event: Event) -> list[Broken]:
    return tcgen05.step(state, event)[1]


_TENSOR = _Family(tcgen05.TensorState(), _tensor_breaches, tcgen05.after, tcgen05.meet)


def _breaches(graph: list[Block], events: Mapping[int, list[Event]], family: _Family) -> Iterator[tuple[int, Broken]]:
    """The breaches of one family."""
    held = [
        [(index, event) for index in range(b.start, b.end) if index in events for event in events[index]] for b in graph
    ]

    def through(number: int, state: Any) -> Any:
        state = copy(state) if held[number] else state
        for _, event in held[number]:
            state = family.after(state, event)
        return state

    for place, state in enumerate(fixed_point(graph, family.start, through, family.meet, family.back)):
        if state is None:
            continue  # no path leads here
        state = copy(state)
        for index, event in held[place]:
            yield from ((index, one) for one in family.breaches(state, event))
            state = family.after(state, event)


def _groups(function: Function) -> Iterator[tuple[int, Broken]]:
    first = ""
    for index, one in enumerate(function.code):
        if one.opcode.startswith("tcgen05.") and "cta_group" in one.opcode:
            group = next(w for w in one.qualifiers if w.startswith("cta_group"))
            first = first or group
            if group != first:
                yield index, broken("tcgen05-cta-group", f"found .{group} after .{first}")


def _unallocated(function: Function, events: Mapping[int, list[Event]]) -> Iterator[tuple[int, Broken]]:
    """Tensor memory that a kernel uses and nobody allocates; one that calls functions may have it from them."""
    names = [one.opcode for one in function.code]
    if not function.entry or any(name.startswith(("tcgen05.alloc", "call")) for name in names):
        return
    for index, name in enumerate(names):
        if name.startswith(("tcgen05.mma", "tcgen05.ld", "tcgen05.st", "tcgen05.cp")):
            yield index, broken("tcgen05-unallocated", f"found {name.partition('.cta')[0]} in a kernel without alloc")
            return


_COMMIT, _WAITS = "tcgen05.commit", ("mbarrier.try_wait.parity", "mbarrier.test_wait.parity")
_OTHER = ("mbarrier.init", "mbarrier.inval", "mbarrier.arrive", "mbarrier.expect_tx", "mbarrier.complete_tx", "call")


def stuck_waits(function: Function, values: Values) -> Iterator[tuple[int, Broken]]:
    """Waits of a loop for one parity: the index of the instruction, and the rule.

    Args:
        function: the function.
        values: what ``fold`` knows of the operands of its commits and waits.
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
                yield own[0], broken("tcgen05-parity", f"found {parities.pop()} in every round")


def _loops(function: Function) -> Iterator[tuple[int, int]]:
    """First instruction of a loop and the one behind its branch back, those with commits alone; the innermost first."""
    found = []
    for index, one in enumerate(function.code):
        target = one.operands[-1] if one.opcode.startswith("bra") and one.operands else None
        start = function.labels.get(target, index + 1) if isinstance(target, str) else index + 1
        if start <= index:
            found.append((start, index + 1))
    commits = [index for index, one in enumerate(function.code) if one.opcode.startswith(_COMMIT)]
    held = [(a, b) for a, b in found if any(a <= index < b for index in commits)]
    yield from sorted(held, key=lambda one: one[1] - one[0])[:MOST]


#: Loops that are looked at: far more than any kernel has around its commits.
MOST = 256
