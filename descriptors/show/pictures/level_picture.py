"""Draw the four levels of a tile: its atoms, its subtiles, the chunks of one subtile, the 16-byte pieces of one chunk.

>>> from descriptors import derive
>>> levels = LevelsPicture(derive((128, 128), "bf16", "K", "128B", (64, 16)))
>>> levels.record()["chunks"][1], levels.record()["addresses"][1]
((1024, 1040), (144,))
"""

from __future__ import annotations

from typing import Any

from descriptors.show.pictures.anatomy import Anatomy, Pair
from descriptors.show.pictures.chunk_picture import (
    chunk_heading,
    chunk_panel,
    chunks_heading,
    chunks_panel,
    draw_steps,
    label_room,
    offset_words,
)
from descriptors.show.pictures.panels import (
    HEIGHT,
    amount,
    atom_name,
    chunk_name,
    operand_text,
    story,
    subtile_name,
    table,
    times,
)
from descriptors.show.pictures.tile_picture import (
    atoms_panel,
    beam,
    memory_order,
    panel_width,
    share_of_atom,
    subtiles_panel,
)
from descriptors.smem.derivation.derivation import Derivation
from descriptors.text import many
from layoutalg import Figure, Picture, Scene, bank_group
from layoutalg.frozen import frozen

#: The gap between two panels, and the top of their cells.
GAP, TOP = 20, 142


@frozen
class LevelsPicture(Picture):
    """The picture of the four nested levels of a tile.

    Args:
        derivation: the tile.
        stage: the stage of the tile.
        subtile: the subtile that is enlarged.
    """

    derivation: Derivation
    stage: int = 0
    subtile: Pair = (0, 0)

    def scene(self) -> Scene:
        """Draw four panels. Each enlarges a part of the previous one."""
        d, a, figure = self.derivation, Anatomy(self.derivation, self.stage), Figure()
        high = max(HEIGHT, min(15 * a.chunk_grid[0], 480))
        wide = panel_width(a, high)
        figure.heading(0, 0, title(d), f"{operand_text(d)}, {times(a.extents)} out of {d.smem_tile}.")
        words = [
            f"{amount(a.bytes)}: {_atoms(a)}",
            "numbered in memory order" if a.atom_grid[0] else "subtiles in memory order",
        ]
        edge = _head(figure, 20, f"1 Tile of {many(2, atom_name(d))}", words, "accent")
        tile = atoms_panel(figure, a, 20, TOP, wide, high)
        left = max(tile.x + wide + GAP, edge + GAP)
        words = [f"{times(a.subtile_grid)} operands of {times(d.mma)}", f"each {_across(a)}"]
        edge = _head(figure, left, f"2 {_capital(many(2, subtile_name(d)))}", words, "subtile")
        subtiles = subtiles_panel(figure, a, left, TOP, wide, high, self.subtile)
        figure.text(left + wide / 2, TOP + high + 24, share_of_atom(d, wide + 44), "muted", 13, "middle")
        left = max(left + wide + 34, edge + GAP)
        edge = _head(figure, left, f"3 One subtile: {many(2, chunk_name(d))}", chunks_heading(a), "subtile")
        chunks = chunks_panel(figure, a, left, TOP, high)
        figure.zoom(subtiles.cell(*self.subtile), chunks.box, "subtile", "beam", subtiles.x + wide)
        left = max(left + chunks.width + label_room(d), edge + GAP)
        heading, words = chunk_heading(a)
        edge = _head(figure, left, f"4 {heading}", words, "muted")
        piece = chunk_panel(figure, a, left, TOP, high, self.subtile)
        beam(figure, chunks, chunks.cell(0, 0), piece)
        draw_steps(figure, d, chunks)
        figure.legend(20, TOP + high + 88, _legend(a), max(edge, left + piece.width) - 20)
        return figure.scene(title(d), self._description())

    def record(self) -> dict[str, Any]:
        """Return the numbers that are drawn."""
        a, d = Anatomy(self.derivation, self.stage), self.derivation
        return {
            "kind": "levels",
            "tile": a.extents,
            "atom": a.atom_extents,
            "atoms": memory_order(a),
            "subtiles": a.subtile_grid,
            "subtile": self.subtile,
            "mma": d.mma,
            "chunk": a.chunk_extents,
            "chunks": a.chunk_places(),
            "leading_byte_offset": d.descriptor.leading_byte_offset,
            "stride_byte_offset": d.descriptor.stride_byte_offset,
            "dont_care": d.dont_care,
            "addresses": a.addresses(self.subtile),
        }

    def text(self, *, color: bool = False, width: int | None = None) -> str:
        """Return the four levels as tables, one below the other."""
        d, record, a = self.derivation, self.record(), Anatomy(self.derivation, self.stage)
        atoms, chunks, addresses = record["atoms"], record["chunks"], record["addresses"]
        count = sum(map(len, atoms))
        lines = [f"{title(d)}: {operand_text(d)}, {times(a.extents)}", ""]
        lines += [f"1 tile: {amount(a.bytes)}, {_atoms(a)} of {times(a.atom_extents)}, numbered in memory order"]
        lines += table(atoms, [[Figure.step(rank, count) for rank in row] for row in atoms], color=color)
        lines += ["", f"2 subtiles: {times(a.subtile_grid)} of {times(d.mma)}, one instruction each, {_across(a)}"]
        lines += ["", f"3 one subtile: {'; '.join(chunks_heading(a))}"]
        lines += table(chunks, [["r2"] * len(row) for row in chunks], color=color)
        lines += [f"   {'; '.join(offset_words(d))}"]
        heading, words = chunk_heading(a)
        lines += ["", f"4 {heading[0].lower()}{heading[1:]}; {'; '.join(words)}"]
        roles = [[Figure.kind(bank_group(address)) for address in row] for row in addresses]
        lines += table(addresses, roles, color=color)
        return story(lines, width)

    def _description(self) -> str:
        d, a = self.derivation, Anatomy(self.derivation, self.stage)
        return (
            f"A tile of {times(a.extents)} elements, {operand_text(d)}, is {_atoms(a)} of {times(a.atom_extents)}; "
            f"it is read as {times(a.subtile_grid)} subtiles of {times(d.mma)}, each {times(a.chunk_grid)} "
            f"{many(2, chunk_name(d))} of {times(a.chunk_extents)} elements. {'; '.join(offset_words(d))}."
        )


def title(d: Derivation) -> str:
    """Return the title of the picture.

    >>> from descriptors import derive
    >>> title(derive((128, 128), "bf16", "MN", "64B", (64, 16)))
    'Four nested levels: tile, MMA subtile, swizzle atom, 16 bytes'
    """
    levels = ["tile", atom_name(d), subtile_name(d), "chunk"]
    if chunk_name(d) == "atom":
        levels = ["tile", subtile_name(d), atom_name(d), "16 bytes"]
    return f"Four nested levels: {', '.join(levels)}"


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def _head(figure: Figure, x: float, heading: str, words: list[str], role: str) -> float:
    """Draw the heading of a panel, and return its right edge."""
    figure.panel_heading(x, 74, heading, words, role)
    widths = [
        figure.width_of(heading, figure.HEADING, bold=True),
        *(figure.width_of(line, figure.BODY) for line in words),
    ]
    return x + max(widths)


def _atoms(a: Anatomy) -> str:
    rows, columns = a.atom_grid
    name = atom_name(a.derivation).replace("swizzle ", "")
    return f"{times(a.atom_grid)} {many(rows * columns, name)}" if rows else f"no whole {many(2, name)}"


def _across(a: Anatomy) -> str:
    """Return the number of atoms that a subtile crosses, as text."""
    pairs = zip(a.derivation.mma, a.atom_extents, strict=True)
    high, wide = (max(-(-part // atom), 1) for part, atom in pairs)
    name = atom_name(a.derivation).replace("swizzle ", "")
    return f"across {high * wide} {many(high * wide, name)}"


def _legend(a: Anatomy) -> list[tuple[str, str]]:
    d = a.derivation
    entries = [
        ("tile", "tile"),
        ("atom", f"{atom_name(d)}, {times(a.atom_extents)}, {a.atom_bytes} bytes"),
        ("subtile", f"{subtile_name(d)}, {times(d.mma)}"),
    ]
    if chunk_name(d) != "atom":
        entries.append(("chunk", f"chunk, {times(a.chunk_extents)}"))
    return [*entries, ("r0", "first in memory"), ("r7", "last in memory")]
