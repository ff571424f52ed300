"""Outcomes of a run: violations of rules, what the run did not check, and the place where it cannot continue.

Source: this project; the rules are those of ``check/rules``.

Invariant: a stop names what it needs; by default, the name of its reason.

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
    """A violation of a rule that a run reached.

    Args:
        rule: name of the rule.
        place: index of the instruction.
        found: the fact, and a note after each "; ".
        other: line of the other event, which came before; 0 for none.
        round: how often its warp has reached the instruction, including this time; 0 if no warp is at it.
        other_round: how often the other warp had reached the other event.
        rounds: how often the instruction is reached in all; 0 if the run does not end.
        parameters: the scalar parameters of the run, as text.
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
        """The fact without its notes."""
        return self.found.partition("; ")[0]


#: The properties of a rule, by the first word of its name.
PROPERTIES_OF = {
    "barrier": ("barriers",),
    "bytes": ("bytes",),
    "proxy": ("proxies",),
    "reuse": ("reuse",),
    "fragment": ("fragments",),
    "tcgen05": ("tensor memory",),
    "wgmma": ("order",),
    "word": ("words",),
}
#: The rule about an init whose violation does no harm.
_AGAIN = "barrier-init-again"


def is_wrong(witnesses: Iterable[Witness]) -> bool:
    """Check whether one of the violations is an error; to initialize an mbarrier again is none.

    >>> [is_wrong([Witness(rule, 3, "found")]) for rule in ("barrier-init-again", "barrier-hang")]
    [False, True]
    """
    return any(witness.rule != _AGAIN for witness in witnesses)


class Notes:
    """Observations made during a run; integer keys are instruction indices."""

    def __init__(self) -> None:
        self.wrong: dict[tuple[str, int, int], Witness] = {}  # by rule, instruction and other line
        self.of_released: set[tuple[str, int, int]] = set()  # violations by lanes that continued without others
        self.reaches: dict[tuple[int, int], set[int]] = {}  # accesses of another CTA, by instruction and rank
        # what the run does not check
        self.skipped: dict[int, str] = {}  # why an instruction was skipped
        self.unpooled: dict[int, str] = {}  # why the register pool of a setmaxnreg is unknown
        self.unseen: dict[int, str] = {}  # why an access of tensor memory was not followed
        self.disputed: dict[int, str] = {}  # the lane of an address of tensor memory on whose meaning sources disagree
        self.tensor_unknown = False  # whether columns may have been written by an instruction that was not followed
        # operands of multiplications, and the copies and stores that fill them
        self.copies: list[tuple[int, Box, int]] = []  # tensor copies: instruction, key of the box, address
        self.sources: set[int] = set()  # start addresses of bulk tensor stores
        self.footprints: set[tuple[int, int]] = set()  # ranges of bytes that multiplications read
        self.tiles: dict[int, tuple[str, int]] = {}  # type and bytes per line of operands, by start address
        self.unwritten: dict[int, tuple[int, int]] = {}  # range of operand bytes that nothing wrote
        self.filled = False  # whether something wrote bytes of an operand
        self.fragments: dict[int, str] = {}  # why a mma.sync is undecided; "" if it is decided
        # parameters that were read, and iterations of loops
        self.scalars: dict[tuple[str, int], int] = {}  # counts and sizes, by name and offset
        self.reads: dict[int, set[tuple[str, int]]] = {}  # the same parameters, by the instruction that reads them
        self.longest: dict[int, int] = {}  # consecutive backward branches, by target block
        self.turns: dict[tuple[int, int, int], int] = {}  # all backward branches, by CTA, warp and target block
        self.doubts: dict[int, tuple[str, str]] = {}  # accesses of undecided order: subject, and why
        self.apart: dict[int, bool] = {}  # allocations that waited: whether enough columns were free, but apart
        self.unordered: dict[int, tuple[str, str]] = {}  # uses of barriers in an undecided order: subject, and why
        self.loads: dict[tuple[int, int], int] = {}  # accesses of asynchronous loads, as bits, by instruction and CTA
        self.bulk_stores: dict[int, int] = {}  # accesses of bulk stores, as bits, by instruction

    def add_witness(self, witness: Witness, *, released: bool = False) -> None:
        """Record a violation; the first of each rule, instruction and other line is kept.

        Args:
            witness: the violation.
            released: whether the lanes that reached it continued without other lanes that they waited for.
        """
        key = (witness.rule, witness.place, witness.other)
        if key not in self.wrong or (key in self.of_released and not released):
            self.wrong[key] = witness
            (self.of_released.add if released else self.of_released.discard)(key)

    def reach(self, place: int, rank: int, bit: int) -> None:
        """Record an access of the shared memory of another CTA."""
        self.reaches.setdefault((place, rank), set()).add(bit)

    def load(self, place: int, rank: int, bit: int) -> None:
        """Record an asynchronous load into the shared memory of a CTA."""
        self.loads[place, rank] = self.loads.get((place, rank), 0) | 1 << bit


class Reason(Enum):
    """The kind of information that a stopped run lacks."""

    VALUE = "a value"
    BARRIER = "an mbarrier"
    ENDLESS = "a run that does not end"


class Stop(Exception):
    """Raised when a run cannot continue.

    Args:
        line: line of the instruction.
        why: why the needed value is missing, or the unknown value, whose cause is kept.
        what: the needed value; by default, as the reason names it.
        reason: kind of the needed value.
        fork: index of a branch that may go either way, so that both are run; -1 for none.

    >>> str(Stop(7, "it is not initialized", reason=Reason.BARRIER)), str(Stop(8, "a load, line 2", "a branch"))
    ('line 7: an mbarrier: it is not initialized', 'line 8: a branch: a load, line 2')
    """

    def __init__(
        self, line: int, why: str | Unknown, what: str = "", reason: Reason = Reason.VALUE, fork: int = -1
    ) -> None:
        self.line, self.what, self.reason, self.fork = line, what or reason.value, reason, fork
        self.why, self.cause = (origin_text(why), why.why) if isinstance(why, Unknown) else (why, "")
        super().__init__(f"line {line}: {self.what}: {why}")
