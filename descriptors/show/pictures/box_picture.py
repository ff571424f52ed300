"""Draw the boxes of a TMA plan over the atoms of the tile that they fill.

>>> from descriptors import derive, tma_plan
>>> numbers = BoxesPicture(tma_plan(derive((128, 128), "bf16", "K", "128B", (64, 16)), rank=2)).record()
>>> numbers["boxes"]
[{'origin': (0, 0), 'extents': (128, 64), 'offset_bytes': 0}, {'origin': (0, 64), 'extents': (128, 64), \
'offset_bytes': 16384}]
"""

from __future__ import annotations

from typing import Any

from descriptors.errors import DescriptorError
from descriptors.show.pictures.anatomy import Pair
from descriptors.show.pictures.panels import Frame, amount, border, spaced, story, ticks, times
from descriptors.smem.operands.atoms import canonical_atom
from descriptors.smem.operands.operand import SwizzleMode
from descriptors.smem.operands.swizzled import plain
from descriptors.smem.tma.tma_plan import Box, TmaPlan
from descriptors.text import aligned, counted, indices_text
from layoutalg import Figure, Picture, Scene, size
from layoutalg.frozen import frozen

#: The largest number of boxes of a stage, and the largest width and height in pixels.
MOST_BOXES, ACROSS, DOWN = 256, 760, 440


@frozen
class BoxesPicture(Picture):
    """The picture of the part of a tile that each tensor copy fills.

    Args:
        plan: the tensor copies.
        stage: the stage whose boxes are drawn.
    """

    plan: TmaPlan
    stage: int = 0

    def boxes(self) -> list[Box]:
        """Return the boxes of the stage.

        Raises:
            DescriptorError: if there are too many boxes, or there is no such stage.
        """
        boxes = [box for box in self.plan.boxes if box.stage == self.stage]
        if not boxes:
            stages = 1 + max(box.stage for box in self.plan.boxes)
            raise DescriptorError(f"picture: the plan has no stage {self.stage}; supported: {indices_text(stages)}")
        if len(boxes) > MOST_BOXES:
            raise DescriptorError(f"picture: the stage has {len(boxes)} boxes, but at most {MOST_BOXES} are drawn")
        return boxes

    def extents(self) -> Pair:
        """Return the extents (MN, K) of a box in the tile, in elements.

        A mode with several dimensions continues where the previous dimension ends.
        """
        mn, k = (1 + sum((dimension.box - 1) * dimension.step for dimension in self.plan.dimensions
                         if dimension.mode == mode) for mode in (0, 1))  # fmt: skip
        return mn, k

    def record(self) -> dict[str, Any]:
        """Return the numbers that are drawn."""
        extents = self.extents()
        return {
            "kind": "boxes",
            "tile": self._tile(),
            "box": self.plan.box,
            "boxes": [
                {"origin": box.origin, "extents": extents, "offset_bytes": box.offset_bytes} for box in self.boxes()
            ],
        }

    def scene(self) -> Scene:
        """Draw the tile with its atoms, and a frame for each box with its number and its address."""
        figure, boxes, (mn, k), (high, wide) = Figure(), self.boxes(), self._tile(), self.extents()
        title, sentence = self._title(boxes), self._sentence()
        down = min(DOWN, max(170.0, ACROSS * mn / k))
        across = min(ACROSS, max(420.0, down * k / mn))
        top = figure.heading(0, 0, title, sentence, room=max(44 + across, 560))
        frame = Frame(44, top + 30, round(across), round(down), 1, 1)
        self._atoms(figure, frame)
        tall, broad = down * high / mn, across * wide / k
        corners = [(frame.x + box.origin[1] * across / k, frame.y + box.origin[0] * down / mn) for box in boxes]
        for x, y in corners:
            figure.border(x, y, broad, tall, "subtile")
        self._labels(figure, boxes, corners, broad, tall)
        border(figure, frame, "tile")
        self._axes(figure, frame, boxes)
        figure.legend(frame.x, frame.y + down + 46, self._legend(), across)
        return figure.scene(title, sentence)

    def text(self, *, color: bool = False, width: int | None = None) -> str:
        """Return a table with a line for each box."""
        boxes, (high, wide) = self.boxes(), self.extents()
        rows: list[tuple[object, ...]] = [("box", "MN", "K", "extents", "shared memory")]
        rows += [(number, *box.origin, f"{high}x{wide}", box.offset_bytes) for number, box in enumerate(boxes)]
        return story([self._title(boxes), self._sentence(), "", *aligned(rows, ">>>>>", indent=3)], width)

    def _tile(self) -> Pair:
        mn, k, *_ = map(size, plain(self.plan.layout))
        return mn, k

    def _atom(self) -> Pair:
        atom = canonical_atom(self.plan.major, self.plan.swizzle).in_elements(self.plan.element)
        mn, k = map(size, plain(atom))
        return mn, k

    def _atoms(self, figure: Figure, frame: Frame) -> None:
        (mn, k), (high, wide) = self._tile(), self._atom()
        rows, columns = (mn // high, k // wide) if mn % high == 0 and k % wide == 0 else (1, 1)
        atoms = Frame(*frame.box, rows, columns)
        roles = [["r3" if (i + j) % 2 == 0 else "r1" for j in range(columns)] for i in range(rows)]
        figure.cells(atoms.x, atoms.y, *atoms.step, roles)
        border(figure, atoms, "atom", rows, columns, outer=False)

    def _labels(
        self, figure: Figure, boxes: list[Box], corners: list[tuple[float, float]], wide: float, high: float
    ) -> None:
        """Write the number and the address of each box, or only the number if there is not enough space."""
        words = [(f"box {number}", f"at {spaced(box.offset_bytes)}") for number, box in enumerate(boxes)]
        across = max(max(figure.width_of(a, 15, bold=True), figure.width_of(b, 11, mono=True)) for a, b in words) + 16
        for number, ((x, y), (name, place)) in enumerate(zip(corners, words, strict=True)):
            middle, base = x + wide / 2, y + high / 2
            if across + 6 <= wide and high >= 62:
                figure.box(middle - across / 2, base - 27, across, 54, "paper", "rule", 0.6, 6, 0.94)
                figure.text(middle, base - 3, name, "ink", 15, "middle", bold=True)
                figure.text(middle, base + 17, place, "muted", 11, "middle", mono=True)
            elif wide >= 26 and high >= 18:
                figure.box(middle - 11, base - 9, 22, 18, "paper", radius=4, opacity=0.92)
                figure.text(middle, base + 4, str(number), "ink", 11, "middle", bold=True)

    def _axes(self, figure: Figure, frame: Frame, boxes: list[Box]) -> None:
        """Write the first element of the boxes along MN and K."""
        (mn, k), (high, wide) = self._tile(), self.extents()
        grid = Frame(*frame.box, max(mn // high, 1), max(k // wide, 1))
        ticks(figure, grid, [str(i * high) for i in range(grid.rows)], [str(j * wide) for j in range(grid.columns)])
        figure.text(frame.x + frame.width / 2, frame.y + frame.height + 24, f"K {k}", "muted", 13, "middle")
        figure.text(frame.x + frame.width + 14, frame.y + frame.height / 2, f"MN {mn}", "muted", 13, "middle", turn=90)

    def _title(self, boxes: list[Box]) -> str:
        does = "box {} fills" if len(boxes) == 1 else "boxes {} fill"
        return f"{len(boxes)} TMA {does.format(f'of {times(self.plan.box)}')} a tile of {times(self._tile())}"

    def _sentence(self) -> str:
        plan = self.plan
        swizzle = "no swizzle" if plan.swizzle is SwizzleMode.NONE else f"{plan.swizzle} swizzle"
        order = ", ".join(dimension.name for dimension in plan.dimensions)
        sentence = (
            f"{plan.major}-major, {swizzle}, {plan.element}. A box is one tensor copy of {amount(plan.box_bytes)}. Its "
            f"extents are listed fastest first: {order}. A number is its offset from the tile in shared memory, in "
            "bytes."
        )
        stages = len({box.stage for box in plan.boxes})
        return sentence + (f" Stage {self.stage} of {counted(stages, 'stage')}." if stages > 1 else "")

    def _legend(self) -> list[tuple[str, str]]:
        name = "core matrix" if self.plan.swizzle is SwizzleMode.NONE else "swizzle atom"
        high, wide = self.extents()
        return [("subtile", f"box, {times((high, wide))}"), ("atom", f"{name}, {times(self._atom())}")]
