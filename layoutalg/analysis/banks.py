"""Bank conflicts: the phases and wavefronts of the shared-memory accesses of a warp, to given addresses or to a tile.

Shared memory has 32 banks of 4 bytes. The word at byte address a has number a // 4 and is in bank (a // 4) mod 32. An
access is served in *phases*. The lanes of one phase access 128 bytes: all 32 lanes for accesses of up to 4 bytes per
lane, 16 lanes for 8 bytes, 8 lanes for 16 bytes. In a phase, each bank serves one word after the other, and lanes that
access the same word share it. Therefore::

    wavefronts = sum over phases of the largest number of distinct words that any one bank must serve

Loads of 8 and 16 bytes have an exception. If *every* active lane i of the warp has a partner i^1 that is inactive or
loads from the same address, or if every active lane has such a partner i^2, then two consecutive phases are served as
one.

If threads access a tile, thread t accesses the element at ``layout(thread_values(t, v))`` once for each value v.

Evidence: the result equals the hardware counters of Hopper GPUs for every pattern in ``tests/vectors/hopper``, which
has loads and stores of 1 to 16 bytes per lane. The published documents describe the banks, but not the phases and the
exception.
Source: CUDA C++ Programming Guide, "Shared memory" of compute capability 5.x and later (banks, words shared by lanes);
CuTe's thread-value layouts, CUTLASS ``include/cute/atom/mma_atom.hpp``.

>>> [wavefronts([4 * stride * lane for lane in range(32)], 4) for stride in (1, 2, 8, 32)]
[1, 2, 8, 32]
>>> tile, tv = Layout((64, 64), (64, 1)), Layout((32, 2), (1, 32))  # thread t moves elements t and t + 32
>>> [access.addresses[5] for access in accesses(tile, tv, 2, 2)] == [2 * tile(tv(5, v)) for v in range(2)]
True
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from layoutalg.drawing.shown import Shown
from layoutalg.errors import LayoutError
from layoutalg.frozen import fix, frozen, replace
from layoutalg.layouts.composed import ComposedLayout
from layoutalg.layouts.layout import Layout
from layoutalg.layouts.modes import AnyLayout, size
from layoutalg.layouts.swizzle import Swizzle
from layoutalg.tuples.int_tuple import safe_text
from layoutalg.tuples.leaf import as_flag, as_int, need_int

#: Number of lanes of a warp.
WARP = 32
#: Number of banks of shared memory, and the size of a word of a bank in bytes.
BANKS, BANK_BYTES = 32, 4
#: Size in bytes of the sectors in which global memory is accessed.
SECTOR_BYTES = 32
#: Size in bytes of the words of a group of banks: the most that one lane accesses, and the size of a swizzled chunk.
GROUP_BYTES = 16


@frozen
class Access(Shown):
    """One access of one warp, with its cost in shared memory (wavefronts) and in global memory (sectors).

    Args:
        addresses: byte address of each lane; None for an inactive lane.
        access_bytes: number of bytes that each lane accesses.
        phases: the lanes of each phase.
        phase_wavefronts: number of wavefronts of each phase; 0 if none of its lanes is active.
        warp: number of the warp, if the access is made from a layout.
        value: number of the first value of each thread that is accessed, if the access is made from a layout.

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
        """Number of wavefronts of the whole access."""
        return sum(self.phase_wavefronts)

    @property
    def conflicts(self) -> int:
        """Number of wavefronts that bank conflicts cost: those beyond one for each phase with an active lane.

        >>> access([128 * lane for lane in range(32)], 4).conflicts
        31
        """
        return sum(count - 1 for count in self.phase_wavefronts if count)

    @property
    def sectors(self) -> int:
        """Number of sectors of 32 bytes that contain the accessed bytes, which is the cost in global memory.

        Invariant: it is at least the number of distinct bytes that the lanes access, divided by 32.
        Source: CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory" (transactions of 32 bytes).

        >>> [access([step * lane for lane in range(32)], 4).sectors for step in (4, 8, 32)]
        [4, 8, 32]
        """
        # The size of an access divides the sector size and its address, so no access crosses a sector boundary.
        return len({address // SECTOR_BYTES for address in self.addresses if address is not None})

    @property
    def efficiency(self) -> float:
        """The fraction of the bytes of the sectors that are accessed; 1 if no lane is active.

        >>> [access([step * lane for lane in range(32)], 4).efficiency for step in (4, 8, 32)]
        [1.0, 0.5, 0.125]
        """
        distinct = {address for address in self.addresses if address is not None}
        return len(distinct) * self.access_bytes / (SECTOR_BYTES * self.sectors) if distinct else 1.0

    def __str__(self) -> str:
        active = sum(address is not None for address in self.addresses)
        of = "" if active == len(self.addresses) else f" of {len(self.addresses)}"
        waves, phases = self.wavefronts, len(self.phases)
        sectors, share = _count_text(self.sectors, "sector"), round(100 * self.efficiency)
        return (
            f"{_count_text(active, 'lane')}{of} of {_count_text(self.access_bytes, 'byte')}\n"
            f"   shared memory  {_count_text(waves, 'wavefront')} in {_count_text(phases, 'phase')}, "
            f"{self.conflicts} of them for bank conflicts\n"
            f"   global memory  {sectors} of 32 bytes, of which {share} % are accessed"
        )


def _count_text(number: int, name: str) -> str:
    """Return a number with a noun in the singular or plural."""
    return f"{number} {name}{'s' * (number != 1)}"


def wavefronts(
    addresses: Sequence[int | None],
    access_bytes: int,
    banks: int = BANKS,
    bank_bytes: int = BANK_BYTES,
    *,
    store: bool = False,
) -> int:
    """Return the number of wavefronts that shared memory needs for one access of a warp.

    The formula is in the docstring of :mod:`layoutalg.analysis.banks`.

    Args:
        addresses: byte address of each lane, lane 0 first, at most 32; None for an inactive lane.
        access_bytes: number of bytes that each lane loads or stores: 1, 2, 4, 8 or 16.
        banks: number of banks.
        bank_bytes: width of a bank, in bytes.
        store: whether the access is a store; the exception applies to loads only.

    Raises:
        LayoutError: if an address is negative or not a multiple of ``access_bytes``, if there are more than 32
            addresses, or if a number is out of range.

    A column of a row-major tile of 8 x 64 half-precision numbers, 16 bytes per lane, without and with a 128B swizzle:

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
    """Return one access of a warp with its phases; the arguments and errors are those of :func:`wavefronts`.

    >>> load = access([8 * lane for lane in range(32)], 8)
    >>> load.phases[1][:3], load.phase_wavefronts
    ((16, 17, 18), (1, 1))
    >>> access([0] * 32, 8).phase_wavefronts, access([0] * 32, 8, store=True).phase_wavefronts
    ((1,), (1, 1))
    """
    width = as_int(access_bytes, "banks: access_bytes")
    if width not in (1, 2, 4, 8, 16):
        raise LayoutError(f"banks: access_bytes is {width}, which is none of 1, 2, 4, 8 and 16")
    count, bank_width = positive(banks, "banks"), positive(bank_bytes, "bank_bytes")
    lanes, may_merge = _check_addresses(addresses, width), not as_flag(store, "banks: store") and width >= 8
    phases = _phases(lanes, max(1, min(WARP, count * bank_width // width)), may_merge=may_merge)
    costs = tuple(_phase_cost([lanes[lane] for lane in phase], width, count, bank_width) for phase in phases)
    return Access(lanes, width, phases, costs)


def bank_group(address: int, line_bytes: int = BANKS * BANK_BYTES) -> int:
    """Return the number of the group of four banks (16 bytes) that serves a byte address; 32 banks are eight groups.

    Pictures color addresses by this group.

    Invariant: the group of an address is its bank divided by 4.

    Args:
        address: byte address.
        line_bytes: size of a line, which contains each bank once, in bytes: a positive multiple of 16.

    Raises:
        LayoutError: if the line size is not a positive multiple of 16, or the address is negative.

    >>> [bank_group(address) for address in (0, 12, 16, 0x90, 0x3F0)]
    [0, 0, 1, 1, 7]
    >>> all(bank_group(address) == address // 4 % 32 // 4 for address in range(1000))
    True
    """
    line = positive(line_bytes, "line_bytes")
    if line % GROUP_BYTES:
        raise LayoutError(f"banks: line_bytes is {line}, which is not a multiple of {GROUP_BYTES}")
    number = as_int(address, "banks: an address")
    if number < 0:
        raise LayoutError(f"banks: address {number} is negative")
    return number // GROUP_BYTES % (line // GROUP_BYTES)


def positive(value: object, name: str) -> int:
    """Return the value as an integer of at least 1.

    Raises:
        LayoutError: if the value is not a positive integer; the message has the name.
    """
    number = as_int(value, f"banks: {name}")
    if number < 1:
        raise LayoutError(f"banks: {name} is {number}, which is not positive")
    return number


def _check_addresses(addresses: Sequence[Any], width: int) -> tuple[int | None, ...]:
    """Return the addresses as integers, for an access of ``width`` bytes per lane.

    Raises:
        LayoutError: if an address is not a non-negative multiple of the width, or there are more than 32.
    """
    try:
        lanes = tuple(None if a is None else as_int(a, "banks: an address") for a in addresses)
    except TypeError:
        raise LayoutError(f"banks: addresses is {safe_text(addresses)}, which is not a sequence") from None
    if len(lanes) > WARP:
        raise LayoutError(f"banks: {len(lanes)} addresses are given, but a warp has {WARP} lanes")
    for lane, address in enumerate(lanes):
        if address is not None and (address < 0 or address % width):
            raise LayoutError(
                f"banks: the address of lane {lane} is {address}, which is not a non-negative multiple of {width}, the "
                f"bytes of the access"
            )
    return lanes


def _phases(lanes: Sequence[int | None], width: int, *, may_merge: bool) -> tuple[tuple[int, ...], ...]:
    """Return the lanes of each phase: ``width`` lanes, or twice as many if the exception applies."""
    if may_merge and width < WARP and any(_is_paired(lanes, distance) for distance in (1, 2)):
        width *= 2
    count = len(lanes)
    return tuple(tuple(range(first, min(first + width, count))) for first in range(0, count, width))


def _is_paired(lanes: Sequence[int | None], distance: int) -> bool:
    """Check if the partner of each active lane at this distance is inactive or has the same address."""
    for lane, partner in _partners(len(lanes), distance):
        if lanes[lane] is not None and lanes[partner] is not None and lanes[lane] != lanes[partner]:
            return False
    return True


def _partners(count: int, distance: int) -> Iterator[tuple[int, int]]:
    return ((lane, lane | distance) for lane in range(count) if not lane & distance and lane | distance < count)


def _phase_cost(addresses: Sequence[int | None], width: int, banks: int, bank_bytes: int) -> int:
    """Return the largest number of distinct words in one bank."""
    words = {
        word
        for address in addresses
        if address is not None
        for word in range(address // bank_bytes, (address + width - 1) // bank_bytes + 1)
    }
    words_per_bank = Counter(word % banks for word in words)
    return max(words_per_bank.values(), default=0)


#: The most elements of an access. Shared memory has fewer bytes, and more elements would take many seconds.
MOST_ELEMENTS = 1 << 20


def need_few(count: int, access: AnyLayout) -> None:
    """Check that an access has at most a million elements.

    Raises:
        LayoutError: if it has more.
    """
    if count > MOST_ELEMENTS:
        raise LayoutError(f"banks: the access has {count} elements, more than {MOST_ELEMENTS}; access = {access}")


def need_offset(offset: Any, layout: AnyLayout) -> int:
    """Return the offset itself, if it is a number.

    Raises:
        LayoutError: if it is a coordinate, which a layout with basis strides returns, or contains symbols.
    """
    if type(offset) is tuple:
        raise LayoutError(
            f"banks: the tile maps to the coordinate {safe_text(offset)}, not to an offset; tile = {layout}"
        )
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
    """Return the accesses of a thread-value layout; arguments and errors are those of :func:`layoutalg.accesses`."""
    if not isinstance(layout, (Layout, ComposedLayout, Swizzle)):
        raise LayoutError(f"banks: the tile is {safe_text(layout)}, which is not a layout")
    unit = positive(element_bytes, "element_bytes")
    width = unit if access_bytes is None else as_int(access_bytes, "banks: access_bytes")
    if width < unit or width % unit:
        raise LayoutError(f"banks: access_bytes is {width}, which is not a multiple of the {unit} bytes of an element")
    if not isinstance(thread_values, (Layout, ComposedLayout)) or len(thread_values) != 2:
        raise LayoutError(
            f"banks: thread_values is {safe_text(thread_values)}, which is not a layout of two modes (threads, values)"
        )
    subject = "banks: the number of threads or values"
    threads, values = [need_int(size(thread_values, mode=[i]), subject) for i in (0, 1)]
    need_few(threads * values, thread_values)
    vector = width // unit
    if values % vector:
        raise LayoutError(
            f"banks: each thread has {values} values, which is not a multiple of the {vector} values of one access"
        )
    start = as_int(base, "banks: base")
    transfers = []
    for warp, first in enumerate(range(0, threads, WARP)):
        for value in range(0, values, vector):
            lanes = range(first, min(first + WARP, threads))
            addresses = [start + unit * _first_offset(layout, thread_values, lane, value, vector) for lane in lanes]
            transfer = access(addresses, width, banks, bank_bytes, store=store)
            transfers.append(replace(transfer, warp=warp, value=value))
    return tuple(transfers)


def _first_offset(layout: AnyLayout, thread_values: AnyLayout, thread: int, value: int, count: int) -> int:
    """Return the offset of the first of ``count`` consecutive values of a thread, which one access moves.

    Raises:
        LayoutError: if the values are not contiguous.
    """
    offsets = [need_offset(layout(thread_values(thread, value + i)), layout) for i in range(count)]
    if offsets != list(range(offsets[0], offsets[0] + count)):
        raise LayoutError(
            f"banks: the {count} values of one access are not contiguous: from value {value} on, thread {thread} has "
            f"the offsets {offsets}; layout = {layout}, thread_values = {thread_values}"
        )
    return offsets[0]
