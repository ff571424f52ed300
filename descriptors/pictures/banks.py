"""Lines of shared memory over 32 banks, before and after the swizzle: what one access costs, and why.

>>> from descriptors import derive
>>> found = BanksPicture(derive((128, 128), "bf16", "K", "128B", (64, 16))).record()
>>> [(view["wavefronts"], view["addresses"][:3]) for view in found["views"]]
[(8, (0, 128, 256)), (1, (0, 144, 288))]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from descriptors.derivation.derivation import Derivation
from descriptors.operands.operand import LINE_BYTES
from descriptors.output.explanation import names
from descriptors.pictures.accesses import BANKS, WORD_BYTES, Lanes, View, views
from descriptors.pictures.anatomy import Anatomy, Pair
from descriptors.pictures.panels import Frame, border, every, hairs, told
from descriptors.pictures.tables import story, table
from descriptors.text import counted
from layoutalg import Figure, Picture, Scene

#: Width of a panel of 32 banks, what lies left of it, and between two.
WIDE, LEFT, GAP = 544, 62, 76


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
    lanes: Lanes = Lanes()
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
        figure.heading(0, 0, title, sentences, room=LEFT + len(found) * (WIDE + GAP) - 10)
        most = max(max(view.words) for view in found)
        foot = 0.0
        for number, view in enumerate(found):
            foot = max(foot, self._panel(figure, view, LEFT + number * (WIDE + GAP + 24), most))
        figure.legend(LEFT, foot + 22, self._legend(found), LEFT + len(found) * (WIDE + GAP))
        return figure.scene(title, f"{sentences} {' '.join(_verdict(self.derivation, view) for view in found)}")

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
            return f"One access of {len(found[0].addresses)} lanes: {_costs(costs)}"
        return f"The same {len(found[0].addresses)} rows of 16 bytes, read at once: {_costs(costs)}"

    def _sentences(self, found: tuple[View, ...]) -> str:
        a, d = Anatomy(self.derivation, self.stage), self.derivation
        along = names(d)[d.major.contiguous_mode]
        said = (
            f"{told(d)}. A line is {LINE_BYTES} bytes of shared memory, a column one of {BANKS} banks of {WORD_BYTES} "
            f"bytes; a number and its colour say which 16 bytes along {along} lie there, framed what is read."
        )
        if len(found[0].access.phases) > 1:
            phases, whole = len(found[0].access.phases), [view.access.wavefronts for view in found]
            said += f" Drawn is one of {phases} phases; the whole access takes {_costs(whole)}."
        return said if a.bytes else said

    def _panel(self, figure: Figure, view: View, x: float, most: int) -> float:
        good = view.wavefronts <= 1
        role = "good" if good else "bad"
        figure.text(x, 78, _name(self.derivation, view), "ink", 15, bold=True)
        figure.text(x + WIDE, 78, counted(view.wavefronts, "wavefront"), role, 15, "end", bold=True)
        count = len(view.lines)
        high = count * (26 if count <= 10 else 18)
        frame = Frame(x, 120, WIDE, high, count, BANKS)
        figure.text(x - 10, 112, "bank", "muted", 10.5, "end", mono=True)
        figure.texts(((x + (4 * i + 0.5) * WIDE / BANKS, 112, str(4 * i)) for i in range(8)), "muted", 10.5, "middle", mono=True)  # fmt: skip
        self._lines(figure, view, frame)
        top = frame.y + high + 30
        tall = min(96, max(24, 12 * most))
        _bars(figure, view, x, top, tall, most, role)
        room = figure.paragraph(x, top + tall + 24, _verdict(self.derivation, view), WIDE)
        return room

    def _lines(self, figure: Figure, view: View, frame: Frame) -> None:
        """The 16-byte units of the lines, those that are read framed and strong, the others faint."""
        units = Frame(*frame.box, frame.rows, 8)
        wide, high = units.step
        starts = set(view.addresses)
        asked = {one // 16 for one in view.addresses}
        roles = [[None if unit is None else Figure.kind(unit) for unit in row] for row in view.units]
        marked = [[8 * line + i in asked for i in range(8)] for line in view.lines]
        for strong, opacity in ((False, 0.35), (True, 1)):
            part = [[role if mark is strong else None for role, mark in zip(*both, strict=True)] for both in zip(roles, marked, strict=True)]  # fmt: skip
            figure.cells(frame.x, frame.y, wide, high, part, opacity)
        hairs(figure, frame)
        border(figure, units, "chunk", 1, 8, outer=False)
        figure.border(*frame.box, "tile", line=1.6)
        figure.texts(
            ((frame.x - 10, frame.y + (i + 0.5) * high + 4, f"0x{line * LINE_BYTES:03x}") for i, line in enumerate(view.lines)),
            "muted", 10.5, "end", mono=True,
        )  # fmt: skip
        quiet = [
            (frame.x + (j + 0.5) * wide, frame.y + (i + 0.5) * high + 4, str(unit))
            for i, row in enumerate(view.units)
            for j, unit in enumerate(row)
            if unit is not None and not marked[i][j]
        ]
        figure.texts(quiet, "muted", 11, "middle", mono=True)
        _frames(figure, view, frame, starts)

    def _legend(self, found: tuple[View, ...]) -> list[tuple[str, str]]:
        d = self.derivation
        along = names(d)[d.major.contiguous_mode]
        held = sorted({unit % 8 for view in found for row in view.units for unit in row if unit is not None})
        entries = [(Figure.kind(unit), f"piece {unit}") for unit in held]
        return [*entries, ("tile", f"read by the {len(found[0].addresses)} lanes")] if along else entries


def _frames(figure: Figure, view: View, frame: Frame, starts: set[int]) -> None:
    """A frame around what each lane reads, its name inside where there is room."""
    wide, high = frame.step
    names_: dict[int, str] = {}
    for lane, name in zip(view.phase, view.names, strict=True):
        address = view.access.addresses[lane]
        if address is not None:
            names_.setdefault(address, name)
    texts = []
    for address in sorted(starts):
        line, within = divmod(address, LINE_BYTES)
        x, y = frame.x + within / WORD_BYTES * wide, frame.y + (line - view.lines[0]) * high
        across = view.access_bytes / WORD_BYTES * wide
        figure.border(x, y, across, high, "tile", line=2)
        if figure.width_of(names_[address], 11, bold=True) + 6 <= across:
            texts.append((x + across / 2, y + high / 2 + 4, names_[address]))
    figure.texts(texts, "ink", 11, "middle", bold=True)


def _bars(figure: Figure, view: View, x: float, top: float, tall: float, most: int, role: str) -> None:
    marks = sorted({1, most, *((most // 2,) if most >= 4 else ())})
    need = every(len(marks), tall / max(len(marks), 1), 13)
    for value in marks[::need] if most > 1 else marks:
        y = top + tall - tall * value / most
        figure.lines([(x, y, x + WIDE, y)], "hair", 0.8)
        figure.text(x + WIDE + 8, y + 4, str(value), "muted", 10.5, mono=True)
    figure.bars(x, top, WIDE, tall, view.words, most, role)
    figure.text(x - 10, top + tall / 2 + 4, "words", "muted", 11, "end")


def _name(d: Derivation, view: View) -> str:
    return f"{d.swizzle} swizzle" if view.swizzled else "No swizzle"


def _costs(costs: list[int]) -> str:
    """Wavefronts of all views."""
    first, *others = costs
    return " or ".join([counted(first, "wavefront"), *map(str, others)])


def _verdict(d: Derivation, view: View) -> str:
    """What the bars say, in a sentence."""
    busy = [bank for bank, words in enumerate(view.words) if words]
    most = max(view.words)
    if most == 1:
        every_ = "Every bank serves" if len(busy) == BANKS else f"{len(busy)} banks serve"
        return f"{every_} one word each: all in one wavefront." if len(busy) < BANKS else f"{every_} one word: all in one wavefront."
    worst = [bank for bank in busy if view.words[bank] == most]
    idle = BANKS - len(busy)
    rest = f"; {idle} banks wait" if idle else ""
    return f"{_ranges(worst)} each serve {most} words, one after the other{rest}."


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
