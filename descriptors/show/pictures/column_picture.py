"""Draw the tensor memory of a CTA, 128 lanes by 512 columns: its parts, and the allocated columns.

Invariant: a cell has the color of the part whose fragment has an element there.

>>> from descriptors.tmem.columns import tmem_plan
>>> numbers = ColumnsPicture(tmem_plan(64, 32, 16, accumulators=2, interleaved=True)).record()
>>> [(part["name"], part["column"], part["columns"], part["lanes"][:2]) for part in numbers["parts"]]
[('D0', 0, 32, (0, 1)), ('D1', 0, 32, (16, 17))]
"""

from __future__ import annotations

from typing import Any

from descriptors.show.pictures.cell_picture import elements
from descriptors.show.pictures.main_loop_picture import rows_of
from descriptors.show.pictures.panels import Frame, story
from descriptors.text import aligned, counted
from descriptors.tmem.block_scaled import BlockScaled
from descriptors.tmem.columns import ColumnPlan, Part
from descriptors.tmem.geometry import COLUMNS, LANES, QUARTER
from layoutalg import Figure, Picture, Scene
from layoutalg.frozen import frozen

#: The answers that have this picture.
Shared = ColumnPlan | BlockScaled

#: The left edge of the columns, and the size of a column and of a lane in pixels.
LEFT, WIDE, HIGH = 78, 1.6, 2


@frozen
class ColumnsPicture(Picture):
    """The picture of the tensor memory of a CTA.

    Args:
        answer: a column plan, or a block-scaled multiplication, which contains one.
    """

    answer: Shared

    @property
    def _columns(self) -> int:
        """Number of columns: 512, or more if the plan allocates more."""
        return max(COLUMNS, self.plan.allocate)

    @property
    def plan(self) -> ColumnPlan:
        """The column plan."""
        return self.answer.plan if isinstance(self.answer, BlockScaled) else self.answer

    def record(self) -> dict[str, Any]:
        """Return the numbers that are drawn."""
        plan = self.plan
        return {
            "kind": "columns",
            "allocate": plan.allocate,
            "used": plan.used,
            "ctas": plan.ctas,
            "parts": [
                {
                    "name": part.name,
                    "column": part.column,
                    "columns": part.columns,
                    "lanes": tuple(sorted({lane for lane, _ in places(part)})),
                }
                for part in plan.parts
            ],
        }

    def scene(self) -> Scene:
        """Draw lanes down and columns across, with the cells of each part, and the names of the parts below."""
        figure, (title, sentence) = Figure(), self.heading()
        self.panels(figure, figure.heading(0, 0, title, sentence) + 28)
        return figure.scene(title, sentence)

    def panels(self, figure: Figure, top: float) -> tuple[Frame]:
        """Draw the columns and the legend, and return the frame of the cells.

        Args:
            figure: the figure to draw on.
            top: the upper edge of the cells.
        """
        plan = self.plan
        frame = Frame(LEFT, top, WIDE * self._columns, HIGH * LANES, LANES, self._columns)
        roles: list[list[str | None]] = [["faint"] * self._columns for _ in range(LANES)]
        for number, part in enumerate(plan.parts):
            for lane, column in places(part):
                roles[lane][column] = Figure.kind(number)
        figure.cells(frame.x, frame.y, *frame.step, roles)
        figure.border(*frame.box, "tile", rows=[frame.height * i / 4 for i in range(1, 4)], line=1.6)
        figure.border(*frame.cell(0, 0, LANES, plan.allocate), "atom", line=2.6)
        for warp in range(LANES // QUARTER):
            middle = frame.y + frame.height * (warp + 0.5) / 4
            figure.text(0, middle, f"warp {warp}", "ink", Figure.LABEL, bold=True)
            figure.text(
                0, middle + 15, f"lanes {QUARTER * warp}\u2013{QUARTER * warp + QUARTER - 1}", "muted", Figure.LABEL
            )
        heads = [(frame.cell(0, column)[0], frame.y - 8, str(column)) for column in range(0, self._columns, 32)]
        figure.texts(heads, "muted", Figure.LABEL, "middle", mono=True)
        foot = self._names(figure, frame)
        figure.legend(0, foot + 18, self._legend())
        return (frame,)

    def text(self, *, color: bool = False, width: int | None = None) -> str:
        """Return a table with a line for each part."""
        rows: list[tuple[object, ...]] = [("columns", "part", "lanes")]
        rows += [(_span(part), part.name, part_lanes(part)) for part in self.plan.parts]
        return story([*self.heading(), "", *aligned(rows, "<<<", indent=3)], width)

    def _names(self, figure: Figure, frame: Frame) -> float:
        """Write the name of each part below its first column, and return the lower edge of the names."""
        labels, foot = list[tuple[float, float, float, str]](), frame.y + frame.height
        for part in self.plan.parts:
            if part.lane:  # the part shares the columns of the previous part
                continue
            x, words = frame.cell(0, part.column)[0], f"{part.name} at {part.column}"
            long = figure.width_of(words, Figure.LABEL)
            labels.append((x, x, x + long, words))
        rows = rows_of([label[:3] for label in labels])
        for (x, _, _, words), row in zip(labels, rows, strict=True):
            figure.lines([(x, foot, x, foot + 8 + 16 * row)], "ink", 1.2)
            figure.text(x + 3 * bool(row), foot + 20 + 16 * row, words, "muted", Figure.LABEL)
        return foot + 26 + 16 * max(rows)

    def heading(self) -> tuple[str, str]:
        """Return the title and the sentence below it."""
        return self._title(), self._sentence()

    def _title(self) -> str:
        plan = self.plan
        return f"{counted(plan.used, 'column')} of tensor memory used, {plan.allocate} allocated"

    def _sentence(self) -> str:
        plan = self.plan
        how = f"{plan.evidence[:1].upper()}{plan.evidence[1:]}"
        more = f"one of {plan.ctas} CTAs of an SM" if plan.ctas > 1 else "the only CTA of its SM"
        return f"The columns of a CTA, {more}: {LANES} lanes down, {self._columns} columns of 32 bits across. {how}."

    def _legend(self) -> list[tuple[str, str]]:
        parts = self.plan.parts
        entries = [(Figure.kind(i), f"{part.name}: {counted(part.columns, 'column')}") for i, part in
                   enumerate(parts[:8])]  # fmt: skip
        if len(parts) > 8:  # there are only eight colors
            entries[-1] = (entries[-1][0], f"{entries[-1][1]}; then the colors repeat")
        free = [] if all(len(places(part)) == LANES * self._columns for part in parts) else [("faint", "free")]
        return [*entries, ("atom", f"allocated: {self.plan.allocate}"), *free]


def places(part: Part) -> set[tuple[int, int]]:
    """Return the (lane, column) of each cell of a part; all lanes if the part has no fragment.

    >>> from descriptors.tmem.columns import Part
    >>> len(places(Part("A", 8, column=4))), min(places(Part("A", 8, column=4)))
    (1024, (0, 4))
    """
    fragment = part.fragment
    if fragment is None:
        return {(lane, part.column + column) for lane in range(LANES) for column in range(part.columns)}
    return {((place >> 21) + part.lane, (place >> 5 & 0xFFFF) + part.column) for place in elements(fragment)}


def part_lanes(part: Part) -> str:
    """Return the lanes of a part as text: "all", or their number and the first.

    >>> part_lanes(Part("A", 8))
    'all'
    """
    lanes = sorted({lane for lane, _ in places(part)})
    return "all" if len(lanes) == LANES else f"{len(lanes)} from lane {lanes[0]}"


def _span(part: Part) -> str:
    return f"{part.column}-{part.column + part.columns - 1}"
