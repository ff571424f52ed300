"""What a derivation yields: the record of every step, the descriptor in bytes, and where each subtile lies.

Law: the words of a tile are its first descriptor, moved by each offset and nothing else; where operands cross atoms,
the line in which K goes on moves too.

>>> from descriptors import derive
>>> d = derive((128, 128), "bf16", "MN", "64B", (64, 16))
>>> moved = [[d.descriptor_at(0x1080).at(0x1080 + offset).encode() for offset in row] for row in d.offsets_bytes()]
>>> d.words(0x1080) == tuple(map(tuple, moved))
True

Law: a table and its cells say the same, and a chosen stage is its part of the table.

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

from descriptors.errors import DescriptorError, FieldError, as_integer
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
from descriptors.text import Told, counted, extents_text, word_text
from layoutalg import ComposedLayout, Layout, cosize, flatten, size
from layoutalg.frozen import frozen, replace


class PlacedSubtiles(Told):
    """A derivation as far as places go: of step 5, and of operands that cross atoms, every cell and whole tables."""

    __slots__ = ()
    advance: Layout | ComposedLayout
    crossing: Crossing | None

    @property
    def headline(self) -> str:
        """The answer in one line."""
        raise NotImplementedError

    def offsets_bytes(self, stage: int | Sequence[int] | None = None) -> Grid:
        """Start address of every subtile relative to the first, in bytes: ``grid[mn][k]``.

        Of a tile with stages, ``grid[mn][k]`` is a tuple over the stages unless one is chosen; the type cannot say so.

        Args:
            stage: the stage whose subtiles are wanted: its number, or its coordinate where stages have several modes.

        Raises:
            DescriptorError: if there are more subtiles than any shared memory holds, or no such stage.

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
        """Where K goes on, of operands that cross atoms: the line of every subtile relative to that of the first.

        In bytes, in the shape of ``offsets_bytes``: the line of 128 bytes in which the operand's last 16 bytes of K
        lie in its first row, which is its own line where K does not go on in another. The words hold it as an absolute
        address.

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
            raise DescriptorError(f"derive: only operands that cross atoms go on in other lines, found {self.headline}")
        steps, start = self._steps(stage)
        rows, lines, *stages = [[16 * step for step in mode.listed] for mode in steps]
        return cast(Grid, sums([rows, list(map(self.crossing.line_bytes, range(len(lines)))), *stages], 16 * start))

    def offset_of(self, mn: int, k: int, stage: int | Sequence[int] = 0) -> int:
        """Start address of one subtile relative to the first, in bytes: one cell of ``offsets_bytes``.

        Args:
            mn, k, stage: as ``word`` has them.

        Raises:
            DescriptorError: if there is no such subtile.

        >>> from descriptors import derive
        >>> derive(tile=(128, 128), dtype="bf16", major="K", swizzle="128B", mma=(64, 16)).offset_of(1, 4)
        24576
        """
        modes = self._modes
        at = [
            as_integer(one, f"derive: {name} of a subtile", maximum=size(mode) - 1)
            for one, name, mode in ((mn, "mn", modes[0]), (k, "k", modes[1]))
        ]
        start = stage_bytes(modes[2:], stage) if len(modes) > 2 or stage != 0 else 0
        return 16 * sum(mode(one) for mode, one in zip(modes[:2], at, strict=True)) + start

    def line_of(self, mn: int, k: int, stage: int | Sequence[int] = 0) -> int:
        """Where K goes on of one subtile: one cell of ``lines_bytes``, in bytes; 0 where no operand crosses atoms.

        Args:
            mn, k, stage: as ``word`` has them.

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
        """The offsets of the subtiles along each mode, and what the stage adds that was chosen, in 16-byte units.

        A layout is the sum of its modes: each is walked once, not once for every step of those before it.
        """
        steps, many = list[Offsets](), 1
        if isinstance(self.advance, Layout):
            shape: Any = self.advance.shape
            stride: Any = self.advance.stride
            steps = list(map(mode_offsets, shape, stride))
        elif size(self.advance) <= MOST_SUBTILES:
            steps = [Offsets(one, min(one), max(one)) for one in map(_values, self._modes)]
        for mode in steps:
            many *= len(mode.listed)
        if not steps or not 0 < many <= MOST_SUBTILES:
            raise DescriptorError(f"derive: a table must list at most {MOST_SUBTILES} subtiles, found {self.advance}")
        if stage is None:
            return steps, 0
        return steps[:2], stage_bytes(self._modes[2:], stage) // 16


def _values(mode: Layout | ComposedLayout) -> tuple[int, ...]:
    return tuple([mode(i) for i in range(size(mode))])


@frozen
class Derivation(PlacedSubtiles):
    """Every step from a tile to its descriptors. Layouts with a swizzle are ``ComposedLayout``; ``plain`` strips it.

    Args:
        tile: extents (MN, K), then those of the stages if there are any, in elements.
        mma: extents (MN, K) of what one instruction reads, in elements.
        order: position of each tile mode in the stacking order of the atoms; () for an explicit layout.
        element: the element type.
        major: the contiguous dimension.
        swizzle: the swizzle mode.
        atom: the canonical atom, in elements.
        smem_tile: step 1, in elements.
        partitioned: step 2, in elements.
        recast: step 3, in 16-byte units.
        match: step 4: the canonical form with its layout, offsets and don't-cares.
        advance: step 5, in 16-byte units.
        descriptor: the descriptor of the first subtile of a tile at shared-memory address 0.
        operand: ``"A"`` or ``"B"``; None for either.
        instruction: ``"mma"``, or ``"tcgen05.cp.SHAPE"``: what reads the tile.
        capacity: bytes of shared memory that the tile was checked against; None if it was not.
        crossing: where operands go on that cross from one swizzle atom to the next; None of a tile whose operands do
            not. Where it is, steps 2 to 4 are of columns of 16 bytes of K.
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
        """The answer in one line."""
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
        """Descriptor fields that change nothing for this operand."""
        return tuple(name for name in self.match.dont_care if self.crossing is None or name != LEADING)

    @property
    def transposed(self) -> bool:
        """Whether the instruction must be told, by its transpose bit, that the operand is MN-major.

        The words do not hold the major, so that they are right only with this bit.
        Source: :mod:`descriptors.smem.words.descriptor`.

        >>> from descriptors import derive
        >>> derive(tile=(64, 64), dtype="bf16", major="MN", swizzle="128B", mma=(64, 16), arch="sm90").transposed
        True
        """
        return self.major is Major.MN and self.instruction == "mma"

    def dont_care_mask(self) -> int:
        """The bits of the word to ignore when it is compared with another tool's.

        Besides the fields that are not read, the bits of the base offset above the swizzle's pattern: of the 2 lines
        that 32B repeats after, the base offset says one bit, of 64B two. But where an absolute leading byte address is
        named, PTX wants a base offset of 0. Source: PTX ISA 9.1, matrix descriptor, base offset; on sm90 measured.

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
        """The descriptor of the first subtile of a tile at another address; the swizzle pattern starts with the tile.

        Args:
            base: address of the tile, in bytes. Away from the pattern's alignment the base offset is set.

        Raises:
            DescriptorError: if the tile ends beyond shared memory there (``capacity`` None allows that), or the address
                is no multiple of 16 bytes, or of 128 where there is a swizzle, or of 1024 where operands cross atoms:
                PTX wants base offset 0 there.

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
        """Refuse an address that is not aligned as every tile's must be."""
        step, why = 16 if self.swizzle is SwizzleMode.NONE else LINE_BYTES, ""
        if self.crossing is not None:
            step, why = self.swizzle.alignment_bytes, ", as base_offset must be 0 where operands cross atoms"
        if base % step:
            raise DescriptorError(f"derive: the base address must be a multiple of {step} bytes{why}, found {base}")

    def words(self, base: int = 0, stage: int | Sequence[int] | None = None) -> Grid:
        """The descriptor word of every subtile of a tile at an address, in the shape of ``offsets_bytes``.

        Law: ``smem_word(arch).decode`` of a word gives the fields of ``descriptor_at(base)`` moved by the subtile's
        offset.

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
        # Only the start address differs, the lowest field: where every start fits it, units are added to the word.
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
        offsets = self.offsets_bytes(stage)  # one of which is refused
        return cast(Grid, mapped(lambda offset: first.at(first.start_address + offset).encode(), offsets))

    def word(self, mn: int, k: int, stage: int | Sequence[int] = 0, base: int = 0) -> int:
        """The descriptor word of one subtile of a tile at an address.

        Law: ``d.word(mn, k, stage, base)`` is ``d.words(base, stage)[mn][k]``.

        Args:
            mn, k: which subtile.
            stage: its stage, as in ``offsets_bytes``; 0 of a tile without stages.
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
        """Report whether every subtile's start fits its field, and all that is read lies in shared memory.

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
            capacity=SMEM_BYTES if self.capacity is None else self.capacity,
            window=window_bytes(self.arch),
        )

    def warnings_at(self, base: int = 0) -> tuple[str, ...]:
        """Return what is probably a mistake about a tile at an address, although its descriptors read it.

        Args:
            base: address of the tile, in bytes.

        Raises:
            DescriptorError: as ``descriptor_at``.

        >>> from descriptors import derive
        >>> d = derive(tile=(128, 128), dtype="bf16", major="K", swizzle="128B", mma=(64, 16), capacity=None)
        >>> [len(d.warnings_at(base)) for base in (0, 128, 1024, 204800, 204928)]
        [0, 1, 0, 1, 2]
        """
        self.descriptor_at(base)  # refuses an address that no tile can have
        reach = self.advance_report(base)
        found = list(filter(None, [pattern_warning(base, self.swizzle, at_tile=True)]))
        if not (reach.fits_field and reach.fits_memory):
            found.append(str(reach))
        if shared := _count_shared(plain(self.smem_tile)):
            found.append(f"{shared} share an address with another one, as strides of the layout are 0 or overlap")
        return tuple(found)


#: The most elements of a layout that are counted.
_MOST_COUNTED = 1 << 22


@lru_cache(maxsize=32)
def _count_shared(layout: Layout) -> str:
    """Return how many elements share their offset with another one, in words; "" if none does.

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


def first_word(one: SmemDescriptor) -> tuple[int, int, int]:
    """The word of a descriptor, its start and the last one there is, in units of the field.

    Raises:
        FieldError, ChoiceError: as ``SmemDescriptor.encode``.

    >>> first_word(SmemDescriptor("sm90", 16, 1024, SwizzleMode.B128, 64))
    (4611686293305360388, 4, 16383)
    """
    field = one.word["start_address"]
    return one.encode(), one.start_address // field.unit, field.limit // field.unit


def _word_further_on(first: SmemDescriptor, start: int, line: int) -> int:
    """The word of an operand that begins, and goes on, so much further than the first."""
    return replace(
        first, start_address=first.start_address + start, leading_byte_offset=first.leading_byte_offset + line
    ).encode()
