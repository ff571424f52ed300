"""The known bytes of a memory: roles of warps and addresses of tensor memory pass through it.

Invariant: a load returns the bytes that were stored, with any width; storing an unknown value makes its bytes unknown.

>>> memory = Contents()
>>> memory.store(4, 4, 0x12345678)
>>> hex(memory.load(6, 1)), hex(memory.load(4, 2)), memory.load(6, 4)
('0x34', '0x5678', None)
>>> memory.store(5, 1, Unknown("a load"))
>>> memory.load(4, 4), memory.load(4, 1)
(None, 120)
"""

from __future__ import annotations

from collections.abc import Sequence

from descriptors.check.execution.lanes import Unknown

#: Bytes per page; a page without known bytes is skipped.
PAGE = 64
_ADDRESS = (1 << 64) - 1
#: Factor and summand that make four consecutive addresses of the first one.
_TIMES, _MORE = sum(1 << 64 * byte for byte in range(4)), sum(byte << 64 * byte for byte in range(4))


class Contents:
    """A memory of bytes; bytes that were not stored are unknown."""

    __slots__ = ("_bytes", "_pages")

    def __init__(self) -> None:
        self._bytes: dict[int, int] = {}
        self._pages: set[int] = set()  # pages with a byte that was known; most pages have only data

    def store(self, place: int, width: int, value: int | Unknown) -> None:
        """Write bytes, lowest first."""
        if isinstance(value, Unknown):
            self.forget(place, width)
            return
        self._pages.update((place // PAGE, (place + width - 1) // PAGE))
        for byte in range(width):
            self._bytes[place + byte] = value >> 8 * byte & 0xFF

    def forget(self, place: int, width: int) -> None:
        """Make bytes unknown; they must be in at most two adjacent pages."""
        if place // PAGE not in self._pages and (place + width - 1) // PAGE not in self._pages:
            return
        for byte in range(place, place + width):
            self._bytes.pop(byte, None)

    def load(self, place: int, width: int) -> int | None:
        """Return bytes as a number; None if one is unknown."""
        value = 0
        for byte in range(width):
            part = self._bytes.get(place + byte)
            if part is None:
                return None
            value |= part << 8 * byte
        return value

    def all(self) -> frozenset[tuple[int, int]]:
        """Return the known bytes with their addresses."""
        return frozenset(self._bytes.items())


def word_from(address: int) -> int:
    """Return a word whose four bytes come from an address and the three after it: all four addresses as one number.

    >>> addresses_of(word_from(4096))
    (4096, 4097, 4098, 4099)
    """
    return address * _TIMES + _MORE


def addresses_of(word: int) -> tuple[int, ...]:
    """Return the addresses of the four bytes of a word."""
    return tuple([word >> 64 * byte & _ADDRESS for byte in range(4)])


class Origins:
    """The global addresses that the words of shared memory come from; unknown words are absent.

    >>> shared = Origins()
    >>> shared.copy(64, 4096, 16)
    >>> addresses_of(shared.word(68)), shared.word(80)
    ((4100, 4101, 4102, 4103), None)
    """

    __slots__ = ("_words",)

    def __init__(self) -> None:
        self._words: dict[int, int] = {}

    def copy(self, place: int, source: int, size: int) -> None:
        """Record a copy from global memory; only whole words are followed."""
        if place % 4 or size % 4:
            self.forget(place, size)
            return
        for offset in range(0, size, 4):
            self._words[place + offset] = word_from(source + offset)

    def store(self, place: int, word: int | Unknown) -> None:
        """Record the store of a register."""
        if isinstance(word, Unknown) or place % 4:
            self.forget(place, 4)
        else:
            self._words[place] = word

    def forget(self, place: int, size: int) -> None:
        """Make words unknown."""
        if self._words:
            for address in range(place & ~3, place + size, 4):
                self._words.pop(address, None)

    def clear(self) -> None:
        """Make all words unknown."""
        self._words.clear()

    def word(self, place: int) -> int | None:
        """Return the word at an address; None if it is unknown."""
        return self._words.get(place)

    def bytes(self, places: Sequence[int]) -> int | None:
        """Return four bytes at any addresses as a word; None if one is unknown."""
        word = 0
        for number, place in enumerate(places):
            stored = self._words.get(place & ~3)
            if stored is None:
                return None
            word |= (stored >> 64 * (place & 3) & _ADDRESS) << 64 * number
        return word
