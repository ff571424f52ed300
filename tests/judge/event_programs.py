"""Small programs of a tensor core's protocol, and what each run of them does: a judge that knows no state and no path.

A program is a list of lines. A line may have a guard, and a jump goes to a line by its number. Every predicate has one
value for all of a run, or is true in all rounds but the last. A run is made for every choice of values, and simulated
with a queue: an operation is complete when an mbarrier of a commit behind it was waited for.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from random import Random
from typing import NamedTuple


class Line(NamedTuple):
    """One instruction: what it does, to what, under which guard, and whether that is turned round."""

    does: str
    of: str = ""
    guard: str = ""
    negated: bool = False


PREDICATES = "pq"
ACCUMULATORS = "xy"
BARRIERS = "ab"


def programs(seed: int, number: int) -> Iterator[list[Line]]:
    """Random programs of multiplications, commits, waits, loads and jumps forward, and at most one jump back."""
    draw = Random(seed)
    for _ in range(number):
        length = draw.randrange(4, 11)
        lines = []
        for place in range(length):
            does = draw.choice(["mma", "mma", "commit", "commit", "wait", "wait", "load", "load", "jump"])
            of = {
                "mma": draw.choice(ACCUMULATORS), "load": draw.choice(ACCUMULATORS),
                "commit": draw.choice(BARRIERS), "wait": draw.choice(BARRIERS),
            }.get(does, str(draw.randrange(place + 1, length + 1)))  # fmt: skip
            guarded = does == "jump" or draw.random() < 0.3
            lines.append(Line(does, of, draw.choice(PREDICATES) if guarded else "", draw.random() < 0.5))
        if draw.random() < 0.4:
            lines.append(Line("jump", str(draw.randrange(0, length)), "r"))
            lines.append(Line("load", draw.choice(ACCUMULATORS)))
        yield lines


def wrong_loads(lines: list[Line], rounds: int = 3) -> tuple[set[int], set[int]]:
    """Lines of loads that some run reads too early; and those that some run comes to."""
    early: set[int] = set()
    come: set[int] = set()
    for values in product((False, True), repeat=len(PREDICATES)):
        for count in range(rounds):
            for line, bad in _run(lines, dict(zip(PREDICATES, values, strict=True)), count):
                come.add(line)
                if bad:
                    early.add(line)
    return early, come


def _run(lines: list[Line], values: dict[str, bool], rounds: int) -> Iterator[tuple[int, bool]]:
    issued: list[tuple[str, int]] = []  # accumulator, and how many commits there were before
    commits: list[str] = []
    finished = 0  # commits that something waited for: all that was issued before the last of them is complete
    place = 0
    while place < len(lines):
        line, here = lines[place], place
        place += 1
        holds = True
        if line.guard == "r":
            holds = rounds > 0
            rounds -= 1
        elif line.guard:
            holds = values[line.guard] is not line.negated
        if not holds:
            continue
        match line.does:
            case "mma":
                issued.append((line.of, len(commits)))
            case "commit":
                commits.append(line.of)
            case "wait":
                finished = max([finished, *(n + 1 for n, name in enumerate(commits) if name == line.of)])
            case "load":
                yield here, any(name == line.of and before >= finished for name, before in issued)
            case "jump":
                place = int(line.of)


_WRITTEN = {
    "mma": "tcgen05.mma.cta_group::1.kind::f16 [{}], u, v, 135266320, 0;",
    "commit": "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bar+{}];",
    "load": "tcgen05.ld.sync.aligned.32x32b.x1.b32 {{z{}}}, [{}];",
    "jump": "bra L{};",
}


def as_ptx(lines: list[Line]) -> str:
    """The program as a kernel of PTX; a load of line N fills the register zN."""
    text = [".version 8.8", ".target sm_100a", ".shared .align 8 .b8 bar[16];", ".entry k() .reqntid 1 {"]
    text += ["setp.ne.s32 p, m, 0;", "setp.ne.s32 q, n, 0;"]
    for number, line in enumerate(lines):
        guard = f"@{'!' * line.negated}{line.guard} " if line.guard else ""
        text.append(f"L{number}:")
        if line.guard == "r":
            text.append("setp.lt.s32 r, i, k; add.s32 i, i, 1;")
            guard = "@r "
        at = {"x": "t", "y": "t+64", "a": "0", "b": "8"}.get(line.of, line.of)
        match line.does:
            case "wait":
                text.append(f"{guard}bra S{number}; bra D{number};" if guard else "")
                text.append(f"S{number}: mbarrier.try_wait.parity.shared::cta.b64 w, [bar+{at}], 0; @!w bra S{number};")
                text.append(f"D{number}:")
            case "load":
                text.append(guard + _WRITTEN["load"].format(number, at))
            case _:
                text.append(guard + _WRITTEN[line.does].format(at))
    return "\n".join([*text, f"L{len(lines)}:", "ret;", "}"])
