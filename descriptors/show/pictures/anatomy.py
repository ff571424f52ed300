"""The parts of a derived tile and where they lie: atoms, subtiles, the chunks of a subtile, the 16 bytes of a chunk.

All are counted from the start of the tile, in bytes. A part is where the layouts of the derivation put its first
element: a *place* is before the swizzle, an *address* after it. Law: the addresses of a subtile's chunks are those of
the elements of the tile.

>>> from descriptors import derive
>>> d = derive((128, 128), "bf16", "K", "128B", (64, 16))
>>> anatomy = Anatomy(d)
>>> anatomy.addresses((1, 2), (3, 1))[5][0] == 2 * d.smem_tile(64 + 8 * 3 + 5, 16 * 2 + 8 * 1)
True
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from descriptors.errors import DescriptorError, brief
from descriptors.smem.derivation.advance import Grid
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.operands.operand import SwizzleMode
from descriptors.smem.operands.swizzled import parts, plain
from descriptors.text import indices_text
from layoutalg import Swizzle, size
from layoutalg.frozen import frozen

#: The most parts of one level that a picture shows; beyond it a line would stand at every pixel.
MOST_PARTS = 1 << 14
#: The most pieces of 16 bytes: a tile of a megabyte, several times what shared memory holds.
MOST_PIECES = 1 << 16

#: Extents or a coordinate along MN and K.
Pair = tuple[int, int]


@frozen
class Anatomy:
    """One stage of a derived tile, taken apart.

    Args:
        derivation: the tile.
        stage: which stage: its number, or its coordinate where stages have several modes.

    >>> from descriptors import derive
    >>> Anatomy(derive((128, 128), "bf16", "MN", "64B", (64, 16))).atom_extents
    (32, 8)
    """

    derivation: Derivation
    stage: int | tuple[int, ...] = 0

    @property
    def extents(self) -> Pair:
        """Extents (MN, K) of the tile, in elements."""
        mn, k, *_ = map(size, plain(self.derivation.smem_tile))
        return mn, k

    @property
    def bytes(self) -> int:
        """Bytes of one stage."""
        return prod(self.extents) * self.derivation.element.storage_bits // 8

    @property
    def atom_extents(self) -> Pair:
        """Extents (MN, K) of an atom, in elements."""
        mn, k = map(size, plain(self.derivation.atom))
        return mn, k

    @property
    def atom_bytes(self) -> int:
        """Bytes of an atom."""
        return prod(self.atom_extents) * self.derivation.element.storage_bits // 8

    @property
    def atom_grid(self) -> Pair:
        """How many atoms stand along MN and K; (0, 0) if they do not divide the tile, as a layout given may be."""
        (mn, k), (high, wide) = self.extents, self.atom_extents
        return (0, 0) if mn % high or k % wide else (mn // high, k // wide)

    @property
    def subtile_grid(self) -> Pair:
        """How many subtiles stand along MN and K."""
        (mn, k), (high, wide) = self.extents, self.derivation.mma
        return mn // high, k // wide

    @property
    def unit(self) -> Pair:
        """Extents (MN, K) of 16 bytes, in elements."""
        many = self.derivation.element.per_16_bytes
        return (1, many) if self.derivation.major.contiguous_mode else (many, 1)

    @property
    def chunk_grid(self) -> Pair:
        """How many chunks a subtile has along MN and K."""
        mn, k = self.derivation.canonical
        return size(mn[1]), size(k[1])

    @property
    def chunk_units(self) -> Pair:
        """How many pieces of 16 bytes a chunk has along MN and K."""
        mn, k = self.derivation.canonical
        return size(mn[0]), size(k[0])

    @property
    def chunk_extents(self) -> Pair:
        """Extents (MN, K) of a chunk, in elements."""
        (a, b), (u, v) = self.chunk_units, self.unit
        return a * u, b * v

    def atom_places(self) -> Grid:
        """Where each atom begins, in bytes.

        >>> from descriptors import derive
        >>> Anatomy(derive((128, 128), "bf16", "K", "128B", (64, 16))).atom_places()[:2]
        ((0, 16384), (1024, 17408))
        """
        rows, columns = _few(self.atom_grid, "atoms")
        return self._places(self.atom_extents, (rows, columns))

    def subtile_starts(self) -> Grid:
        """Where each subtile starts, as its word says, in bytes from the start of the tile's stage 0."""
        d = self.derivation
        _few(self.subtile_grid, "subtiles")
        return d.offsets_bytes(self.stage if len(plain(d.smem_tile)) > 2 else None)

    def chunk_places(self) -> Grid:
        """Where each chunk of a subtile begins, in bytes from the start of the subtile.

        >>> from descriptors import derive
        >>> Anatomy(derive((128, 128), "bf16", "K", "128B", (64, 16))).chunk_places()[1]
        (1024, 1040)
        """
        d = self.derivation
        rows, columns = _few(self.chunk_grid, "chunks")
        return tuple(tuple(16 * _number(d.canonical(((0, r), (0, c)))) for c in range(columns)) for r in range(rows))

    def addresses(self, subtile: Pair = (0, 0), chunk: Pair = (0, 0)) -> Grid:
        """Where each 16 bytes of a chunk lie, after the swizzle, in bytes from the start of the tile.

        Args:
            subtile: which subtile.
            chunk: which of its chunks.
        """
        d, (rows, columns), (u, v) = self.derivation, self.chunk_units, self.unit
        (high, wide), rest = self.chunk_extents, (*subtile, *self.stage_coordinate)
        bits = d.element.storage_bits
        return tuple(
            tuple(
                _number(d.partitioned(((chunk[0] * high + i * u, chunk[1] * wide + j * v), rest))) * bits // 8
                for j in range(columns)
            )
            for i in range(rows)
        )

    def pieces(self, *, swizzled: bool = True) -> list[list[int]]:
        """Where every 16 bytes of the tile lie, in bytes: all at once, as a sum of rows and columns under the swizzle.

        Law: the piece of row i and column j begins where ``smem_tile`` has the element (i, j) times ``unit``.

        Args:
            swizzled: after the swizzle, not before.

        Raises:
            DescriptorError: for more than 65,536 of them.

        >>> from descriptors import derive
        >>> d = derive((16, 64), "bf16", "K", "128B", (8, 16), legality="off")
        >>> Anatomy(d).pieces()[1][2] == 2 * d.smem_tile(1, 16)
        True
        """
        (mn, k), (u, v) = self.extents, self.unit
        if (mn // u) * (k // v) > MOST_PIECES:
            raise DescriptorError(
                f"picture: a picture must have at most {MOST_PIECES} pieces of 16 bytes, found {mn // u}x{k // v}; "
                "give a smaller tile"
            )
        rows, swizzle, offset = parts(self.derivation.smem_tile)
        at, zero, bits = self.stage_coordinate, (0,) * len(self.stage_coordinate), self.derivation.element.storage_bits
        downs = [offset + _number(rows((i, 0, *at))) for i in range(0, mn, u)]
        across = [_number(rows((0, j, *zero))) for j in range(0, k, v)]
        if swizzle is None or not swizzled:
            return [[(down + right) * bits // 8 for right in across] for down in downs]
        return [[swizzle(down + right) * bits // 8 for right in across] for down in downs]

    @property
    def stage_coordinate(self) -> tuple[int, ...]:
        """The coordinate of the stage, one number for each mode of the stages."""
        extents = [size(mode) for mode in tuple(plain(self.derivation.smem_tile))[2:]]
        if isinstance(self.stage, tuple):
            return self.stage
        if not 0 <= self.stage < prod(extents):
            raise DescriptorError(
                f"picture: the stage must be {indices_text(prod(extents))}, found {brief(self.stage)}; "
                f"tile = {self.derivation.smem_tile}"
            )
        coordinate, rest = [], self.stage
        for extent in extents:
            coordinate.append(rest % extent)
            rest //= extent
        return tuple(coordinate)

    def _places(self, extents: Pair, grid: Pair) -> Grid:
        rows, _, offset = parts(self.derivation.smem_tile)
        bits, at = self.derivation.element.storage_bits, self.stage_coordinate
        return tuple(
            tuple((offset + _number(rows((i * extents[0], j * extents[1], *at)))) * bits // 8 for j in range(grid[1]))
            for i in range(grid[0])
        )


def ranks(grid: Sequence[Sequence[int]]) -> list[list[int]]:
    """The position of each number in the order of all of them: which part comes first, second, ... in memory.

    >>> ranks([[0, 16384], [1024, 17408]])
    [[0, 2], [1, 3]]
    """
    order = {number: rank for rank, number in enumerate(sorted({one for row in grid for one in row}))}
    return [[order[one] for one in row] for row in grid]


def swizzle_of(derivation: Derivation) -> Swizzle | None:
    """The permutation of byte addresses; None where there is none."""
    return None if derivation.swizzle is SwizzleMode.NONE else derivation.swizzle.swizzle


def _few(grid: Pair, what: str) -> Pair:
    if prod(grid) > MOST_PARTS:
        raise DescriptorError(
            f"picture: a picture must have at most {MOST_PARTS} {what}, found {grid[0]}x{grid[1]}; give a smaller tile"
        )
    return grid


def _number(offset: object) -> int:
    assert isinstance(offset, int)
    return offset
