"""What is read of a tile at once, before its swizzle and after it, and what it costs over any number of banks.

Law: the wavefronts are those of ``layoutalg.access`` of the same addresses; a slot read down the lines holds as many
different columns as it meets.

>>> from descriptors import derive
>>> view = View(derive((128, 128), "bf16", "K", "128B", (64, 16)))
>>> [(one.swizzled, one.wavefronts, one.addresses[:3]) for one in reads(view)]
[(False, 8, (0, 128, 256)), (True, 1, (0, 144, 288))]
"""

from __future__ import annotations

from dataclasses import replace

from descriptors.errors import DescriptorError
from descriptors.frozen import frozen
from descriptors.operands.operand import SwizzleMode
from descriptors.operands.swizzled import plain
from descriptors.stages.pieces import places
from descriptors.stages.view import PIECE, View
from descriptors.text import counted
from layoutalg import access, accesses

#: Lanes of a phase of 16 bytes each, and the lines that a slot is read down.
LANES, DEEP = 8, 8


@frozen
class Read:
    """One access.

    Args:
        swizzled: whether the tile is.
        addresses: of the lanes, in bytes from the tile on.
        access_bytes: bytes that a lane moves.
        wavefronts: how often shared memory is asked, in all.
        words: the most words that each bank serves in a phase.
    """

    swizzled: bool
    addresses: tuple[int, ...]
    access_bytes: int
    wavefronts: int
    words: tuple[int, ...]

    @property
    def said(self) -> str:
        """What it costs, in a sentence."""
        most, busy = max(self.words, default=0), sum(map(bool, self.words))
        if most <= 1:
            return f"{counted(self.wavefronts, 'wavefront')}: {busy} banks serve one word each."
        return f"{counted(self.wavefronts, 'wavefront')}: {busy} of {len(self.words)} banks serve up to {most} words."


def reads(view: View) -> tuple[Read, ...]:
    """The access of a view without the swizzle and with it; one where there is no swizzle.

    Raises:
        DescriptorError: if the threads read no whole bytes, or nothing.
        LayoutError: as ``layoutalg.accesses``.
    """
    both = (False,) if view.derivation.swizzle is SwizzleMode.NONE else (False, True)
    return tuple(_read(replace(view, swizzled=one)) for one in both)


def _read(view: View) -> Read:
    width = view.access_bytes if view.lanes is not None else PIECE
    addresses = _lanes(view) if view.lanes is not None else _pieces(view)
    found = access(addresses, width, view.banks, view.bank_bytes)
    words = [0] * view.banks
    for phase in found.phases:
        asked = {
            word
            for lane in phase
            if (at := found.addresses[lane]) is not None
            for word in range(at // view.bank_bytes, (at + width - 1) // view.bank_bytes + 1)
        }
        each = [0] * view.banks
        for word in asked:
            each[word % view.banks] += 1
        words = [max(pair) for pair in zip(words, each, strict=True)]
    there = tuple(one for one in found.addresses if one is not None)
    return Read(view.swizzled, there, width, found.wavefronts, tuple(words))


def _pieces(view: View) -> list[int]:
    """The addresses of the pieces that are read: those of a chunk, of a row, or of four matrices as ldmatrix reads."""
    if view.slot is not None:
        first = (view.anatomy.bytes * view.stage) // view.line_bytes
        most = max(1, min(DEEP, view.anatomy.bytes // view.line_bytes))
        return [(first + line) * view.line_bytes + view.slot * PIECE for line in range(most)]
    grid, (u, v) = places(view), view.anatomy.unit
    i, j = view.cell[0] // u, view.cell[1] // v
    if v <= u:  # contiguous along MN: a line of pieces runs down
        grid = [list(row) for row in zip(*grid, strict=True)]
        i, j = j, i
    first = i // LANES * LANES
    rows = grid[first : first + LANES]
    if view.access == "row":
        start = j // LANES * LANES
        return grid[i][start : start + LANES]
    if view.access == "chunk":
        return [row[j] for row in rows]
    across = range(j // 2 * 2, min(j // 2 * 2 + 2, len(rows[0])))
    tall = [*rows, *grid[first + LANES : first + 2 * LANES]]
    return [tall[r + down][c] for c in across for down in range(0, len(tall), LANES) for r in range(LANES)
            if r + down < len(tall)]  # fmt: skip


def _lanes(view: View) -> list[int | None]:
    """What the threads of a layout of threads and values read first."""
    d = view.derivation
    if d.element.storage_bits < 8:
        raise DescriptorError(f"banks: elements of an access must be whole bytes, found {d.element}")
    assert view.lanes is not None
    tile = d.smem_tile if view.swizzled else plain(d.smem_tile)
    made = accesses(tile, view.lanes, d.element.storage_bits // 8, view.access_bytes)
    return list(made[0].addresses)
