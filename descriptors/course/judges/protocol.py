"""Judges of the order of instructions: a sequence of events, run by the simulator of the emission protocol.

A sequence is written with commas: ``fence, mma d, commit, wait 0, read d``. A name stands for the registers of one
accumulator. ``mma d`` begins a sum, ``mma+ d`` adds to one; ``write d`` is ordinary code that computes into it.

Law: what the simulator finds first is the hint; any clean sequence that does what was asked is right.

>>> ordered("fence, mma d, commit, wait 0, read d", ["mma d", "read d"])
>>> ordered("mma d, commit, wait 0, read d", ["mma d", "read d"])[:60]
'breaks a rule at event 1, mma d: a wgmma.fence must stand be'
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from descriptors.check.events import Commit, Event, Fence, Mma, Touch, Wait
from descriptors.check.sequence import first_broken
from descriptors.course.judges.typed import integers_of
from descriptors.errors import DescriptorError

_EVENT = re.compile(r"(fence|commit)|(wait) ([0-7])|(mma\+?|read|write) ([a-z][a-z0-9]{0,7})")
#: The longest sequence that is read.
LONGEST = 64


def ordered(answer: str, done: Sequence[str]) -> str | None:
    """A sequence that breaks no rule and does some things, in this order, whatever stands between them."""
    names = names_of(answer)
    rest = iter(names)
    missing = next((one for one in done if one not in rest), None)
    return f"does not do these in order: {', '.join(done)}; {missing} is missing" if missing else broken(names)


def inserted(answer: str, given: str) -> str | None:
    """The given sequence with one event put in, or some, so that it breaks no rule any more."""
    names, rest = names_of(answer), iter(names_of(answer))
    if not all(one in rest for one in names_of(given)):
        return "has lost an event, or changed the order of those that were given"
    return broken(names)


def overlapped(answer: str, read: str, flying: str, done: Sequence[str]) -> str | None:
    """A sequence in which one accumulator is read while another one is still in flight."""
    names = names_of(answer)
    wrong = ordered(answer, done)
    if wrong:
        return wrong
    early = [*names[: names.index(read)], flying]
    return None if broken(early) else f"has waited for everything: {flying} could stand before {read} as well"


def largest_wait(answer: str, before: str, after: str) -> str | None:
    """The largest N of a wait between two parts of a sequence with which no rule is broken."""
    (number,) = integers_of(answer, 1)
    if not 0 <= number <= 7:
        return f"must be 0 to 7, found {number}"
    tried = {n: broken([*names_of(before), f"wait {n}", *names_of(after)]) for n in range(8)}
    if tried[number]:
        return f"leaves too many groups in flight: {tried[number]}"
    larger = any(not tried[n] for n in range(number + 1, 8))
    return f"is safe, but waits for more than it must: wait {number} is not the largest" if larger else None


def names_of(text: str) -> list[str]:
    """The events of a sequence, each as it is written.

    Raises:
        DescriptorError: for one that there is not.
    """
    names = [" ".join(one.split()) for one in text.strip(" .").lower().split(",")]
    strange = [one for one in names if not _EVENT.fullmatch(one)]
    if strange or len(names) > LONGEST:
        raise DescriptorError(
            "answer: it must be events with commas (fence, mma d, mma+ d, commit, wait 0, read d, write d), "
            f"found {strange[0][:20]!r}"
            if strange
            else f"answer: at most {LONGEST} events, found {len(names)}"
        )
    return names


def events_of(names: Sequence[str]) -> list[Event]:
    """The events as the simulator takes them."""
    return [_event(name) for name in names]


def broken(names: Sequence[str]) -> str | None:
    """The first rule of grade error that a sequence breaks, in a sentence about the answer."""
    found = first_broken(events_of(names))
    if found is None:
        return None
    rule = found.broken
    return f"breaks a rule at event {found.index + 1}, {names[found.index]}: {rule.rule.demands}, {rule.found}"


def _event(name: str) -> Event:
    verb, _, what = name.partition(" ")
    match verb:
        case "fence":
            return Fence()
        case "commit":
            return Commit()
        case "wait":
            return Wait(int(what))
        case "read":
            return Touch((what,))
        case "write":
            return Touch((), (what,))
    return Mma((what,), shape="m64n8k16", adds=verb == "mma+")


#: The judges, by the name that an exercise gives.
JUDGES: dict[str, Callable[..., str | None]] = {
    "ordered": ordered,
    "inserted": inserted,
    "overlapped": overlapped,
    "largest wait": largest_wait,
}
