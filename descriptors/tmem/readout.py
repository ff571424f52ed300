"""Derive the elements of D that each register holds after ``tcgen05.ld`` reads an accumulator.

The result is the layout of the load composed with the inverse of the accumulator's layout: (thread, register) -> cell
-> (m, n). A warp reaches only the lanes of its quarter, so four warps read a CTA's accumulator together, with the same
layout and different origins. A shape with 16 lanes needs two loads for the 32 lanes of a quarter. In the half
arrangement, which uses 16 lanes per quarter, it needs one, and ``.32x32b`` leaves half of its threads without elements.

Invariant: all loads of all warps together read each element once.

>>> from descriptors.tmem.accumulator import accumulator
>>> known = accumulator(128, 64), accumulator(64, 64), accumulator(128, 64, cta_group=2), accumulator(32, 64, ws=True)
>>> for d in known:
...     for shape in ("32x32b.x4", "16x256b.x1", "16x64b.x2"):
...         read = readout(d, shape)
...         values = [(t, v) for t in range(read.threads) for v in range(read.values)]
...         elements = {read.element(load, *value) for load in read.loads for value in values}
...         assert len(elements) == len(values) * len(read.loads) == size(d.layout), shape
"""

from __future__ import annotations

from descriptors.errors import DescriptorError, as_flag, brief
from descriptors.text import Told
from descriptors.tmem.geometry import QUARTER, weakest
from descriptors.tmem.moves import MOST, TmemMove, move_columns, tmem_move
from descriptors.tmem.tmem_fragment import HALF, TmemFragment, lane_step, rescaled
from layoutalg import Layout, composition, left_inverse, make_identity_layout, make_layout, size
from layoutalg.frozen import frozen


@frozen
class Load:
    """One load instruction of one warp.

    Args:
        warp: number of the warp in the warpgroup.
        lane: lane of the address.
        column: column of the address, relative to the accumulator.
        origin: the (m, n) of thread 0, register 0.
    """

    warp: int
    lane: int
    column: int
    origin: tuple[int, int]


@frozen
class Readout(Told):
    """The loads of one shape that read an accumulator.

    Args:
        fragment: the accumulator.
        move: the load.
        threads: threads of a warp that hold elements: 32, or the first 16.
        elements: (thread, value) -> (m, n), relative to the origin of the load; a value is a register or half of one.
        loads: all instructions, warp by warp.
    """

    fragment: TmemFragment
    move: TmemMove
    threads: int
    elements: Layout
    loads: tuple[Load, ...]

    @property
    def headline(self) -> str:
        """The answer in one line."""
        each = len(self.loads) // 4
        loads = f"{each} loads of {self.move.registers} registers a warp"
        return f"{self.move.ptx}: {loads}, (thread, value) -> {self.elements}"

    @property
    def values(self) -> int:
        """Number of elements that a thread holds after one load."""
        return int(size(self.elements[1]))

    @property
    def evidence(self) -> str:
        """Weakest grade of evidence of accumulator and load."""
        return weakest(self.fragment.evidence, self.move.cells.evidence)

    def element(self, load: Load, thread: int, value: int) -> tuple[int, int]:
        """Return the (m, n) of a value of a thread after a load.

        >>> from descriptors.tmem.accumulator import accumulator
        >>> read = readout(accumulator(128, 64), "16x256b.x1")
        >>> read.element(read.loads[0], 5, 3)
        (9, 3)
        """
        m, n = _pair(self.elements(thread, value))
        return load.origin[0] + m, load.origin[1] + n


def readout(fragment: TmemFragment, name: str, *, pack: bool | None = None) -> Readout:
    """Return the loads of one shape that read an accumulator.

    Args:
        fragment: an accumulator of one tile, as ``accumulator`` returns it.
        name: the shape, such as ``16x256b``; with repetitions, such as ``.x8``, if not as many as fit.
        pack: for an f16 accumulator, whether two columns share a register; by default as the name says.

    Raises:
        DescriptorError: if the load does not fit the accumulator, or ``pack`` contradicts the name of the load.

    >>> from descriptors.tmem.accumulator import accumulator
    >>> read = readout(accumulator(128, 64), "16x256b.x8")
    >>> print(read.elements, len(read.loads), read.move.registers)
    ((4,8),(2,2,8)):((2@1,1@0),(1@1,8@0,8@1)) 8 32
    """
    _check_tile(fragment)
    move = _fitting_move(fragment, name, None if pack is None else as_flag(pack, "tmem ld: pack"))
    if move.packed and fragment.bits != 16:
        raise DescriptorError(
            f"tmem ld: elements have {fragment.bits} bits, but .pack::16b reads 16-bit elements; {fragment.what}"
        )
    half = HALF.name in fragment.name
    threads = 16 if half and move.lanes == QUARTER else 32
    inverse, cells = left_inverse(fragment.layout, strict=True), _values(move, threads, fragment.bits)
    shape = (size(fragment.layout[0]), size(fragment.layout[1]))
    coordinates = make_identity_layout(shape)
    elements = composition(coordinates, composition(inverse, cells))
    assert isinstance(elements, Layout)
    loads = []
    for warp in range(4):
        for lane in range(0, 16 if half else QUARTER, move.lanes):
            for column in range(0, fragment.columns, move.columns):
                place = (QUARTER * warp + lane) * lane_step(fragment.bits) + column * (32 // fragment.bits)
                loads.append(Load(warp, QUARTER * warp + lane, column, _pair(coordinates(inverse(place)))))
    return Readout(fragment, move, threads, elements, tuple(loads))


def readouts(fragment: TmemFragment) -> tuple[Readout, ...]:
    """Return a readout for every shape that can read an accumulator, each with the largest repetition count that fits.

    >>> from descriptors.tmem.accumulator import accumulator
    >>> [(read.move.shape, read.move.num) for read in readouts(accumulator(128, 24))]
    [('32x32b', 8), ('16x64b', 4), ('16x128b', 2), ('16x256b', 1), ('16x32bx2', 4)]
    """
    _check_tile(fragment)
    fitting = []
    for shape in MOST:
        for packed in (False, True) if fragment.bits == 16 else (False,):
            if fragment.columns % _width(shape, packed) == 0:
                fitting.append(readout(fragment, shape, pack=packed))
    return tuple(fitting)


def _check_tile(fragment: TmemFragment) -> None:
    if not isinstance(fragment, TmemFragment) or fragment.modes != ("m", "n"):
        raise DescriptorError(f"tmem ld: {brief(fragment)} is not an accumulator of one tile (m, n)")


def _width(shape: str, packed: bool) -> int:
    """Return the number of columns that one repetition of a load reads, for ``.16x32bx2`` in both halves."""
    return move_columns(shape, packed) * (2 if shape == "16x32bx2" else 1)


def _fitting_move(fragment: TmemFragment, name: str, pack: bool | None) -> TmemMove:
    """Return the load with a name; without a repetition count, the largest load that divides the columns."""
    shape = name.lstrip(".") if isinstance(name, str) else ""
    if shape in MOST:
        width = _width(shape, bool(pack))
        fitting = [1 << i for i in range(MOST[shape].bit_length()) if fragment.columns % (width << i) == 0]
        name = f"{shape}.x{max(fitting, default=1)}" + (".pack::16b" if pack else "")
    move = tmem_move(name)
    if pack is not None and pack != move.packed:
        raise DescriptorError(
            f"tmem ld: pack={pack} contradicts the name {name!r}, which has {'' if move.packed else 'no '}.pack::16b"
        )
    if fragment.columns % move.columns:
        raise DescriptorError(
            f"tmem ld: the accumulator has {fragment.columns} columns, which is not a multiple of the load's "
            f"{move.columns}; {move.ptx}, {fragment.what}"
        )
    return move


def _values(move: TmemMove, threads: int, bits: int) -> Layout:
    """Return the layout (thread, value) -> cell, in elements; a value is a register, or half of a packed one."""
    thread, register = (rescaled(move.cells.layout[i], over=bits) for i in range(2))
    if threads < 32:
        thread = Layout(threads, lane_step(bits))
    return make_layout(thread, make_layout(Layout(2, 32 // bits), register) if move.packed else register)


def _pair(coordinate: object) -> tuple[int, int]:
    assert isinstance(coordinate, tuple) and len(coordinate) == 2
    return int(coordinate[0]), int(coordinate[1])
