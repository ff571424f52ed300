"""Draw the addresses where a layout stores the elements of an operand, and those from which a descriptor reads them.

>>> from descriptors import diff
>>> difference = diff(1 << 62 | 32 << 32, "S<3,3,3> o 0 o (64,16):(64,1)", arch="sm90", dtype="bf16", major="K")
>>> rows = DifferencePicture(difference).record()
>>> rows["stored"][8], rows["read"][8]
([1024, 1040], [576, 592])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from descriptors.show.pictures.panels import (
    Frame,
    border,
    every,
    fill,
    hairs,
    spaced,
    story,
    table,
    ticks,
    times,
)
from descriptors.show.pictures.word_picture import field_role, word_panel
from descriptors.smem.debug.decode import decode
from descriptors.smem.debug.diff import Diff
from descriptors.smem.proof.addresses import address_bits, fetched_rows, stored_rows
from descriptors.smem.proof.mismatch import Mismatch
from descriptors.smem.words.descriptor import smem_word, window_bytes, with_version
from descriptors.text import word_text
from layoutalg import Figure, Picture, Scene
from layoutalg.frozen import frozen

#: The width of the bar of a descriptor, the height of a panel, the top of the panels.
WIDE, DOWN, TOP = Figure.ROOM - 16, 768, 112
#: The width of the sentences next to the panels, and the smallest height of a cell that is framed.
SIDE, LEAST = 246, 10
#: The fill role of a cell with a wrong address.
_WRONG = field_role("", moves=("",))


@frozen
class DifferencePicture(Picture):
    """The picture of a comparison of a descriptor with a layout.

    Args:
        diff: the comparison.
    """

    diff: Diff

    def record(self) -> dict[str, Any]:
        """Return the numbers that are drawn: the address of each 16 bytes, as stored and as read."""
        stored, read, wrong = self._tables()
        return {
            "kind": "diff",
            "word": word_text(self.diff.word),
            "right_word": None if self.diff.right_word is None else word_text(self.diff.right_word),
            "differing": self.diff.differing,
            "stored": stored,
            "read": read,
            "wrong": wrong,
        }

    def scene(self) -> Scene:
        """Draw both tables next to each other with the wrong cells marked, and the two descriptors below."""
        figure = Figure()
        stored, read, wrong = self._tables()
        sentence = self._sentence()
        figure.heading(0, 0, self._title(), sentence, room=WIDE)
        wide, high = self._size(stored)
        order = {address: rank for rank, address in enumerate(sorted({address for row in stored for address in row}))}
        panels: list[Frame] = []
        tables: tuple[tuple[str, Sequence[Sequence[int | None]]], ...] = (
            ("Stored by the layout", stored), ("Read through the descriptor", read),
        )  # fmt: skip
        gap = 150 if wide < 400 else 90
        for x, (name, cells) in zip((70, 70 + wide + gap), tables, strict=True):
            frame = Frame(x, TOP, wide, high, len(cells), len(cells[0]))
            figure.text(x, TOP - 30, name, "ink", figure.HEADING, bold=True)
            wrongs = wrong if panels else [[False] * len(row) for row in cells]
            roles = [[self._role(address, order, bad) for address, bad in zip(*row, strict=True)]
                     for row in zip(cells, wrongs, strict=True)]  # fmt: skip
            labels = [list(map(_address_text, row)) for row in cells]
            if not fill(figure, frame, roles, labels):
                self._some(figure, frame, labels)
            hairs(figure, frame)
            self._axes(figure, frame, not panels)
            panels.append(frame)
        self._marks(figure, panels, stored, read, wrong)
        for frame in panels:
            border(figure, frame, "tile")
        beside = panels[1].x + wide + 50
        foot = TOP + high + 56
        if beside + SIDE <= WIDE:
            self._side(figure, beside, TOP + 8)
        else:
            foot = self._side(figure, 0, TOP + high + 44) + 26
        foot = self._words(figure, foot)
        figure.legend(0, foot + 24, self._legend(), WIDE)
        return figure.scene(self._title(), sentence)

    def text(self, *, color: bool = False, width: int | None = None) -> str:
        """Return a table with the address of each 16 bytes, and both addresses if it is read from elsewhere."""
        stored, read, wrong = self._tables()
        cells = [
            [f"{a}>{_address_text(b)}" if bad else f"{a}" for a, b, bad in zip(*row, strict=True)]
            for row in zip(stored, read, wrong, strict=True)
        ]
        roles = [["c7" if bad else "r1" for bad in row] for row in wrong]
        u, v = self._unit()
        left = [str(i * u) for i in range(len(cells))]
        top = [str(j * v) for j in range(len(cells[0]))]
        lines = [self._title(), self._sentence(), "", *table(cells, roles, left=left, top=top, color=color)]
        return story(lines, width)

    def _unit(self) -> tuple[int, int]:
        many = self.diff.element.per_16_bytes
        return (1, many) if self.diff.major.contiguous_mode else (many, 1)

    def _tables(self) -> tuple[list[list[int]], list[list[int | None]], list[list[bool]]]:
        """Return the byte address of each 16 bytes as stored and as read, and whether any of its elements differs.

        A descriptor without a documented meaning reads no address: None.
        """
        d, (u, v) = self.diff, self._unit()
        stored = stored_rows(
            d.layout, d.element, base=d.base, pattern_start=d.pattern_start, window=window_bytes(d.arch)
        )
        mn, k = d.shape
        read: Sequence[Sequence[int | None]] = [[None] * k] * mn
        if not d.unreadable:
            word = with_version(d.word, d.arch)
            read = fetched_rows([word], arch=d.arch, element=d.element, major=d.major, shape=d.shape)[0]
        scale = 8 // address_bits(d.element)
        heads = [(i, j) for i in range(0, mn, u) for j in range(0, k, v)]
        wide = -(-k // v)
        wrong = [
            any(stored[a][b] != read[a][b] for a in range(i, min(i + u, mn)) for b in range(j, min(j + v, k)))
            for i, j in heads
        ]
        stored_bytes = [stored[i][j] // scale for i, j in heads]
        read_bytes = [None if (address := read[i][j]) is None else address // scale for i, j in heads]
        rows = [slice(n, n + wide) for n in range(0, len(heads), wide)]
        return [stored_bytes[row] for row in rows], [read_bytes[row] for row in rows], [wrong[row] for row in rows]

    def _size(self, cells: list[list[int]]) -> tuple[float, float]:
        """Return width and height of a panel in which each address fits, if there are not too many."""
        rows, columns = len(cells), len(cells[0])
        high = rows * (22 if rows <= 20 else 12 if rows <= 64 else max(DOWN / rows, 3))
        longest = max(len(str(address)) for row in cells for address in row)
        wide = columns * (6.1 * longest + 8) if columns <= 16 else 540
        return max(200, round(wide)), round(high)

    def _role(self, address: int | None, order: dict[int, int], wrong: bool) -> str:
        """Return the fill role of an address: its rank among the stored addresses, or that of a wrong address."""
        return _WRONG if wrong or address is None else Figure.step(order[address], len(order))

    def _some(self, figure: Figure, frame: Frame, labels: list[list[str]]) -> None:
        """Write the numbers of every few rows if the rows are too low for all, and wide enough."""
        wide, high = frame.step
        skip = max(every(frame.rows, high, 24), 8)
        if figure.width_of(labels[-1][-1], 10, mono=True) + 4 > wide or frame.rows < 2 * skip:
            return
        for i in range(0, frame.rows, skip):
            y = frame.y + i * high + 11
            figure.texts(
                ((frame.x + (j + 0.5) * wide, y, label) for j, label in enumerate(labels[i])), "ink", 10, "middle",
                mono=True,
            )  # fmt: skip

    def _axes(self, figure: Figure, frame: Frame, first: bool) -> None:
        """Write the first elements of columns, and of the rows for the first panel, which has the same rows."""
        u, v = self._unit()
        rows = [str(i * u) for i in range(frame.rows)] if first else []
        ticks(figure, frame, rows, [str(j * v) for j in range(frame.columns)])
        if first:
            figure.text(frame.x - 8, frame.y - 8, "mn\\k", "muted", 10.5, "end", mono=True)

    def _marks(
        self,
        figure: Figure,
        panels: list[Frame],
        stored: list[list[int]],
        read: list[list[int | None]],
        wrong: list[list[bool]],
    ) -> None:
        """Frame the first wrong cell and the cell whose address it reads, and draw an arrow between them."""
        left, right = panels
        if not any(map(any, wrong)):
            return
        cell_of = {address: (i, j) for i, row in enumerate(stored) for j, address in enumerate(row)}
        first = next((i, j) for i, row in enumerate(wrong) for j, bad in enumerate(row) if bad)
        if right.step[1] >= LEAST:
            figure.border(*right.cell(*first), "subtile", line=2)
        address = read[first[0]][first[1]]
        if source := None if address is None else cell_of.get(address):
            figure.border(*left.cell(*source), "subtile", line=2)
            y, v = (frame.y + (row + 0.5) * frame.step[1] for frame, row in ((left, source[0]), (right, first[0])))
            figure.arrow([(left.x + left.width + 6, y), (right.x - 5, v)], "bad", 1.8)

    def _side(self, figure: Figure, x: float, y: float) -> float:
        """Write the verdict, the first elements that differ, and the changes; return the lower edge."""
        d, room = self.diff, SIDE if x else WIDE
        y = figure.paragraph(x, y, d.headline + ".", room, "bad" if d.differing else "good" if d.ok else "ink", 15) + 6
        for mismatch in d.mismatches[:3]:
            y = figure.paragraph(x, y, _mismatch_text(mismatch), room) + 3
        for change in d.changes:
            words = f"Change {change.field} from {change.found} to {change.right}."
            y = figure.paragraph(x, y + 4, words, room, "ink")
        return y

    def _words(self, figure: Figure, y: float) -> float:
        """Draw the descriptor with its wrong fields marked, and the right descriptor below it."""
        d = self.diff
        changed = tuple(change.field for change in d.changes)
        words = [("The descriptor", d.word)]
        if d.right_word is not None and d.right_word != d.word:
            words.append(("The right descriptor", d.right_word))
        for name, word in words:
            decoded = decode(word, d.arch, dtype=d.element, major=d.right_major or d.major, shape=d.shape)
            figure.text(0, y, f"{name}: {word_text(word)}", "ink", 15, bold=True)
            y = word_panel(figure, 0, y + 30, WIDE, smem_word(d.arch), word, moves=changed, idle=decoded.dont_care) + 44
        return y - 44

    def _title(self) -> str:
        d = self.diff
        if not d.differing:
            undecided = "" if d.ok else " (undecided)"
            return f"{word_text(d.word)} reads every element from where it is stored{undecided}"
        if d.unreadable:
            return f"{word_text(d.word)} has no documented meaning"
        elements = f"{spaced(d.differing)} of {spaced(d.shape[0] * d.shape[1])} elements"
        return f"{word_text(d.word)} reads {elements} from elsewhere"

    def _sentence(self) -> str:
        d = self.diff
        base = f" at byte {spaced(d.base)}" if d.base else ""
        return (
            f"{d.arch}, {d.element}, {d.major}-major, {times(d.shape)}: {d.layout}{base}. A cell is 16 bytes, a number "
            "is its address, and a shade of blue its order in the layout."
        )

    def _legend(self) -> list[tuple[str, str]]:
        entries = [
            ("r0", "first as stored"),
            ("r7", "last as stored"),
        ]
        if not self.diff.differing:
            return entries
        fields = " or a field to change" * bool(self.diff.changes)
        return [*entries, (_WRONG, f"read from elsewhere{fields}")]


def _address_text(address: int | None) -> str:
    return "-" if address is None else str(address)


def _mismatch_text(mismatch: Mismatch) -> str:
    unit, stored = mismatch.unit, mismatch.expected
    return f"Element {mismatch.coordinate}: stored at {unit} {stored}, read at {mismatch.found}."
