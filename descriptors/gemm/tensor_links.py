"""Chain links at tensor memory: accumulators, loads and stores, copies from shared memory, and layouts of cells.

Source: that of ``descriptors.tmem``, whose layouts are used. None of it was measured on a Blackwell GPU.

Invariant: a store puts the elements that a load of the same shape has left in registers back where they were.

>>> from descriptors.gemm.chain_notation import chain
>>> for shape in ("32x32b.x16", "16x64b.x8", "16x128b.x4", "16x256b.x2"):
...     links = ["accumulator 128x32", f"tcgen05.ld.{shape}", f"tcgen05.st.{shape}", "cells (128,32):(65536,1)"]
...     assert chain(links, tile="128x32", dtype="f32").verify().ok, shape
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from descriptors.errors import DescriptorError
from descriptors.gemm.memory_links import FARTHEST, Words
from descriptors.gemm.places import OPERAND, REGISTERS, SHARED, TENSOR, VALUE_BITS, Home, Move, Tile
from descriptors.gemm.register_links import MOST_VALUES, registers_of
from descriptors.smem.operands.explicit import evaluated
from descriptors.smem.operands.operand import Major
from descriptors.text import DOCUMENTED, some, word_text
from descriptors.tmem.accumulator import accumulator
from descriptors.tmem.copies import TmemCopy
from descriptors.tmem.geometry import COLUMNS, QUARTER
from descriptors.tmem.moves import TmemMove, tmem_move
from descriptors.tmem.scale_model import factor_bytes
from descriptors.tmem.tmem_fragment import TmemFragment
from layoutalg import Layout, cosize, offsets, size
from layoutalg.frozen import frozen, replace

if TYPE_CHECKING:
    from descriptors.gemm.places import Numbers

_WARP, _LANE_BITS, COLUMN_BITS = 32, 21, 5


@frozen
class Accumulators:
    """Accumulators of ``tcgen05.mma`` in the tensor memory of one CTA.

    Args:
        mn: M and N of the instruction, over both CTAs if ``cta_group`` is 2.
        dtype: ``f32``, ``f16`` or ``s32``.
        cta_group: 1 or 2.
        ws: whether the instruction is weight-stationary.
        columns: first column of each accumulator, M blocks fastest; () for adjacent accumulators.
    """

    mn: tuple[int, int]
    dtype: str = "f32"
    cta_group: int = 1
    ws: bool = False
    columns: tuple[int, ...] = ()
    noun: ClassVar[str] = "accumulator"
    verbs: ClassVar[tuple[str, str]] = ("has", "has")

    def __str__(self) -> str:
        return f"{self.mn[0]}x{self.mn[1]} {self.dtype}" + (", cta_group 2" if self.cta_group == 2 else "")

    def remark(self, tile: Tile) -> str:
        """Return how this is known."""
        return DOCUMENTED

    @property
    def fragment(self) -> TmemFragment:
        """The fragment of one accumulator."""
        return accumulator(
            *self.mn,
            self.dtype,
            cta_group=self.cta_group,
            ws=self.ws,
            legality="off",
        )

    def steps(self, tile: Tile) -> Iterator[Home]:
        """Yield where the elements are."""
        import numpy as np

        fragment = self.fragment
        rows, columns = (int(size(fragment.layout, mode=[i])) for i in range(2))
        counts = tile.rows // rows, tile.columns // columns
        if (counts[0] * rows, counts[1] * columns) != (tile.rows, tile.columns):
            raise DescriptorError(
                f"accumulator: the tile of {tile.rows}x{tile.columns} is not a whole number of accumulators of "
                f"{rows}x{columns}, the part that a CTA has"
            )
        blocks = counts[0] * counts[1]
        firsts = self.columns or tuple(fragment.columns * index for index in range(blocks))
        if len(firsts) != blocks:
            raise DescriptorError(
                f"accumulator: columns has {len(firsts)} numbers, and the tile has {blocks} accumulators"
            )
        if max(firsts) + fragment.columns > COLUMNS or min(firsts) < 0:
            raise DescriptorError(f"accumulator: {self} from column {some(firsts)} on exceeds the {COLUMNS} columns")
        table = offsets(fragment.layout).astype(np.int64).reshape(rows, columns) * fragment.bits
        places = np.zeros((tile.rows, tile.columns), dtype=np.int64)
        for index, first in enumerate(firsts):
            i, j = index % counts[0] * rows, index // counts[0] * columns
            places[i : i + rows, j : j + columns] = table + (first << COLUMN_BITS)
        yield Home(TENSOR, tile.all().ravel(), places.ravel())


@frozen
class TensorMove:
    """``tcgen05.ld`` or ``tcgen05.st`` by the four warps of a warpgroup, each for its quarter of the lanes.

    An instruction with a shape of 16 lanes is issued for the first half of a quarter and, if that has elements, for the
    second half; then for the next columns.

    Args:
        move: one instruction.
        column: column of the first address; None for the first column with elements, or 0 for a store.
    """

    move: TmemMove
    column: int | None = None
    noun: ClassVar[str] = "tcgen05"
    verbs: ClassVar[tuple[str, str]] = ("leaves", "takes")

    def __str__(self) -> str:
        return f"tcgen05.{self.move.direction}.{self.move.shape}.x{self.move.num}"

    def remark(self, tile: Tile) -> str:
        """Return how this is known."""
        return DOCUMENTED

    def steps(self, tile: Tile) -> Iterator[Move]:
        """Yield what the link moves."""
        import numpy as np

        if tile.contents is None:
            raise DescriptorError(f"{self}: no accumulator or fragment is before it")
        load, lies = self.move.direction == "ld", tile.contents.places
        packed = self.move.packed or (not load and tile.element.storage_bits < 32)
        packed = packed or (load and bool((lies & 31).any()))
        each = 32 // tile.element.storage_bits if packed else 1
        firsts = self._firsts(lies) if load else self._targets(lies, each)
        bits = offsets(self.move.cells.layout).astype(np.int64).reshape(_WARP, self.move.registers, 32)
        table = bits[:, :, :: tile.element.storage_bits if packed else 32].reshape(_WARP, -1)
        warps = np.arange(4, dtype=np.int64)
        cells = (
            (warps * QUARTER << _LANE_BITS)[:, None, None, None] + table[None, :, None, :] + firsts[None, None, :, None]
        )
        cells = cells.reshape(4 * _WARP, -1)
        registers = registers_of(cells)
        if load:
            yield Move(TENSOR, REGISTERS, cells.ravel(), registers.places)
        else:
            yield Move(REGISTERS, TENSOR, registers.places, cells.ravel())

    def _firsts(self, lies: Numbers) -> Numbers:
        """Return the first cell of each load of a warp, in bits, relative to the warp's quarter."""
        lanes, columns = lies >> _LANE_BITS, lies >> COLUMN_BITS & 0xFFFF
        first = int(columns.min()) if self.column is None else self.column
        halves = [0] if self.move.lanes == QUARTER or not (lanes % QUARTER >= 16).any() else [0, 16]
        return _cells(halves, range(first, int(columns.max()) + 1, self.move.columns))

    def _targets(self, lies: Numbers, each: int) -> Numbers:
        """Return the first cell of each store of a warp, in bits, relative to the warp's quarter."""
        values = int((lies & (1 << VALUE_BITS) - 1).max()) + 1
        halves = [0] if self.move.lanes == QUARTER else [0, 16]
        count = -(-values // (self.move.registers * each * len(halves)))
        first = self.column or 0
        return _cells(halves, range(first, first + count * self.move.columns, self.move.columns))


def _cells(lanes: list[int], columns: range) -> Numbers:
    """Return the cells of lanes and columns, in bits, lanes fastest."""
    import numpy as np

    return np.array([(lane << _LANE_BITS) + (column << COLUMN_BITS) for column in columns for lane in lanes])


def tensor_move(name: str, offset: int | None = None) -> TmemMove:
    """Return the load or store of a name such as ``tcgen05.ld.32x32b.x8``, which may contain other PTX qualifiers.

    Raises:
        DescriptorError: if the name is not a load or store of tensor memory.
    """
    words = [word for word in name.split(".") if word not in ("sync", "aligned", "b32")]
    if len(words) < 3 or words[0] != "tcgen05" or words[1] not in ("ld", "st"):
        raise DescriptorError(f"{name[:60]} is not an instruction like tcgen05.ld.32x32b.x8")
    return tmem_move(".".join(words[2:]), words[1], offset=offset)


@frozen
class Cells:
    """The tile in tensor memory.

    Args:
        layout: (row, column) or (row, column, copy) of the tile to ``lane << 16 | column`` in elements, as the command
            ``tmem`` prints it; or its notation.
    """

    layout: Layout | str
    noun: ClassVar[str] = "cells"
    verbs: ClassVar[tuple[str, str]] = ("has", "has")

    def __str__(self) -> str:
        return str(self.layout)

    def remark(self, tile: Tile) -> str:
        """Return how this is known."""
        return DOCUMENTED

    def steps(self, tile: Tile) -> Iterator[Home | Move]:
        """Yield where the elements are."""
        import numpy as np

        value: Any = evaluated(self.layout) if isinstance(self.layout, str) else self.layout
        if not isinstance(value, Layout) or len(value) not in (2, 3):
            raise DescriptorError(f"cells: {value} does not have modes (row, column) or (row, column, copy)")
        copies = int(size(value, mode=[2])) if len(value) == 3 else 1
        if cosize(value) > FARTHEST or size(value) > MOST_VALUES:
            raise DescriptorError(f"cells: {value} is larger than tensor memory")
        extents = tuple(int(size(value, mode=[i])) for i in range(2))
        if extents != (tile.rows, tile.columns):
            raise DescriptorError(
                f"cells: {value} has {extents[0]} rows and {extents[1]} columns, and the tile {tile.rows} and "
                f"{tile.columns}"
            )
        places = offsets(value).astype(np.int64).reshape(*extents, copies) * tile.element.storage_bits
        yield Home(TENSOR, np.repeat(tile.all().ravel(), copies), places.ravel())


@frozen
class CellCopy:
    """``tcgen05.cp``: copies from shared memory, read by descriptors, to tensor memory, multicast as the shape says.

    Args:
        copy: one instruction.
        words: the descriptors. The rows and columns of a block are those of the copy; ``words.mma`` is not used.
        columns: first column of each block, rows fastest; () for adjacent blocks.
        count: number of adjacent blocks of bytes that are copied unchanged, as for scale factors; 0 for the blocks into
            which the tile is divided.
    """

    copy: TmemCopy
    words: Words
    columns: tuple[int, ...] = ()
    count: int = 0
    noun: ClassVar[str] = "tcgen05"
    verbs: ClassVar[tuple[str, str]] = ("leaves", "reads")

    def __str__(self) -> str:
        return f"tcgen05.cp.{self.copy.name}"

    def remark(self, tile: Tile) -> str:
        """Return how this is known."""
        return DOCUMENTED

    def steps(self, tile: Tile) -> Iterator[Home | Move]:
        """Yield what the link moves."""
        import numpy as np

        bits, copy, words = tile.element.storage_bits, self.copy, self.words
        block = (copy.rows, copy.bits // bits)
        if self.count:  # the layout of such bytes does not define a major
            words = replace(words, major=Major.K, layout=None)
            tile = replace(tile, rows=block[0], columns=block[1] * self.count)
        read = Words(words.word, block, words.advance, words.major, words.layout, copy.shape).places(tile)
        firsts = self.columns or tuple(self.copy.columns * index for index in range(len(read)))
        if len(firsts) != len(read):
            raise DescriptorError(f"{self}: columns has {len(firsts)} numbers, and there are {len(read)} blocks")
        table = offsets(self.copy.cells.layout).astype(np.int64)[:, ::bits]
        leaves = table[None] + (np.array(firsts, dtype=np.int64) << COLUMN_BITS)[:, None, None, None]
        takes = np.broadcast_to(read[..., None], leaves.shape)
        yield Move(SHARED, TENSOR, np.ascontiguousarray(takes).ravel(), leaves.ravel())


@frozen
class FactorReads:
    """The scale factors that block-scaled instructions read from tensor memory with their pointers.

    Args:
        pointers: for each block of rows and each K block, the column, with the byte of a cell in bits 30 and 31.
        count: number of factors of a row that one instruction reads.
        each: number of consecutive K blocks that read the same factors.
        halves: whether the factors of the two halves of the rows are 64 lanes apart, as for B of a pair with M 128.
        group: columns from four factors of a row to the next four; instructions with six or eight factors read both.
    """

    pointers: tuple[tuple[int, ...], ...]
    count: int = 1
    each: int = 1
    halves: bool = False
    group: int = 4
    noun: ClassVar[str] = "factors"
    verbs: ClassVar[tuple[str, str]] = ("reads", "reads")

    def __str__(self) -> str:
        return f"at {some(word_text(pointer, 32) for pointer in self.pointers[0])}, {self.count} of a row each"

    def remark(self, tile: Tile) -> str:
        """Return how this is known."""
        return DOCUMENTED

    def steps(self, tile: Tile) -> Iterator[Home | Move]:
        """Yield what the instructions read, and the factors that this must be."""
        import numpy as np

        rows, blocks = tile.rows // len(self.pointers), len(self.pointers[0])
        covered = (rows * len(self.pointers), blocks * self.count)
        if any(len(pointers) != blocks for pointers in self.pointers):
            raise DescriptorError("factors: the blocks of rows do not all have the same number of pointers")
        if covered != (tile.rows, tile.columns * self.each):
            raise DescriptorError(
                f"factors: the pointers are for {covered[0]} rows of {covered[1]} factors, and the tile has "
                f"{tile.rows} rows of {tile.columns}" + (f", each used {self.each} times" if self.each > 1 else "")
            )
        bytes_read = [
            np.concatenate(
                [factor_bytes(pointer, rows, self.count, group=self.group, halves=self.halves) for pointer in of_block],
                axis=1,
            )
            for of_block in self.pointers
        ]
        lane, column, byte = np.moveaxis(np.concatenate(bytes_read), -1, 0)
        takes = (lane << _LANE_BITS) + (column << COLUMN_BITS) + 8 * byte
        places = np.arange(takes.size, dtype=np.int64)
        row, block, factor = np.unravel_index(places, (tile.rows, blocks, self.count))
        elements = tile.numbers(row, block // self.each * self.count + factor)
        yield Move(TENSOR, OPERAND, takes.ravel(), places)
        yield Home(OPERAND, elements, places)
