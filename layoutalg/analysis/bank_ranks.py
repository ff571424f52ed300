"""Wavefronts of a shared-memory access by linear algebra instead of enumeration.

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
"""

from __future__ import annotations

from layoutalg.analysis.banks import WARP
from layoutalg.analysis.f2_matrix import F2Matrix
from layoutalg.errors import LayoutError
from layoutalg.tuples.int_tuple import safe_text
from layoutalg.tuples.leaf import as_flag, as_int


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

    >>> from layoutalg.analysis.to_f2 import to_f2
    >>> from layoutalg.layouts.swizzle import Swizzle
    >>> column = F2Matrix((128, 256, 512))
    >>> wavefronts_by_rank(column, 16), wavefronts_by_rank(to_f2(Swizzle(3, 4, 3)) @ column, 16)
    (8, 1)
    """
    phases, words, reached = _phase_ranks(access, access_bytes, banks, bank_bytes, store)
    return phases << (words - reached)


def conflicts_by_rank(
    access: F2Matrix, access_bytes: int, banks: int = 32, bank_bytes: int = 4, *, store: bool = False
) -> int:
    """Wavefronts beyond one a phase; arguments and errors are those of :func:`wavefronts_by_rank`.

    >>> conflicts_by_rank(F2Matrix((4, 8, 16, 32, 64)), 4), conflicts_by_rank(F2Matrix((8, 16, 32, 64, 128)), 4)
    (0, 1)
    """
    phases, words, reached = _phase_ranks(access, access_bytes, banks, bank_bytes, store)
    return (phases << (words - reached)) - phases


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
