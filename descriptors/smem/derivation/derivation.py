"""The result of ``derive``: the layouts of every step, the descriptor, and the offset and word of each subtile.

Invariant: the words of a tile are its first descriptor with each offset added to the start address. For operands that
cross atoms, the leading byte address (the row in which K continues) changes too.

>>> from descriptors import derive
>>> d = derive((128, 128), "bf16", "MN", "64B", (64, 16))
>>> moved = [[d.descriptor_at(0x1080).at(0x1080 + offset).encode() for offset in row] for row in d.offsets_bytes()]
>>> d.words(0x1080) == tuple(map(tuple, moved))
True

Invariant: a table agrees with its cells, and the table of one stage is a part of the whole table.

>>> d = derive((128, 64, 3), "bf16", "K", "128B", (64, 16))
>>> whole, last = d.offsets_bytes(), d.offsets_bytes(stage=2)
>>> all(whole[1][k][2] == last[1][k] == d.offset_of(1, k, 2) for k in range(4))
True
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any, cast

from descriptors.errors import DescriptorError, FieldError, as_integer, brief
from descriptors.smem.derivation.advance import (
    MOST_SUBTILES,
    AdvanceReport,
    Grid,
    Offsets,
    advance_report,
    mapped,
    mode_offsets,
    stage_bytes,
    sums,
)
from descriptors.smem.derivation.crossing import Crossing
from descriptors.smem.instructions.legality import read_evidence
from descriptors.smem.operands.canonical import Match
from descriptors.smem.operands.forms import BASE, LEADING
from descriptors.smem.operands.operand import LINE_BYTES, ElementType, Major, Matrix, SwizzleMode
from descriptors.smem.operands.swizzled import pattern_warning, plain
from descriptors.smem.proof.addresses import evidence
from descriptors.smem.words.descriptor import SMEM_BYTES, Arch, SmemDescriptor, window_bytes
from descriptors.targets import shared_bytes
from descriptors.text import Told, counted, extents_text, word_text
from layoutalg import ComposedLayout, Layout, cosize, flatten, size
from layoutalg.frozen import frozen, replace


class PlacedSubtiles(Told):
    """The offsets of the subtiles of a tile, one by one and as tables."""

    __slots__ = ()
    advance: Layout | ComposedLayout
    crossing: Crossing | None

    @property
    def headline(self) -> str:
        """The derivation in one line."""
        raise NotImplementedError

    def offsets_bytes(self, stage: int | Sequence[int] | None = None) -> Grid:
        """Return the start address of every subtile relative to the first, in bytes: ``grid[mn][k]``.

        For a tile with stages, ``grid[mn][k]`` is a tuple over the stages unless one stage is selected; the return type
        does not express this.

        Args:
            stage: number of a stage, or its coordinate if the stages have several modes; None for all stages.

        Raises:
            DescriptorError: if there are more subtiles than a table lists, or no such stage.

        >>> from descriptors import derive
        >>> derive(tile=(128, 128), dtype="bf16", major="K", swizzle="128B", mma=(64, 16)).offsets_bytes()[1]
        (8192, 8224, 8256, 8288, 24576, 24608, 24640, 24672)
        >>> staged = derive(tile=(128, 64, 3), dtype="bf16", major="K", swizzle="128B", mma=(64, 16))
        >>> staged.offsets_bytes()[0][1], staged.offsets_bytes(stage=2)[0][1]
        ((32, 16416, 32800), 32800)
        """
        steps, start = self._steps(stage)
        return cast(Grid, sums([[16 * step for step in mode.listed] for mode in steps], 16 * start))

    def lines_bytes(self, stage: int | Sequence[int] | None = None) -> Grid:
        """Return, for operands that cross atoms, the row in which K continues, relative to that of the first subtile.

        The result is in bytes, in the shape of ``offsets_bytes``. The row is the 128-byte line that contains the last
        16 bytes of K of the operand's first row; it is the operand's own line if K does not continue in another. The
        words store it as an absolute address.

        Args:
            stage: as in ``offsets_bytes``.

        Raises:
            DescriptorError: if no operand of the tile crosses atoms, or as ``offsets_bytes``.

        >>> from descriptors import derive
        >>> d = derive((128, 768), "e2m1", "K", "128B", (128, 96), cta_group=2, arch="sm103")
        >>> d.offsets_bytes()[0][:4], d.lines_bytes()[0][:4]
        ((0, 48, 96, 16400), (0, 0, 16384, 16384))
        """
        if self.crossing is None:
            raise DescriptorError(
                f"derive: no operand of this tile crosses atoms, so K continues in no other line; {self.headline}"
            )
        steps, start = self._steps(stage)
        rows, lines, *stages = [[16 * step for step in mode.listed] for mode in steps]
        return cast(Grid, sums([rows, list(map(self.crossing.line_bytes, range(len(lines)))), *stages], 16 * start))

    def offset_of(self, mn: int, k: int, stage: int | Sequence[int] = 0) -> int:
        """Return the start address of a subtile relative to the first, in bytes: a cell of ``offsets_bytes``.

        Args:
            mn, k, stage: as in ``word``.

        Raises:
            DescriptorError: if there is no such subtile.

        >>> from descriptors import derive
        >>> derive(tile=(128, 128), dtype="bf16", major="K", swizzle="128B", mma=(64, 16)).offset_of(1, 4)
        24576
        """
        modes = self._modes
        coordinate = [as_integer(index, f"derive: {name} of a subtile") for index, name in ((mn, "mn"), (k, "k"))]
        counts = [size(mode) for mode in modes[:2]]
        if any(index >= count for index, count in zip(coordinate, counts, strict=True)):
            raise DescriptorError(
                f"derive: the tile has no subtile {brief(mn)},{brief(k)}; it has {counts[0]}x{counts[1]} subtiles, "
                f"0,0 to {counts[0] - 1},{counts[1] - 1}"
            )
        start = stage_bytes(modes[2:], stage) if len(modes) > 2 or stage != 0 else 0
        return 16 * sum(mode(index) for mode, index in zip(modes[:2], coordinate, strict=True)) + start

    def line_of(self, mn: int, k: int, stage: int | Sequence[int] = 0) -> int:
        """Return a cell of ``lines_bytes``, in bytes; 0 if no operand crosses atoms.

        Args:
            mn, k, stage: as in ``word``.

        Raises:
            DescriptorError: if there is no such subtile.

        >>> from descriptors import derive
        >>> derive((128, 768), "e2m1", "K", "128B", (128, 96), cta_group=2, arch="sm103").line_of(0, 5)
        32768
        """
        start = self.offset_of(mn, k, stage)
        return 0 if self.crossing is None else start - self.offset_of(0, k) + self.crossing.line_bytes(k)

    @property
    def _modes(self) -> tuple[Layout | ComposedLayout, ...]:
        return tuple(self.advance)

    def _steps(self, stage: int | Sequence[int] | None) -> tuple[list[Offsets], int]:
        """Return the offsets along each mode, and the offset of the selected stage, in 16-byte units.

        A layout is the sum of its modes, so that each mode is enumerated only once.
        """
        steps, many = list[Offsets](), 1
        if isinstance(self.advance, Layout):
            shape: Any = self.advance.shape
            stride: Any = self.advance.stride
            steps = list(map(mode_offsets, shape, stride))
        elif size(self.advance) <= MOST_SUBTILES:
            steps = [Offsets(offsets, min(offsets), max(offsets)) for offsets in map(_values, self._modes)]
        for mode in steps:
            many *= len(mode.listed)
        if not steps or not 0 < many <= MOST_SUBTILES:
            raise DescriptorError(
                f"derive: the tile has {size(self.advance)} subtiles, more than the {MOST_SUBTILES} that a table "
                f"lists; advance = {self.advance}"
            )
        if stage is None:
            return steps, 0
        return steps[:2], stage_bytes(self._modes[2:], stage) // 16


def _values(mode: Layout | ComposedLayout) -> tuple[int, ...]:
    return tuple([mode(i) for i in range(size(mode))])


@frozen
class Derivation(PlacedSubtiles):
    """Every step from a tile to its descriptors.

    A layout with a swizzle is a ``ComposedLayout``; ``plain`` removes the swizzle.

    Args:
        tile: extents (MN, K), then those of the stages if there are any, in elements.
        mma: extents (MN, K) that one instruction reads, in elements.
        order: position of each tile mode in the stacking order of the atoms; () for an explicit layout.
        element: the element type.
        major: the contiguous dimension.
        swizzle: the swizzle mode.
        atom: the canonical atom, in elements.
        smem_tile: step 1, in elements.
        partitioned: step 2, in elements.
        recast: step 3, in 16-byte units.
        match: step 4: the canonical form with its layout, its offsets and the fields without effect.
        advance: step 5, in 16-byte units.
        descriptor: the descriptor of the first subtile of a tile at shared-memory address 0.
        operand: ``"A"`` or ``"B"``; None for either.
        instruction: the instruction that reads the tile: ``"mma"``, or ``"tcgen05.cp.SHAPE"``.
        capacity: bytes of shared memory that the tile was checked against; None if it was not checked.
        crossing: where K continues for operands that cross from one swizzle atom to the next; None if no operand does.
            With a crossing, steps 2 to 4 describe columns of 16 bytes of K.
    """

    tile: tuple[int, ...]
    mma: tuple[int, int]
    order: tuple[int, ...]
    element: ElementType
    major: Major
    swizzle: SwizzleMode
    atom: Layout | ComposedLayout
    smem_tile: Layout | ComposedLayout
    partitioned: Layout | ComposedLayout
    recast: Layout | ComposedLayout
    match: Match
    advance: Layout | ComposedLayout
    descriptor: SmemDescriptor
    operand: Matrix | None = None
    instruction: str = "mma"
    capacity: int | None = SMEM_BYTES
    crossing: Crossing | None = None

    @property
    def headline(self) -> str:
        """The derivation in one line."""
        return (
            f"{word_text(self.descriptor.encode())}: {self.arch} descriptor of {extents_text(self.mma)} {self.element} "
            f"{self.major}-major {self.swizzle} out of a {extents_text(self.tile)} tile"
        )

    @property
    def canonical(self) -> Layout:
        """Step 4: one operand as ``((chunk, rest), (chunk, rest))``, in 16-byte units."""
        return self.match.layout

    @property
    def arch(self) -> Arch:
        """The architecture of the descriptor."""
        return self.descriptor.arch

    @property
    def evidence(self) -> str:
        """How the read model is known for an operand of the tile."""
        absolute = self.descriptor.leading_is_absolute
        if self.instruction != "mma":
            return evidence(self.arch, self.element, self.major, absolute=absolute)
        return read_evidence(self.arch, self.element, self.major, self.swizzle, self.mma, absolute=absolute)

    @property
    def dont_care(self) -> tuple[str, ...]:
        """The descriptor fields without effect for this operand."""
        return tuple(name for name in self.match.dont_care if self.crossing is None or name != LEADING)

    @property
    def transposed(self) -> bool:
        """Whether the transpose bit of the instruction must be set, because the operand is MN-major.

        A descriptor does not store the major, so it is correct only with this bit.
        Source: :mod:`descriptors.smem.words.descriptor`.

        >>> from descriptors import derive
        >>> derive(tile=(64, 64), dtype="bf16", major="MN", swizzle="128B", mma=(64, 16), arch="sm90").transposed
        True
        """
        return self.major is Major.MN and self.instruction == "mma"

    def dont_care_mask(self) -> int:
        """Return the bits of the word to ignore in a comparison with another tool's word.

        They are the fields that are not read, and the bits of the base offset above the period of the swizzle: the
        pattern of 32B repeats after 2 lines, which need one bit of the base offset; that of 64B needs two bits. With an
        absolute leading byte address, PTX requires a base offset of 0.
        Source: PTX ISA 9.1, matrix descriptor, base offset; measured on sm90.

        >>> from descriptors import derive
        >>> hex(derive((64, 64), "bf16", "MN", "64B", (64, 16)).dont_care_mask())
        '0x8000000000000'
        """
        word, mask = self.descriptor.word, self.descriptor.word.mask(self.dont_care)
        if self.crossing is not None:
            return mask
        lines = max(1, self.swizzle.period_bytes // LINE_BYTES)
        return mask | word[BASE].mask & -(lines << word[BASE].low)

    def descriptor_at(self, base: int) -> SmemDescriptor:
        """Return the descriptor of the first subtile of a tile at an address, where the swizzle pattern starts too.

        Args:
            base: address of the tile, in bytes. If it is not aligned to the pattern, the base offset is set.

        Raises:
            DescriptorError: if the tile ends beyond shared memory (unless ``capacity`` is None), or the address is not
                a multiple of 16 bytes, of 128 with a swizzle, or of 1024 for operands that cross atoms, for which PTX
                requires base offset 0.

        Source: PTX ISA 9.1, tcgen05 and wgmma matrix descriptors, base offset: (pattern start >> 7) & 7.

        >>> from descriptors import derive
        >>> d = derive(tile=(128, 128), dtype="bf16", major="K", swizzle="128B", mma=(64, 16))
        >>> d.descriptor_at(0x1080).base_offset, d.descriptor_at(0x1400).base_offset
        (1, 0)
        """
        if base == 0 and type(base) is int and not self.descriptor.base_offset:
            return self.descriptor
        first, base = self.descriptor, as_integer(base, "derive: the base address")
        if self.capacity is not None:
            reach = self.advance_report()
            if (end := base + reach.end) > self.capacity:
                raise DescriptorError(
                    f"derive: the tile at base {base} ends at {end}, beyond the {self.capacity} bytes of shared "
                    f"memory; the highest aligned base is {reach.highest_base or 0}"
                )
        self._check_multiple(base)
        rows = base // LINE_BYTES % 8 if base % self.swizzle.alignment_bytes else 0
        line = first.leading_byte_offset + (base if self.crossing else 0)
        return replace(first, start_address=first.start_address + base, base_offset=rows, leading_byte_offset=line)

    def _check_multiple(self, base: int) -> None:
        """Check that an address has the alignment that a descriptor of this tile can express."""
        step, why = 16 if self.swizzle is SwizzleMode.NONE else LINE_BYTES, ""
        if self.crossing is not None:
            step, why = self.swizzle.alignment_bytes, "; base_offset must be 0, because operands cross atoms"
        if base % step:
            raise DescriptorError(f"derive: the base address {base} is not a multiple of {step} bytes{why}")

    def words(self, base: int = 0, stage: int | Sequence[int] | None = None) -> Grid:
        """Return the descriptor word of every subtile of a tile at an address, in the shape of ``offsets_bytes``.

        Invariant: ``smem_word(arch).decode`` of a word gives the fields of ``descriptor_at(base)``, with the subtile's
        offset added to the start address.

        Args:
            base: address of the tile, in bytes.
            stage: as in ``offsets_bytes``.

        Raises:
            DescriptorError: as ``descriptor_at``; FieldError if a subtile starts beyond its field.

        >>> from descriptors import derive
        >>> hex(derive(tile=(128, 128), dtype="bf16", major="K", swizzle="128B", mma=(64, 16)).words()[0][2])
        '0x4000404000010004'
        """
        first = self.descriptor_at(base)
        if self.crossing is not None:
            return cast(
                Grid, mapped(partial(_word_further_on, first), self.offsets_bytes(stage), self.lines_bytes(stage))
            )
        # The start address is the lowest field. If every start fits in it, its offsets can be added to the word.
        word, lowest, room = first_word(first)
        steps, at = self._steps(stage)
        lowest = highest = lowest + at
        for mode in steps:
            lowest += mode.lowest
            highest += mode.highest
        if lowest >= 0 and highest <= room:
            return cast(Grid, sums([mode.listed for mode in steps], word + at))
        if not (report := self.advance_report(base)).fits_field:
            raise FieldError(f"derive: {report}", "start_address")
        offsets = self.offsets_bytes(stage)  # encoding one of them raises the error
        return cast(Grid, mapped(lambda offset: first.at(first.start_address + offset).encode(), offsets))

    def word(self, mn: int, k: int, stage: int | Sequence[int] = 0, base: int = 0) -> int:
        """Return the descriptor word of a subtile of a tile at an address.

        Invariant: ``d.word(mn, k, stage, base)`` is ``d.words(base, stage)[mn][k]``.

        Args:
            mn, k: coordinate of the subtile.
            stage: its stage, as in ``offsets_bytes``; 0 for a tile without stages.
            base: address of the tile, in bytes.

        Raises:
            DescriptorError: if there is no such subtile, or as ``words``.

        >>> from descriptors import derive
        >>> d = derive(tile=(128, 64, 4), dtype="bf16", major="K", swizzle="128B", mma=(64, 16), arch="sm90")
        >>> hex(d.word(0, 2, stage=3))
        '0x4000004000010c04'
        """
        return _word_further_on(self.descriptor_at(base), self.offset_of(mn, k, stage), self.line_of(mn, k, stage))

    def advance_report(self, base: int = 0) -> AdvanceReport:
        """Report whether every subtile's start fits its field, and all subtiles are within shared memory.

        Args:
            base: address of the tile, in bytes; the tile may end beyond shared memory.

        Raises:
            DescriptorError: if the address is not aligned as ``descriptor_at`` requires.
        """
        self._check_multiple(as_integer(base, "derive: the base address"))
        return advance_report(
            self.advance,
            base=base,
            start=self.descriptor.start_address,
            reach=16 * cosize(self.canonical),
            span=self.swizzle.span_bytes,
            alignment=self.swizzle.alignment_bytes,
            capacity=shared_bytes(self.arch) if self.capacity is None else self.capacity,
            window=window_bytes(self.arch),
        )

    def warnings_at(self, base: int = 0) -> tuple[str, ...]:
        """Return the warnings for a tile at an address: probable mistakes although its descriptors read it.

        Args:
            base: address of the tile, in bytes.

        Raises:
            DescriptorError: as ``descriptor_at``.

        >>> from descriptors import derive
        >>> d = derive(tile=(128, 128), dtype="bf16", major="K", swizzle="128B", mma=(64, 16), capacity=None)
        >>> [len(d.warnings_at(base)) for base in (0, 128, 1024, 204800, 204928)]
        [0, 1, 0, 1, 2]
        """
        self.descriptor_at(base)  # raises for an address that no tile can have
        reach = self.advance_report(base)
        warnings = list(filter(None, [pattern_warning(base, self.swizzle, at_tile=True)]))
        if not (reach.fits_field and reach.fits_memory):
            warnings.append(str(reach))
        if shared := _count_shared(plain(self.smem_tile)):
            warnings.append(f"{shared} share an address with another one, as strides of the layout are 0 or overlap")
        return tuple(warnings)


#: The largest number of elements that are compared one by one.
_MOST_COUNTED = 1 << 22


@lru_cache(maxsize=32)
def _count_shared(layout: Layout) -> str:
    """Return how many elements share their offset with another one, as text; "" if none does.

    >>> _count_shared(Layout((8, 2), (2, 1))), _count_shared(Layout((8, 2), (1, 7))), _count_shared(Layout(4, 0))
    ('', '2 elements', '4 elements')
    """
    steps = sorted((abs(leaf(1)), size(leaf)) for leaf in flatten(layout) if size(leaf) > 1)
    reach = 0
    for stride, extent in steps:
        if stride <= reach:
            break
        reach += stride * (extent - 1)
    else:
        return ""
    if size(layout) > _MOST_COUNTED:
        return "elements"
    offsets = [0]
    for stride, extent in steps:
        offsets = [offset + i * stride for i in range(extent) for offset in offsets]
    shared = sum(count for count in Counter(offsets).values() if count > 1)
    return counted(shared, "element") if shared else ""


def first_word(descriptor: SmemDescriptor) -> tuple[int, int, int]:
    """Return the word of a descriptor, its start address, and the largest start address, in units of the field.

    Raises:
        FieldError, ChoiceError: as ``SmemDescriptor.encode``.

    >>> first_word(SmemDescriptor("sm90", 16, 1024, SwizzleMode.B128, 64))
    (4611686293305360388, 4, 16383)
    """
    field = descriptor.word["start_address"]
    return descriptor.encode(), descriptor.start_address // field.unit, field.limit // field.unit


def _word_further_on(first: SmemDescriptor, start: int, line: int) -> int:
    """Return the word of ``first`` with ``start`` and ``line`` added to its two addresses, in bytes."""
    return replace(
        first, start_address=first.start_address + start, leading_byte_offset=first.leading_byte_offset + line
    ).encode()
