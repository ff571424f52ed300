"""Whether copies land in tensor memory where they shall: the proof of a chain, bit by bit.

The chain is shared memory -> descriptor word -> ``tcgen05.cp`` -> tensor memory. On the side of the hardware the read
model says where the bytes of a copy's source are, by its word alone, and the landing model which cells they are written
to. On the side of the algebra one layout says where an element is stored in shared memory, another in which cells it
shall lie. The two sides meet only here.

Law: a chain is proved, and is so no longer when one of its words names another place.

>>> from descriptors.tmem.scale_cells import scale_cells
>>> memory, cells = Layout(((32, 4), (16, 4)), ((16, 4), (0, 1))), scale_cells(128, 64, 16)
>>> good = Step(0x0000400800010000, 0)
>>> [prove_landing(memory, 8, cells, "32x128b.warpx4", [step]).ok for step in (good, Step(good.word + 1, 0))]
[True, False]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from descriptors.errors import DescriptorError, as_integer, brief
from descriptors.smem.operands.operand import Major, as_element_type
from descriptors.smem.proof.addresses import evidence
from descriptors.smem.proof.read_model import read_addresses
from descriptors.text import counted, tuple_text
from descriptors.tmem.copies import tmem_copy
from descriptors.tmem.geometry import CELL_BITS, COLUMNS, LANES, Cell, weakest
from descriptors.tmem.landing_model import landing
from descriptors.tmem.tmem_fragment import TmemFragment
from layoutalg import ComposedLayout, Layout, offsets
from layoutalg.frozen import frozen

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Step(NamedTuple):
    """One copy: the word of its source, and where its address points, from that of the whole."""

    word: int
    column: int
    lane: int = 0


@frozen
class Landing:
    """The outcome of a proof.

    Args:
        elements: elements that must lie somewhere, copies not counted.
        bits: bits that were compared, copies counted.
        copies: instructions.
        wrong: bits that come from elsewhere, or from nowhere.
        first: the first of them: element, its cell, where its bit is stored and where that cell's comes from, in bits
            of shared memory; None if there is none.
        evidence: how the models are known.
    """

    elements: int
    bits: int
    copies: int
    wrong: int
    first: tuple[tuple[int, ...], Cell, int, int | None] | None
    evidence: str

    @property
    def ok(self) -> bool:
        """Whether each bit lands where it shall."""
        return not self.wrong

    def __str__(self) -> str:
        amount = f"{counted(self.elements, 'element')}, {counted(self.bits, 'bit')} of tensor memory"
        if self.first is None:
            return f"proved: {amount}, written by {self.copies} {'copy' if self.copies == 1 else 'copies'}"
        coordinate, cell, source, origin = self.first
        came = "nothing" if origin is None else f"bit {origin:#x}"
        place = f"lane {cell.lane}, column {cell.column}, bit {cell.bit}"
        where = f"element {tuple_text(coordinate)}, stored at bit {source:#x}, shall lie in {place}, which gets {came}"
        return f"disproved: {self.wrong} of {amount}; {where}"


def prove_landing(
    memory: Layout | ComposedLayout, bits: int, cells: TmemFragment, copy: str, steps: Sequence[Step]
) -> Landing:
    """Compare where every bit of tensor memory comes from with where its element is stored.

    Args:
        memory: from an element's coordinate to its place in shared memory, in elements; a swizzle counts absolutely, so
            that the tile must lie where its pattern starts.
        bits: bits of an element, in shared memory as in a cell.
        cells: from the same coordinate, and a copy where there are several, to its place in tensor memory.
        copy: shape and multicast of the copies.
        steps: the copies, in the order in which they are issued: what is written twice holds the last.

    Raises:
        DescriptorError: if the two layouts have other extents, or a copy leaves tensor memory.

    >>> from descriptors.tmem.scale_cells import scale_cells
    >>> memory = Layout(((32, 4), (16, 4)), ((16, 4), (0, 1)))
    >>> print(prove_landing(memory, 8, scale_cells(128, 64, 16), "32x128b.warpx4", [Step(0x0000400800010000, 0)]))
    proved: 8192 elements, 262144 bits of tensor memory, written by 1 copy
    """
    import numpy as np

    _check(memory, cells, steps)
    bits = as_integer(bits, "tmem cp: the bits of an element", minimum=1, maximum=CELL_BITS)
    sources = _sources(copy, steps)
    element_bits = np.asarray(offsets(memory), dtype=np.int64) * bits
    places = cells.cells().astype(np.int64)
    if element_bits.shape != places.shape[: element_bits.ndim]:
        raise DescriptorError(f"tmem cp: both layouts must have one shape, found {memory} and {cells.layout}")
    first_bits = element_bits.reshape(element_bits.shape + (1,) * (places.ndim - 1 - element_bits.ndim))
    first_bits = np.broadcast_to(first_bits, places.shape[:-1])
    wrong, first = 0, None
    for i in range(bits):
        origins = sources[places[..., 0], places[..., 1], places[..., 2] + i]
        differs = origins != first_bits + i
        wrong += int(np.count_nonzero(differs))
        if first is None and differs.any():
            at = tuple(int(one) for one in np.argwhere(differs)[0])
            source, (lane, column, bit) = int(origins[at]), (int(one) for one in places[at])
            first = (at, Cell(lane, column, bit + i), int(first_bits[at]) + i, None if source < 0 else source)
    model = evidence("sm100", as_element_type("u8"), Major.K)
    return Landing(element_bits.size, first_bits.size * bits, len(steps), wrong, first, weakest(cells.evidence, model))


def _check(memory: object, cells: object, steps: object) -> None:
    """Refuse what is no chain."""
    if not isinstance(memory, (Layout, ComposedLayout)) or not isinstance(cells, TmemFragment):
        raise DescriptorError(
            f"tmem cp: a chain must have a layout and a fragment, found {brief(memory)}, {brief(cells)}"
        )
    if not isinstance(steps, (tuple, list)) or not all(isinstance(step, Step) for step in steps):
        raise DescriptorError(f"tmem cp: the copies must be a sequence of Step, found {brief(steps)}")


def _sources(copy: str, steps: Sequence[Step]) -> NDArray[Any]:
    """For each bit of tensor memory the bit of shared memory that it was written from, -1 for none."""
    import numpy as np

    sources = np.full((LANES, COLUMNS, CELL_BITS), -1, dtype=np.int64)
    read_by = tmem_copy(copy)
    rows, row_bits = read_by.rows, read_by.bits
    for step in steps:
        fetched = read_addresses(step.word, dtype="u8", major="K", shape=(rows, row_bits // 8))
        bits_read = (8 * fetched.astype(np.int64))[:, :, None] + np.arange(8)
        words = bits_read.reshape(rows, row_bits // CELL_BITS, CELL_BITS)
        landed = landing(copy, lane=step.lane, column=step.column)
        if any(lane >= LANES or column >= COLUMNS for _, _, (lane, column) in landed):
            raise DescriptorError(f"tmem cp: a copy must end inside tensor memory, found {copy} at {step[1:]}")
        for row, word, (lane, column) in landed:
            sources[lane, column] = words[row, word]
    return sources
