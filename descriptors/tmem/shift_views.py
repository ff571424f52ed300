"""Divide a convolution with stride, dilation or large padding along W into convolutions by shifts (views).

A shift moves every lane by one, so adjacent lanes must hold activations that adjacent taps read. With a stride or a
dilation along W this holds only for outputs and taps of one residue. Let ``g = gcd(stride, dilation)``. Outputs ``q``
of one residue modulo ``dilation / g``, at taps ``s`` of one residue modulo ``stride / g``, read::

    w = stride q - padding + dilation s = first + step (q' + s')        with  step = lcm(stride, dilation)

where q' and s' number these outputs and taps. This is a convolution of stride and dilation 1 over the activations
``first``, ``first + step``, and so on. A TMA copy selects these activations with its element stride, which is at most
8. Activations outside of the image, the halo, arrive as zero, so no output is masked. The outputs of one residue are
summed over the residues of the taps.
Source: the definition of a convolution; arithmetic.

Invariant: the views contain each pair of an output and a tap once, and read the activation of the definition.

>>> from descriptors.smem.tma.convolution import convolution
>>> whole = convolution((2, 9, 13, 16), (16, 2, 5), stride=(1, 4), dilation=(1, 6), padding=(0, 9))
>>> views = cut(whole)
>>> [(view.q, view.s, view.first) for view in views][:3], views[0].steps, views[0].step
([(0, 0, -9), (0, 1, -3), (1, 0, -5)], (3, 2), 12)
>>> pairs = sorted((q, s) for view in views for q in view.outputs(whole) for s in view.taps(whole))
>>> pairs == [(q, s) for q in range(whole.outputs[1]) for s in range(5)]
True
>>> all(4 * q - 9 + 6 * s == view.first + view.step * (i + j)
...     for view in views for i, q in enumerate(view.outputs(whole)) for j, s in enumerate(view.taps(whole)))
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
    """Return whether a convolution can be shifted only through views; the pairs are along H and W.

    >>> needs_views((3, 3), (2, 1), (1, 1), (1, 1)), needs_views((3, 3), (1, 2), (1, 1), (1, 1))
    (False, True)
    """
    if not all(len(pair) == 2 for pair in (taps, stride, dilation, padding)):
        return False
    return stride[1] > 1 or dilation[1] > 1 or 2 * padding[1] > taps[1] - 1


@frozen
class View:
    """The outputs of one residue at the taps of one residue.

    Args:
        q: the first output.
        s: the first tap.
        steps: distance of consecutive outputs, and of consecutive taps.
        first: the activation that the first output reads at the first tap.
        step: distance of consecutive activations.
    """

    q: int
    s: int
    steps: tuple[int, int]
    first: int
    step: int

    def outputs(self, whole: Convolution) -> range:
        """Return the outputs q of the view."""
        return range(self.q, whole.outputs[1], self.steps[0])

    def taps(self, whole: Convolution) -> range:
        """Return the taps s of the view."""
        return range(self.s, whole.taps[1], self.steps[1])


def cut(whole: Convolution) -> tuple[View, ...]:
    """Return the views of a convolution."""
    stride, dilation = whole.stride[1], whole.dilation[1]
    common = gcd(stride, dilation)
    steps = dilation // common, stride // common
    return tuple(
        View(q, s, steps, stride * q - whole.padding[1] + dilation * s, lcm(stride, dilation))
        for q in range(min(steps[0], whole.outputs[1]))
        for s in range(min(steps[1], whole.taps[1]))
    )


@frozen
class ViewedProof(Told):
    """The result of simulating all views on integers and summing them.

    Args:
        outputs: number of output elements.
        multiplications: number of simulated instructions.
        outcome: differences from the definition.
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
    """A convolution by shifts through views.

    Args:
        convolution: the whole convolution.
        views: the views.
        parts: the convolution of each view, with stride and dilation 1 along W.
    """

    convolution: Convolution
    views: tuple[View, ...]
    parts: tuple[ShiftConvolution, ...]

    @property
    def multiplications(self) -> int:
        """Number of ``tcgen05.mma`` instructions of all views."""
        return sum(part.multiplications for part in self.parts)

    @property
    def headline(self) -> str:
        """The answer in one line."""
        return f"{counted(len(self.views), 'view')} of W, {self.multiplications} multiplications"

    def verify(self, seed: int = 1) -> ViewedProof:
        """Simulate the steps of all views, sum their outputs, and compare every output with the definition.

        Raises:
            DescriptorError: if the convolution is too large for a simulation.

        >>> print(shift_views((1, 5, 9, 16), (16, 3, 3), stride=2, padding=1).verify().headline)
        proved: 240 outputs equal those of the definition, by 21 multiplications simulated on whole numbers
        """
        whole = self.convolution
        check_simulated(whole, self.multiplications, whole.pixels * whole.filters)
        x, w = numbers(whole, seed)
        definition = direct(whole, x, w)
        outputs = 0 * definition
        for view, part in zip(self.views, self.parts, strict=True):
            machine = Machine(part.element.bits, part.cta_group, part.quarters)
            simulated = simulate(part.problem, part.steps, machine, x, w[:, :, view.s :: view.steps[1]])
            outputs[:, :, view.q :: view.steps[0]] += simulated[:, :, : len(view.outputs(whole))]
        return ViewedProof(outputs.size, self.multiplications, outcome(outputs, definition))


def shift_views(
    activations: Sequence[int],
    filters: Sequence[int],
    *,
    stride: int | Sequence[int] = 1,
    dilation: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    **options: Any,
) -> ViewedConvolution:
    """Return a convolution with any stride, dilation and padding along W as a sum of convolutions by shifts.

    Args:
        activations: N, H, W and C.
        filters: K, R and S: the number of filters, and their taps.
        stride: stride along H and W, or one number for both.
        dilation: dilation along H and W, or one number for both.
        padding: padding along H and W, or one number for both.
        options: ``dtype``, ``cta_group``, ``quarters``, ``start`` and ``legality``, as in ``shift_convolution``.

    Raises:
        IllegalError: if the instruction does not exist.
        TmaError: if no TMA copy can read a view, because of its element stride or its corners.
        DescriptorError: if an argument is malformed.

    >>> shift_views((1, 5, 11, 16), (16, 3, 3), stride=(1, 3), dilation=(1, 5))
    Traceback (most recent call last):
    descriptors.smem.words.tensor_map.TmaError: tma: the step of a view is 15, the least common multiple of stride and \
dilation along W, and an element stride is at most 8; 1x5x11x16 by 16 filters of 3x3, stride 1x3, dilation 1x5 [CUDA \
Driver API, cuTensorMapEncodeIm2col]
    """
    whole = convolution(activations, filters, stride=stride, dilation=dilation, padding=padding)
    step = lcm(whole.stride[1], whole.dilation[1])
    if step > MOST_STEP:
        raise TmaError(
            f"the step of a view is {step}, the least common multiple of stride and dilation along W, and an element "
            f"stride is at most {MOST_STEP}; {whole}",
            IM2COL,
        )
    views = cut(whole)
    return ViewedConvolution(whole, views, tuple(_part(whole, view, options) for view in views))


def _part(whole: Convolution, view: View, options: dict[str, Any]) -> ShiftConvolution:
    """Return a view as a convolution with stride and dilation 1 and no padding along W."""
    taps = len(view.taps(whole))
    width = len(view.outputs(whole)) + -(-whole.taps[1] // view.steps[1]) - 1  # equal for all residues of taps
    part = shift_convolution(
        whole.images, whole.height, width, whole.channels, whole.filters, (whole.taps[0], taps), (whole.padding[0], 0),
        stride=(whole.stride[0], 1), dilation=(whole.dilation[0], 1), **options,
    )  # fmt: skip
    part = replace(part, problem=replace(part.problem, first=view.first, step=view.step, of_width=whole.width))
    # Raises TmaError if no TMA copy can read the view.
    RowCopies(part.problem).tensor_map(part.element, part.step_channels, LANES, SwizzleMode.B32)
    return part
