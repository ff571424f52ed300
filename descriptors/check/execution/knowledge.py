"""What a thread knows to be done: accesses of shared and tensor memory, and the order between them.

An access is a bit. A thread knows the accesses that happened before: its own, and those that it learned of where it
waited. Whoever arrives at a barrier tells it what it knows; whoever waits there learns it. So two accesses of the same
bytes, of which one writes, are in order exactly if the second's thread knows the first's bit when it begins; with no
clock there is nothing to compare. A second set of bits holds what was *published*: ordinary writes that a proxy fence
stood behind, before an asynchronous instruction reads them.

Memory is cut into segments at the ends of accesses; each has its last writer, and its readers since.
Source: PTX ISA 9.1, Memory Consistency Model (causality order, proxies), Async proxy; that a set of predecessors is a
clock is Fidge's and Mattern's of 1988.

Law: what is read after it was written, by one who knows, is in order; by one who does not, it is not.

>>> memory = Segments()
>>> list(memory.write(0, 64, Access(0, 10, "copy"), known=0))
[]
>>> [(one.earlier.line, one.place) for one in memory.read(32, 40, Access(1, 20, "load"), known=0)],
([(10, 32)],)
>>> list(memory.read(32, 40, Access(1, 20, "load"), known=1))
[]
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator
from typing import NamedTuple


class Access(NamedTuple):
    """One access.

    Args:
        bit: its number.
        line: of its instruction.
        kind: what it is, for a person.
        generic: whether it is an ordinary write, which asynchronous instructions see behind a fence alone.
        ordered: a number that accesses share which the hardware keeps in order among themselves; 0 for none.
        iteration: how often its warp had reached its instruction, that time included.
    """

    bit: int
    line: int
    kind: str
    generic: bool = False
    ordered: int = 0
    iteration: int = 0

    @property
    def this(self) -> str:
        """The kind as the subject of a sentence about this access.

        >>> [Access(0, 1, kind).this for kind in ("a store", "the deallocation", "cp.async")]
        ['this store', 'this deallocation', 'this cp.async']
        """
        article, _, noun = self.kind.partition(" ")
        return f"this {noun if article in ('a', 'an', 'the') else self.kind}"


class Clash(NamedTuple):
    """Two accesses that nothing orders.

    Args:
        earlier: the access that was there.
        wrote: whether it wrote.
        place: the first byte or cell that both touch.
        end: the byte or cell behind the last.
    """

    earlier: Access
    wrote: bool
    place: int
    end: int

    def fact(self, access: Access, cells: str, *, writes: bool) -> str:
        """State the conflict in a clause.

        Args:
            access: the later access.
            cells: what both access: bytes or columns.
            writes: whether the later access writes.

        >>> Clash(Access(0, 7, "a bulk copy"), True, 0, 4).fact(Access(1, 9, "a load"), "bytes", writes=False)
        'this load reads bytes that a bulk copy in line 7 may not have written yet'
        """
        verb = "overwrites" if writes else "reads"
        earlier = "may not have written yet" if self.wrote else "may still be reading"
        return f"{access.this} {verb} {cells} that {self.earlier.kind} in line {self.earlier.line} {earlier}"


#: Readers of a segment that are kept: more than a ring has rounds between two writes.
READERS = 256


class _Segment:
    __slots__ = ("end", "readers", "start", "writer")

    def __init__(self, start: int, end: int, writer: Access | None, readers: dict[int, Access]) -> None:
        self.start, self.end, self.writer, self.readers = start, end, writer, readers


class Segments:
    """A line of bytes, or of columns, and who touched what."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._rows: list[_Segment] = []

    def _cut(self, place: int) -> None:
        """Let a segment begin here, if one covers the place."""
        index = bisect_right(self._starts, place) - 1
        if index < 0:
            return
        row = self._rows[index]
        if row.start < place < row.end:
            self._starts.insert(index + 1, place)
            self._rows.insert(index + 1, _Segment(place, row.end, row.writer, row.readers))
            row.end, row.readers = place, dict(row.readers)

    def _covered(self, start: int, end: int) -> tuple[int, int]:
        """The first and the last but one of the segments between two places."""
        self._cut(start)
        self._cut(end)
        first = bisect_right(self._starts, start - 1)
        last = bisect_right(self._starts, end - 1)
        return first, last

    def writers_in(self, start: int, end: int) -> list[tuple[int, int, Access | None]]:
        """What wrote the bytes between two places: start, end, writer; None for what nobody wrote."""
        first, last = self._covered(start, end)
        writers: list[tuple[int, int, Access | None]] = []
        place = start
        for row in self._rows[first:last]:
            if row.start > place:
                writers.append((place, row.start, None))
            writers.append((row.start, row.end, row.writer))
            place = row.end
        if place < end:
            writers.append((place, end, None))
        return writers

    def segments_from(self, place: int) -> Iterator[tuple[int, int, Access | None]]:
        """The segments from that of a place on, one after the other: start, end, writer."""
        for index in range(max(0, bisect_right(self._starts, place) - 1), len(self._rows)):
            row = self._rows[index]
            yield row.start, row.end, row.writer

    def segments(self) -> Iterator[tuple[int, int, Access | None, Collection[Access]]]:
        """All segments in order: start, end, who wrote it last, and who read it since."""
        for row in self._rows:
            yield row.start, row.end, row.writer, row.readers.values()

    def write(self, start: int, end: int, access: Access, known: int) -> Iterator[Clash]:
        """Write, and tell what is not known to be done of those who touched it before."""
        first, last = self._covered(start, end)
        for row in self._rows[first:last]:
            writer = row.writer
            if writer is not None and not known >> writer.bit & 1 and not _ordered(writer, access):
                yield Clash(writer, True, row.start, row.end)
            for bit, reader in row.readers.items():
                if not known >> bit & 1 and not _ordered(reader, access):
                    yield Clash(reader, False, row.start, row.end)
        self._starts[first:last] = [start]
        self._rows[first:last] = [_Segment(start, end, access, {})]

    def read(self, start: int, end: int, access: Access, known: int) -> Iterator[Clash]:
        """Read, and tell what is not known to be done of those who wrote it."""
        first, last = self._covered(start, end)
        place, gaps = start, []
        for row in self._rows[first:last]:
            if row.start > place:
                gaps.append((place, row.start))
            place = row.end
            row.readers[access.bit] = access
            if len(row.readers) > READERS:
                del row.readers[next(iter(row.readers))]
            writer = row.writer
            if writer is not None and not known >> writer.bit & 1 and not _ordered(writer, access):
                yield Clash(writer, True, row.start, row.end)
        if place < end:
            gaps.append((place, end))
        for low, high in gaps:
            index = bisect_right(self._starts, low)
            self._starts.insert(index, low)
            self._rows.insert(index, _Segment(low, high, None, {access.bit: access}))

    def clear(self, start: int, end: int) -> None:
        """Forget what was there."""
        first, last = self._covered(start, end)
        del self._starts[first:last], self._rows[first:last]


def _ordered(first: Access, second: Access) -> bool:
    return first.ordered == second.ordered != 0
