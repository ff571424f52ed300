"""A convolution by shifts: which output stands in which lane, what each tap reads, the steps of a tile of outputs.

One input row of every image, the images one behind the other without padding, is the *flat row*: activation w of image
n has place ``n W + w``. Output q of image n has the same kind of place, ``n W + q``, and with a stride of 1 along W its
tap s reads place ``n W + q + s - padding``: the next tap reads the next place, for every output alike. Where the
padding is read that place belongs to something else, to the end of the previous image, the beginning of the next one,
or none, and the output must be left alone: it is *masked*. All that goes on along H is a choice of rows, so that stride
and dilation there are free.
Source: the definition of a convolution; arithmetic.

Law: where an output is not masked, its tap reads the activation that the definition says.

>>> one = ShiftProblem(3, 4, 9, 16, 8, (3, 5), (1, 2), 1, 1)
>>> for place in range(3 * 9):
...     n, q = divmod(place, 9)
...     for s in range(5):
...         read, w = place + s - 2, q + s - 2
...         assert one.masked(place, s) == (not 0 <= w < 9)
...         assert one.masked(place, s) or divmod(read, 9) == (n, w)

An instruction stream clears, loads, shifts, refreshes and multiplies, a step a value. Law: every tap of every filter
row inside the image is multiplied once for each K step, whatever the tile begins with.

>>> one = shift_problem(2, 9, 9, 32, 16, (3, 3), (1, 1))
>>> for start in STARTS:
...     steps = tile_steps(one, 0, 0, step_channels=16, start=start)
...     done = [(step.tap.r, step.tap.s, step.tap.k) for step in steps if step.kind == "multiply"]
...     assert sorted(done) == [(r, s, k) for r in (1, 2) for s in range(3) for k in range(2)]

What shifting saves is rows of activations copied from shared to tensor memory: a tile of 128 lanes takes 128 rows for
the first tap of a filter row and 4 for each tap after it, one a quarter, instead of 128 for each; a row is 32 bytes,
one K step.

Law: a filter of one tap saves nothing, one of many 31 parts of 32.

>>> table((1,))[0].saved, all(1 - one.rows / one.plain < 31 / 32 for one in table(range(1, 999)))
(0.0, True)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from descriptors.errors import DescriptorError, as_integer, brief
from descriptors.tmem.geometry import LANES, QUARTER
from layoutalg.frozen import frozen

#: The most that an extent may be.
_MOST = 1 << 16


@frozen
class ShiftProblem:
    """A convolution, its extents in elements.

    Args:
        images, height, width, channels: of the activations.
        filters: how many.
        taps: of each, along H and W.
        padding: on each side, along H and W.
        stride_h: rows from one output row to the next.
        dilation_h: rows from one tap to the next.
        first, step: the activation that place 0 of an image is, and how far the next one lies: of a view others than 0
            and 1, outside of the image too.
        of_width: activations of a row in memory; 0 where the width says it.
    """

    images: int
    height: int
    width: int
    channels: int
    filters: int
    taps: tuple[int, int]
    padding: tuple[int, int]
    stride_h: int
    dilation_h: int
    first: int = 0
    step: int = 1
    of_width: int = 0

    @property
    def stride(self) -> tuple[int, int]:
        """Rows and activations from one output to the next."""
        return self.stride_h, 1

    @property
    def dilation(self) -> tuple[int, int]:
        """Rows and activations from one tap to the next."""
        return self.dilation_h, 1

    @property
    def source(self) -> int:
        """Activations of a row in memory."""
        return self.of_width or self.width

    @property
    def rows(self) -> int:
        """Output rows: P.

        >>> ShiftProblem(2, 9, 9, 16, 16, (3, 3), (0, 1), 1, 1).rows
        7
        """
        return (self.height + 2 * self.padding[0] - self.dilation_h * (self.taps[0] - 1) - 1) // self.stride_h + 1

    @property
    def columns(self) -> int:
        """Outputs of a row: Q.

        >>> ShiftProblem(2, 9, 9, 16, 16, (3, 3), (0, 1), 1, 1).columns
        9
        """
        return self.width + 2 * self.padding[1] - self.taps[1] + 1

    @property
    def places(self) -> int:
        """Places of a flat row."""
        return self.images * self.width

    @property
    def outputs(self) -> int:
        """Elements of the output."""
        return self.images * self.rows * self.columns * self.filters

    def input_row(self, p: int, r: int) -> int | None:
        """The row of the activations that output row p reads at tap row r; None in the padding.

        >>> [ShiftProblem(2, 9, 9, 16, 16, (3, 3), (1, 1), 1, 1).input_row(0, r) for r in range(3)]
        [None, 0, 1]
        """
        h = p * self.stride_h - self.padding[0] + r * self.dilation_h
        return h if 0 <= h < self.height else None

    def output(self, place: int) -> tuple[int, int] | None:
        """Image and column of the output with a place; None where there is none.

        >>> ShiftProblem(2, 9, 9, 16, 16, (3, 3), (1, 1), 1, 1).output(10)
        (1, 1)
        """
        n, q = divmod(place, self.width)
        return (n, q) if 0 <= n < self.images and q < self.columns else None

    def masked(self, place: int, s: int) -> bool:
        """Whether the output with a place has tap s in the padding.

        >>> [ShiftProblem(2, 9, 9, 16, 16, (3, 3), (1, 1), 1, 1).masked(9, s) for s in range(3)]
        [True, False, False]
        """
        output = self.output(place)
        return output is not None and not 0 <= output[1] + s - self.padding[1] < self.width


def shift_problem(
    images: int,
    height: int,
    width: int,
    channels: int,
    filters: int,
    taps: Sequence[int],
    padding: Sequence[int] = (0, 0),
    stride: Sequence[int] = (1, 1),
    dilation: Sequence[int] = (1, 1),
) -> ShiftProblem:
    """The convolution, if its taps can be shifted.

    Args:
        images, height, width, channels: of the activations.
        filters: how many.
        taps, padding, stride, dilation: along H and W.

    Raises:
        DescriptorError: if it has no output, or the next tap is not the next activation for every output alike.

    >>> shift_problem(2, 9, 9, 16, 16, (3, 3), stride=(1, 2))
    Traceback (most recent call last):
    descriptors.errors.DescriptorError: shift: the stride along W must be 1, so that the next output reads the next
    activation, found 2; cut W by its residues modulo 2: a sum of convolutions of stride 1, as shift_views does
    """
    n, h, w, c, k = (
        as_integer(one, f"shift: {what}", minimum=1, maximum=_MOST)
        for what, one in (("images", images), ("H", height), ("W", width), ("C", channels), ("filters", filters))
    )
    rs = _pair(taps, "taps", 1)
    pads = _pair(padding, "padding", 0)
    (stride_h, stride_w), (dilation_h, dilation_w) = _pair(stride, "stride", 1), _pair(dilation, "dilation", 1)
    if stride_w != 1:
        raise DescriptorError(
            "shift: the stride along W must be 1, so that the next output reads the next activation, found "
            f"{stride_w}; cut W by its residues modulo {stride_w}: a sum of convolutions of stride 1, as "
            "shift_views does"
        )
    if dilation_w != 1:
        raise DescriptorError(
            f"shift: the dilation along W must be 1, so that the next tap reads the next activation, found {dilation_w}"
            f"; cut W by its residues modulo {dilation_w}: as many convolutions of dilation 1, as shift_views does"
        )
    problem = ShiftProblem(n, h, w, c, k, rs, pads, stride_h, dilation_h)
    _check(problem)
    return problem


def _pair(values: object, what: str, minimum: int) -> tuple[int, int]:
    if not isinstance(values, Sequence) or isinstance(values, str) or len(values) != 2:
        raise DescriptorError(f"shift: {what} must be two numbers, along H and W, found {brief(values)}")
    h, w = (
        as_integer(one, f"shift: {what} along {side}", minimum=minimum, maximum=_MOST)
        for one, side in zip(values, "HW", strict=True)
    )
    return h, w


def _check(problem: ShiftProblem) -> None:
    """Refuse what has no output, and outputs that are more than the activations of a row."""
    (r, s), (pad_h, pad_w) = problem.taps, problem.padding
    reach = problem.dilation_h * (r - 1) + 1
    if reach > problem.height + 2 * pad_h:
        raise DescriptorError(
            f"shift: the taps along H must reach over at most {problem.height + 2 * pad_h} rows, H and its padding, "
            f"found {reach}; P = 0"
        )
    if s > problem.width + 2 * pad_w:
        raise DescriptorError(
            f"shift: S must be at most {problem.width + 2 * pad_w}, W and its padding, found {s}; Q = 0"
        )
    if 2 * pad_w > s - 1:
        raise DescriptorError(
            f"shift: the padding along W must be at most {(s - 1) // 2}, so that no row has more outputs than "
            f"activations, found {pad_w}; Q = {problem.columns}, W = {problem.width}, S = {s}; "
            "shift_views copies the padding too"
        )


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

    >>> steps = tile_steps(shift_problem(2, 9, 9, 16, 16, (1, 3), (0, 1)), 0, 0, step_channels=16)
    >>> [step.kind for step in steps]
    ['clear', 'load', 'multiply', 'shift', 'refresh', 'multiply', 'shift', 'refresh', 'multiply']
    """
    firsts = tuple(LANES * (tile * cta_group + cta) for cta in range(cta_group))
    inside = [r for r in range(one.taps[0]) if one.input_row(p, r) is not None]
    groups = [(r, k) for r in inside for k in range(one.channels // step_channels)]
    cleared = start == "clear" or not groups
    steps = [ShiftStep("clear")] if cleared else []
    loads = 0
    for number, (r, k) in enumerate(groups):
        for run in _runs(one, split=number == 0 and not cleared):
            for s in run:
                at = Tap(r, s, k, loads % RANGES)
                steps += _steps_of_tap(one, firsts, at, quarters, loaded=s == run[0])
                accumulated = cleared or any(step.kind == "multiply" for step in steps)
                masks = mask_words(one, firsts, s)
                steps.append(ShiftStep("multiply", at, masks=masks, enable_input_d=accumulated))
            loads += 1
    return tuple(steps)


def _runs(one: ShiftProblem, *, split: bool) -> list[range]:
    """The taps of a filter row, in runs that one load begins; split, the first is the tap that masks nothing."""
    s, pad = one.taps[1], one.padding[1]
    return [run for run in (range(pad, s), range(pad)) if run] if split else [range(s)]


def _steps_of_tap(
    one: ShiftProblem, firsts: tuple[int, ...], at: Tap, quarters: str, *, loaded: bool
) -> Iterator[ShiftStep]:
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

    >>> one = shift_problem(2, 9, 9, 16, 16, (3, 3), (1, 1))
    >>> [tuple(map(hex, mask_words(one, (0,), s)[:1])) for s in range(3)]
    [('0x201',), ('0x0',), ('0x20100',)]
    """
    return tuple(
        sum(one.masked(first + lane + bit, s) << bit for bit in range(32))
        for first in firsts
        for lane in range(0, LANES, QUARTER)
    )


#: Bytes of a row of one K step: 8 columns.
ROW_BYTES = 32
#: Numbers of taps that a table shows beside those of a filter.
TAPS = (1, 3, 5, 7, 9, 11)


@frozen
class Traffic:
    """Rows for a filter row of so many taps, one tile and one K step.

    Args:
        taps: S.
        rows: loaded and refreshed.
        plain: loaded without shifts.
    """

    taps: int
    rows: int
    plain: int

    @property
    def saved(self) -> float:
        """The share that is saved, 0 to 1."""
        return 1 - self.rows / self.plain


def table(taps: Iterable[int] = TAPS) -> tuple[Traffic, ...]:
    """The rows for filters of some widths.

    >>> [(one.rows, one.plain) for one in table((3, 5))]
    [(136, 384), (144, 640)]
    """
    return tuple(Traffic(s, LANES + LANES // QUARTER * (s - 1), LANES * s) for s in taps)
