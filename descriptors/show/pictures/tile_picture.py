"""Draw a whole tile with a cell for every 16 bytes, colored by order in memory, bank, atom, subtile or chunk.

The panels for other pictures show the atoms numbered by their order in memory, or the subtiles over the atoms.

>>> from descriptors import derive
>>> rows = TilePicture(derive((128, 128), "bf16", "K", "128B", (64, 16)), "bank").record()
>>> rows["addresses"][1][:3], rows["kinds"][1][:3]
([144, 128, 176], [1, 0, 3])
>>> a = Anatomy(derive((128, 128), "bf16", "MN", "64B", (64, 16)))
>>> atoms_panel(Figure(), a, 0, 0, panel_width(a, 320), 320).box
(0, 0, 176, 320)
"""

from __future__ import annotations

from typing import Any

from descriptors.errors import ChoiceError
from descriptors.show.pictures.anatomy import Anatomy, Pair, ranks
from descriptors.show.pictures.panels import (
    Frame,
    amount,
    atom_name,
    border,
    fill,
    operand_text,
    sparse,
    story,
    subtile_name,
    table,
    ticks,
    times,
    type_size,
)
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.derivation.explanation import names
from descriptors.smem.operands.operand import SwizzleMode
from layoutalg import Figure, Picture, Scene, bank_group
from layoutalg.frozen import frozen

#: The color modes of a cell.
COLOURS = ("order", "bank", "atom", "subtile", "chunk")
#: The size of a tile in pixels, and the smallest size of a cell.
ACROSS, DOWN, LEAST = 880, 640, 2

_SAID = {
    "order": "shade: order in memory",
    "bank": "color: a group of four banks",
    "atom": "color: the atom",
    "subtile": "shade: the order of the start addresses of subtiles",
    "chunk": "color: the chunk of a subtile",
}
_TITLES = {
    "order": "colored by order in memory",
    "bank": "colored by bank",
    "atom": "colored by atom",
    "subtile": "colored by subtile",
    "chunk": "colored by chunk",
}


@frozen
class TilePicture(Picture):
    """The picture of a whole tile.

    Args:
        derivation: the tile.
        colour: one of ``COLOURS``.
        stage: the stage of the tile.

    Raises:
        ChoiceError: for an unknown color mode.
    """

    derivation: Derivation
    colour: str = "order"
    stage: int = 0

    def __post_init__(self) -> None:
        if self.colour not in COLOURS:
            raise ChoiceError("picture: colour", self.colour, COLOURS)

    def record(self) -> dict[str, Any]:
        """Return the numbers that are drawn: the address of each piece, and the number that selects its color."""
        a = Anatomy(self.derivation, self.stage)
        pieces = a.pieces()
        return {"kind": "tile", "colour": self.colour, "addresses": pieces, "kinds": self._kinds(a, pieces)}

    def scene(self) -> Scene:
        """Draw the cells, the borders of the levels, and a number for each block of one color."""
        d, a, figure = self.derivation, Anatomy(self.derivation, self.stage), Figure()
        pieces = a.pieces()
        title = f"A tile of {times(a.extents)} {d.element}, {_TITLES[self.colour]}"
        sentence = self._sentence(a)
        figure.heading(0, 0, title, sentence, room=ACROSS)
        frame = _frame(a, len(pieces), len(pieces[0]))
        roles = self._roles(self._kinds(a, pieces))
        figure.cells(frame.x, frame.y, *frame.step, roles)
        if a.atom_grid[0]:
            border(figure, frame, "atom", *a.atom_grid, outer=False)
        border(figure, frame, "subtile", *a.subtile_grid, outer=False)
        border(figure, frame, "tile")
        self._numbers(figure, a, frame)
        mn, k = names(d)
        u, v = a.unit
        ticks(figure, frame, [str(i * u) for i in range(len(pieces))], [str(j * v) for j in range(len(pieces[0]))])
        figure.text(frame.x - 8, frame.y - 8, f"{mn} \\ {k}", "muted", 10.5, "end", mono=True)
        figure.legend(frame.x, frame.y + frame.height + 22, self._legend(a), ACROSS)
        return figure.scene(title, sentence)

    def text(self, *, color: bool = False, width: int | None = None) -> str:
        """Return a table with a cell for each 16 bytes, which contains the number that selects its color."""
        a, record = Anatomy(self.derivation, self.stage), self.record()
        left = [str(i * a.unit[0]) for i in range(len(record["kinds"]))]
        top = [str(j * a.unit[1]) for j in range(len(record["kinds"][0]))]
        roles = self._roles(record["kinds"])
        return story([self._sentence(a), "", *table(record["kinds"], roles, left=left, top=top, color=color)], width)

    def _kinds(self, a: Anatomy, pieces: list[list[int]]) -> list[list[int]]:
        """Return the number that selects the color of each piece."""
        if self.colour == "bank":
            return [[bank_group(address) for address in row] for row in pieces]
        block, grid = self._blocks(a)
        rows, columns = block[0] // a.unit[0] or 1, block[1] // a.unit[1] or 1
        return [[grid[i // rows][j // columns] for j in range(len(row))] for i, row in enumerate(pieces)]

    def _blocks(self, a: Anatomy) -> tuple[Pair, list[list[int]]]:
        """Return the extents of the blocks of one color, and the number of each block."""
        (mn, k), d = a.extents, a.derivation
        if self.colour == "subtile":
            return d.mma, ranks(a.subtile_starts())
        if self.colour == "chunk":
            rows, columns = a.chunk_grid
            block = a.chunk_extents
            return block, [
                [i % rows * columns + j % columns for j in range(k // block[1])] for i in range(mn // block[0])
            ]
        if a.atom_grid[0]:
            return a.atom_extents, ranks(a.atom_places())
        return a.unit, ranks(a.pieces(swizzled=False))

    def _roles(self, kinds: list[list[int]]) -> list[list[str | None]]:
        if self.colour in ("order", "subtile"):
            count = max(map(max, kinds)) + 1
            return [[Figure.step(number, count) for number in row] for row in kinds]
        return [list(map(Figure.kind, row)) for row in kinds]

    def _numbers(self, figure: Figure, a: Anatomy, frame: Frame) -> None:
        """Write a number in each block, if it fits."""
        if self.colour == "bank":
            return
        block, grid = self._blocks(a)
        if self.colour == "subtile":
            labels = [list(map(str, row)) for row in a.subtile_starts()]
        elif self.colour == "chunk":
            return
        else:
            labels = [list(map(str, row)) for row in grid]
        blocks = Frame(*frame.box, len(labels), len(labels[0]))
        wide, high = blocks.step
        size = type_size(labels, wide - 8, high - 2, (13, 11, Figure.LEAST))
        if not size or block == a.unit:
            return
        items = [
            (blocks.x + (j + 0.5) * wide, blocks.y + (i + 0.5) * high, label)
            for i, row in enumerate(labels)
            for j, label in enumerate(row)
        ]
        for x, y, label in items:
            across = figure.width_of(label, size, mono=True) + 8
            figure.box(x - across / 2, y - size / 2 - 3, across, size + 6, "paper", radius=3, opacity=0.85)
        figure.texts([(x, y + 0.36 * size, label) for x, y, label in items], "ink", size, "middle", mono=True)

    def _sentence(self, a: Anatomy) -> str:
        d = self.derivation
        cell = f"A cell is 16 bytes, {times(a.unit)} elements; {_SAID[self.colour]}"
        number = {"order": "; a number: order of the atom in memory", "atom": "; a number: order of the atom in memory",
                  "subtile": "; a number: start of the subtile, in bytes"}  # fmt: skip
        return f"{operand_text(d)}, {amount(a.bytes)}: {d.smem_tile}. {cell}{number.get(self.colour, '')}."

    def _legend(self, a: Anatomy) -> list[tuple[str, str]]:
        d = self.derivation
        levels = [
            ("atom", f"{atom_name(d)}, {times(a.atom_extents)}"),
            ("subtile", f"{subtile_name(d)}, {times(d.mma)}"),
        ]
        if self.colour == "bank":
            return [(Figure.kind(n), f"banks {4 * n}\u2013{4 * n + 3}") for n in range(8)] + levels
        if self.colour == "order":
            return [("r0", "first in memory"), ("r7", "last in memory"), *levels]
        return levels


def _frame(a: Anatomy, rows: int, columns: int) -> Frame:
    """Return the frame of a tile, in its proportions as far as it remains readable."""
    mn, k = a.extents
    high = min(DOWN, max(160, ACROSS * mn / k))
    wide = min(ACROSS, max(220, high * k / mn))
    return Frame(0, 96, max(round(wide), LEAST * columns), max(round(high), LEAST * rows), rows, columns)


#: The smallest and the largest width of a panel of a tile.
NARROW, WIDE = 150, 176


def panel_width(a: Anatomy, height: float) -> float:
    """Return the width of a panel of a tile for a height, in its proportions as far as it remains readable."""
    mn, k = a.extents
    return round(max(NARROW, min(WIDE, height * k / mn)))


def memory_order(a: Anatomy) -> list[list[int]]:
    """Return the rank of each atom in memory, or of each subtile if the layout is not made of whole atoms.

    >>> from descriptors import derive
    >>> memory_order(Anatomy(derive((16, 128), "bf16", "K", "128B", (16, 16), legality="off")))
    [[0, 2], [1, 3]]
    """
    return ranks(a.atom_places() or a.subtile_starts())


def atoms_panel(figure: Figure, a: Anatomy, x: float, y: float, width: float, height: float) -> Frame:
    """Draw the atoms of a tile, numbered and shaded by their order in memory, with the extents of the tile."""
    (mn, k), (high, wide), order = names(a.derivation), a.extents, memory_order(a)
    frame = Frame(x, y, width, height, len(order), len(order[0]))
    labels = [[str(rank) for rank in row] for row in order]
    written = fill(figure, frame, order_roles(order), labels)
    border(figure, frame, "atom" if a.atom_grid[0] else "subtile", frame.rows, frame.columns, outer=False)
    border(figure, frame, "tile")
    if not written:
        sparse(figure, frame, labels)
    figure.text(x + width / 2, y + height + 24, f"{k} {wide}", "muted", 13, "middle")
    figure.text(x - 14, y + height / 2, f"{mn} {high}", "muted", 13, "middle", turn=-90)
    return frame


def order_roles(order: list[list[int]]) -> list[list[str | None]]:
    """Return the fill roles of parts by their ranks in memory."""
    count = max((rank for row in order for rank in row), default=0) + 1
    return [[Figure.step(rank, count) for rank in row] for row in order]


def subtiles_panel(
    figure: Figure, a: Anatomy, x: float, y: float, width: float, height: float, marked_cell: Pair | None
) -> Frame:
    """Draw the subtiles of a tile over its atoms, and mark one of them."""
    frame, order = Frame(x, y, width, height, *a.subtile_grid), memory_order(a)
    atoms = Frame(x, y, width, height, len(order), len(order[0]))
    fill(figure, atoms, order_roles(order))
    if marked_cell:
        figure.box(*frame.cell(*marked_cell), "glow")
    if a.atom_grid[0]:
        border(figure, atoms, "atom", atoms.rows, atoms.columns, outer=False)
    border(figure, frame, "subtile", *a.subtile_grid)
    if marked_cell:
        figure.border(*frame.cell(*marked_cell), "subtile", line=3.6)
    return frame


def beam(figure: Figure, panel: Frame, part: tuple[float, float, float, float], enlarged: Frame) -> None:
    """Draw the connection between a part of a panel and the panel to its right that enlarges it."""
    start, foot = panel.x + panel.width, part[1] + part[3]
    corners = [(start, part[1]), (enlarged.x, enlarged.y), (enlarged.x, enlarged.y + enlarged.height), (start, foot)]
    figure.area(corners, "faint", 0.8)
    figure.lines([(start, foot, enlarged.x, enlarged.y + enlarged.height)], "chunk", 1, (4, 4))


def share_of_atom(d: Derivation, room: float = 400) -> str:
    """Return the part of a line of an atom that one subtile reads, as text of at most ``room`` pixels.

    >>> from descriptors import derive
    >>> share_of_atom(derive((128, 128), "bf16", "K", "128B", (64, 16)))
    'each 32 bytes of K: a quarter of an atom\u2019s line'
    """
    run_bytes = d.mma[d.major.contiguous_mode] * d.element.storage_bits // 8
    along, span = names(d)[d.major.contiguous_mode], d.swizzle.span_bytes
    if d.swizzle is SwizzleMode.NONE or run_bytes % span == 0:
        return f"each {amount(run_bytes)} of {along}"
    part = {2: "half", 4: "a quarter"}.get(span // run_bytes if span % run_bytes == 0 else 0)
    run = f"each {amount(run_bytes)} of {along}"
    text = f"{run}: {part} of an atom\u2019s line"
    return text if part and Figure.width_of(text, 13) <= room else run
