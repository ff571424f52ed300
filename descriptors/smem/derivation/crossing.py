"""Operands that cross from one swizzle atom to the next: the 48 bytes of K that the instructions with K = 96 read.

A K-major tile with swizzle 128B lies in lines of 128 bytes, eight pieces of 16; an instruction reads three pieces of
each row. Instruction j begins at piece 3*j, and where that is the 7th or 8th of its line it goes on at the beginning of
the next line, which lies where the tile has it. So neither the start nor the next line is a step times j: the tile is
cut into columns of one piece, and both places are read off the layout of the columns. The word holds both, the line as
an absolute address (LBO mode 1 of sm_103a); where K does not go on in another line, it names its own, as NVIDIA does.
Source: PTX ISA 9.1, tcgen05 "Absolute address mode for K dimension being 48B" and its restrictions; CUTLASS
``sm103_blockscaled_mma_warpspecialized.hpp`` (eight instructions over three buffers of 128 bytes of K) and
``mma_traits_sm100.hpp``, namespace SM103, ``mma_unpack`` (LBO is the start address of the next buffer's descriptor).

Law: the pieces of all operands, one after the other, are the pieces of the tile.

>>> lines, pieces = Layout(3, 1024), Layout((8, 3), (1, 1024))
>>> one, read = Crossing(lines), []
>>> for j in range(8):
...     begin, line = one.begins(j) % 8, 8 * one.lines(one.begins(j) // 8)
...     read += [lines(3 * j // 8) + begin + c if begin + c < 8 else one.goes_on(j) + begin + c - 8 for c in range(3)]
>>> read == [pieces(p) for p in range(24)]
True
"""

from __future__ import annotations

from typing import Any

from descriptors.errors import DescriptorError
from descriptors.frozen import frozen
from descriptors.smem.derivation.request import TileSpec
from descriptors.smem.operands.canonical import Match, match_form
from descriptors.smem.operands.forms import form
from descriptors.smem.operands.match import Tile, in_16_bytes, partition
from descriptors.smem.operands.operand import LINE_BYTES, ElementType, Major, SwizzleMode
from descriptors.smem.operands.swizzled import plain, start_of
from descriptors.text import tuple_text
from layoutalg import ComposedLayout, Layout, LayoutError, coalesce, flatten, logical_divide, make_layout, size

#: What one instruction with K = 96 reads of a row, in pieces of 16 bytes, and the pieces of a line.
PIECES, LINE = 3, LINE_BYTES // 16


@frozen
class Crossing:
    """Where the operands of a tile that cross atoms begin and go on along K.

    Args:
        lines: from the number of a line of 128 bytes along K to its offset, in 16-byte units.

    >>> one = Crossing(Layout(3, 1024))
    >>> [one.begins(j) for j in range(4)], [one.goes_on(j) for j in range(4)]
    ([0, 3, 6, 9], [0, 0, 1024, 1024])
    """

    lines: Layout

    def begins(self, k: int) -> int:
        """The number of the first piece of operand k along K."""
        return PIECES * k

    def goes_on(self, k: int) -> int:
        """Offset of the line that the last piece of operand k lies in, in 16-byte units: its own, or the next."""
        offset = self.lines((self.begins(k) + PIECES - 1) // LINE)
        assert isinstance(offset, int)
        return offset

    def crosses(self, k: int) -> bool:
        """Whether operand k goes on in another line than it begins in.

        >>> [Crossing(Layout(3, 1024)).crosses(k) for k in range(8)]
        [False, False, True, False, False, True, False, False]
        """
        return self.begins(k) % LINE + PIECES > LINE


@frozen
class Columns:
    """A tile cut into columns of 16 bytes of K, as the steps of a derivation.

    Args:
        partitioned: step 2, in elements: the columns.
        recast: step 3, in 16-byte units.
        match: step 4: one column in canonical form.
        advance: step 5: from operand to the piece that it begins at, in 16-byte units.
        crossing: where operands go on.
    """

    partitioned: Tile
    recast: Tile
    match: Match
    advance: ComposedLayout
    crossing: Crossing


def is_48_bytes_of_k(element: ElementType, major: Major, mode: SwizzleMode, reads: tuple[int, int]) -> bool:
    """Whether an operand is one of 48 bytes of K in swizzled rows, which alone may cross from atom to atom.

    >>> from descriptors.smem.operands.operand import as_element_type
    >>> is_48_bytes_of_k(as_element_type("e2m1"), Major.K, SwizzleMode.B128, (128, 96))
    True
    """
    bits = element.storage_bits * reads[1]
    return major is Major.K and mode is not SwizzleMode.NONE and bits == 128 * PIECES


def columns(tile: Tile, element: ElementType, spec: TileSpec) -> Columns | None:
    """The steps of a tile whose operands cross atoms; None where that is not what is in the way of the ordinary ones.

    Args:
        tile: modes (MN, K, stages...), in elements.
        element: the element type.
        spec: what was asked for.

    Raises:
        DescriptorError: if the operands cross atoms, but not as PTX and NVIDIA's kernels have it.

    >>> from descriptors.smem.derivation.request import reader, request
    >>> by = reader("sm100", "e2m1", (128, 96), kind="mxf4", cta_group=2)
    >>> spec = request(by, (128, 768), major="K", swizzle="128B").spec
    >>> found = columns(Layout((128, (256, 3)), (256, (1, 32768))), by.element, spec)
    >>> print(found.advance, [found.advance(0, k) for k in range(8)])
    (1,(8,3)):(0,(1,1024)) o 0 o (1,8):(1,3) [0, 3, 6, 1025, 1028, 1031, 2050, 2053]
    """
    if not is_48_bytes_of_k(element, spec.major, spec.swizzle, spec.reads):
        return None
    wanted = form(spec.major, spec.swizzle)
    try:
        partitioned = partition(tile, (spec.reads[0], element.per_16_bytes))
        recast = in_16_bytes(partitioned, element, wanted)
        column, pieces = plain(recast)
        match = match_form(column, wanted, element)
    except (DescriptorError, LayoutError):
        return None
    if size(pieces[1]) % PIECES:
        return None
    if spec.swizzle is not SwizzleMode.B128:
        raise _refusal(tile, spec, f"swizzle 128B (PTX ISA 9.1, absolute address mode), found {spec.swizzle}")
    lines = _lines(tile, spec, start_of(recast), match.stride_byte_offset // 16, pieces)
    return Columns(partitioned, recast, match, ComposedLayout(pieces, 0, _operands(pieces)), Crossing(lines))


def _operands(pieces: Layout) -> Layout:
    """From operand to the index of the piece that it begins at: every third along K."""
    modes, below = list[Layout](), 1
    for i, mode in enumerate(pieces):
        every = PIECES if i == 1 else 1
        modes.append(Layout(size(mode) // every, every * below))
        below *= size(mode)
    return make_layout(*modes)


def _lines(tile: Tile, spec: TileSpec, start: int, group: int, pieces: Layout) -> Layout:
    """From line of 128 bytes to its offset; every line whole, and where a line begins in memory."""
    whole = "lines of 128 bytes of K that begin at multiples of 128 bytes"
    try:
        divided = coalesce(logical_divide(pieces[1], LINE), (1, 1)) if size(pieces[1]) % LINE == 0 else None
    except LayoutError:
        divided = None
    if divided is None or divided[0] != Layout(LINE):
        raise _refusal(tile, spec, f"{whole}, found pieces of 16 bytes at {pieces[1]}")
    begins = [
        start,
        group,
        *(_step(leaf) for mode in (pieces[0], divided[1], *list(pieces)[2:]) for leaf in flatten(mode)),
    ]
    if any(begin % LINE for begin in begins):
        raise _refusal(tile, spec, f"{whole}, found steps of {tuple_text(16 * begin for begin in begins)} bytes")
    lines = divided[1]
    assert isinstance(lines, Layout)
    return lines


def _step(leaf: Layout) -> Any:
    return 0 if size(leaf) == 1 else leaf.stride  # of an extent with symbols it is taken, even where they make it 1


def _refusal(tile: Tile, spec: TileSpec, must: str) -> DescriptorError:
    return DescriptorError(
        f"derive: an operand whose 48 bytes of K cross from one swizzle atom to the next must have {must}; "
        f"tile = {tile}, mma = {tuple_text(spec.reads)}"
    )
