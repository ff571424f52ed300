"""Plan the metadata of a main loop with a sparse A: registers or columns of each stage, and the part of each K block.

On sm90 the threads load the metadata from global memory, in the format of ``pack_metadata``. A thread has one register
for each M block of its warpgroup and each group of K that is packed together. One register of all threads holds the
metadata of one K block, or of two, each in half of the threads; the selector of the instruction chooses between them.

On sm100 the metadata of a stage are copied to shared memory unchanged, and ``tcgen05.cp.128x128b`` copies each 128
lanes of 16 bytes to four columns. A K block uses two of these columns, or one. With one, the instruction gets an even
column, and the selector in its instruction descriptor chooses one of two.

Invariant: the K blocks of a stage use different registers, halves or columns, and together all of them.

>>> from descriptors.gemm.plan_request import main_loop
>>> metadata = metadata_of(main_loop("wgmma.sp.m64n128k32", "bf16", tile=(128, 128, 128)))
>>> metadata.registers, [metadata.place(k) for k in range(4)]
(2, [(0, 0), (0, 1), (1, 0), (1, 1)])
>>> metadata = metadata_of(main_loop("tcgen05.mma.sp.m128n128k64", "e4m3", tile=(128, 128, 256)), column=128, base=4096)
>>> metadata.bytes, [metadata.place(k)[0] for k in range(4)], [(hex(word), at) for word, at in metadata.copies()]
(4096, [128, 130, 132, 134], [('0x400800010100', 128), ('0x400800010180', 132)])
>>> metadata = metadata_of(main_loop("tcgen05.mma.sp.m128n128k32", "bf16", tile=(128, 128, 128)), column=128)
>>> [metadata.place(k) for k in range(4)], metadata.block_columns
([(128, 0), (128, 1), (130, 0), (130, 1)], 4)
"""

from __future__ import annotations

from descriptors.gemm.metadata import Arrangement, arrangement, metadata_layout
from descriptors.gemm.plan_request import MainLoop
from descriptors.smem.derivation.derive import derive
from descriptors.targets import has_wgmma
from layoutalg import Layout
from layoutalg.frozen import frozen

#: The shape of the copy of 128 lanes of 16 bytes, and the number of columns that it writes.
COPY, COPY_COLUMNS = "128x128b", 4
#: On sm100 the metadata in global memory are a tensor with rows of 128 bytes; a box has at most 256 rows.
MEMORY_ROW, _MOST_ROWS = 128, 256


@frozen
class Metadata:
    """The metadata of a sparse A in one CTA.

    Args:
        packed: the format in which the metadata are packed.
        layout: layout of the packed metadata of one tile: (m, k), with zeros counted, to a bit.
        packs: number of packed groups along K in a stage: registers of a thread for an M block on sm90, copies to four
            columns on sm100.
        column: the first column in tensor memory; 0 on sm90.
        base: address of the first stage in shared memory, in bytes; 0 on sm90.
        blocks: number of M blocks of 128 rows on sm100, stored one after the other in memory and in columns; 1 on sm90.
    """

    packed: Arrangement
    layout: Layout
    packs: int
    column: int = 0
    base: int = 0
    blocks: int = 1

    @property
    def registers(self) -> int:
        """Number of registers of a thread for an M block of a stage; 0 on sm100."""
        return self.packs if has_wgmma(self.packed.arch) else 0

    @property
    def bytes(self) -> int:
        """Size of a stage in shared memory, in bytes; 0 on sm90."""
        return self.blocks * self.block_bytes

    @property
    def block_bytes(self) -> int:
        """Size of one M block of a stage in shared memory, in bytes; 0 on sm90."""
        return 0 if has_wgmma(self.packed.arch) else self.packs * self.packed.block_bits // 8

    @property
    def block_columns(self) -> int:
        """Columns from one M block to the next; 0 on sm90."""
        return 0 if has_wgmma(self.packed.arch) else COPY_COLUMNS * self.packs

    @property
    def boxes(self) -> tuple[int, int]:
        """Rows of a box of an M block's metadata, and number of boxes of an M block in a stage; (0, 1) on sm90."""
        rows = self.block_bytes // MEMORY_ROW
        count = next((n for n in range(1, rows + 1) if rows % n == 0 and rows // n <= _MOST_ROWS), 1)
        return rows // count, count

    @property
    def selectors(self) -> tuple[int, ...]:
        """The selectors of the instructions."""
        return tuple(range(self.packed.selectors))

    def place(self, k: int) -> tuple[int, int]:
        """Return register (sm90) or column of the first M block (sm100), and selector, of a K block."""
        index, selector = divmod(k, self.packed.selectors)
        if has_wgmma(self.packed.arch):
            return index, selector
        return self.column + 2 * index, selector

    def copies(self, stage: int = 0) -> tuple[tuple[int, int], ...]:
        """Return descriptor and column of every ``tcgen05.cp`` of a stage; () on sm90."""
        if has_wgmma(self.packed.arch):
            return ()
        source = derive(layout=Layout((128, 16), (16, 1)), dtype="u8", major="K", swizzle="none", cp=COPY, verify=False)
        size = self.packed.block_bits // 8
        first = self.base + stage * self.bytes
        count = self.blocks * self.packs
        words = (source.descriptor_at(first + i * size) for i in range(count))
        return tuple((word.encode(), self.column + COPY_COLUMNS * i) for i, word in enumerate(words))


def metadata_of(loop: MainLoop, *, column: int = 0, base: int = 0) -> Metadata:
    """Return the metadata of a main loop with a sparse A.

    Args:
        loop: the instruction and the tile.
        column: the first column in tensor memory.
        base: address of the first stage in shared memory, in bytes.

    Raises:
        DescriptorError: if the format of the metadata is not known for the element type.
    """
    packed = arrangement(loop.a, loop.arch)
    rows = loop.tile[0] // loop.cta_group
    layout = metadata_layout(rows, loop.tile[2], loop.a, loop.arch)
    blocks = 1 if has_wgmma(loop.arch) else loop.blocks[0]
    return Metadata(packed, layout, loop.tile[2] // packed.covered, column, base, blocks)
