"""One operand of a main loop of ``mma.sync``: how a stage lies in shared memory, who copies it there, who loads it.

A stage is cut along its contiguous dimension into columns of at most 128 bytes, which follow one another; the swizzle
is the smallest with which neither the copies nor the loads have a bank conflict. K-major tiles are loaded by
``ldmatrix.x4``, MN-major ones of 16 bits by its ``.trans``, others element by element, as no ``ldmatrix`` of these
architectures turns them.

Law: over all threads, the copies write every 16 bytes of the tile once.

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

from descriptors.gemm.mma_request import MmaLoop
from descriptors.smem.operands.operand import ElementType, Major, Matrix
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
)
from layoutalg.frozen import frozen, replace

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Bytes that a thread copies at once, and of a line of banks, beyond which no column of a stage is wide.
COPY_BYTES, LINE_BYTES = 16, 128
#: The fragments of ``mma.sync`` by the bits of an element: whatever the type, 32 bytes along K.
_FRAGMENTS = {8: "mma.m16n8k32.s8", 16: "mma.m16n8k16.f16", 32: "mma.m16n8k8.tf32"}


@frozen
class MmaOperand:
    """An operand in shared memory, in fragments, and on its way.

    Args:
        matrix: ``"A"`` or ``"B"``.
        element: its type.
        major: the contiguous dimension, in global memory and in shared memory.
        tile: MN and K of a stage, in elements.
        layout: (MN, K) to the place in a stage, in elements.
        base: where the first stage begins, in bytes.
        fill: which thread copies which elements of a piece of the tile, 16 bytes at a time.
        load: which thread points at, and then holds, which elements of a piece.
        move: the instruction that loads.
    """

    matrix: Matrix
    element: ElementType
    major: Major
    tile: tuple[int, int]
    layout: AnyLayout
    base: int
    fill: TiledCopy
    load: TiledCopy
    move: str

    @property
    def bytes(self) -> int:
        """Of an element."""
        return self.element.storage_bits // 8

    @property
    def stage_bytes(self) -> int:
        """Shared memory of one stage."""
        return self.tile[0] * self.tile[1] * self.bytes

    @property
    def swizzle(self) -> Swizzle:
        """The permutation of byte addresses; of 0 bits where there is none."""
        if isinstance(self.layout, ComposedLayout):
            one = self.layout.outer
            assert isinstance(one, Swizzle)
            return Swizzle(one.bits, one.base + self.bytes.bit_length() - 1, one.shift)
        return Swizzle(0, 4, 3)

    @property
    def turned(self) -> bool:
        """Whether the matrices are transposed on their way into registers."""
        return ".trans" in self.move

    @property
    def by_element(self) -> bool:
        """Whether threads load their elements one by one."""
        return self.move.startswith("ld.")

    @property
    def fill_elements(self) -> NDArray[Any]:
        """The first element of each copy of each thread, as ``MN + (extent of MN) K``.

        Returns:
            Axes (thread, copy along MN, copy along K).
        """
        first: NDArray[Any] = offsets(self.fill.thrfrg_D(Layout(self.tile)))[:, 0]
        return first

    def load_elements(self, side: Literal["S", "D"] = "S") -> NDArray[Any]:
        """What each thread points at (S), or holds afterwards (D), as ``MN + (extent of MN) K``.

        Returns:
            Axes (thread, value, piece along MN, piece along K).
        """
        tile = Layout(self.tile)
        whole: NDArray[Any] = offsets(self.load.thrfrg_S(tile) if side == "S" else self.load.thrfrg_D(tile))
        return whole

    def conflicts(self) -> tuple[int, int]:
        """Wavefronts that bank conflicts cost, those beyond one a phase: of all copies and of all loads of a stage.

        >>> from descriptors.gemm.mma_request import mma_loop
        >>> mma_operand(mma_loop("mma.m16n8k16", "bf16", tile=(64, 64, 64)), "A").conflicts()
        (0, 0)
        """
        parts = [self.fill.thrfrg_D(Layout(self.tile)), self.load.thrfrg_S(Layout(self.tile))]
        lanes = [group_modes(one, 1, rank(one)) for one in parts]
        filled, loaded = (
            sum(one.conflicts for one in accesses(self.layout, lane, self.bytes, width, store=store))
            for lane, width, store in zip(lanes, self.widths, (True, False), strict=True)
        )
        return filled, loaded

    @property
    def widths(self) -> tuple[int, int]:
        """Bytes that a thread copies at once, and that it points at."""
        return COPY_BYTES, self.bytes if self.by_element else COPY_BYTES


def mma_operand(loop: MmaLoop, matrix: Matrix, base: int = 0) -> MmaOperand:
    """An operand of a main loop, with the swizzle that frees its accesses of bank conflicts.

    Args:
        loop: the instruction, the tile and the warps.
        matrix: ``"A"`` or ``"B"``.
        base: its address, in bytes.
    """
    index = "AB".index(matrix)
    element, major = ((loop.a, loop.a_major), (loop.b, loop.b_major))[index]
    tile = (loop.tile[index], loop.tile[2])
    plain = columns(tile, element, major)
    move = _move(element, major)
    atom = copy_atom(1) if move.startswith("ld.") else copy_atom(_ATOMS[".trans" in move], element.storage_bits)
    load = (make_tiled_copy_A, make_tiled_copy_B)[index](atom, tiled_mma(loop, element))
    fill = _fill(tile, element, major, loop.threads)
    one = MmaOperand(matrix, element, major, tile, plain, base, fill, load, move)
    return replace(one, layout=_swizzled(one))


def tiled_mma(loop: MmaLoop, element: ElementType) -> TiledMma:
    """The instruction over the warps, two of it side by side along N, as ``ldmatrix.x4`` loads B.

    Args:
        loop: the instruction, the tile and the warps.
        element: the type whose width counts K.

    >>> from descriptors.gemm.mma_request import mma_loop
    >>> loop = mma_loop("mma.m16n8k16", "bf16", tile=(128, 128, 32))
    >>> tiled_mma(loop, loop.a).tile_mnk
    (32, 64, 16)
    """
    down, across = loop.warps
    along_n = Layout((8, across, 2), (1, 16, 8))
    return make_tiled_mma(_FRAGMENTS[element.storage_bits], (down, across, 1), (None, along_n, None))


def columns(tile: tuple[int, int], element: ElementType, major: Major) -> Layout:
    """A stage without its swizzle: columns of the contiguous dimension, as wide as a power of two up to 128 bytes.

    >>> from descriptors.smem.operands.operand import as_element_type
    >>> print(columns((64, 96), as_element_type("bf16"), Major.K))
    (64,(32,3)):(32,(1,2048))
    """
    inner = major.contiguous_mode
    wide, rows = _column(tile, element, major), tile[1 - inner]
    modes = [Layout((wide, tile[inner] // wide), (1, rows * wide)), Layout(rows, wide)]
    return make_layout(modes[inner], modes[1 - inner])


def _column(tile: tuple[int, int], element: ElementType, major: Major) -> int:
    """Elements of a row of a column."""
    return gcd(tile[major.contiguous_mode], LINE_BYTES * 8 // element.storage_bits)


def _move(element: ElementType, major: Major) -> str:
    if major is Major.K:
        return "ldmatrix.sync.aligned.m8n8.x4.shared.b16"
    if element.storage_bits == 16:
        return "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16"
    return f"ld.shared.b{element.storage_bits}"


def _fill(tile: tuple[int, int], element: ElementType, major: Major, threads: int) -> TiledCopy:
    """Threads side by side along a row of a column, then over as many rows as divide the tile's."""
    inner, each = major.contiguous_mode, COPY_BYTES * 8 // element.storage_bits
    beside = _column(tile, element, major) // each
    rows = max(one for one in range(1, threads // beside + 1) if tile[1 - inner] % one == 0)
    if inner == 1:
        return make_tiled_copy_tv(each, Layout((rows, beside), (beside, 1)), Layout((1, each)))
    return make_tiled_copy_tv(each, Layout((beside, rows)), Layout((each, 1)))


def _swizzled(one: MmaOperand) -> AnyLayout:
    """The stage with the smallest swizzle that leaves a piece's copies and loads no conflict, or the fewest."""
    tile = Layout(one.tile)
    parts = (one.fill.thrfrg_D(tile), one.load.thrfrg_S(tile))
    patterns = [
        AccessPattern(make_layout(part[0], part[1]), width, store)
        for part, width, store in zip(parts, one.widths, (True, False), strict=True)
    ]
    try:
        swizzle = find_swizzle(one.layout, patterns, one.bytes)
    except NoSwizzleError as error:
        swizzle = error.best
    if not swizzle.bits:
        return one.layout
    return ComposedLayout(
        Swizzle(swizzle.bits, swizzle.base - one.bytes.bit_length() + 1, swizzle.shift), 0, one.layout
    )


#: The load of four matrices, as they are or transposed.
_ATOMS = ("ldmatrix.x4", "ldmatrix.x4.trans")
