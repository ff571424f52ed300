"""The arrangements of rows over lanes: one rule with four sets of parameters, for all that lies in tensor memory.

PTX draws them as layouts A to G. In each, row m of a CTA lies in the lane of a layout of the rows, and N is cut into
``parts`` that lie side by side in lanes: element (m, n) of N columns is in

    lane = rows(m) + (n / (N/parts)) * part_lanes        column = n % (N/parts)

Source: PTX ISA 9.1, tcgen05 data path layouts A to G (in E the manual prints "2x3" where its figure is 2x2); CUTLASS
``include/cute/atom/mma_traits_sm100.hpp``, ``tmem_frg`` and ``tmem_frg_ws``.

Law: rows and parts together take different lanes, all 128 of them but in the half arrangement.

>>> from layoutalg import size
>>> for path in (FULL, HALF, PAIRS, FOURS):
...     lanes = {path.rows(m) + part * path.part_lanes for m in range(size(path.rows)) for part in range(path.parts)}
...     assert len(lanes) == size(path.rows) * path.parts == (64 if path is HALF else 128), path
"""

from __future__ import annotations

from descriptors.errors import DescriptorError
from descriptors.frozen import frozen
from descriptors.tmem.fragment import lane_step, rescaled
from layoutalg import Layout, make_layout


@frozen
class Datapath:
    """An arrangement.

    Args:
        name: PTX's words for it: warps along M by warps along N.
        rows: row of the CTA -> lane.
        parts: how many pieces N is cut into.
        part_lanes: lanes from one piece to the next.
    """

    name: str
    rows: Layout
    parts: int = 1
    part_lanes: int = 0


FULL = Datapath("4x1", Layout(128))
HALF = Datapath("4x1, half of the lanes", Layout((16, 4), (1, 32)))
PAIRS = Datapath("2x2", Layout(64), 2, 64)
FOURS = Datapath("1x4", Layout(32), 4, 32)


def spread(path: Datapath, columns: int, bits: int, step_bits: int) -> Layout:
    """The layout (rows, columns) of elements over an arrangement.

    Args:
        path: the arrangement.
        columns: extent of the second mode, a multiple of the parts.
        bits: bits of an element, the unit of the layout.
        step_bits: bits from an element to the next along the second mode: 32 for one a cell, ``bits`` where packed.

    Raises:
        DescriptorError: if the parts do not divide the columns.

    >>> print(spread(PAIRS, 256, 32, 32))
    (64,(128,2)):(65536,(1,4194304))
    >>> print(spread(HALF, 16, 16, 16))
    ((16,4),16):((131072,4194304),1)
    """
    if columns % path.parts:
        raise DescriptorError(f"tmem: N must be a multiple of {path.parts}, found {columns}; arrangement {path.name}")
    lane, step = lane_step(bits), step_bits // bits
    rows = rescaled(path.rows, times=lane)
    if path.parts == 1:
        return make_layout(rows, Layout(columns, step))
    return make_layout(rows, Layout((columns // path.parts, path.parts), (step, path.part_lanes * lane)))
