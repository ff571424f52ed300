"""How far the start address moves: whether every subtile of a tile can be named, and lies in shared memory.

The start address is a field of 14 bits that counts 16 bytes: an 18-bit window. Adding an offset to the *word* moves the
field, and past its end would carry into what lies above it; a descriptor of such a subtile does not exist. A thread
block on sm90 and sm100 has 227 KB of shared memory, which ends before the window does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from descriptors.text import tuple_text
from descriptors.words.address import WINDOW_BYTES
from layoutalg import Layout, flatten, size


@dataclass(frozen=True, slots=True)
class AdvanceReport:
    """Where the subtiles of a tile start and end, and whether the hardware can go there.

    Args:
        base: address of the tile, in bytes.
        subtiles: how many there are.
        lowest_start: lowest start address of a subtile, in bytes.
        highest_start: highest start address, in bytes.
        last: coordinate (mn, k, stages...) of the subtile that starts highest.
        end: the first address after everything that is read, in bytes.
        capacity: bytes of shared memory that a thread block has.
        highest_base: the highest aligned address of a tile that fits, in bytes; None where none does.

    >>> from descriptors import derive
    >>> d = derive(tile=(128, 128), dtype="bf16", major="K", swizzle="128B", mma=(64, 16))
    >>> print(d.advance_report(base=0x1000))
    16 subtiles start at 4096 to 28768 (subtile (1,7)) and end at 36864: within the 14-bit field and 232448 bytes
    """

    base: int
    subtiles: int
    lowest_start: int
    highest_start: int
    last: tuple[int, ...]
    end: int
    capacity: int
    highest_base: int | None

    @property
    def fits_field(self) -> bool:
        """Whether every start address fits its field: no subtile's word carries."""
        return self.lowest_start >= 0 and self.highest_start < WINDOW_BYTES

    @property
    def fits_memory(self) -> bool:
        """Whether everything read lies in the shared memory of a thread block."""
        return self.lowest_start >= 0 and self.end <= self.capacity

    def __str__(self) -> str:
        starts = f"start at {self.lowest_start} to {self.highest_start} (subtile {tuple_text(self.last)})"
        if self.fits_field and self.fits_memory:
            verdict = f"within the 14-bit field and {self.capacity} bytes"
        elif self.fits_field:
            verdict = f"within the 14-bit field but OUT of the {self.capacity} bytes of shared memory"
        else:
            verdict = f"OUT of the 14-bit field, which ends at {WINDOW_BYTES}, and of {self.capacity} bytes"
        if self.subtiles == 1:
            return f"1 subtile starts at {self.lowest_start} and ends at {self.end}: {verdict}"
        return f"{self.subtiles} subtiles {starts} and end at {self.end}: {verdict}"


def advance_report(
    advance: Layout, *, base: int, start: int, reach: int, span: int, alignment: int, capacity: int
) -> AdvanceReport:
    """The report of a tile from the steps between its subtiles.

    Args:
        advance: from subtile to offset of its start, in 16-byte units.
        base: address of the tile, in bytes.
        start: start of the first subtile relative to the tile, in bytes.
        reach: bytes from a subtile's start to the end of its last 16-byte unit, before the swizzle.
        span: bytes of a swizzled row, within which the swizzle permutes.
        alignment: what a tile's address must be a multiple of, in bytes.
        capacity: bytes of shared memory.

    >>> rows = Layout((2, 4), (512, 2))
    >>> advance_report(rows, base=0, start=0, reach=8096, span=128, alignment=1024, capacity=10**5).end
    16384
    """
    lowest = highest = base + start
    last = []
    for mode in advance:
        index, below = 0, 1
        for leaf in flatten(mode):
            steps = size(leaf) - 1
            stride: Any = leaf.stride  # a number, as the words hold it
            move: int = 16 * steps * stride
            lowest, highest = lowest + min(move, 0), highest + max(move, 0)
            index += below * steps if move > 0 else 0
            below *= size(leaf)
        last.append(index)
    end = -(-(highest + reach) // span) * span
    room = (capacity - (end - base)) // alignment * alignment
    return AdvanceReport(
        base=base,
        subtiles=size(advance),
        lowest_start=lowest,
        highest_start=highest,
        last=tuple(last),
        end=end,
        capacity=capacity,
        highest_base=room if room >= 0 else None,
    )
