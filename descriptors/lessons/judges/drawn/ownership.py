"""Judges of layouts of threads and values: who holds which element of a column-major tile.

Law: any sharing out is right in which each element is held once, in the pieces that are asked for.

>>> [holds(mine, 4, 8, 4) for mine in ("(4,(4,2)):(4,(1,16))", "(4,(4,2)):(8,(1,4))", "(4,8):(1,4)")]
[None, None, 'lets value 1 of thread 0 be element 4, must be element 1']
>>> holder("1, 5", "(4,(4,2)):(4,(1,16))", 21)
"""

from __future__ import annotations

from collections.abc import Callable

from descriptors.errors import DescriptorError
from descriptors.lessons.judges.reading import layout_of
from layoutalg import ComposedLayout, Layout, parse_int_tuple, size


def holds(answer: str, threads: int, values: int, run: int) -> str | None:
    """A layout (thread, value) onto all elements once, each thread's values in runs of neighbours.

    Args:
        answer: the layout; its top modes are threads and values.
        threads, values: how many there are.
        run: elements that lie side by side in memory, and of which the first is a multiple of as many.
    """
    mine = layout_of(answer)
    counts = _counts(mine)
    if counts != (threads, values):
        return f"has {' x '.join(map(str, counts))} threads and values, must have {threads} x {values}"
    owner: dict[int, tuple[int, int]] = {}
    for thread in range(threads):
        for value in range(values):
            place = mine(thread, value)
            if not 0 <= place < threads * values:
                return f"lets value {value} of thread {thread} be element {place}, beyond the last"
            if place in owner:
                other, its = owner[place]
                return f"has element {place} twice: value {its} of thread {other} and value {value} of thread {thread}"
            owner[place] = thread, value
            first = mine(thread, value - value % run)
            if place != first + value % run or first % run:
                want = first + value % run if value % run else "a multiple of " + str(run)
                return f"lets value {value} of thread {thread} be element {place}, must be element {want}"
    return None


def _counts(layout: Layout | ComposedLayout) -> tuple[int, ...]:
    shape = layout.shape
    return tuple(size(mode) for mode in (shape if isinstance(shape, tuple) else (shape,)))


def holder(answer: str, layout: str, element: int) -> str | None:
    """The thread and the value that hold an element, as two numbers."""
    mine, held = parse_int_tuple(f"({answer.strip('() ')})"), layout_of(layout)
    if not isinstance(mine, tuple) or len(mine) != 2:
        return f"must be two numbers, a thread and a value, found {answer}"
    threads, values = _counts(held)
    for name, number, count in zip(("thread", "value"), mine, (threads, values), strict=True):
        if not isinstance(number, int) or not 0 <= number < count:
            raise DescriptorError(f"course: the {name} must be one of {count}, counted from 0, found {number}")
    thread, value = (number for number in mine if isinstance(number, int))
    found = held(thread, value)
    return None if found == element else f"holds element {found}, must hold element {element}"


#: The judges, by the name that an exercise gives.
JUDGES: dict[str, Callable[..., str | None]] = {"holds": holds, "holder": holder}
