"""Judges of tensor memory: convolutions whose activations move through its lanes, counterexamples to sentences on it.

Law: the lanes that a plan masks are the right answer, in any order.

>>> problem = {"images": 2, "width": 9, "taps": 3, "padding": 1}
>>> masked("9, 0", problem, 0), masked("0", problem, 0)
(None, 'leaves out lane 9, whose output reads w = -1 at tap 0')

What a shift does is asked of its model, and how many columns something takes of their plan.

>>> moves("5, 6"), moves("5, 4"), columns("64, 64"), columns("64, 256")
(None, 'says that lane 5 gets what lane 4 had', None, 'says 256 columns for N = 64')
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations

from descriptors.course.judges.answers import integers_of, parts_of
from descriptors.course.judges.instructions import broken, names_of
from descriptors.errors import DescriptorError
from descriptors.tmem.accumulator import accumulator
from descriptors.tmem.columns import tmem_plan
from descriptors.tmem.geometry import LANES, QUARTER
from descriptors.tmem.shift_steps import ShiftProblem, shift_problem


def masked(answer: str, problem: Mapping[str, int], tap: int) -> str | None:
    """The lanes that must not be written at a tap, or none: those whose output reads the padding, by the definition."""
    one = _problem(problem)
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


def lane_contents(answer: str, lanes: Sequence[int], shifts: int) -> str | None:
    """What each of some lanes holds after shifts, where lane l began with number l and nothing new was loaded."""
    right = after(shifts)
    for said, lane in zip(integers_of(answer, len(lanes)), lanes, strict=True):
        if said != right[lane]:
            return f"says {said} for lane {lane}"
    return None


def refreshed(answer: str, shifts: int) -> str | None:
    """The lanes that must be loaded anew after shifts, so that lane l holds what follows l by as many places."""
    mine, contents = set(integers_of(answer)), after(shifts)
    for lane in range(LANES):
        stale = contents[lane] != lane + shifts
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
    contents = list(range(LANES))
    for _ in range(shifts):
        contents = [one if lane % QUARTER == QUARTER - 1 else contents[lane + 1] for lane, one in enumerate(contents)]
    return contents


def _problem(numbers: Mapping[str, int]) -> ShiftProblem:
    taps, padding = (1, numbers["taps"]), (0, numbers["padding"])
    return shift_problem(numbers["images"], 1, numbers["width"], 16, 16, taps, padding)


def moves(answer: str) -> str | None:
    """A lane, and the lane whose row it has after a shift: another than the one before it."""
    lane, source = integers_of(answer, 2)
    if not 0 <= lane < LANES:
        return f"has a lane that there is not: {lane}"
    if after(1)[lane] != source:
        return f"says that lane {lane} gets what lane {source} had"
    return None


def stale(answer: str) -> str | None:
    """A lane that a shift leaves with its old row, besides the last one, which the sentence knows of."""
    (lane,) = integers_of(answer, 1)
    if not 0 <= lane < LANES:
        return f"has a lane that there is not: {lane}"
    if lane == LANES - 1:
        return "is the lane that the sentence knows of"
    return None if after(1)[lane] == lane else f"is filled by the shift: lane {lane} gets what lane {lane + 1} had"


def lost(answer: str, numbers: Mapping[str, int]) -> str | None:
    """A lane and a tap: its output is masked at this tap, after an earlier tap has added to it."""
    lane, tap = integers_of(answer, 2)
    one = shift_problem(numbers["images"], 1, numbers["width"], 16, 16, (1, numbers["taps"]), (0, numbers["padding"]))
    if not 0 <= tap < numbers["taps"]:
        return f"has a tap that there is not: {tap}"
    if one.output(lane) is None:
        return f"has a lane without an output: {lane}"
    if not one.masked(lane, tap):
        return f"is not masked: lane {lane} reads an activation at tap {tap}"
    if all(one.masked(lane, s) for s in range(tap)):
        return f"has nothing to lose: no tap before {tap} has added to lane {lane}"
    return None


def columns(answer: str) -> str | None:
    """N, and the columns that an accumulator of 128 rows and N columns of f32 takes: not N/8*32 of them."""
    n, said = integers_of(answer, 2)
    if said != accumulator(128, n).columns:
        return f"says {said} columns for N = {n}"
    return None if said * 8 != n * 32 else "is what the sentence says itself"


def placed(answer: str, plan_keywords: Mapping[str, object], limit: int) -> str | None:
    """First columns of what a kernel keeps in tensor memory, part after part, all of it below a limit."""
    plan = tmem_plan(**plan_keywords)  # type: ignore[arg-type]
    parts = list(zip(plan.parts, integers_of(answer, len(plan.parts)), strict=True))
    for part, first in parts:
        if first < 0 or first + part.columns > limit:
            return f"has {part.name} in columns {first} to {first + part.columns - 1}, must stay below {limit}"
        if first % part.align:
            return f"has {part.name} at column {first}, must be a multiple of {part.align}"
    for (one, a), (other, b) in combinations(parts, 2):
        if a < b + other.columns and b < a + one.columns:
            return f"has {one.name} and {other.name} in column {max(a, b)} both"
    return None


def crowded(answer: str, plan_keywords: Mapping[str, object], said: int) -> str | None:
    """How many accumulators a kernel keeps at once, so that another number of CTAs fits an SM than a sentence says."""
    (count,) = integers_of(answer, 1)
    blocks = tmem_plan(**plan_keywords, accumulators=count).ctas  # type: ignore[arg-type]
    return None if blocks != said else f"lets {said} blocks fit an SM, as the sentence says"


def several(answer: str, event: str) -> str | None:
    """A sequence that breaks no rule and reads what it multiplied, in which an event occurs more than once."""
    names = names_of(answer)
    failure = broken(names)
    if failure:
        return failure
    read = {name.split()[1] for name in names if name.startswith("read")}
    multiplied = [name.split()[1] for name in names if name.startswith("mma")]
    if not multiplied or not set(multiplied) <= read:
        return "does not read all that it multiplies"
    count = sum(name.split()[0] == event for name in names)
    return None if count > 1 else f"has {event} {count} times, as the sentence says"


#: The judges, by the name that an exercise gives.
JUDGES: dict[str, Callable[..., str | None]] = {
    "masked": masked,
    "held": lane_contents,
    "refreshed": refreshed,
    "moves": moves,
    "stale": stale,
    "lost": lost,
    "columns": columns,
    "placed": placed,
    "crowded": crowded,
    "several": several,
}
