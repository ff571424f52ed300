"""Judge an order of wgmma events: it is right if it violates no rule and contains the required steps in order.

An order is written with commas: ``fence, mma, commit, wait 0, read``. ``mma`` accumulates in registers, ``read`` uses
them.

Invariant: the hint is the first error that the kernel checker finds.

>>> ordered("fence, mma, commit, wait 0, read", ["mma", "read"])
>>> ordered("mma, commit, wait 0, read", ["mma", "read"])[:60]
'breaks a rule at event 1, mma: this mma_async uses registers'
>>> ordered("fence, mma, commit, wait 0", ["mma", "read"])
'does not do these in order: mma, read; read is missing'
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from descriptors.check.events import Commit, Event, Fence, Mma, Touch, Wait
from descriptors.check.sequence import first_broken
from descriptors.errors import DescriptorError

_EVENT = re.compile(r"(?:wgmma[. ])?(?:(fence|commit|mma|read)(?:_group|_async)?|(wait)(?:_group)?[ (<]*([0-7])[)>]?)")
#: The largest number of events, and the accumulator registers.
LONGEST, SUM = 64, ("d",)


def ordered(answer: str, steps: Sequence[str]) -> str | None:
    """Judge an order of events that must violate no rule and contain some steps in order.

    Raises:
        DescriptorError: for an unknown event.
    """
    text = answer.lower()
    names = [match[1] or f"{match[2]} {match[3]}" for match in _EVENT.finditer(text)]
    unknown = _EVENT.sub(" ", text).strip(" \t\r\n,;.`->→")
    if unknown or not 0 < len(names) <= LONGEST:
        fact = f"{unknown[:20]!r} is not an event" if unknown else f"it has {len(names)} events"
        raise DescriptorError(
            f"answer: {fact}; write at most {LONGEST} of fence, mma, commit, wait 0, read with commas"
        )
    rest = iter(names)
    missing = next((step for step in steps if step not in rest), None)
    if missing:
        return f"does not do these in order: {', '.join(steps)}; {missing} is missing"
    first = first_broken([_event(name) for name in names])
    if first is None:
        return None
    broken = first.broken
    return f"breaks a rule at event {first.index + 1}, {names[first.index]}: {broken.found}"


def _event(name: str) -> Event:
    match name:
        case "fence":
            return Fence()
        case "commit":
            return Commit()
        case "read":
            return Touch(SUM)
        case "mma":
            return Mma(SUM, shape="m64n32k16")
    return Wait(int(name[-1]))


#: The judges, by the names that exercises use.
JUDGES: dict[str, Callable[..., str | None]] = {"ordered": ordered}
