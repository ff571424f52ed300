"""A sequence of events in, the first broken rule out: the emission protocol as a function.

Both families run side by side, each on the events that it knows, so that a sequence may mix them.
Source: as ``rules``, each with its own.

Law: what is put where a fix says leaves nothing to say.

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
    """Where a sequence breaks a rule.

    Args:
        index: of the event in the sequence.
        event: the event.
        broken: the rule, and what was found.
    """

    index: int
    event: Event
    broken: Broken

    def __str__(self) -> str:
        return f"event {self.index}, {self.event}: {self.broken}"


def breaches(events: Iterable[Event]) -> Iterator[Breach]:
    """Every breach of a rule, in order.

    >>> from descriptors.check.events import Mma, Touch
    >>> [one.index for one in breaches([Mma(("f0",)), Touch(("f0",))])]
    [0, 1]
    """
    warpgroup: wgmma.State = {}
    tensor = tcgen05.TensorState()
    for index, event in enumerate(events):
        warpgroup, of_registers = wgmma.step(warpgroup, event)
        tensor, of_memory = tcgen05.step(tensor, event)
        yield from (Breach(index, event, one) for one in (*of_registers, *of_memory))


def first_broken(events: Iterable[Event], level: Level = Level.ERROR) -> Breach | None:
    """The first breach of a rule of this level; None where there is none.

    Args:
        events: what is issued, in the order of the program.
        level: which rules count.

    Source: as ``descriptors.check.rules.RULES``.

    >>> from descriptors.check.events import Commit, Fence, Mma, Touch
    >>> print(first_broken([Fence(), Mma(("f0",)), Commit(), Touch(("f0",))]).broken.rule.name)
    wgmma-wait
    """
    return next((one for one in breaches(events) if one.broken.rule.level is level), None)
