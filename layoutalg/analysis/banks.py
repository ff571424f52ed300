"""Shared-memory banks: phases and wavefronts of a warp's accesses, to given addresses or to a tile.

Shared memory has 32 banks of 4 bytes; the word at byte address a is number a // 4 and lies in bank (a // 4) mod 32. An
access is served in *phases*, each of the lanes that move 128 bytes together: all 32 for accesses of up to 4 bytes a
lane, 16 for 8 bytes, 8 for 16. In a phase every bank serves one word after the other, and lanes that ask for the same
word share it. Law::

    wavefronts = sum over phases of the largest number of distinct words that any one bank must serve

Loads of 8 and 16 bytes have an exception. If *every* active lane i of the warp has a partner i^1 that is inactive or
loads from the same address, or if every one has such a partner i^2, then two consecutive phases are served as one.

Of threads that move their values of a tile, thread t moves the element at ``layout(thread_values(t, v))`` for each
value v, and every value once.

Evidence: equal to the hardware's counters on Hopper GPUs for every pattern in ``tests/vectors/hopper``, loads and
stores of 1 to 16 bytes a lane. The published texts describe the banks, not the phases, nor the exception.
Source: CUDA C++ Programming Guide, "Shared memory" of compute capability 5.x and later (banks, words shared by lanes);
CuTe's thread-value layouts, CUTLASS ``include/cute/atom/mma_atom.hpp``.

>>> [wavefronts([4 * stride * lane for lane in range(32)], 4) for stride in (1, 2, 8, 32)]
[1, 2, 8, 32]
>>> tile, tv = Layout((64, 64), (64, 1)), Layout((32, 2), (1, 32))  # thread t moves elements t and t + 32
>>> [one.addresses[5] for one in accesses(tile, tv, 2, 2)] == [2 * tile(tv(5, v)) for v in range(2)]
True
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from layoutalg.drawing.shown import Shown
from layoutalg.errors import LayoutError
from layoutalg.frozen import fix, frozen
from layoutalg.layouts.composed import ComposedLayout
from layoutalg.layouts.layout import Layout
from layoutalg.layouts.modes import AnyLayout, size
from layoutalg.layouts.swizzle import Swizzle
from layoutalg.tuples.int_tuple import safe_text
from layoutalg.tuples.leaf import as_flag, as_int, need_int

#: Lanes of a warp.
WARP = 32
#: Banks of shared memory, and the bytes of a word of one.
BANKS, BANK_BYTES = 32, 4
#: Bytes of global memory that are moved together.
SECTOR_BYTES = 32
#: Bytes that a group of banks serves: the most that one lane moves, and the least that a swizzle of chunks moves.
GROUP_BYTES = 16


@frozen
class Access(Shown):
    """One instruction of one warp, and how memory serves it: shared memory by banks, global memory by sectors.

    Args:
        addresses: byte address of each lane; None for an inactive one.
        access_bytes: bytes that each lane moves.
        phases: the lanes of each phase.
        phase_wavefronts: wavefronts that each phase takes; 0 if none of its lanes is active.
        warp: number of the warp, where the access comes from a layout.
        value: first value of each thread that takes part, likewise.

    >>> access([16 * lane for lane in range(32)], 4).phase_wavefronts
    (4,)
    >>> print(access([16 * lane for lane in range(32)], 4))
    32 lanes of 4 bytes
       shared memory  4 wavefronts in 1 phase, 3 of them for bank conflicts
       global memory  16 sectors of 32 bytes, of which 25 % are accessed
    """

    addresses: tuple[int | None, ...]
    access_bytes: int
    phases: tuple[tuple[int, ...], ...]
    phase_wavefronts: tuple[int, ...]
    warp: int
    value: int

    def __init__(
        self,
        addresses: tuple[int | None, ...],
        access_bytes: int,
        phases: tuple[tuple[int, ...], ...],
        phase_wavefronts: tuple[int, ...],
        warp: int = 0,
        value: int = 0,
    ) -> None:
        fix(self, addresses=addresses, access_bytes=access_bytes, phases=phases, phase_wavefronts=phase_wavefronts)
        fix(self, warp=warp, value=value)

    @property
    def wavefronts(self) -> int:
        """Wavefronts of the whole access."""
        return sum(self.phase_wavefronts)

    @property
    def conflicts(self) -> int:
        """Wavefronts beyond one for each phase in which a lane is active: what bank conflicts cost.

        >>> access([128 * lane for lane in range(32)], 4).conflicts
        31
        """
        return sum(count - 1 for count in self.phase_wavefronts if count)

    @property
    def sectors(self) -> int:
        """Sectors of 32 bytes in which its bytes lie: what it costs where the addresses are of global memory.

        Law: at least a 32nd of the bytes that the lanes access, each counted once; as many where they lie together.
        Source: CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory" (transactions of 32 bytes).

        >>> [access([step * lane for lane in range(32)], 4).sectors for step in (4, 8, 32)]
        [4, 8, 32]
        """
        # The bytes of an access divide a sector and its address, so that none lies in two.
        return len({address // SECTOR_BYTES for address in self.addresses if address is not None})

    @property
    def efficiency(self) -> float:
        """The part of its sectors' bytes that are accessed; 1 where no lane takes part.

        >>> [access([step * lane for lane in range(32)], 4).efficiency for step in (4, 8, 32)]
        [1.0, 0.5, 0.125]
        """
        places = {address for address in self.addresses if address is not None}
        return len(places) * self.access_bytes / (SECTOR_BYTES * self.sectors) if places else 1.0

    def __str__(self) -> str:
        active = sum(address is not None for address in self.addresses)
        of = "" if active == len(self.addresses) else f" of {len(self.addresses)}"
        waves, phases = self.wavefronts, len(self.phases)
        sectors, share = _many(self.sectors, "sector"), round(100 * self.efficiency)
        return (
            f"{_many(active, 'lane')}{of} of {_many(self.access_bytes, 'byte')}\n"
            f"   shared memory  {_many(waves, 'wavefront')} in {_many(phases, 'phase')}, "
            f"{self.conflicts} of them for bank conflicts\n"
            f"   global memory  {sectors} of 32 bytes, of which {share} % are accessed"
        )


def _many(number: int, name: str) -> str:
    return f"{number} {name}{'s' * (number != 1)}"


def wavefronts(
    addresses: Sequence[int | None],
    access_bytes: int,
    banks: int = BANKS,
    bank_bytes: int = BANK_BYTES,
    *,
    store: bool = False,
) -> int:
    """Wavefronts that shared memory needs for one access of a warp.

    Law: that of this module's docstring.

    Args:
        addresses: byte address of each lane, lane 0 first, at most 32; None for a lane that does not take part.
        access_bytes: bytes that each lane loads or stores: 1, 2, 4, 8 or 16.
        banks: number of banks.
        bank_bytes: width of a bank, in bytes.
        store: whether the access is a store; only loads have the exception.

    Raises:
        LayoutError: if an address is negative or no multiple of ``access_bytes``, there are more than 32, or a number
            is out of range.

    A column of a row-major tile of 8 x 64 half-precision numbers, 16 bytes a lane; then the same with a 128B swizzle:

    >>> wavefronts([128 * row for row in range(8)], 16)
    8
    >>> wavefronts([128 * row + 16 * row for row in range(8)], 16)
    1
    """
    return access(addresses, access_bytes, banks, bank_bytes, store=store).wavefronts


def access(
    addresses: Sequence[int | None],
    access_bytes: int,
    banks: int = BANKS,
    bank_bytes: int = BANK_BYTES,
    *,
    store: bool = False,
) -> Access:
    """One access of a warp with its phases; the arguments and errors are those of :func:`wavefronts`.

    >>> found = access([8 * lane for lane in range(32)], 8)
    >>> found.phases[1][:3], found.phase_wavefronts
    ((16, 17, 18), (1, 1))
    >>> access([0] * 32, 8).phase_wavefronts, access([0] * 32, 8, store=True).phase_wavefronts
    ((1,), (1, 1))
    """
    width = as_int(access_bytes, "banks: access_bytes")
    if width not in (1, 2, 4, 8, 16):
        raise LayoutError(f"banks: access_bytes must be 1, 2, 4, 8 or 16, found {width}")
    count, bank_width = positive(banks, "banks"), positive(bank_bytes, "bank_bytes")
    lanes, paired = _lanes(addresses, width), not as_flag(store, "banks: store") and width >= 8
    phases = _phases(lanes, max(1, min(WARP, count * bank_width // width)), merge=paired)
    costs = tuple(_cost([lanes[lane] for lane in phase], width, count, bank_width) for phase in phases)
    return Access(lanes, width, phases, costs)


def bank_group(address: int, line_bytes: int = BANKS * BANK_BYTES) -> int:
    """Which group of banks, 16 bytes together, serves a byte address: four banks of 32, of which there are eight.

    What is drawn by banks has the colour of its group. Law: the group of an address is a fourth of its bank.

    Args:
        address: in bytes.
        line_bytes: bytes of a line, all banks once: a positive multiple of 16.

    Raises:
        LayoutError: for another line, or a negative address.

    >>> [bank_group(address) for address in (0, 12, 16, 0x90, 0x3F0)]
    [0, 0, 1, 1, 7]
    >>> all(bank_group(address) == address // 4 % 32 // 4 for address in range(1000))
    True
    """
    line = positive(line_bytes, "line_bytes")
    if line % GROUP_BYTES:
        raise LayoutError(f"banks: line_bytes must be a multiple of {GROUP_BYTES}, found {line}")
    place = as_int(address, "banks: an address")
    if place < 0:
        raise LayoutError(f"banks: an address must be non-negative, found {place}")
    return place // GROUP_BYTES % (line // GROUP_BYTES)


def positive(value: object, what: str) -> int:
    """The value as an integer of at least 1, or an error that names it."""
    number = as_int(value, f"banks: {what}")
    if number < 1:
        raise LayoutError(f"banks: {what} must be positive, found {number}")
    return number


def _lanes(addresses: Sequence[Any], width: int) -> tuple[int | None, ...]:
    """The addresses, checked."""
    try:
        lanes = tuple(None if a is None else as_int(a, "banks: an address") for a in addresses)
    except TypeError:
        raise LayoutError(f"banks: addresses must be a sequence, found {safe_text(addresses)}") from None
    if len(lanes) > WARP:
        raise LayoutError(f"banks: a warp must have at most {WARP} lanes, found {len(lanes)} addresses")
    for lane, address in enumerate(lanes):
        if address is not None and (address < 0 or address % width):
            raise LayoutError(
                f"banks: an address must be a non-negative multiple of the access's {width} bytes, found {address} of "
                f"lane {lane}"
            )
    return lanes


def _phases(lanes: Sequence[int | None], width: int, *, merge: bool) -> tuple[tuple[int, ...], ...]:
    """The lanes of each phase, ``width`` lanes wide or, where the exception holds, twice that."""
    if merge and width < WARP and any(_paired(lanes, distance) for distance in (1, 2)):
        width *= 2
    count = len(lanes)
    return tuple(tuple(range(first, min(first + width, count))) for first in range(0, count, width))


def _paired(lanes: Sequence[int | None], distance: int) -> bool:
    """Whether each active lane's partner at this distance is inactive or has the same address."""
    for lane, partner in _partners(len(lanes), distance):
        if lanes[lane] is not None and lanes[partner] is not None and lanes[lane] != lanes[partner]:
            return False
    return True


def _partners(count: int, distance: int) -> Iterator[tuple[int, int]]:
    return ((lane, lane | distance) for lane in range(count) if not lane & distance and lane | distance < count)


def _cost(addresses: Sequence[int | None], width: int, banks: int, bank_bytes: int) -> int:
    """The largest number of distinct words in one bank."""
    words = {
        word
        for address in addresses
        if address is not None
        for word in range(address // bank_bytes, (address + width - 1) // bank_bytes + 1)
    }
    in_bank: dict[int, int] = {}
    for word in words:
        in_bank[word % banks] = in_bank.get(word % banks, 0) + 1
    return max(in_bank.values(), default=0)


#: The most elements of an access: more than shared memory has bytes, and seconds to look at.
MOST_ELEMENTS = 1 << 20


def need_few(count: int, access: AnyLayout) -> None:
    """Refuse an access of more elements than are looked at.

    Raises:
        LayoutError: if there are more than a million.
    """
    if count > MOST_ELEMENTS:
        raise LayoutError(f"banks: an access must have at most {MOST_ELEMENTS} elements, found {count} in {access}")


def need_offset(offset: Any, layout: AnyLayout) -> int:
    """The offset itself, where a tile gives numbers.

    Raises:
        LayoutError: for a coordinate, which basis strides give, and for symbols.
    """
    if type(offset) is tuple:
        raise LayoutError(f"banks: the tile must give offsets, found the coordinate {safe_text(offset)} in {layout}")
    return need_int(offset, "banks: an offset")


def accesses(
    layout: AnyLayout,
    thread_values: AnyLayout,
    element_bytes: int,
    access_bytes: int | None = None,
    banks: int = 32,
    bank_bytes: int = 4,
    *,
    base: int = 0,
    store: bool = False,
) -> tuple[Access, ...]:
    """What :func:`layoutalg.accesses` gives, of threads that are no name; arguments and errors are its own."""
    if not isinstance(layout, (Layout, ComposedLayout, Swizzle)):
        raise LayoutError(f"banks: the tile must be a layout, found {safe_text(layout)}")
    unit = positive(element_bytes, "element_bytes")
    width = unit if access_bytes is None else as_int(access_bytes, "banks: access_bytes")
    if width < unit or width % unit:
        raise LayoutError(f"banks: access_bytes must be a multiple of the element's {unit}, found {width}")
    if not isinstance(thread_values, (Layout, ComposedLayout)) or len(thread_values) != 2:
        raise LayoutError(
            f"banks: thread_values must have two modes (threads, values), found {safe_text(thread_values)}"
        )
    threads, values = [need_int(size(thread_values, mode=[i]), "banks: a number of threads or values") for i in (0, 1)]
    need_few(threads * values, thread_values)
    vector = width // unit
    if values % vector:
        raise LayoutError(f"banks: {values} values a thread must be a multiple of the {vector} of one access")
    start = as_int(base, "banks: base")
    transfers = []
    for warp, first in enumerate(range(0, threads, WARP)):
        for value in range(0, values, vector):
            lanes = range(first, min(first + WARP, threads))
            addresses = [start + unit * _first_offset(layout, thread_values, lane, value, vector) for lane in lanes]
            one = access(addresses, width, banks, bank_bytes, store=store)
            transfers.append(Access(one.addresses, width, one.phases, one.phase_wavefronts, warp, value))
    return tuple(transfers)


def _first_offset(layout: AnyLayout, thread_values: AnyLayout, thread: int, value: int, count: int) -> int:
    """The offset of a thread's value, after which the next of its ``count`` values follow without a gap."""
    where = [need_offset(layout(thread_values(thread, value + i)), layout) for i in range(count)]
    if where != list(range(where[0], where[0] + count)):
        raise LayoutError(
            f"banks: the {count} values of one access must lie side by side, found offsets {where} of thread "
            f"{thread}, value {value}; layout = {layout}, thread_values = {thread_values}"
        )
    return where[0]
