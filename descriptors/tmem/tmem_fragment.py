"""Fragments of tensor memory: layouts from the coordinates of a matrix to the cells of one CTA.

The layout counts elements of ``bits`` bits in the address space ``lane << 16 | column``. A column has ``32 / bits``
elements and a lane has 65536 columns. This is CuTe's convention for tensors in tensor memory, so the strides are equal
to CuTe's.

Invariant: no two elements share a bit, and the counted columns contain all elements.

>>> fragment = TmemFragment("tile", ("m", "k"), Layout((128, 16), (131072, 1)), 16, "an example")
>>> cells = [fragment.cell(m, k) for m in range(128) for k in range(16)]
>>> len(set(cells)), {cell.column for cell in cells} == set(range(fragment.columns))
(2048, True)

One rule with four parameter sets maps rows to lanes, for everything stored in tensor memory. PTX draws the results as
layouts A to G. A layout maps row m of a CTA to a lane, and N is divided into ``parts`` in different lanes. Element
(m, n) of N columns is in

    lane = rows(m) + (n / (N/parts)) * part_lanes        column = n % (N/parts)

Source: PTX ISA 9.1, tcgen05 data path layouts A to G (in E the manual prints "2x3" where its figure is 2x2); CUTLASS
``include/cute/atom/mma_traits_sm100.hpp``, ``tmem_frg`` and ``tmem_frg_ws``.

Invariant: rows and parts together use each lane at most once: all 128 lanes, or 64 in the half arrangement.

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
    """Return the stride between adjacent columns, in elements of ``bits`` bits.

    >>> column_step(16)
    2
    """
    return CELL_BITS // bits


def lane_step(bits: int) -> int:
    """Return the stride between adjacent lanes, in elements of ``bits`` bits.

    >>> lane_step(32), lane_step(16)
    (65536, 131072)
    """
    return column_step(bits) << 16


def rescaled(layout: Layout, *, times: int = 1, over: int = 1) -> Layout:
    """Return a layout with another unit of offsets: each stride is multiplied by ``times`` and divided by ``over``.

    ``over`` must divide each product.

    >>> print(rescaled(Layout((4, (2, 8)), (64, (0, 32))), over=32))
    (4,(2,8)):(2,(0,1))
    """

    def rescale(strides: Any) -> Any:
        return tuple(map(rescale, strides)) if isinstance(strides, tuple) else strides * times // over

    return Layout(layout.shape, rescale(layout.stride))


@frozen
class TmemFragment(Told):
    """A layout of a matrix in tensor memory, relative to the address that the instruction gets.

    Args:
        what: short description of the contents.
        modes: names of the layout's modes; the mode ``copy`` counts identical copies.
        layout: from a coordinate to ``lane << 16 | column``, in elements of ``bits`` bits.
        bits: bits per element.
        name: name of the arrangement in PTX or CuTe.
        evidence: grade of evidence.
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
        """Number of columns from the first to the last that contains an element, including unused ones in between.

        This is the rule of the CuTe DSL's ``find_tmem_tensor_col_offset``: the low 16 bits of the cosize in cells.

        >>> TmemFragment("accumulator", ("m", "n"), Layout((128, 8), (65536, 1)), 32, "").columns
        8
        """
        return ((cosize(self.layout) - 1) * self.bits // CELL_BITS & 0xFFFF) + 1

    def cell(self, *coordinate: Coord) -> Cell:
        """Return the lane, the column and the lowest bit of an element.

        Raises:
            CoordinateError: if the coordinate is out of range.
            DescriptorError: if the coordinate contains a placeholder instead of a number.

        >>> TmemFragment("operand", ("m", "k"), Layout((128, 16), (131072, 1)), 16, "").cell(5, 3)
        Cell(lane=5, column=1, bit=16)
        """
        element: object = self.layout(*coordinate)
        if not isinstance(element, int):
            raise DescriptorError(f"tmem: coordinate {brief(coordinate)} does not consist of numbers only")
        place = element * self.bits
        return Cell(place >> 21, place >> 5 & 0xFFFF, place & 31)

    def cells(self) -> NDArray[Any]:
        """Return the lane, column and bit of all elements: an array with one axis per mode and a last axis of 3.

        >>> TmemFragment("accumulator", ("m", "n"), Layout((128, 8), (65536, 1)), 32, "").cells()[3, 7].tolist()
        [3, 7, 0]
        """
        import numpy as np

        places = offsets(self.layout).astype(np.int64) * self.bits
        return np.stack([places >> 21, places >> 5 & 0xFFFF, places & 31], axis=-1)


def need_columns(fragment: TmemFragment) -> TmemFragment:
    """Return the fragment if it fits tensor memory.

    Raises:
        DescriptorError: if it has more than 512 columns.

    >>> need_columns(TmemFragment("accumulator", ("m", "n"), Layout((128, 8), (65536, 1)), 32, "")).columns
    8
    """
    if fragment.columns > COLUMNS:
        need = f"{fragment.what} needs {brief(fragment.columns)} columns"
        raise DescriptorError(f"tmem: {need}, tensor memory has {COLUMNS}; layout = {fragment.layout}")
    return fragment


@frozen
class Datapath:
    """An arrangement of rows over lanes (PTX: data path).

    Args:
        name: PTX's name: warps along M by warps along N.
        rows: row of the CTA -> lane.
        parts: number of parts into which N is divided.
        part_lanes: lanes from one part to the next.
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
    """Return the layout (rows, columns) of elements in an arrangement.

    Args:
        path: the arrangement.
        columns: extent of the second mode, a multiple of the number of parts.
        bits: bits per element, the unit of the layout.
        step_bits: distance in bits of adjacent elements along the second mode: 32 for one element per cell, ``bits`` if
            they are packed.

    Raises:
        DescriptorError: if the number of columns is not a multiple of the number of parts.

    >>> print(spread(PAIRS, 256, 32, 32))
    (64,(128,2)):(65536,(1,4194304))
    >>> print(spread(HALF, 16, 16, 16))
    ((16,4),16):((131072,4194304),1)
    """
    if columns % path.parts:
        raise DescriptorError(f"tmem: N is {columns}, which is not a multiple of {path.parts}; arrangement {path.name}")
    lane, step = lane_step(bits), step_bits // bits
    rows = rescaled(path.rows, times=lane)
    if path.parts == 1:
        return make_layout(rows, Layout(columns, step))
    return make_layout(rows, Layout((columns // path.parts, path.parts), (step, path.part_lanes * lane)))
