"""The elements that every tap of a convolution reads, by the definition of a convolution.

Tensor maps and coordinates are verified against this module, so it does not use them. The activations are an array that
is padded with a marker for zero; each tap reads a slice of it.
Source: the definition of a convolution.

Invariant: the taps read each activation as often as the outputs do; once, if the stride equals the number of taps.

>>> from descriptors.smem.tma.convolution import convolution
>>> conv = convolution((1, 6, 9, 16), (8, 2, 3), stride=(2, 3))
>>> sorted(int(pixel) for tap in range(6) for pixel in tap_elements(conv, tap)) == list(range(54))
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from descriptors.smem.tma.convolution import Convolution

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Marker for a zero of the padding.
ZERO = -1


def tap_elements(one: Convolution, tap: int, *, filters: bool = False) -> NDArray[Any]:
    """Return the number of the activation, counted w fastest, that each output pixel reads at a tap; -1 for a zero.

    Args:
        one: the convolution.
        tap: the number of the tap, counted s fastest.
        filters: whether to return instead, for each filter, the number of its tap among all taps of all filters.

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
