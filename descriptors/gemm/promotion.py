"""Scale factors of 128 elements on sm90: accumulators that are scaled and added up every 128 of K, and their factors.

``wgmma`` has no scale factors, and adds 8-bit floats with fewer bits than single precision has: DeepSeek-V3's report
(section 3.3.2) says about 14, and promotes the sums every 128 of K; that is its word, nobody here measured it. So the
instructions of each 128 of K begin anew, and what they leave is multiplied by the factor of its row of A and that of
its block of B, and added to sums of single precision, in registers of their own.

The factors are f32. Of A there is one for each row and 128 of K, and in memory rows follow one another, so that those
of a tile are one piece that the copy engine takes: its strides are multiples of 16 bytes, hence rows are padded to
four. Of B there is one for each 128 x 128 block, first all along K::

    A   m + 4 ceil(M / 4) (k / 128)        B   k / 128 + ceil(K / 128) (n / 128)

A quantizer that works row by row leaves the factors of A the other way round, M rows of K/128: that is why a
transposition stands before such kernels. Source: the README of DeepGEMM (f32 on SM90, those of A transposed and
aligned for TMA, those of B in blocks of 128 x 128 in their natural order); the formulas are ours.

Law: a thread needs two factors of A for each M block, and one of B for each N block.

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

#: Elements along K, rows of B, that share a factor; and rows of A to whose multiple they are padded: 16 bytes.
GROUP, PADDED = 128, 4


@frozen
class Promotion:
    """What becomes of the accumulators every 128 of K.

    Args:
        fragment: (thread, value) of a warpgroup -> element of one accumulator.
        registers: of a thread, for the sums, beside those of the accumulators.
        groups: how often in a stage.
        blocks: K blocks whose instructions add up before.
        a_loads, b_loads: factors that a thread loads for each 128 of K.
    """

    fragment: Fragment
    registers: int
    groups: int
    blocks: int
    a_loads: int
    b_loads: int

    def row(self, thread: int, value: int) -> int:
        """The row of an M block that a value of a thread is in."""
        return self.fragment.element(thread, value)[0]

    def places(self, m: int, n: int, k: int) -> tuple[list[int], list[int]]:
        """Where the factors of the rows, and of the columns, of a product lie at K = 0: in those of A, in those of B.

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
        """How far the factors of the next 128 of K lie: those of A, those of B."""
        return -(-m // PADDED) * PADDED, 1


def promotion_of(loop: MainLoop, accumulators: Registers) -> Promotion:
    """How the accumulators of a plan of sm90 with a factor for 128 elements are promoted.

    Args:
        loop: the instruction and the tile.
        accumulators: in registers.

    Raises:
        DescriptorError: if the tile is not whole groups, a block of N belongs to two of them, or registers are short.
    """
    _, n, k = loop.extents
    check_groups(loop.tile)
    if GROUP % n or (loop.tile[1] > GROUP and loop.tile[1] % GROUP) or (loop.tile[1] < GROUP and GROUP % loop.tile[1]):
        raise DescriptorError(
            f"plan: N of the instruction is {n} and N of the tile {loop.tile[1]}; each must divide {GROUP} or be its "
            "multiple, so that an N block has one factor",
            proposals=[
                Advice({"instruction": (loop.extents[0], width, k), "tile": (loop.tile[0], whole, loop.tile[2])})
                for whole in (loop.tile[1], GROUP)
                for width in (GROUP, 64, 32, 16, 8)
            ],
        )
    need = 2 * accumulators.registers + 2 * accumulators.each + loop.blocks[1]
    if need > THREAD_REGISTERS:
        raise DescriptorError(
            f"plan: accumulators, their sums and factors need {need} registers a thread, a thread has at most "
            f"{THREAD_REGISTERS}",
            proposals=roomier(loop, accumulators.warpgroups),
        )
    own = loop.blocks[0] // accumulators.warpgroups
    return Promotion(
        accumulators.fragment, accumulators.registers, loop.tile[2] // GROUP, GROUP // k, 2 * own, loop.blocks[1]
    )


def a_scale_layout(m: int, k: int) -> Layout:
    """The factors of A in memory: (m, k) to the index of an f32.

    Args:
        m, k: extents of A.

    Raises:
        DescriptorError: if one is no positive number.

    >>> print(a_scale_layout(130, 256))
    (130,(128,2)):(1,(0,132))
    """
    rows, groups = _extents(m, k, "M")
    return make_layout(Layout(rows), Layout((GROUP, groups), (0, -(-rows // PADDED) * PADDED)))


def b_scale_layout(n: int, k: int) -> Layout:
    """The factors of B in memory: (n, k) to the index of an f32.

    Args:
        n, k: extents of B.

    Raises:
        DescriptorError: if one is no positive number.

    >>> print(b_scale_layout(256, 384))
    ((128,2),(128,3)):((0,3),(0,1))
    """
    rows, groups = _extents(n, k, "N")
    return make_layout(Layout((GROUP, -(-rows // GROUP)), (0, groups)), Layout((GROUP, groups), (0, 1)))


def _extents(mn: int, k: int, letter: str) -> tuple[int, int]:
    rows = as_integer(mn, f"scale factors: {letter}", minimum=1, maximum=1 << 30)
    return rows, -(-as_integer(k, "scale factors: K", minimum=1, maximum=1 << 30) // GROUP)


def pack_a_scales(scales: Any) -> NDArray[Any]:
    """The factors of A as the kernel loads them: rows beside one another, padded with zeros to a multiple of four.

    Args:
        scales: M rows of one factor for each 128 of K, as a quantizer leaves them.

    Raises:
        DescriptorError: if they are no matrix of numbers.

    >>> pack_a_scales([[1, 2], [3, 4], [5, 6]]).tolist()
    [[1.0, 3.0, 5.0, 0.0], [2.0, 4.0, 6.0, 0.0]]
    """
    import numpy as np

    array = _numbers(scales, "pack_a_scales")
    packed = np.zeros((array.shape[1], -(-len(array) // PADDED) * PADDED), np.float32)
    packed[:, : len(array)] = array.T
    return packed


def unpack_a_scales(packed: Any, m: int) -> NDArray[Any]:
    """The factors of A out of memory, a row of factors for each row of A.

    Args:
        packed: as ``pack_a_scales`` returns it.
        m: rows of A.

    Raises:
        DescriptorError: if they are no such factors of so many rows.

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


def _numbers(value: Any, where: str) -> NDArray[Any]:
    import numpy as np

    array = as_array(value)
    if array.ndim != 2 or array.dtype.kind not in "iuf":
        raise DescriptorError(
            f"{where}: the factors have shape {array.shape} of {array.dtype}, not a matrix of numbers"
        )
    return array.astype(np.float32)
