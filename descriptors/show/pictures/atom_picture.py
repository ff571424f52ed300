"""Draw the atoms of a tile with their order in memory, and one atom with the addresses of its pieces.

>>> from descriptors import derive
>>> numbers = AtomsPicture(derive((128, 128), "bf16", "K", "128B", (64, 16))).record()
>>> numbers["places"][1], numbers["order"][1]
((1024, 17408), [1, 17])
"""

from __future__ import annotations

from typing import Any

from descriptors.errors import DescriptorError
from descriptors.show.pictures.anatomy import Anatomy, ranks
from descriptors.show.pictures.panels import (
    Frame,
    amount,
    atom_name,
    border,
    fill,
    hairs,
    operand_text,
    spaced,
    sparse,
    story,
    table,
    times,
    type_size,
)
from descriptors.show.pictures.tile_picture import order_roles
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.derivation.explanation import names
from descriptors.text import extents_text, many
from layoutalg import Figure, Picture, Scene, bank_group
from layoutalg.frozen import frozen

#: Top and height of the panels, and width of the panel of the tile.
TOP, HIGH, WIDE = 150, 400, 360


@frozen
class AtomsPicture(Picture):
    """The picture of the atoms of a tile.

    Args:
        derivation: the tile.
        stage: the stage of the tile.
    """

    derivation: Derivation
    stage: int = 0

    def record(self) -> dict[str, Any]:
        """Return the numbers that are drawn."""
        a = Anatomy(self.derivation, self.stage)
        places = a.atom_places()
        if not places:
            raise DescriptorError(
                f"picture: the {extents_text(a.extents)} tile is not made of whole {extents_text(a.atom_extents)} "
                f"atoms; tile = {self.derivation.smem_tile}"
            )
        rows, columns = (extent // unit for extent, unit in zip(a.atom_extents, a.unit, strict=True))
        inside = tuple(tuple(row[:columns]) for row in a.pieces()[:rows])
        return {"kind": "atoms", "atom": a.atom_extents, "places": places, "order": ranks(places), "pieces": inside}

    def scene(self) -> Scene:
        """Draw the tile with the steps between its atoms, and one atom next to it."""
        d, a, record, figure = self.derivation, Anatomy(self.derivation, self.stage), self.record(), Figure()
        places, (rows, columns) = record["places"], a.atom_grid
        title = f"{rows * columns} {many(rows * columns, atom_name(d))}, stacked {self._stacked(record)}"
        sentence = f"{operand_text(d)}, {times(a.extents)}, {amount(a.bytes)}: {d.smem_tile}."
        figure.heading(0, 0, title, sentence)
        figure.panel_heading(
            0,
            74,
            f"Tile of {times(a.atom_grid)} {many(2, atom_name(d))}",
            [
                "a number: order in memory, and first byte",
                "{0[0]} {1[0]} down, {0[1]} {1[1]} across".format(names(d), a.extents),
            ],
            "accent",
        )
        frame = Frame(0, TOP, WIDE, HIGH, rows, columns)
        self._atoms(figure, frame, record)
        self._steps(figure, frame, places)
        left = WIDE + 110
        figure.panel_heading(
            left,
            74,
            f"One {atom_name(d)}, {times(a.atom_extents)}",
            [f"{a.atom_bytes} bytes; a number: the address of 16 bytes", "a color: a group of four banks"],
            "accent",
        )
        self._inside(figure, a, record["pieces"], left)
        return figure.scene(title, sentence)

    def text(self, *, color: bool = False, width: int | None = None) -> str:
        """Return tables of the order and the offsets of the atoms, and of the addresses in one atom."""
        d, a, record = self.derivation, Anatomy(self.derivation, self.stage), self.record()
        roles, order = order_roles(record["order"]), record["order"]
        lines = [
            f"{times(a.atom_grid)} {many(2, atom_name(d))} of {times(a.atom_extents)}, stacked "
            f"{self._stacked(record)}: {operand_text(d)}"
        ]
        lines += ["", "order in memory", *table(order, roles, color=color)]
        lines += ["", "first byte", *table(record["places"], roles, color=color)]
        lines += ["", f"one {atom_name(d)}: the address of each 16 bytes"]
        kinds = [[Figure.kind(bank_group(address)) for address in row] for row in record["pieces"]]
        lines += table(record["pieces"], kinds, color=color)
        return story(lines, width)

    def _stacked(self, record: dict[str, Any]) -> str:
        """Return the dimension along which atoms are consecutive in memory."""
        order, (mn, k) = record["order"], names(self.derivation)
        if len(order) > 1 and order[1][0] == 1:
            return f"along {mn} first"
        return f"along {k} first" if len(order[0]) > 1 and order[0][1] == 1 else "in the order of the layout"

    def _atoms(self, figure: Figure, frame: Frame, record: dict[str, Any]) -> None:
        order, places = record["order"], record["places"]
        wide, high = frame.step
        figure.cells(frame.x, frame.y, wide, high, order_roles(order))
        border(figure, frame, "atom", frame.rows, frame.columns, outer=False)
        border(figure, frame, "tile")
        labels = [list(map(str, row)) for row in order]
        both = [
            [f"{rank}  {spaced(place)}" for rank, place in zip(*pair, strict=True)]
            for pair in zip(order, places, strict=True)
        ]
        bytes_ = [list(map(spaced, row)) for row in places]
        if high >= 36 and type_size(bytes_, wide, high / 2, (11, 10)):
            items = [
                (frame.x + (j + 0.5) * wide, frame.y + (i + 0.5) * high)
                for i in range(frame.rows)
                for j in range(frame.columns)
            ]
            flat = [label for row in labels for label in row], [text for row in bytes_ for text in row]
            figure.texts(
                [(x, y - 1, text) for (x, y), text in zip(items, flat[0], strict=True)], "ink", 13, "middle", bold=True
            )
            figure.texts(
                [(x, y + 14, text) for (x, y), text in zip(items, flat[1], strict=True)], "ink", 10, "middle", mono=True
            )
        elif type_size(both, wide - 12, high, (11, 10)):
            for i, row in enumerate(labels):
                for j, rank in enumerate(row):
                    x, y = frame.x + (j + 0.5) * wide, frame.y + (i + 0.5) * high + 4.5
                    figure.text(x - 14, y, rank, "ink", 13, "end", bold=True)
                    figure.text(x + 2, y, bytes_[i][j], "ink", 10.5, mono=True)
        elif not fill(figure, frame, (), labels):
            sparse(figure, frame, labels)

    def _steps(self, figure: Figure, frame: Frame, places: tuple[tuple[int, ...], ...]) -> None:
        """Draw the steps to the next atom down and to the right."""
        wide, high = frame.step
        if frame.rows > 1:
            x, y = frame.x + frame.width + 16, frame.y + high / 2
            figure.arrow([(x, y), (x, y + high)], "accent", 1.8, min(8, high / 2))
            figure.text(x + 9, y + high / 2 + 4, f"+{spaced(places[1][0] - places[0][0])}", "accent", 13, bold=True)
        if frame.columns > 1:
            x, y = frame.x + wide / 2, frame.y + frame.height + 16
            figure.arrow([(x, y), (x + wide, y)], "accent", 1.8, min(8, wide / 2))
            figure.text(
                max(x + wide / 2, frame.x + 30),
                y + 19,
                f"+{spaced(places[0][1] - places[0][0])}",
                "accent",
                13,
                "middle",
                bold=True,
            )

    def _inside(self, figure: Figure, a: Anatomy, pieces: tuple[tuple[int, ...], ...], x: float) -> None:
        rows, columns = len(pieces), len(pieces[0])
        frame = Frame(x, TOP, max(150, columns * 48), HIGH if rows > 2 else 40 * rows, rows, columns)
        labels = [list(map(str, row)) for row in pieces]
        fill(figure, frame, [[Figure.kind(bank_group(address)) for address in row] for row in pieces], labels)
        hairs(figure, frame)
        figure.border(*frame.box, "atom", line=2.4)
        (u, v), (wide, high), (mn, k) = a.unit, frame.step, names(self.derivation)
        figure.texts(
            [(x + frame.width + 8, TOP + (i + 0.5) * high + 4, f"{mn.lower()} {i * u}") for i in range(rows)],
            "muted",
            11,
        )
        foot = TOP + frame.height + 18
        figure.texts(
            [(x + (j + 0.5) * wide, foot, f"{k.lower()} {j * v}") for j in range(columns)], "muted", 11, "middle"
        )
