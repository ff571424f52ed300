"""What a derivation yields: the shared-memory descriptor with its fields in bytes, and the record of every step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace

from descriptors import sm90, sm100
from descriptors.bitfield import Word
from descriptors.canonical import Match
from descriptors.operand import ElementType, Major, SwizzleMode, as_swizzle_mode, choose
from layoutalg import ComposedLayout, Layout, size

#: The descriptor word of each architecture.
WORDS: Mapping[str, Word] = {"sm90": sm90.SMEM_DESCRIPTOR, "sm100": sm100.SMEM_DESCRIPTOR}

#: A nested table: a number, or a tuple of tables.
Table = int | tuple["Table", ...]


def architecture(value: object) -> str:
    """The architecture with this name: ``"sm90"`` (wgmma) or ``"sm100"`` (tcgen05).

    Raises:
        ChoiceError: if there is none.
    """
    return choose("derive: arch", value, {name: name for name in WORDS})


@dataclass(frozen=True, slots=True)
class SmemDescriptor:
    """What a tensor core is told about one operand in shared memory.

    Args:
        arch: ``"sm90"`` or ``"sm100"``.
        start_address: shared-memory address of the operand's first element, in bytes.
        leading_byte_offset: step of the canonical form's leading mode, in bytes.
        stride_byte_offset: step of the canonical form's stride mode, in bytes.
        swizzle: the swizzle mode.
        base_offset: rows by which the swizzle pattern starts before its natural alignment, 0 to 7.

    Law: ``WORDS[arch].decode(d.encode())`` gives back every field.

    Raises:
        ChoiceError: if the architecture or the swizzle mode is unknown.

    Source: as ``sm90`` and ``sm100``.

    >>> d = SmemDescriptor("sm100", leading_byte_offset=16, stride_byte_offset=1024, swizzle="128B")
    >>> hex(d.encode()), hex(d.at(64).encode())
    ('0x4000404000010000', '0x4000404000010004')
    """

    arch: str
    leading_byte_offset: int
    stride_byte_offset: int
    swizzle: SwizzleMode
    start_address: int = 0
    base_offset: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "arch", architecture(self.arch))
        object.__setattr__(self, "swizzle", as_swizzle_mode(self.swizzle))

    @property
    def word(self) -> Word:
        """The bit fields of this architecture's word."""
        return WORDS[self.arch]

    def encode(self) -> int:
        """The 64-bit word.

        Raises:
            FieldError: if an offset is no multiple of 16 bytes or too large for its field.
            ChoiceError: if the architecture has no code for the swizzle mode.
        """
        return self.word.encode({name: value for name, value in asdict(self).items() if name != "arch"})

    def at(self, start_address: int) -> SmemDescriptor:
        """The same descriptor for an operand that starts elsewhere, in bytes.

        The hardware reads the address modulo 2**18; the field is never allowed to carry into its neighbour.
        """
        return replace(self, start_address=start_address)


@dataclass(frozen=True, slots=True)
class Derivation:
    """Every step from a tile to its descriptors. Layouts with a swizzle are ``ComposedLayout``; ``plain`` strips it.

    Args:
        tile: extents (MN, K) or (MN, K, stages), in elements.
        mma: extents (MN, K) of what one instruction reads, in elements.
        order: position of each tile mode in the stacking order of the atoms.
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
    advance: Layout
    descriptor: SmemDescriptor

    @property
    def canonical(self) -> Layout:
        """Step 4: one operand as ``((chunk, rest), (chunk, rest))``, in 16-byte units."""
        return self.match.layout

    @property
    def arch(self) -> str:
        """The architecture of the descriptor."""
        return self.descriptor.arch

    @property
    def dont_care(self) -> tuple[str, ...]:
        """Descriptor fields that change nothing for this operand."""
        return self.match.dont_care

    def dont_care_mask(self) -> int:
        """The bits of the word to ignore when it is compared with another tool's."""
        return self.descriptor.word.mask(self.dont_care)

    def offsets_bytes(self) -> Table:
        """Start address of every subtile relative to the first, in bytes: ``table[mn][k]``, then stages if there are.

        >>> from descriptors import derive
        >>> derive(tile=(128, 128), dtype="bf16", major="K", swizzle="128B", mma=(64, 16)).offsets_bytes()[1]
        (8192, 8224, 8256, 8288, 24576, 24608, 24640, 24672)
        """
        return _table(tuple(self.advance), 0)

    def words(self) -> Table:
        """The descriptor word of every subtile of a tile at address 0, in the shape of ``offsets_bytes``."""
        return _map(lambda offset: self.descriptor.at(offset).encode(), self.offsets_bytes())


def _table(modes: tuple[Layout, ...], units: int) -> Table:
    if not modes:
        return units * 16
    first, rest = modes[0], modes[1:]
    return tuple(_table(rest, units + first(i)) for i in range(size(first)))


def _map(function: Callable[[int], int], table: Table) -> Table:
    return function(table) if isinstance(table, int) else tuple(_map(function, row) for row in table)
