"""Build the legs of a plan's results: from accumulators to registers to C, directly or through shared memory.

Invariant: the pieces of a tile have as many elements as the tile.

>>> from descriptors.gemm.planner import plan
>>> made = plan("m128n16k16", "bf16", tile=(128, 16, 16), stages=1, c_dtype="bf16", verify=False)
>>> print(made.chain.verify().headline.split("; ")[2])
D of piece 0, of piece 1, of piece 2, of piece 3 512 elements through accumulator, tcgen05.ld.32x32b.x16, convert, \
store, layout, tma, tensor
>>> sum(leg.tile[0] * leg.tile[1] for leg in made.chain.legs if "piece" in leg.name) == 128 * 16
True
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import ClassVar, NamedTuple

from descriptors.gemm.accumulators import Registers, TensorColumns
from descriptors.gemm.chain import Leg, Link
from descriptors.gemm.epilogue import BITS, Pieces
from descriptors.gemm.memory_links import SharedLayout, TensorCopy, TensorLayout
from descriptors.gemm.places import GLOBAL, REGISTERS, SHARED, Contents, Home, Move, Tile
from descriptors.gemm.plan_request import MainLoop
from descriptors.gemm.planned_loop import PlannedLoop
from descriptors.gemm.register_links import Conversion, FragmentLink, ThreadCopy, places_of, register_places
from descriptors.gemm.tensor_links import Accumulators, TensorMove
from descriptors.smem.operands.operand import as_element_type
from descriptors.smem.words.tensor_map import TensorMap, as_data_type
from descriptors.text import DOCUMENTED
from descriptors.tmem.readout import Load
from layoutalg import Fragment, Layout
from layoutalg.frozen import frozen, replace

#: Types of results that are no operand's, by an operand's type of their width; of C in a tensor map, by its bytes.
_ELEMENTS, _DATA_TYPES = {"f32": "tf32", "s32": "tf32"}, {4: "FLOAT32", 2: "BFLOAT16", 1: "UINT8"}
_SWIZZLES = ("none", "32B", "64B", "128B")
#: Rows of a tensor are padded to as many elements, so that every type has whole 32 bytes of them.
_PITCH = 256
_WARP = 32


def padded(elements: int) -> int:
    """Return the distance between rows of a tensor, in elements, for rows of a number of elements."""
    return -(-elements // _PITCH) * _PITCH


def result_legs(plan: PlannedLoop) -> Iterator[Leg]:
    """Yield the legs of a CTA's results, and the leg of the matrix that is added to them.

    Args:
        plan: the plan.
    """
    loop, epilogue = plan.asked, plan.epilogue
    tile = (loop.tile[0] // loop.cta_group, loop.tile[1])
    element = as_element_type("f16" if loop.d == "f16" else "tf32")
    if "alpha-beta" in epilogue.terms and epilogue.splits == 1:
        yield Leg("C", tile, as_element_type(_ELEMENTS.get(epilogue.c, epilogue.c)), _added_links(plan, tile))
    for of_set, set_plan, order in _sets(plan):
        if epilogue.staged is None:
            yield Leg(f"D{of_set}", tile, element, tuple(_direct_links(set_plan, tile)))
            continue
        staged = epilogue.staged
        of_piece = (staged.rows, staged.columns)
        kind = as_element_type(_ELEMENTS.get(staged.type, staged.type))
        rounded = [Conversion(kind)] if kind.bits != element.bits else []
        for number, piece in enumerate(_pieces(set_plan, staged, order)):
            links = (*piece.begin, *rounded, *_stored(piece, staged, tile))
            yield Leg(f"D of piece {number}{of_set}", of_piece, element, links)


_Loads = tuple[tuple[int, Load], ...]


def _sets(plan: PlannedLoop) -> Iterator[tuple[str, PlannedLoop, _Loads]]:
    """Yield for each set of accumulators: suffix of the leg's name, plan with this set, loads of a warp in order."""
    accumulators = plan.accumulators
    if isinstance(accumulators, Registers):
        yield "", plan, ()
        return
    for number in range(accumulators.sets):
        of_set = f" of set {number}" if accumulators.sets > 1 else ""
        yield of_set, replace(plan, accumulators=accumulators.of(number)), accumulators.reads(number)[0]


def _fragment(plan: PlannedLoop) -> str:
    return f"wgmma.{'sp.' * plan.asked.sparse}{plan.asked.name}.D"


def _columns(loop: MainLoop, accumulators: TensorColumns) -> Accumulators:
    """Return the link for the accumulators of a tile in tensor memory."""
    return Accumulators(loop.extents[:2], loop.d, loop.cta_group, columns=accumulators.firsts)


def _direct_links(plan: PlannedLoop, tile: tuple[int, int]) -> Iterator[Link]:
    """Yield the links from accumulators to registers to rows of global memory."""
    accumulators = plan.accumulators
    if isinstance(accumulators, Registers):
        groups = (accumulators.warpgroups, 1)
        yield FragmentLink(_fragment(plan), groups, raked=True)
        yield ThreadCopy("store", FragmentLink(accumulators.fragment, groups, raked=True))
    else:
        yield _columns(plan.asked, accumulators)
        yield TensorMove(accumulators.readout.move)
        yield ReadoutCopy("store", accumulators, plan.asked.blocks[0])
    yield TensorLayout(Layout(tile, (tile[1], 1)))


def _added_links(plan: PlannedLoop, tile: tuple[int, int]) -> tuple[Link, ...]:
    """Return the links of the matrix that beta multiplies, from its rows to the registers of the sums."""
    accumulators, rows = plan.accumulators, TensorLayout(Layout(tile, (tile[1], 1)))
    if isinstance(accumulators, Registers):
        groups = (accumulators.warpgroups, 1)
        return (
            rows,
            ThreadCopy("load", FragmentLink(accumulators.fragment, groups, raked=True)),
            FragmentLink(_fragment(plan), groups, raked=True),
        )
    first, move = accumulators.of(0), TensorMove(accumulators.readout.move)
    return rows, ReadoutCopy("load", first, plan.asked.blocks[0]), LoadedSums(_columns(plan.asked, first), move)


class _Piece(NamedTuple):
    """The part of C that one warp or warpgroup stores at a time.

    Args:
        begin: the links that bring it into registers.
        fragment: the element of each value of each thread; None if each thread has a row.
        thread, value: the first thread of the writer, and the first value of the piece.
        origin: first row and column of the piece in the tile.
        address: address of its buffer in shared memory, in bytes.
    """

    begin: tuple[Link, ...]
    fragment: Fragment | None
    thread: int
    value: int
    origin: tuple[int, int]
    address: int


def _pieces(plan: PlannedLoop, staged: Pieces, order: _Loads) -> Iterator[_Piece]:
    """Yield the pieces of a CTA, those of each writer in the order in which it writes them."""
    loop, accumulators = plan.asked, plan.accumulators
    if isinstance(accumulators, Registers):
        (m, n, _), own = loop.extents, loop.blocks[0] // accumulators.warpgroups
        for group, block in product(range(accumulators.warpgroups), range(accumulators.each)):
            row, column = (block % own * accumulators.warpgroups + group) * m, block // own * n
            for piece, first in enumerate(range(0, n, staged.columns)):
                yield _Piece(
                    (PieceHeld(_fragment(plan), n, first),),
                    accumulators.fragment,
                    0,
                    first // 2,
                    (row, column + first),
                    staged.address(group, block * (n // staged.columns) + piece),
                )
        return
    rows, n, read = loop.extents[0] // loop.cta_group, loop.extents[1], accumulators.readout
    tile = (rows * loop.blocks[0], loop.tile[1])
    for warp in range(staged.writers):
        turn = 0
        of_warp = {load.column: load for load in read.loads if load.warp == warp}
        for index, load in ((i, of_warp[ordered_load.column]) for i, ordered_load in order):
            row, column = index % loop.blocks[0] * rows + load.origin[0], index // loop.blocks[0] * n + load.origin[1]
            move = TensorMove(read.move, accumulators.firsts[index] + load.column)
            for value in range(0, read.values, staged.columns):
                origin = (row, column + value)
                yield _Piece(
                    (PieceOfSums(_columns(loop, accumulators), tile, origin), move),
                    None,
                    _WARP * warp,
                    value,
                    origin,
                    staged.address(warp, turn),
                )
                turn += 1


def _stored(piece: _Piece, staged: Pieces, tile: tuple[int, int]) -> tuple[Link, ...]:
    """Return the links of a piece from registers to C, with a tensor map of one tile."""
    size, pitch, (row, column) = BITS[staged.type] // 8, padded(tile[1]), piece.origin
    map_of_c = TensorMap(
        as_data_type(_DATA_TYPES[size]), 0, tile[::-1], (pitch * size,), (staged.columns, staged.rows), (1, 1),
        swizzle=_SWIZZLES.index(str(staged.swizzle)),
    )  # fmt: skip
    return (
        PieceStore(staged, piece.fragment, piece.thread, piece.value, piece.address),
        SharedLayout(staged.layout, piece.address),
        TensorCopy(map_of_c, (((column, row), piece.address),)),
        TensorLayout(Layout((staged.rows, staged.columns), (pitch, 1)), (row * pitch + column) * size),
    )


@frozen
class PieceHeld:
    """A chain link: a piece of an accumulator in registers.

    Args:
        name: name of the instruction's fragment.
        columns: number of columns of the accumulator.
        first: first column of the piece.
    """

    name: str
    columns: int
    first: int
    noun: ClassVar[str] = "fragment"
    verbs: ClassVar[tuple[str, str]] = ("has", "has")

    def __str__(self) -> str:
        return self.name

    def steps(self, tile: Tile) -> Iterator[Home | Move]:
        """Yield where the elements are."""
        home = FragmentLink(self.name).registers(replace(tile, columns=self.columns))
        yield _inside(home, self.columns, (0, self.first), tile)


@frozen
class PieceOfSums:
    """A chain link: a piece of the accumulators of a tile in tensor memory.

    Args:
        sums: all accumulators of the tile.
        tile: rows and columns of the tile.
        origin: first row and column of the piece.
    """

    sums: Accumulators
    tile: tuple[int, int]
    origin: tuple[int, int]
    noun: ClassVar[str] = "accumulator"
    verbs: ClassVar[tuple[str, str]] = ("has", "has")

    def __str__(self) -> str:
        return str(self.sums)

    def remark(self, tile: Tile) -> str:
        """Return how this is known."""
        return DOCUMENTED

    def steps(self, tile: Tile) -> Iterator[Home | Move]:
        """Yield where the elements are."""
        for home in self.sums.steps(replace(tile, rows=self.tile[0], columns=self.tile[1])):
            yield _inside(home, self.tile[1], self.origin, tile)


def _inside(home: Home, columns: int, origin: tuple[int, int], tile: Tile) -> Home:
    """Return the part of a home that is in a tile, which begins at an origin in a tile with more columns."""
    row, column = home.elements // columns - origin[0], home.elements % columns - origin[1]
    inside = (row >= 0) & (row < tile.rows) & (column >= 0) & (column < tile.columns)
    return Home(home.space, tile.numbers(row, column)[inside], home.places[inside])


@frozen
class LoadedSums:
    """A chain link: the registers after loads have read accumulators.

    Args:
        sums: the accumulators.
        move: the load.
    """

    sums: Accumulators
    move: TensorMove
    noun: ClassVar[str] = "tcgen05"
    verbs: ClassVar[tuple[str, str]] = ("has", "has")

    def __str__(self) -> str:
        return str(self.move)

    def remark(self, tile: Tile) -> str:
        """Return how this is known."""
        return DOCUMENTED

    def steps(self, tile: Tile) -> Iterator[Home | Move]:
        """Yield where the loads leave the elements."""
        for home in self.sums.steps(tile):
            cells = Contents.of(home.space, home.places, home.elements)
            sums = as_element_type(_ELEMENTS.get(self.sums.dtype, self.sums.dtype))
            for step in self.move.steps(replace(tile, contents=cells, element=sums)):
                left = cells.moved(step)
                yield Home(REGISTERS, left.elements, left.places)


@frozen
class PieceStore:
    """A chain link: the plan's stores of a piece from registers to shared memory.

    Args:
        staged: the pieces.
        fragment: (thread, value) of the accumulator; None if each thread has a row.
        thread: first thread of the writer.
        value: first value of the piece.
        address: address of the piece, in bytes.
    """

    staged: Pieces
    fragment: Fragment | None
    thread: int
    value: int
    address: int
    noun: ClassVar[str] = "store"
    verbs: ClassVar[tuple[str, str]] = ("puts", "takes")

    def __str__(self) -> str:
        return "stmatrix.x4" if self.staged.matrices else "st.shared"

    def steps(self, tile: Tile) -> Iterator[Home | Move]:
        """Yield what the link moves."""
        import numpy as np

        written = self.staged.element_bytes(self.fragment).astype(np.int64)
        thread, value = np.meshgrid(*map(np.arange, written.shape), indexing="ij")
        takes = register_places(self.thread + thread, self.value + value)
        yield Move(REGISTERS, SHARED, takes.ravel(), 8 * (self.address + written.ravel()))


@frozen
class ReadoutCopy:
    """A chain link: stores of loaded accumulators, or loads of the added matrix, with the values of the plan's readout.

    Args:
        direction: ``load`` from global memory or ``store`` to it.
        accumulators: the columns and the readout.
        blocks: number of blocks along M.
    """

    direction: str
    accumulators: TensorColumns
    blocks: int
    noun: ClassVar[str] = "copy"
    verbs: ClassVar[tuple[str, str]] = ("moves", "takes")

    def __str__(self) -> str:
        return f"{self.direction} by the readout"

    def steps(self, tile: Tile) -> Iterator[Home | Move]:
        """Yield what a store expects in registers, then what the link moves."""
        home = self._registers(tile)
        if self.direction == "load":
            assert tile.before is not None  # the rows of global memory
            yield Move(GLOBAL, REGISTERS, places_of(tile.before, home, tile), home.places)
            return
        assert tile.after is not None
        yield home
        yield Move(REGISTERS, GLOBAL, home.places, places_of(tile.after, home, tile))

    def _registers(self, tile: Tile) -> Home:
        import numpy as np

        read, firsts = self.accumulators.readout, self.accumulators.firsts
        rows, columns = tile.rows // self.blocks, tile.columns // (len(firsts) // self.blocks)
        # The readout has no swizzle, so its offset is the sum of the offsets of thread and value.
        threads = np.array([read.elements(t, 0) for t in range(read.threads)], dtype=np.int64)
        local = threads[:, None] + np.array([read.elements(0, v) for v in range(read.values)], dtype=np.int64)
        thread, value = np.meshgrid(np.arange(read.threads), np.arange(read.values), indexing="ij")
        halves = sorted({load.lane % 32 for load in read.loads})
        elements, places = [], []
        for index, first in enumerate(firsts):
            origin = (index % self.blocks * rows, index // self.blocks * columns)
            for load in read.loads:
                m, n = (local[..., i] + load.origin[i] + origin[i] for i in range(2))
                number = (first + load.column - min(firsts)) // read.move.columns * len(halves)
                number += halves.index(load.lane % 32)
                elements.append(tile.numbers(m, n).ravel())
                places.append(register_places(32 * load.warp + thread, number * read.values + value).ravel())
        return Home(REGISTERS, np.concatenate(elements), np.concatenate(places))
