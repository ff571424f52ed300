"""Draw the start address of each subtile, the steps from one to the next, and the descriptor field that changes.

The panel shows the subtiles over the atoms, an arrow for every step, and brackets for the columns of atoms.

>>> from descriptors import derive
>>> advance = AdvancePicture(derive((128, 128), "bf16", "K", "128B", (64, 16))).record()
>>> advance["starts"][1][:4], advance["steps_along_k"]
((8192, 8224, 8256, 8288), (32, 32, 32, 16288, 32, 32, 32))
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from descriptors.show.pictures.anatomy import Anatomy
from descriptors.show.pictures.panels import (
    Frame,
    atom_name,
    border,
    every,
    operand_text,
    spaced,
    story,
    subtile_name,
    table,
    ticks,
    times,
)
from descriptors.show.pictures.word_picture import field_role, word_panel
from descriptors.smem.derivation.advance import Grid
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.derivation.explanation import names
from descriptors.smem.operands.swizzled import plain
from descriptors.text import counted, many, word_text
from layoutalg import Figure, Picture, Scene, size
from layoutalg.frozen import frozen

#: The width of the bar of the descriptor.
WIDE = Figure.ROOM - 16


@frozen
class AdvancePicture(Picture):
    """The picture of the start addresses of the subtiles of a tile.

    Args:
        derivation: the tile.
        stage: the stage of the tile.
        base: address of the tile, in bytes.
    """

    derivation: Derivation
    stage: int = 0
    base: int = 0

    def record(self) -> dict[str, Any]:
        """Return the numbers that are drawn."""
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
        """Draw the subtiles over the atoms with their steps, and the descriptor below."""
        d, record, figure, a = self.derivation, self.record(), Figure(), Anatomy(self.derivation, self.stage)
        title, sentences = self._title(record), self._sentences(record)
        y = figure.heading(0, 0, title, sentences, room=WIDE) + 46
        y = panel(figure, a, record["starts"], record["fields"], (record["steps_along_mn"], record["steps_along_k"]), y)
        figure.text(0, y + 44, f"The descriptor of subtile (0,0): {record['word']}", "ink", 15, bold=True)
        word = int(record["word"], 16)
        foot = word_panel(figure, 0, y + 74, WIDE, d.descriptor.word, word, moves=("start_address",), idle=d.dont_care)
        figure.legend(0, foot + 22, self._legend(), WIDE)
        return figure.scene(title, sentences)

    def text(self, *, color: bool = False, width: int | None = None) -> str:
        """Return tables of the start addresses and fields, the steps, and the descriptor."""
        record, (mn, k) = self.record(), names(self.derivation)
        starts = record["starts"]
        roles = [["r1" if (i + j) % 2 else "r2" for j in range(len(row))] for i, row in enumerate(starts)]
        left = [f"{mn.lower()} {i}" for i in range(len(starts))]
        top = [f"{k.lower()} {j}" for j in range(len(starts[0]))]
        lines = [self._title(record), self._sentences(record), "", "start of each subtile, in bytes from the tile"]
        lines += table(starts, roles, left=left, top=top, color=color)
        lines += ["", "the start address field of each descriptor"]
        lines += table(record["fields"], roles, left=left, top=top, color=color)
        for name, key in ((mn, "steps_along_mn"), (k, "steps_along_k")):
            if record[key]:
                signed = " ".join(f"+{step}" if step >= 0 else str(step) for step in record[key])
                lines += ["", f"steps along {name}: {signed}"]
        return story([*lines, "", f"the descriptor of subtile (0,0): {record['word']}"], width)

    def _words(self) -> tuple[tuple[int, ...], ...]:
        staged = len(plain(self.derivation.smem_tile)) > 2
        return self.derivation.words(self.base, self.stage if staged else None)

    def _stage_step(self) -> int | None:
        """Return the bytes from one stage to the next; None if there is only one."""
        d = self.derivation
        if size(d.advance) == size(d.advance, mode=[0]) * size(d.advance, mode=[1]):
            return None
        return d.offset_of(0, 0, 1) - d.offset_of(0, 0, 0)

    def _title(self, record: dict[str, Any]) -> str:
        count = sum(map(len, record["starts"]))
        return f"{counted(count, 'subtile')}, one descriptor: only the start address moves"

    def _sentences(self, record: dict[str, Any]) -> str:
        d = self.derivation
        base = f", for a tile at byte {spaced(self.base)}" if self.base else ""
        sentences = (
            f"{operand_text(d)}{base}. A number is the start of a subtile, in bytes from the tile; below it is the "
            "field, in units of 16 bytes."
        )
        if record["stage_step"] is not None:
            sentences += f" Stage {self.stage}; from one stage to the next: +{spaced(record['stage_step'])}."
        if odd(record["steps_along_k"]) | odd(record["steps_along_mn"]):
            sentences += f" The step differs where the next subtile is in other {many(2, atom_name(d))}."
        return sentences

    def _legend(self) -> list[tuple[str, str]]:
        d, a = self.derivation, Anatomy(self.derivation)
        entries = [
            ("subtile", f"{subtile_name(d)}, {times(d.mma)}"),
            ("atom", f"{atom_name(d)}, {times(a.atom_extents)}"),
            ("dot:subtile", "start of a subtile"),
            (field_role("start_address", ("start_address",)), "the field that changes"),
            (field_role(""), "fields that do not change"),
        ]
        if d.dont_care:
            entries.append((field_role("x", (), ("x",)), "not read here"))
        return [*entries, ("faint", "unused bits")]


def steps(starts: Sequence[int]) -> tuple[int, ...]:
    """Return the differences between consecutive start addresses.

    >>> steps([0, 32, 64, 16384])
    (32, 32, 16320)
    """
    return tuple(after - before for before, after in pairwise(starts))


def odd(steps: Sequence[int]) -> set[int]:
    """Return the steps that differ from the most common one.

    >>> odd((32, 32, 32, 16288, 32))
    {16288}
    """
    usual = Counter(steps).most_common(1)
    return {step for step in steps if step != usual[0][0]} if len(steps) > 1 else set()


#: Left edge of the panel, and its largest width.
LEFT, ACROSS = 112, Figure.ROOM - 112


def panel(
    figure: Figure, a: Anatomy, starts: Grid, fields: Grid, steps: tuple[Sequence[int], Sequence[int]], y: float
) -> float:
    """Draw the panel of subtiles, and return its lower edge.

    Args:
        figure: the figure to draw on.
        a: the tile.
        starts: start of each subtile, in bytes.
        fields: start address field of each descriptor.
        steps: differences of the starts along MN in the first column, and along K in the first row.
        y: the upper edge.
    """
    rows, columns = len(starts), len(starts[0])
    wide, high = min(140.0, ACROSS / columns), max(34.0, min(150.0, 360 / rows))
    if rows * high > 640:
        high = 640 / rows
    frame = Frame(LEFT, y, round(wide * columns), round(high * rows), rows, columns)
    _atoms(figure, a, frame)
    border(figure, frame, "subtile", rows, columns)
    _starts(figure, frame, starts, fields)
    _across(figure, frame, steps[1])
    _down(figure, frame, steps[0])
    mn, k = names(a.derivation)
    foot = _columns(figure, frame, k.lower())
    if rows == 1 or frame.step[1] >= 30:
        middle = [(frame.x - 34, frame.y + (i + 0.5) * frame.step[1] + 4, f"{mn.lower()} {i}") for i in range(rows)]
        figure.texts(middle, "muted", 11, "end", mono=True)
    else:
        ticks(figure, frame, [f"{mn.lower()} {i}" for i in range(rows)])
    return _brackets(figure, a, frame, steps[1], foot)


def _atoms(figure: Figure, a: Anatomy, frame: Frame) -> None:
    rows, columns = a.atom_grid
    if not rows:
        return
    atoms = Frame(*frame.box, rows, columns)
    wide, high = atoms.step
    roles = [["r2" if (i + j) % 2 == 0 else "r0" for j in range(columns)] for i in range(rows)]
    figure.cells(atoms.x, atoms.y, wide, high, roles)
    border(figure, atoms, "atom", rows, columns, outer=False)


def _starts(figure: Figure, frame: Frame, starts: Grid, fields: Grid) -> None:
    """Write the start of each subtile, and draw a dot at its first element."""
    wide, high = frame.step
    longest = max(len(spaced(start)) for row in starts for start in row)
    stored = [[f"field {value}" for value in row] for row in fields]
    under = max(len(text) for row in stored for text in row)
    both = figure.width_of("0" * under, 11, mono=True) + 26 <= wide and high >= 62
    single = figure.width_of("0" * longest, 12, bold=True) + 14 <= wide and high >= 26
    digits = max(len(str(start)) for row in starts for start in row)
    if not (both or single) and (digits * 6.1 + 4 > wide or high < 14):
        return
    for i, row in enumerate(starts):
        for j, start in enumerate(row):
            x, y, *_ = frame.cell(i, j)
            _label(figure, x + wide / 2, y + high / 2, spaced(start), stored[i][j] if both else "", single or both)
            figure.dot(x, y, 5 if both else 3.2, "subtile")


def _label(figure: Figure, x: float, y: float, number: str, field: str, large: bool) -> None:
    size = 15 if field else 12 if large else Figure.LEAST
    across = max(figure.width_of(number, size, bold=True), figure.width_of(field, 11, mono=True)) + (16 if large else 5)
    high = 54 if field else size + (10 if large else 3)
    stroke = "rule" if large else None
    figure.box(x - across / 2, y - high / 2, across, high, "paper", stroke, 0.6, 6 if large else 2, 0.94)
    figure.text(x, y - 3 if field else y + 0.36 * size, number, "ink", size, "middle", bold=large)
    figure.text(x, y + 17, field, "muted", 11, "middle", mono=True)


def _across(figure: Figure, frame: Frame, steps: Sequence[int]) -> None:
    """Draw an arrow above the panel for each step to the right."""
    wide, _ = frame.step
    y, usual = frame.y - 22, _usual(steps)
    fits = max((figure.width_of(_signed(step), 13, bold=True) for step in steps), default=0) + 8 <= wide
    for j, step in enumerate(steps):
        role = "accent" if step == usual else "bad"
        x = frame.x + j * wide
        figure.arrow([(x + 0.1 * wide, y), (x + 0.92 * wide, y)], role, 1.7, min(8, wide / 4))
        if fits or step != usual or j == 0:
            figure.text(x + wide / 2, y - 10, _signed(step), role, 13, "middle", bold=True)


def _down(figure: Figure, frame: Frame, steps: Sequence[int]) -> None:
    """Draw an arrow to the left of the panel for each step down."""
    _, high = frame.step
    x, usual = frame.x - 24, _usual(steps)
    skip = every(len(steps), high, 20)
    for i, step in enumerate(steps):
        role = "accent" if step == usual else "bad"
        y = frame.y + i * high
        figure.arrow([(x, y + 0.08 * high), (x, y + 0.94 * high)], role, 1.7, min(8, high / 3))
        if i % skip == 0:
            below = y + high / 2 + 24 if high >= 60 else y + high + 4
            figure.text(x - 10, below, _signed(step), role, 13, "end", bold=True)


def _columns(figure: Figure, frame: Frame, k: str) -> float:
    wide, _ = frame.step
    foot = frame.y + frame.height + 22
    skip = every(frame.columns, wide, 40)
    items = [(frame.x + (j + 0.5) * wide, foot, f"{k} {j}") for j in range(0, frame.columns, skip)]
    figure.texts(items, "muted", 11, "middle", mono=True)
    return foot


def _brackets(figure: Figure, a: Anatomy, frame: Frame, steps: Sequence[int], y: float) -> float:
    """Draw a bracket for each run of subtiles with the most common step, and return the lower edge."""
    usual, (rows, columns) = _usual(steps), a.atom_grid
    starts = [0, *(j + 1 for j, step in enumerate(steps) if step != usual)]
    if len(starts) == 1 or len(starts) != columns or len(starts) > 12:
        return y
    wide, ends = frame.step[0], [*starts[1:], frame.columns]
    for number, (start, end) in enumerate(zip(starts, ends, strict=True)):
        across = (end - start) * wide - 8
        name = many(rows, atom_name(a.derivation)).replace("swizzle ", "")
        words = f"column {number} of {name}: {rows} \u00d7 {a.atom_bytes} bytes"
        if figure.width_of(words, 13) > across:
            words = f"column {number}"
        figure.bracket(frame.x + start * wide + 4, y + 14, across, words)
    return y + 34


def _usual(steps: Sequence[int]) -> int | None:
    return Counter(steps).most_common(1)[0][0] if steps else None


def _signed(step: int) -> str:
    return f"{'+' if step >= 0 else '-'}{spaced(abs(step))}"
