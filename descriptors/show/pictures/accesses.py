"""An access of one warp to a derived tile, before the swizzle and after it: which words each bank must serve.

Law: the wavefronts of a phase are the most words that any bank serves in it.

>>> from descriptors import derive
>>> before, after = views(derive((128, 128), "bf16", "K", "128B", (64, 16)))
>>> [(view.wavefronts, max(view.words)) for view in (before, after)]
[(8, 8), (1, 1)]
"""

from __future__ import annotations

from collections.abc import Sequence

from descriptors.errors import DescriptorError
from descriptors.frozen import frozen
from descriptors.show.pictures.anatomy import Anatomy, Pair, swizzle_of
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.derivation.explanation import names
from descriptors.smem.operands.operand import LINE_BYTES
from descriptors.smem.operands.swizzled import parts, plain
from layoutalg import Access, Layout, access, accesses

#: Banks of shared memory, and the bytes of a word.
BANKS, WORD_BYTES = 32, 4
#: The most lines of shared memory that are drawn.
MOST_LINES = 32


@frozen
class Lanes:
    """What the lanes of a warp ask for.

    Args:
        thread_values: (threads, values) to an index into the tile; None for the eight 16 bytes of one chunk that lie
            across the lines.
        access_bytes: bytes of one lane.
        number: which access of those that the threads make.
    """

    thread_values: Layout | None = None
    access_bytes: int = 16
    number: int = 0


@frozen
class View:
    """One access and the lines of shared memory that it touches.

    Args:
        swizzled: whether the tile is.
        access: its addresses, phases and wavefronts.
        phase: the lanes of the phase that is drawn, the first that costs the most.
        wavefronts: of that phase.
        access_bytes: bytes of one lane.
        names: what each lane of the phase asks for, in words.
        lines: the numbers of the lines that the phase touches, and those between.
        units: for each line what its pieces of 16 bytes hold: the number of the piece along the contiguous dimension.
    """

    swizzled: bool
    access: Access
    phase: tuple[int, ...]
    wavefronts: int
    access_bytes: int
    names: tuple[str, ...]
    lines: tuple[int, ...]
    units: tuple[tuple[int | None, ...], ...]

    @property
    def addresses(self) -> tuple[int, ...]:
        """The byte address of each lane of the phase that takes part."""
        return tuple(one for lane in self.phase if (one := self.access.addresses[lane]) is not None)

    @property
    def words(self) -> tuple[int, ...]:
        """How many different words each bank must serve in the phase."""
        asked = {
            word
            for one in self.addresses
            for word in range(one // WORD_BYTES, (one + self.access_bytes - 1) // WORD_BYTES + 1)
        }
        return tuple(sum(word % BANKS == bank for word in asked) for bank in range(BANKS))


def views(d: Derivation, stage: int = 0, subtile: Pair = (0, 0), lanes: Lanes | None = None) -> tuple[View, ...]:
    """The access to the tile without its swizzle and with it; one view where there is no swizzle.

    Raises:
        DescriptorError: if elements are smaller than a byte and a thread-value layout is given, or no such access is
            made.
        LayoutError: as ``layoutalg.accesses``.
    """
    a, lanes = Anatomy(d, stage), lanes or Lanes()
    shown = (False, True) if swizzle_of(d) is not None else (False,)
    found = [_asked(a, subtile, lanes, swizzled) for swizzled in shown]
    # What the lanes are called, and which phase is drawn, is that of the first: the same lanes in both.
    worst = max(range(len(found[0].phases)), key=lambda phase: found[0].phase_wavefronts[phase])
    return tuple(_view(a, lanes, one, swizzled, worst) for one, swizzled in zip(found, shown, strict=True))


def _asked(a: Anatomy, subtile: Pair, lanes: Lanes, swizzled: bool) -> Access:
    d = a.derivation
    if lanes.thread_values is None:
        return access(_chunk(a, subtile, swizzled), 16)
    if d.element.storage_bits < 8:
        raise DescriptorError(f"banks: elements of an access must be whole bytes, found {d.element}")
    tile = d.smem_tile if swizzled else plain(d.smem_tile)
    width, element = lanes.access_bytes, d.element.storage_bits // 8
    made = accesses(tile, lanes.thread_values, element, width)
    if not 0 <= lanes.number < len(made):
        raise DescriptorError(f"banks: the access must be one of the {len(made)} that are made, found {lanes.number}")
    return made[lanes.number]


def _chunk(a: Anatomy, subtile: Pair, swizzled: bool) -> list[int]:
    """The addresses of the first pieces of a chunk, one for each of its rows across the contiguous dimension."""
    d, (u, v), (rows, columns) = a.derivation, a.unit, a.chunk_units
    inner, swizzle, offset = parts(d.partitioned)
    rest, bits = (*subtile, *a.stage_coordinate), d.element.storage_bits
    count = rows if d.major.contiguous_mode else columns
    found = []
    for i in range(count):
        at = (i * u, 0) if d.major.contiguous_mode else (0, i * v)
        place = inner((at, rest))
        assert isinstance(place, int)
        place += offset
        found.append((swizzle(place) if swizzle and swizzled else place) * bits // 8)
    return found


def _view(a: Anatomy, lanes: Lanes, found: Access, swizzled: bool, worst: int) -> View:
    phase = found.phases[min(worst, len(found.phases) - 1)]
    width = lanes.access_bytes if lanes.thread_values is not None else 16
    addresses = [one for lane in phase if (one := found.addresses[lane]) is not None]
    first, last = min(addresses) // LINE_BYTES, (max(addresses) + width - 1) // LINE_BYTES
    if last - first >= MOST_LINES:
        raise DescriptorError(
            f"banks: a picture must have at most {MOST_LINES} lines of {LINE_BYTES} bytes, found {last - first + 1} "
            "between the lowest and the highest address; give another access"
        )
    lines = range(first, last + 1)
    holds = _holds(a, swizzled, lines)
    units = tuple(tuple(holds.get(8 * line + unit) for unit in range(8)) for line in lines)
    mn, k = names(a.derivation)
    across = mn if a.derivation.major.contiguous_mode else k
    words = [f"{across.lower()} {lane}" if lanes.thread_values is None else f"t{lane}" for lane in phase]
    cost = found.phase_wavefronts[found.phases.index(phase)]
    return View(swizzled, found, phase, cost, width, tuple(words), tuple(lines), units)


def _holds(a: Anatomy, swizzled: bool, lines: Sequence[int]) -> dict[int, int]:
    """Which piece along the contiguous dimension lies in each 16 bytes of the lines, by the number of the 16 bytes."""
    along = a.derivation.major.contiguous_mode
    low, high = lines[0] * LINE_BYTES, (lines[-1] + 1) * LINE_BYTES
    return {
        address // 16: (i, j)[along]
        for i, row in enumerate(a.pieces(swizzled=swizzled))
        for j, address in enumerate(row)
        if low <= address < high
    }
