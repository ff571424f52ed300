"""The violations of a sequence of events by the protocols of ``wgmma`` and ``tcgen05``.

Both protocols run side by side, each on its own events, so a sequence may contain both.
Source: the source of each rule.

Invariant: after the fix of a violation is applied, the violation is gone.

>>> from descriptors.check.events import Commit, Fence, Mma, Touch, Wait
>>> mma = Mma(("f0", "f1"), shape="m64n8k16")
>>> first_broken([mma, Commit(), Wait(0), Touch(("f0",))]).broken.rule.fix
'insert wgmma.fence.sync.aligned before the mma_async'
>>> first_broken([Fence(), mma, Commit(), Wait(0), Touch(("f0",))]) is None
True
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from descriptors.check import tcgen05, wgmma
from descriptors.check.events import Event
from descriptors.check.rules import Broken, Level
from layoutalg.frozen import frozen


@frozen
class Breach:
    """A violation of a rule in a sequence of events.

    Args:
        index: index of the event in the sequence.
        event: the event.
        broken: the rule and the fact.
    """

    index: int
    event: Event
    broken: Broken

    def __str__(self) -> str:
        return f"event {self.index}, {self.event}: {self.broken}"


def breaches(events: Iterable[Event]) -> Iterator[Breach]:
    """Yield the violations of a sequence of events, in order.

    >>> from descriptors.check.events import Mma, Touch
    >>> [breach.index for breach in breaches([Mma(("f0",)), Touch(("f0",))])]
    [0, 1]
    """
    warpgroup: wgmma.State = {}
    tensor = tcgen05.TensorState()
    for index, event in enumerate(events):
        warpgroup, register_violations = wgmma.step(warpgroup, event)
        tensor, memory_violations = tcgen05.step(tensor, event)
        yield from (Breach(index, event, violation) for violation in (*register_violations, *memory_violations))


def first_broken(events: Iterable[Event], level: Level = Level.ERROR) -> Breach | None:
    """Return the first violation of a rule of some level; None if there is none.

    Args:
        events: the events in program order.
        level: the level of the rules that count.

    Source: ``descriptors.check.rules.RULES``.

    >>> from descriptors.check.events import Commit, Fence, Mma, Touch
    >>> print(first_broken([Fence(), Mma(("f0",)), Commit(), Touch(("f0",))]).broken.rule.name)
    wgmma-wait
    """
    return next((breach for breach in breaches(events) if breach.broken.rule.level is level), None)
