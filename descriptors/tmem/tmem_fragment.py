"""Where the elements of a matrix lie in the tensor memory of one CTA: a layout from coordinates to bits of cells.

The layout counts elements of ``bits`` bits in the address space ``lane << 16 | column``, so that a column is
``32 / bits`` of them, and a lane 65536 columns: CuTe's own convention for a tensor in tensor memory, whose layouts
these are therefore, stride by stride.

Law: every element has bits of its own, and the columns that are counted hold all of them.

>>> found = TmemFragment("tile", ("m", "k"), Layout((128, 16), (131072, 1)), 16, "an example")
>>> places = [found.cell(m, k) for m in range(128) for k in range(16)]
>>> len(set(places)), {place.column for place in places} == set(range(found.columns))
(2048, True)

Rows are arranged over lanes by one rule with four sets of parameters, for all that lies in tensor memory. PTX draws
them as layouts A to G. In each, row m of a CTA lies in the lane of a layout of the rows, and N is cut into
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

from typing import TYPE_CHECKING, Any

from descriptors.errors import DescriptorError, brief
from descriptors.text import Told
from descriptors.tmem.geometry import CELL_BITS, COLUMNS, Cell
from layoutalg import Coord, Layout, cosize, offsets
from layoutalg.frozen import frozen

if TYPE_CHECKING:
    from numpy.typing import NDArray


from layoutalg import make_layout


def column_step(bits: int) -> int:
    """The stride from a column to the next, in elements of so many bits.

    >>> column_step(16)
    2
    """
    return CELL_BITS // bits


def lane_step(bits: int) -> int:
    """The stride from a lane to the next, in elements of so many bits.

    >>> lane_step(32), lane_step(16)
    (65536, 131072)
    """
    return column_step(bits) << 16


def rescaled(layout: Layout, *, times: int = 1, over: int = 1) -> Layout:
    """A layout whose addresses count another unit: every stride times one number, over another that divides it.

    >>> print(rescaled(Layout((4, (2, 8)), (64, (0, 32))), over=32))
    (4,(2,8)):(2,(0,1))
    """

    def rescale(strides: Any) -> Any:
        return tuple(map(rescale, strides)) if isinstance(strides, tuple) else strides * times // over

    return Layout(layout.shape, rescale(layout.stride))


@frozen
class TmemFragment(Told):
    """Where something lies, relative to the address that the instruction is given.

    Args:
        what: what it is, in a few words.
        modes: names of the layout's modes; along a mode ``copy`` the same elements lie again.
        layout: from a coordinate to ``lane << 16 | column``, in elements of ``bits`` bits.
        bits: bits of an element.
        name: what PTX or CuTe calls such an arrangement.
        evidence: how it is known.
    """

    what: str
    modes: tuple[str, ...]
    layout: Layout
    bits: int
    name: str
    evidence: str = ""

    @property
    def headline(self) -> str:
        """The answer in one line."""
        return f"{self.what}: {self.layout}, {self.columns} columns"

    @property
    def columns(self) -> int:
        """Columns from the first to the last that holds an element, those between included.

        The rule of the CuTe DSL's ``find_tmem_tensor_col_offset``: the cosize in cells, its low 16 bits.

        >>> TmemFragment("accumulator", ("m", "n"), Layout((128, 8), (65536, 1)), 32, "").columns
        8
        """
        return ((cosize(self.layout) - 1) * self.bits // CELL_BITS & 0xFFFF) + 1

    def cell(self, *coordinate: Coord) -> Cell:
        """The place of an element: its lane, its column, and its lowest bit in that cell.

        Raises:
            CoordinateError: if there is no such element.
            DescriptorError: if the coordinate leaves something open.

        >>> TmemFragment("operand", ("m", "k"), Layout((128, 16), (131072, 1)), 16, "").cell(5, 3)
        Cell(lane=5, column=1, bit=16)
        """
        element: object = self.layout(*coordinate)
        if not isinstance(element, int):
            raise DescriptorError(f"tmem: a coordinate must be of numbers, found {brief(coordinate)}")
        place = element * self.bits
        return Cell(place >> 21, place >> 5 & 0xFFFF, place & 31)

    def cells(self) -> NDArray[Any]:
        """Every place at once: an array of (lane, column, bit), an axis for each mode before the last one.

        >>> TmemFragment("accumulator", ("m", "n"), Layout((128, 8), (65536, 1)), 32, "").cells()[3, 7].tolist()
        [3, 7, 0]
        """
        import numpy as np

        places = offsets(self.layout).astype(np.int64) * self.bits
        return np.stack([places >> 21, places >> 5 & 0xFFFF, places & 31], axis=-1)


def need_columns(fragment: TmemFragment) -> TmemFragment:
    """The fragment, if tensor memory can hold it.

    Raises:
        DescriptorError: if it has more columns than there are.

    >>> need_columns(TmemFragment("accumulator", ("m", "n"), Layout((128, 8), (65536, 1)), 32, "")).columns
    8
    """
    if fragment.columns > COLUMNS:
        rule = f"tmem: {fragment.what} must fit {COLUMNS} columns"
        raise DescriptorError(f"{rule}, needs {brief(fragment.columns)}; layout = {fragment.layout}")
    return fragment


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
