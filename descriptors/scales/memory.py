"""Scale factors in memory, global or shared: 512-byte blocks of 128 rows by 4 factors, and how they are copied.

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

from dataclasses import replace

from descriptors.derivation.derive import derive
from descriptors.errors import as_flag, as_integer
from descriptors.tmem.scale_cells import BLOCK_ROWS, FACTORS, as_vector, padded_rows
from descriptors.transfer.landing import Step
from layoutalg import Layout, tile_to_shape

#: Bytes of a block: 128 rows by 4 factors.
BLOCK_BYTES = BLOCK_ROWS * FACTORS
#: The copy of a block.
COPY = "32x128b.warpx4"
#: That of two blocks along N, whose halves go to lanes 64 apart.
COPY_OF_HALVES = "64x128b.warpx2::01_23"


def scale_memory(mn: int, k: int, vector: int, *, rows_first: bool = False) -> Layout:
    """The scale factors of an operand in memory, as a layout (mn, k) -> byte, padded to whole blocks.

    Args:
        mn: rows.
        k: elements along K; ``vector`` of them share a factor.
        vector: 16 or 32.
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
    made = tile_to_shape(block, (rows * BLOCK_ROWS, blocks * FACTORS * size), order)
    assert isinstance(made, Layout)
    return made


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
    made = derive(layout=layout, dtype="u8", major="K", swizzle="none", cp=shape.partition(".")[0], verify=False)
    # Nobody reads LBO here, for a row is 16 bytes; CuTe writes 16, and so do we.
    return replace(made.descriptor_at(address), leading_byte_offset=16).encode()


def _blocks(mn: int, k: int, vector: int) -> tuple[int, int, int]:
    """The vector, and how many blocks there are along MN and K."""
    size = as_vector(vector)
    rows = padded_rows(as_integer(mn, "scale factors: MN", minimum=1, maximum=1 << 16)) // BLOCK_ROWS
    depth = as_integer(k, "scale factors: K", minimum=1, maximum=1 << 16)
    return size, rows, -(-depth // (FACTORS * size))
