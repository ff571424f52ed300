"""The convolution itself: its extents, which output stands in which lane, and what each tap of it reads.

One input row of every image, the images one behind the other without padding, is the *flat row*: activation w of image
n has place ``n W + w``. Output q of image n has the same kind of place, ``n W + q``, and with a stride of 1 along W its
tap s reads place ``n W + q + s - padding``: the next tap reads the next place, for every output alike. Where the
padding is read that place belongs to something else, to the end of the next image or none, and the output must be left
alone: it is *masked*. All that goes on along H is a choice of rows, so that stride and dilation there are free.
Source: the definition of a convolution; arithmetic.

Law: where an output is not masked, its tap reads the activation that the definition says.

>>> one = ShiftProblem(3, 4, 9, 16, 8, (3, 5), (1, 2), 1, 1)
>>> for place in range(3 * 9):
...     n, q = divmod(place, 9)
...     for s in range(5):
...         read, w = place + s - 2, q + s - 2
...         assert one.masked(place, s) == (not 0 <= w < 9)
...         assert one.masked(place, s) or divmod(read, 9) == (n, w)
"""

from __future__ import annotations

from collections.abc import Sequence

from descriptors.errors import DescriptorError, as_integer, brief
from descriptors.frozen import frozen

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
        found = self.output(place)
        return found is not None and not 0 <= found[1] + s - self.padding[1] < self.width


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
    activation, found 2; cut W by its residues modulo 2: a sum of convolutions of stride 1
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
            f"{stride_w}; cut W by its residues modulo {stride_w}: a sum of convolutions of stride 1"
        )
    if dilation_w != 1:
        raise DescriptorError(
            f"shift: the dilation along W must be 1, so that the next tap reads the next activation, found {dilation_w}"
            f"; cut W by its residues modulo {dilation_w}: as many convolutions of dilation 1"
        )
    made = ShiftProblem(n, h, w, c, k, rs, pads, stride_h, dilation_h)
    _check(made)
    return made


def _pair(values: object, what: str, minimum: int) -> tuple[int, int]:
    if not isinstance(values, Sequence) or isinstance(values, str) or len(values) != 2:
        raise DescriptorError(f"shift: {what} must be two numbers, along H and W, found {brief(values)}")
    h, w = (
        as_integer(one, f"shift: {what} along {side}", minimum=minimum, maximum=_MOST)
        for one, side in zip(values, "HW", strict=True)
    )
    return h, w


def _check(made: ShiftProblem) -> None:
    """Refuse what has no output, and outputs that are more than the activations of a row."""
    (r, s), (pad_h, pad_w) = made.taps, made.padding
    reach = made.dilation_h * (r - 1) + 1
    if reach > made.height + 2 * pad_h:
        raise DescriptorError(
            f"shift: the taps along H must reach over at most {made.height + 2 * pad_h} rows, H and its padding, found "
            f"{reach}; P = 0"
        )
    if s > made.width + 2 * pad_w:
        raise DescriptorError(f"shift: S must be at most {made.width + 2 * pad_w}, W and its padding, found {s}; Q = 0")
    if 2 * pad_w > s - 1:
        raise DescriptorError(
            f"shift: the padding along W must be at most {(s - 1) // 2}, so that no row has more outputs than "
            f"activations, found {pad_w}; Q = {made.columns}, W = {made.width}, S = {s}"
        )
