"""What every tap of a convolution reads, by its definition: the judge of maps and coordinates, of which it knows none.

An array of the activations, padded with what stands for zero, of which each tap takes a slice.
Source: the definition of a convolution.

Law: taps take each activation as often as outputs read it: with a stride as wide as the taps, once.

>>> from descriptors.smem.tma.convolution import convolution
>>> one = convolution((1, 6, 9, 16), (8, 2, 3), stride=(2, 3))
>>> sorted(int(pixel) for tap in range(6) for pixel in tap_elements(one, tap)) == list(range(54))
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from descriptors.smem.tma.convolution import Convolution

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: What stands for a zero of the padding.
ZERO = -1


def tap_elements(one: Convolution, tap: int, *, filters: bool = False) -> NDArray[Any]:
    """The number of the activation, counted w fastest, that each output pixel reads at a tap; -1 is a zero.

    Args:
        one: the convolution.
        tap: its number, s fastest.
        filters: of each filter instead, the number of its tap among all taps of all filters.

    >>> from descriptors.smem.tma.convolution import convolution
    >>> tap_elements(convolution((1, 2, 3, 16), (8, 1, 3), padding=(0, 1)), 2).tolist()
    [1, 2, -1, 4, 5, -1]
    """
    import numpy as np

    r, s = divmod(tap, one.taps[1])
    if filters:
        return np.arange(one.filters * one.taps[0] * one.taps[1]).reshape(one.filters, *one.taps)[:, r, s]
    (pad_h, pad_w), (down, right) = one.padding, one.dilation
    pixels = np.arange(one.images * one.height * one.width).reshape(one.images, one.height, one.width)
    padded = np.pad(pixels, ((0, 0), (pad_h, pad_h), (pad_w, pad_w)), constant_values=ZERO)
    bottom = padded.shape[1] - (one.taps[0] - 1 - r) * down
    end = padded.shape[2] - (one.taps[1] - 1 - s) * right
    return padded[:, r * down : bottom : one.stride[0], s * right : end : one.stride[1]].ravel()
