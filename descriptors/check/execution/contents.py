"""What memory holds, byte by byte, where it is known: roles of warps and addresses of tensor memory go through it.

Law: what is stored is loaded, by whatever width; what was stored and is not known makes what it covers unknown.

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

#: Bytes that are looked for together.
PAGE = 64
_ADDRESS = (1 << 64) - 1
#: Four addresses that follow one another: so many times the first, and so much more.
_TIMES, _MORE = sum(1 << 64 * byte for byte in range(4)), sum(byte << 64 * byte for byte in range(4))


class Contents:
    """A memory of bytes; those that nobody stored are not known."""

    __slots__ = ("_bytes", "_pages")

    def __init__(self) -> None:
        self._bytes: dict[int, int] = {}
        self._pages: set[int] = set()  # where some byte was known: most of a memory holds data alone

    def store(self, place: int, width: int, value: int | Unknown) -> None:
        """Write so many bytes, the lowest first."""
        if isinstance(value, Unknown):
            self.forget(place, width)
            return
        self._pages.update((place // PAGE, (place + width - 1) // PAGE))
        for byte in range(width):
            self._bytes[place + byte] = value >> 8 * byte & 0xFF

    def forget(self, place: int, width: int) -> None:
        """Something unknown is written, to a page at the most."""
        if place // PAGE not in self._pages and (place + width - 1) // PAGE not in self._pages:
            return
        for byte in range(place, place + width):
            self._bytes.pop(byte, None)

    def load(self, place: int, width: int) -> int | None:
        """So many bytes as a number; None where one is not known."""
        value = 0
        for byte in range(width):
            part = self._bytes.get(place + byte)
            if part is None:
                return None
            value |= part << 8 * byte
        return value

    def all(self) -> frozenset[tuple[int, int]]:
        """The bytes that are known, by their places."""
        return frozenset(self._bytes.items())


def word_from(address: int) -> int:
    """A word whose four bytes were at an address and behind it: the addresses of all four as one number.

    >>> addresses_of(word_from(4096))
    (4096, 4097, 4098, 4099)
    """
    return address * _TIMES + _MORE


def addresses_of(word: int) -> tuple[int, ...]:
    """The addresses of the four bytes of a word."""
    return tuple([word >> 64 * byte & _ADDRESS for byte in range(4)])


class Origins:
    """Of shared memory, word by word, where its bytes come from; what is not known is not there.

    >>> shared = Origins()
    >>> shared.copy(64, 4096, 16)
    >>> addresses_of(shared.word(68)), shared.word(80)
    ((4100, 4101, 4102, 4103), None)
    """

    __slots__ = ("_words",)

    def __init__(self) -> None:
        self._words: dict[int, int] = {}

    def copy(self, place: int, source: int, size: int) -> None:
        """Bytes of global memory come to a place; only whole words are followed."""
        if place % 4 or size % 4:
            self.forget(place, size)
            return
        for offset in range(0, size, 4):
            self._words[place + offset] = word_from(source + offset)

    def store(self, place: int, word: int | Unknown) -> None:
        """A word of a register is stored."""
        if isinstance(word, Unknown) or place % 4:
            self.forget(place, 4)
        else:
            self._words[place] = word

    def forget(self, place: int, size: int) -> None:
        """Something else is written."""
        if self._words:
            for address in range(place & ~3, place + size, 4):
                self._words.pop(address, None)

    def clear(self) -> None:
        """Something else may be anywhere."""
        self._words.clear()

    def word(self, place: int) -> int | None:
        """The word at an address; None where it is not known."""
        return self._words.get(place)

    def bytes(self, places: Sequence[int]) -> int | None:
        """Four bytes as a word, wherever each of them lies."""
        word = 0
        for number, place in enumerate(places):
            stored = self._words.get(place & ~3)
            if stored is None:
                return None
            word |= (stored >> 64 * (place & 3) & _ADDRESS) << 64 * number
        return word
