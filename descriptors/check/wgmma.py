"""The protocol of ``wgmma`` in one warpgroup: which registers are fenced, and which are in flight in which group.

Ordinary code *reads* or *writes* a register, which then needs a fence before an mma_async may use it. Otherwise the
register is *fenced*, or *in flight* in a group of some age: age 0 is the group that is not committed yet, age 1 the
newest committed group. ``wait_group N`` completes all groups but the N newest. Where two paths meet, a register has the
worse of its two states: the younger group, the missing fence. A state has only the registers of mma_asyncs.
The rules are in ``rules``. ``DEMANDS`` lists the functions that compare an event with the state before it, and
``change`` applies an event to a state.
Source: PTX ISA 9.1, wgmma.fence, wgmma.mma_async, wgmma.commit_group, wgmma.wait_group.

Invariant: the meet of a state with itself is that state, and meeting is symmetric.

>>> start, tails = [Fence(), Mma(("f0",), shape="m64n8k16")], ([], [Commit()], [Touch((), ("f0",))])
>>> states = [run([*start, *tail])[0] for tail in tails]
>>> all(meet(a, a) == a and meet(a, b) == meet(b, a) for a in states for b in states)
True
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, TypeAlias

from descriptors.check.events import Call, Commit, Copy, Event, Fence, Mma, Round, Touch, Wait
from descriptors.check.rules import Broken, Doubt, broken
from layoutalg.frozen import frozen, replace

#: The largest age of a group that is stored; N of ``wait_group`` is at most 7.
OLDEST = 8


@frozen
class Register:
    """The state of a register.

    Args:
        touched: what ordinary code did since the last fence: "" for nothing, "read", "move" (a mov into it), "write",
            or "never" if there was no fence yet.
        age: age of the group in which it is in flight; None if it is not in flight.
        role: "D" for an accumulator, "A" for an operand in flight.
        shape: shape of the last mma_async since the last fence that had it as an accumulator; "" for any.
        waited: the smallest N of the wait_groups since its mma_async; None without one.
        defined: whether something other than an mma_async that adds wrote it on some path.
        always: whether that is so on every path.
        added: whether an mma_async has added to it on every path; a missing initialization is reported there.
        carried: whether it was in flight across a loop back edge.
        counted: whether a ``wait_group`` that leaves groups in flight completed such a group.
    """

    touched: str = "never"
    age: int | None = None
    role: str = "D"
    shape: str = ""
    waited: int | None = None
    defined: bool = False
    always: bool = False
    added: bool = False
    carried: bool = False
    counted: bool = False


_UNKNOWN, _FRESH = Register(), Register("")
State: TypeAlias = Mapping[str, Register]
_WORSE = ("", "read", "move", "write", "never")


def step(state: State, event: Event) -> tuple[State, list[Broken]]:
    """Return the state after an event, and the violations of the event.

    A register that is not in the state was not used before.

    >>> _, violations = step({"f0": Register("", age=1)}, Touch(("f0",)))
    >>> [violation.rule.name for violation in violations]
    ['wgmma-wait']
    """
    after = dict(state)
    change(after, event)
    return after, breaches(state, event)


def breaches(state: State, event: Event) -> list[Broken]:
    """Return the violations of an event.

    >>> [violation.rule.name for violation in breaches({"f0": Register("", age=1)}, Call())]
    ['wgmma-call']
    """
    return [violation for rule in DEMANDS.get(type(event), ()) for violation in rule(state, event)]


def doubts(state: State, event: Event) -> list[Doubt]:
    """Return the doubts about an event: an accumulator that is initialized on some paths only.

    >>> doubts({"f0": Register("", defined=True)}, Mma(("f0",), adds=True))[0].what
    'whether f0 is written before it is added to'
    """
    if not isinstance(event, Mma) or not event.adds:
        return []
    registers = {name: _register_of(state, name) for name in event.accumulators}
    uninitialized = [
        name for name, register in registers.items() if register.defined and not register.always and not register.added
    ]
    if not uninitialized:
        return []
    what = f"whether {uninitialized[0]} is written before it is added to"
    why = "some paths to the mma_async write it, and some do not"
    return [Doubt("order", what, why, "scale-d 0 of the first mma_async, or a write on every path")]


def change(state: dict[str, Register], event: Event) -> None:
    """Apply an event to a state in place; ``step`` returns a new state.

    >>> state = {"f0": Register("", age=0)}
    >>> change(state, Commit())
    >>> state["f0"].age
    1
    """
    match event:
        case Fence():
            state.update(
                {name: _after_fence(register) for name, register in state.items() if register.touched or register.shape}
            )
            state[_FENCED] = Register("")
        case Commit():
            state.update({n: _after_commit(register) for n, register in state.items() if register.age is not None})
        case Wait(pending):
            state.update(
                {n: _after_wait(register, pending) for n, register in state.items() if register.age is not None}
            )
        case Mma(accumulators, a, shape, adds):
            state.update({name: _after_issue_as_a(_register_of(state, name)) for name in a})
            if adds:
                state.update({name: _after_add(_register_of(state, name), shape) for name in accumulators})
            else:
                fresh_register = Register("", age=0, shape=shape, defined=True, always=True)
                state.update(dict.fromkeys(accumulators, fresh_register))
        case Touch():
            for access, names in _list_accesses(event):
                state.update({name: _after_access(_register_of(state, name), access) for name in names})
        case Copy(target, source):
            if touch := _as_ordinary_access(state, event):
                change(state, touch)
            else:
                state[target] = _register_of(state, source)  # the copy is in flight as its source is
        case Round():
            state.update({n: _after_back_edge(register) for n, register in state.items() if register.age is not None})


#: A name that no register has. Its entry records whether there was a fence, for registers not used before.
_FENCED = "<fence>"


def _register_of(state: State, name: str) -> Register:
    register = state.get(name)
    if register is None:
        register = _FRESH if _FENCED in state and not state[_FENCED].touched else _UNKNOWN
    return register


# A kernel has very many registers in few different states, so the change of a state is computed once.
@lru_cache(maxsize=4096)
def _after_fence(register: Register) -> Register:
    return replace(register, touched="", shape="")


@lru_cache(maxsize=4096)
def _after_commit(register: Register) -> Register:
    return replace(register, age=min((register.age or 0) + 1, OLDEST))


@lru_cache(maxsize=4096)
def _after_back_edge(register: Register) -> Register:
    return replace(register, carried=True)


@lru_cache(maxsize=4096)
def _after_wait(register: Register, pending: int) -> Register:
    if register.age is not None and register.age > pending:
        return replace(register, age=None, waited=None, carried=False, counted=register.carried and pending > 0)
    return replace(register, waited=pending if register.waited is None else min(register.waited, pending))


@lru_cache(maxsize=4096)
def _after_issue_as_a(register: Register) -> Register:
    """Return the state of a register of A in flight."""
    return replace(_after_fence(register), age=0, role="A", waited=None, carried=False, counted=False)


@lru_cache(maxsize=4096)
def _after_add(register: Register, shape: str) -> Register:
    """Return the state of an accumulator after an mma_async that adds; it is defined only if it was defined before."""
    return Register("", age=0, shape=shape, defined=register.defined, always=register.always, added=True)


@lru_cache(maxsize=4096)
def _after_access(register: Register, access: str) -> Register:
    """Return the state of a register after an ordinary access; a register in flight stays in flight."""
    worst = (
        access
        if register.touched != "never" and _WORSE.index(access) > _WORSE.index(register.touched)
        else register.touched
    )
    touched, writes = worst if register.age is None else register.touched, access != "read"
    defined, always = register.defined or writes, register.always or writes
    if (touched, defined, always, register.counted) == (register.touched, register.defined, register.always, False):
        return register
    return replace(register, touched=touched, defined=defined, always=always, counted=False)  # reported once


def _list_accesses(event: Touch) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the accesses of an instruction with their registers, reads first."""
    return ("read", event.reads), ("move" if event.moves else "write", event.writes)


def _as_ordinary_access(state: State, event: Copy) -> Touch | None:
    """Return a copy as an ordinary access, or None if its source is an accumulator in flight.

    A value that was computed and then moved counts as computed.
    """
    source = _register_of(state, event.source)
    if source.age is not None and source.role == "D":
        return None
    return Touch((event.source,), (event.target,), moves=source.touched != "write")


_Violations: TypeAlias = Iterator[Broken]


def _check_fence(state: State, event: Mma) -> _Violations:
    """Report a missing fence. A register of A that was only read needs no fence."""
    states = {name: _register_of(state, name).touched for name in (*event.accumulators, *event.a)}
    if unfenced := tuple(name for name, touched in states.items() if touched in ("write", "never")):
        fact = "this mma_async uses registers that were written after the last wgmma.fence"
        if any(states[name] == "never" for name in unfenced):
            fact = "this mma_async uses registers without a wgmma.fence before it"
        yield broken("wgmma-fence", fact, unfenced)
    elif moved := tuple(name for name, touched in states.items() if touched == "move"):
        yield broken("wgmma-fence-moved", "a mov after the last wgmma.fence wrote registers of this mma_async", moved)
    elif read := tuple(name for name in event.accumulators if states[name] == "read"):
        yield broken("wgmma-fence-read", "the accumulator of this mma_async was read after the last wgmma.fence", read)


def _check_shape(state: State, event: Mma) -> _Violations:
    """Report two shapes on one accumulator without a fence in between."""
    registers = {name: _register_of(state, name) for name in event.accumulators}
    other = tuple(
        n for n, register in registers.items() if register.shape not in ("", event.shape) and not register.touched
    )
    if other and event.shape:
        fact = f"{event.shape} follows {registers[other[0]].shape} on one accumulator without a wgmma.fence in between"
        yield broken("wgmma-fence-shape", fact, other)


def _check_start(state: State, event: Mma) -> _Violations:
    """Report an accumulator that is added to and was written on no path."""
    registers = {name: _register_of(state, name) for name in event.accumulators if event.adds}
    if uninitialized := tuple(
        name for name, register in registers.items() if not register.defined and not register.added
    ):
        yield broken("wgmma-start", "this mma_async adds to an accumulator that was never written", uninitialized)


def _check_access(state: State, event: Touch) -> _Violations:
    """Report accesses of registers in flight. A wait across a loop back edge is reported once per register."""
    for access, names in _list_accesses(event):
        yield from _check_in_flight(
            state, [name for name in names if name in state and state[name].age is not None], access
        )
        reported = event.reads if access != "read" else ()
        counted = (n for n in names if n in state and state[n].counted and state[n].role == "D")
        if fresh := tuple(name for name in counted if name not in reported):
            fact = f"registers of a group that was in flight across a loop back edge are {_DONE[access]}"
            yield broken("wgmma-stage", f"{fact} after a wait_group with N > 0", fresh)


def _check_in_flight(state: State, in_flight: list[str], participle: str) -> _Violations:
    """Report an access of registers in flight. The rule depends on the commits and waits since the mma_async."""
    for name in in_flight[:1]:
        register, names, participle = state[name], tuple(in_flight), _DONE[participle]
        if register.role == "A":
            rule = "wgmma-a-read" if participle == _DONE["read"] else "wgmma-a-changed"
            yield broken(rule, f"a register of A is {participle} while its group is in flight", names)
        elif register.waited is None:
            yield broken(
                "wgmma-wait", f"an accumulator is {participle} without a wait_group after its mma_async", names
            )
        elif register.age == 0:
            fact = (
                f"an accumulator is {participle} before its mma_async is committed, so the wait_group does not cover it"
            )
            yield broken("wgmma-commit", fact, names)
        else:
            fact = f"an accumulator is {participle} after wait_group {register.waited}, which does not cover its group"
            note = f"its group is the {_ordinal(register.age or 0)}newest here"
            yield broken("wgmma-wait-count", f"{fact}; {note}", names)


#: The past participle of each access of a register.
_DONE = {"read": "read", "write": "written", "move": "overwritten by a mov"}


def _ordinal(number: int) -> str:
    """Return a number as an ordinal with a space after it; "" for 1."""
    return {1: "", 2: "2nd ", 3: "3rd "}.get(number, f"{number}th ")


def _check_copy(state: State, event: Copy) -> _Violations:
    if touch := _as_ordinary_access(state, event):
        yield from _check_access(state, touch)
        return
    yield broken("wgmma-copied", "a mov copies an accumulator that is in flight", (event.source,))
    if event.target in state and state[event.target].age is not None and event.target != event.source:
        yield from _check_in_flight(state, [event.target], "write")


def _check_call(state: State, event: Call) -> _Violations:
    if in_flight := tuple(name for name, register in state.items() if register.age is not None):
        yield broken("wgmma-call", "a function is called while an mma_async is in flight", in_flight[:4])


#: The functions that compare each event with the state before it.
DEMANDS: Mapping[type, tuple[Callable[[State, Any], _Violations], ...]] = {
    Mma: (_check_fence, _check_shape, _check_start),
    Touch: (_check_access,),
    Copy: (_check_copy,),
    Call: (_check_call,),
}


def meet(first: State, second: State) -> State:
    """Return the state where two paths meet: the worse state of each register.

    >>> meet({"f0": Register("", age=2)}, {"f0": Register("", age=1)})["f0"].age
    1
    """
    if first == second:
        return first
    names = dict.fromkeys((*first, *second))
    merged = {
        name: _worse(_register_of(first, name), _register_of(second, name)) for name in sorted(names) if name != _FENCED
    }
    if _FENCED in first and _FENCED in second:
        merged[_FENCED] = Register("")
    return merged


def _worse(a: Register, b: Register) -> Register:
    return a if a is b else _worst(a, b)


@lru_cache(maxsize=1 << 14)
def _worst(a: Register, b: Register) -> Register:
    if a == b:
        return a
    ages = [x.age for x in (a, b) if x.age is not None]
    in_flight = [x for x in (a, b) if x.age is not None]
    waits = [x.waited for x in in_flight]
    return Register(
        touched=max(a.touched, b.touched, key=_WORSE.index),
        age=min(ages, default=None),
        role=min((x.role for x in in_flight), default="D", key="DA".index),
        shape=a.shape if a.shape == b.shape else "",
        waited=None if None in waits else max((w for w in waits if w is not None), default=None),
        defined=a.defined or b.defined,
        always=a.always and b.always,
        added=a.added and b.added,
        carried=a.carried or b.carried,
        counted=a.counted or b.counted,
    )


def run(events: Iterable[Event], state: State | None = None) -> tuple[State, list[Broken]]:
    """Return the state after a sequence of events, and all violations.

    >>> run([Mma(("f0",)), Commit(), Wait(0)])[1][0].rule.name
    'wgmma-fence'
    """
    current, violations = state or {}, []
    for event in events:
        current, event_violations = step(current, event)
        violations.extend(event_violations)
    return current, violations
