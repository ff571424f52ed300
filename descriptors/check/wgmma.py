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
    return [one for rule in DEMANDS.get(type(event), ()) for one in rule(state, event)]


def doubts(state: State, event: Event) -> list[Doubt]:
    """Return the doubts about an event: an accumulator that is initialized on some paths only.

    >>> doubts({"f0": Register("", defined=True)}, Mma(("f0",), adds=True))[0].what
    'whether f0 is written before it is added to'
    """
    if not isinstance(event, Mma) or not event.adds:
        return []
    seen = {name: _seen(state, name) for name in event.accumulators}
    bare = [name for name, one in seen.items() if one.defined and not one.always and not one.added]
    if not bare:
        return []
    what = f"whether {bare[0]} is written before it is added to"
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
            state.update({name: _fenced(one) for name, one in state.items() if one.touched or one.shape})
            state[_FENCED] = Register("")
        case Commit():
            state.update({n: _committed(one) for n, one in state.items() if one.age is not None})
        case Wait(pending):
            state.update({n: _waited(one, pending) for n, one in state.items() if one.age is not None})
        case Mma(accumulators, a, shape, adds):
            state.update({name: _issued(_seen(state, name)) for name in a})
            if adds:
                state.update({name: _added_to(_seen(state, name), shape) for name in accumulators})
            else:
                made = Register("", age=0, shape=shape, defined=True, always=True)
                state.update(dict.fromkeys(accumulators, made))
        case Touch():
            for done, names in _accesses(event):
                state.update({name: _touched(_seen(state, name), done) for name in names})
        case Copy(target, source):
            if touch := _computed(state, event):
                change(state, touch)
            else:
                state[target] = _seen(state, source)  # the copy is in flight as its source is
        case Round():
            state.update({n: _carried(one) for n, one in state.items() if one.age is not None})


#: A name that no register has. Its entry records whether there was a fence, for registers not used before.
_FENCED = "<fence>"


def _seen(state: State, name: str) -> Register:
    found = state.get(name)
    if found is None:
        found = _FRESH if _FENCED in state and not state[_FENCED].touched else _UNKNOWN
    return found


# A kernel has very many registers in few different states, so the change of a state is computed once.
@lru_cache(maxsize=4096)
def _fenced(one: Register) -> Register:
    return replace(one, touched="", shape="")


@lru_cache(maxsize=4096)
def _committed(one: Register) -> Register:
    return replace(one, age=min((one.age or 0) + 1, OLDEST))


@lru_cache(maxsize=4096)
def _carried(one: Register) -> Register:
    return replace(one, carried=True)


@lru_cache(maxsize=4096)
def _waited(one: Register, pending: int) -> Register:
    if one.age is not None and one.age > pending:
        return replace(one, age=None, waited=None, carried=False, counted=one.carried and pending > 0)
    return replace(one, waited=pending if one.waited is None else min(one.waited, pending))


@lru_cache(maxsize=4096)
def _issued(one: Register) -> Register:
    """Return the state of a register of A in flight."""
    return replace(_fenced(one), age=0, role="A", waited=None, carried=False, counted=False)


@lru_cache(maxsize=4096)
def _added_to(one: Register, shape: str) -> Register:
    """Return the state of an accumulator after an mma_async that adds; it is defined only if it was defined before."""
    return Register("", age=0, shape=shape, defined=one.defined, always=one.always, added=True)


@lru_cache(maxsize=4096)
def _touched(one: Register, done: str) -> Register:
    """Return the state of a register after an ordinary access; a register in flight stays in flight."""
    worst = done if one.touched != "never" and _WORSE.index(done) > _WORSE.index(one.touched) else one.touched
    touched, wrote = worst if one.age is None else one.touched, done != "read"
    defined, always = one.defined or wrote, one.always or wrote
    if (touched, defined, always, one.counted) == (one.touched, one.defined, one.always, False):
        return one
    return replace(one, touched=touched, defined=defined, always=always, counted=False)  # reported once


def _accesses(event: Touch) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the accesses of an instruction with their registers, reads first."""
    return ("read", event.reads), ("move" if event.moves else "write", event.writes)


def _computed(state: State, event: Copy) -> Touch | None:
    """Return a copy as an ordinary access, or None if its source is an accumulator in flight.

    A value that was computed and then moved counts as computed.
    """
    source = _seen(state, event.source)
    if source.age is not None and source.role == "D":
        return None
    return Touch((event.source,), (event.target,), moves=source.touched != "write")


_Found: TypeAlias = Iterator[Broken]


def _fence(state: State, event: Mma) -> _Found:
    """Report a missing fence. A register of A that was only read needs no fence."""
    seen = {name: _seen(state, name).touched for name in (*event.accumulators, *event.a)}
    if unfenced := tuple(name for name, touched in seen.items() if touched in ("write", "never")):
        fact = "this mma_async uses registers that were written after the last wgmma.fence"
        if any(seen[name] == "never" for name in unfenced):
            fact = "this mma_async uses registers without a wgmma.fence before it"
        yield broken("wgmma-fence", fact, unfenced)
    elif moved := tuple(name for name, touched in seen.items() if touched == "move"):
        yield broken("wgmma-fence-moved", "a mov after the last wgmma.fence wrote registers of this mma_async", moved)
    elif read := tuple(name for name in event.accumulators if seen[name] == "read"):
        yield broken("wgmma-fence-read", "the accumulator of this mma_async was read after the last wgmma.fence", read)


def _shape(state: State, event: Mma) -> _Found:
    """Report two shapes on one accumulator without a fence in between."""
    seen = {name: _seen(state, name) for name in event.accumulators}
    other = tuple(n for n, one in seen.items() if one.shape not in ("", event.shape) and not one.touched)
    if other and event.shape:
        fact = f"{event.shape} follows {seen[other[0]].shape} on one accumulator without a wgmma.fence in between"
        yield broken("wgmma-fence-shape", fact, other)


def _start(state: State, event: Mma) -> _Found:
    """Report an accumulator that is added to and was written on no path."""
    seen = {name: _seen(state, name) for name in event.accumulators if event.adds}
    if bare := tuple(name for name, one in seen.items() if not one.defined and not one.added):
        yield broken("wgmma-start", "this mma_async adds to an accumulator that was never written", bare)


def _access(state: State, event: Touch) -> _Found:
    """Report accesses of registers in flight. A wait across a loop back edge is reported once per register."""
    for done, names in _accesses(event):
        yield from _early(state, [name for name in names if name in state and state[name].age is not None], done)
        reported = event.reads if done != "read" else ()
        counted = (n for n in names if n in state and state[n].counted and state[n].role == "D")
        if fresh := tuple(name for name in counted if name not in reported):
            fact = f"registers of a group that was in flight across a loop back edge are {_DONE[done]}"
            yield broken("wgmma-stage", f"{fact} after a wait_group with N > 0", fresh)


def _early(state: State, flying: list[str], done: str) -> _Found:
    """Report an access of registers in flight. The rule depends on the commits and waits since the mma_async."""
    for name in flying[:1]:
        one, names, done = state[name], tuple(flying), _DONE[done]
        if one.role == "A":
            rule = "wgmma-a-read" if done == _DONE["read"] else "wgmma-a-changed"
            yield broken(rule, f"a register of A is {done} while its group is in flight", names)
        elif one.waited is None:
            yield broken("wgmma-wait", f"an accumulator is {done} without a wait_group after its mma_async", names)
        elif one.age == 0:
            fact = f"an accumulator is {done} before its mma_async is committed, so the wait_group does not cover it"
            yield broken("wgmma-commit", fact, names)
        else:
            fact = f"an accumulator is {done} after wait_group {one.waited}, which does not cover its group"
            note = f"its group is the {_ordinal(one.age or 0)}newest here"
            yield broken("wgmma-wait-count", f"{fact}; {note}", names)


#: The past participle of each access of a register.
_DONE = {"read": "read", "write": "written", "move": "overwritten by a mov"}


def _ordinal(number: int) -> str:
    """Return a number as an ordinal with a space after it; "" for 1."""
    return {1: "", 2: "2nd ", 3: "3rd "}.get(number, f"{number}th ")


def _copy(state: State, event: Copy) -> _Found:
    if touch := _computed(state, event):
        yield from _access(state, touch)
        return
    yield broken("wgmma-copied", "a mov copies an accumulator that is in flight", (event.source,))
    if event.target in state and state[event.target].age is not None and event.target != event.source:
        yield from _early(state, [event.target], "write")


def _call(state: State, event: Call) -> _Found:
    if flying := tuple(name for name, one in state.items() if one.age is not None):
        yield broken("wgmma-call", "a function is called while an mma_async is in flight", flying[:4])


#: The functions that compare each event with the state before it.
DEMANDS: Mapping[type, tuple[Callable[[State, Any], _Found], ...]] = {
    Mma: (_fence, _shape, _start),
    Touch: (_access,),
    Copy: (_copy,),
    Call: (_call,),
}


def meet(one: State, other: State) -> State:
    """Return the state where two paths meet: the worse state of each register.

    >>> meet({"f0": Register("", age=2)}, {"f0": Register("", age=1)})["f0"].age
    1
    """
    if one == other:
        return one
    names = dict.fromkeys((*one, *other))
    met = {name: _worse(_seen(one, name), _seen(other, name)) for name in sorted(names) if name != _FENCED}
    if _FENCED in one and _FENCED in other:
        met[_FENCED] = Register("")
    return met


def _worse(a: Register, b: Register) -> Register:
    return a if a is b else _worst(a, b)


@lru_cache(maxsize=1 << 14)
def _worst(a: Register, b: Register) -> Register:
    if a == b:
        return a
    ages = [x.age for x in (a, b) if x.age is not None]
    flying = [x for x in (a, b) if x.age is not None]
    waits = [x.waited for x in flying]
    return Register(
        touched=max(a.touched, b.touched, key=_WORSE.index),
        age=min(ages, default=None),
        role=min((x.role for x in flying), default="D", key="DA".index),
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
        current, found = step(current, event)
        violations.extend(found)
    return current, violations
