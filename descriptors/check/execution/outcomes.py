"""What a run comes to: something wrong, or a place where it cannot go on.

Source: ours; what is wrong is said by the rules of ``check/rules``.

Law: a stop says what it needs; where nobody says what that is, its reason does.

>>> stop = Stop(7, "stopped after 60000 steps", reason=Reason.ENDLESS)
>>> stop.what == Reason.ENDLESS.value, str(stop)
(True, 'line 7: a run that does not end: stopped after 60000 steps')
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class Witness(NamedTuple):
    """Something wrong that a run came to.

    Args:
        rule: of the table.
        place: of the instruction.
        found: what was found.
        other: the line of the other event; 0 for none.
    """

    rule: str
    place: int
    found: str
    other: int = 0


class Reason(Enum):
    """Why a run cannot go on: what it needs and has not."""

    VALUE = "a value"
    BARRIER = "an mbarrier"
    ENDLESS = "a run that does not end"


class Stop(Exception):
    """A run cannot go on.

    Args:
        line: of the instruction.
        why: where what it needs would come from.
        what: what that is; as the reason says without.
        reason: of which kind it is.
        fork: the instruction of a branch that may go either way, and both may be run; -1 for none.

    >>> str(Stop(7, "nothing initialised it", reason=Reason.BARRIER)), str(Stop(8, "a load, line 2", "a branch"))
    ('line 7: an mbarrier: nothing initialised it', 'line 8: a branch: a load, line 2')
    """

    def __init__(self, line: int, why: str, what: str = "", reason: Reason = Reason.VALUE, fork: int = -1) -> None:
        self.line, self.what, self.why, self.reason, self.fork = line, what or reason.value, why, reason, fork
        super().__init__(f"line {line}: {self.what}: {why}")
