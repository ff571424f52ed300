"""The chunks of one subtile with LBO and SBO as arrows, and one of them with the addresses of its 16-byte pieces.

>>> from descriptors import derive
>>> found = ChunksPicture(derive((128, 128), "bf16", "MN", "64B", (64, 16))).record()
>>> found["chunks"], found["leading_byte_offset"], found["stride_byte_offset"]
(((0, 512), (8192, 8704)), 8192, 512)
"""

from __future__ import annotations

from typing import Any

from descriptors.frozen import frozen
from descriptors.show.pictures.anatomy import Anatomy, Pair, bank_group
from descriptors.show.pictures.levels import (
    chunk_heading,
    chunk_panel,
    chunks_heading,
    chunks_panel,
    draw_steps,
    label_room,
)
from descriptors.show.pictures.panels import HEIGHT, chunk_name, story, table, times, told
from descriptors.show.pictures.tiles import beam
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.derivation.explanation import step_meanings, unread_because
from descriptors.text import many
from layoutalg import Figure, Picture, Scene

#: Where the panels begin, and the width of the sentences beside them.
TOP, ROOM = 116, 300


@frozen
class ChunksPicture(Picture):
    """What one instruction reads, as the hardware walks it.

    Args:
        derivation: the tile.
        stage: which of its stages.
        subtile: which subtile.
        chunk: which of its chunks is enlarged.
    """

    derivation: Derivation
    stage: int = 0
    subtile: Pair = (0, 0)
    chunk: Pair = (0, 0)

    def record(self) -> dict[str, Any]:
        """Every number that is drawn."""
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
        """The chunks, one of them enlarged, and what the two offsets are in words."""
        d, a, figure = self.derivation, Anatomy(self.derivation, self.stage), Figure()
        high = max(HEIGHT, min(15 * a.chunk_grid[0], 480))
        name = chunk_name(d)
        title = f"One subtile, {times(d.mma)}: {many(2, name)}, LBO and SBO"
        figure.heading(0, 0, title, f"{told(d)}. {self._sentence(a)}", room=1100)
        left = 0.0
        head, note = chunks_heading(a)
        figure.text(left, 78, head, "subtile", figure.HEADING, bold=True)
        figure.text(left, 97, note, "muted", figure.BODY)
        chunks = chunks_panel(figure, a, left, TOP, high, cell=92)
        heading, words = chunk_heading(a)
        right = max(chunks.width + label_room(d), 320)
        figure.text(right, 78, heading, "muted", figure.HEADING, bold=True)
        figure.text(right, 97, words[0], "muted", figure.BODY)
        piece = chunk_panel(figure, a, right, TOP, high, self.subtile, self.chunk)
        beam(figure, chunks, chunks.cell(*self.chunk), piece)
        draw_steps(figure, d, chunks)
        self._meanings(figure, right + piece.width + 84)
        return figure.scene(title, f"{told(d)}. {self._sentence(a)} " + " ".join(self._words()))

    def text(self, *, color: bool = False, width: int | None = None) -> str:
        """The two tables and the two sentences."""
        d, a, found = self.derivation, Anatomy(self.derivation, self.stage), self.record()
        heading, words = chunk_heading(a)
        lines = [f"One subtile, {times(d.mma)}: {told(d)}", f"{'; '.join(chunks_heading(a))}"]
        lines += table(found["chunks"], [["r2"] * len(row) for row in found["chunks"]], color=color)
        lines += [*self._words(), "", f"{heading}; {words[0]}"]
        roles = [[Figure.kind(bank_group(one)) for one in row] for row in found["addresses"]]
        lines += table([[f"0x{one:03x}" for one in row] for row in found["addresses"]], roles, color=color)
        return story(lines, width)

    def _sentence(self, a: Anatomy) -> str:
        name = chunk_name(a.derivation)
        return f"The hardware knows its way in a {name}; the word tells the steps from {name} to {name}."

    def _words(self) -> list[str]:
        """What LBO and SBO are, in words."""
        d, found = self.derivation, []
        for short, (field, meaning) in zip(("LBO", "SBO"), step_meanings(d).items(), strict=True):
            because = unread_because(d, field)
            found.append(
                f"{short} {getattr(d.descriptor, field)}: {meaning}" + (f"; {because}" if because else "") + "."
            )
        return found

    def _meanings(self, figure: Figure, x: float) -> None:
        d, y = self.derivation, TOP + 16.0
        for words, (field, _) in zip(self._words(), d.match.form.steps, strict=True):
            head, _, rest = words.partition(": ")
            idle = field in d.dont_care
            figure.text(x, y, head, "muted" if idle else "accent", figure.HEADING, bold=True)
            y = figure.paragraph(x, y + 22, rest[:1].upper() + rest[1:], ROOM) + 18
        figure.paragraph(x, y, "A colour is a group of four banks: pieces of one colour meet in the same banks.", ROOM)
