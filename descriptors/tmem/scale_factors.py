"""Derive the scale factors of one operand: their memory layout, the copies, their cells, and the bytes each MMA reads.

An instruction with ``f`` factors per row reads them from ``f`` bytes of a cell: K step j starts at factor ``j f``, in
the columns of block ``j f / 4`` at byte ``j f % 4``. Factors beyond byte 3 continue in the next block; this happens to
the six factors of K 96 and the eight of K 128. The byte is the scale factor data id. It is stored in bits 30 and 31 of
the pointer, from which compilers move it into the instruction descriptor.
Source: PTX ISA 9.1, tcgen05, Scale Factor A ID and B ID; CuTe DSL 4.8.1, whose compiler emits those shifts (NVIDIA's
code).

A UE8M0 factor for 128 elements is used as four factors for 32 elements: four K steps name the same byte.

Invariant: the K steps of a tile read its factors in order, each once.

>>> for vector, step, count in ((32, 32, 1), (32, 64, 2), (16, 64, 4), (32, 96, 3), (16, 96, 6), (16, 128, 8)):
...     factors = scale_factors(128, 4 * step, vector, step=step)
...     ids = [place.byte for place in factors.places]
...     assert ids == [count * j % 4 for j in range(4)] and [p.column for p in factors.places] == [
...         count * j // 4 * 4 for j in range(4)
...     ], vector

In memory, global or shared, the factors are stored in 512-byte blocks of 128 rows by 4 factors:

    byte = ((x/128) nk + q/4) 512 + (x%32) 16 + ((x%128)/32) 4 + q%4

for row x and factor q = k / vector, with nk blocks along K: the block ``((32,4),(vec,4)):((16,4),(0,1))``, stacked
along K first. Rows are padded to 128, factors to 4. In shared memory CUTLASS stacks the blocks along MN first, the CuTe
DSL along K, as in global memory; both are supported. One ``tcgen05.cp.32x128b.warpx4`` copies a block to tensor memory;
its descriptor is that of 32 rows of 16 bytes without a swizzle, and ``derive`` derives it.
Source: CUTLASS ``include/cutlass/detail/sm100_blockscaled_layout.hpp``; CuTe DSL ``utils/blockscaled_layout.py``
(NVIDIA's code); cuBLAS documentation, "1D Block Scaling Factors Layout".

Invariant: no two factors share a byte, and together they fill the memory.

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
from layoutalg.frozen import frozen

#: Bytes per block: 128 rows by 4 factors.
BLOCK_BYTES = BLOCK_ROWS * FACTORS
#: Factors per row that an instruction may read: K 32, 64, 96 or 128 divided by the number of elements that share one.
COUNTS = (1, 2, 3, 4, 6, 8)
#: The copy of a block.
COPY = "32x128b.warpx4"
#: A factor for this many elements is read by consecutive instructions of this K, each of which reads one factor.
REPEATED, REPEATED_STEP = 128, 32
#: The copy of two blocks along N, which writes the halves to lanes 64 apart.
COPY_OF_HALVES = "64x128b.warpx2::01_23"


def scale_memory(mn: int, k: int, vector: int, *, rows_first: bool = False) -> Layout:
    """Return the layout (mn, k) -> byte of the scale factors of an operand in memory, padded to whole blocks.

    Args:
        mn: number of rows.
        k: number of elements along K.
        vector: number of elements that share a factor: 16, 32, 64 or 128.
        rows_first: whether blocks are stacked along MN first, as in CUTLASS's shared memory; else along K first.

    Raises:
        DescriptorError: if an argument is malformed.

    >>> print(scale_memory(128, 64, 16), scale_memory(256, 128, 16))
    ((32,4),(16,4)):((16,4),(0,1)) (((32,4),2),((16,4),2)):(((16,4),1024),((0,1),512))
    >>> print(scale_memory(256, 128, 16, rows_first=True))
    (((32,4),2),((16,4),2)):(((16,4),512),((0,1),1024))
    """
    order = (0, 1) if as_flag(rows_first, "scale factors: rows_first") else (1, 0)
    size, rows, blocks = _blocks(mn, k, vector)
    block = Layout(((32, 4), (size, FACTORS)), ((16, 4), (0, 1)))
    if (rows, blocks) == (1, 1):
        return block
    tiled = tile_to_shape(block, (rows * BLOCK_ROWS, blocks * FACTORS * size), order)
    assert isinstance(tiled, Layout)
    return tiled


def memory_of_halves(n: int, k: int, vector: int) -> Layout:
    """Return the memory layout of the scale factors of B if the halves of N are in different lanes.

    Each half has its own block, and the two blocks of one K are adjacent. For N 256 this is ``scale_memory`` with
    ``rows_first``; for smaller N the blocks contain unused rows.

    Args:
        n: N: 64, 128, 192 or 256.
        k: number of elements along K.
        vector: number of elements that share a factor.

    Raises:
        DescriptorError: if an argument is malformed.

    >>> print(memory_of_halves(128, 256, 32))
    ((32,2,2),(32,4,2)):((16,4,512),(0,1,1024))
    """
    check_halves(n, "scale factors")
    size, _, blocks = _blocks(n, k, vector)
    return make_layout(
        Layout((32, n // 64, 2), (16, 4, BLOCK_BYTES)), Layout((size, FACTORS, blocks), (0, 1, 2 * BLOCK_BYTES))
    )


def memory_bytes(mn: int, k: int, vector: int) -> int:
    """Return the number of bytes of the scale factors, including padding.

    >>> memory_bytes(8, 64, 16), memory_bytes(256, 128, 32)
    (512, 1024)
    """
    _, rows, blocks = _blocks(mn, k, vector)
    return rows * blocks * BLOCK_BYTES


def copy_steps(mn: int, k: int, vector: int, *, rows: int, base: int = 0, halves: bool = False) -> tuple[Step, ...]:
    """Return the copies of scale factors to tensor memory, with their columns relative to the scale factors.

    Args:
        mn: number of rows.
        k: number of elements along K.
        vector: number of elements that share a factor.
        rows: number of rows in tensor memory, as in ``scale_cells``.
        base: address of the factors in shared memory, in bytes.
        halves: whether the halves of N are 64 lanes apart; then a copy transfers two adjacent blocks along N, and the
            memory layout is that of ``rows_first``.

    Raises:
        DescriptorError: if the address is not a multiple of 16, or too large for a descriptor.

    >>> [(hex(step.word), step.column) for step in copy_steps(128, 128, 16, rows=128)]
    [('0x400800010000', 0), ('0x400800010020', 4)]
    """
    _, groups, blocks = _blocks(mn, k, vector)
    base = as_integer(base, "scale factors: the address")
    wide = rows // (64 if halves else 32)
    steps = []
    for j in range(blocks):
        for i in range(groups // 2 if halves else groups):
            # A copy of 64 rows has one stride between groups of 8 rows, so its two blocks are adjacent.
            first = j * groups + 2 * i if halves else i * blocks + j
            word = _descriptor(base + first * BLOCK_BYTES, halves)
            steps.append(Step(word, wide * j + 4 * i))
    return tuple(steps)


def _descriptor(address: int, halves: bool) -> int:
    """Return the descriptor of the source of one copy: 32 rows of 16 bytes, or 64 rows in two blocks."""
    layout, shape = Layout((64 if halves else 32, 16), (16, 1)), COPY_OF_HALVES if halves else COPY
    source = derive(layout=layout, dtype="u8", major="K", swizzle="none", cp=shape.partition(".")[0], verify=False)
    return source.descriptor_at(address).encode()


def _blocks(mn: int, k: int, vector: int) -> tuple[int, int, int]:
    """Return the number of elements that share a factor, and the number of blocks along MN and K."""
    size = as_vector(vector)
    rows = padded_rows(as_integer(mn, "scale factors: MN", minimum=1, maximum=1 << 16)) // BLOCK_ROWS
    depth = as_integer(k, "scale factors: K", minimum=1, maximum=1 << 16)
    return size, rows, -(-depth // (FACTORS * size))


class Place(NamedTuple):
    """The position of an instruction's factors: a column relative to the scale factors, and a byte of the cell."""

    column: int
    byte: int

    def pointer(self, first: int) -> int:
        """Return the pointer for the instruction if the scale factors start at column ``first``.

        >>> hex(Place(4, 2).pointer(8))
        '0x8000000c'
        """
        return address_of(0, first + self.column, self.byte)


@frozen
class ScaleFactors(Told):
    """The scale factors of one operand of a tile.

    Args:
        mn: number of rows, without padding.
        k: number of elements along K.
        vector: number of elements that share a factor.
        memory: (mn, k) -> byte of memory.
        cells: (mn, k, copy) -> byte of tensor memory.
        copy: shape and multicast of the copies.
        steps: the copies, if the factors are at the requested base address of shared memory.
        places: the position that each K step of an instruction reads.
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
        """Bytes of memory, including padding."""
        return memory_bytes(padded_rows(self.mn, halves=self.copy == COPY_OF_HALVES), self.k, self.vector)

    @property
    def columns(self) -> int:
        """Number of columns that are read or written."""
        return max([self.cells.columns, *(step.column + FACTORS for step in self.steps)])

    @property
    def evidence(self) -> str:
        """Grade of evidence of the layout in tensor memory."""
        return self.cells.evidence

    def verify(self) -> Landing:
        """Verify that each factor is copied to its bytes of tensor memory.

        >>> print(scale_factors(128, 64, 16).verify())
        proved: 8192 elements, 262144 bits of tensor memory, written by 1 copy
        """
        rows = composition(self.memory[0], Layout(self.cells.layout[0].shape))  # 64 of the 128 rows may be in use
        depth = composition(self.memory[1], Layout(size(self.cells.layout[1])))
        return prove_landing(make_layout(rows, depth), 8, self.cells, self.copy, self.steps)


def scale_factors(
    mn: int, k: int, vector: int, *, step: int | None = None, of_64: bool = False, halves: bool = False, base: int = 0
) -> ScaleFactors:
    """Derive the scale factors of one operand of a tile.

    Args:
        mn: number of rows: M of the CTA, or all of N.
        k: number of elements along K.
        vector: number of elements that share a factor: 16, 32, 64 or 128.
        step: K of one instruction. By default it covers four factors; with a vector of 32, two factors or one if K is
            not a multiple of that; with a vector of 128, it is always 32.
        of_64: whether these are the factors of A in the 2x2 arrangement, in which each CTA of a pair has 64 rows.
        halves: whether these are the factors of B in that arrangement, with halves in different lanes. In memory, each
            half then has its own block, and the blocks of one K are adjacent, as in CUTLASS's shared memory.
        base: address of the factors in shared memory, in bytes.

    Raises:
        DescriptorError: if an argument is malformed, or the factors do not fit.

    >>> print(scale_factors(128, 64, 16).headline)
    scale factors of 128 rows, K 64 by 16: 512 bytes, 4 columns
    """
    halves = as_flag(halves, "scale factors: halves")
    if halves:
        check_halves(mn, "scale factors")
    memory, vector = memory_of_halves(mn, k, vector) if halves else scale_memory(mn, k, vector), as_vector(vector)
    rows = 64 if as_flag(of_64, "scale factors: of_64") else padded_rows(mn, halves=halves)
    if of_64 and mn != 64:
        raise DescriptorError(f"scale factors: MN is {mn}, but of_64 is for a CTA with 64 rows")
    counts = (4, 2, 1) if vector == 32 else (4,)  # with a vector of 32, K of an instruction is 128, 64 or 32
    most = next((count for count in counts if k % (count * vector) == 0), counts[-1]) * vector
    most = REPEATED_STEP if vector == REPEATED else most
    depth = most if step is None else as_integer(step, "scale factors: K of a step", minimum=1)
    if vector == REPEATED and depth != REPEATED_STEP:
        raise DescriptorError(
            f"scale factors: K of a step is {depth}, but {vector} elements share a factor only in kind mxf8f6f4 with "
            f"K {REPEATED_STEP}"
        )
    if vector != REPEATED and (depth % vector or depth // vector not in COUNTS):
        raise DescriptorError(
            f"scale factors: K of a step is {depth}, which is not a supported multiple of {vector}; supported: "
            f"{', '.join(str(count * vector) for count in COUNTS)}"
        )
    if k % depth:
        raise DescriptorError(f"scale factors: K is {k}, which is not a multiple of the K of a step ({depth})")
    cells = scale_cells_of_64(k, vector) if of_64 else scale_cells(rows, k, vector)
    if halves:
        cells = scale_cells(mn, k, vector, halves=True, apart=rows // 64)
    steps = copy_steps(rows if halves else mn, k, vector, rows=rows, base=base, halves=halves)
    wide, firsts = rows // (64 if halves else 32), [j * depth // vector for j in range(k // depth)]
    places = tuple(Place(first // FACTORS * wide, first % FACTORS) for first in firsts)
    return ScaleFactors(mn, k, vector, memory, cells, COPY_OF_HALVES if halves else COPY, steps, places, wide)
