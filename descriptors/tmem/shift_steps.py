"""Plan a convolution by shifts: the lane of each output, the activation that each tap reads, and the steps of a tile.

The *flat row* is one input row of every image, with the images concatenated without padding: activation w of image n
has place ``n W + w``. Output q of image n has place ``n W + q``. With stride 1 along W its tap s reads place
``n W + q + s - padding``, so for every output the next tap reads the next place. If a tap reads padding, this place
belongs to the end of the previous image, to the beginning of the next one, or to none. The output is then *masked*: the
instruction does not write it. Along H the tap only selects a row, so stride and dilation along H are arbitrary.
Source: the definition of a convolution; arithmetic.

Invariant: if an output is not masked, its tap reads the activation of the definition.

>>> problem = ShiftProblem(3, 4, 9, 16, 8, (3, 5), (1, 2), 1, 1)
>>> for place in range(3 * 9):
...     n, q = divmod(place, 9)
...     for s in range(5):
...         read, w = place + s - 2, q + s - 2
...         assert problem.masked(place, s) == (not 0 <= w < 9)
...         assert problem.masked(place, s) or divmod(read, 9) == (n, w)

The instruction stream of a tile consists of steps that clear, load, shift, refresh and multiply.

Invariant: every tap of every filter row inside the image is multiplied once per K step, for each initial value of D.

>>> problem = shift_problem(2, 9, 9, 32, 16, (3, 3), (1, 1))
>>> for start in STARTS:
...     steps = tile_steps(problem, 0, 0, step_channels=16, start=start)
...     taps = [(step.tap.r, step.tap.s, step.tap.k) for step in steps if step.kind == "multiply"]
...     assert sorted(taps) == [(r, s, k) for r in (1, 2) for s in range(3) for k in range(2)]

Shifting reduces the rows of activations that are copied from shared to tensor memory. A tile of 128 lanes needs 128
rows for the first tap of a filter row and 4 rows, one per quarter, for each further tap, instead of 128 for each tap. A
row is 32 bytes, one K step.

Invariant: a filter with one tap saves nothing, and the saved share is always below 31/32.

>>> table((1,))[0].saved, all(traffic.saved < 31 / 32 for traffic in table(range(1, 999)))
(0.0, True)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from descriptors.errors import DescriptorError, as_integer, brief
from descriptors.tmem.geometry import LANES, QUARTER
from layoutalg.frozen import frozen

#: The largest extent.
_MOST = 1 << 16


@frozen
class ShiftProblem:
    """A convolution with stride and dilation 1 along W; extents are in elements.

    Args:
        images: number of images.
        height: H of the activations.
        width: W of the activations; for a view, the number of places per image.
        channels: C of the activations.
        filters: number of filters.
        taps: taps per filter along H and W.
        padding: padding on each side, along H and W.
        stride_h: rows from one output row to the next.
        dilation_h: rows from one tap to the next.
        first: the activation at place 0 of an image; for a view it may be nonzero and outside of the image.
        step: activations from one place to the next; for a view it may be larger than 1.
        of_width: activations per row in memory; 0 if equal to ``width``.
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
        """Number of activations per row in memory."""
        return self.of_width or self.width

    @property
    def rows(self) -> int:
        """Number of output rows, P.

        >>> ShiftProblem(2, 9, 9, 16, 16, (3, 3), (0, 1), 1, 1).rows
        7
        """
        return (self.height + 2 * self.padding[0] - self.dilation_h * (self.taps[0] - 1) - 1) // self.stride_h + 1

    @property
    def columns(self) -> int:
        """Number of outputs per row, Q.

        >>> ShiftProblem(2, 9, 9, 16, 16, (3, 3), (0, 1), 1, 1).columns
        9
        """
        return self.width + 2 * self.padding[1] - self.taps[1] + 1

    @property
    def places(self) -> int:
        """Number of places of a flat row."""
        return self.images * self.width

    @property
    def outputs(self) -> int:
        """Number of output elements."""
        return self.images * self.rows * self.columns * self.filters

    def input_row(self, p: int, r: int) -> int | None:
        """Return the row of the activations that output row p reads at tap row r; None in the padding.

        >>> [ShiftProblem(2, 9, 9, 16, 16, (3, 3), (1, 1), 1, 1).input_row(0, r) for r in range(3)]
        [None, 0, 1]
        """
        h = p * self.stride_h - self.padding[0] + r * self.dilation_h
        return h if 0 <= h < self.height else None

    def output(self, place: int) -> tuple[int, int] | None:
        """Return image and column of the output at a place; None if there is no output.

        >>> ShiftProblem(2, 9, 9, 16, 16, (3, 3), (1, 1), 1, 1).output(10)
        (1, 1)
        """
        n, q = divmod(place, self.width)
        return (n, q) if 0 <= n < self.images and q < self.columns else None

    def masked(self, place: int, s: int) -> bool:
        """Whether tap s of the output at a place reads padding.

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
    """Return the convolution, if its taps can be shifted.

    Args:
        images: number of images.
        height: H of the activations.
        width: W of the activations.
        channels: C of the activations.
        filters: number of filters.
        taps: taps per filter along H and W.
        padding: padding on each side along H and W.
        stride: stride along H and W; along W it is 1.
        dilation: dilation along H and W; along W it is 1.

    Raises:
        DescriptorError: if the convolution has no output, or the next tap does not read the next activation for every
            output.

    >>> shift_problem(2, 9, 9, 16, 16, (3, 3), stride=(1, 2))
    Traceback (most recent call last):
    descriptors.errors.DescriptorError: shift: the stride along W is 2, so the next output does not read the next
    activation; shift_views divides W by its residues modulo 2 into convolutions of stride 1
    """
    n, h, w, c, k = (
        as_integer(extent, f"shift: {what}", minimum=1, maximum=_MOST)
        for what, extent in (("images", images), ("H", height), ("W", width), ("C", channels), ("filters", filters))
    )
    rs = _pair(taps, "taps", 1)
    pads = _pair(padding, "padding", 0)
    (stride_h, stride_w), (dilation_h, dilation_w) = _pair(stride, "stride", 1), _pair(dilation, "dilation", 1)
    if stride_w != 1:
        raise DescriptorError(
            f"shift: the stride along W is {stride_w}, so the next output does not read the next activation; "
            f"shift_views divides W by its residues modulo {stride_w} into convolutions of stride 1"
        )
    if dilation_w != 1:
        raise DescriptorError(
            f"shift: the dilation along W is {dilation_w}, so the next tap does not read the next activation; "
            f"shift_views divides W by its residues modulo {dilation_w} into convolutions of dilation 1"
        )
    problem = ShiftProblem(n, h, w, c, k, rs, pads, stride_h, dilation_h)
    _check(problem)
    return problem


def _pair(values: object, what: str, minimum: int) -> tuple[int, int]:
    if not isinstance(values, Sequence) or isinstance(values, str) or len(values) != 2:
        raise DescriptorError(f"shift: {what} is {brief(values)}, which is not two numbers, along H and W")
    h, w = (
        as_integer(value, f"shift: {what} along {side}", minimum=minimum, maximum=_MOST)
        for value, side in zip(values, "HW", strict=True)
    )
    return h, w


def _check(problem: ShiftProblem) -> None:
    """Check that there is an output, and that no row has more outputs than activations.

    Raises:
        DescriptorError: if there is no output, or a row has more outputs than activations.
    """
    (r, s), (pad_h, pad_w) = problem.taps, problem.padding
    reach = problem.dilation_h * (r - 1) + 1
    if reach > problem.height + 2 * pad_h:
        raise DescriptorError(
            f"shift: the taps along H span {reach} rows, but H and its padding have {problem.height + 2 * pad_h}; P = 0"
        )
    if s > problem.width + 2 * pad_w:
        raise DescriptorError(f"shift: S is {s}, but W and its padding have {problem.width + 2 * pad_w}; Q = 0")
    if 2 * pad_w > s - 1:
        raise DescriptorError(
            f"shift: the padding along W is {pad_w}, so a row has more outputs than activations; "
            f"Q = {problem.columns}, W = {problem.width}, S = {s}; shift_views copies the padding too"
        )


#: How D is initialized: with stored zeros, or not at all, in which case the first tap is one that masks no lane.
STARTS = ("clear", "middle")
#: The quarters that one ``tcgen05.shift`` moves: all, or the one of its address.
QUARTERS = ("all", "one")
#: Columns per 256-bit range of A, and the number of ranges that are used in turn.
STEP_COLUMNS, RANGES = 8, 2


@frozen
class Tap:
    """A tap of the filters in one K step.

    Args:
        r: the tap along H.
        s: the tap along W.
        k: the K step.
        a_range: number of the column range that holds A.
    """

    r: int
    s: int
    k: int
    a_range: int


@frozen
class ShiftStep:
    """A step of the instruction stream; with two CTAs both execute it.

    Args:
        kind: ``clear``, ``load``, ``shift``, ``refresh`` or ``multiply``.
        tap: the tap that the step belongs to; the first for ``clear``.
        lane: lane of the address.
        places: places of the flat row that are copied, CTA by CTA: the first of a load, all of a refresh.
        masks: the words of ``disable-output-lane``, 4 per CTA.
        enable_input_d: whether the product is added to D.
    """

    kind: str
    tap: Tap = Tap(0, 0, 0, 0)
    lane: int = 0
    places: tuple[int, ...] = ()
    masks: tuple[int, ...] = ()
    enable_input_d: bool = True

    def masked_lanes(self) -> tuple[int, ...]:
        """Return the lanes that are not written; lanes of the second CTA start at 128.

        >>> ShiftStep("multiply", masks=(1 << 31, 1, 0, 0)).masked_lanes()
        (31, 32)
        """
        return tuple(32 * word + bit for word, mask in enumerate(self.masks) for bit in range(32) if mask >> bit & 1)


def tile_steps(
    problem: ShiftProblem,
    p: int,
    tile: int,
    *,
    step_channels: int,
    cta_group: int = 1,
    quarters: str = "all",
    start: str = "clear",
) -> tuple[ShiftStep, ...]:
    """Return the steps of a tile of an output row.

    Args:
        problem: the convolution.
        p: the output row.
        tile: number of the tile, which has 128 places of the flat row per CTA.
        step_channels: K of one instruction.
        cta_group: 1 or 2.
        quarters: the quarters that one shift moves, a name of ``QUARTERS``.
        start: how D is initialized, a name of ``STARTS``.

    >>> steps = tile_steps(shift_problem(2, 9, 9, 16, 16, (1, 3), (0, 1)), 0, 0, step_channels=16)
    >>> [step.kind for step in steps]
    ['clear', 'load', 'multiply', 'shift', 'refresh', 'multiply', 'shift', 'refresh', 'multiply']
    """
    firsts = tuple(LANES * (tile * cta_group + cta) for cta in range(cta_group))
    inside = [r for r in range(problem.taps[0]) if problem.input_row(p, r) is not None]
    groups = [(r, k) for r in inside for k in range(problem.channels // step_channels)]
    cleared = start == "clear" or not groups
    steps = [ShiftStep("clear")] if cleared else []
    loads = 0
    for number, (r, k) in enumerate(groups):
        for run in _runs(problem, split=number == 0 and not cleared):
            for s in run:
                tap = Tap(r, s, k, loads % RANGES)
                steps += _steps_of_tap(problem, firsts, tap, quarters, loaded=s == run[0])
                accumulated = cleared or any(step.kind == "multiply" for step in steps)
                masks = mask_words(problem, firsts, s)
                steps.append(ShiftStep("multiply", tap, masks=masks, enable_input_d=accumulated))
            loads += 1
    return tuple(steps)


def _runs(problem: ShiftProblem, *, split: bool) -> list[range]:
    """Return the taps of a filter row in runs that start with a load; with ``split``, the first tap masks no lane."""
    s, pad = problem.taps[1], problem.padding[1]
    return [run for run in (range(pad, s), range(pad)) if run] if split else [range(s)]


def _steps_of_tap(
    problem: ShiftProblem, firsts: tuple[int, ...], tap: Tap, quarters: str, *, loaded: bool
) -> Iterator[ShiftStep]:
    """Yield the steps that bring the activations of a tap to their lanes: a load, or shifts and a refresh."""
    offset = tap.s - problem.padding[1]
    if loaded:
        yield ShiftStep("load", tap, places=tuple(first + offset for first in firsts))
        return
    for lane in range(0, LANES, QUARTER) if quarters == "one" else (0,):
        yield ShiftStep("shift", tap, lane=lane)
    lasts = range(QUARTER - 1, LANES, QUARTER)
    places = tuple(first + lane + offset for first in firsts for lane in lasts)
    yield ShiftStep("refresh", tap, lane=QUARTER - 1, places=places)


def mask_words(problem: ShiftProblem, firsts: tuple[int, ...], s: int) -> tuple[int, ...]:
    """Return the words of ``disable-output-lane`` at tap s, CTA by CTA: bit i of word v is lane 32 v + i.

    Source: PTX ISA 9.1, tcgen05.mma, disable-output-lane; that words 4 to 7 are the second CTA's is believed.

    >>> problem = shift_problem(2, 9, 9, 16, 16, (3, 3), (1, 1))
    >>> [tuple(map(hex, mask_words(problem, (0,), s)[:1])) for s in range(3)]
    [('0x201',), ('0x0',), ('0x20100',)]
    """
    return tuple(
        sum(problem.masked(first + lane + bit, s) << bit for bit in range(32))
        for first in firsts
        for lane in range(0, LANES, QUARTER)
    )


#: Bytes per row of one K step: 8 columns.
ROW_BYTES = 32
#: Numbers of taps that the table of savings contains beside that of the filter.
TAPS = (1, 3, 5, 7, 9, 11)


@frozen
class Traffic:
    """The rows copied to tensor memory, with and without shifts.

    Args:
        taps: S, the taps per filter row.
        rows: rows loaded and refreshed with shifts.
        plain: rows loaded without shifts.
    """

    taps: int
    rows: int
    plain: int

    @property
    def saved(self) -> float:
        """Share of the rows that shifting saves, 0 to 1."""
        return 1 - self.rows / self.plain


def table(taps: Iterable[int] = TAPS) -> tuple[Traffic, ...]:
    """Return the traffic of one filter row, one tile and one K step, for filters of some widths.

    >>> [(traffic.rows, traffic.plain) for traffic in table((3, 5))]
    [(136, 384), (144, 640)]
    """
    return tuple(Traffic(s, LANES + LANES // QUARTER * (s - 1), LANES * s) for s in taps)
