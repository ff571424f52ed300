"""Derive operands that cross from one swizzle atom to the next: the 48 bytes of K of the instructions with K = 96.

A K-major tile with swizzle 128B consists of lines of 128 bytes, with eight pieces of 16 bytes each. An instruction
reads three pieces of each row. Instruction j begins at piece 3*j. If that is the 7th or 8th piece of its line, K
continues at the beginning of the next line, whose address follows from the tile. Neither the start nor the next line is
a constant step times j. Therefore the tile is divided into columns of one piece, and both addresses are computed from
the layout of the columns. The word stores both, the line as an absolute address (LBO mode 1, of K = 96). If K does not
continue in another line, LBO is the operand's own line, as in NVIDIA's kernels.
Source: PTX ISA 9.1, tcgen05 "Absolute address mode for K dimension being 48B" and its restrictions; CUTLASS
``sm103_blockscaled_mma_warpspecialized.hpp`` (eight instructions over three buffers of 128 bytes of K) and
``mma_traits_sm100.hpp``, namespace SM103, ``mma_unpack`` (LBO is the start address of the next buffer's descriptor).

For every size of the tile, operand j begins at piece 3*j and its LBO is line (3*j + 2) // 8. By the theorem of
``cut_tile``, both are right if K consists of lines of 8 consecutive pieces, the number of lines is a multiple of three,
and all other strides are multiples of a line. The sizes need not be powers of two: ``hold_for_all`` decides this over
the integers, with symbols for positive numbers.

Such an operand has no layout of its own. ``CrossingOperand`` represents it as a part of its tile: its addresses are a
block of those of the tile, and its word follows from the columns.

Invariant: the pieces of all operands, one after the other, are the pieces of the tile.

>>> lines, pieces = Layout(3, 1024), Layout((8, 3), (1, 1024))
>>> crossing, read = Crossing(lines), []
>>> for j in range(8):
...     begin, line = crossing.begins(j) % 8, crossing.goes_on(j)
...     read += [lines(3 * j // 8) + begin + c if begin + c < 8 else line + begin + c - 8 for c in range(3)]
>>> read == [pieces(p) for p in range(24)]
True

Invariant: the word of an operand reads it at every address of the tile.

>>> from descriptors.smem.operands.operand import as_element_type
>>> from layoutalg import Swizzle
>>> tile, e2m1 = ComposedLayout(Swizzle(3, 5, 3), 0, Layout((8, (256, 3)), (256, (1, 2048)))), as_element_type("e2m1")
>>> for k, base in ((k, base) for k in range(8) for base in (0, 4096)):
...     operand = crossing_operand(tile, SwizzleMode.B128, e2m1, (8, 96), (0, k))
...     _, descriptor = operand.described("sm100", base, 0, absolute=True)
...     read = fetched_rows([descriptor.encode()], arch="sm100", element=e2m1, major=Major.K, shape=(8, 96))[0]
...     assert read == operand.addresses(base, 0), k
"""

from __future__ import annotations

from math import prod
from typing import Any

from descriptors.errors import DescriptorError
from descriptors.smem.operands.atoms import atom_in_elements, smem_tile
from descriptors.smem.operands.canonical import Match
from descriptors.smem.operands.forms import form
from descriptors.smem.operands.match import Tile, matched_steps
from descriptors.smem.operands.operand import LINE_BYTES, ElementType, Major, SwizzleMode
from descriptors.smem.operands.swizzled import start_of
from descriptors.smem.proof.addresses import address_unit, fetched_rows, stored_rows
from descriptors.smem.proof.digit_model import fields, walk, xor
from descriptors.smem.proof.digits import normal
from descriptors.smem.proof.mismatch import first_mismatches
from descriptors.smem.proof.read_model import Rows
from descriptors.smem.proof.theorem import Affine, modes, stored
from descriptors.smem.words.descriptor import WINDOW_BYTES, Arch, SmemDescriptor, window_bytes
from descriptors.text import tuple_text
from layoutalg import ComposedLayout, Layout, LayoutError, coalesce, flatten, logical_divide, make_layout, size
from layoutalg.frozen import frozen, replace

#: Number of 16-byte pieces of a row that one instruction with K = 96 reads, and number of pieces of a line.
PIECES, LINE = 3, LINE_BYTES // 16


@frozen
class Crossing:
    """Where the operands of a tile that cross atoms begin and continue along K.

    Args:
        lines: the layout from the number of a line of 128 bytes along K to its offset, in 16-byte units.

    >>> crossing = Crossing(Layout(3, 1024))
    >>> [crossing.begins(j) for j in range(4)], [crossing.goes_on(j) for j in range(4)]
    ([0, 3, 6, 9], [0, 0, 1024, 1024])
    """

    lines: Layout

    def begins(self, k: int) -> int:
        """Return the number of the first piece of operand k along K."""
        return PIECES * k

    def goes_on(self, k: int) -> int:
        """Return the offset, in 16-byte units, of the line with the last piece of operand k: its own, or the next."""
        offset = self.lines((self.begins(k) + PIECES - 1) // LINE)
        assert isinstance(offset, int)
        return offset

    def line_bytes(self, k: int) -> int:
        """Return the line in which operand k along K continues, relative to that of operand 0, in bytes."""
        return 16 * (self.goes_on(k) - self.goes_on(0))

    def crosses(self, k: int) -> bool:
        """Return whether operand k continues in another line than it begins in.

        >>> [Crossing(Layout(3, 1024)).crosses(k) for k in range(8)]
        [False, False, True, False, False, True, False, False]
        """
        return self.begins(k) % LINE + PIECES > LINE


@frozen
class Columns:
    """The steps of a derivation for a tile that is divided into columns of 16 bytes of K.

    Args:
        partitioned: step 2, in elements: the columns.
        recast: step 3, in 16-byte units.
        match: step 4: one column in canonical form.
        advance: step 5: the layout from an operand to its first piece, in 16-byte units.
        crossing: where operands continue along K.
    """

    partitioned: Tile
    recast: Tile
    match: Match
    advance: ComposedLayout
    crossing: Crossing


def is_48_bytes_of_k(element: ElementType, major: Major, mode: SwizzleMode, reads: tuple[int, int]) -> bool:
    """Return whether an operand has 48 bytes of K in swizzled rows; only such operands may cross atoms.

    >>> from descriptors.smem.operands.operand import as_element_type
    >>> is_48_bytes_of_k(as_element_type("e2m1"), Major.K, SwizzleMode.B128, (128, 96))
    True
    """
    bits = element.storage_bits * reads[1]
    return major is Major.K and mode is not SwizzleMode.NONE and bits == 128 * PIECES


def columns(
    tile: Tile, element: ElementType, major: Major, mode: SwizzleMode, reads: tuple[int, int]
) -> Columns | None:
    """Return the steps of a tile whose operands cross atoms, or None if the operands do not cross atoms.

    Args:
        tile: modes (MN, K, stages...), in elements.
        element: the element type.
        major: the contiguous dimension.
        mode: the swizzle mode.
        reads: extents (MN, K) of an operand, in elements.

    Raises:
        DescriptorError: if the operands cross atoms, but not in the way of PTX and NVIDIA's kernels.

    >>> from descriptors.smem.operands.operand import as_element_type
    >>> tile, e2m1 = Layout((128, (256, 3)), (256, (1, 32768))), as_element_type("e2m1")
    >>> cut = columns(tile, e2m1, Major.K, SwizzleMode.B128, (128, 96))
    >>> print(cut.advance, [cut.advance(0, k) for k in range(8)])
    (1,(8,3)):(0,(1,1024)) o 0 o (1,8):(1,3) [0, 3, 6, 1025, 1028, 1031, 2050, 2053]
    """
    if not is_48_bytes_of_k(element, major, mode, reads):
        return None
    try:
        steps = matched_steps(tile, (reads[0], element.per_16_bytes), element, form(major, mode))
    except (DescriptorError, LayoutError):  # the tile has other problems, which the ordinary steps report
        return None
    pieces = steps.advance
    if size(pieces[1]) % PIECES:
        return None
    if mode is not SwizzleMode.B128:
        raise _error(tile, reads, f"needs swizzle 128B (PTX ISA 9.1, absolute address mode), but swizzle is {mode}")
    lines = _lines(tile, reads, start_of(steps.recast), steps.match.stride_byte_offset // 16, pieces)
    advance = ComposedLayout(pieces, 0, _operands(pieces))
    return Columns(steps.partitioned, steps.recast, steps.match, advance, Crossing(lines))


def _operands(pieces: Layout) -> Layout:
    """Return the layout from an operand to the index of its first piece: every third piece along K."""
    modes, below = list[Layout](), 1
    for i, mode in enumerate(pieces):
        every = PIECES if i == 1 else 1
        modes.append(Layout(size(mode) // every, every * below))
        below *= size(mode)
    return make_layout(*modes)


def _lines(tile: Tile, reads: tuple[int, int], start: int, group: int, pieces: Layout) -> Layout:
    """Return the layout from a line of 128 bytes along K to its offset.

    Raises:
        DescriptorError: if the lines are not contiguous, or do not begin at multiples of 128 bytes.
    """
    rule = "needs lines of 128 bytes of K that begin at multiples of 128 bytes"
    try:
        divided = coalesce(logical_divide(pieces[1], LINE), (1, 1)) if size(pieces[1]) % LINE == 0 else None
    except LayoutError:
        divided = None
    if divided is None or divided[0] != Layout(LINE):
        raise _error(tile, reads, f"{rule}, but its pieces of 16 bytes are at {pieces[1]}")
    begins = [
        start,
        group,
        *(_step(leaf) for mode in (pieces[0], divided[1], *list(pieces)[2:]) for leaf in flatten(mode)),
    ]
    if any(begin % LINE for begin in begins):
        raise _error(tile, reads, f"{rule}, but its steps are {tuple_text(16 * begin for begin in begins)} bytes")
    lines = divided[1]
    assert isinstance(lines, Layout)
    return lines


def _step(leaf: Layout) -> Any:
    return 0 if size(leaf) == 1 else leaf.stride  # an extent with symbols counts, even if their values may make it 1


def _error(tile: Tile, reads: tuple[int, int], fact: str) -> DescriptorError:
    return DescriptorError(
        f"derive: an operand whose 48 bytes of K cross from one swizzle atom to the next {fact}; "
        f"tile = {tile}, mma = {tuple_text(reads)}"
    )


def columns_for_all(
    extents: tuple[Any, ...], element: ElementType, reads: tuple[int, int], order: tuple[int, ...]
) -> tuple[Tile, Columns | None]:
    """Return a tile with symbols in its extents, and its columns; None instead if its operands do not cross atoms.

    Raises:
        DescriptorError, UndecidedError: if the tile or its columns do not exist for all values of the symbols.
    """
    tile = smem_tile(atom_in_elements(Major.K, SwizzleMode.B128, element), extents, order)
    return tile, columns(tile, element, Major.K, SwizzleMode.B128, reads)


def hold_for_all(tile: Tile, cut: Columns, element: ElementType, reads: tuple[int, int]) -> bool:
    """Return whether the words that follow from the columns of a tile read it, for every value of its symbols.

    Raises:
        UndecidedError: if the answer depends on the values.

    >>> from layoutalg.frozen import replace
    >>> from descriptors.smem.operands.operand import as_element_type
    >>> from layoutalg import symbol
    >>> e2m1, reads = as_element_type("e2m1"), (128, 96)
    >>> tile, cut = columns_for_all((128 * symbol("m"), 768 * symbol("k")), e2m1, reads, (0, 1))
    >>> late = replace(cut.crossing, lines=Layout(cut.crossing.lines.shape, 8 + cut.crossing.lines.stride))
    >>> hold_for_all(tile, cut, e2m1, reads), hold_for_all(tile, replace(cut, crossing=late), e2m1, reads)
    (True, False)
    """
    name, whole, map_of_tile = element.name, element.per_16_bytes, stored(tile)
    word_fields = fields(SmemDescriptor("sm100", 0, 0, SwizzleMode.B128, leading_is_absolute=True).encode(), "sm100")
    walked = walk(word_fields._replace(stride=cut.match.stride_byte_offset // 16), name, "K", reads)
    pieces, choice = cut.advance.outer, cut.advance.inner
    if walked is None or not isinstance(pieces, Layout) or not isinstance(choice, Layout):
        return False
    steps, lines = modes(pieces, whole), modes(cut.crossing.lines, whole)[0]
    read_modes = [normal([*walked[0], *steps[0]]), normal([(LINE * whole, 1), *lines]), *map(normal, steps[2:])]
    conditions = (
        map_of_tile.xor == xor(word_fields.pattern, name) and map_of_tile.start == 0 and cut.advance.offset == 0,
        read_modes == list(map(normal, map_of_tile.modes)),
        normal([(whole, 1), *steps[1]]) == read_modes[1] and prod(n for n, _ in lines) % PIECES == 0,
        modes(choice) == _every_third(map_of_tile, reads, whole),
        all(n == 1 or d % (LINE * whole) == 0 for mode in (steps[0], lines, *steps[2:]) for n, d in mode),
    )
    return all(conditions)


def _every_third(tile: Affine, reads: tuple[int, int], whole: int) -> list[list[tuple[Any, Any]]]:
    """Return the expected digits of the layout of first pieces: every piece of a mode, but every third along K."""
    choices, below = list[list[tuple[Any, Any]]](), 1
    for i, mode in enumerate(tile.modes):
        many = prod((n for n, _ in mode), start=1)
        many = many // (reads[0], whole)[i] if i < 2 else many
        every = PIECES if i == 1 else 1
        choices.append([(many // every, every * below)])
        below = below * many
    return choices


@frozen
class CrossingOperand:
    """An operand of a tile whose operands cross atoms.

    Args:
        tile: modes (MN, K, stages...), in elements.
        element: the element type.
        shape: extents (MN, K) of the operand, in elements.
        at: coordinate of the operand in the tile.
        columns: the tile divided into columns of 16 bytes.
    """

    tile: Tile
    element: ElementType
    shape: tuple[int, int]
    at: tuple[int, ...]
    columns: Columns

    @property
    def first(self) -> int:
        """Offset of the operand's start from the layout's offset 0, before the swizzle, in bytes."""
        begins = self.columns.advance(*self.at)
        assert isinstance(begins, int)
        return 16 * (start_of(self.columns.recast) + begins)

    @property
    def line(self) -> int:
        """Offset of the line in which K continues from the layout's offset 0, before the swizzle, in bytes."""
        mn, k, *stages = self.at
        begins = self.columns.advance(mn, 0, *stages)
        assert isinstance(begins, int)
        return 16 * (start_of(self.columns.recast) + begins + self.columns.crossing.goes_on(k))

    def addresses(self, base: int, pattern_start: int, window: int = WINDOW_BYTES) -> Rows:
        """Return the address of every element, ``addresses[mn][k]``, in the unit of ``address_bits``.

        Args:
            base: address of the layout's offset 0, in bytes.
            pattern_start: an address where the swizzle pattern starts, in bytes.
            window: the address window, in bytes.

        Raises:
            DescriptorError: if the tile is not within the address window.
        """
        of_tile = stored_rows(self.tile, self.element, base=base, pattern_start=pattern_start, window=window)
        (mn, k), (i, j, *stages) = self.shape, self.at
        addresses = [row[j * k : (j + 1) * k] for row in of_tile[i * mn : (i + 1) * mn]]
        for stage in stages:
            addresses = [[cell[stage] for cell in row] for row in addresses]
        return addresses

    def described(self, arch: Arch, base: int, pattern_start: int, *, absolute: bool) -> tuple[Match, SmemDescriptor]:
        """Return the form of the operand and its descriptor, after verifying that the descriptor reads it.

        Args:
            arch: the architecture, one with ``tcgen05``.
            base: address of the layout's offset 0, in bytes.
            pattern_start: an address where the swizzle pattern starts, in bytes.
            absolute: whether LBO is an address even if K does not continue in another line.

        Raises:
            DescriptorError: if the descriptor does not read the operand there.
        """
        crosses, match = self.columns.crossing.crosses(self.at[1]), self.columns.match
        if crosses:
            match = replace(match, form=replace(match.form, unread=()), idle=())
        descriptor = SmemDescriptor(
            arch,
            base + self.line if crosses or absolute else match.leading_byte_offset,
            match.stride_byte_offset,
            match.form.mode,
            start_address=base + self.first,
            base_offset=pattern_start // LINE_BYTES % 8,
            leading_is_absolute=crosses or absolute,
        )
        stored_at = self.addresses(base, pattern_start, window_bytes(arch))
        word = descriptor.encode()
        read_at = fetched_rows([word], arch=arch, element=self.element, major=Major.K, shape=self.shape)[0]
        if stored_at != read_at:
            wrong = first_mismatches(stored_at, read_at, unit=address_unit(self.element), most=1)[0]
            raise DescriptorError(f"canonical: the word does not read the layout, {wrong}; layout = {self.tile}")
        return match, descriptor


def crossing_operand(
    tile: Tile, mode: SwizzleMode, element: ElementType, shape: tuple[int, int], at: tuple[int, ...]
) -> CrossingOperand | None:
    """Return an operand of a tile whose operands cross atoms, or None if they do not cross atoms.

    Args:
        tile: modes (MN, K, stages...), in elements.
        mode: the swizzle mode of the tile.
        element: the element type.
        shape: extents (MN, K) of the operand, in elements.
        at: coordinate of the operand in the tile.

    Raises:
        DescriptorError: if there is no such operand, or no word can describe how the operands cross.
    """
    crossing_columns = columns(tile, element, Major.K, mode, shape)
    if crossing_columns is None:
        return None
    counts = tuple(size(mode) for mode in crossing_columns.advance)
    if len(at) != len(counts) or not all(0 <= index < count for index, count in zip(at, counts, strict=True)):
        raise DescriptorError(
            f"operand: subtile {tuple_text(at)} is not one of the {tuple_text(counts)} subtiles; tile = {tile}"
        )
    return CrossingOperand(tile, element, shape, at, crossing_columns)
