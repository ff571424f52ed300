"""The judge of an order of events: any order that breaks no rule of wgmma and does what is asked is right.

It is written with commas: ``fence, mma, commit, wait 0, read``. ``mma`` adds up a sum in registers, ``read`` uses it.

Invariant: what the checker of kernels finds first is the hint.

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
#: The longest order that is read, and the registers of the sum.
LONGEST, SUM = 64, ("d",)


def ordered(answer: str, steps: Sequence[str]) -> str | None:
    """An order of events that breaks no rule and does some things one after the other, whatever stands between.

    Raises:
        DescriptorError: for an event that there is not.
    """
    text = answer.lower()
    names = [one[1] or f"{one[2]} {one[3]}" for one in _EVENT.finditer(text)]
    strange = _EVENT.sub(" ", text).strip(" \t\r\n,;.`->→")
    if strange or not 0 < len(names) <= LONGEST:
        rule = f"it must be at most {LONGEST} events with commas (fence, mma, commit, wait 0, read)"
        raise DescriptorError(f"answer: {rule}, found {repr(strange[:20]) if strange else len(names)}")
    rest = iter(names)
    missing = next((one for one in steps if one not in rest), None)
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


#: The judges, by the name that an exercise gives.
JUDGES: dict[str, Callable[..., str | None]] = {"ordered": ordered}
