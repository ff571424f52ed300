"""Find the smallest swizzle with which given shared-memory accesses have no bank conflicts.

Every swizzle of the relevant address bits is tried in the order of :func:`layoutalg.analysis.f2_layouts.every_swizzle`,
the smallest first. The cost of a swizzle is the number of wavefronts of all accesses. For an access that is linear over
GF(2), it follows from the difference of two ranks: a swizzle multiplies the matrix of the access, and accesses that
differ by a constant have the same cost. Any other access is enumerated (:mod:`layoutalg.analysis.banks`). Both ways are
exact.
Source: article "Decoding Swizzle<B,M,S>", sections 4 to 6, on the relation of the three numbers to banks.

>>> from layoutalg import Layout
>>> tile, column = Layout((8, 64), (64, 1)), AccessPattern(Layout((8, 8), (1, 8)), 16)  # 8 rows of 16 bytes
>>> print(find_swizzle(tile, [column], 2))  # on byte addresses
S<3,4,3>

Wavefronts by linear algebra: if the byte address of a lane is linear over GF(2) in the bits of the lane number (up to a
constant), so are the numbers of the 4-byte word and of its bank. Let W be the matrix of a phase that maps the bits of
its lanes, and of the words within the access of one lane, to the word. Let B be the rows of W that are the bank. The
phase accesses ``2**rank(W)`` distinct words in ``2**rank(B)`` banks. Each of these banks has equally many of the words,
because the words in one bank are a coset of one subspace, and a constant only permutes words and banks. Therefore::

    wavefronts of a phase = 2**(rank(W) - rank(B))

The access has no conflicts exactly if the two ranks are equal, that is, if no combination of lanes changes the word
without changing the bank. The phases are those of :mod:`layoutalg.analysis.banks`, with which the tests compare.

>>> from layoutalg import wavefronts
>>> rows = F2Matrix((16, 32, 128, 256, 512))  # the byte address of each lane
>>> wavefronts_by_rank(rows, 4), wavefronts([rows(lane) for lane in range(32)], 4)
(8, 8)

``SWIZZLE_MODES`` has the swizzle modes of tensor cores, as permutations of byte addresses.

Invariant: a swizzle has at most one name. Source: PTX ISA 9.1, swizzling modes of wgmma and tcgen05; CUTLASS
``include/cute/atom/mma_traits_sm90_gmma.hpp``, ``mma_traits_sm100.hpp`` (Layout_*_Atom_Bits).

>>> [swizzle_mode(swizzle) for swizzle in SWIZZLE_MODES.values()] == list(SWIZZLE_MODES)
True
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, TypeAlias

from layoutalg.analysis.banks import WARP, access, need_few, need_offset
from layoutalg.analysis.banks import accesses as tile_accesses
from layoutalg.analysis.f2_layouts import NotLinearError, every_swizzle, fit_f2
from layoutalg.analysis.f2_matrix import F2Matrix
from layoutalg.errors import LayoutError
from layoutalg.frozen import fix, frozen
from layoutalg.layouts.composed import ComposedLayout
from layoutalg.layouts.cosize import cosize
from layoutalg.layouts.layout import Layout
from layoutalg.layouts.modes import AnyLayout, need_layout, rank, size
from layoutalg.layouts.swizzle import Swizzle
from layoutalg.tuples.int_tuple import safe_text
from layoutalg.tuples.leaf import as_flag, as_int, need_int


def wavefronts_by_rank(
    access: F2Matrix, access_bytes: int, banks: int = 32, bank_bytes: int = 4, *, store: bool = False
) -> int:
    """Return the number of wavefronts of one access of a warp, given as a matrix.

    Invariant: the result equals ``wavefronts([access(lane) ^ k for lane in range(2**columns)], access_bytes)`` for
    every aligned constant k.

    Args:
        access: matrix from the bits of the lane number (lowest first, at most 5) to the bits of the byte address.
        access_bytes: number of bytes that each lane loads or stores: 1, 2, 4, 8 or 16.
        banks: number of banks, a power of two.
        bank_bytes: width of a bank in bytes, a power of two.
        store: whether the access is a store.

    Raises:
        LayoutError: if an address is not a multiple of ``access_bytes``, if there are more than 32 lanes, or if a
            number is out of range.

    Eight lanes read a column of 16-byte units at a distance of 128 bytes, without and with a 128B swizzle:

    >>> from layoutalg.analysis.f2_layouts import to_f2
    >>> from layoutalg.layouts.swizzle import Swizzle
    >>> column = F2Matrix((128, 256, 512))
    >>> wavefronts_by_rank(column, 16), wavefronts_by_rank(to_f2(Swizzle(3, 4, 3)) @ column, 16)
    (8, 1)
    """
    phases, words, bank_rank = _phase_ranks(access, access_bytes, banks, bank_bytes, store)
    return phases << (words - bank_rank)


def conflicts_by_rank(
    access: F2Matrix, access_bytes: int, banks: int = 32, bank_bytes: int = 4, *, store: bool = False
) -> int:
    """Return the number of wavefronts beyond one per phase; arguments and errors are as in :func:`wavefronts_by_rank`.

    >>> conflicts_by_rank(F2Matrix((4, 8, 16, 32, 64)), 4), conflicts_by_rank(F2Matrix((8, 16, 32, 64, 128)), 4)
    (0, 1)
    """
    phases, words, bank_rank = _phase_ranks(access, access_bytes, banks, bank_bytes, store)
    return (phases << (words - bank_rank)) - phases


def _phase_ranks(access: F2Matrix, access_bytes: int, banks: int, bank_bytes: int, store: bool) -> tuple[int, int, int]:
    """Return the number of phases, and log2 of the number of words and of banks that each phase accesses."""
    if not isinstance(access, F2Matrix):
        raise LayoutError(f"banks: the access is {safe_text(access)}, which is not an F2Matrix")
    width, count, bank_width = (
        _power_of_two(value, name)
        for value, name in ((access_bytes, "access_bytes"), (banks, "banks"), (bank_bytes, "bank_bytes"))
    )
    if width > 16:
        raise LayoutError(f"banks: access_bytes is {width}, which is none of 1, 2, 4, 8 and 16")
    columns = access.columns
    lanes = 1 << len(columns)
    if lanes > WARP:
        raise LayoutError(f"banks: the access has {lanes} lanes, but a warp has {WARP}; access = {access!r}")
    for column in columns:
        if column % width:
            raise LayoutError(
                f"banks: address {column} is not a multiple of the {width} bytes of the access; access = {access!r}"
            )
    lanes_per_phase = max(1, min(WARP, count * bank_width // width))
    # The exception of wide loads, as in banks.py: each lane has the address of its partner at distance 1, or 2.
    paired = any(bit >= len(columns) or not columns[bit] for bit in (0, 1))
    if not as_flag(store, "banks: store") and width >= 8 and lanes_per_phase < WARP and paired:
        lanes_per_phase *= 2
    lanes_per_phase = min(lanes_per_phase, lanes)
    bits = lanes_per_phase.bit_length() - 1
    words = [column // bank_width for column in columns[:bits]]
    words += [1 << bit for bit in range((width // bank_width).bit_length() - 1)]
    bank_numbers = [word % count for word in words]
    return lanes // lanes_per_phase, F2Matrix(words).rank(), F2Matrix(bank_numbers).rank()


def _power_of_two(value: object, name: str) -> int:
    """Return the value as an integer that is a power of two.

    Raises:
        LayoutError: if it is not a power of two.
    """
    number = as_int(value, f"banks: {name}")
    if number < 1 or number & (number - 1):
        raise LayoutError(f"banks: {name} is {number}, which is not a power of two, as linear algebra needs it")
    return number


#: The swizzle modes that permute addresses, by name. 128B_BASE32B exists on sm100 only.
SWIZZLE_MODES: Mapping[str, Swizzle] = {
    "32B": Swizzle(1, 4, 3),
    "64B": Swizzle(2, 4, 3),
    "128B": Swizzle(3, 4, 3),
    "128B_BASE32B": Swizzle(2, 5, 2),
}


def swizzle_mode(swizzle: Swizzle) -> str | None:
    """Return the name of the mode of a swizzle on byte addresses: ``none`` for the identity, None if it is no mode.

    Raises:
        LayoutError: if the operand is not a swizzle.

    >>> swizzle_mode(Swizzle(3, 4, 3)), swizzle_mode(Swizzle(0, 4, 3)), swizzle_mode(Swizzle(3, 4, 4))
    ('128B', 'none', None)
    """
    if not isinstance(swizzle, Swizzle):
        raise LayoutError(f"swizzle_mode: {safe_text(swizzle)} is not a swizzle")
    if not swizzle.bits:
        return "none"
    return next((name for name, mode in SWIZZLE_MODES.items() if mode == swizzle), None)


#: Byte addresses of the lanes of a warp; None for an inactive lane.
Addresses: TypeAlias = tuple[int | None, ...]
#: An access: a layout from (threads, values) to an index into a tile, or byte addresses.
Lanes: TypeAlias = AnyLayout | Sequence[int | None]


class NoSwizzleError(LayoutError):
    """No swizzle removes all conflicts of the accesses. The swizzle with the fewest conflicts is an attribute.

    Attributes:
        best: the first of the swizzles with the fewest conflicts.
        conflicts: number of wavefronts of all accesses with this swizzle, beyond one per phase.
    """

    def __init__(self, message: str, best: Swizzle, conflicts: int) -> None:
        super().__init__(message)
        self.best = best
        self.conflicts = conflicts

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.best, self.conflicts)


@frozen
class AccessPattern:
    """A shared-memory access of the lanes of warps: the addresses, the bytes per lane, and whether it is a store.

    Args:
        lanes: a layout from (threads, values) to an index into a tile; a layout of one mode from the thread to the
            index of the first element that it accesses; or a sequence of byte addresses, one per lane, with None for an
            inactive lane.
        access_bytes: number of bytes that each lane loads or stores at once: 1, 2, 4, 8 or 16.
        store: whether the access is a store.

    Raises:
        LayoutError: if an argument has another form.

    >>> AccessPattern([0, 128, 256, None], 16)
    AccessPattern((0, 128, 256, None), 16, False)
    """

    lanes: AnyLayout | Addresses
    access_bytes: int
    store: bool

    def __init__(self, lanes: Lanes, access_bytes: int, store: bool = False) -> None:
        if not isinstance(lanes, (Layout, ComposedLayout)):
            lanes = access(lanes, access_bytes).addresses
        width, stores = as_int(access_bytes, "AccessPattern: access_bytes"), as_flag(store, "AccessPattern: store")
        fix(self, lanes=lanes, access_bytes=width, store=stores)
        access((), self.access_bytes)

    def addresses(self, tile: AnyLayout | None, element_bytes: int) -> list[Addresses]:
        """Return the byte addresses of the lanes for each access of each warp.

        Args:
            tile: the layout into which ``lanes`` indexes; it is not needed for addresses.
            element_bytes: size of an element of the tile, in bytes.

        Raises:
            LayoutError: if the layouts do not fit together.
        """
        lanes = self.lanes
        if isinstance(lanes, tuple):
            return [lanes]
        tile = need_layout(tile, "find_swizzle")
        if rank(lanes) == 2:
            warp_accesses = tile_accesses(tile, lanes, element_bytes, self.access_bytes, store=self.store)
            return [warp_access.addresses for warp_access in warp_accesses]
        if rank(lanes) != 1:
            raise LayoutError(
                f"AccessPattern: lanes is {lanes}, which is neither a layout (threads, values) nor a layout (threads)"
            )
        threads = need_int(size(lanes), "find_swizzle: the number of threads")
        need_few(threads, lanes)
        starts = [element_bytes * need_offset(tile(lanes(thread)), tile) for thread in range(threads)]
        return [tuple(starts[first : first + WARP]) for first in range(0, len(starts), WARP)]


def find_swizzle(
    layout: AnyLayout | None,
    accesses: Lanes | AccessPattern | Iterable[Lanes | AccessPattern],
    element_bytes: int = 1,
    access_bytes: int | None = None,
    banks: int = 32,
    bank_bytes: int = 4,
    *,
    store: bool = False,
    candidates: Iterable[Swizzle] | None = None,
) -> Swizzle:
    """Find a swizzle as :func:`layoutalg.find_swizzle` does, for accesses that are not names; see there for arguments.

    >>> print(*[find_swizzle(Layout((8, n), (n, 1)), Layout((8, 8), (1, 8)), 2, 16) for n in (64, 32, 16)])
    S<3,4,3> S<2,4,3> S<1,4,3>
    """
    element_bytes = as_int(element_bytes, "find_swizzle: element_bytes")
    banks, bank_bytes = as_int(banks, "find_swizzle: banks"), as_int(bank_bytes, "find_swizzle: bank_bytes")
    if element_bytes < 1:
        raise LayoutError(f"find_swizzle: element_bytes is {element_bytes}, which is not positive")
    patterns = list(_patterns(accesses, element_bytes if access_bytes is None else access_bytes, store))
    costs = _Costs(patterns, layout, element_bytes, banks, bank_bytes)
    whole = max([element_bytes, *(pattern.access_bytes for pattern in patterns)]).bit_length() - 1
    total = costs.total if layout is None else max(costs.total, cosize(layout) * element_bytes)
    if candidates is None:
        bits = (total - 1).bit_length()
        candidates = chain([Swizzle(0, whole, 0)], every_swizzle(bits, whole))
        total = 1 << bits if layout is None else total
    elif not isinstance(candidates, Iterable):
        raise LayoutError(f"find_swizzle: candidates is {safe_text(candidates)}, which is not a list of swizzles")
    best: tuple[int, Swizzle] | None = None
    for swizzle in candidates:
        if not isinstance(swizzle, Swizzle):
            raise LayoutError(f"find_swizzle: candidate {safe_text(swizzle)} is not a swizzle")
        if swizzle.bits and swizzle.base < whole:
            continue
        conflicts = costs.conflicts(swizzle)
        if (best is None or conflicts < best[0]) and _stays_within(swizzle, total):
            best = conflicts, swizzle
            if not conflicts:
                return swizzle
    if best is None:
        raise LayoutError(
            f"find_swizzle: no candidate permutes units of {1 << whole} bytes within the {total} bytes of the addresses"
        )
    raise NoSwizzleError(
        f"find_swizzle: no swizzle removes all {costs.conflicts(Swizzle(0, 0, 0))} bank conflicts: the best is "
        f"{best[1]}, which leaves {best[0]}{'' if layout is None else f'; layout = {layout}'}",
        best[1],
        best[0],
    )


def modes_that_free(layout: AnyLayout | None, accesses: Sequence[AccessPattern], element_bytes: int) -> tuple[str, ...]:
    """Return the names of the swizzle modes of tensor cores with which the accesses have no bank conflicts.

    The smallest mode is first.

    Args:
        layout: the tile, as for :func:`find_swizzle`.
        accesses: the accesses.
        element_bytes: size of an element, in bytes.

    >>> tile, column = Layout((8, 64), (64, 1)), AccessPattern(Layout((8, 8), (1, 8)), 16)
    >>> modes_that_free(tile, [column], 2)
    ('128B',)
    """
    costs = _Costs(accesses, layout, element_bytes, 32, 4)
    whole = max([element_bytes, *(pattern.access_bytes for pattern in accesses)])
    fit = {name: swizzle for name, swizzle in SWIZZLE_MODES.items() if 1 << swizzle.base >= whole}
    return tuple(name for name, swizzle in fit.items() if not costs.conflicts(swizzle))


def _patterns(accesses: Any, access_bytes: int, store: bool) -> Iterator[AccessPattern]:
    """Yield each access as a pattern; ``access_bytes`` and ``store`` apply to those that are not patterns yet.

    Raises:
        LayoutError: if an access is neither a pattern, a layout, nor a sequence of addresses.
    """
    if isinstance(accesses, (Layout, ComposedLayout, AccessPattern)):
        accesses = [accesses]
    try:
        items = list(accesses)
    except TypeError:
        raise LayoutError(
            f"find_swizzle: accesses is {safe_text(accesses)}, which is neither a layout nor a list of layouts or "
            f"addresses"
        ) from None
    if items and not any(isinstance(item, (AccessPattern, Iterable)) for item in items):
        items = [items]
    for item in items:
        yield item if isinstance(item, AccessPattern) else AccessPattern(item, access_bytes, store)


class _Costs:
    """The cost of a swizzle for some accesses. Equal accesses are counted; linear ones are stored as matrices.

    Attributes:
        total: number of bytes from address 0 to the last byte that is accessed.
    """

    def __init__(
        self, patterns: Sequence[AccessPattern], tile: AnyLayout | None, element_bytes: int, banks: int, bank_bytes: int
    ) -> None:
        self.memory = banks, bank_bytes
        self.linear: Counter[tuple[F2Matrix, int, bool]] = Counter()
        self.other: Counter[tuple[Addresses, int, bool]] = Counter()
        self.total = 1
        ranks_decide = not banks & (banks - 1) and not bank_bytes & (bank_bytes - 1)
        for pattern in patterns:
            kind = pattern.access_bytes, pattern.store
            for addresses in pattern.addresses(tile, element_bytes):
                active = access(addresses, kind[0], banks, bank_bytes).addresses
                self.total = max(self.total, *(a + kind[0] for a in active if a is not None), 1)
                matrix = _linear_fit(addresses) if ranks_decide else None
                if matrix is None:
                    self.other[addresses, *kind] += 1
                else:
                    self.linear[matrix, *kind] += 1

    def conflicts(self, swizzle: Swizzle) -> int:
        """Return the number of wavefronts beyond one per phase, of all accesses with swizzled addresses."""
        total = 0
        for (matrix, width, store), count in self.linear.items():
            swizzled = F2Matrix([swizzle(column) for column in matrix.columns])
            total += count * conflicts_by_rank(swizzled, width, *self.memory, store=store)
        for (addresses, width, store), count in self.other.items():
            lanes = [None if address is None else swizzle(address) for address in addresses]
            total += count * access(lanes, width, *self.memory, store=store).conflicts
        return total


def _linear_fit(addresses: Addresses) -> F2Matrix | None:
    """Return the matrix from lanes to addresses without the constant; None if the map is not linear."""
    active = [address for address in addresses if address is not None]
    if len(active) < len(addresses):
        return None
    try:
        return fit_f2(active)[0]
    except NotLinearError:
        return None


def _stays_within(swizzle: Swizzle, total: int) -> bool:
    """Check if the swizzle maps the addresses below ``total`` to addresses below ``total``.

    The swizzle permutes each aligned block whose size is the span of its fields, so only the last, incomplete block
    needs a check.
    """
    block = 1 << (swizzle.bits + swizzle.base + abs(swizzle.shift))
    unit = 1 << swizzle.base
    return all(
        swizzle(first) + min(unit, total - first) <= total for first in range(total - total % block, total, unit)
    )
