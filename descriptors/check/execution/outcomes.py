"""What a run comes to: something wrong, what it did not see, or a place where it cannot go on.

Source: ours; what is wrong is said by the rules of ``check/rules``.

Law: a stop says what it needs; where nobody says what that is, its reason does.

>>> stop = Stop(7, "stopped after 60000 steps", reason=Reason.ENDLESS)
>>> stop.what == Reason.ENDLESS.value, str(stop)
(True, 'line 7: a run that does not end: stopped after 60000 steps')
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import NamedTuple

from descriptors.check.execution.lanes import Unknown, origin_text
from descriptors.check.execution.mbarrier import Box


class Witness(NamedTuple):
    """Something wrong that a run came to.

    Args:
        rule: of the table.
        place: of the instruction.
        found: what was found.
        other: the line of the other event, which came before; 0 for none.
        round: how often its warp has reached it, this time included; 0 where no warp is at it.
        other_round: likewise of the other event.
        rounds: how often it comes by in all; 0 where the run has no end.
        parameters: what scalar parameters were in the run, for a person.
    """

    rule: str
    place: int
    found: str
    other: int = 0
    round: int = 0
    other_round: int = 0
    rounds: int = 0
    parameters: str = ""

    @property
    def fact(self) -> str:
        """What is the case, without the notes."""
        return self.found.partition("; ")[0]


#: The property that a rule is of, by the first word of its name.
PROPERTIES_OF = {
    "barrier": ("barriers",),
    "bytes": ("bytes",),
    "proxy": ("proxies",),
    "reuse": ("reuse",),
    "fragment": ("fragments",),
    "tcgen05": ("tensor memory",),
    "wgmma": ("order",),
}
#: What is remarked of an init, and goes well.
_AGAIN = "barrier-init-again"


def is_wrong(witnesses: Iterable[Witness]) -> bool:
    """Whether something is more than remarked, and a run may go on differently for it.

    >>> [is_wrong([Witness(rule, 3, "found")]) for rule in ("barrier-init-again", "barrier-hang")]
    [False, True]
    """
    return any(witness.rule != _AGAIN for witness in witnesses)


class Notes:
    """What is noted of a run, for those who judge it; what is by number is by that of the instruction."""

    def __init__(self) -> None:
        self.wrong: dict[tuple[str, int, int], Witness] = {}  # by rule, instruction and other line
        self.of_released: set[tuple[str, int, int]] = set()  # those of lanes that went on without others
        self.reaches: dict[tuple[int, int], set[int]] = {}  # accesses of another CTA, by instruction and its rank
        # what the run does not see
        self.skipped: dict[int, str] = {}  # what was passed over, and why
        self.unpooled: dict[int, str] = {}  # changes of registers of which the launch is not known, and why
        self.unseen: dict[int, str] = {}  # what of tensor memory was not followed, and why
        self.tensor_unknown = False  # whether columns may have been written that the run did not see
        # operands of multiplications, and what fills them
        self.copies: list[tuple[int, Box, int]] = []  # tensor copies: instruction, what names the box, address
        self.sources: set[int] = set()  # where bulk stores of tensors begin
        self.footprints: set[tuple[int, int]] = set()  # runs of bytes that multiplications read
        self.tiles: dict[int, tuple[str, int]] = {}  # type and bytes of a line of operands, by where they begin
        self.unwritten: dict[int, tuple[int, int]] = {}  # bytes of operands that nothing wrote
        self.filled = False  # whether something wrote bytes of an operand
        self.fragments: dict[int, str] = {}  # what of a mma.sync was not decided; "" for nothing
        # parameters that were read, and loops
        self.scalars: dict[tuple[str, int], int] = {}  # counts and sizes, by name and offset
        self.reads: dict[int, set[tuple[str, int]]] = {}  # of at most 32 bits, by the instruction that reads them
        self.longest: dict[int, int] = {}  # branches backward in a row, by the block that they lead to
        self.turns: dict[tuple[int, int, int], int] = {}  # all of them, by CTA, warp and block
        self.doubts: dict[int, tuple[str, str]] = {}  # accesses that may be in no order: what, and why
        self.apart: dict[int, bool] = {}  # allocations that waited: whether enough columns were free, but apart
        self.unordered: dict[int, str] = {}  # arrivals that may belong to an earlier phase, and why
        self.bulk_stores: dict[int, int] = {}  # accesses of bulk stores, as bits, by instruction

    def add_witness(self, witness: Witness, *, released: bool = False) -> None:
        """Something is wrong: the first of its rule, instruction and other line is kept.

        Args:
            witness: what is wrong.
            released: whether the lanes that came to it went on without others that they waited for.
        """
        key = (witness.rule, witness.place, witness.other)
        if key not in self.wrong or (key in self.of_released and not released):
            self.wrong[key] = witness
            (self.of_released.add if released else self.of_released.discard)(key)

    def reach(self, place: int, rank: int, bit: int) -> None:
        """An access reaches the shared memory of another CTA."""
        self.reaches.setdefault((place, rank), set()).add(bit)


class Reason(Enum):
    """Why a run cannot go on: what it needs and has not."""

    VALUE = "a value"
    BARRIER = "an mbarrier"
    ENDLESS = "a run that does not end"


class Stop(Exception):
    """A run cannot go on.

    Args:
        line: of the instruction.
        why: where what it needs would come from, or the value that is not known, whose cause is its own then.
        what: what that is; as the reason says without.
        reason: of which kind it is.
        fork: the instruction of a branch that may go either way, and both may be run; -1 for none.

    >>> str(Stop(7, "nothing initialised it", reason=Reason.BARRIER)), str(Stop(8, "a load, line 2", "a branch"))
    ('line 7: an mbarrier: nothing initialised it', 'line 8: a branch: a load, line 2')
    """

    def __init__(
        self, line: int, why: str | Unknown, what: str = "", reason: Reason = Reason.VALUE, fork: int = -1
    ) -> None:
        self.line, self.what, self.reason, self.fork = line, what or reason.value, reason, fork
        self.why, self.cause = (origin_text(why), why.why) if isinstance(why, Unknown) else (why, "")
        super().__init__(f"line {line}: {self.what}: {why}")
