r"""States of a protocol along the paths of a function, separate for different outcomes of branches and guards.

If paths meet, their states stay separate as long as the known conditions differ. A *world* is the set of known values
of the conditions that more than one branch or guard depends on; each world has a state. So a wait after a branch
belongs to the multiplication after another branch on the same condition. A guarded instruction runs in the worlds in
which its guard holds; if that is not known, the world splits. The predicate of a wait on an mbarrier is true if the
phase was complete. There are at most ``MOST`` worlds at a place. If there are more, the condition that is used least is
dropped, and the states of equal worlds meet.
Source: PTX ISA 9.1, Predicated Execution; mbarrier.try_wait.

Invariant: the states after two paths meet are the states after each of them.

>>> from descriptors.check.ptx.ptx_module import parse
>>> from descriptors.check.ptx.control_flow import blocks
>>> sets = Family(frozenset(), lambda state, index, event: state | {event}, frozenset.union)
>>> def after(body, *events):
...     function = parse(f".version 8.8\n.entry k() {{ {body} }}").functions[0]
...     graph = blocks(function)
...     worlds = Worlds(function, graph, {i: [e] for i, e in enumerate(events) if e}, sets)
...     return sorted("".join(sorted(world)) for world in worlds.states()[len(function.code) - 1])
>>> after("@p a; b; @!p c; ret;", "a", "b", "c")
['ab', 'bc']
>>> after("@p a; mov.pred p, q; @!p c; ret;", "a", "", "c")
['ac']
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from heapq import heappop, heappush
from typing import Any, TypeAlias

from descriptors.check.ptx.conditions import Condition, Conditions, follows, leaves, truth, within
from descriptors.check.ptx.constant_folding import WAITS
from descriptors.check.ptx.control_flow import Block
from descriptors.check.ptx.ptx_module import Function, targets
from descriptors.errors import DescriptorError
from layoutalg.frozen import frozen

#: Largest number of worlds at one place; after ``PATIENCE`` visits of a block only one world is left.
MOST, PATIENCE = 8, 12
#: Largest number of visits of a block before the fixed point is given up.
ROUNDS = 400
#: Instructions that leave a block under a guard.
_LEAVE = ("bra", "ret", "exit")


@frozen
class Family:
    """A protocol on paths: its initial state and the functions that change a state.

    Args:
        start: the state at the start of a function.
        after: returns the state after an event at an index; may change its argument.
        meet: returns the state where two paths meet.
        back: returns the state after a loop back edge; None if it does not change.
        renamed: returns the state after a register gets a new value; None if it does not change.
        both: whether all guards and branches are taken both ways, and never compared.
    """

    start: Any
    after: Callable[[Any, int, Any], Any]
    meet: Callable[[Any, Any], Any]
    back: Callable[[Any], Any] | None = None
    renamed: Callable[[Any, str], Any] | None = None
    both: bool = False


_World: TypeAlias = frozenset[tuple[Condition, bool]]
_Worlds: TypeAlias = dict[_World, Any]


class Worlds:
    """The states of a protocol at every instruction of a function.

    Args:
        function: the function.
        graph: its basic blocks.
        events: the events of each instruction, by index.
        family: the protocol.
        conditions: the conditions of the function; computed if None.
        names: registers whose changes are passed to ``family.renamed``.
        certain: instructions whose guard holds for some thread; they are treated as unguarded.
    """

    def __init__(
        self, function: Function, graph: list[Block], events: Mapping[int, Sequence[Any]], family: Family,
        conditions: Conditions | None = None, names: frozenset[str] = frozenset(),
        certain: frozenset[int] = frozenset(),
    ) -> None:  # fmt: skip
        self.function, self.code, self.graph, self.events, self.family = function, function.code, graph, events, family
        self.certain = certain
        self.conditions = conditions or Conditions(function, graph)
        self.asked = self._asked()
        self._asking: dict[str, set[Condition]] = {}  # conditions that depend on a register
        for condition in self.asked:
            for name in leaves(condition):
                self._asking.setdefault(name, set()).add(condition)
        changes = self._asking.keys() | names
        self.names = names
        self.written = {
            index: changed
            for name in sorted(changes)
            for index in self.conditions.where.get(name, ())
            if (changed := tuple(n for n in targets(self.code[index]) if n in changes))
        }
        relevant_indices = {*events, *self.written}
        self.looked = [
            [i for i in range(condition.start, condition.end) if i in relevant_indices] for condition in graph
        ]

    def _asked(self) -> dict[Condition, int]:
        """Return the conditions that more than one branch or guard depends on, each with their number."""
        if self.family.both:
            return {}
        counts: Counter[Condition] = Counter()
        for index in sorted({*self.events, *self.function.having(*_LEAVE)}):
            if self.code[index].predicate:
                counts.update(set(within(self.conditions.guard(index))))
        waits = {("register", name) for i in self.events if (name := self._result(i))}
        return {condition: count for condition, count in counts.items() if count > 1 or condition in waits}

    def _result(self, index: int) -> str:
        """Return the predicate that a wait on an mbarrier writes; "" for other instructions."""
        instruction = self.code[index]
        written = targets(instruction) if instruction.opcode.startswith(WAITS) else ()
        return written[0] if written else ""

    def states(self) -> dict[int, list[Any]]:
        """Return the states before each instruction with events, and before the last; none if no path leads there."""
        last = len(self.code) - 1
        states: dict[int, list[Any]] = {}
        for number, worlds in enumerate(self._before()):
            if worlds is None:
                continue
            current = {world: copy(state) for world, state in worlds.items()}
            for index in self.looked[number]:
                running_states = [
                    copy(state) for world, state in current.items() if self._runs(index, world) is not False
                ]
                if index in self.events or index == last:
                    states[index] = running_states
                current = self._through(index, current)
            if self.graph[number].end == last + 1 and last not in states:
                states[last] = [copy(state) for state in current.values()]
        return states

    def walk(self) -> Iterator[tuple[int, Any, Any]]:
        """Yield each event with its index and the state before it, in which all worlds have met."""
        for number, worlds in enumerate(self._before()):
            if worlds is None:
                continue
            current = {world: copy(state) for world, state in worlds.items()}
            for index in self.looked[number]:
                running_states = [state for world, state in current.items() if self._runs(index, world) is not False]
                if index in self.events and running_states:
                    state = copy(running_states[0])
                    for other in running_states[1:]:
                        state = self.family.meet(state, other)
                    for event in self.events[index]:
                        yield index, event, state
                        state = self.family.after(copy(state), index, event)
                current = self._through(index, current)

    def _runs(self, index: int, world: _World) -> bool | None:
        """Return whether an instruction is executed in a world; None if that is not known."""
        if not self.code[index].predicate or index in self.certain:
            return True
        return truth(self.conditions.guard(index), dict(world))

    def _before(self) -> list[_Worlds | None]:
        """Return the worlds before each block; None for a block that no path reaches."""
        before: list[_Worlds | None] = [None] * len(self.graph)
        if not self.graph:
            return before
        before[0] = {frozenset(): self.family.start}
        visits, waiting, queued = [0] * len(self.graph), [0], {0}
        while waiting:
            number = heappop(waiting)
            queued.discard(number)
            visits[number] += 1
            worlds = before[number]
            if visits[number] > ROUNDS or worlds is None:
                raise DescriptorError(f"check: the states of a block do not settle in {ROUNDS} iterations")
            current = {world: copy(state) for world, state in worlds.items()} if self.looked[number] else worlds
            for index in self.looked[number]:
                current = self._through(index, current)
            for follower in self.graph[number].next:
                passing = self._over(number, follower, current)
                old = before[follower]
                if not passing:
                    continue
                new = passing if old is None else self._met(old, passing, MOST if visits[follower] < PATIENCE else 1)
                if old is None or new != old:
                    before[follower] = new
                    if follower not in queued:
                        heappush(waiting, follower)
                        queued.add(follower)
        return before

    def _over(self, number: int, follower: int, worlds: _Worlds) -> _Worlds:
        """Return the worlds that pass from one block to another."""
        index = self.graph[number].end - 1
        last, both_ways = self.code[index], len(self.graph[number].next) == 1 or self.family.both
        passing: _Worlds = {}
        decided = last.predicate and last.opcode.startswith(_LEAVE) and not both_ways
        guard = self.conditions.guard(index) if decided else ("constant", 1)
        taken = not decided or follower != number + 1
        for world, state in worlds.items():
            known = dict(world)
            if decided and truth(guard, known) is (not taken):
                continue
            if self.family.back is not None and follower <= number:
                state = self.family.back(state)
            self._put(passing, self._with(world, guard, taken) if decided else world, state)
        return self._few(passing)

    def _with(self, world: _World, condition: Condition, holds: bool) -> _World:
        added = [(part, value) for part, value in follows(condition, holds) if part in self.asked]
        return world | frozenset(added) if added else world

    def _put(self, worlds: _Worlds, world: _World, state: Any) -> None:
        old = worlds.get(world)
        worlds[world] = state if old is None else self.family.meet(old, state)

    def _met(self, first: _Worlds, second: _Worlds, most: int) -> _Worlds:
        merged = dict(first)
        for world, state in second.items():
            self._put(merged, world, state)
        return self._few(merged, most)

    def _few(self, worlds: _Worlds, most: int = MOST) -> _Worlds:
        while len(worlds) > most:
            conditions = {condition for world in worlds for condition, _ in world}
            least = min(conditions, key=lambda condition: (self.asked.get(condition, 0), repr(condition)))
            worlds = self._without(worlds, {least})
        return worlds

    def _without(self, worlds: _Worlds, dropped: set[Condition]) -> _Worlds:
        reduced: _Worlds = {}
        for world, state in worlds.items():
            self._put(reduced, frozenset(entry for entry in world if entry[0] not in dropped), state)
        return reduced

    def _through(self, index: int, worlds: _Worlds) -> _Worlds:
        """Return the worlds after an instruction."""
        if index in self.events:
            worlds = self._happened(index, worlds)
        if index in self.written and not self._result(index):
            worlds = self._changed(index, worlds)
        return worlds

    def _changed(self, index: int, worlds: _Worlds) -> _Worlds:
        names = set(self.written.get(index, ()))
        if dropped := set[Condition]().union(*(self._asking.get(name, ()) for name in names)):
            worlds = self._without(worlds, dropped)
        if self.family.renamed is not None:
            for name in sorted(names & self.names):
                worlds = {world: self.family.renamed(state, name) for world, state in worlds.items()}
        return worlds

    def _happened(self, index: int, worlds: _Worlds) -> _Worlds:
        guard, result = self.conditions.guard(index), self._result(index)
        guarded = bool(self.code[index].predicate) and index not in self.certain
        if not guarded and not result:
            return {world: self._then(index, state) for world, state in worlds.items()}
        results: _Worlds = {}
        for world, state in worlds.items():
            runs = truth(guard, dict(world)) if guarded else True
            if runs is not True:
                self._put(results, self._with(world, guard, False) if guarded else world, copy(state))
            if runs is not False:
                inside = self._with(world, guard, True) if guarded else world
                for further, then in self._ran(index, inside, state, result).items():
                    self._put(results, further, then)
        return self._few(results)

    def _then(self, index: int, state: Any) -> Any:
        for event in self.events[index]:
            state = self.family.after(state, index, event)
        return state

    def _ran(self, index: int, world: _World, state: Any, result: str) -> _Worlds:
        """Return the worlds after an executed instruction; the outcome of a wait is known by its predicate."""
        results: _Worlds = {}
        after = self._then(index, copy(state) if result else state)
        if not result:
            self._put(results, world, after)
            return results
        ((world_after, state),) = self._changed(index, {world: state}).items()
        ((_, after),) = self._changed(index, {world: after}).items()
        self._put(results, self._with(world_after, ("register", result), True), after)
        self._put(results, self._with(world_after, ("register", result), False), state)
        return results
