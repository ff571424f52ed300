"""What an instruction stream does for one tile of outputs, a step a value: clear, load, shift, refresh, multiply.

Law: every tap of every filter row inside the image is multiplied once for each K step, whatever the tile begins with.

>>> from descriptors.shift.problem import shift_problem
>>> one = shift_problem(2, 9, 9, 32, 16, (3, 3), (1, 1))
>>> for start in STARTS:
...     steps = tile_steps(one, 0, 0, step_channels=16, start=start)
...     done = [(step.tap.r, step.tap.s, step.tap.k) for step in steps if step.kind == "multiply"]
...     assert sorted(done) == [(r, s, k) for r in (1, 2) for s in range(3) for k in range(2)]
"""

from __future__ import annotations

from collections.abc import Iterator

from descriptors.frozen import frozen
from descriptors.shift.problem import ShiftProblem
from descriptors.tmem.geometry import LANES, QUARTER

#: What stands in D before the first product: zeros that were stored, or nothing, where the first tap masks no lane.
STARTS = ("clear", "middle")
#: What one ``tcgen05.shift`` moves: every quarter, or the one of its address.
QUARTERS = ("all", "one")
#: Columns of 256 bits of A, and how many such ranges take turns.
STEP_COLUMNS, RANGES = 8, 2


@frozen
class Tap:
    """What a step is done for.

    Args:
        r, s: the tap of the filters.
        k: the K step.
        a_range: which of the ranges of columns holds A.
    """

    r: int
    s: int
    k: int
    a_range: int


@frozen
class ShiftStep:
    """One step; with two CTAs both do it.

    Args:
        kind: ``clear``, ``load``, ``shift``, ``refresh`` or ``multiply``.
        tap: what it is done for; that of a clear is the first.
        lane: of the address.
        places: of the flat row, of each row that is copied: the first of a load, all of a refresh; CTA after CTA.
        masks: the words of ``disable-output-lane``, 4 a CTA.
        enable_input_d: whether D is added to.
    """

    kind: str
    tap: Tap = Tap(0, 0, 0, 0)
    lane: int = 0
    places: tuple[int, ...] = ()
    masks: tuple[int, ...] = ()
    enable_input_d: bool = True

    def masked_lanes(self) -> tuple[int, ...]:
        """The lanes that are not written; those of the second CTA from 128 on.

        >>> ShiftStep("multiply", masks=(1 << 31, 1, 0, 0)).masked_lanes()
        (31, 32)
        """
        return tuple(32 * word + bit for word, mask in enumerate(self.masks) for bit in range(32) if mask >> bit & 1)


def tile_steps(
    one: ShiftProblem,
    p: int,
    tile: int,
    *,
    step_channels: int,
    cta_group: int = 1,
    quarters: str = "all",
    start: str = "clear",
) -> tuple[ShiftStep, ...]:
    """The steps of a tile of an output row.

    Args:
        one: the convolution.
        p: the output row.
        tile: 128 places of the flat row for each CTA.
        step_channels: K of one instruction.
        cta_group: 1 or 2.
        quarters: what one shift is taken to move.
        start: a name of ``STARTS``.

    >>> from descriptors.shift.problem import shift_problem
    >>> steps = tile_steps(shift_problem(2, 9, 9, 16, 16, (1, 3), (0, 1)), 0, 0, step_channels=16)
    >>> [step.kind for step in steps]
    ['clear', 'load', 'multiply', 'shift', 'refresh', 'multiply', 'shift', 'refresh', 'multiply']
    """
    firsts = tuple(LANES * (tile * cta_group + cta) for cta in range(cta_group))
    inside = [r for r in range(one.taps[0]) if one.input_row(p, r) is not None]
    groups = [(r, k) for r in inside for k in range(one.channels // step_channels)]
    cleared = start == "clear" or not groups
    found = [ShiftStep("clear")] if cleared else []
    loads = 0
    for number, (r, k) in enumerate(groups):
        for run in _runs(one, split=number == 0 and not cleared):
            for s in run:
                at = Tap(r, s, k, loads % RANGES)
                found += _moved(one, firsts, at, quarters, loaded=s == run[0])
                accumulated = cleared or any(step.kind == "multiply" for step in found)
                masks = mask_words(one, firsts, s)
                found.append(ShiftStep("multiply", at, masks=masks, enable_input_d=accumulated))
            loads += 1
    return tuple(found)


def _runs(one: ShiftProblem, *, split: bool) -> list[range]:
    """The taps of a filter row, in runs that one load begins; split, the first is the tap that masks nothing."""
    s, pad = one.taps[1], one.padding[1]
    return [run for run in (range(pad, s), range(pad)) if run] if split else [range(s)]


def _moved(one: ShiftProblem, firsts: tuple[int, ...], at: Tap, quarters: str, *, loaded: bool) -> Iterator[ShiftStep]:
    """How the activations of a tap come into their lanes: all of them loaded, or shifted, and four loaded."""
    offset = at.s - one.padding[1]
    if loaded:
        yield ShiftStep("load", at, places=tuple(first + offset for first in firsts))
        return
    for lane in range(0, LANES, QUARTER) if quarters == "one" else (0,):
        yield ShiftStep("shift", at, lane=lane)
    lasts = range(QUARTER - 1, LANES, QUARTER)
    places = tuple(first + lane + offset for first in firsts for lane in lasts)
    yield ShiftStep("refresh", at, lane=QUARTER - 1, places=places)


def mask_words(one: ShiftProblem, firsts: tuple[int, ...], s: int) -> tuple[int, ...]:
    """The words of ``disable-output-lane`` at tap s: bit i of word v is lane 32 v + i, a CTA after the other.

    Source: PTX ISA 9.1, tcgen05.mma, disable-output-lane; that words 4 to 7 are the second CTA's is believed.

    >>> from descriptors.shift.problem import shift_problem
    >>> one = shift_problem(2, 9, 9, 16, 16, (3, 3), (1, 1))
    >>> [tuple(map(hex, mask_words(one, (0,), s)[:1])) for s in range(3)]
    [('0x201',), ('0x0',), ('0x20100',)]
    """
    return tuple(
        sum(one.masked(first + lane + bit, s) << bit for bit in range(32))
        for first in firsts
        for lane in range(0, LANES, QUARTER)
    )
