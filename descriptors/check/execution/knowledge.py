"""Order of accesses to shared and tensor memory: which accesses a thread knows to be complete.

An access is a bit. A thread knows its own earlier accesses and those that it learned of by waiting: a thread that
arrives at a barrier passes on the accesses it knows, and a thread that waits there learns them. Two accesses of the
same bytes, one of which writes, are therefore ordered exactly if the second thread knows the bit of the first access
when it begins. No clocks are compared. A second set of bits holds the *published* writes: ordinary writes that a proxy
fence follows, which asynchronous instructions may read.

Memory is divided into segments at the ends of accesses. Each segment has its last writer, and its readers since then.

Source: PTX ISA 9.1, Memory Consistency Model (causality order, proxies), Async proxy; sets of predecessors as clocks
are due to Fidge and Mattern (1988).

Invariant: a read is ordered after a write if its thread knows the write, and not otherwise.

>>> memory = Segments()
>>> list(memory.write(0, 64, Access(0, 10, "copy"), known=0))
[]
>>> [(clash.earlier.line, clash.place) for clash in memory.read(32, 40, Access(1, 20, "load"), known=0)],
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
        line: line of its instruction.
        kind: what it is, for messages.
        generic: whether it is an ordinary write, which asynchronous instructions see only after a fence.
        ordered: a number shared by accesses that the hardware orders among themselves; 0 for none.
        iteration: how often its warp had reached its instruction, including this time.
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
    """Two accesses that are not ordered.

    Args:
        earlier: the earlier access.
        wrote: whether it wrote.
        place: the first byte or column that both access.
        end: the byte or column after the last.
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


#: Largest number of readers of a segment: more than a ring has iterations between two writes.
READERS = 256


class _Segment:
    __slots__ = ("end", "readers", "start", "writer")

    def __init__(self, start: int, end: int, writer: Access | None, readers: dict[int, Access]) -> None:
        self.start, self.end, self.writer, self.readers = start, end, writer, readers


class Segments:
    """A range of bytes or columns, with the accesses to it."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._rows: list[_Segment] = []

    def _cut(self, place: int) -> None:
        """Divide the segment that contains a place, so that one begins there."""
        index = bisect_right(self._starts, place) - 1
        if index < 0:
            return
        segment = self._rows[index]
        if segment.start < place < segment.end:
            self._starts.insert(index + 1, place)
            self._rows.insert(index + 1, _Segment(place, segment.end, segment.writer, segment.readers))
            segment.end, segment.readers = place, dict(segment.readers)

    def _covered(self, start: int, end: int) -> tuple[int, int]:
        """Return the index of the first segment between two places, and the index after the last."""
        self._cut(start)
        self._cut(end)
        first = bisect_right(self._starts, start - 1)
        last = bisect_right(self._starts, end - 1)
        return first, last

    def writers_in(self, start: int, end: int) -> list[tuple[int, int, Access | None]]:
        """Return (start, end, writer) for each segment of a range; the writer is None for unwritten bytes."""
        first, last = self._covered(start, end)
        writers: list[tuple[int, int, Access | None]] = []
        place = start
        for segment in self._rows[first:last]:
            if segment.start > place:
                writers.append((place, segment.start, None))
            writers.append((segment.start, segment.end, segment.writer))
            place = segment.end
        if place < end:
            writers.append((place, end, None))
        return writers

    def segments_from(self, place: int) -> Iterator[tuple[int, int, Access | None]]:
        """Yield (start, end, writer) of the segments from the one at a place on."""
        for index in range(max(0, bisect_right(self._starts, place) - 1), len(self._rows)):
            segment = self._rows[index]
            yield segment.start, segment.end, segment.writer

    def segments(self) -> Iterator[tuple[int, int, Access | None, Collection[Access]]]:
        """Yield all segments in order: start, end, last writer, and readers since then."""
        for segment in self._rows:
            yield segment.start, segment.end, segment.writer, segment.readers.values()

    def write(self, start: int, end: int, access: Access, known: int) -> Iterator[Clash]:
        """Record a write and yield the earlier accesses that are not known to be complete."""
        first, last = self._covered(start, end)
        for segment in self._rows[first:last]:
            writer = segment.writer
            if writer is not None and not known >> writer.bit & 1 and not _ordered(writer, access):
                yield Clash(writer, True, segment.start, segment.end)
            for bit, reader in segment.readers.items():
                if not known >> bit & 1 and not _ordered(reader, access):
                    yield Clash(reader, False, segment.start, segment.end)
        self._starts[first:last] = [start]
        self._rows[first:last] = [_Segment(start, end, access, {})]

    def read(self, start: int, end: int, access: Access, known: int) -> Iterator[Clash]:
        """Record a read and yield the earlier writes that are not known to be complete."""
        first, last = self._covered(start, end)
        place, gaps = start, []
        for segment in self._rows[first:last]:
            if segment.start > place:
                gaps.append((place, segment.start))
            place = segment.end
            segment.readers[access.bit] = access
            if len(segment.readers) > READERS:
                del segment.readers[next(iter(segment.readers))]
            writer = segment.writer
            if writer is not None and not known >> writer.bit & 1 and not _ordered(writer, access):
                yield Clash(writer, True, segment.start, segment.end)
        if place < end:
            gaps.append((place, end))
        for low, high in gaps:
            index = bisect_right(self._starts, low)
            self._starts.insert(index, low)
            self._rows.insert(index, _Segment(low, high, None, {access.bit: access}))

    def clear(self, start: int, end: int) -> None:
        """Remove the segments of a range."""
        first, last = self._covered(start, end)
        del self._starts[first:last], self._rows[first:last]


def _ordered(first: Access, second: Access) -> bool:
    return first.ordered == second.ordered != 0
