"""Events: what an instruction does, as far as the emission protocol sees it.

A kernel that was read becomes a sequence of them; so does what a test writes down.

Law: an event is a value: equal by content, written as it is made.

>>> from descriptors.check import events
>>> one = events.Mma(("f0", "f1"), shape="m64n8k16")
>>> eval(repr(one), vars(events)) == one
True
"""

from __future__ import annotations

from typing import TypeAlias

from descriptors.frozen import frozen


@frozen
class Fence:
    """``wgmma.fence``."""


@frozen
class Mma:
    """``wgmma.mma_async``.

    Args:
        accumulators: the registers of D.
        a: the registers of A; empty where A lies in shared memory.
        shape: the shape and types, as the qualifiers have them: what must be equal for an order without a fence.
        adds: whether D is read as well: scale-d 1, or a predicate.
    """

    accumulators: tuple[str, ...]
    a: tuple[str, ...] = ()
    shape: str = ""
    adds: bool = False


@frozen
class Commit:
    """``wgmma.commit_group``."""


@frozen
class Wait:
    """``wgmma.wait_group``: at most ``pending`` groups, the newest, stay in flight."""

    pending: int


@frozen
class Touch:
    """An ordinary instruction that reads and writes registers.

    Args:
        reads: the registers that it reads.
        writes: those that it writes.
        moves: whether it only moves a constant or another register into what it writes.
    """

    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    moves: bool = False


@frozen
class Copy:
    """A ``mov`` from one register to another."""

    target: str
    source: str


@frozen
class Call:
    """A call of a function."""


@frozen
class Round:
    """The way back to the head of a loop."""


@frozen
class Alloc:
    """``tcgen05.alloc``; ``columns`` is None where a register says how many."""

    columns: int | None


@frozen
class Dealloc:
    """``tcgen05.dealloc``; ``columns`` is None where a register says how many."""

    columns: int | None


@frozen
class Relinquish:
    """``tcgen05.relinquish_alloc_permit``."""


@frozen
class Issue:
    """An asynchronous tcgen05 operation that a commit completes: ``mma``, ``cp`` or ``shift``."""

    operation: str


@frozen
class TensorCommit:
    """``tcgen05.commit`` to the mbarrier at an address; "" where it is not known."""

    barrier: str = ""


@frozen
class BarrierWait:
    """A wait for the phase of an mbarrier; "" where its address is not known."""

    barrier: str = ""


@frozen
class Load:
    """``tcgen05.ld``: registers from tensor memory.

    Args:
        registers: those that are filled.
        place: the address, as it is written; "" where it is not known.
    """

    registers: tuple[str, ...] = ()
    place: str = ""


@frozen
class Store:
    """``tcgen05.st``: registers into tensor memory; ``place`` is as in ``Load``."""

    registers: tuple[str, ...] = ()
    place: str = ""


@frozen
class WaitLoad:
    """``tcgen05.wait::ld``."""


@frozen
class WaitStore:
    """``tcgen05.wait::st``."""


@frozen
class FenceAfter:
    """``tcgen05.fence::after_thread_sync``."""


@frozen
class End:
    """The end of the kernel."""


WgmmaEvent: TypeAlias = Fence | Mma | Commit | Wait | Touch | Copy | Call | Round
TensorEvent: TypeAlias = (
    Alloc | Dealloc | Relinquish | Issue | TensorCommit | BarrierWait | Load | Store | WaitLoad | WaitStore
    | FenceAfter | Touch | End
)  # fmt: skip
Event: TypeAlias = WgmmaEvent | TensorEvent
