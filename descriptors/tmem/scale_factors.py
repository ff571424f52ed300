"""The scale factors of one operand on their whole way: memory, the copies, tensor memory, and which byte an MMA reads.

An instruction with ``f`` factors a row takes them from ``f`` bytes of a cell: K step j begins at factor ``j f``, in the
columns of block ``j f / 4`` and at byte ``j f % 4`` of them. The byte is the scale factor data id; it goes to bits 30
and 31 of the pointer, from where compilers move it into the instruction descriptor.
Source: PTX ISA 9.1, tcgen05, Scale Factor A ID and B ID; CuTe DSL 4.8.1, whose compiler emits those shifts (NVIDIA's
code).

Law: the K steps of a tile read its factors one after the other, each once.

>>> for vector, step, count in ((32, 32, 1), (32, 64, 2), (16, 64, 4)):
...     found = scale_factors(128, 4 * step, vector, step=step)
...     ids = [place.byte for place in found.places]
...     assert ids == [count * j % 4 for j in range(4)] and [p.column for p in found.places] == [
...         count * j // 4 * 4 for j in range(4)
...     ], vector
"""

from __future__ import annotations

from typing import NamedTuple

from descriptors.errors import DescriptorError, as_flag, as_integer
from descriptors.frozen import frozen
from descriptors.text import Told
from descriptors.tmem.copied import Landing, Step, prove_landing
from descriptors.tmem.geometry import address_of
from descriptors.tmem.scale_cells import FACTORS, as_vector, check_halves, padded_rows, scale_cells, scale_cells_of_64
from descriptors.tmem.scale_product import COPY, COPY_OF_HALVES, copy_steps, memory_bytes, scale_memory
from descriptors.tmem.tmem_fragment import TmemFragment
from layoutalg import Layout, composition, make_layout, size


class Place(NamedTuple):
    """Where an instruction's factors begin: columns from those of the scale factors, and the byte of the cell."""

    column: int
    byte: int

    def pointer(self, first: int) -> int:
        """The address that the instruction is given, where the scale factors begin at a column.

        >>> hex(Place(4, 2).pointer(8))
        '0x8000000c'
        """
        return address_of(0, first + self.column, self.byte)


@frozen
class ScaleFactors(Told):
    """The scale factors of one operand of a tile.

    Args:
        mn: rows, not padded.
        k: elements along K.
        vector: elements that share a factor.
        memory: from (mn, k) to a byte of memory.
        cells: from (mn, k, copy) to a byte of tensor memory.
        copy: shape and multicast of the copies.
        steps: the copies, from address 0 of shared memory.
        places: what each K step of an instruction reads.
    """

    mn: int
    k: int
    vector: int
    memory: Layout
    cells: TmemFragment
    copy: str
    steps: tuple[Step, ...]
    places: tuple[Place, ...]

    @property
    def headline(self) -> str:
        """The answer in one line."""
        return (
            f"scale factors of {self.mn} rows, K {self.k} by {self.vector}: {self.bytes} bytes, {self.columns} columns"
        )

    @property
    def bytes(self) -> int:
        """Bytes of memory, padding included."""
        return memory_bytes(self.mn, self.k, self.vector)

    @property
    def columns(self) -> int:
        """Columns that are read or written."""
        return max([self.cells.columns, *(step.column + FACTORS for step in self.steps)])

    @property
    def evidence(self) -> str:
        """How it is known."""
        return self.cells.evidence

    def verify(self) -> Landing:
        """Prove that each factor lands in its bytes of tensor memory.

        >>> print(scale_factors(128, 64, 16).verify())
        proved: 8192 elements, 262144 bits of tensor memory, written by 1 copy
        """
        rows = composition(self.memory[0], Layout(self.cells.layout[0].shape))  # 64 of 128 may be read
        depth = composition(self.memory[1], Layout(size(self.cells.layout[1])))
        return prove_landing(make_layout(rows, depth), 8, self.cells, self.copy, self.steps)


def scale_factors(
    mn: int, k: int, vector: int, *, step: int | None = None, of_64: bool = False, halves: bool = False, base: int = 0
) -> ScaleFactors:
    """The scale factors of one operand of a tile.

    Args:
        mn: rows: M of the CTA, or all of N.
        k: elements along K.
        vector: elements that share a factor: 16 or 32.
        step: K of one instruction; four factors' worth if left out.
        of_64: whether they are those of A where a CTA of a pair has 64 rows, of which the 2x2 arrangement reads 64.
        halves: whether they are those of B in that arrangement, whose halves lie apart; shared memory then has the
            blocks of one K side by side, as CUTLASS has it.
        base: their address in shared memory, in bytes.

    Raises:
        DescriptorError: if a number is malformed, or they do not fit.

    >>> print(scale_factors(128, 64, 16).headline)
    scale factors of 128 rows, K 64 by 16: 512 bytes, 4 columns
    """
    halves = as_flag(halves, "scale factors: halves")
    memory, vector = scale_memory(mn, k, vector, rows_first=halves), as_vector(vector)
    rows = 64 if as_flag(of_64, "scale factors: of_64") else padded_rows(mn, halves=halves)
    if of_64 and mn != 64:
        raise DescriptorError(f"scale factors: a CTA must have 64 rows there, found {mn}")
    if halves:
        check_halves(mn, "scale factors")
    depth = FACTORS * vector if step is None else as_integer(step, "scale factors: K of a step", minimum=1)
    if depth % vector or FACTORS * vector % depth:
        rule = f"scale factors: K of a step must be 1, 2 or 4 times {vector}"
        raise DescriptorError(f"{rule}, found {depth}")
    if k % depth:
        raise DescriptorError(f"scale factors: K must be a multiple of {depth}, found {k}")
    cells = scale_cells_of_64(k, vector) if of_64 else scale_cells(rows, k, vector, halves=halves)
    steps = copy_steps(rows if halves else mn, k, vector, rows=rows, base=base, halves=halves)
    count, wide = depth // vector, rows // (64 if halves else 32)
    places = tuple(Place(count * j // FACTORS * wide, count * j % FACTORS) for j in range(k // depth))
    return ScaleFactors(mn, k, vector, memory, cells, COPY_OF_HALVES if halves else COPY, steps, places)
