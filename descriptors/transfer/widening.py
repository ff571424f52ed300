"""``tcgen05.cp`` with ``.b8x16.b4x16_p64`` or ``.b8x16.b6x16_p32``: narrow elements, packed, that become a byte each.

Each 16 bytes of a row of the source hold 16 elements of 4 bits and 8 bytes of padding, or 16 of 6 bits and 4 bytes of
padding; they become 16 bytes, one an element, which lie where the plain copy puts 16 bytes. Where in its byte an
element's bits are is drawn in the PTX manual only, and not settled here: a layout of bytes is all there is. PTX asks
for both qualifiers or neither.
Source: PTX ISA 9.1, tcgen05.cp, optional decompression (text; ptxas takes the names).

Law: elements have bits of their own in the source, outside the padding, and bytes of their own in tensor memory.

>>> for name, (bits, padding) in FORMATS.items():
...     made = widened_copy(f"128x256b.{name}")
...     taken = {made.source(0, e) + i for e in range(32) for i in range(bits)}
...     assert len(taken) == 32 * bits and all(bit % 128 < 128 - 8 * padding for bit in taken)
...     assert len({made.cells.cell(r, e, 0) for r in range(128) for e in range(32)}) == 128 * 32
"""

from __future__ import annotations

from descriptors.errors import ChoiceError, DescriptorError, brief
from descriptors.frozen import frozen
from descriptors.text import Told
from descriptors.tmem.evidence import DOCUMENTED, weakest
from descriptors.tmem.fragment import TmemFragment, rescaled
from descriptors.transfer.copies import TmemCopy, tmem_copy
from layoutalg import Layout, make_layout

#: The formats: bits of an element in the source, and bytes of padding in each 16.
FORMATS = {"b8x16.b4x16_p64": (4, 8), "b8x16.b6x16_p32": (6, 4)}
_GROUP, _BYTE = 16, 8


@frozen
class WidenedCopy(Told):
    """One ``tcgen05.cp`` that widens its elements.

    Args:
        copy: the plain copy, of as many bytes.
        name: the format, such as ``b8x16.b4x16_p64``.
        source: (row, element) -> lowest bit of the element in rows of the source one behind the other.
        cells: (row, element, copy) -> its byte in tensor memory, relative to the address.
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
        """Bits of an element in the source."""
        return FORMATS[self.name][0]

    @property
    def padding(self) -> int:
        """Bytes of padding at the end of each 16 bytes of the source."""
        return FORMATS[self.name][1]

    def ptx(self, cta_group: int = 1) -> str:
        """The instruction, without operands.

        >>> widened_copy("128x128b.b8x16.b6x16_p32").ptx()
        'tcgen05.cp.cta_group::1.128x128b.b8x16.b6x16_p32'
        """
        return f"{self.copy.ptx(cta_group)}.{self.name}"


def widened_copy(name: str) -> WidenedCopy:
    """The widening copy of a name.

    Args:
        name: shape, multicast and both qualifiers, as in ``128x256b.b8x16.b4x16_p64``.

    Raises:
        DescriptorError: if there is no such copy.

    >>> print(widened_copy("128x128b.b8x16.b4x16_p64").source)
    (128,(16,1)):(128,(4,0))
    """
    text = name.casefold().lstrip(".") if isinstance(name, str) else ""
    shape, found, rest = text.partition(".b8x16")
    if not found:
        raise DescriptorError(
            f"tcgen05.cp: a widening copy must read like 128x256b.{next(iter(FORMATS))}, found {brief(name)}"
        )
    if (form := f"b8x16{rest}") not in FORMATS:
        raise ChoiceError("tcgen05.cp: the format", form, FORMATS)
    made = tmem_copy(shape)
    bits, groups = FORMATS[form][0], made.bits // (_GROUP * _BYTE)
    along = Layout((_GROUP, groups), (bits, _GROUP * _BYTE if groups > 1 else 0))
    source = make_layout(Layout(made.rows, made.bits), along)
    rows, copies = (rescaled(made.cells.layout[i], over=_BYTE) for i in (0, 2))
    layout = make_layout(rows, Layout(made.bits // _BYTE), copies)
    what, grade = f"bytes that tcgen05.cp.{made.name}.{form} writes", weakest(DOCUMENTED, made.cells.evidence)
    cells = TmemFragment(what, ("row", "element", "copy"), layout, _BYTE, made.name, grade)
    return WidenedCopy(made, form, source, cells)
