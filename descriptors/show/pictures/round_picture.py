r"""Draw the barrier phases of a kernel: a lane for each role, its arrivals and waits, and arrows from one to the other.

>>> from descriptors.check.pipeline import pipelines
>>> head = ".version 8.8\n.target sm_90a\n.shared .align 8 .b8 b[8];\n.entry k() .reqntid 64"
>>> init = "mov.u32 t, %tid.x; setp.eq.u32 z, t, 0; @z mbarrier.init.shared.b64 [b], 32; bar.sync 0;"
>>> init += "setp.lt.u32 p, t, 32; @p bra TELL;"
>>> wait = "L: mbarrier.try_wait.parity.shared.b64 q, [b], 0; @!q bra L; ret;"
>>> body = f"{init} {wait} TELL: mbarrier.arrive.shared.b64 _, [b]; ret;"
>>> print(RoundPicture(pipelines(f"{head} {{ {body} }}")[0]).text())
Rounds of k
64 threads, one CTA.
   A  1 mbarrier at [b], 32 arrivals a phase
<BLANKLINE>
   time  who     what                      lines  ended by
   0     warp 0  arrivals at A0, phase 0   4
   1     warp 1  waits for A0, phase 0     4      warp 0
"""

from __future__ import annotations

from textwrap import wrap
from typing import Any

from descriptors.check.execution.rings import WAITS, Ring
from descriptors.check.execution.rounds import Act, letter
from descriptors.check.kernel_text import RING
from descriptors.check.pipeline import Pipeline
from descriptors.records import Record, Row, attributes
from descriptors.show.pictures.panels import spaced, story
from descriptors.text import aligned, counted, ranges_text
from layoutalg import Figure, Picture, Scene
from layoutalg.frozen import frozen

#: Numbers of times and of roles that are drawn, width of a time, height of a lane, and height of an act in a lane.
TIMES, LANES, _WIDE, _HIGH, _ACT = 16, 8, 104.0, 92.0, 54.0
#: The left edge of the acts, to the right of the names of the roles.
_LEFT = 124.0
#: The largest number of errors that are written, and the number of colors.
_WRONG, _COLOURS = 4, 8
#: The number of columns of the text.
_COLUMNS = 80


@frozen
class RoundPicture(Picture):
    """The picture of the first barrier phases of a kernel, or of the last ones before a wait that never ends.

    Args:
        pipeline: the arrivals and waits of the kernel.
    """

    pipeline: Pipeline

    @property
    def acts(self) -> dict[int, Act]:
        """The acts that are drawn, by their indices among all acts."""
        acts = self.pipeline.rounds.acts
        ends = [act.time for act in acts if act.endless]
        first = max(0, max(ends) - TIMES + 1) if ends else 0
        return {n: act for n, act in enumerate(acts) if first <= act.time < first + TIMES and act.role < LANES}

    def record(self) -> dict[str, Any]:
        """Return the acts that are drawn."""
        return ROUNDS(self)

    def scene(self) -> Scene:
        """Draw lanes of roles with their acts in order, and arrows from the act that ends a wait to the wait."""
        figure, pipeline, acts = Figure(), self.pipeline, self.acts
        times = {act.time for act in acts.values()}
        room = max(_LEFT + (max(times) - min(times) + 1) * _WIDE, 760.0)
        y = figure.heading(0, 0, self._title(), self._sentence(), room=room) + 6
        for wrong in pipeline.wrong[:_WRONG]:
            y = figure.paragraph(0, y, wrong, room, "bad")
        y += 14
        first = min(times)
        places = {n: self._place(act, first, y) for n, act in acts.items()}
        for number, role in enumerate(pipeline.rounds.roles[:LANES]):
            top = y + number * _HIGH
            figure.box(0, top, room, _HIGH - 10, "faint")
            figure.text(12, top + _HIGH / 2, role, "ink", Figure.BODY, bold=True)
        for n, act in acts.items():
            self._arrows(figure, act, places, n)
        for n, act in acts.items():
            self._act(figure, act, *places[n])
        y += min(len(pipeline.rounds.roles), LANES) * _HIGH + 6
        y = figure.legend(0, y, self._legend(), room) + 22
        for letters, ring in self._rings():
            y = figure.paragraph(0, y, f"{letters}: {ring}", room, "muted")
        return figure.scene(self._title(), self._sentence())

    def text(self, *, color: bool = False, width: int | None = None) -> str:
        """Return a table with a line for each act, in order of time."""
        pipeline, acts = self.pipeline, self.acts
        rows: list[tuple[object, ...]] = [("time", "who", "what", "lines", "ended by")]
        for act in acts.values():
            rows.append((act.time, pipeline.rounds.roles[act.role], _what(act), ranges_text(act.lines), self._by(act)))
        rings = aligned(self._rings(), "<<", indent=3)
        table = aligned([rows[0], *sorted(rows[1:], key=lambda row: int(str(row[0])))], "<", indent=3)
        wrong = [
            line
            for text in pipeline.wrong[:_WRONG]
            for part in text.replace("; ", ";\n   ").splitlines()
            for line in wrap(part, _COLUMNS, subsequent_indent="   ")
        ]
        return story([self._title(), self._sentence(), *wrong, *rings, "", *table], width)

    # -- words

    def _title(self) -> str:
        return f"Rounds of {self.pipeline.name}"

    def _sentence(self) -> str:
        acts, last = self.acts, max((act.time for act in self.pipeline.rounds.acts), default=0)
        first = min((act.time for act in acts.values()), default=0)
        part = f" Times {first} to {first + TIMES - 1} of {last + 1}." if last >= TIMES else ""
        return f"{self.pipeline.launch}.{part}"

    def _rings(self) -> list[tuple[str, str]]:
        return [(letter(number), _ring(ring)) for number, ring in enumerate(self.pipeline.rounds.rings)]

    def _legend(self) -> list[tuple[str, str]]:
        bad = [("dot:bad", "a wait that never ends")] if any(act.endless for act in self.acts.values()) else []
        stages = sorted({_stage(act) for act in self.acts.values()})
        colors = [(Figure.kind(stage), f"mbarrier {stage} of its ring") for stage in stages[:_COLOURS]]
        return [*colors, ("dot:good", "ends a wait"), *bad]

    def _by(self, act: Act) -> str:
        """Return the roles whose acts end a wait, or, if it never ends, the roles with acts in its phase."""
        acts, roles = self.pipeline.rounds.acts, self.pipeline.rounds.roles
        by = " and ".join(dict.fromkeys(roles[acts[n].role] for n in act.sources))
        return f"after {by}" if by and act.endless else by

    # -- shapes

    def _place(self, act: Act, first: int, y: float) -> tuple[float, float]:
        return _LEFT + (act.time - first) * _WIDE + 6, y + act.role * _HIGH + (_HIGH - 10 - _ACT) / 2

    def _act(self, figure: Figure, act: Act, x: float, y: float) -> None:
        stage = _stage(act)
        waits, wide = act.what == WAITS, _WIDE - 16
        fill = "paper" if waits else Figure.kind(stage)
        figure.box(x, y, wide, _ACT, fill, "bad" if act.endless else "rule", 2.4 if act.endless else 1, 5)
        if waits and not act.endless:
            figure.box(x, y, 6, _ACT, Figure.kind(stage))
        phase = "fresh" if act.phase < 0 else f"phase {act.phase}"
        verb = "waits" if waits else "signals"
        role = "bad" if act.endless else "ink"
        figure.text(x + wide / 2, y + 16, f"{verb} {act.name}", role, Figure.BODY, "middle", bold=True)
        figure.text(x + wide / 2, y + 32, phase, "muted" if waits else "ink", Figure.LABEL, "middle")
        lines = f"line{'s' * (len(act.lines) > 1)} {', '.join(map(str, act.lines[:2]))}{'..' * (len(act.lines) > 2)}"
        under = f"{lines}: no end" if act.endless else lines
        figure.text(
            x + wide / 2, y + 46, under, "bad" if act.endless else "muted" if waits else "ink", Figure.LEAST, "middle"
        )

    def _arrows(self, figure: Figure, act: Act, places: dict[int, tuple[float, float]], number: int) -> None:
        """Draw arrows to a wait from the acts that end it, or that are in its phase; from each role the last act."""
        x, y = places[number]
        last = {self.pipeline.rounds.acts[n].role: n for n in act.sources if n in places}
        for role, n in last.items():
            left, top = places[n]
            down = act.role > role
            start = (left + (_WIDE - 16) * 0.75, top + (_ACT if down else 0))
            end = (x + (_WIDE - 16) * 0.25, y + (0 if down else _ACT))
            if role == act.role:
                start, end = (left + _WIDE - 16, top + _ACT / 2), (x, y + _ACT / 2)
            figure.arrow([start, end], *(("bad", 1.6, 8, (4, 3)) if act.endless else ("good", 1.6, 8)))


def _stage(act: Act) -> int:
    """Return the index of the mbarrier in its ring."""
    return int(act.name.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ"))


def _what(act: Act) -> str:
    phase = "fresh" if act.phase < 0 else f"phase {act.phase}"
    never = ", never ends" if act.endless else ""
    return f"{act.what} {'for' if act.what == WAITS else 'at'} {act.name}, {phase}{never}"


def _ring(ring: Ring) -> str:
    size = f", {' or '.join(map(spaced, ring.bytes))} bytes" if ring.bytes else ""
    return f"{counted(ring.stages, 'mbarrier')} at {ring.place}, {counted(ring.count, 'arrival')}{size} a phase"


#: The record of the acts that are drawn.
ROUNDS = Record(
    "Rounds",
    kind=Row({"rounds"}, lambda picture: "rounds"),
    name=Row(str, "pipeline.name"),
    launch=Row(str, "pipeline.launch"),
    roles=Row([str], lambda picture: list(picture.pipeline.rounds.roles)),
    rings=Row([RING], "pipeline.rounds.rings"),
    acts=Row(
        [Record(**attributes(Act, "role what name phase time lines sources endless"))],
        lambda picture: picture.acts.values(),
    ),
    wrong=Row([str], lambda picture: list(picture.pipeline.wrong)),
)
