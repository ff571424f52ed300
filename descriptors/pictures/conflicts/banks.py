"""Lines of shared memory over 32 banks, before and after the swizzle: what one access costs, and why.

>>> from descriptors import derive
>>> found = BanksPicture(derive((128, 128), "bf16", "K", "128B", (64, 16))).record()
>>> [(view["wavefronts"], view["addresses"][:3]) for view in found["views"]]
[(8, (0, 128, 256)), (1, (0, 144, 288))]
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from descriptors.derivation.parts.derivation import Derivation
from descriptors.operands.operand import LINE_BYTES
from descriptors.output.tiles.explanation import names
from descriptors.pictures.conflicts.accesses import BANKS, WORD_BYTES, Lanes, View, views
from descriptors.pictures.conflicts.bank_panel import GAP, LEFT, WIDE, bank_panel
from descriptors.pictures.parts.anatomy import Pair
from descriptors.pictures.parts.panels import told
from descriptors.pictures.parts.tables import story, table
from descriptors.text import counted
from layoutalg import Figure, Picture, Scene


@dataclass(frozen=True, slots=True)
class BanksPicture(Picture):
    """What the lanes of one access ask of each bank.

    Args:
        derivation: the tile.
        stage: which of its stages.
        subtile: whose first chunk is read, where no lanes are given.
        lanes: which lanes ask for what.
        title: instead of the picture's own.
    """

    derivation: Derivation
    stage: int = 0
    subtile: Pair = (0, 0)
    lanes: Lanes = field(default_factory=Lanes)
    title: str = ""

    def views(self) -> tuple[View, ...]:
        """The access without the swizzle and with it."""
        return views(self.derivation, self.stage, self.subtile, self.lanes)

    def record(self) -> dict[str, Any]:
        """Every number that is drawn."""
        return {"kind": "banks", "views": [_record(view) for view in self.views()]}

    def scene(self) -> Scene:
        """A panel for each view: lines of 128 bytes, and below them the words that each bank serves."""
        found, figure = self.views(), Figure()
        title, sentences = self._title(found), self._sentences(found)
        top = figure.heading(0, 0, title, sentences, room=LEFT + len(found) * (WIDE + GAP) - GAP)
        most = max(max(view.words) for view in found)
        foot = 0.0
        for number, view in enumerate(found):
            left = LEFT + number * (WIDE + GAP)
            words = _name(self.derivation, view), _verdict(view)
            foot = max(foot, bank_panel(figure, view, left, most, words, top))
        figure.legend(LEFT, foot + 22, self._legend(found), len(found) * (WIDE + GAP) - GAP)
        return figure.scene(title, f"{sentences} {' '.join(_verdict(view) for view in found)}")

    def text(self, *, color: bool = False, width: int | None = None) -> str:
        """The same lines as tables of 16-byte units, four banks each."""
        found = self.views()
        lines = [self._title(found), self._sentences(found)]
        for view in found:
            asked = {one // 16 for one in view.addresses}
            cells = [
                [_unit(unit, 8 * line + i in asked) for i, unit in enumerate(row)]
                for line, row in zip(view.lines, view.units, strict=True)
            ]
            roles = [[None if unit is None else Figure.kind(unit) for unit in row] for row in view.units]
            left = [f"0x{line * LINE_BYTES:03x}" for line in view.lines]
            lines += ["", f"{_name(self.derivation, view)}: {counted(view.wavefronts, 'wavefront')}"]
            lines += table(cells, roles, left=left, top=[f"b{4 * i}" for i in range(8)], color=color)
            lines.append(f"   words per bank: {' '.join(map(str, view.words))}")
        return story(lines, width)

    def _title(self, found: tuple[View, ...]) -> str:
        if self.title:
            return self.title
        costs = [view.wavefronts for view in found]
        if self.lanes.thread_values is not None:
            lanes = sum(one is not None for one in found[0].access.addresses)
            part = "One access" if len(found[0].access.phases) == 1 else "A phase of an access"
            return f"{part} of {lanes} lanes: {_costs(costs)}"
        return f"The same {len(found[0].addresses)} rows of 16 bytes, read at once: {_costs(costs)}"

    def _sentences(self, found: tuple[View, ...]) -> str:
        d = self.derivation
        along = names(d)[d.major.contiguous_mode]
        said = (
            f"{told(d)}. A line is {LINE_BYTES} bytes of shared memory, a column one of {BANKS} banks of {WORD_BYTES} "
            f"bytes; a number and its colour say which 16 bytes along {along} lie there, framed what is read."
        )
        if len(found[0].access.phases) > 1:
            phases, whole = len(found[0].access.phases), [view.access.wavefronts for view in found]
            said += f" Drawn is one of {phases} phases; the whole access takes {_costs(whole)}."
        return said

    def _legend(self, found: tuple[View, ...]) -> list[tuple[str, str]]:
        held = sorted({unit % 8 for view in found for row in view.units for unit in row if unit is not None})
        entries = [(Figure.kind(unit), f"piece {unit}") for unit in held]
        return [*entries, ("tile", f"read by the {len(found[0].addresses)} lanes")]


def _name(d: Derivation, view: View) -> str:
    return f"{d.swizzle} swizzle" if view.swizzled else "No swizzle"


def _costs(costs: list[int]) -> str:
    """Wavefronts of all views."""
    first, *others = costs
    return " or ".join([counted(first, "wavefront"), *map(str, others)])


def _verdict(view: View) -> str:
    """What the bars say, in a sentence."""
    busy = [bank for bank, words in enumerate(view.words) if words]
    most = max(view.words)
    if most == 1:
        return (f"{len(busy)} banks serve one word each" if len(busy) < BANKS else "Every bank serves one word") + (
            ": all in one wavefront."
        )
    worst = [bank for bank in busy if view.words[bank] == most]
    idle = BANKS - len(busy)
    rest = f", {idle} wait" if idle else ""
    does = "serves" if len(worst) == 1 else "serve"
    return f"{_ranges(worst)} {does} {most} words one after the other{rest}."


def _ranges(banks: list[int]) -> str:
    """Numbers of banks, those in a row as a range.

    >>> _ranges([0, 1, 2, 3, 8])
    'Banks 0\u20133 and 8'
    """
    runs: list[list[int]] = []
    for bank in banks:
        if runs and bank == runs[-1][-1] + 1:
            runs[-1].append(bank)
        else:
            runs.append([bank])
    if len(runs) > 4:
        return f"{len(banks)} banks"
    texts = [str(run[0]) if len(run) == 1 else f"{run[0]}\u2013{run[-1]}" for run in runs]
    return ("Bank " if len(banks) == 1 else "Banks ") + " and ".join(filter(None, (", ".join(texts[:-1]), texts[-1])))


def _record(view: View) -> dict[str, Any]:
    return {
        "swizzled": view.swizzled,
        "addresses": view.addresses,
        "access_bytes": view.access_bytes,
        "wavefronts": view.wavefronts,
        "words": view.words,
        "lines": [line * LINE_BYTES for line in view.lines],
        "units": view.units,
    }


def _unit(unit: int | None, asked: bool) -> str:
    return "." if unit is None else f"[{unit}]" if asked else f"{unit} "
