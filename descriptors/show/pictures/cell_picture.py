"""Draw the content of tensor memory over its lanes and columns: an accumulator, an operand, or a load or copy.

One panel shows every lane and column, with the first coordinate as a shade. The other enlarges the first lanes and
columns and shows whole coordinates. Frames mark the loads of a readout, or the scale factors that a K step reads.

Invariant: the coordinate in a cell of the enlarged panel is the one that the layout maps to that cell.

>>> from descriptors.tmem.accumulator import accumulator
>>> numbers = CellsPicture(accumulator(64, 128)).record()
>>> numbers["lanes"][:3], numbers["corner"][1][2], numbers["columns"]
((0, 1, 2), (((1, 2), 32),), 128)
"""

from __future__ import annotations

from itertools import product
from typing import Any

from descriptors.errors import DescriptorError
from descriptors.show.pictures.panels import Frame, every, story, table, ticks, type_size
from descriptors.show.pictures.tile_picture import beam
from descriptors.text import counted
from descriptors.tmem.copied import Copied
from descriptors.tmem.copies import TmemCopy
from descriptors.tmem.geometry import CELL_BITS, LANES, QUARTER
from descriptors.tmem.moves import TmemMove
from descriptors.tmem.readout import Readout
from descriptors.tmem.reductions import TmemReduction
from descriptors.tmem.scale_factors import ScaleFactors
from descriptors.tmem.tmem_fragment import TmemFragment
from layoutalg import Figure, Picture, Scene, size
from layoutalg.frozen import frozen, replace

#: The answers that have this picture: a fragment, or an answer that contains one.
Held = TmemFragment | TmemMove | TmemReduction | TmemCopy | Copied | ScaleFactors | Readout

#: Top of the panels, height of a lane in each, largest width of the whole panel and of a cell in it.
TOP, LOW, HIGH, WIDE, WIDEST = 118, 3, 24, 330, 24
#: The enlarged panel: number of lanes, largest number of parts in a row, smallest width of a part, largest total width.
FEW_LANES, FEW_PARTS, PART, ACROSS = 16, 8, 56, 456
#: The width of the lane numbers next to the enlarged panel.
BESIDE = 28
#: The largest number of elements of a fragment, and the largest number of frames.
MOST_ELEMENTS, MOST_FRAMES = 1 << 20, 64

#: Modes that distinguish tiles; they are shown as colors instead of shades.
_TILES = ("M tile", "N tile")

#: The coordinate of each part of a cell, lowest bits first, and how many bits it has.
Parts = tuple[tuple[tuple[int, ...], int], ...]


@frozen
class CellsPicture(Picture):
    """The picture of a content of tensor memory.

    Args:
        answer: the content.
    """

    answer: Held

    @property
    def fragment(self) -> TmemFragment:
        """The fragment, which maps elements to cells."""
        answer = self.answer
        if isinstance(answer, TmemFragment):
            return answer
        return answer.fragment if isinstance(answer, Readout) else answer.cells

    def record(self) -> dict[str, Any]:
        """Return the numbers that are drawn: lanes, the first coordinate in each cell, and the cells of the corner."""
        contents, columns = self.cells(), self.fragment.columns
        lanes = tuple(sorted({lane for lane, _ in contents}))
        return {
            "kind": "cells",
            "what": self.fragment.what,
            "modes": self._modes(),
            "lanes": lanes,
            "columns": columns,
            "first": [[_first(contents, lane, column) for column in range(columns)] for lane in range(LANES)],
            "corner": self._corner(contents),
            "frames": self._frames(),
        }

    def cells(self) -> dict[tuple[int, int], Parts]:
        """Return the coordinates in each (lane, column); the first one if several are at the same bits.

        Raises:
            DescriptorError: if there are too many elements.

        >>> from descriptors.tmem.moves import tmem_move
        >>> CellsPicture(tmem_move("16x256b.x1")).cells()[9, 3]
        (((5, 3), 32),)
        """
        fragment = self.fragment
        shown = [fragment.modes.index(mode) for mode in self._modes()]
        contents: dict[tuple[int, int], list[tuple[tuple[int, ...], int]]] = {}
        for place, whole in sorted(elements(fragment).items()):
            coordinate = tuple(whole[mode] for mode in shown)
            parts = contents.setdefault((place >> 21, place >> 5 & 0xFFFF), [])
            if parts and fragment.bits == 1 and parts[-1][0] == coordinate:  # the next bit of the same
                parts[-1] = (parts[-1][0], parts[-1][1] + 1)
            else:
                parts.append((coordinate, fragment.bits))
        return {cell: tuple(parts) for cell, parts in contents.items()}

    def scene(self) -> Scene:
        """Draw every lane and column, and the first of them enlarged."""
        figure, (title, sentence) = Figure(), self.heading()
        self.panels(figure, figure.heading(0, 0, title, sentence) + 62)
        return figure.scene(title, sentence)

    def panels(self, figure: Figure, top: float) -> tuple[Frame, Frame]:
        """Draw both panels and the legend, and return the frames of the cells of both panels.

        Args:
            figure: the figure to draw on.
            top: the upper edge of the cells.
        """
        contents, columns = self.cells(), self.fragment.columns
        whole = Frame(78, top, min(WIDE, WIDEST * columns), LOW * LANES, LANES, columns)
        figure.panel_heading(0, top - 40, "Lanes and columns", role="accent")
        left = max(whole.x + whole.width + 70, 250)
        entries = [*self._whole(figure, whole, contents), ("faint", "empty")]
        corner = self._enlarged(figure, whole, left, contents)
        if self._frames():
            entries.append(("subtile", "one load" if isinstance(self.answer, Readout) else "what a K step reads"))
        empty = len(contents) < LANES * columns
        figure.legend(0, whole.y + whole.height + 26, [entry for entry in entries if empty or entry[0] != "faint"])
        return whole, corner

    def text(self, *, color: bool = False, width: int | None = None) -> str:
        """Return the first lanes and columns as a table."""
        corner = self._corner(self.cells())
        rows = [["|".join(_labels(parts)) or "." for parts in row] for row in corner]
        left, top = [f"lane {lane}" for lane in range(len(rows))], [f"c{column}" for column in range(len(rows[0]))]
        return story([*self.heading(), "", *table(rows, left=left, top=top, color=color)], width)

    def _modes(self) -> tuple[str, ...]:
        """Return the modes that are shown: all except bits, copies, and a mode of a single tile."""
        named = zip(self.fragment.modes, self.fragment.layout, strict=True)
        return tuple(mode for mode, layout in named
                     if mode not in ("bit", "copy") and not (mode in _TILES and size(layout) == 1))  # fmt: skip

    def _corner(self, contents: dict[tuple[int, int], Parts]) -> list[list[Parts]]:
        """Return the cells of the first lanes, and of as many columns as fit."""
        most = max(len(_labels(parts)) for parts in contents.values())
        longest = max(len(label) for parts in contents.values() for label in _labels(parts))
        columns = int(min(FEW_PARTS, ACROSS // _width(longest))) // most
        columns = min(self.fragment.columns, max(columns, 1))
        return [[contents.get((lane, column), ()) for column in range(columns)] for lane in range(FEW_LANES)]

    def _frames(self) -> list[tuple[int, int, int, int]]:
        """Return first lane, first column, number of lanes and number of columns of each frame."""
        answer = self.answer
        if isinstance(answer, Readout):
            move = answer.move
            return [(load.lane, load.column, move.lanes, move.columns) for load in answer.loads][:MOST_FRAMES]
        if isinstance(answer, ScaleFactors):
            columns = dict.fromkeys(place.column for place in answer.places)
            return [(0, column, LANES, 1 + self._last(column)) for column in columns]
        return []

    def _last(self, column: int) -> int:
        """Return the number of columns of the factors of a K step, minus one."""
        assert isinstance(self.answer, ScaleFactors)
        later = [place.column for place in self.answer.places if place.column > column]
        return min([*later, self.fragment.columns]) - column - 1

    def _roles(
        self, contents: dict[tuple[int, int], Parts]
    ) -> tuple[dict[tuple[int, int], str], list[tuple[str, str]]]:
        """Return the fill role of each cell, by its first coordinate or by its tile, and the legend."""
        modes = self._modes()
        tiles = [i for i, mode in enumerate(modes) if mode in _TILES]
        numbers = {place: tuple(parts[0][0][i] for i in tiles or [0]) for place, parts in contents.items()}
        order = {number: rank for rank, number in enumerate(sorted(set(numbers.values())))}
        if tiles:
            roles = {place: Figure.kind(order[number]) for place, number in numbers.items()}
            return roles, [(Figure.kind(rank), f"tile {_label(number)}") for number, rank in list(order.items())[:8]]
        count = 1 + max(number[0] for number in order)
        roles = {place: Figure.step(number[0], count) for place, number in numbers.items()}
        return roles, [("r0", f"{modes[0]} 0"), ("r7", f"{modes[0]} {count - 1}")]

    def _whole(self, figure: Figure, frame: Frame, contents: dict[tuple[int, int], Parts]) -> list[tuple[str, str]]:
        """Draw every cell, and return the legend."""
        roles, entries = self._roles(contents)
        table_ = [[roles.get((lane, column), "faint") for column in range(frame.columns)] for lane in range(LANES)]
        figure.cells(frame.x, frame.y, *frame.step, table_)
        figure.border(*frame.box, "tile", rows=[frame.height * i / 4 for i in range(1, 4)], line=1.6)
        for (
            lane,
            column,
            lanes,
            columns,
        ) in self._frames():  # drawn over the border, which would hide a frame of all columns
            figure.border(*frame.cell(lane, column, lanes, columns), "subtile", line=1.6)
        for warp in range(LANES // QUARTER):
            middle = frame.y + frame.height * (warp + 0.5) / 4
            figure.text(0, middle, f"warp {warp}", "ink", Figure.LABEL, bold=True)
            figure.text(
                0, middle + 15, f"lanes {QUARTER * warp}\u2013{QUARTER * warp + QUARTER - 1}", "muted", Figure.LABEL
            )
        skip = every(frame.columns, frame.step[0], 28)
        names = [(frame.cell(0, column)[0] + frame.step[0] / 2, frame.y - 8, str(column))
                 for column in range(0, frame.columns, skip)]  # fmt: skip
        figure.texts(names, "muted", Figure.LABEL, "middle", mono=True)
        return entries

    def _enlarged(self, figure: Figure, whole: Frame, x: float, contents: dict[tuple[int, int], Parts]) -> Frame:
        """Draw the first lanes and columns with their coordinates. A cell with several elements is divided."""
        corner = self._corner(contents)
        most = max(len(_labels(parts)) for row in corner for parts in row) or 1
        rows, columns = len(corner), len(corner[0])
        labels = [[label for parts in row for label in (*_labels(parts), *[""] * most)[:most]] for row in corner]
        longest = max(len(label) for row in labels for label in row)
        wide = max(PART, _width(longest))
        y = whole.y
        frame = Frame(x, y, wide * columns * most, HIGH * rows, rows, columns)
        figure.border(*whole.cell(0, 0, rows, columns), "chunk", line=1.6)
        beam(figure, whole, whole.cell(0, 0, rows, columns), replace(frame, x=x - BESIDE))
        roles = [["r1" if parts else "faint" for parts in row for _ in range(most)] for row in corner]
        figure.panel_heading(x, y - 40, "First lanes and columns", right=f"a number: {', '.join(self._modes())}")
        cell = frame.step[0] / most, HIGH
        written = type_size(labels, *cell)
        figure.table(x, y, *cell, roles, labels if written else (), size=written or 10)
        figure.border(*frame.box, "chunk", columns=[frame.width * j / columns for j in range(1, columns)], line=2.4)
        names = [str(column) for column in range(columns)]
        ticks(figure, frame, [str(lane) for lane in range(rows)], names, Figure.LABEL)
        return frame

    def heading(self) -> tuple[str, str]:
        """Return the title and the sentence below it."""
        return self._title(), self._sentence()

    def _title(self) -> str:
        answer, title = self.answer, self.fragment.what
        if isinstance(answer, (TmemMove, TmemReduction, ScaleFactors)):
            title = answer.headline.partition(": ")[0]
        if isinstance(answer, Readout):
            loads, move = counted(len(answer.loads) // 4, "load"), answer.move
            title += f", read by {loads} {move.shape}.x{move.num} per warp"
        if isinstance(answer, Copied):
            title += f", copied by {len(answer.steps)} {answer.copy.name}"
        return title if title.startswith("tcgen05") else title[:1].upper() + title[1:]

    def _shown(self) -> str:
        """Return the meaning of the fill of a cell."""
        tiles = [mode for mode in self._modes() if mode in _TILES]
        return f"the color is the {' and '.join(tiles)}" if tiles else f"the shade is {self._modes()[0]}"

    def _sentence(self) -> str:
        bits, name = self.fragment.bits, self.fragment.name
        packed = f"; {CELL_BITS // bits} elements of {bits} bits share a cell" if 1 < bits < CELL_BITS else ""
        copies = dict(zip(self.fragment.modes, self.fragment.layout, strict=True)).get("copy")
        again = f", in {size(copies)} copies" if copies is not None and size(copies) > 1 else ""
        how = self.fragment.evidence
        return (
            f"{name[:1].upper()}{name[1:]}. Lanes down, columns across, a cell is {CELL_BITS} bits{packed}; "
            f"{self._shown()}{again}. {how[:1].upper()}{how[1:]}."
        )


def elements(fragment: TmemFragment) -> dict[int, tuple[int, ...]]:
    """Return the coordinate of each element by its place, ``lane << 21 | column << 5 | bit``; the first of several.

    Raises:
        DescriptorError: if there are too many elements.

    >>> from descriptors.tmem.accumulator import accumulator
    >>> elements(accumulator(64, 32))[33 << 21 | 5 << 5][:2]
    (17, 5)
    """
    layout, bits = fragment.layout, fragment.bits
    if size(layout) > MOST_ELEMENTS:
        raise DescriptorError(f"picture: there are {size(layout)} elements, but at most {MOST_ELEMENTS} are drawn")
    modes = [[_number(mode(index)) * bits for index in range(size(mode))] for mode in layout]
    place_of: dict[int, tuple[int, ...]] = {}
    for coordinate in product(*(range(len(offsets)) for offsets in modes)):
        place = sum(offsets[index] for offsets, index in zip(modes, coordinate, strict=True))
        place_of.setdefault(place, coordinate)
    return place_of


def _number(offset: object) -> int:
    assert isinstance(offset, int)
    return offset


def _first(contents: dict[tuple[int, int], Parts], lane: int, column: int) -> int | None:
    parts = contents.get((lane, column))
    return parts[0][0][0] if parts else None


def _width(longest: int) -> float:
    """Return the width of a part whose label has a number of characters."""
    return Figure.width_of("0" * longest, Figure.LEAST, mono=True) + 8


def _labels(parts: Parts) -> tuple[str, ...]:
    """Return the labels of a cell: each coordinate, or the first and the last if there are too many.

    >>> _labels((((3, 0), 16), ((3, 1), 16)))
    ('3,0', '3,1')
    """
    labels = tuple(_label(coordinate) for coordinate, _ in parts)
    return labels if len(labels) <= FEW_PARTS else (f"{labels[0]} to {labels[-1]}",)


def _label(coordinate: tuple[int, ...]) -> str:
    return ",".join(map(str, coordinate))
