"""What is looked at: a tile, one of its elements, and how the picture is to be coloured.

The tile is seen in pieces of 16 bytes, each with the number that colours it.
Laws: the subtile of an element is the one whose block of the tile it lies in; whatever the colour, each piece has a
number, by column the piece's own place along the contiguous dimension.

>>> from descriptors import derive
>>> d = derive((128, 128), "bf16", "K", "128B", (64, 16))
>>> view = View(d, cell=(70, 21))
>>> view.subtile, view.inside
((1, 1), (6, 5))
>>> [row[:3] for row in kinds(View(d, colour="column"))[:2]]
[[0, 1, 2], [0, 1, 2]]
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import product

from descriptors.errors import ChoiceError, DescriptorError, as_integer
from descriptors.show.pictures.anatomy import Anatomy, Pair
from descriptors.show.pictures.tile_picture import TilePicture
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.operands.operand import Major
from descriptors.smem.operands.swizzled import parts
from descriptors.smem.proof.addresses import address_bits, fetched_rows, stored_rows
from descriptors.smem.words.descriptor import window_bytes, with_version
from descriptors.text import extents_text, tuple_text
from layoutalg import Figure, Layout, bank_group
from layoutalg.frozen import frozen

#: What the colour of a cell can be.
COLOURS = ("column", "order", "bank", "atom", "subtile", "chunk")
#: The borders that can be drawn.
LEVELS = ("tile", "atom", "subtile", "chunk")
#: What is read at once, besides a layout of threads and values.
ACCESSES = ("chunk", "row", "matrices")
#: What of tensor memory is drawn.
LYING = ("accumulator", "loads", "allocation", "copy", "scale factors")
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
        lying: which of ``LYING`` is shown of tensor memory.

    Raises:
        DescriptorError: if there is no such element, stage or bank.
        ChoiceError: for another colour, level or access.
    """

    derivation: Derivation
    cell: Pair = (0, 0)
    stage: int = 0
    base: int = 0
    colour: str = "column"
    levels: tuple[str, ...] = ("tile", "atom")
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
    lying: str = "accumulator"

    def __post_init__(self) -> None:
        for what, value, known in (
            ("colour", self.colour, COLOURS),
            ("access", self.access, ACCESSES),
            ("lying", self.lying, LYING),
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


def element_address(view: View) -> tuple[int, int]:
    """Where the chosen element lies before the swizzle and after it, in the unit of ``address_bits``, from the tile on.

    >>> from descriptors import derive
    >>> element_address(View(derive((128, 128), "bf16", "K", "128B", (64, 16)), cell=(11, 21)))
    (1450, 1434)
    """
    d = view.derivation
    rows, swizzle, offset = parts(d.smem_tile)
    at = rows((*view.cell, *view.anatomy.stage_coordinate))
    assert isinstance(at, int)
    unit = d.element.storage_bits // address_bits(d.element)
    before = offset + at
    return before * unit, (swizzle(before) if swizzle else before) * unit


Numbers = list[list[int]]


def places(view: View) -> Numbers:
    """Where each piece of the stage lies, in bytes from the start of the tile; it is not to be changed."""
    return _places(view.derivation, view.stage, view.swizzled)


@lru_cache(maxsize=8)
def _places(derivation: Derivation, stage: int, swizzled: bool) -> Numbers:
    """What does not depend on the chosen element is computed once for all of them."""
    return Anatomy(derivation, stage).pieces(swizzled=swizzled)


def column_of(view: View, row: int, column: int) -> int:
    """The place of a piece along the contiguous dimension, which counts 16 bytes."""
    return column if view.derivation.major is Major.K else row


def visible_colour(view: View) -> str:
    """The colour that a view shows: ``wrong`` where its word reads something from elsewhere, whatever it asks for."""
    try:
        return "wrong" if misread(view) else view.colour
    except DescriptorError:  # a word that nobody can read; why not is said where it is compared
        return view.colour


def kinds(view: View) -> Numbers:
    """The number that colours each piece: rows of pieces along MN, columns along K."""
    if visible_colour(view) == "wrong":
        return wrong(view)
    if view.colour == "bank":
        return [[bank_group(place, view.line_bytes) for place in row] for row in places(view)]
    if view.colour == "column":
        grid = view.anatomy.extents[0] // view.anatomy.unit[0], view.anatomy.extents[1] // view.anatomy.unit[1]
        return [[column_of(view, i, j) for j in range(grid[1])] for i in range(grid[0])]
    numbers: Numbers = TilePicture(view.derivation, view.colour, view.stage).record()["kinds"]
    return numbers


def wrong(view: View) -> Numbers:
    """1 for each piece of the chosen subtile of which the view's word reads an element elsewhere, else 0."""
    (mn, k), (u, v) = view.anatomy.extents, view.anatomy.unit
    marked = [[0] * (k // v) for _ in range(mn // u)]
    for i, j in misread(view):
        marked[i // u][j // v] = 1
    return marked


def misread(view: View) -> tuple[tuple[int, int], ...]:
    """Return the elements (MN, K) of the tile that the view's word reads from elsewhere than where they are stored.

    The swizzle pattern starts at the tile, or at address 0 if the word agrees with that alone.
    """
    if view.word is None:
        return ()
    wrong = _misread(view, view.base)
    return wrong if not wrong or _misread(view, 0) else ()


@lru_cache(maxsize=8)
def _misread(view: View, pattern_start: int) -> tuple[tuple[int, int], ...]:
    assert view.word is not None
    d, (high, deep), (i, j) = view.derivation, view.derivation.mma, view.subtile
    whole = stored_rows(
        d.smem_tile, d.element, base=view.base, pattern_start=pattern_start, window=window_bytes(d.arch)
    )
    block = [row[j * deep : (j + 1) * deep] for row in whole[i * high : (i + 1) * high]]
    for stage in view.anatomy.stage_coordinate:
        block = [[one[stage] for one in row] for row in block]
    word = with_version(view.word, d.arch)
    read = fetched_rows([word], arch=d.arch, element=d.element, major=d.major, shape=d.mma)[0]
    at = product(range(high), range(deep))
    return tuple((i * high + a, j * deep + b) for a, b in at if block[a][b] != read[a][b])


def roles(view: View, numbers: Sequence[Sequence[int]]) -> list[list[str | None]]:
    """What each piece is filled with."""
    if visible_colour(view) == "wrong":
        return [["c7" if one else "r1" for one in row] for row in numbers]
    if view.colour in ("order", "subtile"):
        count = max(map(max, numbers)) + 1
        return [[Figure.step(one, count) for one in row] for row in numbers]
    return [[Figure.kind(one) for one in row] for row in numbers]
