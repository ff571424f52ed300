"""The model of the copy engine: where each element of a box lands in shared memory.

Plans are verified against this model, so it shares no code with the planner and does not use layouts. A tensor copy
writes its box densely from the destination on, with dimension 0 fastest. Rows shorter than the span of the swizzle are
a span apart. Then the swizzle of the tensor map permutes the units of a row by bits of the *absolute* address. With the
row number r = address // 128::

    1  32B                    bit  4      of the address ^= bit  0      of r
    2  64B                    bits 4 to 5 of the address ^= bits 0 to 1 of r
    3  128B                   bits 4 to 6 of the address ^= bits 0 to 2 of r
    4  128B of 32-byte atoms  bits 5 to 6 of the address ^= bits 0 to 1 of r

Codes 0 to 3 are measured on an H200, byte for byte, with boxes of rank 2 to 4 whose start is aligned to the pattern or
not, and with rows shorter than the span.
Source: CUDA Driver API, ``cuTensorMapEncodeTiled`` (pieces and spans); CUDA C++ Programming Guide, tensor memory
access, swizzle modes (the pattern, and that it follows the address of an unaligned buffer); CUTLASS
``include/cute/atom/copy_traits_sm90_tma_swizzle.hpp`` (code 4 is ``Swizzle<2,5,2>`` on bytes).

An im2col copy reads pixels of a bounding box, which the corners define relative to the tensor's W, H, ..., also beyond
its edges. It starts at its coordinates and continues along W with the stride of the map, at the end of a row with the
next row, and at the end of the box with the next image. The pixels land densely, as one row of channels each.
Source: PTX ISA 9.1, im2col mode (bounding box, traversal stride, offsets).

Invariant: for every swizzle, the elements of a box land in the same bytes, in a different order.

>>> landed = [landing_bits((64, 8), [1024], bits=16, swizzle=code)[0].tolist() for code in range(5)]
>>> all(sorted(addresses) == landed[0] for addresses in landed), len(set(map(tuple, landed)))
(True, 5)

Invariant: a box of the first half of each row lands where these halves of the whole box land.

>>> whole, half = (landing_bits((n, 8), [1024], bits=16, swizzle=3)[0].reshape(8, n) for n in (64, 32))
>>> bool((whole[:, :32] == half).all())
True
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# By code of the tensor map: number of bits, position of the lowest, and the minimum bytes from one row to the next.
_XORS = {0: (0, 0, 0), 1: (1, 4, 32), 2: (2, 4, 64), 3: (3, 4, 128), 4: (2, 5, 128)}


def landing_bits(box: Sequence[int], destinations: Sequence[int], *, bits: int, swizzle: int) -> NDArray[np.int64]:
    """Return the address of the first bit of each element of each box after the copies.

    Args:
        box: extents in elements, fastest first.
        destinations: shared-memory address of each box, in bytes.
        bits: bits of one element in shared memory.
        swizzle: the swizzle code of the tensor map, 0 to 4.

    Returns:
        array (boxes, elements of a box), with the elements in the order in which a box is written.

    >>> (landing_bits((64, 2), [1024], bits=16, swizzle=3)[0, 64::8] // 8).tolist()
    [1168, 1152, 1200, 1184, 1232, 1216, 1264, 1248]
    """
    import numpy as np

    count, lowest, span = _XORS[swizzle]
    line, column = np.divmod(np.arange(prod(box), dtype=np.int64), box[0])
    place = line * max(box[0] * bits, span * 8) + column * bits
    address = np.asarray(destinations, dtype=np.int64)[:, None] * 8 + place
    row = address >> 10  # 128 bytes are 2**10 bits
    landed: NDArray[np.int64] = address ^ ((row & ((1 << count) - 1)) << (lowest + 3))
    return landed


def im2col_coordinates(
    extents: Sequence[int],
    lower: Sequence[int],
    upper: Sequence[int],
    strides: Sequence[int],
    starts: NDArray[np.int64],
    pixels: int,
) -> NDArray[np.int64]:
    """Return the pixels that im2col copies read, before a tap's offsets are added.

    Args:
        extents: extents of the tensor along W, H, ..., without channels and images.
        lower, upper: corners of the bounding box, relative to the tensor's first and last pixel.
        strides: distance of the pixels that are read, along each dimension.
        starts: (copy, dimension): coordinates W, H, ..., image of the first pixel of each copy.
        pixels: number of pixels per copy.

    Returns:
        array (copy, pixel, dimension).

    >>> import numpy as np
    >>> im2col_coordinates((3, 2), (-1, 0), (0, 0), (2, 1), np.array([[1, 1, 0]]), 3)[0].tolist()
    [[1, 1, 0], [-1, 0, 1], [1, 0, 1]]
    """
    import numpy as np

    at = starts.astype(np.int64)
    taken = np.empty((len(at), pixels, at.shape[1]), dtype=np.int64)
    for pixel in range(pixels):
        taken[:, pixel] = at
        at = at.copy()
        moves = np.ones(len(at), dtype=bool)
        for i, (extent, low, high, step) in enumerate(zip(extents, lower, upper, strides, strict=True)):
            at[moves, i] += step
            ends = moves & (at[:, i] > extent - 1 + high)
            at[ends, i] = low
            moves = ends
        at[moves, -1] += 1
    return taken
