"""``tcgen05.cp``: where a matrix in shared memory lands in tensor memory, as a layout (row, bit, copy) -> cell.

The source is K-major and read through a shared-memory descriptor like an operand's; the shape says how many rows and
bits, the multicast how often they are written. With ``cta_group`` 2 each CTA copies from its own shared memory to its
own tensor memory. Formats that are widened on the way (``.b8x16.b4x16_p64``, ``.b6x16_p32``) are another module's.
Source: CUTLASS ``include/cute/atom/copy_traits_sm100.hpp`` (NVIDIA's code); PTX ISA 9.1, tcgen05.cp.

Law: the layouts say what the landing model of the proof says in plain numbers.

>>> from descriptors.proof.landing_model import SHAPES, landing
>>> for name in SHAPES:
...     made, modelled = tmem_copy(name), {}
...     for row, word, cell in landing(name, lane=0, column=0):
...         modelled.setdefault((row, 32 * word), set()).add(cell)
...     for (row, bit), cells in modelled.items():
...         assert {made.cells.cell(row, bit, i)[:2] for i in range(made.copies)} == cells, name
"""

from __future__ import annotations

from descriptors.errors import DescriptorError, brief
from descriptors.frozen import frozen
from descriptors.instructions.operands import check_copy
from descriptors.tmem.evidence import BELIEVED, NVIDIA
from descriptors.tmem.fragment import TmemFragment, lane_step
from layoutalg import Layout, make_layout, size

_LANE = lane_step(1)

#: From (row, copy) to lanes.
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
    """One ``tcgen05.cp``.

    Args:
        name: shape and multicast, as in ``32x128b.warpx4``.
        cells: from (row, bit, copy) to its place, relative to the address.
    """

    name: str
    cells: TmemFragment

    @property
    def rows(self) -> int:
        """Rows of the source."""
        return int(size(self.cells.layout[0]))

    @property
    def bits(self) -> int:
        """Bits of a row of the source."""
        return int(size(self.cells.layout[1]))

    @property
    def copies(self) -> int:
        """How often the source is written."""
        return int(size(self.cells.layout[2]))

    @property
    def columns(self) -> int:
        """Columns that one copy writes."""
        return self.bits // 32

    @property
    def shape(self) -> str:
        """The shape without the multicast, as ``derive`` takes it."""
        return self.name.partition(".")[0]

    def ptx(self, cta_group: int = 1) -> str:
        """The instruction, without operands.

        >>> tmem_copy("32x128b.warpx4").ptx(2)
        'tcgen05.cp.cta_group::2.32x128b.warpx4'
        """
        return f"tcgen05.cp.cta_group::{cta_group}.{self.name}"


def tmem_copy(name: str) -> TmemCopy:
    """The copy of a name.

    Raises:
        IllegalError: if the shape needs another multicast.
        DescriptorError: if there is no such shape.

    >>> print(tmem_copy("64x128b.warpx2::01_23").cells.layout)
    ((32,2),128,2):((2097152,134217728),1,67108864)
    """
    if not isinstance(name, str):
        raise DescriptorError(f"tcgen05.cp: a shape must be a name, found {brief(name)}")
    shape, _, multicast = name.casefold().lstrip(".").partition(".")
    row = check_copy(shape, multicast or None)
    assert row is not None
    known = f"{row.shape}.{multicast}" if multicast else row.shape
    rows, copies = _LANES[known]
    layout = make_layout(rows, Layout(row.bits), copies)
    evidence = BELIEVED if known == "4x256b" else NVIDIA
    what, modes = f"what tcgen05.cp.{known} writes", ("row", "bit", "copy")
    return TmemCopy(known, TmemFragment(what, modes, layout, 1, known, evidence))


def tmem_copies() -> tuple[TmemCopy, ...]:
    """Every copy.

    >>> len(tmem_copies())
    6
    """
    return tuple(tmem_copy(name) for name in _LANES)
