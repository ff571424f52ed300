"""An accumulator in registers: which element of D each register of a warp holds after ``tcgen05.ld``.

The layout of the load, after the inverse of the accumulator's: (thread, register) -> cell -> (m, n). A warp reaches the
lanes of its quarter, so that four warps read a CTA's accumulator together, each by the same layout from another origin.
A shape of 16 lanes takes two loads for the 32 lanes of a quarter; of the half arrangement, whose rows lie in 16 of
them, it takes one, where ``.32x32b`` leaves half of its threads with nothing.

Law: all loads of all warps together hold each element once.

>>> from descriptors.tmem.accumulator import accumulator
>>> known = accumulator(128, 64), accumulator(64, 64), accumulator(128, 64, cta_group=2), accumulator(32, 64, ws=True)
>>> for d in known:
...     for shape in ("32x32b.x4", "16x256b.x1", "16x64b.x2"):
...         got = readout(d, shape)
...         each = [(t, v) for t in range(got.threads) for v in range(got.values)]
...         held = {got.element(load, *one) for load in got.loads for one in each}
...         assert len(held) == len(each) * len(got.loads) == size(d.layout), shape
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
    """One instruction of one warp.

    Args:
        warp: its number in the warpgroup.
        lane: lane of the address.
        column: column of the address, from the accumulator's.
        origin: the (m, n) of thread 0, register 0.
    """

    warp: int
    lane: int
    column: int
    origin: tuple[int, int]


@frozen
class Readout(Told):
    """How an accumulator is read by loads of one shape.

    Args:
        fragment: the accumulator.
        move: the load.
        threads: threads of a warp that hold elements: 32, or the first 16.
        elements: (thread, value) -> (m, n), from the origin of the load; a value is a register, or half of one.
        loads: every instruction, warp by warp.
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
        """Elements that a thread holds after one load."""
        return int(size(self.elements[1]))

    @property
    def evidence(self) -> str:
        """How it is known, all in all."""
        return weakest(self.fragment.evidence, self.move.cells.evidence)

    def element(self, load: Load, thread: int, value: int) -> tuple[int, int]:
        """The (m, n) that a value of a thread is.

        >>> from descriptors.tmem.accumulator import accumulator
        >>> made = readout(accumulator(128, 64), "16x256b.x1")
        >>> made.element(made.loads[0], 5, 3)
        (9, 3)
        """
        m, n = _pair(self.elements(thread, value))
        return load.origin[0] + m, load.origin[1] + n


def readout(fragment: TmemFragment, name: str, *, pack: bool | None = None) -> Readout:
    """How loads of a shape read an accumulator.

    Args:
        fragment: what ``accumulator`` returned, of one tile.
        name: the shape, ``16x256b``, with its repetitions ``.x8`` where not as many as fit.
        pack: of an f16 accumulator, whether two columns share a register; as the name says if left out.

    Raises:
        DescriptorError: if the load does not fit the accumulator, or ``pack`` contradicts the name of the load.

    >>> from descriptors.tmem.accumulator import accumulator
    >>> made = readout(accumulator(128, 64), "16x256b.x8")
    >>> print(made.elements, len(made.loads), made.move.registers)
    ((4,8),(2,2,8)):((2@1,1@0),(1@1,8@0,8@1)) 8 32
    """
    _check_tile(fragment)
    move = _fitting_move(fragment, name, None if pack is None else as_flag(pack, "tmem ld: pack"))
    if move.packed and fragment.bits != 16:
        raise DescriptorError(
            f"tmem ld: .pack::16b must read 16-bit elements, found {fragment.bits} bits; {fragment.what}"
        )
    half = HALF.name in fragment.name
    threads = 16 if half and move.lanes == QUARTER else 32
    inverse, cells = left_inverse(fragment.layout), _values(move, threads, fragment.bits)
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
    """Every shape that reads an accumulator, with as many repetitions as fit it.

    >>> from descriptors.tmem.accumulator import accumulator
    >>> [(one.move.shape, one.move.num) for one in readouts(accumulator(128, 24))]
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
        raise DescriptorError(f"tmem ld: an accumulator must be one tile (m, n), found {brief(fragment)}")


def _width(shape: str, packed: bool) -> int:
    """Return the columns that one repetition of a load reads: of ``.16x32bx2``, those of both halves."""
    return move_columns(shape, packed) * (2 if shape == "16x32bx2" else 1)


def _fitting_move(fragment: TmemFragment, name: str, pack: bool | None) -> TmemMove:
    """Return the load of a name; without repetitions, the largest that divides the columns."""
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
        rule = f"tmem ld: the columns of an accumulator must be a multiple of the load's {move.columns}"
        raise DescriptorError(f"{rule}, found {fragment.columns}; {move.ptx}, {fragment.what}")
    return move


def _values(move: TmemMove, threads: int, bits: int) -> Layout:
    """The layout (thread, value) -> cell, in elements: whole registers, or the halves of packed ones."""
    thread, register, _ = (move.cells.layout[i] for i in range(3))
    scaled = [rescaled(one, over=bits) for one in (thread, register)]
    if threads < 32:
        scaled[0] = Layout(threads, lane_step(bits))
    if not move.packed:
        return make_layout(scaled[0], scaled[1])
    return make_layout(scaled[0], make_layout(Layout(2, 32 // bits), scaled[1]))


def _pair(coordinate: object) -> tuple[int, int]:
    assert isinstance(coordinate, tuple) and len(coordinate) == 2
    return int(coordinate[0]), int(coordinate[1])
