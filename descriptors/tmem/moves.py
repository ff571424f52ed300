"""Layouts of ``tcgen05.ld`` and ``tcgen05.st``: the tensor-memory bit for each register bit of each thread of a warp.

There are five shapes, each repeated ``num`` times along the columns. Relative to the address, register r of thread t
corresponds to the cell in::

    .32x32b     lane t                    column r
    .16x64b     lane t/4 + 8 (t%2)        column (t/2)%2 + 2 r
    .16x128b    lane t/4 + 8 (r%2)        column t%4 + 4 (r/2)
    .16x256b    lane t/4 + 8 ((r/2)%2)    column 2 (t%4) + r%2 + 8 (r/4)
    .16x32bx2   lane t%16                 column r + offset (t/16)

With ``.pack::16b`` (in a store ``.unpack::16b``) a register holds the low halves of two columns, 2c and 2c + 1 for the
column c above; column 2c is in its low half. Shapes with 16 lanes start at lane 0 or 16 of the warp's quarter
(believed). Source: CUTLASS ``include/cute/atom/copy_traits_sm100.hpp`` (NVIDIA's code); PTX ISA 9.1, tcgen05.ld,
shapes.

Invariant: a load reads as many bits as its registers hold, each once.

>>> from layoutalg import size
>>> for shape, most in MOST.items():
...     for packed in (False, True):
...         move = tmem_move(f"{shape}.x{min(most, 4)}" + ".pack::16b" * packed)
...         bits = [move.cells.cell(t, r, b) for t in range(32) for r in range(move.registers) for b in range(32)]
...         assert len(set(bits)) == len(bits) == size(move.cells.layout), shape
"""

from __future__ import annotations

import re

from descriptors.errors import ChoiceError, DescriptorError, as_integer, brief
from descriptors.text import Told
from descriptors.tmem.geometry import NVIDIA, QUARTER
from descriptors.tmem.tmem_fragment import TmemFragment
from layoutalg import Layout, make_layout
from layoutalg.frozen import frozen

#: The largest repetition count of each shape.
MOST = {"32x32b": 128, "16x64b": 128, "16x128b": 64, "16x256b": 32, "16x32bx2": 128}
#: Registers per thread, and columns, of one repetition of each shape.
_REGISTERS = {"32x32b": 1, "16x64b": 1, "16x128b": 2, "16x256b": 4, "16x32bx2": 1}
_COLUMNS = {"32x32b": 1, "16x64b": 2, "16x128b": 4, "16x256b": 8, "16x32bx2": 1}

_NAME = r"\.?(?P<shape>[0-9a-z]+)\.x(?P<num>\d{1,3})(?P<packed>\.(?:un)?pack::16b)?(?:\.b32)?"
_PACKED = {"ld": ".pack::16b", "st": ".unpack::16b"}
_LANE, _COLUMN = 1 << 21, 32  # in bits


@frozen
class TmemMove(Told):
    """A ``tcgen05.ld`` or ``tcgen05.st`` of one warp.

    Args:
        direction: ``ld`` or ``st``.
        shape: such as ``16x256b``.
        num: repetitions along the columns.
        packed: whether a register holds the low halves of two columns.
        offset: columns between the two halves of ``.16x32bx2``; 0 for the other shapes.
        cells: from (thread, register, bit) to a bit of tensor memory, relative to the address.
    """

    direction: str
    shape: str
    num: int
    packed: bool
    offset: int
    cells: TmemFragment

    @property
    def headline(self) -> str:
        """The answer in one line."""
        return f"{self}: {self.registers} registers, {self.lanes} lanes, {self.columns} columns"

    @property
    def ptx(self) -> str:
        """The instruction, without operands.

        >>> tmem_move("16x128b.x2.pack::16b").ptx
        'tcgen05.ld.sync.aligned.16x128b.x2.pack::16b.b32'
        """
        qualifier = _PACKED[self.direction] if self.packed else ""
        return f"tcgen05.{self.direction}.sync.aligned.{self.shape}.x{self.num}{qualifier}.b32"

    @property
    def registers(self) -> int:
        """Number of 32-bit registers per thread."""
        return _REGISTERS[self.shape] * self.num

    @property
    def lanes(self) -> int:
        """Number of lanes, starting at the address: 16 or 32."""
        return QUARTER if self.shape == "32x32b" else 16

    @property
    def columns(self) -> int:
        """Number of columns from the first to the last that the instruction accesses."""
        return self.cells.columns


def tmem_move(name: str, direction: str = "ld", *, offset: int | None = None) -> TmemMove:
    """Return the load or store with a name.

    Args:
        name: shape and repetitions, such as ``16x256b.x8`` or ``32x32b.x16.pack::16b`` (in a store ``.unpack::16b``).
        direction: ``ld`` or ``st``.
        offset: columns between the halves of ``.16x32bx2``; by default the columns of one half, as in CUTLASS. Other
            shapes have no offset.

    Raises:
        DescriptorError: if the instruction does not exist.

    >>> print(tmem_move("16x256b.x1").cells.layout)
    ((4,8),(2,2),32):((64,2097152),(32,16777216),1)
    >>> tmem_move("16x32bx2.x4", offset=64).cells.cell(16, 1, 0)
    Cell(lane=0, column=65, bit=0)
    """
    if not isinstance(direction, str) or direction not in _PACKED:
        raise ChoiceError("tcgen05: the direction", direction, _PACKED)
    match = re.fullmatch(_NAME, name, re.ASCII) if isinstance(name, str) else None
    if match is None:
        raise DescriptorError(
            f"tcgen05.{direction}: {brief(name)} is not a shape with a repetition count, such as 16x256b.x8"
        )
    shape, num, packed = match["shape"], int(match["num"]), match["packed"] is not None
    if packed and match["packed"] != (qualifier := _PACKED[direction]):
        raise DescriptorError(
            f"tcgen05.{direction}: {match['packed']} is a qualifier of the other direction; use {qualifier}"
        )
    if shape not in MOST:
        raise ChoiceError(f"tcgen05.{direction}: the shape", shape, MOST)
    if num not in (legal := [1 << i for i in range(MOST[shape].bit_length())]):
        raise DescriptorError(
            f"tcgen05.{direction}: .{shape} has no .x{num}; supported: {', '.join(f'x{count}' for count in legal)}"
        )
    half_offset = _offset(shape, num, packed, offset)
    what = f"registers of tcgen05.{direction}.{shape}.x{num}{_PACKED[direction] if packed else ''}"
    layout = _layout(shape, num, packed, half_offset)
    cells = TmemFragment(what, ("thread", "register", "bit"), layout, 1, "a warp's registers", NVIDIA)
    return TmemMove(direction, shape, num, packed, half_offset, cells)


def _offset(shape: str, num: int, packed: bool, offset: int | None) -> int:
    if shape != "16x32bx2":
        if offset is not None:
            raise DescriptorError(f"tcgen05: .{shape} has no offset; offset = {brief(offset)}; only .16x32bx2 has one")
        return 0
    return num * (1 + packed) if offset is None else as_integer(offset, "tcgen05: an offset", maximum=511)


def _layout(shape: str, num: int, packed: bool, offset: int) -> Layout:
    """Return the layout (thread, register, bit) -> bit of tensor memory."""
    c = _COLUMN * (1 + packed)  # stride of a column in the table above
    thread, register = {
        "32x32b": (Layout(32, _LANE), Layout(num, c)),
        "16x64b": (Layout((2, 2, 8), (8 * _LANE, c, _LANE)), Layout(num, 2 * c)),
        "16x128b": (Layout((4, 8), (c, _LANE)), _repeated(((2, 8 * _LANE),), num, 4 * c)),
        "16x256b": (Layout((4, 8), (2 * c, _LANE)), _repeated(((2, c), (2, 8 * _LANE)), num, 8 * c)),
        "16x32bx2": (Layout((16, 2), (_LANE, offset * _COLUMN)), Layout(num, c)),
    }[shape]
    return make_layout(thread, register, Layout((16, 2), (1, _COLUMN)) if packed else Layout(32))


def _repeated(digits: tuple[tuple[int, int], ...], num: int, step: int) -> Layout:
    """Return the layout of the register number: its digits (extent, stride), then the repetition if ``num`` > 1."""
    if num > 1:
        digits = (*digits, (num, step))
    shape, stride = zip(*digits, strict=True)
    return Layout(shape, stride) if len(digits) > 1 else Layout(*digits[0])


def move_columns(shape: str, packed: bool = False) -> int:
    """Return the number of columns of one repetition.

    >>> move_columns("16x256b"), move_columns("32x32b", packed=True)
    (8, 2)
    """
    return _COLUMNS[shape] * (1 + packed)
