"""Draw the chunks of one subtile with LBO and SBO as arrows, and one chunk with the addresses of its 16-byte pieces.

Invariant: the numbers in the first panel are offsets of the canonical layout, those in the second are addresses of the
layout of the tile.

>>> from descriptors import derive
>>> chunks = ChunksPicture(derive((128, 128), "bf16", "MN", "64B", (64, 16))).record()
>>> chunks["chunks"], chunks["leading_byte_offset"], chunks["stride_byte_offset"]
(((0, 512), (8192, 8704)), 8192, 512)
>>> frame = chunks_panel(Figure(), Anatomy(derive((128, 128), "bf16", "K", "128B", (64, 16))), 0, 0, 320)
>>> frame.rows, frame.columns
(8, 2)
"""

from __future__ import annotations

from typing import Any

from descriptors.show.pictures.anatomy import Anatomy, Pair, ranks
from descriptors.show.pictures.panels import (
    HEIGHT,
    Frame,
    border,
    chunk_name,
    fill,
    hairs,
    operand_text,
    story,
    table,
    times,
)
from descriptors.show.pictures.tile_picture import beam, order_roles
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.derivation.explanation import names, step_meanings, unread_because
from descriptors.smem.operands.operand import SwizzleMode
from descriptors.text import many
from layoutalg import Figure, Picture, Scene, bank_group, size
from layoutalg.frozen import frozen

#: The top of the panels, and the width of the sentences next to them.
TOP, ROOM = 116, 250


@frozen
class ChunksPicture(Picture):
    """The picture of the chunks that one instruction reads.

    Args:
        derivation: the tile.
        stage: the stage of the tile.
        subtile: the subtile.
        chunk: the chunk that is enlarged.
    """

    derivation: Derivation
    stage: int = 0
    subtile: Pair = (0, 0)
    chunk: Pair = (0, 0)

    def record(self) -> dict[str, Any]:
        """Return the numbers that are drawn."""
        d, a = self.derivation, Anatomy(self.derivation, self.stage)
        return {
            "kind": "chunks",
            "subtile": self.subtile,
            "mma": d.mma,
            "chunk": a.chunk_extents,
            "chunks": a.chunk_places(),
            "leading_byte_offset": d.descriptor.leading_byte_offset,
            "stride_byte_offset": d.descriptor.stride_byte_offset,
            "dont_care": d.dont_care,
            "addresses": a.addresses(self.subtile, self.chunk),
        }

    def scene(self) -> Scene:
        """Draw the chunks, one of them enlarged, and describe the two offsets."""
        d, a, figure = self.derivation, Anatomy(self.derivation, self.stage), Figure()
        high = max(HEIGHT, min(15 * a.chunk_grid[0], 480))
        name = chunk_name(d)
        title = f"One subtile, {times(d.mma)}: {many(2, name)}, LBO and SBO"
        figure.heading(0, 0, title, f"{operand_text(d)}. {self._sentence(a)}")
        left = 0.0
        head, note = chunks_heading(a)
        figure.text(left, 78, head, "subtile", figure.HEADING, bold=True)
        figure.text(left, 97, note, "muted", figure.BODY)
        chunks = chunks_panel(figure, a, left, TOP, high, cell=92)
        heading, words = chunk_heading(a)
        right = max(chunks.width + label_room(d), 300)
        figure.text(right, 78, heading, "muted", figure.HEADING, bold=True)
        figure.text(right, 97, words[0], "muted", figure.BODY)
        piece = chunk_panel(figure, a, right, TOP, high, self.subtile, self.chunk, pad=14)
        beam(figure, chunks, chunks.cell(*self.chunk), piece)
        draw_steps(figure, d, chunks)
        self._meanings(figure, right + piece.width + 66)
        return figure.scene(title, f"{operand_text(d)}. {self._sentence(a)} " + " ".join(self._words()))

    def text(self, *, color: bool = False, width: int | None = None) -> str:
        """Return the two tables and the descriptions of the offsets."""
        d, a, record = self.derivation, Anatomy(self.derivation, self.stage), self.record()
        heading, words = chunk_heading(a)
        lines = [f"One subtile, {times(d.mma)}: {operand_text(d)}", f"{'; '.join(chunks_heading(a))}"]
        lines += table(record["chunks"], [["r2"] * len(row) for row in record["chunks"]], color=color)
        lines += [*self._words(), "", f"{heading}; {words[0]}"]
        roles = [[Figure.kind(bank_group(address)) for address in row] for row in record["addresses"]]
        lines += table(record["addresses"], roles, color=color)
        return story(lines, width)

    def _sentence(self, a: Anatomy) -> str:
        name = chunk_name(a.derivation)
        return f"The hardware knows the layout of a {name}; the descriptor gives the steps from {name} to {name}."

    def _words(self) -> list[str]:
        """Return sentences about LBO and SBO."""
        d, lines = self.derivation, []
        for short, (field, meaning) in zip(("LBO", "SBO"), step_meanings(d).items(), strict=True):
            because = unread_because(d, field)
            lines.append(
                f"{short} {getattr(d.descriptor, field)}: {meaning}" + (f"; {because}" if because else "") + "."
            )
        return lines

    def _meanings(self, figure: Figure, x: float) -> None:
        d, y = self.derivation, TOP + 16.0
        for words, (field, _) in zip(self._words(), d.match.form.steps, strict=True):
            head, _, rest = words.partition(": ")
            idle = field in d.dont_care
            figure.text(x, y, head, "muted" if idle else "accent", figure.HEADING, bold=True)
            y = figure.paragraph(x, y + 22, rest[:1].upper() + rest[1:], ROOM) + 18
        figure.paragraph(x, y, "A color is a group of four banks: pieces of one color are in the same banks.", ROOM)


#: The largest number of columns of chunks that are as wide as their numbers.
_MOST_WIDE = 8


def offset_words(d: Derivation) -> tuple[str, str]:
    """Return LBO and SBO in bytes, with the reason if one is not read.

    >>> from descriptors import derive
    >>> offset_words(derive((128, 128), "bf16", "K", "128B", (64, 16)))
    ('LBO 16 (unused in this mode)', 'SBO 1024')
    """
    texts = []
    for short, (field, _) in _named_offsets(d):
        because = unread_because(d, field)
        texts.append(f"{short} {getattr(d.descriptor, field)}" + (f" ({because})" if because else ""))
    return texts[0], texts[1]


def label_room(d: Derivation) -> float:
    """Return the width of the label of the step down, next to the panel of chunks, in pixels."""
    longest = max((f"{short} {getattr(d.descriptor, field)}" for short, (field, _) in _named_offsets(d)), key=len)
    return round(24 + Figure.width_of(longest, 13, bold=True) + 14)


def _named_offsets(d: Derivation) -> list[tuple[str, tuple[str, Pair]]]:
    return list(zip(("LBO", "SBO"), d.match.form.steps, strict=True))


def chunks_heading(a: Anatomy) -> list[str]:
    """Return the lines above the panel of chunks."""
    rows, columns = a.chunk_grid
    (u, v), (mn, k) = a.chunk_units, a.chunk_extents
    shape = f"{mn} \u00d7 {16 * v} B" if a.derivation.major.contiguous_mode else f"{16 * u} B \u00d7 {k}"
    swizzle = "" if a.derivation.swizzle is SwizzleMode.NONE else ", unswizzled"
    return [f"{times(a.chunk_grid)} {many(rows * columns, chunk_name(a.derivation))} of {shape}",
            f"a number: byte offset{swizzle}"]  # fmt: skip


def chunk_heading(a: Anatomy) -> tuple[str, list[str]]:
    """Return the heading of the panel of one chunk, and the lines below it."""
    d, (u, v) = a.derivation, a.chunk_units
    shape = f"{u} \u00d7 {16 * v} B" if d.major.contiguous_mode else f"{16 * u} B \u00d7 {v} {names(d)[1].lower()}"
    address = "its address" if d.swizzle is SwizzleMode.NONE else "its swizzled address"
    return f"One {chunk_name(d)}: {shape}", [f"a number: {address}", "a color: four banks"]


def chunks_panel(figure: Figure, a: Anatomy, x: float, y: float, height: float, cell: float = 46) -> Frame:
    """Draw the chunks of a subtile with the offset of each."""
    places = a.chunk_places()
    labels = [list(map(str, row)) for row in places]
    rows, columns = len(places), len(places[0])
    longest = max(len(label) for row in labels for label in row)
    wide = max(columns * max(cell, 6.1 * longest + 14), 92) if columns <= _MOST_WIDE else 420
    frame = Frame(x, y, wide, height, rows, columns)
    fill(figure, frame, order_roles(ranks(places)), labels)
    border(figure, frame, "chunk", rows, columns, outer=False)
    figure.border(*frame.box, "subtile")
    figure.border(*frame.cell(0, 0), "chunk", line=3)
    return frame


def draw_steps(figure: Figure, d: Derivation, frame: Frame) -> None:
    """Draw LBO and SBO as arrows from the first chunk to the next in each direction, and say which is not read."""
    for short, (field, path) in _named_offsets(d):
        because = unread_because(d, field)
        role = "muted" if because else "accent"
        why = ("not read" if because.startswith("unused") else "never taken") if because else ""
        repeats = size(d.canonical[path[0]][path[1]]) > 1
        words = f"{short} {getattr(d.descriptor, field)}"
        (_down if path[0] == 0 else _across)(figure, frame, words, why, role, repeats)


def _down(figure: Figure, frame: Frame, words: str, why: str, role: str, repeats: bool) -> None:
    _, high = frame.step
    x, y = frame.x + frame.width + 15, frame.y + high / 2
    if repeats:
        figure.arrow([(x, y), (x, y + high)], role, 1.8)
    middle = y + high / 2 if repeats else y
    figure.text(x + 9, middle + (-2 if why else 4), words, role, 13, bold=True)
    figure.text(x + 9, middle + 14, why, "muted", 11)


def _across(figure: Figure, frame: Frame, words: str, why: str, role: str, repeats: bool) -> None:
    wide, _ = frame.step
    x, y = frame.x + wide / 2, frame.y + frame.height + 15
    if repeats:
        figure.arrow([(x, y), (x + wide, y)], role, 1.8)
    y += 19 if repeats else 4
    middle = max(x + wide / 2 if repeats else frame.x + frame.width / 2, frame.x + 40)
    figure.text(middle, y, words, role, 13, "middle", bold=True)
    figure.text(middle, y + 16, why, "muted", 11, "middle")


def chunk_panel(
    figure: Figure, a: Anatomy, x: float, y: float, height: float, subtile: Pair, chunk: Pair = (0, 0), pad: float = 5
) -> Frame:
    """Draw the 16-byte pieces of one chunk of a subtile with their addresses, and padding around these."""
    addresses, (rows, columns) = a.addresses(subtile, chunk), a.chunk_units
    labels = [list(map(str, row)) for row in addresses]
    longest = max(len(label) for row in labels for label in row)
    wide = max(columns * (6.1 * longest + pad), 120)
    frame = Frame(x, y, wide, height if rows > 1 else 76, rows, columns)
    fill(figure, frame, [[figure.kind(bank_group(address)) for address in row] for row in addresses], labels)
    hairs(figure, frame)
    figure.border(*frame.box, "chunk", line=3)
    _axes(figure, a, frame)
    return frame


def _axes(figure: Figure, a: Anatomy, frame: Frame) -> None:
    """Write the first element of each row and column of pieces, to the right and below."""
    (wide, high), (u, v), (mn, k) = frame.step, a.unit, names(a.derivation)
    if frame.rows > 1:
        right = frame.x + frame.width + 10
        items = [(right, frame.y + (i + 0.5) * high + 4, f"{mn.lower()} {i * u}") for i in range(frame.rows)]
        figure.texts(items, "muted", 11)
    if frame.columns > 1:
        foot = frame.y + frame.height + 18
        items = [(frame.x + (j + 0.5) * wide, foot, f"{k.lower()} {j * v}") for j in range(frame.columns)]
        figure.texts(items, "muted", 11, "middle")
