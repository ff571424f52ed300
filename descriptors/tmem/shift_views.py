"""Convolutions by shifts through views: strides and dilations along W, and more padding than a filter reaches.

A shift moves every lane by one, so that adjacent lanes must hold activations that adjacent taps read. With a stride
along W they do not, nor with a dilation; of one residue they do. Let ``g = gcd(stride, dilation)``. Outputs ``q`` of
one residue modulo ``dilation / g``, at taps ``s`` of one residue modulo ``stride / g``, read ::

    w = stride q - padding + dilation s = first + step (q' + s')        with  step = lcm(stride, dilation)

for the counted outputs q' and taps s': a convolution of stride and dilation 1 over the activations from ``first`` on,
``step`` apart. A tensor copy takes those alone, by its element stride, at most 8; what of them is outside of the image
is halo, which arrives as zero, so that no output is masked. Outputs of one residue add up over the residues of taps.
Source: the definition of a convolution; arithmetic.

Law: the views have every output and every tap together once, and read what the definition says.

>>> from descriptors.smem.tma.convolution import convolution
>>> one = convolution((2, 9, 13, 16), (16, 2, 5), stride=(1, 4), dilation=(1, 6), padding=(0, 9))
>>> made = cut(one)
>>> [(view.q, view.s, view.first) for view in made][:3], made[0].steps, made[0].step
([(0, 0, -9), (0, 1, -3), (1, 0, -5)], (3, 2), 12)
>>> pairs = sorted((q, s) for view in made for q in view.outputs(one) for s in view.taps(one))
>>> pairs == [(q, s) for q in range(one.outputs[1]) for s in range(5)]
True
>>> all(4 * q - 9 + 6 * s == view.first + view.step * (i + j)
...     for view in made for i, q in enumerate(view.outputs(one)) for j, s in enumerate(view.taps(one)))
True
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd, lcm
from typing import Any

from descriptors.smem.operands.operand import SwizzleMode
from descriptors.smem.tma.convolution import Convolution, convolution
from descriptors.smem.words.tensor_map import IM2COL, TmaError
from descriptors.text import Told, counted
from descriptors.tmem.geometry import LANES
from descriptors.tmem.shift_convolution import (
    Machine,
    Outcome,
    ShiftConvolution,
    check_simulated,
    direct,
    numbers,
    outcome,
    shift_convolution,
    simulate,
)
from descriptors.tmem.shift_copies import RowCopies
from layoutalg.frozen import frozen, replace

#: The largest element stride of a tensor map.
MOST_STEP = 8


def needs_views(taps: Sequence[int], stride: Sequence[int], dilation: Sequence[int], padding: Sequence[int]) -> bool:
    """Whether a convolution can be shifted through views alone; pairs are along H and W.

    >>> needs_views((3, 3), (2, 1), (1, 1), (1, 1)), needs_views((3, 3), (1, 2), (1, 1), (1, 1))
    (False, True)
    """
    if not all(len(pair) == 2 for pair in (taps, stride, dilation, padding)):
        return False
    return stride[1] > 1 or dilation[1] > 1 or 2 * padding[1] > taps[1] - 1


@frozen
class View:
    """Outputs of one residue at taps of one residue.

    Args:
        q, s: the first output, and the first tap.
        steps: from an output to the next one, and from a tap to the next one.
        first, step: the activation that the first of both reads, and how far the next ones lie.
    """

    q: int
    s: int
    steps: tuple[int, int]
    first: int
    step: int

    def outputs(self, one: Convolution) -> range:
        """The outputs q."""
        return range(self.q, one.outputs[1], self.steps[0])

    def taps(self, one: Convolution) -> range:
        """The taps s."""
        return range(self.s, one.taps[1], self.steps[1])


def cut(one: Convolution) -> tuple[View, ...]:
    """The views of a convolution."""
    stride, dilation = one.stride[1], one.dilation[1]
    common = gcd(stride, dilation)
    steps = dilation // common, stride // common
    return tuple(
        View(q, s, steps, stride * q - one.padding[1] + dilation * s, lcm(stride, dilation))
        for q in range(min(steps[0], one.outputs[1]))
        for s in range(min(steps[1], one.taps[1]))
    )


@frozen
class ViewedProof(Told):
    """All views simulated on whole numbers, and added up.

    Args:
        outputs: how many there are.
        multiplications: instructions that were simulated.
        outcome: what differs from the definition.
    """

    outputs: int
    multiplications: int
    outcome: Outcome

    @property
    def ok(self) -> bool:
        """Whether every output is right."""
        return not self.outcome.wrong

    @property
    def headline(self) -> str:
        """The outcome in one line."""
        by = f"by {counted(self.multiplications, 'multiplication')} simulated on whole numbers"
        if self.ok:
            return f"proved: {counted(self.outputs, 'output')} equal those of the definition, {by}"
        return f"wrong: {self.outcome.wrong} of {self.outputs} outputs; {by}"


@frozen
class ViewedConvolution(Told):
    """A convolution whose activations move, through views.

    Args:
        convolution: the whole.
        views: which outputs and taps each has.
        parts: the convolution of each view, of stride and dilation 1 along W.
    """

    convolution: Convolution
    views: tuple[View, ...]
    parts: tuple[ShiftConvolution, ...]

    @property
    def multiplications(self) -> int:
        """Instructions, in all."""
        return sum(part.multiplications for part in self.parts)

    @property
    def headline(self) -> str:
        """The answer in one line."""
        return f"{counted(len(self.views), 'view')} of W, {self.multiplications} multiplications"

    def verify(self, seed: int = 1) -> ViewedProof:
        """Run the steps of all views, add up what they leave, and compare every output with the definition.

        Raises:
            DescriptorError: if that were too many.

        >>> print(shift_views((1, 5, 9, 16), (16, 3, 3), stride=2, padding=1).verify().headline)
        proved: 240 outputs equal those of the definition, by 21 multiplications simulated on whole numbers
        """
        one = self.convolution
        check_simulated(one, self.multiplications, one.pixels * one.filters)
        x, w = numbers(one, seed)
        definition = direct(one, x, w)
        found = 0 * definition
        for view, part in zip(self.views, self.parts, strict=True):
            machine = Machine(part.element.bits, part.cta_group, part.quarters)
            count = len(view.outputs(one))
            filters = w[:, :, view.s :: view.steps[1]]
            found[:, :, view.q :: view.steps[0]] += simulate(part.problem, part.steps, machine, x, filters)[
                :, :, :count
            ]
        return ViewedProof(found.size, self.multiplications, outcome(found, definition))


def shift_views(
    activations: Sequence[int],
    filters: Sequence[int],
    *,
    stride: int | Sequence[int] = 1,
    dilation: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    **options: Any,
) -> ViewedConvolution:
    """A convolution of any stride, dilation and padding along W, as convolutions by shifts.

    Args:
        activations: N, H, W and C.
        filters: how many, and their taps: K, R and S.
        stride, dilation, padding: along H and W, or one for both.
        options: ``dtype``, ``cta_group``, ``quarters``, ``start`` and ``legality``, as ``shift_convolution`` has them.

    Raises:
        IllegalError: if there is no such instruction.
        TmaError: if no tensor copy takes a view: its step is an element stride, its ends are corners.
        DescriptorError: if an argument is malformed.

    >>> shift_views((1, 5, 11, 16), (16, 3, 3), stride=(1, 3), dilation=(1, 5))
    Traceback (most recent call last):
    descriptors.smem.words.tensor_map.TmaError: tma: the step of a view, the least common multiple of stride and \
dilation along W, must be at most 8, found 15; 1x5x11x16 by 16 filters of 3x3, stride 1x3, dilation 1x5 [CUDA Driver \
API, cuTensorMapEncodeIm2col]
    """
    one = convolution(activations, filters, stride=stride, dilation=dilation, padding=padding)
    step = lcm(one.stride[1], one.dilation[1])
    if step > MOST_STEP:
        must = (
            f"the step of a view, the least common multiple of stride and dilation along W, must be at most {MOST_STEP}"
        )
        raise TmaError(f"{must}, found {step}; {one}", IM2COL)
    views = cut(one)
    return ViewedConvolution(one, views, tuple(_part(one, view, options) for view in views))


def _part(one: Convolution, view: View, options: dict[str, Any]) -> ShiftConvolution:
    """A view as a convolution of stride and dilation 1 along W, without padding there."""
    taps = len(view.taps(one))
    width = len(view.outputs(one)) + -(-one.taps[1] // view.steps[1]) - 1  # alike for all residues of taps
    part = shift_convolution(
        one.images, one.height, width, one.channels, one.filters, (one.taps[0], taps), (one.padding[0], 0),
        stride=(one.stride[0], 1), dilation=(one.dilation[0], 1), **options,
    )  # fmt: skip
    part = replace(part, problem=replace(part.problem, first=view.first, step=view.step, of_width=one.width))
    RowCopies(part.problem).tensor_map(part.element, part.step_channels, LANES, SwizzleMode.B32)  # that there is one
    return part
