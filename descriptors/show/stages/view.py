"""A view of a tile: the tile, a chosen element, and the options of its pictures.

A picture shows the tile in pieces of 16 bytes, each with a number that selects its color.

Invariants: the subtile of an element is the block of the tile that contains the element. Each piece has a number in
every color mode; in the mode "column" it is the index of the piece along the contiguous dimension.

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

#: The color modes of a cell.
COLOURS = ("column", "order", "bank", "atom", "subtile", "chunk")
#: The borders that can be drawn.
LEVELS = ("tile", "atom", "subtile", "chunk")
#: The accesses that can be drawn, besides a layout of threads and values.
ACCESSES = ("chunk", "row", "matrices")
#: The contents of tensor memory that can be drawn.
LYING = ("accumulator", "loads", "allocation", "copy", "scale factors")
#: Bytes of a piece, the smallest unit that a swizzle moves.
PIECE = 16


@frozen
class View:
    """A tile, a chosen element and the options of its pictures.

    Args:
        derivation: the tile.
        cell: the chosen element (MN, K).
        stage: the stage of the tile.
        base: address of the tile, in bytes.
        colour: one of ``COLOURS``.
        levels: the members of ``LEVELS`` that have borders.
        swizzled: whether memory is shown after the swizzle.
        banks: number of banks in a line of shared memory.
        bank_bytes: bytes of a bank.
        slot: the 16-byte column of shared memory that is read, line by line; None for none.
        access: one of ``ACCESSES``.
        lanes: layout from (threads, values) to an index into the tile, instead of ``access``.
        access_bytes: bytes that each of those threads moves.
        word: a descriptor to compare with that of the chosen subtile; None for none.
        across: M or N of the instruction, the one that the tile does not determine.
        load: the shape of the loads that read an accumulator.
        lying: one of ``LYING``, the content of tensor memory that is shown.

    Raises:
        DescriptorError: if the tile has no such element or stage, or the banks or the slot are not supported.
        ChoiceError: for an unknown color mode, level, access or content.
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
        for subject, value, known in (
            ("colour", self.colour, COLOURS),
            ("access", self.access, ACCESSES),
            ("lying", self.lying, LYING),
            *(("a level", level, LEVELS) for level in self.levels),
        ):
            if value not in known:
                raise ChoiceError(f"explore: {subject}", value, known)
        _ = self.anatomy.stage_coordinate  # refuses a stage that the tile does not have
        extents = self.anatomy.extents
        if not all(0 <= index < extent for index, extent in zip(self.cell, extents, strict=True)):
            raise DescriptorError(
                f"explore: the cell is {tuple_text(self.cell)}, which is not an element of the {extents_text(extents)} "
                "tile"
            )
        as_integer(self.banks, "explore: the number of banks", minimum=1, maximum=128)
        as_integer(self.bank_bytes, "explore: the bytes of a bank", minimum=1, maximum=64)
        if self.line_bytes % PIECE or self.line_bytes > 1024:
            raise DescriptorError(
                f"explore: {self.banks} banks of {self.bank_bytes} bytes are {self.line_bytes} bytes, which is not a "
                f"multiple of {PIECE} up to 1024"
            )
        if self.slot is not None:
            as_integer(self.slot, "explore: the slot", maximum=self.line_bytes // PIECE - 1)

    @property
    def anatomy(self) -> Anatomy:
        """The parts of the stage."""
        return Anatomy(self.derivation, self.stage)

    @property
    def line_bytes(self) -> int:
        """Bytes of a line, which contains each bank once."""
        return self.banks * self.bank_bytes

    @property
    def subtile(self) -> Pair:
        """The subtile that contains the chosen element."""
        (i, k), (mn, depth) = self.cell, self.derivation.mma
        return i // mn, k // depth

    @property
    def inside(self) -> Pair:
        """The coordinate of the chosen element in its subtile."""
        (i, k), (mn, depth) = self.cell, self.derivation.mma
        return i % mn, k % depth


def element_address(view: View) -> tuple[int, int]:
    """Return the offset of the chosen element from the tile before and after the swizzle, in units of ``address_bits``.

    >>> from descriptors import derive
    >>> element_address(View(derive((128, 128), "bf16", "K", "128B", (64, 16)), cell=(11, 21)))
    (1450, 1434)
    """
    d = view.derivation
    rows, swizzle, offset = parts(d.smem_tile)
    row_offset = rows((*view.cell, *view.anatomy.stage_coordinate))
    assert isinstance(row_offset, int)
    unit = d.element.storage_bits // address_bits(d.element)
    before = offset + row_offset
    return before * unit, (swizzle(before) if swizzle else before) * unit


Numbers = list[list[int]]


def places(view: View) -> Numbers:
    """Return the byte offset of each piece of the stage from the tile. The lists are cached: do not change them."""
    return _places(view.derivation, view.stage, view.swizzled)


@lru_cache(maxsize=8)
def _places(derivation: Derivation, stage: int, swizzled: bool) -> Numbers:
    """Return the offsets, which do not depend on the chosen element and are computed once."""
    return Anatomy(derivation, stage).pieces(swizzled=swizzled)


def column_of(view: View, row: int, column: int) -> int:
    """Return the index of a piece along the contiguous dimension, in units of 16 bytes."""
    return column if view.derivation.major is Major.K else row


def visible_colour(view: View) -> str:
    """Return the color mode that is shown: "wrong" if the descriptor reads a wrong address, else that of the view."""
    try:
        return "wrong" if misread(view) else view.colour
    except DescriptorError:  # no instruction can read this descriptor; the comparison gives the reason
        return view.colour


def kinds(view: View) -> Numbers:
    """Return the number that selects the color of each piece: rows along MN, columns along K."""
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
    """Return 1 for each piece with an element that the view's descriptor reads from a wrong address, else 0."""
    (mn, k), (u, v) = view.anatomy.extents, view.anatomy.unit
    marked = [[0] * (k // v) for _ in range(mn // u)]
    for i, j in misread(view):
        marked[i // u][j // v] = 1
    return marked


def misread(view: View) -> tuple[tuple[int, int], ...]:
    """Return the elements (MN, K) that the view's descriptor does not read from the address where they are stored.

    The swizzle pattern starts at the tile, or at address 0 if the descriptor agrees only with that.
    """
    if view.word is None:
        return ()
    wrong = _misread(view, view.base)
    return wrong if not wrong or _misread(view, 0) else ()


@lru_cache(maxsize=8)
def _misread(view: View, pattern_start: int) -> tuple[tuple[int, int], ...]:
    assert view.word is not None
    d, (high, deep), (i, j) = view.derivation, view.derivation.mma, view.subtile
    stored = stored_rows(
        d.smem_tile, d.element, base=view.base, pattern_start=pattern_start, window=window_bytes(d.arch)
    )
    block = [row[j * deep : (j + 1) * deep] for row in stored[i * high : (i + 1) * high]]
    for stage in view.anatomy.stage_coordinate:
        block = [[stages[stage] for stages in row] for row in block]
    word = with_version(view.word, d.arch)
    read = fetched_rows([word], arch=d.arch, element=d.element, major=d.major, shape=d.mma)[0]
    elements = product(range(high), range(deep))
    return tuple((i * high + a, j * deep + b) for a, b in elements if block[a][b] != read[a][b])


def roles(view: View, numbers: Sequence[Sequence[int]]) -> list[list[str | None]]:
    """Return the fill role of each piece."""
    if visible_colour(view) == "wrong":
        return [["c7" if number else "r1" for number in row] for row in numbers]
    if view.colour in ("order", "subtile"):
        count = max(map(max, numbers)) + 1
        return [[Figure.step(number, count) for number in row] for row in numbers]
    return [[Figure.kind(number) for number in row] for row in numbers]
