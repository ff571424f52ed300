"""The metadata of a main loop with a sparse A: registers or columns of every stage, and what each K block takes.

On sm90 the threads load them from global memory, where ``pack_metadata`` put them: a register for each M block of a
warpgroup and each K that is packed together, which holds, in its halves of the threads, one or two K blocks; the
selector of the instruction says which. On sm100 a stage of them lies in shared memory as in global memory, and
``tcgen05.cp.128x128b`` copies each 128 lanes of 16 bytes to four columns, from where a K block takes two, or one: then
its column is even, and the selector in its instruction descriptor says which of the two.

Law: the K blocks of a stage take different registers, halves or columns, and leave none of them out.

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
from layoutalg.frozen import frozen, replace

#: The copy of 128 lanes of 16 bytes, and its columns.
COPY, COPY_COLUMNS = "128x128b", 4
#: On sm100 they lie in global memory as a tensor with rows of so many bytes, of which a box has at most 256.
MEMORY_ROW, _MOST_ROWS = 128, 256


@frozen
class Metadata:
    """The metadata of a sparse A in one CTA.

    Args:
        packed: how they are packed.
        layout: of a tile's metadata, packed alone: (m, k), zeros counted, to a bit.
        packs: along K, in a stage: registers of a thread for an M block on sm90, copies to four columns on sm100.
        column: the first of a stage's in tensor memory; 0 on sm90.
        base: where the first stage lies in shared memory, in bytes; 0 on sm90.
        blocks: along M, of 128 rows each, on sm100; their metadata follow one another, in memory and in columns.
    """

    packed: Arrangement
    layout: Layout
    packs: int
    column: int = 0
    base: int = 0
    blocks: int = 1

    @property
    def registers(self) -> int:
        """Registers of a thread for an M block of a stage; none on sm100."""
        return self.packs if has_wgmma(self.packed.arch) else 0

    @property
    def bytes(self) -> int:
        """Shared memory of a stage, in bytes; none on sm90."""
        return self.blocks * self.block_bytes

    @property
    def block_bytes(self) -> int:
        """That of one M block."""
        return 0 if has_wgmma(self.packed.arch) else self.packs * self.packed.block_bits // 8

    @property
    def block_columns(self) -> int:
        """What is added to a column for each M block; 0 on sm90."""
        return 0 if has_wgmma(self.packed.arch) else COPY_COLUMNS * self.packs

    @property
    def boxes(self) -> tuple[int, int]:
        """Rows of a box that brings metadata of an M block, and how many boxes bring those of a stage; none on sm90."""
        rows = self.block_bytes // MEMORY_ROW
        count = next((n for n in range(1, rows + 1) if rows % n == 0 and rows // n <= _MOST_ROWS), 1)
        return rows // count, count

    @property
    def selectors(self) -> tuple[int, ...]:
        """The selectors that instructions have."""
        return tuple(range(self.packed.selectors))

    def place(self, k: int) -> tuple[int, int]:
        """What a K block takes: register and selector on sm90, column (of the first M block) and selector on sm100."""
        index, selector = divmod(k, self.packed.selectors)
        if has_wgmma(self.packed.arch):
            return index, selector
        return self.column + 2 * index, selector

    def copies(self, stage: int = 0) -> tuple[tuple[int, int], ...]:
        """Word and column of every ``tcgen05.cp`` of a stage; none on sm90."""
        if has_wgmma(self.packed.arch):
            return ()
        source = derive(layout=Layout((128, 16), (16, 1)), dtype="u8", major="K", swizzle="none", cp=COPY, verify=False)
        size = self.packed.block_bits // 8
        first = self.base + stage * self.bytes
        count = self.blocks * self.packs
        words = (replace(source.descriptor_at(first + i * size), leading_byte_offset=16) for i in range(count))
        return tuple((word.encode(), self.column + COPY_COLUMNS * i) for i, word in enumerate(words))


def metadata_of(loop: MainLoop, *, column: int = 0, base: int = 0) -> Metadata:
    """The metadata that a sparse A needs.

    Args:
        loop: the instruction and the tile, of a sparse A.
        column: where those of a stage begin in tensor memory.
        base: where those of the first stage begin in shared memory, in bytes.

    Raises:
        DescriptorError: if no arrangement of them is known.
    """
    packed = arrangement(loop.a, loop.arch)
    rows = loop.tile[0] // loop.cta_group
    layout = metadata_layout(rows, loop.tile[2], loop.a, loop.arch)
    blocks = 1 if has_wgmma(loop.arch) else loop.blocks[0]
    return Metadata(packed, layout, loop.tile[2] // packed.covered, column, base, blocks)
