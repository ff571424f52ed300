"""Layouts of ``tcgen05.cp``, which copies a matrix from shared to tensor memory: (row, bit, copy) -> cell.

The source is K-major and is read through a shared-memory descriptor like an operand. The shape gives the rows and the
bits per row, the multicast the number of copies. With ``cta_group`` 2 each CTA copies from its own shared memory to its
own tensor memory. Source: CUTLASS ``include/cute/atom/copy_traits_sm100.hpp`` (NVIDIA's code); PTX ISA 9.1, tcgen05.cp.

Invariant: the layouts agree with the landing model, which verifies copies and uses no layouts.

>>> from descriptors.tmem.landing_model import COPY_SHAPES, landing
>>> for name in COPY_SHAPES:
...     copy, modelled = tmem_copy(name), {}
...     for row, word, cell in landing(name, lane=0, column=0):
...         modelled.setdefault((row, 32 * word), set()).add(cell)
...     for (row, bit), cells in modelled.items():
...         assert {copy.cells.cell(row, bit, i)[:2] for i in range(copy.copies)} == cells, name

With ``.b8x16.b4x16_p64`` or ``.b8x16.b6x16_p32``, packed narrow elements become one byte each. Each 16 bytes of a row
contain 16 elements of 4 bits and 8 bytes of padding, or 16 elements of 6 bits and 4 bytes of padding. They become 16
bytes, one per element, at the position of the 16 bytes of the plain copy. The position of the bits in their byte is
only drawn in the PTX manual and is not settled here, so the layouts are layouts of bytes. PTX requires both qualifiers
or neither. Source: PTX ISA 9.1, tcgen05.cp, optional decompression (text; ptxas accepts the names).

Invariant: no two elements share a bit of the source, none is in the padding, and no two share a byte of tensor memory.

>>> for name, (bits, padding) in WIDENING_FORMATS.items():
...     copy = widened_copy(f"128x256b.{name}")
...     used = {copy.source(0, e) + i for e in range(32) for i in range(bits)}
...     assert len(used) == 32 * bits and all(bit % 128 < 128 - 8 * padding for bit in used)
...     assert len({copy.cells.cell(r, e, 0) for r in range(128) for e in range(32)}) == 128 * 32
"""

from __future__ import annotations

from descriptors.errors import ChoiceError, DescriptorError, brief
from descriptors.smem.instructions.legality import check_copy
from descriptors.text import Told
from descriptors.tmem.geometry import BELIEVED, DOCUMENTED, NVIDIA, weakest
from descriptors.tmem.tmem_fragment import TmemFragment, lane_step, rescaled
from layoutalg import Layout, make_layout, size
from layoutalg.frozen import frozen

_LANE = lane_step(1)

#: The layouts row -> lane and copy -> lane of each copy.
_LANES = {
    "128x256b": (Layout(128, _LANE), Layout(1, 0)),
    "128x128b": (Layout(128, _LANE), Layout(1, 0)),
    "64x128b.warpx2::02_13": (Layout(64, _LANE), Layout(2, 64 * _LANE)),
    "64x128b.warpx2::01_23": (Layout((32, 2), (_LANE, 64 * _LANE)), Layout(2, 32 * _LANE)),
    "32x128b.warpx4": (Layout(32, _LANE), Layout(4, 32 * _LANE)),
    "4x256b": (Layout(4, 32 * _LANE), Layout(1, 0)),
}


@frozen
class TmemCopy:
    """A ``tcgen05.cp`` instruction.

    Args:
        name: shape and multicast, such as ``32x128b.warpx4``.
        cells: from (row, bit, copy) to a bit of tensor memory, relative to the address.
    """

    name: str
    cells: TmemFragment

    @property
    def rows(self) -> int:
        """Number of source rows."""
        return int(size(self.cells.layout[0]))

    @property
    def bits(self) -> int:
        """Bits per source row."""
        return int(size(self.cells.layout[1]))

    @property
    def copies(self) -> int:
        """Number of times that the source is written."""
        return int(size(self.cells.layout[2]))

    @property
    def columns(self) -> int:
        """Number of columns that the instruction writes."""
        return self.bits // 32

    @property
    def shape(self) -> str:
        """The shape without the multicast, as ``derive`` accepts it."""
        return self.name.partition(".")[0]

    def ptx(self, cta_group: int = 1) -> str:
        """The instruction, without operands.

        >>> tmem_copy("32x128b.warpx4").ptx(2)
        'tcgen05.cp.cta_group::2.32x128b.warpx4'
        """
        return f"tcgen05.cp.cta_group::{cta_group}.{self.name}"


def tmem_copy(name: str) -> TmemCopy:
    """Return the copy with a name.

    Raises:
        IllegalError: if the shape needs another multicast.
        DescriptorError: if the shape does not exist.

    >>> print(tmem_copy("64x128b.warpx2::01_23").cells.layout)
    ((32,2),128,2):((2097152,134217728),1,67108864)
    """
    if not isinstance(name, str):
        raise DescriptorError(f"tcgen05.cp: {brief(name)} is not the name of a shape, such as 128x256b")
    shape, _, multicast = name.casefold().lstrip(".").partition(".")
    row = check_copy(shape, multicast or None)
    assert row is not None
    full_name = f"{row.shape}.{multicast}" if multicast else row.shape
    rows, copies = _LANES[full_name]
    layout = make_layout(rows, Layout(row.bits), copies)
    evidence = BELIEVED if full_name == "4x256b" else NVIDIA
    what, modes = f"what tcgen05.cp.{full_name} writes", ("row", "bit", "copy")
    return TmemCopy(full_name, TmemFragment(what, modes, layout, 1, full_name, evidence))


def tmem_copies() -> tuple[TmemCopy, ...]:
    """Return all copies.

    >>> len(tmem_copies())
    6
    """
    return tuple(tmem_copy(name) for name in _LANES)


#: The widening formats: bits per source element, and bytes of padding per 16 source bytes.
WIDENING_FORMATS = {"b8x16.b4x16_p64": (4, 8), "b8x16.b6x16_p32": (6, 4)}
_GROUP, _BYTE = 16, 8


@frozen
class WidenedCopy(Told):
    """A ``tcgen05.cp`` that widens its elements.

    Args:
        copy: the plain copy of the same number of bytes.
        name: the format, such as ``b8x16.b4x16_p64``.
        source: (row, element) -> lowest bit of the element, in contiguous source rows.
        cells: (row, element, copy) -> byte of tensor memory, relative to the address.
    """

    copy: TmemCopy
    name: str
    source: Layout
    cells: TmemFragment

    @property
    def headline(self) -> str:
        """The answer in one line."""
        return f"{self.ptx()}: {self.element_bits} bits an element, {self.padding} bytes of each 16 are padding"

    @property
    def element_bits(self) -> int:
        """Bits per source element."""
        return WIDENING_FORMATS[self.name][0]

    @property
    def padding(self) -> int:
        """Bytes of padding at the end of each 16 source bytes."""
        return WIDENING_FORMATS[self.name][1]

    def ptx(self, cta_group: int = 1) -> str:
        """The instruction, without operands.

        >>> widened_copy("128x128b.b8x16.b6x16_p32").ptx()
        'tcgen05.cp.cta_group::1.128x128b.b8x16.b6x16_p32'
        """
        return f"{self.copy.ptx(cta_group)}.{self.name}"


def widened_copy(name: str) -> WidenedCopy:
    """Return the widening copy with a name.

    Args:
        name: shape, multicast and both qualifiers, such as ``128x256b.b8x16.b4x16_p64``.

    Raises:
        DescriptorError: if the copy does not exist.

    >>> print(widened_copy("128x128b.b8x16.b4x16_p64").source)
    (128,(16,1)):(128,(4,0))
    """
    text = name.casefold().lstrip(".") if isinstance(name, str) else ""
    shape, qualifier, rest = text.partition(".b8x16")
    if not qualifier:
        raise DescriptorError(
            f"tcgen05.cp: {brief(name)} is not the name of a widening copy, such as "
            f"128x256b.{next(iter(WIDENING_FORMATS))}"
        )
    if (form := f"b8x16{rest}") not in WIDENING_FORMATS:
        raise ChoiceError("tcgen05.cp: the format", form, WIDENING_FORMATS)
    plain_copy = tmem_copy(shape)
    bits, groups = WIDENING_FORMATS[form][0], plain_copy.bits // (_GROUP * _BYTE)
    along = Layout((_GROUP, groups), (bits, _GROUP * _BYTE if groups > 1 else 0))
    source = make_layout(Layout(plain_copy.rows, plain_copy.bits), along)
    rows, copies = (rescaled(plain_copy.cells.layout[i], over=_BYTE) for i in (0, 2))
    layout = make_layout(rows, Layout(plain_copy.bits // _BYTE), copies)
    what = f"bytes that tcgen05.cp.{plain_copy.name}.{form} writes"
    evidence = weakest(DOCUMENTED, plain_copy.cells.evidence)
    cells = TmemFragment(what, ("row", "element", "copy"), layout, _BYTE, plain_copy.name, evidence)
    return WidenedCopy(plain_copy, form, source, cells)
