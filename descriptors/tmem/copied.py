"""Derive the copies of an operand tile to tensor memory: the descriptor and the column of each ``tcgen05.cp``.

``.4x256b`` reads the first 4 of the 8 rows of a swizzle atom; that it reads them like any other copy is believed. It
writes one lane of each quarter, the lane of its address.

Invariant: a copied tile of A has the layout ``operand_a``, which the instruction reads.

>>> from descriptors.tmem.operand_cells import operand_a
>>> for pair, copy, mn in ((1, "128x256b", 128), (2, "64x128b.warpx2::02_13", 64)):
...     copied = tmem_copied((mn, 64), "bf16", "128B", copy)
...     read = operand_a(128, 64, "bf16", cta_group=pair)
...     assert [copied.cells.cell(m, k, 0) for m in range(mn) for k in range(64)] == [
...         read.cell(m, k, *([0] if pair == 2 else [])) for m in range(mn) for k in range(64)
...     ] and copied.verify().ok
"""

from __future__ import annotations

from collections.abc import Sequence

from descriptors.errors import DescriptorError, as_integer, brief
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.derivation.derive import derive
from descriptors.smem.operands.operand import SwizzleMode, SwizzleName
from descriptors.text import Told, word_text
from descriptors.tmem.copies import TmemCopy, tmem_copy
from descriptors.tmem.landing_proof import Landing, Step, prove_landing
from descriptors.tmem.tmem_fragment import TmemFragment, need_columns, rescaled
from layoutalg import ComposedLayout, Layout, composition, make_layout
from layoutalg.frozen import frozen

#: Rows of a swizzle atom. A tile in shared memory has at least this many rows, even if a copy reads fewer.
ATOM_ROWS = 8


@frozen
class Copied(Told):
    """The copies of a tile to tensor memory.

    Args:
        derivation: the descriptors of the tile in shared memory; 4 rows are padded to 8.
        copy: the instruction.
        cells: from an element (mn, k) and the number of a copy to a cell of tensor memory.
        steps: the copy instructions, in order.
    """

    derivation: Derivation
    copy: TmemCopy
    cells: TmemFragment
    steps: tuple[Step, ...]

    @property
    def headline(self) -> str:
        """The answer in one line."""
        return f"{len(self.steps)} x {self.copy.ptx()}, the first of {word_text(self.steps[0].word)}"

    @property
    def evidence(self) -> str:
        """Grade of evidence of the copy."""
        return self.cells.evidence

    @property
    def memory(self) -> Layout | ComposedLayout:
        """Layout of the copied elements in shared memory: (mn, k) -> offset in elements.

        >>> print(tmem_copied((4, 64), "bf16", "128B", "4x256b").memory)
        S<3,3,3> o 0 o (4,64):(64,1)
        """
        tile = self.derivation.smem_tile
        if self.copy.rows == self.derivation.tile[0]:
            return tile
        rows = composition(tile, (Layout(self.copy.rows), Layout(self.derivation.tile[1])))
        assert isinstance(rows, (Layout, ComposedLayout))
        return rows

    def verify(self) -> Landing:
        """Verify that each bit of the tile is copied to the cell that ``cells`` gives.

        >>> print(tmem_copied((128, 64), "bf16", "128B", "128x256b").verify())
        proved: 8192 elements, 131072 bits of tensor memory, written by 4 copies
        """
        bits = self.derivation.element.storage_bits
        return prove_landing(self.memory, bits, self.cells, self.copy.name, self.steps)


def tmem_copied(tile: Sequence[int], dtype: str, swizzle: SwizzleMode | SwizzleName, copy: str) -> Copied:
    """Return the copies of a K-major tile to tensor memory, which write its K steps to consecutive columns.

    The descriptors are those of a tile at address 0 of shared memory.

    Args:
        tile: (MN, K) in elements; MN is the number of rows of the copy. A tile of 4 rows takes 8 in shared memory.
        dtype: the element type.
        swizzle: the swizzle mode of the tile.
        copy: shape and multicast, such as ``128x256b`` or ``32x128b.warpx4``.

    Raises:
        DescriptorError: if the copy cannot read the tile, or the tile does not fit the copy or tensor memory.

    >>> [hex(step.word) for step in tmem_copied((128, 32), "f16", "none", "128x256b").steps]
    ['0x400800800000', '0x400800800100']
    """
    instruction = tmem_copy(copy)
    if not isinstance(tile, (tuple, list)) or len(tile) != 2:
        raise DescriptorError(f"tmem cp: tile is {brief(tile)}, which is not two extents (MN, K)")
    mn = as_integer(tile[0], "tmem cp: MN of the tile", minimum=1)
    if mn != instruction.rows:
        raise DescriptorError(
            f"tmem cp: tile MN is {mn}, but tcgen05.cp.{instruction.name} copies {instruction.rows} rows"
        )
    d = derive((max(mn, ATOM_ROWS), tile[1]), dtype, "K", swizzle, cp=instruction.shape, verify=False)
    bits = d.element.storage_bits
    rows, copies = (rescaled(instruction.cells.layout[i], over=bits) for i in (0, 2))
    layout = make_layout(rows, Layout(d.tile[1]), copies)
    cells = TmemFragment(
        f"{instruction.rows}x{d.tile[1]} {d.element}",
        ("mn", "k", "copy"),
        layout,
        bits,
        instruction.name,
        instruction.cells.evidence,
    )
    words = [word for word in d.words()[0] if isinstance(word, int)]
    steps = tuple(Step(word, instruction.columns * i) for i, word in enumerate(words))
    return Copied(d, instruction, need_columns(cells), steps)
