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

from descriptors.check.execution.lanes import Unknown

#: Bytes that are looked for together.
PAGE = 64


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
