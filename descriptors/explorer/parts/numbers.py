"""The numbers of an element's address: where it lies before the swizzle and after it, and which part of what it is.

Law: after the swizzle an element lies where the tile's layout puts it.

>>> from descriptors import derive
>>> d = derive((128, 128), "bf16", "K", "128B", (64, 16))
>>> found = addresses(View(d)).numbers((11, 21))
>>> found["before"], found["after"], found["after"] == 2 * d.smem_tile(11, 21)
(1450, 1434, True)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from descriptors.operands.swizzled import parts
from descriptors.pictures.parts.anatomy import Pair, ranks
from descriptors.stages.view import PIECE, View
from layoutalg import Swizzle


@dataclass(frozen=True, slots=True)
class Addresses:
    """What the numbers of all elements of a view are made of.

    Args:
        downs, across: offsets of the rows and of the columns, in elements, which add up.
        swizzle: of these offsets.
        bits: of an element.
        base: address of the tile, in bytes.
        banks, bank_bytes: of shared memory.
        atom, subtile, chunk: extents (MN, K) of these parts, in elements.
        atoms: the number of each atom in memory; empty where atoms do not divide the tile.
        starts: the start address of each subtile.
    """

    downs: tuple[int, ...]
    across: tuple[int, ...]
    swizzle: Swizzle
    bits: int
    base: int
    banks: int
    bank_bytes: int
    atom: Pair
    subtile: Pair
    chunk: Pair
    atoms: tuple[tuple[int, ...], ...]
    starts: tuple[tuple[int, ...], ...]

    def numbers(self, cell: Pair) -> dict[str, int]:
        """The numbers of one element (MN, K), each under its name.

        Returns:
            ``before`` and ``after`` the swizzle in bytes from the tile on, with the ``_half`` of the byte (0 the low
            one); ``address``, ``line``, ``bank``; ``piece`` of 16 bytes in memory and its ``place`` in the line; the
            ``_mn`` and ``_k`` of its ``atom`` and that atom's ``number``, of its ``chunk`` in the subtile, of its
            ``subtile`` and of itself ``inside``; the subtile's ``start``.
        """
        (i, k), line_bytes = cell, self.banks * self.bank_bytes
        offset = self.downs[i] + self.across[k]
        before, after = offset * self.bits, self.swizzle(offset) * self.bits
        place, address = after // 8, self.base + after // 8
        atom, subtile = (i // self.atom[0], k // self.atom[1]), (i // self.subtile[0], k // self.subtile[1])
        inside = i % self.subtile[0], k % self.subtile[1]
        return {
            "mn": i, "k": k,
            "before": before // 8, "before_half": before % 8 // 4, "after": place, "after_half": after % 8 // 4,
            "address": address, "line": address // line_bytes, "bank": address // self.bank_bytes % self.banks,
            "piece": place // PIECE, "place": place // PIECE % (line_bytes // PIECE),
            "atom_mn": atom[0], "atom_k": atom[1], "number": self.atoms[atom[0]][atom[1]] if self.atoms else 0,
            "chunk_mn": inside[0] // self.chunk[0], "chunk_k": inside[1] // self.chunk[1],
            "subtile_mn": subtile[0], "subtile_k": subtile[1], "inside_mn": inside[0], "inside_k": inside[1],
            "start": self.starts[subtile[0]][subtile[1]],
        }  # fmt: skip


def addresses(view: View) -> Addresses:
    """The addresses of all elements of the stage that a view looks at, whichever of them it has chosen."""
    return _addresses(replace(view, cell=(0, 0), word=None))


@lru_cache(maxsize=16)
def _addresses(view: View) -> Addresses:
    d, a = view.derivation, view.anatomy
    rows, swizzle, offset = parts(d.smem_tile)
    at, zero, (mn, k) = a.stage_coordinate, (0,) * len(a.stage_coordinate), a.extents
    first = d.descriptor_at(view.base).start_address
    return Addresses(
        downs=tuple(offset + _number(rows((i, 0, *at))) for i in range(mn)),
        across=tuple(_number(rows((0, j, *zero))) for j in range(k)),
        swizzle=swizzle or Swizzle(0, 4, 3),
        bits=d.element.storage_bits,
        base=view.base,
        banks=view.banks,
        bank_bytes=view.bank_bytes,
        atom=a.atom_extents,
        subtile=d.mma,
        chunk=a.chunk_extents,
        atoms=tuple(map(tuple, ranks(a.atom_places()))) if a.atom_grid[0] else (),
        starts=tuple(
            tuple(first + d.offset_of(i, j, view.stage) for j in range(a.subtile_grid[1]))
            for i in range(a.subtile_grid[0])
        ),
    )


def _number(offset: object) -> int:
    assert isinstance(offset, int)
    return offset
