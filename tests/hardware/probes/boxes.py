"""Boxes for the copy engine (TMA), as plain data: a tensor map, and where each box comes from and goes to."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

#: Codes of unsigned integers in a tensor map, by their bytes (cuda.h, CUtensorMapDataType).
UNSIGNED = {1: 0, 2: 1, 4: 2}
#: Names of the swizzle codes in a tensor map (cuda.h, CUtensorMapSwizzle).
SWIZZLE_NAMES = ("none", "32B", "64B", "128B", "128B_ATOM_32B")


@dataclass(frozen=True)
class Boxes:
    """The boxes that bring a tile. All dimensions fastest first, as the driver counts.

    Args:
        data_type: the tensor map's code of the element type.
        element_bits: bits that an element takes up in shared memory, for the count of what arrives.
        shape: extents of the array, in elements.
        strides_bytes: byte strides of all dimensions but the first.
        box: extents of a box, in elements.
        swizzle: the tensor map's code: 0 none, 1 32B, 2 64B, 3 128B, 4 128B with 32-byte atoms.
        places: for each box the coordinates of its first element, then the absolute shared-memory address.
        element_strides: how far from one element that is taken to the next, along each dimension; 1 where none is said.
    """

    data_type: int
    element_bits: int
    shape: tuple[int, ...]
    strides_bytes: tuple[int, ...]
    box: tuple[int, ...]
    swizzle: int
    places: tuple[tuple[int, ...], ...]
    element_strides: tuple[int, ...] = ()

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def arriving(self) -> int:
        """Bytes that all boxes bring."""
        # The copy engine has no step along the first dimension (CUDA Driver API, cuTensorMapEncodeTiled).
        steps = (1, *self.steps[1:])
        landing = prod(-(-extent // step) for extent, step in zip(self.box, steps, strict=True))
        return len(self.places) * landing * self.element_bits // 8

    @property
    def steps(self) -> tuple[int, ...]:
        """The element strides of all dimensions."""
        return self.element_strides or (1,) * self.rank

    def table(self) -> np.ndarray:
        """The places as the kernels read them: five coordinates and an address each."""
        rows = [(*place[:-1], *[0] * (5 - self.rank), place[-1]) for place in self.places]
        return np.array(rows, np.int32).reshape(-1, 6)


def boxes_of_matrix(
    element_bytes: int,
    shape: tuple[int, int],
    box: tuple[int, int],
    swizzle: int,
    places: tuple[tuple[int, int, int], ...],
) -> Boxes:
    """Boxes of a row-major matrix; shape and box are (rows, columns), a place is (row, column, address)."""
    turned = tuple((column, row, address) for row, column, address in places)
    strides = (shape[1] * element_bytes,)
    return Boxes(UNSIGNED[element_bytes], 8 * element_bytes, shape[::-1], strides, box[::-1], swizzle, turned)
