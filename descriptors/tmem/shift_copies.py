"""The tensor copies that fill the lanes of a convolution by shifts: a flat row of NHWC memory, its halo as zeros.

128 places of a flat row are no box of a tiled map, for a tile cuts an image anywhere. They are the pixels of an im2col
copy whose dimensions are C, W, N and H: along N it goes on as it would along H, at the end of an image to the next one,
and the row H is the last coordinate. Place p begins at ::

    c,   w = first + step (p mod W'),   n = p div W',   h

where W' places of an image begin at activation ``first`` and lie ``step`` apart: all of them, 0 and 1, unless the
convolution is a view. The corners along W are the first and the last of these, and what of them is outside of the
image, the halo, arrives as zero; along N there is room before the first image, which masked outputs may read.
Source: PTX ISA 9.1, im2col mode; CUDA Driver API, cuTensorMapEncodeIm2col; arithmetic.

Law: the copies bring every place of the flat row, and zero for the place before it.

>>> import numpy as np
>>> from descriptors.tmem.shift_steps import shift_problem
>>> one = RowCopies(shift_problem(2, 3, 9, 16, 16, (3, 3), (1, 1)))
>>> x = np.arange(1, 2 * 3 * 9 + 1).reshape(2, 3, 9, 1)
>>> [row[0].tolist() == [0, *x[:, h].ravel()[:17]] for h in range(3) for row in [one.rows(x, h, (-1,), 18).T]]
[True, True, True]

Law: a load lands as the copies to tensor memory read it, and so do four rows that are refreshed, 128 bytes apart.

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

#: The farthest corner of a map of four dimensions (cuTensorMapEncodeIm2col).
_FARTHEST = 127


@frozen
class RowCopies:
    """The copies of a convolution's flat rows.

    Args:
        problem: the convolution, or the view of one.
    """

    problem: ShiftProblem

    @property
    def lower(self) -> tuple[int, int]:
        """The corner of the bounding box along W and N: the first place, and as many images as the padding reaches."""
        return self.problem.first, -self.problem.padding[1] // self.problem.width

    @property
    def upper(self) -> tuple[int, int]:
        """The other one: the last place of an image, and as many images more as a tile may reach beyond the last."""
        one = self.problem
        return one.first + one.step * (one.width - 1) - (one.source - 1), min(_FARTHEST, 2 * LANES // one.width + 1)

    def start(self, place: int, h: int) -> tuple[int, int, int]:
        """Coordinates w, n, h at which a copy from a place begins.

        >>> from descriptors.tmem.shift_steps import shift_problem
        >>> RowCopies(shift_problem(2, 3, 9, 16, 16, (3, 3), (1, 1))).start(-1, 2)
        (8, -1, 2)
        """
        n, u = divmod(place, self.problem.width)
        return self.problem.first + self.problem.step * u, n, h

    def tensor_map(self, element: ElementType, channels: int, places: int, swizzle: SwizzleMode) -> TensorMap:
        """The im2col map of dimensions C, W, N, H.

        Args:
            element: type of the activations.
            channels: that a copy takes, one K step or more.
            places: that it takes: 128 of a load, 1 of a row that is refreshed.
            swizzle: of shared memory.

        Raises:
            TmaError: if no driver takes such a map.

        >>> from descriptors.smem.operands.operand import ELEMENT_TYPES
        >>> from descriptors.tmem.shift_steps import shift_problem
        >>> copies = RowCopies(shift_problem(2, 3, 9, 16, 16, (3, 3), (1, 1)))
        >>> made = copies.tensor_map(ELEMENT_TYPES["bf16"], 16, 128, SwizzleMode.B32)
        >>> made.extents, made.strides, made.box.lower, made.box.upper
        ((16, 9, 2, 3), (32, 864, 288), (0, -1), (0, 29))
        """
        one = self.problem
        pixel = one.channels * element.bits // 8
        made = TensorMap(
            as_data_type(DATA_TYPES[element.name][1]),
            0,
            (one.channels, one.source, one.images, one.height),
            (pixel, pixel * one.source * one.height, pixel * one.source),
            Im2colWindow(self.lower, self.upper, channels, places),
            (1, one.step, 1, 1),
            swizzle=SWIZZLES[swizzle][1],
        )
        for refusal in made.refusals():
            raise TmaError(f"{refusal.argument} {refusal.message}", refusal.rule)
        return made

    def rows(self, activations: Numbers, h: int, starts: Sequence[int], count: int) -> Numbers:
        """What copies bring, by the model of im2col copies.

        Args:
            activations: N H W C.
            h: the row of the images.
            starts: the place at which each copy begins.
            count: places that each takes.

        Returns:
            array (place, channel), one copy after the other.
        """
        import numpy as np

        w, n, rest = (at.ravel() for at in _coordinates(self, tuple(starts), count))
        at, h_at = (n, w), rest + h
        images, height, width, _ = activations.shape
        inside = (w >= 0) & (w < width) & (n >= 0) & (n < images) & (h_at < height)
        row = activations[np.where(inside, at[0], 0), np.where(inside, h_at, 0), np.where(inside, at[1], 0)]
        brought: Numbers = row * inside[:, None]
        return brought


@lru_cache(maxsize=1 << 12)
def _coordinates(copies: RowCopies, starts: tuple[int, ...], count: int) -> tuple[Numbers, ...]:
    """Coordinates along W and N of every place of every copy, and the rows that it goes on by."""
    import numpy as np

    one = copies.problem
    taken = im2col_coordinates(
        (one.source, one.images),
        copies.lower,
        copies.upper,
        (one.step, 1),
        np.array([copies.start(place, 0) for place in starts]),
        count,
    )
    return taken[..., 0], taken[..., 1], taken[..., 2]
