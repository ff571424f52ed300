"""Plan one operand of a main loop of ``mma.sync``: its layout in shared memory, the copies to it and the loads from it.

A stage is divided along its contiguous dimension into columns of at most 128 bytes, stored one after the other. The
swizzle is the smallest with which neither the copies nor the loads have a bank conflict; if TMA copies, only its
swizzles are considered. K-major tiles are loaded with ``ldmatrix.x4``, MN-major tiles of 16-bit elements with
``ldmatrix.x4.trans``, and others element by element. Places are counted in units: a unit is an element, or a byte with
two packed elements.

Invariant: over all threads, the copies write every 16 bytes of the tile once.

>>> from descriptors.gemm.mma_request import mma_loop
>>> b = mma_operand(mma_loop("mma.m16n8k16", "bf16", tile=(64, 96, 32), b_major="MN"), "B")
>>> print(b.swizzle, b.layout, b.move)
S<2,4,3> S<2,3,3> o 0 o ((32,3),32):((1,1024),32) ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
>>> len(set(b.fill_elements.ravel().tolist())) == 96 * 32 * 2 // 16 == b.fill_elements.size
True
"""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING, Any, Literal

from descriptors.errors import DescriptorError
from descriptors.gemm.mma_request import MmaLoop
from descriptors.smem.instructions.rules import type_name
from descriptors.smem.operands.operand import ElementType, Major, Matrix, SwizzleMode, as_element_type
from descriptors.smem.tma.tma_plan import Box, Dimension, TmaPlan
from descriptors.smem.words.tensor_map import PADDED_INNER
from descriptors.targets import WARP_ARCHITECTURES
from layoutalg import (
    AccessPattern,
    AnyLayout,
    ComposedLayout,
    Layout,
    NoSwizzleError,
    Swizzle,
    TiledCopy,
    TiledMma,
    accesses,
    copy_atom,
    find_swizzle,
    group_modes,
    make_layout,
    make_tiled_copy_A,
    make_tiled_copy_B,
    make_tiled_copy_tv,
    make_tiled_mma,
    offsets,
    rank,
    swizzle_mode,
)
from layoutalg.frozen import frozen, replace

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Bytes that a thread copies at once, and the largest width of a column of a stage: all banks once.
COPY_BYTES, LINE_BYTES = 16, 128
#: The fragments of ``mma.sync`` by the bits of an element; each has 32 bytes along K.
_FRAGMENTS = {8: "mma.m16n8k32.s8", 16: "mma.m16n8k16.f16", 32: "mma.m16n8k8.tf32"}


@frozen
class MmaOperand:
    """An operand of ``mma.sync`` in shared memory, with its copies and loads.

    Args:
        matrix: ``"A"`` or ``"B"``.
        element: the element type.
        major: the contiguous dimension, in global memory and in shared memory.
        tile: MN and K of a stage, in units.
        layout: (MN, K) to the place in a stage, in units.
        base: address of the first stage, in bytes.
        fill: the units of a piece of the tile that each thread copies, 16 bytes at a time; or the boxes of TMA.
        load: the units of a piece whose addresses each thread passes, and the units that it then has in registers.
        move: the load instruction.
        shift: bits by which a loaded register is shifted left, to the bits from which the instruction reads elements.
    """

    matrix: Matrix
    element: ElementType
    major: Major
    tile: tuple[int, int]
    layout: AnyLayout
    base: int
    fill: TiledCopy | TmaPlan
    load: TiledCopy
    move: str
    shift: int = 0

    @property
    def bytes(self) -> int:
        """Size of a unit in bytes."""
        return max(1, self.element.storage_bits // 8)

    @property
    def packed(self) -> int:
        """Number of elements of a unit."""
        return 8 * self.bytes // self.element.storage_bits

    @property
    def stage_bytes(self) -> int:
        """Size of one stage in bytes."""
        return self.tile[0] * self.tile[1] * self.bytes

    @property
    def alignment(self) -> int:
        """Required alignment of the operand's address in bytes: that of TMA's swizzle, or 1."""
        return self.fill.swizzle.alignment_bytes if isinstance(self.fill, TmaPlan) else 1

    @property
    def swizzle(self) -> Swizzle:
        """The swizzle of byte addresses; with 0 bits if there is none."""
        if isinstance(self.layout, ComposedLayout):
            in_units = self.layout.outer
            assert isinstance(in_units, Swizzle)
            return Swizzle(in_units.bits, in_units.base + self.bytes.bit_length() - 1, in_units.shift)
        return Swizzle(0, 4, 3)

    @property
    def turned(self) -> bool:
        """Whether the load transposes the matrices."""
        return ".trans" in self.move

    @property
    def by_element(self) -> bool:
        """Whether threads load elements one by one."""
        return self.move.startswith("ld.")

    @property
    def fill_elements(self) -> NDArray[Any]:
        """The first unit of each copy of each thread, as ``MN + (extent of MN) K``, if threads copy.

        Axes (thread, copy along MN, copy along K).
        """
        assert isinstance(self.fill, TiledCopy)
        first: NDArray[Any] = offsets(self.fill.thrfrg_D(Layout(self.tile)))[:, 0]
        return first

    def load_elements(self, side: Literal["S", "D"] = "S") -> NDArray[Any]:
        """Return the units whose addresses each thread passes (S), or that it has afterwards (D).

        A unit is given as ``MN + (extent of MN) K``.

        Returns:
            Axes (thread, value, piece along MN, piece along K).
        """
        tile = Layout(self.tile)
        elements: NDArray[Any] = offsets(self.load.thrfrg_S(tile) if side == "S" else self.load.thrfrg_D(tile))
        return elements

    def conflicts(self) -> tuple[int, int]:
        """Return the number of additional wavefronts due to bank conflicts, of the copies and of the loads of a stage.

        >>> from descriptors.gemm.mma_request import mma_loop
        >>> mma_operand(mma_loop("mma.m16n8k16", "bf16", tile=(64, 64, 64)), "A").conflicts()
        (0, 0)
        """
        filled, loaded = (
            sum(
                access.conflicts
                for part, width in moved
                for access in accesses(self.layout, group_modes(part, 1, rank(part)), self.bytes, width, store=store)
            )
            for moved, store in zip(_moved(self), (True, False), strict=True)
        )
        return filled, loaded


def mma_operand(loop: MmaLoop, matrix: Matrix) -> MmaOperand:
    """Return an operand at address 0, with the swizzle that has the fewest bank conflicts.

    Args:
        loop: the instruction, the tile and the warps.
        matrix: ``"A"`` or ``"B"``.

    Raises:
        DescriptorError: if elements of 4 or 6 bits cannot be copied and loaded from such a tile.
    """
    index = "AB".index(matrix)
    element, major = ((loop.a, loop.a_major), (loop.b, loop.b_major))[index]
    width = max(8, element.storage_bits)
    tile = (loop.tile[index], loop.tile[2] * element.storage_bits // width)
    _check_narrow(loop, matrix, element, major)
    move = _move(element, major)
    atom = copy_atom(1) if move.startswith("ld.") else copy_atom(_ATOMS[".trans" in move], width)
    load = (make_tiled_copy_A, make_tiled_copy_B)[index](atom, tiled_mma(loop, width))
    plain = columns(tile, width, major)
    fill = _fill(tile, width, major, loop.threads)
    side = MmaOperand(matrix, element, major, tile, plain, 0, fill, load, move, 2 * ("b4x16" in move))
    if not WARP_ARCHITECTURES[loop.arch].tma:
        return replace(side, layout=_swizzled(side))
    side = replace(side, fill=_boxes(side, SwizzleMode.NONE))
    side = replace(side, layout=_swizzled(side, _tma_swizzles(side)))
    return replace(side, fill=_boxes(side, SwizzleMode(swizzle_mode(side.swizzle) if side.swizzle.bits else "none")))


def _check_narrow(loop: MmaLoop, matrix: Matrix, element: ElementType, major: Major) -> None:
    """Check that elements of less than 8 bits can be copied and loaded."""
    if element.bits == 8 or element.storage_bits > 8:
        return
    if major is not Major.K:
        raise DescriptorError(f"plan: {matrix} is {major}-major, and {type_name(element)} is supported K-major only")
    if element.storage_bits == 8 and loop.tile[2] % PADDED_INNER:
        raise DescriptorError(
            f"plan: tile K is {loop.tile[2]}, which is not a multiple of {PADDED_INNER}, the width of a box of padded "
            f"{type_name(element)}"
        )


def tiled_mma(loop: MmaLoop, bits: int) -> TiledMma:
    """Return the instruction tiled over the warps, with two adjacent along N, because ``ldmatrix.x4`` loads B for two.

    Args:
        loop: the instruction, the tile and the warps.
        bits: bits of a unit, in which K is counted.

    >>> from descriptors.gemm.mma_request import mma_loop
    >>> loop = mma_loop("mma.m16n8k16", "bf16", tile=(128, 128, 32))
    >>> tiled_mma(loop, 16).tile_mnk
    (32, 32, 16)
    """
    down, across = loop.warps
    along_n = Layout((8, across, 2), (1, 16, 8))
    return make_tiled_mma(_FRAGMENTS[bits], (down, across, 1), (None, along_n, None))


def columns(tile: tuple[int, int], bits: int, major: Major) -> Layout:
    """Return the layout of a stage without swizzle: columns along the contiguous dimension, at most 128 bytes wide.

    >>> print(columns((64, 96), 16, Major.K))
    (64,(32,3)):(32,(1,2048))
    """
    inner = major.contiguous_mode
    wide, rows = _column(tile, bits, major), tile[1 - inner]
    modes = [Layout((wide, tile[inner] // wide), (1, rows * wide)), Layout(rows, wide)]
    return make_layout(modes[inner], modes[1 - inner])


def _column(tile: tuple[int, int], bits: int, major: Major) -> int:
    """Return the width of a column, in units."""
    return gcd(tile[major.contiguous_mode], LINE_BYTES * 8 // bits)


def _move(element: ElementType, major: Major) -> str:
    """Return the load instruction."""
    if major is not Major.K and element.storage_bits != 16:
        return f"ld.shared.b{element.storage_bits}"
    if element.storage_bits == 8 and element.bits < 8:
        padding = {4: "b4x16_p64", 6: "b6x16_p32"}[element.bits]
        return f"ldmatrix.sync.aligned.m8n16.x4.shared.b8x16.{padding}"
    return f"ldmatrix.sync.aligned.m8n8.x4{'' if major is Major.K else '.trans'}.shared.b16"


def _fill(tile: tuple[int, int], bits: int, major: Major, threads: int) -> TiledCopy:
    """Return the copies of threads: adjacent threads along a row of a column, then as many rows as divide the tile."""
    inner, each = major.contiguous_mode, COPY_BYTES * 8 // bits
    beside = _column(tile, bits, major) // each
    rows = max(count for count in range(1, threads // beside + 1) if tile[1 - inner] % count == 0)
    if inner == 1:
        return make_tiled_copy_tv(each, Layout((rows, beside), (beside, 1)), Layout((1, each)))
    return make_tiled_copy_tv(each, Layout((beside, rows)), Layout((each, 1)))


def _boxes(side: MmaOperand, mode: SwizzleMode) -> TmaPlan:
    """Return TMA copies with boxes that cover every column; packed elements are copied as bytes."""
    inner, bits = side.major.contiguous_mode, 8 * side.bytes
    wide, rows = _column(side.tile, bits, side.major), side.tile[1 - inner]
    high = max(part for part in range(1, _MOST_BOX + 1) if rows % part == 0)
    boxes = []
    for i in range(side.tile[inner] // wide):
        for row in range(0, rows, high):
            origin_in_memory = (i * wide, row)
            origin = origin_in_memory if inner == 0 else origin_in_memory[::-1]
            boxes.append(Box(0, origin, origin_in_memory, (i * rows + row) * wide * side.bytes))
    dimensions = (Dimension(inner, 1, None, wide), Dimension(1 - inner, 1, None, high))
    element = side.element if side.packed == 1 else as_element_type("u8")
    return TmaPlan(columns(side.tile, bits, side.major), element, side.major, mode, dimensions, tuple(boxes))


def _tma_swizzles(side: MmaOperand) -> list[Swizzle]:
    """Return the swizzles of TMA for the width of the columns: none, and the one with this span."""
    wide = _column(side.tile, 8 * side.bytes, side.major) * side.bytes
    modes = (SwizzleMode.B32, SwizzleMode.B64, SwizzleMode.B128)
    return [Swizzle(0, 4, 3), *(mode.swizzle for mode in modes if mode.span_bytes == wide and mode.swizzle)]


def _moved(side: MmaOperand) -> tuple[list[tuple[AnyLayout, int]], list[tuple[AnyLayout, int]]]:
    """Return the threads' stores and loads of the tile with the bytes of an access; no stores if TMA copies."""
    tile = Layout(side.tile)
    stores = [(side.fill.thrfrg_D(tile), COPY_BYTES)] if isinstance(side.fill, TiledCopy) else []
    return stores, [(side.load.thrfrg_S(tile), side.bytes if side.by_element else COPY_BYTES)]


def _plain(part: AnyLayout) -> Layout:
    """Return the layout (thread, value) of the first piece."""
    lanes, values = part[0], part[1]
    assert isinstance(lanes, Layout) and isinstance(values, Layout)
    return make_layout(lanes, values)


def _swizzled(side: MmaOperand, candidates: list[Swizzle] | None = None) -> AnyLayout:
    """Return the layout with the smallest swizzle without bank conflicts in a piece, or with the fewest conflicts."""
    patterns = [
        AccessPattern(_plain(part), width, store)
        for moved, store in zip(_moved(side), (True, False), strict=True)
        for part, width in moved
    ]
    try:
        swizzle = find_swizzle(side.layout, patterns, side.bytes, candidates=candidates)
    except NoSwizzleError as error:
        swizzle = error.best
    if not swizzle.bits:
        return side.layout
    return ComposedLayout(
        Swizzle(swizzle.bits, swizzle.base - side.bytes.bit_length() + 1, swizzle.shift), 0, side.layout
    )


#: The load of four matrices, without and with transposition.
_ATOMS = ("ldmatrix.x4", "ldmatrix.x4.trans")
#: The largest number of rows of a box (CUDA Driver API, cuTensorMapEncodeTiled).
_MOST_BOX = 256
