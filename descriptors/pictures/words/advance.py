"""The steps from subtile to subtile: where each starts, what is added from one to the next, the one field that moves.

>>> from descriptors import derive
>>> found = AdvancePicture(derive((128, 128), "bf16", "K", "128B", (64, 16))).record()
>>> found["starts"][1][:4], found["steps_along_k"]
((8192, 8224, 8256, 8288), (32, 32, 32, 16288, 32, 32, 32))
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from descriptors.derivation.parts.derivation import Derivation
from descriptors.frozen import frozen
from descriptors.operands.swizzled import plain
from descriptors.output.tiles.explanation import names
from descriptors.pictures.parts.anatomy import Anatomy
from descriptors.pictures.parts.panels import atom_name, spaced, subtile_name, times, told
from descriptors.pictures.parts.tables import story, table
from descriptors.pictures.words.advance_panel import panel
from descriptors.pictures.words.word_panel import field_role, word_panel
from descriptors.text import counted, many, word_text
from layoutalg import Figure, Picture, Scene, size

#: The width of the word's bar.
WIDE = 1060


@frozen
class AdvancePicture(Picture):
    """How the start address moves over a tile.

    Args:
        derivation: the tile.
        stage: which of its stages.
        base: address of the tile, in bytes.
    """

    derivation: Derivation
    stage: int = 0
    base: int = 0

    def record(self) -> dict[str, Any]:
        """Every number that is drawn."""
        d, starts = self.derivation, Anatomy(self.derivation, self.stage).subtile_starts()
        field, words = d.descriptor.word["start_address"], self._words()
        return {
            "kind": "advance",
            "starts": starts,
            "fields": tuple(tuple((word & field.mask) >> field.low for word in row) for row in words),
            "steps_along_mn": steps([row[0] for row in starts]),
            "steps_along_k": steps(starts[0]),
            "stage_step": self._stage_step(),
            "word": word_text(words[0][0]),
        }

    def scene(self) -> Scene:
        """The subtiles over the atoms with their steps, and the word below."""
        d, found, figure, a = self.derivation, self.record(), Figure(), Anatomy(self.derivation, self.stage)
        title, sentences = self._title(found), self._sentences(found)
        y = figure.heading(0, 0, title, sentences, room=WIDE) + 46
        y = panel(figure, a, found["starts"], found["fields"], (found["steps_along_mn"], found["steps_along_k"]), y)
        figure.text(0, y + 44, f"The word of subtile (0,0): {found['word']}", "ink", 15, bold=True)
        word = int(found["word"], 16)
        foot = word_panel(figure, 0, y + 74, WIDE, d.descriptor.word, word, moves=("start_address",), idle=d.dont_care)
        figure.legend(0, foot + 22, self._legend(), WIDE)
        return figure.scene(title, sentences)

    def text(self, *, color: bool = False, width: int | None = None) -> str:
        """The starts as a table, the steps, and the word."""
        found, (mn, k) = self.record(), names(self.derivation)
        starts = found["starts"]
        roles = [["r1" if (i + j) % 2 else "r2" for j in range(len(row))] for i, row in enumerate(starts)]
        left = [f"{mn.lower()} {i}" for i in range(len(starts))]
        top = [f"{k.lower()} {j}" for j in range(len(starts[0]))]
        lines = [self._title(found), self._sentences(found), "", "start of each subtile, in bytes from the tile"]
        lines += table(starts, roles, left=left, top=top, color=color)
        lines += ["", "the start address field of each word"]
        lines += table(
            [[f"0x{one:x}" for one in row] for row in found["fields"]], roles, left=left, top=top, color=color
        )
        for name, key in ((mn, "steps_along_mn"), (k, "steps_along_k")):
            if found[key]:
                lines += [
                    "",
                    f"steps along {name}: {' '.join(f'+{one}' if one >= 0 else str(one) for one in found[key])}",
                ]
        return story([*lines, "", f"the word of subtile (0,0): {found['word']}"], width)

    def _words(self) -> tuple[tuple[int, ...], ...]:
        staged = len(plain(self.derivation.smem_tile)) > 2
        return self.derivation.words(self.base, self.stage if staged else None)

    def _stage_step(self) -> int | None:
        """Bytes from a stage to the next, if there are several."""
        d = self.derivation
        if size(d.advance) == size(d.advance, mode=[0]) * size(d.advance, mode=[1]):
            return None
        return d.offset_of(0, 0, 1) - d.offset_of(0, 0, 0)

    def _title(self, found: dict[str, Any]) -> str:
        count = sum(map(len, found["starts"]))
        return f"{counted(count, 'subtile')}, one descriptor: only the start address moves"

    def _sentences(self, found: dict[str, Any]) -> str:
        d = self.derivation
        at = f", for a tile at {self.base:#x}" if self.base else ""
        said = (
            f"{told(d)}{at}. A number is where a subtile starts, in bytes from the tile; below it the field, which "
            "counts 16 bytes."
        )
        if found["stage_step"] is not None:
            said += f" Stage {self.stage}; from a stage to the next: +{spaced(found['stage_step'])}."
        jumps = odd(found["steps_along_k"]) | odd(found["steps_along_mn"])
        if jumps:
            said += f" Where the next subtile lies in other {many(2, atom_name(d))}, the step is another."
        return said

    def _legend(self) -> list[tuple[str, str]]:
        d, a = self.derivation, Anatomy(self.derivation)
        entries = [
            ("subtile", f"{subtile_name(d)}, {times(d.mma)}"),
            ("atom", f"{atom_name(d)}, {times(a.atom_extents)}"),
            ("dot:subtile", "where a subtile starts"),
            (field_role("start_address", ("start_address",)), "the field that moves"),
            (field_role(""), "fields that stay"),
        ]
        if d.dont_care:
            entries.append((field_role("x", (), ("x",)), "not read here"))
        return [*entries, ("faint", "unused bits")]


def steps(starts: Sequence[int]) -> tuple[int, ...]:
    """What is added from each start to the next.

    >>> steps([0, 32, 64, 16384])
    (32, 32, 16320)
    """
    return tuple(after - before for before, after in pairwise(starts))


def odd(found: Sequence[int]) -> set[int]:
    """The steps that are not the usual one.

    >>> odd((32, 32, 32, 16288, 32))
    {16288}
    """
    usual = Counter(found).most_common(1)
    return {step for step in found if step != usual[0][0]} if len(found) > 1 else set()
