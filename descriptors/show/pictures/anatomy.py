"""The parts of a derived tile with their addresses: atoms, subtiles, chunks of a subtile, 16-byte pieces of a chunk.

All offsets are in bytes from the start of the tile. The offset of a part is that of its first element, as the layouts
of the derivation give it: a *place* is an offset before the swizzle, an *address* is one after the swizzle.

Invariant: the addresses of the chunks of a subtile are those of the elements of the tile.

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

#: The largest number of parts of one level. With more parts, there would be a line at every pixel.
MOST_PARTS = 1 << 14
#: The largest number of 16-byte pieces: a tile of one megabyte, several times the size of shared memory.
MOST_PIECES = 1 << 16

#: Extents or a coordinate along MN and K.
Pair = tuple[int, int]


@frozen
class Anatomy:
    """One stage of a derived tile and its parts.

    Args:
        derivation: the tile.
        stage: the number of the stage, or its coordinate if stages have several modes.

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
        """Number of atoms along MN and K; (0, 0) if atoms do not divide the tile, which a given layout allows."""
        (mn, k), (high, wide) = self.extents, self.atom_extents
        return (0, 0) if mn % high or k % wide else (mn // high, k // wide)

    @property
    def subtile_grid(self) -> Pair:
        """Number of subtiles along MN and K."""
        (mn, k), (high, wide) = self.extents, self.derivation.mma
        return mn // high, k // wide

    @property
    def unit(self) -> Pair:
        """Extents (MN, K) of 16 bytes, in elements."""
        many = self.derivation.element.per_16_bytes
        return (1, many) if self.derivation.major.contiguous_mode else (many, 1)

    @property
    def chunk_grid(self) -> Pair:
        """Number of chunks of a subtile along MN and K."""
        mn, k = self.derivation.canonical
        return size(mn[1]), size(k[1])

    @property
    def chunk_units(self) -> Pair:
        """Number of 16-byte pieces of a chunk along MN and K."""
        mn, k = self.derivation.canonical
        return size(mn[0]), size(k[0])

    @property
    def chunk_extents(self) -> Pair:
        """Extents (MN, K) of a chunk, in elements."""
        (a, b), (u, v) = self.chunk_units, self.unit
        return a * u, b * v

    def atom_places(self) -> Grid:
        """Return the offset of each atom before the swizzle, in bytes.

        >>> from descriptors import derive
        >>> Anatomy(derive((128, 128), "bf16", "K", "128B", (64, 16))).atom_places()[:2]
        ((0, 16384), (1024, 17408))
        """
        rows, columns = _few(self.atom_grid, "atoms")
        return self._places(self.atom_extents, (rows, columns))

    def subtile_starts(self) -> Grid:
        """Return the start of each subtile, as in its descriptor, in bytes from the start of stage 0 of the tile."""
        d = self.derivation
        _few(self.subtile_grid, "subtiles")
        return d.offsets_bytes(self.stage if len(plain(d.smem_tile)) > 2 else None)

    def chunk_places(self) -> Grid:
        """Return the offset of each chunk of a subtile before the swizzle, in bytes from the start of the subtile.

        >>> from descriptors import derive
        >>> Anatomy(derive((128, 128), "bf16", "K", "128B", (64, 16))).chunk_places()[1]
        (1024, 1040)
        """
        d = self.derivation
        rows, columns = _few(self.chunk_grid, "chunks")
        return tuple(tuple(16 * _number(d.canonical(((0, r), (0, c)))) for c in range(columns)) for r in range(rows))

    def addresses(self, subtile: Pair = (0, 0), chunk: Pair = (0, 0)) -> Grid:
        """Return the address of each 16-byte piece of a chunk after the swizzle, in bytes from the start of the tile.

        Args:
            subtile: the coordinate of the subtile.
            chunk: the coordinate of the chunk in the subtile.
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
        """Return the address of every 16-byte piece of the tile, in bytes.

        An address is the swizzle of a row offset plus a column offset, which is faster than to evaluate the layout.

        Invariant: the piece of row i and column j begins at the address of the element (i, j) times ``unit``.

        Args:
            swizzled: whether addresses are those after the swizzle.

        Raises:
            DescriptorError: if there are more than 65,536 pieces.

        >>> from descriptors import derive
        >>> d = derive((16, 64), "bf16", "K", "128B", (8, 16), legality="off")
        >>> Anatomy(d).pieces()[1][2] == 2 * d.smem_tile(1, 16)
        True
        """
        (mn, k), (u, v) = self.extents, self.unit
        if (mn // u) * (k // v) > MOST_PIECES:
            raise DescriptorError(
                f"picture: the tile has {mn // u}x{k // v} pieces of 16 bytes, but at most {MOST_PIECES} are drawn; "
                "use a smaller tile"
            )
        rows, swizzle, offset = parts(self.derivation.smem_tile)
        stage, bits = self.stage_coordinate, self.derivation.element.storage_bits
        downs = [offset + _number(rows((i, 0, *stage))) for i in range(0, mn, u)]
        across = [_number(rows((0, j, *(0,) * len(stage)))) for j in range(0, k, v)]
        if swizzle is None or not swizzled:
            return [[(down + right) * bits // 8 for right in across] for down in downs]
        return [[swizzle(down + right) * bits // 8 for right in across] for down in downs]

    @property
    def stage_coordinate(self) -> tuple[int, ...]:
        """The coordinate of the stage, with one number for each mode of the stages."""
        extents = [size(mode) for mode in tuple(plain(self.derivation.smem_tile))[2:]]
        if isinstance(self.stage, tuple):
            return self.stage
        if not 0 <= self.stage < prod(extents):
            raise DescriptorError(
                f"picture: the tile has no stage {brief(self.stage)}; supported: {indices_text(prod(extents))}; "
                f"tile = {self.derivation.smem_tile}"
            )
        coordinate, rest = [], self.stage
        for extent in extents:
            coordinate.append(rest % extent)
            rest //= extent
        return tuple(coordinate)

    def _places(self, extents: Pair, grid: Pair) -> Grid:
        rows, _, offset = parts(self.derivation.smem_tile)
        bits, stage = self.derivation.element.storage_bits, self.stage_coordinate
        return tuple(
            tuple(
                (offset + _number(rows((i * extents[0], j * extents[1], *stage)))) * bits // 8 for j in range(grid[1])
            )
            for i in range(grid[0])
        )


def ranks(grid: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return the rank of each number among all numbers of a grid, such as the order of parts in memory.

    >>> ranks([[0, 16384], [1024, 17408]])
    [[0, 2], [1, 3]]
    """
    order = {number: rank for rank, number in enumerate(sorted({number for row in grid for number in row}))}
    return [[order[number] for number in row] for row in grid]


def swizzle_of(derivation: Derivation) -> Swizzle | None:
    """Return the permutation of byte addresses; None if there is no swizzle."""
    return None if derivation.swizzle is SwizzleMode.NONE else derivation.swizzle.swizzle


def _few(grid: Pair, parts_name: str) -> Pair:
    if prod(grid) > MOST_PARTS:
        raise DescriptorError(
            f"picture: there are {grid[0]}x{grid[1]} {parts_name}, but at most {MOST_PARTS} are drawn; "
            "use a smaller tile"
        )
    return grid


def _number(offset: object) -> int:
    assert isinstance(offset, int)
    return offset
