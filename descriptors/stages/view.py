"""What is looked at: a tile, one of its elements, and how the picture is to be coloured.

Law: the subtile of an element is the one whose block of the tile it lies in.

>>> from descriptors import derive
>>> view = View(derive((128, 128), "bf16", "K", "128B", (64, 16)), cell=(70, 21))
>>> view.subtile, view.inside
((1, 1), (6, 5))
"""

from __future__ import annotations

from descriptors.derivation.parts.derivation import Derivation
from descriptors.errors import ChoiceError, DescriptorError, as_integer
from descriptors.frozen import frozen
from descriptors.pictures.parts.anatomy import Anatomy, Pair
from descriptors.text import extents_text, tuple_text
from layoutalg import Layout

#: What the colour of a cell can be.
COLOURS = ("order", "bank", "column", "atom", "subtile", "chunk", "wrong")
#: The borders that can be drawn.
LEVELS = ("tile", "atom", "subtile", "chunk")
#: What is read at once, besides a layout of threads and values.
ACCESSES = ("chunk", "row", "matrices")
#: Bytes of a piece, the least that a swizzle moves.
PIECE = 16


@frozen
class View:
    """A tile and how it is looked at.

    Args:
        derivation: the tile.
        cell: the chosen element (MN, K).
        stage: which of its stages.
        base: address of the tile, in bytes.
        colour: one of ``COLOURS``.
        levels: which of ``LEVELS`` have borders.
        swizzled: whether places are those after the swizzle.
        banks: banks in a line of shared memory.
        bank_bytes: bytes of a bank.
        slot: a place in the lines of shared memory, in pieces of 16 bytes, that is read down the lines; None for none.
        access: one of ``ACCESSES``.
        lanes: (threads, values) to an index into the tile, instead of ``access``.
        access_bytes: bytes that each of those threads moves.
        word: a word to compare with that of the chosen subtile; None for none.
        across: M or N of the instruction, whichever the tile does not say.
        load: the shape of the loads that read an accumulator.

    Raises:
        DescriptorError: if there is no such element, stage or bank.
        ChoiceError: for another colour, level or access.
    """

    derivation: Derivation
    cell: Pair = (0, 0)
    stage: int = 0
    base: int = 0
    colour: str = "order"
    levels: tuple[str, ...] = ("tile", "atom", "subtile")
    swizzled: bool = True
    banks: int = 32
    bank_bytes: int = 4
    slot: int | None = None
    access: str = "chunk"
    lanes: Layout | None = None
    access_bytes: int = 16
    word: int | None = None
    across: int = 64
    load: str = "32x32b"

    def __post_init__(self) -> None:
        for what, value, known in (
            ("colour", self.colour, COLOURS),
            ("access", self.access, ACCESSES),
            *(("a level", level, LEVELS) for level in self.levels),
        ):
            if value not in known:
                raise ChoiceError(f"explore: {what}", value, known)
        _ = self.anatomy.stage_coordinate  # refuses a stage that the tile does not have
        extents = self.anatomy.extents
        if not all(0 <= one < extent for one, extent in zip(self.cell, extents, strict=True)):
            raise DescriptorError(
                f"explore: the cell must be an element of the tile of {extents_text(extents)}, found "
                f"{tuple_text(self.cell)}"
            )
        as_integer(self.banks, "explore: the number of banks", minimum=1, maximum=128)
        as_integer(self.bank_bytes, "explore: the bytes of a bank", minimum=1, maximum=64)
        if self.line_bytes % PIECE or self.line_bytes > 1024:
            raise DescriptorError(
                f"explore: a line of banks must be a multiple of {PIECE} bytes up to 1024, found {self.banks} banks of "
                f"{self.bank_bytes}"
            )
        if self.slot is not None:
            as_integer(self.slot, "explore: the slot", maximum=self.line_bytes // PIECE - 1)

    @property
    def anatomy(self) -> Anatomy:
        """The parts of the stage that is looked at."""
        return Anatomy(self.derivation, self.stage)

    @property
    def line_bytes(self) -> int:
        """Bytes of a line: all banks once."""
        return self.banks * self.bank_bytes

    @property
    def subtile(self) -> Pair:
        """The subtile in which the element lies."""
        (i, k), (mn, depth) = self.cell, self.derivation.mma
        return i // mn, k // depth

    @property
    def inside(self) -> Pair:
        """Where in the subtile it lies."""
        (i, k), (mn, depth) = self.cell, self.derivation.mma
        return i % mn, k % depth
