"""Values of a warp: one number for all lanes, one number per lane, or unknown with a reason.

If all lanes have the same number, it is stored once, so that most of a kernel is computed once per warp.

Invariant: computing with the values of a warp gives what each lane computes.

>>> first, second = (1, 2, 3), 10
>>> map_lanes(lambda a, b: a + b, (first, second), 3)
(11, 12, 13)
>>> map_lanes(lambda a, b: a * b, ((1, 2, 3), 0), 3)
0
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import NamedTuple, TypeAlias


class Cause(StrEnum):
    """A reason for an unknown value that the checker can act on."""

    GLOBAL = "a value loaded from global memory"  # its value may be assumed
    PARAMETER = "a floating-point parameter"  # it is constant in a run, so that both ways may be run
    ACCUMULATOR = "an accumulator of mma.sync"  # it continues the accumulation that began in its line


class Unknown(NamedTuple):
    """A value that the text does not determine.

    Args:
        why: where the value comes from.
        line: line of the instruction that made it; 0 for none.
    """

    why: str
    line: int = 0


#: One number per lane.
Lanes: TypeAlias = "tuple[int | Unknown, ...]"
#: One number for all lanes, or one number per lane.
Value: TypeAlias = "int | Unknown | Lanes"


def join_lanes(values: Sequence[int | Unknown]) -> Value:
    """Return a value with one number per lane as a value of the warp: one number if all are equal."""
    first = values[0]
    return first if all(value == first for value in values) else tuple(values)


def map_lanes(compute: Callable[..., int | None], values: Sequence[Value], lanes: int, line: int = 0) -> Value:
    """Apply a function lane by lane, or return the first unknown operand."""
    vector = False
    for value in values:
        kind = type(value)
        if kind is Unknown:
            return value
        vector |= kind is tuple
    if not vector:
        result = compute(*values)
        return Unknown("a division by zero", line) if result is None else result
    operands_by_lane = zip(*[value if type(value) is tuple else (value,) * lanes for value in values], strict=True)
    return join_lanes([_of_lane(compute, operands, line) for operands in operands_by_lane])


def _of_lane(compute: Callable[..., int | None], operands: tuple[int | Unknown, ...], line: int) -> int | Unknown:
    for value in operands:
        if type(value) is Unknown:
            return value
    result = compute(*operands)
    return Unknown("a division by zero", line) if result is None else result


def select_lanes(value: Value, places: Sequence[int]) -> Value:
    """Return a value for some of its lanes, given by their positions.

    >>> select_lanes((5, 6, 6), [1, 2]), select_lanes(7, [0])
    (6, 7)
    """
    return value if isinstance(value, (int, Unknown)) else join_lanes([value[place] for place in places])


def lane_values(value: Value, lanes: int) -> tuple[int | Unknown, ...]:
    """Return a value as one number per lane.

    >>> lane_values(3, 2)
    (3, 3)
    """
    return (value,) * lanes if isinstance(value, (int, Unknown)) else value


def first_unknown(value: Value) -> Unknown | None:
    """Return the first unknown lane of a value; None if all lanes are known.

    >>> first_unknown((1, Unknown("a load", 7))), first_unknown(3)
    (Unknown(why='a load', line=7), None)
    """
    if type(value) is tuple:
        return next((lane_value for lane_value in value if type(lane_value) is Unknown), None)
    return value if isinstance(value, Unknown) else None


def origin_text(value: Value) -> str:
    """Describe where a value comes from that is not one number.

    >>> origin_text(Unknown("a load", 7)), origin_text((1, 2))
    ('a load, line 7', 'a value')
    """
    return f"{value.why}{f', line {value.line}' if value.line else ''}" if isinstance(value, Unknown) else "a value"
