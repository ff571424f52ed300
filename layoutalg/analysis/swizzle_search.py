"""The smallest swizzle that frees given shared-memory accesses of bank conflicts.

Every swizzle of the address bits in question is tried, the smallest first
(:func:`layoutalg.analysis.f2_layouts.every_swizzle` says what small means), and judged by the wavefronts of all
accesses together. Where an access is linear over GF(2), its wavefronts are a difference of two ranks; a swizzle
multiplies its matrix, and accesses that differ by a constant cost the same. Any other access is enumerated
(:mod:`layoutalg.analysis.banks`). Both are exact, so that no answer is missed and none is wrong. Source: article
"Decoding Swizzle<B,M,S>", sections 4 to 6, for what the three numbers have to do with banks.

>>> from layoutalg import Layout
>>> tile, column = Layout((8, 64), (64, 1)), AccessPattern(Layout((8, 8), (1, 8)), 16)  # 8 rows of 16 bytes
>>> print(find_swizzle(tile, [column], 2))  # on byte addresses
S<3,4,3>

Wavefronts of a shared-memory access by linear algebra instead of enumeration.

Where the byte address of a lane is linear over GF(2) in the bits of its number (up to a constant), so are the number
of the 4-byte word and of the bank that it asks for. Let W be the matrix of a phase from the bits of its lanes, and of
the words within one lane's access, to the word; let B be the rows of W that are the bank. The phase asks for
``2**rank(W)`` distinct words in ``2**rank(B)`` banks. Each of these banks holds equally many of the words, as the words
in one bank are a coset of one subspace, and a constant only permutes words and banks. So::

    wavefronts of a phase = 2**(rank(W) - rank(B))

and the access is free of conflicts exactly if the two ranks are equal, that is, if no combination of lanes changes the
word without changing the bank. The model of phases is that of :mod:`layoutalg.analysis.banks`, with which the tests
compare.

>>> from layoutalg import wavefronts
>>> rows = F2Matrix((16, 32, 128, 256, 512))  # the byte address of each lane
>>> wavefronts_by_rank(rows, 4), wavefronts([rows(lane) for lane in range(32)], 4)
(8, 8)

The swizzles that tensor cores know by name, as permutations of byte addresses.

Law: a swizzle has at most one name. Source: PTX ISA 9.1, swizzling modes of wgmma and tcgen05; CUTLASS
``include/cute/atom/mma_traits_sm90_gmma.hpp``, ``mma_traits_sm100.hpp`` (Layout_*_Atom_Bits).

>>> [swizzle_mode(one) for one in SWIZZLE_MODES.values()] == list(SWIZZLE_MODES)
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
    """Wavefronts of one access of a warp, given as a matrix.

    Law: ``wavefronts([access(lane) ^ k for lane in range(2**columns)], access_bytes)``, for every aligned constant k.

    Args:
        access: bits of the lane (lowest first, at most 5) to bits of the byte address.
        access_bytes: bytes that each lane loads or stores: 1, 2, 4, 8 or 16.
        banks: number of banks, a power of two.
        bank_bytes: width of a bank in bytes, a power of two.
        store: whether the access is a store.

    Raises:
        LayoutError: if an address is no multiple of ``access_bytes``, there are more than 32 lanes, or a number is out
            of range.

    Eight lanes read a column of 16-byte units, 128 bytes apart; then the same after a 128B swizzle:

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
    """Wavefronts beyond one a phase; arguments and errors are those of :func:`wavefronts_by_rank`.

    >>> conflicts_by_rank(F2Matrix((4, 8, 16, 32, 64)), 4), conflicts_by_rank(F2Matrix((8, 16, 32, 64, 128)), 4)
    (0, 1)
    """
    phases, words, bank_rank = _phase_ranks(access, access_bytes, banks, bank_bytes, store)
    return (phases << (words - bank_rank)) - phases


def _phase_ranks(access: F2Matrix, access_bytes: int, banks: int, bank_bytes: int, store: bool) -> tuple[int, int, int]:
    """The number of phases; in each of them, log2 of the number of distinct words and of the banks that hold them."""
    if not isinstance(access, F2Matrix):
        raise LayoutError(f"banks: the access must be an F2Matrix, found {safe_text(access)}")
    width, count, bank_width = (
        _power_of_two(value, what)
        for value, what in ((access_bytes, "access_bytes"), (banks, "banks"), (bank_bytes, "bank_bytes"))
    )
    if width > 16:
        raise LayoutError(f"banks: access_bytes must be 1, 2, 4, 8 or 16, found {width}")
    columns = access.columns
    lanes = 1 << len(columns)
    if lanes > WARP:
        raise LayoutError(f"banks: a warp must have at most {WARP} lanes, found {lanes}; access = {access!r}")
    for column in columns:
        if column % width:
            raise LayoutError(
                f"banks: addresses must be multiples of {width} bytes, found {column}; access = {access!r}"
            )
    together = max(1, min(WARP, count * bank_width // width))
    # The exception of wide loads, as in banks: each lane has the address of its partner at distance 1, or at 2.
    paired = any(bit >= len(columns) or not columns[bit] for bit in (0, 1))
    if not as_flag(store, "banks: store") and width >= 8 and together < WARP and paired:
        together *= 2
    together = min(together, lanes)
    bits = together.bit_length() - 1
    words = [column // bank_width for column in columns[:bits]]
    words += [1 << bit for bit in range((width // bank_width).bit_length() - 1)]
    in_bank = [word % count for word in words]
    return lanes // together, F2Matrix(words).rank(), F2Matrix(in_bank).rank()


def _power_of_two(value: object, what: str) -> int:
    number = as_int(value, f"banks: {what}")
    if number < 1 or number & (number - 1):
        raise LayoutError(f"banks: {what} must be a power of two for linear algebra, found {number}")
    return number


#: Every mode that permutes, by its name; 128B_BASE32B is of sm100 alone.
SWIZZLE_MODES: Mapping[str, Swizzle] = {
    "32B": Swizzle(1, 4, 3),
    "64B": Swizzle(2, 4, 3),
    "128B": Swizzle(3, 4, 3),
    "128B_BASE32B": Swizzle(2, 5, 2),
}


def swizzle_mode(swizzle: Swizzle) -> str | None:
    """The name of the mode that a swizzle on byte addresses is; ``none`` for one that moves nothing, None for no mode.

    Raises:
        LayoutError: if it is no swizzle.

    >>> swizzle_mode(Swizzle(3, 4, 3)), swizzle_mode(Swizzle(0, 4, 3)), swizzle_mode(Swizzle(3, 4, 4))
    ('128B', 'none', None)
    """
    if not isinstance(swizzle, Swizzle):
        raise LayoutError(f"swizzle_mode: must be a swizzle, found {safe_text(swizzle)}")
    if not swizzle.bits:
        return "none"
    return next((name for name, one in SWIZZLE_MODES.items() if one == swizzle), None)


#: Byte addresses of the lanes of a warp; None for one that takes no part.
Addresses: TypeAlias = tuple[int | None, ...]
#: An access: (threads, values) to an index into a tile, or byte addresses.
Lanes: TypeAlias = AnyLayout | Sequence[int | None]


class NoSwizzleError(LayoutError):
    """No swizzle makes the accesses free of conflicts; the one that comes closest is an attribute.

    Attributes:
        best: the first of the swizzles with the fewest conflicts.
        conflicts: wavefronts of all accesses with it, beyond one a phase.
    """

    def __init__(self, message: str, best: Swizzle, conflicts: int) -> None:
        super().__init__(message)
        self.best = best
        self.conflicts = conflicts

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.best, self.conflicts)


@frozen
class AccessPattern:
    """How the lanes of warps access shared memory: where, how many bytes each, load or store.

    Args:
        lanes: a layout (threads, values) to an index into a tile; a layout of one mode, each thread to the index of the
            element where its access begins; or a sequence of the lanes' byte addresses, None for an inactive lane.
        access_bytes: bytes of one load or store of a lane: 1, 2, 4, 8 or 16.
        store: whether it is a store.

    Raises:
        LayoutError: if ``lanes`` is something else, or the number of bytes.

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
        """The byte addresses of the lanes of each warp and each access; layouts need a tile to index into."""
        lanes = self.lanes
        if isinstance(lanes, tuple):
            return [lanes]
        tile = need_layout(tile, "find_swizzle")
        if rank(lanes) == 2:
            one_by_one = tile_accesses(tile, lanes, element_bytes, self.access_bytes, store=self.store)
            return [one.addresses for one in one_by_one]
        if rank(lanes) != 1:
            raise LayoutError(f"AccessPattern: lanes must have modes (threads, values) or (threads), found {lanes}")
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
    """What :func:`layoutalg.find_swizzle` gives, of accesses that are no names; arguments and errors are its own.

    >>> print(*[find_swizzle(Layout((8, n), (n, 1)), Layout((8, 8), (1, 8)), 2, 16) for n in (64, 32, 16)])
    S<3,4,3> S<2,4,3> S<1,4,3>
    """
    element_bytes = as_int(element_bytes, "find_swizzle: element_bytes")
    banks, bank_bytes = as_int(banks, "find_swizzle: banks"), as_int(bank_bytes, "find_swizzle: bank_bytes")
    if element_bytes < 1:
        raise LayoutError(f"find_swizzle: element_bytes must be positive, found {element_bytes}")
    patterns = list(_patterns(accesses, element_bytes if access_bytes is None else access_bytes, store))
    costs = _Costs(patterns, layout, element_bytes, banks, bank_bytes)
    whole = max([element_bytes, *(pattern.access_bytes for pattern in patterns)]).bit_length() - 1
    total = costs.total if layout is None else max(costs.total, cosize(layout) * element_bytes)
    if candidates is None:
        bits = (total - 1).bit_length()
        candidates = chain([Swizzle(0, whole, 0)], every_swizzle(bits, whole))
        total = 1 << bits if layout is None else total
    elif not isinstance(candidates, Iterable):
        raise LayoutError(f"find_swizzle: candidates must be swizzles, found {safe_text(candidates)}")
    best: tuple[int, Swizzle] | None = None
    for swizzle in candidates:
        if not isinstance(swizzle, Swizzle):
            raise LayoutError(f"find_swizzle: a candidate must be a swizzle, found {safe_text(swizzle)}")
        if swizzle.bits and swizzle.base < whole:
            continue
        conflicts = costs.conflicts(swizzle)
        if (best is None or conflicts < best[0]) and _stays_within(swizzle, total):
            best = conflicts, swizzle
            if not conflicts:
                return swizzle
    if best is None:
        raise LayoutError(f"find_swizzle: a candidate must keep {1 << whole} bytes together within {total}, found none")
    raise NoSwizzleError(
        f"find_swizzle: a swizzle must leave no conflict, found none, {best[1]} leaves {best[0]} of "
        f"{costs.conflicts(Swizzle(0, 0, 0))}{'' if layout is None else f'; layout = {layout}'}",
        best[1],
        best[0],
    )


def modes_that_free(layout: AnyLayout | None, accesses: Sequence[AccessPattern], element_bytes: int) -> tuple[str, ...]:
    """The swizzle modes of tensor cores with which the accesses have no bank conflict, the smallest first.

    Args:
        layout: the tile, as for :func:`find_swizzle`.
        accesses: the accesses.
        element_bytes: bytes of an element.

    >>> tile, column = Layout((8, 64), (64, 1)), AccessPattern(Layout((8, 8), (1, 8)), 16)
    >>> modes_that_free(tile, [column], 2)
    ('128B',)
    """
    costs = _Costs(accesses, layout, element_bytes, 32, 4)
    whole = max([element_bytes, *(pattern.access_bytes for pattern in accesses)])
    fit = {name: one for name, one in SWIZZLE_MODES.items() if 1 << one.base >= whole}
    return tuple(name for name, one in fit.items() if not costs.conflicts(one))


def _patterns(accesses: Any, access_bytes: int, store: bool) -> Iterator[AccessPattern]:
    """The accesses, each with its number of bytes."""
    if isinstance(accesses, (Layout, ComposedLayout, AccessPattern)):
        accesses = [accesses]
    try:
        items = list(accesses)
    except TypeError:
        raise LayoutError(f"find_swizzle: accesses must be layouts or addresses, found {safe_text(accesses)}") from None
    if items and not any(isinstance(item, (AccessPattern, Iterable)) for item in items):
        items = [items]
    for item in items:
        yield item if isinstance(item, AccessPattern) else AccessPattern(item, access_bytes, store)


class _Costs:
    """The accesses, each kind once: linear ones as matrices, others as addresses.

    Attributes:
        total: number of bytes up to the last one that is accessed.
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
        """Wavefronts beyond one a phase, of all accesses with their addresses swizzled."""
        total = 0
        for (matrix, width, store), times in self.linear.items():
            swizzled = F2Matrix([swizzle(column) for column in matrix.columns])
            total += times * conflicts_by_rank(swizzled, width, *self.memory, store=store)
        for (addresses, width, store), times in self.other.items():
            lanes = [None if address is None else swizzle(address) for address in addresses]
            total += times * access(lanes, width, *self.memory, store=store).conflicts
        return total


def _linear_fit(addresses: Addresses) -> F2Matrix | None:
    """The matrix from lanes to addresses, without its constant."""
    active = [address for address in addresses if address is not None]
    if len(active) < len(addresses):
        return None
    try:
        return fit_f2(active)[0]
    except NotLinearError:
        return None


def _stays_within(swizzle: Swizzle, total: int) -> bool:
    """Whether the swizzle takes 0 .. total-1 to below total.

    It permutes each block of as many numbers as its fields span, so that only a last block cut short can lead out.
    """
    block = 1 << (swizzle.bits + swizzle.base + abs(swizzle.shift))
    unit = 1 << swizzle.base
    return all(
        swizzle(first) + min(unit, total - first) <= total for first in range(total - total % block, total, unit)
    )
