"""Convolutions of NHWC activations, and their tensor maps: im2col for the activations and tiled for the filters.

At tap (r, s), output pixel (n, p, q), counted q fastest, reads the activation ::

    h = p stride_h - padding_h + r dilation_h        w = q stride_w - padding_w + s dilation_w

or zero if it is outside the tensor. An im2col copy reads pixels of a *bounding box*, row after row and image after
image, from the pixel of its coordinates on, each moved by the offsets of the tap. Pixels outside the tensor arrive as
zero. The box therefore has one pixel for each output pixel: one corner is the padding, and the other the padding minus
the reach of the taps. The strides are the map's element strides, and the dilations are part of the offsets.
Source: the definition of a convolution; PTX ISA 9.1, im2col mode; CUDA Driver API, cuTensorMapEncodeIm2col.

Invariant: along each dimension, the bounding box has as many pixels as the output.

>>> from descriptors.smem.operands.operand import ELEMENT_TYPES
>>> conv = convolution((2, 9, 12, 64), (128, 3, 5), stride=(2, 3), dilation=(1, 2), padding=(1, 4))
>>> box = activation_map(conv, ELEMENT_TYPES["bf16"], 64, 128, 3).box
>>> [len(range(low, extent + high, step)) for low, extent, high, step in zip(box.lower, (12, 9), box.upper, (3, 2))]
[4, 5]
>>> conv.outputs
(5, 4)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from descriptors.errors import DescriptorError, as_integer, brief
from descriptors.smem.operands.operand import ElementType, Matrix, choose
from descriptors.smem.words.tensor_map import DATA_TYPES, Im2colWindow, TensorMap, TmaError, as_data_type
from descriptors.text import counted, extents_text
from layoutalg.frozen import frozen

#: The largest extent.
_MOST = 1 << 16
#: The largest offset of a tap in a copy of four dimensions, and its source.
MOST_OFFSET, OFFSETS = 255, "PTX ISA 9.1, cp.async.bulk.tensor, im2colInfo"


@frozen
class Convolution:
    """A convolution; pairs are along H and W.

    Args:
        images, height, width, channels: extents of the activations, N H W C in memory.
        filters: number of filters, K R S C in memory.
        taps: R and S.
        stride: activations from one output to the next.
        dilation: activations from one tap to the next.
        padding: zeros on each side.
        operand: ``"A"`` or ``"B"``: the operand of the matrix product whose rows are output pixels; the other operand
            has the filters.
    """

    images: int
    height: int
    width: int
    channels: int
    filters: int
    taps: tuple[int, int]
    stride: tuple[int, int] = (1, 1)
    dilation: tuple[int, int] = (1, 1)
    padding: tuple[int, int] = (0, 0)
    operand: Matrix = "A"

    @property
    def outputs(self) -> tuple[int, int]:
        """P and Q, the rows and columns of the output.

        >>> convolution((2, 9, 9, 16), (16, 3, 3), padding=(0, 1)).outputs
        (7, 9)
        """
        p, q = (
            (extent + 2 * padding - dilation * (taps - 1) - 1) // stride + 1
            for extent, taps, stride, dilation, padding in zip(
                (self.height, self.width), self.taps, self.stride, self.dilation, self.padding, strict=True
            )
        )
        return p, q

    @property
    def pixels(self) -> int:
        """Number of output pixels, N P Q: the rows of the product."""
        return self.images * self.outputs[0] * self.outputs[1]

    @property
    def activations(self) -> int:
        """Number of activations, N H W C."""
        return self.images * self.height * self.width * self.channels

    def start(self, pixel: int) -> tuple[int, int, int]:
        """Return the coordinates w, h, n of the activation at the first tap of an output pixel, where a copy begins.

        >>> convolution((2, 9, 9, 16), (16, 3, 3), padding=1).start(9 * 9 + 1)
        (0, -1, 1)
        """
        row, q = divmod(pixel, self.outputs[1])
        n, p = divmod(row, self.outputs[0])
        return q * self.stride[1] - self.padding[1], p * self.stride[0] - self.padding[0], n

    def tap(self, number: int) -> tuple[int, int]:
        """Return the row and column of a tap, counted s fastest."""
        r, s = divmod(number, self.taps[1])
        return r, s

    def offsets(self, number: int) -> tuple[int, int]:
        """Return the offsets that a copy for a tap adds to the coordinates w and h."""
        r, s = self.tap(number)
        return s * self.dilation[1], r * self.dilation[0]

    def __str__(self) -> str:
        sizes = extents_text((self.images, self.height, self.width, self.channels))
        more = [
            f"{name} {extents_text(pair)}"
            for name, pair, plain in (
                ("stride", self.stride, 1), ("dilation", self.dilation, 1), ("padding", self.padding, 0),
            )
            if pair != (plain, plain)
        ]  # fmt: skip
        more += ["pixels in B"] if self.operand == "B" else []
        return ", ".join([f"{sizes} by {counted(self.filters, 'filter')} of {extents_text(self.taps)}", *more])


def convolution(
    activations: Sequence[int],
    filters: Sequence[int],
    *,
    stride: int | Sequence[int] = 1,
    dilation: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    operand: Matrix = "A",
) -> Convolution:
    """Check the arguments of a convolution, and return it.

    Args:
        activations: N, H, W and C.
        filters: the number of filters and their taps: K, R and S.
        stride, dilation, padding: a number for H and for W, or one for both.
        operand: the operand whose rows are output pixels: ``"A"`` or ``"B"``.

    Raises:
        DescriptorError: if an argument is malformed, or there is no output.

    >>> print(convolution((8, 56, 56, 64), (128, 3, 3), stride=2, padding=1))
    8x56x56x64 by 128 filters of 3x3, stride 2x2, padding 1x1
    """
    n, h, w, c = _numbers(activations, "activations", "N x H x W x C", 4)
    k, r, s = _numbers(filters, "filters", "K x R x S", 3)
    steps, apart, zeros = _pair(stride, "stride", 1), _pair(dilation, "dilation", 1), _pair(padding, "padding", 0)
    matrices: dict[str, Matrix] = {"A": "A", "B": "B"}
    where = choose("convolution: operand", operand, matrices)
    one = Convolution(n, h, w, c, k, (r, s), steps, apart, zeros, where)
    for side, extent, taps, step, pad in zip("HW", (h, w), one.taps, one.dilation, one.padding, strict=True):
        reach = step * (taps - 1) + 1
        if reach > extent + 2 * pad:
            raise DescriptorError(
                f"convolution: the taps along {side} span {reach} activations, more than the {extent + 2 * pad} of "
                f"{side} and its padding; {one}"
            )
    return one


def as_convolution(value: object) -> Convolution:
    """Return a convolution, or construct one from a mapping of arguments.

    Raises:
        DescriptorError: if the value is neither.

    >>> as_convolution({"activations": [1, 9, 9, 16], "filters": [8, 3, 3]}).outputs
    (7, 7)
    """
    if isinstance(value, Convolution):
        return value
    names = ("activations", "filters", "stride", "dilation", "padding", "operand")
    if isinstance(value, Mapping) and set(value) <= set(names) and {"activations", "filters"} <= set(value):
        arguments: dict[str, Any] = dict(value)
        return convolution(**arguments)
    raise DescriptorError(
        f"convolution: {brief(value)} is not a convolution; its arguments are {', '.join(names[:2])}, and optionally "
        f"{', '.join(names[2:])}"
    )


def _numbers(values: object, name: str, form: str, count: int) -> tuple[int, ...]:
    if not isinstance(values, (tuple, list)) or len(values) != count:
        raise DescriptorError(f"convolution: the {name} are {brief(values)}, not {form}")
    return tuple(as_integer(extent, "convolution: an extent", minimum=1, maximum=_MOST) for extent in values)


def _pair(value: object, what: str, minimum: int) -> tuple[int, int]:
    both = value if isinstance(value, (tuple, list)) else (value, value)
    if len(both) == 1:
        both = (both[0], both[0])
    if len(both) != 2:
        raise DescriptorError(f"convolution: the {what} {brief(value)} is not one number, or two along H and W")
    h, w = (as_integer(number, f"convolution: the {what}", minimum=minimum, maximum=_MOST) for number in both)
    return h, w


def activation_map(one: Convolution, element: ElementType, channels: int, pixels: int, swizzle: int) -> TensorMap:
    """Return the im2col map of the activations.

    Args:
        one: the convolution.
        element: the type of an activation.
        channels: channels of each pixel that a copy reads.
        pixels: pixels that a copy reads.
        swizzle: the code of the swizzle.

    Raises:
        TmaError: if the driver rejects the map, or the offset of a tap is too large.

    >>> from descriptors.smem.operands.operand import ELEMENT_TYPES
    >>> map_ = activation_map(convolution((1, 9, 9, 64), (8, 3, 3), padding=1), ELEMENT_TYPES["bf16"], 64, 128, 3)
    >>> map_.box.lower, map_.box.upper, map_.transaction_bytes
    ((-1, -1), (-1, -1), 16384)
    """
    (pad_h, pad_w), (far_w, far_h) = one.padding, one.offsets(one.taps[0] * one.taps[1] - 1)
    window = Im2colWindow((-pad_w, -pad_h), (pad_w - far_w, pad_h - far_h), channels, pixels)
    extents = (one.channels, one.width, one.height, one.images)
    map_ = _map(element, extents, window, (1, one.stride[1], one.stride[0], 1), swizzle, one)
    if max(far_w, far_h) > MOST_OFFSET:
        fact = f"a tap is {max(far_w, far_h)} activations from the first tap, more than {MOST_OFFSET}"
        raise TmaError(f"{fact}; {one}", OFFSETS)
    return map_


def filter_map(one: Convolution, element: ElementType, channels: int, rows: int, swizzle: int) -> TensorMap:
    """Return the tiled map of the filters, with dimensions C, R S and K.

    Because C is a dimension, channels beyond C are zero and do not belong to the next tap.

    Args:
        one: the convolution.
        element: the type of a filter's numbers.
        channels, rows: extents of a box along C and K.
        swizzle: the code of the swizzle.

    Raises:
        TmaError: if the driver rejects the map.
    """
    extents = (one.channels, one.taps[0] * one.taps[1], one.filters)
    return _map(element, extents, (channels, 1, rows), (1, 1, 1), swizzle, one)


def _map(
    element: ElementType,
    extents: tuple[int, ...],
    box: tuple[int, ...] | Im2colWindow,
    steps: tuple[int, ...],
    swizzle: int,
    one: Convolution,
) -> TensorMap:
    strides, bytes_ = [], element.bits // 8
    for extent in extents[:-1]:
        bytes_ *= extent
        strides.append(bytes_)
    data_type = as_data_type(DATA_TYPES[element.name][1])
    map_ = TensorMap(data_type, 0, extents, tuple(strides), box, steps, swizzle=swizzle)
    for refusal in map_.refusals():
        step = 128 // element.bits
        padded = f"; pad C to {-(-one.channels // step) * step}, with zeros" if one.channels % step else ""
        raise TmaError(f"{refusal.argument} {refusal.message}{padded}; {one}", refusal.rule)
    return map_
