"""The protocol of ``wgmma`` in one warpgroup: which registers are idle, fenced, or in flight, and in which group.

A register is *written* or *read* by ordinary code, and then needs a fence before an mma_async may have it; *fenced*; or
*in flight* in a group of some age: 0 is the group that is still open, 1 the newest that was committed. ``wait_group N``
completes the groups older than N. Where two paths meet, a register has the worse of its two states: the younger group,
the missing fence. Only registers of some mma_async are kept, so that a state is as large as a kernel's accumulators.
The rules stand in ``rules``; ``DEMANDS`` names, beside each event, the functions that hold it against the state before
it, and ``change`` makes the state behind it.
Source: PTX ISA 9.1, wgmma.fence, wgmma.mma_async, wgmma.commit_group, wgmma.wait_group.

Law: where a state meets itself it stays, and the order of the two does not matter.

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

#: Groups are told apart up to this age; ``wait_group`` takes no greater number than 7.
OLDEST = 8


@frozen
class Register:
    """What is known of a register.

    Args:
        touched: what ordinary code did since the last fence: "" nothing, "read", "move" (a mov into it), "write", or
            "never": no fence yet.
        age: of the group in which it is in flight; None if it is not.
        role: "D" for an accumulator, "A" for an operand in flight.
        shape: of the mma_async that last had it as an accumulator since the last fence; "" for any.
        waited: the least N of the wait_groups since its mma_async; None without one.
        defined: whether on some way anything was written to it, beside an mma_async that adds to it.
        always: whether that is so on every way.
        added: whether on every way an mma_async has added to it: what it lacked is told there.
        carried: whether it came in flight over the way back of a loop.
        counted: whether a ``wait_group`` that leaves groups in flight ended such a flight.
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
    """The state after an event, and the rules that the event breaks.

    A register that is not in the state was never seen.

    >>> _, told = step({"f0": Register("", age=1)}, Touch(("f0",)))
    >>> [one.rule.name for one in told]
    ['wgmma-wait']
    """
    after = dict(state)
    change(after, event)
    return after, breaches(state, event)


def breaches(state: State, event: Event) -> list[Broken]:
    """The rules that an event breaks.

    >>> [one.rule.name for one in breaches({"f0": Register("", age=1)}, Call())]
    ['wgmma-call']
    """
    return [one for rule in DEMANDS.get(type(event), ()) for one in rule(state, event)]


def doubts(state: State, event: Event) -> list[Doubt]:
    """What an event leaves open: an accumulator that only some ways write before it is added to.

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
    why = "some ways to it write it, and some do not"
    return [Doubt("order", what, why, "scale-d 0 of the first mma_async, or a write on every way")]


def change(state: dict[str, Register], event: Event) -> None:
    """Change a state as an event does; ``step`` leaves the state alone.

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


#: A name that no register has: whether a fence was passed, for registers that were not seen before.
_FENCED = "<fence>"


def _seen(state: State, name: str) -> Register:
    found = state.get(name)
    if found is None:
        found = _FRESH if _FENCED in state and not state[_FENCED].touched else _UNKNOWN
    return found


# A kernel has few kinds of registers and very many of them: what becomes of a kind is computed once.
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
    """A register of A in flight."""
    return replace(_fenced(one), age=0, role="A", waited=None, carried=False, counted=False)


@lru_cache(maxsize=4096)
def _added_to(one: Register, shape: str) -> Register:
    """An accumulator whose old value is read: what never was written has no value behind it either."""
    return Register("", age=0, shape=shape, defined=one.defined, always=one.always, added=True)


@lru_cache(maxsize=4096)
def _touched(one: Register, done: str) -> Register:
    """A register after ordinary code; one in flight stays so: that it was touched is told once, where it was."""
    worst = done if one.touched != "never" and _WORSE.index(done) > _WORSE.index(one.touched) else one.touched
    touched, wrote = worst if one.age is None else one.touched, done != "read"
    defined, always = one.defined or wrote, one.always or wrote
    if (touched, defined, always, one.counted) == (one.touched, one.defined, one.always, False):
        return one
    return replace(one, touched=touched, defined=defined, always=always, counted=False)  # told once


def _accesses(event: Touch) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """What an instruction does to registers, and to which, in its order."""
    return ("read", event.reads), ("move" if event.moves else "write", event.writes)


def _computed(state: State, event: Copy) -> Touch | None:
    """A copy as what it is, if its source is no accumulator in flight: what is moved after it was computed is as good
    as computed."""
    source = _seen(state, event.source)
    if source.age is not None and source.role == "D":
        return None
    return Touch((event.source,), (event.target,), moves=source.touched != "write")


_Found: TypeAlias = Iterator[Broken]


def _fence(state: State, event: Mma) -> _Found:
    """An operand A that only was read needs no fence: reads do not disturb each other."""
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
    seen = {name: _seen(state, name) for name in event.accumulators}
    other = tuple(n for n, one in seen.items() if one.shape not in ("", event.shape) and not one.touched)
    if other and event.shape:
        fact = f"{event.shape} follows {seen[other[0]].shape} on one accumulator without a wgmma.fence in between"
        yield broken("wgmma-fence-shape", fact, other)


def _start(state: State, event: Mma) -> _Found:
    seen = {name: _seen(state, name) for name in event.accumulators if event.adds}
    if bare := tuple(name for name, one in seen.items() if not one.defined and not one.added):
        yield broken("wgmma-start", "this mma_async adds to an accumulator that was never written", bare)


def _access(state: State, event: Touch) -> _Found:
    """What is in flight must not be touched; what ended a flight over a loop is told once, read and written or not."""
    for done, names in _accesses(event):
        yield from _early(state, [name for name in names if name in state and state[name].age is not None], done)
        told = event.reads if done != "read" else ()
        counted = (n for n in names if n in state and state[n].counted and state[n].role == "D")
        if fresh := tuple(name for name in counted if name not in told):
            fact = f"registers of a group that was in flight across a loop back edge are {_DONE[done]}"
            yield broken("wgmma-stage", f"{fact} after a wait_group with N > 0", fresh)


def _early(state: State, flying: list[str], done: str) -> _Found:
    """An access of registers in flight: which rule it breaks depends on what was done since the mma_async."""
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
            note = f"here its group is the {_ordinal(one.age or 0)} newest"
            yield broken("wgmma-wait-count", f"{fact}; {note}", names)


#: The past participle of each access of a register.
_DONE = {"read": "read", "write": "written", "move": "overwritten by a mov"}


def _ordinal(number: int) -> str:
    return {1: "1st", 2: "2nd", 3: "3rd"}.get(number, f"{number}th")


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


#: What each event is held against.
DEMANDS: Mapping[type, tuple[Callable[[State, Any], _Found], ...]] = {
    Mma: (_fence, _shape, _start),
    Touch: (_access,),
    Copy: (_copy,),
    Call: (_call,),
}


def meet(one: State, other: State) -> State:
    """The state where two paths meet: of each register the worse.

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
    """The state after a sequence of events, and every rule that was broken on the way.

    >>> run([Mma(("f0",)), Commit(), Wait(0)])[1][0].rule.name
    'wgmma-fence'
    """
    now, told = state or {}, []
    for event in events:
        now, found = step(now, event)
        told.extend(found)
    return now, told
