"""Verify copies to tensor memory bit by bit: shared memory -> descriptor -> ``tcgen05.cp`` -> tensor memory.

Two descriptions are compared. In the first, the read model derives the source addresses of a copy from its descriptor,
and the landing model the cells to which it writes them. In the second, one layout gives the position of each element in
shared memory, another its intended cell. The two descriptions share no code.

Invariant: a correct copy is proved, and is disproved after its descriptor is changed to another address.

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
    """A copy: the descriptor of its source, and its target column and lane, relative to those of the whole matrix."""

    word: int
    column: int
    lane: int = 0


@frozen
class Landing:
    """The result of a verification.

    Args:
        elements: number of elements, not counting multicast copies.
        bits: number of compared bits, counting multicast copies.
        copies: number of instructions.
        wrong: number of bits of tensor memory that come from a wrong address, or that no copy writes.
        first: the first wrong bit: the element, its cell, the address of the element's bit, and the address from which
            the cell was written (None if it was not), in bits of shared memory; None if no bit is wrong.
        evidence: weakest grade of evidence of the models.
    """

    elements: int
    bits: int
    copies: int
    wrong: int
    first: tuple[tuple[int, ...], Cell, int, int | None] | None
    evidence: str

    @property
    def ok(self) -> bool:
        """Whether each bit is copied to its intended cell."""
        return not self.wrong

    def __str__(self) -> str:
        amount = f"{counted(self.elements, 'element')}, {counted(self.bits, 'bit')} of tensor memory"
        if self.first is None:
            return f"proved: {amount}, written by {self.copies} {'copy' if self.copies == 1 else 'copies'}"
        coordinate, cell, source, origin = self.first
        content = "nothing" if origin is None else f"bit {origin:#x}"
        place = f"lane {cell.lane}, column {cell.column}, bit {cell.bit}"
        element = f"element {tuple_text(coordinate)}, stored at bit {source:#x}"
        return f"disproved: {self.wrong} of {amount}; {element}, shall lie in {place}, which gets {content}"


def prove_landing(
    memory: Layout | ComposedLayout, bits: int, cells: TmemFragment, copy: str, steps: Sequence[Step]
) -> Landing:
    """Compare the source address of every bit of tensor memory with the address of its element.

    Args:
        memory: from an element's coordinate to its offset in shared memory, in elements; a swizzle applies to absolute
            addresses, so the tile must start at a multiple of the swizzle pattern.
        bits: bits per element, in shared memory and in a cell.
        cells: from the same coordinate, and the number of a copy if there are several, to a cell of tensor memory.
        copy: shape and multicast of the copies.
        steps: the copies, in issue order; if a bit is written twice, the last copy counts.

    Raises:
        DescriptorError: if the layouts have different extents, or a copy writes beyond tensor memory.

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
        raise DescriptorError(
            "tmem cp: the layouts in shared and in tensor memory have different shapes; "
            f"shared = {memory}, tensor = {cells.layout}"
        )
    first_bits = element_bits.reshape(element_bits.shape + (1,) * (places.ndim - 1 - element_bits.ndim))
    first_bits = np.broadcast_to(first_bits, places.shape[:-1])
    wrong, first = 0, None
    for i in range(bits):
        origins = sources[places[..., 0], places[..., 1], places[..., 2] + i]
        differs = origins != first_bits + i
        wrong += int(np.count_nonzero(differs))
        if first is None and differs.any():
            index = tuple(map(int, np.argwhere(differs)[0]))
            origin, (lane, column, bit) = int(origins[index]), map(int, places[index])
            first = (index, Cell(lane, column, bit + i), int(first_bits[index]) + i, None if origin < 0 else origin)
    model = evidence("sm100", as_element_type("u8"), Major.K)
    return Landing(element_bits.size, first_bits.size * bits, len(steps), wrong, first, weakest(cells.evidence, model))


def _check(memory: object, cells: object, steps: object) -> None:
    """Check the types of the arguments.

    Raises:
        DescriptorError: if an argument has another type.
    """
    if not isinstance(memory, (Layout, ComposedLayout)):
        raise DescriptorError(f"tmem cp: memory is {brief(memory)}, which is not a layout")
    if not isinstance(cells, TmemFragment):
        raise DescriptorError(f"tmem cp: cells is {brief(cells)}, which is not a TmemFragment")
    if not isinstance(steps, (tuple, list)) or not all(isinstance(step, Step) for step in steps):
        raise DescriptorError(f"tmem cp: steps is {brief(steps)}, which is not a sequence of Step")


def _sources(copy: str, steps: Sequence[Step]) -> NDArray[Any]:
    """Return for each bit of tensor memory the bit of shared memory from which it was written; -1 if it was not."""
    import numpy as np

    sources = np.full((LANES, COLUMNS, CELL_BITS), -1, dtype=np.int64)
    instruction = tmem_copy(copy)
    rows, row_bits = instruction.rows, instruction.bits
    for step in steps:
        fetched = read_addresses(step.word, dtype="u8", major="K", shape=(rows, row_bits // 8))
        bits_read = (8 * fetched.astype(np.int64))[:, :, None] + np.arange(8)
        words = bits_read.reshape(rows, row_bits // CELL_BITS, CELL_BITS)
        landed = landing(copy, lane=step.lane, column=step.column)
        if any(lane >= LANES or column >= COLUMNS for _, _, (lane, column) in landed):
            raise DescriptorError(
                f"tmem cp: {copy} at column {step.column}, lane {step.lane} writes beyond tensor memory, which has "
                f"{LANES} lanes and {COLUMNS} columns"
            )
        for row, word, (lane, column) in landed:
            sources[lane, column] = words[row, word]
    return sources
