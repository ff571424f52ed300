"""The scale factors of one operand on their whole way: memory, the copies, tensor memory, and which byte an MMA reads.

An instruction with ``f`` factors a row takes them from ``f`` bytes of a cell: K step j begins at factor ``j f``, in the
columns of block ``j f / 4`` and at byte ``j f % 4`` of them; what goes beyond byte 3 goes on in the next block, as the
six factors of K 96 do, and the eight of K 128. The byte is the scale factor data id; it goes to bits 30
and 31 of the pointer, from where compilers move it into the instruction descriptor.
Source: PTX ISA 9.1, tcgen05, Scale Factor A ID and B ID; CuTe DSL 4.8.1, whose compiler emits those shifts (NVIDIA's
code).

A factor of UE8M0 for 128 elements is one for 32, four times: four K steps name the same byte.

Law: the K steps of a tile read its factors one after the other, each once.

>>> for vector, step, count in ((32, 32, 1), (32, 64, 2), (16, 64, 4), (32, 96, 3), (16, 96, 6), (16, 128, 8)):
...     found = scale_factors(128, 4 * step, vector, step=step)
...     ids = [place.byte for place in found.places]
...     assert ids == [count * j % 4 for j in range(4)] and [p.column for p in found.places] == [
...         count * j // 4 * 4 for j in range(4)
...     ], vector

In memory, global or shared, they lie in 512-byte blocks of 128 rows by 4 factors:

    byte = ((x/128) nk + q/4) 512 + (x%32) 16 + ((x%128)/32) 4 + q%4

for row x and factor q = k / vector, with nk blocks along K: the block ``((32,4),(vec,4)):((16,4),(0,1))``, stacked
along K first. Rows are padded to 128, factors to 4. In shared memory CUTLASS stacks them along MN first, the CuTe DSL
along K, as in global memory; both are here. A block goes to tensor memory by one
``tcgen05.cp.32x128b.warpx4``, whose descriptor is that of 32 rows of 16 bytes without a swizzle, derived here as any
other is. Source: CUTLASS ``include/cutlass/detail/sm100_blockscaled_layout.hpp``; CuTe DSL
``utils/blockscaled_layout.py`` (NVIDIA's code); cuBLAS documentation, "1D Block Scaling Factors Layout".

Law: factors have bytes of their own, and fill the memory.

>>> layout = scale_memory(256, 128, 16)
>>> bytes_of = {layout(x, 16 * q) for x in range(256) for q in range(8)}
>>> bytes_of == set(range(memory_bytes(256, 128, 16)))
True
"""

from __future__ import annotations

from typing import NamedTuple

from descriptors.errors import DescriptorError, as_flag, as_integer
from descriptors.smem.derivation.derive import derive
from descriptors.text import Told
from descriptors.tmem.geometry import address_of
from descriptors.tmem.landing_proof import Landing, Step, prove_landing
from descriptors.tmem.scale_cells import (
    BLOCK_ROWS,
    FACTORS,
    as_vector,
    check_halves,
    padded_rows,
    scale_cells,
    scale_cells_of_64,
)
from descriptors.tmem.tmem_fragment import TmemFragment
from layoutalg import Layout, composition, make_layout, size, tile_to_shape
from layoutalg.frozen import frozen, replace

#: Bytes of a block: 128 rows by 4 factors.
BLOCK_BYTES = BLOCK_ROWS * FACTORS
#: Factors of a row that an instruction may take: of K 32, 64, 96 and 128 over the elements that share one.
COUNTS = (1, 2, 3, 4, 6, 8)
#: The copy of a block.
COPY = "32x128b.warpx4"
#: K of an instruction that takes one factor: several follow one another that take the same, of 128 elements.
REPEATED, REPEATED_STEP = 128, 32
#: That of two blocks along N, whose halves go to lanes 64 apart.
COPY_OF_HALVES = "64x128b.warpx2::01_23"


def scale_memory(mn: int, k: int, vector: int, *, rows_first: bool = False) -> Layout:
    """The scale factors of an operand in memory, as a layout (mn, k) -> byte, padded to whole blocks.

    Args:
        mn: rows.
        k: elements along K; ``vector`` of them share a factor.
        vector: 16, 32, 64 or 128.
        rows_first: whether blocks are stacked along MN first, as CUTLASS has it in shared memory; else along K.

    Raises:
        DescriptorError: if a number is malformed.

    >>> print(scale_memory(128, 64, 16), scale_memory(256, 128, 16))
    ((32,4),(16,4)):((16,4),(0,1)) (((32,4),2),((16,4),2)):(((16,4),1024),((0,1),512))
    >>> print(scale_memory(256, 128, 16, rows_first=True))
    (((32,4),2),((16,4),2)):(((16,4),512),((0,1),1024))
    """
    order = (1, 2) if as_flag(rows_first, "scale factors: rows_first") else (2, 1)
    size, rows, blocks = _blocks(mn, k, vector)
    block = Layout(((32, 4), (size, FACTORS)), ((16, 4), (0, 1)))
    if (rows, blocks) == (1, 1):
        return block
    tiled = tile_to_shape(block, (rows * BLOCK_ROWS, blocks * FACTORS * size), order)
    assert isinstance(tiled, Layout)
    return tiled


def memory_of_halves(n: int, k: int, vector: int) -> Layout:
    """The scale factors of B where the halves of N lie apart: a block of its own for each half, of one K side by side.

    Of N 256 that is ``scale_memory`` with ``rows_first``; of less the blocks have rows to spare.

    Args:
        n: N: 64, 128, 192 or 256.
        k, vector: as for ``scale_memory``.

    Raises:
        DescriptorError: if a number is malformed.

    >>> print(memory_of_halves(128, 256, 32))
    ((32,2,2),(32,4,2)):((16,4,512),(0,1,1024))
    """
    check_halves(n, "scale factors")
    size, _, blocks = _blocks(n, k, vector)
    return make_layout(
        Layout((32, n // 64, 2), (16, 4, BLOCK_BYTES)), Layout((size, FACTORS, blocks), (0, 1, 2 * BLOCK_BYTES))
    )


def memory_bytes(mn: int, k: int, vector: int) -> int:
    """Bytes that the scale factors take, padding included.

    >>> memory_bytes(8, 64, 16), memory_bytes(256, 128, 32)
    (512, 1024)
    """
    _, rows, blocks = _blocks(mn, k, vector)
    return rows * blocks * BLOCK_BYTES


def copy_steps(mn: int, k: int, vector: int, *, rows: int, base: int = 0, halves: bool = False) -> tuple[Step, ...]:
    """The copies that bring them to tensor memory, and the column of each, from that of the scale factors.

    Args:
        mn, k, vector: as for ``scale_memory``.
        rows: rows that a column of blocks stands for in tensor memory, as in ``scale_cells``.
        base: their address in shared memory, in bytes.
        halves: whether the halves of N go to lanes 64 apart; then a copy takes two blocks along N, which lie side by
            side: memory is that of ``rows_first``.

    Raises:
        DescriptorError: if the address is no multiple of 16, or out of reach.

    >>> [(hex(step.word), step.column) for step in copy_steps(128, 128, 16, rows=128)]
    [('0x400800010000', 0), ('0x400800010020', 4)]
    """
    _, groups, blocks = _blocks(mn, k, vector)
    base = as_integer(base, "scale factors: the address")
    wide = rows // (64 if halves else 32)
    steps = []
    for j in range(blocks):
        for i in range(groups // 2 if halves else groups):
            # The 64 rows of a copy have one step from 8 rows to the next, so that their two blocks must touch.
            first = j * groups + 2 * i if halves else i * blocks + j
            word = _descriptor(base + first * BLOCK_BYTES, halves)
            steps.append(Step(word, wide * j + 4 * i))
    return tuple(steps)


def _descriptor(address: int, halves: bool) -> int:
    """The word of one copy's source: 32 rows of 16 bytes, or 64 of two blocks."""
    layout, shape = Layout((64 if halves else 32, 16), (16, 1)), COPY_OF_HALVES if halves else COPY
    source = derive(layout=layout, dtype="u8", major="K", swizzle="none", cp=shape.partition(".")[0], verify=False)
    # Nobody reads LBO here, for a row is 16 bytes; CuTe writes 16, and so do we.
    return replace(source.descriptor_at(address), leading_byte_offset=16).encode()


def _blocks(mn: int, k: int, vector: int) -> tuple[int, int, int]:
    """The vector, and how many blocks there are along MN and K."""
    size = as_vector(vector)
    rows = padded_rows(as_integer(mn, "scale factors: MN", minimum=1, maximum=1 << 16)) // BLOCK_ROWS
    depth = as_integer(k, "scale factors: K", minimum=1, maximum=1 << 16)
    return size, rows, -(-depth // (FACTORS * size))


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
        group: columns of four factors of all rows.
        first: column of tensor memory where they begin.
    """

    mn: int
    k: int
    vector: int
    memory: Layout
    cells: TmemFragment
    copy: str
    steps: tuple[Step, ...]
    places: tuple[Place, ...]
    group: int = FACTORS
    first: int = 0

    @property
    def copies(self) -> tuple[Step, ...]:
        """The copies, with the columns of tensor memory."""
        return tuple(step._replace(column=self.first + step.column) for step in self.steps)

    @property
    def k_steps(self) -> tuple[Place, ...]:
        """What each K step reads, with the columns of tensor memory."""
        return tuple(place._replace(column=self.first + place.column) for place in self.places)

    @property
    def headline(self) -> str:
        """The answer in one line."""
        return (
            f"scale factors of {self.mn} rows, K {self.k} by {self.vector}: {self.bytes} bytes, {self.columns} columns"
        )

    @property
    def bytes(self) -> int:
        """Bytes of memory, padding included."""
        return memory_bytes(padded_rows(self.mn, halves=self.copy == COPY_OF_HALVES), self.k, self.vector)

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
        vector: elements that share a factor: 16, 32 or 64; or 128, which a step of 32 has to itself.
        step: K of one instruction; if left out four factors' worth, of vectors of 32 two or one where K is no multiple
            of that, of vectors of 128 always 32.
        of_64: whether they are those of A where a CTA of a pair has 64 rows, of which the 2x2 arrangement reads 64.
        halves: whether they are those of B in that arrangement, whose halves lie apart; memory then has the blocks of
            one K side by side, as CUTLASS has it in shared memory, each half in one of its own.
        base: their address in shared memory, in bytes.

    Raises:
        DescriptorError: if a number is malformed, or they do not fit.

    >>> print(scale_factors(128, 64, 16).headline)
    scale factors of 128 rows, K 64 by 16: 512 bytes, 4 columns
    """
    halves = as_flag(halves, "scale factors: halves")
    if halves:
        check_halves(mn, "scale factors")
    memory, vector = memory_of_halves(mn, k, vector) if halves else scale_memory(mn, k, vector), as_vector(vector)
    rows = 64 if as_flag(of_64, "scale factors: of_64") else padded_rows(mn, halves=halves)
    if of_64 and mn != 64:
        raise DescriptorError(f"scale factors: a CTA must have 64 rows there, found {mn}")
    counts = (4, 2, 1) if vector == 32 else (4,)  # K 128, 64 and 32 of an instruction; K 64
    most = next((count for count in counts if k % (count * vector) == 0), counts[-1]) * vector
    most = REPEATED_STEP if vector == REPEATED else most
    depth = most if step is None else as_integer(step, "scale factors: K of a step", minimum=1)
    if vector == REPEATED and depth != REPEATED_STEP:
        raise DescriptorError(
            f"scale factors: K of a step must be {REPEATED_STEP}, of kind mxf8f6f4, where {vector} elements share a "
            f"factor, found {depth}"
        )
    if vector != REPEATED and (depth % vector or depth // vector not in COUNTS):
        rule = f"scale factors: K of a step must be {', '.join(map(str, COUNTS[:-1]))} or {COUNTS[-1]} times {vector}"
        raise DescriptorError(f"{rule}, found {depth}")
    if k % depth:
        raise DescriptorError(f"scale factors: K must be a multiple of {depth}, found {k}")
    cells = scale_cells_of_64(k, vector) if of_64 else scale_cells(rows, k, vector)
    if halves:
        cells = scale_cells(mn, k, vector, halves=True, apart=rows // 64)
    steps = copy_steps(rows if halves else mn, k, vector, rows=rows, base=base, halves=halves)
    wide, firsts = rows // (64 if halves else 32), [j * depth // vector for j in range(k // depth)]
    places = tuple(Place(first // FACTORS * wide, first % FACTORS) for first in firsts)
    return ScaleFactors(mn, k, vector, memory, cells, COPY_OF_HALVES if halves else COPY, steps, places, wide)
