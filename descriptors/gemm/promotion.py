"""Promote accumulators on sm90: multiply them by scale factors every 128 of K, and add them to f32 sums.

``wgmma`` has no scale factors, and it adds products of 8-bit floats with fewer bits than single precision has.
DeepSeek-V3's report (section 3.3.2) states about 14 bits and promotes the sums every 128 of K; we have not measured
this. Therefore the instructions of each 128 of K start a new sum. Their result is multiplied by the factor of its row
of A and the factor of its block of B, and added to single-precision sums, which have registers of their own.

The factors are f32. A has one factor for each row and 128 of K. In memory the rows follow one another, so that the
factors of a tile are contiguous and TMA can copy them; TMA needs strides that are multiples of 16 bytes, so rows are
padded to a multiple of four. B has one factor for each 128 x 128 block, first all along K::

    A   m + 4 ceil(M / 4) (k / 128)        B   k / 128 + ceil(K / 128) (n / 128)

A quantizer that works row by row produces the transposed factors of A: M rows of K/128. This is why such kernels
transpose them first. Source: the README of DeepGEMM (f32 on SM90, factors of A transposed and aligned for TMA, factors
of B in blocks of 128 x 128 in their natural order); the formulas are ours.

Invariant: a thread needs two factors of A for each M block, and one of B for each N block.

>>> from descriptors.gemm.accumulators import registers_of
>>> from descriptors.gemm.plan_request import main_loop
>>> loop = main_loop("m64n128k32", "e4m3", tile=(128, 128, 256), scale_vector=128)
>>> promoted = promotion_of(loop, registers_of(loop))
>>> sorted({promoted.row(37, value) for value in range(64)}), promoted.groups, promoted.registers
([17, 25], 2, 64)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from descriptors.errors import Advice, DescriptorError, as_array, as_integer
from descriptors.gemm.accumulators import THREAD_REGISTERS, Registers, roomier
from descriptors.gemm.plan_request import MainLoop, check_groups
from layoutalg import Fragment, Layout, make_layout
from layoutalg.frozen import frozen

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Elements along K, and rows of B, that share a factor; and the multiple to which rows of A are padded (16 bytes).
GROUP, PADDED = 128, 4


@frozen
class Promotion:
    """The promotion of accumulators every 128 of K.

    Args:
        fragment: (thread, value) of a warpgroup -> element of one accumulator.
        registers: number of registers of a thread for the sums, in addition to the accumulators.
        groups: number of promotions in a stage.
        blocks: number of K blocks that are added up before each promotion.
        a_loads, b_loads: number of factors of A and of B that a thread loads for each 128 of K.
    """

    fragment: Fragment
    registers: int
    groups: int
    blocks: int
    a_loads: int
    b_loads: int

    def row(self, thread: int, value: int) -> int:
        """Return the row of an M block in which a value of a thread is."""
        return self.fragment.element(thread, value)[0]

    def places(self, m: int, n: int, k: int) -> tuple[list[int], list[int]]:
        """Return the index of the factor of each row in those of A, and of each column in those of B, at K = 0.

        Args:
            m, n, k: extents of the matrices.

        >>> from descriptors.gemm.planner import plan
        >>> made = plan("m64n8k32", "e4m3", tile=(64, 8, 128), scale_vector=128, verify=False)
        >>> made.promotion.places(3, 256, 384)[1][127:129], made.promotion.step(3)
        ([0, 3], (4, 1))
        """
        a, b = a_scale_layout(m, k), b_scale_layout(n, k)
        return [int(a(row, 0)) for row in range(m)], [int(b(column, 0)) for column in range(n)]

    def step(self, m: int) -> tuple[int, int]:
        """Return the distance to the factors of the next 128 of K, for A and for B."""
        return -(-m // PADDED) * PADDED, 1


def promotion_of(loop: MainLoop, accumulators: Registers) -> Promotion:
    """Return how the accumulators of an sm90 plan with a factor for 128 elements are promoted.

    Args:
        loop: the instruction and the tile.
        accumulators: the registers of the accumulators.

    Raises:
        DescriptorError: if tile K is not a multiple of 128, an N block needs two factors, or there are not enough
            registers.
    """
    _, n, k = loop.extents
    check_groups(loop.tile)
    if GROUP % n or (loop.tile[1] > GROUP and loop.tile[1] % GROUP) or (loop.tile[1] < GROUP and GROUP % loop.tile[1]):
        raise DescriptorError(
            f"plan: N of the instruction is {n} and N of the tile {loop.tile[1]}; each must divide {GROUP} or be its "
            "multiple, so that an N block has one factor",
            proposals=[
                Advice({"instruction": (loop.extents[0], width, k), "tile": (loop.tile[0], tile_n, loop.tile[2])})
                for tile_n in (loop.tile[1], GROUP)
                for width in (GROUP, 64, 32, 16, 8)
            ],
        )
    needed = 2 * accumulators.registers + 2 * accumulators.each + loop.blocks[1]
    if needed > THREAD_REGISTERS:
        raise DescriptorError(
            f"plan: accumulators, their sums and factors need {needed} registers per thread, but a thread has at most "
            f"{THREAD_REGISTERS}",
            proposals=roomier(loop, accumulators.warpgroups),
        )
    own_blocks = loop.blocks[0] // accumulators.warpgroups
    return Promotion(
        accumulators.fragment, accumulators.registers, loop.tile[2] // GROUP, GROUP // k, 2 * own_blocks, loop.blocks[1]
    )


def a_scale_layout(m: int, k: int) -> Layout:
    """Return the layout of the factors of A in memory: (m, k) to the index of an f32.

    Args:
        m, k: extents of A.

    Raises:
        DescriptorError: if an extent is not a positive integer.

    >>> print(a_scale_layout(130, 256))
    (130,(128,2)):(1,(0,132))
    """
    rows, groups = _extents(m, k, "M")
    return make_layout(Layout(rows), Layout((GROUP, groups), (0, -(-rows // PADDED) * PADDED)))


def b_scale_layout(n: int, k: int) -> Layout:
    """Return the layout of the factors of B in memory: (n, k) to the index of an f32.

    Args:
        n, k: extents of B.

    Raises:
        DescriptorError: if an extent is not a positive integer.

    >>> print(b_scale_layout(256, 384))
    ((128,2),(128,3)):((0,3),(0,1))
    """
    rows, groups = _extents(n, k, "N")
    return make_layout(Layout((GROUP, -(-rows // GROUP)), (0, groups)), Layout((GROUP, groups), (0, 1)))


def _extents(mn: int, k: int, letter: str) -> tuple[int, int]:
    rows = as_integer(mn, f"scale factors: {letter}", minimum=1, maximum=1 << 30)
    return rows, -(-as_integer(k, "scale factors: K", minimum=1, maximum=1 << 30) // GROUP)


def pack_a_scales(scales: Any) -> NDArray[Any]:
    """Return the factors of A in the order of ``a_scale_layout``, with M padded with zeros to a multiple of four.

    Args:
        scales: M rows of one factor for each 128 of K, as a quantizer produces them.

    Raises:
        DescriptorError: if ``scales`` is not a matrix of numbers.

    >>> pack_a_scales([[1, 2], [3, 4], [5, 6]]).tolist()
    [[1.0, 3.0, 5.0, 0.0], [2.0, 4.0, 6.0, 0.0]]
    """
    import numpy as np

    array = _numbers(scales, "pack_a_scales")
    packed = np.zeros((array.shape[1], -(-len(array) // PADDED) * PADDED), np.float32)
    packed[:, : len(array)] = array.T
    return packed


def unpack_a_scales(packed: Any, m: int) -> NDArray[Any]:
    """Return the factors of A as a row of factors for each row of A.

    Args:
        packed: the result of ``pack_a_scales``.
        m: number of rows of A.

    Raises:
        DescriptorError: if ``packed`` is not a matrix of numbers for ``m`` rows.

    >>> unpack_a_scales([[1, 3, 5, 0], [2, 4, 6, 0]], 3).tolist()
    [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    """
    import numpy as np

    array, rows = _numbers(packed, "unpack_a_scales"), as_integer(m, "unpack_a_scales: M", minimum=1)
    padded = -(-rows // PADDED) * PADDED
    if array.shape[1] != padded:
        raise DescriptorError(
            f"unpack_a_scales: each row has {array.shape[1]} factors, and {rows} rows of A are padded to {padded}"
        )
    return np.ascontiguousarray(array[:, :rows].T)


def _numbers(value: Any, operation: str) -> NDArray[Any]:
    import numpy as np

    array = as_array(value)
    if array.ndim != 2 or array.dtype.kind not in "iuf":
        raise DescriptorError(
            f"{operation}: the factors have shape {array.shape} of {array.dtype}, not a matrix of numbers"
        )
    return array.astype(np.float32)
