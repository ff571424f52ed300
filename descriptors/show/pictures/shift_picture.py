"""Draw the taps of a filter row of a shift convolution: the activation in each lane, and the new and masked lanes.

Invariant: a cell that is not masked and has an output shows the activation that the tap reads, as w in the image row.

>>> from descriptors.tmem.shift_convolution import shift_convolution
>>> convolution = shift_convolution(2, 9, 9, 16, 16, (3, 3), (1, 1))
>>> for panel in ShiftPicture(convolution).record()["taps"]:
...     for lane in range(18):
...         w = lane % 9 + panel["s"] - 1
...         assert panel["held"][lane] == ([lane // 9, w] if lane not in panel["masked"] else panel["held"][lane])
...         assert (lane in panel["masked"]) == (not 0 <= w < 9)
"""

from __future__ import annotations

from typing import Any

from descriptors.errors import DescriptorError
from descriptors.show.pictures.panels import Frame, border, fill, story
from descriptors.text import counted
from descriptors.tmem.geometry import LANES, QUARTER
from descriptors.tmem.shift_convolution import ShiftConvolution
from descriptors.tmem.shift_steps import ShiftStep
from layoutalg import Figure, Picture, Scene
from layoutalg.frozen import frozen

#: Width and height of a cell, the left edge of the lanes, and the largest number of taps.
CELL, LEFT, MOST_TAPS = (26, 22), 84, 11


@frozen
class ShiftPicture(Picture):
    """The picture of the first filter row of a tile, tap by tap.

    Args:
        convolution: the convolution.
        row: the output row.
        tile: the tile of that row.

    Raises:
        DescriptorError: when it is drawn, if there is no such row or tile, or the filter row has too many taps.
    """

    convolution: ShiftConvolution
    row: int = 0
    tile: int = 0

    def record(self) -> dict[str, Any]:
        """Return the numbers that are drawn."""
        problem = self.convolution.problem
        return {
            "kind": "shift",
            "row": self.row,
            "tile": self.tile,
            "filter_row": self._taps()[0].tap.r if self._taps() else None,
            "taps": [
                {
                    "s": step.tap.s,
                    "held": [self._content(place) for place in self._places(step)],
                    "new": self._new(number),
                    "masked": list(step.masked_lanes()),
                }
                for number, step in enumerate(self._taps())
            ],
            "outputs": [problem.output(self._first + lane) is not None for lane in range(self._lanes)],
        }

    def scene(self) -> Scene:
        """Draw a panel for each tap, with a line for each quarter of 32 lanes."""
        figure, taps, wide = Figure(), self._taps(), CELL[0] * QUARTER
        title = f"{counted(len(taps), 'tap')} of a filter row: A moves by one lane per tap"
        y = figure.heading(0, 0, title, self._sentences(), LEFT + wide) + 16
        images = sorted({content[0] for step in taps for content in map(self._content, self._places(step)) if content})
        more = len(images) > 8  # there are only eight colors
        entries = [(Figure.kind(n), f"image {n}, {n + 8}, ..." if more else f"image {n}") for n in images[:8]]
        entries += [("faint", "no activation"), ("subtile", "masked: D is not written"), ("atom", "a new row")]
        y = figure.legend(LEFT, y, entries, wide) + 26
        for number, step in enumerate(taps):
            y = self._panel(figure, number, step, y) + 30
        return figure.scene(title, self._sentences())

    def _panel(self, figure: Figure, number: int, step: ShiftStep, y: float) -> float:
        """Draw one tap, and return its lower edge."""
        lines = self._lanes // QUARTER
        frame = Frame(LEFT, y + 34, CELL[0] * QUARTER, CELL[1] * lines, lines, QUARTER)
        contents = [self._content(place) for place in self._places(step)]
        roles = [
            ["faint" if content is None else Figure.kind(content[0]) for content in row] for row in _rows(contents)
        ]
        words = [["" if content is None else str(content[1]) for content in row] for row in _rows(contents)]
        figure.text(LEFT, y + 8, f"tap {step.tap.s}: {self._how(number)}", "ink", Figure.HEADING, bold=True)
        heads = [(frame.cell(0, i)[0] + CELL[0] / 2, y + 28, str(i)) for i in (0, 8, 16, 24, 31)]
        figure.texts(heads, "muted", Figure.LABEL, "middle", mono=True)
        fill(figure, frame, roles, words)
        middle = CELL[1] / 2 + 4
        lanes = [(LEFT - 10, frame.cell(i, 0)[1] + middle, f"{QUARTER * i} + l") for i in range(lines)]
        figure.texts(lanes, "muted", Figure.LABEL, "end", mono=True)
        figure.border(*frame.box, "tile", line=1.2)
        border(figure, frame, "chunk", lines, 1, outer=False)
        for role, which in (("atom", self._new(number)), ("subtile", step.masked_lanes())):
            for lane in which:
                x, top, wide, high = frame.cell(lane // QUARTER, lane % QUARTER)
                figure.box(x + 1.5, top + 1.5, wide - 3, high - 3, None, role, 2, 2)
        return frame.y + frame.height

    def text(self, *, color: bool = False, width: int | None = None) -> str:
        """Return lines of 32 lanes for each tap: w, in brackets if masked, a dot for no activation."""
        lines = [self.convolution.headline, self._sentences(), ""]
        for number, step in enumerate(self._taps()):
            lines.append(f"tap {step.tap.s}: {self._how(number)}")
            masked = set(step.masked_lanes())
            cells = []
            for lane, place in enumerate(self._places(step)):
                content = self._content(place)
                word = "." if content is None else str(content[1])
                word = f"{f'[{word}]' if lane in masked else word:>5}"
                cells.append(Picture.painted(word, Figure.kind(content[0])) if color and content else word)
            lines += [f"{QUARTER * i:>6} " + "".join(row) for i, row in enumerate(_rows(cells))]
        return story(lines, width)

    @property
    def _lanes(self) -> int:
        return LANES * self.convolution.cta_group

    @property
    def _first(self) -> int:
        return self._lanes * self.tile

    def _taps(self) -> list[ShiftStep]:
        """Return the multiplications that follow the first load."""
        steps = self.convolution.steps(self.row, self.tile)
        loads = [i for i, step in enumerate(steps) if step.kind == "load"]
        end = loads[1] if len(loads) > 1 else len(steps)
        taps = [step for step in steps[:end] if step.kind == "multiply"]
        if len(taps) > MOST_TAPS:
            raise DescriptorError(f"shift: the filter row has {len(taps)} taps, but at most {MOST_TAPS} are drawn")
        return taps

    def _places(self, step: ShiftStep) -> range:
        """Return the position in the flat row of images of the activation in each lane."""
        first = self._first + step.tap.s - self.convolution.problem.padding[1]
        return range(first, first + self._lanes)

    def _content(self, place: int) -> list[int] | None:
        """Return the image and the column of a position; None outside of the images."""
        problem = self.convolution.problem
        return list(divmod(place, problem.width)) if 0 <= place < problem.places else None

    def _new(self, number: int) -> list[int]:
        """Return the lanes that are loaded again; none at the first tap, where all lanes are loaded."""
        return list(range(QUARTER - 1, self._lanes, QUARTER)) if number else []

    def _how(self, number: int) -> str:
        if not number:
            return f"all {self._lanes} rows are loaded"
        return f"shifted, {4 * self.convolution.cta_group} rows are new"

    def _sentences(self) -> str:
        lane = f"{self.convolution.problem.width} n + q{f' - {self._first}' if self._first else ''}"
        return (
            f"A cell is a lane; the number is w of the activation in it. Output (n, q) is in lane {lane}. Not measured "
            "on a Blackwell GPU."
        )


def _rows(cells: list[Any]) -> list[list[Any]]:
    return [cells[i : i + QUARTER] for i in range(0, len(cells), QUARTER)]
