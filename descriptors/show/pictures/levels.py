"""The four levels of a tile: its atoms in the order of memory, its subtiles, one subtile's chunks, one chunk's bytes.

>>> from descriptors import derive
>>> found = LevelsPicture(derive((128, 128), "bf16", "K", "128B", (64, 16)))
>>> found.record()["chunks"][1], found.record()["addresses"][1]
((1024, 1040), (144,))

Two panels: one subtile's chunks with the steps LBO and SBO between them, and one chunk with its addresses.

Law: the numbers in the first are the places of the canonical layout, those in the second what the tile's layout gives.

>>> from descriptors import derive
>>> a = Anatomy(derive((128, 128), "bf16", "K", "128B", (64, 16)))
>>> frame = chunks_panel(Figure(), a, 0, 0, 320)
>>> frame.rows, frame.columns
(8, 2)
"""

from __future__ import annotations

from typing import Any

from descriptors.frozen import frozen
from descriptors.show.pictures.anatomy import Anatomy, Pair, bank_group
from descriptors.show.pictures.panels import (
    HEIGHT,
    Frame,
    amount,
    atom_name,
    border,
    chunk_name,
    fill,
    hairs,
    story,
    subtile_name,
    table,
    times,
    told,
)
from descriptors.show.pictures.tiles import (
    atoms_panel,
    beam,
    memory_order,
    panel_width,
    share_of_atom,
    subtiles_panel,
)
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.derivation.explanation import names, unread_because
from descriptors.smem.operands.operand import SwizzleMode
from descriptors.text import many
from layoutalg import Figure, Picture, Scene, size

#: The most columns of chunks that are as wide as their numbers.
_MOST_WIDE = 8


def offset_words(d: Derivation) -> tuple[str, str]:
    """LBO and SBO in bytes, each with why it is not read.

    >>> from descriptors import derive
    >>> offset_words(derive((128, 128), "bf16", "K", "128B", (64, 16)))
    ('LBO 16 (unused in this mode)', 'SBO 1024')
    """
    found = []
    for short, (field, _) in _named(d):
        because = unread_because(d, field)
        found.append(f"{short} {getattr(d.descriptor, field)}" + (f" ({because})" if because else ""))
    return found[0], found[1]


def label_room(d: Derivation) -> float:
    """The pixels beside the panel of chunks that the label of the step down takes."""
    longest = max((f"{short} {getattr(d.descriptor, field)}" for short, (field, _) in _named(d)), key=len)
    return round(24 + Figure.width_of(longest, 13, bold=True) + 34)


def _named(d: Derivation) -> list[tuple[str, tuple[str, Pair]]]:
    return list(zip(("LBO", "SBO"), d.match.form.steps, strict=True))


def chunks_heading(a: Anatomy) -> list[str]:
    """What is said above the panel of chunks."""
    rows, columns = a.chunk_grid
    (u, v), (mn, k) = a.chunk_units, a.chunk_extents
    shape = f"{mn} \u00d7 {16 * v} B" if a.derivation.major.contiguous_mode else f"{16 * u} B \u00d7 {k}"
    return [f"{times(a.chunk_grid)} {many(rows * columns, chunk_name(a.derivation))} of {shape}",
            "a number: its start in bytes"]  # fmt: skip


def chunk_heading(a: Anatomy) -> tuple[str, list[str]]:
    """The heading of the panel of one chunk, and what is said below it."""
    d, (u, v) = a.derivation, a.chunk_units
    shape = f"{u} rows of {16 * v} B" if d.major.contiguous_mode else f"{16 * u} B \u00d7 {v} {names(d)[1].lower()}"
    address = "its address" if d.swizzle is SwizzleMode.NONE else "its swizzled address"
    return f"One {chunk_name(d)}: {shape}", [f"a number: {address}", "a colour: four banks"]


def chunks_panel(figure: Figure, a: Anatomy, x: float, y: float, height: float, cell: float = 46) -> Frame:
    """The chunks of a subtile, each with the place where it begins."""
    places = a.chunk_places()
    labels = [[str(one) for one in row] for row in places]
    rows, columns = len(places), len(places[0])
    longest = max(len(label) for row in labels for label in row)
    wide = max(columns * max(cell, 7 * longest + 22), 120) if columns <= _MOST_WIDE else 420
    frame = Frame(x, y, wide, height, rows, columns)
    fill(figure, frame, [["r1" if (i + j) % 2 == 0 else "r2" for j in range(columns)] for i in range(rows)], labels)
    border(figure, frame, "chunk", rows, columns, outer=False)
    figure.border(*frame.box, "subtile")
    figure.border(*frame.cell(0, 0), "chunk", line=3)
    return frame


def draw_steps(figure: Figure, d: Derivation, frame: Frame) -> None:
    """LBO and SBO: an arrow from the first chunk to the next in the direction of each, and whether it is read."""
    for short, (field, path) in _named(d):
        because = unread_because(d, field)
        role = "muted" if because else "accent"
        why = ("not read" if because.startswith("unused") else "never taken") if because else ""
        taken = size(d.canonical[path[0]][path[1]]) > 1
        words = f"{short} {getattr(d.descriptor, field)}"
        (_down if path[0] == 0 else _chunk_panels_across)(figure, frame, words, why, role, taken)


def _down(figure: Figure, frame: Frame, words: str, why: str, role: str, taken: bool) -> None:
    _, high = frame.step
    x, y = frame.x + frame.width + 15, frame.y + high / 2
    if taken:
        figure.arrow([(x, y), (x, y + high)], role, 1.8)
    middle = y + high / 2 if taken else y
    figure.text(x + 9, middle + (-2 if why else 4), words, role, 13, bold=True)
    figure.text(x + 9, middle + 14, why, "muted", 11)


def _chunk_panels_across(figure: Figure, frame: Frame, words: str, why: str, role: str, taken: bool) -> None:
    wide, _ = frame.step
    x, y = frame.x + wide / 2, frame.y + frame.height + 15
    if taken:
        figure.arrow([(x, y), (x + wide, y)], role, 1.8)
    y += 19 if taken else 4
    middle = max(x + wide / 2 if taken else frame.x + frame.width / 2, frame.x + 40)
    figure.text(middle, y, words, role, 13, "middle", bold=True)
    figure.text(middle, y + 16, why, "muted", 11, "middle")


def chunk_panel(
    figure: Figure, a: Anatomy, x: float, y: float, height: float, subtile: Pair, chunk: Pair = (0, 0)
) -> Frame:
    """The 16-byte pieces of one chunk of a subtile, each with its address."""
    found, (rows, columns) = a.addresses(subtile, chunk), a.chunk_units
    labels = [[f"0x{one:03x}" for one in row] for row in found]
    longest = max(len(label) for row in labels for label in row)
    wide = max(columns * (7 * longest + 12), 150)
    frame = Frame(x, y, wide, height if rows > 1 else 76, rows, columns)
    fill(figure, frame, [[figure.kind(bank_group(one)) for one in row] for row in found], labels)
    hairs(figure, frame)
    figure.border(*frame.box, "chunk", line=3)
    _axes(figure, a, frame)
    return frame


def _axes(figure: Figure, a: Anatomy, frame: Frame) -> None:
    """Which element of the chunk each piece begins with, to the right and below."""
    (wide, high), (u, v), (mn, k) = frame.step, a.unit, names(a.derivation)
    if frame.rows > 1:
        right = frame.x + frame.width + 10
        items = [(right, frame.y + (i + 0.5) * high + 4, f"{mn.lower()} {i * u}") for i in range(frame.rows)]
        figure.texts(items, "muted", 11)
    if frame.columns > 1:
        foot = frame.y + frame.height + 18
        items = [(frame.x + (j + 0.5) * wide, foot, f"{k.lower()} {j * v}") for j in range(frame.columns)]
        figure.texts(items, "muted", 11, "middle")


#: Between two panels, and where their cells begin.
GAP, TOP = 56, 142


@frozen
class LevelsPicture(Picture):
    """The four nested levels of a tile.

    Args:
        derivation: the tile.
        stage: which of its stages.
        subtile: which subtile is enlarged.
    """

    derivation: Derivation
    stage: int = 0
    subtile: Pair = (0, 0)

    def scene(self) -> Scene:
        """Four panels, each an enlargement of a part of the one before."""
        d, a, figure = self.derivation, Anatomy(self.derivation, self.stage), Figure()
        high = max(HEIGHT, min(15 * a.chunk_grid[0], 480))
        wide = panel_width(a, high)
        figure.heading(0, 0, title(d), f"{told(d)}, {times(a.extents)} out of {d.smem_tile}.", room=1100)
        words = [
            f"{times(a.extents)} = {amount(a.bytes)}: {_atoms(a)}",
            "numbered in memory order" if a.atom_grid[0] else "subtiles in memory order",
        ]
        edge = _head(figure, 28, f"1 Tile of {many(2, atom_name(d))}", words, "accent")
        tile = atoms_panel(figure, a, 28, TOP, wide, high)
        left = max(tile.x + wide + GAP, edge + 28)
        words = [f"{times(a.subtile_grid)} operands of {times(d.mma)}", f"each {_across(a)}"]
        edge = _head(figure, left, f"2 {_capital(many(2, subtile_name(d)))}", words, "subtile")
        subtiles = subtiles_panel(figure, a, left, TOP, wide, high, self.subtile)
        figure.text(left + wide / 2, TOP + high + 24, share_of_atom(d, wide + 44), "muted", 13, "middle")
        left = max(left + wide + GAP + 14, edge + 28)
        edge = _head(figure, left, f"3 One subtile: {many(2, chunk_name(d))}", chunks_heading(a), "subtile")
        chunks = chunks_panel(figure, a, left, TOP, high)
        figure.zoom(subtiles.cell(*self.subtile), chunks.box, "subtile", "beam", subtiles.x + wide)
        left = max(left + chunks.width + label_room(d), edge + 28)
        heading, words = chunk_heading(a)
        edge = _head(figure, left, f"4 {heading}", words, "muted")
        piece = chunk_panel(figure, a, left, TOP, high, self.subtile)
        beam(figure, chunks, chunks.cell(0, 0), piece)
        draw_steps(figure, d, chunks)
        figure.legend(28, TOP + high + 88, _legend(a), max(edge, left + piece.width) - 28)
        return figure.scene(title(d), self._description())

    def record(self) -> dict[str, Any]:
        """Every number that is drawn."""
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
        """The same four tables, one below the other."""
        d, found, a = self.derivation, self.record(), Anatomy(self.derivation, self.stage)
        atoms, chunks, addresses = found["atoms"], found["chunks"], found["addresses"]
        count = sum(map(len, atoms))
        lines = [f"{title(d)}: {told(d)}, {times(a.extents)}", ""]
        lines += [f"1 tile: {amount(a.bytes)}, {_atoms(a)} of {times(a.atom_extents)}, numbered in memory order"]
        lines += table(atoms, [[Figure.step(rank, count) for rank in row] for row in atoms], color=color)
        lines += ["", f"2 subtiles: {times(a.subtile_grid)} of {times(d.mma)}, one instruction each, {_across(a)}"]
        lines += ["", f"3 one subtile: {'; '.join(chunks_heading(a))}"]
        lines += table(chunks, [["r2"] * len(row) for row in chunks], color=color)
        lines += [f"   {'; '.join(offset_words(d))}"]
        heading, words = chunk_heading(a)
        lines += ["", f"4 {heading[0].lower()}{heading[1:]}; {'; '.join(words)}"]
        roles = [[Figure.kind(bank_group(one)) for one in row] for row in addresses]
        lines += table([[f"0x{one:03x}" for one in row] for row in addresses], roles, color=color)
        return story(lines, width)

    def _description(self) -> str:
        d, a = self.derivation, Anatomy(self.derivation, self.stage)
        return (
            f"A tile of {times(a.extents)} elements, {told(d)}, is {_atoms(a)} of {times(a.atom_extents)}; it is read "
            f"as {times(a.subtile_grid)} subtiles of {times(d.mma)}, each {times(a.chunk_grid)} "
            f"{many(2, chunk_name(d))} of {times(a.chunk_extents)} elements. {'; '.join(offset_words(d))}."
        )


def title(d: Derivation) -> str:
    """What the picture is called.

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
    """A panel's heading; where it ends on the right."""
    figure.panel_heading(x, 74, heading, words, role)
    widths = [
        figure.width_of(heading, figure.HEADING, bold=True),
        *(figure.width_of(one, figure.BODY) for one in words),
    ]
    return x + max(widths)


def _atoms(a: Anatomy) -> str:
    rows, columns = a.atom_grid
    name = atom_name(a.derivation).replace("swizzle ", "")
    return f"{times(a.atom_grid)} {many(rows * columns, name)}" if rows else f"no whole {many(2, name)}"


def _across(a: Anatomy) -> str:
    """How many atoms a subtile lies across."""
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
