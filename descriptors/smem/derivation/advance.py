"""Tables of the start-address offsets of the subtiles of a tile, and the check that every start fits its field.

The start address is a field of 14 bits in units of 16 bytes, an 18-bit window. Adding an offset to the *word* changes
this field; beyond its end, the sum would carry into the field above, so that such a subtile has no descriptor. A CTA on
sm90 and sm100 has 227 KB of shared memory, which is less than the window. Tables are nested like the tile's modes.

Invariant: no start address is outside the two that are reported, and both occur.

>>> steps = Layout((2, (4, 2)), (512, (-2, 1024)))
>>> report = advance_report(steps, base=4096, start=0, reach=8096, span=128, alignment=1024, capacity=10**5)
>>> starts = [4096 + 16 * steps(i) for i in range(16)]
>>> (report.lowest_start, report.highest_start) == (min(starts), max(starts))
True

Invariant: each cell of a table of sums is the sum of one step of each mode.

>>> table = sums([[0, 8], [0, 1, 2]], 100)
>>> all(table[i][j] == 100 + 8 * i + j for i in range(2) for j in range(3))
True
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice
from math import prod
from typing import Any, NamedTuple, TypeAlias

from descriptors.errors import DescriptorError, as_integer, brief
from descriptors.smem.words.descriptor import WINDOW_BYTES
from descriptors.text import counted, tuple_text
from layoutalg import ComposedLayout, Layout, flatten, size
from layoutalg.frozen import frozen

#: A number for each subtile: ``grid[mn][k]``.
Grid: TypeAlias = tuple[tuple[int, ...], ...]

#: The largest number of subtiles that a table lists; a tile in shared memory has fewer.
MOST_SUBTILES = 1 << 18

#: A nested table for a tile with any number of stages: a number, or a tuple of tables.
Table: TypeAlias = int | tuple["Table", ...]


def stage_bytes(modes: Sequence[Layout | ComposedLayout], stage: int | Sequence[int]) -> int:
    """Return the offset of a stage, in bytes.

    Args:
        modes: the modes of the advance that belong to the stages.
        stage: the number of the stage, which counts along the first mode fastest, or its coordinate.

    Raises:
        DescriptorError: if there is no such stage.

    >>> stage_bytes([Layout(2, 64), Layout(3, 256)], 3), stage_bytes([Layout(2, 64), Layout(3, 256)], (1, 1))
    (5120, 5120)
    """
    is_coordinate = isinstance(stage, (tuple, list))
    coordinate = stage if isinstance(stage, (tuple, list)) else (stage,)
    indices = [as_integer(index, "derive: a stage") for index in coordinate]
    counts = [size(mode) for mode in modes]
    extents = counts if is_coordinate else [prod(counts)]
    fits = len(indices) == len(extents) and all(i < extent for i, extent in zip(indices, extents, strict=True))
    if not modes or not fits:
        extents_of_stages = "x".join(map(str, counts))
        last = prod(counts) - 1 if len(counts) < 2 or not is_coordinate else tuple_text([n - 1 for n in counts])
        supported = f"its {extents_of_stages} stages end with stage {last}" if modes else "it has no stages"
        text = ",".join(map(brief, coordinate))
        raise DescriptorError(f"derive: the tile has no stage {text}; {supported}")
    if not is_coordinate:
        number, indices = indices[0], []
        for extent in counts:
            indices.append(number % extent)
            number //= extent
    return sum(16 * mode(index) for mode, index in zip(modes, indices, strict=True))


def sums(steps: Sequence[Sequence[int]], start: int) -> Table:
    """Return the table of ``start`` plus one step of each mode, with the first mode outermost."""
    flat: Any = [start]
    for mode in steps:
        if len(mode) != 1 or mode[0]:
            flat = [total + step for total in flat for step in mode]
    for mode in reversed(steps[1:]):  # group the flat list into rows, from the innermost mode outwards
        flat = zip(*[iter(flat)] * len(mode), strict=True)
    return tuple(flat) if steps else start


class Offsets(NamedTuple):
    """Every offset of a mode, the smallest and the largest. The list is empty if a table cannot list all of them."""

    listed: tuple[int, ...]
    lowest: int
    highest: int


def mode_offsets(shape: Any, stride: Any) -> Offsets:
    """Return every offset of a mode of a layout, from its extents and strides.

    Invariant: the offsets are the values of the layout. This function is faster than evaluating the layout.

    >>> mode_offsets((4, 2), (2, 1024)).listed == tuple(map(Layout((4, 2), (2, 1024)), range(8)))
    True
    """
    offsets: list[int] = [0]
    for n, d in zip(shape, stride, strict=True) if type(shape) is tuple else ((shape, stride),):
        if type(n) is not tuple and n * len(offsets) > MOST_SUBTILES:
            return Offsets((), 0, 0)
        steps = mode_offsets(n, d).listed if type(n) is tuple else [x * d for x in range(n)]
        offsets = [offset + step for step in steps for offset in offsets]
    if not 0 < len(offsets) <= MOST_SUBTILES:
        return Offsets((), 0, 0)
    return Offsets(tuple(offsets), min(offsets), max(offsets))


def mapped(function: Callable[..., int], *tables: Table) -> Table:
    """Apply a function to the corresponding numbers of tables with the same nesting.

    >>> mapped(lambda a, b: a + b, ((1, 2), (3, 4)), ((10, 20), (30, 40)))
    ((11, 22), (33, 44))
    """
    if isinstance(tables[0], int):
        return function(*tables)
    rows = [table for table in tables if isinstance(table, tuple)]
    return tuple(mapped(function, *row) for row in zip(*rows, strict=True))


def numbers(table: Table) -> list[int]:
    """Return the numbers of a table, in order.

    >>> numbers(((1, 2), (3, 4)))
    [1, 2, 3, 4]
    """
    level: list[Any] = [table]
    while level and isinstance(level[0], tuple):  # all cells of a table have the same depth
        level = list(chain.from_iterable(level))
    return level


@frozen
class AdvanceReport:
    """The range of the subtiles of a tile, and whether it is within the address field and shared memory.

    Args:
        base: address of the tile, in bytes.
        subtiles: number of subtiles.
        lowest_start: lowest start address of a subtile, in bytes.
        highest_start: highest start address, in bytes.
        last: coordinate (mn, k, stages...) of the subtile with the highest start.
        end: the first address after all subtiles, in bytes.
        capacity: bytes of shared memory of a CTA.
        highest_base: the highest aligned address at which the tile fits, in bytes; None if it does not fit.
        named: number of subtiles within the window of the start address, counted up to 2**18.
        window: number of bytes that a start address can address.

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
    named: int
    window: int = WINDOW_BYTES

    @property
    def fits_field(self) -> bool:
        """Whether every start address fits its field."""
        return self.lowest_start >= 0 and self.highest_start < self.window

    @property
    def fits_memory(self) -> bool:
        """Whether all subtiles are within the shared memory of a CTA."""
        return self.lowest_start >= 0 and self.end <= self.capacity

    def __str__(self) -> str:
        starts = f"start at {self.lowest_start} to {self.highest_start} (subtile {tuple_text(self.last)})"
        field = f"the {self.window.bit_length() - 5}-bit field"
        if self.fits_field and self.fits_memory:
            verdict = f"within {field} and {self.capacity} bytes"
        elif self.fits_field:
            verdict = f"within {field} but OUT of the {self.capacity} bytes of shared memory"
        else:
            verdict = f"OUT of {field}, which ends at {self.window} after {counted(self.named, 'subtile')}"
            verdict += f", and of {self.capacity} bytes"
        if self.subtiles == 1:
            return f"1 subtile starts at {self.lowest_start} and ends at {self.end}: {verdict}"
        return f"{self.subtiles} subtiles {starts} and end at {self.end}: {verdict}"


def advance_report(
    advance: Layout | ComposedLayout, *, base: int, start: int, reach: int, span: int, alignment: int, capacity: int,
    window: int = WINDOW_BYTES,
) -> AdvanceReport:  # fmt: skip
    """Return the report of a tile from the offsets of its subtiles.

    Args:
        advance: the layout from a subtile to the offset of its start, in 16-byte units; for operands that cross atoms,
            a layout of columns composed with the columns at which operands begin.
        base: address of the tile, in bytes.
        start: start of the first subtile relative to the tile, in bytes.
        reach: bytes from a subtile's start to the end of its last 16-byte unit, before the swizzle.
        span: bytes of a swizzled row, within which the swizzle permutes.
        alignment: required alignment of the tile's address, in bytes.
        capacity: bytes of shared memory.
        window: number of bytes that a start address can address.

    >>> rows = Layout((2, 4), (512, 2))
    >>> advance_report(rows, base=0, start=0, reach=8096, span=128, alignment=1024, capacity=10**5).end
    16384
    """
    moves = [_extremes(mode) for mode in advance]
    lowest, highest = (base + start + sum(move[i] for move in moves) for i in (0, 1))
    # An operand that crosses atoms reaches two columns further, but the last operand ends in the line where it begins.
    end = -(-(highest + reach) // span) * span
    room = (capacity - (end - base)) // alignment * alignment
    if lowest >= 0 and highest + reach <= window:
        within = size(advance)
    elif isinstance(advance, Layout):
        within = sum(1 for _ in named_subtiles(advance, first=base + start, reach=reach, window=window))
    else:
        starts = numbers(sums([_listed(mode) for mode in advance], base + start))
        within = sum(0 <= subtile_start <= window - reach for subtile_start in starts)
    return AdvanceReport(
        base=base,
        subtiles=size(advance),
        lowest_start=lowest,
        highest_start=highest,
        last=tuple(move[2] for move in moves),
        end=end,
        capacity=capacity,
        highest_base=room if room >= 0 else None,
        named=within,
        window=window,
    )


def _extremes(mode: Layout | ComposedLayout) -> tuple[int, int, int]:
    """Return the lowest and the highest offset of a mode, in bytes, and the number of the subtile with the highest."""
    if isinstance(mode, ComposedLayout):
        offsets = _listed(mode)
        return min(offsets), max(offsets), offsets.index(max(offsets))
    low = high = index = 0
    below = 1
    for leaf in flatten(mode):
        steps = size(leaf) - 1
        stride: Any = leaf.stride  # a number, because a word stores it
        move: int = 16 * steps * stride
        low, high = low + min(move, 0), high + max(move, 0)
        index += below * steps if move > 0 else 0
        below *= size(leaf)
    return low, high, index


def _listed(mode: ComposedLayout) -> list[int]:
    """Return every offset of a mode, in bytes."""
    if size(mode) > MOST_SUBTILES:
        raise DescriptorError(
            f"derive: the tile has {size(mode)} subtiles in one mode, more than the {MOST_SUBTILES} that a table "
            f"lists; mode = {mode}"
        )
    return [16 * mode(i) for i in range(size(mode))]


def named_subtiles(
    advance: Layout, *, first: int, reach: int, window: int = WINDOW_BYTES
) -> Iterator[tuple[tuple[int, ...], int]]:
    """Yield the coordinate and the start, in bytes, of each subtile within the window of the start address.

    At most 2**18 subtiles are yielded. Subtiles beyond the window are not enumerated, so the tile may have any size.

    Invariant: the result has the coordinates c with ``0 <= first + 16 * advance(c)`` whose end, ``reach`` bytes
    further, is within the window.

    Args:
        advance: the layout from a subtile to the offset of its start, in 16-byte units.
        first: start of the first subtile, in bytes.
        reach: bytes from a subtile's start to the end of its last 16-byte unit, before the swizzle.
        window: number of bytes that a start address can address.

    >>> list(named_subtiles(Layout((2, 2**40), (2**13, 2**12)), first=0, reach=16))
    [((0, 0), 0), ((0, 1), 65536), ((0, 2), 131072), ((0, 3), 196608), ((1, 0), 131072), ((1, 1), 196608)]
    """
    leaves = []
    for index, mode in enumerate(advance):
        below = 1
        for leaf in flatten(mode):
            stride: Any = leaf.stride
            leaves.append((index, below, size(leaf), 16 * stride))
            below *= size(leaf)
    leaves.sort(key=lambda leaf: -abs(leaf[3]))
    subtiles = _walk(leaves, (0,) * len(advance), first, window - reach)
    yield from islice(subtiles, MOST_SUBTILES)


def _walk(
    leaves: list[tuple[int, int, int, int]], at: tuple[int, ...], start: int, limit: int
) -> Iterator[tuple[tuple[int, ...], int]]:
    """Yield the subtiles of the leaves (mode, weight in its coordinate, extent, step) with a start in [0, limit]."""
    if not leaves:
        if 0 <= start <= limit:
            yield at, start
        return
    (mode, below, extent, step), *rest = leaves
    least = start + sum(min((n - 1) * d, 0) for _, _, n, d in rest)
    most = start + sum(max((n - 1) * d, 0) for _, _, n, d in rest)
    low, high = 0, extent - 1
    if step > 0:
        low, high = max(low, -(most // step)), min(high, (limit - least) // step)
    elif step < 0:
        low, high = max(low, -((limit - least) // -step)), min(high, most // -step)
    for i in range(low, high + 1):
        corner = (*at[:mode], at[mode] + i * below, *at[mode + 1 :])
        yield from _walk(rest, corner, start + i * step, limit)
