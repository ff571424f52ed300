"""Judges of convolutions whose activations move through the lanes of tensor memory, by the model of the shift.

Law: the lanes that a plan masks are the right answer, in any order.

>>> asked = {"images": 2, "width": 9, "taps": 3, "padding": 1}
>>> masked("9, 0", asked, 0), masked("0", asked, 0)
(None, 'leaves out lane 9, whose output reads w = -1 at tap 0')
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from descriptors.course.judges.typed import integers_of, parts_of
from descriptors.errors import DescriptorError
from descriptors.tmem.geometry import LANES, QUARTER
from descriptors.tmem.shift_steps import ShiftProblem, shift_problem


def masked(answer: str, asked: Mapping[str, int], tap: int) -> str | None:
    """The lanes that must not be written at a tap, or none: those whose output reads the padding, by the definition."""
    one = _problem(asked)
    mine = set() if parts_of(answer) == ("none",) else set(integers_of(answer))
    for lane in range(LANES):
        at = one.output(lane)
        w = at[1] + tap - one.padding[1] if at else 0
        if one.masked(lane, tap) and lane not in mine:
            return f"leaves out lane {lane}, whose output reads w = {w} at tap {tap}"
        if lane in mine and not one.masked(lane, tap):
            reads = f"its output reads w = {w}, which is there" if at else "it has no output at all"
            return f"masks lane {lane} without need: {reads}"
    beyond = sorted(mine - set(range(LANES)))
    return f"has a lane that there is not: {beyond[0]}" if beyond else None


def held(answer: str, lanes: Sequence[int], shifts: int) -> str | None:
    """What each of some lanes holds after shifts, where lane l began with number l and nothing new was loaded."""
    right = after(shifts)
    for said, lane in zip(integers_of(answer, len(lanes)), lanes, strict=True):
        if said != right[lane]:
            return f"says {said} for lane {lane}"
    return None


def refreshed(answer: str, shifts: int) -> str | None:
    """The lanes that must be loaded anew after shifts, so that lane l holds what follows l by as many places."""
    mine, found = set(integers_of(answer)), after(shifts)
    for lane in range(LANES):
        stale = found[lane] != lane + shifts
        if stale and lane not in mine:
            return f"leaves lane {lane} with what it had"
        if not stale and lane in mine:
            return f"loads lane {lane}, which the shift has filled"
    return None if mine <= set(range(LANES)) else "has a lane that there is not"


def after(shifts: int) -> list[int]:
    """The number that each lane holds after some shifts, where lane l began with l.

    In plain Python, for pages that have no numpy; the tests hold it against ``shift_model``.

    >>> after(1)[29:34]
    [30, 31, 31, 33, 34]
    """
    if not 0 <= shifts < QUARTER:
        raise DescriptorError(f"exercise: it must be 0 to {QUARTER - 1} shifts, found {shifts}")
    held = list(range(LANES))
    for _ in range(shifts):
        held = [one if lane % QUARTER == QUARTER - 1 else held[lane + 1] for lane, one in enumerate(held)]
    return held


def _problem(asked: Mapping[str, int]) -> ShiftProblem:
    taps, padding = (1, asked["taps"]), (0, asked["padding"])
    return shift_problem(asked["images"], 1, asked["width"], 16, 16, taps, padding)


#: The judges, by the name that an exercise gives.
JUDGES: dict[str, Callable[..., str | None]] = {"masked": masked, "held": held, "refreshed": refreshed}
