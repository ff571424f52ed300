"""Derive the TMA copies that fill the lanes of a convolution by shifts: a flat row of NHWC memory with a zero halo.

128 places of a flat row are not a box of a tiled map, because a tile starts and ends anywhere in an image. They are the
pixels of an im2col copy with dimensions C, W, N and H: at the end of an image the copy continues along N with the next
image, as it otherwise would along H, and the row h is the last coordinate. The copy of place p starts at::

    c,   w = first + step (p mod W'),   n = p div W',   h

where the W' places of an image start at activation ``first`` and are ``step`` apart: 0 and 1, unless the convolution is
a view. The corners along W are the first and the last of these activations. Those outside of the image, the halo,
arrive as zero. Along N the box starts before the first image, because masked outputs may read there.
Source: PTX ISA 9.1, im2col mode; CUDA Driver API, cuTensorMapEncodeIm2col; arithmetic.

Invariant: the copies transfer every place of the flat row, and zero for the place before it.

>>> import numpy as np
>>> from descriptors.tmem.shift_steps import shift_problem
>>> copies = RowCopies(shift_problem(2, 3, 9, 16, 16, (3, 3), (1, 1)))
>>> x = np.arange(1, 2 * 3 * 9 + 1).reshape(2, 3, 9, 1)
>>> [row[0].tolist() == [0, *x[:, h].ravel()[:17]] for h in range(3) for row in [copies.rows(x, h, (-1,), 18).T]]
[True, True, True]

Invariant: shared memory after a load has the layout that the copies to tensor memory read, and so have the four rows of
a refresh, which are 128 bytes apart.

>>> from descriptors.smem.tma.copy_model import landing_bits
>>> from descriptors.tmem.copied import tmem_copied
>>> load, refresh = tmem_copied((128, 16), "bf16", "32B", "128x256b"), tmem_copied((4, 64), "bf16", "128B", "4x256b")
>>> landing_bits((16, 128), [0], bits=16, swizzle=1)[0].tolist() == [
...     16 * load.memory(m, k) for m in range(128) for k in range(16)]
True
>>> landing_bits((16, 1), [0, 128, 256, 384], bits=16, swizzle=3).ravel().tolist() == [
...     16 * refresh.memory(m, k) for m in range(4) for k in range(16)]
True
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from descriptors.smem.operands.operand import ElementType, SwizzleMode
from descriptors.smem.tma.copy_model import im2col_coordinates
from descriptors.smem.words.tensor_map import (
    DATA_TYPES,
    SWIZZLES,
    Im2colWindow,
    TensorMap,
    TmaError,
    as_data_type,
)
from descriptors.tmem.geometry import LANES
from descriptors.tmem.shift_steps import ShiftProblem
from layoutalg.frozen import frozen

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]

#: The largest corner of a map with four dimensions (cuTensorMapEncodeIm2col).
_FARTHEST = 127


@frozen
class RowCopies:
    """The TMA copies of a convolution's flat rows.

    Args:
        problem: the convolution, or a view of one.
    """

    problem: ShiftProblem

    @property
    def lower(self) -> tuple[int, int]:
        """Lower corner along W and N: the first place, and the images before the first that the padding reaches."""
        return self.problem.first, -self.problem.padding[1] // self.problem.width

    @property
    def upper(self) -> tuple[int, int]:
        """Upper corner along W and N: the last place of an image, and the images after the last that a tile reaches."""
        problem = self.problem
        last = problem.first + problem.step * (problem.width - 1)
        return last - (problem.source - 1), min(_FARTHEST, 2 * LANES // problem.width + 1)

    def start(self, place: int, h: int) -> tuple[int, int, int]:
        """Return the coordinates w, n, h at which a copy starts.

        Args:
            place: first place of the flat row.
            h: the row of the images.

        >>> from descriptors.tmem.shift_steps import shift_problem
        >>> RowCopies(shift_problem(2, 3, 9, 16, 16, (3, 3), (1, 1))).start(-1, 2)
        (8, -1, 2)
        """
        n, u = divmod(place, self.problem.width)
        return self.problem.first + self.problem.step * u, n, h

    def tensor_map(self, element: ElementType, channels: int, places: int, swizzle: SwizzleMode) -> TensorMap:
        """Return the im2col map with dimensions C, W, N, H.

        Args:
            element: type of the activations.
            channels: channels per copy, one K step or more.
            places: places per copy: 128 for a load, 1 for a refreshed row.
            swizzle: swizzle mode in shared memory.

        Raises:
            TmaError: if the driver rejects the map.

        >>> from descriptors.smem.operands.operand import ELEMENT_TYPES
        >>> from descriptors.tmem.shift_steps import shift_problem
        >>> copies = RowCopies(shift_problem(2, 3, 9, 16, 16, (3, 3), (1, 1)))
        >>> tensor_map = copies.tensor_map(ELEMENT_TYPES["bf16"], 16, 128, SwizzleMode.B32)
        >>> tensor_map.extents, tensor_map.strides, tensor_map.box.lower, tensor_map.box.upper
        ((16, 9, 2, 3), (32, 864, 288), (0, -1), (0, 29))
        """
        problem = self.problem
        pixel = problem.channels * element.bits // 8
        tensor_map = TensorMap(
            as_data_type(DATA_TYPES[element.name][1]),
            0,
            (problem.channels, problem.source, problem.images, problem.height),
            (pixel, pixel * problem.source * problem.height, pixel * problem.source),
            Im2colWindow(self.lower, self.upper, channels, places),
            (1, problem.step, 1, 1),
            swizzle=SWIZZLES[swizzle][1],
        )
        for refusal in tensor_map.refusals():
            raise TmaError(f"{refusal.argument} {refusal.message}", refusal.rule)
        return tensor_map

    def rows(self, activations: Numbers, h: int, starts: Sequence[int], count: int) -> Numbers:
        """Return the activations that copies transfer, according to the model of im2col copies.

        Args:
            activations: the activations, N H W C.
            h: the row of the images.
            starts: the first place of each copy.
            count: places per copy.

        Returns:
            Array (place, channel), one copy after the other.
        """
        import numpy as np

        w, n, rows_on = (axis.ravel() for axis in _coordinates(self, tuple(starts), count))
        row = rows_on + h
        images, height, width, _ = activations.shape
        inside = (w >= 0) & (w < width) & (n >= 0) & (n < images) & (row < height)
        values = activations[np.where(inside, n, 0), np.where(inside, row, 0), np.where(inside, w, 0)]
        copied: Numbers = values * inside[:, None]
        return copied


@lru_cache(maxsize=1 << 12)
def _coordinates(copies: RowCopies, starts: tuple[int, ...], count: int) -> tuple[Numbers, ...]:
    """Return the coordinates along W and N of every place of every copy, and the number of rows it moved along H."""
    import numpy as np

    problem = copies.problem
    coordinates = im2col_coordinates(
        (problem.source, problem.images),
        copies.lower,
        copies.upper,
        (problem.step, 1),
        np.array([copies.start(place, 0) for place in starts]),
        count,
    )
    return coordinates[..., 0], coordinates[..., 1], coordinates[..., 2]
